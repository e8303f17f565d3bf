/* pstats.c: statistics as cProfile writes them: one marshalled dict
 *
 *   {(file, line, name): (primitive, calls, own, total,
 *                         {(file, line, name): (calls, primitive, own, total)})}
 *
 * (the two counts stand the other way round for callers; so it is in cProfile).
 * As in cProfile every resume of a generator counts as a call. Names are co_name, so
 * functions that share file, line and name are one entry, as pstats would see them.
 *
 * Marshal version 2, which Python 3.11 to 3.14 read and old ones too:
 *   '{' key value ... '0'   dict, ended by NULL     '(' n32 items   tuple
 *   'u' n32 UTF-8           str                     'i' n32         int, 32 bits
 *   'l' n32 digits of 15 bits, 16 bits each         int, any size   'g' double
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/exporter.h"

#include <stdlib.h>

#include "analysis/statistics.h"
#include "base/alloc.h"
#include "base/hash.h"

typedef struct row { /* an entry of the file */
    film_tally tally;
    uint32_t function;               /* whose names it has */
    uint32_t first_edge, edge_count; /* its callers, in the sorted edges */
} row;

typedef struct table {
    const film_functions *functions; /* borrowed */
    uint32_t *row_of;                /* owned: function number to row */
    row *rows;                       /* owned */
    film_edge *edges;                /* owned: caller and callee are rows */
    size_t row_count, edge_count;
} table;

static void
put_u32(film_output *output, uint32_t number)
{
    film_put_u32((uint8_t *)film_output_room(output, 4), number);
    output->used += 4;
}

static void
put_text(film_output *output, film_text text)
{
    film_output_byte(output, 'u');
    put_u32(output, (uint32_t)text.length);
    film_output_write(output, text.data, text.length);
}

static void
put_integer(film_output *output, uint64_t number)
{
    uint32_t digits = 0;

    if (number <= INT32_MAX) {
        film_output_byte(output, 'i');
        put_u32(output, (uint32_t)number);
        return;
    }
    for (uint64_t rest = number; rest != 0; rest >>= 15) {
        digits++;
    }
    film_output_byte(output, 'l');
    put_u32(output, digits);
    for (; digits > 0; digits--, number >>= 15) {
        film_put_u16((uint8_t *)film_output_room(output, 2), number & 0x7fff);
        output->used += 2;
    }
}

static void
put_seconds(film_output *output, uint64_t time_ns)
{
    double seconds = (double)time_ns / 1e9;
    uint64_t bits;

    memcpy(&bits, &seconds, sizeof(bits));
    film_output_byte(output, 'g');
    film_put_u64((uint8_t *)film_output_room(output, 8), bits);
    output->used += 8;
}

static void
put_tuple(film_output *output, uint32_t items)
{
    film_output_byte(output, '(');
    put_u32(output, items);
}

static void
put_key(film_output *output, const film_function *function)
{
    put_tuple(output, 3);
    put_text(output, function->file);
    put_integer(output, function->first_line);
    put_text(output, function->name);
}

static void
put_row(film_output *output, const table *from, const row *entry)
{
    const film_tally *tally = &entry->tally;

    put_key(output, &from->functions->items[entry->function]);
    put_tuple(output, 5);
    put_integer(output, tally->primitive_activations);
    put_integer(output, tally->activations);
    put_seconds(output, tally->own_ns);
    put_seconds(output, tally->total_ns);
    film_output_byte(output, '{');
    for (uint32_t i = 0; i < entry->edge_count; i++) {
        const film_edge *edge = &from->edges[entry->first_edge + i];
        put_key(output, &from->functions->items[from->rows[edge->caller].function]);
        put_tuple(output, 4);
        put_integer(output, edge->tally.activations);
        put_integer(output, edge->tally.primitive_activations);
        put_seconds(output, edge->tally.own_ns);
        put_seconds(output, edge->tally.total_ns);
    }
    film_output_byte(output, '0');
}

static void
add_tally(film_tally *to, const film_tally *more)
{
    to->activations += more->activations;
    to->primitive_activations += more->primitive_activations;
    to->own_ns += more->own_ns;
    to->total_ns += more->total_ns;
}

