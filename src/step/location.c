/* location.c: places as they are typed: every command that takes one takes the same.
 * SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "step/handlers.h"
#include "step/stops.h"

bool
film_step_parse_place(film_step *step, const char *text, size_t length,
                      film_step_place *out)
{
    size_t digits = length, index;
    const film_json_node *frame;
    const char *file;

    memset(out, 0, sizeof(*out));
    while (digits > 0 && isdigit((unsigned char)text[digits - 1])) {
        digits--;
    }
    if (digits == length || length - digits > 9) {
        return false;
    }
    out->line = (uint32_t)strtoul(text + digits, NULL, 10);
    if (digits > 1 && text[digits - 1] == ':' && digits - 1 < sizeof(out->file)) {
        memcpy(out->file, text, digits - 1);
        return true;
    }
    frame = film_step_frame(step, &index);
    file = film_step_text(&step->moment, frame, "file");
    if (digits != 0 || frame == NULL || strlen(file) >= sizeof(out->file)) {
        return false;
    }
    memcpy(out->file, file, strlen(file));
    return true;
}

bool
film_step_take_function(const char *text, size_t length, film_step_place *out)
{
    const char *colon = memrchr(text, ':', length);
    size_t file = colon == NULL ? 0 : (size_t)(colon - text);
    const char *name = colon == NULL ? text : colon + 1;
    size_t name_length = length - (size_t)(name - text);

    memset(out, 0, sizeof(*out));
    if (name_length == 0 || name_length >= sizeof(out->function) ||
        (colon != NULL && file == 0) || file >= sizeof(out->file) ||
        isdigit((unsigned char)name[0]) || memchr(text, ' ', length) != NULL) {
        return false;
    }
    memcpy(out->file, text, file);
    memcpy(out->function, name, name_length);
    return true;
}

bool
film_step_parse_location(film_step *step, const char *text, size_t length,
                         film_step_place *out)
{
    if (film_step_parse_place(step, text, length, out)) {
        return out->line != 0 ? true : film_step_fail(step, "lines count from 1");
    }
    if (film_step_take_function(text, length, out)) {
        return true;
    }
    return film_step_fail(
        step, "'%.*s' is no place: FILE:LINE, LINE, FUNCTION or FILE:FUNCTION",
        (int)(length < 80 ? length : 80), text);
}

bool
film_step_find_file(const film_step *step, const char *typed, char *file,
                    size_t capacity)
{
    for (size_t i = 0; i < film_reader_code_count(step->reader); i++) {
        const film_code *code = film_reader_code(step->reader, (uint32_t)i);
        if (code != NULL && code->file.length < capacity) {
            memcpy(file, code->file.data, code->file.length);
            file[code->file.length] = '\0';
            if (film_step_is_file(file, typed)) {
                return true;
            }
        }
    }
    return false;
}

static bool
is_named(film_text name, const char *typed)
{
    return name.length == strlen(typed) && memcmp(name.data, typed, name.length) == 0;
}

bool
film_step_find_function(const film_step *step, film_step_place *place, char *file,
                        size_t capacity)
{
    for (size_t i = 0; i < film_reader_code_count(step->reader); i++) {
        const film_code *code = film_reader_code(step->reader, (uint32_t)i);
        if (code == NULL || code->file.length >= capacity ||
            !(is_named(code->function, place->function) ||
              is_named(code->qualname, place->function) ||
              is_named(code->name, place->function))) {
            continue;
        }
        memcpy(file, code->file.data, code->file.length);
        file[code->file.length] = '\0';
        if (place->file[0] == '\0' || film_step_is_file(file, place->file)) {
            place->line = code->first_line;
            return true;
        }
    }
    return false;
}

void
film_step_add_location(film_step *step, const film_step_place *place)
{
    if (place->file[0] != '\0') {
        film_step_add_text(step, "file", place->file, strlen(place->file));
    }
    if (place->function[0] != '\0') {
        film_step_add_text(step, "function", place->function, strlen(place->function));
    }
    else {
        film_step_add_number(step, "line", place->line);
    }
}

void
film_step_open_spec(film_buffer *to, const film_step_place *place)
{
    char number[32];

    film_buffer_append_text(to, place->function[0] == '\0'
                                    ? "{\"kind\": \"line\""
                                    : "{\"kind\": \"function\", \"function\": ");
    if (place->function[0] != '\0') {
        film_json_put(to, place->function, strlen(place->function));
    }
    if (place->file[0] != '\0') {
        film_buffer_append_text(to, ", \"file\": ");
        film_json_put(to, place->file, strlen(place->file));
    }
    if (place->line != 0) {
        snprintf(number, sizeof(number), ", \"line\": %u", place->line);
        film_buffer_append_text(to, number);
    }
}
