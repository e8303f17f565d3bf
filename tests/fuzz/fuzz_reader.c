/* fuzz_reader.c: opens any bytes as a recording, walks every event of every thread,
 * asks for everything an event points to, verifies every chunk. Whatever the bytes:
 * no crash, no hang, no unbounded memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "film_bytes.h"

#include "export/event_json.h"

static uint64_t checksum; /* so that reads are not optimised away */

static void
touch(film_text text)
{
    if (text.length > 0) {
        checksum += (uint8_t)text.data[0] + (uint8_t)text.data[text.length - 1];
    }
    checksum += (uint8_t)text.data[text.length]; /* the promised NUL */
}

static void
touch_code(const film_code *code)
{
    touch(code->file);
    touch(code->function);
    touch(code->qualname);
    for (uint32_t index = 0; index < code->bytecode_length; index++) {
        checksum += code->bytecode[index];
    }
    for (uint32_t index = 0; index < code->local_count; index++) {
        checksum += code->locals[index] + code->local_kinds[index];
    }
    for (uint32_t index = 0; index < code->name_count; index++) {
        checksum += code->names[index];
    }
}

/* What dump writes; the bytes go nowhere. */
static bool
open_json(film_reader *reader, film_event_json *json, film_output *output)
{
    static int nowhere = -1;

    if (nowhere < 0) {
        nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    }
    if (film_output_init(output, nowhere, NULL) != FILM_OK) {
        return false;
    }
    if (film_event_json_init(json, reader, NULL) != FILM_OK) {
        film_output_reset(output);
        return false;
    }
    return true;
}

static void
walk_events(film_reader *reader, film_cursor *cursor, film_event_json *json,
            film_output *output)
{
    film_error error;
    const film_event *event;

    /* A small file may claim many events; what it can make us do per byte is bounded
     * by the format, so a fixed bound finds every fault worth finding. */
    for (uint32_t count = 0; count < 200000; count++) {
        size_t depth;
        const film_frame *stack;

        if (film_cursor_next(cursor, &event, &error) != FILM_OK) {
            break;
        }
        touch(film_reader_string(reader, event->text));
        checksum += film_reader_line(reader, event->code, event->offset);
        checksum += film_reader_line(reader, event->caller_code, event->caller_offset);
        for (uint32_t index = 0; index < event->body_length; index++) {
            checksum += event->body[index];
        }
        touch(film_reader_event_name(reader, event));
        checksum += (uint8_t)film_reader_event_scope(reader, event)[0];
        for (uint32_t index = 0; index < event->token_count && index < 64; index++) {
            film_value value;
            touch(film_reader_argument_name(reader, event, index));
            if (film_reader_event_value(reader, event, index, 200, &value, &error) ==
                FILM_OK) {
                touch(value.text);
                touch(value.type);
            }
        }
        if (count < 2000) {
            film_event_json_write(json, output, event);
        }
        stack = film_cursor_stack(cursor, &depth);
        if (depth > 0) {
            checksum += stack[0].serial + stack[depth - 1].serial;
        }
        if (event->value != 0) {
            film_value value;
            if (film_reader_value(reader, event->value - 1, &value, &error) ==
                FILM_OK) {
                touch(value.text);
                touch(value.type);
            }
        }
    }
}

static void
walk_thread(film_reader *reader, uint32_t thread, uint64_t first)
{
    film_cursor *cursor = NULL;
    film_event_json json;
    film_output output;
    film_error error;

    if (film_cursor_open(reader, thread, first, &cursor, &error) != FILM_OK) {
        return;
    }
    if (open_json(reader, &json, &output)) {
        walk_events(reader, cursor, &json, &output);
        film_event_json_reset(&json);
        film_output_reset(&output);
    }
    film_cursor_close(cursor);
}

static void
walk(film_reader *reader)
{
    film_error error;
    film_source source;

    for (uint32_t id = 0; id < film_reader_code_count(reader); id++) {
        const film_code *code = film_reader_code(reader, id);
        if (code != NULL) {
            touch_code(code);
        }
    }
    for (size_t index = 0; index < film_reader_thread_count(reader); index++) {
        const film_thread_info *thread = film_reader_thread(reader, index);
        touch(thread->name);
        walk_thread(reader, thread->id, 0);
        walk_thread(reader, thread->id, thread->end_event / 2);
    }
    for (size_t index = 0; index < 64; index++) {
        if (film_reader_source(reader, index, &source, &error) != FILM_OK) {
            break;
        }
        touch(source.file);
        touch(source.text);
    }
    for (size_t index = 0; index < film_reader_chunk_count(reader); index++) {
        checksum += film_reader_chunk(reader, index)->count;
        checksum += film_reader_verify_chunk(reader, index, &error) == FILM_OK;
    }
    for (size_t index = 0; index < film_reader_damage_count(reader); index++) {
        checksum += film_reader_damage(reader, index)->offset;
    }
    (void)film_reader_meta(reader, "program");
    checksum += film_reader_refresh(reader, &error) == FILM_OK;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_bytes(data, size, walk);
    return 0;
}
