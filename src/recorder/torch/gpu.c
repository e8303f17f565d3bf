/* gpu.c: records in the order they began, each to the track it fits on.
 *
 * Rows of a track follow one another in time. Records come in batches, so one may begin
 * before what its track has been told already (its buffer came late, or it ran beside it):
 * it goes to the stream's next track, where it is alone.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/torch/gpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "format/token.h"

#define TRACKS 512u
#define TRACKS_OF_STREAM 8u
#define EVENT_BITS 40u
#define THREAD_BITS 16u
#define NAME_TEXT 1000u

/* What is told of a record, by name; as bits the index of `names`. */
enum { TELLS_OP = 1, TELLS_BYTES = 2, TELLS_GRAPH = 4, TELLS_SETS = 8 };

typedef struct gpu_track {
    film_thread *thread; /* the writer's */
    uint32_t device, stream;
    uint64_t last_ns; /* when what was told last had ended */
} gpu_track;

/* Raw ticks of the recording's clock at a time of CLOCK_MONOTONIC. */
typedef struct raw_clock {
    uint64_t raw, ns;
    double raw_per_ns;
} raw_clock;

static struct {
    film_writer *writer; /* borrowed; NULL: nothing is traced */
    gpu_track tracks[TRACKS];
    size_t track_count;
    raw_clock first;
    uint32_t names[TELLS_SETS]; /* string ids + 1 */
    uint32_t *functions;        /* owned; of names of kernels: string ids + 1 */
    size_t function_count;
    uint64_t session; /* ids of another one are not of this recording */
    uint64_t untold;
} gpu;

/* --- ids ---------------------------------------------------------------------------- */

bool
film_gpu_enter(const film_thread *thread)
{
    uint64_t number = (film_thread_next_frame(thread) >> FILM_FRAME_SHIFT) + 1;
    uint64_t event = thread->events;

    if (number >> THREAD_BITS != 0 || event >> EVENT_BITS != 0) {
        return false;
    }
    return film_cupti_push(gpu.session << (THREAD_BITS + EVENT_BITS) |
                           number << EVENT_BITS | event);
}

void
film_gpu_leave(void)
{
    film_cupti_pop();
}

/* --- time --------------------------------------------------------------------------- */

static raw_clock
clock_now(void)
{
    const film_clock *clock = film_writer_clock(gpu.writer);
    raw_clock now = gpu.first;

    film_clock_pair(clock, &now.raw, &now.ns);
    if (gpu.first.ns != 0 && now.ns > gpu.first.ns + 1000000000u) {
        now.raw_per_ns =
            (double)(now.raw - gpu.first.raw) / (double)(now.ns - gpu.first.ns);
    }
    return now;
}

static uint64_t
raw_at(const raw_clock *now, uint64_t ns)
{
    double raw = (double)(int64_t)(ns - now->ns) * now->raw_per_ns;

    if (raw < 0) {
        return (double)now->raw > -raw ? now->raw - (uint64_t)-raw : 0;
    }
    return now->raw + (uint64_t)raw;
}

/* --- names -------------------------------------------------------------------------- */

static uint32_t
string_id(const char *text)
{
    return film_writer_string(gpu.writer, text, strlen(text));
}

typedef char *(*demangle_function)(const char *, char *, size_t *, int *);

/* As C++ writes it, where its library is there: torch has loaded it. NULL: it is not, or
 * the name is C's ("a" would be a signed char). The caller frees it, by free(). */
static char *
demangled(const char *name)
{
    demangle_function demangle;
    void *library = NULL, *found = NULL;
    char *text = NULL;
    int status = 0;

    if (strncmp(name, "_Z", 2) == 0) {
        library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
    }
    if (library != NULL) {
        found = dlsym(library, "__cxa_demangle");
    }
    if (found != NULL) {
        memcpy(&demangle, &found, sizeof(demangle));
        text = demangle(name, NULL, NULL, &status);
    }
    if (library != NULL) {
        dlclose(library);
    }
    return text;
}

