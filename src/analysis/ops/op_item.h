/* op_item.h: one op, or the end of one, with its values as texts and its tensors taken
 * apart: what is compared, and what is shown to people.
 * Everything in an item is its own or the reader's, so it outlives the event.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_OP_ITEM_H
#define FILMSTRIP_OP_ITEM_H

#include <filmstrip/reader.h>
#include <filmstrip/tensor.h>

#include "base/scratch.h"

#define FILM_OP_ITEM_VALUES 64u   /* of one op; more are counted only */
#define FILM_OP_ITEM_TENSORS 256u /* in all its values together */

typedef struct film_op_tensor {
    uint32_t value; /* which of the values it is, or lies in */
    uint64_t record, serial, storage;
    int64_t version;
    uint64_t elements;
    film_text type, text; /* Parameter; f32[64, 128] cpu */
    film_text dtype, device, layout;
    int dimensions;
    int64_t sizes[FILM_TENSOR_DIMENSIONS];
    bool requires_grad, has_summary;
    bool sampled; /* the summary is of a part of its numbers */
    film_tensor_summary summary;
} film_op_tensor;

typedef struct film_op_value {
    film_text keyword;      /* empty: it is positional, or of an op_end */
    film_text text;         /* as people see it */
    film_text type;         /* of what is no tensor; empty: not known */
    uint32_t first_tensor;  /* in film_op_item.tensors */
    uint32_t tensors;       /* how many are in it */
    bool is_tensor;         /* it is one, not a list of some */
    bool is_object, is_cut; /* it has a serial; the text is only a part */
    double number;          /* a float; else 0 */
} film_op_value;

typedef struct film_op_item {
    film_scratch scratch; /* the texts and arrays lie in it */
    uint64_t number;      /* of the event */
    uint64_t op;          /* of the op event */
    uint64_t time_ns;
    uint32_t thread, code, offset, line;
    uint8_t kind; /* FILM_KIND_OP or FILM_KIND_OP_END */
    uint8_t flags;
    uint32_t positional;
    film_text function; /* op; of an op_end that raised: the type of the exception */
    film_text api, module;
    film_op_value *values;
    uint32_t value_count, all_values;
    film_op_tensor *tensors;
    uint32_t tensor_count, all_tensors;
} film_op_item;

/* Fills *item (zeroed before its first use) from an op or op_end. What was in it is
 * forgotten. */
FILM_NODISCARD film_status
film_op_item_read(film_op_item *item, film_reader *reader, const film_event *event,
                  film_error *error);

/* The op with this event number, and its end where it has one (end->kind is 0
 * otherwise). FILM_END: there is no such op. `end` may be NULL. */
FILM_NODISCARD film_status
film_op_item_find(film_reader *reader, uint32_t thread, uint64_t number,
                  film_op_item *op, film_op_item *end, film_error *error);

void
film_op_item_reset(film_op_item *item);

/* How many elements a tensor has. */
uint64_t
film_tensor_elements(const film_tensor *tensor);

/* Whether it is so large that its summary is of a sample (recorder/torch/summary.h). */
bool
film_tensor_is_sampled(const film_tensor *tensor);

#endif
