/* code_registry.c: see code_registry.h. Everything here happens once per code object
 * and recording.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "recorder/code_registry.h"

#include <stdlib.h>
#include <string.h>

#include "format/collectives.h"
#include "recorder/catches.h"
#include "recorder/hooks.h"
#include "recorder/plan.h"
#include "recorder/text.h"
#include "recorder/torch/api_calls.h"
#include "recorder/torch/compiled.h"
#include "recorder/torch/hook.h"
#include "recorder/variables.h"

#define FILE_BUCKETS 256u /* a power of two; programs have hundreds of files */
#define CODE_NAME_BYTES 512
#define SHORT_NAME_BYTES 4096u

/* A file that code came from, by its co_filename. */
typedef struct known_file {
    struct known_file *next;
    char *file; /* owned; as the code has it, file name bytes */
    char *real; /* owned; resolved, or the same text */
    bool source_told;
} known_file;

/* So many at a time: text that is compiled under a new name each time brings a file
 * without end. */
#define MOST_FILES 4096u
static known_file *files[FILE_BUCKETS];
static size_t file_count;

/* For code that cannot be remembered. Never written to. */
static film_code no_target;

film_code *film_codes_watched;

/* Plans of code objects that died. A frame that ended unseen may still be on a shadow
 * stack with its plan, so the newest dead ones are kept a while. */
#define DEAD_PLANS 1024u
/* How often a code object is planned anew in a recording. */
#define MOST_PLANS 8u
static struct {
    film_plan *plans[DEAD_PLANS];
    size_t next;
} graveyard;

static void
unwatch(film_code *known)
{
    if (known->previous_watched != NULL) {
        known->previous_watched->next_watched = known->next_watched;
    }
    else if (film_codes_watched == known) {
        film_codes_watched = known->next_watched;
    }
    if (known->next_watched != NULL) {
        known->next_watched->previous_watched = known->previous_watched;
    }
    known->next_watched = known->previous_watched = NULL;
}

static void
watch(film_code *known)
{
    unwatch(known);
    known->next_watched = film_codes_watched;
    if (film_codes_watched != NULL) {
        film_codes_watched->previous_watched = known;
    }
    film_codes_watched = known;
    film_code_watch_again(known);
}

void
film_code_watch_again(film_code *known)
{
    film_hooks_watch(known->code);
    known->watched = film_compat_instrumentation(known->code);
}

/* A code object dies. */
static void
release(void *pointer)
{
    film_code *known = pointer;

    if (known == NULL) {
        return;
    }
    unwatch(known);
    if (known->plan != NULL) {
        film_plan_free(graveyard.plans[graveyard.next]);
        graveyard.plans[graveyard.next] = known->plan;
        graveyard.next = (graveyard.next + 1) % DEAD_PLANS;
    }
    film_catches_free(known->catches);
    free(known);
}

/* True when the names of a class or module body go to something that is no dict: the
 * program's own code sees each of them, and may keep another value. */
static bool
names_are_odd(const PyCodeObject *code, const film_frame *frame)
{
    PyObject *names =
        (code->co_flags & CO_OPTIMIZED) != 0 ? NULL : film_frame_names(frame);

    return names != NULL && !PyDict_CheckExact(names);
}

/* What the code writes, for this recording. */
static void
plan_writes(film_code *known, const film_frame *frame)
{
    film_plan_wishes wishes = {.scope = film_the_session.options.values,
                               .line_times = film_the_session.options.line_times};

    film_plan_free(known->plan);
    known->plan = NULL;
    if (!known->target || known->calls_only || !film_the_session.captures) {
        return;
    }
    if (frame != NULL) {
        wishes.globals = film_frame_globals(frame);
        wishes.frame = film_frame_code(frame) == (PyObject *)known->code ? frame : NULL;
        wishes.names_on_stack = names_are_odd(known->code, frame);
    }
    known->plan = film_plan_new(known->code, &wishes);
    if (known->plan == NULL) {
        film_the_session.plans_missing++;
        return;
    }
    known->plan->secret_slots = film_secret_slots(known->code);
    if (known->plan->point_count != 0) {
        watch(known);
    }
}

