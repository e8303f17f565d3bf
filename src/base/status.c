/* status.c: filling a film_error.
 * SPDX-License-Identifier: Apache-2.0 */
#include <filmstrip/status.h>

#include <stdarg.h>
#include <stdio.h>

/* Macros where the analyzer looks. */
#undef film_fail
#undef film_fail_at

static film_status __attribute__((format(printf, 4, 0)))
fill(film_error *error, film_status status, uint64_t offset, const char *format,
     va_list arguments)
{
    if (error != NULL) {
        error->status = status;
        error->offset = offset;
        vsnprintf(error->message, sizeof(error->message), format, arguments);
    }
    return status;
}

film_status
film_fail(film_error *error, film_status status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fill(error, status, 0, format, arguments);
    va_end(arguments);
    return status;
}

film_status
film_fail_at(film_error *error, film_status status, uint64_t offset, const char *format,
             ...)
{
    va_list arguments;

    va_start(arguments, format);
    fill(error, status, offset, format, arguments);
    va_end(arguments);
    return status;
}
