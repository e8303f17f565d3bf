/* tasks.c: see tasks.h.
 *
 * A task is known by its address, as long as its coroutine is the same one; where its
 * own coroutine begins, it is a new task whatever lay there before. Where the fields
 * of a task lie is asked of its type once: the getters of _asyncio (C code) give the
 * coroutine and the name, and the object is searched for them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "recorder/compat_asyncio.h"
#include "recorder/session.h"
#include "recorder/text.h"

#define NAME_BYTES 128u    /* of a name that are kept */
#define FIRST_CAPACITY 64u /* a power of two */
#define MOST_NESTED 16u    /* tasks within tasks: eager ones, nested loops */
#define ASYNC_FLAGS (CO_COROUTINE | CO_ASYNC_GENERATOR | CO_ITERABLE_COROUTINE)

typedef struct known_task {
    const PyObject *task; /* identity only; NULL: free */
    const PyObject *coroutine;
    uint64_t id;
    uint64_t text; /* hash of its name; 0: none was told */
    uint32_t name; /* string id */
} known_task;

/* The tasks that have begun and not ended. One that is given up half way stays until
 * another takes its address. */
static struct {
    known_task *slots; /* owned; open addressing, linear probing, no tombstones */
    size_t capacity, used;
    uint64_t last_id;
} table;

/* The tasks whose steps a thread is in, innermost last. */
typedef struct held_task {
    const PyObject *task; /* identity only */
    uint64_t id;
    uint32_t name;
    bool own; /* the frame that holds it is the task's own coroutine */
} held_task;

struct film_held_tasks {
    held_task held[MOST_NESTED];
    uint32_t count;
};

/* Where _asyncio.Task keeps things, found with the first task. */
static struct {
    const PyTypeObject *type; /* identity only; NULL: not looked yet */
    size_t coroutine, name;   /* offsets; 0: not found */
} layout;

/* --- the object --- */

/* Borrowed; NULL without an exception. */
static PyObject *
module_item(const char *module_name, const char *name)
{
    PyObject *modules = PyImport_GetModuleDict(), *module, *item = NULL;

    if (modules == NULL || !film_compat_dict_is_plain(modules)) {
        return NULL;
    }
    module = PyDict_GetItemString(modules, module_name);
    if (module != NULL && PyModule_CheckExact(module) &&
        film_compat_dict_is_plain(PyModule_GetDict(module))) {
        item = PyDict_GetItemString(PyModule_GetDict(module), name);
    }
    PyErr_Clear();
    return item;
}

static PyObject *
word_at(const PyObject *object, size_t offset)
{
    PyObject *word;

    memcpy(&word, (const char *)object + offset, sizeof(word));
    return word;
}

/* Where in a task `wanted` lies, which it gives away: 0 if nowhere. */
static size_t
find_word(const PyObject *task, const PyTypeObject *type, PyObject *wanted)
{
    size_t found = 0;

    for (size_t offset = sizeof(PyObject);
         wanted != NULL && offset + sizeof(wanted) <= (size_t)type->tp_basicsize;
         offset += sizeof(wanted)) {
        if (word_at(task, offset) == wanted) {
            found = offset;
            break;
        }
    }
    Py_XDECREF(wanted); /* the task holds it too: never the last reference */
    return found;
}

/* Runs C code of _asyncio only: descriptors of these types are no Python functions. */
static void
find_layout(PyObject *task)
{
    PyObject *type = module_item("_asyncio", "Task"), *get_coro, *get_name;
    PyTypeObject *of;

    if (type == NULL || !PyType_Check(type) ||
        !PyType_IsSubtype(Py_TYPE(task), (PyTypeObject *)type)) {
        return;
    }
    of = (PyTypeObject *)type;
    get_coro = PyDict_GetItemString(of->tp_dict, "_coro");
    get_name = PyDict_GetItemString(of->tp_dict, "get_name");
    if (get_coro == NULL || !Py_IS_TYPE(get_coro, &PyGetSetDescr_Type) ||
        get_name == NULL || !Py_IS_TYPE(get_name, &PyMethodDescr_Type)) {
        PyErr_Clear();
        return;
    }
    layout.type = of;
    layout.coroutine = find_word(
        task, of,
        Py_TYPE(get_coro)->tp_descr_get(get_coro, task, (PyObject *)Py_TYPE(task)));
    layout.name = find_word(task, of, PyObject_CallOneArg(get_name, task));
    PyErr_Clear();
}

