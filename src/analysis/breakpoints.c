/* breakpoints.c: see breakpoints.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/breakpoints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/breakpoint_state.h"
#include "base/alloc.h"
#include "reader/reader_state.h"

#define MOST_WANTED 512u

static bool
is_text(film_text text, const char *other)
{
    return text.length == strlen(other) && memcmp(text.data, other, text.length) == 0;
}

/* The whole name of a file, or its last parts. */
bool
film_is_file(film_text file, const char *wanted)
{
    size_t length = strlen(wanted);

    return length > 0 && file.length >= length &&
           memcmp(file.data + file.length - length, wanted, length) == 0 &&
           (file.length == length || wanted[0] == '/' ||
            file.data[file.length - length - 1] == '/');
}

/* --- making --- */

static bool
add_wanted(film_breakpoints *set, const film_wanted *one)
{
    film_wanted *wanted = film_grow(set->wanted, &set->wanted_capacity,
                                    set->wanted_count + 1, sizeof(*wanted));

    if (wanted == NULL) {
        return false;
    }
    set->wanted = wanted;
    wanted[set->wanted_count++] = *one;
    return true;
}

/* The line that a breakpoint stands on: the asked for, or the next with code. */
static uint32_t
line_with_code(film_reader *reader, const char *file, uint32_t line)
{
    uint32_t best = 0;

    for (size_t i = 0; i < film_reader_code_count(reader); i++) {
        const film_code *code = film_reader_code(reader, (uint32_t)i);
        if (code == NULL || !film_is_file(code->file, file)) {
            continue;
        }
        for (uint32_t unit = 0; unit < code->bytecode_length / 2; unit++) {
            uint32_t at = film_reader_line(reader, code->id, unit);
            if (at >= line && (best == 0 || at < best)) {
                best = at;
            }
        }
    }
    return best;
}

/* The places of the line in every code of the file, as ranges. */
static bool
want_line(film_breakpoints *set, film_point *point)
{
    film_reader *reader = set->timeline->reader;

    for (size_t i = 0; i < film_reader_code_count(reader); i++) {
        const film_code *code = film_reader_code(reader, (uint32_t)i);
        film_wanted one = {.kind = FILM_WANTED_LINE, .code = (uint32_t)i};
        bool open = false;
        if (code == NULL || !film_is_file(code->file, point->file)) {
            continue;
        }
        for (uint32_t unit = 0; unit <= code->bytecode_length / 2; unit++) {
            bool is = unit < code->bytecode_length / 2 &&
                      film_reader_line(reader, code->id, unit) == point->line;
            if (is && !open) {
                one.number = unit;
            }
            else if (!is && open) {
                one.last = unit - 1;
                if (!add_wanted(set, &one)) {
                    return false;
                }
            }
            open = is;
        }
    }
    return true;
}

/* The function by any of its names, in the file if one is given. */
static bool
is_function(const film_code *code, const film_point *point)
{
    return (is_text(code->function, point->function) ||
            is_text(code->qualname, point->function) ||
            is_text(code->name, point->function)) &&
           (point->file == NULL || film_is_file(code->file, point->file));
}

static bool
want_calls(film_breakpoints *set, film_point *point)
{
    film_reader *reader = set->timeline->reader;

    for (size_t i = 0; i < film_reader_code_count(reader); i++) {
        const film_code *code = film_reader_code(reader, (uint32_t)i);
        film_wanted one = {.kind = FILM_WANTED_CALL, .code = (uint32_t)i};
        if (code != NULL && is_function(code, point)) {
            point->verified = true;
            if (!add_wanted(set, &one)) {
                return false;
            }
        }
    }
    return true;
}

/* The whole name of an op, or its last parts: torch.Tensor.add_, Tensor.add_, add_. */
static bool
is_op(film_text name, const char *wanted)
{
    size_t length = strlen(wanted);

    return length > 0 && name.length >= length &&
           memcmp(name.data + name.length - length, wanted, length) == 0 &&
           (name.length == length || name.data[name.length - length - 1] == '.' ||
            name.data[name.length - length - 1] == ':');
}

/* Names are not kept by kind, so whether it was called is told once it was searched for:
 * a name that no text of the recording has was not. */
static bool
want_op(film_breakpoints *set, film_point *point)
{
    film_wanted one = {.kind = FILM_WANTED_EVENT, .number = FILM_KIND_OP};
    film_reader *reader = set->timeline->reader;

    for (size_t i = 0; i < film_reader_string_count(reader) && !point->verified; i++) {
        point->verified =
            is_op(film_reader_string(reader, (uint32_t)i), point->function);
    }
    return !point->verified || add_wanted(set, &one);
}

