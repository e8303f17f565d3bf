/* cells.c: see cells.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/cells.h"

#include "format/cells.h"
#include "recorder/capture.h"
#include "recorder/objects.h"
#include "recorder/plan.h"
#include "recorder/variables.h"

/* How far the frame that made a cell is looked for, once for each. */
#define MOST_FRAMES 256u

/* What a cell's film_object.words are used for. */
enum cell_word {
    CELL_HOLDER, /* serial of a frame that has it; 0: none was found */
    CELL_ENTRY,  /* index of its entry, and above it the slot */
    CELL_THREAD  /* whose frames were looked through */
};

#define ENTRY_BITS 32u

static void
keep_holder(const film_context *context, film_object *object,
            const film_stack_entry *holder, uint32_t slot)
{
    object->words[CELL_THREAD] = (uint64_t)(uintptr_t)context->thread;
    object->words[CELL_HOLDER] = holder == NULL ? 0 : holder->serial;
    object->words[CELL_ENTRY] = holder == NULL ? 0
                                               : (uint64_t)(holder - context->entries) |
                                                     (uint64_t)slot << ENTRY_BITS;
}

/* The frame that was told to have the cell, if it is open; NULL: it is not. *shown:
 * what it has in its place now. */
static const film_stack_entry *
known_holder(const film_context *context, const film_object *object, int *slot,
             const PyObject **shown)
{
    const film_stack_entry *entry =
        context->entries + (uint32_t)object->words[CELL_ENTRY];

    const film_frame *frame;

    *slot = (int)(object->words[CELL_ENTRY] >> ENTRY_BITS);
    if (object->words[CELL_HOLDER] == 0 || entry >= context->top ||
        entry->serial != object->words[CELL_HOLDER]) {
        return NULL;
    }
    frame = film_entry_frame(context, entry);
    if (FILM_UNLIKELY(frame == NULL)) {
        return NULL;
    }
    *shown = film_frame_local(frame, *slot);
    return entry;
}

/* The slot in which a frame has the cell; -1: it has not. */
static int
slot_of_cell(const film_frame *frame, const PyCodeObject *code, const PyObject *cell)
{
    if (code->co_ncellvars + code->co_nfreevars == 0) {
        return -1;
    }
    for (int slot = 0; slot < code->co_nlocalsplus; slot++) {
        if (film_slot_is_cell(code, (uint32_t)slot) &&
            film_frame_local(frame, slot) == cell) {
            return slot;
        }
    }
    return -1;
}

/* The open recorded frame below the top that has the cell, and in which slot; NULL:
 * none. The interpreter's own chain is walked: those frames are alive. */
static const film_stack_entry *
find_holder(const film_context *context, const film_frame *frame, const PyObject *cell,
            int *slot)
{
    const film_frame *caller = film_frame_caller(frame);

    for (unsigned walked = 0; caller != NULL && walked < MOST_FRAMES;
         caller = film_frame_caller(caller), walked++) {
        const PyCodeObject *code = (const PyCodeObject *)film_frame_code(caller);

        if (film_frame_is_incomplete(caller)) {
            continue;
        }
        *slot = slot_of_cell(caller, code, cell);
        for (const film_stack_entry *entry = context->top - 1;
             *slot >= 0 && entry > context->entries; entry--) {
            if (film_frame_has_key(caller, entry->frame)) {
                return entry;
            }
        }
    }
    return NULL;
}

static uint8_t *
put_value(film_context *context, PyObject *value, uint32_t slot, uint8_t *to)
{
    film_stack_entry *entry = context->top;
    film_holder holder = {.kind = FILM_HOLDER_CELL, .entry = entry, .slot = slot};
    PyObject *secret = entry->plan->secret_slots == NULL
                           ? NULL
                           : film_name_of_secret_slot(entry, slot);

    uint8_t *end;

    if (value == NULL || secret != NULL) {
        return film_capture(context, value, &holder, secret, to);
    }
    /* Its content is not compared: readers know what the object held by then. */
    end = film_capture_owner(context, value, &holder, to);
    if (*to == FILM_TOKEN_OBJECT &&
        film_content_is_value((film_content)film_type_of(Py_TYPE(value))->content)) {
        *to = FILM_TOKEN_VALUE;
    }
    return end;
}

