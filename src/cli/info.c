/* info.c: what is in a recording.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/info.h"

#include <stdio.h>

#include "cli/options.h"
#include "cli/reading.h"
#include "export/alignment.h"

/* A thread's last events may have no frame (its end, a loss): look at a few. */
#define LAST_EVENTS 8u

const film_info_counter film_info_counters[FILM_INFO_COUNTERS] = {
    {"values_cut", "cut", "change",
     "not compared in full: the object may have changed"},
    {"unknown_edges", "edges", "unknown edge",
     "that code was recorded instruction by instruction from there on"},
    {"objects_evicted", "evicted", "object",
     "forgotten as the table was full: seen again it has a new number"},
    {"plans_missing", "no plan", "function",
     "too long to be planned: its writes are not recorded"},
};

film_last_place
film_info_last_place(film_reader *reader, const film_thread_info *thread)
{
    film_last_place place = {0};
    film_cursor *cursor;
    const film_event *event;
    const film_frame *stack;
    size_t depth = 0;
    uint64_t first = thread->first_event;
    uint32_t code = FILM_NO_CODE, offset = FILM_NO_OFFSET;

    if (thread->end_event - first > LAST_EVENTS) {
        first = thread->end_event - LAST_EVENTS;
    }
    if (film_cursor_open(reader, thread->id, first, &cursor, NULL) != FILM_OK) {
        return place;
    }
    while (film_cursor_next(cursor, &event, NULL) == FILM_OK) {
        if (event->code != FILM_NO_CODE) {
            code = event->code;
            offset = event->offset;
        }
        stack = film_cursor_stack(cursor, &depth);
        if (depth > 0) {
            code = stack[depth - 1].code;
            offset = stack[depth - 1].offset;
        }
    }
    film_cursor_close(cursor);
    place.running = depth > 0;
    if (code != FILM_NO_CODE) {
        place.code = film_reader_code(reader, code);
        if (offset != FILM_NO_OFFSET) {
            place.line = film_reader_line(reader, code, offset);
        }
    }
    return place;
}

static void
add_loss(film_losses *losses, film_text reason, uint64_t count, bool is_control)
{
    film_loss *loss;

    for (size_t i = 0; i < losses->count; i++) {
        loss = &losses->items[i];
        if (loss->is_control == is_control && loss->reason.length == reason.length &&
            memcmp(loss->reason.data, reason.data, reason.length) == 0) {
            loss->count += count;
            return;
        }
    }
    if (losses->count < FILM_LOSS_LIMIT) {
        loss = &losses->items[losses->count++];
        loss->reason = reason;
        loss->count = count;
        loss->is_control = is_control;
    }
}

/* Looks for losses among `count` events of a thread from `first` on. */
static void
walk_losses(film_reader *reader, uint32_t thread, uint64_t first, uint64_t count,
            film_losses *losses)
{
    film_cursor *cursor;
    const film_event *event;

    if (film_cursor_open(reader, thread, first, &cursor, NULL) != FILM_OK) {
        return;
    }
    while (film_cursor_next(cursor, &event, NULL) == FILM_OK &&
           event->number < first + count) {
        if (event->kind == FILM_KIND_LOST) {
            add_loss(losses, film_reader_string(reader, event->text), event->count,
                     false);
        }
        else if (event->kind == FILM_KIND_LOST_CONTROL) {
            add_loss(losses, film_reader_string(reader, event->text), 1, true);
        }
    }
    film_cursor_close(cursor);
}

void
film_info_losses(film_reader *reader, film_losses *losses)
{
    size_t chunks = film_reader_chunk_count(reader);
    uint64_t found = 0;

    memset(losses, 0, sizeof(*losses));
    for (size_t i = 0; i < chunks; i++) {
        const film_chunk_info *chunk = film_reader_chunk(reader, i);
        if (chunk->lost > 0 && (chunk->stream & 0x80000000u) == 0) {
            walk_losses(reader, chunk->stream, chunk->first, chunk->count, losses);
        }
    }
    for (size_t i = 0; i < losses->count; i++) {
        found += losses->items[i].is_control ? 0 : losses->items[i].count;
    }
    if (film_reader_info(reader)->lost > found) {
        const char *reason = film_reader_info(reader)->stop_reason;
        add_loss(losses,
                 film_text_of(reason != NULL ? reason
                                             : "counted, the reason was not recorded"),
                 film_reader_info(reader)->lost - found, false);
    }
}

static void
print_recording(film_reading *reading, size_t index, bool json)
{
    film_reader *reader = reading->set.items[index].reader;
    const char *path = reading->set.items[index].path;

    if (json) {
        film_info_print_json(&reading->set, index, &reading->output);
        return;
    }
    film_output_text(&reading->output, index > 0 ? "\n" : "");
    film_info_print(reader, path, &reading->output);
}

static int
run(const film_command *command, int argc, char **argv)
{
    bool json = false;
    const film_option options[] = {
        {"json", 0, FILM_OPTION_FLAG, NULL,
         "One JSON object a line for each recording.", &json, NULL},
        {0},
    };
    film_reading reading;
    int code;

    if (!film_reading_begin(&reading, command, options, argc, argv, SIZE_MAX, &code)) {
        return code;
    }
    for (size_t i = 0; i < reading.set.count; i++) {
        print_recording(&reading, i, json);
    }
    if (!json && film_alignment_matters(&reading.set)) {
        film_output_byte(&reading.output, '\n');
        film_alignment_print(&reading.set, "together   ", &reading.output);
    }
    return film_reading_close(&reading, FILM_OK);
}

const film_command film_command_info = {
    "info",
    "what is in it: program, threads, events, losses, how it ended",
    "[--json] FILE...",
    "Prints what a recording holds: the program and its Python, how it ended, events, "
    "time and size, what was lost and why, damage, and for each thread its events and "
    "the last function and line it was in; of several recordings also how well their "
    "clocks are known to agree. Reads no events but each thread's last.",
    "filmstrip info train.film\n"
    "filmstrip info --json train.film | jq .events\n"
    "filmstrip info train.film train.*.film",
    run,
};
