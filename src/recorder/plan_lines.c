/* plan_lines.c: the lines of the instructions, and where line events come from.
 *
 * co_linetable is a list of entries, each begun by a byte with bit 7 set:
 *
 *     1kkkklll  k: kind, l: code units - 1
 *       0 to 9    one byte of columns follows, the line stays
 *       10 to 12  two bytes of columns, the line grows by k - 10
 *       13        a signed varint, by which the line changes
 *       14        the same, then three varints
 *       15        these units have no line
 *
 * Varints have 6 bits a byte, the lowest first, bit 6 for more to come, and the sign in
 * their lowest bit (CPython: Objects/locations.md).
 *
 * 3.11 fires on every change of line from one executed instruction to the next and on
 * every backward jump but one to SEND. From 3.12 on an event can come from marked
 * places only: the first instruction of a run with one line, targets of jumps and
 * handlers; and only if the instruction before had another line.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/plan_bytecode.h"

static const uint8_t *
read_signed(const uint8_t *at, const uint8_t *end, int32_t *number)
{
    uint32_t value = 0, shift = 0;

    while (at < end && shift < 32) {
        uint8_t byte = *at++;

        value |= (uint32_t)(byte & 0x3fu) << shift;
        shift += 6;
        if ((byte & 0x40u) == 0) {
            break;
        }
    }
    *number = (value & 1u) != 0 ? -(int32_t)(value >> 1) : (int32_t)(value >> 1);
    return at;
}

bool
film_bytecode_read_lines(film_bytecode *bytecode)
{
    PyObject *table = bytecode->code->co_linetable;
    const uint8_t *at = (const uint8_t *)PyBytes_AS_STRING(table);
    const uint8_t *end = at + PyBytes_GET_SIZE(table);
    int64_t line = bytecode->code->co_firstlineno;
    film_instruction *here = bytecode->instructions;
    const film_instruction *last = here + bytecode->count;
    uint32_t unit = 0;

    while (at < end && unit < bytecode->unit_count) {
        uint8_t first = *at++;
        uint32_t kind = first >> 3 & 15u, units = (first & 7u) + 1u;
        int32_t delta = 0;

        if (kind == 13 || kind == 14) {
            at = read_signed(at, end, &delta);
        }
        else if (kind >= 10 && kind <= 12) {
            delta = (int32_t)kind - 10;
        }
        line += delta;
        if (line < INT32_MIN || line > INT32_MAX) {
            return false;
        }
        unit += units;
        for (; here < last && here->place < unit; here++) {
            /* Below 0 CPython has no line either. */
            here->line = kind == 15 || line < 0 ? -1 : (int32_t)line;
        }
        while (at < end && (*at & 0x80u) == 0) {
            at++;
        }
    }
    return true;
}

#if FILM_HAS_MONITORING

void
film_bytecode_mark_lines(film_bytecode *bytecode)
{
    int32_t last = -2, last_known = -2;
    uint32_t index = 0;

    /* What lies before the first RESUME is not traced. */
    while (index < bytecode->count &&
           bytecode->instructions[index].form != FILM_FORM_RESUME) {
        index++;
    }
    if (index == bytecode->count) {
        index = 0;
    }
    for (; index < bytecode->count; index++) {
        film_instruction *here = &bytecode->instructions[index];
        bool joined = here->is_target || here->is_handler;

        if ((here->traits & FILM_OP_UNMARKED) == 0) {
            if (here->line >= 0 && (here->line != last || joined)) {
                here->marked = true;
                here->sure = here->line != last_known || joined;
            }
            last = here->line;
        }
        else if (here->is_returned_to && here->form == FILM_FORM_END) {
            /* The END_SEND that a CLEANUP_THROW goes on to. */
            here->marked = here->sure = here->line >= 0;
        }
        if (here->line >= 0) {
            last_known = here->line;
        }
    }
}

#else

void
film_bytecode_mark_lines(film_bytecode *bytecode)
{
    for (uint32_t from = 0; from < bytecode->count; from++) {
        uint32_t next[3], count = film_bytecode_next(bytecode, from, next);

        for (uint32_t index = 0; index < count; index++) {
            if (film_bytecode_fires(bytecode, from, next[index])) {
                bytecode->instructions[next[index]].marked = true;
            }
        }
        if (bytecode->instructions[from].form == FILM_FORM_RESUME &&
            from + 1 < bytecode->count) {
            bytecode->instructions[from + 1].marked = true;
        }
    }
}

#endif
