/* do_move.c: moving, forwards and backwards.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "step/handlers.h"
#include "step/paragraph.h"
#include "step/stops.h"

/* A continue tells so many lines of log points. */
#define MOST_LOG 100000u
/* A count is at most so big: each move is one question. */
#define MOST_COUNT 1000000u

/* What the answer says of the way, kept while the moment is looked at. */
typedef struct way {
    char reason[16], message[160];
    size_t breakpoint;
    film_buffer members; /* "stopped", "log": JSON */
} way;

static void
keep_way(film_step *step, way *of)
{
    const film_json *reply = &step->reply;
    const film_json_node *root = film_json_root(reply);
    const film_json_node *stopped = film_json_get(reply, root, "stopped");
    const film_json_node *log = film_json_get(reply, root, "log");

    memset(of, 0, sizeof(*of));
    snprintf(of->reason, sizeof(of->reason), "%s",
             film_step_text(reply, stopped, "reason"));
    snprintf(of->message, sizeof(of->message), "%s",
             film_step_text(reply, root, "message"));
    of->breakpoint = (size_t)film_step_number(reply, stopped, "breakpoint");
    if (step->json && stopped != NULL) {
        film_buffer_append_text(&of->members, "{\"stopped\": ");
        film_json_copy(reply, stopped, &of->members);
        if (log != NULL) {
            film_buffer_append_text(&of->members, ", \"log\": ");
            film_json_copy(reply, log, &of->members);
        }
        film_buffer_append_text(&of->members, ", ");
    }
}

/* The answer for machines: the way, and the MOMENT with its locals. */
static void
join_way(film_step *step, way *of)
{
    if (of->members.length > 0 && step->answer.length > 1) {
        film_buffer_append(&of->members, step->answer.data + 1,
                           step->answer.length - 1);
        film_buffer_clear(&step->answer);
        film_buffer_append(&step->answer, of->members.data, of->members.length);
    }
}

static void
tell_log(film_step *step)
{
    const film_json *reply = &step->reply;
    const film_json_node *log = film_json_get(reply, film_json_root(reply), "log");

    for (const film_json_node *item = film_json_first(reply, log); item != NULL;
         item = film_json_next(reply, item)) {
        film_output_format(&step->out, "%-10s ", film_step_text(reply, item, "m"));
        film_output_display(&step->out,
                            film_text_of(film_step_text(reply, item, "text")));
        film_output_byte(&step->out, '\n');
    }
}

static void
tell_reason(film_step *step, const way *of)
{
    if (strcmp(of->reason, "breakpoint") == 0 && of->breakpoint < step->stop_count) {
        const film_step_stop *stop = &step->stops[of->breakpoint];
        film_output_format(&step->out, "breakpoint %u: ", stop->id);
        film_output_display(&step->out, film_text_of(stop->words));
        film_output_byte(&step->out, '\n');
    }
    else if (of->message[0] != '\0') {
        step->beyond = true;
        film_output_display(&step->out, film_text_of(of->message));
        film_output_byte(&step->out, '\n');
    }
    else if (strcmp(of->reason, "start") == 0 || strcmp(of->reason, "end") == 0) {
        film_output_format(&step->out, "this is the %s of %s\n", of->reason,
                           step->live && of->reason[0] == 'e'
                               ? "what is recorded so far"
                               : "the recording");
    }
    else if (strcmp(of->reason, "unfinished") == 0) {
        film_output_format(&step->out, "stopped after %u lines of log\n", MOST_LOG);
    }
}

/* A breakpoint that is for once has done its work. */
static void
drop_once(film_step *step, const way *of)
{
    if (strcmp(of->reason, "breakpoint") == 0 && of->breakpoint < step->stop_count &&
        step->stops[of->breakpoint].once) {
        (void)film_step_delete_stop(step, step->stops[of->breakpoint].id);
    }
}

static bool
is_at_end(const way *of)
{
    return strcmp(of->reason, "start") == 0 || strcmp(of->reason, "end") == 0;
}

