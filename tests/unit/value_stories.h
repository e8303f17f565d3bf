/* value_stories.h: a call with every kind of write, written and read back.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_TEST_VALUE_STORIES_H
#define FILMSTRIP_TEST_VALUE_STORIES_H

#include "value_films.h"

#include <filmstrip/filmstrip.h>

#include "format/token.h"
#include "writer/append.h"

/* def f(a, b): with locals a, b, x and a free variable n. */
static inline uint32_t
add_code(film_writer *writer)
{
    static const test_local locals[] = {
        {"a", 0x20}, {"b", 0x20}, {"x", 0x20}, {"n", 0x80}};

    return add_function(writer, "f", locals, 4);
}

static inline const film_event *
next_event(film_cursor *cursor)
{
    const film_event *event = NULL;

    CHECK(film_cursor_next(cursor, &event, NULL) == FILM_OK);
    return event;
}

static inline void
check_value(film_reader *reader, const film_event *event, uint32_t index,
            const char *text, const char *type)
{
    film_value value;

    CHECK(film_reader_event_value(reader, event, index, 1000, &value, NULL) == FILM_OK);
    if (strcmp(value.text.data, text) != 0 || strcmp(value.type.data, type) != 0) {
        fprintf(stderr, "%s %s is not %s %s\n", value.type.data, value.text.data, type,
                text);
        exit(1);
    }
    CHECK_EQUAL(value.text.length, strlen(text));
}

static inline void
write_story(film_writer *writer, film_thread *thread, uint32_t code)
{
    static const uint8_t items[] = {1, 2, 3};
    uint8_t tokens[FILM_APPEND_TOKENS], *to;
    uint64_t list = put_list(writer, 7, items, 3);
    uint64_t longer = 0;

    /* f(1, [1, 2, 3]) */
    to = film_token_put_int(tokens, 1);
    CHECK(film_append_values(thread, 1, tokens, (size_t)(to - tokens)));
    to = film_token_put_value(tokens, FILM_TOKEN_VALUE, list);
    CHECK(film_append_values(thread, 1, tokens, (size_t)(to - tokens)));
    CHECK(film_append_call(thread, code, 0));
    CHECK(film_append_line(thread, 2, false));
    set_int(thread, 2, 100000);
    CHECK(film_append_line(thread, 9, true));
    /* a.count = 'abc' */
    to = film_token_put_value(tokens, FILM_TOKEN_OBJECT, list);
    to = film_token_put_text(to, "abc", 3);
    CHECK(film_append_set(thread, FILM_SET_ATTRIBUTE, string(writer, "count"), tokens,
                          (size_t)(to - tokens)));
    /* b['k'] = 2.5, by a __setitem__ */
    to = film_token_put_value(tokens, FILM_TOKEN_VALUE, list);
    to = film_token_put_text(to, "k", 1);
    to = film_token_put_float(to, 2.5);
    CHECK(film_append_set(thread, FILM_SET_ITEM_VIA, 0, tokens, (size_t)(to - tokens)));
    /* n = None; G = True; del x; del b['k'] */
    *tokens = FILM_TOKEN_NONE;
    CHECK(film_append_set(thread, FILM_SET_LOCAL, 3, tokens, 1));
    *tokens = FILM_TOKEN_TRUE;
    CHECK(film_append_set(thread, FILM_SET_GLOBAL, string(writer, "G"), tokens, 1));
    CHECK(film_append_delete(thread, FILM_SET_LOCAL, 2, tokens, 0));
    to = film_token_put_value(tokens, FILM_TOKEN_VALUE, list);
    to = film_token_put_text(to, "k", 1);
    CHECK(film_append_delete(thread, FILM_SET_ITEM, 0, tokens, (size_t)(to - tokens)));
    /* b.append(4) */
    longer = put_list(writer, 7, (const uint8_t[]){1, 2, 3, 4}, 4);
    to = film_token_put_value(tokens, FILM_TOKEN_VALUE, longer);
    CHECK(film_append_change(thread, tokens, (size_t)(to - tokens), 3, false));
    /* return -5 */
    to = film_token_put_int(tokens, -5);
    CHECK(film_append_values(thread, 1, tokens, (size_t)(to - tokens)));
    CHECK(film_append_return(thread, 9));
}

