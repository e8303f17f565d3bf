/* test_objwatch.c: ObjWatch's lines and trees from rows written by hand; a recording
 * without its secrets; and all of it with every allocation failing once.
 * SPDX-License-Identifier: Apache-2.0 */
#include "films.h"

#include <fcntl.h>

#include <filmstrip/filmstrip.h>

#include "base/alloc.h"
#include "export/exporter.h"
#include "export/objwatch.h"
#include "export/scrub.h"
#include "writer/append.h"

static char path[64], clean[64];

/* def f(self, key): with a local x; lines 11 and 12. */
static uint32_t
add_code(film_writer *writer)
{
    static const test_local locals[] = {{"self", 0x20}, {"key", 0x20}, {"x", 0x20}};

    return add_function(writer, "C.f", locals, 3);
}

typedef struct bytes {
    uint8_t data[256];
    uint8_t *end;
} bytes;

static bytes
none(void)
{
    bytes result = {{0}, NULL};

    return result;
}

/* The bytes so far; `begin` when there are none. */
static uint8_t *
at(bytes *to)
{
    if (to->end == NULL) {
        to->end = to->data;
    }
    return to->end;
}

static size_t
length(const bytes *of)
{
    return of->end == NULL ? 0 : (size_t)(of->end - of->data);
}

static void
put_text(bytes *to, const char *text)
{
    to->end = film_token_put_text(at(to), text, strlen(text));
}

static void
put_int(bytes *to, int64_t number)
{
    to->end = film_token_put_int(at(to), number);
}

static void
put_value(bytes *to, film_token_kind kind, uint64_t id)
{
    to->end = film_token_put_value(at(to), kind, id);
}

/* An object record: head, then `items`. */
static uint64_t
put_record(film_writer *writer, const char *type, uint64_t serial, uint8_t form,
           int64_t size, uint64_t count, const bytes *items)
{
    bytes body = none();
    uint64_t id;

    body.end = film_varint_encode(at(&body), serial);
    *body.end++ = form;
    body.end = film_varint_encode(body.end, (uint64_t)(size + 1));
    body.end = film_varint_encode(body.end, count);
    memcpy(body.end, items->data, length(items));
    body.end += length(items);
    id = film_writer_value_record(writer, string(writer, type), FILM_VALUE_OBJECT,
                                  body.data, length(&body));
    CHECK(id != 0);
    return id - 1;
}

static uint64_t
put_list(film_writer *writer, uint64_t serial, int count)
{
    bytes items = none();

    at(&items);
    for (int i = 0; i < count; i++) {
        put_int(&items, i);
    }
    return put_record(writer, "list", serial, FILM_OBJECT_SEQUENCE, count,
                      (uint64_t)count, &items);
}

/* One call of C.f that writes, grows, changes, deletes, raises. */
static void
write_call(film_writer *writer, film_thread *thread, uint32_t code)
{
    bytes tokens = none(), attributes = none();
    uint64_t list = put_list(writer, 7, 1), grown, self;

    attributes.end = film_varint_encode(at(&attributes), string(writer, "items"));
    put_value(&attributes, FILM_TOKEN_VALUE, list);
    self = put_record(writer, "C", 3, FILM_OBJECT_ATTRIBUTES, -1, 1, &attributes);
    put_value(&tokens, FILM_TOKEN_OBJECT, self);
    put_text(&tokens, "hunter2");
    CHECK(film_append_values(thread, 2, tokens.data, length(&tokens)));
    CHECK(film_append_call(thread, code, 0));
    CHECK(film_append_line(thread, 0, false));
    tokens = none();
    put_text(&tokens, "hunter2!");
    CHECK(film_append_set(thread, FILM_SET_LOCAL, 2, tokens.data, length(&tokens)));
    grown = put_list(writer, 7, 5);
    tokens = none();
    put_value(&tokens, FILM_TOKEN_VALUE, grown);
    CHECK(film_append_change(thread, tokens.data, length(&tokens), 1, false));
    CHECK(film_append_line(thread, 8, false));
    tokens = none();
    put_value(&tokens, FILM_TOKEN_OBJECT, self);
    put_int(&tokens, 5);
    CHECK(film_append_set(thread, FILM_SET_ATTRIBUTE, string(writer, "n"), tokens.data,
                          length(&tokens)));
    tokens = none();
    put_value(&tokens, FILM_TOKEN_VALUE, grown);
    put_int(&tokens, 0);
    put_int(&tokens, 9);
    CHECK(film_append_set(thread, FILM_SET_ITEM, 0, tokens.data, length(&tokens)));
    CHECK(film_append_delete(thread, FILM_SET_LOCAL, 2, tokens.data, 0));
    CHECK(film_append_exception(
        thread, FILM_KIND_RAISE, 8, string(writer, "ValueError"),
        film_writer_value(writer, string(writer, "str"), "not hunter2", 11, 0)));
    CHECK(film_append_exception(thread, FILM_KIND_UNWIND, 8,
                                string(writer, "ValueError"), 0));
}