/* Fails with what `told`, an answer or a part of one, says of why nothing was found, or
 * with `no` where it says nothing. Machines are given the verdict, too. */
static bool
fail_with_verdict(film_step *step, const film_json_node *told, const char *no)
{
    char verdict[32];

    snprintf(verdict, sizeof(verdict), "%s",
             film_step_text(&step->reply, told, "verdict"));
    (void)film_step_fail(step, "%s",
                         film_step_text(&step->reply, told, "message")[0] != '\0'
                             ? film_step_text(&step->reply, told, "message")
                             : no);
    if (step->json && verdict[0] != '\0' && step->answer.length > 2) {
        step->answer.length -= 2; /* the two braces go behind it */
        film_buffer_append_text(&step->answer, ", \"verdict\": ");
        film_json_put(&step->answer, verdict, strlen(verdict));
        film_buffer_append_text(&step->answer, "}}");
    }
    return false;
}

/* With the answer of a move in the reply. `own`: its breakpoint is the session's. */
static bool
finish_move(film_step *step, bool keep, const char *no, bool own)
{
    way of;
    bool ok;

    keep_way(step, &of);
    tell_log(step);
    if (is_at_end(&of) && no != NULL) {
        film_buffer_reset(&of.members);
        return fail_with_verdict(step, film_json_root(&step->reply), no);
    }
    ok = film_step_arrive(step, keep) && film_step_look(step);
    if (own || of.reason[0] != 'b') {
        tell_reason(step, &of);
    }
    if (ok) {
        join_way(step, &of);
        if (!step->json) {
            film_step_put_here(step);
        }
    }
    if (own) {
        drop_once(step, &of);
    }
    film_buffer_reset(&of.members);
    return ok;
}

bool
film_step_finish_move(film_step *step, bool keep, const char *no)
{
    return finish_move(step, keep, no, false);
}

bool
film_step_move(film_step *step, bool keep, const char *no)
{
    return film_step_ask(step) && finish_move(step, keep, no, false);
}

void
film_step_tell_here(film_step *step)
{
    if (film_step_look(step) && !step->json) {
        film_step_put_here(step);
    }
}

static void
begin_move(film_step *step, const char *how)
{
    film_step_begin(step, "move");
    film_step_add_text(step, "how", how, strlen(how));
    film_step_add_number(step, "frames", FILM_STEP_FRAMES);
}

static bool
is_there(film_step *step)
{
    return step->at[0] != '\0' ? true
                               : film_step_fail(step, "the recording has no events");
}

/* Moves that need nothing but a direction; all but the last are silent. */
void
film_step_do_move(film_step *step, const film_word_info *word, const char *arguments)
{
    bool keep = word->word != FILM_WORD_STEP && word->word != FILM_WORD_RSTEP &&
                word->word != FILM_WORD_STEPI && word->word != FILM_WORD_RSTEPI &&
                word->word != FILM_WORD_OP && word->word != FILM_WORD_ROP;
    uint64_t count;

    if (word->word == FILM_WORD_END) {
        film_step_refresh(step);
    }
    if (!is_there(step) || !film_step_parse_count(step, arguments, 1, &count)) {
        return;
    }
    if (count == 0) {
        (void)film_step_fail(step, "%s 0 goes nowhere", word->name);
        return;
    }
    if (count > MOST_COUNT) {
        (void)film_step_fail(step, "that is too far: event N jumps");
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        const char *reason;
        begin_move(step, word->query + 5);
        if (!film_step_ask(step)) {
            return;
        }
        reason = film_step_text(
            &step->reply,
            film_json_get(&step->reply, film_json_root(&step->reply), "stopped"),
            "reason");
        if (i + 1 == count || strcmp(reason, "arrived") != 0) {
            break;
        }
        (void)film_step_arrive(step, keep);
        if (i % 64 == 63 && step->working != NULL &&
            !step->working(step->working_context, (double)i / (double)count)) {
            (void)film_step_fail(step, "interrupted");
            return;
        }
    }
    (void)finish_move(step, keep, NULL, false);
}

