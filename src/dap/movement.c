/* movement.c: continue, steps and their mirror images.
 * The response goes out first, then the search runs, then the client is told where it
 * stands. The ends of a recording are stops like any other.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dap/movement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dap/handlers.h"
#include "dap/search.h"

/* So many events without a frame at most lie at the end of a thread. */
#define MOST_BARE 16u

/* --- telling --- */

void
film_dap_tell_stopped(film_dap *dap, const char *reason, const char *description,
                      const char *text, const film_dap_point *point)
{
    film_json_writer *out = film_dap_event(dap, "stopped");

    film_json_add_text(out, "reason", reason);
    film_json_add_text(out, "description", description);
    if (text != NULL) {
        film_json_add_text(out, "text", text);
    }
    film_json_add_integer(out, "threadId", dap->thread);
    film_json_add_bool(out, "allThreadsStopped", true);
    if (point != NULL) {
        film_json_open(out, "hitBreakpointIds", '[');
        film_json_add_integer(out, NULL, point->id);
        film_json_close(out, ']');
    }
    film_dap_send_event(dap);
}

void
film_dap_tell_continued(film_dap *dap)
{
    film_json_writer *out;

    if (strncmp(dap->command, "filmstrip/", 10) != 0 &&
        strcmp(dap->command, "evaluate") != 0) {
        return;
    }
    out = film_dap_event(dap, "continued");
    film_json_add_integer(out, "threadId", dap->thread);
    film_json_add_bool(out, "allThreadsContinued", true);
    film_dap_send_event(dap);
}

bool
film_dap_describe_exception(const film_dap_answer *answer, char *text, size_t room)
{
    const film_json_node *exception =
        film_json_get(&answer->json, answer->root, "exception");
    const char *type = film_dap_text(answer, exception, "type");
    const char *message = film_dap_text(answer, exception, "message");
    bool says = message != NULL && message[0] != '\0';

    if (type == NULL) {
        return false;
    }
    snprintf(text, room, "%.100s%s%.500s", type, says ? ": " : "", says ? message : "");
    return true;
}

/* "total = 3" */
static void
describe_write(const film_dap_answer *answer, char *text, size_t room)
{
    const film_json_node *event = film_json_get(&answer->json, answer->root, "event");
    const char *name = film_dap_text(answer, event, "name");
    const char *value =
        film_dap_text(answer, film_json_get(&answer->json, event, "value"), "text");
    const char *owner =
        film_dap_text(answer, film_json_get(&answer->json, event, "owner"), "text");
    const char *key =
        film_dap_text(answer, film_json_get(&answer->json, event, "key"), "text");

    if (owner != NULL && key != NULL) {
        snprintf(text, room, "%.80s[%.60s] = %.100s", owner, key,
                 value == NULL ? "(deleted)" : value);
    }
    else {
        snprintf(text, room, "%.80s%s%.60s = %.100s", owner == NULL ? "" : owner,
                 owner == NULL ? "" : ".", name == NULL ? "it" : name,
                 value == NULL ? "(deleted)" : value);
    }
}

static void
tell_hit(film_dap *dap, const film_dap_answer *answer, const film_dap_point *point)
{
    char text[320], description[384];

    switch (point == NULL ? FILM_DAP_LINE : point->group) {
    case FILM_DAP_FUNCTION:
        film_dap_tell_stopped(dap, "function breakpoint",
                              "Paused on function breakpoint", NULL, point);
        return;
    case FILM_DAP_EXCEPTION:
        if (!film_dap_describe_exception(answer, text, sizeof(text))) {
            snprintf(text, sizeof(text), "exception");
        }
        film_dap_tell_stopped(dap, "exception", "Paused on exception", text, point);
        return;
    case FILM_DAP_DATA:
        describe_write(answer, text, sizeof(text));
        snprintf(description, sizeof(description), "Paused on write: %s", text);
        film_dap_tell_stopped(dap, "data breakpoint", description, text, point);
        return;
    case FILM_DAP_LINE:
    default:
        film_dap_tell_stopped(dap, "breakpoint", "Paused on breakpoint", NULL, point);
    }
}

/* --- ends --- */

/* Away from events that no frame belongs to: there is nothing to be seen there. */
static bool
leave_bare(film_dap *dap, bool back, film_dap_answer *answer)
{
    for (unsigned i = 0;
         i < MOST_BARE && film_dap_integer(answer, answer->root, "depth", 0) == 0;
         i++) {
        const char *moment = film_dap_text(answer, answer->root, "m");
        film_json_writer *question = film_dap_question(dap, "move");
        film_json_add_text(question, "m", moment == NULL ? dap->moment : moment);
        film_json_add_text(question, "how", back ? "line" : "back");
        /* A thread may end long after the program has. */
        film_json_add_bool(question, "across", !back);
        film_json_add_integer(question, "frames", 1);
        if (!film_dap_ask(dap, answer)) {
            return false;
        }
    }
    return true;
}

