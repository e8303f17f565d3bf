/* cupti.c: buffers to a queue of records.
 *
 * What ties a record to its operation is a record of its own (EXTERNAL), which CUPTI puts
 * before the call that starts the work: correlation of the call, id that was pushed. It is
 * in the buffer of the thread that called, the work's in another, and either may come first:
 * work whose call is not known yet waits for a few more buffers.
 *
 * CUPTI's callbacks have no argument of ours, so the state is one for the process.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/torch/cupti.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/intern.h"
#include "recorder/torch/cupti_library.h"
#include "recorder/torch/cupti_records.h"

#define BUFFER_BYTES ((size_t)2 << 20)
#define FREE_BUFFERS 8u
#define MOST_RECORDS ((size_t)1 << 20) /* in the queue: 64 MiB */
#define MOST_WAITS 4u           /* buffers that work without an operation waits for */
#define CALLS ((size_t)1 << 17) /* a power of two: calls whose ids are remembered */
#define FLUSH_MS 200u
#define FLUSH_FORCED 1u
#define NAME_BYTES 4096u
/* So many records without an operation, and no other, say that watching the runtime's
 * calls is not enough. */
#define UNLINKED_RECORDS 64u

typedef struct started_call {
    uint64_t id;
    uint32_t correlation; /* 0: none */
} started_call;

typedef struct record_list {
    film_gpu_record *records; /* owned */
    size_t count, capacity;
} record_list;

/* Under the lock, but for what is said. */
static struct {
    pthread_mutex_t lock;
    record_list ready, waiting; /* times are CUPTI's until they are taken */
    started_call *calls;        /* owned; by the low bits of the correlation */
    char **names;               /* owned, and what they point to; [0] is NULL */
    size_t name_count, name_capacity;
    film_intern name_ids;
    uint8_t *free_buffers[FREE_BUFFERS]; /* owned */
    size_t free_count;
    film_cupti_counts counts;
    film_cupti_functions cupti; /* written by begin alone */
    bool watches_driver;        /* take's alone */
} the = {.lock = PTHREAD_MUTEX_INITIALIZER};

_Atomic(size_t) film_cupti_waiting;
static _Atomic(bool) active;     /* records are wanted */
static _Atomic(bool) has_pushed; /* some id, since then */

/* --- what CUPTI calls --------------------------------------------------------------- */

static void
give_buffer(uint8_t **buffer, size_t *size, size_t *most)
{
    *buffer = NULL;
    *most = 0; /* as many records as there is room for */
    pthread_mutex_lock(&the.lock);
    if (the.free_count > 0) {
        *buffer = the.free_buffers[--the.free_count];
    }
    pthread_mutex_unlock(&the.lock);
    if (*buffer == NULL) {
        *buffer = film_alloc_scratch(BUFFER_BYTES);
    }
    *size = *buffer != NULL ? BUFFER_BYTES : 0;
}

static bool
add_record(record_list *list, const film_gpu_record *record)
{
    film_gpu_record *grown;

    if (list->count >= MOST_RECORDS) {
        return false;
    }
    grown = film_grow(list->records, &list->capacity, list->count + 1, sizeof(*grown));
    if (grown == NULL) {
        return false;
    }
    list->records = grown;
    grown[list->count++] = *record;
    return true;
}

/* Kernels are few and run often: each name once. 0: none, or no memory. */
static uint32_t
name_id(const char *name)
{
    size_t length;
    uint64_t hash;
    uint32_t id;
    char **grown, *copy;

    if (name == NULL) {
        return 0;
    }
    length = strnlen(name, NAME_BYTES);
    hash = film_hash(name, length);
    if (film_intern_find(&the.name_ids, hash, &id)) {
        return id;
    }
    grown =
        film_grow(the.names, &the.name_capacity, the.name_count + 2, sizeof(*grown));
    copy = film_alloc(length + 1);
    if (grown != NULL) {
        the.names = grown;
    }
    id = (uint32_t)the.name_count + 1;
    if (grown == NULL || copy == NULL || !film_intern_add(&the.name_ids, hash, id)) {
        film_free(copy);
        return 0;
    }
    memcpy(copy, name, length);
    grown[0] = NULL;
    grown[id] = copy;
    the.name_count = id;
    return id;
}

