/* objects.h: which object is which: serials that are never confused by reused
 * addresses.
 *
 * Objects die unseen and the next one takes the address at once. So an address keeps
 * its serial at the next sighting only if something we recorded proves that the object
 * has lived on: a PLACE (variable, cell, attribute, item) that was last told to hold
 * this address and holds it now. A place is told about in the order of its writes, and
 * the old value of a write lives until the new one is in place: so if it was told to
 * hold A and holds A, it has held one object all the time. Nothing proves it: a new
 * serial. (Too many serials are a loss, one for two objects would be a lie.)
 *
 * Reading a place needs its owner to be alive: a frame's slot is read only while the
 * frame's entry is on the running thread's shadow stack, an attribute or item only of
 * an owner that is itself proven this way, a few steps deep.
 *
 * What is not proven, and so gets a new serial: an object that only a suspended
 * generator, another thread's variables, C code or the items of a container beyond
 * those of its snapshot have held since the last sighting; everything after a pause.
 * What is taken on trust: that an attribute or item has not been replaced twice by code
 * that is not recorded, ending at the same address.
 *
 * Threads: the holder of the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_OBJECTS_H
#define FILMSTRIP_RECORDER_OBJECTS_H

#include "recorder/compat.h"

#include "recorder/capture.h"
#include "recorder/capture_types.h"

/* The slot of a frame, or the cell in it. */
typedef struct film_slot_place {
    uint64_t frame;      /* its serial */
    uint32_t stack;      /* which stack: film_context.stack_id; 0: no place */
    uint32_t index : 18; /* of its entry */
    uint32_t slot : 12;
    uint32_t is_cell : 1;
    uint32_t suspends : 1; /* a generator's */
} film_slot_place;

/* An attribute, an item, or a name in a namespace. */
typedef struct film_held_place {
    PyObject *owner;            /* borrowed: read only once it is proven alive */
    uint64_t owner_serial : 48; /* of a namespace: its stamp (places.c) */
    uint64_t kind : 8;          /* film_holder_kind; NONE: no place */
    uint64_t : 8;
    uint32_t key; /* hash of owner and name; for an item the owner's edition */
    int32_t hint; /* position within the owner */
} film_held_place;

typedef struct film_object {
    uint64_t serial;
    uint64_t fingerprint;
    uint64_t pointers; /* of a list whose items count by address only; 0: others */
    uint64_t record;   /* value id + 1 of the last one; 0: none */
    uint64_t body;     /* hash of that record */
    uint32_t version;  /* of film_dict_version at the fingerprint; 0: none. Of a list:
                          looks saved since all of it was compared; of a class: its
                          version tag */
    uint32_t placed;   /* items whose places are known, from the first on */
    int64_t length;
    uint32_t type;     /* hash of its type's address */
    uint32_t seen;     /* when, to choose whom to forget */
    uint32_t edition;  /* counts its records: what its items' places hold on to */
    uint8_t levels;    /* how deep the record and the fingerprint go */
    bool flat : 1;     /* no container within */
    bool stale : 1;    /* written to since the record, as was told */
    bool busy : 1;     /* its record is being made */
    bool renewed : 1;  /* while busy: the record begins a new edition */
    bool compared : 1; /* the fingerprint holds */
    bool partly : 1;   /* it is of a part of the content only */
    bool unsure : 1;   /* a store was told that is not in it */
    bool dict : 1;
    uint16_t cell;               /* check word of the cell it was last told in */
    film_slot_place first, last; /* a proven one that lives long; the latest */
    film_held_place held;        /* one that holds it for long; */
    film_held_place also;        /* the latest */
} film_object;

static inline uint32_t
film_type_word(const PyTypeObject *type)
{
    return (uint32_t)(((uint64_t)(uintptr_t)type >> 4) * UINT64_C(0x9e3779b97f4a7c15) >>
                      32);
}

/* The object at this address as last seen, not proven; NULL: not seen. Borrowed until
 * the next film_objects_see. */
film_object *
film_objects_find(const PyObject *object);

/* The object, proven or new, now with this place. *known: it has kept its serial. NULL
 * when memory is out. Borrowed until the next film_objects_see. */
film_object *
film_objects_see(film_context *context, PyObject *object, const film_holder *holder,
                 bool *known);

bool
film_objects_begin(void);

void
film_objects_end(void);

extern film_capture_counts film_the_capture_counts;

#endif
