/* compiled.c: see compiled.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/torch/compiled.h"

#include <filmstrip/event.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/intern.h"
#include "recorder/attributes.h"
#include "recorder/capture_keep.h"
#include "recorder/exceptions.h"
#include "recorder/text.h"
#include "recorder/torch/operation_rows.h"

#define MOST_OPEN 32u /* of one thread, within one another; deeper ones are not told */
#define MOST_LABELS 4096u
#define LABEL_BYTES 128u
#define ID_BYTES 64u
/* So many events of a thread that compiles, and its frames are looked at: where the end of
 * the compilation was not seen (a tool took the hooks, a greenlet was left), it is over. */
#define EVENTS_BETWEEN_LOOKS 4096u

#define PREFIX "torch.compile: "
#define COMPILED "__compiled_fn_"

static const struct {
    const char *module, *qualname;
    film_compile_role role;
} functions[] = {
    {"torch._dynamo.eval_frame", "DisableContext.__call__.<locals>._fn",
     FILM_COMPILE_REGION},
    {"torch._dynamo.eval_frame", "_TorchDynamoContext.__call__.<locals>._fn",
     FILM_COMPILE_REGION},
    {"torch._dynamo.convert_frame", "_compile", FILM_COMPILE_COMPILER},
    {"torch._dynamo.convert_frame", "fullgraph_capture", FILM_COMPILE_COMPILER},
    {"torch._functorch.aot_autograd", "create_aot_dispatcher_function",
     FILM_COMPILE_COMPILER},
    {"torch._inductor.compile_fx", "compile_fx", FILM_COMPILE_COMPILER},
    {"torch._functorch._aot_autograd.runtime_wrappers",
     "_AutogradBackwardCompiler.get_or_compile", FILM_COMPILE_COMPILER},
};

/* A call that is open. */
typedef struct open_call {
    film_frame_key frame;
    const PyObject *code;     /* identity only */
    film_operation operation; /* of this call */
    film_operation_call call; /* what it was given, the frame holds */
    PyObject *given;          /* borrowed from the frame: the one value of a compiler */
    uint32_t type;            /* of the exception that leaves it */
    uint64_t message;
    bool told, compiles;
} open_call;

struct film_compiled_calls {
    uint32_t depth;
    open_call open[MOST_OPEN];
};

/* The string ids of the ops' names, by the hashes of what Dynamo calls the functions. */
static film_intern labels;

film_compile_role
film_compiled_role(const char *module, const char *qualname, bool wanted)
{
    if (film_the_session.options.torch == FILM_TORCH_OFF ||
        strncmp(module, "torch._", 7) != 0) {
        return FILM_COMPILE_NONE;
    }
    for (size_t index = 0; index < sizeof(functions) / sizeof(functions[0]); index++) {
        if (strcmp(module, functions[index].module) == 0 &&
            strcmp(qualname, functions[index].qualname) == 0) {
            return wanted && functions[index].role == FILM_COMPILE_COMPILER
                       ? FILM_COMPILE_NONE
                       : functions[index].role;
        }
    }
    return FILM_COMPILE_NONE;
}

void
film_compiled_reset(void)
{
    film_intern_reset(&labels);
}

/* --- names ------------------------------------------------------------------------ */

/* An attribute read where it is kept. NULL: it has none. Borrowed. */
static PyObject *
attribute(PyObject *object, const char *name)
{
    PyObject *key = object == NULL ? NULL : PyUnicode_InternFromString(name);
    PyObject *value = key == NULL ? NULL : film_attribute_kept(object, key);

    Py_XDECREF(key);
    return value;
}

