/* variables_state.h: what variables.c and the files variable_*.c share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_VARIABLES_STATE_H
#define FILMSTRIP_VARIABLES_STATE_H

#include "analysis/recent.h"
#include "analysis/variables.h"
#include "reader/render.h"

#define FILM_KEY_TEXT 200u
#define FILM_NOTED_LEVELS 3u /* of containers in a record: more have no names */

/* What an entry is about; with two numbers it makes the key. */
typedef enum film_subject {
    FILM_ABOUT_LOCAL = 1, /* frame, slot */
    FILM_ABOUT_CLASS,     /* frame, name */
    FILM_ABOUT_ATTRIBUTE, /* owner's serial and record, name */
    FILM_ABOUT_ITEM,      /* owner's serial and content, hash of the key */
    FILM_ABOUT_GLOBAL,    /* hash of the module, name */
    FILM_ABOUT_CONTENT,   /* serial: the object's content told last */
    FILM_ABOUT_NAMED,     /* frame, serial: the slot that holds the object */
    FILM_ABOUT_HOLDER,    /* serial: the attribute or global that holds it */
    FILM_ABOUT_WITHIN,    /* serial: the container that holds it, and the key */
    FILM_ABOUT_SHARED,    /* frame, slot: the cell that the variable is */
    FILM_ABOUT_CELL,      /* cell: what it holds */
    FILM_ABOUT_NAMES      /* serial: attributes written since its record */
} film_subject;

/* The string id of a text that was looked for. */
#define FILM_FOUND_NAMES 64u
typedef struct film_found_name {
    uint64_t hash; /* 0: free */
    size_t among;  /* so many strings */
    uint32_t id;   /* 0: none of them */
} film_found_name;

struct film_variables {
    film_reader *reader; /* borrowed */
    film_recent table;
    film_buffer items; /* of the record that a key is looked for in */
    film_buffer name;  /* of what is not shown */
    film_buffer within[FILM_NOTED_LEVELS];   /* records whose items are being noted */
    film_found_name found[FILM_FOUND_NAMES]; /* by hash */
    film_buffer noted; /* attributes put in the place of a record's */
    bool from_start;   /* the walk has begun where the recording does */
};

/* One token of an event: its bytes and what they say. */
typedef struct film_told {
    const uint8_t *bytes;
    size_t length;
    film_token token;
} film_told;

/* Who holds an object besides local variables. */
typedef struct film_held_by {
    uint64_t owner; /* its record: id + 1; 0: a global */
    uint32_t name;
} film_held_by;

/* The attribute `name` of the object with that record (id + 1) holds the object; or,
 * record 0, the global. */
void
film_note_holder(film_variables *variables, uint64_t serial, uint64_t owner,
                 uint32_t name);

/* A set, delete or change, its tokens decoded once. Length 0: it has none of that role.
 */
typedef struct film_write {
    const film_event *event; /* borrowed */
    film_told owner, key, value;
} film_write;

void
film_write_read(const film_event *event, film_write *out);

static inline void
film_told_read(film_input *input, film_told *out)
{
    out->bytes = input->at;
    film_token_read(input, &out->token);
    out->length = input->failed ? 0 : (size_t)(input->at - out->bytes);
}

/* The token of a value that is kept as its bytes. */
static inline void
film_past_read(const film_past_value *past, film_token *out)
{
    film_input input = film_input_of(past->bytes, past->length);

    film_token_read(&input, out);
}

/* The serial of the object that a token tells of; 0: it is none. */
static inline uint64_t
film_serial_of(film_variables *variables, const film_token *token)
{
    film_object_head head;

    if (token->kind == FILM_TOKEN_VALUE || token->kind == FILM_TOKEN_OBJECT) {
        return film_object_head_of(variables->reader, token->value, &head) ? head.serial
                                                                           : 0;
    }
    return token->kind == FILM_TOKEN_CYCLE ? token->value : 0;
}

/* The record that a token tells or refers to: id + 1; 0: none. */
static inline uint64_t
film_record_of(const film_token *token)
{
    return token->kind == FILM_TOKEN_VALUE || token->kind == FILM_TOKEN_OBJECT
               ? token->value + 1
               : 0;
}

