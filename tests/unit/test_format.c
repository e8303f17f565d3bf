/* test_format.c: the byte layer: numbers, the superblock, chunk headers, time, packing,
 * intern tables.
 * SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "random.h"

#include <filmstrip/filmstrip.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/intern.h"
#include "format/chunk.h"
#include "format/codec.h"
#include "format/ranges.h"
#include "format/row.h"
#include "format/superblock.h"
#include "format/token.h"

TEST(varints_keep_every_number)
{
    uint8_t bytes[FILM_VARINT_MAX];

    for (int i = 0; i < 100000; i++) {
        uint64_t number = random_number(), back = 0;
        uint8_t *end = film_varint_encode(bytes, number);
        const uint8_t *from = bytes;
        CHECK(film_varint_decode(&from, end, &back));
        CHECK(back == number && from == end);
        from = bytes;
        CHECK(!film_varint_decode(&from, end - 1, &back) && from == bytes);
        CHECK(film_unzigzag(film_zigzag((int64_t)number)) == (int64_t)number);
    }
}

TEST(overlong_varints_are_refused)
{
    uint8_t bytes[11];
    const uint8_t *from = bytes;
    uint64_t number;

    memset(bytes, 0xff, sizeof(bytes));
    CHECK(!film_varint_decode(&from, bytes + sizeof(bytes), &number));
    bytes[9] = 2; /* bit 64 */
    CHECK(!film_varint_decode(&from, bytes + sizeof(bytes), &number));
    bytes[9] = 1;
    CHECK(film_varint_decode(&from, bytes + sizeof(bytes), &number));
    CHECK(number == UINT64_MAX);
}

TEST(ranges_hold_all_of_their_numbers)
{
    uint64_t numbers[500], state = 7;
    film_range ranges[FILM_RANGES_MOST];

    for (unsigned most = 1; most <= 20; most++) {
        film_buffer bytes = {0};
        film_input input;
        size_t count;
        for (size_t i = 0; i < 500; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            numbers[i] = state >> (40 + i % 20);
        }
        film_ranges_put(numbers, 500, most, most, &bytes);
        input = film_input_of(bytes.data, bytes.length);
        count = film_ranges_take(&input, ranges, FILM_RANGES_MOST);
        CHECK(!input.failed && count >= 1 && count <= most);
        for (size_t i = 0; i < 500; i++) {
            bool held = false;
            for (size_t k = 0; k < count; k++) {
                held = held ||
                       (numbers[i] >= ranges[k].first && numbers[i] <= ranges[k].last);
            }
            CHECK(held);
        }
        film_buffer_reset(&bytes);
    }
}

TEST(ranges_are_exact_where_there_are_not_too_many)
{
    uint64_t numbers[400];
    uint64_t state = 11;

    for (unsigned exact = 8; exact <= 512; exact += 504) {
        film_buffer bytes = {0};
        film_input input;
        uint64_t count;
        size_t others = 0;
        for (size_t i = 0; i < 400; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            numbers[i] = (state >> 40) % 60000 * 2; /* odd ones are never in */
        }
        film_ranges_put(numbers, 400, 8, exact, &bytes);
        input = film_input_of(bytes.data, bytes.length);
        count = film_input_varint(&input);
        CHECK(exact == 8 ? count == 8 : count > 300);
        for (size_t i = 0; i < 400; i++) {
            input = film_input_of(bytes.data, bytes.length);
            CHECK(film_ranges_hold(&input, numbers[i]));
            CHECK(!input.failed && film_input_left(&input) == 0);
            input = film_input_of(bytes.data, bytes.length);
            others += film_ranges_hold(&input, numbers[i] + 1);
        }
        CHECK(exact == 8 ? others > 300 : others == 0);
        input = film_input_of(bytes.data, bytes.length / 2);
        CHECK(film_ranges_hold(&input, 1) && input.failed);
        film_buffer_reset(&bytes);
    }
}

