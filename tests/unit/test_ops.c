/* test_ops.c: ops and tensors from the writer to the reader.
 * SPDX-License-Identifier: Apache-2.0 */
#include "op_stories.h"

#include <fcntl.h>

#include "analysis/merge.h"
#include "base/alloc.h"
#include "export/event_json.h"
#include "export/exporter.h"
#include "export/log.h"
#include "export/scrub.h"

static bool
is_text(film_text text, const char *expected)
{
    return text.length == strlen(expected) &&
           memcmp(text.data, expected, text.length) == 0;
}

typedef struct met {
    uint64_t serials[8];
    uint32_t indexes[8];
    size_t count, most;
} met;

static bool
note_tensor(void *context, const film_tensor *tensor, uint32_t index)
{
    met *of = context;

    CHECK(of->count < 8);
    of->serials[of->count] = tensor->serial;
    of->indexes[of->count++] = index;
    return of->count < of->most;
}

static met
tensors_of(film_reader *reader, const film_event *event, size_t most)
{
    met of = {.most = most};

    CHECK(film_reader_event_tensors(reader, event, note_tensor, &of, NULL) == FILM_OK);
    return of;
}

static uint64_t
record_of(const film_event *event, uint32_t index)
{
    film_input input = film_input_of(event->tokens, event->tokens_length);

    film_tokens_skip(&input, index);
    return film_token_decode(&input).value;
}

static void
check_weight(film_reader *reader, uint64_t id)
{
    film_tensor tensor;

    CHECK(film_reader_tensor(reader, id, &tensor, NULL) == FILM_OK);
    CHECK_EQUAL(tensor.record, id);
    CHECK_EQUAL(tensor.serial, 3);
    CHECK_EQUAL(tensor.storage, 5);
    CHECK(tensor.offset == 0 && tensor.version == 0 && tensor.requires_grad);
    CHECK(is_text(tensor.type, "Parameter") && is_text(tensor.dtype, "float32"));
    CHECK(is_text(tensor.device, "cpu") && is_text(tensor.layout, "strided"));
    CHECK(is_text(tensor.text, "f32[64, 128] cpu grad"));
    CHECK(tensor.dimensions == 2 && tensor.sizes[0] == 64 && tensor.sizes[1] == 128);
    CHECK(tensor.strides[0] == 128 && tensor.strides[1] == 1 && !tensor.has_summary);
}

static void
check_result(film_reader *reader, uint64_t id)
{
    film_tensor tensor;

    CHECK(film_reader_tensor(reader, id, &tensor, NULL) == FILM_OK);
    CHECK(tensor.serial == 17 && tensor.dimensions == 0 && tensor.version == -1);
    CHECK(is_text(tensor.device, "cuda:1") && !tensor.requires_grad);
    CHECK(tensor.has_summary && tensor.summary.hash == 0xfedcba9876543210u);
    CHECK(tensor.summary.min == 0.0 && tensor.summary.max == 3.5);
    CHECK(tensor.summary.mean == 1.25 && tensor.summary.std == 0.5);
    CHECK(tensor.summary.zeros == 2 && tensor.summary.nonfinite == 1);
}

static void
check_add(film_reader *reader, const film_event *event)
{
    met of;

    CHECK(event->kind == FILM_KIND_OP && event->op == event->number);
    CHECK_EQUAL(event->token_count, 4);
    CHECK_EQUAL(event->slot, 2);
    CHECK_EQUAL(event->count, 8);
    CHECK_EQUAL(event->form, FILM_OPERATION_GRAD | FILM_OPERATION_LAUNCH);
    CHECK_EQUAL(film_reader_event_line(reader, event), 11);
    CHECK(is_text(film_reader_string(reader, event->text), "torch.add"));
    CHECK(is_text(film_reader_string(reader, event->module), "layers.3.attn"));
    CHECK(
        is_text(film_reader_string(reader, event->api), "torch.nn.functional.linear"));
    CHECK(is_text(film_reader_op_keyword(reader, event, 1), ""));
    CHECK(is_text(film_reader_op_keyword(reader, event, 2), "alpha"));
    CHECK(is_text(film_reader_op_keyword(reader, event, 3), "out"));
    CHECK(is_text(film_reader_op_keyword(reader, event, 4), ""));
    CHECK(film_event_value_index(event, FILM_ROLE_VALUE) == -1);
    CHECK(film_event_value_index(event, FILM_ROLE_OWNER) == -1);
    check_value(reader, event, 0, "t3: f32[64, 128] cpu grad", "Parameter");
    check_value(reader, event, 1, "[t4: bf16[8, 64] cuda:0 strides[1, 64]]", "list");
    check_value(reader, event, 2, "2", "int");
    check_weight(reader, record_of(event, 0));
    of = tensors_of(reader, event, 8);
    CHECK(of.count == 2 && of.serials[0] == 3 && of.serials[1] == 4);
    CHECK(of.indexes[0] == 0 && of.indexes[1] == 1);
    CHECK_EQUAL(tensors_of(reader, event, 1).count, 1);
}

