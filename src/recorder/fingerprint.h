/* fingerprint.h: 64 bits that stand for the content of an object.
 *
 * Scalars count by value, other objects by address and type, containers within
 * containers by their content too, as deep as a snapshot shows them. What an instance's
 * attributes hold counts one level deep.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_FINGERPRINT_H
#define FILMSTRIP_RECORDER_FINGERPRINT_H

#include "recorder/compat.h"

#include "recorder/addresses.h"
#include "recorder/capture_types.h"

/* What one value may cost, in items looked at (1.5 ns or so; writing one costs as much
 * as FILM_WRITTEN_ITEM, a record besides FILM_WRITTEN_RECORD): a fingerprint at most
 * FILM_FINGERPRINT_ITEMS, all fingerprints, records and places together
 * FILM_LOOK_ITEMS. */
#define FILM_FINGERPRINT_ITEMS 12288
#define FILM_LOOK_ITEMS 16384
#define FILM_WRITTEN_ITEM 16
#define FILM_WRITTEN_RECORD 32

extern int64_t film_the_looks_left;
/* Items that a record shows, and levels (options --items, --item-depth). */
extern Py_ssize_t film_the_shown_items;
extern uint32_t film_the_shown_levels;

/* A value is looked at: the count begins anew. */
static inline void
film_look_renew(void)
{
    film_the_looks_left = FILM_LOOK_ITEMS;
}

typedef struct film_fingerprint {
    uint64_t word;
    int64_t length; /* len() of a container; -1: none */
    bool flat;      /* no container within */
    bool scalars;   /* some item counts by its value */
    bool cut;       /* not all of it was looked at */
    bool grown;     /* of film_fingerprint_grown: what a record shows has stayed */
    bool headed;    /* `head` holds: a list with containers, longer than is shown */
    bool wordless;  /* of a list whose items count by address: `word` holds nothing */
    uint64_t head;  /* the part of the items that a record shows */
    uint64_t items; /* of one that has grown: what the new ones add where containers
                       count by address */
    film_addresses addresses; /* where the items count by address */
} film_fingerprint;

/* `levels`: of containers whose content counts, 1 for `object` alone. */
film_fingerprint
film_fingerprint_of(PyObject *object, film_content content, uint32_t levels);

/* What each attribute of an instance adds to its fingerprint; 0: nothing. FILM_WORDS of
 * them: the members of __slots__, then those in line by their position. False: it
 * keeps its attributes otherwise, or too many of them. */
bool
film_fingerprint_words(PyObject *instance, uint64_t *words);

/* The same for one attribute: `place` is the address of its name, or the number of the
 * member of __slots__, from 1 on. */
uint64_t
film_fingerprint_item(PyObject *value, uint64_t place);

typedef struct film_store_effect {
    uint64_t delta; /* to add to the word */
    int64_t growth; /* of the length */
    bool flat;      /* neither value nor key is a container */
    bool deep;      /* what it takes away or moves is one: counted as it is now */
} film_store_effect;

/* What a store that is about to happen will do to the fingerprint of `owner`: of
 * attribute `name`, or of item `key`; value NULL: a delete. False: not known without
 * looking at all of it. */
bool
film_fingerprint_store(PyObject *owner, film_content content, uint32_t levels,
                       PyObject *name, PyObject *key, PyObject *value,
                       film_store_effect *effect);

/* What is known of a list that has grown since. */
typedef struct film_list_before {
    uint64_t word, head;
    int64_t length;
    uint32_t levels;
    bool partly, headed;
} film_list_before;

/* The fingerprint of a long list of which only the new items at its end are looked at,
 * and where there are containers those that a record shows. */
film_fingerprint
film_fingerprint_grown(PyObject *list, const film_list_before *before);

/* True when what a list or deque has got at its end since `length_before` counts by
 * address too. */
bool
film_fingerprint_tail_is_plain(PyObject *sequence, film_content content,
                               int64_t length_before);

/* True when a list or dict whose fingerprint was `before` has only got new items at its
 * end since, and nothing else. */
bool
film_fingerprint_only_grew(PyObject *object, film_content content, uint32_t levels,
                           uint64_t before, int64_t length_before,
                           const film_fingerprint *now);

/* len() of a container, -1 for anything else. */
int64_t
film_content_length(PyObject *object, film_content content);

#endif
