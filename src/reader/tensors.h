/* tensors.h: what the reader's other files know of tensors (see filmstrip/tensor.h).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_TENSORS_H
#define FILMSTRIP_TENSORS_H

#include <filmstrip/tensor.h>

#include "reader/render.h"

/* True for a record that has the form of a tensor's. */
bool
film_record_is_tensor(const film_reader *reader, const film_value_record *record);

/* t17: f32[64, 128] cuda:0, of a record that is a tensor's. */
void
film_render_tensor(film_renderer *renderer, const film_value_record *record);

#endif