static void
check_add_end(film_reader *reader, const film_event *event)
{
    film_tensor tensor;
    met of;

    CHECK(event->kind == FILM_KIND_OP_END && event->op + 3 == event->number);
    CHECK(event->form == 0 && event->token_count == 2);
    CHECK(film_event_value_index(event, FILM_ROLE_VALUE) == 0);
    check_value(reader, event, 0, "t17: i64[] cuda:1", "Tensor");
    check_result(reader, record_of(event, 0));
    CHECK(film_reader_tensor(reader, record_of(event, 1), &tensor, NULL) == FILM_OK);
    CHECK(tensor.serial == 4 && tensor.version == 3 && tensor.offset == 100000);
    CHECK(tensor.strides[0] == 1 && tensor.strides[1] == 64);
    CHECK(is_text(tensor.device, "cuda:0"));
    of = tensors_of(reader, event, 8);
    CHECK(of.count == 2 && of.serials[0] == 17 && of.serials[1] == 4);
}

static void
read_ops(film_reader *reader, film_cursor *cursor)
{
    const film_event *event = next_event(cursor);

    CHECK(event->kind == FILM_KIND_CALL && event->token_count == 2);
    CHECK(next_event(cursor)->kind == FILM_KIND_LINE);
    check_add(reader, next_event(cursor));
    event = next_event(cursor);
    CHECK(event->kind == FILM_KIND_OP && event->form == FILM_OPERATION_INNER);
    CHECK(event->token_count == 0 && event->depth == 0 && event->frame != 0);
    CHECK_EQUAL(film_reader_event_line(reader, event), 11);
    event = next_event(cursor);
    CHECK(event->kind == FILM_KIND_OP_END && event->op + 1 == event->number);
    CHECK(event->token_count == 0);
    CHECK(film_event_value_index(event, FILM_ROLE_VALUE) == -1);
    check_add_end(reader, next_event(cursor));
    event = next_event(cursor);
    CHECK(event->kind == FILM_KIND_OP && event->token_count == 1);
    event = next_event(cursor);
    CHECK(event->kind == FILM_KIND_OP_END && event->form == FILM_OPERATION_RAISED);
    CHECK(is_text(film_reader_string(reader, event->text), "RuntimeError"));
    CHECK(film_event_value_index(event, FILM_ROLE_VALUE) == -1);
    event = next_event(cursor);
    CHECK(event->kind == FILM_KIND_RETURN);
    /* A tensor that is only referred to is told as fully. */
    check_value(reader, event, 0, "t17: i64[] cuda:1", "Tensor");
}

static void
check_film(uint32_t stories)
{
    film_reader *reader = open_reader(path);
    film_cursor *cursor;
    film_error error;
    uint64_t counts[FILM_KIND_COUNT];

    CHECK(film_cursor_open(reader, 1, 1, &cursor, NULL) == FILM_OK);
    for (uint32_t i = 0; i < stories; i++) {
        read_ops(reader, cursor);
    }
    film_cursor_close(cursor);
    for (uint32_t i = stories / 3; i < stories; i += stories / 3 + 1) {
        CHECK(film_cursor_open(reader, 1, 1 + i * OP_STORY_EVENTS, &cursor, NULL) ==
              FILM_OK);
        read_ops(reader, cursor);
        film_cursor_close(cursor);
    }
    for (size_t i = 0; i < film_reader_chunk_count(reader); i++) {
        if (film_reader_verify_chunk(reader, i, &error) != FILM_OK) {
            fprintf(stderr, "%s\n", error.message);
            exit(1);
        }
    }
    CHECK(film_reader_kind_counts(reader, counts, NULL) == FILM_OK);
    CHECK_EQUAL(counts[FILM_KIND_OP], 3 * stories);
    CHECK_EQUAL(counts[FILM_KIND_OP_END], 3 * stories);
    film_reader_close(reader);
}

