/* make_film.c: writes a recording of any length quickly, through the writer's own
 * interface, with the shape of a real program: some hundred functions in layers, each
 * with fixed places that call fixed functions, a few exceptions, a main thread and
 * three others. Between events it waits as long as Python would work, so times, chunk
 * sizes and the load on the sealing thread are as in a real recording.
 *
 *   make_film FILE EVENTS FUNCTIONS
 *
 * Prints JSON: events written and lost, seconds appending, seconds closing.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer/append.h"

#define LAYERS 24u
#define SITES 4u
#define UNITS 160u /* code units of every function */
#define DEPTH_LIMIT 64u
#define THREADS 4u
#define TURN 40000u       /* events before another thread gets its turn */
#define RAISE_EVERY 4096u /* returns */

typedef struct function {
    uint32_t code;
    uint32_t callees[SITES];
    uint32_t places[SITES];
    uint32_t return_place;
    uint32_t calls;  /* what it usually makes */
    uint32_t cycles; /* what it usually works between two events */
} function;

typedef struct activation {
    uint32_t function;
    uint32_t next_site;
    uint32_t calls_left;
} activation;

typedef struct strand {
    film_thread *thread;
    activation stack[DEPTH_LIMIT];
    uint32_t depth;
} strand;

static uint64_t random_state = 0x9e3779b97f4a7c15u;

static uint32_t
random_below(uint32_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(((random_state >> 32) * limit) >> 32);
}

/* Python's work between two events: 10 to 60 ns, now and then much more. */
static void
wait_like_python(const film_clock *clock, uint32_t usual)
{
    uint32_t cycles = usual + random_below(20);
    uint64_t until;

    if (random_below(64) == 0) {
        cycles *= 8;
    }
    until = film_clock_counter(clock) + cycles;
    while (film_clock_counter(clock) < until) {
    }
}

static bool
describe(film_writer *writer, function *functions, uint32_t count)
{
    static uint8_t bytecode[UNITS * 2], line_table[UNITS / 8 * 2];

    /* CPython's location table: 8 units, no column, the next line. */
    for (size_t entry = 0; entry < UNITS / 8; entry++) {
        line_table[entry * 2] = 0x80 | 13 << 3 | 7;
        line_table[entry * 2 + 1] = 2;
    }
    for (uint32_t index = 0; index < count; index++) {
        char file[64], module[64], qualname[64], name[64];
        film_code_record record = {
            .file = file,
            .module = module,
            .qualname = qualname,
            .name = name,
            .first_line = 10 + index * 25 % 1000,
            .flags = 3,
            .argument_count = 2,
            .bytecode = bytecode,
            .bytecode_length = sizeof(bytecode),
            .line_table = line_table,
            .line_table_length = sizeof(line_table),
        };

        snprintf(file, sizeof(file), "/srv/app/package/module_%u.py", index / 20);
        snprintf(module, sizeof(module), "package.module_%u", index / 20);
        snprintf(name, sizeof(name), "method_%u", index);
        snprintf(qualname, sizeof(qualname), "Class%u.method_%u", index / 5, index);
        functions[index].code = film_writer_code(writer, &record);
        if (functions[index].code == UINT32_MAX) {
            return false;
        }
    }
    for (uint32_t index = 0; index < count; index++) {
        uint32_t per_layer = count / LAYERS, layer = index / per_layer;

        for (uint32_t site = 0; site < SITES; site++) {
            uint32_t target = layer + 1 + random_below(4);

            functions[index].callees[site] =
                target >= LAYERS ? UINT32_MAX
                                 : target * per_layer + random_below(per_layer);
            functions[index].places[site] = 10 + site * 30 + random_below(20);
        }
        functions[index].return_place = UINT32_C(140) + random_below(15);
        functions[index].calls = random_below(4);
        functions[index].cycles = 25 + random_below(120);
    }
    return true;
}

static bool
enter(strand *at, const function *functions, uint32_t callee, uint32_t site)
{
    activation *top = &at->stack[at->depth++];

    top->function = callee;
    top->next_site = 0;
    top->calls_left = functions[callee].calls;
    if (random_below(8) == 0) { /* the less usual path */
        top->next_site = random_below(SITES);
        top->calls_left = random_below(4);
    }
    return film_append_call(at->thread, functions[callee].code, site);
}