static film_status
want_target(film_breakpoints *set, film_point *point, const film_breakpoint *from,
            film_error *error)
{
    film_wanted wanted[FILM_TARGET_WANTED];
    const char *where = from->function != NULL ? from->function : from->module;
    char text[512];
    size_t count;

    if (from->kind == FILM_BREAK_VARIABLE) {
        if (where == NULL || from->name == NULL) {
            return film_fail(error, FILM_MISUSE,
                             "a variable needs its name and its function or module");
        }
        snprintf(text, sizeof(text), "%s:%s", where, from->name);
        FILM_TRY(film_target_parse(set->timeline, film_moment_of(0, 0), 0, text,
                                   &point->target, error));
        point->target.frame = from->frame;
    }
    else if (from->kind == FILM_BREAK_ATTRIBUTE) {
        point->target.kind = FILM_TARGET_ATTRIBUTE;
        point->target.serial = from->serial;
        point->target.name = from->name == NULL
                                 ? 0
                                 : film_timeline_string_id(set->timeline, from->name,
                                                           strlen(from->name));
        if (point->target.name == 0) {
            return film_fail(error, FILM_MISUSE, "no such attribute was recorded");
        }
    }
    else {
        point->target.kind = FILM_TARGET_OBJECT;
        point->target.serial = from->serial;
    }
    point->verified = true;
    count = film_target_wanted(&point->target, wanted);
    for (size_t i = 0; i < count; i++) {
        if (!add_wanted(set, &wanted[i])) {
            return film_fail(error, FILM_NO_MEMORY, "memory ran out");
        }
    }
    return FILM_OK;
}

/* "5", "==5", ">5", ">=5", "<5", "<=5", "%5" */
static bool
parse_hit(const char *text, film_point *point)
{
    char *end;

    while (*text == ' ') {
        text++;
    }
    point->hit_sign = '=';
    if (*text == '=' || *text == '<' || *text == '>' || *text == '%') {
        point->hit_sign = *text++;
        if (*text == '=') {
            if (point->hit_sign == '<' || point->hit_sign == '>') {
                point->hit_sign = point->hit_sign == '<' ? 'l' : 'g';
            }
            text++;
        }
    }
    point->hit = strtoull(text, &end, 10);
    return end != text && *end == '\0' && point->hit > 0;
}

static film_status
make_point(film_breakpoints *set, film_point *point, const film_breakpoint *from,
           film_error *error)
{
    film_wanted raise = {.kind = FILM_WANTED_EVENT, .number = FILM_KIND_RAISE};

    point->kind = from->kind;
    point->file = film_copy_text(from->file);
    point->function = film_copy_text(from->function);
    point->log = film_copy_text(from->log);
    point->condition_text = film_copy_text(from->condition);
    if (from->condition != NULL && from->condition[0] != '\0') {
        FILM_TRY(film_expression_parse(from->condition, strlen(from->condition),
                                       &point->condition, error));
    }
    if (from->hit != NULL && from->hit[0] != '\0' && !parse_hit(from->hit, point)) {
        return film_fail(error, FILM_MISUSE, "'%.40s' is no hit count", from->hit);
    }
    switch (from->kind) {
    case FILM_BREAK_LINE:
        if (point->file == NULL || from->line == 0) {
            return film_fail(error, FILM_MISUSE, "a line needs its file and number");
        }
        point->asked = from->line;
        point->line = line_with_code(set->timeline->reader, point->file, from->line);
        point->verified = point->line != 0;
        return want_line(set, point)
                   ? FILM_OK
                   : film_fail(error, FILM_NO_MEMORY, "memory ran out");
    case FILM_BREAK_FUNCTION:
        if (point->function == NULL) {
            return film_fail(error, FILM_MISUSE, "a function needs its name");
        }
        return want_calls(set, point)
                   ? FILM_OK
                   : film_fail(error, FILM_NO_MEMORY, "memory ran out");
    case FILM_BREAK_OP:
        if (point->function == NULL) {
            return film_fail(error, FILM_MISUSE, "an operation needs its name");
        }
        return want_op(set, point) ? FILM_OK
                                   : film_fail(error, FILM_NO_MEMORY, "memory ran out");
    case FILM_BREAK_RAISED:
    case FILM_BREAK_UNCAUGHT:
        point->verified = true;
        if (!add_wanted(set, &raise)) {
            return film_fail(error, FILM_NO_MEMORY, "memory ran out");
        }
        return from->kind == FILM_BREAK_UNCAUGHT
                   ? film_find_uncaught(set->timeline, &set->uncaught, error)
                   : FILM_OK;
    case FILM_BREAK_VARIABLE:
    case FILM_BREAK_ATTRIBUTE:
    case FILM_BREAK_OBJECT:
        return want_target(set, point, from, error);
    default:
        return film_fail(error, FILM_MISUSE, "no such breakpoint");
    }
}

