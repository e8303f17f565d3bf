/* records.h: the fields of a namedtuple.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_FAMILIES_RECORDS_H
#define FILMSTRIP_RECORDER_FAMILIES_RECORDS_H

#include "recorder/compat.h"

/* The names, a tuple of str; NULL: the class is none. Borrowed. */
PyObject *
film_record_fields(PyTypeObject *type);

#endif
