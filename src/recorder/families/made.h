/* made.h: OrderedDict, which keeps its order apart from the dict's.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_FAMILIES_MADE_H
#define FILMSTRIP_RECORDER_FAMILIES_MADE_H

#include "recorder/compat.h"

/* True for OrderedDict and classes made of it, where its order can be read. */
bool
film_type_is_ordered(PyTypeObject *type);

#endif
