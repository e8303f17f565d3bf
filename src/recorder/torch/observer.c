/* observer.c: see observer.h.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "recorder/torch/observer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/intern.h"
#include "recorder/thread_context.h"
#include "recorder/torch/apart.h"
#include "recorder/torch/device.h"
#include "recorder/torch/shim.h"

/* at::RecordFunctionCallback: trivially copied, and passed in memory. */
typedef struct record_callback {
    void *(*start)(void *context, const void *function);
    void (*end)(const void *function, void *context);
    double probability;
    bool scopes[10];
    bool inputs, outputs, ids;
} record_callback;

#define SCOPE_FUNCTION 0
#define SCOPE_BACKWARD 1

#define ENGINE "autograd::engine::evaluate_function: "

#define MOST_OPEN 256u /* of one thread, within one another; deeper ones are not told */
#define PROBED_BYTES 512u /* of an at::RecordFunction, where the number is looked for */

static struct {
    uint64_t (*add)(record_callback callback);
    void (*remove)(uint64_t handle);
    const char *(*name)(const void *function);
    uint64_t (*thread_id)(void); /* torch's number of the calling thread; NULL: none */
    uint64_t handles[2];
    bool on;
    int sequence_at; /* offset of the sequence number; 0: not known */
    int forward_at; /* of torch's number of the thread that made a node; 0: not known */
    film_intern names;
    film_intern threads; /* torch's numbers + 1 of threads to ours */
} observer;

/* While it is tried: what it has told. */
static struct {
    bool on;
    bool right;       /* it has told what it should */
    pthread_t thread; /* that tries: others go on meanwhile */
    const char *wanted;
    int64_t sequence;
    unsigned seen, nodes;
    int candidates[PROBED_BYTES / sizeof(int64_t)]; /* how often the number was there */
    int threads[PROBED_BYTES / sizeof(int64_t)]; /* and the thread's, see try_thread */
} trial;

/* The operations that are open in a thread: its context has them. */
typedef struct film_inner_operations {
    uint32_t depth;
    uint64_t generation;         /* of the recording that knows the thread's number */
    uint64_t numbers[MOST_OPEN]; /* of their events + 1; 0: not told */
    uint64_t tokens[MOST_OPEN];  /* under which they were: another recording may have
                                    begun before they end */
    bool backward[MOST_OPEN];
    bool on_gpu[MOST_OPEN]; /* to be left by film_gpu_leave */
} film_inner_operations;

/* --- rows -------------------------------------------------------------------------- */

/* The string id of a name, from any thread: the session's `lifecycle` is held. */
static uint32_t
name_id(const char *name)
{
    size_t length = strlen(name);
    uint64_t hash = film_hash(name, length);
    uint32_t id;

    if (!film_intern_find(&observer.names, hash, &id)) {
        id = film_writer_string(film_the_session.writer, name, length);
        (void)film_intern_add(&observer.names, hash, id);
    }
    return id;
}

/* The number at an offset of the function; -1: the offset is not known. */
static int64_t
number_at(const void *function, int offset)
{
    int64_t number = -1;

    if (offset != 0) {
        memcpy(&number, (const char *)function + offset, sizeof(number));
    }
    return number;
}

/* Which of our threads has torch's number; 0: none that was seen. */
static uint32_t
thread_of(int64_t number)
{
    uint32_t id;

    return number > 0 && film_intern_find(&observer.threads, (uint64_t)number + 1, &id)
               ? id
               : 0;
}

static uint32_t
own_thread(const film_context *context)
{
    return (uint32_t)(film_thread_next_frame(context->thread) >> FILM_FRAME_SHIFT) + 1;
}

/* Notes which number torch has given the thread, once a recording. */
static void
note_thread(film_context *context)
{
    uint64_t number;
    uint32_t id;

    if (FILM_LIKELY(context->inner->generation == context->generation) ||
        observer.thread_id == NULL) {
        return;
    }
    context->inner->generation = context->generation;
    number = observer.thread_id() + 1;
    if (!film_intern_find(&observer.threads, number, &id)) {
        (void)film_intern_add(&observer.threads, number, own_thread(context));
    }
}