TEST(ops_come_back_from_chunks)
{
    record_op_stories(8000, true);
    check_film(8000);
    unlink(path);
}

TEST(ops_come_back_from_windows)
{
    record_op_stories(50, false);
    check_film(50);
    unlink(path);
}

/* --- JSON --------------------------------------------------------------------------- */

/* All events from `first` on as dump writes them; the caller frees. */
static void
dump(film_buffer *bytes, uint64_t first)
{
    film_reader *reader = NULL;
    film_cursor *cursor = NULL;
    film_event_json json;
    film_output output = {0};
    const film_event *event;

    film_buffer_clear(bytes);
    if (film_reader_open(path, &reader, NULL) != FILM_OK) {
        return;
    }
    if (film_event_json_init(&json, reader, NULL) == FILM_OK) {
        if (film_output_init(&output, -1, NULL) == FILM_OK) {
            output.memory = bytes;
            if (film_cursor_open(reader, 1, first, &cursor, NULL) == FILM_OK) {
                while (film_cursor_next(cursor, &event, NULL) == FILM_OK) {
                    met of = {.most = 1};
                    film_event_json_write(&json, &output, event);
                    FILM_IGNORE(film_reader_event_tensors(reader, event, note_tensor,
                                                          &of, NULL));
                }
                film_output_drain(&output);
            }
            film_cursor_close(cursor);
        }
        film_event_json_reset(&json);
    }
    for (size_t i = 0; i < film_reader_chunk_count(reader); i++) {
        FILM_IGNORE(film_reader_verify_chunk(reader, i, NULL));
    }
    film_output_reset(&output);
    film_reader_close(reader);
    film_buffer_put_byte(bytes, 0);
}

static void
check_has(const film_buffer *bytes, const char *part)
{
    if (strstr((const char *)bytes->data, part) == NULL) {
        fprintf(stderr, "not in the dump: %s\n%s\n", part, (const char *)bytes->data);
        exit(1);
    }
}

TEST(dump_tells_ops)
{
    film_buffer bytes = {0};

    record_op_stories(1, true);
    dump(&bytes, 0);
    check_has(
        &bytes,
        "\"kind\":\"op\",\"frame\":1,\"line\":11,\"op\":3,\"function\":\"torch.add\","
        "\"args\":[{\"text\":\"t3: f32[64, 128] cpu grad\",\"type\":\"Parameter\","
        "\"object\":3,\"shape\":[64,128],\"dtype\":\"float32\",\"strides\":[128,1],"
        "\"device\":\"cpu\",\"layout\":\"strided\",\"requires_grad\":true,"
        "\"version\":0,\"storage\":5,\"offset\":0},{\"text\":\"[t4: ");
    check_has(&bytes, "}]}],\"kwargs\":{\"alpha\":{\"text\":\"2\",\"type\":\"int\"},"
                      "\"out\":{\"text\":\"None\",\"type\":\"NoneType\"}},"
                      "\"module\":\"layers.3.attn\","
                      "\"api\":\"torch.nn.functional.linear\",\"grad\":true,"
                      "\"launch\":true,\"sequence\":7}\n");
    check_has(&bytes, "\"kind\":\"op\",\"frame\":1,\"line\":11,\"op\":4,"
                      "\"function\":\"aten::add\",\"inner\":true}\n");
    check_has(&bytes, "\"op\":3,\"result\":{\"text\":\"t17: i64[] cuda:1\",");
    check_has(&bytes, "\"version\":null,\"storage\":7,\"offset\":0,\"summary\":{"
                      "\"min\":0.0,\"max\":3.5,\"mean\":1.25,\"std\":0.5,\"zeros\":2,"
                      "\"nonfinite\":1,\"hash\":\"fedcba9876543210\"}},\"changed\":[{");
    check_has(&bytes, "\"op\":7,\"duration_ns\":");
    check_has(&bytes, "\"exception\":{\"type\":\"RuntimeError\"}}\n");
    CHECK(strstr((const char *)bytes.data, "\"duration_ns\":null") == NULL);
    /* Begun behind the op: how long it took is not known. */
    dump(&bytes, 4);
    check_has(&bytes, "\"duration_ns\":null");
    film_buffer_reset(&bytes);
    unlink(path);
}

