/* tlparse_chromium.c: calls and ops as trace events, one a record; tlparse collects
 * them in chromium_events.json, for https://ui.perfetto.dev. Times are microseconds
 * since the Unix epoch, as those of torch's own.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/tlparse_state.h"

#include <stdio.h>

#include "export/track.h"

#define LITERAL(out, text) film_buffer_append((out), (text), sizeof(text) - 1)

static void
put_numbers(film_tlparse *to, uint64_t tid)
{
    char text[80];

    snprintf(text, sizeof(text), ", \"pid\": %llu, \"tid\": %llu",
             (unsigned long long)to->log.pid, (unsigned long long)tid);
    film_buffer_append_text(&to->text, text);
}

static void
write_event(film_tlparse *to, uint64_t time_ns)
{
    film_text payload = {(const char *)to->text.data, to->text.length};

    film_buffer_clear(&to->json);
    LITERAL(&to->json, "{}");
    if (to->text.failed) {
        to->log.failed = true;
        return;
    }
    film_trace_log_write(&to->log, time_ns, "chromium_event", &to->json, &payload);
}

void
film_tlparse_put_slice(film_tlparse *to, const film_tlparse_thread *thread,
                       uint64_t time_ns, char phase, const char *category,
                       film_text name, film_text exception)
{
    uint64_t at = to->log.realtime_ns + time_ns;
    char text[96];

    film_buffer_clear(&to->text);
    LITERAL(&to->text, "{\"name\": ");
    film_trace_put_text(&to->text, name);
    snprintf(text, sizeof(text), ", \"cat\": \"%s\", \"ph\": \"%c\", \"ts\": %llu.%03u",
             category, phase, (unsigned long long)(at / 1000), (unsigned)(at % 1000));
    film_buffer_append_text(&to->text, text);
    put_numbers(to, thread->tid);
    LITERAL(&to->text, ", \"args\": {");
    if (exception.length > 0) {
        LITERAL(&to->text, "\"exception\": ");
        film_trace_put_text(&to->text, exception);
    }
    LITERAL(&to->text, "}}");
    write_event(to, time_ns);
}

static void
put_name_of(film_tlparse *to, const char *what, uint64_t tid, film_text name)
{
    film_buffer_clear(&to->text);
    LITERAL(&to->text, "{\"name\": \"");
    film_buffer_append_text(&to->text, what);
    LITERAL(&to->text, "\", \"ph\": \"M\", \"ts\": 0");
    put_numbers(to, tid);
    LITERAL(&to->text, ", \"args\": {\"name\": ");
    film_trace_put_text(&to->text, name);
    LITERAL(&to->text, "}}");
    write_event(to, 0);
}

void
film_tlparse_put_names(film_tlparse *to)
{
    char process[FILM_TRACK_BYTES], room[32];

    put_name_of(to, "process_name", 0,
                film_track_process_name(&to->set->items[0], process));
    for (size_t i = 0; i < to->thread_count; i++) {
        put_name_of(to, "thread_name", to->threads[i].tid,
                    film_track_thread_name(film_reader_thread(to->reader, i), room));
    }
}
