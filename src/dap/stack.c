/* stack.c: threads, stacks, scopes, exceptions and sources at the session's moment.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dap/handlers.h"

#define MOST_FRAMES 100000u

/* --- threads --- */

static void
put_thread(film_dap *dap, const film_dap_answer *answer, const film_json_node *one)
{
    film_json_writer *out = &dap->response;
    const char *name = film_dap_text(answer, one, "name");
    const char *kind = film_dap_text(answer, one, "kind");
    const char *task =
        film_dap_text(answer, film_json_get(&answer->json, one, "task"), "name");
    char text[256];

    snprintf(text, sizeof(text), "%.100s%s%.100s%s",
             name == NULL || name[0] == '\0' ? "thread" : name,
             task == NULL ? "" : ", task ", task == NULL ? "" : task,
             kind != NULL && strcmp(kind, "thread_end") == 0 ? " (ended)" : "");
    film_json_open(out, NULL, '{');
    film_json_add_integer(out, "id", film_dap_integer(answer, one, "id", 0));
    film_json_add_text(out, "name", text);
    film_json_close(out, '}');
}

/* Those that have begun. */
bool
film_dap_threads(film_dap *dap, const film_json_node *arguments)
{
    film_json_writer *question = film_dap_question(dap, "threads");
    film_dap_answer answer = {0};
    bool fine;

    (void)arguments;
    film_json_add_text(question, "m", dap->moment);
    film_json_add_integer(question, "frames", 0);
    fine = film_dap_ask(dap, &answer);
    film_json_open(&dap->response, "threads", '[');
    for (const film_json_node *one = film_json_first(
             &answer.json,
             fine ? film_json_get(&answer.json, answer.root, "threads") : NULL);
         one != NULL; one = film_json_next(&answer.json, one)) {
        if (film_dap_text(&answer, one, "m") != NULL) {
            put_thread(dap, &answer, one);
        }
    }
    film_json_close(&dap->response, ']');
    film_dap_answer_reset(&answer);
    return fine;
}

/* --- frames --- */

static void
put_frame(film_dap *dap, const film_dap_answer *answer, const film_json_node *frame,
          const char *moment)
{
    film_json_writer *out = &dap->response;
    const char *name = film_dap_text(answer, frame, "name");
    char at_operation[400];
    size_t source = film_dap_source_of(dap, film_dap_text(answer, frame, "file"));
    int64_t line = film_dap_integer(answer, frame, "line", 0);

    film_json_open(out, NULL, '{');
    film_json_add_integer(
        out, "id",
        film_dap_add_handle(dap, FILM_DAP_FRAME, moment,
                            (uint64_t)film_dap_integer(answer, frame, "frame", 0), 0,
                            NULL));
    if (film_dap_describe_operation(answer, frame, at_operation,
                                    sizeof(at_operation))) {
        name = at_operation;
    }
    film_json_add_text(out, "name", name == NULL ? "(lost with a damaged part)" : name);
    film_json_add_integer(out, "line",
                          source == SIZE_MAX ? 0 : film_dap_line(dap, line));
    film_json_add_integer(out, "column",
                          source == SIZE_MAX ? 0 : dap->client.columns_at_1);
    if (source != SIZE_MAX) {
        film_dap_put_source(dap, out, "source", source);
    }
    else {
        film_json_add_text(out, "presentationHint", "label");
    }
    film_json_add_bool(out, "canRestart", !film_dap_is(answer, frame, "adopted"));
    film_json_close(out, '}');
}

bool
film_dap_stack_trace(film_dap *dap, const film_json_node *arguments)
{
    int64_t first = film_dap_get_integer(dap, arguments, "startFrame", 0);
    int64_t levels = film_dap_get_integer(dap, arguments, "levels", 0);
    film_dap_answer answer = {0};
    film_json_writer *question;
    char moment[FILM_DAP_MOMENT];
    int64_t index = 0;
    bool fine;

    if (!film_dap_thread_moment(
            dap, film_dap_get_integer(dap, arguments, "threadId", 0), moment)) {
        return false;
    }
    first = first > 0 && first < MOST_FRAMES ? first : 0;
    levels = levels > 0 && levels < MOST_FRAMES ? levels : MOST_FRAMES;
    question = film_dap_question(dap, "moment");
    film_json_add_text(question, "m", moment);
    film_json_add_integer(question, "frames", first + levels);
    fine = film_dap_ask(dap, &answer);
    film_json_open(&dap->response, "stackFrames", '[');
    for (const film_json_node *frame = film_json_first(
             &answer.json,
             fine ? film_json_get(&answer.json, answer.root, "stack") : NULL);
         frame != NULL; frame = film_json_next(&answer.json, frame)) {
        if (index++ >= first) {
            put_frame(dap, &answer, frame, moment);
        }
    }
    film_json_close(&dap->response, ']');
    if (fine) {
        film_json_add_integer(&dap->response, "totalFrames",
                              film_dap_integer(&answer, answer.root, "depth", 0));
    }
    film_dap_answer_reset(&answer);
    return fine;
}