/* Copies the token; false: it has no bytes. */
bool
film_told_give(const film_told *told, film_past_value *out);

/* What attribute `name` of the object with that record (id + 1) holds by now; false: it
 * has none. *sure: no write to it can have been forgotten. */
bool
film_attribute_now(film_variables *variables, uint64_t record, uint32_t name,
                   bool *sure, film_past_value *out);

/* An attribute of the object was written, of which its record need not tell. */
void
film_variables_note_name(film_variables *variables, uint64_t serial, uint32_t name);

/* A film_record_renewer: puts what the attributes hold by now in the place of what the
 * record tells, where the object's text shows them. */
void
film_variables_renew(void *context, uint64_t id, film_value_record *record, bool held);

/* What is known of a value that may have been changed in place since. */
void
film_past_renew(film_variables *variables, film_past_value *past);

film_recent_key
film_variable_address(film_subject about, uint64_t first, uint64_t second);

/* Where what a variable of the event's frame holds is kept: with its cell, if it was
 * told that it is one. */
film_recent_key
film_local_address(film_variables *variables, const film_event *event, uint32_t slot);

/* The serial of the object whose token the entry is; 0: it is none. */
uint64_t
film_held_serial(film_variables *variables, const film_recent_entry *held);

/* How many items the table has forgotten so far, to have room. */
uint32_t
film_variables_items_forgotten(const film_variables *variables);

/* True when all writes from the beginning on are known: none was forgotten. */
bool
film_variables_are_whole(const film_variables *variables);

/* The same for attributes. */
bool
film_variables_keep_attributes(const film_variables *variables);

/* Of a frame's own. */
film_recent_key
film_frame_address(const film_variables *variables, film_subject about,
                   const film_event *event, uint64_t number);

/* variable_items.c */

/* The object's content as it is told now: later names show it without their own. */
void
film_content_note(film_variables *variables, const film_told *value, uint64_t serial);

/* The same for an object within one that is told: where that is news of it. */
void
film_content_note_within(film_variables *variables, const film_told *value,
                         uint64_t serial);

/* An object whose attributes its records tell has this one, unless a later one is
 * known.
 */
void
film_content_note_record(film_variables *variables, const film_told *object,
                         uint64_t serial);

/* The record of the object that was told last: id + 1; 0: not known. */
uint64_t
film_content_record(film_variables *variables, uint64_t serial);

/* The content told last. False: not known. */
bool
film_content_find(film_variables *variables, uint64_t serial, film_past_value *out);

/* Where something within a container was written to since, only which object it is
 * stays known of the value. */
void
film_content_doubt(film_variables *variables, film_past_value *past);

/* An item was set or deleted. Its key counts from the start then. */
void
film_item_note(film_variables *variables, film_write *write);

/* What it held before; the key likewise. */
bool
film_item_before(film_variables *variables, film_write *write, film_past_value *out);

/* What the container with that serial holds under a key. */
bool
film_item_find(film_variables *variables, uint64_t serial, const film_told *key,
               film_past_value *out);

/* variable_attributes.c */

/* An attribute was set or deleted. */
void
film_attribute_note(film_variables *variables, const film_write *write);

/* What it held before. */
bool
film_attribute_before(film_variables *variables, const film_write *write,
                      film_past_value *out);

/* Whether the attribute of the object with that record (id + 1) held the object with
 * that serial when it was written last, as far as is known. */
bool
film_attribute_holds(film_variables *variables, uint64_t record, uint32_t name,
                     uint64_t serial);

/* variable_within.c */

/* A container is told with its content: what lies in it. */
void
film_within_note(film_variables *variables, const film_told *value);

/* A container has got the object as an item. */
void
film_within_note_item(film_variables *variables, uint64_t owner, const film_told *key,
                      uint64_t serial);

/* The container that holds the object now, and the key, borrowed until something is
 * noted. False: not known. */
bool
film_within_find(film_variables *variables, uint64_t serial, uint64_t *owner,
                 film_told *key);

#endif
