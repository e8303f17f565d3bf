/* ranks.c: see ranks.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranks.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static int
compare_ranks(const void *left, const void *right)
{
    const film_rank *a = left, *b = right;

    return (a->rank > b->rank) - (a->rank < b->rank);
}

static film_rank_group *
find_group(film_ranks *ranks, const char *key)
{
    film_rank_group *added;

    for (size_t i = 0; i < ranks->group_count; i++) {
        if (strcmp(ranks->groups[i].key, key) == 0) {
            return &ranks->groups[i];
        }
    }
    added = film_grow(ranks->groups, &ranks->group_capacity, ranks->group_count + 1,
                      sizeof(*added));
    if (added == NULL) {
        return NULL;
    }
    ranks->groups = added;
    added = &ranks->groups[ranks->group_count++];
    *added = (film_rank_group){.key = key};
    return added;
}

/* Every group that a rank has, with the most collectives that any rank has in it. */
static bool
join_groups(film_ranks *ranks)
{
    for (size_t i = 0; i < ranks->count; i++) {
        const film_collectives *told = &ranks->items[i].collectives;

        for (size_t k = 0; k < told->group_count; k++) {
            film_rank_group *group = find_group(ranks, told->groups[k].key);
            if (group == NULL) {
                return false;
            }
            if (!told->cut && told->groups[k].count > group->count) {
                group->count = told->groups[k].count;
            }
        }
    }
    for (size_t i = 0; i < ranks->group_count; i++) {
        film_rank_group *group = &ranks->groups[i];
        group->met =
            film_alloc_array((size_t)group->count * ranks->count, sizeof(*group->met));
        if (group->met == NULL) {
            return false;
        }
    }
    return true;
}

static bool
match(film_ranks *ranks)
{
    for (size_t i = 0; i < ranks->count; i++) {
        const film_collectives *told = &ranks->items[i].collectives;

        for (size_t k = 0; k < told->count && !told->cut; k++) {
            const film_collective *item = &told->items[k];
            film_rank_group *group;

            if (item->group == FILM_NO_GROUP) {
                continue;
            }
            group = find_group(ranks, told->groups[item->group].key);
            if (group == NULL || group->met == NULL) {
                return false;
            }
            group->met[item->number * ranks->count + i] = (uint32_t)k + 1;
        }
    }
    return true;
}

film_status
film_ranks_read(const film_recordings *set, film_ranks *ranks, film_error *error)
{
    ranks->set = set;
    ranks->items = film_alloc_array(set->count, sizeof(*ranks->items));
    if (ranks->items == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    for (size_t i = 0; i < set->count; i++) {
        const film_recording *recording = &set->items[i];

        if (recording->rank < 0 || recording->is_helper) {
            continue;
        }
        ranks->items[ranks->count++] =
            (film_rank){.recording = i, .rank = recording->rank};
        if (recording->world_size > ranks->world_size) {
            ranks->world_size = recording->world_size;
        }
    }
    if (ranks->count > 0) {
        qsort(ranks->items, ranks->count, sizeof(*ranks->items), compare_ranks);
    }
    for (size_t i = 0; i < ranks->count; i++) {
        film_rank *rank = &ranks->items[i];
        FILM_TRY(film_collectives_read(set->items[rank->recording].reader,
                                       &rank->collectives, error));
    }
    if (!join_groups(ranks) || !match(ranks)) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    return FILM_OK;
}

void
film_ranks_reset(film_ranks *ranks)
{
    for (size_t i = 0; i < ranks->group_count; i++) {
        film_free(ranks->groups[i].met);
    }
    for (size_t i = 0; i < ranks->count; i++) {
        film_collectives_reset(&ranks->items[i].collectives);
    }
    film_free(ranks->groups);
    film_free(ranks->items);
    *ranks = (film_ranks){0};
}

const film_collective *
film_ranks_met(const film_ranks *ranks, const film_rank_group *group, uint32_t number,
               size_t index)
{
    uint32_t place =
        number < group->count ? group->met[number * ranks->count + index] : 0;

    return place == 0 ? NULL : &ranks->items[index].collectives.items[place - 1];
}

bool
film_ranks_has_member(const film_rank_group *group, int64_t rank)
{
    const char *at = group->key;
    char *end;

    if (at[0] == '\0' || strchr(at, '[') == NULL) {
        return true; /* all of them */
    }
    for (at = strchr(at, '[') + 1; *at != '\0' && *at != ']'; at = end) {
        long member = strtol(at, &end, 10);

        if (end == at) {
            return false; /* a list that was cut: those that came are known */
        }
        if (member == rank) {
            return true;
        }
        end += strspn(end, ", ");
    }
    return false;
}
