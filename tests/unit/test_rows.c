/* test_rows.c: rows of events and the columns they are kept in.
 * SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "random.h"

#include <filmstrip/filmstrip.h>

#include "base/buffer.h"
#include "format/columns.h"
#include "format/row.h"
#include "format/token.h"

TEST(rows_decode_as_encoded)
{
    uint8_t bytes[64] = {0}, *end;
    const uint8_t *from = bytes;
    film_row row;

    end = film_row_put_tag(bytes, FILM_ROW_CALL, 1000);
    end = film_varint_encode(end, 300);
    end = film_varint_encode(end, 7);
    CHECK(film_row_decode(&from, end, &row) == FILM_OK && from == end);
    CHECK(row.kind == FILM_KIND_CALL && row.delta == 1000 && row.code == 300);
    CHECK_EQUAL(row.site, 7);
    for (const uint8_t *cut = bytes; cut < end; cut++) {
        from = bytes;
        CHECK(film_row_decode(&from, cut, &row) != FILM_OK && from == bytes);
    }
}

/* Tokens of every kind, kept for good: rows borrow them. */
static void
random_tokens(film_row *row)
{
    static uint8_t kept[1 << 20];
    static size_t used;
    uint8_t *to = kept + used, *from = to;

    CHECK(used + 256 < sizeof(kept));
    for (uint32_t i = 0; i < row->token_count; i++) {
        switch (random_number() % 8) {
        case 0:
            to = film_token_put_int(to, (int64_t)random_number());
            break;
        case 1:
            to = film_token_put_int(to, (int64_t)(random_number() % 300) - 40);
            break;
        case 2:
            to = film_token_put_float(to, (double)random_number() / 7);
            break;
        case 3:
            to = film_token_put_value(to, FILM_TOKEN_VALUE, random_number() >> 4);
            break;
        case 4:
            to = film_token_put_value(to, FILM_TOKEN_OBJECT, random_number() >> 4);
            break;
        case 5:
            to = film_token_put_text(to, "sixteen letters!", random_number() % 17);
            break;
        case 6:
            *to++ = FILM_TOKEN_CYCLE;
            to = film_varint_encode(to, random_number());
            to = film_varint_encode(to, (uint32_t)random_number());
            break;
        default:
            *to++ = (uint8_t)(random_number() % 2 == 0 ? random_number() % 4
                                                       : FILM_TOKEN_REDACTED);
            break;
        }
    }
    row->tokens = from;
    row->tokens_length = (uint32_t)(to - from);
    used = (size_t)(to - kept);
}

static film_row
random_row(void)
{
    static const uint8_t kinds[] = {FILM_KIND_CALL,   FILM_KIND_RETURN, FILM_KIND_YIELD,
                                    FILM_KIND_RESUME, FILM_KIND_LINE,   FILM_KIND_TASK,
                                    FILM_KIND_SET,    FILM_KIND_VALUES};
    static const uint8_t body[] = {1, 2, 3};
    film_row row = {.kind = kinds[random_number() % sizeof(kinds)]};

    row.delta =
        row.kind == FILM_KIND_SET || row.kind == FILM_KIND_VALUES ? 0 : random_number();
    switch (row.kind) {
    case FILM_KIND_SET:
        row.head = (random_number() & UINT32_MAX) << FILM_SET_SHIFT |
                   random_number() % FILM_SET_FORMS;
        row.token_count = film_set_tokens(row.head & 7);
        random_tokens(&row);
        break;
    case FILM_KIND_VALUES:
        row.token_count = 1 + (uint32_t)(random_number() % 3);
        random_tokens(&row);
        break;
    case FILM_KIND_CALL:
        row.code = (uint32_t)random_number();
        row.site = (uint32_t)random_number();
        break;
    case FILM_KIND_RESUME:
        row.frame_delta = random_number();
        row.code = (uint32_t)random_number();
        row.offset = (uint32_t)random_number();
        row.site = (uint32_t)random_number();
        break;
    case FILM_KIND_TASK:
        row.body = body;
        row.body_length = sizeof(body);
        break;
    default:
        row.offset = (uint32_t)random_number();
        break;
    }
    return row;
}

TEST(columns_give_back_the_rows)
{
    enum { COUNT = 5000 };
    static film_row rows[COUNT];
    film_columns columns = {0};
    film_buffer raw = {0};
    film_column_reader reader;
    film_row row;

    for (int i = 0; i < COUNT; i++) {
        rows[i] = random_row();
        CHECK(film_columns_append(&columns, &rows[i]));
    }
    film_columns_finish(&columns, &raw);
    CHECK(!raw.failed && columns.rows == COUNT);
    CHECK(film_column_reader_init(&reader, raw.data, raw.length) == FILM_OK);
    for (int i = 0; i < COUNT; i++) {
        CHECK(film_column_reader_next(&reader, &row) == FILM_OK);
        CHECK(row.kind == rows[i].kind && row.delta == rows[i].delta);
        CHECK(row.code == rows[i].code && row.site == rows[i].site);
        CHECK(row.offset == rows[i].offset && row.frame_delta == rows[i].frame_delta);
        CHECK(row.body_length == rows[i].body_length && row.head == rows[i].head);
        CHECK_EQUAL(row.tokens_length, rows[i].tokens_length);
        CHECK(row.tokens_length == 0 ||
              memcmp(row.tokens, rows[i].tokens, row.tokens_length) == 0);
    }
    CHECK(film_column_reader_next(&reader, &row) == FILM_END);
    film_columns_reset(&columns);
    film_buffer_reset(&raw);
}

