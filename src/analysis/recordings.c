/* recordings.c: opening several recordings and laying them on one time line.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/recordings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/clocks.h"
#include "base/alloc.h"

/* A fact that is a number; `otherwise` where there is none. */
static int64_t
meta_number(const film_reader *reader, const char *key, int64_t otherwise)
{
    const char *text = film_reader_meta(reader, key);
    char *end;
    long number;

    if (text == NULL || text[0] < '0' || text[0] > '9') {
        return otherwise;
    }
    number = strtol(text, &end, 10);
    return *end == '\0' && number < INT32_MAX ? number : otherwise;
}

/* Whether another process of the same rank was there before. */
static bool
is_helper(const film_recordings *set, size_t index)
{
    uint64_t start = film_reader_info(set->items[index].reader)->start_realtime_ns;

    for (size_t i = 0; i < set->count; i++) {
        uint64_t other = film_reader_info(set->items[i].reader)->start_realtime_ns;
        if (set->items[i].rank == set->items[index].rank &&
            (other < start || (other == start && i < index))) {
            return true;
        }
    }
    return false;
}

static void
name_recordings(film_recordings *set)
{
    for (size_t i = 0; i < set->count; i++) {
        film_recording *item = &set->items[i];
        item->rank = meta_number(item->reader, "rank", -1);
        item->world_size = (uint32_t)meta_number(item->reader, "world_size", 0);
    }
    for (size_t i = 0; i < set->count; i++) {
        film_recording *item = &set->items[i];
        unsigned long long pid = film_reader_info(item->reader)->pid;

        item->is_helper = item->rank >= 0 && is_helper(set, i);
        if (item->rank < 0) {
            (void)snprintf(item->label, sizeof(item->label), "%llu", pid);
        }
        else if (item->is_helper) {
            (void)snprintf(item->label, sizeof(item->label), "r%lld/%llu",
                           (long long)item->rank, pid);
        }
        else {
            (void)snprintf(item->label, sizeof(item->label), "r%lld",
                           (long long)item->rank);
        }
    }
}

/* The reader's sentence may already name the file; a reader of several files must
 * know which one it was. */
static void
name_path(film_error *error, const char *path)
{
    char sentence[sizeof(error->message)];

    if (error == NULL || strstr(error->message, path) != NULL) {
        return;
    }
    memcpy(sentence, error->message, sizeof(sentence));
    sentence[sizeof(sentence) - 1] = '\0';
    film_fail_at(error, error->status, error->offset, "%.120s: %s", path, sentence);
}

film_status
film_recordings_open(film_recordings *set, char *const *paths, size_t count,
                     film_error *error)
{
    film_status status = FILM_OK;

    memset(set, 0, sizeof(*set));
    set->items = film_alloc_array(count, sizeof(*set->items));
    if (set->items == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    for (size_t i = 0; i < count; i++) {
        status = film_reader_open(paths[i], &set->items[i].reader, error);
        if (status != FILM_OK) {
            name_path(error, paths[i]);
            film_recordings_close(set);
            return status;
        }
        set->items[i].path = paths[i];
        set->count = i + 1;
    }
    name_recordings(set);
    status = film_clocks_align(set, error);
    if (status != FILM_OK) {
        film_recordings_close(set);
    }
    return status;
}

void
film_recordings_close(film_recordings *set)
{
    for (size_t i = 0; i < set->count; i++) {
        film_reader_close(set->items[i].reader);
    }
    film_free(set->items);
    film_free(set->hosts);
    memset(set, 0, sizeof(*set));
}

uint64_t
film_recordings_events(const film_recordings *set)
{
    uint64_t events = 0;

    for (size_t i = 0; i < set->count; i++) {
        events += film_reader_info(set->items[i].reader)->events;
    }
    return events;
}

size_t
film_recordings_threads(const film_recordings *set)
{
    size_t threads = 0;

    for (size_t i = 0; i < set->count; i++) {
        threads += film_reader_thread_count(set->items[i].reader);
    }
    return threads;
}

bool
film_recordings_have_values(const film_recordings *set)
{
    for (size_t i = 0; i < set->count; i++) {
        if (film_reader_info(set->items[i].reader)->level >= 2) {
            return true;
        }
    }
    return false;
}

uint64_t
film_recordings_end_ns(const film_recordings *set)
{
    uint64_t end = 0;

    for (size_t i = 0; i < set->count; i++) {
        const film_recording *recording = &set->items[i];
        uint64_t last =
            recording->shift_ns + film_reader_info(recording->reader)->duration_ns;
        end = last > end ? last : end;
    }
    return end;
}
