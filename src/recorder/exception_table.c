/* exception_table.c: co_exceptiontable is a list of (start, length, target, depth),
 * each number in 6-bit groups, the first byte of an entry marked with bit 7, bytes with
 * more to come with bit 6 (CPython: Objects/exception_handling_notes.txt).
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/exception_table.h"

static const uint8_t *
read_number(const uint8_t *at, const uint8_t *end, uint32_t *number)
{
    uint32_t result = 0;

    while (at < end) {
        uint8_t byte = *at++;

        result = result << 6 | (byte & 0x3fu);
        if ((byte & 0x40u) == 0) {
            break;
        }
    }
    *number = result;
    return at;
}

void
film_exception_table_open(film_exception_cursor *cursor, PyCodeObject *code)
{
    cursor->at = (const uint8_t *)PyBytes_AS_STRING(code->co_exceptiontable);
    cursor->end = cursor->at + PyBytes_GET_SIZE(code->co_exceptiontable);
}

bool
film_exception_table_next(film_exception_cursor *cursor, film_exception_entry *entry)
{
    uint32_t length, depth;

    if (cursor->at >= cursor->end) {
        return false;
    }
    cursor->at = read_number(cursor->at, cursor->end, &entry->start);
    cursor->at = read_number(cursor->at, cursor->end, &length);
    cursor->at = read_number(cursor->at, cursor->end, &entry->handler);
    cursor->at = read_number(cursor->at, cursor->end, &depth);
    entry->end = entry->start + length;
    entry->depth = depth >> 1;
    entry->pushes_place = (depth & 1u) != 0;
    return true;
}

bool
film_exception_table_find(PyCodeObject *code, uint32_t unit, uint32_t *handler)
{
    film_exception_cursor cursor;
    film_exception_entry entry;

    film_exception_table_open(&cursor, code);
    while (film_exception_table_next(&cursor, &entry)) {
        if (entry.start > unit) {
            return false; /* entries are in order */
        }
        if (unit < entry.end) {
            *handler = entry.handler;
            return true;
        }
    }
    return false;
}