/* --- the log, and other outputs --------------------------------------------------------- */

typedef struct logged {
    bool ops, xml;
    char *const *functions;
    size_t function_count;
    uint64_t first;
} logged;

/* What the log says, without the columns of times and line numbers. False: memory. */
static bool
log_film(const logged *wanted, film_buffer *bytes)
{
    char *paths[] = {path};
    film_recordings set;
    film_selection selection;
    film_merge_range range = film_merge_everything();
    film_merge *merge = NULL;
    film_merged merged;
    film_log_text *log = NULL;
    film_output output = {0};
    film_status status;

    range.first_event = wanted->first;
    film_buffer_clear(bytes);
    if (film_recordings_open(&set, paths, 1, NULL) != FILM_OK) {
        return false;
    }
    status = film_selection_init(&selection, &set, NULL);
    selection.patterns = wanted->functions;
    selection.pattern_count = wanted->function_count;
    selection.without_ops = !wanted->ops;
    selection.without_lines = true;
    if (status == FILM_OK) {
        status = film_log_text_new(&set, false, &log, NULL);
    }
    if (status == FILM_OK && wanted->ops) {
        status = film_log_text_show_ops(log, NULL);
    }
    if (status == FILM_OK) {
        status = film_output_init(&output, -1, NULL);
        output.memory = bytes;
    }
    if (status == FILM_OK && wanted->xml) {
        status = film_log_xml_write(&set, &range, &selection, &output, NULL);
    }
    else if (status == FILM_OK) {
        status = film_merge_open(&set, &range, &merge, NULL);
        while (status == FILM_OK &&
               (status = film_merge_next(merge, &merged, NULL)) == FILM_OK) {
            if (film_merge_range_takes(&range, &merged) &&
                film_selection_takes(&selection, 0, merged.event)) {
                film_log_text_write(log, &output, &merged);
            }
        }
        status = status == FILM_END ? FILM_OK : status;
        if (status == FILM_OK) {
            film_log_text_flush(log, &output);
        }
    }
    if (status == FILM_OK) {
        film_output_drain(&output);
        film_buffer_put_byte(bytes, 0);
    }
    film_merge_close(merge);
    film_output_reset(&output);
    film_log_text_free(log);
    film_selection_reset(&selection);
    film_recordings_close(&set);
    return status == FILM_OK && !bytes->failed;
}

/* Whether the texts are equal; a ~ stands for a duration. */
static bool
is_like(const char *text, size_t length, const char *expected, size_t expected_length)
{
    size_t at = 0;

    for (size_t i = 0; i < expected_length; i++) {
        if (expected[i] == '~') {
            while (at < length && strchr("0123456789.nums", text[at]) != NULL) {
                at++;
            }
        }
        else if (at >= length || text[at++] != expected[i]) {
            return false;
        }
    }
    return at == length;
}

static void
check_log(const logged *wanted, const char *expected)
{
    film_buffer bytes = {0};
    const char *at;

    CHECK(log_film(wanted, &bytes));
    at = (const char *)bytes.data;
    for (const char *line = expected; *line != '\0';) {
        size_t length = strcspn(line, "\n"), have;
        CHECK(strlen(at) > 21);
        at += 21; /* time and line number */
        have = strcspn(at, "\n");
        if (!is_like(at, have, line, length)) {
            fprintf(stderr, "not %.*s but %s\n", (int)length, line, at);
            exit(1);
        }
        at += have + 1;
        line += length + 1;
    }
    CHECK(*at == '\0');
    film_buffer_reset(&bytes);
}

