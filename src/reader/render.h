/* render.h: values as texts. What a recording holds is trusted in nothing: ids that are
 * not there, records that refer to later ones, nesting without end all give a text.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RENDER_H
#define FILMSTRIP_RENDER_H

#include "format/token.h"
#include "reader/reader_state.h"

/* Containers within one another that a text shows. Records refer to records, and those
 * of linked lists to one another: each level may be twice as long as the one before. */
#define FILM_RENDER_DEPTH 6u

typedef struct film_renderer {
    film_reader *reader;
    film_buffer *out;
    size_t limit;   /* of out's length: behind it nothing is begun any more */
    unsigned depth; /* of containers around */
    uint64_t bound; /* ids from here on are not referred to */
    bool cut;       /* something was left out */
    /* Where objects are shown as they were at another time than that of their record:
     * puts what they held then in its place, borrowed until the next record is asked
     * for. NULL: they are shown as recorded. */
    film_record_renewer *renew;
    void *context;
    bool held; /* within an attribute that is shown as it is by now */
    uint64_t path[FILM_RENDER_DEPTH]; /* with renew: serials of the objects around */
} film_renderer;

/* One that writes to `out` until that has `limit` bytes, and renews as the reader does
 * by now. */
film_renderer
film_renderer_of(film_reader *reader, film_buffer *out, size_t limit);

/* From now on the texts of values are made with what objects hold by then, where the
 * record alone does not tell (film_note_needs_attributes). NULL: no more. */
void
film_reader_renew_by(film_reader *reader, film_record_renewer *renew, void *context);

/* From now on the texts of tensors tell only the name (t17) of those for which `tells` is
 * false, because what they are was told. NULL: they tell of all what they are. */
void
film_reader_tell_tensors_by(film_reader *reader, film_tensor_teller *tells,
                            void *context);

/* Appends the token's text; renderer->cut tells if it is not all. */
void
film_render_token(film_renderer *renderer, const film_token *token);

/* The token's text alone, ended by NUL, borrowed until the next value is asked for.
 * *cut: it is not all. FILM_NO_MEMORY. */
FILM_NODISCARD film_status
film_token_text(film_reader *reader, const film_token *token, size_t limit,
                film_text *out, bool *cut);

/* What is known about a token besides its text: type, serial, length, flags. True and
 * *record (borrowed until the next record is asked for) where it is a record. */
bool
film_token_describe(film_reader *reader, const film_token *token, film_value *out,
                    film_value_record *record);

/* True where the text of a record is made from what the attributes hold at the time that
 * is asked for (a dataclass): without film_renderer.renew it is shown by its name. */
bool
film_note_needs_attributes(film_reader *reader, const film_value_record *record);

/* True where the text shows all attributes, whatever they are. */
bool
film_note_shows_all(film_reader *reader, const film_value_record *record);

/* The next of a note's names; false: there is none. */
bool
film_note_names(film_text *left, film_text *name);

/* <Name #serial> */
void
film_render_object_name(film_buffer *out, film_text type, uint64_t serial);

/* The part of a type's name behind the last dot. */
film_text
film_short_name(film_text type);

/* Reads what film_object_head_of gives; NULL: it is not in the recording. */
const film_object_head *
film_object_head_read(film_reader *reader, uint64_t id);

/* An object's type and serial, quickly. False: it is not in the recording, or not an
 * object's. */
static inline bool
film_object_head_of(film_reader *reader, uint64_t id, film_object_head *head)
{
    const film_object_head *known = &reader->object_heads[id % FILM_OBJECT_HEADS];

    if (__builtin_expect(known->id != id + 1, 0)) {
        known = film_object_head_read(reader, id);
        if (known == NULL) {
            return false;
        }
    }
    *head = *known;
    return head->is_object;
}

#endif
