/* op_text.h: ops and tensors as `nan` and `diff` print them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_OP_TEXT_H
#define FILMSTRIP_OP_TEXT_H

#include "analysis/ops/op_item.h"
#include "export/output.h"

/* -2.1 to 2.3, all finite; 12 of 64 not finite. `sampled`: of a part of them. */
void
film_op_text_numbers(film_output *output, const film_tensor_summary *summary,
                     uint64_t elements, bool sampled);

/* t17: f32[64, 128] cpu  -2.1 to 2.3, all finite */
void
film_op_text_tensor(film_output *output, const film_op_tensor *tensor);

/* A value: a tensor with its numbers, or its text; below it the tensors of a list, each
 * on a line of its own that begins with `indent` blanks. */
void
film_op_text_value(film_output *output, const film_op_item *item, uint32_t index,
                   unsigned indent);

/* train.py:12 in __main__.Net.forward */
void
film_op_text_place(film_output *output, film_reader *reader, uint32_t code,
                   uint32_t line);

/* 1:1234, as step and film_query name moments. */
void
film_op_text_moment(film_output *output, uint32_t thread, uint64_t event);

/* "file":...,"line":...,"in":..., without a comma at the end. */
void
film_op_json_place(film_output *output, film_reader *reader, uint32_t code,
                   uint32_t line);

/* A tensor of an item as a JSON object. */
void
film_op_json_tensor(film_output *output, const film_op_tensor *tensor);

/* The values of an item as a JSON array of objects. */
void
film_op_json_values(film_output *output, const film_op_item *item);

void
film_op_json_number(film_output *output, double number);

#endif
