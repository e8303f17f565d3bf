/* addresses.c: see addresses.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/addresses.h"

#include "recorder/compat_objects.h"

#define STEP UINT64_C(0x9e3779b97f4a7c15) /* odd: it has an inverse */

static inline uint64_t
address_of(const PyObject *item)
{
    return (uint64_t)(uintptr_t)item >> 4;
}

/* Adds the terms of an array; *power is that of the first, then of the next. Four at a
 * time: the multiplications do not wait for each other. */
static uint64_t
add_array(PyObject *const *items, Py_ssize_t count, uint64_t *power)
{
    const uint64_t step2 = STEP * STEP, step3 = step2 * STEP, step4 = step2 * step2;
    uint64_t at = *power, sum = 0;
    Py_ssize_t index = 0;

    for (; index + 4 <= count; index += 4) {
        sum += at * (address_of(items[index]) + address_of(items[index + 1]) * STEP +
                     address_of(items[index + 2]) * step2 +
                     address_of(items[index + 3]) * step3);
        at *= step4;
    }
    for (; index < count; index++) {
        sum += at * address_of(items[index]);
        at *= STEP;
    }
    *power = at;
    return sum;
}

film_addresses
film_addresses_of(PyObject *sequence, film_content content, uint64_t front)
{
    film_addresses result = {.front = front, .back = front};

    if (content == FILM_CONTENT_LIST) {
        PyObject **items = ((PyListObject *)sequence)->ob_item;

        result.word = add_array(items, Py_SIZE(sequence), &result.back);
        result.first = Py_SIZE(sequence) > 0 ? items[0] : NULL;
    }
    else {
        film_deque_cursor cursor = film_deque_begin(sequence);

        while (cursor.left > 0) {
            PyObject *const *items = &cursor.block->items[cursor.index];
            Py_ssize_t count = FILM_DEQUE_BLOCK - cursor.index;

            count = count < cursor.left ? count : cursor.left;
            result.first = result.first == NULL ? items[0] : result.first;
            result.word += add_array(items, count, &result.back);
            cursor.left -= count;
            cursor.block = cursor.left > 0 ? cursor.block->right : NULL;
            cursor.index = 0;
        }
    }
    return result;
}

static PyObject *
first_item(PyObject *sequence, film_content content)
{
    film_deque_cursor cursor;

    if (content == FILM_CONTENT_LIST) {
        return ((PyListObject *)sequence)->ob_item[0];
    }
    cursor = film_deque_begin(sequence);
    return film_deque_next(&cursor);
}

static PyObject *
last_item(PyObject *sequence, film_content content)
{
    const film_deque *deque = (const film_deque *)sequence;

    if (content == FILM_CONTENT_LIST) {
        return ((PyListObject *)sequence)->ob_item[Py_SIZE(sequence) - 1];
    }
    return deque->right_block->items[deque->right_index];
}

bool
film_addresses_step(PyObject *sequence, film_content content, int64_t length_before,
                    film_effect effect, film_addresses *addresses)
{
    int64_t grown = (int64_t)Py_SIZE(sequence) - length_before;

    if (Py_SIZE(sequence) == 0 || length_before == 0) {
        return false;
    }
    if (effect == FILM_EFFECT_APPENDS && grown == 1) {
        addresses->word += addresses->back * address_of(last_item(sequence, content));
        addresses->back *= STEP;
        return true;
    }
    /* Exactly one has gone: where another one is the first now, that was the first. */
    if (effect == FILM_EFFECT_REMOVES && grown == -1 &&
        first_item(sequence, content) != addresses->first) {
        addresses->word -= addresses->front * address_of(addresses->first);
        addresses->front *= STEP;
        addresses->first = first_item(sequence, content);
        return true;
    }
    return false;
}
