/* deaths.h: learns when an object dies.
 *
 * An instance of a Python class comes from the object allocator and goes back to it:
 * no free list keeps it for the next one. So while we see every `free`, an instance at
 * a known address is the one we know, and objects.c needs no other proof. The hook is
 * the allocator's own (PyMem_SetAllocator, as tracemalloc does it); `malloc` stays what
 * it was. A block that is not watched costs one load and one jump.
 * Exact lists, dicts and tuples have free lists: their types' destructors are ours
 * while a recording lasts.
 *
 * Others may put their hooks over ours, or put back an allocator they saw before us:
 * film_deaths_are_seen notices.
 * Threads: the holder of the GIL, as the object allocator demands.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_DEATHS_H
#define FILMSTRIP_RECORDER_DEATHS_H

#include "recorder/compat.h"

#include "recorder/compat_objects.h"

/* Called with what may be the address of a watched object that dies; true: it was one.
 * The object must not be looked at. */
typedef bool
film_death(const PyObject *object);

/* Watched blocks by a part of their addresses; the counts stop at their highest. */
#define FILM_WATCHED (1u << 16)
extern uint8_t film_the_watched[FILM_WATCHED];

/* `free` of the object allocator as we know it to reach us. */
extern film_free_function *film_the_seen_free;

/* False: the hook cannot be put in place. */
bool
film_deaths_begin(film_death *on_death);

void
film_deaths_end(void);

/* The allocator is not the one we know: true when our hook still sees every free. */
bool
film_deaths_check(void);

/* True when no watched object has died unseen. */
static inline bool
film_deaths_are_seen(void)
{
    return FILM_LIKELY(film_object_allocator_free() == film_the_seen_free) ||
           film_deaths_check();
}

/* True for types whose instances' deaths we see. is_deque: the type is
 * collections.deque itself. */
bool
film_type_dies_in_sight(const PyTypeObject *type, bool is_deque);

/* The same for a type of a C extension, of which it is known that its destructor keeps no
 * instance for the next one. */
bool
film_type_is_freed_in_sight(const PyTypeObject *type);

static inline uint8_t *
film_watched_count(const PyObject *object)
{
    uintptr_t block = (uintptr_t)object - film_object_header_bytes(
                                              ((PyObject *)(uintptr_t)object)->ob_type);

    return &film_the_watched[block >> 4 & (FILM_WATCHED - 1)];
}

/* `object` is alive and of such a type; forgotten: it is no longer of interest. */
static inline void
film_deaths_forget(const PyObject *object)
{
    uint8_t *count = film_watched_count(object);

    if (*count > 0 && *count < UINT8_MAX) {
        --*count;
    }
}

static inline void
film_deaths_watch(const PyObject *object)
{
    uint8_t *count = film_watched_count(object);

    if (*count < UINT8_MAX) {
        ++*count;
    }
}

#endif
