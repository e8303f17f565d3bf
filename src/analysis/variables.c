/* variables.c: a table of the last values, four to a bucket.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/variables.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "reader/render.h"

#define BUCKETS (1u << 16)
#define PART (BUCKETS / 4)
#define WAYS 4u
/* CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR */
#define GENERATOR_FLAGS 0x2a0u
#define KEY_TEXT 200u
/* self.a.b is as long as names get. */
#define NAME_DEPTH 3u

/* What an entry is about; with two numbers it makes the key. */
typedef enum subject {
    LOCAL = 1, /* frame, slot */
    CLASS,     /* frame, name */
    ATTRIBUTE, /* owner's serial, name */
    ITEM,      /* owner's serial, hash of the key */
    GLOBAL,    /* hash of the module, name */
    CONTENT,   /* serial: the object's content told last */
    NAMED,     /* frame, serial: the slot that holds the object */
    HOLDER     /* serial: the attribute or global that holds it */
} subject;

typedef struct entry {
    uint64_t key;  /* 0: free */
    uint32_t used; /* when, by film_variables.clock */
    uint8_t length;
    uint8_t bytes[19]; /* the longest token there is has 18 */
} entry;

_Static_assert(sizeof(entry) == 32, "two entries a cache line");

struct film_variables {
    film_reader *reader; /* borrowed */
    entry *entries;      /* owned; BUCKETS * WAYS */
    uint32_t clock;      /* counts uses */
};

