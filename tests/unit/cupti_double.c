/* cupti_double.c: see cupti_double.h. A shared library.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cupti_double.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))
#define PACKED __attribute__((packed, aligned(8)))

#define ERROR_INVALID_KIND 21
#define ERROR_MAX_LIMIT 12
#define ERROR_QUEUE_EMPTY 18
#define ERROR_INVALID_PARAMETER 1

typedef struct external_record {
    uint32_t kind, external_kind;
    uint64_t external_id;
    uint32_t correlation, reserved;
} PACKED external_record;

typedef struct call_record {
    uint32_t kind, cbid;
    uint64_t start, end;
    uint32_t process, thread, correlation, result;
} PACKED call_record;

/* CUpti_ActivityKernel10 */
typedef struct kernel_record {
    uint32_t kind;
    uint8_t cache_config, shared_memory_config;
    uint16_t registers;
    uint32_t partitioned_requested, partitioned_executed;
    uint64_t start, end, completed;
    uint32_t device, context, stream;
    int32_t grid[3], block[3], static_shared, dynamic_shared;
    uint32_t local_per_thread, local_total, correlation;
    int64_t grid_id;
    const char *name;
    void *reserved;
    uint64_t queued, submitted;
    uint8_t launch_type, is_shared_requested, shared_carveout_requested, padding;
    uint32_t shared_executed;
    uint64_t graph_node;
    uint32_t shmem_limit, graph;
    void *access_policy;
    uint32_t channel, channel_type, cluster[3], scheduling;
    uint64_t local_total_v2;
    uint32_t max_potential_cluster, max_active_clusters;
} PACKED kernel_record;

/* CUpti_ActivityMemcpy6 */
typedef struct copy_record {
    uint32_t kind;
    uint8_t copy_kind, source_kind, target_kind, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation, runtime_correlation, padding;
    void *reserved;
    uint64_t graph_node;
    uint32_t graph, channel, channel_type, padding2;
    uint64_t copies;
} PACKED copy_record;

/* CUpti_ActivityMemset4 */
typedef struct set_record {
    uint32_t kind, value;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation;
    uint16_t flags, memory_kind;
    uint32_t padding;
    void *reserved;
    uint64_t graph_node;
    uint32_t graph, channel, channel_type, padding2;
} PACKED set_record;

typedef void (*requested_function)(uint8_t **, size_t *, size_t *);
typedef void (*completed_function)(void *, uint32_t, uint8_t *, size_t, size_t);

typedef struct filling {
    uint8_t *buffer;
    size_t size, used;
} filling;

#define KINDS 8
#define NESTED 64

static requested_function requested;
static completed_function completed;
static filling calls, work;
static bool driver_silent[1024], runtime_silent[1024]; /* switched off one by one */
static _Thread_local uint64_t ids[KINDS][NESTED];
static _Thread_local size_t depth[KINDS];

EXPORT cupti_double the_cupti_double;

static const char *const driver_names[] = {"",
                                           "cuInit",
                                           "cuLaunchKernel",
                                           "cuMemcpyAsync",
                                           "cuMemsetD8Async",
                                           "cuGraphAddMemcpyNode",
                                           "cuLaunchHostFunc",
                                           "cuGraphLaunch",
                                           "cuEventRecord"};
static const char *const runtime_names[] = {"", "cudaLaunchKernel_v7000",
                                            "cudaGetLastError_v3020"};

/* --- records ---------------------------------------------------------------------- */

static void
hand_over(filling *from)
{
    filling full = *from;

    memset(from, 0, sizeof(*from));
    if (full.buffer != NULL) {
        the_cupti_double.buffers_out--;
        completed(NULL, 0, full.buffer, full.size, full.used);
    }
}

static void
put_record(filling *to, const void *record, size_t length, size_t stride)
{
    size_t most = 0;

    if (requested == NULL) {
        return;
    }
    if (to->buffer != NULL && to->used + stride > to->size) {
        hand_over(to);
    }
    if (to->buffer == NULL) {
        requested(&to->buffer, &to->size, &most);
        if (to->buffer == NULL) {
            the_cupti_double.dropped++;
            return;
        }
        the_cupti_double.buffers_out++;
    }
    memset(to->buffer + to->used, 0, stride);
    memcpy(to->buffer + to->used, record, length);
    to->used += stride;
}

