/* tlparse.c: see tlparse.h: the walk over a recording's threads, by time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/tlparse.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/activity.h"
#include "base/alloc.h"
#include "export/tlparse_state.h"
#include "export/track.h"
#include "reader/literal.h"

#define LITERAL(out, text) film_buffer_append((out), (text), sizeof(text) - 1)

/* One thread of the walk, and its step that comes next. */
typedef struct walker {
    film_activity *activity; /* owned; a whole thread */
    film_cursor *cursor;     /* owned; instead of it, a part of one */
    uint64_t end;            /* of the part */
    size_t open;             /* calls that began in the part */
    bool over;
    film_step step;
    film_tlparse_thread *thread; /* borrowed */
} walker;

static int64_t
rank_of(film_reader *reader)
{
    const char *text = film_reader_meta(reader, "rank");
    char *end;
    long long rank;

    if (text == NULL || *text == '\0') {
        return -1;
    }
    rank = strtoll(text, &end, 10);
    return *end == '\0' && rank >= 0 ? rank : -1;
}

void
film_tlparse_name(film_reader *reader, char name[FILM_EXPORT_NAME])
{
    const uint8_t *uuid = film_reader_info(reader)->uuid;
    int64_t rank = rank_of(reader);
    char of_rank[32] = "";

    if (rank >= 0) {
        snprintf(of_rank, sizeof(of_rank), "rank_%lld_", (long long)rank);
    }
    snprintf(name, FILM_EXPORT_NAME, "dedicated_log_torch_trace_%s%02x%02x%02x%02x.log",
             of_rank, uuid[0], uuid[1], uuid[2], uuid[3]);
}

/* --- the walk --- */

static film_status
put_call(film_tlparse *to, const walker *at, film_error *error)
{
    const film_step *step = &at->step;
    uint32_t number = film_functions_number(&to->functions, 0, step->function);
    film_text name, exception = {"", 0};

    if (number == FILM_NO_FUNCTION) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    name = to->functions.items[number].function;
    if (step->cause == FILM_KIND_UNWIND && step->event != NULL) {
        exception = film_reader_string(to->reader, step->event->text);
    }
    film_tlparse_put_slice(to, at->thread, step->time_ns,
                           step->kind == FILM_STEP_ENTER ? 'B' : 'E', "call", name,
                           exception);
    return FILM_OK;
}

static film_status
put_op(film_tlparse *to, const walker *at, film_error *error)
{
    const film_event *event = at->step.event;
    film_text exception = {"", 0}, name = {"", 0};
    const film_event *begun;

    if (event->kind == FILM_KIND_OP) {
        FILM_TRY(film_tlparse_begin_op(to, at->thread, event, error));
        film_tlparse_put_slice(to, at->thread, event->time_ns, 'B', "op",
                               film_reader_string(to->reader, event->text), exception);
        return FILM_OK;
    }
    FILM_TRY(film_tlparse_end_op(to, at->thread, event, error));
    if ((event->form & FILM_OPERATION_RAISED) != 0) {
        exception = film_reader_string(to->reader, event->text);
    }
    if (film_timeline_event(to->timeline, film_moment_of(event->thread, event->op),
                            &begun, NULL) == FILM_OK &&
        begun->kind == FILM_KIND_OP) {
        name = film_reader_string(to->reader, begun->text);
        film_tlparse_put_slice(to, at->thread, event->time_ns, 'E', "op", name,
                               exception);
    }
    return FILM_OK;
}

static film_status
put_step(film_tlparse *to, const walker *at, film_error *error)
{
    const film_event *event = at->step.event;

    if (event != NULL &&
        (event->kind == FILM_KIND_OP || event->kind == FILM_KIND_OP_END)) {
        FILM_TRY(put_op(to, at, error));
    }
    else if (at->step.kind != FILM_STEP_EVENT) {
        FILM_TRY(put_call(to, at, error));
    }
    if (to->log.failed || to->ops.failed) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    return to->log.output->status == FILM_OK ? FILM_OK
                                             : film_output_flush(to->log.output, error);
}

static bool
is_entry(uint8_t kind)
{
    return kind == FILM_KIND_CALL || kind == FILM_KIND_RESUME ||
           kind == FILM_KIND_THROW;
}

static bool
is_exit(uint8_t kind)
{
    return kind == FILM_KIND_RETURN || kind == FILM_KIND_YIELD ||
           kind == FILM_KIND_UNWIND;
}