TEST(the_log_shows_ops_below_their_lines)
{
    static char by_op[] = "torch.mm", by_frame[] = "m.*";
    static char *const ops[] = {by_op}, *const frames[] = {by_frame};
    logged wanted = {.ops = true};

    record_op_stories(2, true);
    check_log(&wanted,
              "thread_start MainThread\n"
              "run m.f(a=1, b=2)  m.py:10\n"
              "  op torch.add(t3: f32[64, 128] cpu grad, [t4: bf16[8, 64] cuda:0 "
              "strides[1, 64]], alpha=2, out=None)  (launch)  [layers.3.attn]  by "
              "torch.nn.functional.linear\n"
              "    op aten::add  ~\n"
              "  end torch.add -> t17: i64[] cuda:1  ~  t4 changed: version 3\n"
              "  op torch.mm(t3)  raised RuntimeError  ~\n"
              "end m.f  ~  -> t17\n"
              "run m.f(a=1, b=2)  m.py:10\n"
              "  op torch.add(t3, [t4], alpha=2, out=None)  (launch)  [layers.3.attn]  "
              "by torch.nn.functional.linear\n"
              "    op aten::add  ~\n"
              "  end torch.add -> t17  ~  t4 changed: version 3\n"
              "  op torch.mm(t3)  raised RuntimeError  ~\n"
              "end m.f  ~  -> t17\n");
    wanted.functions = ops;
    wanted.function_count = 1;
    check_log(&wanted,
              "  op torch.mm(t3: f32[64, 128] cpu grad)  raised RuntimeError  ~\n"
              "  op torch.mm(t3)  raised RuntimeError  ~\n");
    wanted.functions = frames;
    wanted.first = 14; /* within the second torch.add */
    check_log(&wanted,
              "  end op of event 13\n"
              "  end op of event 12 -> t17: i64[] cuda:1  t4 changed: version 3\n"
              "  op torch.mm(t3: f32[64, 128] cpu grad)  raised RuntimeError  ~\n"
              "end m.f  ~  -> t17\n");
    wanted = (logged){.ops = false};
    check_log(&wanted, "thread_start MainThread\n"
                       "run m.f(a=1, b=2)  m.py:10\n"
                       "end m.f  ~  -> t17: i64[] cuda:1\n"
                       "run m.f(a=1, b=2)  m.py:10\n"
                       "end m.f  ~  -> t17: i64[] cuda:1\n");
    unlink(path);
}

/* x.add_(1) -> x, with a call of Python within; then a thread's op that does not end. */
static void
write_in_place(void)
{
    film_writer *writer = begin(0);
    uint32_t code = add_code(writer);
    film_thread *thread = film_writer_thread_begin(writer, "MainThread", 1);
    uint64_t before = put_tensor(writer, &told_input),
             after = put_tensor(writer, &told_changed);
    film_op_row op = {
        .function = string(writer, "torch.Tensor.add_"), .positional = 1, .offset = 1};

    CHECK(film_append_call(thread, code, 0));
    put_values_of(thread, &before, 1);
    CHECK(film_append_op(thread, &op));
    CHECK(film_append_call(thread, code, 0));
    CHECK(film_append_line(thread, 1, false));
    set_int(thread, 2, 5);
    CHECK(film_append_return(thread, 1));
    put_values_of(thread, &after, 1);
    CHECK(film_append_op_end(thread, 5, 0, 0, 0));
    put_values_of(thread, &after, 1);
    CHECK(film_append_op(thread, &op));
    CHECK(film_append_call(thread, code, 0)); /* ends with its caller, unseen */
    CHECK(film_append_drop(thread, 0));
    CHECK(film_append_return(thread, 1));
    CHECK(film_append_call(thread, code, 0));
    CHECK(film_append_op(thread, &op));
    CHECK(film_writer_close(writer, NULL, 0, NULL) == FILM_OK);
}

TEST(what_is_within_an_op_is_indented_deeper)
{
    logged wanted = {.ops = true};

    write_in_place();
    check_log(&wanted,
              "thread_start MainThread\n"
              "run m.f  m.py:10\n"
              "  op torch.Tensor.add_(t4: bf16[8, 64] cuda:0 strides[1, 64])\n"
              "    run m.f  m.py:10\n"
              "      upd x -> 5\n"
              "    end m.f  ~\n"
              "  end torch.Tensor.add_ -> t4: bf16[8, 64] cuda:0 strides[1, 64]  ~  "
              "t4 changed: version 3\n"
              "  op torch.Tensor.add_(t4)\n"
              "    run m.f  m.py:10\n"
              "end m.f  ~\n"
              "run m.f  m.py:10\n"
              "  op torch.Tensor.add_()\n");
    unlink(path);
}

