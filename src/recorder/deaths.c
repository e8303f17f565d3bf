/* deaths.c: see deaths.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/deaths.h"

#include <string.h>

#define PROBE_BYTES 40

uint8_t film_the_watched[FILM_WATCHED];
film_free_function *film_the_seen_free;

static film_death *the_listener;         /* NULL: nobody listens */
static film_free_function *the_old_free; /* what our hook calls; NULL: never hooked */
static destructor the_heap_dealloc;      /* of classes that a class statement makes */
static const void *the_probe;            /* a block whose free is awaited */
static PyInterpreterState *the_interpreter; /* that is recorded */

static inline size_t
watched_place(const void *block)
{
    return (uintptr_t)block >> 4 & (FILM_WATCHED - 1);
}

/* Other interpreters may have a GIL of their own: what dies there is none of ours. */
static inline bool
is_listened_to(void)
{
    return the_listener != NULL && PyInterpreterState_Get() == the_interpreter;
}

static void
no_longer_watched(uint8_t *count)
{
    *count = (uint8_t)(*count - (*count > 0 && *count < UINT8_MAX));
}

/* Room before an object for the collector and for its attributes: which of them it has,
 * a block alone does not tell. */
static void
tell_death(const void *block)
{
    const char *start = block;

    if (block == the_probe) {
        the_probe = NULL;
        return;
    }
    if (!is_listened_to()) {
        return;
    }
    for (int header = 0; header <= FILM_HEADER_MOST; header += FILM_HEADER_STEP) {
        if (the_listener((const PyObject *)(const void *)(start + header))) {
            no_longer_watched(&film_the_watched[watched_place(block)]);
            return;
        }
    }
}

static FILM_HOT void
on_free(void *allocator, void *block)
{
    if (FILM_UNLIKELY(film_the_watched[watched_place(block)] != 0) && block != NULL) {
        tell_death(block);
    }
    the_old_free(allocator, block);
}

/* --- types with free lists ----------------------------------------------------------
 */

static inline void
tell_death_of(const PyObject *object)
{
    uint8_t *count = film_watched_count(object);

    if (FILM_UNLIKELY(*count != 0) && is_listened_to() && the_listener(object)) {
        no_longer_watched(count);
    }
}

/* The destructor of a type that takes the place of its own, and that one; NULL: never
 * replaced. */
