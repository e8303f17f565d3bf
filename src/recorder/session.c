/* session.c: see session.h.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "recorder/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/host.h"
#include "recorder/capture.h"
#include "recorder/code_registry.h"
#include "recorder/exceptions.h"
#include "recorder/fork.h"
#include "recorder/generators.h"
#include "recorder/hooks.h"
#include "recorder/tasks.h"
#include "recorder/thread_context.h"
#include "recorder/torch/compiled.h"
#include "recorder/torch/device.h"
#include "recorder/torch/hook.h"
#include "recorder/torch/modules.h"
#include "recorder/torch/observer.h"
#include "recorder/torch/operation_rows.h"
#include "recorder/torch/tensors.h"

#define CHILD_NAME_TRIES 1000

/* How much of a value is kept where nobody says: bytes of a text, items, levels. */
#define TEXT_BYTES 256u
#define ITEMS 32u
#define ITEM_DEPTH 3u

/* Address space there must be at the start, for windows and tables and for the program
 * beside them: where a limit leaves less, the program would be the one that fails. */
#define ROOM_BYTES ((size_t)8 << 20)

static const _Atomic(uint64_t) no_floor;

film_session film_the_session = {
    .value_floor = &no_floor,
    .token = FILM_TOKEN_OFF,
    .extra_index = -1,
    .lifecycle = PTHREAD_MUTEX_INITIALIZER,
};
PyThreadState *const volatile *film_the_gil_holder;

void
film_session_options_reset(film_session_options *options)
{
    free(options->path);
    free(options->home);
    film_targets_reset(&options->targets);
    film_redaction_reset(&options->redaction);
    film_string_list_reset(&options->meta);
    *options = (film_session_options){0};
}

const char *
film_session_short_name(const char *path, char *to, size_t capacity)
{
    const char *home = film_the_session.options.home;
    size_t length = home == NULL ? 0 : strlen(home);

    while (length > 1 && home[length - 1] == '/') {
        length--;
    }
    if (length < 2 || strncmp(path, home, length) != 0 || path[length] != '/' ||
        strlen(path + length) + 2 > capacity) {
        return path;
    }
    (void)snprintf(to, capacity, "~%s", path + length);
    return to;
}

bool
film_session_begin_values(void)
{
    const film_session_options *options = &film_the_session.options;
    film_capture_limits limits = {
        .text_bytes = options->text_bytes != 0 ? options->text_bytes : TEXT_BYTES,
        .items = options->items != 0 ? options->items : ITEMS,
        .depth = options->item_depth != 0 ? options->item_depth : ITEM_DEPTH,
        .contents = options->values == FILM_VALUES_ALL,
    };

    if (!film_the_session.has_tables) {
        film_the_session.has_tables = film_capture_begin(&limits);
    }
    return film_the_session.has_tables;
}

/* What was known of values is not known any more. */
static void
end_values(film_capture_counts *counts)
{
    if (film_the_session.has_tables) {
        film_capture_end(counts);
        film_tensors_reset();
        film_modules_reset();
        film_operation_rows_reset();
        film_compiled_reset();
        film_observer_reset();
    }
    film_the_session.has_tables = film_the_session.captures = false;
}

/* What level values needs; without memory for it the recording is one of lines. */
static void
begin_capture(void)
{
    film_session *session = &film_the_session;

    session->unknown_edges = 0;
    session->plans_missing = 0;
    end_values(NULL);
    session->captures =
        session->options.level >= FILM_LEVEL_VALUES && film_session_begin_values();
    if (session->operations) { /* in a child */
        session->operations = film_session_begin_values();
        film_tensors_begin(session->options.torch_values);
    }
}