/* A parameter of the code that the frame runs. NULL: it has none. Borrowed. */
static PyObject *
parameter(const film_frame *frame, const char *name)
{
    const PyCodeObject *code = (const PyCodeObject *)film_frame_code(frame);
    int count = code->co_argcount + code->co_kwonlyargcount;
    PyObject *value = NULL;

    for (int slot = 0; slot < count; slot++) {
        if (PyUnicode_CompareWithASCIIString(
                PyTuple_GET_ITEM(code->co_localsplusnames, slot), name) == 0) {
            value = film_frame_local(frame, slot);
        }
    }
    /* Inner functions may use it. */
    return value != NULL && PyCell_Check(value) ? PyCell_GET(value) : value;
}

static bool
number_of(PyObject *object, const char *name, long *number)
{
    PyObject *value = attribute(object, name);

    if (value == NULL || !PyLong_CheckExact(value)) {
        return false;
    }
    *number = PyLong_AsLong(value);
    return *number >= 0;
}

/* " [0/0]", as torch's own logs have it; "" where it is not known. */
static void
write_id(PyObject *compile_id, char to[ID_BYTES])
{
    char autograd[ID_BYTES / 2] = "";
    long frame, count, graph;

    to[0] = '\0';
    if (number_of(compile_id, "compiled_autograd_id", &graph)) {
        (void)snprintf(autograd, sizeof(autograd), "!%ld/", graph);
    }
    if (number_of(compile_id, "frame_id", &frame) &&
        number_of(compile_id, "frame_compile_id", &count)) {
        (void)snprintf(to, ID_BYTES, " [%s%ld/%ld]", autograd, frame, count);
    }
    PyErr_Clear();
}

static bool
is_compiled_name(PyObject *name)
{
    return PyUnicode_CheckExact(name) && PyUnicode_IS_COMPACT_ASCII(name) &&
           PyUnicode_GET_LENGTH(name) > (Py_ssize_t)strlen(COMPILED) &&
           memcmp(PyUnicode_1BYTE_DATA(name), COMPILED, strlen(COMPILED)) == 0;
}

static uint64_t
hash_of(PyObject *name)
{
    return film_hash(PyUnicode_1BYTE_DATA(name), (size_t)PyUnicode_GET_LENGTH(name));
}

/* The string id of what the op is called: the name without what makes it unique. */
static uint32_t
make_label(PyObject *name, PyObject *compile_id)
{
    char text[LABEL_BYTES], id[ID_BYTES];
    size_t length = strlen(PREFIX);

    memcpy(text, PREFIX, length);
    length +=
        film_text_copy(name, text + length, LABEL_BYTES - ID_BYTES - length, NULL);
    text[length] = '\0';
    length = strlen(PREFIX COMPILED);
    length += strspn(text + length, "0123456789");
    text[length] = '\0';
    write_id(compile_id, id);
    (void)snprintf(text + length, LABEL_BYTES - length, "%s", id);
    return film_keep_string(text, strlen(text));
}

static uint32_t
label_of(PyObject *name, PyObject *compile_id)
{
    uint64_t hash = hash_of(name);
    uint32_t id;

    if (film_intern_find(&labels, hash, &id)) {
        return id;
    }
    if (labels.count >= MOST_LABELS) {
        film_intern_reset(&labels);
    }
    id = make_label(name, compile_id);
    (void)film_intern_add(&labels, hash, id);
    return id;
}

/* What _compile gives back has the rewritten code, and whose it is. */
static void
note_labels(PyObject *value)
{
    PyObject *guarded, *code, *names;

    if (value != NULL && PyTuple_CheckExact(value) && PyTuple_GET_SIZE(value) > 0) {
        value = PyTuple_GET_ITEM(value, 0);
    }
    guarded = attribute(value, "guarded_code");
    code = attribute(guarded, "code");
    if (code == NULL || !PyCode_Check(code)) {
        return;
    }
    names = ((PyCodeObject *)code)->co_names;
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(names); index++) {
        PyObject *name = PyTuple_GET_ITEM(names, index);

        if (is_compiled_name(name)) {
            (void)label_of(name, attribute(guarded, "compile_id"));
        }
    }
}

