/* test_cells.c: variables that several frames share, in films written at random through
 * the writer's own interface, against a model; what a comprehension gives back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "films.h"
#include "random.h"
#include "test.h"

#include <filmstrip/filmstrip.h>

#include "analysis/timeline.h"
#include "format/cells.h"
#include "format/token.h"
#include "writer/append.h"

#define X 2u
#define MOST_DEPTH 9u
#define CELLS 12u
#define EVENTS 60000u
#define SAMPLES 3000u
#define NOTHING INT64_MIN

/* What a program holds: open frames, each with a cell, and the cells' values. */
typedef struct model {
    struct {
        unsigned cell;
        bool outer;
        bool told;       /* readers know that its variable is the cell */
        unsigned hidden; /* + 1: the cell that a comprehension's takes the place of */
        bool hidden_told;
    } frames[MOST_DEPTH];
    size_t depth;
    int64_t values[CELLS]; /* NOTHING: unbound */
    uint64_t ids[CELLS];   /* 0: never told of */
    uint64_t last_id;
} model;

typedef struct sample {
    uint64_t event;
    size_t depth;
    int64_t held[MOST_DEPTH];
} sample;

static char path[64];
static sample samples[SAMPLES];
static size_t sample_count;

static size_t
chance(size_t most)
{
    return (size_t)(random_number() * UINT64_C(0x9E3779B97F4A7C15) >> 40) % most;
}

static void
write_x(film_thread *thread, model *now)
{
    uint8_t token[FILM_TOKEN_MAX], *end = token;
    int64_t value = (int64_t)chance(100000);
    unsigned number = now->frames[now->depth - 1].cell;
    uint64_t cell = now->frames[now->depth - 1].told ? now->ids[number] : 0;
    int64_t *held = &now->values[number];

    switch (chance(8)) {
    case 0:
        CHECK(film_append_delete(thread, FILM_SET_LOCAL, X, token, 0));
        *held = NOTHING;
        break;
    case 1:
        *end++ = FILM_TOKEN_UNBOUND;
        CHECK(film_append_restored(thread, X, token, 1, cell));
        CHECK(film_append_line(thread, 1, false));
        *held = NOTHING;
        break;
    case 2:
        end = film_token_put_int(token, value);
        CHECK(film_append_restored(thread, X, token, (size_t)(end - token), cell));
        CHECK(film_append_line(thread, 2, false));
        *held = value;
        break;
    default:
        end = film_token_put_int(token, value);
        CHECK(film_append_set(thread, FILM_SET_LOCAL, X, token, (size_t)(end - token)));
        *held = value;
        break;
    }
}

static bool
is_open(const model *now, unsigned cell)
{
    for (size_t i = 0; i < now->depth; i++) {
        if (now->frames[i].cell == cell || now->frames[i].hidden == cell + 1) {
            return true;
        }
    }
    return false;
}

/* The index + 1 of an open frame that has the cell; 0: none has. */
static size_t
holder_of(const model *now, unsigned cell, bool told)
{
    for (size_t i = now->depth; i > 0; i--) {
        if (now->frames[i - 1].cell == cell && now->frames[i - 1].told == told) {
            return i;
        }
    }
    return 0;
}

static void
call_outer(film_thread *thread, uint32_t code, model *now)
{
    unsigned cell = (unsigned)chance(CELLS);

    if (is_open(now, cell)) {
        return;
    }
    now->ids[cell] = 0; /* another one */
    now->values[cell] = NOTHING;
    CHECK(film_append_call(thread, code, 1));
    now->frames[now->depth].cell = cell;
    now->frames[now->depth].told = false;
    now->frames[now->depth].hidden = 0;
    now->frames[now->depth++].outer = true;
}

