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

static inline size_t
watched_place(const void *block)
{
    return (uintptr_t)block >> 4 & (FILM_WATCHED - 1);
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
    for (int header = 0; header <= FILM_HEADER_MOST && the_listener != NULL;
         header += FILM_HEADER_STEP) {
        if (the_listener((const PyObject *)(const void *)(start + header))) {
            uint8_t *count = &film_the_watched[watched_place(block)];

            *count = (uint8_t)(*count - (*count > 0 && *count < UINT8_MAX));
            return;
        }
    }
}

static void
on_free(void *allocator, void *block)
{
    if (FILM_UNLIKELY(film_the_watched[watched_place(block)] != 0) && block != NULL) {
        tell_death(block);
    }
    the_old_free(allocator, block);
}

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

bool
film_type_dies_in_sight(const PyTypeObject *type, bool is_deque)
{
    const PyTypeObject *base = type;

    if (type == &PyCell_Type) {
        return the_listener != NULL; /* it has no free list */
    }
    if (the_listener == NULL || the_heap_dealloc == NULL ||
        type->tp_alloc != PyType_GenericAlloc || type->tp_itemsize != 0 ||
        (type->tp_free != PyObject_GC_Del && type->tp_free != PyObject_Free)) {
        return false;
    }
    if (base == &PySet_Type || base == &PyFrozenSet_Type || base == &PyByteArray_Type ||
        is_deque) {
        return true;
    }
    if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0) {
        return false;
    }
    /* The free lists are for exact lists and dicts. */
    while (base != NULL && base->tp_dealloc == the_heap_dealloc) {
        base = base->tp_base;
    }
    return base == &PyBaseObject_Type || base == &PyList_Type || base == &PyDict_Type ||
           base == &PySet_Type || base == &PyFrozenSet_Type ||
           base == &PyByteArray_Type;
}

bool
film_deaths_begin(film_death *on_death)
{
    if (the_heap_dealloc == NULL) {
        the_heap_dealloc = find_heap_dealloc();
    }
    memset(film_the_watched, 0, sizeof(film_the_watched));
    the_listener = on_death;
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
    memset(film_the_watched, 0, sizeof(film_the_watched));
    PyMem_GetAllocator(PYMEM_DOMAIN_OBJ, &allocator);
    /* Under somebody else's hook it stays, and lets everything through. */
    if (allocator.free == on_free) {
        allocator.free = the_old_free;
        PyMem_SetAllocator(PYMEM_DOMAIN_OBJ, &allocator);
    }
}
