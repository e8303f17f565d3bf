/* snapshot.c: see snapshot.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/snapshot.h"

#include "recorder/nested.h"

#include <string.h>

#include "base/hash.h"
#include "recorder/capture_keep.h"
#include "recorder/capture_scalars.h"
#include "recorder/compat_objects.h"
#include "recorder/families/family.h"
#include "recorder/fingerprint_words.h"
#include "recorder/snapshot_forms.h"
#include "recorder/torch/tensors.h"

#define BYTES_KEPT 256u
#define KEPT_LISTS 64u
#define SAID_DEPTH 6u
#define ITEMS_PLACED 512u /* beyond those shown, in one go */

film_snapshot film_the_snapshot;

/* The last whole records of long lists, so that an append need not write one again. */
static struct {
    uint64_t serial; /* 0: none */
    uint64_t floor;  /* of records that may be referred to, when it was kept */
    uint64_t record; /* its value id */
} kept[KEPT_LISTS];

bool
film_snapshot_begin(const film_capture_limits *limits)
{
    film_the_snapshot.items = limits->items;
    memset(kept, 0, sizeof(kept));
    film_the_snapshot.bytes =
        limits->text_bytes < BYTES_KEPT ? BYTES_KEPT : limits->text_bytes;
    film_buffer_clear(&film_the_snapshot.body);
    return film_buffer_reserve(&film_the_snapshot.body, 16u << 10) != NULL;
}

void
film_snapshot_end(void)
{
    film_buffer_reset(&film_the_snapshot.body);
}

/* --- records ------------------------------------------------------------------------
 */

void
film_snapshot_address(film_object *object, PyObject *value,
                      const film_fingerprint *fingerprint)
{
    film_content content = (film_content)film_type_of(Py_TYPE(value))->content;
    film_addresses addresses = fingerprint->addresses;

    if (addresses.word == 0 && fingerprint->flat && !fingerprint->scalars &&
        !fingerprint->cut &&
        (content == FILM_CONTENT_LIST || content == FILM_CONTENT_DEQUE)) {
        addresses = film_addresses_of(value, content, 1);
    }
    film_object_set_addresses(object, &addresses);
}

FILM_HOT void
film_snapshot_compared(film_object *object, PyObject *value, uint32_t levels,
                       const film_fingerprint *fingerprint)
{
    object->fingerprint = fingerprint->word;
    object->length = fingerprint->length;
    object->levels = fingerprint->flat ? UINT8_MAX : (uint8_t)levels;
    object->flat = fingerprint->flat;
    object->partly = fingerprint->cut;
    object->unsure = false;
    object->compared = true;
    object->dict = PyDict_Check(value);
    object->version = object->dict
                          ? film_is_ordered(value) ? 0 : film_dict_version(value)
                      : PyType_Check(value) ? ((PyTypeObject *)value)->tp_version_tag
                                            : 0;
    object->worded = object->sure && film_fingerprint_words(value, object->words);
    film_objects_renew_quick(object);
    object->wordless = fingerprint->wordless;
    film_snapshot_address(object, value, fingerprint);
    object->headed = object->sure && fingerprint->headed;
    if (object->headed) {
        object->words[FILM_WORD_OF_HEAD] = fingerprint->head;
        object->words[FILM_WORD_OF_CHANGES] = film_the_changes;
    }
    film_nested_compared(object, value,
                         (film_content)film_type_of(Py_TYPE(value))->content,
                         fingerprint);
}

/* Items that the record does not show are seen too, so that they keep their serials as
 * long as they stay: from `first` on, as many as may be. */