static uint64_t
operation_of(uint32_t correlation)
{
    const started_call *call = &the.calls[correlation & (CALLS - 1)];

    return call->correlation == correlation ? call->id : 0;
}

static void
add_ready(const film_gpu_record *record)
{
    the.counts.linked += record->operation != 0;
    the.counts.lost += !add_record(&the.ready, record);
}

static void
add_work(const uint8_t *bytes)
{
    film_cupti_work work = film_cupti_read_work(bytes);
    uint32_t kind = film_cupti_kind(bytes);
    film_gpu_record record = {
        .start_ns = work.start,
        .end_ns = work.end,
        .bytes = work.bytes,
        .node = work.node,
        .device = work.device,
        .stream = work.stream,
        .correlation = work.correlation,
        .graph = work.graph,
        .kind = kind == FILM_CUPTI_KERNEL ? FILM_GPU_KERNEL
                : kind == FILM_CUPTI_COPY ? FILM_GPU_COPY
                                          : FILM_GPU_SET,
        .copy = work.copy,
    };

    the.counts.records++;
    if (work.start == 0 || work.end < work.start) {
        the.counts.unfinished++;
        return;
    }
    record.name = name_id(work.name);
    record.operation = operation_of(work.correlation);
    if (record.operation != 0) {
        add_ready(&record);
    }
    else {
        the.counts.lost += !add_record(&the.waiting, &record);
    }
}

/* Work that waits for its call: another buffer has come. */
static void
look_again(bool last)
{
    size_t kept = 0;

    for (size_t i = 0; i < the.waiting.count; i++) {
        film_gpu_record record = the.waiting.records[i];
        record.operation = operation_of(record.correlation);
        if (record.operation != 0 || last || ++record.waited > MOST_WAITS) {
            add_ready(&record);
        }
        else {
            the.waiting.records[kept++] = record;
        }
    }
    the.waiting.count = kept;
}

static void
add_buffer(uint8_t *buffer, size_t valid)
{
    uint8_t *record = NULL;
    uint32_t correlation;
    uint64_t id;
    size_t dropped = 0;

    while (valid > 0 && the.cupti.next(buffer, valid, &record) == FILM_CUPTI_OK) {
        switch (film_cupti_kind(record)) {
        case FILM_CUPTI_KERNEL:
        case FILM_CUPTI_COPY:
        case FILM_CUPTI_SET:
            add_work(record);
            break;
        case FILM_CUPTI_EXTERNAL:
            if (film_cupti_read_external(record, &correlation, &id)) {
                the.calls[correlation & (CALLS - 1)] =
                    (started_call){.id = id, .correlation = correlation};
            }
            break;
        default: /* the calls themselves */
            break;
        }
    }
    look_again(false);
    if (the.cupti.dropped(NULL, 0, &dropped) == FILM_CUPTI_OK) {
        the.counts.lost += dropped;
    }
}

static void
take_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    (void)context, (void)stream, (void)size;
    pthread_mutex_lock(&the.lock);
    if (atomic_load_explicit(&active, memory_order_relaxed)) {
        add_buffer(buffer, valid);
        atomic_store_explicit(&film_cupti_waiting, the.ready.count,
                              memory_order_relaxed);
    }
    if (the.free_count < FREE_BUFFERS) {
        the.free_buffers[the.free_count++] = buffer;
        buffer = NULL;
    }
    pthread_mutex_unlock(&the.lock);
    film_free(buffer);
}

/* --- what the recorder calls -------------------------------------------------------- */

