/* recordings.c: opening several recordings and laying them on one time line.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/recordings.h"

#include <string.h>

#include "base/alloc.h"

static void
align_times(film_recordings *set)
{
    uint64_t earliest = UINT64_MAX;

    for (size_t i = 0; i < set->count; i++) {
        uint64_t start = film_reader_info(set->items[i].reader)->start_realtime_ns;
        earliest = start < earliest ? start : earliest;
    }
    for (size_t i = 0; i < set->count; i++) {
        set->items[i].shift_ns =
            film_reader_info(set->items[i].reader)->start_realtime_ns - earliest;
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
    memset(set, 0, sizeof(*set));
    set->items = film_alloc_array(count, sizeof(*set->items));
    if (set->items == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    for (size_t i = 0; i < count; i++) {
        film_status status = film_reader_open(paths[i], &set->items[i].reader, error);
        if (status != FILM_OK) {
            name_path(error, paths[i]);
            film_recordings_close(set);
            return status;
        }
        set->items[i].path = paths[i];
        set->count = i + 1;
    }
    align_times(set);
    return FILM_OK;
}

void
film_recordings_close(film_recordings *set)
{
    for (size_t i = 0; i < set->count; i++) {
        film_reader_close(set->items[i].reader);
    }
    film_free(set->items);
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