film_status
film_variables_new(film_reader *reader, film_variables **out, film_error *error)
{
    film_variables *variables = film_alloc(sizeof(*variables));

    *out = NULL;
    if (variables != NULL) {
        variables->reader = reader;
        variables->entries =
            film_alloc_array((size_t)BUCKETS * WAYS, sizeof(*variables->entries));
    }
    if (variables == NULL || variables->entries == NULL) {
        film_free(variables);
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    *out = variables;
    return FILM_OK;
}

void
film_variables_free(film_variables *variables)
{
    if (variables != NULL) {
        film_free(variables->entries);
        film_free(variables);
    }
}

/* Which entry, and in which bucket it is looked for. */
typedef struct address {
    uint64_t key;
    size_t bucket;
} address;

/* What comes and goes with frames and with objects has parts of its own, so that it
 * does not drive out what stays. */
static size_t
part_of(subject about)
{
    switch (about) {
    case LOCAL:
    case CLASS:
        return 0;
    case NAMED:
    case CONTENT:
        return PART;
    case ITEM:
    case HOLDER:
        return 2 * (size_t)PART;
    case ATTRIBUTE:
    case GLOBAL:
    default:
        return 3 * (size_t)PART;
    }
}

static address
address_of(subject about, uint64_t first, uint64_t second)
{
    address at;

    at.key = film_digest_mix(film_digest_mix(first * 0x9E3779B97F4A7C15u, second),
                             (uint64_t)about);
    at.bucket = (size_t)(at.key >> 40) % PART + part_of(about);
    at.key += at.key == 0;
    return at;
}

/* Of a frame's own: frames that follow one another at one depth use the same buckets,
 * which stay in the processor's cache. Only what may go on at another depth cannot. */
static address
frame_address(const film_variables *variables, subject about, const film_event *event,
              uint64_t number)
{
    address at = address_of(about, event->frame, number);
    const film_code *code = film_reader_code(variables->reader, event->code);

    if (code != NULL && (code->flags & GENERATOR_FLAGS) == 0) {
        uint64_t place = film_digest_mix((uint64_t)event->thread << 32, event->depth);
        at.bucket = ((size_t)(place >> 40) + (size_t)(number % 64) +
                     (about == NAMED ? 64 : 0)) %
                        PART +
                    part_of(about);
        /* The upper half is the place's, so that a frame takes the entry of the one
         * before it: put() looks for it. */
        place = film_digest_mix(place + number, (uint64_t)about);
        at.key = (place & ~(uint64_t)UINT32_MAX) | (at.key & UINT32_MAX);
        at.key += at.key == 0;
    }
    return at;
}

static entry *
bucket_of(film_variables *variables, address at)
{
    return &variables->entries[at.bucket * WAYS];
}

static entry *
find(film_variables *variables, address at)
{
    entry *bucket = bucket_of(variables, at);
    uint64_t key = at.key;

    for (unsigned i = 0; i < WAYS; i++) {
        if (bucket[i].key == key) {
            bucket[i].used = ++variables->clock;
            return &bucket[i];
        }
    }
    return NULL;
}

static void
put(film_variables *variables, address at, const uint8_t *bytes, size_t length)
{
    entry *bucket = bucket_of(variables, at), *to = bucket;

    for (unsigned i = 0; i < WAYS; i++) {
        if (bucket[i].key >> 32 == at.key >> 32) {
            to = &bucket[i];
            break;
        }
        if (bucket[i].used < to->used) {
            to = &bucket[i];
        }
    }
    if (length > sizeof(to->bytes)) {
        return;
    }
    to->key = at.key;
    to->used = ++variables->clock;
    to->length = (uint8_t)length;
    memcpy(to->bytes, bytes, length);
}

static void
forget(film_variables *variables, address at)
{
    entry *found = find(variables, at);

    if (found != NULL) {
        found->key = 0;
        found->used = 0;
    }
}

/* One token of an event: its bytes and what they say. */
typedef struct told {
    const uint8_t *bytes;
    size_t length;
    film_token token;
} told;

static told
next_told(film_input *input)
{
    told value = {.bytes = input->at};

    value.token = film_token_decode(input);
    value.length = input->failed ? 0 : (size_t)(input->at - value.bytes);
    return value;
}

/* The token with that role, or one of length 0. */
static told
told_by(const film_event *event, film_value_role role)
{
    film_input input = film_input_of(event->tokens, event->tokens_length);
    int index = film_event_value_index(event, role);
    told none = {0};

    if (index < 0) {
        return none;
    }
    film_tokens_skip(&input, (uint32_t)index);
    return next_told(&input);
}

/* The serial of the object that a token tells of; 0: it is none. */
static uint64_t
serial_of(film_variables *variables, const film_token *token)
{
    film_object_head head;

    if (token->kind == FILM_TOKEN_CYCLE) {
        return token->value;
    }
    if ((token->kind == FILM_TOKEN_VALUE || token->kind == FILM_TOKEN_OBJECT) &&
        film_object_head_of(variables->reader, token->value, &head)) {
        return head.serial;
    }
    return 0;
}

/* Equal keys have equal hashes where they are scalars, or containers of them. */
static uint64_t
hash_key(film_variables *variables, const told *key)
{
    film_past_value past;
    film_value value;

    if (key->token.kind != FILM_TOKEN_VALUE || key->length > sizeof(past.bytes)) {
        return film_hash(key->bytes, key->length);
    }
    memcpy(past.bytes, key->bytes, key->length);
    past.length = (uint8_t)key->length;
    if (film_variables_text(variables, &past, KEY_TEXT, &value) != FILM_OK) {
        return 0;
    }
    return film_hash(value.text.data, value.text.length);
}

/* Where what a set or delete writes to is kept; key 0: not to be told. */
static address
address_of_write(film_variables *variables, const film_event *event)
{
    const film_code *code;
    told owner, key;
    address none = {0};
    uint64_t serial;

    switch ((film_set_form)event->form) {
    case FILM_SET_LOCAL:
        return frame_address(variables, LOCAL, event, event->slot);
    case FILM_SET_CLASS:
        return address_of(CLASS, event->frame, event->name);
    case FILM_SET_GLOBAL:
        code = film_reader_code(variables->reader, event->code);
        return code == NULL ? none
                            : address_of(GLOBAL,
                                     film_hash(code->module.data, code->module.length),
                                     event->name);
    case FILM_SET_ATTRIBUTE:
    case FILM_SET_ATTRIBUTE_VIA:
        owner = told_by(event, FILM_ROLE_OWNER);
        serial = serial_of(variables, &owner.token);
        return serial == 0 ? none : address_of(ATTRIBUTE, serial, event->name);
    case FILM_SET_ITEM:
    case FILM_SET_ITEM_VIA:
    default:
        owner = told_by(event, FILM_ROLE_OWNER);
        key = told_by(event, FILM_ROLE_KEY);
        serial = serial_of(variables, &owner.token);
        return serial == 0 ? none : address_of(ITEM, serial, hash_key(variables, &key));
    }
}

/* The object's content as it is told now: later names show it without their own. */
static void
note_content(film_variables *variables, const told *value, uint64_t serial)
{
    if (value->token.kind == FILM_TOKEN_VALUE && serial != 0) {
        put(variables, address_of(CONTENT, serial, 0), value->bytes, value->length);
    }
}

/* The frame's variable `slot` holds this. */
static void
note_local(film_variables *variables, const film_event *event, uint32_t slot,
           const told *value)
{
    uint64_t serial = serial_of(variables, &value->token);

    put(variables, frame_address(variables, LOCAL, event, slot), value->bytes,
        value->length);
    if (serial != 0) {
        put(variables, frame_address(variables, NAMED, event, serial),
            (const uint8_t *)&slot, sizeof(slot));
        note_content(variables, value, serial);
    }
}

/* Who holds an object besides local variables. */
typedef struct holder {
    uint64_t owner; /* serial; 0: a global */
    uint32_t name;
} holder;

static void
note_set(film_variables *variables, const film_event *event)
{
    told value = told_by(event, FILM_ROLE_VALUE), owner;
    uint64_t serial;
    address at;

    if (value.length == 0) {
        return;
    }
    if (event->form == FILM_SET_LOCAL) {
        note_local(variables, event, event->slot, &value);
        return;
    }
    at = address_of_write(variables, event);
    if (at.key == 0) {
        return;
    }
    put(variables, at, value.bytes, value.length);
    serial = serial_of(variables, &value.token);
    if (serial == 0) {
        return;
    }
    note_content(variables, &value, serial);
    if (event->name != 0) {
        holder by;
        memset(&by, 0, sizeof(by));
        owner = told_by(event, FILM_ROLE_OWNER);
        by.owner = owner.length == 0 ? 0 : serial_of(variables, &owner.token);
        by.name = event->name;
        put(variables, address_of(HOLDER, serial, 0), (const uint8_t *)&by, sizeof(by));
    }
}

static void
note_arguments(film_variables *variables, const film_event *event)
{
    film_input input = film_input_of(event->tokens, event->tokens_length);

    for (uint32_t i = 0; i < event->token_count; i++) {
        told value = next_told(&input);
        if (value.length == 0) {
            break;
        }
        note_local(variables, event, i, &value);
    }
}

void
film_variables_note(film_variables *variables, const film_event *event)
{
    address at;
    told value;

    switch (event->kind) {
    case FILM_KIND_CALL:
        note_arguments(variables, event);
        break;
    case FILM_KIND_SET:
        note_set(variables, event);
        break;
    case FILM_KIND_DELETE:
        at = address_of_write(variables, event);
        if (at.key != 0) {
            forget(variables, at);
        }
        break;
    case FILM_KIND_CHANGE:
        value = told_by(event, FILM_ROLE_VALUE);
        note_content(variables, &value, serial_of(variables, &value.token));
        break;
    default:
        break;
    }
}

static bool
give(const entry *found, film_past_value *out)
{
    if (found == NULL || found->length > sizeof(out->bytes)) {
        return false;
    }
    memcpy(out->bytes, found->bytes, found->length);
    out->length = found->length;
    return true;
}

bool
film_variables_before(film_variables *variables, const film_event *event,
                      film_past_value *out)
{
    film_input input;
    uint64_t serial;
    address at;
    film_token token;
    told value;

    if (event->kind == FILM_KIND_CHANGE) {
        value = told_by(event, FILM_ROLE_VALUE);
        serial = serial_of(variables, &value.token);
        return serial != 0 &&
               give(find(variables, address_of(CONTENT, serial, 0)), out);
    }
    at = address_of_write(variables, event);
    if (at.key == 0 || !give(find(variables, at), out)) {
        return false;
    }
    input = film_input_of(out->bytes, out->length);
    token = film_token_decode(&input);
    if (token.kind == FILM_TOKEN_VALUE) {
        /* It may have been changed in place since, also by another name. */
        serial = serial_of(variables, &token);
        if (serial != 0) {
            give(find(variables, address_of(CONTENT, serial, 0)), out);
        }
    }
    return true;
}

film_status
film_variables_text(film_variables *variables, const film_past_value *past,
                    size_t limit, film_value *out)
{
    film_event event;

    memset(&event, 0, sizeof(event));
    event.tokens = past->bytes;
    event.tokens_length = past->length;
    event.token_count = 1;
    return film_reader_event_value(variables->reader, &event, 0, limit, out, NULL);
}

static void
append_text(film_buffer *out, film_text text)
{
    film_buffer_append(out, text.data, text.length);
}

/* Whether the entry is a value that is the object with this serial. */
static bool
holds(film_variables *variables, const entry *held, uint64_t serial)
{
    film_input input;
    film_token token;

    if (held == NULL) {
        return false;
    }
    input = film_input_of(held->bytes, held->length);
    token = film_token_decode(&input);
    return serial_of(variables, &token) == serial;
}

/* The local of the event's frame that holds the object; the empty text: none. */
static film_text
local_name(film_variables *variables, const film_event *event, uint64_t serial)
{
    const entry *named = find(variables, frame_address(variables, NAMED, event, serial));
    const film_code *code = film_reader_code(variables->reader, event->code);
    film_text none = {"", 0};
    uint32_t slot;

    if (named == NULL || named->length != sizeof(slot) || code == NULL) {
        return none;
    }
    memcpy(&slot, named->bytes, sizeof(slot));
    if (slot >= code->local_count ||
        !holds(variables, find(variables, frame_address(variables, LOCAL, event, slot)), serial)) {
        return none;
    }
    return film_reader_string(variables->reader, code->locals[slot]);
}

/* x, self.x, self.x.y or a global. False: it has no name here, nothing is appended. */
static bool
name_object(film_variables *variables, const film_event *event, uint64_t serial,
            unsigned depth, film_buffer *out)
{
    film_text local = local_name(variables, event, serial);
    const entry *held = find(variables, address_of(HOLDER, serial, 0));
    holder by;

    if (local.length > 0) {
        append_text(out, local);
        return true;
    }
    if (held == NULL || held->length != sizeof(by) || depth == 0) {
        return false;
    }
    memcpy(&by, held->bytes, sizeof(by));
    if (by.owner != 0) {
        if (!holds(variables, find(variables, address_of(ATTRIBUTE, by.owner, by.name)),
                   serial) ||
            !name_object(variables, event, by.owner, depth - 1, out)) {
            return false;
        }
        film_buffer_put_byte(out, '.');
    }
    append_text(out, film_reader_string(variables->reader, by.name));
    return true;
}

/* The object's name, or <Name #serial>, or the value itself. */
static void
name_value(film_variables *variables, const film_event *event, const told *value,
           film_buffer *out)
{
    uint64_t serial = serial_of(variables, &value->token);
    film_renderer renderer = {.reader = variables->reader,
                              .out = out,
                              .limit = out->length + KEY_TEXT,
                              .bound = UINT64_MAX};
    film_token token = value->token;

    if (serial != 0 && name_object(variables, event, serial, NAME_DEPTH, out)) {
        return;
    }
    if (token.kind == FILM_TOKEN_VALUE && serial != 0) {
        token.kind = FILM_TOKEN_OBJECT; /* by its serial, without its content */
    }
    film_render_token(&renderer, &token);
}

void
film_variables_name(film_variables *variables, const film_event *event,
                    film_buffer *out)
{
    told owner = told_by(event, FILM_ROLE_OWNER), value;

    if (event->kind == FILM_KIND_CHANGE) {
        value = told_by(event, FILM_ROLE_VALUE);
        name_value(variables, event, &value, out);
        return;
    }
    if (owner.length == 0) {
        append_text(out, film_reader_event_name(variables->reader, event));
        return;
    }
    name_value(variables, event, &owner, out);
    if (event->form == FILM_SET_ITEM || event->form == FILM_SET_ITEM_VIA) {
        film_renderer renderer = {.reader = variables->reader,
                                  .out = out,
                                  .limit = out->length + KEY_TEXT,
                                  .bound = UINT64_MAX};
        told key = told_by(event, FILM_ROLE_KEY);
        film_buffer_put_byte(out, '[');
        film_render_token(&renderer, &key.token);
        film_buffer_put_byte(out, ']');
    }
    else {
        film_buffer_put_byte(out, '.');
        append_text(out, film_reader_event_name(variables->reader, event));
    }
}
