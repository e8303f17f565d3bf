/* test_format.c: the byte layer: numbers, rows, columns, state, keyframes, time, the
 * deny list.
 * SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "random.h"

#include <filmstrip/filmstrip.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/intern.h"
#include "format/chunk.h"
#include "format/codec.h"
#include "format/columns.h"
#include "format/keyframe.h"
#include "format/redact.h"
#include "format/row.h"
#include "format/state.h"
#include "format/summary.h"
#include "format/superblock.h"
#include "format/token.h"
#include "format/totals.h"

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

static film_event
apply(film_state *state, film_row row)
{
    film_event event;
    bool is_event;

    CHECK(film_state_apply(state, &row, &event, &is_event) == FILM_OK);
    return event;
}

static film_row
row_of(uint8_t kind, uint32_t code, uint32_t site, uint32_t offset)
{
    film_row row = {
        .kind = kind, .delta = 1, .code = code, .site = site, .offset = offset};
    return row;
}

TEST(state_follows_calls_and_returns)
{
    film_state state = {0};
    film_event event;

    film_state_begin(&state, 2, 16);
    event = apply(&state, row_of(FILM_KIND_CALL, 7, 0, 0));
    CHECK_EQUAL(event.frame, ((uint64_t)1 << FILM_FRAME_SHIFT) + 1);
    CHECK(event.caller_code == FILM_NO_CODE && event.depth == 0);
    event = apply(&state, row_of(FILM_KIND_CALL, 8, 5, 0));
    CHECK(event.caller_code == 7 && event.caller_offset == 4 && event.depth == 1);
    CHECK_EQUAL(state.depth, 2);
    event = apply(&state, row_of(FILM_KIND_RETURN, 0, 0, 30));
    CHECK(event.code == 8 && event.offset == 30 && event.depth == 1);
    CHECK(state.has_closed && state.frames[0].child_ticks == 1);
    event = apply(&state, row_of(FILM_KIND_YIELD, 0, 0, 31));
    CHECK(event.code == 7 && event.number == 3 && event.time_ns == 4 * 16);
    CHECK_EQUAL(state.depth, 0);
    film_state_reset(&state);
}

TEST(state_refuses_a_return_without_a_frame)
{
    film_state state = {0};
    film_row row = row_of(FILM_KIND_RETURN, 0, 0, 1);
    film_event event;
    bool is_event;

    film_state_begin(&state, 1, 16);
    CHECK(film_state_apply(&state, &row, &event, &is_event) == FILM_CORRUPT);
    film_state_reset(&state);
}

static film_row
adjustment(uint8_t kind, const uint8_t *body, uint32_t length)
{
    film_row row = {.kind = kind, .body = body, .body_length = length};

    return row;
}

TEST(state_mends_the_stack)
{
    static const uint8_t one[] = {1}, adopt[] = {9, 4};
    film_state state = {0};

    film_state_begin(&state, 1, 16);
    apply(&state, adjustment(FILM_KIND_ADOPT, adopt, 2));
    CHECK(state.depth == 1 && state.frames[0].adopted && state.frames[0].code == 9);
    CHECK_EQUAL(state.frames[0].offset, 3);
    apply(&state, row_of(FILM_KIND_CALL, 10, 0, 0));
    apply(&state, adjustment(FILM_KIND_FOCUS, one, 1));
    CHECK(state.frames[0].code == 10 && state.frames[1].code == 9);
    apply(&state, adjustment(FILM_KIND_DROP, one, 1));
    CHECK(state.depth == 1 && state.frames[0].code == 9 && state.event == 1);
    film_state_reset(&state);
}

/* Keyframes of a test, by chunk number. */
static film_buffer stored[64];

static film_status
fetch(void *context, uint64_t number, const film_frame **frames, size_t *count)
{
    static film_frame *literals;
    static size_t capacity;

    (void)context;
    CHECK(number < 64);
    FILM_TRY(film_keyframe_literals(stored[number].data, stored[number].length,
                                    &literals, count, &capacity));
    *frames = literals;
    return FILM_OK;
}

static void
check_same_stack(const film_state *a, const film_state *b)
{
    CHECK(a->depth == b->depth && a->event == b->event && a->tick == b->tick);
    CHECK(a->next_frame == b->next_frame && a->last_resumed == b->last_resumed);
    for (size_t i = 0; i < a->depth; i++) {
        const film_frame *x = &a->frames[i], *y = &b->frames[i];
        CHECK(x->serial == y->serial && x->code == y->code && x->offset == y->offset);
        CHECK(x->call_event == y->call_event && x->call_tick == y->call_tick);
        CHECK(x->enter_tick == y->enter_tick && x->child_ticks == y->child_ticks);
        CHECK(x->site == y->site && x->adopted == y->adopted);
    }
}

TEST(keyframes_of_deep_stacks_refer_to_earlier_ones)
{
    film_state state = {0}, back = {0};
    size_t literal_bytes = 0;

    film_state_begin(&state, 1, 16);
    for (uint64_t chunk = 0; chunk < 64; chunk++) {
        for (int i = 0; i < 300; i++) {
            bool down = state.depth == 0 || random_number() % 100 < 70;
            apply(&state, down ? row_of(FILM_KIND_CALL, (uint32_t)random_number() % 50,
                                        (uint32_t)random_number() % 90, 0)
                               : row_of(FILM_KIND_RETURN, 0, 0, 5));
        }
        film_keyframe_encode(&state, chunk, false, &stored[chunk]);
        film_state_begin(&back, 1, 16);
        CHECK(film_keyframe_decode(&back, chunk, stored[chunk].data,
                                   stored[chunk].length, fetch, NULL) == FILM_OK);
        check_same_stack(&state, &back);
        literal_bytes += stored[chunk].length;
    }
    CHECK(state.depth > 5000);
    /* Telling each stack in full would take more than 9 bytes for each of its frames.
     */
    CHECK(literal_bytes < 64 * state.depth / 2 * 9 / 3);
    film_state_reset(&state);
    film_state_reset(&back);
}