static void
put_scope(film_dap *dap, const film_dap_handle *frame, film_dap_handle_kind kind,
          const char *name, const char *hint)
{
    film_json_writer *out = &dap->response;

    film_json_open(out, NULL, '{');
    film_json_add_text(out, "name", name);
    if (hint != NULL) {
        film_json_add_text(out, "presentationHint", hint);
    }
    film_json_add_integer(
        out, "variablesReference",
        film_dap_add_handle(dap, kind, frame->moment, frame->frame, 0, NULL));
    film_json_add_bool(out, "expensive", kind == FILM_DAP_GLOBALS);
    film_json_close(out, '}');
}

bool
film_dap_scopes(film_dap *dap, const film_json_node *arguments)
{
    const film_dap_handle *found =
        film_dap_find_handle(dap, film_dap_get_integer(dap, arguments, "frameId", 0));
    film_dap_handle frame;

    if (found == NULL || found->kind != FILM_DAP_FRAME) {
        return found != NULL ? film_dap_refuse(dap, "this is no frame") : false;
    }
    frame = *found; /* handles move when more are made */
    film_json_open(&dap->response, "scopes", '[');
    put_scope(dap, &frame, FILM_DAP_LOCALS, "Locals", "locals");
    if (film_dap_stands_at_operation(dap, &frame)) {
        put_scope(dap, &frame, FILM_DAP_OPERATION, "Operation", NULL);
    }
    put_scope(dap, &frame, FILM_DAP_GLOBALS, "Globals", NULL);
    film_json_close(&dap->response, ']');
    return true;
}

/* --- exceptions --- */

/* Who would have stopped there: what nobody caught, what only unrecorded code did, and
 * all the others. */
static const char *
break_mode(const char *fate)
{
    return fate != NULL && strcmp(fate, "uncaught") == 0 ? "unhandled"
           : fate != NULL && strcmp(fate, "left") == 0   ? "userUnhandled"
                                                         : "always";
}

bool
film_dap_exception_info(film_dap *dap, const film_json_node *arguments)
{
    film_json_writer *out = &dap->response, *question;
    film_dap_answer answer = {0};
    const film_json_node *exception;
    const char *type, *message;
    char moment[FILM_DAP_MOMENT], text[640];
    bool fine;

    if (!film_dap_thread_moment(
            dap, film_dap_get_integer(dap, arguments, "threadId", 0), moment)) {
        return false;
    }
    question = film_dap_question(dap, "exception");
    film_json_add_text(question, "m", moment);
    fine = film_dap_ask(dap, &answer);
    exception = fine ? film_json_get(&answer.json, answer.root, "exception") : NULL;
    type = film_dap_text(&answer, exception, "type");
    if (fine && type == NULL) {
        fine = film_dap_refuse(dap, "no exception passes at this moment");
    }
    if (fine) {
        message = film_dap_text(&answer, exception, "message");
        film_dap_describe_exception(&answer, text, sizeof(text));
        film_json_add_text(out, "exceptionId", type);
        film_json_add_text(out, "description", text);
        film_json_add_text(out, "breakMode",
                           break_mode(film_dap_text(&answer, answer.root, "fate")));
        film_json_open(out, "details", '{');
        if (message != NULL) { /* what is not recorded is not said to be empty */
            film_json_add_text(out, "message", message);
        }
        film_json_add_text(out, "typeName", type);
        film_json_close(out, '}');
    }
    film_dap_answer_reset(&answer);
    return fine;
}

/* --- sources --- */

bool
film_dap_source_text(film_dap *dap, const film_json_node *arguments)
{
    const film_json_node *named = film_json_get(&dap->request, arguments, "source");
    int64_t reference = film_dap_get_integer(dap, arguments, "sourceReference", 0);
    film_dap_answer answer = {0};
    const char *text;
    size_t index = (size_t)reference - 1;
    bool fine;

    if ((reference <= 0 || (uint64_t)reference > dap->source_count) &&
        !film_dap_find_source(dap, named, &index)) {
        return false;
    }
    film_json_add_text(film_dap_question(dap, "source"), "file",
                       dap->sources[index].file);
    fine = film_dap_ask(dap, &answer);
    text = fine ? film_dap_text(&answer, answer.root, "text") : NULL;
    if (fine && text == NULL) {
        fine = film_dap_refuse(dap, "its text cannot be shown");
    }
    if (fine && text != NULL) {
        film_json_add_key(&dap->response, "content");
        film_json_put_text(&dap->response.out, text, strlen(text));
        if (film_dap_is(&answer, answer.root, "cut")) {
            dap->response.out.length -= dap->response.out.length > 0;
            film_buffer_append_text(&dap->response.out,
                                    "\\n# (the recording holds no more of it)\"");
        }
        film_json_add_text(&dap->response, "mimeType", "text/x-python");
    }
    film_dap_answer_reset(&answer);
    return fine;
}

bool
film_dap_loaded_sources(film_dap *dap, const film_json_node *arguments)
{
    (void)arguments;
    film_json_open(&dap->response, "sources", '[');
    for (size_t i = 0; i < dap->source_count; i++) {
        film_dap_put_source(dap, &dap->response, NULL, i);
    }
    film_json_close(&dap->response, ']');
    return true;
}
