/* check.c: verifies every chunk of a recording.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"
#include "cli/reading.h"
#include "format/chunk.h"

/* Streams from here on are tables and values, not threads (format/window.h). */
#define FIRST_SHARED_STREAM 0x80000000u

typedef struct finding {
    uint64_t chunks, damaged, missing;
    uint64_t unreadable; /* events in damaged chunks */
} finding;

/* Reader's messages begin with "chunk N at byte B is damaged". */
static void
report_damage(film_output *output, const char *message)
{
    film_output_display(output, film_text_of(message));
    film_output_byte(output, '\n');
}

static void
verify_chunks(film_reading *reading, finding *found)
{
    film_reader *reader = reading->set.items[0].reader;
    size_t count = film_reader_chunk_count(reader);
    uint64_t walked = 0;

    for (size_t i = 0; i < count; i++) {
        const film_chunk_info *chunk = film_reader_chunk(reader, i);
        film_status status = film_reader_verify_chunk(reader, i, &reading->error);

        found->chunks++;
        if (status != FILM_OK) {
            report_damage(&reading->output, reading->error.message);
            found->damaged++;
            found->unreadable += chunk->type == FILM_CHUNK_EVENT ? chunk->count : 0;
        }
        if (chunk->stream < FIRST_SHARED_STREAM) {
            walked += chunk->count;
        }
        if (walked >= FILM_PROGRESS_STRIDE) {
            film_progress_add(reading->set.progress, walked);
            walked = 0;
        }
    }
}

/* Damage met when opening that verifying the chunks did not find: a table whose
 * content contradicts another, a gap between chunks. */
static void
report_other_damage(film_reading *reading, finding *found)
{
    film_reader *reader = reading->set.items[0].reader;
    size_t count = film_reader_damage_count(reader);

    for (size_t i = 0; i < count; i++) {
        const film_damage damage = *film_reader_damage(reader, i);
        if (damage.number >= film_reader_chunk_count(reader) ||
            film_reader_verify_chunk(reader, (size_t)damage.number, NULL) == FILM_OK) {
            report_damage(&reading->output, damage.message);
            found->damaged++;
        }
    }
}

/* Events between the chunks of a thread that no chunk holds. */
static void
report_missing(film_reading *reading, const film_thread_info *thread, finding *found)
{
    const film_reader *reader = reading->set.items[0].reader;
    size_t count = film_reader_chunk_count(reader);
    uint64_t expected = thread->first_event;

    for (size_t i = 0; i < count; i++) {
        const film_chunk_info *chunk = film_reader_chunk(reader, i);
        if (chunk->stream != thread->id) {
            continue;
        }
        if (chunk->first > expected) {
            film_output_format(&reading->output,
                               "missing: events %llu to %llu of thread %u\n",
                               (unsigned long long)expected,
                               (unsigned long long)(chunk->first - 1), thread->id);
            found->missing += chunk->first - expected;
        }
        if (chunk->first + chunk->count > expected) {
            expected = chunk->first + chunk->count;
        }
    }
}

static void
summarize(film_reading *reading, const finding *found)
{
    film_output *output = &reading->output;
    const film_info *info = film_reader_info(reading->set.items[0].reader);
    bool whole = found->damaged == 0 && found->missing == 0;

    film_output_text(output, whole ? "ok: " : "damaged: ");
    if (!whole) {
        film_output_u64(output, found->damaged);
        FILM_OUTPUT_LITERAL(output, " of ");
    }
    film_output_u64(output, found->chunks);
    film_output_text(output, found->chunks == 1 ? " chunk, " : " chunks, ");
    film_output_u64(output, info->events - found->unreadable);
    film_output_text(output,
                     info->events - found->unreadable == 1 ? " event" : " events");
    film_output_text(output, whole ? "\n" : " readable\n");
    if (info->ending == FILM_ENDING_DIED) {
        FILM_OUTPUT_LITERAL(output, "note: the program died before it closed the "
                                    "recording; everything committed is there\n");
    }
    if (info->lost > 0) {
        FILM_OUTPUT_LITERAL(output, "note: ");
        film_output_u64(output, info->lost);
        film_output_text(output, info->lost == 1 ? " event was" : " events were");
        FILM_OUTPUT_LITERAL(output, " lost while recording; info says why\n");
    }
}

static int
check(film_reading *reading)
{
    const film_reader *reader = reading->set.items[0].reader;
    size_t threads = film_reader_thread_count(reader);
    finding found = {0};
    film_status status;
    int code = FILM_EXIT_DONE;

    verify_chunks(reading, &found);
    report_other_damage(reading, &found);
    for (size_t i = 0; i < threads; i++) {
        report_missing(reading, film_reader_thread(reader, i), &found);
    }
    film_reading_clear_progress(reading);
    summarize(reading, &found);
    status = film_output_flush(&reading->output, &reading->error);
    if (status != FILM_OK && status != FILM_END) {
        code = film_command_fail(reading->command, "%s", reading->error.message);
    }
    else if (found.damaged > 0 || found.missing > 0) {
        code = FILM_EXIT_NO;
    }
    /* Not film_reading_close: damage is this command's answer, not its failure. */
    film_output_reset(&reading->output);
    film_recordings_close(&reading->set);
    return code;
}

static int
run(const film_command *command, int argc, char **argv)
{
    const film_option options[] = {{0}};
    film_reading reading;
    int code;

    if (!film_reading_begin(&reading, command, options, argc, argv, 1, &code)) {
        return code;
    }
    return check(&reading);
}

const film_command film_command_check = {
    "check",
    "verifies every chunk; says what is damaged or missing",
    "FILE",
    "Reads every chunk of a recording, compares its checksums and decodes it. Prints "
    "'ok' with the number of chunks and events, or each damaged chunk with its number "
    "and byte offset and each gap in a thread's events. The other commands read "
    "around damage.\n"
    "\n"
    "A recording whose program was killed is whole as long as its chunks are.",
    "filmstrip check train.film\n"
    "filmstrip check train.film || echo damaged",
    run,
};