/* One event: the top frame calls, or returns. */
static bool
advance(strand *at, const function *functions, uint32_t count)
{
    activation *top;
    const function *running;
    uint32_t site;

    if (at->depth == 0) {
        return enter(at, functions, random_below(count / LAYERS), 0);
    }
    top = &at->stack[at->depth - 1];
    running = &functions[top->function];
    if (top->calls_left == 0 || at->depth == DEPTH_LIMIT) {
        at->depth--;
        return film_append_return(at->thread, running->return_place);
    }
    top->calls_left--;
    site = top->next_site++ % SITES;
    if (running->callees[site] == UINT32_MAX) {
        top->calls_left = 0;
        at->depth--;
        return film_append_return(at->thread, running->return_place);
    }
    return enter(at, functions, running->callees[site], running->places[site] + 1);
}

/* The top frame raises and its caller handles it: three events. */
static bool
raise_once(strand *at, const function *functions, uint32_t type, uint64_t message)
{
    const function *running = &functions[at->stack[at->depth - 1].function];
    const function *caller = &functions[at->stack[at->depth - 2].function];

    at->depth--;
    return film_append_exception(at->thread, FILM_KIND_RAISE, running->places[0], type,
                                 message) &&
           film_append_exception(at->thread, FILM_KIND_UNWIND, running->places[0], type,
                                 message) &&
           film_append_exception(at->thread, FILM_KIND_HANDLED, caller->return_place,
                                 type, message);
}

int
main(int argc, char **argv)
{
    static const film_meta_pair begin[] = {{"program", "make_film"}},
                                end[] = {{"exit", "0"}};
    static strand strands[THREADS];
    film_writer_options options = {.replace = true, .python_version = 0x030d0000};
    film_writer_stats stats;
    film_writer *writer;
    film_error error;
    film_clock clock;
    function *functions;
    uint64_t wanted, written = 0, started, appended, closed;
    uint64_t message;
    uint32_t count, type;
    strand *at = &strands[0];

    if (argc != 4) {
        fputs("make_film FILE EVENTS FUNCTIONS\n", stderr);
        return 2;
    }
    options.path = argv[1];
    wanted = strtoull(argv[2], NULL, 10);
    count = (uint32_t)strtoul(argv[3], NULL, 10) / LAYERS * LAYERS;
    functions = count == 0 ? NULL : calloc(count, sizeof(*functions));
    if (functions == NULL) {
        fputs("make_film: no memory, or too few functions\n", stderr);
        return 2;
    }
    if (film_writer_open(&options, &writer, &error) != FILM_OK) {
        fprintf(stderr, "make_film: %s\n", error.message);
        return 1;
    }
    film_clock_init(&clock, 1);
    film_writer_meta(writer, begin, 1);
    type = film_writer_string(writer, "ValueError", 10);
    message = film_writer_value(writer, type, "no such item", 12, 0);
    if (!describe(writer, functions, count)) {
        fputs("make_film: the functions could not be described\n", stderr);
        return 1;
    }
    for (uint32_t index = 0; index < THREADS; index++) {
        char name[32];

        snprintf(name, sizeof(name), index == 0 ? "MainThread" : "Thread-%u", index);
        strands[index].thread = film_writer_thread_begin(writer, name, 1000 + index);
        if (strands[index].thread == NULL) {
            fputs("make_film: a thread could not begin\n", stderr);
            return 1;
        }
    }
    started = film_clock_monotonic_ns();
    while (written < wanted) {
        if (written % TURN == 0) {
            at = &strands[random_below(2) == 0 ? 0 : random_below(THREADS)];
        }
        wait_like_python(
            &clock,
            at->depth == 0 ? 0 : functions[at->stack[at->depth - 1].function].cycles);
        if (at->depth >= 2 && random_below(RAISE_EVERY) == 0) {
            (void)raise_once(at, functions, type, message);
        }
        (void)advance(at, functions, count);
        written++;
    }
    appended = film_clock_monotonic_ns();
    film_writer_get_stats(writer, &stats);
    if (film_writer_close(writer, end, 1, &error) != FILM_OK) {
        fprintf(stderr, "make_film: %s\n", error.message);
        return 1;
    }
    closed = film_clock_monotonic_ns();
    printf("{\"events\": %" PRIu64 ", \"lost\": %" PRIu64 ", \"append_seconds\": %.6f, "
           "\"close_seconds\": %.6f}\n",
           stats.events, stats.lost, (double)(appended - started) * 1e-9,
           (double)(closed - appended) * 1e-9);
    free(functions);
    return 0;
}
