/* test_value_columns.c: records of values as columns, and back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "random.h"

#include "format/records.h"
#include "format/token.h"
#include "format/value_columns.h"
#include "format/value_record.h"
#include "writer/append.h"

static uint8_t *
random_token(uint8_t *to, uint64_t id)
{
    switch (random_number() % 7) {
    case 0:
        return film_token_put_int(to, (int64_t)random_number());
    case 1:
        return film_token_put_float(to, (double)random_number() / 3);
    case 2:
        return film_token_put_value(to, FILM_TOKEN_VALUE, random_number() % (id + 1));
    case 3:
        return film_token_put_value(to, FILM_TOKEN_OBJECT, random_number());
    case 4:
        return film_token_put_text(to, "sixteen letters!", random_number() % 17);
    case 5:
        *to++ = FILM_TOKEN_CYCLE;
        to = film_varint_encode(to, random_number());
        return film_varint_encode(to, (uint32_t)random_number());
    default:
        *to++ = (uint8_t)(random_number() % 4);
        return to;
    }
}

static uint8_t *
random_note(uint8_t *to, uint64_t id)
{
    uint32_t count = (uint32_t)(random_number() % 4);

    to = film_varint_encode(to, (uint32_t)random_number());
    to = film_varint_encode(to, (uint32_t)random_number());
    *to++ = (uint8_t)random_number();
    to = film_varint_encode(to, count);
    for (uint32_t i = 0; i < count; i++) {
        to = random_token(to, id);
    }
    return to;
}

/* A record as the writer puts it: kind, length, body. One in eight makes no sense. */
static void
random_record(film_buffer *out, uint64_t id)
{
    uint8_t body[1024], *to = body;
    uint32_t form = (uint32_t)(random_number() % 9),
             count = (uint32_t)(random_number() % 20);
    uint32_t tokens = form == FILM_OBJECT_MAPPING ? 2 : 1;
    uint32_t noted = form != 0 && random_number() % 2 == 0 ? FILM_VALUE_NOTED : 0;

    to = film_varint_encode(to, (uint32_t)random_number());
    to = film_varint_encode(to, form == 0 ? random_number() % 4
                                          : noted + 4 + random_number() % 4);
    if (form != 0) {
        to = film_varint_encode(to, random_number());
        *to++ = (uint8_t)form;
        to = film_varint_encode(to, random_number() % 100);
        to = film_varint_encode(to, count);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (form == FILM_OBJECT_ATTRIBUTES) {
            to = film_varint_encode(to, (uint32_t)random_number());
        }
        for (uint32_t k = 0; k < tokens; k++) {
            to = random_token(to, id);
        }
    }
    if (noted != 0) {
        to = random_note(to, id);
    }
    if (random_number() % 8 == 0) { /* cut, or too long */
        *to++ = 0x7f;
        to -= random_number() % 3;
    }
    film_buffer_put_byte(out, random_number() % 50 == 0 ? 77 : FILM_RECORD_VALUE);
    film_buffer_put_bytes(out, body, (size_t)(to - body));
}

TEST(value_columns_give_back_the_records)
{
    film_value_columns columns = {0};
    film_buffer records = {0}, raw = {0}, back = {0};

    for (int round = 0; round < 200; round++) {
        uint64_t first = random_number() >> 8;
        film_buffer_clear(&records);
        film_buffer_clear(&raw);
        film_buffer_clear(&back);
        for (uint64_t i = 0; i < 60; i++) {
            random_record(&records, first + i);
        }
        film_value_columns_split(&columns, records.data, records.length, first, &raw);
        CHECK(!raw.failed);
        CHECK(film_value_columns_join(raw.data, raw.length, first, 1 << 20, &back) ==
              FILM_OK);
        CHECK_EQUAL(back.length, records.length);
        CHECK(memcmp(back.data, records.data, records.length) == 0);
    }
    film_value_columns_reset(&columns);
    film_buffer_reset(&records);
    film_buffer_reset(&raw);
    film_buffer_reset(&back);
}

TEST(damaged_value_columns_are_refused_or_read)
{
    film_value_columns columns = {0};
    film_buffer records = {0}, raw = {0}, back = {0};

    for (uint64_t i = 0; i < 40; i++) {
        random_record(&records, i);
    }
    film_value_columns_split(&columns, records.data, records.length, 0, &raw);
    for (int i = 0; i < 20000; i++) {
        size_t at = (size_t)(random_number() % raw.length);
        size_t cut = i % 4 == 0 ? at : raw.length;
        uint8_t *copy = malloc(cut + 1); /* exact, for the address sanitizer */
        CHECK(copy != NULL);
        memcpy(copy, raw.data, cut);
        if (at < cut) {
            copy[at] = (uint8_t)random_number();
        }
        film_buffer_clear(&back);
        FILM_IGNORE(film_value_columns_join(copy, cut, 0, 1 << 16, &back));
        CHECK(back.length < 1 << 20);
        free(copy);
    }
    film_value_columns_reset(&columns);
    film_buffer_reset(&records);
    film_buffer_reset(&raw);
    film_buffer_reset(&back);
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {
        TEST_ENTRY(value_columns_give_back_the_records),
        TEST_ENTRY(damaged_value_columns_are_refused_or_read),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
