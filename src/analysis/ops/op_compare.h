/* op_compare.h: in what two ops differ. Serials, ids and times do not count: two runs give
 * other ones to the same things.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_OP_COMPARE_H
#define FILMSTRIP_OP_COMPARE_H

#include "analysis/diff.h"
#include "analysis/ops/op_item.h"
#include "base/buffer.h"

typedef enum film_op_aspect {
    FILM_OP_ALIKE,
    FILM_OP_FUNCTION,  /* another function, or an end where the other begins one */
    FILM_OP_RAISED,    /* one ended by an exception, or by another one */
    FILM_OP_MODE,      /* autograd or inference mode */
    FILM_OP_ARGUMENTS, /* how many, or their names */
    FILM_OP_FORM,      /* a tensor on one side only, or another number of them in it */
    FILM_OP_DTYPE,
    FILM_OP_SHAPE,
    FILM_OP_DEVICE,
    FILM_OP_LAYOUT, /* of its memory: layout, strides; whether it requires a gradient */
    FILM_OP_VALUE,  /* something that is no tensor */
    FILM_OP_NUMBERS /* in a tensor */
} film_op_aspect;

typedef struct film_op_comparison {
    film_op_aspect aspect; /* the first that differs */
    uint32_t value;        /* among the values; from ARGUMENTS on, but for it */
    uint32_t tensor;       /* within that value */
} film_op_comparison;

/* "shape", "dtype" ... */
const char *
film_op_aspect_name(film_op_aspect aspect);

film_op_comparison
film_op_compare(const film_op_item *left, const film_op_item *right, bool numbers);

/* What film_diff compares of an op or op_end, without making texts of tensors or numbers.
 * `scratch` is overwritten. */
FILM_NODISCARD film_status
film_op_entry(film_reader *reader, const film_event *event, film_buffer *scratch,
              film_diff_entry *out, film_error *error);

/* A text without the serials in it: `<Cart #3>`, `t17: f32[2]`. Appended. */
void
film_op_plain_text(film_buffer *out, film_text text);

#endif