/* The values of a node that another thread has made: which one. Its row; false: it could
 * not be written. */
static bool
put_thread(film_context *context, const void *function, film_op_row *row)
{
    uint32_t thread = thread_of(number_at(function, observer.forward_at));
    uint8_t tokens[FILM_TOKEN_MAX];

    if (thread == 0 || thread == own_thread(context)) {
        return true;
    }
    row->names = name_id("thread");
    return film_append_values(context->thread, 1, tokens,
                              (size_t)(film_token_put_int(tokens, thread) - tokens));
}

/* Where the frame on top stands, for an operation that nothing hooked has called: the
 * Function of a program's own. Off the GIL it is not known: a frame may not be looked at. */
static uint32_t
place_of(const film_context *context)
{
    PyThreadState *own = PyGILState_GetThisThreadState();
    const film_frame *frame;

    if (own == NULL || own != film_compat_attached_state() ||
        context->top == context->entries) {
        return FILM_NO_OFFSET;
    }
    frame = film_entry_frame_by_walk(context->top);
    return frame == NULL ? FILM_NO_OFFSET : film_frame_unit(frame, context->top->first);
}

/* Tells it; the number of its event + 1, 0: it is not told. */
static uint64_t
tell(film_context *context, const void *function, bool backward, bool node)
{
    int64_t sequence = number_at(function, observer.sequence_at);
    film_op_row row = {
        .function = name_id(observer.name(function)),
        .offset = context->inner->depth == 0 ? place_of(context) : FILM_NO_OFFSET,
        .flags = FILM_OPERATION_INNER | (backward ? FILM_OPERATION_BACKWARD : 0) |
                 (node ? FILM_OPERATION_NODE : 0) |
                 (film_shim_grad_mode() ? FILM_OPERATION_GRAD : 0),
        .sequence = sequence < 0 ? 0 : (uint64_t)sequence + 1,
    };

    note_thread(context);
    if (node && row.sequence != 0 && !put_thread(context, function, &row)) {
        return 0;
    }
    return film_append_op(context->thread, &row) ? context->thread->events : 0;
}

/* The thread's, made where it has none; NULL: no memory. */
static film_inner_operations *
operations_of(film_context *context)
{
    if (FILM_UNLIKELY(context->inner == NULL)) {
        context->inner = calloc(1, sizeof(*context->inner));
    }
    return context->inner;
}

/* What autograd's engine does for one node: the node, and the sums of what several
 * nodes give. */
static bool
is_engine(const char *name)
{
    return name[0] == 'a' && name[1] == 'u' &&
           strncmp(name, ENGINE, sizeof(ENGINE) - 1) == 0;
}

static void
begin(const void *function, bool node)
{
    bool backward = node || is_engine(observer.name(function));
    film_context *context;
    film_inner_operations *inner;
    uint64_t number = 0;

    pthread_mutex_lock(&film_the_session.lifecycle);
    context = observer.on ? film_context_of_any_thread() : NULL;
    inner = operations_of(&film_this_thread);
    if (inner != NULL) {
        backward |= inner->depth > 0 && inner->depth <= MOST_OPEN &&
                    inner->backward[inner->depth - 1];
        if (context != NULL && inner->depth < MOST_OPEN) {
            inner->on_gpu[inner->depth] = film_device_enter(context->thread);
            number = tell(context, function, backward, node);
            inner->tokens[inner->depth] = context->token;
        }
        else if (inner->depth < MOST_OPEN) {
            inner->on_gpu[inner->depth] = false;
        }
        if (inner->depth < MOST_OPEN) {
            inner->numbers[inner->depth] = number;
            inner->backward[inner->depth] = backward;
        }
        inner->depth++;
    }
    pthread_mutex_unlock(&film_the_session.lifecycle);
}

