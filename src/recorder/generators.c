/* generators.c: see generators.h. Open addressing, linear probing, deletion by moving
 * later entries back, so that no tombstones pile up in a program that makes generators
 * all day.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/generators.h"

#include "base/alloc.h"

#define FIRST_CAPACITY 256u /* a power of two */

typedef struct suspended {
    film_frame_key frame; /* 0: free */
    uint64_t serial;
    const void *thread; /* identity only: that ran it; NULL: several */
    uint32_t code_id;
} suspended;

static struct {
    suspended *slots; /* owned */
    size_t capacity;
    size_t used;
} table;

static size_t
home_slot(film_frame_key frame, size_t capacity)
{
    /* Frames are 16-byte aligned; the multiplier spreads the rest. */
    uint64_t hash = ((uint64_t)frame.word >> 4) * UINT64_C(0x9e3779b97f4a7c15);

    return (size_t)(hash >> 20) & (capacity - 1);
}

static suspended *
find_slot(suspended *slots, size_t capacity, film_frame_key frame)
{
    size_t index = home_slot(frame, capacity);

    while (slots[index].frame.word != 0 && slots[index].frame.word != frame.word) {
        index = (index + 1) & (capacity - 1);
    }
    return &slots[index];
}

static bool
grow_table(void)
{
    size_t capacity = table.capacity == 0 ? FIRST_CAPACITY : table.capacity * 2;
    suspended *slots = film_alloc_array(capacity, sizeof(*slots));

    if (slots == NULL) {
        return false;
    }
    for (size_t index = 0; index < table.capacity; index++) {
        if (table.slots[index].frame.word != 0) {
            *find_slot(slots, capacity, table.slots[index].frame) = table.slots[index];
        }
    }
    film_free(table.slots);
    table.slots = slots;
    table.capacity = capacity;
    return true;
}

uint64_t
film_generators_put(film_frame_key frame, uint64_t serial, uint32_t code_id,
                    const void *thread)
{
    suspended *slot;
    uint64_t gone = 0;

    if ((table.used + 1) * 2 > table.capacity && !grow_table()) {
        return 0;
    }
    slot = find_slot(table.slots, table.capacity, frame);
    if (slot->frame.word == 0) {
        table.used++;
    }
    else if (slot->thread == thread && slot->serial != serial) {
        gone = slot->serial;
    }
    *slot = (suspended){
        .frame = frame, .serial = serial, .thread = thread, .code_id = code_id};
    return gone;
}

FILM_HOT bool
film_generators_get(film_frame_key frame, uint32_t code_id, const void *thread,
                    uint64_t *serial)
{
    suspended *slot;

    if (table.used == 0) {
        return false;
    }
    slot = find_slot(table.slots, table.capacity, frame);
    if (slot->frame.word == 0 || slot->code_id != code_id) {
        return false;
    }
    if (thread != NULL && slot->thread != thread) {
        slot->thread = NULL;
    }
    *serial = slot->serial;
    return true;
}

void
film_generators_remove(film_frame_key frame)
{
    size_t mask = table.capacity - 1, hole, index;

    if (table.used == 0) {
        return;
    }
    hole = (size_t)(find_slot(table.slots, table.capacity, frame) - table.slots);
    if (table.slots[hole].frame.word == 0) {
        return;
    }
    table.used--;
    for (index = (hole + 1) & mask; table.slots[index].frame.word != 0;
         index = (index + 1) & mask) {
        size_t home = home_slot(table.slots[index].frame, table.capacity);

        /* It may move back unless its home lies between the hole and itself. */
        if (((index - home) & mask) >= ((index - hole) & mask)) {
            table.slots[hole] = table.slots[index];
            hole = index;
        }
    }
    table.slots[hole].frame.word = 0;
}

void
film_generators_reset(void)
{
    film_free(table.slots);
    table.slots = NULL;
    table.capacity = 0;
    table.used = 0;
}