void
film_dap_tell_end(film_dap *dap, bool back, film_dap_answer *answer)
{
    film_ending ending = film_reader_info(dap->reader)->ending;
    char text[320], description[384];

    if (leave_bare(dap, back, answer)) {
        film_dap_stand(dap, answer);
    }
    if (back) {
        film_dap_tell_stopped(dap, "entry", "Start of the recording", NULL, NULL);
        return;
    }
    if (answer->root != NULL &&
        film_dap_describe_exception(answer, text, sizeof(text))) {
        snprintf(description, sizeof(description), "End of the recording: %s", text);
    }
    else {
        snprintf(description, sizeof(description), "End of the recording%s",
                 ending == FILM_ENDING_DIED   ? ": the program died here"
                 : ending == FILM_ENDING_LIVE ? " so far: it is still being written"
                                              : "");
    }
    film_dap_tell_stopped(dap, "end of recording", description, NULL, NULL);
}

/* --- searches --- */

/* After a response: what went wrong is said, and the client is told that it still
 * stands where it stood. */
static void
tell_failure(film_dap *dap)
{
    char why[sizeof(dap->why)];

    snprintf(why, sizeof(why), "%s", dap->why);
    film_dap_say(dap, "important", why);
    film_dap_tell_stopped(dap, "pause", why, NULL, NULL);
}

/* Whether the search was stopped by the client; then it is told. */
static bool
was_interrupted(film_dap *dap, film_dap_interrupt interrupt,
                const film_dap_answer *answer)
{
    if (interrupt == FILM_DAP_PAUSED) {
        dap->paused = true;
        film_dap_stand(dap, answer);
        film_dap_tell_stopped(dap, "pause", "Paused", NULL, NULL);
    }
    else if (interrupt == FILM_DAP_CANCELLED) {
        film_dap_tell_stopped(dap, "pause", "Cancelled", NULL, NULL);
    }
    return interrupt != FILM_DAP_GO_ON;
}

const char *
film_dap_reason(const film_dap_answer *answer)
{
    const char *reason = film_dap_text(
        answer, film_json_get(&answer->json, answer->root, "stopped"), "reason");

    return reason == NULL ? "arrived" : reason;
}

static const film_dap_point *
point_of(const film_dap *dap, const film_dap_answer *answer)
{
    return film_dap_active_point(
        dap,
        film_dap_integer(answer, film_json_get(&answer->json, answer->root, "stopped"),
                         "breakpoint", -1));
}

void
film_dap_run_on(film_dap *dap, const char *moment, bool back, bool across)
{
    film_dap_answer answer = {0};
    film_dap_interrupt interrupt;
    film_json_writer *question = film_dap_question(dap, "move");
    const char *reason;

    film_json_add_text(question, "m", moment);
    film_json_add_text(question, "how", back ? "reverse-continue" : "continue");
    film_json_add_bool(question, "across", across);
    film_json_add_integer(question, "frames", 1);
    film_dap_put_points(dap, question);
    if (!film_dap_search(dap, back ? "Searching back" : "Searching", &answer,
                         &interrupt)) {
        tell_failure(dap);
    }
    else if (!was_interrupted(dap, interrupt, &answer)) {
        reason = film_dap_reason(&answer);
        if (strcmp(reason, "breakpoint") == 0) {
            film_dap_stand(dap, &answer);
            tell_hit(dap, &answer, point_of(dap, &answer));
        }
        else {
            film_dap_tell_end(dap, back, &answer);
        }
    }
    film_dap_answer_reset(&answer);
}

/* A breakpoint on the way of a step stops it. True: told. */
static bool
stop_on_the_way(film_dap *dap, const char *from, const char *to, bool back)
{
    film_dap_answer answer = {0};
    film_dap_interrupt interrupt;
    film_json_writer *question;
    const char *colon = strchr(to, ':');
    uint64_t event = colon == NULL ? 0 : strtoull(colon + 1, NULL, 10);
    bool told = false;

    if (film_dap_active_points(dap) == 0 || atoi(from) != atoi(to) ||
        (back && event == 0)) {
        return false;
    }
    question = film_dap_question(dap, "move");
    film_json_add_text(question, "m", from);
    film_json_add_text(question, "how", back ? "reverse-continue" : "continue");
    film_json_add_integer(question, "until", (int64_t)(back ? event - 1 : event + 1));
    film_json_add_integer(question, "frames", 1);
    film_dap_put_points(dap, question);
    if (film_dap_search(dap, "Searching", &answer, &interrupt)) {
        told = was_interrupted(dap, interrupt, &answer);
        if (!told && strcmp(film_dap_reason(&answer), "breakpoint") == 0) {
            film_dap_stand(dap, &answer);
            tell_hit(dap, &answer, point_of(dap, &answer));
            told = true;
        }
    }
    film_dap_answer_reset(&answer);
    return told;
}

/* The serial of the innermost frame: a step that is done in pieces needs to know whose
 * it is. 0: none. */