/* A comprehension in the top frame makes a cell of its own for x, or ends. */
static void
comprehend(film_thread *thread, model *now)
{
    size_t top = now->depth - 1, sharing = 0;
    unsigned cell = (unsigned)chance(CELLS), before = now->frames[top].cell;
    uint8_t token[FILM_TOKEN_MAX], *end = token;

    for (size_t i = 0; i < now->depth; i++) {
        sharing += now->frames[i].cell == before;
    }
    if (now->frames[top].hidden != 0) {
        before = now->frames[top].hidden - 1;
        end = now->values[before] == NOTHING
                  ? (*end = FILM_TOKEN_UNBOUND, end + 1)
                  : film_token_put_int(token, now->values[before]);
        CHECK(film_append_restored(thread, X, token, (size_t)(end - token),
                                   now->ids[before]));
        CHECK(film_append_line(thread, 3, false));
        now->frames[top].cell = before;
        now->frames[top].told = now->ids[before] != 0;
        now->frames[top].hidden = 0;
    }
    else if (now->frames[top].outer && sharing == 1 && !is_open(now, cell)) {
        now->frames[top].hidden = before + 1;
        now->frames[top].hidden_told = now->frames[top].told;
        now->frames[top].cell = cell;
        now->frames[top].told = false;
        now->ids[cell] = 0;
        now->values[cell] = (int64_t)chance(100000);
        end = film_token_put_int(token, now->values[cell]);
        CHECK(film_append_set(thread, FILM_SET_LOCAL, X, token, (size_t)(end - token)));
    }
}

/* The index + 1 of an open frame that readers take for one that has the cell. */
static size_t
hider_of(const model *now, unsigned cell)
{
    for (size_t i = now->depth; i > 0; i--) {
        if (now->frames[i - 1].hidden == cell + 1 && now->frames[i - 1].hidden_told) {
            return i;
        }
    }
    return 0;
}

/* A function that has a cell of a frame that is open, or of one that has ended. */
static void
call_inner(film_thread *thread, uint32_t code, model *now)
{
    unsigned cell = (unsigned)chance(CELLS);
    uint8_t body[FILM_CELL_MAX], *to;
    size_t untold = holder_of(now, cell, false);
    bool known = holder_of(now, cell, true) != 0;
    size_t hider = hider_of(now, cell);
    unsigned flags = untold != 0 ? FILM_CELL_HELD : known ? 0 : FILM_CELL_VALUE;

    if (hider != 0) {
        flags = FILM_CELL_HELD | FILM_CELL_VALUE;
        now->frames[hider - 1].hidden_told = false;
    }
    if (now->ids[cell] == 0) {
        now->ids[cell] = ++now->last_id;
    }
    to = film_varint_encode(body, (uint64_t)X << FILM_CELL_SHIFT | flags);
    to = film_varint_encode(to, now->ids[cell]);
    if (hider != 0 || untold != 0) {
        to = film_varint_encode(to, now->depth - (hider != 0 ? hider : untold));
        to = film_varint_encode(to, X);
    }
    if (untold != 0) {
        now->frames[untold - 1].told = true;
    }
    else if (!known && now->values[cell] == NOTHING) {
        *to++ = FILM_TOKEN_UNBOUND;
    }
    else if (!known) {
        to = film_token_put_int(to, now->values[cell]);
    }
    CHECK(film_append_cells(thread, body, (size_t)(to - body)));
    CHECK(film_append_call(thread, code, 1));
    now->frames[now->depth].cell = cell;
    now->frames[now->depth].told = true;
    now->frames[now->depth].hidden = 0;
    now->frames[now->depth++].outer = false;
}

static void
take_sample(const film_thread *thread, const model *now)
{
    sample *to = &samples[sample_count++];

    to->event = thread->events - 1;
    to->depth = now->depth;
    for (size_t i = 0; i < now->depth; i++) {
        to->held[i] = now->values[now->frames[i].cell];
    }
}