/* --- which calls ------------------------------------------------------------------ */

/* What the caller's globals call the function that the frame runs, where Dynamo has put it
 * there; NULL: it is another one. Borrowed. */
static PyObject *
compiled_name(const film_frame *frame)
{
    const film_frame *caller = film_frame_caller(frame);
    const PyObject *function = film_frame_function(frame);
    PyObject *globals, *names;

    if (caller == NULL || film_frame_is_incomplete(caller) || function == NULL) {
        return NULL;
    }
    globals = film_frame_globals(caller);
    names = ((const PyCodeObject *)film_frame_code(caller))->co_names;
    if (globals == NULL || !PyDict_CheckExact(globals) ||
        !film_compat_dict_is_plain(globals)) {
        return NULL;
    }
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(names); index++) {
        PyObject *name = PyTuple_GET_ITEM(names, index);

        if (is_compiled_name(name) &&
            PyDict_GetItemWithError(globals, name) == function) {
            return name;
        }
    }
    return NULL;
}

/* False where it compiles nothing: the backward pass was compiled before. */
static bool
describe_compiler(const film_frame *frame, open_call *open)
{
    PyObject *self = parameter(frame, "self"), *code = parameter(frame, "code");
    PyObject *compiled = attribute(self, "compiled_bw");
    PyObject *compile_id = parameter(frame, "compile_id");
    char text[LABEL_BYTES], id[ID_BYTES];

    if (compiled != NULL && compiled != Py_None) {
        return false;
    }
    if (self != NULL) {
        compile_id = attribute(
            attribute(attribute(self, "lazy_backward_info"), "saved_compile_context"),
            "compile_id");
    }
    write_id(compile_id, id);
    (void)snprintf(text, sizeof(text), PREFIX "compiling%s%s",
                   self == NULL ? "" : " backward", id);
    open->operation.id = film_keep_string(text, strlen(text));
    open->compiles = true;
    if (code != NULL && PyCode_Check(code)) {
        open->given = ((PyCodeObject *)code)->co_qualname;
        open->call.values = &open->given;
        open->call.count = 1;
    }
    return true;
}

static bool
describe_region(const film_frame *frame, open_call *open)
{
    PyObject *name = compiled_name(frame), *values = film_frame_local(frame, 0);

    if (name == NULL) {
        return false;
    }
    open->operation.id = label_of(name, NULL);
    if (values != NULL && PyTuple_CheckExact(values)) {
        open->call.values = &PyTuple_GET_ITEM(values, 0);
        open->call.count = PyTuple_GET_SIZE(values);
    }
    return true;
}

/* --- begin and end ---------------------------------------------------------------- */

static bool
is_running(const film_frame *frame, const open_call *open)
{
    for (; frame != NULL; frame = film_frame_caller(frame)) {
        if (film_frame_has_key(frame, open->frame)) {
            return film_frame_code(frame) == open->code;
        }
    }
    return false;
}

/* Room for one that begins; NULL: there is none. Those that ended unseen make room. */
static open_call *
push(film_context *context, const film_frame *frame)
{
    struct film_compiled_calls *calls = context->compiled;

    if (calls == NULL) {
        calls = context->compiled = calloc(1, sizeof(*calls));
    }
    if (calls == NULL) {
        return NULL;
    }
    if (calls->depth == MOST_OPEN) {
        while (calls->depth > 0 && !is_running(frame, &calls->open[calls->depth - 1])) {
            calls->depth--;
        }
    }
    return calls->depth == MOST_OPEN ? NULL : &calls->open[calls->depth++];
}

