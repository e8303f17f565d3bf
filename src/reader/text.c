/* text.c: see text.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reader/text.h"

#include <string.h>

static const char replacement[3] = {(char)0xef, (char)0xbf, (char)0xbd}; /* U+FFFD */

/* Bytes of the well-formed sequence at `at`, or 0 (Unicode, table 3-7). */
static size_t
sequence_length(const uint8_t *at, size_t left)
{
    uint8_t lead = at[0];
    uint8_t low = 0x80, high = 0xbf;
    size_t length;

    if (lead < 0x80) {
        return 1;
    }
    if (lead < 0xc2 || lead > 0xf4) {
        return 0;
    }
    length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (left < length) {
        return 0;
    }
    if (lead == 0xe0) {
        low = 0xa0; /* overlong */
    }
    else if (lead == 0xed) {
        high = 0x9f; /* surrogates */
    }
    else if (lead == 0xf0) {
        low = 0x90; /* overlong */
    }
    else if (lead == 0xf4) {
        high = 0x8f; /* beyond U+10FFFF */
    }
    if (at[1] < low || at[1] > high) {
        return 0;
    }
    for (size_t i = 2; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return length;
}

size_t
film_text_repaired_length(const uint8_t *bytes, size_t length)
{
    size_t repaired = 0;

    for (size_t i = 0; i < length;) {
        size_t sequence = sequence_length(bytes + i, length - i);
        repaired += sequence == 0 ? sizeof(replacement) : sequence;
        i += sequence == 0 ? 1 : sequence;
    }
    return repaired;
}

void
film_text_repair(char *to, const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length;) {
        size_t sequence = sequence_length(bytes + i, length - i);
        if (sequence == 0) {
            memcpy(to, replacement, sizeof(replacement));
            to += sizeof(replacement);
            i++;
        }
        else {
            memcpy(to, bytes + i, sequence);
            to += sequence;
            i += sequence;
        }
    }
    *to = '\0';
}
