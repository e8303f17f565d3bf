/* lifecycle.c: how a session begins and ends.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "dap/handlers.h"
#include "dap/movement.h"

#define MOST_ROOTS 32u

/* --- initialize --- */

static void
put_filter(film_json_writer *out, const char *filter, const char *label,
           const char *description, bool on)
{
    film_json_open(out, NULL, '{');
    film_json_add_text(out, "filter", filter);
    film_json_add_text(out, "label", label);
    film_json_add_text(out, "description", description);
    film_json_add_bool(out, "default", on);
    film_json_add_bool(out, "supportsCondition", true);
    film_json_add_text(out, "conditionDescription", "an expression, such as x > 3");
    film_json_close(out, '}');
}

bool
film_dap_initialize(film_dap *dap, const film_json_node *arguments)
{
    static const char *const can[] = {"supportsConfigurationDoneRequest",
                                      "supportsFunctionBreakpoints",
                                      "supportsConditionalBreakpoints",
                                      "supportsHitConditionalBreakpoints",
                                      "supportsEvaluateForHovers",
                                      "supportsStepBack",
                                      "supportsRestartFrame",
                                      "supportsGotoTargetsRequest",
                                      "supportsCompletionsRequest",
                                      "supportsRestartRequest",
                                      "supportsValueFormattingOptions",
                                      "supportsExceptionInfoRequest",
                                      "supportsDelayedStackTraceLoading",
                                      "supportsLoadedSourcesRequest",
                                      "supportsLogPoints",
                                      "supportsTerminateRequest",
                                      "supportsDataBreakpoints",
                                      "supportsCancelRequest",
                                      "supportsBreakpointLocationsRequest",
                                      "supportsClipboardContext",
                                      "supportsSteppingGranularity",
                                      "supportsExceptionFilterOptions",
                                      "supportsSingleThreadExecutionRequests"};
    film_json_writer *out = &dap->response;

    if (dap->initialized) {
        return film_dap_refuse(dap, "the session is initialized already");
    }
    dap->initialized = true;
    dap->client.lines_at_1 = film_dap_get_bool(dap, arguments, "linesStartAt1", true);
    dap->client.columns_at_1 =
        film_dap_get_bool(dap, arguments, "columnsStartAt1", true);
    dap->client.progress =
        film_dap_get_bool(dap, arguments, "supportsProgressReporting", false);
    for (size_t i = 0; i < sizeof(can) / sizeof(can[0]); i++) {
        film_json_add_bool(out, can[i], true);
    }
    film_json_open(out, "exceptionBreakpointFilters", '[');
    put_filter(out, "raised", "Raised Exceptions",
               "Stops where any exception is raised", false);
    put_filter(out, "uncaught", "Uncaught Exceptions",
               "Stops where an exception is raised that nothing catches", true);
    film_json_close(out, ']');
    film_json_open(out, "completionTriggerCharacters", '[');
    film_json_add_text(out, NULL, ".");
    film_json_close(out, ']');
    return true;
}

/* --- launch --- */

/* The same however much of it is right. */
static bool
is_token(const char *given, const char *wanted)
{
    size_t length = strlen(wanted), other = given == NULL ? 0 : strlen(given);
    unsigned char differs = length != other;

    for (size_t i = 0; i < length; i++) {
        differs |= (unsigned char)(wanted[i] ^ (i < other ? given[i] : 0));
    }
    return differs == 0;
}

static bool
take_roots(film_dap *dap, const film_json_node *arguments)
{
    const film_json_node *list = film_json_get(&dap->request, arguments, "sourceRoots");

    if (!film_json_is(list, FILM_JSON_ARRAY)) {
        return true;
    }
    dap->roots = film_alloc_array(MOST_ROOTS, sizeof(*dap->roots));
    for (const film_json_node *one = film_json_first(&dap->request, list);
         one != NULL && dap->roots != NULL && dap->root_count < MOST_ROOTS;
         one = film_json_next(&dap->request, one)) {
        const char *text = film_json_text(&dap->request, one);
        char *copy = text == NULL ? NULL : film_alloc(strlen(text) + 1);
        if (copy != NULL) {
            memcpy(copy, text, strlen(text));
            dap->roots[dap->root_count++] = copy;
        }
    }
    return dap->roots != NULL || film_dap_refuse(dap, "memory ran out");
}

/* The recording's path, seen from "cwd" where one is given. */
static bool
path_of_film(film_dap *dap, const film_json_node *arguments, char *path, size_t room)
{
    const char *film = film_dap_get_text(dap, arguments, "film");
    const char *folder = film_dap_get_text(dap, arguments, "cwd");
    int length;

    film = film != NULL ? film : dap->options.film;
    if (film == NULL) {
        return film_dap_refuse(
            dap, "which recording? 'film' of the launch configuration is missing");
    }
    length = film[0] == '/' || folder == NULL
                 ? snprintf(path, room, "%s", film)
                 : snprintf(path, room, "%s/%s", folder, film);
    return length >= 0 && (size_t)length < room
               ? true
               : film_dap_refuse(dap, "the name of the recording is too long");
}

