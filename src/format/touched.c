/* touched.c: see touched.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/touched.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "format/ranges.h"

#define FEWEST_PLACES 256u
#define MOST_BITS (1u << 20)
#define MOST_WRITES 512u
#define TABLE_SIZE (sizeof(((film_touched *)0)->table) / sizeof(uint16_t))

static void
clear_bits(film_bits *bits)
{
    if (bits->bits > 0) {
        memset(bits->words, 0, bits->bits / 8);
    }
}

void
film_touched_begin(film_touched *touched, uint64_t watermark)
{
    for (size_t i = 0; i < touched->code_count; i++) {
        clear_bits(&touched->codes[i].lines);
        clear_bits(&touched->codes[i].slots);
    }
    if (touched->code_count > 0) {
        memset(touched->places, 0, touched->place_count * sizeof(*touched->places));
    }
    for (size_t i = 0; i < touched->write_count; i++) {
        touched->writes[i].count = 0;
        touched->writes[i].unknown = false;
    }
    memset(touched->table, 0, sizeof(touched->table));
    memset(touched->filter, 0, sizeof(touched->filter));
    touched->code_count = touched->write_count = 0;
    touched->watermark = watermark;
    touched->adjusted = touched->incomplete = false;
}

void
film_touched_reset(film_touched *touched)
{
    for (size_t i = 0; i < touched->code_capacity; i++) {
        film_free(touched->codes[i].lines.words);
        film_free(touched->codes[i].slots.words);
    }
    for (size_t i = 0; i < touched->write_capacity; i++) {
        film_free(touched->writes[i].serials);
    }
    film_free(touched->codes);
    film_free(touched->places);
    film_free(touched->writes);
    memset(touched, 0, sizeof(*touched));
}

/* Where the code is in the table, or would be. */
static uint32_t *
place_of(const film_touched *touched, uint32_t code)
{
    size_t at = (size_t)((uint64_t)code * 0x9E3779B97F4A7C15u >> 32);

    while (touched->places[at & (touched->place_count - 1)] != 0 &&
           touched->codes[touched->places[at & (touched->place_count - 1)] - 1].code !=
               code) {
        at++;
    }
    return &touched->places[at & (touched->place_count - 1)];
}

/* Room in the table for one more; false: memory is out. */
static bool
grow_places(film_touched *touched)
{
    size_t count = touched->place_count == 0 ? FEWEST_PLACES : touched->place_count * 2;
    uint32_t *places;

    if (touched->code_count * 2 < touched->place_count) {
        return true;
    }
    places = film_alloc_array(count, sizeof(*places));
    if (places == NULL) {
        return false;
    }
    film_free(touched->places);
    touched->places = places;
    touched->place_count = count;
    for (size_t i = 0; i < touched->code_count; i++) {
        *place_of(touched, touched->codes[i].code) = (uint32_t)i + 1;
    }
    return true;
}

/* The entry of a code, a new one if it has none; NULL: memory is out. */
static film_touched_code *
entry_of(film_touched *touched, uint32_t code)
{
    film_touched_code *codes;
    uint32_t *place;

    if (!grow_places(touched)) {
        return NULL;
    }
    place = place_of(touched, code);
    if (*place == 0) {
        size_t had = touched->code_capacity;
        codes = film_grow(touched->codes, &touched->code_capacity,
                          touched->code_count + 1, sizeof(*codes));
        if (codes == NULL) {
            return NULL;
        }
        touched->codes = codes;
        memset(codes + had, 0, (touched->code_capacity - had) * sizeof(*codes));
        codes[touched->code_count].code = code;
        *place = (uint32_t)++touched->code_count;
    }
    touched->quick[code % FILM_TOUCHED_QUICK] = *place - 1;
    return &touched->codes[*place - 1];
}

static bool
grow_bits(film_bits *bits, uint32_t number)
{
    uint32_t wanted = bits->bits == 0 ? 64 : bits->bits;
    uint64_t *words;

    if (number >= MOST_BITS) {
        return false;
    }
    while (wanted <= number) {
        wanted *= 2;
    }
    words = film_realloc(bits->words, wanted / 8);
    if (words == NULL) {
        return false;
    }
    memset(words + bits->bits / 64, 0, (wanted - bits->bits) / 8);
    bits->words = words;
    bits->bits = wanted;
    return true;
}

void
film_touched_slow(film_touched *touched, uint32_t code, uint32_t number, bool is_line)
{
    film_touched_code *about = entry_of(touched, code);
    film_bits *bits;

    if (about == NULL) {
        touched->incomplete = true;
        return;
    }
    bits = is_line ? &about->lines : &about->slots;
    if (number >= bits->bits && !grow_bits(bits, number)) {
        touched->incomplete = true;
        return;
    }
    bits->words[number >> 6] |= UINT64_C(1) << (number & 63);
}

