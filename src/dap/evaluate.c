/* evaluate.c: expressions over recorded values: hover, watch, console. No code is run.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "dap/handlers.h"

#define WHOLE_TEXT (1 << 20)
#define CONSOLE_TEXT 4000

/* The frame a request is about: the one it names, or the innermost. */
static bool
find_place(film_dap *dap, const film_json_node *arguments, film_dap_handle *place)
{
    int64_t id = film_dap_get_integer(dap, arguments, "frameId", 0);
    const film_dap_handle *found;

    memset(place, 0, sizeof(*place));
    film_dap_copy_moment(place->moment, dap->moment);
    if (id == 0) {
        return true;
    }
    found = film_dap_find_handle(dap, id);
    if (found == NULL || found->kind != FILM_DAP_FRAME) {
        return found != NULL ? film_dap_refuse(dap, "this is no frame") : false;
    }
    *place = *found;
    return true;
}

static bool
evaluate_at(film_dap *dap, const film_dap_handle *place, const char *expression,
            int64_t text_bytes, bool hex)
{
    film_json_writer *question = film_dap_question(dap, "evaluate");
    film_dap_answer answer = {0};
    const film_json_node *value;
    const char *why;
    bool fine;

    film_json_add_text(question, "m", place->moment);
    if (place->frame != 0) {
        film_json_add_integer(question, "frame", (int64_t)place->frame);
    }
    film_json_add_text(question, "expression", expression);
    if (text_bytes > 0) {
        film_json_add_integer(question, "text_bytes", text_bytes);
    }
    fine = film_dap_ask(dap, &answer);
    value = fine ? film_json_get(&answer.json, answer.root, "value") : NULL;
    if (value != NULL) {
        film_dap_put_value(dap, &dap->response, "result", &answer, value, place,
                           expression, hex);
    }
    else if (fine) {
        why = film_dap_text(&answer, answer.root, "unknown");
        why = why != NULL ? why : film_dap_text(&answer, answer.root, "error_text");
        fine = film_dap_refuse(dap, "%s", why == NULL ? "not recorded" : why);
    }
    film_dap_answer_reset(&answer);
    return fine;
}

bool
film_dap_evaluate(film_dap *dap, const film_json_node *arguments)
{
    const char *expression = film_dap_get_text(dap, arguments, "expression");
    const char *context = film_dap_get_text(dap, arguments, "context");
    bool hex = film_dap_get_bool(dap, film_json_get(&dap->request, arguments, "format"),
                                 "hex", false);
    bool console = context != NULL && strcmp(context, "repl") == 0;
    film_dap_handle place;
    bool fine;

    if (expression == NULL) {
        return film_dap_refuse(dap, "'expression' is missing");
    }
    expression += strspn(expression, " \t\r\n");
    if (!find_place(dap, arguments, &place)) {
        return false;
    }
    if (console && film_dap_word(dap, expression, &place, &fine)) {
        return fine;
    }
    return evaluate_at(dap, &place, expression,
                       console ? CONSOLE_TEXT
                       : context != NULL && strcmp(context, "clipboard") == 0
                           ? WHOLE_TEXT
                           : 0,
                       hex);
}

/* --- completions --- */

static bool
is_name(char letter)
{
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '_' ||
           ((unsigned char)letter & 0x80) != 0;
}

static void
put_completion(film_dap *dap, const char *label, const char *begun, size_t length,
               const char *type)
{
    if (label == NULL || strncmp(label, begun, length) != 0) {
        return;
    }
    film_json_open(&dap->response, NULL, '{');
    film_json_add_text(&dap->response, "label", label);
    film_json_add_text(&dap->response, "type", type);
    film_json_close(&dap->response, '}');
}

/* The names in the answer to a question that is written already. */
static void
put_names(film_dap *dap, const char *list, const char *begun, size_t length,
          const char *type)
{
    film_dap_answer answer = {0};

    if (film_dap_ask(dap, &answer)) {
        for (const film_json_node *one = film_json_first(
                 &answer.json, film_json_get(&answer.json, answer.root, list));
             one != NULL; one = film_json_next(&answer.json, one)) {
            put_completion(dap, film_dap_text(&answer, one, "name"), begun, length,
                           type);
        }
    }
    film_dap_answer_reset(&answer);
}

static film_json_writer *
question_at(film_dap *dap, const char *name, const film_dap_handle *place)
{
    film_json_writer *question = film_dap_question(dap, name);

    film_json_add_text(question, "m", place->moment);
    if (place->frame != 0) {
        film_json_add_integer(question, "frame", (int64_t)place->frame);
    }
    return question;
}

bool
film_dap_completions(film_dap *dap, const film_json_node *arguments)
{
    const char *text = film_dap_get_text(dap, arguments, "text");
    int64_t column = film_dap_get_integer(dap, arguments, "column", 0);
    size_t end, start, owner;
    film_dap_handle place;

    if (text == NULL || !find_place(dap, arguments, &place)) {
        return text == NULL ? film_dap_refuse(dap, "'text' is missing") : false;
    }
    column -= dap->client.columns_at_1;
    end = column > 0 && (uint64_t)column < strlen(text) ? (size_t)column : strlen(text);
    for (start = end; start > 0 && is_name(text[start - 1]);) {
        start--;
    }
    film_json_open(&dap->response, "targets", '[');
    if (start > 0 && text[start - 1] == '.') {
        for (owner = start - 1;
             owner > 0 &&
             (is_name(text[owner - 1]) || strchr(".[]'\"", text[owner - 1]) != NULL);) {
            owner--;
        }
        film_json_add_bytes(question_at(dap, "value", &place), "expression",
                            text + owner, start - 1 - owner);
        film_json_add_integer(&dap->question, "limit", 1000);
        put_names(dap, "items", text + start, end - start, "property");
    }
    else {
        question_at(dap, "locals", &place);
        put_names(dap, "locals", text + start, end - start, "variable");
        question_at(dap, "globals", &place);
        put_names(dap, "globals", text + start, end - start, "variable");
        for (size_t i = 0; start == 0 && film_dap_word_named(i) != NULL; i++) {
            put_completion(dap, film_dap_word_named(i), text, end, "keyword");
        }
    }
    film_json_close(&dap->response, ']');
    return true;
}
