/* tensor.h: tensors in a recording, and the ops that made them.
 * Threads and lifetimes as in reader.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_TENSOR_H
#define FILMSTRIP_TENSOR_H

#include <stdbool.h>
#include <stdint.h>

#include <filmstrip/event.h>
#include <filmstrip/reader.h>
#include <filmstrip/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FILM_TENSOR_DIMENSIONS 16

/* What the numbers in a tensor were, where `--torch-values` asked for it. */
typedef struct film_tensor_summary {
    double min, max, mean, std; /* of the finite ones */
    uint64_t zeros, nonfinite;
    uint64_t hash; /* of its bytes */
} film_tensor_summary;

/* A tensor as one of its records tells. */
typedef struct film_tensor {
    uint64_t record;  /* value id */
    uint64_t serial;  /* which tensor: t17 */
    uint64_t storage; /* which memory: tensors with the same number share it */
    int64_t offset;   /* into the storage, in elements */
    int64_t version;  /* counts changes in place; -1: an inference tensor has none */
    film_text type;   /* Tensor, Parameter */
    film_text dtype;  /* float32 */
    film_text device; /* cpu, cuda:0 */
    film_text layout; /* strided */
    film_text text;   /* f32[64, 128] cuda:0 */
    int dimensions;
    int64_t sizes[FILM_TENSOR_DIMENSIONS], strides[FILM_TENSOR_DIMENSIONS];
    bool requires_grad;
    bool has_summary;
    film_tensor_summary summary;
} film_tensor;

/* The tensor that value record `id` tells of. FILM_END: it tells of something else, or of
 * a tensor that could not be read. Texts borrow until the next call. */
FILM_NODISCARD film_status
film_reader_tensor(film_reader *reader, uint64_t id, film_tensor *out,
                   film_error *error);

/* Called with each tensor among an event's values, also within lists, tuples and dicts, as
 * deep as they were recorded; `index` is the value it was found in. False ends it. */
typedef bool (*film_tensor_visit)(void *context, const film_tensor *tensor,
                                  uint32_t index);

/* The tensors of an event (arguments of an op or a call, results of an op_end, the value of
 * a write), in order; one that is met twice is given twice. */
FILM_NODISCARD film_status
film_reader_event_tensors(film_reader *reader, const film_event *event,
                          film_tensor_visit visit, void *context, film_error *error);

/* Whether the recording tells of any op. */
bool
film_reader_has_ops(film_reader *reader);

/* The name of an op's keyword value; empty for a positional one. Borrows from the reader;
 * no NUL follows. */
film_text
film_reader_op_keyword(const film_reader *reader, const film_event *event,
                       uint32_t index);

#ifdef __cplusplus
}
#endif
#endif
