/* forward.c: see forward.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ops/forward.h"

#include <filmstrip/tensor.h>

#include <string.h>

#include "analysis/open_ops.h"
#include "analysis/ops/own_code.h"
#include "analysis/timeline_state.h"
#include "base/alloc.h"
#include "format/token.h"

#define LISTS 8u /* of blocks, kept: nodes come in the reverse order of their ops */

/* A block of a thread's events with ops that carry numbers. */
typedef struct numbered_block {
    uint64_t block, least; /* the least number + 1 */
    uint64_t
        called; /* event + 1 of the innermost op that the program called and that is
                        open where it begins; 0: none */
} numbered_block;

typedef struct numbered_thread {
    uint32_t thread;
    uint64_t read;          /* events before it are in `blocks` */
    numbered_block *blocks; /* owned; in order */
    size_t count, capacity;
    film_open_ops open; /* where `read` is */
} numbered_thread;

/* An op that carries a number. */
typedef struct maker {
    uint64_t number; /* + 1 */
    uint64_t inner, op;
} maker;

typedef struct makers {
    uint32_t thread;
    uint64_t block, end; /* events up to here were looked at */
    uint64_t used;
    maker *list; /* owned; in order */
    size_t count, capacity;
} makers;

struct film_forwards {
    film_timeline *timeline; /* borrowed, or its own */
    bool owns;
    numbered_thread *threads; /* owned */
    size_t count, capacity;
    makers lists[LISTS];
    uint64_t clock;
};