static bool
is_task(PyObject *task)
{
    return layout.type != NULL &&
           PyType_IsSubtype(Py_TYPE(task), (PyTypeObject *)(uintptr_t)layout.type);
}

static const PyObject *
coroutine_of(PyObject *task)
{
    return is_task(task) && layout.coroutine != 0 ? word_at(task, layout.coroutine)
                                                  : NULL;
}

/* The name as get_name() would give it; `text` holds NAME_BYTES. */
static void
copy_name(PyObject *task, char *text)
{
    PyObject *name =
        is_task(task) && layout.name != 0 ? word_at(task, layout.name) : NULL;

    text[0] = '\0';
    if (name != NULL && PyUnicode_Check(name)) {
        (void)film_text_copy(name, text, NAME_BYTES - 1, NULL);
    }
    else if (name != NULL && PyLong_CheckExact(name)) { /* not asked for yet */
        (void)snprintf(text, NAME_BYTES, "Task-%lld", PyLong_AsLongLong(name));
        PyErr_Clear();
    }
}

/* The tasks that run, by their loops; borrowed, NULL: none has run yet. */
static PyObject *
tasks_by_loop(void)
{
    static PyObject *tasks; /* owned, for the life of the process */

    if (tasks == NULL) {
        PyObject *found = module_item("_asyncio", "_current_tasks");
        tasks = found == NULL || !PyDict_CheckExact(found) ? NULL : Py_NewRef(found);
    }
    return tasks;
}

/* The task that runs in this thread; borrowed, NULL: none. */
static PyObject *
current_task(void)
{
    PyObject *running = film_compat_running_loop(), *tasks, *loop, *task;
    Py_ssize_t position = 0;

    if (running == NULL) {
        return NULL;
    }
    if (FILM_TASK_IN_THREAD_STATE) {
        return film_compat_running_task();
    }
    tasks = tasks_by_loop();
    /* An entry for each loop that is within a task's step, so nearly always one; looked
     * through, because a lookup might call the loop's own __hash__. */
    while (tasks != NULL && PyDict_Next(tasks, &position, &loop, &task)) {
        if (loop == running) {
            return task;
        }
    }
    return NULL;
}

/* --- what is known of tasks --- */

static size_t
home_slot(const PyObject *task, size_t capacity)
{
    uint64_t hash = ((uint64_t)(uintptr_t)task >> 4) * UINT64_C(0x9e3779b97f4a7c15);

    return (size_t)(hash >> 20) & (capacity - 1);
}

static known_task *
find_slot(known_task *slots, size_t capacity, const PyObject *task)
{
    size_t index = home_slot(task, capacity);

    while (slots[index].task != NULL && slots[index].task != task) {
        index = (index + 1) & (capacity - 1);
    }
    return &slots[index];
}

static bool
resize_table(size_t capacity)
{
    known_task *slots = film_alloc_array(capacity, sizeof(*slots));

    if (slots == NULL) {
        return false;
    }
    for (size_t index = 0; index < table.capacity; index++) {
        if (table.slots[index].task != NULL) {
            *find_slot(slots, capacity, table.slots[index].task) = table.slots[index];
        }
    }
    film_free(table.slots);
    table.slots = slots;
    table.capacity = capacity;
    return true;
}

static bool
make_room(void)
{
    if ((table.used + 1) * 2 <= table.capacity) {
        return true;
    }
    return resize_table(table.capacity == 0 ? FIRST_CAPACITY : table.capacity * 2);
}

/* The task has ended: later entries move back over its own, and a table that many tasks
 * at a time had made large becomes small again. */
