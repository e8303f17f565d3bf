/* query.c: requests read, answered by the handler of their name; see query.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/query.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/query_state.h"
#include "base/clock.h"

typedef struct question {
    const char *name;
    film_answer answer;
} question;

static const question the_questions[] = {
    {"open", film_answer_open},
    {"moment", film_answer_moment},
    {"move", film_answer_move},
    {"threads", film_answer_threads},
    {"locals", film_answer_locals},
    {"value", film_answer_value},
    {"evaluate", film_answer_evaluate},
    {"source", film_answer_source},
    {"lines", film_answer_lines},
    {"breakpoints", film_answer_breakpoints},
    {"writes", film_answer_writes},
    {"history", film_answer_history},
    {"origin", film_answer_origin},
    {"hits", film_answer_hits},
    {"first", film_answer_first},
    {"written", film_answer_written},
    {"commands", film_answer_commands},
    {"globals", film_answer_globals},
    {"exception", film_answer_exception},
    {"made", film_answer_made},
    {"op", film_answer_op},
};

static film_answer
find_answer(const char *name)
{
    for (size_t i = 0; i < sizeof(the_questions) / sizeof(the_questions[0]); i++) {
        if (strcmp(the_questions[i].name, name) == 0) {
            return the_questions[i].answer;
        }
    }
    return NULL;
}

static const char *
code_of(film_status status)
{
    switch (status) {
    case FILM_END:
        return "end";
    case FILM_MISUSE:
        return "misuse";
    case FILM_NO_MEMORY:
        return "memory";
    case FILM_IO:
        return "io";
    case FILM_LIMIT:
        return "limit";
    case FILM_UNSUPPORTED:
        return "unsupported";
    case FILM_TRUNCATED:
    case FILM_CORRUPT:
        return "corrupt";
    case FILM_OK:
    case FILM_NOT_A_FILM:
    case FILM_NO_SPACE:
    case FILM_EXISTS:
    default:
        return "failed";
    }
}

static void
write_error(film_ask *ask, film_status status)
{
    const char *message = ask->error->message[0] != '\0' ? ask->error->message
                                                         : "it could not be answered";

    film_buffer_clear(ask->out);
    film_buffer_put_byte(ask->out, '{');
    ask->comma = false;
    film_ask_open(ask, "error", '{');
    film_ask_words(ask, "code", code_of(status));
    film_ask_words(ask, "message", message);
    film_ask_close(ask, '}');
    film_buffer_put_byte(ask->out, '}');
}

static film_status
answer_request(film_ask *ask)
{
    film_answer answer;
    const char *name;

    FILM_TRY(film_ask_get_text(ask, "q", true, &name));
    answer = find_answer(name);
    if (answer == NULL) {
        return film_fail(ask->error, FILM_MISUSE, "there is no question '%.40s'", name);
    }
    film_buffer_put_byte(ask->out, '{');
    FILM_TRY(answer(ask));
    film_ask_number(ask, "events", film_reader_info(ask->reader)->events);
    return FILM_OK;
}

film_status
film_query(film_timeline *timeline, const char *request, size_t length,
           film_buffer *answer)
{
    film_error error = {FILM_OK, 0, ""};
    film_ask ask = {.timeline = timeline,
                    .reader = film_timeline_reader(timeline),
                    .out = answer,
                    .error = &error,
                    .budget = film_budget_of(FILM_QUERY_MS)};
    uint64_t began = film_clock_monotonic_ns();
    film_status status = FILM_OK;

    film_buffer_clear(answer);
    if (length > FILM_QUERY_LENGTH) {
        status = film_fail(&error, FILM_MISUSE, "the request is too long");
    }
    else {
        status = film_json_read(&ask.json, request, length, &error);
    }
    if (status == FILM_OK &&
        !film_json_is(film_json_root(&ask.json), FILM_JSON_OBJECT)) {
        status = film_fail(&error, FILM_MISUSE, "the request is no object");
    }
    if (status == FILM_OK) {
        status = answer_request(&ask);
    }
    if (status != FILM_OK) {
        write_error(&ask, status);
    }
    else {
        film_ask_number(&ask, "took_us", (film_clock_monotonic_ns() - began) / 1000);
        film_buffer_put_byte(answer, '}');
    }
    film_json_reset(&ask.json);
    return answer->failed ? FILM_NO_MEMORY : FILM_OK;
}

/* --- parameters --- */

const film_json_node *
film_ask_get(const film_ask *ask, const char *key)
{
    return film_json_get(&ask->json, film_json_root(&ask->json), key);
}