/* Everything but the free buffers, of which CUPTI may ask for more at any time. */
static void
reset(void)
{
    for (size_t i = 1; i <= the.name_count; i++) {
        film_free(the.names[i]);
    }
    film_free(the.names);
    film_intern_reset(&the.name_ids);
    film_free(the.ready.records);
    film_free(the.waiting.records);
    film_free(the.calls);
    the.names = NULL;
    the.name_count = the.name_capacity = 0;
    the.calls = NULL;
    memset(&the.ready, 0, sizeof(the.ready));
    memset(&the.waiting, 0, sizeof(the.waiting));
    memset(&the.counts, 0, sizeof(the.counts));
    the.watches_driver = false;
    atomic_store(&has_pushed, false);
    atomic_store(&film_cupti_waiting, 0);
}

static const uint32_t work_kinds[] = {FILM_CUPTI_KERNEL, FILM_CUPTI_COPY,
                                      FILM_CUPTI_SET, FILM_CUPTI_EXTERNAL};

static void
disable_all(void)
{
    film_cupti_watch_calls(&the.cupti, FILM_CUPTI_RUNTIME_CALLS, false);
    if (the.watches_driver) {
        film_cupti_watch_calls(&the.cupti, FILM_CUPTI_DRIVER_CALLS, false);
    }
    for (size_t i = 0; i < sizeof(work_kinds) / sizeof(*work_kinds); i++) {
        (void)the.cupti.disable(work_kinds[i]);
    }
}

static int
enable_all(void)
{
    int result = the.cupti.callbacks(give_buffer, take_buffer);

    for (size_t i = 0;
         i < sizeof(work_kinds) / sizeof(*work_kinds) && result == FILM_CUPTI_OK; i++) {
        result = the.cupti.enable(work_kinds[i]);
    }
    if (result == FILM_CUPTI_OK) {
        film_cupti_watch_calls(&the.cupti, FILM_CUPTI_RUNTIME_CALLS, true);
        if (the.cupti.flush_period != NULL) {
            (void)the.cupti.flush_period(FLUSH_MS);
        }
    }
    return result;
}

static void
say_result(char *sentence, int result)
{
    const char *text = NULL;

    if (result == FILM_CUPTI_SUBSCRIBED || result == FILM_CUPTI_MAX_LIMIT) {
        snprintf(sentence, FILM_CUPTI_SENTENCE,
                 "another profiler (torch.profiler, nsys) has CUPTI");
        return;
    }
    (void)the.cupti.say(result, &text);
    snprintf(sentence, FILM_CUPTI_SENTENCE, "CUPTI refused: %s",
             text != NULL ? text : "it does not say why");
}

bool
film_cupti_begin(const film_cupti_options *options, char *sentence)
{
    int result;

    if (atomic_load(&active)) {
        snprintf(sentence, FILM_CUPTI_SENTENCE, "the GPU is traced already");
        return false;
    }
    if (!film_cupti_load(options, &the.cupti, sentence)) {
        return false;
    }
    if (!film_cupti_is_free(&the.cupti, &result)) {
        say_result(sentence, result);
        return false;
    }
    pthread_mutex_lock(&the.lock);
    reset();
    the.calls = film_alloc_array(CALLS, sizeof(*the.calls));
    pthread_mutex_unlock(&the.lock);
    if (the.calls == NULL) {
        snprintf(sentence, FILM_CUPTI_SENTENCE, "there is no memory for it");
        return false;
    }
    atomic_store(&active, true);
    result = enable_all();
    if (result != FILM_CUPTI_OK) {
        say_result(sentence, result);
        disable_all();
        atomic_store(&active, false);
        pthread_mutex_lock(&the.lock);
        reset();
        pthread_mutex_unlock(&the.lock);
        return false;
    }
    return true;
}

