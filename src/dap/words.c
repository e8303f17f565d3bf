/* words.c: the words of the console: those of the one table of commands
 * (analysis/commands.h), as `filmstrip step` runs them. What is the editor's here,
 * breakpoints and frames, is left to it.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "dap/movement.h"
#include "dap/search.h"
#include "dap/session.h"
#include "step/handlers.h"
#include "step/session.h"

/* --- the session of `filmstrip step` beside ours --- */

/* Made when the first word is typed. It shares our timeline: one set of caches. */
static film_step *
stepper(film_dap *dap)
{
    film_error error = {FILM_OK, 0, ""};

    if (dap->step != NULL) {
        return dap->step;
    }
    dap->step = film_alloc(sizeof(*dap->step));
    if (dap->step == NULL) {
        (void)film_dap_refuse(dap, "memory ran out");
        return NULL;
    }
    if (film_step_open(dap->step, dap->reader, "the recording", &error) != FILM_OK) {
        film_free(dap->step);
        dap->step = NULL;
        (void)film_dap_refuse(dap, "%s", error.message);
        return NULL;
    }
    film_timeline_close(dap->step->timeline);
    dap->step->timeline = dap->timeline;
    return dap->step;
}

void
film_dap_close_step(film_dap *dap)
{
    if (dap->step != NULL) {
        dap->step->timeline = NULL; /* it is ours */
        film_step_close(dap->step);
        film_free(dap->step);
        dap->step = NULL;
    }
}

typedef struct work {
    film_dap *dap;
    film_dap_watch watch;
} work;

static bool
is_still_wanted(void *context, double progress)
{
    work *at = context;

    return film_dap_watch_go_on(at->dap, &at->watch, progress) == FILM_DAP_GO_ON;
}

/* Puts it where the frame of the request stands. */
static bool
place_stepper(film_dap *dap, film_step *step, const film_dap_handle *place)
{
    bool fine;

    film_buffer_clear(&step->text);
    step->failed = false;
    step->quiet = true;
    fine = strcmp(step->at, place->moment) == 0 || film_step_jump(step, place->moment);
    step->frame = place->frame;
    fine = fine && film_step_look(step);
    film_output_drain(&step->out);
    step->quiet = false;
    return fine || film_dap_refuse(dap, "%.*s", (int)step->text.length,
                                   step->text.length == 0 ? "it failed"
                                                          : (char *)step->text.data);
}

/* --- answers --- */

/* What the word said, without its last newlines. */
static bool
respond(film_dap *dap, const film_step *step)
{
    const film_buffer *text = &step->text;
    size_t length = text->length;

    while (length > 0 && text->data[length - 1] == '\n') {
        length--;
    }
    if (step->failed) {
        return film_dap_refuse(dap, "%.*s", (int)(length < 300 ? length : 300),
                               length == 0 ? "it failed" : (char *)text->data);
    }
    film_json_add_bytes(&dap->response, "result",
                        length == 0 ? "" : (const char *)text->data, length);
    film_json_add_integer(&dap->response, "variablesReference", 0);
    return true;
}

static bool
run_word(film_dap *dap, const film_dap_handle *place, const char *line)
{
    film_step *step = stepper(dap);
    work at = {.dap = dap};

    if (step == NULL || !place_stepper(dap, step, place)) {
        return false;
    }
    film_dap_watch_begin(dap, &at.watch, "Searching");
    step->working = is_still_wanted;
    step->working_context = &at;
    film_step_run(step, line, strlen(line));
    step->working = NULL;
    film_dap_watch_end(dap, &at.watch);
    if (!respond(dap, step)) {
        return false;
    }
    if (strcmp(step->at, place->moment) != 0) { /* it moved: so do we */
        film_dap_respond(dap);
        film_dap_tell_continued(dap);
        film_dap_stand_at(dap, step->at);
        film_dap_tell_stopped(dap, "goto", "Went there", NULL, NULL);
    }
    return true;
}

static bool
run_on(film_dap *dap, const film_dap_handle *place, bool back)
{
    film_json_add_text(&dap->response, "result", "");
    film_json_add_integer(&dap->response, "variablesReference", 0);
    film_dap_respond(dap);
    film_dap_tell_continued(dap);
    film_dap_run_on(dap, place->moment, back, true);
    return true;
}

