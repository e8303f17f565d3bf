/* touched.c: see touched.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/touched.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "format/ranges.h"

#define MOST_CODES (1u << 22)
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
    for (size_t i = 0; i < touched->listed_count; i++) {
        film_touched_code *code = &touched->codes[touched->listed[i]];
        clear_bits(&code->lines);
        clear_bits(&code->slots);
        code->listed = false;
    }
    for (size_t i = 0; i < touched->write_count; i++) {
        touched->writes[i].count = 0;
        touched->writes[i].unknown = false;
    }
    memset(touched->table, 0, sizeof(touched->table));
    memset(touched->filter, 0, sizeof(touched->filter));
    touched->listed_count = touched->write_count = 0;
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
    film_free(touched->listed);
    film_free(touched->writes);
    memset(touched, 0, sizeof(*touched));
}

static bool
grow_codes(film_touched *touched, uint32_t code)
{
    size_t capacity = touched->code_capacity == 0 ? 64 : touched->code_capacity;
    film_touched_code *codes;
    uint32_t *listed;

    if (code >= MOST_CODES) {
        return false;
    }
    while (capacity <= code) {
        capacity *= 2;
    }
    listed = film_realloc(touched->listed, capacity * sizeof(*listed));
    if (listed == NULL) {
        return false;
    }
    touched->listed = listed;
    codes = film_realloc(touched->codes, capacity * sizeof(*codes));
    if (codes == NULL) {
        return false;
    }
    memset(codes + touched->code_capacity, 0,
           (capacity - touched->code_capacity) * sizeof(*codes));
    touched->codes = codes;
    touched->code_capacity = capacity;
    return true;
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
    film_touched_code *about;
    film_bits *bits;

    if (code >= touched->code_capacity && !grow_codes(touched, code)) {
        touched->incomplete = true;
        return;
    }
    about = &touched->codes[code];
    bits = is_line ? &about->lines : &about->slots;
    if (number >= bits->bits && !grow_bits(bits, number)) {
        touched->incomplete = true;
        return;
    }
    if (!about->listed) {
        about->listed = true;
        touched->listed[touched->listed_count++] = code;
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
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    return (left > right) - (left < right);
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

    if (lines && touched->listed_count > 1) {
        qsort(touched->listed, touched->listed_count, sizeof(*touched->listed),
              by_code);
    }
    for (size_t i = 0; i < touched->listed_count; i++) {
        const film_touched_code *code = &touched->codes[touched->listed[i]];
        const film_bits *bits = lines ? &code->lines : &code->slots;
        uint32_t count = count_bits(bits), last = 0;
        if (count == 0) {
            continue;
        }
        film_buffer_put_varint(out, touched->listed[i] - last_code);
        film_buffer_put_varint(out, count);
        last_code = touched->listed[i];
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
