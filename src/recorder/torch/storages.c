/* storages.c: see storages.h. Open addressing by address; an entry whose holders are all
 * gone is taken for the next storage that comes to its place.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/torch/storages.h"

#include <string.h>

#include "base/alloc.h"
#include "recorder/torch/shim.h"

#define HOLDERS 3u
#define FIRST_CAPACITY 4096u
#define MOST_CAPACITY (1u << 22)
#define PROBES 8u

typedef struct storage_holder {
    const PyObject *tensor; /* followed only once it is proven alive */
    uint64_t serial;
} storage_holder;

typedef struct storage_entry {
    const void *address; /* NULL: free */
    uint64_t number;
    storage_holder holders[HOLDERS]; /* the first it was seen with, and the latest */
} storage_entry;

static struct {
    storage_entry *entries; /* owned */
    size_t capacity;        /* a power of two, or 0 */
    uint64_t numbers;       /* given so far */
} table;

void
film_storages_reset(void)
{
    film_free(table.entries);
    memset(&table, 0, sizeof(table));
}

static bool
still_holds(const storage_holder *holder, const void *storage)
{
    PyObject *tensor = holder->serial == 0
                           ? NULL
                           : film_capture_living(holder->tensor, holder->serial);
    film_tensor_view view;

    return tensor != NULL &&
           film_type_of(Py_TYPE(tensor))->content == FILM_CONTENT_TENSOR &&
           film_shim_read(tensor, &view) && view.storage == storage;
}

static bool
is_alive(const storage_entry *entry)
{
    for (size_t index = 0; index < HOLDERS; index++) {
        if (still_holds(&entry->holders[index], entry->address)) {
            return true;
        }
    }
    return false;
}

/* Puts the holder over one that is gone, or over the latest. */
static void
add_holder(storage_entry *entry, PyObject *tensor, uint64_t serial)
{
    size_t place = HOLDERS - 1;

    for (size_t index = 0; index < HOLDERS; index++) {
        if (entry->holders[index].serial == serial) {
            return;
        }
    }
    for (size_t index = 0; index < HOLDERS; index++) {
        if (!still_holds(&entry->holders[index], entry->address)) {
            place = index;
            break;
        }
    }
    entry->holders[place] = (storage_holder){tensor, serial};
}

static size_t
bucket_of(const void *storage)
{
    return (size_t)(((uint64_t)(uintptr_t)storage >> 4) *
                        UINT64_C(0x9e3779b97f4a7c15) >>
                    20) &
           (table.capacity - 1);
}

/* The entry of an address, or the one to be used for it; NULL: all near by are alive. */
static storage_entry *
find_entry(const void *storage)
{
    storage_entry *found = NULL;
    size_t at;

    if (table.capacity == 0) {
        return NULL;
    }
    at = bucket_of(storage);
    for (size_t probe = 0; probe < PROBES; probe++) {
        storage_entry *entry = &table.entries[(at + probe) & (table.capacity - 1)];

        if (entry->address == storage) {
            return entry;
        }
        if (found == NULL && (entry->address == NULL || !is_alive(entry))) {
            found = entry;
        }
        if (entry->address == NULL) {
            break;
        }
    }
    return found;
}

/* Twice the room; entries that find no place there are forgotten, which at worst makes
 * one storage two. */
static bool
grow(void)
{
    storage_entry *old = table.entries;
    size_t capacity = table.capacity;

    if (capacity >= MOST_CAPACITY) {
        return false;
    }
    table.capacity = capacity == 0 ? FIRST_CAPACITY : capacity * 2;
    table.entries = film_alloc_array(table.capacity, sizeof(*table.entries));
    if (table.entries == NULL) {
        table.entries = old;
        table.capacity = capacity;
        return false;
    }
    for (size_t index = 0; index < capacity; index++) {
        storage_entry *to =
            old[index].address == NULL ? NULL : find_entry(old[index].address);

        if (to != NULL) {
            *to = old[index];
        }
    }
    film_free(old);
    return true;
}

uint64_t
film_storage_of(const void *storage, PyObject *tensor, const film_object *object)
{
    storage_entry *entry;

    if (storage == NULL) {
        return 0;
    }
    entry = find_entry(storage);
    if (entry == NULL && grow()) {
        entry = find_entry(storage);
    }
    if (entry == NULL) {
        return ++table.numbers; /* not to be found again */
    }
    if (entry->address == storage && is_alive(entry)) {
        add_holder(entry, tensor, object->serial);
        return entry->number;
    }
    *entry = (storage_entry){.address = storage,
                             .number = ++table.numbers,
                             .holders = {{tensor, object->serial}}};
    return entry->number;
}
