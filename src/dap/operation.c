/* operation.c: the op of PyTorch's that one stands at: its name with arguments in the
 * frame's, a scope with what it was called with and what it gave, and what tensors are.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dap/session.h"

/* The event of an answer, if it is an op or its end in this frame: the innermost. */
static const film_json_node *
operation_of(const film_dap_answer *answer, int64_t frame)
{
    const film_json_node *event = film_json_get(&answer->json, answer->root, "event");
    const char *kind = film_dap_text(answer, event, "kind");
    const film_json_node *top = film_json_first(
        &answer->json, film_json_get(&answer->json, answer->root, "stack"));

    return kind != NULL && (strcmp(kind, "op") == 0 || strcmp(kind, "op_end") == 0) &&
                   top != NULL && film_dap_integer(answer, top, "frame", 0) == frame
               ? event
               : NULL;
}

/* --- the frame's name --- */

static size_t
add(char *text, size_t room, size_t length, const char *before, const char *more)
{
    int added = length < room ? snprintf(text + length, room - length, "%s%.60s",
                                         before, more == NULL ? "?" : more)
                              : 0;

    return added > 0 ? length + (size_t)added : length;
}

bool
film_dap_describe_operation(const film_dap_answer *answer, const film_json_node *frame,
                            char *text, size_t room)
{
    const film_json *json = &answer->json;
    const film_json_node *event =
        operation_of(answer, film_dap_integer(answer, frame, "frame", 0));
    const char *name = film_dap_text(answer, frame, "name");
    const char *function = film_dap_text(answer, event, "function");
    bool ends =
        event != NULL && strcmp(film_dap_text(answer, event, "kind"), "op_end") == 0;
    const char *before = "(";
    size_t length;

    if (name == NULL || function == NULL) {
        return false;
    }
    length = (size_t)snprintf(text, room, "%.100s, %s %.100s", name,
                              ends ? "behind" : "at", function);
    if (ends) {
        return true;
    }
    for (const film_json_node *one =
             film_json_first(json, film_json_get(json, event, "args"));
         one != NULL; one = film_json_next(json, one)) {
        length = add(text, room, length, before, film_dap_text(answer, one, "text"));
        before = ", ";
    }
    for (const film_json_node *one =
             film_json_first(json, film_json_get(json, event, "kwargs"));
         one != NULL; one = film_json_next(json, one)) {
        length = add(text, room, length, before, film_json_key(json, one));
        length = add(text, room, length, "=", film_dap_text(answer, one, "text"));
        before = ", ";
    }
    (void)add(text, room, length, before[0] == '(' ? "()" : ")", "");
    return true;
}

bool
film_dap_stands_at_operation(film_dap *dap, const film_dap_handle *frame)
{
    film_json_writer *question = film_dap_question(dap, "moment");
    film_dap_answer answer = {0};
    bool is;

    film_json_add_text(question, "m", frame->moment);
    film_json_add_integer(question, "frames", 1);
    is = film_dap_ask(dap, &answer) &&
         operation_of(&answer, (int64_t)frame->frame) != NULL;
    film_dap_answer_reset(&answer);
    return is;
}

/* --- the scope --- */

static void
put_arguments(film_dap *dap, const film_dap_answer *answer, const film_json_node *event,
              const film_dap_handle *place, bool hex)
{
    const film_json *json = &answer->json;
    const film_json_node *values = film_json_get(json, event, "args");
    char name[32];
    unsigned index = 0;

    for (const film_json_node *one = film_json_first(json, values); one != NULL;
         one = film_json_next(json, one)) {
        snprintf(name, sizeof(name), "argument %u", index++);
        film_dap_put_variable(dap, name, answer, one, place, NULL, "data", hex);
    }
    values = film_json_get(json, event, "kwargs");
    for (const film_json_node *one = film_json_first(json, values); one != NULL;
         one = film_json_next(json, one)) {
        film_dap_put_variable(dap, film_json_key(json, one), answer, one, place, NULL,
                              "data", hex);
    }
}

/* What it gave, and what it changed in place: as they are where it ends. */
static void
put_results(film_dap *dap, const film_dap_answer *answer, const film_dap_handle *place,
            bool hex)
{
    const film_json *json = &answer->json;
    const char *end = film_dap_text(answer, answer->root, "end");
    const char *raised = film_dap_text(answer, answer->root, "raised");
    const char *message = film_dap_text(answer, answer->root, "message");
    film_dap_handle there = *place;
    const char *name = "(result)";
    char text[400];

    if (end == NULL) {
        film_dap_put_plain(dap, "(result)",
                           "it had not come back when the recording ended", NULL);
        return;
    }
    film_dap_copy_moment(there.moment, end);
    if (raised != NULL) {
        snprintf(text, sizeof(text), "%.100s: %.250s", raised,
                 message == NULL ? "" : message);
        film_dap_put_plain(dap, "(exception)", text, raised);
    }
    for (const film_json_node *one =
             film_json_first(json, film_json_get(json, answer->root, "result"));
         one != NULL; one = film_json_next(json, one)) {
        film_dap_put_variable(dap, name, answer, one, &there, NULL, "virtual", hex);
        name = "(changed)";
    }
    snprintf(text, sizeof(text), "%.3f us",
             (double)film_dap_integer(answer, answer->root, "duration_ns", 0) / 1000.0);
    film_dap_put_plain(dap, "(duration)", text, NULL);
}

