/* line_reads.c: see line_reads.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/line_reads.h"

#include <stdio.h>
#include <string.h>

/* Opcodes by minor version of CPython 3; 0: it has none. */
typedef struct opcodes {
    uint8_t minor;
    uint8_t extended, fast, fast_check, fast_borrow, fast_fast, borrow_borrow,
        store_fast_fast, deref, dict_or_deref, global, name, dict_or_global, attribute,
        method, constant, small_int;
    uint8_t attribute_shift; /* its argument holds a flag in the low bits */
} opcodes;

static const opcodes the_opcodes[] = {
    {11, 144, 124, 0, 0, 0, 0, 0, 137, 148, 116, 101, 0, 106, 160, 100, 0, 0},
    {12, 144, 124, 127, 0, 0, 0, 0, 137, 176, 116, 101, 175, 106, 0, 100, 0, 1},
    {13, 71, 85, 87, 0, 88, 0, 111, 84, 89, 91, 92, 90, 82, 0, 83, 0, 1},
    {14, 69, 84, 88, 86, 89, 87, 113, 83, 90, 92, 93, 91, 80, 0, 82, 94, 1},
};

typedef struct reading {
    film_reader *reader;
    const film_code *code;
    film_line_read *to;
    size_t count, most;
    int last; /* index of what the instruction before loaded; -1: nothing */
} reading;

static const opcodes *
opcodes_of(film_reader *reader)
{
    uint32_t version = film_reader_info(reader)->python_version;

    for (size_t i = 0; i < sizeof(the_opcodes) / sizeof(the_opcodes[0]); i++) {
        if (version >> 24 == 3 && (version >> 16 & 0xff) == the_opcodes[i].minor) {
            return &the_opcodes[i];
        }
    }
    return NULL;
}

/* Notes a read; one that is known already is not told twice. */
static void
note(reading *read, film_line_read_kind kind, const char *text)
{
    for (size_t i = 0; i < read->count; i++) {
        if (read->to[i].kind == kind && strcmp(read->to[i].text, text) == 0) {
            read->last = (int)i;
            return;
        }
    }
    if (read->count < read->most) {
        film_line_read *one = &read->to[read->count];
        one->kind = kind;
        snprintf(one->text, sizeof(one->text), "%s", text);
        read->last = (int)read->count++;
    }
    else {
        read->last = -1;
    }
}

static void
note_string(reading *read, film_line_read_kind kind, uint32_t id)
{
    film_text text = film_reader_string(read->reader, id);
    char copy[120];

    snprintf(copy, sizeof(copy), "%.*s",
             (int)(text.length < sizeof(copy) - 1 ? text.length : sizeof(copy) - 1),
             text.data);
    if (copy[0] != '\0' && copy[0] != '.') {
        note(read, kind, copy);
    }
    else {
        read->last = -1;
    }
}

static void
note_local(reading *read, uint32_t slot)
{
    if (slot < read->code->local_count) {
        note_string(read, FILM_LINE_LOCAL, read->code->locals[slot]);
    }
}

static void
note_name(reading *read, uint32_t index)
{
    if (index < read->code->name_count) {
        note_string(read, FILM_LINE_GLOBAL, read->code->names[index]);
    }
}

/* An attribute of what was loaded just before. */
static void
note_attribute(reading *read, uint32_t index)
{
    char path[120];
    film_text name;
    int length;

    if (read->last < 0 || index >= read->code->name_count) {
        read->last = -1;
        return;
    }
    name = film_reader_string(read->reader, read->code->names[index]);
    length = snprintf(path, sizeof(path), "%s.%.*s", read->to[read->last].text,
                      (int)(name.length < 100 ? name.length : 100), name.data);
    if (length < 0 || (size_t)length >= sizeof(path)) {
        read->last = -1;
        return;
    }
    note(read, FILM_LINE_ATTRIBUTE, path);
}

static bool
is_op(uint8_t op, uint8_t wanted)
{
    return wanted != 0 && op == wanted;
}

static void
look_at(reading *read, const opcodes *ops, uint8_t op, uint32_t argument)
{
    if (op == 0) {
        return; /* a cache of the instruction before */
    }
    if (is_op(op, ops->fast) || is_op(op, ops->fast_check) ||
        is_op(op, ops->fast_borrow) || is_op(op, ops->deref) ||
        is_op(op, ops->dict_or_deref)) {
        note_local(read, argument);
    }
    else if (is_op(op, ops->fast_fast) || is_op(op, ops->borrow_borrow)) {
        note_local(read, argument >> 4);
        note_local(read, argument & 15);
    }
    else if (is_op(op, ops->store_fast_fast)) {
        note_local(read, argument & 15);
    }
    else if (is_op(op, ops->global)) {
        note_name(read, argument >> 1);
    }
    else if (is_op(op, ops->name) || is_op(op, ops->dict_or_global)) {
        note_name(read, argument);
    }
    else if (is_op(op, ops->attribute)) {
        note_attribute(read, argument >> ops->attribute_shift);
    }
    else if (is_op(op, ops->method)) {
        note_attribute(read, argument);
    }
    else {
        read->last = -1;
    }
}

size_t
film_line_reads(film_reader *reader, const film_code *code, uint32_t line,
                film_line_read *to, size_t most)
{
    reading read = {.reader = reader, .code = code, .to = to, .most = most, .last = -1};
    const opcodes *ops = opcodes_of(reader);
    uint32_t extended = 0;

    for (uint32_t unit = 0; ops != NULL && unit < code->bytecode_length / 2; unit++) {
        uint8_t op = code->bytecode[2 * unit];
        uint32_t argument = extended << 8 | code->bytecode[2 * unit + 1];
        extended = op == ops->extended ? argument : 0;
        if (op == ops->extended) {
            continue;
        }
        if (film_reader_line(reader, code->id, unit) == line) {
            look_at(&read, ops, op, argument);
        }
        else {
            read.last = -1;
        }
    }
    return read.count;
}