TEST(the_xml_log_nests_ops)
{
    film_buffer bytes = {0};
    logged wanted = {.ops = true, .xml = true};

    record_op_stories(1, true);
    CHECK(log_film(&wanted, &bytes));
    check_has(&bytes, "<op function=\"torch.add\" args=\"t3: f32[64, 128] cpu grad, "
                      "[t4: bf16[8, 64] cuda:0 strides[1, 64]], alpha=2, out=None\" "
                      "module=\"layers.3.attn\" api=\"torch.nn.functional.linear\" "
                      "grad=\"true\" launch=\"true\" line=\"11\" event=\"3\"");
    check_has(&bytes, "<op_end value=\"t17: i64[] cuda:1\" type=\"Tensor\" "
                      "changed=\"t4: bf16[8, 64] cuda:0 strides[1, 64]\" line=");
    check_has(&bytes, "/>\n</op>\n<op function=\"torch.mm\"");
    check_has(&bytes, "<op_end type=\"RuntimeError\" line=");
    wanted.ops = false;
    CHECK(log_film(&wanted, &bytes));
    CHECK(strstr((const char *)bytes.data, "<op") == NULL);
    check_has(&bytes, "<return value=");
    film_buffer_reset(&bytes);
    unlink(path);
}

/* What an exporter makes of the film. */
static bool
export_film(film_status (*exporter)(const film_recordings *, film_output *,
                                    film_error *),
            film_buffer *bytes)
{
    char *paths[] = {path};
    film_recordings set;
    film_output output = {0};
    film_status status;

    film_buffer_clear(bytes);
    if (film_recordings_open(&set, paths, 1, NULL) != FILM_OK) {
        return false;
    }
    status = film_output_init(&output, -1, NULL);
    output.memory = bytes;
    if (status == FILM_OK) {
        status = exporter(&set, &output, NULL);
    }
    if (status == FILM_OK) {
        film_output_drain(&output);
        film_buffer_put_byte(bytes, 0);
    }
    film_output_reset(&output);
    film_recordings_close(&set);
    return status == FILM_OK && !bytes->failed;
}

static size_t
count_of(const film_buffer *bytes, const char *part)
{
    size_t count = 0;

    for (const char *at = (const char *)bytes->data; (at = strstr(at, part)) != NULL;
         at++) {
        count++;
    }
    return count;
}

TEST(exports_show_ops_below_the_function)
{
    film_buffer bytes = {0};

    record_op_stories(3, true);
    CHECK(export_film(film_export_collapsed, &bytes));
    check_has(&bytes, "m.f;torch.add ");
    CHECK(export_film(film_export_chrome, &bytes));
    CHECK_EQUAL(count_of(&bytes, "\"ph\":\"B\""), 12);
    CHECK_EQUAL(count_of(&bytes, "\"ph\":\"E\""), 12);
    CHECK_EQUAL(count_of(&bytes, "\"exception\":\"RuntimeError\""), 3);
    CHECK(export_film(film_export_speedscope, &bytes));
    CHECK_EQUAL(count_of(&bytes, "\"type\":\"O\""), 12);
    CHECK_EQUAL(count_of(&bytes, "\"type\":\"C\""), 12);
    check_has(&bytes, "{\"name\":\"aten::add\"}");
    write_in_place(); /* an op that has no end, and a frame in it that has none */
    CHECK(export_film(film_export_speedscope, &bytes));
    CHECK_EQUAL(count_of(&bytes, "\"type\":\"O\""), 7);
    CHECK_EQUAL(count_of(&bytes, "\"type\":\"C\""), 7);
    film_buffer_reset(&bytes);
    unlink(path);
}

