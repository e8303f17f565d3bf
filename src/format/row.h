/* row.h: one event as a thread writes it into its window, and as a chunk's columns
 * give it back.
 *
 *   tag byte     ttttt kkk      k: film_row_tag, t: time since the last row
 *                               in raw ticks, 31 = a varint (delta - 31) follows
 *   CALL         code, site                site: caller's place + 1, 0 unknown
 *   RETURN       offset
 *   YIELD        offset
 *   RESUME       frame, code, offset, site frame: zigzag, relative to the last resumed
 *   LINE         offset
 *   SET          number << 3 | form, tokens  a write (token.h); no time of its own
 *   VALUES       tokens, as many as its time bits say: they belong to the next event
 *   EXT          kind byte, length, body   everything else; skipped by length
 *
 * All numbers are varints. Bodies of EXT rows:
 *   THROW                   frame, code, offset, site, type, message
 *   RAISE UNWIND HANDLED    offset + 1, type, message
 *   C_CALL C_RETURN C_RAISE function, offset + 1
 *   THREAD_START            name, native id          THREAD_END  (empty)
 *   TASK                    id, name
 *   LOST LOST_CONTROL       count, reason
 *   DELETE                  number << 3 | form, tokens without the value
 *   CHANGE                  length before + 1 (0: none), flags (1: cut), token
 *   ADOPT                   code, offset + 1
 *   FOCUS DROP              distance from the top
 *   PAUSE                   (empty)
 *   CELLS                   see format/cells.h
 *   RESTORED                slot, token (UNBOUND: nothing), cell (0: none)
 * type, name, function, reason are string ids; message is a value id + 1, 0 none.
 * A row is at most FILM_ROW_MAX bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_ROW_H
#define FILMSTRIP_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include <filmstrip/event.h>
#include <filmstrip/status.h>

#include "base/varint.h"

#define FILM_ROW_MAX 64
#define FILM_ROW_DELTA_ESCAPE 31u

typedef enum film_row_tag {
    FILM_ROW_CALL = 0,
    FILM_ROW_RETURN = 1,
    FILM_ROW_LINE = 2,
    FILM_ROW_YIELD = 3,
    FILM_ROW_RESUME = 4,
    FILM_ROW_SET = 5,
    FILM_ROW_VALUES = 6,
    FILM_ROW_EXT = 7
} film_row_tag;

/* A decoded row. Fields that its kind does not have are 0. */
typedef struct film_row {
    uint64_t delta;       /* ticks since the last row: raw in a window, file ticks in
                             a chunk */
    uint64_t frame_delta; /* resume, throw: zigzag */
    uint32_t code;
    uint32_t site;
    uint32_t offset;       /* as stored: see the table above */
    uint32_t body_length;  /* EXT */
    const uint8_t *body;   /* EXT: borrowed from the input */
    const uint8_t *tokens; /* SET, VALUES: borrowed from the input */
    uint64_t head;         /* SET: number << FILM_SET_SHIFT | form */
    uint32_t tokens_length, token_count;
    uint8_t kind; /* film_kind, adjustments included */
} film_row;

static inline bool
film_kind_is_adjustment(uint8_t kind)
{
    return kind >= FILM_KIND_ADOPT;
}

static inline uint8_t *
film_row_put_tag(uint8_t *to, film_row_tag tag, uint64_t delta)
{
    if (__builtin_expect(delta < FILM_ROW_DELTA_ESCAPE, 1)) {
        *to++ = (uint8_t)((uint8_t)tag | (uint8_t)(delta << 3));
        return to;
    }
    *to++ = (uint8_t)((uint8_t)tag | (uint8_t)(FILM_ROW_DELTA_ESCAPE << 3));
    return film_varint_encode(to, delta - FILM_ROW_DELTA_ESCAPE);
}

/* The most tokens a VALUES row has: one less than what its five bits could say. */
#define FILM_ROW_VALUES_MAX 30u

/* Decodes one row of a window; moves *from behind it. FILM_CORRUPT or FILM_TRUNCATED
 * leave *from unchanged. */
FILM_NODISCARD film_status
film_row_decode(const uint8_t **from, const uint8_t *end, film_row *row);

#endif
