/* values.c: variables and what is in them.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dap/handlers.h"

/* A page of items where the client asks for none; below it dicts need no paging. */
#define PAGE 100
#define MOST_PAGE 1000
#define EXPRESSION 512u

/* --- one value --- */

/* An int in base 16; false: it is none, or a long one. */
static bool
put_hex(film_json_writer *out, const char *key, const char *text, const char *type)
{
    char digits[32], *end;
    long long number;

    if (type == NULL || strcmp(type, "int") != 0 || strlen(text) > 18) {
        return false;
    }
    number = strtoll(text, &end, 10);
    if (*end != '\0') {
        return false;
    }
    snprintf(digits, sizeof(digits), "%s0x%llx", number < 0 ? "-" : "",
             number < 0 ? 0ULL - (unsigned long long)number
                        : (unsigned long long)number);
    film_json_add_text(out, key, digits);
    return true;
}

/* What is in an object at the moment: how many items are told, and one more where some
 * are not. */
static int64_t
count_items(film_dap *dap, const char *moment, int64_t object, bool *paged)
{
    film_json_writer *question = film_dap_question(dap, "value");
    film_dap_answer answer = {0};
    const char *form;
    int64_t count = 0;

    film_json_add_text(question, "m", moment);
    film_json_add_integer(question, "object", object);
    film_json_add_integer(question, "limit", 0);
    film_json_add_integer(question, "text_bytes", 1);
    if (film_dap_ask(dap, &answer)) {
        form = film_dap_text(&answer, answer.root, "form");
        count = film_dap_integer(&answer, answer.root, "count", 0) +
                film_dap_is(&answer, answer.root, "cut");
        *paged = form != NULL && (strcmp(form, "sequence") == 0 ||
                                  (strcmp(form, "mapping") == 0 && count > PAGE));
    }
    film_dap_answer_reset(&answer);
    return count;
}

void
film_dap_put_value(film_dap *dap, film_json_writer *out, const char *key,
                   const film_dap_answer *answer, const film_json_node *value,
                   const film_dap_handle *place, const char *expression, bool hex)
{
    const char *text = film_dap_text(answer, value, "text");
    const char *type = film_dap_text(answer, value, "type");
    int64_t object = film_dap_integer(answer, value, "object", 0);
    int64_t reference = 0, count = 0;
    bool paged = false;

    if (text == NULL) {
        text = "(not recorded)";
    }
    if (!hex || !put_hex(out, key, text, type)) {
        film_json_add_text(out, key, text);
    }
    if (type != NULL && type[0] != '\0') {
        film_json_add_text(out, "type", type);
    }
    if (object > 0) {
        count = count_items(dap, place->moment, object, &paged);
    }
    if (count > 0) {
        reference = film_dap_add_handle(dap, FILM_DAP_OBJECT, place->moment,
                                        place->frame, (uint64_t)object, expression);
    }
    else if (film_json_get(&answer->json, value, "tensor") != NULL) {
        reference = film_dap_add_handle(dap, FILM_DAP_TENSOR, place->moment,
                                        place->frame, (uint64_t)object, NULL);
    }
    film_json_add_integer(out, "variablesReference", reference);
    if (reference > 0 && count > 0) {
        film_json_add_integer(out, paged ? "indexedVariables" : "namedVariables",
                              count);
    }
}

void
film_dap_put_variable(film_dap *dap, const char *name, const film_dap_answer *answer,
                      const film_json_node *value, const film_dap_handle *place,
                      const char *expression, const char *kind, bool hex)
{
    film_json_writer *out = &dap->response;

    film_json_open(out, NULL, '{');
    film_json_add_text(out, "name", name);
    film_dap_put_value(dap, out, "value", answer, value, place, expression, hex);
    if (expression != NULL) {
        film_json_add_text(out, "evaluateName", expression);
    }
    film_json_open(out, "presentationHint", '{');
    film_json_add_text(out, "kind", kind);
    film_json_open(out, "attributes", '[');
    film_json_add_text(out, NULL, "readOnly");
    film_json_close(out, ']');
    film_json_close(out, '}');
    film_json_close(out, '}');
}