/* Runs to the breakpoints that are set. */
void
film_step_do_continue(film_step *step, const film_word_info *word,
                      const char *arguments)
{
    (void)arguments;
    if (!is_there(step)) {
        return;
    }
    begin_move(step,
               word->word == FILM_WORD_RCONTINUE ? "reverse-continue" : "continue");
    film_step_add_raw(step, "across", "true", 4);
    film_step_add_stops(step, NULL);
    if (film_step_ask_list(step, "log", MOST_LOG)) {
        (void)finish_move(step, false, NULL, true);
    }
}

/* Nothing was found: because there is no such place, or there is, and it does not run
 * there. */
static void
explain(film_step *step, const film_step_place *place, const char *spec, bool back)
{
    const char *what = place->line == 0 ? "the function" : "the line";
    const char *did = place->line == 0 ? (back ? "was not called" : "is not called")
                      : back           ? "did not run"
                                       : "does not run";
    const film_json *reply = &step->reply;
    char no[120];

    snprintf(no, sizeof(no), "%s %s %s event %s", what, did, back ? "before" : "behind",
             step->at);
    film_step_begin(step, "breakpoints");
    film_step_add_stops(step, spec);
    if (film_step_ask(step)) {
        (void)fail_with_verdict(
            step,
            film_json_first(reply,
                            film_json_get(reply, film_json_root(reply), "breakpoints")),
            no);
    }
}

bool
film_step_came_to_end(const film_step *step)
{
    const film_json *reply = &step->reply;
    const char *reason = film_step_text(
        reply, film_json_get(reply, film_json_root(reply), "stopped"), "reason");

    return strcmp(reason, "start") == 0 || strcmp(reason, "end") == 0;
}

void
film_step_run_to(film_step *step, const film_step_place *place, bool back)
{
    film_buffer spec = {0};

    if (!is_there(step)) {
        return;
    }
    film_step_open_spec(&spec, place);
    film_buffer_append(&spec, "}", 2);
    if (spec.failed) {
        film_buffer_reset(&spec);
        (void)film_step_fail(step, "memory ran out");
        return;
    }
    begin_move(step, back ? "reverse-continue" : "continue");
    film_step_add_raw(step, "across", "true", 4);
    film_step_add_stops(step, (const char *)spec.data);
    if (film_step_ask(step)) {
        if (film_step_came_to_end(step)) {
            explain(step, place, (const char *)spec.data, back);
        }
        else {
            (void)finish_move(step, false, NULL, false);
        }
    }
    film_buffer_reset(&spec);
}

void
film_step_do_until(film_step *step, const film_word_info *word, const char *arguments)
{
    film_step_place place;
    char here[24];
    size_t index;

    if (!is_there(step) || !film_step_look(step)) {
        return;
    }
    snprintf(here, sizeof(here), "%llu",
             (unsigned long long)film_step_number(
                 &step->moment, film_step_frame(step, &index), "line"));
    if (arguments[0] == '\0') {
        arguments = here;
    }
    if (film_step_parse_location(step, arguments, strlen(arguments), &place)) {
        film_step_run_to(step, &place, word->word == FILM_WORD_RUNTIL);
    }
}

/* "any" before the type: also where exceptions merely pass by. */
static bool
takes_any(const char **type)
{
    if (strncmp(*type, "any", 3) != 0 || ((*type)[3] != ' ' && (*type)[3] != '\0')) {
        return false;
    }
    *type += 3;
    *type += strspn(*type, " ");
    return true;
}