TEST(damaged_keyframes_are_refused)
{
    film_state state = {0}, back = {0};
    film_buffer bytes = {0};

    film_state_begin(&state, 1, 16);
    for (uint32_t i = 0; i < 20; i++) {
        apply(&state, row_of(FILM_KIND_CALL, i, i, 0));
    }
    film_keyframe_encode(&state, 0, true, &bytes);
    for (size_t cut = 0; cut < bytes.length; cut++) {
        film_state_begin(&back, 1, 16);
        CHECK(film_keyframe_decode(&back, 0, bytes.data, cut, NULL, NULL) != FILM_OK);
    }
    film_state_reset(&state);
    film_state_reset(&back);
    film_buffer_reset(&bytes);
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

static void
check_redacted(const char *text, const char *expected)
{
    film_buffer out = {0};
    bool found = film_redact_text(text, strlen(text), &out);

    film_buffer_put_byte(&out, 0);
    if (strcmp((const char *)out.data, expected) != 0) {
        fprintf(stderr, "%s\n  gave %s\n  not  %s\n", text, (const char *)out.data,
                expected);
        exit(1);
    }
    CHECK(found == (strcmp(text, expected) != 0));
    film_buffer_reset(&out);
}

TEST(secrets_are_taken_out_of_texts)
{
    check_redacted("no such file", "no such file");
    check_redacted("password=hunter2 for bob", "password=[redacted] for bob");
    check_redacted("{'api_key': 'abc def', 'n': 1}", "{'api_key': [redacted], 'n': 1}");
    check_redacted("DB_PASSWORD: x;y", "DB_PASSWORD: [redacted];y");
    check_redacted("Authorization: Bearer abc.def.ghi, next",
                   "Authorization: [redacted], next");
    check_redacted("https://bob:pw@host/x", "https://[redacted]@host/x");
    check_redacted("X-Api-Key = \"a\\\"b\" end", "X-Api-Key = [redacted] end");
    check_redacted("the token is missing", "the token is missing");
    check_redacted("token=", "token=");
    CHECK(film_redact_is_secret_name("Client_Secret", 13));
    CHECK(film_redact_is_secret_name("x-api-key", 9));
    CHECK(!film_redact_is_secret_name("loss", 4));
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

TEST(summaries_name_what_a_chunk_holds)
{
    film_state state = {0};
    film_summary summary = {0};
    film_buffer bytes = {0};
    film_input section;
    film_event event;

    film_state_begin(&state, 1, 16);
    film_summary_begin(&summary, &state);
    for (int i = 0; i < 10; i++) {
        event = apply(&state, row_of(FILM_KIND_CALL, 3, 0, 0));
        summary.kinds[event.kind]++;
        film_summary_share(&summary, event.code)->calls++;
        film_summary_note_depth(&summary, &state);
        film_summary_share(&summary, event.code)->own++;
        event = apply(&state, row_of(FILM_KIND_RETURN, 0, 0, 0));
        summary.kinds[event.kind]++;
        film_summary_note_depth(&summary, &state);
    }
    film_summary_finish(&summary, &state, NULL, &bytes);
    CHECK(film_summary_section(bytes.data, bytes.length, FILM_SECTION_KINDS,
                               &section) == FILM_OK);
    CHECK_EQUAL(film_input_varint(&section), FILM_KIND_CALL);
    CHECK_EQUAL(film_input_varint(&section), 10);
    CHECK(film_summary_section(bytes.data, bytes.length, FILM_SECTION_FUNCTIONS,
                               &section) == FILM_OK);
    CHECK_EQUAL(film_input_varint(&section), 3);
    CHECK_EQUAL(film_input_varint(&section), 10);
    CHECK(film_summary_section(bytes.data, bytes.length, FILM_SECTION_BUSIEST,
                               &section) == FILM_OK);
    CHECK_EQUAL(film_input_varint(&section), 3);
    CHECK_EQUAL(film_input_varint(&section), 10);
    CHECK(film_summary_section(bytes.data, bytes.length, 99, &section) == FILM_END);
    film_state_reset(&state);
    film_summary_reset(&summary);
    film_buffer_reset(&bytes);
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
        TEST_ENTRY(rows_decode_as_encoded),
        TEST_ENTRY(columns_give_back_the_rows),
        TEST_ENTRY(columns_of_the_first_format_are_read),
        TEST_ENTRY(lines_have_times_only_where_one_has),
        TEST_ENTRY(rows_of_writes_decode_as_encoded),
        TEST_ENTRY(columns_never_read_past_their_end),
        TEST_ENTRY(state_follows_calls_and_returns),
        TEST_ENTRY(state_refuses_a_return_without_a_frame),
        TEST_ENTRY(state_mends_the_stack),
        TEST_ENTRY(keyframes_of_deep_stacks_refer_to_earlier_ones),
        TEST_ENTRY(damaged_keyframes_are_refused),
        TEST_ENTRY(superblock_keeps_its_fields),
        TEST_ENTRY(logical_offsets_map_to_the_file),
        TEST_ENTRY(chunk_headers_are_checked),
        TEST_ENTRY(time_never_jumps_and_stays_near_the_clock),
        TEST_ENTRY(secrets_are_taken_out_of_texts),
        TEST_ENTRY(interned_texts_keep_their_ids),
        TEST_ENTRY(packed_bytes_unpack_only_as_declared),
        TEST_ENTRY(summaries_name_what_a_chunk_holds),
        TEST_ENTRY(every_kind_has_a_name),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
