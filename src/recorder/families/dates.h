/* dates.h: the C API of the program's datetime module.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_FAMILIES_DATES_H
#define FILMSTRIP_RECORDER_FAMILIES_DATES_H

#include "recorder/compat.h"

#include <datetime.h>

/* The header's own variable, which PyDateTime_IMPORT would fill in by an import. */
static inline const void *
film_dates_unused(void)
{
    return PyDateTimeAPI;
}

/* NULL: the module is not imported, or its objects are not laid out as we read them.
 * Borrowed. */
PyDateTime_CAPI *
film_dates_api(void);

#endif