/* A chunk of format 1.0 has seven columns, and lines with times among the others. */
TEST(columns_of_the_first_format_are_read)
{
    static const uint8_t raw[] = {
        0,
        2,
        FILM_KIND_LINE,
        FILM_KIND_RETURN, /* kinds */
        1,
        2,
        5,
        7, /* times */
        4,
        2,
        30,
        31, /* offsets */
    };
    film_column_reader reader;
    film_row row;

    CHECK(film_column_reader_init(&reader, raw, sizeof(raw)) == FILM_OK);
    CHECK(film_column_reader_next(&reader, &row) == FILM_OK);
    CHECK(row.kind == FILM_KIND_LINE && row.delta == 5 && row.offset == 30);
    CHECK(film_column_reader_next(&reader, &row) == FILM_OK);
    CHECK(row.kind == FILM_KIND_RETURN && row.delta == 7 && row.offset == 31);
    CHECK(film_column_reader_next(&reader, &row) == FILM_END);
}

/* Lines without a time take no byte for it, until one has. */
TEST(lines_have_times_only_where_one_has)
{
    film_columns columns = {0};
    film_buffer raw = {0};
    film_column_reader reader;
    film_row row = {.kind = FILM_KIND_LINE, .offset = 3};

    for (int timed = 0; timed < 2; timed++) {
        film_columns_clear(&columns);
        film_buffer_clear(&raw);
        for (uint32_t i = 0; i < 10; i++) {
            row.delta = timed == 1 && i == 5 ? 1000 : 0;
            CHECK(film_columns_append(&columns, &row));
        }
        CHECK_EQUAL(columns.buffers[FILM_COLUMN_LINE_TIME].length, timed * 11);
        film_columns_finish(&columns, &raw);
        CHECK(film_column_reader_init(&reader, raw.data, raw.length) == FILM_OK);
        for (uint32_t i = 0; i < 10; i++) {
            film_row back;
            CHECK(film_column_reader_next(&reader, &back) == FILM_OK);
            CHECK_EQUAL(back.delta, timed == 1 && i == 5 ? 1000 : 0);
        }
    }
    film_columns_reset(&columns);
    film_buffer_reset(&raw);
}

TEST(rows_of_writes_decode_as_encoded)
{
    uint8_t bytes[64] = {0}, *end = bytes;
    const uint8_t *from = bytes;
    film_row row;

    end = film_row_put_tag(end, FILM_ROW_SET, 0);
    end = film_varint_encode(end, 300 << FILM_SET_SHIFT | FILM_SET_ATTRIBUTE);
    end = film_token_put_value(end, FILM_TOKEN_OBJECT, 70000);
    end = film_token_put_text(end, "abc", 3);
    CHECK(film_row_decode(&from, end, &row) == FILM_OK && from == end);
    CHECK(row.kind == FILM_KIND_SET && row.token_count == 2 && row.delta == 0);
    CHECK(row.head >> FILM_SET_SHIFT == 300 && row.tokens_length == 9);
    for (const uint8_t *cut = bytes; cut < end; cut++) {
        from = bytes;
        CHECK(film_row_decode(&from, cut, &row) != FILM_OK && from == bytes);
    }
    bytes[0] = 2 << 3 | FILM_ROW_VALUES;
    end = film_token_put_int(film_token_put_float(bytes + 1, 0.5), -3);
    from = bytes;
    CHECK(film_row_decode(&from, end, &row) == FILM_OK && from == end);
    CHECK(row.kind == FILM_KIND_VALUES && row.token_count == 2);
    CHECK(film_kind_is_adjustment(row.kind));
    bytes[0] = FILM_ROW_VALUES; /* none: makes no sense */
    from = bytes;
    CHECK(film_row_decode(&from, end, &row) != FILM_OK);
    bytes[0] = 0xf8 | FILM_ROW_VALUES; /* 31 is no count */
    CHECK(film_row_decode(&from, end, &row) != FILM_OK);
    bytes[0] = 1 << 3 | FILM_ROW_SET; /* a write has no time */
    CHECK(film_row_decode(&from, end, &row) != FILM_OK);
}

TEST(columns_never_read_past_their_end)
{
    film_columns columns = {0};
    film_buffer raw = {0};

    for (int i = 0; i < 50; i++) {
        film_row row = random_row();
        CHECK(film_columns_append(&columns, &row));
    }
    film_columns_finish(&columns, &raw);
    for (size_t cut = 0; cut < raw.length; cut++) {
        uint8_t *copy = malloc(cut + 1); /* exact, for the address sanitizer */
        film_column_reader reader;
        film_row row;
        CHECK(copy != NULL);
        memcpy(copy, raw.data, cut);
        if (film_column_reader_init(&reader, copy, cut) == FILM_OK) {
            while (film_column_reader_next(&reader, &row) == FILM_OK) {
            }
        }
        free(copy);
    }
    film_columns_reset(&columns);
    film_buffer_reset(&raw);
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {
        TEST_ENTRY(rows_decode_as_encoded),
        TEST_ENTRY(columns_give_back_the_rows),
        TEST_ENTRY(columns_of_the_first_format_are_read),
        TEST_ENTRY(lines_have_times_only_where_one_has),
        TEST_ENTRY(rows_of_writes_decode_as_encoded),
        TEST_ENTRY(columns_never_read_past_their_end),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