/* Writes what is to be told of a cell; returns the end. */
static uint8_t *
put_cell(film_context *context, const film_frame *frame, uint32_t slot, PyObject *cell,
         film_object *object, uint8_t *to)
{
    uint64_t thread = (uint64_t)(uintptr_t)context->thread;
    const film_stack_entry *holder = NULL;
    const PyObject *shown = NULL;
    unsigned flags = 0;
    int holder_slot = -1;
    uint64_t serial = object->serial;

    if (object->words[CELL_THREAD] != thread) {
        holder = find_holder(context, frame, cell, &holder_slot);
        keep_holder(context, object, holder, (uint32_t)holder_slot);
        flags = holder == NULL ? FILM_CELL_VALUE : FILM_CELL_HELD;
    }
    else if ((holder = known_holder(context, object, &holder_slot, &shown)) == NULL) {
        flags = FILM_CELL_VALUE;
    }
    else if (FILM_UNLIKELY(shown != cell)) {
        keep_holder(context, object, NULL, 0); /* a comprehension's, or it hides it */
        flags = FILM_CELL_HELD | FILM_CELL_VALUE;
    }
    to = film_varint_encode(to, (uint64_t)slot << FILM_CELL_SHIFT | flags);
    to = film_varint_encode(to, serial);
    if ((flags & FILM_CELL_HELD) != 0) {
        to = film_varint_encode(to, (uint64_t)(context->top - 1 - holder));
        to = film_varint_encode(to, (uint64_t)holder_slot);
    }
    if ((flags & FILM_CELL_VALUE) != 0) {
        /* May move what is known of objects: the cell is not looked at any more. */
        to = put_value(context, film_cell_content(cell), slot, to);
    }
    return to;
}

/* A body of CELLS rows that is being written. */
typedef struct cells_body {
    uint8_t bytes[FILM_APPEND_CELLS];
    uint8_t *to;
} cells_body;

/* Ends the row where the next entry might not fit, or at the end. */
static bool
append_body(film_context *context, cells_body *body, bool ends)
{
    size_t length = (size_t)(body->to - body->bytes);

    if (length == 0 || (!ends && length + FILM_CELL_MAX <= sizeof(body->bytes))) {
        return true;
    }
    body->to = body->bytes;
    return film_append_cells(context->thread, body->bytes, length);
}

/* A cell that the frame on top has made: it holds what the variable holds. */
static uint8_t *
put_own_cell(film_context *context, uint32_t slot, film_object *object, uint8_t *to)
{
    keep_holder(context, object, context->top, slot);
    to = film_varint_encode(to, (uint64_t)slot << FILM_CELL_SHIFT);
    return film_varint_encode(to, object->serial);
}

bool
film_cells_tell(film_context *context, const film_frame *frame)
{
    const film_plan *plan = context->top->plan;
    film_holder nobody = {.kind = FILM_HOLDER_NONE};
    cells_body body;

    body.to = body.bytes;
    for (uint32_t index = 0; index < plan->free_count + plan->shared_count; index++) {
        uint32_t slot = plan->free_slots[index];
        PyObject *cell = film_frame_local(frame, (int)slot);
        film_object *object;
        bool known;

        if (cell == NULL || !PyCell_Check(cell)) {
            continue;
        }
        object = film_objects_see(context, cell, &nobody, &known);
        if (object == NULL || !object->sure) {
            continue; /* it could be taken for another one */
        }
        body.to = index < plan->free_count
                      ? put_cell(context, frame, slot, cell, object, body.to)
                      : put_own_cell(context, slot, object, body.to);
        if (!append_body(context, &body, false)) {
            return false;
        }
    }
    return append_body(context, &body, true);
}

bool
film_cells_tell_again(film_context *context, const film_frame *frame)
{
    const film_plan *plan = context->top->plan;
    cells_body body;

    body.to = body.bytes;
    for (uint32_t index = 0; index < plan->shared_count; index++) {
        uint32_t slot = plan->free_slots[plan->free_count + index];
        PyObject *cell = film_frame_local(frame, (int)slot);
        film_object *object =
            cell == NULL || !PyCell_Check(cell) ? NULL : film_objects_find_sure(cell);

        if (object == NULL || object->words[CELL_HOLDER] == context->top->serial) {
            continue;
        }
        keep_holder(context, object, context->top, slot);
        body.to = film_varint_encode(body.to, (uint64_t)slot << FILM_CELL_SHIFT |
                                                  FILM_CELL_VALUE);
        body.to = film_varint_encode(body.to, object->serial);
        body.to = put_value(context, film_cell_content(cell), slot, body.to);
        if (!append_body(context, &body, false)) {
            return false;
        }
    }
    return append_body(context, &body, true);
}

uint64_t
film_cells_restored(const film_context *context, PyObject *cell, uint32_t slot)
{
    film_object *object = film_objects_find_sure(cell);

    if (object == NULL ||
        object->words[CELL_THREAD] != (uint64_t)(uintptr_t)context->thread) {
        return 0; /* the next call of a function that has it tells who has it */
    }
    keep_holder(context, object, context->top, slot);
    return object->serial;
}