void
film_dap_put_plain(film_dap *dap, const char *name, const char *text, const char *type)
{
    film_json_writer *out = &dap->response;

    film_json_open(out, NULL, '{');
    film_json_add_text(out, "name", name);
    film_json_add_text(out, "value", text);
    if (type != NULL) {
        film_json_add_text(out, "type", type);
    }
    film_json_add_integer(out, "variablesReference", 0);
    film_json_close(out, '}');
}

/* --- scopes --- */

/* What the event itself tells beside variables: a value returned or an exception. */
static void
put_event_values(film_dap *dap, const film_dap_answer *answer,
                 const film_dap_handle *place, bool hex)
{
    const film_json_node *event = film_json_get(&answer->json, answer->root, "event");
    const film_json_node *value = film_json_get(&answer->json, event, "value");
    const film_json_node *exception =
        film_json_get(&answer->json, answer->root, "exception");
    const char *kind = film_dap_text(answer, answer->root, "kind");
    const char *type = film_dap_text(answer, exception, "type");
    const film_json_node *top = film_json_first(
        &answer->json, film_json_get(&answer->json, answer->root, "stack"));

    if (top == NULL || kind == NULL ||
        (uint64_t)film_dap_integer(answer, top, "frame", 0) != place->frame) {
        return; /* it is not this frame's */
    }
    if (value != NULL && (strcmp(kind, "return") == 0 || strcmp(kind, "yield") == 0)) {
        char name[32];
        snprintf(name, sizeof(name), "(%.20s)", kind);
        film_dap_put_variable(dap, name, answer, value, place, NULL, "virtual", hex);
    }
    if (type != NULL) {
        char text[640];
        film_dap_describe_exception(answer, text, sizeof(text));
        film_dap_put_plain(dap, "(exception)", text, type);
    }
}

static bool
put_scope_variables(film_dap *dap, const film_dap_handle *place, bool hex)
{
    bool globals = place->kind == FILM_DAP_GLOBALS;
    film_json_writer *question = film_dap_question(dap, globals ? "globals" : "moment");
    film_dap_answer answer = {0};
    bool fine;

    film_json_add_text(question, "m", place->moment);
    film_json_add_integer(question, "frame", (int64_t)place->frame);
    if (!globals) {
        film_json_open(question, "with", '[');
        film_json_add_text(question, NULL, "locals");
        film_json_close(question, ']');
        film_json_add_integer(question, "frames", 1);
    }
    fine = film_dap_ask(dap, &answer);
    if (fine && !globals) {
        put_event_values(dap, &answer, place, hex);
    }
    for (const film_json_node *one = film_json_first(
             &answer.json, fine ? film_json_get(&answer.json, answer.root,
                                                globals ? "globals" : "locals")
                                : NULL);
         one != NULL; one = film_json_next(&answer.json, one)) {
        const char *name = film_dap_text(&answer, one, "name");
        if (name != NULL) {
            film_dap_put_variable(dap, name, &answer,
                                  film_json_get(&answer.json, one, "value"), place,
                                  name, "data", hex);
        }
    }
    film_dap_answer_reset(&answer);
    return fine;
}

/* --- objects --- */

/* An item's name, and how it is come by. */
static void
name_item(const film_dap_answer *answer, const film_json_node *item, const char *parent,
          char *name, char *expression)
{
    const char *attribute = film_dap_text(answer, item, "name");
    const char *key =
        film_dap_text(answer, film_json_get(&answer->json, item, "key"), "text");
    bool is_key = film_json_get(&answer->json, item, "key") != NULL;
    int length;

    if (attribute != NULL) {
        snprintf(name, EXPRESSION, "%s", attribute);
        length = parent == NULL
                     ? -1
                     : snprintf(expression, EXPRESSION, "%s.%s", parent, attribute);
    }
    else {
        char number[24];
        snprintf(number, sizeof(number), "%" PRId64,
                 film_dap_integer(answer, item, "index", 0));
        snprintf(name, EXPRESSION, "%s", is_key ? (key == NULL ? "?" : key) : number);
        length = parent == NULL || name[0] == '<'
                     ? -1
                     : snprintf(expression, EXPRESSION, "%s[%s]", parent, name);
    }
    if (length < 0 || length >= (int)EXPRESSION) {
        expression[0] = '\0';
    }
}