char *
film_copy_text(const char *text)
{
    size_t length = text == NULL ? 0 : strlen(text) + 1;
    char *copy = length == 0 ? NULL : film_alloc(length);

    if (copy != NULL) {
        memcpy(copy, text, length);
    }
    return copy;
}

film_status
film_breakpoints_make(film_timeline *timeline, const film_breakpoint *list,
                      size_t count, film_breakpoints **out, size_t *bad,
                      film_error *error)
{
    film_breakpoints *set = film_alloc(sizeof(*set));
    film_status status = FILM_OK;

    *out = NULL;
    *bad = 0;
    if (set == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    set->timeline = timeline;
    set->points = film_alloc_array(count + 1, sizeof(*set->points));
    if (set->points == NULL) {
        film_breakpoints_free(set);
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    for (size_t i = 0; i < count && status == FILM_OK; i++) {
        set->count = i + 1;
        *bad = i;
        status = make_point(set, &set->points[i], &list[i], error);
    }
    if (status != FILM_OK) {
        film_breakpoints_free(set);
        return status;
    }
    *out = set;
    return FILM_OK;
}

void
film_breakpoints_free(film_breakpoints *breakpoints)
{
    if (breakpoints == NULL) {
        return;
    }
    for (size_t i = 0; breakpoints->points != NULL && i < breakpoints->count; i++) {
        film_point *point = &breakpoints->points[i];
        film_free(point->file);
        film_free(point->function);
        film_free(point->log);
        film_free(point->condition_text);
        film_expression_free(point->condition);
    }
    film_free(breakpoints->points);
    film_free(breakpoints->wanted);
    film_free(breakpoints->uncaught.items);
    film_buffer_reset(&breakpoints->text);
    film_free(breakpoints);
}

bool
film_breakpoints_verified(const film_breakpoints *breakpoints, size_t index,
                          uint32_t *line)
{
    *line = index < breakpoints->count ? breakpoints->points[index].line : 0;
    return index < breakpoints->count && breakpoints->points[index].verified;
}

/* --- matching --- */

bool
film_point_is_at(film_breakpoints *set, const film_point *point,
                 const film_scene *scene, uint32_t index)
{
    const film_scene_event *event = &scene->events[index];
    const film_node *node = event->node == 0 ? NULL : &scene->nodes[event->node - 1];
    const film_code *code;

    switch (point->kind) {
    case FILM_BREAK_LINE:
        if (event->kind != FILM_KIND_LINE || node == NULL ||
            film_reader_line(set->timeline->reader, node->code, event->offset) !=
                point->line) {
            return false;
        }
        code = film_reader_code(set->timeline->reader, node->code);
        return code != NULL && film_is_file(code->file, point->file);
    case FILM_BREAK_FUNCTION:
        if (event->kind != FILM_KIND_CALL || node == NULL) {
            return false;
        }
        code = film_reader_code(set->timeline->reader, node->code);
        return code != NULL && is_function(code, point);
    case FILM_BREAK_OP:
        return event->kind == FILM_KIND_OP && event->extra != 0 &&
               is_op(film_reader_string(set->timeline->reader,
                                        scene->extras[event->extra - 1].text),
                     point->function);
    case FILM_BREAK_RAISED:
        return event->kind == FILM_KIND_RAISE &&
               !film_raise_passes(set->timeline, scene, index);
    case FILM_BREAK_UNCAUGHT:
        for (size_t i = 0; event->kind == FILM_KIND_RAISE && i < set->uncaught.count;
             i++) {
            if (film_moment_is(set->uncaught.items[i].raised,
                               film_moment_of(scene->thread, scene->first + index))) {
                return true;
            }
        }
        return false;
    case FILM_BREAK_VARIABLE:
    case FILM_BREAK_ATTRIBUTE:
    case FILM_BREAK_OBJECT:
    default:
        return film_target_matches(set->timeline, &point->target, scene, index);
    }
}