bool
film_dap_launch(film_dap *dap, const film_json_node *arguments)
{
    const char *at = film_dap_get_text(dap, arguments, "at");
    char path[4096];

    if (dap->options.token != NULL && !dap->admitted) {
        if (!is_token(film_dap_get_text(dap, arguments, "token"), dap->options.token)) {
            dap->over = true;
            return film_dap_refuse(
                dap, "'token' of the launch configuration is not the one that "
                     "'filmstrip dap --port' printed");
        }
        dap->admitted = true;
    }
    if (dap->timeline != NULL) {
        return film_dap_refuse(dap, "a recording is open already");
    }
    if (!path_of_film(dap, arguments, path, sizeof(path)) ||
        !film_dap_open_film(dap, path)) {
        return false;
    }
    if (!take_roots(dap, arguments)) {
        film_dap_close_film(dap);
        return false;
    }
    dap->stop_on_entry = film_dap_get_bool(dap, arguments, "stopOnEntry", true);
    film_dap_copy_moment(dap->entry, at == NULL ? "start" : at);
    film_dap_respond(dap);
    (void)film_dap_event(dap, "initialized");
    film_dap_send_event(dap);
    return true;
}

/* --- the first stop --- */

/* Where launch said to begin: start, end, or a moment. */
static bool
enter(film_dap *dap)
{
    char with[64], moment[FILM_DAP_MOMENT];
    const char *colon = strchr(dap->entry, ':');

    if (strcmp(dap->entry, "end") == 0) {
        return film_dap_jump(dap, dap->first, "end", NULL, "entry", "End");
    }
    if (strcmp(dap->entry, "start") == 0) {
        return film_dap_jump(dap, dap->first, "start", NULL, "entry", "Start");
    }
    film_dap_copy_moment(moment, dap->entry);
    snprintf(with, sizeof(with), "\"event\": %llu",
             colon == NULL ? 0ULL : strtoull(colon + 1, NULL, 10));
    return film_dap_jump(dap, moment, "event", with, "entry", "Entry");
}

bool
film_dap_configuration_done(film_dap *dap, const film_json_node *arguments)
{
    (void)arguments;
    if (dap->configured) {
        return film_dap_refuse(dap, "the session is configured already");
    }
    dap->configured = true;
    film_dap_respond(dap);
    if (!dap->stop_on_entry) {
        film_dap_run_on(dap, dap->first, false, true);
    }
    else if (!enter(dap)) { /* a moment that is none: say so, begin at the start */
        film_dap_say(dap, "important", dap->why);
        return film_dap_jump(dap, dap->first, "start", NULL, "entry", "Start");
    }
    return true;
}

/* --- the end --- */

bool
film_dap_disconnect(film_dap *dap, const film_json_node *arguments)
{
    (void)arguments;
    dap->over = true;
    return true;
}

bool
film_dap_terminate(film_dap *dap, const film_json_node *arguments)
{
    (void)arguments;
    film_dap_respond(dap);
    (void)film_dap_event(dap, "terminated");
    film_dap_send_event(dap);
    return true;
}

/* What it meant was seen to while the search ran (session.c). */
bool
film_dap_cancel(film_dap *dap, const film_json_node *arguments)
{
    (void)dap;
    (void)arguments;
    return true;
}

/* filmstrip/query: anything of film_query, for what the protocol has no words for. */
bool
film_dap_query_request(film_dap *dap, const film_json_node *arguments)
{
    static const char *const texts[] = {"m",          "how",       "variable",
                                        "expression", "condition", "file",
                                        "function",   "next",      "where"};
    static const char *const numbers[] = {"frame",  "frames", "object",
                                          "offset", "limit",  "depth",
                                          "line",   "event",  "time_ns"};
    const char *name = film_dap_get_text(dap, arguments, "q");
    film_dap_answer answer = {0};
    film_json_writer *question;
    bool fine;

    if (name == NULL) {
        return film_dap_refuse(dap, "'q' is missing");
    }
    question = film_dap_question(dap, name);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const char *text = film_dap_get_text(dap, arguments, texts[i]);
        if (text != NULL) {
            film_json_add_text(question, texts[i], text);
        }
        else if (i == 0) {
            film_json_add_text(question, "m", dap->moment);
        }
    }
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        int64_t number = film_dap_get_integer(dap, arguments, numbers[i], -1);
        if (number >= 0) {
            film_json_add_integer(question, numbers[i], number);
        }
    }
    fine = film_dap_ask(dap, &answer);
    if (fine) {
        film_json_add_raw(&dap->response, "answer", answer.bytes.data,
                          answer.bytes.length);
    }
    film_dap_answer_reset(&answer);
    return fine;
}
