/* verdict.c: see verdict.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/verdict.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/breakpoint_state.h"

static const char *const the_names[] = {"stops",       "no_file",     "no_line",
                                        "no_function", "no_lines",    "never_ran",
                                        "never_true",  "never_known", "never_counted"};

const char *
film_verdict_name(film_verdict verdict)
{
    return the_names[verdict];
}

void
film_tally_add(film_tally *tally, const film_evaluated *value)
{
    tally->ran++;
    if (value == NULL || (value->outcome == FILM_EVAL_VALUE && value->truth_known)) {
        tally->held += value == NULL || value->truth;
        return;
    }
    tally->unknown++;
    snprintf(tally->why, sizeof(tally->why), "%s",
             value->outcome == FILM_EVAL_VALUE ? "whether it is true is not recorded"
                                               : value->why);
}

static bool
is_recorded_file(const film_breakpoints *set, const char *file)
{
    const film_reader *reader = set->timeline->reader;

    for (size_t i = 0; i < film_reader_code_count(reader); i++) {
        const film_code *code = film_reader_code(reader, (uint32_t)i);
        if (code != NULL && film_is_file(code->file, file)) {
            return true;
        }
    }
    return false;
}

film_verdict
film_breakpoints_verdict(const film_breakpoints *set, size_t index,
                         const film_tally *tally)
{
    const film_point *point = &set->points[index];

    if (!point->verified) {
        return point->file != NULL && !is_recorded_file(set, point->file)
                   ? FILM_VERDICT_NO_FILE
               : point->kind == FILM_BREAK_LINE ? FILM_VERDICT_NO_LINE
                                                : FILM_VERDICT_NO_FUNCTION;
    }
    if (tally->ran == 0) {
        return point->kind == FILM_BREAK_LINE &&
                       film_reader_info(set->timeline->reader)->level == 0
                   ? FILM_VERDICT_NO_LINES
                   : FILM_VERDICT_NEVER_RAN;
    }
    return tally->held > 0                ? FILM_VERDICT_NEVER_COUNTED
           : tally->unknown == tally->ran ? FILM_VERDICT_NEVER_KNOWN
                                          : FILM_VERDICT_NEVER_TRUE;
}

/* "once", "7 times" */
static const char *
times(uint64_t count, char room[32])
{
    snprintf(room, 32, "%" PRIu64 " times", count);
    return count == 1 ? "once" : room;
}

void
film_tally_tell(const film_tally *tally, const char *what, char *text, size_t room)
{
    char ran[32], unknown[32];
    const char *why = tally->why[0] == '\0' ? "" : ": ";

    if (tally->unknown == 0) {
        snprintf(text, room, "%s %s, and the condition was %s true", what,
                 times(tally->ran, ran), tally->ran == 1 ? "not" : "never");
    }
    else if (tally->unknown == tally->ran) {
        snprintf(text, room, "%s %s, and %sthe condition could not be told%s%s", what,
                 times(tally->ran, ran), tally->ran == 1 ? "" : "each time ", why,
                 tally->why);
    }
    else {
        snprintf(text, room,
                 "%s %s: the condition was never true, and could not be told %s%s%s",
                 what, times(tally->ran, ran), times(tally->unknown, unknown), why,
                 tally->why);
    }
}

static const char *
never_ran(film_break_kind kind)
{
    switch (kind) {
    case FILM_BREAK_LINE:
        return "the line did not run in this recording";
    case FILM_BREAK_FUNCTION:
        return "the function was not called in this recording";
    case FILM_BREAK_OP:
        return "the operation was not called in this recording";
    case FILM_BREAK_RAISED:
        return "no exception was raised in this recording";
    case FILM_BREAK_UNCAUGHT:
        return "no exception ended the program or a thread";
    case FILM_BREAK_VARIABLE:
    case FILM_BREAK_ATTRIBUTE:
    case FILM_BREAK_OBJECT:
    default:
        return "no write of it was recorded";
    }
}

static const char *
what_ran(film_break_kind kind)
{
    switch (kind) {
    case FILM_BREAK_LINE:
        return "the line ran";
    case FILM_BREAK_FUNCTION:
        return "the function was called";
    case FILM_BREAK_OP:
        return "the operation was called";
    case FILM_BREAK_RAISED:
    case FILM_BREAK_UNCAUGHT:
        return "that happened";
    case FILM_BREAK_VARIABLE:
    case FILM_BREAK_ATTRIBUTE:
    case FILM_BREAK_OBJECT:
    default:
        return "it was written";
    }
}

void
film_verdict_tell(const film_breakpoints *set, size_t index, film_verdict verdict,
                  const film_tally *tally, bool whole, char text[FILM_VERDICT_TEXT])
{
    const film_point *point = &set->points[index];
    char held[32];

    switch (verdict) {
    case FILM_VERDICT_NO_FILE:
        snprintf(text, FILM_VERDICT_TEXT, "no file '%.160s' was recorded", point->file);
        break;
    case FILM_VERDICT_NO_LINE:
        snprintf(text, FILM_VERDICT_TEXT,
                 "no recorded code of '%.160s' has line %u, or one behind it",
                 point->file, point->asked);
        break;
    case FILM_VERDICT_NO_FUNCTION:
        snprintf(text, FILM_VERDICT_TEXT, "no %s '%.100s'%s%.160s was recorded",
                 point->kind == FILM_BREAK_OP ? "operation" : "function",
                 point->function, point->file == NULL ? "" : " of ",
                 point->file == NULL ? "" : point->file);
        break;
    case FILM_VERDICT_NO_LINES:
        snprintf(text, FILM_VERDICT_TEXT,
                 "no lines were recorded (level calls), only calls");
        break;
    case FILM_VERDICT_NEVER_RAN:
        snprintf(text, FILM_VERDICT_TEXT, "%s%s", never_ran(point->kind),
                 whole ? "" : " so far");
        break;
    case FILM_VERDICT_NEVER_TRUE:
    case FILM_VERDICT_NEVER_KNOWN:
        snprintf(text, FILM_VERDICT_TEXT, "%s", whole ? "" : "as far as was tried, ");
        film_tally_tell(tally, what_ran(point->kind), text + strlen(text),
                        FILM_VERDICT_TEXT - strlen(text));
        break;
    case FILM_VERDICT_NEVER_COUNTED:
        snprintf(text, FILM_VERDICT_TEXT, "%s %s%s: the hit count is never reached",
                 what_ran(point->kind), times(tally->held, held),
                 point->condition == NULL ? "" : " with the condition true");
        break;
    case FILM_VERDICT_STOPS:
    default:
        text[0] = '\0';
        break;
    }
}

film_status
film_breakpoints_try(film_breakpoints *set, const film_budget *budget, film_stop *out,
                     film_error *error)
{
    film_moment first, last;
    film_status status;

    if (film_reader_thread_count(set->timeline->reader) == 0) {
        memset(out, 0, sizeof(*out));
        out->reason = FILM_STOP_AT_END;
        return FILM_OK;
    }
    FILM_TRY(film_timeline_ends(set->timeline,
                                film_reader_thread(set->timeline->reader, 0)->id,
                                &first, &last, error));
    set->trial = true;
    status = film_breakpoints_continue(set, first, false, true, budget, NULL, NULL, out,
                                       error);
    set->trial = false;
    return status;
}