/* The next step of a part: exits of frames that were open before it are none. */
static film_status
advance_part(walker *at, film_error *error)
{
    const film_event *event;

    FILM_TRY(film_cursor_next(at->cursor, &event, error));
    if (event->number >= at->end) {
        return FILM_END;
    }
    at->step = (film_step){.time_ns = event->time_ns,
                           .event = event,
                           .kind = FILM_STEP_EVENT,
                           .function = event->code,
                           .cause = event->kind};
    if (is_entry(event->kind)) {
        at->step.kind = FILM_STEP_ENTER;
        at->open++;
    }
    else if (is_exit(event->kind) && at->open > 0) {
        at->step.kind = FILM_STEP_LEAVE;
        at->open--;
    }
    return FILM_OK;
}

static film_status
advance(walker *at, film_error *error)
{
    film_status status = at->cursor != NULL
                             ? advance_part(at, error)
                             : film_activity_next(at->activity, &at->step, error);

    at->over = status == FILM_END;
    return at->over ? FILM_OK : status;
}

static film_status
open_walker(film_tlparse *to, walker *at, uint32_t thread, film_error *error)
{
    if (to->options->thread != 0) {
        at->end = to->options->end;
        FILM_TRY(film_cursor_open(to->reader, thread, to->options->first, &at->cursor,
                                  error));
    }
    else {
        FILM_TRY(film_activity_open(to->set, 0, thread, &at->activity, error));
    }
    return advance(at, error);
}

static void
close_walker(walker *at)
{
    if (at->activity != NULL) {
        film_activity_close(at->activity);
    }
    if (at->cursor != NULL) {
        film_cursor_close(at->cursor);
    }
}

static walker *
earliest(walker *walkers, size_t count)
{
    walker *found = NULL;

    for (size_t i = 0; i < count; i++) {
        if (!walkers[i].over &&
            (found == NULL || walkers[i].step.time_ns < found->step.time_ns)) {
            found = &walkers[i];
        }
    }
    return found;
}

static film_status
walk(film_tlparse *to, walker *walkers, size_t count, film_error *error)
{
    walker *at;

    while ((at = earliest(walkers, count)) != NULL) {
        uint64_t until = UINT64_MAX;

        /* The same thread goes on while no other is behind it. */
        for (size_t i = 0; i < count; i++) {
            if (!walkers[i].over && &walkers[i] != at &&
                walkers[i].step.time_ns < until) {
                until = walkers[i].step.time_ns;
            }
        }
        do {
            FILM_TRY(put_step(to, at, error));
            FILM_TRY(advance(at, error));
        } while (!at->over && at->step.time_ns <= until);
    }
    return FILM_OK;
}

