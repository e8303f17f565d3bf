/* ask.c: requests to film_query, made and sent until they are answered whole.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "step/session.h"

/* A request is closed by this, and opened again to add "next". */
#define END_OF_REQUEST "}"

void
film_json_put(film_buffer *to, const char *text, size_t length)
{
    static const char hex[] = "0123456789abcdef";

    film_buffer_put_byte(to, '"');
    for (size_t i = 0; i < length; i++) {
        uint8_t byte = (uint8_t)text[i];
        if (byte == '"' || byte == '\\') {
            film_buffer_put_byte(to, '\\');
            film_buffer_put_byte(to, byte);
        }
        else if (byte < 0x20 || byte == 0x7f) {
            film_buffer_append(to, "\\u00", 4);
            film_buffer_put_byte(to, (uint8_t)hex[byte >> 4]);
            film_buffer_put_byte(to, (uint8_t)hex[byte & 15]);
        }
        else {
            film_buffer_put_byte(to, byte);
        }
    }
    film_buffer_put_byte(to, '"');
}

static void
copy_scalar(const film_json *json, const film_json_node *node, film_buffer *to)
{
    char number[40];

    switch (node->kind) {
    case FILM_JSON_FALSE:
        film_buffer_append_text(to, "false");
        break;
    case FILM_JSON_TRUE:
        film_buffer_append_text(to, "true");
        break;
    case FILM_JSON_INTEGER:
        snprintf(number, sizeof(number), "%" PRId64, node->integer);
        film_buffer_append_text(to, number);
        break;
    case FILM_JSON_NUMBER:
        snprintf(number, sizeof(number), "%.17g", node->number);
        film_buffer_append_text(to, number);
        break;
    case FILM_JSON_STRING:
        film_json_put(to, (const char *)json->texts.data + node->text, node->length);
        break;
    case FILM_JSON_NULL:
    case FILM_JSON_ARRAY:
    case FILM_JSON_OBJECT:
    default:
        film_buffer_append_text(to, "null");
        break;
    }
}

/* As deep as FILM_JSON_DEPTH at most: film_json_read saw to that. */
void
film_json_copy(const film_json *json, const film_json_node *node, film_buffer *to)
{
    bool is_object = node->kind == FILM_JSON_OBJECT;
    const char *comma = "";

    if (!is_object && node->kind != FILM_JSON_ARRAY) {
        copy_scalar(json, node, to);
        return;
    }
    film_buffer_put_byte(to, is_object ? '{' : '[');
    for (const film_json_node *item = film_json_first(json, node); item != NULL;
         item = film_json_next(json, item)) {
        film_buffer_append_text(to, comma);
        comma = ", ";
        if (is_object) {
            const char *key = film_json_key(json, item);
            film_json_put(to, key, strlen(key));
            film_buffer_append_text(to, ": ");
        }
        film_json_copy(json, item, to);
    }
    film_buffer_put_byte(to, is_object ? '}' : ']');
}

/* --- requests --- */

static void
add_key(film_step *step, const char *key)
{
    film_buffer_append_text(&step->request, ", ");
    film_json_put(&step->request, key, strlen(key));
    film_buffer_append_text(&step->request, ": ");
}

void
film_step_add_text(film_step *step, const char *key, const char *text, size_t length)
{
    add_key(step, key);
    film_json_put(&step->request, text, length);
}

void
film_step_add_number(film_step *step, const char *key, uint64_t number)
{
    char digits[24];

    snprintf(digits, sizeof(digits), "%" PRIu64, number);
    add_key(step, key);
    film_buffer_append_text(&step->request, digits);
}

void
film_step_add_raw(film_step *step, const char *key, const char *json, size_t length)
{
    add_key(step, key);
    film_buffer_append(&step->request, json, length);
}

void
film_step_begin_at(film_step *step, const char *question, const char *at)
{
    film_buffer_clear(&step->request);
    film_buffer_append_text(&step->request, "{\"q\": ");
    film_json_put(&step->request, question, strlen(question));
    if (at[0] != '\0') {
        film_step_add_text(step, "m", at, strlen(at));
    }
}

void
film_step_begin(film_step *step, const char *question)
{
    film_step_begin_at(step, question, step->at);
    /* Named, so that a search that goes on elsewhere still knows which was meant. */
    if (step->frame != 0 || step->innermost != 0) {
        film_step_add_number(step, "frame",
                             step->frame != 0 ? step->frame : step->innermost);
    }
}

/* --- answers --- */