static void
make_call(uint32_t correlation)
{
    /* As on CUDA 13.0: a call switched on without its kind tells nothing. */
    bool driver = the_cupti_double.enabled[4] && !driver_silent[2];
    bool runtime = the_cupti_double.enabled[5] && !runtime_silent[1] &&
                   !the_cupti_double.only_driver;
    call_record record = {.kind = driver ? 4 : 5, .correlation = correlation};

    if (!driver && !runtime) {
        return;
    }
    for (uint32_t kind = 0; kind < KINDS && the_cupti_double.enabled[39]; kind++) {
        if (depth[kind] > 0) {
            external_record external = {.kind = 39,
                                        .external_kind = kind,
                                        .external_id = ids[kind][depth[kind] - 1],
                                        .correlation = correlation};
            put_record(&calls, &external, sizeof(external), sizeof(external));
        }
    }
    put_record(&calls, &record, sizeof(record), sizeof(record));
}

static void
make_kernel(const char *name, uint32_t device, uint32_t stream, uint64_t start,
            uint64_t end, uint32_t correlation, uint32_t graph, uint64_t node)
{
    kernel_record record = {.kind = 10,
                            .registers = 32,
                            .start = start,
                            .end = end,
                            .completed = end,
                            .device = device,
                            .context = 77,
                            .stream = stream,
                            .grid = {1, 2, 3},
                            .correlation = correlation,
                            .grid_id = 99,
                            .name = name,
                            .graph_node = node,
                            .graph = graph};

    if (the_cupti_double.enabled[10]) {
        put_record(&work, &record, sizeof(record), the_cupti_double.kernel_bytes);
    }
}

static void
make_copy(uint8_t direction, uint64_t bytes, uint32_t stream, uint64_t start,
          uint64_t end, uint32_t correlation)
{
    copy_record record = {.kind = 1,
                          .copy_kind = direction,
                          .source_kind = 2,
                          .bytes = bytes,
                          .start = start,
                          .end = end,
                          .stream = stream,
                          .correlation = correlation,
                          .copies = 1};

    if (the_cupti_double.enabled[1]) {
        put_record(&work, &record, sizeof(record), sizeof(record));
    }
}

static void
make_set(uint64_t bytes, uint32_t stream, uint64_t start, uint64_t end,
         uint32_t correlation)
{
    set_record record = {.kind = 2,
                         .value = 5,
                         .bytes = bytes,
                         .start = start,
                         .end = end,
                         .stream = stream,
                         .correlation = correlation};

    if (the_cupti_double.enabled[2]) {
        put_record(&work, &record, sizeof(record), sizeof(record));
    }
}

static void *
hand_over_thread(void *from)
{
    hand_over(from);
    return NULL;
}

static void
deliver(filling *from)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, hand_over_thread, from) == 0) {
        pthread_join(thread, NULL);
    }
}

static void
deliver_calls(void)
{
    deliver(&calls);
}

static void
deliver_work(void)
{
    deliver(&work);
}

EXPORT cupti_double the_cupti_double = {
    .version = 130001,
    .kernel_bytes = sizeof(kernel_record),
    .call = make_call,
    .kernel = make_kernel,
    .copy = make_copy,
    .set = make_set,
    .deliver_calls = deliver_calls,
    .deliver_work = deliver_work,
};

/* --- what the recorder calls ---------------------------------------------------------- */

int
cuptiGetVersion(uint32_t *version);
int
cuptiGetResultString(int result, const char **text);
int
cuptiSubscribe(void **handle, void *called, void *data);
int
cuptiUnsubscribe(void *handle);
int
cuptiActivityRegisterCallbacks(requested_function request, completed_function done);
int
cuptiActivityEnable(uint32_t kind);
int
cuptiActivityDisable(uint32_t kind);
int
cuptiActivityFlushAll(uint32_t flags);
int
cuptiActivityGetNextRecord(uint8_t *buffer, size_t size, uint8_t **record);
int
cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *count);
int
cuptiGetTimestamp(uint64_t *ns);
int
cuptiActivityPushExternalCorrelationId(uint32_t kind, uint64_t id);
int
cuptiActivityPopExternalCorrelationId(uint32_t kind, uint64_t *last);
int
cuptiActivityEnableDriverApi(uint32_t call, uint8_t enable);
int
cuptiActivityEnableRuntimeApi(uint32_t call, uint8_t enable);
int
cuptiGetCallbackName(uint32_t domain, uint32_t call, const char **name);

EXPORT int
cuptiGetVersion(uint32_t *version)
{
    *version = the_cupti_double.version;
    return 0;
}