static film_status
walk_threads(film_tlparse *to, film_error *error)
{
    walker *walkers = film_alloc_array(to->thread_count + 1, sizeof(*walkers));
    film_status status = FILM_OK;
    size_t count = 0;

    if (walkers == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    for (size_t i = 0; i < to->thread_count && status == FILM_OK; i++) {
        uint32_t id = film_reader_thread(to->reader, i)->id;

        if (to->options->thread != 0 && to->options->thread != id) {
            continue;
        }
        walkers[count].thread = &to->threads[i];
        status = open_walker(to, &walkers[count++], id, error);
    }
    if (status == FILM_OK) {
        status = walk(to, walkers, count, error);
    }
    for (size_t i = 0; i < count; i++) {
        close_walker(&walkers[i]);
    }
    film_free(walkers);
    return status;
}

/* --- what is said of the whole --- */

static void
say_what_is_missing(const film_tlparse *to, film_tlparse_result *result)
{
    const char *why = "";

    if (to->ops_written + to->ops_inner + to->ops_raised == 0) {
        why = "it has no ops: only calls are in the export";
    }
    else if (!to->has_values) {
        why = "it has no values: the locals of all frames are empty (--level values "
              "records them)";
    }
    snprintf(result->note, sizeof(result->note), "%s", why);
}

static uint64_t
count_unfinished(const film_tlparse *to)
{
    uint64_t count = 0;

    for (size_t i = 0; i < to->thread_count; i++) {
        count += to->threads[i].count;
    }
    return count;
}

/* The artifact that tells what was recorded and what is missing. */
static void
put_facts(film_tlparse *to, const film_tlparse_result *result)
{
    static const char *const levels[] = {"calls", "lines", "values"};
    const film_info *info = film_reader_info(to->reader);
    film_buffer *out = &to->text;
    char numbers[320];
    film_text payload;

    film_buffer_clear(out);
    LITERAL(out, "{\"recording\": ");
    film_trace_put_text(out, film_text_of(to->set->items[0].path));
    snprintf(numbers, sizeof(numbers),
             ",\n \"level\": \"%s\",\n \"ops\": %llu,\n \"ops_within_others\": %llu,\n "
             "\"ops_that_raised\": %llu,\n \"ops_that_did_not_end\": %llu,\n "
             "\"events_lost\": %llu,\n \"locals\": %s,\n \"missing\": ",
             info->level < 3 ? levels[info->level] : "unknown",
             (unsigned long long)to->ops_written, (unsigned long long)to->ops_inner,
             (unsigned long long)to->ops_raised,
             (unsigned long long)count_unfinished(to), (unsigned long long)info->lost,
             to->has_values ? "true" : "false");
    film_buffer_append_text(out, numbers);
    film_trace_put_text(out, film_text_of(result->note));
    LITERAL(out, "}");
    if (out->failed) {
        to->log.failed = true;
        return;
    }
    payload = (film_text){(const char *)out->data, out->length};
    film_buffer_clear(&to->json);
    LITERAL(&to->json, "{\"name\": \"filmstrip_recording\", \"encoding\": \"json\"}");
    film_trace_log_write(&to->log, info->duration_ns, "artifact", &to->json, &payload);
}

static void
put_unfinished(film_tlparse *to)
{
    for (size_t i = 0; i < to->thread_count; i++) {
        for (size_t k = 0; k < to->threads[i].count; k++) {
            film_buffer *line = &to->threads[i].ops[k].line;
            film_buffer_append(&to->ops, line->data, line->length);
            LITERAL(&to->ops, " did not end\n");
        }
    }
}

/* --- beginning and end --- */

static film_status
begin(film_tlparse *to, film_output *output, film_error *error)
{
    const film_info *info = film_reader_info(to->reader);

    film_trace_log_begin(&to->log, output, info->start_realtime_ns, info->pid,
                         rank_of(to->reader), to->options->strings);
    to->has_values = info->level >= 2;
    to->thread_count = film_reader_thread_count(to->reader);
    to->threads = film_alloc_array(to->thread_count + 1, sizeof(*to->threads));
    to->code_kind_count = film_reader_code_count(to->reader);
    to->code_kinds = film_alloc(to->code_kind_count + 1);
    if (to->threads == NULL || to->code_kinds == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    for (size_t i = 0; i < to->thread_count; i++) {
        to->threads[i].tid = film_track_thread(to->reader, i);
    }
    FILM_TRY(film_functions_init(&to->functions, to->set, error));
    return film_timeline_open(to->reader, &to->timeline, error);
}

static void
reset(film_tlparse *to)
{
    for (size_t i = 0; to->threads != NULL && i < to->thread_count; i++) {
        for (size_t k = 0; k < to->threads[i].count; k++) {
            film_tlparse_forget_op(&to->threads[i].ops[k]);
        }
        film_free(to->threads[i].ops);
    }
    film_timeline_close(to->timeline);
    film_functions_reset(&to->functions);
    film_trace_log_reset(&to->log);
    film_free(to->threads);
    film_free(to->code_kinds);
    film_free(to->frames);
    film_free(to->files);
    film_buffer_reset(&to->json);
    film_buffer_reset(&to->text);
    film_buffer_reset(&to->ops);
    film_buffer_reset(&to->renewed);
}

static film_status
write_all(film_tlparse *to, film_tlparse_result *result, film_error *error)
{
    film_tlparse_put_names(to);
    FILM_TRY(walk_threads(to, error));
    put_unfinished(to);
    film_tlparse_flush_ops(to, film_reader_info(to->reader)->duration_ns);
    say_what_is_missing(to, result);
    put_facts(to, result);
    result->ops = to->ops_written;
    result->strings = to->log.next_string;
    return to->log.failed || to->ops.failed
               ? film_fail(error, FILM_NO_MEMORY, "not enough memory")
               : FILM_OK;
}

film_status
film_tlparse_write(const film_recordings *set, const film_tlparse_options *options,
                   film_output *output, film_tlparse_result *result, film_error *error)
{
    film_tlparse to = {.set = set, .options = options, .reader = set->items[0].reader};
    film_status status;

    memset(result, 0, sizeof(*result));
    if (set->count != 1) {
        return film_fail(error, FILM_MISUSE,
                         "tlparse reads a file for each recording: give a folder");
    }
    status = begin(&to, output, error);
    if (status == FILM_OK) {
        status = write_all(&to, result, error);
    }
    reset(&to);
    return status;
}

film_status
film_export_tlparse(const film_recordings *set, film_output *output, film_error *error)
{
    static const film_tlparse_options options;
    film_tlparse_result result;

    return film_tlparse_write(set, &options, output, &result, error);
}