static inline void
read_story(film_reader *reader, film_cursor *cursor, uint64_t first)
{
    const film_event *event = next_event(cursor);
    film_value value;

    CHECK(event->kind == FILM_KIND_CALL && event->number == first);
    CHECK_EQUAL(event->token_count, 2);
    check_value(reader, event, 0, "1", "int");
    check_value(reader, event, 1, "[1, 2, 3]", "list");
    CHECK(strcmp(film_reader_argument_name(reader, event, 1).data, "b") == 0);
    CHECK(film_event_value_index(event, FILM_ROLE_VALUE) == -1);
    event = next_event(cursor);
    CHECK(event->kind == FILM_KIND_LINE && event->offset == 2);
    CHECK_EQUAL(event->token_count, 0);
    event = next_event(cursor);
    CHECK(event->kind == FILM_KIND_SET && event->form == FILM_SET_LOCAL);
    CHECK_EQUAL(event->offset, 2);
    CHECK_EQUAL(film_reader_event_line(reader, event), 11);
    CHECK(strcmp(film_reader_event_name(reader, event).data, "x") == 0);
    check_value(reader, event, 0, "100000", "int");
    CHECK(next_event(cursor)->kind == FILM_KIND_LINE);
    event = next_event(cursor);
    CHECK(event->form == FILM_SET_ATTRIBUTE && event->token_count == 2);
    CHECK_EQUAL(event->offset, 9);
    CHECK(strcmp(film_reader_event_name(reader, event).data, "count") == 0);
    check_value(reader, event, 0, "<list #7>", "list");
    check_value(reader, event, 1, "'abc'", "str");
    CHECK(film_event_value_index(event, FILM_ROLE_OWNER) == 0);
    CHECK(film_event_value_index(event, FILM_ROLE_KEY) == -1);
    CHECK(film_event_value_index(event, FILM_ROLE_VALUE) == 1);
    event = next_event(cursor);
    CHECK(event->form == FILM_SET_ITEM_VIA && event->token_count == 3);
    check_value(reader, event, 1, "'k'", "str");
    check_value(reader, event, 2, "2.5", "float");
    event = next_event(cursor);
    CHECK(strcmp(film_reader_event_scope(reader, event), "nonlocal") == 0);
    check_value(reader, event, 0, "None", "NoneType");
    event = next_event(cursor);
    CHECK(strcmp(film_reader_event_scope(reader, event), "global") == 0);
    check_value(reader, event, 0, "True", "bool");
    event = next_event(cursor);
    CHECK(event->kind == FILM_KIND_DELETE && event->slot == 2);
    CHECK(film_event_value_index(event, FILM_ROLE_VALUE) == -1);
    event = next_event(cursor);
    CHECK(event->kind == FILM_KIND_DELETE && event->form == FILM_SET_ITEM);
    check_value(reader, event, 1, "'k'", "str");
    CHECK(film_event_value_index(event, FILM_ROLE_KEY) == 1);
    CHECK(film_event_value_index(event, FILM_ROLE_VALUE) == -1);
    event = next_event(cursor);
    CHECK(event->kind == FILM_KIND_CHANGE && event->length_before == 3);
    check_value(reader, event, 0, "[1, 2, 3, 4]", "list");
    CHECK(film_reader_event_value(reader, event, 0, 100, &value, NULL) == FILM_OK);
    CHECK(value.is_object && value.object == 7 && value.length == 4 && !value.cut);
    event = next_event(cursor);
    CHECK(event->kind == FILM_KIND_RETURN && event->token_count == 1);
    check_value(reader, event, 0, "-5", "int");
}

#define STORY_EVENTS 12u

static inline void
write_stories(uint32_t stories, bool close)
{
    film_writer *writer = begin(0);
    uint32_t code = add_code(writer);
    film_thread *thread = film_writer_thread_begin(writer, "MainThread", 1);

    CHECK(thread != NULL && code == 0);
    for (uint32_t i = 0; i < stories; i++) {
        write_story(writer, thread, code);
    }
    if (close) {
        CHECK(film_writer_close(writer, NULL, 0, NULL) == FILM_OK);
    }
}

/* Without `close` by a process that is killed. */
static inline void
record_stories(uint32_t stories, bool close)
{
    int status = 0;
    pid_t child;

    if (close) {
        write_stories(stories, true);
        return;
    }
    name_film();
    child = fork();
    if (child == 0) {
        write_stories(stories, false);
        kill(getpid(), SIGKILL);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status));
}

#endif