/* The counts of level values, as facts about the recording. */
static void
end_capture(void)
{
    film_session *session = &film_the_session;
    film_capture_counts counts = {0};
    char numbers[4][24];
    film_meta_pair pairs[] = {{"unknown_edges", numbers[0]},
                              {"plans_missing", numbers[1]},
                              {"values_cut", numbers[2]},
                              {"objects_evicted", numbers[3]}};

    if (!session->has_tables) {
        return;
    }
    end_values(&counts);
    (void)snprintf(numbers[0], sizeof(numbers[0]), "%llu",
                   (unsigned long long)session->unknown_edges);
    (void)snprintf(numbers[1], sizeof(numbers[1]), "%llu",
                   (unsigned long long)session->plans_missing);
    (void)snprintf(numbers[2], sizeof(numbers[2]), "%llu",
                   (unsigned long long)counts.cut);
    (void)snprintf(numbers[3], sizeof(numbers[3]), "%llu",
                   (unsigned long long)counts.evicted);
    film_writer_meta(session->writer, pairs, sizeof(pairs) / sizeof(pairs[0]));
}

/* A new token; with a new generation too, everything described so far is forgotten. */
static void
renew(bool new_generation)
{
    film_session *session = &film_the_session;

    if (new_generation) {
        session->generation = ++session->counter;
        film_code_registry_reset();
        film_generators_reset();
        film_tasks_reset();
        film_exception_reset();
    }
    session->token = session->paused ? FILM_TOKEN_OFF : ++session->counter;
}

static void
write_meta(const film_string_list *meta)
{
    size_t count = meta->count / 2;
    film_meta_pair *pairs = calloc(count + 1, sizeof(*pairs));

    if (pairs == NULL) {
        return;
    }
    for (size_t index = 0; index < count; index++) {
        pairs[index].key = meta->items[2 * index];
        pairs[index].value = meta->items[2 * index + 1];
    }
    film_writer_meta(film_the_session.writer, pairs, count);
    free(pairs);
}

/* Readers lay recordings of one host on one time line by their monotonic clocks. A
 * recording that cannot tell is laid there by its wall clock. */
static void
note_host(film_string_list *meta)
{
    char hash[FILM_HOST_HASH_BYTES];

    if (film_host_hash(hash) && film_string_list_add(meta, "host_hash") &&
        !film_string_list_add(meta, hash)) {
        free(meta->items[--meta->count]);
    }
}

bool
film_session_has_stopped(void)
{
    return film_the_session.writer != NULL &&
           film_writer_has_stopped(film_the_session.writer);
}

static film_status
open_writer(const char *path, bool replace, film_error *error)
{
    film_session *session = &film_the_session;
    film_writer_options options = {
        .path = path,
        .replace = replace,
        .ring_bytes = session->options.ring_bytes,
        .tick_ns = session->options.tick_ns,
        .python_version = PY_VERSION_HEX,
        .level = session->options.level,
        .redaction = &session->options.redaction,
    };
    film_writer *writer = NULL;
    film_status status = film_writer_open(&options, &writer, error);

    if (status == FILM_OK) {
        session->writer = writer;
        session->value_floor = film_writer_value_floor_place(writer);
        session->started_ns = film_clock_monotonic_ns();
        write_meta(&session->options.meta);
        if (film_session_has_stopped()) {
            /* Better no run than one that is not recorded. */
            session->writer = NULL;
            session->value_floor = &no_floor;
            status = film_writer_close(writer, NULL, 0, error);
            (void)unlink(path); /* ours, and empty */
            return status == FILM_OK ? FILM_IO : status;
        }
        renew(true);
        begin_capture();
    }
    return status;
}

static void
set_open_error(film_status status, const film_error *error, const char *path)
{
    PyObject *type = PyExc_OSError;

    if (status == FILM_EXISTS) {
        type = PyExc_FileExistsError;
    }
    else if (status == FILM_NO_MEMORY) {
        type = PyExc_MemoryError;
    }
    PyErr_Format(type, "cannot record to %s: %s", path, error->message);
}