TEST(superblock_keeps_its_fields)
{
    film_superblock block = {.major = 1,
                             .pid = 42,
                             .tick_ns = 16,
                             .arena_bytes = 8 << 20,
                             .window_bytes = 256 << 10,
                             .moved_until = 77,
                             .closed = 1};
    film_superblock back;
    uint8_t bytes[FILM_SUPERBLOCK_BYTES];
    film_error error;

    film_timescale_begin(&block.timescale, 12.5);
    film_superblock_encode(&block, bytes);
    CHECK(film_superblock_decode(&back, bytes, sizeof(bytes), &error) == FILM_OK);
    CHECK(back.pid == 42 && back.moved_until == 77 && back.closed == 1);
    CHECK(back.timescale.segments[0].slope == block.timescale.segments[0].slope);
    CHECK(film_superblock_decode(&back, bytes, 100, &error) == FILM_TRUNCATED);
    film_put_u16(bytes + 8, 2);
    CHECK(film_superblock_decode(&back, bytes, sizeof(bytes), &error) ==
          FILM_UNSUPPORTED);
    film_put_u16(bytes + 8, 1);
    bytes[40] ^= 1;
    CHECK(film_superblock_decode(&back, bytes, sizeof(bytes), &error) == FILM_CORRUPT);
    bytes[0] = 0;
    CHECK(film_superblock_decode(&back, bytes, sizeof(bytes), &error) ==
          FILM_NOT_A_FILM);
}

TEST(logical_offsets_map_to_the_file)
{
    film_superblock block = {.arena_bytes = 8192, .moved_until = 100};
    uint64_t run;

    CHECK_EQUAL(film_superblock_physical(&block, 40, &run), 4096 + 40);
    CHECK_EQUAL(run, 60);
    CHECK_EQUAL(film_superblock_physical(&block, 100, &run), 4096 + 8192 + 100);
    block.ring_bytes = 640;
    CHECK_EQUAL(film_superblock_physical(&block, 640 * 3 + 600, &run),
                4096 + 8192 + 600);
    CHECK_EQUAL(run, 40);
}

TEST(chunk_headers_are_checked)
{
    film_chunk_header header = {.type = FILM_CHUNK_EVENT,
                                .count = 5,
                                .summary_bytes = 3,
                                .payload_stored = 100,
                                .payload_raw = 200};
    film_chunk_header back;
    uint8_t bytes[FILM_CHUNK_HEADER] = {0};

    CHECK(film_chunk_decode(&back, bytes) == FILM_END);
    film_chunk_encode(&header, bytes);
    CHECK(film_chunk_decode(&back, bytes) == FILM_OK && back.payload_raw == 200);
    CHECK_EQUAL(film_chunk_span(&back), 320);
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] ^= 0x10;
        CHECK(film_chunk_decode(&back, bytes) != FILM_OK);
        bytes[i] ^= 0x10;
    }
}

TEST(time_never_jumps_and_stays_near_the_clock)
{
    film_timescale scale = {0};
    /* The counter really runs at 12.8005 ns a tick; the first guess is 30 ppm off. */
    double real = 12.8005, guess = 12.8005 * 1.00003;
    uint64_t last = 0;

    film_timescale_begin(&scale, guess);
    for (uint64_t second = 1; second < 200; second++) {
        uint64_t raw = (uint64_t)((double)second * 1.05e9 / real);
        uint64_t ns = film_timescale_ns(&scale, raw);
        uint64_t now = (uint64_t)((double)raw * real);
        CHECK(ns >= last);
        last = ns;
        film_timescale_adjust(&scale, raw, now);
        CHECK_EQUAL(film_timescale_ns(&scale, raw), ns);
        if (second > 3) {
            CHECK(ns > now ? ns - now < 3000 : now - ns < 3000);
        }
    }
    CHECK(scale.count > FILM_SEGMENTS); /* the ring of segments went round */
    CHECK(film_timescale_ns(&scale, 0) < 100000000000u);
}

