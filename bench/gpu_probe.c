/* gpu_probe.c: src/recorder/torch/gpu.h for bench/gpu.py, which calls it by ctypes: what
 * CUPTI gives on a machine with a GPU, without the recorder of Python's calls.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/clock.h"
#include "recorder/torch/gpu.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int
probe_begin(const char *path, const char *packages, const char *library,
            char *sentence);
EXPORT void
probe_enter(void);
EXPORT void
probe_leave(void);
EXPORT double
probe_pair_ns(int times);
EXPORT void
probe_write(void);
EXPORT void
probe_counts(unsigned long long *to);
EXPORT void
probe_end(void);

static film_writer *writer;
static film_thread *thread;
static film_op_row op = {.offset = FILM_NO_OFFSET};
static bool entered;

/* 1: it has begun; 0: `sentence` says why not; -1: there is no recording. */
int
probe_begin(const char *path, const char *packages, const char *library, char *sentence)
{
    film_writer_options how = {.path = path, .replace = true, .level = 2};
    film_cupti_options options = {.packages = packages, .library = library};
    film_error error = {0};

    if (film_writer_open(&how, &writer, &error) != FILM_OK) {
        snprintf(sentence, FILM_CUPTI_SENTENCE, "%.190s", error.message);
        return -1;
    }
    thread = film_writer_thread_begin(writer, "main", 1);
    op.function = film_writer_string(writer, "step", 4);
    return film_gpu_begin(writer, &options, sentence) ? 1 : 0;
}

void
probe_enter(void)
{
    entered = film_gpu_enter(thread);
    film_append_op(thread, &op);
}

void
probe_leave(void)
{
    if (entered) {
        film_gpu_leave();
    }
    film_append_op_end(thread, 1, 0, 0, 0);
    if (film_gpu_is_due()) {
        film_gpu_write();
    }
}

/* What an id that is pushed and popped costs. */
double
probe_pair_ns(int times)
{
    uint64_t begin = film_clock_monotonic_ns();

    for (int i = 0; i < times; i++) {
        if (film_cupti_push((uint64_t)i + 1)) {
            film_cupti_pop();
        }
    }
    return (double)(film_clock_monotonic_ns() - begin) / times;
}

void
probe_write(void)
{
    film_gpu_write();
}

void
probe_counts(unsigned long long *to)
{
    film_cupti_counts counts;

    film_cupti_get_counts(&counts);
    to[0] = counts.records;
    to[1] = counts.linked;
    to[2] = counts.unfinished;
    to[3] = counts.lost;
}

void
probe_end(void)
{
    film_error error = {0};

    film_gpu_end();
    if (film_writer_close(writer, NULL, 0, &error) != FILM_OK) {
        fprintf(stderr, "%s\n", error.message);
    }
    writer = NULL;
}
