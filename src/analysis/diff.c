/* diff.c: see diff.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/diff.h"

#include <string.h>

/* Entries that have to be the same in a row for the sides to be together again. */
#define RUN 4u

static film_diff_entry *
peek(film_diff_side *side, size_t index)
{
    return &side->window[(side->at + index) % FILM_DIFF_WINDOW];
}

static void
drop(film_diff_side *side, size_t count)
{
    side->at = (side->at + count) % FILM_DIFF_WINDOW;
    side->count -= count;
}

static film_status
fill(film_diff_side *side, size_t wanted, film_error *error)
{
    while (!side->ended && side->count < wanted) {
        film_status status = side->next(side->context, peek(side, side->count), error);

        if (status == FILM_END) {
            side->ended = true;
            break;
        }
        FILM_TRY(status);
        side->count++;
    }
    return FILM_OK;
}

/* Whether the sides go on alike from there on, as far as one sees. */
static bool
are_together(film_diff *diff, size_t left, size_t right)
{
    film_diff_side *a = &diff->sides[0], *b = &diff->sides[1];

    for (size_t i = 0; i < RUN; i++) {
        if (left + i >= a->count || right + i >= b->count) {
            bool both = left + i >= a->count && right + i >= b->count;

            /* Both end here; or the window does, and something was the same. */
            return both ? i > 0 || (a->ended && b->ended)
                        : i > 0 && !(left + i >= a->count ? a->ended : b->ended);
        }
        if (peek(a, left + i)->key != peek(b, right + i)->key) {
            return false;
        }
    }
    return true;
}

/* The same with that many entries of one side, and of the other. */
static bool
try_both_ways(film_diff *diff, size_t more, size_t less, uint64_t counts[2])
{
    const size_t ways[2][2] = {{more, less}, {less, more}};

    for (size_t i = 0; i < 2; i++) {
        if (ways[i][0] <= diff->sides[0].count && ways[i][1] <= diff->sides[1].count &&
            are_together(diff, ways[i][0], ways[i][1])) {
            counts[0] = ways[i][0];
            counts[1] = ways[i][1];
            return true;
        }
    }
    return false;
}

/* How much of each side lies before the nearest place where they are together again, as
 * much of both if that may be; all that is seen when there is none. */
static void
find_together(film_diff *diff, uint64_t counts[2])
{
    size_t a = diff->sides[0].count, b = diff->sides[1].count;

    for (size_t sum = 1; sum <= a + b; sum++) {
        for (size_t apart = sum % 2; apart <= sum; apart += 2) {
            if (try_both_ways(diff, (sum + apart) / 2, (sum - apart) / 2, counts)) {
                return;
            }
        }
    }
    counts[0] = a;
    counts[1] = b;
}

/* Nothing comes any more on one side: all that is left of the other. */
static film_status
take_rest(film_diff_side *side, uint64_t *count, film_error *error)
{
    *count = 0;
    do {
        *count += side->count;
        drop(side, side->count);
        FILM_TRY(fill(side, FILM_DIFF_WINDOW, error));
    } while (side->count > 0);
    return FILM_OK;
}

static film_status
part(film_diff *diff, film_difference *out, film_error *error)
{
    out->kind = FILM_DIFF_KEY;
    for (size_t i = 0; i < 2; i++) {
        FILM_TRY(fill(&diff->sides[i], FILM_DIFF_WINDOW, error));
    }
    if (diff->sides[0].count == 0 || diff->sides[1].count == 0) {
        size_t rest = diff->sides[0].count == 0;

        return take_rest(&diff->sides[rest], &out->counts[rest], error);
    }
    find_together(diff, out->counts);
    for (size_t i = 0; i < 2; i++) {
        drop(&diff->sides[i], (size_t)out->counts[i]);
    }
    return FILM_OK;
}

/* Of two entries with one key. */
static bool
differ_in_content(film_difference *out)
{
    const film_diff_entry *left = &out->first[0], *right = &out->first[1];

    if (left->shape == right->shape &&
        (!left->has_values || !right->has_values || left->values == right->values)) {
        return false;
    }
    out->kind = left->shape != right->shape ? FILM_DIFF_SHAPE : FILM_DIFF_VALUES;
    out->counts[0] = out->counts[1] = 1;
    return true;
}

film_status
film_diff_next(film_diff *diff, film_difference *out, film_error *error)
{
    film_diff_side *a = &diff->sides[0], *b = &diff->sides[1];

    memset(out, 0, sizeof(*out));
    for (;;) {
        const film_diff_entry *left, *right;

        FILM_TRY(fill(a, 1, error));
        FILM_TRY(fill(b, 1, error));
        if (a->count == 0 && b->count == 0) {
            return FILM_END;
        }
        left = a->count > 0 ? peek(a, 0) : NULL;
        right = b->count > 0 ? peek(b, 0) : NULL;
        out->has[0] = left != NULL;
        out->has[1] = right != NULL;
        out->first[0] = left != NULL ? *left : (film_diff_entry){0};
        out->first[1] = right != NULL ? *right : (film_diff_entry){0};
        if (left == NULL || right == NULL || left->key != right->key) {
            return part(diff, out, error);
        }
        drop(a, 1);
        drop(b, 1);
        if (differ_in_content(out)) {
            return FILM_OK;
        }
        a->recent[diff->equal % FILM_DIFF_RECENT] = out->first[0].number;
        b->recent[diff->equal % FILM_DIFF_RECENT] = out->first[1].number;
        diff->equal++;
        diff->counted += out->first[0].counts;
    }
}

bool
film_diff_recent(const film_diff *diff, size_t index, uint64_t numbers[2])
{
    size_t at;

    if (index >= diff->equal || index >= FILM_DIFF_RECENT) {
        return false;
    }
    at = (size_t)((diff->equal - 1 - index) % FILM_DIFF_RECENT);
    numbers[0] = diff->sides[0].recent[at];
    numbers[1] = diff->sides[1].recent[at];
    return true;
}