bool
film_cupti_push(uint64_t id)
{
    if (!atomic_load_explicit(&active, memory_order_relaxed) ||
        the.cupti.push(FILM_CUPTI_OURS, id) != FILM_CUPTI_OK) {
        return false;
    }
    atomic_store_explicit(&has_pushed, true, memory_order_relaxed);
    return true;
}

void
film_cupti_pop(void)
{
    uint64_t last;

    if (the.cupti.pop != NULL) {
        (void)the.cupti.pop(FILM_CUPTI_OURS, &last);
    }
}

/* What CUPTI's clock says when CLOCK_MONOTONIC says 0: of a few tries, the quickest.
 * CUPTI's is CLOCK_REALTIME as a rule, so this changes when somebody sets that. */
static int64_t
clock_offset(void)
{
    uint64_t best = UINT64_MAX;
    int64_t offset = 0;

    for (int i = 0; i < 5; i++) {
        uint64_t theirs = 0, before = film_clock_monotonic_ns(), after;
        if (the.cupti.now(&theirs) != FILM_CUPTI_OK) {
            continue;
        }
        after = film_clock_monotonic_ns();
        if (after - before < best) {
            best = after - before;
            offset = (int64_t)(theirs - (before + (after - before) / 2));
        }
    }
    return offset;
}

/* Where no work could be tied to an operation, the driver's calls are watched too. */
static void
watch_more(void)
{
    bool unlinked;

    pthread_mutex_lock(&the.lock);
    unlinked = the.counts.linked == 0 && atomic_load(&has_pushed) &&
               the.counts.records >= UNLINKED_RECORDS;
    pthread_mutex_unlock(&the.lock);
    if (unlinked && !the.watches_driver) {
        the.watches_driver = true;
        film_cupti_watch_calls(&the.cupti, FILM_CUPTI_DRIVER_CALLS, true);
    }
}

film_gpu_record *
film_cupti_take(bool all, size_t *count)
{
    film_gpu_record *records;
    int64_t offset;

    *count = 0;
    if (!atomic_load(&active)) {
        return NULL;
    }
    if (all) {
        (void)the.cupti.flush(0);
        (void)the.cupti.flush(FLUSH_FORCED);
    }
    watch_more();
    offset = clock_offset();
    pthread_mutex_lock(&the.lock);
    if (all) {
        look_again(true);
    }
    records = the.ready.records;
    *count = the.ready.count;
    memset(&the.ready, 0, sizeof(the.ready));
    atomic_store(&film_cupti_waiting, 0);
    pthread_mutex_unlock(&the.lock);
    for (size_t i = 0; i < *count; i++) {
        records[i].start_ns -= (uint64_t)offset;
        records[i].end_ns -= (uint64_t)offset;
    }
    return records;
}

const char *
film_cupti_name(uint32_t name)
{
    const char *text;

    pthread_mutex_lock(&the.lock);
    text = name > 0 && name <= the.name_count ? the.names[name] : NULL;
    pthread_mutex_unlock(&the.lock);
    return text;
}

void
film_cupti_get_counts(film_cupti_counts *counts)
{
    pthread_mutex_lock(&the.lock);
    *counts = the.counts;
    pthread_mutex_unlock(&the.lock);
}

/* One that has come since has CUPTI now: what it wants recorded is left as it is. */
void
film_cupti_end(void)
{
    int result;

    if (!atomic_load(&active)) {
        return;
    }
    if (film_cupti_is_free(&the.cupti, &result)) {
        disable_all();
        (void)the.cupti.flush(FLUSH_FORCED);
    }
    atomic_store(&active, false);
    pthread_mutex_lock(&the.lock);
    reset();
    pthread_mutex_unlock(&the.lock);
}

void
film_cupti_forget(void)
{
    const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

    atomic_store(&active, false);
    atomic_store(&film_cupti_waiting, 0);
    /* Another thread of the parent may have held the lock and be half way through: what is
     * there is given up, not freed. */
    memset(&the, 0, sizeof(the));
    the.lock = fresh;
}
