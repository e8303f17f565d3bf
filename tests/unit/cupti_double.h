/* cupti_double.h: a CUPTI for tests: a library with the functions that the recorder
 * calls, which does what it is told. Its records have their own declarations, from what
 * NVIDIA documents, so that the recorder's distances are put to the test.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_TEST_CUPTI_DOUBLE_H
#define FILMSTRIP_TEST_CUPTI_DOUBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cupti_double {
    uint32_t version;
    size_t kernel_bytes;  /* what it takes a kernel's record to be */
    int subscribe_result; /* not 0: another client has it */
    int enable_result;
    bool only_driver;     /* ids are told of the driver's calls alone */
    uint64_t clock_ahead; /* of CLOCK_MONOTONIC */
    /* What was asked of it. */
    bool enabled[64];
    size_t silent_driver_calls, silent_runtime_calls; /* switched off one by one */
    int enables, disables, flushes, subscriptions;
    size_t buffers_out, dropped;

    /* A call of CUDA's by this thread. */
    void (*call)(uint32_t correlation);
    void (*kernel)(const char *name, uint32_t device, uint32_t stream, uint64_t start,
                   uint64_t end, uint32_t correlation, uint32_t graph, uint64_t node);
    void (*copy)(uint8_t direction, uint64_t bytes, uint32_t stream, uint64_t start,
                 uint64_t end, uint32_t correlation);
    void (*set)(uint64_t bytes, uint32_t stream, uint64_t start, uint64_t end,
                uint32_t correlation);
    /* Hands the buffers over, in a thread of its own. */
    void (*deliver_calls)(void);
    void (*deliver_work)(void);
} cupti_double;

#endif
