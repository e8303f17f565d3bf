/* summary.c: see summary.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* A page that none of has run for so many chunks is given back. */
#define IDLE_CHUNKS 1u

/* The page of a code; NULL when memory is out. */
static film_share_page *
page_of(film_summary *summary, uint32_t code)
{
    size_t number = code / FILM_SHARE_PAGE, capacity = summary->page_count;

    if (number >= capacity) {
        film_share_page **pages =
            code > (1u << 26)
                ? NULL
                : film_grow(summary->pages, &capacity, number + 1, sizeof(*pages));

        if (pages == NULL) {
            return NULL;
        }
        memset(pages + summary->page_count, 0,
               (capacity - summary->page_count) * sizeof(*pages));
        summary->pages = pages;
        summary->page_count = capacity;
    }
    if (summary->pages[number] == NULL) {
        summary->pages[number] = film_alloc(sizeof(film_share_page));
    }
    return summary->pages[number];
}

film_share *
film_summary_touch(film_summary *summary, uint32_t code)
{
    film_share_page *page = page_of(summary, code);
    uint32_t *touched = page == NULL
                            ? NULL
                            : film_grow(summary->touched, &summary->touched_capacity,
                                        summary->touched_count + 1, sizeof(*touched));
    film_share *share;

    if (touched == NULL) {
        summary->failed = true;
        return NULL;
    }
    summary->touched = touched;
    share = &page->shares[code % FILM_SHARE_PAGE];
    if (!share->touched) {
        share->touched = true;
        touched[summary->touched_count++] = code;
    }
    return share;
}

/* The share of a code that was touched. */
static film_share *
share_at(const film_summary *summary, uint32_t code)
{
    return &summary->pages[code / FILM_SHARE_PAGE]->shares[code % FILM_SHARE_PAGE];
}

/* Gives back the pages whose code has not run for a while. */
static void
free_idle_pages(film_summary *summary)
{
    for (size_t i = 0; i < summary->page_count; i++) {
        if (summary->pages[i] != NULL && summary->pages[i]->idle++ >= IDLE_CHUNKS) {
            film_free(summary->pages[i]);
            summary->pages[i] = NULL;
        }
    }
}

static void
add_cover(film_summary *summary, size_t depth, uint32_t code, uint64_t ticks)
{
    film_rival *rivals, *least;

    if (depth >= FILM_SUMMARY_DEPTHS || ticks == 0) {
        return;
    }
    rivals = least = summary->rivals[depth];
    for (unsigned i = 0; i < FILM_SUMMARY_RIVALS; i++) {
        if (rivals[i].ticks != 0 && rivals[i].code == code) {
            rivals[i].ticks += ticks;
            return;
        }
        if (rivals[i].ticks < least->ticks) {
            least = &rivals[i];
        }
    }
    if (ticks > least->ticks) {
        least->code = code;
        least->ticks = ticks;
    }
}

void
film_summary_cover(film_summary *summary, const film_state *state, uint64_t ticks)
{
    size_t shown =
        state->depth < FILM_SUMMARY_DEPTHS ? state->depth : FILM_SUMMARY_DEPTHS;

    for (size_t depth = 0; depth < shown; depth++) {
        add_cover(summary, depth, state->frames[depth].code, ticks);
    }
}

void
film_summary_begin(film_summary *summary, const film_state *state)
{
    for (size_t i = 0; i < summary->touched_count; i++) {
        uint32_t code = summary->touched[i];
        film_share *share = share_at(summary, code);
        share->own = share->calls = 0;
        share->touched = false;
        summary->pages[code / FILM_SHARE_PAGE]->idle = 0;
    }
    summary->touched_count = 0;
    free_idle_pages(summary);
    memset(summary->kinds, 0, sizeof(summary->kinds));
    memset(summary->rivals, 0, sizeof(summary->rivals));
    summary->begin_tick = state->tick;
    summary->least_depth = summary->greatest_depth = (uint32_t)state->depth;
}

static int
by_code(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    return (left > right) - (left < right);
}

static void
put_section(film_buffer *out, uint32_t section, film_buffer *body)
{
    if (body->failed) {
        out->failed = true;
    }
    film_buffer_put_varint(out, section);
    film_buffer_put_bytes(out, body->data, body->length);
    film_buffer_clear(body);
}

static void
put_kinds(const film_summary *summary, film_buffer *body)
{
    for (unsigned i = 1; i < FILM_KIND_COUNT; i++) {
        if (summary->kinds[i] > 0) {
            film_buffer_put_varint(body, i);
            film_buffer_put_varint(body, summary->kinds[i]);
        }
    }
    film_buffer_put_varint(body, 0);
    film_buffer_put_varint(body, summary->least_depth);
    film_buffer_put_varint(body, summary->greatest_depth);
}

