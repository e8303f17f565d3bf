/* tensor_json.h: the keys that a tensor has more than other values:
 *
 *   "shape": [64, 128], "dtype": "float32", "strides": [128, 1], "device": "cuda:0",
 *   "layout": "strided", "requires_grad": true, "version": 3, "storage": n, "offset": n,
 *   "summary": {"min": ..., "max": ..., "mean": ..., "std": ..., "zeros": n,
 *               "nonfinite": n, "hash": "0123456789abcdef"}
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_TENSOR_JSON_H
#define FILMSTRIP_TENSOR_JSON_H

#include <filmstrip/tensor.h>

#include "base/buffer.h"
#include "export/output.h"

/* With a comma before each key; `scratch` is overwritten. */
void
film_tensor_json_write(film_output *output, const film_tensor *tensor,
                       film_buffer *scratch);

#endif