TEST(the_first_guess_is_set_right)
{
    film_timescale scale = {0};
    double real = 12.8005, guess = 12.8005 * 1.00003;
    uint64_t raw = 40000000;

    film_timescale_begin(&scale, guess);
    CHECK(!film_timescale_measure(&scale, 0, 0));
    CHECK(film_timescale_measure(&scale, raw, (uint64_t)((double)raw * real)));
    for (uint64_t at = 0; at <= raw; at += raw / 10) {
        uint64_t now = (uint64_t)((double)at * real);
        uint64_t ns = film_timescale_ns(&scale, at);
        CHECK(ns > now ? ns - now < 3 : now - ns < 3);
    }
    /* With a second segment times have been told by the first. */
    CHECK_EQUAL(
        film_timescale_adjust(&scale, 4 * raw, (uint64_t)(4 * (double)raw * real)), 1);
    CHECK(!film_timescale_measure(&scale, 5 * raw, 1));
}

TEST(interned_texts_keep_their_ids)
{
    film_intern table = {0};
    uint32_t id;

    CHECK(!film_intern_find(&table, 5, &id));
    for (uint32_t i = 0; i < 10000; i++) {
        CHECK(film_intern_add(&table, (uint64_t)i * 0x9E3779B97F4A7C15u, i));
    }
    for (uint32_t i = 0; i < 10000; i++) {
        CHECK(film_intern_find(&table, (uint64_t)i * 0x9E3779B97F4A7C15u, &id));
        CHECK_EQUAL(id, i);
    }
    film_intern_reset(&table);
}

TEST(packed_bytes_unpack_only_as_declared)
{
    film_packer *packer = film_packer_new();
    film_unpacker *unpacker = film_unpacker_new();
    film_buffer packed = {0}, raw = {0};
    uint8_t text[1000];

    CHECK(packer != NULL && unpacker != NULL);
    memset(text, 'x', sizeof(text));
    CHECK(film_pack(packer, text, sizeof(text), &packed) == FILM_OK);
    CHECK(film_unpack(unpacker, FILM_CODEC_ZSTD, packed.data, packed.length, 1000,
                      &raw) == FILM_OK);
    CHECK(raw.length == 1000 && memcmp(raw.data, text, 1000) == 0);
    CHECK(film_unpack(unpacker, FILM_CODEC_ZSTD, packed.data, packed.length, 999,
                      &raw) == FILM_CORRUPT);
    CHECK(film_unpack(unpacker, FILM_CODEC_ZSTD, packed.data, packed.length, 1001,
                      &raw) == FILM_CORRUPT);
    CHECK(film_unpack(unpacker, FILM_CODEC_NONE, packed.data, packed.length, 1000,
                      &raw) == FILM_CORRUPT);
    film_packer_free(packer);
    film_unpacker_free(unpacker);
    film_buffer_reset(&packed);
    film_buffer_reset(&raw);
}

TEST(every_kind_has_a_name)
{
    CHECK(strcmp(film_kind_name(FILM_KIND_CALL), "call") == 0);
    CHECK(strcmp(film_kind_name(FILM_KIND_LOST_CONTROL), "lost_control") == 0);
    CHECK(strcmp(film_kind_name(200), "unknown") == 0);
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {
        TEST_ENTRY(varints_keep_every_number),
        TEST_ENTRY(overlong_varints_are_refused),
        TEST_ENTRY(ranges_hold_all_of_their_numbers),
        TEST_ENTRY(ranges_are_exact_where_there_are_not_too_many),
        TEST_ENTRY(superblock_keeps_its_fields),
        TEST_ENTRY(logical_offsets_map_to_the_file),
        TEST_ENTRY(chunk_headers_are_checked),
        TEST_ENTRY(time_never_jumps_and_stays_near_the_clock),
        TEST_ENTRY(the_first_guess_is_set_right),
        TEST_ENTRY(interned_texts_keep_their_ids),
        TEST_ENTRY(packed_bytes_unpack_only_as_declared),
        TEST_ENTRY(every_kind_has_a_name),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