static film_writer *
write_film(void)
{
    film_writer_options options = {
        .path = path, .replace = true, .level = 2, .python_version = 0x030c0000};
    static const test_local outer_locals[] = {{"a", 0x20}, {"b", 0x20}, {"x", 0x60}};
    static const test_local inner_locals[] = {{"a", 0x20}, {"b", 0x20}, {"x", 0x80}};
    film_writer *writer;
    film_thread *thread;
    uint32_t outer, inner;
    model now = {0};

    snprintf(path, sizeof(path), "/tmp/filmstrip-cells-%d.film", (int)getpid());
    CHECK(film_writer_open(&options, &writer, NULL) == FILM_OK);
    outer = add_function(writer, "outer", outer_locals, 3);
    inner = add_function(writer, "outer.<locals>.inner", inner_locals, 3);
    thread = film_writer_thread_begin(writer, "main", 1);
    sample_count = 0;
    for (unsigned i = 0; i < CELLS; i++) {
        now.values[i] = NOTHING;
    }
    while (thread->events < EVENTS) {
        uint64_t before = thread->events;
        if (now.depth == 0 || (chance(9) == 0 && now.depth < MOST_DEPTH)) {
            call_outer(thread, outer, &now);
        }
        else if (chance(5) == 0 && now.depth < MOST_DEPTH) {
            call_inner(thread, inner, &now);
        }
        else if (chance(9) == 0) {
            comprehend(thread, &now);
        }
        else if (chance(4) != 0 || now.depth < 3) {
            write_x(thread, &now);
        }
        else {
            /* The event itself still shows the frame: no sample here. */
            CHECK(film_append_return(thread, 1));
            now.depth--;
            continue;
        }
        if (thread->events != before && sample_count < SAMPLES &&
            chance(EVENTS / SAMPLES) == 0) {
            take_sample(thread, &now);
        }
    }
    return writer;
}

static void
compare(void)
{
    film_reader *reader;
    film_timeline *timeline;
    size_t wrong = 0, compared = 0;

    CHECK(film_reader_open(path, &reader, NULL) == FILM_OK);
    CHECK(film_timeline_open(reader, &timeline, NULL) == FILM_OK);
    for (size_t turn = 0; turn < sample_count; turn++) {
        const sample *one = &samples[turn * 1777 % sample_count];
        film_moment moment = film_moment_of(1, one->event);
        for (size_t i = 0; i < one->depth; i++) {
            film_variable variable;
            film_status status =
                film_timeline_variable(timeline, moment, i, "x", &variable, NULL);
            film_input input =
                film_input_of(variable.value.bytes, variable.value.length);
            int64_t held = NOTHING;
            CHECK(status == FILM_OK || status == FILM_END);
            if (status == FILM_OK) {
                held = film_token_decode(&input).integer;
            }
            wrong += held != one->held[i];
            compared++;
        }
    }
    CHECK(wrong == 0);
    CHECK(compared > 4 * (size_t)SAMPLES / 2);
    film_timeline_close(timeline);
    film_reader_close(reader);
}

TEST(frames_share_their_cells)
{
    film_writer *writer = write_film();

    compare(); /* while it is written: the last chunk has no keyframe */
    CHECK(film_writer_close(writer, NULL, 0, NULL) == FILM_OK);
    compare();
    unlink(path);
}

TEST(damaged_cells_are_refused)
{
    uint8_t body[] = {X << 2 | 3, 5, 1, 0, FILM_TOKEN_TRUE};
    film_input whole = film_input_of(body, sizeof(body)), none = {0};
    film_cell_told told;

    CHECK(film_cells_next(&whole, &told) && told.slot == X && told.cell == 5);
    CHECK(told.distance == 1 && told.holder_slot == 0 && told.token_length == 1);
    CHECK(!film_cells_next(&whole, &told) && !whole.failed);
    CHECK(!film_cells_next(&none, &told) && !none.failed);
    for (size_t length = 1; length < sizeof(body); length++) {
        film_input part = film_input_of(body, length);
        CHECK(!film_cells_next(&part, &told) && part.failed);
    }
    body[1] = 0; /* no cell has this number */
    whole = film_input_of(body, sizeof(body));
    CHECK(!film_cells_next(&whole, &told) && whole.failed);
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {
        TEST_ENTRY(frames_share_their_cells),
        TEST_ENTRY(damaged_cells_are_refused),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