/* Plans once more, with what was found out since. Frames that run now follow the plan
 * they began with. */
static void
plan_again(film_code *known, const film_frame *frame)
{
    film_plan_wishes wishes = {
        .globals = frame == NULL ? NULL : film_frame_globals(frame),
        .names_on_stack =
            known->plan->names_on_stack ||
            (frame != NULL && film_frame_code(frame) == (PyObject *)known->code &&
             names_are_odd(known->code, frame)),
        .scope = film_the_session.options.values,
        .line_times = film_the_session.options.line_times,
        .every_place = known->plan->every_place || known->strayed,
        .earlier = known->plan,
    };
    film_plan *plan;

    known->plan_count++;
    plan = film_plan_new(known->code, &wishes);
    if (plan == NULL) {
        return; /* the earlier one is as good as before */
    }
    for (uint32_t unit = 0; unit < plan->unit_count; unit++) {
        plan->flags[unit] |= known->plan->flags[unit] & FILM_PLACE_ON_STACK;
    }
    plan->secret_slots = film_secret_slots(known->code);
    plan->older = known->plan;
    known->plan = plan;
    if (plan->point_count != 0) {
        watch(known);
    }
}

void
film_code_plan_again(film_code *known, bool strayed)
{
    if (known->plan == NULL || known->plan_count >= MOST_PLANS ||
        known->generation != film_the_session.generation) {
        return;
    }
    known->strayed |= strayed;
    /* Found out of date at its next call, where events may be changed. */
    known->outdated = known->generation;
    known->generation = 0;
}

bool
film_code_registry_prepare(void)
{
    if (film_the_session.extra_index < 0) {
        film_the_session.extra_index = film_compat_request_extra_index(release);
    }
    if (film_the_session.extra_index < 0) {
        PyErr_SetString(PyExc_RuntimeError,
                        "this interpreter has no free place for data of code objects");
        return false;
    }
    return true;
}

void
film_code_registry_reset(void)
{
    for (size_t index = 0; index < FILE_BUCKETS; index++) {
        while (files[index] != NULL) {
            known_file *gone = files[index];

            files[index] = gone->next;
            free(gone->file);
            free(gone->real);
            free(gone);
        }
    }
    file_count = 0;
}

/* Before the first file of a code object is looked up: none of them is in use. */
static void
bound_files(void)
{
    if (file_count >= MOST_FILES) {
        film_code_registry_reset();
    }
}

static size_t
bucket_of(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

    for (; *text != '\0'; text++) {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    }
    return (size_t)(hash ^ hash >> 32) & (FILE_BUCKETS - 1);
}

/* The file of a co_filename; NULL when memory is out. Takes `file`. */
static known_file *
find_file(char *file)
{
    known_file **bucket, *found;

    if (file == NULL) {
        return NULL;
    }
    bucket = &files[bucket_of(file)];
    for (found = *bucket; found != NULL; found = found->next) {
        if (strcmp(found->file, file) == 0) {
            free(file);
            return found;
        }
    }
    found = calloc(1, sizeof(*found));
    if (found == NULL) {
        free(file);
        return NULL;
    }
    found->file = file;
    found->real = file[0] == '<' ? NULL : realpath(file, NULL);
    if (found->real == NULL) {
        found->real = strdup(file);
    }
    if (found->real == NULL) {
        free(file);
        free(found);
        return NULL;
    }
    found->next = *bucket;
    *bucket = found;
    file_count++;
    return found;
}