/* Forgets the recording without touching its file. */
static void
forget(void)
{
    film_session *session = &film_the_session;

    end_values(NULL);
    session->token = FILM_TOKEN_OFF;
    session->writer = NULL;
    session->value_floor = &no_floor;
    session->paused = false;
    session->forked = false;
    session->generation = ++session->counter;
    film_code_registry_reset();
    film_generators_reset();
    film_tasks_reset();
    film_exception_reset();
    film_plan_forget_drafts();
    film_session_options_reset(&session->options);
    free(session->child_path);
    session->child_path = NULL;
}

/* Children are named train.PID.film: the length of "train" in "train.film", and also in
 * "train.PID.film" if that is this process, itself a child. */
static size_t
base_length_of(const char *path)
{
    size_t length = strlen(path), name;
    char own[32];

    if (length > 5 && strcmp(path + length - 5, ".film") == 0) {
        length -= 5;
    }
    (void)snprintf(own, sizeof(own), ".%ld", (long)getpid());
    for (name = length; name > 0 && path[name - 1] >= '0' && path[name - 1] <= '9';) {
        name--;
    }
    /* A suffix -2 and the like comes after the number of the process. */
    if (name == length || name == 0 || path[name - 1] != '-') {
        name = length;
    }
    else {
        name--;
    }
    if (name > strlen(own) &&
        strncmp(path + name - strlen(own), own, strlen(own)) == 0) {
        return name - strlen(own);
    }
    return length;
}

static bool
prepare_process(void)
{
    film_session *session = &film_the_session;

    if (!film_code_registry_prepare()) {
        return false;
    }
    if (!film_context_prepare() || !film_fork_prepare()) {
        PyErr_SetString(PyExc_MemoryError, "no memory to record this process");
        return false;
    }
    if (session->name_key == NULL) {
        session->name_key = PyUnicode_InternFromString("__name__");
    }
    if (session->file_key == NULL) {
        session->file_key = PyUnicode_InternFromString("__file__");
    }
    return session->name_key != NULL && session->file_key != NULL;
}

static void
remove_hooks(void)
{
    film_torch_unhook();
    film_hooks_remove();
}