void
film_compiled_begin(const film_frame *frame, const film_code *code)
{
    film_context *context = film_context_ready(frame);
    film_saved_error saved;
    open_call *open;

    if (context == NULL || !film_the_session.operations) {
        return;
    }
    if (code->compile_role == FILM_COMPILE_REGION && compiled_name(frame) == NULL) {
        return;
    }
    open = push(context, frame);
    if (open == NULL) {
        return;
    }
    film_compat_save_error(&saved);
    *open = (open_call){
        .frame = film_frame_key_of(frame),
        .code = film_frame_code(frame),
        .operation = {.flags = FILM_OPERATION_COMPILED,
                      .generation = film_the_session.generation},
    };
    open->call.operation = &open->operation;
    if (code->compile_role == FILM_COMPILE_REGION ? !describe_region(frame, open)
                                                  : !describe_compiler(frame, open)) {
        context->compiled->depth--;
    }
    else {
        open->told = film_operation_begin(&open->call);
        if (open->compiles && context->token == film_the_session.token) {
            context->compiling = context->token;
            context->compiling_events = 0;
            context->token = 0; /* no session's */
        }
    }
    film_compat_restore_error(&saved);
}

/* The open call whose frame that is; those within it have ended unseen. */
static open_call *
find(const film_frame *frame)
{
    struct film_compiled_calls *calls = film_this_thread.compiled;

    for (uint32_t depth = calls == NULL ? 0 : calls->depth; depth > 0; depth--) {
        open_call *open = &calls->open[depth - 1];

        if (film_frame_has_key(frame, open->frame) &&
            film_frame_code(frame) == open->code) {
            calls->depth = depth;
            return open;
        }
    }
    return NULL;
}

void
film_compiled_raised(const film_frame *frame, PyObject *exception, PyObject *value)
{
    open_call *open = find(frame);

    if (open != NULL && open->told &&
        open->operation.generation == film_the_session.generation) {
        film_exception_describe(exception, value, &open->type, &open->message);
    }
}

/* Without what it gave: objects of the compiler's. */
static void
tell_end(film_context *context, const open_call *open, bool raised)
{
    const film_operation_call *call = &open->call;

    if (context->token == call->token && context->token == film_the_session.token) {
        (void)film_append_op_end(
            context->thread, context->thread->events - call->number,
            raised ? FILM_OPERATION_RAISED : 0, open->type, open->message);
    }
}

void
film_compiled_end(const film_frame *frame, PyObject *value)
{
    open_call *open = find(frame);
    film_context *context = &film_this_thread;
    film_saved_error saved;

    if (open == NULL) {
        return;
    }
    film_compat_save_error(&saved);
    context->compiled->depth--;
    if (open->compiles) {
        context->compiling = 0;
        (void)film_context_ready(frame);
        if (open->operation.generation == film_the_session.generation &&
            context->token == film_the_session.token) {
            note_labels(value);
        }
    }
    if (open->told && value != NULL && !open->compiles) {
        film_operation_end(&open->call, value);
    }
    else if (open->told) {
        tell_end(context, open, value == NULL);
    }
    PyErr_Clear();
    film_compat_restore_error(&saved);
}

bool
film_compiled_is_region(const film_context *context, const film_frame *frame)
{
    const struct film_compiled_calls *calls = context->compiled;
    const open_call *open;

    if (calls == NULL || calls->depth == 0) {
        return false;
    }
    open = &calls->open[calls->depth - 1];
    return film_frame_has_key(frame, open->frame) &&
           film_frame_code(frame) == open->code;
}

bool
film_compiled_pauses(film_context *context)
{
    struct film_compiled_calls *calls = context->compiled;

    if (context->compiling != film_the_session.token) {
        context->compiling = 0; /* paused or stopped meanwhile */
        return false;
    }
    if (++context->compiling_events % EVENTS_BETWEEN_LOOKS != 0) {
        return true;
    }
    for (uint32_t depth = calls->depth; depth > 0; depth--) {
        if (calls->open[depth - 1].compiles &&
            is_running(film_compat_current_frame(), &calls->open[depth - 1])) {
            return true;
        }
    }
    context->compiling = 0;
    return false;
}