/* globals[key] where that is a plain str in a plain dict; borrowed, or NULL. */
static PyObject *
global_text(const film_frame *frame, PyObject *key)
{
    PyObject *globals = frame == NULL ? NULL : film_frame_globals(frame);
    PyObject *found = NULL;

    if (globals == NULL || !PyDict_CheckExact(globals)) {
        return NULL;
    }
    if (film_compat_dict_is_plain(globals)) {
        found = PyDict_GetItemWithError(globals, key);
    }
    else {
        /* Some key is no str: a lookup might run its __eq__. */
        PyObject *other, *value;
        Py_ssize_t position = 0;

        while (found == NULL && PyDict_Next(globals, &position, &other, &value)) {
            if (PyUnicode_CheckExact(other) && PyUnicode_Compare(other, key) == 0) {
                found = value;
            }
        }
    }
    PyErr_Clear();
    return found != NULL && PyUnicode_CheckExact(found) ? found : NULL;
}

/* What to call the module of a file that has no __name__: its stem. Owned. */
static char *
file_stem(const char *file)
{
    const char *slash = strrchr(file, '/');
    char *stem = strdup(slash == NULL ? file : slash + 1);
    size_t length = stem == NULL ? 0 : strlen(stem);

    if (length > 3 && strcmp(stem + length - 3, ".py") == 0) {
        stem[length - 3] = '\0';
    }
    return stem;
}

/* String ids of a tuple of str; *count of them, owned by the caller. */
static uint32_t *
string_ids(PyObject *names, uint32_t *count)
{
    Py_ssize_t size = PyTuple_GET_SIZE(names);
    uint32_t *ids = malloc(((size_t)size + 1) * sizeof(*ids));

    *count = 0;
    if (ids == NULL) {
        return NULL;
    }
    for (Py_ssize_t index = 0; index < size; index++) {
        char *text = film_text_new(PyTuple_GET_ITEM(names, index), false);

        ids[index] = text == NULL ? 0
                                  : film_writer_string(film_the_session.writer, text,
                                                       strlen(text));
        free(text);
    }
    *count = (uint32_t)size;
    return ids;
}

static void
set_bytes(PyObject *bytes, const uint8_t **data, uint32_t *length)
{
    if (bytes != NULL && PyBytes_Check(bytes)) {
        *data = (const uint8_t *)PyBytes_AS_STRING(bytes);
        *length = (uint32_t)PyBytes_GET_SIZE(bytes);
    }
}

/* Writes the code's description; its id, or UINT32_MAX. */
static uint32_t
describe(PyCodeObject *code, const char *file, const char *module)
{
    film_code_record record = {
        .file = file,
        .module = module,
        .first_line = (uint32_t)code->co_firstlineno,
        .flags = (uint32_t)code->co_flags,
        .argument_count = (uint32_t)code->co_argcount,
        .positional_only_count = (uint32_t)code->co_posonlyargcount,
        .keyword_only_count = (uint32_t)code->co_kwonlyargcount,
    };
    char *qualname = film_text_new(code->co_qualname, false);
    char *name = film_text_new(code->co_name, false);
    uint32_t *names = string_ids(code->co_names, &record.name_count);
    uint32_t *locals = string_ids(code->co_localsplusnames, &record.local_count);
    PyObject *bytecode = film_code_bytes(code); /* unspecialised, owned */
    uint32_t kinds_length = 0;
    uint32_t id = UINT32_MAX;

    set_bytes(bytecode, &record.bytecode, &record.bytecode_length);
    set_bytes(code->co_linetable, &record.line_table, &record.line_table_length);
    set_bytes(code->co_exceptiontable, &record.exception_table,
              &record.exception_table_length);
    set_bytes(code->co_localspluskinds, &record.local_kinds, &kinds_length);
    if (qualname != NULL && name != NULL && names != NULL && locals != NULL &&
        bytecode != NULL && kinds_length == record.local_count) {
        record.qualname = qualname;
        record.name = name;
        record.names = names;
        record.locals = locals;
        id = film_writer_code(film_the_session.writer, &record);
    }
    PyErr_Clear();
    Py_XDECREF(bytecode);
    free(qualname);
    free(name);
    free(names);
    free(locals);
    return id;
}

