/* alignment.c: see alignment.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/alignment.h"

#include <stdlib.h>

#include "base/alloc.h"

/* Digits of a host's hash that are enough for people. */
#define HASH_SHOWN 8

bool
film_alignment_matters(const film_recordings *set)
{
    for (size_t i = 0; i < set->count && set->count > 1; i++) {
        if (set->items[i].rank >= 0 ||
            (set->items[i].host > 0 &&
             set->hosts[set->items[i].host].hash[0] != '\0')) {
            return true;
        }
    }
    return false;
}

static int
compare_ranks(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

void
film_alignment_put_ranks(const int64_t *ranks, size_t count, film_output *output)
{
    for (size_t i = 0; i < count;) {
        size_t end = i + 1;

        while (end < count && ranks[end] == ranks[end - 1] + 1) {
            end++;
        }
        film_output_text(output, i > 0 ? ", " : "");
        film_output_u64(output, (uint64_t)ranks[i]);
        if (end - i > 1) {
            film_output_text(output, end - i > 2 ? " to " : ", ");
            film_output_u64(output, (uint64_t)ranks[end - 1]);
        }
        i = end;
    }
}

static void
print_ranks(const film_recordings *set, film_output *output)
{
    int64_t *ranks = film_alloc_array(set->count, sizeof(*ranks));
    uint32_t world = 0;
    size_t count = 0, helpers = 0, others = 0;

    for (size_t i = 0; ranks != NULL && i < set->count; i++) {
        const film_recording *item = &set->items[i];
        world = item->world_size > world ? item->world_size : world;
        helpers += item->is_helper;
        others += item->rank < 0;
        if (item->rank >= 0 && !item->is_helper) {
            ranks[count++] = item->rank;
        }
    }
    if (count > 0) {
        qsort(ranks, count, sizeof(*ranks), compare_ranks);
    }
    film_output_text(output, count == 1 ? "rank " : count > 1 ? "ranks " : "no ranks");
    film_alignment_put_ranks(ranks, count, output);
    if (world > 0) {
        film_output_format(output, " of %u", world);
    }
    if (helpers > 0) {
        FILM_OUTPUT_LITERAL(output, ", ");
        film_output_count(output, helpers, "process");
        FILM_OUTPUT_LITERAL(output, " of theirs");
    }
    if (others > 0) {
        FILM_OUTPUT_LITERAL(output, ", ");
        film_output_count(output, others, "other recording");
    }
    film_output_byte(output, '\n');
    film_free(ranks);
}

static void
print_host(const film_recordings *set, const film_host *host, film_output *output)
{
    FILM_OUTPUT_LITERAL(output, "clock of host ");
    film_output_write(output, host->hash[0] == '\0' ? "unknown" : host->hash,
                      host->hash[0] == '\0' ? 7 : strnlen(host->hash, HASH_SHOWN));
    FILM_OUTPUT_LITERAL(output, " (");
    film_output_text(output, set->items[host->first].label);
    film_output_text(output, "): ");
    switch (host->way) {
    case FILM_CLOCK_REFERENCE:
        FILM_OUTPUT_LITERAL(output, "all times are laid on it\n");
        break;
    case FILM_CLOCK_WALL:
        FILM_OUTPUT_LITERAL(output,
                            "laid by its wall clock; how far it is off is not known\n");
        break;
    case FILM_CLOCK_COLLECTIVES:
        FILM_OUTPUT_LITERAL(output, "laid by ");
        film_output_count(output, host->bounds, "collective");
        FILM_OUTPUT_LITERAL(output, ", at most ");
        film_output_duration(output, host->error_ns);
        FILM_OUTPUT_LITERAL(output, " off\n");
        break;
    case FILM_CLOCK_CONTRADICTS:
        FILM_OUTPUT_LITERAL(output, "laid by ");
        film_output_count(output, host->bounds, "collective");
        FILM_OUTPUT_LITERAL(output, " that no one offset fits: about ");
        film_output_duration(output, host->error_ns);
        FILM_OUTPUT_LITERAL(output, " off, as the clocks drift\n");
        break;
    }
}

void
film_alignment_print(const film_recordings *set, const char *prefix,
                     film_output *output)
{
    if (!film_alignment_matters(set)) {
        return;
    }
    film_output_text(output, prefix);
    print_ranks(set, output);
    if (set->host_count == 1) {
        film_output_text(output, prefix);
        FILM_OUTPUT_LITERAL(output, "one host: all read one clock\n");
        return;
    }
    for (size_t i = 0; i < set->host_count; i++) {
        film_output_text(output, prefix);
        print_host(set, &set->hosts[i], output);
    }
}

void
film_alignment_print_json(const film_recordings *set, size_t recording,
                          film_output *output)
{
    static const char *const ways[] = {"reference", "wall", "collectives",
                                       "contradicts"};
    const film_recording *item = &set->items[recording];
    const film_host *host = &set->hosts[item->host];

    if (item->rank >= 0) {
        film_output_format(output, ",\"rank\":%lld,\"is_helper\":%s",
                           (long long)item->rank, item->is_helper ? "true" : "false");
    }
    if (set->count < 2) {
        return;
    }
    film_output_format(output,
                       ",\"shift_ns\":%llu,\"clock\":{\"host\":%u,\"way\":\"%s\"",
                       (unsigned long long)item->shift_ns, item->host, ways[host->way]);
    if (host->way != FILM_CLOCK_WALL) {
        film_output_format(output, ",\"error_ns\":%llu,\"collectives\":%zu",
                           (unsigned long long)host->error_ns, host->bounds);
    }
    film_output_byte(output, '}');
}