static void
place_items(film_context *context, PyObject *value, film_content content,
            uint32_t first)
{
    film_holder holder = {.kind = FILM_HOLDER_ITEM, .owner = value};
    uint32_t index, last = first + ITEMS_PLACED;
    film_object *object;
    PyObject *item, *key;
    film_pairs pairs = {0};
    bool known;

    if (content == FILM_CONTENT_DICT) {
        film_pairs_of_dict(value, &pairs);
        last = (Py_ssize_t)last < pairs.count ? last : (uint32_t)pairs.count;
    }
    else {
        last = (Py_ssize_t)last < Py_SIZE(value) ? last : (uint32_t)Py_SIZE(value);
    }
    for (index = first; index < last && film_the_looks_left > 0; index++) {
        film_the_looks_left -= FILM_WRITTEN_ITEM;
        item = content == FILM_CONTENT_DICT   ? film_pairs_get(&pairs, index, &key)
               : content == FILM_CONTENT_LIST ? ((PyListObject *)value)->ob_item[index]
                                              : PyTuple_GET_ITEM(value, index);
        if (item != NULL && !film_is_scalar(item) &&
            !film_type_of(Py_TYPE(item))->said) {
            holder.position = index + 1;
            (void)film_objects_see(context, item, &holder, &known);
        }
    }
    object = film_objects_find(value);
    if (object != NULL) {
        object->placed = index;
    }
}

static uint32_t
record_flags(const film_unfinished *made)
{
    const PyTypeObject *type = Py_TYPE(made->object);

    return FILM_VALUE_OBJECT | (made->cut ? FILM_VALUE_CUT : 0) |
           (made->noted ? FILM_VALUE_NOTED : 0) |
           (type->tp_dictoffset == 0 ? FILM_VALUE_SLOTS : 0) |
           (type->tp_call != NULL ? FILM_VALUE_CALLABLE : 0);
}

/* Takes the record off the buffer: written, unless it equals the last one. */
static FILM_HOT void
finish_record(film_object *object, uint32_t type_name, uint32_t flags, size_t start,
              bool whole)
{
    const uint8_t *body = film_the_snapshot.body.data + start;
    size_t length = film_the_snapshot.body.length - start;
    uint64_t hash;

    if (film_the_snapshot.body.failed) {
        film_buffer_reset(&film_the_snapshot.body);
        film_objects_set_record(object, 0, false);
        return;
    }
    hash = film_hash(body, length);
    if (!film_record_is_kept(object->record) || object->body != hash) {
        film_objects_set_record(object, film_keep_value(type_name, flags, body, length),
                                whole);
        object->body = hash;
    }
    film_the_snapshot.body.length = start;
}

/* True when the items known so far are where they were, or their stores were told: all
 * that has changed since the last record was told, or is new at the end. */
static bool
items_stayed(const film_object *object, PyObject *value, film_content content,
             uint32_t levels, const film_fingerprint *now)
{
    if (now->grown) {
        return true;
    }
    if (object->record == 0 || !object->compared || now->cut ||
        (!object->flat && object->levels != levels)) {
        return false;
    }
    return (object->stale && now->word == object->fingerprint) ||
           film_fingerprint_only_grew(value, content, levels, object->fingerprint,
                                      object->length, now);
}

/* The list is longer than its record shows. */
static void
keep_record(const film_object *object)
{
    uint32_t place = object->serial % KEPT_LISTS;

    kept[place].serial = object->record == 0 ? 0 : object->serial;
    kept[place].floor = film_value_floor();
    kept[place].record = object->record - 1;
}

/* Puts a list that only grew beyond what its record shows; false: that is not kept. */
static bool
put_again(const film_object *object, int64_t length)
{
    uint32_t at = object->serial % KEPT_LISTS;
    uint8_t token[FILM_TOKEN_MAX], *end;

    if (kept[at].serial != object->serial || kept[at].floor != film_value_floor()) {
        return false;
    }
    end = film_token_put_value(token, FILM_TOKEN_VALUE, kept[at].record);
    film_buffer_put_byte(&film_the_snapshot.body, FILM_OBJECT_AGAIN);
    film_buffer_put_varint(&film_the_snapshot.body, (uint64_t)length + 1);
    film_buffer_put_varint(&film_the_snapshot.body, 1);
    film_buffer_append(&film_the_snapshot.body, token, (size_t)(end - token));
    return true;
}

