/* tensors.c: see tensors.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/torch/tensors.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/intern.h"
#include "format/records.h"
#include "format/value_record.h"
#include "recorder/capture_keep.h"
#include "recorder/torch/storages.h"

#define TEXT_BYTES 1024u
/* A record: numbers of its dimensions and some ten more. */
#define RECORD_BYTES ((FILM_TENSOR_MOST_DIMENSIONS + 24u) * FILM_VARINT_MAX)

#define KEPT_KINDS 512u

/* A part of a record, ready to be copied. */
typedef struct kept_kind {
    uint64_t kind; /* 0: none */
    uint8_t length;
    uint8_t bytes[39];
} kept_kind;

static struct {
    film_intern texts; /* of metadata, by its hash */
    uint32_t names[3]; /* string ids of what the numbers are called */
    bool summarises;   /* what tensors hold is told too */
    uint32_t dtype_ids[64];
    kept_kind kinds[KEPT_KINDS];
} known;

const PyTypeObject *film_the_tensor_types[2];
bool film_the_values_are_set = true;

void
film_tensors_begin(bool values)
{
    known.summarises = values;
    film_the_tensor_types[0] = film_shim_type(0);
    film_the_tensor_types[1] = film_shim_type(1);
}

void
film_tensors_reset(void)
{
    film_the_tensor_types[0] = film_the_tensor_types[1] = NULL;
    film_intern_reset(&known.texts);
    memset(&known, 0, sizeof(known));
    film_storages_reset();
}

/* --- metadata --------------------------------------------------------------------- */

/* One more part of a word. Sizes and strides are small numbers that depend on one another: a
 * sum of products would give some of them the same word. */
static inline uint64_t
mix(uint64_t sum, uint64_t part)
{
    sum = (sum ^ part) * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ sum >> 32;
}

/* What tensors of the same kind share: its text. Equal words are taken as equal kinds, as in
 * base/intern.h. */
static inline uint64_t
kind_word(const film_tensor_view *view)
{
    uint64_t sum =
        mix((uint64_t)(uint16_t)view->dtype | (uint64_t)view->dimensions << 16 |
                (uint64_t)(uint8_t)view->device_type << 24 |
                (uint64_t)(uint16_t)view->device_index << 32 |
                (uint64_t)view->requires_grad << 48,
            UINT64_C(0x94d049bb133111eb));

    for (int64_t index = 0; index < view->dimensions; index++) {
        sum = mix(sum, (uint64_t)view->sizes[index]);
        sum = mix(sum, (uint64_t)view->strides[index]);
    }
    return sum | (sum == 0);
}

static inline uint64_t
whole_word(const film_tensor_view *view, uint64_t kind)
{
    uint64_t sum = mix(kind, (uint64_t)(uintptr_t)view->storage);

    sum = mix(sum, (uint64_t)view->version);
    sum = mix(sum, (uint64_t)view->offset);
    return sum | (sum == 0);
}

/* True for the strides that a new tensor of these sizes gets: readers know them. */
static bool
has_usual_strides(const film_tensor_view *view)
{
    int64_t expected = 1;

    for (int64_t index = view->dimensions; index-- > 0;) {
        if (view->strides[index] != expected) {
            return false;
        }
        expected *= view->sizes[index] > 1 ? view->sizes[index] : 1;
    }
    return true;
}

static size_t
put_text(char *to, size_t at, const char *text)
{
    size_t length = strlen(text);

    if (at + length > TEXT_BYTES) {
        return TEXT_BYTES;
    }
    memcpy(to + at, text, length);
    return at + length;
}

static size_t
put_numbers(char *to, size_t at, const int64_t *numbers, int64_t count)
{
    char text[32];

    at = put_text(to, at, "[");
    for (int64_t index = 0; index < count; index++) {
        (void)snprintf(text, sizeof(text), "%s%" PRId64, index == 0 ? "" : ", ",
                       numbers[index]);
        at = put_text(to, at, text);
    }
    return put_text(to, at, "]");
}

/* f32[64, 128] cuda:0 strides[1, 64] grad */
static uint32_t
make_text(const film_tensor_view *view)
{
    char text[TEXT_BYTES], device[16] = "";
    const char *name = film_shim_device_name(view->device_type);
    size_t length = put_text(text, 0, film_shim_dtype_short(view->dtype));

    length = put_numbers(text, length, view->sizes, view->dimensions);
    length = put_text(text, length, " ");
    length = put_text(text, length, name[0] == '\0' ? "?" : name);
    if (!film_shim_is_cpu(view->device_type) && view->device_index >= 0) {
        (void)snprintf(device, sizeof(device), ":%" PRId32, view->device_index);
        length = put_text(text, length, device);
    }
    if (!has_usual_strides(view)) {
        length = put_text(text, length, " strides");
        length = put_numbers(text, length, view->strides, view->dimensions);
    }
    if (view->requires_grad) {
        length = put_text(text, length, " grad");
    }
    return film_keep_string(text, length);
}

