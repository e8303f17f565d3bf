/* note_parts.h: the named parts of an object's note: a date's year, a range's stop, a
 * namedtuple's fields.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_NOTE_PARTS_H
#define FILMSTRIP_NOTE_PARTS_H

#include <filmstrip/reader.h>

#include "format/token.h"
#include "format/value_record.h"

typedef enum film_part_kind {
    FILM_PART_NONE,     /* the note names no such part */
    FILM_PART_TOKEN,    /* it is `token`: its bytes, borrowed from the record */
    FILM_PART_ITEM,     /* it is the item at `index` */
    FILM_PART_ATTRIBUTE /* it is the attribute `name` (_value_ for value) */
} film_part_kind;

typedef struct film_part {
    film_part_kind kind;
    film_input token;
    uint64_t index;
    film_text name;
} film_part;

film_part
film_note_part(film_reader *reader, const film_value_record *record, film_text name);

/* The part at `index`, with its name as the program says it; NONE: there are no more. */
film_part
film_note_part_at(film_reader *reader, const film_value_record *record, uint64_t index);

/* The one value an object of a class made of int, float, str or bytes is, or a number of
 * numpy's. False: it is nothing of that kind. */
bool
film_note_scalar(film_reader *reader, const film_value_record *record,
                 film_token *token);

#endif