/* Once for each name. */
static uint32_t
kernel_id(uint32_t name)
{
    const char *mangled = film_cupti_name(name);
    char *text;

    if (mangled == NULL) {
        return string_id("kernel");
    }
    if (name >= gpu.function_count) {
        size_t capacity = gpu.function_count;
        uint32_t *grown =
            film_grow(gpu.functions, &capacity, name + 1u, sizeof(*grown));
        if (grown == NULL) {
            return string_id("kernel");
        }
        memset(grown + gpu.function_count, 0,
               (capacity - gpu.function_count) * sizeof(*grown));
        gpu.functions = grown;
        gpu.function_count = capacity;
    }
    if (gpu.functions[name] == 0) {
        text = demangled(mangled);
        gpu.functions[name] =
            film_writer_string(gpu.writer, text != NULL ? text : mangled,
                               strnlen(text != NULL ? text : mangled, NAME_TEXT)) +
            1;
        free(text);
    }
    return gpu.functions[name] - 1;
}

static uint32_t
function_id(const film_gpu_record *record)
{
    static const char *const copies[] = {"Memcpy",      "Memcpy HtoD", "Memcpy DtoH",
                                         "Memcpy HtoA", "Memcpy AtoH", "Memcpy AtoA",
                                         "Memcpy AtoD", "Memcpy DtoA", "Memcpy DtoD",
                                         "Memcpy HtoH", "Memcpy PtoP"};

    switch ((int)record->kind) {
    case FILM_GPU_KERNEL:
        return kernel_id(record->name);
    case FILM_GPU_COPY:
        return string_id(copies[record->copy <= 10 ? record->copy : 0]);
    default:
        return string_id("Memset");
    }
}

static uint32_t
names_id(unsigned tells)
{
    static const char *const texts[TELLS_SETS] = {"",
                                                  "thread,event",
                                                  "bytes",
                                                  "thread,event,bytes",
                                                  "graph,node",
                                                  "thread,event,graph,node",
                                                  "bytes,graph,node",
                                                  "thread,event,bytes,graph,node"};

    if (gpu.names[tells] == 0) {
        gpu.names[tells] = string_id(texts[tells]) + 1;
    }
    return gpu.names[tells] - 1;
}

/* --- tracks ------------------------------------------------------------------------- */

static gpu_track *
new_track(const film_gpu_record *record, unsigned number, const raw_clock *now)
{
    gpu_track *track = &gpu.tracks[gpu.track_count];
    char name[64], more[16] = "";

    if (gpu.track_count >= TRACKS) {
        return NULL;
    }
    if (number > 1) {
        snprintf(more, sizeof(more), " (%u)", number);
    }
    snprintf(name, sizeof(name), "cuda:%u stream %u%s", (unsigned)record->device,
             (unsigned)record->stream, more);
    track->thread =
        film_writer_track_begin(gpu.writer, name, raw_at(now, record->start_ns));
    if (track->thread == NULL) {
        return NULL;
    }
    track->device = record->device;
    track->stream = record->stream;
    gpu.track_count++;
    return track;
}

/* One that had ended when the record began; NULL: there is none, and no more may be. */
static gpu_track *
track_of(const film_gpu_record *record, const raw_clock *now)
{
    unsigned of_stream = 0;

    for (size_t i = 0; i < gpu.track_count; i++) {
        gpu_track *track = &gpu.tracks[i];
        if (track->device == record->device && track->stream == record->stream) {
            if (track->last_ns <= record->start_ns) {
                return track;
            }
            of_stream++;
        }
    }
    return of_stream < TRACKS_OF_STREAM ? new_track(record, of_stream + 1, now) : NULL;
}

/* --- records ------------------------------------------------------------------------ */