/* The string id of its metadata. */
static uint32_t
text_of(const film_tensor_view *view, uint64_t kind)
{
    uint32_t id;

    if (FILM_UNLIKELY(!film_intern_find(&known.texts, kind, &id))) {
        id = make_text(view);
        (void)film_intern_add(&known.texts, kind, id); /* else it is made again */
    }
    return id;
}

static uint32_t
dtype_id(int32_t dtype)
{
    const char *name = film_shim_dtype_name(dtype);

    if (name[0] == '\0') {
        return 0;
    }
    if (known.dtype_ids[dtype] == 0) {
        known.dtype_ids[dtype] = film_keep_string(name, strlen(name));
    }
    return known.dtype_ids[dtype];
}

uint64_t
film_tensor_word(PyObject *tensor)
{
    film_tensor_view view;

    return film_shim_read(tensor, &view) ? whole_word(&view, kind_word(&view)) : 0;
}

/* --- records ---------------------------------------------------------------------- */

/* What the numbers of a record are called, without a summary, with one, and with one of a
 * sample. */
enum { PLAIN, SUMMED, SAMPLED, NAME_LISTS };

#define PLAIN_NAMES "storage,offset,version"
#define SUMMED_NAMES PLAIN_NAMES ",min,max,mean,std,zeros,nonfinite,hash"

static const struct {
    const char *text;
    uint8_t count;
} name_lists[NAME_LISTS] = {
    {PLAIN_NAMES, 3}, {SUMMED_NAMES, 10}, {SUMMED_NAMES ",count", 11}};

static uint8_t *
put_names(unsigned list, uint8_t *to)
{
    if (known.names[list] == 0) {
        known.names[list] =
            film_keep_string(name_lists[list].text, strlen(name_lists[list].text));
    }
    to = film_varint_encode(to, known.names[list]);
    *to++ = 0;
    *to++ = name_lists[list].count;
    return to;
}

/* What follows the serial in the records of tensors of one kind, up to the numbers. */
static uint8_t *
put_kind(const film_tensor_view *view, uint64_t kind, uint8_t *to)
{
    *to++ = FILM_OBJECT_ARRAY;
    to = film_varint_encode(to,
                            view->dimensions == 0 ? 0 : (uint64_t)view->sizes[0] + 1);
    to = film_varint_encode(to, (uint64_t)view->dimensions);
    for (int64_t index = 0; index < view->dimensions; index++) {
        to = film_varint_encode(to, (uint64_t)view->sizes[index]);
    }
    to = film_varint_encode(to, dtype_id(view->dtype));
    return film_varint_encode(to, text_of(view, kind));
}

/* The same from what was put last for a tensor of that kind. */
static inline uint8_t *
put_kind_quickly(const film_tensor_view *view, uint64_t kind, uint8_t *to)
{
    kept_kind *kept = &known.kinds[kind % KEPT_KINDS];
    uint8_t *end;

    if (FILM_LIKELY(kept->kind == kind)) {
        memcpy(to, kept->bytes, sizeof(kept->bytes));
        return to + kept->length;
    }
    end = put_kind(view, kind, to);
    if ((size_t)(end - to) <= sizeof(kept->bytes)) {
        kept->kind = kind;
        kept->length = (uint8_t)(end - to);
        memcpy(kept->bytes, to, kept->length);
    }
    return end;
}

/* False: nothing is known of what it holds. */
static bool
summarise(PyObject *tensor, const film_tensor_view *view, film_number_summary *summary)
{
    film_dtype kind = film_shim_dtype_kind(view->dtype);

    return film_the_values_are_set && kind != FILM_DTYPE_UNKNOWN &&
           view->storage != NULL && film_shim_is_cpu(view->device_type) &&
           film_summary_of(film_shim_data(tensor), kind, (int)view->dimensions,
                           view->sizes, view->strides, summary);
}