FILM_HOT film_object *
film_snapshot_write(film_context *context, PyObject *value, uint32_t levels,
                    const film_fingerprint *fingerprint)
{
    const film_type *type = film_type_of(Py_TYPE(value));
    film_content content = (film_content)type->content;
    uint32_t type_name = type->name_id, placed;
    film_object *object = film_objects_find(value);
    film_unfinished making = {.context = context,
                              .object = value,
                              .levels = levels - 1,
                              .hidden = object->hidden};
    size_t start = film_the_snapshot.body.length;
    int64_t length_before = object->length;
    bool again = false;

    if (content == FILM_CONTENT_TENSOR && film_tensor_write(object, value)) {
        return object;
    }
    object->busy = true;
    film_the_looks_left -= FILM_WRITTEN_RECORD;
    if (!items_stayed(object, value, content, levels, fingerprint)) {
        object->edition++;
        object->renewed = true;
        object->placed = object->record == 0 ? film_the_snapshot.items : UINT32_MAX;
    }
    placed = object->placed;
    film_buffer_put_varint(&film_the_snapshot.body, object->serial);
    if (fingerprint->grown && put_again(object, fingerprint->length)) {
        making.cut = again = true;
    }
    else {
        film_snapshot_put(&making, content);
    }
    if (making.cut && placed < UINT32_MAX &&
        (content == FILM_CONTENT_LIST || content == FILM_CONTENT_TUPLE ||
         content == FILM_CONTENT_DICT)) {
        place_items(context, value, content, placed);
    }
    object = film_objects_find(value); /* it may have moved */
    object->renewed = false;
    if (object->stale) {
        /* It was written to and is what it was: told with a number of its own, for the
         * order of the numbers says which writes a record comes after. */
        object->body = 0;
    }
    object->stale = false;
    object->pieces = 0;
    object->told_in = film_told_period() & 15u;
    finish_record(object, type_name, record_flags(&making), start,
                  !film_content_is_value(content));
    if (content == FILM_CONTENT_LIST && making.cut && !again &&
        film_the_looks_left > 0) {
        keep_record(object);
    }
    film_snapshot_compared(object, value, levels, fingerprint);
    if (making.cut && !fingerprint->flat) {
        film_nested_know(context, value, content, levels,
                         fingerprint->grown ? length_before : 0);
        object = film_objects_find(value);
    }
    object->busy = false;
    return object;
}

static uint8_t *
put_reference(const film_object *object, PyObject *value, uint8_t *to)
{
    *to++ = FILM_TOKEN_CYCLE;
    to = film_varint_encode(to, object->serial);
    return film_varint_encode(to, film_type_of(Py_TYPE(value))->name_id);
}

/* True when nothing needs to be compared: it cannot have changed. */
static bool
is_surely_told(const film_object *object, PyObject *value, film_content content)
{
    if (!film_record_is_kept(object->record) || object->stale || !object->compared ||
        !object->flat || object->partly) {
        return false;
    }
    return content == FILM_CONTENT_TUPLE || content == FILM_CONTENT_FROZENSET ||
           (object->pointers != 0 &&
            film_object_has_same_addresses(object, value, content)) ||
           (content == FILM_CONTENT_DICT && object->version != 0 &&
            object->version == film_dict_version(value));
}

/* The object with a record that tells its content as it is now, `levels` deep. */
static film_object *
tell_content(film_context *context, film_object *object, PyObject *value,
             film_content content, uint32_t levels)
{
    /* A record that goes deeper than asked for will do. */
    uint32_t compared =
        !object->flat && object->levels > levels ? object->levels : levels;
    film_fingerprint fingerprint = film_fingerprint_of(value, content, compared);

    if (film_record_is_kept(object->record) && !object->stale && object->compared &&
        object->levels >= levels && !fingerprint.cut &&
        fingerprint.word == object->fingerprint) {
        return object;
    }
    if (compared != levels) {
        fingerprint = film_fingerprint_of(value, content, levels);
    }
    return film_snapshot_write(context, value, levels, &fingerprint);
}

/* The token of an object that has no serial: of a record that any equal one may have
 * written. NULL: it is not read that way, and has a serial. */