/* In the place of the items that are not there. */
static void
put_missing(film_dap *dap, const film_dap_answer *answer)
{
    int64_t more = film_dap_integer(answer, answer->root, "length", 0) -
                   film_dap_integer(answer, answer->root, "count", 0);
    char text[64];

    snprintf(text, sizeof(text), "%" PRId64 " more were not recorded", more);
    film_dap_put_plain(dap, "...", more > 0 ? text : "what it holds is not told whole",
                       NULL);
}

static bool
put_items(film_dap *dap, const film_dap_handle *place, int64_t first, int64_t count,
          bool hex)
{
    film_json_writer *question = film_dap_question(dap, "value");
    film_dap_answer answer = {0};
    bool fine;

    film_json_add_text(question, "m", place->moment);
    film_json_add_integer(question, "object", (int64_t)place->object);
    film_json_add_integer(question, "offset", first);
    film_json_add_integer(question, "limit", count);
    fine = film_dap_ask(dap, &answer);
    for (const film_json_node *item = film_json_first(
             &answer.json,
             fine ? film_json_get(&answer.json, answer.root, "items") : NULL);
         item != NULL; item = film_json_next(&answer.json, item)) {
        char name[EXPRESSION], expression[EXPRESSION];
        name_item(&answer, item, place->expression, name, expression);
        film_dap_put_variable(
            dap, name, &answer, film_json_get(&answer.json, item, "value"), place,
            expression[0] == '\0' ? NULL : expression,
            film_json_get(&answer.json, item, "name") != NULL ? "property" : "data",
            hex);
    }
    if (fine && film_dap_is(&answer, answer.root, "cut") &&
        film_dap_integer(&answer, answer.root, "count", 0) < first + count) {
        put_missing(dap, &answer);
    }
    film_dap_answer_reset(&answer);
    return fine;
}

/* Whether the client wants these at all: it may ask for the indexed ones or for the
 * named ones. */
static bool
is_wanted(film_dap *dap, const film_dap_handle *place, const char *filter)
{
    bool paged = false;

    if (filter == NULL || place->kind != FILM_DAP_OBJECT) {
        return filter == NULL || strcmp(filter, "indexed") != 0;
    }
    (void)count_items(dap, place->moment, (int64_t)place->object, &paged);
    return paged == (strcmp(filter, "indexed") == 0);
}

bool
film_dap_variables(film_dap *dap, const film_json_node *arguments)
{
    const film_dap_handle *found = film_dap_find_handle(
        dap, film_dap_get_integer(dap, arguments, "variablesReference", 0));
    int64_t first = film_dap_get_integer(dap, arguments, "start", 0);
    int64_t count = film_dap_get_integer(dap, arguments, "count", 0);
    bool hex = film_dap_get_bool(dap, film_json_get(&dap->request, arguments, "format"),
                                 "hex", false);
    film_dap_handle place;
    bool fine = true;

    if (found == NULL) {
        return false;
    }
    place = *found; /* handles move when more are made; their texts do not */
    film_json_open(&dap->response, "variables", '[');
    if (place.kind == FILM_DAP_FRAME || place.kind == FILM_DAP_TARGET) {
        fine = film_dap_refuse(dap, "this is no variable");
    }
    else if (!is_wanted(dap, &place, film_dap_get_text(dap, arguments, "filter"))) {
        /* there are none of that sort */
    }
    else if (place.kind == FILM_DAP_OBJECT) {
        fine = put_items(dap, &place, first > 0 ? first : 0,
                         count > 0 && count < MOST_PAGE ? count : MOST_PAGE, hex);
    }
    else if (place.kind == FILM_DAP_TENSOR) {
        fine = film_dap_put_tensor(dap, &place);
    }
    else if (place.kind == FILM_DAP_OPERATION) {
        fine = film_dap_put_operation(dap, &place, hex);
    }
    else {
        fine = put_scope_variables(dap, &place, hex);
    }
    film_json_close(&dap->response, ']');
    return fine;
}