/* Why a word is not for the console; NULL: it is. */
static const char *
refusal_of(film_word word)
{
    switch ((int)word) {
    case FILM_WORD_BREAK:
    case FILM_WORD_TBREAK:
    case FILM_WORD_WATCH:
    case FILM_WORD_LOGPOINT:
    case FILM_WORD_DELETE:
    case FILM_WORD_BREAKPOINTS:
        return "breakpoints are set in the editor";
    case FILM_WORD_UP:
    case FILM_WORD_DOWN:
    case FILM_WORD_FRAME:
        return "frames are chosen in the editor's call stack";
    case FILM_WORD_QUIT:
        return "the session is ended in the editor";
    default:
        return NULL;
    }
}

/* The table without keys: there is no full screen here. */
static bool
tell_help(film_dap *dap)
{
    film_buffer text = {0};

    film_buffer_append_text(&text, "An expression over recorded values, or:");
    for (size_t i = 0; i < FILM_WORD_COUNT; i++) {
        char line[512];
        if (refusal_of(film_words[i].word) == NULL) {
            snprintf(line, sizeof(line), "\n%s%s%s%s%s%s  %s", film_words[i].name,
                     film_words[i].aliases[0] == '\0' ? "" : " (",
                     film_words[i].aliases, film_words[i].aliases[0] == '\0' ? "" : ")",
                     film_words[i].arguments[0] == '\0' ? "" : " ",
                     film_words[i].arguments, film_words[i].help);
            film_buffer_append_text(&text, line);
        }
    }
    film_json_add_bytes(&dap->response, "result", (const char *)text.data, text.length);
    film_json_add_integer(&dap->response, "variablesReference", 0);
    film_buffer_reset(&text);
    return true;
}

static bool
run(film_dap *dap, const film_dap_handle *place, const char *line, film_word word)
{
    const char *refused = refusal_of(word);

    if (refused != NULL) {
        return film_dap_refuse(dap, "%s", refused);
    }
    if (word == FILM_WORD_CONTINUE || word == FILM_WORD_RCONTINUE) {
        return run_on(dap, place, word == FILM_WORD_RCONTINUE);
    }
    return word == FILM_WORD_HELP ? tell_help(dap) : run_word(dap, place, line);
}

/* --- is it a word? --- */

const char *
film_dap_word_named(size_t index)
{
    for (size_t i = 0; i < FILM_WORD_COUNT; i++) {
        if (refusal_of(film_words[i].word) == NULL && index-- == 0) {
            return film_words[i].name;
        }
    }
    return NULL;
}

/* Whether the name has a value here. */
static bool
is_variable(film_dap *dap, const film_dap_handle *place, const char *name,
            size_t length)
{
    film_json_writer *question = film_dap_question(dap, "evaluate");
    film_dap_answer answer = {0};
    bool found;

    film_json_add_text(question, "m", place->moment);
    if (place->frame != 0) {
        film_json_add_integer(question, "frame", (int64_t)place->frame);
    }
    film_json_add_bytes(question, "expression", name, length);
    found = film_dap_ask(dap, &answer) &&
            film_json_get(&answer.json, answer.root, "value") != NULL;
    film_dap_answer_reset(&answer);
    return found;
}

/* Whether what follows a name makes an expression of it: "last + 1", "first in x".
 * "NAME NAME" is none. */
static bool
goes_on(const char *rest)
{
    static const char *const operators[] = {"if ",  "in ", "is ",
                                            "and ", "or ", "not in "};

    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        if (strncmp(rest, operators[i], strlen(operators[i])) == 0) {
            return true;
        }
    }
    return strchr("+-*<>=!%&|^.,:", *rest) != NULL;
}

bool
film_dap_word(film_dap *dap, const char *line, const film_dap_handle *place, bool *fine)
{
    size_t length = strcspn(line, " \t\r\n");
    const char *rest = line + length + strspn(line + length, " \t\r\n");
    const film_word_info *word = film_word_find(line, length);

    /* An expression is what a console is for: a name that has a value is that. */
    if (word == NULL || (*rest != '\0' && goes_on(rest)) ||
        (*rest == '\0' && is_variable(dap, place, line, length))) {
        return false;
    }
    *fine = run(dap, place, line, word->word);
    return true;
}
