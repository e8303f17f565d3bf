/* cupti_records.h: what CUPTI's activity records look like, as far as they are read.
 *
 * Written from what NVIDIA documents of the records; tools/cupti_layouts.py compares it with
 * the headers of every version below. Each version appends fields and gives the record a
 * new name; those read here have stayed where they are in all of them:
 *
 *   version        CUDA   kernel               copy              set
 *   18 to 23       12.0   ActivityKernel9      ActivityMemcpy5   ActivityMemset4
 *                  to .5  208 bytes            88                88
 *   24, 26, 28     12.6   Kernel9              Memcpy5, 6 (96)   Memset4
 *   130000, -001   13.0   Kernel10 (216)       Memcpy6           Memset4
 *   1301xx, 1302xx 13.1   Kernel11 (224)       Memcpy6           Memset4
 *   1303xx         13.3   Kernel12 (232)       Memcpy6           Memset4
 *   1304xx         13.4   Kernel13 (248)       Memcpy7 (112)     Memset5 (104)
 *
 * Another version is refused. What the library itself takes the lengths of records for is
 * asked of it before it is used (film_cupti_layout_holds).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TORCH_CUPTI_RECORDS_H
#define FILMSTRIP_RECORDER_TORCH_CUPTI_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds of records: the first four bytes of each. */
enum {
    FILM_CUPTI_COPY = 1,
    FILM_CUPTI_SET = 2,
    FILM_CUPTI_DRIVER = 4,
    FILM_CUPTI_RUNTIME = 5,
    FILM_CUPTI_KERNEL = 10, /* CONCURRENT_KERNEL: kernels run beside others as ever */
    FILM_CUPTI_EXTERNAL = 39
};

/* Results. */
enum {
    FILM_CUPTI_OK = 0,
    FILM_CUPTI_MAX_LIMIT = 12,
    FILM_CUPTI_SUBSCRIBED = 39 /* MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED */
};

/* Which of the kinds of external ids ours are: the last of three that are free to use;
 * torch.profiler uses the first two. */
#define FILM_CUPTI_OURS 5u

/* Which functions call ids are of. */
#define FILM_CUPTI_DRIVER_CALLS 1u
#define FILM_CUPTI_RUNTIME_CALLS 2u

/* cuptiActivityGetNextRecord */
typedef int (*film_cupti_next)(uint8_t *buffer, size_t size, uint8_t **record);

/* What is read of a record that tells of work on the device. */
typedef struct film_cupti_work {
    uint64_t start, end; /* 0: not known */
    uint64_t bytes;      /* copies and sets */
    uint64_t node;       /* of a CUDA graph; 0: none */
    const char *name;    /* kernels: mangled, CUPTI's */
    uint32_t device, stream, correlation, graph;
    uint8_t copy; /* CUPTI's number of the direction */
} film_cupti_work;

static inline uint32_t
film_cupti_kind(const uint8_t *record)
{
    return *(const uint32_t *)(const void *)record;
}

/* True when records of this version are known. */
bool
film_cupti_version_is_known(uint32_t version);

/* Lets the library step over records made up here: true when the lengths it takes them
 * for have room for the fields that are read. */
bool
film_cupti_layout_holds(film_cupti_next next);

/* Of a record of kind COPY, SET or KERNEL. */
film_cupti_work
film_cupti_read_work(const uint8_t *record);

/* Of one of kind EXTERNAL. False: it is not ours. */
bool
film_cupti_read_external(const uint8_t *record, uint32_t *correlation, uint64_t *id);

#endif
