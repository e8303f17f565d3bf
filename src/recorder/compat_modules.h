/* compat_modules.h: how C modules of the standard library lay out their objects, where
 * no header of theirs says so. The same in all the CPythons we record; families/ proves
 * each before it is believed.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_COMPAT_MODULES_H
#define FILMSTRIP_RECORDER_COMPAT_MODULES_H

#include "recorder/compat.h"

/* --- how they are written ----------------------------------------------------------- */

/* A class made of functools.partial with its module. */
#define FILM_PARTIAL_IS_QUALIFIED (PY_VERSION_HEX >= 0x030d0000)
/* OrderedDict({1: 2}), before: OrderedDict([(1, 2)]). */
#define FILM_ORDERED_DICT_IS_A_DICT (PY_VERSION_HEX >= 0x030c0000)
/* ::ffff:1.2.3.4, before: ::ffff:102:304. */
#define FILM_IPV6_SHOWS_MAPPED (PY_VERSION_HEX >= 0x030d0000)

/* --- _decimal: libmpdec's mpd_t, with words of 64 bits ------------------------------ */

#define FILM_MPD_NEGATIVE 1u
#define FILM_MPD_INFINITY 2u
#define FILM_MPD_SIGNALING 8u
#define FILM_MPD_SPECIAL 14u /* infinite, or one of the two kinds of NaN */
#define FILM_MPD_SAID 15u

typedef struct film_mpd {
    uint8_t flags;
    Py_ssize_t exponent, digits, length, allocated;
    uint64_t *data; /* 19 decimal digits each, the lowest first */
} film_mpd;

typedef struct film_decimal {
    PyObject_HEAD
    Py_hash_t hash;
    film_mpd number;
} film_decimal;

/* --- _datetime ----------------------------------------------------------------------
 * What <datetime.h> does not show. */

typedef struct film_timezone {
    PyObject_HEAD
    PyObject *offset, *name; /* a timedelta; a str or NULL */
} film_timezone;

/* --- _collections -------------------------------------------------------------------- */

typedef struct film_ordered_node {
    PyObject *key;
    Py_hash_t hash;
    struct film_ordered_node *next, *before;
} film_ordered_node;

typedef struct film_ordered_dict {
    PyDictObject dict;
    film_ordered_node *first, *last;
    film_ordered_node **fast_nodes; /* by the position of the pair in the dict */
    Py_ssize_t fast_nodes_size;
    void *resize_sentinel; /* the keys that fast_nodes is for */
} film_ordered_dict;

/* --- _sre ---------------------------------------------------------------------------- */

typedef struct film_match {
    PyObject_VAR_HEAD PyObject *string, *regs, *pattern;
    Py_ssize_t begin, end, last_index, groups;
    Py_ssize_t marks[1]; /* of the whole: two a group */
} film_match;

/* --- array --------------------------------------------------------------------------- */

typedef struct film_array_kind {
    char code;
    int size; /* of an item */
} film_array_kind;

typedef struct film_number_array {
    PyObject_VAR_HEAD char *items;
    Py_ssize_t allocated;
    const film_array_kind *kind;
} film_number_array;

#endif
