/* numbers.h: elements of tensors as doubles.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TORCH_NUMBERS_H
#define FILMSTRIP_RECORDER_TORCH_NUMBERS_H

#include <stddef.h>

#include "recorder/torch/summary.h"

/* Makes `count` elements at `from` (in order, not necessarily aligned) doubles: of complex
 * ones the magnitude, NaN where a part is not finite. */
void
film_numbers_to_doubles(const unsigned char *from, film_dtype dtype, size_t count,
                        double *to);

#endif