static int64_t
innermost(film_dap *dap, const char *moment)
{
    film_json_writer *question = film_dap_question(dap, "moment");
    film_dap_answer answer = {0};
    int64_t frame = 0;

    film_json_add_text(question, "m", moment);
    film_json_add_integer(question, "frames", 1);
    if (film_dap_ask(dap, &answer)) {
        frame = film_dap_integer(
            &answer,
            film_json_first(&answer.json,
                            film_json_get(&answer.json, answer.root, "stack")),
            "frame", 0);
    }
    film_dap_answer_reset(&answer);
    return frame;
}

static void
step(film_dap *dap, const char *from, const char *how, bool back)
{
    film_dap_answer answer = {0};
    film_dap_interrupt interrupt;
    film_json_writer *question;
    int64_t frame = innermost(dap, from);
    const char *to, *reason;

    question = film_dap_question(dap, "move");
    film_json_add_text(question, "m", from);
    film_json_add_text(question, "how", how);
    film_json_add_integer(question, "frames", 1);
    if (frame > 0) {
        film_json_add_integer(question, "frame", frame);
    }
    if (!film_dap_search(dap, "Stepping", &answer, &interrupt)) {
        tell_failure(dap);
    }
    else if (!was_interrupted(dap, interrupt, &answer)) {
        reason = film_dap_reason(&answer);
        to = film_dap_text(&answer, answer.root, "m");
        if (to != NULL && stop_on_the_way(dap, from, to, back)) {
            /* told */
        }
        else if (strcmp(reason, "arrived") != 0) {
            film_dap_tell_end(dap, back, &answer);
        }
        else {
            film_dap_stand(dap, &answer);
            film_dap_tell_stopped(
                dap, "step", back ? "Paused after a step back" : "Paused after a step",
                NULL, NULL);
        }
    }
    film_dap_answer_reset(&answer);
}

/* --- the requests --- */

static bool
move_on(film_dap *dap, const film_json_node *arguments, bool back)
{
    bool single = film_dap_get_bool(dap, arguments, "singleThread", false);
    char moment[FILM_DAP_MOMENT];

    if (!film_dap_refresh(dap) ||
        !film_dap_thread_moment(
            dap, film_dap_get_integer(dap, arguments, "threadId", 0), moment)) {
        return false;
    }
    if (!back) {
        film_json_add_bool(&dap->response, "allThreadsContinued", true);
    }
    film_dap_respond(dap);
    film_dap_run_on(dap, moment, back, !single);
    return true;
}

bool
film_dap_continue(film_dap *dap, const film_json_node *arguments)
{
    return move_on(dap, arguments, false);
}

bool
film_dap_reverse_continue(film_dap *dap, const film_json_node *arguments)
{
    return move_on(dap, arguments, true);
}

/* By instructions one goes over ops where the recording has some, `next` over those of the
 * frame; else over events, the smallest step there is. */
static const char *
instruction_of(film_dap *dap, const char *how, bool back)
{
    if (!film_timeline_has_ops(dap->timeline)) {
        return back ? "back" : "step";
    }
    if (strcmp(how, "next") == 0) {
        return "next-op";
    }
    return strcmp(how, "back-next") == 0 ? "back-next-op" : back ? "back-op" : "op";
}

static bool
step_by(film_dap *dap, const film_json_node *arguments, const char *how, bool back)
{
    const char *granularity = film_dap_get_text(dap, arguments, "granularity");
    char moment[FILM_DAP_MOMENT];

    if (!film_dap_refresh(dap) ||
        !film_dap_thread_moment(
            dap, film_dap_get_integer(dap, arguments, "threadId", 0), moment)) {
        return false;
    }
    if (granularity != NULL && strcmp(granularity, "instruction") == 0) {
        how = instruction_of(dap, how, back);
    }
    film_dap_respond(dap);
    film_dap_tell_continued(dap);
    step(dap, moment, how, back);
    return true;
}

bool
film_dap_next(film_dap *dap, const film_json_node *arguments)
{
    return step_by(dap, arguments, "next", false);
}

bool
film_dap_step_in(film_dap *dap, const film_json_node *arguments)
{
    return step_by(dap, arguments, "line", false);
}

bool
film_dap_step_out(film_dap *dap, const film_json_node *arguments)
{
    return step_by(dap, arguments, "out", false);
}

/* The protocol has one step back: the previous line of this frame or its caller. */
bool
film_dap_step_back(film_dap *dap, const film_json_node *arguments)
{
    return step_by(dap, arguments, "back-next", true);
}

bool
film_dap_reverse_step_in(film_dap *dap, const film_json_node *arguments)
{
    return step_by(dap, arguments, "back-line", true);
}

bool
film_dap_reverse_step_out(film_dap *dap, const film_json_node *arguments)
{
    return step_by(dap, arguments, "back-out", true);
}

/* One that stops a search was seen to by it; else it stands anyway. */
bool
film_dap_pause(film_dap *dap, const film_json_node *arguments)
{
    (void)arguments;
    film_dap_respond(dap);
    if (!dap->paused) {
        film_dap_tell_stopped(dap, "pause", "Paused", NULL, NULL);
    }
    dap->paused = false;
    return true;
}
