/* objwatch_view.h: what the files that make ObjWatch's lines share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_OBJWATCH_VIEW_H
#define FILMSTRIP_OBJWATCH_VIEW_H

#include "export/objwatch.h"
#include "export/objwatch_config.h"
#include "export/objwatch_value.h"

struct film_objwatch {
    film_reader *reader; /* borrowed */
    film_objwatch_mode mode;
    film_objwatch_config config;
    film_watch state;
    film_objwatch_writer write;
    void *context;
    film_buffer before, after, item; /* texts of the line being made */
};

static inline film_text
film_buffer_text(const film_buffer *buffer)
{
    film_text text = {buffer->length == 0 ? "" : (const char *)buffer->data,
                      buffer->length};

    return text;
}

/* Everything the lines of an event have in common. */
film_objwatch_line
film_objwatch_begin(film_objwatch *view, const film_event *event, const char *word,
                    uint32_t line);

/* `upd owner.name before -> after`; with no old value that is None. */
void
film_objwatch_tell_value(film_objwatch *view, film_objwatch_line *line,
                         const film_held *before, const film_held *after);

/* `apd` or `pop`, by the lengths. */
void
film_objwatch_tell_length(film_objwatch *view, film_objwatch_line *line, film_text type,
                          int64_t before, int64_t after);

/* The name is `self`: by it ObjWatch knows a method. */
bool
film_objwatch_is_self(film_objwatch *view, uint32_t name);

/* A variable of a frame by that name is on show at all. */
bool
film_objwatch_shows_local(film_objwatch *view, uint32_t name);

/* STRICT and OLD: a line begins, and ObjWatch compares. */
void
film_objwatch_look(film_objwatch *view, const film_event *event,
                   film_seen_frame *frame);

/* STRICT and OLD: a traced frame begins or ends; what it holds is known from now on. */
void
film_objwatch_meet(film_objwatch *view, film_seen_frame *frame, bool begins);

/* All: a write, a delete, a change in place. Keeps it in the state; FULL tells it. */
void
film_objwatch_take_set(film_objwatch *view, const film_event *event,
                       film_seen_frame *frame);

void
film_objwatch_take_change(film_objwatch *view, const film_event *event,
                          film_seen_frame *frame);

/* STRICT and OLD: a write that a torch.nn.Module puts into one of its dicts is put there.
 * False: it is none of those. */
bool
film_objwatch_take_module(film_objwatch *view, film_seen_object *module, uint32_t name,
                          const film_held *value);

#endif
