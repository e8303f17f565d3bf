/* speedscope.c: every call as open and close events of speedscope's file format
 * (https://www.speedscope.app/file-format-schema.json), one profile a thread.
 * The frames stand behind the profiles: they are known once all threads were walked.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/exporter.h"

#include "analysis/activity.h"
#include "export/track.h"

typedef struct profile {
    const film_recordings *set; /* borrowed */
    film_output *output;        /* borrowed */
    film_functions functions;
    size_t written; /* profiles so far */
    /* Of the thread being written: */
    uint64_t last_ns;
    bool begun;
} profile;

static void
begin_thread(profile *to, size_t recording, size_t index)
{
    const film_reader *reader = to->set->items[recording].reader;
    const film_thread_info *thread = film_reader_thread(reader, index);
    char room[32];

    if (to->written++ > 0) {
        FILM_OUTPUT_LITERAL(to->output, ",\n");
    }
    FILM_OUTPUT_LITERAL(to->output, "{\"type\":\"evented\",\"name\":\"");
    if (to->set->count > 1) {
        film_output_u64(to->output, film_reader_info(reader)->pid);
        film_output_byte(to->output, ' ');
    }
    film_output_json_part(to->output, film_track_thread_name(thread, room));
    FILM_OUTPUT_LITERAL(to->output,
                        "\",\"unit\":\"nanoseconds\",\"startValue\":0,\"events\":[\n");
    to->begun = true;
}

static film_status
put_step(profile *to, size_t recording, const film_step *step, film_error *error)
{
    uint32_t function =
        film_functions_number(&to->functions, recording, step->function);
    uint64_t time_ns = step->time_ns + to->set->items[recording].shift_ns;

    if (function == FILM_NO_FUNCTION) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    if (step->kind == FILM_STEP_ENTER) {
        FILM_OUTPUT_LITERAL(to->output, "{\"type\":\"O\",\"frame\":");
    }
    else {
        FILM_OUTPUT_LITERAL(to->output, "{\"type\":\"C\",\"frame\":");
    }
    to->last_ns = time_ns > to->last_ns ? time_ns : to->last_ns; /* must never fall */
    film_output_u64(to->output, function);
    FILM_OUTPUT_LITERAL(to->output, ",\"at\":");
    film_output_u64(to->output, to->last_ns);
    film_output_byte(to->output, '}');
    return to->output->status == FILM_OK ? FILM_OK
                                         : film_output_flush(to->output, error);
}

static film_status
put_thread(profile *to, size_t recording, size_t index, film_error *error)
{
    const film_reader *reader = to->set->items[recording].reader;
    film_activity *activity;
    film_step step;
    film_status status;

    to->begun = false;
    to->last_ns = 0;
    FILM_TRY(film_activity_open(
        to->set, recording, film_reader_thread(reader, index)->id, &activity, error));
    while ((status = film_activity_next(activity, &step, error)) == FILM_OK) {
        if (step.kind == FILM_STEP_EVENT) {
            continue;
        }
        if (!to->begun) {
            begin_thread(to, recording, index);
        }
        else {
            FILM_OUTPUT_LITERAL(to->output, ",\n");
        }
        status = put_step(to, recording, &step, error);
        if (status != FILM_OK) {
            break;
        }
    }
    film_activity_close(activity);
    if (to->begun) {
        FILM_OUTPUT_LITERAL(to->output, "],\"endValue\":");
        film_output_u64(to->output, to->last_ns);
        film_output_byte(to->output, '}');
    }
    return status == FILM_OK || status == FILM_END ? to->output->status : status;
}

static void
put_frames(profile *to)
{
    for (size_t i = 0; i < to->functions.count; i++) {
        const film_function *function = &to->functions.items[i];

        if (i > 0) {
            FILM_OUTPUT_LITERAL(to->output, ",\n");
        }
        FILM_OUTPUT_LITERAL(to->output, "{\"name\":");
        film_output_json(to->output, function->function);
        if (!function->is_c) {
            FILM_OUTPUT_LITERAL(to->output, ",\"file\":");
            film_output_json(to->output, function->file);
            FILM_OUTPUT_LITERAL(to->output, ",\"line\":");
            film_output_u64(to->output, function->first_line);
        }
        film_output_byte(to->output, '}');
    }
}

static film_status
put_all(profile *to, film_error *error)
{
    char room[FILM_TRACK_BYTES];

    FILM_OUTPUT_LITERAL(
        to->output, "{\"$schema\":\"https://www.speedscope.app/"
                    "file-format-schema.json\",\"exporter\":\"filmstrip\",\"name\":");
    film_output_json(to->output, film_track_process_name(&to->set->items[0], room));
    FILM_OUTPUT_LITERAL(to->output, ",\"activeProfileIndex\":0,\"profiles\":[\n");
    for (size_t i = 0; i < to->set->count; i++) {
        size_t threads = film_reader_thread_count(to->set->items[i].reader);
        for (size_t k = 0; k < threads; k++) {
            FILM_TRY(put_thread(to, i, k, error));
        }
    }
    FILM_OUTPUT_LITERAL(to->output, "],\n\"shared\":{\"frames\":[\n");
    put_frames(to);
    FILM_OUTPUT_LITERAL(to->output, "]}}\n");
    return FILM_OK;
}

film_status
film_export_speedscope(const film_recordings *set, film_output *output,
                       film_error *error)
{
    profile to = {0};
    film_status status = film_functions_init(&to.functions, set, error);

    to.set = set;
    to.output = output;
    if (status == FILM_OK) {
        status = put_all(&to, error);
    }
    film_functions_reset(&to.functions);
    return status;
}