bool
film_step_fail(film_step *step, const char *format, ...)
{
    char message[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    step->failed = true;
    if (step->json) {
        film_buffer_clear(&step->answer);
        film_buffer_append_text(&step->answer,
                                "{\"error\": {\"code\": \"misuse\", \"message\": ");
        film_json_put(&step->answer, message, strlen(message));
        film_buffer_append_text(&step->answer, "}}");
    }
    else {
        film_output_display(&step->out, film_text_of(message));
        film_output_byte(&step->out, '\n');
    }
    return false;
}

/* Sends the request as it is, with where to go on. */
static bool
send(film_step *step, const char *next, uint64_t limit)
{
    film_error error = {FILM_OK, 0, ""};
    size_t length = step->request.length;
    const film_json_node *wrong;

    if (limit > 0) {
        film_step_add_number(step, "limit", limit);
    }
    if (next[0] != '\0') {
        film_step_add_text(step, "next", next, strlen(next));
    }
    film_buffer_append_text(&step->request, END_OF_REQUEST);
    if (step->request.failed ||
        film_query(step->timeline, (const char *)step->request.data,
                   step->request.length, &step->answer) != FILM_OK) {
        step->request.length = length;
        return film_step_fail(step, "memory ran out");
    }
    step->request.length = length;
    if (film_json_read(&step->reply, (const char *)step->answer.data,
                       step->answer.length, &error) != FILM_OK) {
        return film_step_fail(step, "the answer could not be read: %s", error.message);
    }
    wrong = film_json_get(&step->reply, film_json_root(&step->reply), "error");
    if (wrong == NULL) {
        return true;
    }
    step->failed = true;
    if (!step->json) {
        film_output_display(
            &step->out, film_text_of(film_step_text(&step->reply, wrong, "message")));
        film_output_byte(&step->out, '\n');
    }
    return false;
}

/* Whether the search goes on; *next: from where. */
static bool
is_unfinished(film_step *step, char *next, double *progress)
{
    const film_json *reply = &step->reply;
    const film_json_node *root = film_json_root(reply);
    const char *from = film_json_text(reply, film_json_get(reply, root, "next"));

    if (from == NULL) {
        return false;
    }
    snprintf(next, FILM_STEP_NEXT, "%s", from);
    *progress = film_json_number(film_json_get(reply, root, "progress"));
    return true;
}

static bool
go_on(film_step *step, double progress)
{
    if (step->working != NULL && !step->working(step->working_context, progress)) {
        return film_step_fail(step, "interrupted at %.0f %%", progress * 100.0);
    }
    return true;
}

bool
film_step_ask(film_step *step)
{
    char next[FILM_STEP_NEXT] = "";
    double progress = 0.0;

    do {
        if ((next[0] != '\0' && !go_on(step, progress)) || !send(step, next, 0)) {
            return false;
        }
    } while (is_unfinished(step, next, &progress));
    return true;
}

/* The items gathered so far and the rest of the last answer, as one answer. */
static bool
join(film_step *step, const char *list, const film_buffer *items)
{
    film_buffer whole = {0};
    const film_json_node *root = film_json_root(&step->reply);
    bool read;

    film_buffer_append_text(&whole, "{");
    film_json_put(&whole, list, strlen(list));
    film_buffer_append_text(&whole, ": [");
    film_buffer_append(&whole, items->data, items->length);
    film_buffer_append_text(&whole, "]");
    for (const film_json_node *member = film_json_first(&step->reply, root);
         member != NULL; member = film_json_next(&step->reply, member)) {
        const char *key = film_json_key(&step->reply, member);
        if (strcmp(key, list) != 0) {
            film_buffer_append_text(&whole, ", ");
            film_json_put(&whole, key, strlen(key));
            film_buffer_append_text(&whole, ": ");
            film_json_copy(&step->reply, member, &whole);
        }
    }
    film_buffer_append_text(&whole, "}");
    film_buffer_clear(&step->answer);
    film_buffer_append(&step->answer, whole.data, whole.length);
    read = !whole.failed && !step->answer.failed && !items->failed &&
           film_json_read(&step->reply, (const char *)step->answer.data,
                          step->answer.length, NULL) == FILM_OK;
    film_buffer_reset(&whole);
    return read ? true : film_step_fail(step, "memory ran out");
}

bool
film_step_ask_list(film_step *step, const char *list, uint64_t limit)
{
    char next[FILM_STEP_NEXT] = "";
    film_buffer items = {0};
    double progress = 0.0;
    uint64_t count = 0;
    bool more, ok = true;

    do {
        const film_json_node *part;
        if ((next[0] != '\0' && !go_on(step, progress)) ||
            !send(step, next, limit - count)) {
            film_buffer_reset(&items);
            return false;
        }
        part = film_json_get(&step->reply, film_json_root(&step->reply), list);
        for (const film_json_node *item = film_json_first(&step->reply, part);
             item != NULL; item = film_json_next(&step->reply, item)) {
            film_buffer_append_text(&items, count++ > 0 ? ", " : "");
            film_json_copy(&step->reply, item, &items);
        }
        more = is_unfinished(step, next, &progress) && count < limit;
    } while (more);
    ok = join(step, list, &items);
    film_buffer_reset(&items);
    return ok;
}