void
film_step_to_raise(film_step *step, const char *type, bool back)
{
    char from[FILM_STEP_PLACE], no[240];
    bool any = takes_any(&type);
    uint64_t looked = 0;

    if (!is_there(step)) {
        return;
    }
    memcpy(from, step->at, sizeof(from));
    snprintf(no, sizeof(no), "no %.100s %s %s event %s",
             type[0] == '\0' ? "exception" : type, back ? "was raised" : "is raised",
             back ? "before" : "behind", from);
    for (;;) {
        const film_json *reply = &step->reply;
        const film_json_node *root;
        bool found;
        begin_move(step, back ? "back-raise" : "raise");
        film_step_add_raw(step, "across", "true", 4);
        film_step_add_raw(step, "passing", any ? "true" : "false", any ? 4 : 5);
        if (!film_step_ask(step)) {
            break;
        }
        root = film_json_root(reply);
        found = strcmp(film_step_text(reply, film_json_get(reply, root, "stopped"),
                                      "reason"),
                       "arrived") == 0;
        if (!found || type[0] == '\0' ||
            strcmp(type, film_step_text(reply, film_json_get(reply, root, "exception"),
                                        "type")) == 0) {
            memcpy(step->at, from, sizeof(from)); /* one move, on the trail */
            (void)finish_move(step, false, no, false);
            return;
        }
        snprintf(step->at, sizeof(step->at), "%s", film_step_text(reply, root, "m"));
        if (++looked % 64 == 0 && step->working != NULL &&
            !step->working(step->working_context, 0.0)) {
            (void)film_step_fail(step, "interrupted");
            break;
        }
    }
    memcpy(step->at, from, sizeof(from));
}

void
film_step_do_raise(film_step *step, const film_word_info *word, const char *arguments)
{
    film_step_to_raise(step, arguments, word->word == FILM_WORD_RRAISE);
}

void
film_step_do_write(film_step *step, const film_word_info *word, const char *arguments)
{
    char no[160];

    if (arguments[0] == '\0') {
        (void)film_step_fail(step, "which variable?");
        return;
    }
    if (is_there(step)) {
        snprintf(no, sizeof(no), "no write of %.60s was recorded %s event %s",
                 arguments, word->word == FILM_WORD_RWRITE ? "before" : "behind",
                 step->at);
        begin_move(step, word->query + 5);
        film_step_add_text(step, "variable", arguments, strlen(arguments));
        (void)film_step_move(step, false, no);
    }
}

/* Asks for the last uncaught exception, from the end backwards. */
static bool
ask_uncaught(film_step *step)
{
    char end[FILM_STEP_PLACE];

    film_step_begin(step, "open");
    if (!film_step_ask(step)) {
        return false;
    }
    snprintf(end, sizeof(end), "%s",
             film_step_text(&step->reply, film_json_root(&step->reply), "end"));
    film_step_begin_at(step, "move", end);
    film_step_add_text(step, "how", "reverse-continue", 16);
    film_step_add_raw(step, "across", "true", 4);
    film_step_add_number(step, "frames", FILM_STEP_FRAMES);
    film_step_add_stops(step, "{\"kind\": \"uncaught\"}");
    return film_step_ask(step);
}

void
film_step_do_uncaught(film_step *step, const film_word_info *word,
                      const char *arguments)
{
    (void)word;
    (void)arguments;
    if (is_there(step) && ask_uncaught(step)) {
        (void)finish_move(step, false, "no exception ended the program or a thread",
                          false);
    }
}

static bool
give_up(void *context, double progress)
{
    (void)context;
    (void)progress;
    return false;
}

bool
film_step_uncaught(film_step *step, char *to, size_t capacity)
{
    const film_json *reply = &step->reply;
    const film_json_node *root, *exception;
    bool found = false;

    if (step->at[0] == '\0') {
        return false;
    }
    step->working = give_up;
    if (ask_uncaught(step)) {
        root = film_json_root(reply);
        exception = film_json_get(reply, root, "exception");
        found = strcmp(film_step_text(reply, film_json_get(reply, root, "stopped"),
                                      "reason"),
                       "breakpoint") == 0;
        snprintf(to, capacity, "%.60s%s%.120s",
                 film_step_text(reply, exception, "type"),
                 film_step_text(reply, exception, "message")[0] == '\0' ? "" : ": ",
                 film_step_text(reply, exception, "message"));
    }
    step->working = NULL;
    step->failed = false;
    film_output_drain(&step->out);
    film_buffer_clear(&step->text);
    return found;
}