TEST(scrub_takes_secrets_out_of_ops)
{
    static char name[] = "api_key", clean[80];
    char *names[] = {name};
    film_scrub_options options = {names, 1, NULL, 0};
    film_scrub_counts counts = {0};
    film_writer *writer = begin(0);
    film_thread *thread = film_writer_thread_begin(writer, "MainThread", 1);
    film_op_row op = {.function = string(writer, "torch.load"),
                      .names = string(writer, "mode,api_key"),
                      .positional = 0,
                      .offset = FILM_NO_OFFSET};
    uint64_t weight = put_tensor(writer, &told_weight);
    uint8_t tokens[FILM_APPEND_TOKENS], *to;
    film_reader *reader;
    film_buffer bytes = {0};
    film_error error = {0};
    int fd;

    to = film_token_put_text(tokens, "r", 1);
    to = film_token_put_text(to, "hunter2", 7);
    CHECK(film_append_values(thread, 2, tokens, (size_t)(to - tokens)));
    CHECK(film_append_op(thread, &op));
    for (int i = 0; i < 40; i++) { /* more rows of values than an event usually has */
        put_values_of(thread, &weight, 1);
    }
    CHECK(film_append_op_end(thread, 1, 0, 0, 0));
    CHECK(film_writer_close(writer, NULL, 0, NULL) == FILM_OK);
    snprintf(clean, sizeof(clean), "%s.clean", path);
    fd = open(clean, O_RDWR | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0);
    reader = open_reader(path);
    CHECK(film_scrub(reader, &options, fd, &counts, &error) == FILM_OK);
    film_reader_close(reader);
    close(fd);
    CHECK(rename(clean, path) == 0);
    dump(&bytes, 0);
    check_has(&bytes, "\"function\":\"torch.load\",\"args\":[],\"kwargs\":{\"mode\":{"
                      "\"text\":\"'r'\",\"type\":\"str\"},\"api_key\":{\"text\":"
                      "\"[redacted]\"");
    CHECK_EQUAL(count_of(&bytes, "t3: f32[64, 128] cpu grad"), 40);
    CHECK(strstr((const char *)bytes.data, "hunter2") == NULL);
    CHECK_EQUAL(counts.unknown, 0);
    film_buffer_reset(&bytes);
    unlink(path);
}

/* --- hostile input ---------------------------------------------------------------------- */

TEST(what_is_not_quite_a_tensor_is_none)
{
    static const struct {
        const char *text;
        int dimensions;
    } cases[] = {{"f32 cpu", 0},
                 {"f32[] ", 0},
                 {"f32[]", 0},
                 {"f32[2, 3] cpu strides[3]", 2},
                 {"f32[2, 3] cpu strides[3, 1, 1]", 2},
                 {"f32[2, 3] cpu strides[3, -1]", 2},
                 {"f32[2, 3] cpu strides[3, 99999999999999999999]", 2},
                 {"f32[2, 3] cpu strides[3, 1", 2},
                 {"f32[2, 3] cpu strides[, 1]", 2},
                 {"f32[2\x01] cpu", 1},
                 {"", 0}};
    film_writer *writer = begin(0);
    film_reader *reader;
    film_tensor tensor;
    uint64_t ids[sizeof(cases) / sizeof(cases[0])], odd;
    size_t count = sizeof(cases) / sizeof(cases[0]);

    for (size_t i = 0; i < count; i++) {
        told_tensor told = {.serial = 1,
                            .type = "Tensor",
                            .dtype = "float32",
                            .text = cases[i].text,
                            .dimensions = cases[i].dimensions,
                            .sizes = {2, 3}};
        ids[i] = put_tensor(writer, &told);
    }
    odd = put_tensor(writer, &(told_tensor){.serial = 2,
                                            .type = "torch.Tensor",
                                            .dtype = "float32",
                                            .text = "f32[0, 3] meta sparse_coo grad",
                                            .dimensions = 2,
                                            .sizes = {0, 3}});
    CHECK(film_writer_close(writer, NULL, 0, NULL) == FILM_OK);
    reader = open_reader(path);
    for (size_t i = 0; i < count; i++) {
        if (film_reader_tensor(reader, ids[i], &tensor, NULL) != FILM_END) {
            fprintf(stderr, "%s\n", cases[i].text);
            CHECK(false);
        }
    }
    CHECK(film_reader_tensor(reader, UINT64_MAX, &tensor, NULL) == FILM_END);
    CHECK(film_reader_tensor(reader, odd, &tensor, NULL) == FILM_OK);
    CHECK(is_text(tensor.type, "Tensor") && is_text(tensor.layout, "sparse_coo"));
    CHECK(tensor.requires_grad && tensor.strides[0] == 0);
    film_reader_close(reader);
    unlink(path);
}

