/* objects.h: which object is which: serials that are never confused by reused
 * addresses.
 *
 * Nearly all die in sight (deaths.h): one in the table is the one we know. Objects of C
 * extensions' types may die unseen, by way of free lists, and the next one takes the
 * address at once. Such an address keeps its serial at the next sighting only if
 * something we recorded proves that the object has lived on: a PLACE (variable, cell,
 * attribute, item) that was last told to hold this address and holds it now. A place is
 * told about in the order of its writes, and the old value of a write lives until the
 * new one is in place: so if it was told to hold A and holds A, it has held one object
 * all the time. Nothing proves it: a new serial. (Too many serials are a loss, one for
 * two objects would be a lie.)
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

#include "recorder/addresses.h"
#include "recorder/capture.h"
#include "recorder/capture_types.h"
#include "recorder/deaths.h"

/* Attributes whose part in the fingerprint is kept: stores to them need no look at the
 * others. */
#define FILM_WORDS 14u
/* Of a list: what the items that its record shows add to the fingerprint, and
 * film_the_changes as it was then (addresses.c has the first words). */
#define FILM_WORD_OF_HEAD (FILM_WORDS - 1)
#define FILM_WORD_OF_CHANGES (FILM_WORDS - 2)
/* Of a container with others in it: its fingerprint with those counted by address. */
#define FILM_WORD_OF_ITEMS (FILM_WORDS - 3)
/* Of a container within another: its fingerprint when that one was told, where it was
 * not what it had been told to hold. */
#define FILM_WORD_AS_HELD (FILM_WORDS - 4)

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
    uint64_t fingerprint; /* read by film_object_fingerprint */
    uint64_t record;      /* value id + 1 of the last one; 0: none */
    uint64_t pointers;    /* film_addresses.word of a list or deque whose items count by
                             address only; 0: others. Of one that is sure, the rest is in
                             its words */
    uint64_t body;        /* hash of the record */
    uint32_t version; /* of film_dict_version at the fingerprint; 0: none. Of a list:
                         looks saved since all of it was compared; of a class: its
                         version tag */
    uint32_t placed;  /* items whose places are known, from the first on */
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
    bool wordless : 1;   /* of a list: its pointers hold, the fingerprint does not */
    bool whole : 1;      /* its tokens refer to the record, whatever it holds by then */
    bool sure : 1;       /* dies in sight: words, no places */
    bool worded : 1;     /* the words hold */
    bool headed : 1;     /* of a list: FILM_WORD_OF_HEAD and _OF_CHANGES hold */
    bool itemed : 1;     /* FILM_WORD_OF_ITEMS holds */
    bool as_held : 1;    /* FILM_WORD_AS_HELD holds */
    bool hidden : 1;     /* its texts are secrets (secrets.h) */
    uint8_t pieces : 4;  /* stores told since the record, up to FILM_PIECES */
    uint8_t told_in : 4; /* film_told_period of the record */
    uint16_t holding;    /* attributes last told to hold an object that is not sure, by
                          film_holding_bit */
    uint16_t cell;       /* check word of the cell it was last told in */
    union {
        struct {
            film_slot_place first, last; /* a proven one that lives long; the latest */
            film_held_place held;        /* one that holds it for long; */
            film_held_place also;        /* the latest */
        };
        /* What each attribute adds to the fingerprint: first the members of __slots__,
         * then those in line by their position. */
        uint64_t words[FILM_WORDS];
    };
} film_object;

/* Buckets of addresses, one cache line each, the objects beside them. `quick`: what the
 * token of an object needs that is sure and told by reference, so that nothing else of
 * it is looked at; 0: it must be. Its record, its type, and */
#define FILM_OBJECT_WAYS 4u
#define FILM_QUICK_RECORD ((UINT64_C(1) << 38) - 1)
#define FILM_QUICK_WORDED (UINT64_C(1) << 38) /* its words hold */
#define FILM_QUICK_HOLDS (UINT64_C(1) << 39)  /* some attribute may be `holding` */
#define FILM_QUICK_USED (UINT64_C(1) << 62)   /* asked for lately */
#define FILM_QUICK_VALID (UINT64_C(1) << 63)
#define FILM_QUICK_TYPE (FILM_QUICK_VALID | ((UINT64_C(1) << 62) - (UINT64_C(1) << 40)))

typedef struct film_object_way {
    const PyObject *address; /* NULL: free */
    uint64_t quick;
} film_object_way;

typedef struct film_object_table {
    film_object_way *ways; /* owned, 64-byte aligned */
    film_object *objects;  /* owned, 64-byte aligned */
    size_t capacity;       /* a power of two, or 0 */
    uint32_t clock;        /* objects added */
    uint32_t stacks;       /* stack ids given */
} film_object_table;

extern film_object_table film_the_objects;

/* Changes of containers that were told: while there is none, what lies within one has
 * not changed either. */
extern uint64_t film_the_changes;

/* Stores to an object that are counted. */
#define FILM_PIECES 15u

/* A period is that many changes, as a power of two; tests make it shorter. */
#define FILM_PERIOD_SHIFT 15u
extern uint32_t film_the_period_shift;

/* Periods follow one another, and begin anew after 16. */
static inline uint8_t
film_told_period(void)
{
    return (uint8_t)(film_the_changes >> film_the_period_shift & 15);
}

/* Where an object is looked for first; then at the other ways of its bucket, which are
 * this number with other low bits. Neighbours in memory are neighbours in the table: a
 * program that walks over its objects walks over ours. */