static void
write_record(const film_gpu_record *record, const raw_clock *now)
{
    uint8_t tokens[5 * FILM_TOKEN_MAX], *to = tokens;
    unsigned tells = 0;
    uint32_t count = 0;
    gpu_track *track = track_of(record, now);
    film_op_row op = {.offset = FILM_NO_OFFSET};

    if (track == NULL) {
        gpu.untold++;
        return;
    }
    if (record->operation != 0 &&
        record->operation >> (THREAD_BITS + EVENT_BITS) == gpu.session) {
        uint64_t thread = record->operation >> EVENT_BITS & ((1u << THREAD_BITS) - 1);
        uint64_t event = record->operation & ((UINT64_C(1) << EVENT_BITS) - 1);
        to = film_token_put_int(to, (int64_t)thread);
        to = film_token_put_int(to, (int64_t)event);
        tells |= TELLS_OP;
        count += 2;
    }
    if (record->kind != FILM_GPU_KERNEL) {
        to = film_token_put_int(to, (int64_t)record->bytes);
        tells |= TELLS_BYTES;
        count++;
    }
    if (record->graph != 0) {
        to = film_token_put_int(to, (int64_t)record->graph);
        to = film_token_put_int(to, (int64_t)record->node);
        tells |= TELLS_GRAPH;
        count += 2;
    }
    op.function = function_id(record);
    op.names = names_id(tells);
    if (film_track_op(track->thread, raw_at(now, record->start_ns), &op, count, tokens,
                      (size_t)(to - tokens))) {
        (void)film_track_op_end(track->thread, raw_at(now, record->end_ns), 1);
    }
    track->last_ns = record->end_ns;
}

static int
compare_starts(const void *left, const void *right)
{
    const film_gpu_record *a = left, *b = right;

    if (a->start_ns != b->start_ns) {
        return a->start_ns < b->start_ns ? -1 : 1;
    }
    return (a->correlation > b->correlation) - (a->correlation < b->correlation);
}

static void
write_all(bool last)
{
    size_t count;
    film_gpu_record *records = film_cupti_take(last, &count);
    raw_clock now;

    if (count == 0 || gpu.writer == NULL) {
        film_free(records);
        return;
    }
    now = clock_now();
    qsort(records, count, sizeof(*records), compare_starts);
    for (size_t i = 0; i < count; i++) {
        write_record(&records[i], &now);
    }
    film_free(records);
}

/* --- the whole ---------------------------------------------------------------------- */

static void
reset(void)
{
    uint64_t session = gpu.session;

    film_free(gpu.functions);
    memset(&gpu, 0, sizeof(gpu));
    gpu.session = session;
}

bool
film_gpu_begin(film_writer *writer, const film_cupti_options *options, char *sentence)
{
    if (!film_cupti_begin(options, sentence)) {
        return false;
    }
    reset();
    gpu.session = (gpu.session + 1) & 0xff;
    gpu.writer = writer;
    gpu.first = clock_now();
    gpu.first.raw_per_ns =
        film_clock_frequency(film_writer_clock(writer)) /
        (1e9 * (double)(UINT64_C(1) << film_writer_clock(writer)->shift));
    return true;
}

void
film_gpu_write(void)
{
    if (gpu.writer != NULL) {
        write_all(false);
    }
}

/* What is missing is told on the first track. */
static void
tell_lost(void)
{
    film_cupti_counts counts;
    uint64_t lost;

    film_cupti_get_counts(&counts);
    lost = counts.lost + counts.unfinished + gpu.untold;
    if (lost > 0 && gpu.track_count > 0) {
        (void)film_append_lost(gpu.tracks[0].thread, FILM_KIND_LOST, lost,
                               string_id("work of the GPU without a record"));
    }
}

void
film_gpu_end(void)
{
    if (gpu.writer == NULL) {
        return;
    }
    write_all(true);
    tell_lost();
    for (size_t i = 0; i < gpu.track_count; i++) {
        film_writer_thread_end(gpu.tracks[i].thread);
    }
    film_cupti_end();
    reset();
}

void
film_gpu_forget(void)
{
    if (gpu.writer != NULL) {
        film_cupti_forget();
        reset();
    }
}