/* The file of the code that runs a text: the nearest frame's that is no text itself. */
static char *
running_file(const film_frame *frame)
{
    char *file = NULL;

    for (frame = film_frame_caller(frame); frame != NULL && file == NULL;
         frame = film_frame_caller(frame)) {
        file =
            film_text_new(((PyCodeObject *)film_frame_code(frame))->co_filename, true);
        if (file != NULL && file[0] == '<') {
            free(file);
            file = NULL;
        }
    }
    return file;
}

/* The resolved __file__ of the module that compiled text runs in. Of the body of a text
 * that runs in no module (exec(text, {})), or in one that is text itself, the file of the
 * code that runs it. Borrowed from the table of files, or NULL. */
static const char *
enclosing_file(PyCodeObject *code, const film_frame *frame)
{
    PyObject *file = global_text(frame, film_the_session.file_key);
    const known_file *known =
        file == NULL ? NULL : find_file(film_text_new(file, true));
    bool placed = known != NULL ? known->file[0] != '<'
                                : global_text(frame, film_the_session.name_key) != NULL;

    if (!placed && frame != NULL && (code->co_flags & CO_OPTIMIZED) == 0 &&
        film_frame_code(frame) == (PyObject *)code) {
        known_file *runs = find_file(running_file(frame));

        known = runs != NULL ? runs : known;
    }

    return known == NULL ? NULL : known->real;
}

/* Decides whether `code` is recorded and, if it is, describes it. */
static void
decide(film_code *known, PyCodeObject *code, const film_frame *frame)
{
    known_file *file = find_file(film_text_new(code->co_filename, true));
    PyObject *name = global_text(frame, film_the_session.name_key);
    char *module = name != NULL   ? film_text_new(name, false)
                   : file != NULL ? file_stem(file->file)
                                  : NULL;
    char short_name[SHORT_NAME_BYTES];
    char *qualname = film_text_new(code->co_qualname, false);
    film_code_origin origin;
    const char *shown;
    bool accepted;

    known->target = known->is_caller = known->calls_only = false;
    known->compile_role = FILM_COMPILE_NONE;
    if (file == NULL || module == NULL || qualname == NULL) {
        free(module);
        free(qualname);
        return;
    }
    origin.file = file->file;
    origin.real = file->real;
    origin.module = module;
    origin.qualname = qualname;
    origin.within = file->file[0] == '<' ? enclosing_file(code, frame) : NULL;
    accepted = film_targets_accept(&film_the_session.options.targets, &origin);
    known->compile_role = (uint8_t)film_compiled_role(
        module, qualname, accepted && !film_the_session.options.targets.all);
    if (known->compile_role == FILM_COMPILE_COMPILER) {
        accepted = false;
    }
    known->calls_only = accepted ? !film_the_session.options.targets.all &&
                                       film_collective_find(module, qualname) != NULL
                                 : film_api_is_call(code, module);
    free(qualname);
    if (!accepted && !known->calls_only) {
        free(module);
        return;
    }
    shown = film_session_short_name(file->file, short_name, sizeof(short_name));
    /* Where only calls are told, the source (some 250 KB of torch's) tells no more. */
    if (!known->calls_only) {
        if (!file->source_told && file->file[0] != '<') {
            film_writer_source(film_the_session.writer, shown, file->real, NULL, 0);
        }
        file->source_told = true;
    }
    known->id = describe(code, shown, module);
    /* A writer that has stopped describes nothing more: the code stays a target, so
     * that its events are counted as lost. */
    known->target = known->id != UINT32_MAX || film_session_has_stopped();
    if (!known->target) {
        film_writer_count_lost(film_the_session.writer, 1);
    }
    free(module);
}

