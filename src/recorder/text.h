/* text.h: Python strings to UTF-8, without touching them.
 * PyUnicode_AsUTF8 would leave its result in the program's own string (and change its
 * sys.getsizeof), so text is encoded by hand. Code points that have no UTF-8 (lone
 * surrogates) become U+FFFD; with `raw_bytes` those that stand for undecodable file
 * name bytes become these bytes again.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TEXT_H
#define FILMSTRIP_RECORDER_TEXT_H

#include "recorder/compat.h"

#include <stddef.h>

/* Writes at most `capacity` bytes of `source` (a str) and a NUL, cut at a character.
 * Returns the length; *cut (may be NULL) says whether something was left off. */
size_t
film_text_copy(PyObject *source, char *to, size_t capacity, bool *cut);

/* The bytes of one code point, at most 4, a surrogate's as if it were a character.
 * Returns how many. */
size_t
film_text_encode(Py_UCS4 point, char *to);

/* The whole string, owned by the caller (free()); NULL when memory is out. */
char *
film_text_new(PyObject *source, bool raw_bytes);

#endif