static void
finish(void)
{
    const film_context *context = &film_this_thread;
    film_inner_operations *inner = context->inner;
    uint64_t number;

    if (inner == NULL || inner->depth == 0) {
        return; /* it began before we did */
    }
    inner->depth--;
    number = inner->depth < MOST_OPEN ? inner->numbers[inner->depth] : 0;
    if (inner->depth < MOST_OPEN && inner->on_gpu[inner->depth]) {
        film_gpu_leave();
    }
    if (number == 0) {
        return;
    }
    pthread_mutex_lock(&film_the_session.lifecycle);
    if (observer.on && context->token == inner->tokens[inner->depth] &&
        film_the_session.token == context->token) {
        (void)film_append_op_end(context->thread,
                                 context->thread->events - (number - 1), 0, 0, 0);
    }
    pthread_mutex_unlock(&film_the_session.lifecycle);
}

/* --- callbacks --------------------------------------------------------------------- */

/* Counts the places behind the sequence number where the thread's number is, in nodes, and
 * none in operations. */
static void
try_thread(const void *function, bool node)
{
    int64_t own = observer.thread_id == NULL ? 0 : (int64_t)observer.thread_id();

    for (size_t place = 1; place < PROBED_BYTES / sizeof(int64_t); place++) {
        int64_t number = number_at(function, (int)(place * sizeof(number)));

        if (number != (node ? own : 0) || own <= 0) {
            trial.threads[place] = -1000;
        }
        trial.threads[place] += node;
    }
}

static void
try_it(const void *function, bool node)
{
    if (!pthread_equal(trial.thread, pthread_self())) {
        return;
    }
    trial.nodes += node;
    if (node ||
        (trial.wanted != NULL && strcmp(observer.name(function), trial.wanted) == 0)) {
        try_thread(function, node);
    }
    if (node || trial.wanted == NULL ||
        strcmp(observer.name(function), trial.wanted) != 0) {
        return;
    }
    trial.seen++;
    for (size_t place = 1; place < PROBED_BYTES / sizeof(int64_t); place++) {
        trial.candidates[place] +=
            number_at(function, (int)(place * sizeof(int64_t))) == trial.sequence;
    }
}

/* Each gives back an empty std::unique_ptr<ObserverContext>. */
static void *
function_started(void *context, const void *function)
{
    *(void **)context = NULL;
    if (FILM_UNLIKELY(trial.on)) {
        try_it(function, false);
    }
    else {
        begin(function, false);
    }
    return context;
}

static void *
node_started(void *context, const void *function)
{
    *(void **)context = NULL;
    if (FILM_UNLIKELY(trial.on)) {
        try_it(function, true);
    }
    else {
        begin(function, true);
    }
    return context;
}

static void
function_ended(const void *Py_UNUSED(function), void *Py_UNUSED(context))
{
    if (FILM_LIKELY(!trial.on)) {
        finish();
    }
}

static void
put_callbacks(bool nodes_only)
{
    record_callback callback = {
        .start = function_started, .end = function_ended, .probability = 1.0};

    observer.handles[0] = 0;
    if (!nodes_only) {
        callback.scopes[SCOPE_FUNCTION] = true;
        observer.handles[0] = observer.add(callback);
        callback.scopes[SCOPE_FUNCTION] = false;
    }
    callback.scopes[SCOPE_BACKWARD] = true;
    callback.start = node_started;
    observer.handles[1] = observer.add(callback);
}

static void
take_callbacks(void)
{
    if (observer.handles[0] != 0) {
        observer.remove(observer.handles[0]);
    }
    observer.remove(observer.handles[1]);
}

/* --- the trial --------------------------------------------------------------------- */

/* The number that autograd gives the next node. */
static int64_t
sequence_of_result(PyObject *result)
{
    PyObject *node = result == NULL ? NULL : PyObject_GetAttrString(result, "grad_fn");
    PyObject *number =
        node == NULL ? NULL : PyObject_CallMethod(node, "_sequence_nr", NULL);
    int64_t sequence = number == NULL ? -1 : PyLong_AsLongLong(number);

    Py_XDECREF(node);
    Py_XDECREF(number);
    return sequence;
}

/* a + a for a tensor that requires a gradient: an aten::add, with a node. */
static PyObject *
add_once(PyObject *tensor)
{
    return PyObject_CallMethod(tensor, "add", "O", tensor);
}

