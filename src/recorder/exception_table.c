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

bool
film_exception_table_find(PyCodeObject *code, uint32_t unit, uint32_t *handler)
{
    const uint8_t *at = (const uint8_t *)PyBytes_AS_STRING(code->co_exceptiontable);
    const uint8_t *end = at + PyBytes_GET_SIZE(code->co_exceptiontable);

    while (at < end) {
        uint32_t start, length, target, depth;

        at = read_number(at, end, &start);
        at = read_number(at, end, &length);
        at = read_number(at, end, &target);
        at = read_number(at, end, &depth);
        if (start > unit) {
            return false; /* entries are in order */
        }
        if (unit < start + length) {
            *handler = target;
            return true;
        }
    }
    return false;
}
