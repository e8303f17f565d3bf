/* chrome.c: every call as a begin and an end event of Chrome's trace JSON.
 * Pairs keep their order where two calls begin in one microsecond; complete events
 * ("X") would not.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/exporter.h"

#include "analysis/activity.h"
#include "base/alloc.h"
#include "export/track.h"

typedef struct trace {
    const film_recordings *set; /* borrowed */
    film_output *output;        /* borrowed */
    film_functions functions;
    film_text *names; /* owned, by function: the slice's name as a JSON string */
    size_t name_capacity;
    film_output scratch; /* writes into `text` */
    film_buffer text;
    char ending[64]; /* ,"pid":1,"tid":2 of the current thread */
    size_t ending_length;
} trace;

/* Microseconds with three decimals: Chrome's unit, our precision. */
static void
put_time(film_output *output, uint64_t time_ns)
{
    uint64_t rest = time_ns % 1000;
    char *to;

    film_output_u64(output, time_ns / 1000);
    to = film_output_room(output, 4);
    to[0] = '.';
    to[1] = (char)('0' + rest / 100);
    to[2] = (char)('0' + rest / 10 % 10);
    to[3] = (char)('0' + rest % 10);
    output->used += 4;
}

static void
put_name_of(film_output *output, const char *what, uint64_t pid, uint64_t tid,
            film_text name)
{
    film_output_format(output,
                       "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%llu,\"tid\":%llu,"
                       "\"args\":{\"name\":",
                       what, (unsigned long long)pid, (unsigned long long)tid);
    film_output_json(output, name);
    FILM_OUTPUT_LITERAL(output, "}},\n");
}

/* The name of a function's slices, rendered once; the empty text without memory. */
static film_text
name_of(trace *to, uint32_t function)
{
    film_text empty = {NULL, 0};
    film_text plain;
    char *copy;

    if (function >= to->name_capacity) {
        size_t old = to->name_capacity;
        film_text *grown =
            film_grow(to->names, &to->name_capacity, function + 1u, sizeof(*grown));
        if (grown == NULL) {
            return empty;
        }
        memset(grown + old, 0, (to->name_capacity - old) * sizeof(*grown));
        to->names = grown;
    }
    if (to->names[function].data != NULL) {
        return to->names[function];
    }
    film_buffer_clear(&to->text);
    film_track_put_slice_name(&to->scratch, &to->functions.items[function]);
    film_output_drain(&to->scratch);
    plain.length = to->text.length;
    copy = film_alloc(plain.length + 1);
    if (copy == NULL || to->text.failed) {
        film_free(copy);
        return empty;
    }
    memcpy(copy, to->text.data, plain.length);
    plain.data = copy;
    film_buffer_clear(&to->text);
    film_output_json(&to->scratch, plain);
    film_output_drain(&to->scratch);
    film_free(copy);
    copy = film_alloc(to->text.length + 1);
    if (copy == NULL || to->text.failed) {
        film_free(copy);
        return empty;
    }
    memcpy(copy, to->text.data, to->text.length);
    to->names[function].data = copy;
    to->names[function].length = to->text.length;
    return to->names[function];
}

static film_status
put_step(trace *to, size_t recording, const film_step *step, film_error *error)
{
    film_output *output = to->output;
    const film_recording *from = &to->set->items[recording];

    if (step->kind == FILM_STEP_ENTER) {
        uint32_t function =
            film_functions_number(&to->functions, recording, step->function);
        film_text name = {NULL, 0};

        if (function != FILM_NO_FUNCTION) {
            name = name_of(to, function);
        }
        if (name.data == NULL) {
            return film_fail(error, FILM_NO_MEMORY, "not enough memory");
        }
        FILM_OUTPUT_LITERAL(output, "{\"ph\":\"B\",\"name\":");
        film_output_write(output, name.data, name.length);
        FILM_OUTPUT_LITERAL(output, ",\"ts\":");
    }
    else {
        FILM_OUTPUT_LITERAL(output, "{\"ph\":\"E\",\"ts\":");
    }
    put_time(output, step->time_ns + from->shift_ns);
    film_output_write(output, to->ending, to->ending_length);
    if (film_step_raised(step)) {
        FILM_OUTPUT_LITERAL(output, ",\"args\":{\"exception\":");
        film_output_json(output, film_reader_string(from->reader, step->event->text));
        film_output_byte(output, '}');
    }
    FILM_OUTPUT_LITERAL(output, "},\n");
    return output->status == FILM_OK ? FILM_OK : film_output_flush(output, error);
}

static film_status
put_thread(trace *to, size_t recording, size_t index, film_error *error)
{
    const film_reader *reader = to->set->items[recording].reader;
    const film_thread_info *thread = film_reader_thread(reader, index);
    uint64_t pid = film_track_process(to->set, recording);
    uint64_t tid = film_track_thread(reader, index);
    film_activity *activity;
    film_step step;
    film_status status;
    char room[32];
    char *end;

    put_name_of(to->output, "thread_name", pid, tid,
                film_track_thread_name(thread, room));
    memcpy(to->ending, ",\"pid\":", 7);
    end = film_format_u64(to->ending + 7, pid);
    memcpy(end, ",\"tid\":", 7);
    end = film_format_u64(end + 7, tid);
    to->ending_length = (size_t)(end - to->ending);
    FILM_TRY(film_activity_open(to->set, recording, thread->id, &activity, error));
    while ((status = film_activity_next(activity, &step, error)) == FILM_OK) {
        if (step.kind == FILM_STEP_EVENT) {
            continue;
        }
        status = put_step(to, recording, &step, error);
        if (status != FILM_OK) {
            film_activity_close(activity);
            return status;
        }
    }
    film_activity_close(activity);
    return status == FILM_END ? FILM_OK : status;
}

static film_status
put_all(trace *to, film_error *error)
{
    FILM_OUTPUT_LITERAL(to->output, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    for (size_t i = 0; i < to->set->count; i++) {
        size_t threads = film_reader_thread_count(to->set->items[i].reader);
        char room[FILM_TRACK_BYTES];

        for (size_t k = 0; k < threads; k++) {
            FILM_TRY(put_thread(to, i, k, error));
        }
        put_name_of(to->output, "process_name", film_track_process(to->set, i), 0,
                    film_track_process_name(&to->set->items[i], room));
    }
    /* An event after the last comma: the list must not end in one. */
    FILM_OUTPUT_LITERAL(to->output,
                        "{\"ph\":\"M\",\"name\":\"filmstrip\",\"pid\":0}\n]}\n");
    return FILM_OK;
}

film_status
film_export_chrome(const film_recordings *set, film_output *output, film_error *error)
{
    trace to = {0};
    film_status status = film_functions_init(&to.functions, set, error);

    to.set = set;
    to.output = output;
    if (status == FILM_OK) {
        status = film_output_init(&to.scratch, -1, error);
        to.scratch.memory = &to.text;
    }
    if (status == FILM_OK) {
        status = put_all(&to, error);
    }
    for (size_t i = 0; i < to.name_capacity; i++) {
        film_free((void *)(uintptr_t)to.names[i].data);
    }
    film_free(to.names);
    film_output_reset(&to.scratch);
    film_buffer_reset(&to.text);
    film_functions_reset(&to.functions);
    return status;
}
