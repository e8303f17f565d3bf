/* query_move.c: the answer to `move`.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/query_state.h"
#include "analysis/search.h"

static const char *const the_reasons[] = {"arrived", "breakpoint", "start", "end",
                                          "unfinished"};

static const struct {
    const char *name;
    film_move move;
} the_moves[] = {
    {"step", FILM_MOVE_STEP},       {"back", FILM_MOVE_BACK},
    {"line", FILM_MOVE_LINE},       {"back-line", FILM_MOVE_BACK_LINE},
    {"next", FILM_MOVE_NEXT},       {"back-next", FILM_MOVE_BACK_NEXT},
    {"out", FILM_MOVE_OUT},         {"back-out", FILM_MOVE_BACK_OUT},
    {"call", FILM_MOVE_CALL},       {"return", FILM_MOVE_RETURN},
    {"raise", FILM_MOVE_RAISE},     {"back-raise", FILM_MOVE_BACK_RAISE},
    {"op", FILM_MOVE_OP},           {"back-op", FILM_MOVE_BACK_OP},
    {"next-op", FILM_MOVE_NEXT_OP}, {"back-next-op", FILM_MOVE_BACK_NEXT_OP},
    {"start", FILM_MOVE_START},     {"end", FILM_MOVE_END},
};

/* Moves `count` times, as far as the budget goes. */
static film_status
plain_move(film_ask *ask, film_move move, film_moment from, film_stop *stop)
{
    film_move_options options = {.across = film_ask_get_bool(ask, "across"),
                                 .passing = film_ask_get_bool(ask, "passing"),
                                 .budget = ask->budget};
    uint64_t count;

    FILM_TRY(film_ask_get_number(ask, "frame", 0, &options.frame));
    FILM_TRY(film_ask_get_number(ask, "count", 1, &count));
    memset(stop, 0, sizeof(*stop));
    stop->moment = from;
    for (uint64_t i = 0; i < count; i++) {
        FILM_TRY(film_timeline_move(ask->timeline, stop->moment, move, &options, stop,
                                    ask->error));
        if (stop->reason != FILM_STOP_ARRIVED) {
            break;
        }
        if (film_budget_spent(&ask->budget) && i + 1 < count) {
            stop->reason = FILM_STOP_UNFINISHED;
            break;
        }
    }
    return FILM_OK;
}

/* A number or time behind the thread's last event: its end is gone to, and told. */
static film_status
to_event(film_ask *ask, film_moment from, film_stop *stop)
{
    film_moment first, last;
    uint64_t number;

    FILM_TRY(film_ask_get_number(ask, "event", from.event, &number));
    FILM_TRY(film_timeline_ends(ask->timeline, from.thread, &first, &last, ask->error));
    stop->moment = film_moment_of(from.thread, number < first.event  ? first.event
                                               : number > last.event ? last.event
                                                                     : number);
    if (number < first.event || number > last.event) {
        char text[120];
        stop->reason = number > last.event ? FILM_STOP_AT_END : FILM_STOP_AT_START;
        snprintf(text, sizeof(text), "thread %u %s with event %" PRIu64, from.thread,
                 number > last.event ? "ends" : "begins", stop->moment.event);
        film_ask_words(ask, "message", text);
    }
    return FILM_OK;
}

static void
put_end_time(film_ask *ask, uint64_t end_ns)
{
    char text[120];

    snprintf(text, sizeof(text), "the recording ends at %" PRIu64 ".%06" PRIu64 " s",
             end_ns / 1000000000, end_ns % 1000000000 / 1000);
    film_ask_words(ask, "message", text);
}

static film_status
to_time(film_ask *ask, film_moment from, film_stop *stop)
{
    uint64_t end_ns = film_reader_info(ask->reader)->duration_ns, time_ns;
    const film_thread_info *thread;

    FILM_TRY(film_ask_get_number(ask, "time_ns", 0, &time_ns));
    for (size_t i = 0; i < film_reader_thread_count(ask->reader); i++) {
        thread = film_reader_thread(ask->reader, i);
        end_ns = thread->last_ns > end_ns ? thread->last_ns : end_ns;
    }
    if (time_ns > end_ns) {
        stop->reason = FILM_STOP_AT_END;
        put_end_time(ask, end_ns);
    }
    return film_timeline_at_time(ask->timeline, from.thread, time_ns, &stop->moment,
                                 ask->error);
}

static film_status
to_fraction(film_ask *ask, film_moment from, film_stop *stop)
{
    double fraction = film_json_number(film_ask_get(ask, "fraction"));

    if (fraction > 1.0) {
        stop->reason = FILM_STOP_AT_END;
        put_end_time(ask, film_reader_info(ask->reader)->duration_ns);
    }
    return film_timeline_at_fraction(ask->timeline, from.thread, fraction,
                                     &stop->moment, ask->error);
}

/* To the n-th time a place ran; where it did not, why. */
static film_status
to_hit(film_ask *ask, film_stop *stop)
{
    const film_json_node *nth = film_ask_get(ask, "n");
    film_breakpoint place;

    FILM_TRY(film_ask_get_place(ask, &place));
    FILM_TRY(film_timeline_hit(ask->timeline, &place,
                               film_json_is(nth, FILM_JSON_INTEGER) ? nth->integer : 1,
                               &ask->budget, stop, ask->error));
    return stop->reason == FILM_STOP_ARRIVED || stop->reason == FILM_STOP_UNFINISHED
               ? FILM_OK
               : film_ask_put_verdict(ask, &place);
}

