/* cupti_library.h: CUPTI's functions, as far as they are called.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TORCH_CUPTI_LIBRARY_H
#define FILMSTRIP_RECORDER_TORCH_CUPTI_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/torch/cupti.h"
#include "recorder/torch/cupti_records.h"

typedef void (*film_cupti_requested)(uint8_t **buffer, size_t *size, size_t *most);
typedef void (*film_cupti_completed)(void *context, uint32_t stream, uint8_t *buffer,
                                     size_t size, size_t valid);
typedef void (*film_cupti_subscriber)(void *data, uint32_t domain, uint32_t id,
                                      const void *call);

/* Each returns 0 or why not. The last four may be NULL: versions before 12.5 lack the first
 * two of them. */
typedef struct film_cupti_functions {
    int (*version)(uint32_t *version);
    int (*say)(int result, const char **text);
    int (*subscribe)(void **handle, film_cupti_subscriber called, void *data);
    int (*unsubscribe)(void *handle);
    int (*callbacks)(film_cupti_requested requested, film_cupti_completed completed);
    int (*enable)(uint32_t kind);
    int (*disable)(uint32_t kind);
    int (*flush)(uint32_t flags);
    film_cupti_next next;
    int (*dropped)(void *context, uint32_t stream, size_t *count);
    int (*now)(uint64_t *ns);
    int (*push)(uint32_t kind, uint64_t id);
    int (*pop)(uint32_t kind, uint64_t *last);
    int (*enable_driver)(uint32_t call, uint8_t enable);
    int (*enable_runtime)(uint32_t call, uint8_t enable);
    int (*call_name)(uint32_t domain, uint32_t call, const char **name);
    int (*flush_period)(uint32_t milliseconds);
} film_cupti_functions;

/* Finds the library and its functions, and checks that its records are those known. The
 * library stays loaded for good: CUPTI cannot be unloaded. False: `sentence`. */
bool
film_cupti_load(const film_cupti_options *options, film_cupti_functions *out,
                char *sentence);

/* True while nobody else has CUPTI. */
bool
film_cupti_is_free(const film_cupti_functions *cupti, int *result);

/* Writes records of the calls that start work on the device, of one domain: only of such
 * calls CUPTI tells the ids pushed. */
void
film_cupti_watch_calls(const film_cupti_functions *cupti, uint32_t domain, bool watch);

#endif