static inline size_t
film_objects_place(const PyObject *object)
{
    uint64_t address = (uint64_t)(uintptr_t)object;
    uint64_t spread = (address >> 20) * UINT64_C(0x9e3779b97f4a7c15) >> 32;

    return (size_t)((address >> 4) + (spread & ~(uint64_t)(FILM_OBJECT_WAYS - 1))) &
           (film_the_objects.capacity - 1);
}

/* The bit of an attribute at this offset (a member of __slots__) or, where that is
 * negative, position. Several may share it. */
static inline uint16_t
film_holding_bit(int32_t offset, int32_t position)
{
    return (uint16_t)(1u << ((offset >= 0 ? offset >> 3 : position) & 15));
}

static inline uint32_t
film_type_word(const PyTypeObject *type)
{
    return (uint32_t)(((uint64_t)(uintptr_t)type >> 4) * UINT64_C(0x9e3779b97f4a7c15) >>
                      32);
}

/* The way of an object, which is not followed; NULL: not seen. */
static inline film_object_way *
film_objects_find_way(const void *address)
{
    size_t place = film_objects_place(address);

    for (size_t way = 0; way < FILM_OBJECT_WAYS; way++) {
        film_object_way *at = &film_the_objects.ways[place ^ way];

        if (FILM_LIKELY(at->address == address)) {
            return at;
        }
    }
    return NULL;
}

static inline film_object *
film_object_of_way(const film_object_way *way)
{
    return &film_the_objects.objects[way - film_the_objects.ways];
}

/* The object at this address as last seen, not proven; NULL: not seen. Borrowed until
 * the next film_objects_see. */
static inline film_object *
film_objects_find(const PyObject *object)
{
    const film_object_way *way = film_objects_find_way(object);

    return way == NULL ? NULL : film_object_of_way(way);
}

/* The same for one that surely is the object we know; NULL: not seen, or not sure. */
static inline film_object *
film_objects_find_sure(PyObject *object)
{
    film_object *found = film_objects_find(object);

    if (FILM_LIKELY(found != NULL && found->sure &&
                    found->type == film_type_word(Py_TYPE(object)) &&
                    film_deaths_are_seen())) {
        if (found->seen != film_the_objects.clock) {
            found->seen = film_the_objects.clock;
        }
        return found;
    }
    return NULL;
}

/* The part of `quick` that the type decides. */
static inline uint64_t
film_quick_type(const PyTypeObject *type)
{
    return FILM_QUICK_VALID | (uint64_t)(film_type_word(type) >> 10) << 40;
}

/* The way of an object whose token needs no closer look; NULL: another object. */
static inline film_object_way *
film_objects_quick(const PyObject *object)
{
    film_object_way *at = film_objects_find_way(object);

    if (FILM_UNLIKELY(at == NULL ||
                      (at->quick & FILM_QUICK_TYPE) !=
                          film_quick_type(object->ob_type) ||
                      !film_deaths_are_seen())) {
        return NULL;
    }
    if (FILM_UNLIKELY((at->quick & FILM_QUICK_USED) == 0)) {
        at->quick |= FILM_QUICK_USED;
    }
    return at;
}

/* The value id of the record that tells of it. */
static inline uint64_t
film_quick_record(const film_object_way *way)
{
    return way->quick & FILM_QUICK_RECORD;
}

static inline film_addresses
film_object_addresses(const film_object *object)
{
    if (!object->sure) {
        return (film_addresses){.word = object->pointers, .front = 1};
    }
    return (film_addresses){
        .word = object->pointers,
        .front = object->words[0],
        .back = object->words[1],
        .first = (const PyObject *)(uintptr_t)object->words[2],
    };
}

static inline void
film_object_set_addresses(film_object *object, const film_addresses *addresses)
{
    object->pointers = addresses->word;
    if (object->sure && addresses->word != 0) {
        object->words[0] = addresses->front;
        object->words[1] = addresses->back;
        object->words[2] = (uintptr_t)addresses->first;
    }
}

/* True when the list or deque has the items it was last told to have, by address. */
static inline bool
film_object_has_same_addresses(const film_object *object, PyObject *value,
                               film_content content)
{
    film_addresses known = film_object_addresses(object);

    return known.word != 0 && Py_SIZE(value) == object->length &&
           film_addresses_of(value, content, known.front).word == known.word;
}

/* What its content was when last told, as film_fingerprint.word. */
static inline uint64_t
film_object_fingerprint(const film_object *object)
{
    uint64_t sum = 1;

    if (!object->worded) {
        return object->fingerprint;
    }
    for (unsigned index = 0; index < FILM_WORDS; index++) {
        sum += object->words[index];
    }
    return sum;
}

/* To be called when `worded` or `holding` has changed. */
void
film_objects_renew_quick(film_object *object);

/* The object's last record is this one (value id + 1, 0: none); `whole`: the tokens of
 * the object refer to it, whatever it holds by then. */
void
film_objects_set_record(film_object *object, uint64_t record, bool whole);

/* The object, proven or new, now with this place. *known: it has kept its serial. NULL
 * when memory is out. Borrowed until the next film_objects_see. */
film_object *
film_objects_see(film_context *context, PyObject *object, const film_holder *holder,
                 bool *known);

/* The same for one of a type that dies in sight and that film_objects_find_sure does not
 * know: a new one. */
film_object *
film_objects_see_new(PyObject *object);

bool
film_objects_begin(void);

void
film_objects_end(void);

extern film_capture_counts film_the_capture_counts;

#endif