static uint64_t
hash_key(const film_function *function)
{
    uint64_t hash = film_hash(function->name.data, function->name.length);

    hash = film_digest_mix(hash, film_hash(function->file.data, function->file.length));
    return film_digest_mix(hash, function->first_line);
}

/* Functions become rows; those with one key share a row. */
static film_status
make_rows(table *to, const film_statistics *statistics, film_error *error)
{
    film_intern by_key = {0};
    size_t count;
    const film_tally *tallies = film_statistics_functions(statistics, &count);
    bool kept = true;

    to->rows = film_alloc_array(count, sizeof(*to->rows));
    to->row_of = film_alloc_array(count, sizeof(*to->row_of));
    kept = to->rows != NULL && to->row_of != NULL;
    for (size_t i = 0; kept && i < count; i++) {
        uint64_t hash = hash_key(&to->functions->items[i]);
        uint32_t number;
        if (!film_intern_find(&by_key, hash, &number)) {
            number = (uint32_t)to->row_count;
            kept = film_intern_add(&by_key, hash, number);
            to->rows[to->row_count++].function = (uint32_t)i;
        }
        to->row_of[i] = number;
        add_tally(&to->rows[number].tally, &tallies[i]);
    }
    film_intern_reset(&by_key);
    return kept ? FILM_OK : film_fail(error, FILM_NO_MEMORY, "not enough memory");
}

static int
compare_edges(const void *a, const void *b)
{
    const film_edge *left = a, *right = b;

    if (left->callee != right->callee) {
        return left->callee < right->callee ? -1 : 1;
    }
    return left->caller < right->caller ? -1 : left->caller > right->caller;
}

/* Edges between rows, those of one callee together, one a pair. */
static film_status
make_edges(table *to, const film_statistics *statistics, film_error *error)
{
    size_t count, kept = 0;
    const film_edge *edges = film_statistics_edges(statistics, &count);

    to->edges = film_alloc_array(count, sizeof(*to->edges));
    if (to->edges == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    for (size_t i = 0; i < count; i++) {
        to->edges[i] = edges[i];
        to->edges[i].caller = to->row_of[edges[i].caller];
        to->edges[i].callee = to->row_of[edges[i].callee];
    }
    qsort(to->edges, count, sizeof(*to->edges), compare_edges);
    for (size_t i = 0; i < count; i++) {
        if (to->edges[i].tally.activations == 0) {
            continue; /* a frame that was open already: nobody called it here */
        }
        if (kept > 0 && compare_edges(&to->edges[kept - 1], &to->edges[i]) == 0) {
            add_tally(&to->edges[kept - 1].tally, &to->edges[i].tally);
            continue;
        }
        to->edges[kept] = to->edges[i];
        if (to->rows[to->edges[kept].callee].edge_count++ == 0) {
            to->rows[to->edges[kept].callee].first_edge = (uint32_t)kept;
        }
        kept++;
    }
    to->edge_count = kept;
    return FILM_OK;
}

static film_status
write_statistics(const film_functions *functions, const film_statistics *statistics,
                 film_output *output, film_error *error)
{
    table from = {0};
    film_status status;

    from.functions = functions;
    status = make_rows(&from, statistics, error);
    if (status == FILM_OK) {
        status = make_edges(&from, statistics, error);
    }
    if (status == FILM_OK) {
        film_output_byte(output, '{');
        for (size_t i = 0; i < from.row_count; i++) {
            put_row(output, &from, &from.rows[i]);
        }
        film_output_byte(output, '0');
    }
    film_free(from.rows);
    film_free(from.row_of);
    film_free(from.edges);
    return status;
}

film_status
film_export_pstats(const film_recordings *set, film_output *output, film_error *error)
{
    film_functions functions;
    film_statistics *statistics = NULL;
    film_status status = film_functions_init(&functions, set, error);

    if (status == FILM_OK) {
        status = film_statistics_new(&functions, &statistics, error);
    }
    if (status == FILM_OK) {
        status = film_statistics_add_all(statistics, error);
    }
    if (status == FILM_OK) {
        status = write_statistics(&functions, statistics, output, error);
    }
    film_statistics_free(statistics);
    film_functions_reset(&functions);
    return status;
}
