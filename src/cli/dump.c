/* dump.c: every event as one JSON object a line, thread after thread.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/nothing.h"
#include "cli/options.h"
#include "cli/reading.h"
#include "export/event_json.h"

typedef struct dump_options {
    film_option_range events;
    uint64_t thread;
} dump_options;

static film_status
dump_thread(film_reading *reading, film_event_json *json, const dump_options *wanted,
            uint32_t thread)
{
    film_reader *reader = reading->set.items[0].reader;
    film_output *output = &reading->output;
    film_cursor *cursor;
    const film_event *event;
    uint64_t seen = 0;
    film_status status;

    FILM_TRY(film_cursor_open(reader, thread, wanted->events.first, &cursor,
                              &reading->error));
    while ((status = film_cursor_next(cursor, &event, &reading->error)) == FILM_OK) {
        if (event->number >= wanted->events.end) {
            break;
        }
        film_event_json_write(json, output, event);
        if (output->status != FILM_OK) {
            status = film_output_flush(output, &reading->error);
            film_cursor_close(cursor);
            return status;
        }
        if (++seen == FILM_PROGRESS_STRIDE) {
            film_progress_add(reading->set.progress, seen);
            seen = 0;
        }
    }
    film_cursor_close(cursor);
    return status == FILM_END ? FILM_OK : status;
}

static film_status
dump_threads(film_reading *reading, const dump_options *wanted)
{
    film_reader *reader = reading->set.items[0].reader;
    size_t threads = film_reader_thread_count(reader);
    film_event_json json;
    film_status status = film_event_json_init(&json, reader, &reading->error);

    for (size_t i = 0; status == FILM_OK && i < threads; i++) {
        uint32_t id = film_reader_thread(reader, i)->id;
        if (wanted->thread == 0 || wanted->thread == id) {
            status = dump_thread(reading, &json, wanted, id);
        }
    }
    film_event_json_reset(&json);
    return status;
}

static int
run(const film_command *command, int argc, char **argv)
{
    dump_options wanted = {{0, UINT64_MAX}, 0};
    const film_option options[] = {
        {"thread", 't', FILM_OPTION_NUMBER, "N",
         "Only this thread (1 is the main one).", &wanted.thread, NULL},
        {"events", 'e', FILM_OPTION_RANGE, "A:B",
         "Only events A up to, not including, B; either may be left out.",
         &wanted.events, NULL},
        {0},
    };
    film_reading reading;
    bool nothing;
    int code;

    if (!film_reading_begin(&reading, command, options, argc, argv, 1, &code)) {
        return code;
    }
    nothing = film_nothing_of_thread(&reading, wanted.thread);
    code = film_reading_close(&reading, dump_threads(&reading, &wanted));
    return code == FILM_EXIT_DONE && nothing ? FILM_EXIT_NO : code;
}

const film_command film_command_dump = {
    "dump",
    "every event, one JSON object a line",
    "[options] FILE",
    "Prints every event of a recording as one JSON object a line, in the order of each "
    "thread, thread after thread: the exact truth of the file.\n"
    "\n"
    "Every object has event (its number in its thread), thread (1 is the main one), "
    "time_ns (since the start of the recording) and kind; more keys follow by kind. "
    "docs/dump.md lists them. Keys and kinds may be added, none changes its meaning.",
    "filmstrip dump train.film | head\n"
    "filmstrip dump train.film --thread 1 --events 1000:2000\n"
    "filmstrip dump train.film | jq 'select(.kind == \"raise\")'",
    run,
};