/* Each list holds the one before twice: 2 ** 40 tensors within one value. */
TEST(lists_of_lists_are_looked_at_to_a_bound)
{
    film_writer *writer = begin(0);
    film_thread *thread = film_writer_thread_begin(writer, "MainThread", 1);
    film_op_row op = {.function = string(writer, "torch.stack"),
                      .positional = 1,
                      .offset = FILM_NO_OFFSET};
    uint64_t id = put_tensor(writer, &told_weight);
    film_reader *reader;
    film_cursor *cursor;
    const film_event *event;
    met of;

    for (uint64_t i = 0; i < 40; i++) {
        id = put_list_of(writer, 100 + i, (const uint64_t[]){id, id}, 2);
    }
    put_values_of(thread, &id, 1);
    CHECK(film_append_op(thread, &op));
    CHECK(film_writer_close(writer, NULL, 0, NULL) == FILM_OK);
    reader = open_reader(path);
    CHECK(film_cursor_open(reader, 1, 1, &cursor, NULL) == FILM_OK);
    event = next_event(cursor);
    of = tensors_of(reader, event, 8);
    CHECK_EQUAL(of.count, 0); /* deeper than is looked */
    film_cursor_close(cursor);
    film_reader_close(reader);
    unlink(path);
}

/* One of those that read ops, whatever comes of it. */
static void
read_one(film_buffer *bytes, int which)
{
    static const logged text = {.ops = true}, xml = {.ops = true, .xml = true};

    switch (which % 4) {
    case 0:
        dump(bytes, 0);
        break;
    case 1:
        (void)log_film(&text, bytes);
        break;
    case 2:
        (void)log_film(&xml, bytes);
        break;
    default:
        (void)export_film(film_export_speedscope, bytes);
    }
    film_buffer_reset(bytes);
}

static void
read_all(film_buffer *bytes)
{
    for (int which = 0; which < 4; which++) {
        read_one(bytes, which);
    }
}

TEST(failing_memory_is_survived)
{
    film_buffer bytes = {0};
    uint64_t asked;

    record_op_stories(60, true);
    film_alloc_fail_at(UINT64_MAX);
    read_all(&bytes);
    asked = film_alloc_fail_never();
    CHECK(asked > 20);
    for (uint64_t n = 1; n <= asked; n++) {
        film_alloc_fail_at(n);
        read_all(&bytes);
        film_alloc_fail_never();
    }
    unlink(path);
}

TEST(damaged_windows_are_survived)
{
    enum { TRIES = 2000 };
    film_buffer bytes = {0};
    FILE *file;
    long size;
    uint32_t state = 4711;

    record_op_stories(20, false);
    file = fopen(path, "r+b");
    CHECK(file != NULL && fseek(file, 0, SEEK_END) == 0);
    size = ftell(file);
    for (int i = 0; i < TRIES; i++) {
        long at;
        int byte;
        state = state * 1664525u + 1013904223u;
        at = 4096 + (long)(state >> 8) % 3 * (long)FILM_WINDOW_BYTES +
             (long)(state >> 12) % 3000;
        if (at >= size) {
            continue;
        }
        CHECK(fseek(file, at, SEEK_SET) == 0);
        byte = fgetc(file);
        CHECK(fseek(file, at, SEEK_SET) == 0);
        fputc((int)(state >> 24), file);
        fflush(file);
        read_one(&bytes, i);
        if (i % 5 != 0) { /* some damage stays */
            CHECK(fseek(file, at, SEEK_SET) == 0);
            fputc(byte, file);
            fflush(file);
        }
    }
    fclose(file);
    film_buffer_reset(&bytes);
    unlink(path);
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {
        TEST_ENTRY(ops_come_back_from_chunks),
        TEST_ENTRY(ops_come_back_from_windows),
        TEST_ENTRY(dump_tells_ops),
        TEST_ENTRY(the_log_shows_ops_below_their_lines),
        TEST_ENTRY(what_is_within_an_op_is_indented_deeper),
        TEST_ENTRY(the_xml_log_nests_ops),
        TEST_ENTRY(exports_show_ops_below_the_function),
        TEST_ENTRY(scrub_takes_secrets_out_of_ops),
        TEST_ENTRY(what_is_not_quite_a_tensor_is_none),
        TEST_ENTRY(lists_of_lists_are_looked_at_to_a_bound),
        TEST_ENTRY(failing_memory_is_survived),
        TEST_ENTRY(damaged_windows_are_survived),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