static film_status
parse_moment(film_ask *ask, const char *text, film_moment *out)
{
    const char *number;
    char *end;
    unsigned long long thread, event;

    thread = strtoull(text, &end, 10);
    if (end == text || *end != ':' || thread == 0 || thread > UINT32_MAX) {
        return film_fail(ask->error, FILM_MISUSE, "'%.40s' is no moment: thread:event",
                         text);
    }
    number = end + 1;
    event = strtoull(number, &end, 10);
    if (end == number || *end != '\0') {
        return film_fail(ask->error, FILM_MISUSE, "'%.40s' is no moment: thread:event",
                         text);
    }
    *out = film_moment_of((uint32_t)thread, event);
    return FILM_OK;
}

film_status
film_ask_get_next(film_ask *ask, film_moment *at, film_tally *tally)
{
    const char *text;
    char moment[64], *end;
    size_t length;

    FILM_TRY(film_ask_get_text(ask, "next", false, &text));
    if (text == NULL) {
        return FILM_OK;
    }
    length = strcspn(text, "/");
    if (length >= sizeof(moment)) {
        return film_fail(ask->error, FILM_MISUSE, "'next' is none that was given");
    }
    memcpy(moment, text, length);
    moment[length] = '\0';
    FILM_TRY(parse_moment(ask, moment, at));
    if (text[length] == '/') {
        tally->ran = strtoull(text + length + 1, &end, 10);
        tally->held = *end == '/' ? strtoull(end + 1, &end, 10) : 0;
        tally->unknown = *end == '/' ? strtoull(end + 1, &end, 10) : 0;
    }
    return FILM_OK;
}

film_status
film_ask_get_moment(film_ask *ask, const char *key, bool fallback, film_moment *out)
{
    const char *text;
    film_moment last;

    *out = film_moment_of(0, 0);
    FILM_TRY(film_ask_get_text(ask, key, !fallback, &text));
    if (text != NULL) {
        return parse_moment(ask, text, out);
    }
    for (size_t i = 0; i < film_reader_thread_count(ask->reader); i++) {
        if (film_timeline_ends(ask->timeline, film_reader_thread(ask->reader, i)->id,
                               out, &last, NULL) == FILM_OK) {
            return FILM_OK;
        }
    }
    return film_fail(ask->error, FILM_END, "the recording has no events");
}

film_status
film_ask_get_text(film_ask *ask, const char *key, bool needed, const char **out)
{
    const film_json_node *value = film_ask_get(ask, key);

    *out = NULL;
    if (value == NULL || value->kind == FILM_JSON_NULL) {
        return needed ? film_fail(ask->error, FILM_MISUSE, "'%s' is missing", key)
                      : FILM_OK;
    }
    *out = film_json_text(&ask->json, value);
    return *out != NULL ? FILM_OK
                        : film_fail(ask->error, FILM_MISUSE, "'%s' is no text", key);
}

film_status
film_ask_get_number(film_ask *ask, const char *key, uint64_t fallback, uint64_t *out)
{
    const film_json_node *value = film_ask_get(ask, key);

    *out = fallback;
    if (value == NULL || value->kind == FILM_JSON_NULL) {
        return FILM_OK;
    }
    if (value->kind != FILM_JSON_INTEGER || value->integer < 0) {
        return film_fail(ask->error, FILM_MISUSE, "'%s' is no number from 0 on", key);
    }
    *out = (uint64_t)value->integer;
    return FILM_OK;
}

bool
film_ask_get_bool(film_ask *ask, const char *key)
{
    return film_json_is(film_ask_get(ask, key), FILM_JSON_TRUE);
}

bool
film_ask_wants(film_ask *ask, const char *what)
{
    const film_json_node *with = film_ask_get(ask, "with");

    for (with = film_json_first(&ask->json, with); with != NULL;
         with = film_json_next(&ask->json, with)) {
        const char *word = film_json_text(&ask->json, with);
        if (word != NULL && strcmp(word, what) == 0) {
            return true;
        }
    }
    return false;
}

film_status
film_ask_get_frame(film_ask *ask, film_moment moment, size_t *index, uint64_t *serial)
{
    const film_stack_frame *frames;
    size_t depth;

    *index = 0;
    FILM_TRY(film_ask_get_number(ask, "frame", 0, serial));
    FILM_TRY(film_timeline_stack(ask->timeline, moment, &frames, &depth, ask->error));
    if (depth == 0) {
        return film_fail(ask->error, FILM_END, "no frame is open at this moment");
    }
    for (size_t i = depth; i > 0; i--) {
        if (*serial == 0 || frames[i - 1].serial == *serial) {
            *index = i - 1;
            *serial = frames[i - 1].serial;
            return FILM_OK;
        }
    }
    return film_fail(ask->error, FILM_MISUSE, "frame %llu is not open at this moment",
                     (unsigned long long)*serial);
}
