/* open_ops.c: see open_ops.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/open_ops.h"

#include <string.h>

#include "analysis/kinds.h"
#include "base/alloc.h"

/* Ops within one another; of more only a damaged recording tells. */
#define MOST_OPEN 65536u

void
film_open_ops_reset(film_open_ops *open)
{
    for (size_t i = 0; i < open->count; i++) {
        film_free(open->threads[i].ops);
    }
    film_free(open->threads);
    memset(open, 0, sizeof(*open));
}

static uint64_t
key_of(size_t recording, uint32_t thread)
{
    return (uint64_t)recording << 32 | thread;
}

film_thread_ops *
film_open_ops_of(film_open_ops *open, size_t recording, uint32_t thread)
{
    uint64_t key = key_of(recording, thread);

    for (size_t i = 0; i < open->count; i++) {
        if (open->threads[i].key == key) {
            return &open->threads[i];
        }
    }
    return NULL;
}

uint32_t
film_open_ops_marked(const film_open_ops *open, size_t recording, uint32_t thread)
{
    const film_thread_ops *of =
        film_open_ops_of((film_open_ops *)(uintptr_t)open, recording, thread);
    uint32_t marked = 0;

    for (size_t i = 0; of != NULL && i < of->count; i++) {
        marked += of->ops[i].mark;
    }
    return marked;
}

void
film_open_ops_settle(film_open_ops *open, size_t recording, const film_event *event)
{
    film_thread_ops *of;
    uint32_t least = event->depth + 1;

    if (open->count == 0) {
        return;
    }
    of = film_open_ops_of(open, recording, event->thread);
    if (of == NULL || of->count == 0) {
        return;
    }
    if (event->kind == FILM_KIND_LOST || event->kind == FILM_KIND_LOST_CONTROL) {
        of->count = 0; /* anything may have happened meanwhile */
        return;
    }
    if (event->frame == 0) {
        return;
    }
    if (film_kind_enters(event->kind) || film_kind_leaves(event->kind)) {
        least = event->depth; /* that of a frame that is not there yet, or no more */
    }
    while (of->count > 0 && of->ops[of->count - 1].frame != 0 &&
           of->ops[of->count - 1].depth >= least) {
        of->count--;
    }
}

static film_thread_ops *
add_thread(film_open_ops *open, size_t recording, uint32_t thread)
{
    film_thread_ops *threads =
        film_grow(open->threads, &open->capacity, open->count + 1, sizeof(*threads));

    if (threads == NULL) {
        return NULL;
    }
    open->threads = threads;
    threads[open->count] = (film_thread_ops){.key = key_of(recording, thread)};
    return &threads[open->count++];
}

film_open_op *
film_open_ops_begin(film_open_ops *open, size_t recording, const film_event *event)
{
    film_thread_ops *of = film_open_ops_of(open, recording, event->thread);
    film_open_op *ops;

    if (of == NULL) {
        of = add_thread(open, recording, event->thread);
        if (of == NULL) {
            return NULL;
        }
    }
    if (of->count >= MOST_OPEN) {
        of->count = 0;
    }
    ops = film_grow(of->ops, &of->capacity, of->count + 1, sizeof(*ops));
    if (ops == NULL) {
        return NULL;
    }
    of->ops = ops;
    ops[of->count] = (film_open_op){.number = event->number,
                                    .time_ns = event->time_ns,
                                    .frame = event->frame,
                                    .function = event->text,
                                    .depth = event->depth,
                                    .flags = event->form};
    return &ops[of->count++];
}

bool
film_open_ops_end(film_open_ops *open, size_t recording, const film_event *event,
                  film_open_op *out)
{
    film_thread_ops *of = film_open_ops_of(open, recording, event->thread);

    while (of != NULL && of->count > 0 && of->ops[of->count - 1].number >= event->op) {
        *out = of->ops[--of->count];
        if (out->number == event->op) {
            return true;
        }
    }
    return false;
}