static void
put_functions(film_summary *summary, film_buffer *body)
{
    uint32_t last = 0;

    if (summary->touched_count > 1) {
        qsort(summary->touched, summary->touched_count, sizeof(*summary->touched),
              by_code);
    }
    for (size_t i = 0; i < summary->touched_count; i++) {
        uint32_t code = summary->touched[i];
        film_buffer_put_varint(body, code - last);
        film_buffer_put_varint(body, share_at(summary, code)->calls);
        last = code;
    }
}

static void
put_cover(const film_summary *summary, uint64_t ticks, film_buffer *body)
{
    for (unsigned depth = 0; depth < FILM_SUMMARY_DEPTHS; depth++) {
        const film_rival *best = &summary->rivals[depth][0];
        for (unsigned i = 1; i < FILM_SUMMARY_RIVALS; i++) {
            if (summary->rivals[depth][i].ticks > best->ticks) {
                best = &summary->rivals[depth][i];
            }
        }
        if (best->ticks == 0) {
            break;
        }
        film_buffer_put_varint(body, (uint64_t)best->code + 1);
        film_buffer_put_byte(body, (uint8_t)(ticks == 0 || best->ticks >= ticks
                                                 ? 255
                                                 : best->ticks * 255 / ticks));
    }
}

static void
put_busiest(const film_summary *summary, film_buffer *body)
{
    uint32_t best[FILM_SUMMARY_BUSIEST];
    size_t count = 0;

    for (size_t i = 0; i < summary->touched_count; i++) {
        uint32_t code = summary->touched[i];
        uint64_t own = share_at(summary, code)->own;
        size_t at = count;
        if (own == 0) {
            continue;
        }
        if (count < FILM_SUMMARY_BUSIEST) {
            count++;
        }
        else if (own <= share_at(summary, best[count - 1])->own) {
            continue;
        }
        else {
            at = count - 1;
        }
        while (at > 0 && share_at(summary, best[at - 1])->own < own) {
            best[at] = best[at - 1];
            at--;
        }
        best[at] = code;
    }
    for (size_t i = 0; i < count; i++) {
        film_buffer_put_varint(body, best[i]);
        film_buffer_put_varint(body, share_at(summary, best[i])->own);
    }
}

static void
put_touched(film_touched *touched, film_buffer *body, film_buffer *out)
{
    if (!touched->incomplete) {
        film_touched_put_lines(touched, true, body);
        put_section(out, FILM_SECTION_LINES, body);
        film_touched_put_lines(touched, false, body);
        put_section(out, FILM_SECTION_SLOTS, body);
        film_touched_put_writes(touched, body);
        put_section(out, FILM_SECTION_WRITES, body);
    }
    film_touched_put_marks(touched, body);
    put_section(out, FILM_SECTION_MARKS, body);
}

void
film_summary_finish(film_summary *summary, const film_state *state,
                    film_touched *touched, film_buffer *out)
{
    film_buffer body = {0};

    put_kinds(summary, &body);
    put_section(out, FILM_SECTION_KINDS, &body);
    put_functions(summary, &body);
    put_section(out, FILM_SECTION_FUNCTIONS, &body);
    put_cover(summary, state->tick - summary->begin_tick, &body);
    put_section(out, FILM_SECTION_COVER, &body);
    put_busiest(summary, &body);
    put_section(out, FILM_SECTION_BUSIEST, &body);
    if (touched != NULL) {
        put_touched(touched, &body, out);
    }
    film_buffer_reset(&body);
}

void
film_summary_reset(film_summary *summary)
{
    for (size_t i = 0; i < summary->page_count; i++) {
        film_free(summary->pages[i]);
    }
    film_free(summary->pages);
    film_free(summary->touched);
    memset(summary, 0, sizeof(*summary));
}

film_status
film_summary_section(const uint8_t *bytes, size_t length, uint32_t section,
                     film_input *out)
{
    film_input input = film_input_of(bytes, length);

    while (film_input_left(&input) > 0) {
        uint64_t id = film_input_varint(&input);
        size_t body_length;
        const uint8_t *body = film_input_bytes(&input, &body_length);
        if (input.failed) {
            return FILM_CORRUPT;
        }
        if (id == section) {
            *out = film_input_of(body, body_length);
            return FILM_OK;
        }
    }
    return FILM_END;
}
