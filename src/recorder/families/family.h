/* family.h: types whose objects people know by their repr(): what they are told as.
 *
 * A family is a set of types that are read in the same way, one file each. It says at the
 * first sight of a type whether that is one of its own; then its objects' records carry a
 * note (format/value_record.h). Nothing of the program is called: layouts are read in
 * place, found by the members the type declares or proven by an object of our own or by
 * what C code says of the first one that is seen. What is not proven has no note, and is
 * told by type and serial.
 *
 * A type is `said` when its objects are nothing but their content: they have no serial
 * and equal ones share a record.
 * Threads: the holder of the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_FAMILIES_FAMILY_H
#define FILMSTRIP_RECORDER_FAMILIES_FAMILY_H

#include "recorder/compat.h"

#include <string.h>

#include "recorder/capture_types.h"
#include "recorder/snapshot_forms.h"

typedef struct film_family {
    /* True when the type is of the family; fills in what `known` says of notes, and
     * `content` where the family reads it in its own way. */
    bool (*learn)(film_type *known, PyTypeObject *type);
    /* Writes the note of an object (note.h); false: nothing was written. NULL: the
     * type's own strings are all of it. */
    bool (*note)(film_unfinished *making);
    /* What stands for the content of one that is said: equal ones, equal words; 0: not
     * known. NULL: it counts by address. */
    uint64_t (*word)(PyObject *value);
    bool whole; /* the note needs neither items nor attributes */
} film_family;

extern const film_family
    film_family_scalars;                   /* classes made of int, float, str, bytes */
extern const film_family film_family_made; /* classes made of containers */
extern const film_family film_family_records;  /* namedtuple, structseq */
extern const film_family film_family_classes;  /* Enum, Fraction, UUID, Path, ... */
extern const film_family film_family_fields;   /* dataclasses, SimpleNamespace */
extern const film_family film_family_decimals; /* Decimal */
extern const film_family film_family_dates;    /* datetime, date, time, timedelta */
extern const film_family film_family_zones;    /* timezone, ZoneInfo */
extern const film_family film_family_ranges;   /* range, slice */
extern const film_family film_family_patterns; /* re.Pattern, re.Match */
extern const film_family film_family_partials; /* functools.partial */
extern const film_family film_family_methods;  /* bound methods */
extern const film_family film_family_numpy;    /* numpy's scalars */
extern const film_family film_family_arrays;   /* array.array */
extern const film_family film_family_torch;    /* torch.float32, device("cpu") */

/* Of a type that is seen for the first time: finds its family. */
void
film_family_learn(film_type *known, PyTypeObject *type);

/* Writes the note of an object whose record is being made; false: it has none. */
bool
film_family_note(film_unfinished *making);

/* The word of an object that is `said`; 0: it counts by address. */
uint64_t
film_family_word(const film_type *type, PyObject *value);

/* A recording begins: what is known of strings and layouts is not known any more. */
void
film_families_begin(void);

/* Counts recordings: what a family keeps of one holds for no other. */
extern uint32_t film_the_family_era;

/* --- help for the families --- */

/* Where a type declares an object member of that name, with its offset; false: it does
 * not. */
bool
film_family_member(PyTypeObject *type, const char *name, Py_ssize_t *offset);

/* What a module that is imported holds under that name; NULL: nothing. Borrowed. */
PyObject *
film_family_global(const char *module, const char *name);

/* True when `type` is or comes from `base`, which may be NULL. */
bool
film_family_comes_from(PyTypeObject *type, const PyObject *base);

/* The class in the MRO that defines `name`; NULL: none. Borrowed. */
PyTypeObject *
film_family_definer(PyTypeObject *type, const char *name);

/* Whether a layout is what we take it for: asked once a recording. */
typedef struct film_proof {
    uint32_t era;
    bool asked, proven;
} film_proof;

/* True while it is to be asked. */
static inline bool
film_proof_is_open(film_proof *proof)
{
    if (proof->era != film_the_family_era) {
        *proof = (film_proof){.era = film_the_family_era};
    }
    return !proof->asked;
}

static inline void
film_proof_settle(film_proof *proof, bool right)
{
    proof->asked = true;
    proof->proven = right;
}

/* All of a number, 0 and -0 apart. */
static inline uint64_t
film_family_bits(double number)
{
    uint64_t bits;

    memcpy(&bits, &number, sizeof(bits));
    return bits;
}

static inline PyObject *
film_family_object_at(const PyObject *object, Py_ssize_t offset)
{
    return *(PyObject *const *)((const char *)object + offset);
}

#endif