#define DESTRUCTOR(name, type, nests)                                                  \
    static destructor name##_dealloc;                                                  \
    static void on_##name##_dealloc(PyObject *object)                                  \
    {                                                                                  \
        tell_death_of(object);                                                         \
        if (nests) {                                                                   \
            film_dealloc_through(object, name##_dealloc, Py_IS_TYPE(object, &(type))); \
        }                                                                              \
        else {                                                                         \
            name##_dealloc(object);                                                    \
        }                                                                              \
    }
#define ENTRY(name, type, nests) {&(type), on_##name##_dealloc, &name##_dealloc},

FILM_TYPES_WITH_FREE_LISTS(DESTRUCTOR)

static const struct {
    PyTypeObject *type;
    destructor ours, *theirs;
} the_listed[] = {FILM_TYPES_WITH_FREE_LISTS(ENTRY)};

#define LISTED (sizeof(the_listed) / sizeof(the_listed[0]))

static void
hook_destructors(void)
{
    for (size_t index = 0; index < LISTED; index++) {
        PyTypeObject *type = the_listed[index].type;

        if (type->tp_dealloc != the_listed[index].ours) {
            *the_listed[index].theirs = type->tp_dealloc;
            type->tp_dealloc = the_listed[index].ours;
        }
    }
}

/* Types that were made meanwhile may have inherited ours: it goes on passing through.
 */
static void
unhook_destructors(void)
{
    for (size_t index = 0; index < LISTED; index++) {
        PyTypeObject *type = the_listed[index].type;

        if (type->tp_dealloc == the_listed[index].ours) {
            type->tp_dealloc = *the_listed[index].theirs;
        }
    }
}

/* --- all others ---------------------------------------------------------------------
 */

/* Puts the hook over what is there now. */
static void
hook(void)
{
    PyMemAllocatorEx allocator;

    PyMem_GetAllocator(PYMEM_DOMAIN_OBJ, &allocator);
    if (allocator.free != on_free) {
        the_old_free = allocator.free;
        allocator.free = on_free;
        PyMem_SetAllocator(PYMEM_DOMAIN_OBJ, &allocator);
    }
    film_the_seen_free = on_free;
}

/* Whether a block that is freed now is seen by us. */
typedef enum reach { UNSEEN, SEEN, NO_MEMORY } reach;

static reach
probe(void)
{
    void *block = PyObject_Malloc(PROBE_BYTES);
    uint8_t *count;

    if (block == NULL) {
        return NO_MEMORY;
    }
    count = &film_the_watched[watched_place(block)];
    the_probe = block;
    *count = (uint8_t)(*count + (*count < UINT8_MAX));
    PyObject_Free(block);
    /* A count too high only costs a look. */
    if (the_probe != NULL) {
        the_probe = NULL;
        return UNSEEN;
    }
    return SEEN;
}

bool
film_deaths_check(void)
{
    if (the_listener == NULL || probe() != SEEN) {
        return false;
    }
    film_the_seen_free = film_object_allocator_free();
    return true;
}

/* What classes are freed by, from one of our own. */
static destructor
find_heap_dealloc(void)
{
    static PyType_Slot slots[] = {{0, NULL}};
    static PyType_Spec spec = {
        .name = "filmstrip._recorder.Nothing",
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = slots,
    };
    PyObject *type = PyType_FromSpec(&spec);
    destructor found;

    if (type == NULL) {
        PyErr_Clear();
        return NULL;
    }
    found = ((PyTypeObject *)type)->tp_dealloc;
    Py_DECREF(type);
    return found;
}

/* The type's own part of an instance is freed by the object allocator. */
static bool
is_freed_directly(const PyTypeObject *base)
{
    static PyTypeObject *const builtin[] = {FILM_TYPES_WITHOUT_FREE_LIST};

    for (size_t index = 0; index < sizeof(builtin) / sizeof(builtin[0]); index++) {
        if (base == builtin[index]) {
            return true;
        }
    }
    /* (MemoryError keeps some of its own kind.) */
    return (PyType_FastSubclass((PyTypeObject *)(uintptr_t)base,
                                Py_TPFLAGS_BASE_EXC_SUBCLASS) &&
            (base->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0 &&
            base != (PyTypeObject *)PyExc_MemoryError) ||
           strcmp(base->tp_name, "_asyncio.Future") == 0 ||
           strcmp(base->tp_name, "_asyncio.Task") == 0 ||
           strcmp(base->tp_name, "_asyncio.TaskStepMethWrapper") == 0;
}

/* A class that pybind11 has made: its destructor is that of pybind11's own base class,
 * which gives the memory back and keeps none. So the groups of torch.distributed keep
 * their serials. */
static bool
is_of_pybind(const PyTypeObject *type)
{
    const PyTypeObject *base = type;

    while (base->tp_base != NULL && base->tp_base != &PyBaseObject_Type) {
        base = base->tp_base;
    }
    return strcmp(base->tp_name, "pybind11_object") == 0 &&
           base->tp_dealloc == type->tp_dealloc;
}

bool
film_type_dies_in_sight(const PyTypeObject *type, bool is_deque)
{
    const PyTypeObject *base = type;

    if (the_listener == NULL) {
        return false;
    }
    for (size_t index = 0; index < LISTED; index++) {
        if (type == the_listed[index].type) {
            return type->tp_dealloc == the_listed[index].ours;
        }
    }
    if (is_deque || is_freed_directly(type)) {
        return true;
    }
    if (the_heap_dealloc == NULL || type->tp_alloc != PyType_GenericAlloc ||
        (type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0 ||
        (type->tp_free != PyObject_GC_Del && type->tp_free != PyObject_Free)) {
        return false;
    }
    while (base != NULL && base->tp_dealloc == the_heap_dealloc) {
        base = base->tp_base;
    }
    /* The free lists are for exact lists, dicts and tuples. */
    return base == &PyBaseObject_Type || base == &PyList_Type || base == &PyDict_Type ||
           base == &PyTuple_Type || is_freed_directly(base) || is_of_pybind(base);
}

bool
film_type_is_freed_in_sight(const PyTypeObject *type)
{
    return the_listener != NULL && type->tp_alloc == PyType_GenericAlloc &&
           type->tp_free == PyObject_GC_Del;
}

bool
film_deaths_begin(film_death *on_death)
{
    if (the_heap_dealloc == NULL) {
        the_heap_dealloc = find_heap_dealloc();
    }
    memset(film_the_watched, 0, sizeof(film_the_watched));
    the_interpreter = PyInterpreterState_Get();
    the_listener = on_death;
    hook_destructors();
    if (the_old_free == NULL) {
        hook();
        return the_heap_dealloc != NULL;
    }
    switch (probe()) {
    case SEEN:
        film_the_seen_free = film_object_allocator_free();
        break;
    case UNSEEN:
        hook();
        break;
    case NO_MEMORY:
        break; /* it may lie under another one: hooked twice it would call itself */
    }
    return the_heap_dealloc != NULL;
}

void
film_deaths_end(void)
{
    PyMemAllocatorEx allocator;

    the_listener = NULL;
    unhook_destructors();
    memset(film_the_watched, 0, sizeof(film_the_watched));
    PyMem_GetAllocator(PYMEM_DOMAIN_OBJ, &allocator);
    /* Under somebody else's hook it stays, and lets everything through. */
    if (allocator.free == on_free) {
        allocator.free = the_old_free;
        PyMem_SetAllocator(PYMEM_DOMAIN_OBJ, &allocator);
    }
}