static uint8_t *
put_summary(const film_number_summary *summary, uint8_t *to)
{
    to = film_token_put_float(to, summary->min);
    to = film_token_put_float(to, summary->max);
    to = film_token_put_float(to, summary->mean);
    to = film_token_put_float(to, summary->std);
    to = film_token_put_int(to, (int64_t)summary->zeros);
    to = film_token_put_int(to, (int64_t)summary->nonfinite);
    to = film_token_put_int(to, (int64_t)summary->hash);
    return summary->sampled ? film_token_put_int(to, (int64_t)summary->count) : to;
}

/* The body of a record, as docs/format.md tells. */
static inline uint8_t *
put_record(const film_object *object, PyObject *tensor, const film_tensor_view *view,
           uint64_t kind, uint64_t storage, uint8_t *to)
{
    film_number_summary summary;
    bool summed = FILM_UNLIKELY(known.summarises) && summarise(tensor, view, &summary);

    to = film_varint_encode(to, object->serial);
    to = put_kind_quickly(view, kind, to);
    to = put_names(!summed ? PLAIN : summary.sampled ? SAMPLED : SUMMED, to);
    to = film_token_put_int(to, (int64_t)storage);
    to = film_token_put_int(to, view->offset);
    if (view->version < 0) {
        *to++ = FILM_TOKEN_NONE;
    }
    else {
        to = film_token_put_int(to, view->version);
    }
    return summed ? put_summary(&summary, to) : to;
}

static FILM_HOT void
write_record(film_object *object, PyObject *tensor, const film_tensor_view *view,
             uint64_t kind, uint64_t word)
{
    static uint8_t body[RECORD_BYTES]; /* of the holder of the GIL */
    const PyTypeObject *type = Py_TYPE(tensor);
    uint64_t storage = film_storage_of(view->storage, tensor, object);
    const uint8_t *end = put_record(object, tensor, view, kind, storage, body);
    uint32_t flags = FILM_VALUE_OBJECT | FILM_VALUE_NOTED |
                     (type->tp_dictoffset == 0 ? FILM_VALUE_SLOTS : 0) |
                     (type->tp_call != NULL ? FILM_VALUE_CALLABLE : 0);
    uint64_t record = film_keep_value(film_type_of(Py_TYPE(tensor))->name_id, flags,
                                      body, (size_t)(end - body));

    film_objects_set_record(object, record, false);
    object->body = word;
    object->fingerprint = word;
    object->version = (uint32_t)view->version;
    object->length = view->dimensions == 0 ? -1 : view->sizes[0];
    object->levels = UINT8_MAX;
    object->flat = object->compared = true;
    object->stale = object->partly = object->unsure = object->worded = false;
}

bool
film_tensor_write(film_object *object, PyObject *tensor)
{
    film_tensor_view view;
    uint64_t kind;

    if (!film_shim_read(tensor, &view)) {
        return false;
    }
    kind = kind_word(&view);
    write_record(object, tensor, &view, kind, whole_word(&view, kind));
    return true;
}

static film_object *
see(film_context *context, PyObject *tensor, const film_holder *holder)
{
    bool known_before;

    return FILM_LIKELY(film_type_of(Py_TYPE(tensor))->dies_in_sight)
               ? film_objects_see_new(tensor)
               : film_objects_see(context, tensor, holder, &known_before);
}

FILM_HOT uint8_t *
film_tensor_token(film_context *context, PyObject *tensor, const film_holder *holder,
                  film_tensor_seen *seen, uint8_t *to)
{
    film_tensor_view view;
    film_object *object;
    uint64_t kind, word;

    if (FILM_UNLIKELY(!film_shim_read(tensor, &view))) {
        return NULL;
    }
    kind = kind_word(&view);
    word = whole_word(&view, kind);
    object = film_objects_find_sure(tensor);
    if (FILM_UNLIKELY(object == NULL)) {
        object = see(context, tensor, holder);
        if (FILM_UNLIKELY(object == NULL)) {
            return NULL;
        }
    }
    film_capture_vacate(holder);
    if (!object->compared || object->fingerprint != word || object->stale ||
        FILM_UNLIKELY(!film_record_is_kept(object->record))) {
        write_record(object, tensor, &view, kind, word);
    }
    *seen = (film_tensor_seen){.version = view.version,
                               .on_device = !film_shim_is_cpu(view.device_type)};
    if (FILM_UNLIKELY(object->record == 0)) {
        *to++ = FILM_TOKEN_UNBOUND;
        return to;
    }
    return film_token_put_value(to, FILM_TOKEN_VALUE, object->record - 1);
}

bool
film_tensor_was_changed(PyObject *tensor)
{
    const film_object *object = film_objects_find_sure(tensor);

    return object != NULL && object->compared &&
           object->version != (uint32_t)film_shim_version(tensor);
}