/* Runs the node of a result, without autograd's engine, whose threads would be started. */
static void
call_node(PyObject *result, PyObject *gradient)
{
    PyObject *node = result == NULL ? NULL : PyObject_GetAttrString(result, "grad_fn");
    PyObject *given =
        node == NULL ? NULL : PyObject_CallFunctionObjArgs(node, gradient, NULL);

    PyErr_Clear();
    Py_XDECREF(node);
    Py_XDECREF(given);
}

/* Three additions, each with the number that follows from the one before it. */
static bool
try_additions(PyObject *tensor)
{
    PyObject *result = add_once(tensor);
    int64_t last = sequence_of_result(result);

    Py_XDECREF(result);
    trial.wanted = "aten::add";
    for (int round = 0; round < 3 && last >= 0; round++) {
        trial.sequence = last + 1;
        result = add_once(tensor);
        last = sequence_of_result(result);
        call_node(result, tensor);
        Py_XDECREF(result);
        if (last != trial.sequence) {
            return false; /* a hook of the program's has made a node meanwhile */
        }
    }
    trial.wanted = NULL;
    return trial.seen == 3;
}

static void
find_sequence(void)
{
    int found = 0;

    for (size_t place = 1; place < PROBED_BYTES / sizeof(int64_t); place++) {
        if (trial.candidates[place] == 3) {
            found = found == 0 ? (int)(place * sizeof(int64_t)) : -1;
        }
    }
    observer.sequence_at = found > 0 ? found : 0;
}

/* Behind the sequence number, where torch 1.8 to 2.13 have it. */
static void
find_thread(void)
{
    size_t behind = (size_t)observer.sequence_at / sizeof(int64_t) + 1;
    int found = 0;

    for (size_t place = behind; place < PROBED_BYTES / sizeof(int64_t); place++) {
        if (trial.threads[place] == (int)trial.nodes && trial.nodes == 3) {
            found = found == 0 ? (int)(place * sizeof(int64_t)) : -1;
        }
    }
    observer.forward_at = observer.sequence_at != 0 && found > 0 ? found : 0;
}

static void
try_all(PyObject *torch_module)
{
    PyObject *tensor = PyObject_CallMethod(torch_module, "zeros", "i", 2), *same;

    same = tensor == NULL ? NULL : PyObject_CallMethod(tensor, "requires_grad_", NULL);
    memset(&trial, 0, sizeof(trial));
    trial.thread = pthread_self();
    if (same != NULL) {
        trial.on = true;
        put_callbacks(false);
        trial.right = try_additions(tensor);
        if (trial.right) {
            find_sequence();
            find_thread();
        }
        take_callbacks();
        trial.on = false;
    }
    PyErr_Clear();
    Py_XDECREF(same);
    Py_XDECREF(tensor);
}

const char *
film_observer_prove(PyObject *torch_module)
{
    *(void **)&observer.add =
        film_shim_symbol("_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE");
    *(void **)&observer.remove = film_shim_symbol("_ZN2at14removeCallbackEm");
    *(void **)&observer.name = film_shim_symbol("_ZNK2at14RecordFunction4nameEv");
    *(void **)&observer.thread_id =
        film_shim_symbol("_ZN2at14RecordFunction15currentThreadIdEv");
    if (observer.add == NULL || observer.remove == NULL || observer.name == NULL) {
        return "this torch has no observer for what its C++ code calls: operations "
               "called "
               "by Python are recorded, no others";
    }
    film_run_apart(try_all, torch_module);
    if (!trial.right) {
        return "this torch's observer does not tell what it should: operations called "
               "by "
               "Python are recorded, no others";
    }
    return NULL;
}

void
film_observer_begin(bool nodes_only)
{
    if (!observer.on) {
        observer.on = true;
        put_callbacks(nodes_only);
    }
}

void
film_observer_end(void)
{
    if (!observer.on) {
        return;
    }
    take_callbacks();
    pthread_mutex_lock(&film_the_session.lifecycle);
    observer.on = false;
    pthread_mutex_unlock(&film_the_session.lifecycle);
}

void
film_observer_reset(void)
{
    film_intern_reset(&observer.names);
    film_intern_reset(&observer.threads);
}