static void
forget(const PyObject *task)
{
    size_t mask = table.capacity - 1, hole;

    if (table.used == 0) {
        return;
    }
    hole = (size_t)(find_slot(table.slots, table.capacity, task) - table.slots);
    if (table.slots[hole].task == NULL) {
        return;
    }
    table.used--;
    for (size_t index = (hole + 1) & mask; table.slots[index].task != NULL;
         index = (index + 1) & mask) {
        size_t home = home_slot(table.slots[index].task, table.capacity);

        /* It may move back unless its home lies between the hole and itself. */
        if (((index - home) & mask) >= ((index - hole) & mask)) {
            table.slots[hole] = table.slots[index];
            hole = index;
        }
    }
    table.slots[hole].task = NULL;
    if (table.capacity > FIRST_CAPACITY && table.used * 16 < table.capacity) {
        (void)resize_table(table.capacity / 4); /* else it stays large */
    }
}

/* NULL: memory is out. `begins`: it is a task that was never seen. */
static const known_task *
know(PyObject *task, bool begins)
{
    const PyObject *coroutine = coroutine_of(task);
    char text[NAME_BYTES];
    known_task *known;
    uint64_t hash;

    if (!make_room()) {
        return NULL;
    }
    known = find_slot(table.slots, table.capacity, task);
    if (known->task == NULL) {
        table.used++;
    }
    if (known->task == NULL || begins || known->coroutine != coroutine) {
        known->task = task;
        known->coroutine = coroutine;
        known->id = ++table.last_id;
        known->name = 0;
        known->text = 0;
    }
    copy_name(task, text);
    hash = film_hash(text, strlen(text));
    if (hash != known->text) {
        known->text = hash;
        known->name =
            film_writer_passing_name(film_the_session.writer, text, strlen(text));
    }
    return known;
}

void
film_tasks_reset(void)
{
    film_free(table.slots);
    memset(&table, 0, sizeof(table));
}

/* --- the interface --- */

static bool
hold(film_context *context, const known_task *known, bool own)
{
    struct film_held_tasks *held = context->tasks;

    if (held == NULL) {
        held = context->tasks = calloc(1, sizeof(*held));
    }
    if (held == NULL || held->count == MOST_NESTED ||
        !film_append_task(context->thread, known->id, known->name)) {
        return false;
    }
    held->held[held->count++] = (held_task){
        .task = known->task, .id = known->id, .name = known->name, .own = own};
    return true;
}

void
film_task_enter(film_context *context, const film_frame *frame, bool begins)
{
    const struct film_held_tasks *held = context->tasks;
    const PyCodeObject *code = (const PyCodeObject *)context->top->code;
    const known_task *known;
    film_saved_error saved;
    PyObject *task;
    bool own;

    if ((code->co_flags & ASYNC_FLAGS) == 0 ||
        (held != NULL && held->count != 0 && !film_frame_is_from_c(frame))) {
        return; /* a coroutine awaits another one: it is the same task's */
    }
    film_compat_save_error(&saved);
    task = current_task();
    if (task != NULL && (held == NULL || held->count == 0 ||
                         held->held[held->count - 1].task != task)) {
        if (layout.type == NULL) {
            find_layout(task);
        }
        own = coroutine_of(task) == film_frame_generator(frame);
        known = know(task, own && begins);
        if (known != NULL && hold(context, known, own)) {
            context->top->suspends = FILM_SUSPENDS_TASK;
        }
    }
    film_compat_restore_error(&saved);
}

void
film_task_leave(film_context *context, bool ended)
{
    struct film_held_tasks *held = context->tasks;
    held_task before = {0}, *left;

    if (held == NULL || held->count == 0) {
        return;
    }
    left = &held->held[--held->count];
    if (ended && left->own) {
        forget(left->task); /* whatever lies there later is another one */
    }
    if (held->count != 0) {
        before = held->held[held->count - 1];
    }
    (void)film_append_task(context->thread, before.id, before.name);
}