static void
name_films(void)
{
    snprintf(path, sizeof(path), "/tmp/filmstrip-objwatch-%d.film", (int)getpid());
    snprintf(clean, sizeof(clean), "/tmp/filmstrip-clean-%d.film", (int)getpid());
}

static film_writer *
write_events(void)
{
    film_writer_options options = {.path = path, .replace = true, .level = 2};
    film_writer *writer;
    film_thread *thread;

    CHECK(film_writer_open(&options, &writer, NULL) == FILM_OK);
    thread = film_writer_thread_begin(writer, "main", 1);
    CHECK(thread != NULL);
    write_call(writer, thread, add_code(writer));
    return writer;
}

static void
write_film(void)
{
    name_films();
    CHECK(film_writer_close(write_events(), NULL, 0, NULL) == FILM_OK);
}

/* As a process that was killed leaves it: all of it in windows. */
static void
write_film_of_the_dead(void)
{
    int status = 0;
    pid_t child;

    name_films();
    child = fork();
    if (child == 0) {
        (void)write_events();
        _exit(0);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

/* What the view of the film says, header left out; the caller frees it. */
static film_status
view(film_objwatch_mode mode, film_buffer *text)
{
    char *paths[] = {path};
    film_recordings set;
    film_merge_range range = film_merge_everything();
    film_merge *merge = NULL;
    film_merged merged;
    film_output output = {0};
    film_objwatch_text *lines = NULL;
    film_status status = film_recordings_open(&set, paths, 1, NULL);

    if (status != FILM_OK) {
        return status;
    }
    status = film_output_init(&output, -1, NULL);
    output.memory = text;
    if (status == FILM_OK) {
        status = film_objwatch_text_new(&set, mode, &output, &lines, NULL);
    }
    if (status == FILM_OK) {
        film_output_drain(&output);
        film_buffer_clear(text);
        status = film_merge_open(&set, &range, &merge, NULL);
    }
    while (status == FILM_OK) {
        status = film_merge_next(merge, &merged, NULL);
        if (status == FILM_OK) {
            status = film_objwatch_text_write(lines, &merged, NULL);
        }
    }
    film_merge_close(merge);
    if (output.data != NULL) {
        film_output_drain(&output);
    }
    film_objwatch_text_free(lines);
    film_output_reset(&output);
    film_recordings_close(&set);
    return status == FILM_END ? FILM_OK : status;
}

static void
check_view(film_objwatch_mode mode, const char *expected)
{
    film_buffer text = {0};

    CHECK(view(mode, &text) == FILM_OK);
    film_buffer_put_byte(&text, 0);
    if (strcmp((char *)text.data, expected) != 0) {
        fprintf(stderr, "--- expected\n%s--- got\n%s", expected, (char *)text.data);
        exit(1);
    }
    film_buffer_reset(&text);
}

TEST(full)
{
    write_film();
    check_view(FILM_OBJWATCH_FULL, "    0 run m.C.f <- '0':(type)C, '1':hunter2\n"
                                   "   11   upd _.x None -> hunter2!\n"
                                   "   11   apd C.items (list)(len)1 -> 5\n"
                                   "   12   upd C.n None -> 5\n"
                                   "   12   upd C.items[0] 0 -> 9\n"
                                   "   12   del _.x hunter2!\n"
                                   "   12   raise ValueError not hunter2\n"
                                   "    0 end m.C.f -> raised ValueError\n");
    unlink(path);
}

TEST(strict)
{
    write_film();
    check_view(FILM_OBJWATCH_STRICT, "    0 run m.C.f <- '0':(type)C, '1':hunter2\n"
                                     "   11   apd C.items (list)(len)1 -> 5\n"
                                     "   11   upd _.x None -> hunter2!\n"
                                     "    0 end m.C.f -> None\n");
    check_view(FILM_OBJWATCH_OLD, "DEBUG:    10 run C.f <- '0':(type)C, '1':hunter2\n"
                                  "DEBUG:    12 | apd C.items (list)(len)1 -> 5\n"
                                  "DEBUG:    12 | upd _.x None -> hunter2!\n"
                                  "DEBUG:    12 end C.f -> None\n");
    unlink(path);
}

typedef film_status (*exporter)(const film_recordings *, film_output *, film_error *);

static film_status
export_tree(exporter run, film_buffer *text)
{
    char *paths[] = {path};
    film_recordings set;
    film_output output;
    film_status status = film_recordings_open(&set, paths, 1, NULL);

    if (status != FILM_OK) {
        return status;
    }
    status = film_output_init(&output, -1, NULL);
    output.memory = text;
    if (status == FILM_OK) {
        status = run(&set, &output, NULL);
        film_output_drain(&output);
    }
    film_output_reset(&output);
    film_recordings_close(&set);
    return status;
}

TEST(trees)
{
    film_buffer text = {0};

    write_film();
    CHECK(export_tree(film_export_objwatch_json, &text) == FILM_OK);
    film_buffer_put_byte(&text, 0);
    CHECK(strstr((char *)text.data, "\"symbol\":\"C.f\"") != NULL);
    CHECK(strstr((char *)text.data, "\"return_msg\":\"raised ValueError\"") != NULL);
    film_buffer_clear(&text);
    CHECK(export_tree(film_export_objwatch_xml, &text) == FILM_OK);
    film_buffer_put_byte(&text, 0);
    CHECK(strstr((char *)text.data,
                 "<apd name=\"C.items\" line=\"12\" "
                 "old=\"(list)(len)1\" new=\"(list)(len)5\" />") != NULL);
    film_buffer_reset(&text);
    unlink(path);
}

static film_status
scrub(film_error *error)
{
    static char name[] = "key";
    char *names[] = {name};
    film_scrub_options options = {names, 1, NULL, 0};
    film_scrub_counts counts;
    film_reader *reader;
    int fd = open(clean, O_RDWR | O_CREAT | O_TRUNC, 0600);
    film_status status = film_reader_open(path, &reader, error);

    CHECK(fd >= 0);
    if (status == FILM_OK) {
        status = film_scrub(reader, &options, fd, &counts, error);
        film_reader_close(reader);
    }
    close(fd);
    return status;
}

static void
check_scrubbed(void)
{
    film_error error = {0};
    film_reader *reader;

    CHECK(scrub(&error) == FILM_OK);
    CHECK(film_reader_open(clean, &reader, &error) == FILM_OK);
    for (size_t i = 0; i < film_reader_chunk_count(reader); i++) {
        CHECK(film_reader_verify_chunk(reader, i, &error) == FILM_OK);
    }
    CHECK_EQUAL(film_reader_info(reader)->events, 11);
    film_reader_close(reader);
    CHECK(rename(clean, path) == 0);
    check_view(FILM_OBJWATCH_FULL, "    0 run m.C.f <- '0':(type)C, '1':[redacted]\n"
                                   "   11   upd _.x None -> [redacted]\n"
                                   "   11   apd C.items (list)(len)1 -> 5\n"
                                   "   12   upd C.n None -> 5\n"
                                   "   12   upd C.items[0] 0 -> 9\n"
                                   "   12   del _.x [redacted]\n"
                                   "   12   raise ValueError not [redacted]\n"
                                   "    0 end m.C.f -> raised ValueError\n");
    unlink(path);
}

TEST(scrubbed)
{
    write_film();
    check_scrubbed();
}

TEST(scrubbed_after_a_kill)
{
    write_film_of_the_dead();
    check_scrubbed();
}

/* Runs `work` with the n-th allocation failing, for every n until none fails. */
static void
fail_each(const char *name, film_status (*work)(void))
{
    film_status status = FILM_NO_MEMORY;

    for (uint64_t n = 1; n < 5000 && status != FILM_OK; n++) {
        film_alloc_fail_at(n);
        status = work();
        film_alloc_fail_never();
        if (status != FILM_OK && status != FILM_NO_MEMORY) {
            fprintf(stderr, "%s, allocation %d: status %d\n", name, (int)n,
                    (int)status);
            exit(1);
        }
    }
    CHECK(status == FILM_OK);
}

static film_objwatch_mode the_mode;

static film_status
work_view(void)
{
    film_buffer text = {0};
    film_status status = view(the_mode, &text);

    film_buffer_reset(&text);
    return status;
}

static exporter the_exporter;

static film_status
work_tree(void)
{
    film_buffer text = {0};
    film_status status = export_tree(the_exporter, &text);

    film_buffer_reset(&text);
    return status;
}

static film_status
work_scrub(void)
{
    film_error error = {0};

    return scrub(&error);
}

TEST(no_memory)
{
    write_film();
    the_mode = FILM_OBJWATCH_FULL;
    fail_each("full", work_view);
    the_mode = FILM_OBJWATCH_STRICT;
    fail_each("strict", work_view);
    the_exporter = film_export_objwatch_json;
    fail_each("json", work_tree);
    the_exporter = film_export_objwatch_xml;
    fail_each("xml", work_tree);
    fail_each("scrub", work_scrub);
    write_film_of_the_dead();
    fail_each("scrub after a kill", work_scrub);
    unlink(path);
    unlink(clean);
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {
        TEST_ENTRY(full),
        TEST_ENTRY(strict),
        TEST_ENTRY(trees),
        TEST_ENTRY(scrubbed),
        TEST_ENTRY(scrubbed_after_a_kill),
        TEST_ENTRY(no_memory),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