EXPORT int
cuptiGetResultString(int result, const char **text)
{
    *text = result == 0 ? "CUPTI_SUCCESS" : "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES";
    return 0;
}

EXPORT int
cuptiSubscribe(void **handle, void *called, void *data)
{
    (void)called, (void)data;
    *handle = &the_cupti_double;
    the_cupti_double.subscriptions += the_cupti_double.subscribe_result == 0;
    return the_cupti_double.subscribe_result;
}

EXPORT int
cuptiUnsubscribe(void *handle)
{
    the_cupti_double.subscriptions--;
    return handle == &the_cupti_double ? 0 : ERROR_INVALID_PARAMETER;
}

EXPORT int
cuptiActivityRegisterCallbacks(requested_function request, completed_function done)
{
    requested = request;
    completed = done;
    return 0;
}

EXPORT int
cuptiActivityEnable(uint32_t kind)
{
    if (the_cupti_double.enable_result != 0) {
        return the_cupti_double.enable_result;
    }
    the_cupti_double.enables++;
    the_cupti_double.enabled[kind] = true;
    return 0;
}

EXPORT int
cuptiActivityDisable(uint32_t kind)
{
    the_cupti_double.disables++;
    the_cupti_double.enabled[kind] = false;
    return 0;
}

EXPORT int
cuptiActivityFlushAll(uint32_t flags)
{
    (void)flags;
    the_cupti_double.flushes++;
    hand_over(&work);
    hand_over(&calls);
    return 0;
}

static size_t
length_of(uint32_t kind)
{
    switch (kind) {
    case 1:
        return sizeof(copy_record);
    case 2:
        return sizeof(set_record);
    case 4:
    case 5:
        return sizeof(call_record);
    case 10:
        return the_cupti_double.kernel_bytes;
    case 39:
        return sizeof(external_record);
    default:
        return 0;
    }
}

EXPORT int
cuptiActivityGetNextRecord(uint8_t *buffer, size_t size, uint8_t **record)
{
    uint32_t kind;
    uint8_t *next = buffer;

    if (*record != NULL) {
        memcpy(&kind, *record, sizeof(kind));
        next = *record + length_of(kind);
    }
    if (next >= buffer + size) {
        return ERROR_MAX_LIMIT;
    }
    memcpy(&kind, next, sizeof(kind));
    if (length_of(kind) == 0) {
        return ERROR_INVALID_KIND;
    }
    *record = next;
    return 0;
}

EXPORT int
cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *count)
{
    (void)context, (void)stream;
    *count = the_cupti_double.dropped;
    the_cupti_double.dropped = 0;
    return 0;
}

EXPORT int
cuptiGetTimestamp(uint64_t *ns)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    *ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec +
          the_cupti_double.clock_ahead;
    return 0;
}

EXPORT int
cuptiActivityPushExternalCorrelationId(uint32_t kind, uint64_t id)
{
    if (kind >= KINDS || depth[kind] >= NESTED) {
        return ERROR_INVALID_PARAMETER;
    }
    ids[kind][depth[kind]++] = id;
    return 0;
}

EXPORT int
cuptiActivityPopExternalCorrelationId(uint32_t kind, uint64_t *last)
{
    if (kind >= KINDS || depth[kind] == 0) {
        return ERROR_QUEUE_EMPTY;
    }
    *last = ids[kind][--depth[kind]];
    return 0;
}

static int
silence(bool *silent, size_t *count, uint32_t call, uint8_t enable)
{
    *count += (size_t)(enable == 0) - (size_t)silent[call];
    silent[call] = enable == 0;
    return 0;
}

EXPORT int
cuptiActivityEnableDriverApi(uint32_t call, uint8_t enable)
{
    return silence(driver_silent, &the_cupti_double.silent_driver_calls, call, enable);
}

EXPORT int
cuptiActivityEnableRuntimeApi(uint32_t call, uint8_t enable)
{
    return silence(runtime_silent, &the_cupti_double.silent_runtime_calls, call,
                   enable);
}

EXPORT int
cuptiGetCallbackName(uint32_t domain, uint32_t call, const char **name)
{
    size_t count = domain == 1 ? sizeof(driver_names) / sizeof(*driver_names)
                               : sizeof(runtime_names) / sizeof(*runtime_names);

    if (call == 0 || call >= count) {
        return ERROR_INVALID_PARAMETER;
    }
    *name = domain == 1 ? driver_names[call] : runtime_names[call];
    return 0;
}
