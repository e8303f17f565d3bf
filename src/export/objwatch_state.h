/* objwatch_state.h: variables, objects and containers as they are at a moment, put
 * together from the writes read so far; and as they were when ObjWatch looked last.
 * All of one recording. What a recording says is not trusted: ids that are not there
 * give values that are not known.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_OBJWATCH_STATE_H
#define FILMSTRIP_OBJWATCH_STATE_H

#include <filmstrip/reader.h>

#include "base/buffer.h"
#include "base/intern.h"
#include "format/token.h"
#include "format/value_record.h"

/* A token kept. */
typedef struct film_held {
    uint64_t object; /* serial + 1 where it is an object; 0: it is none */
    uint8_t length;  /* of the token; 0: there is no value */
    uint8_t bytes[FILM_TOKEN_MAX];
} film_held;

typedef struct film_seen_variable {
    uint32_t name; /* string id */
    bool was;      /* it was there at the last look */
    film_held now, old;
    int64_t old_length; /* as at the last look; -1: it had none */
} film_seen_variable;

/* The variables of a frame, an object or a module. */
typedef struct film_seen_scope {
    film_seen_variable *items; /* owned */
    size_t count, capacity;
    uint64_t looked; /* the state's time at the last look */
} film_seen_scope;

typedef struct film_seen_item {
    film_held key; /* mappings */
    film_held value;
} film_seen_item;

/* Where a value was put last: what a line calls a container. */
typedef struct film_held_by {
    char kind;       /* 'l' local, 'a' attribute, 'g' global; 0: not known */
    uint32_t name;   /* string id */
    uint32_t type;   /* attribute: string id of the owner's type */
    uint64_t object; /* attribute: the owner's serial + 1; local: the frame's */
} film_held_by;

typedef struct film_seen_object {
    uint64_t serial;
    uint64_t record; /* id + 1 of the record that told its content last */
    uint32_t type;   /* string id */
    uint32_t flags;  /* FILM_VALUE_... of the record */
    uint8_t form;    /* film_object_form */
    bool tracked;    /* a method of it was seen to begin or end */
    bool loaded;     /* items are those of the record, with writes since */
    int64_t length;  /* -1: none */
    film_seen_scope attributes;
    film_seen_item *items; /* owned; as far as the record tells them */
    size_t count, capacity;
    film_held_by held_by;
} film_seen_object;

typedef struct film_seen_frame {
    uint64_t serial;
    uint32_t code;
    bool traced;
    bool is_suspended;
    uint32_t run_line;  /* where the caller stood */
    uint32_t last_line; /* the line that began last; 0: none has */
    film_held self;     /* the local of that name */
    film_seen_scope locals;
} film_seen_frame;

typedef struct film_seen_module {
    film_text name; /* owned */
    film_seen_scope globals;
} film_seen_module;

typedef struct film_seen_thread {
    film_seen_frame **stack; /* owned; the frames are the state's */
    size_t depth, capacity;
    uint32_t shown; /* how many of them are traced */
} film_seen_thread;

typedef struct film_watch {
    film_reader *reader;        /* borrowed */
    bool older;                 /* values as ObjWatch 0.3 writes them */
    uint64_t time;              /* counts what changed */
    film_seen_object **objects; /* owned, and what they point to */
    size_t object_count, object_capacity;
    film_intern object_places;   /* serial + 1 to place */
    film_seen_frame **suspended; /* owned: frames of generators */
    size_t suspended_count, suspended_capacity;
    film_seen_thread *threads; /* owned; by thread id */
    size_t thread_capacity;
    film_seen_module *modules; /* owned */
    size_t module_count, module_capacity;
    bool failed; /* memory ran out */
} film_watch;

void
film_watch_init(film_watch *state, film_reader *reader);

void
film_watch_reset(film_watch *state);

/* Keeps the next token of `input`, and what it tells of an object. */
film_held
film_watch_take(film_watch *state, film_input *input);

/* The same without taking in what the token tells. */
film_held
film_watch_peek(film_watch *state, film_input input);

/* NULL: it is no object, or not a known one. */
film_seen_object *
film_watch_object(const film_watch *state, const film_held *held);

/* The variable of that name; with `add` it is made. NULL: none, or memory is out. */
film_seen_variable *
film_scope_find(film_watch *state, film_seen_scope *scope, uint32_t name, bool add);

film_seen_scope *
film_watch_globals(film_watch *state, film_text module);

void
film_seen_frame_free(film_seen_frame *frame);

film_seen_thread *
film_watch_thread(film_watch *state, uint32_t id);

/* A frame begins or goes on: it becomes the top of its thread. NULL: memory is out. */
film_seen_frame *
film_watch_enter(film_watch *state, const film_event *event);

/* The frame of an event, now on top of its thread; NULL: its begin was not seen. */
film_seen_frame *
film_watch_frame(film_watch *state, const film_event *event);

/* The top frame of a thread ends, or is suspended and kept. */
void
film_watch_leave(film_watch *state, film_seen_thread *thread, bool suspended);

/* The content of a container as it is now. */
void
film_watch_load(film_watch *state, film_seen_object *object);

/* Writes or deletes (value NULL) an item. */
void
film_watch_set_item(film_watch *state, film_seen_object *object, const film_held *key,
                    const film_held *value);

/* The item of that key, or NULL. */
film_seen_item *
film_watch_item(film_watch *state, film_seen_object *object, const film_held *key);

/* The same value, as `is` would say; equal plain values count as the same. */
bool
film_held_is(film_watch *state, const film_held *one, const film_held *other);

static inline film_token
film_held_token(const film_held *held)
{
    film_input input = film_input_of(held->bytes, held->length);

    return film_token_decode(&input);
}

#endif