bool
film_code_describe_caller(film_code *known, PyCodeObject *code, const film_frame *frame)
{
    known_file *file;
    film_saved_error saved;
    PyObject *name;
    char short_name[SHORT_NAME_BYTES];
    char *module;

    if (!film_the_session.options.outer_calls || known == &no_target) {
        return false;
    }
    if (known->is_caller) {
        return known->id != UINT32_MAX;
    }
    film_compat_save_error(&saved);
    known->is_caller = true;
    known->id = UINT32_MAX;
    bound_files();
    file = find_file(film_text_new(code->co_filename, true));
    name = global_text(frame, film_the_session.name_key);
    module = name == NULL ? strdup("") : film_text_new(name, false);
    if (file != NULL && module != NULL) {
        known->id = describe(
            code, film_session_short_name(file->file, short_name, sizeof(short_name)),
            module);
    }
    free(module);
    film_compat_restore_error(&saved);
    return known->id != UINT32_MAX;
}

static bool
wraps_functions(PyObject *module)
{
    static const char *const names[] = {"contextlib", "functools", "typing_extensions",
                                        "warnings", "_py_warnings"};

    for (size_t index = 0; index < sizeof(names) / sizeof(names[0]); index++) {
        if (PyUnicode_CompareWithASCIIString(module, names[index]) == 0) {
            return true;
        }
    }
    return false;
}

uint32_t
film_code_name(const film_frame *frame)
{
    PyCodeObject *code = (PyCodeObject *)film_frame_code(frame);
    film_code *known = film_code_of(code, frame);
    char text[CODE_NAME_BYTES];
    PyObject *module;
    size_t length = 0;

    if (FILM_LIKELY(known->name != 0) || known == &no_target) {
        return known->name;
    }
    module = global_text(frame, film_the_session.name_key);
    if (module != NULL) {
        known->decorates = wraps_functions(module);
        length = film_text_copy(module, text, sizeof(text) / 2, NULL);
        text[length++] = '.';
    }
    length += film_text_copy(code->co_qualname, text + length,
                             sizeof(text) - length - 1, NULL);
    known->name = film_writer_string(film_the_session.writer, text, length);
    return known->name;
}

bool
film_code_decorates(const film_frame *frame)
{
    const film_code *known =
        film_code_of((PyCodeObject *)film_frame_code(frame), frame);

    return film_code_name(frame) != 0 && known->decorates;
}

film_code *
film_code_register(PyCodeObject *code, const film_frame *frame)
{
    film_session *session = &film_the_session;
    film_saved_error saved;
    film_code *known;

    if (session->forked && !film_session_take_over_child()) {
        return &no_target;
    }
    if (session->writer == NULL) {
        return &no_target;
    }
    film_compat_save_error(&saved);
    known = film_compat_get_extra(code, session->extra_index);
    if (known != NULL && known->outdated != 0 &&
        known->outdated == session->generation) {
        known->outdated = 0;
        known->generation = session->generation;
        plan_again(known, frame);
        film_compat_restore_error(&saved);
        return known;
    }
    if (known == NULL) {
        known = calloc(1, sizeof(*known));
        if (known != NULL &&
            film_compat_set_extra(code, session->extra_index, known) != 0) {
            PyErr_Clear();
            free(known);
            known = NULL;
        }
    }
    if (known != NULL) {
        known->first = film_code_first_unit(code);
        known->has_namespace = (code->co_flags & CO_OPTIMIZED) == 0;
        known->suspends =
            (code->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)) != 0;
        known->code = code;
        known->initialises =
            PyUnicode_CompareWithASCIIString(code->co_name, "__init__") == 0;
        bound_files();
        film_torch_await(code, frame);
        decide(known, code, frame);
        if (known->target && known->catches == NULL) {
            known->catches = film_catches_new(code);
        }
        known->outdated = 0;
        known->plan_count = 0;
        known->name = 0;
        known->strayed = false;
        plan_writes(known, frame);
        known->is_special = known->suspends || known->has_namespace ||
                            (known->plan != NULL &&
                             known->plan->free_count + known->plan->shared_count != 0);
        known->generation = session->generation;
    }
    film_compat_restore_error(&saved);
    return known != NULL ? known : &no_target;
}
