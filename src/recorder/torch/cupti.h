/* cupti.h: what ran on the GPU and when, from NVIDIA's CUPTI.
 *
 * CUPTI is loaded when it is wanted, from where torch has it; nothing is linked and no
 * header of NVIDIA's is used (cupti_records.h). It fills buffers with records of kernels,
 * copies and sets, which it hands over in a thread of its own: there they become plain
 * structs in a queue, without Python and without the GIL. To tell which operation led to a
 * record, the operation pushes an id before it runs and pops it after; CUPTI ties that to
 * the calls of the driver made in between, of which only those are watched that start
 * work.
 *
 * One client at a time can have CUPTI's records. Where another one (torch.profiler, nsys)
 * has them, film_cupti_begin says so; one that comes later takes them away, and that is
 * all right: it is the program's own.
 *
 * Threads: begin, take, end, forget by one at a time (the holder of the GIL); push and pop
 * by any; the rest is CUPTI's.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TORCH_CUPTI_H
#define FILMSTRIP_RECORDER_TORCH_CUPTI_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum film_gpu_kind {
    FILM_GPU_KERNEL = 1,
    FILM_GPU_COPY = 2,
    FILM_GPU_SET = 3
} film_gpu_kind;

/* Something that ran on a device. */
typedef struct film_gpu_record {
    uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
    uint64_t operation; /* the id that was pushed; 0: none was, or it is not known */
    uint64_t bytes;     /* copies and sets */
    uint64_t node;      /* of a CUDA graph */
    uint32_t device, stream;
    uint32_t correlation; /* of the call that led to it */
    uint32_t graph;       /* 0: it was not launched by a graph */
    uint32_t name;        /* kernels: film_cupti_name */
    uint8_t kind;         /* film_gpu_kind */
    uint8_t copy;         /* direction: 1 HtoD, 2 DtoH, 8 DtoD, 9 HtoH, 10 PtoP */
    uint8_t waited;       /* buffers that came since, while it is in the queue */
} film_gpu_record;

typedef struct film_cupti_counts {
    uint64_t records;    /* of work on a device */
    uint64_t linked;     /* of these, with an operation */
    uint64_t unfinished; /* without times: they had not ended, or CUPTI had no room */
    uint64_t lost;       /* dropped by CUPTI, or here */
} film_cupti_counts;

#define FILM_CUPTI_SENTENCE 200u

typedef struct film_cupti_options {
    /* The folder that the torch package lies in; NULL: only a library that is loaded. */
    const char *packages;
    /* This library and no other (tests). */
    const char *library;
} film_cupti_options;

/* Begins. False: there is nothing to trace with; `sentence` (FILM_CUPTI_SENTENCE bytes)
 * says why. To be called once the program has begun to use CUDA: it makes the driver
 * initialise itself, and a process that forks before it uses CUDA must not have that. */
bool
film_cupti_begin(const film_cupti_options *options, char *sentence);

/* Work that this thread starts from now on is of the operation `id` (not 0), until it is
 * popped; they nest. False: nothing has begun, and there is nothing to pop. What was pushed
 * has to be popped, though tracing has ended meanwhile. */
bool
film_cupti_push(uint64_t id);

void
film_cupti_pop(void);

extern _Atomic(size_t) film_cupti_waiting;

/* How many records film_cupti_take would give; cheap enough for every operation. */
static inline size_t
film_cupti_ready(void)
{
    return atomic_load_explicit(&film_cupti_waiting, memory_order_relaxed);
}

/* What has come in, in no order: the caller's, to be given back by film_free. NULL: nothing
 * (*count is 0), or no memory. With `all` what CUPTI still holds is fetched first, finished
 * or not; it does not wait for the device. */
film_gpu_record *
film_cupti_take(bool all, size_t *count);

/* The name of a kernel, as the compiler made it; valid until film_cupti_end. */
const char *
film_cupti_name(uint32_t name);

void
film_cupti_get_counts(film_cupti_counts *counts);

/* Ends: what has not been taken is lost. */
void
film_cupti_end(void);

/* In a forked child, where CUPTI is the parent's: nothing is known any more. */
void
film_cupti_forget(void);

#endif
