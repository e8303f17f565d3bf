/* render_parts.h: what the files render*.c share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RENDER_PARTS_H
#define FILMSTRIP_RENDER_PARTS_H

#include "reader/render.h"

#define PUT(out, text) film_buffer_append((out), (text), sizeof(text) - 1)

static inline void
put_text(film_buffer *out, film_text text)
{
    film_buffer_append(out, text.data, text.length);
}

/* True when no more is to be written. */
static inline bool
film_render_is_full(const film_renderer *renderer)
{
    return renderer->out->length >= renderer->limit || renderer->out->failed;
}

/* The items of a record. Asking for the records they refer to may drop the chunk that
 * this one lies in, so they are copied before the first that is one; most containers
 * hold scalars only. */
typedef struct film_item_walk {
    film_buffer *stack; /* of copies */
    film_input left;    /* borrowed from the record, while there is no copy */
    size_t begin, at, end;
    bool is_copied;
} film_item_walk;

/* False when it is cut or unknown. */
bool
film_item_walk_next(film_item_walk *walk, film_token *token);

/* The name of an attribute, before its token. */
uint32_t
film_item_walk_name(film_item_walk *walk);

void
film_item_walk_end(film_item_walk *walk);

/* Items as a builtin container writes them, brackets included. */
void
film_render_based(film_renderer *renderer, film_item_walk *walk, uint64_t count,
                  bool cut, film_note_base base);

/* What a note refers to while it is rendered. */
typedef struct film_noted {
    film_renderer *renderer;
    film_value_note note;
    film_text names;       /* those that are left */
    film_item_walk tokens; /* of the note */
    film_item_walk items;
    uint64_t count;
    uint8_t form;
    bool cut;
} film_noted;

/* Copies what a record holds, for what is rendered on the way may take it away. False:
 * memory is out. The last that was opened is closed first. */
bool
film_noted_open(film_renderer *renderer, const film_value_record *record,
                film_noted *out);

void
film_noted_close(film_noted *of);

/* The attribute of that name, from the items on; false: there is none. */
bool
film_noted_attribute(film_noted *of, film_text name, film_token *token);

/* What a field or attribute holds. */
void
film_render_held(film_noted *of, const film_token *token);

/* The holes that show attributes (render_attributes.c); false: none of these. */
bool
film_render_attribute_hole(film_noted *of, film_note_hole hole);

/* Appends the str a token stands for, as it is; false: it is none. */
bool
film_render_raw(film_renderer *renderer, const film_token *token, film_buffer *out);

/* An object by its note (render_note.c). */
void
film_render_note(film_renderer *renderer, const film_value_record *record);

#endif