/* The entry of a key; NULL: there are too many, or memory is out. */
static film_touched_write *
write_of(film_touched *touched, uint64_t key)
{
    size_t at = (size_t)(key * 0x9E3779B97F4A7C15u >> 40) % TABLE_SIZE;

    while (touched->table[at] != 0) {
        film_touched_write *known = &touched->writes[touched->table[at] - 1];
        if (known->key == key) {
            return known;
        }
        at = (at + 1) % TABLE_SIZE;
    }
    if (touched->write_count >= MOST_WRITES) {
        return NULL;
    }
    if (touched->write_count == touched->write_capacity) {
        size_t capacity = touched->write_capacity;
        film_touched_write *writes =
            film_grow(touched->writes, &capacity, capacity + 1, sizeof(*writes));
        if (writes == NULL) {
            return NULL;
        }
        memset(writes + touched->write_capacity, 0,
               (capacity - touched->write_capacity) * sizeof(*writes));
        touched->writes = writes;
        touched->write_capacity = capacity;
    }
    touched->writes[touched->write_count].key = key;
    touched->table[at] = (uint16_t)++touched->write_count;
    return &touched->writes[touched->write_count - 1];
}

void
film_touched_write_slow(film_touched *touched, uint64_t key, uint64_t serial)
{
    film_touched_write *write = write_of(touched, key);
    uint64_t *serials;

    if (write == NULL) {
        touched->incomplete = true;
        return;
    }
    if ((key & 3) == FILM_TOUCHED_GLOBAL) {
        return;
    }
    if (serial == 0) {
        write->unknown = true;
        return;
    }
    serials =
        film_grow(write->serials, &write->capacity, write->count + 1, sizeof(*serials));
    if (serials == NULL) {
        write->unknown = true;
        return;
    }
    write->serials = serials;
    serials[write->count++] = serial;
}

static int
by_code(const void *a, const void *b)
{
    const film_touched_code *left = a, *right = b;

    return (left->code > right->code) - (left->code < right->code);
}

static uint32_t
count_bits(const film_bits *bits)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < bits->bits / 64; i++) {
        count += (uint32_t)__builtin_popcountll(bits->words[i]);
    }
    return count;
}

void
film_touched_put_lines(film_touched *touched, bool lines, film_buffer *out)
{
    uint32_t last_code = 0;

    if (lines && touched->code_count > 1) {
        /* The table is not needed any more. */
        qsort(touched->codes, touched->code_count, sizeof(*touched->codes), by_code);
    }
    for (size_t i = 0; i < touched->code_count; i++) {
        const film_touched_code *code = &touched->codes[i];
        const film_bits *bits = lines ? &code->lines : &code->slots;
        uint32_t count = count_bits(bits), last = 0;
        if (count == 0) {
            continue;
        }
        film_buffer_put_varint(out, code->code - last_code);
        film_buffer_put_varint(out, count);
        last_code = code->code;
        for (uint32_t word = 0; word < bits->bits / 64; word++) {
            for (uint64_t left = bits->words[word]; left != 0; left &= left - 1) {
                uint32_t number = word * 64 + (uint32_t)__builtin_ctzll(left);
                film_buffer_put_varint(out, number - last);
                last = number;
            }
        }
    }
}

static int
by_key(const void *a, const void *b)
{
    const film_touched_write *left = a, *right = b;

    return (left->key > right->key) - (left->key < right->key);
}

void
film_touched_put_writes(film_touched *touched, film_buffer *out)
{
    if (touched->write_count > 1) {
        /* The table is not needed any more. */
        qsort(touched->writes, touched->write_count, sizeof(*touched->writes), by_key);
    }
    for (size_t i = 0; i < touched->write_count; i++) {
        film_touched_write *write = &touched->writes[i];
        film_buffer_put_varint(out, (write->key >> 2) << 3 |
                                        (uint64_t)write->unknown << 2 |
                                        (write->key & 3));
        film_ranges_put(write->serials, write->count, FILM_TOUCHED_RANGES,
                        (write->key & 3) == FILM_TOUCHED_ITEM ? FILM_TOUCHED_EXACT
                                                              : FILM_TOUCHED_RANGES,
                        out);
    }
}

void
film_touched_put_marks(const film_touched *touched, film_buffer *out)
{
    film_buffer_put_varint(out, touched->watermark);
    film_buffer_put_varint(out, touched->adjusted ? FILM_MARK_ADJUSTED : 0);
}
