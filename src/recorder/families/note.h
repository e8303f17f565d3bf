/* note.h: the note of a record, while it is written: a text with holes, and what fills
 * them (format/value_record.h).
 *
 * film_note_begin, then as many tokens as it was told.
 * Threads: the holder of the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_FAMILIES_NOTE_H
#define FILMSTRIP_RECORDER_FAMILIES_NOTE_H

#include "recorder/compat.h"

#include "recorder/snapshot_forms.h"

/* The holes, to be put into string literals. */
#define HOLE_VALUE "\x01"
#define HOLE_TEXT "\x02"
#define HOLE_OBJECT "\x03"
#define HOLE_ITEMS "\x04"
#define HOLE_FIELDS "\x05"
#define HOLE_ATTRIBUTE "\x06"
#define HOLE_MEMBER "\x07"
#define HOLE_UUID "\x08"
#define HOLE_ADDRESS4 "\x0b"
#define HOLE_ADDRESS6 "\x0c"
#define HOLE_MAPPED "\x11"
#define HOLE_COMPLEX "\x12"
#define HOLE_COMPLEX_SINGLE "\x13"
#define HOLE_PATH "\x0e"
#define HOLE_HALF "\x0f"
#define HOLE_SINGLE "\x10"

void
film_note_begin(uint32_t text, uint32_t names, uint8_t base, uint32_t count);

/* Any object, as an item is told. */
void
film_note_value(film_unfinished *making, PyObject *value);

/* The token of a scalar or of a class made of one, read as what it is made of. */
void
film_note_scalar(film_unfinished *making, PyObject *value);

void
film_note_int(int64_t number);

void
film_note_float(double number);

void
film_note_none(void);

/* UTF-8; what is longer than texts are told is cut. */
void
film_note_text(film_unfinished *making, const char *text, size_t length);

/* The same of a number's digits, which are no secret. */
void
film_note_digits(const char *text, size_t length);

void
film_note_bytes(film_unfinished *making, const char *bytes, size_t length);

/* The object that has this one: its type and serial. */
void
film_note_owner(film_unfinished *making, PyObject *owner);

/* --- texts ---
 * What does not fit is left off, and dots say so. */

#define FILM_TEMPLATE_BYTES 400u

typedef struct film_template {
    size_t length;
    bool cut;
    char text[FILM_TEMPLATE_BYTES];
} film_template;

/* Names with commas between; what does not fit is one more name, FILM_MORE_NAMES. */
#define FILM_NAMES_BYTES 4000u

typedef struct film_name_list {
    size_t length;
    bool cut;
    char text[FILM_NAMES_BYTES];
} film_name_list;

void
film_names_add(film_name_list *list, const char *name, size_t length);

void
film_names_add_str(film_name_list *list, PyObject *name);

uint32_t
film_names_keep(film_name_list *list);

void
film_template_put(film_template *made, const char *text);

/* A name of the program: what would be a hole is a question mark. */
void
film_template_put_name(film_template *made, const char *name);

/* The same for a str; nothing for anything else. */
void
film_template_put_str(film_template *made, PyObject *name);

/* What follows the last dot of tp_name. */
void
film_template_put_short(film_template *made, const PyTypeObject *type);

/* As repr() writes a class. */
void
film_template_put_class(film_template *made, PyTypeObject *type);

uint32_t
film_template_keep(film_template *made);

/* The string id of a text that never changes. */
typedef struct film_phrase {
    const char *text;
    uint32_t id, era;
} film_phrase;

uint32_t
film_phrase_id(film_phrase *phrase);

#endif