static uint8_t *
make_said_token(film_context *context, PyObject *value, uint32_t levels, bool hidden,
                uint8_t *to)
{
    film_unfinished making = {.context = context,
                              .object = value,
                              .levels = levels == 0 ? 0 : levels - 1,
                              .hidden = hidden};
    const film_type *type = film_type_of(Py_TYPE(value));
    uint32_t type_name = type->name_id;
    film_content content = (film_content)type->content;
    size_t start = film_the_snapshot.body.length, length;
    uint64_t word = film_family_word(type, value), id;
    const uint8_t *body;

    if (word != 0) {
        word = film_digest_mix(word, (uint64_t)type_name + 1);
        id = film_known_record(word);
        if (FILM_LIKELY(id != 0)) {
            return film_token_put_value(to, FILM_TOKEN_VALUE, id - 1);
        }
    }
    film_the_looks_left -= FILM_WRITTEN_RECORD;
    film_buffer_put_varint(&film_the_snapshot.body, 0);
    film_snapshot_put(&making, content);
    if (film_the_snapshot.body.failed || !making.noted) {
        film_the_snapshot.body.length = start;
        return NULL;
    }
    body = film_the_snapshot.body.data + start;
    length = film_the_snapshot.body.length - start;
    if (word == 0) {
        word = film_digest_mix(film_hash(body, length), (uint64_t)type_name + 1);
        id = film_known_record(word);
    }
    else {
        id = 0;
    }
    if (id == 0) {
        id = film_keep_value(type_name, record_flags(&making), body, length);
        film_know_record(word, id);
    }
    film_the_snapshot.body.length = start;
    if (id == 0) {
        *to++ = FILM_TOKEN_UNBOUND;
        return to;
    }
    return film_token_put_value(to, FILM_TOKEN_VALUE, id - 1);
}

/* The same, as deep as slices of slices and methods of methods are told; beyond that they
 * have serials, as what lies deeper in containers has. */
static uint8_t *
said_token(film_context *context, PyObject *value, uint32_t levels, bool hidden,
           uint8_t *to)
{
    static unsigned depth; /* nothing of the program runs meanwhile */
    uint8_t *end;

    if (depth == SAID_DEPTH) {
        return NULL;
    }
    depth++;
    end = make_said_token(context, value, levels, hidden, to);
    depth--;
    return end;
}

bool
film_snapshot_is_missing(const film_object *object)
{
    return !film_record_is_kept(object->record) &&
           !(object->compared && film_session_has_stopped());
}

uint8_t *
film_snapshot_hidden(film_context *context, PyObject *value, const film_holder *holder,
                     uint32_t levels, uint8_t *to)
{
    uint8_t *end = film_type_of(Py_TYPE(value))->said
                       ? said_token(context, value, levels, true, to)
                       : NULL;

    if (end != NULL && holder->kind != FILM_HOLDER_ITEM) {
        film_capture_vacate(holder);
    }
    return end != NULL ? end : film_snapshot_token(context, value, holder, levels, to);
}

FILM_HOT uint8_t *
film_snapshot_token(film_context *context, PyObject *value, const film_holder *holder,
                    uint32_t levels, uint8_t *to)
{
    const film_type *type = film_type_of(Py_TYPE(value));
    film_content content = (film_content)type->content;
    film_object *object;
    bool known, tells_content = film_content_is_value(content);

    if (type->said) {
        uint8_t *end = said_token(context, value, levels, false, to);

        if (end != NULL) {
            if (holder->kind != FILM_HOLDER_ITEM) {
                film_capture_vacate(holder);
            }
            return end;
        }
    }
    if (content == FILM_CONTENT_TENSOR) {
        film_tensor_seen seen;
        uint8_t *end = film_tensor_token(context, value, holder, &seen, to);

        if (FILM_LIKELY(end != NULL)) {
            return end;
        }
    }
    object = film_objects_see(context, value, holder, &known);
    if (object == NULL) {
        *to++ = FILM_TOKEN_UNBOUND;
        return to;
    }
    if (object->busy || ((levels == 0 || film_the_looks_left <= 0) &&
                         (tells_content || !film_record_is_kept(object->record)))) {
        return put_reference(object, value, to);
    }
    if (tells_content ? !is_surely_told(object, value, content)
                      : film_snapshot_is_missing(object)) {
        object = tell_content(context, object, value, content, levels);
    }
    if (object->record == 0) {
        *to++ = FILM_TOKEN_UNBOUND;
        return to;
    }
    return film_token_put_value(
        to, tells_content ? FILM_TOKEN_VALUE : FILM_TOKEN_OBJECT, object->record - 1);
}
