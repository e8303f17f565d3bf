/* diff.h: two runs walked side by side, up to where they part, and on from where they are
 * together again.
 *
 * What is walked (ops, lines) is told by entries: what one is (`key`), all else of it that
 * has to be the same (`shape`), and the numbers in it where they are known (`values`).
 * Where keys differ, the nearest place within a window is looked for from which on some
 * entries are the same on both sides.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_DIFF_H
#define FILMSTRIP_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <filmstrip/status.h>

#define FILM_DIFF_WINDOW 256u /* entries that are looked ahead */
#define FILM_DIFF_RECENT 16u  /* equal entries that are remembered */

typedef struct film_diff_entry {
    uint64_t number; /* of its event */
    uint64_t key, shape, values;
    bool has_values;
    bool counts; /* it is counted, where it is equal */
} film_diff_entry;

/* The next entry of a side; FILM_END after the last. */
typedef film_status (*film_diff_source)(void *context, film_diff_entry *out,
                                        film_error *error);

typedef struct film_diff_side {
    film_diff_source next;
    void *context; /* borrowed */
    film_diff_entry window[FILM_DIFF_WINDOW];
    size_t at, count; /* the first in it; how many there are */
    bool ended;
    uint64_t recent[FILM_DIFF_RECENT]; /* numbers of equal entries, a ring */
} film_diff_side;

typedef enum film_diff_kind {
    FILM_DIFF_KEY,   /* other entries: counts of each side, then the same again */
    FILM_DIFF_SHAPE, /* two entries with one key */
    FILM_DIFF_VALUES
} film_diff_kind;

typedef struct film_difference {
    film_diff_kind kind;
    film_diff_entry first[2]; /* where counts are not 0, or the side goes on */
    bool has[2];              /* the side goes on: first is set */
    uint64_t counts[2];       /* entries that belong to it */
} film_difference;

typedef struct film_diff {
    film_diff_side sides[2];
    uint64_t equal;   /* pairs that were the same so far */
    uint64_t counted; /* of these, those that are counted */
} film_diff;

/* Walks on to the next difference. FILM_END: there is none any more. */
FILM_NODISCARD film_status
film_diff_next(film_diff *diff, film_difference *out, film_error *error);

/* The numbers of the `index`-th last equal entries, 0 the last; false: not remembered. */
bool
film_diff_recent(const film_diff *diff, size_t index, uint64_t numbers[2]);

#endif
