/* status.h: how every function of the library says what went wrong.
 * A film_error belongs to its caller, may always be NULL, and allocates nothing.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_STATUS_H
#define FILMSTRIP_STATUS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FILM_NODISCARD __attribute__((warn_unused_result))

/* Values are part of the interface: append, never renumber. */
typedef enum film_status {
    FILM_OK = 0,
    FILM_END = 1,         /* an iteration has nothing more to give */
    FILM_TRUNCATED = 2,   /* the file or the record ends too early */
    FILM_CORRUPT = 3,     /* bytes contradict the format or their checksum */
    FILM_UNSUPPORTED = 4, /* written by a newer major version */
    FILM_NOT_A_FILM = 5,  /* no recording at all */
    FILM_NO_MEMORY = 6,
    FILM_IO = 7,       /* the operating system refused; message holds its reason */
    FILM_NO_SPACE = 8, /* disk, quota or file size limit reached */
    FILM_LIMIT = 9,    /* a bound of the format or of the options was reached */
    FILM_MISUSE = 10,  /* the caller broke the interface's contract */
    FILM_EXISTS = 11   /* the output exists and may not be replaced */
} film_status;

typedef struct film_error {
    film_status status;
    uint64_t offset; /* byte offset in the file, where it makes sense */
    char message[256];
} film_error;

/* Fills *error (if given) and returns `status`, so that failures read
 * `return film_fail(error, FILM_CORRUPT, ...)`. */
film_status
film_fail(film_error *error, film_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As film_fail, with the byte offset in the file where the fault lies. */
film_status
film_fail_at(film_error *error, film_status status, uint64_t offset, const char *format,
             ...) __attribute__((format(printf, 4, 5)));

/* For clang-tidy, which does not look into another file: what they return. */
#ifdef __clang_analyzer__
#define film_fail(error, status, ...)                                                  \
    ((film_fail)(error, status, __VA_ARGS__), (status))
#define film_fail_at(error, status, ...)                                               \
    ((film_fail_at)(error, status, __VA_ARGS__), (status))
#endif

/* Returns early on failure. Only before the function owns anything. */
#define FILM_TRY(expression)                                                           \
    do {                                                                               \
        film_status film_try_status = (expression);                                    \
        if (film_try_status != FILM_OK) {                                              \
            return film_try_status;                                                    \
        }                                                                              \
    } while (0)

/* For the few calls whose failure changes nothing; say why where it is used. */
#define FILM_IGNORE(expression)                                                        \
    do {                                                                               \
        film_status film_ignored = (expression);                                       \
        (void)film_ignored;                                                            \
    } while (0)

#ifdef __cplusplus
}
#endif
#endif