static bool
has_room(void)
{
    void *room = mmap(NULL, ROOM_BYTES, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (room == MAP_FAILED) {
        return false;
    }
    (void)munmap(room, ROOM_BYTES);
    return true;
}

bool
film_session_start(film_session_options *options)
{
    film_session *session = &film_the_session;
    film_error error = {0};
    film_status status;

    if (film_session_is_active()) {
        PyErr_Format(PyExc_RuntimeError, "a recording is already being written to %s",
                     film_session_path());
        film_session_options_reset(options);
        return false;
    }
    if (!has_room()) {
        PyErr_Format(PyExc_MemoryError,
                     "cannot record to %s: too little memory is left", options->path);
        film_session_options_reset(options);
        return false;
    }
    film_compat_prepare();
    if (!prepare_process() || !film_hooks_reserve()) {
        film_session_options_reset(options);
        return false;
    }
    session->options = *options;
    *options = (film_session_options){0};
    session->base_length = base_length_of(session->options.path);
    note_host(&session->options.meta);
    status = open_writer(session->options.path, session->options.replace, &error);
    if (status != FILM_OK) {
        set_open_error(status, &error, session->options.path);
        film_hooks_remove();
        forget();
        return false;
    }
    /* The thread that starts the recording is the file's first. */
    (void)film_context_ready(film_compat_current_frame());
    film_torch_hook();
    if (!film_hooks_install()) {
        film_saved_error saved;
        film_writer_stats stats;
        char *path = NULL;

        film_compat_save_error(&saved);
        (void)film_session_stop(NULL, &stats, &path);
        free(path);
        film_compat_restore_error(&saved);
        return false;
    }
    return true;
}

bool
film_session_stop(const film_string_list *meta, film_writer_stats *stats, char **path)
{
    film_session *session = &film_the_session;
    film_writer *writer;

    *path = NULL;
    *stats = (film_writer_stats){0};
    if (session->writer == NULL) {
        remove_hooks(); /* a child that is not recorded may still have them */
        return false;
    }
    if (session->forked) {
        /* A child in which nothing happened: it gets no file. */
        remove_hooks();
        film_device_forget();
        film_writer_abandon(session->writer);
        forget();
        return false;
    }
    film_hooks_check_control();
    remove_hooks();
    film_device_end();
    end_capture();
    if (meta != NULL) {
        write_meta(meta);
    }
    film_writer_get_stats(session->writer, stats);
    *path = strdup(film_session_path());
    session->had_recording = true;
    writer = session->writer;
    forget();
    /* From here on no event reaches the writer: appends need its token and the GIL. */
    Py_BEGIN_ALLOW_THREADS pthread_mutex_lock(&session->lifecycle);
    {
        film_error error = {0};

        if (film_writer_close(writer, NULL, 0, &error) != FILM_OK) {
            stats->stopped = true;
        }
    }
    pthread_mutex_unlock(&session->lifecycle);
    Py_END_ALLOW_THREADS return true;
}

bool
film_session_is_active(void)
{
    film_session *session = &film_the_session;

    if (session->forked) {
        return film_session_take_over_child();
    }
    return session->writer != NULL;
}

const char *
film_session_path(void)
{
    const film_session *session = &film_the_session;

    return session->child_path != NULL ? session->child_path : session->options.path;
}

bool
film_session_pause(void)
{
    bool was_paused = film_the_session.paused;

    film_the_session.paused = true;
    film_the_session.token = FILM_TOKEN_OFF;
    return !was_paused;
}

void
film_session_resume(void)
{
    film_session *session = &film_the_session;

    session->paused = false;
    if (film_session_is_active()) {
        renew(false);
    }
}

void
film_session_lost_control(const char *reason, uint64_t count)
{
    film_session *session = &film_the_session;
    film_context *context;

    if (!film_session_is_active()) {
        return;
    }
    context = film_context_ready(film_compat_current_frame());
    if (context != NULL) {
        (void)film_append_lost(
            context->thread, FILM_KIND_LOST_CONTROL, count,
            film_writer_string(session->writer, reason, strlen(reason)));
    }
}

/* Hooks of a process that is not recorded any more come off where Python code may be
 * called: not within an event. */
static int
remove_hooks_later(void *Py_UNUSED(unused))
{
    if (film_the_session.writer == NULL) {
        remove_hooks();
    }
    return 0;
}

static film_status
open_child(film_error *error)
{
    film_session *session = &film_the_session;
    const char *path = session->options.path;
    size_t base = session->base_length;
    film_status status = FILM_EXISTS;
    char *name = malloc(base + 64);

    if (name == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "no memory");
    }
    for (int attempt = 1; attempt < CHILD_NAME_TRIES && status == FILM_EXISTS;
         attempt++) {
        char suffix[16] = "";

        if (attempt > 1) {
            (void)snprintf(suffix, sizeof(suffix), "-%d", attempt);
        }
        (void)snprintf(name, base + 64, "%.*s.%ld%s.film", (int)base, path,
                       (long)getpid(), suffix);
        status = open_writer(name, false, error);
    }
    if (status == FILM_OK) {
        /* The parent's name stays the base for this child's children. */
        free(session->child_path);
        session->child_path = name;
    }
    else {
        free(name);
    }
    return status;
}

bool
film_session_take_over_child(void)
{
    film_session *session = &film_the_session;
    film_writer *parent = session->writer;
    film_error error = {0};

    film_device_forget();
    session->forked = false;
    session->token = FILM_TOKEN_OFF;
    session->writer = NULL;
    session->value_floor = &no_floor;
    film_writer_abandon(parent);
    if (session->options.children && open_child(&error) == FILM_OK) {
        return true;
    }
    forget();
    (void)Py_AddPendingCall(remove_hooks_later, NULL);
    return false;
}