film_status
film_forwards_new(film_timeline *timeline, film_forwards **out, film_error *error)
{
    *out = film_alloc(sizeof(**out));
    if (*out == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    (*out)->timeline = timeline;
    return FILM_OK;
}

film_status
film_forwards_open(film_reader *reader, film_forwards **out, film_error *error)
{
    film_timeline *timeline;
    film_status status;

    *out = NULL;
    FILM_TRY(film_timeline_open(reader, &timeline, error));
    status = film_forwards_new(timeline, out, error);
    if (status != FILM_OK) {
        film_timeline_close(timeline);
        return status;
    }
    (*out)->owns = true;
    return FILM_OK;
}

void
film_forwards_free(film_forwards *forwards)
{
    if (forwards == NULL) {
        return;
    }
    for (size_t i = 0; i < forwards->count; i++) {
        film_free(forwards->threads[i].blocks);
        film_open_ops_reset(&forwards->threads[i].open);
    }
    for (size_t i = 0; i < LISTS; i++) {
        film_free(forwards->lists[i].list);
    }
    film_free(forwards->threads);
    if (forwards->owns) {
        film_timeline_close(forwards->timeline);
    }
    film_free(forwards);
}

/* --- nodes --- */

bool
film_op_is_node(const film_event *event)
{
    const uint8_t both = FILM_OPERATION_INNER | FILM_OPERATION_NODE;

    return event->kind == FILM_KIND_OP && (event->form & both) == both &&
           event->count != 0;
}

static bool
is_maker(const film_event *event)
{
    return event->kind == FILM_KIND_OP && event->count != 0 &&
           (event->form & FILM_OPERATION_INNER) != 0 && !film_op_is_node(event);
}

/* --- the pass --- */

static numbered_thread *
thread_of(film_forwards *forwards, uint32_t thread)
{
    numbered_thread *grown;

    for (size_t i = 0; i < forwards->count; i++) {
        if (forwards->threads[i].thread == thread) {
            return &forwards->threads[i];
        }
    }
    grown = film_grow(forwards->threads, &forwards->capacity, forwards->count + 1,
                      sizeof(*grown));
    if (grown == NULL) {
        return NULL;
    }
    forwards->threads = grown;
    grown[forwards->count] = (numbered_thread){.thread = thread};
    return &grown[forwards->count++];
}

/* The innermost open op that the program called. Event + 1; 0: none. */
static uint64_t
called_op(const film_open_ops *open, uint32_t thread)
{
    const film_thread_ops *of =
        film_open_ops_of((film_open_ops *)(uintptr_t)open, 0, thread);

    for (size_t i = of == NULL ? 0 : of->count; i-- > 0;) {
        if ((of->ops[i].flags & FILM_OPERATION_INNER) == 0) {
            return of->ops[i].number + 1;
        }
    }
    return 0;
}

static bool
note_open(film_open_ops *open, const film_event *event)
{
    film_open_ops_settle(open, 0, event);
    if (event->kind == FILM_KIND_OP_END) {
        film_open_op ended;
        (void)film_open_ops_end(open, 0, event, &ended);
    }
    return event->kind != FILM_KIND_OP || film_open_ops_begin(open, 0, event) != NULL;
}

/* Reads what there is of the thread behind what was read. */
static film_status
read_thread(film_forwards *forwards, numbered_thread *of, film_error *error)
{
    film_reader *reader = forwards->timeline->reader;
    film_cursor *cursor;
    const film_event *event;
    uint64_t block = UINT64_MAX, called = 0;
    film_status status;

    FILM_TRY(film_cursor_open(reader, of->thread, of->read, &cursor, error));
    while ((status = film_cursor_next(cursor, &event, error)) == FILM_OK) {
        if (event->number >> FILM_CHUNK_SHIFT != block) {
            block = event->number >> FILM_CHUNK_SHIFT;
            called = called_op(&of->open, of->thread);
        }
        if (is_maker(event) &&
            (of->count == 0 || of->blocks[of->count - 1].block != block)) {
            numbered_block *grown =
                film_grow(of->blocks, &of->capacity, of->count + 1, sizeof(*grown));
            if (grown == NULL) {
                status = FILM_NO_MEMORY;
                break;
            }
            of->blocks = grown;
            grown[of->count++] = (numbered_block){block, event->count, called};
        }
        if (!note_open(&of->open, event)) {
            status = FILM_NO_MEMORY;
            break;
        }
        of->read = event->number + 1;
    }
    film_cursor_close(cursor);
    if (status == FILM_NO_MEMORY) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    return status == FILM_END ? FILM_OK : status;
}

/* --- the ops of a block --- */

static bool
add_maker(makers *to, const film_event *event, uint64_t called)
{
    maker *grown = film_grow(to->list, &to->capacity, to->count + 1, sizeof(*grown));

    if (grown == NULL) {
        return false;
    }
    to->list = grown;
    grown[to->count++] =
        (maker){event->count, event->number, called == 0 ? event->number : called - 1};
    return true;
}

/* What is open where a block begins: as far as its ops need to know. */
static film_status
begin_open(film_forwards *forwards, const numbered_thread *thread,
           const numbered_block *block, film_open_ops *open, film_error *error)
{
    const film_event *event;
    film_status status;

    if (block->called == 0) {
        return FILM_OK;
    }
    status = film_timeline_event(forwards->timeline,
                                 film_moment_of(thread->thread, block->called - 1),
                                 &event, error);
    if (status == FILM_END) {
        return FILM_OK;
    }
    FILM_TRY(status);
    return event->kind != FILM_KIND_OP || note_open(open, event)
               ? FILM_OK
               : film_fail(error, FILM_NO_MEMORY, "memory ran out");
}

static film_status
list_makers(film_forwards *forwards, const numbered_thread *thread,
            const numbered_block *block, makers *to, film_error *error)
{
    film_open_ops open = {0};
    film_scene *scene;
    film_status status = begin_open(forwards, thread, block, &open, error);

    to->count = 0;
    to->thread = 0;
    if (status == FILM_OK) {
        status = film_timeline_scene(forwards->timeline, thread->thread, block->block,
                                     &scene, error);
    }
    for (uint32_t i = 0; status == FILM_OK && i < scene->count; i++) {
        film_event event;

        film_scene_event_of(scene, i, &event);
        if (is_maker(&event) &&
            !add_maker(to, &event, called_op(&open, thread->thread))) {
            status = film_fail(error, FILM_NO_MEMORY, "memory ran out");
        }
        if (status == FILM_OK && !note_open(&open, &event)) {
            status = film_fail(error, FILM_NO_MEMORY, "memory ran out");
        }
    }
    film_open_ops_reset(&open);
    if (status == FILM_OK) {
        to->thread = thread->thread;
        to->block = block->block;
        to->end = thread->read;
    }
    return status;
}

static film_status
makers_of(film_forwards *forwards, const numbered_thread *thread,
          const numbered_block *block, const makers **out, film_error *error)
{
    makers *oldest = &forwards->lists[0];

    for (size_t i = 0; i < LISTS; i++) {
        makers *one = &forwards->lists[i];
        if (one->thread == thread->thread && one->block == block->block &&
            one->end == thread->read) {
            one->used = ++forwards->clock;
            *out = one;
            return FILM_OK;
        }
        oldest = one->used < oldest->used ? one : oldest;
    }
    oldest->used = ++forwards->clock;
    *out = oldest;
    return list_makers(forwards, thread, block, oldest, error);
}

/* --- the answer --- */

/* Which thread ran the op: the recorder tells it where it is another one. */
static uint32_t
thread_of_forward(film_reader *reader, const film_event *node)
{
    film_input input = film_input_of(node->tokens, node->tokens_length);

    for (uint32_t i = 0; i < node->token_count; i++) {
        film_text name = film_reader_op_keyword(reader, node, i);
        film_token token;

        film_token_read(&input, &token);
        if (name.length == 6 && memcmp(name.data, "thread", 6) == 0 &&
            token.kind == FILM_TOKEN_INT && token.integer > 0) {
            return (uint32_t)token.integer;
        }
    }
    return node->thread;
}

/* The last block whose least number is not above this one; NULL: none. */
static const numbered_block *
find_block(const numbered_thread *of, uint64_t number)
{
    size_t low = 0, high = of->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (of->blocks[middle].least <= number) {
            low = middle + 1;
        }
        else {
            high = middle;
        }
    }
    return low == 0 ? NULL : &of->blocks[low - 1];
}