static void
put_text_of(film_dap *dap, const film_dap_answer *answer, const film_json_node *event,
            const char *key, const char *name)
{
    const char *text = film_dap_text(answer, event, key);

    if (text != NULL) {
        film_dap_put_plain(dap, name, text, NULL);
    }
}

bool
film_dap_put_operation(film_dap *dap, const film_dap_handle *place, bool hex)
{
    film_dap_answer answer = {0};
    const film_json_node *event, *forward;
    char text[400];
    bool fine;

    film_json_add_text(film_dap_question(dap, "op"), "m", place->moment);
    fine = film_dap_ask(dap, &answer);
    if (fine) {
        event = film_json_get(&answer.json, answer.root, "event");
        forward = film_json_get(&answer.json, event, "forward");
        put_text_of(dap, &answer, event, "function", "(function)");
        put_arguments(dap, &answer, event, place, hex);
        put_results(dap, &answer, place, hex);
        put_text_of(dap, &answer, event, "module", "(module)");
        put_text_of(dap, &answer, event, "api", "(by)");
        if (forward != NULL) {
            const char *file = film_dap_text(&answer, forward, "file");
            const char *name = film_dap_text(&answer, forward, "name");
            snprintf(text, sizeof(text), "%.200s:%" PRId64 " %.100s",
                     file == NULL ? "?" : file,
                     film_dap_integer(&answer, forward, "line", 0),
                     name == NULL ? "?" : name);
            film_dap_put_plain(dap, "(of)", text, NULL);
        }
    }
    film_dap_answer_reset(&answer);
    return fine;
}

/* --- tensors --- */

/* A member as a text; of a list its items. */
static void
put_member(film_dap *dap, const film_json *json, const film_json_node *member)
{
    char text[400] = "";
    size_t length = 0;

    if (film_json_is(member, FILM_JSON_ARRAY)) {
        text[length++] = '[';
        for (const film_json_node *one = film_json_first(json, member);
             one != NULL && length + 24 < sizeof(text);
             one = film_json_next(json, one)) {
            length +=
                (size_t)snprintf(text + length, sizeof(text) - length, "%s%" PRId64,
                                 length > 1 ? ", " : "", one->integer);
        }
        text[length++] = ']';
        text[length] = '\0';
    }
    else if (film_json_is(member, FILM_JSON_STRING)) {
        snprintf(text, sizeof(text), "%.390s", film_json_text(json, member));
    }
    else if (film_json_is(member, FILM_JSON_INTEGER)) {
        snprintf(text, sizeof(text), "%" PRId64, member->integer);
    }
    else if (film_json_is(member, FILM_JSON_NUMBER)) {
        snprintf(text, sizeof(text), "%.9g", member->number);
    }
    else {
        snprintf(text, sizeof(text), "%s",
                 film_json_is(member, FILM_JSON_TRUE)    ? "True"
                 : film_json_is(member, FILM_JSON_FALSE) ? "False"
                                                         : "None");
    }
    film_dap_put_plain(dap, film_json_key(json, member), text, NULL);
}

bool
film_dap_put_tensor(film_dap *dap, const film_dap_handle *place)
{
    film_json_writer *question = film_dap_question(dap, "value");
    film_dap_answer answer = {0};
    const film_json_node *tensor, *summary;
    bool fine;

    film_json_add_text(question, "m", place->moment);
    film_json_add_integer(question, "object", (int64_t)place->object);
    film_json_add_integer(question, "limit", 0);
    fine = film_dap_ask(dap, &answer);
    tensor = film_json_get(
        &answer.json, fine ? film_json_get(&answer.json, answer.root, "value") : NULL,
        "tensor");
    summary = film_json_get(&answer.json, tensor, "summary");
    for (const film_json_node *one = film_json_first(&answer.json, tensor); one != NULL;
         one = film_json_next(&answer.json, one)) {
        const char *key = film_json_key(&answer.json, one);
        if (one != summary && strcmp(key, "text") != 0 && strcmp(key, "object") != 0) {
            put_member(dap, &answer.json, one);
        }
    }
    for (const film_json_node *one = film_json_first(&answer.json, summary);
         one != NULL; one = film_json_next(&answer.json, one)) {
        put_member(dap, &answer.json, one);
    }
    film_dap_answer_reset(&answer);
    return fine;
}