static film_status
jump(film_ask *ask, const char *how, film_moment from, film_stop *stop)
{
    memset(stop, 0, sizeof(*stop));
    if (strcmp(how, "event") == 0) {
        return to_event(ask, from, stop);
    }
    if (strcmp(how, "time") == 0) {
        return to_time(ask, from, stop);
    }
    if (strcmp(how, "fraction") == 0) {
        return to_fraction(ask, from, stop);
    }
    if (strcmp(how, "hit") == 0) {
        return to_hit(ask, stop);
    }
    return film_fail(ask->error, FILM_MISUSE, "there is no move '%.40s'", how);
}

/* To the last or next write of a variable. */
static film_status
to_write(film_ask *ask, film_moment from, bool back, film_stop *stop)
{
    film_written written;
    film_target target;
    const char *variable;
    film_moment asked; /* a search that goes on elsewhere is about this one's frame */
    uint64_t serial;
    size_t index;

    FILM_TRY(film_ask_get_text(ask, "variable", true, &variable));
    FILM_TRY(film_ask_get_moment(ask, "m", true, &asked));
    FILM_TRY(film_ask_get_frame(ask, asked, &index, &serial));
    FILM_TRY(
        film_target_parse(ask->timeline, asked, index, variable, &target, ask->error));
    if (back && film_moment_is(from, asked)) { /* before this moment, not at it */
        film_moment first, last;
        FILM_TRY(
            film_timeline_ends(ask->timeline, from.thread, &first, &last, ask->error));
        if (from.event <= first.event) {
            memset(stop, 0, sizeof(*stop));
            stop->moment = first;
            stop->reason = FILM_STOP_AT_START;
            return FILM_OK;
        }
        from.event--;
    }
    return film_find_write(ask->timeline, &target, from, back, &ask->budget, &written,
                           stop, ask->error);
}

/* The log points' lines of a continue. */
static void
log_point(void *context, size_t breakpoint, film_moment moment, const char *text,
          size_t length)
{
    film_ask *ask = context;
    film_text told = {text, length};

    film_ask_open(ask, NULL, '{');
    film_ask_number(ask, "breakpoint", breakpoint);
    film_ask_moment(ask, "m", moment);
    film_ask_string(ask, "text", told);
    film_ask_close(ask, '}');
}

static film_status
go_on(film_ask *ask, film_moment from, bool back, film_stop *stop)
{
    film_breakpoints *breakpoints;
    film_status status;
    uint64_t until;
    size_t bad;

    FILM_TRY(film_ask_get_number(ask, "until", UINT64_MAX, &until));
    FILM_TRY(film_ask_breakpoints(ask, &breakpoints, &bad));
    if (until != UINT64_MAX) {
        film_breakpoints_until(breakpoints, until);
    }
    film_ask_open(ask, "log", '[');
    status = film_breakpoints_continue(breakpoints, from, back,
                                       film_ask_get_bool(ask, "across"), &ask->budget,
                                       log_point, ask, stop, ask->error);
    film_ask_close(ask, ']');
    film_breakpoints_free(breakpoints);
    return status;
}

static film_status
make_move(film_ask *ask, const char *how, film_moment from, film_stop *stop)
{
    for (size_t i = 0; i < sizeof(the_moves) / sizeof(the_moves[0]); i++) {
        if (strcmp(how, the_moves[i].name) == 0) {
            return plain_move(ask, the_moves[i].move, from, stop);
        }
    }
    if (strcmp(how, "continue") == 0 || strcmp(how, "reverse-continue") == 0) {
        return go_on(ask, from, how[0] == 'r', stop);
    }
    if (strcmp(how, "write") == 0 || strcmp(how, "back-write") == 0) {
        return to_write(ask, from, how[0] == 'b', stop);
    }
    return jump(ask, how, from, stop);
}

/* What a move came to, also told by `first`. */
film_status
film_ask_stopped(film_ask *ask, film_moment from, const film_stop *stop,
                 const film_tally *tally)
{
    uint64_t frame;
    film_moment at = stop->moment;

    FILM_TRY(film_ask_get_number(ask, "frame", 0, &frame));
    film_ask_open(ask, "stopped", '{');
    film_ask_words(ask, "reason", the_reasons[stop->reason]);
    if (stop->reason == FILM_STOP_BREAKPOINT) {
        film_ask_number(ask, "breakpoint", stop->breakpoint);
    }
    film_ask_close(ask, '}');
    if (stop->reason == FILM_STOP_UNFINISHED) {
        char progress[32];
        if (tally != NULL) {
            film_ask_put_next(ask, stop->moment, tally);
        }
        else {
            film_ask_moment(ask, "next", stop->moment);
        }
        film_ask_key(ask, "progress");
        snprintf(progress, sizeof(progress), "%.6f", stop->progress);
        film_buffer_append_text(ask->out, progress);
        at = from; /* what is shown stays where it was */
    }
    return film_ask_whole_moment(ask, at, film_ask_wants(ask, "locals"), frame);
}

film_status
film_answer_move(film_ask *ask)
{
    film_moment from, start;
    const char *how;
    film_stop stop;

    FILM_TRY(film_ask_get_moment(ask, "m", true, &from));
    FILM_TRY(film_ask_get_text(ask, "how", true, &how));
    start = from;
    if (film_ask_get(ask, "next") != NULL) { /* to be gone on with */
        FILM_TRY(film_ask_get_moment(ask, "next", false, &start));
    }
    FILM_TRY(make_move(ask, how, start, &stop));
    return film_ask_stopped(ask, from, &stop, NULL);
}