static const maker *
find_maker(const makers *in, uint64_t number)
{
    size_t low = 0, high = in->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (in->list[middle].number <= number) {
            low = middle + 1;
        }
        else {
            high = middle;
        }
    }
    return low == 0 ? NULL : &in->list[low - 1];
}

/* What the op is called, and where the program called it. */
static film_status
describe(film_forwards *forwards, film_forward *out, film_error *error)
{
    film_moment moment = film_moment_of(out->thread, out->op);
    film_reader *reader = forwards->timeline->reader;
    const film_stack_frame *frames;
    const film_event *event;
    uint32_t line;
    size_t depth;

    FILM_TRY(film_timeline_event(forwards->timeline, moment, &event, error));
    out->function = event->text;
    out->module = event->module;
    line = film_reader_event_line(reader, event);
    out->code = FILM_NO_CODE;
    FILM_TRY(film_timeline_stack(forwards->timeline, moment, &frames, &depth, error));
    for (size_t i = depth; i-- > 0;) {
        const film_code *code = film_reader_code(reader, frames[i].code);

        if (out->code == FILM_NO_CODE || (code != NULL && !film_code_is_own(code))) {
            out->code = frames[i].code;
            out->line = i + 1 == depth && line != 0 ? line : frames[i].line;
        }
        if (code != NULL && !film_code_is_own(code)) {
            break;
        }
    }
    return FILM_OK;
}

film_status
film_forwards_find(film_forwards *forwards, const film_event *node, film_forward *out,
                   film_error *error)
{
    uint32_t thread = thread_of_forward(forwards->timeline->reader, node);
    numbered_thread *of = thread_of(forwards, thread);
    const numbered_block *block;
    const makers *in;
    const maker *found;

    memset(out, 0, sizeof(*out));
    if (of == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    if (of->read == 0 || (thread == node->thread && node->number >= of->read)) {
        FILM_TRY(read_thread(forwards, of, error));
    }
    block = find_block(of, node->count);
    if (block == NULL) {
        return FILM_END;
    }
    FILM_TRY(makers_of(forwards, of, block, &in, error));
    found = find_maker(in, node->count);
    if (found == NULL) {
        return FILM_END;
    }
    out->thread = thread;
    out->inner = found->inner;
    out->op = found->op;
    return describe(forwards, out, error);
}
