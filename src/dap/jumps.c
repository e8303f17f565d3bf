/* jumps.c: straight to another moment: every time a line ran, the call of a frame, the
 * start, an event, a time.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "dap/handlers.h"
#include "dap/movement.h"
#include "dap/search.h"

/* So many runs of a line are offered, those around the moment; so many are counted, for
 * so long. */
#define MOST_TARGETS 50u
#define MOST_HITS 100000u
#define COUNT_NS 400000000u
#define HITS_PAGE 1000
#define LABEL 240u
#define NEXT 128u /* a moment and what was counted */

bool
film_dap_arrive(film_dap *dap, const char *how, const char *reason,
                const char *description)
{
    film_dap_answer answer = {0};
    film_dap_interrupt interrupt;
    const char *came;
    bool fine = film_dap_search(dap, "Searching", &answer, &interrupt);

    if (fine && interrupt == FILM_DAP_CANCELLED) {
        fine = film_dap_refuse(dap, "cancelled");
    }
    if (fine) {
        film_dap_respond(dap);
        film_dap_tell_continued(dap);
        came = film_dap_reason(&answer);
        if (strcmp(how, "start") == 0 || strcmp(came, "start") == 0) {
            film_dap_tell_end(dap, true, &answer);
        }
        else if (strcmp(how, "end") == 0 || strcmp(came, "end") == 0) {
            film_dap_tell_end(dap, false, &answer);
        }
        else {
            film_dap_stand(dap, &answer);
            dap->paused = interrupt == FILM_DAP_PAUSED;
            film_dap_tell_stopped(dap, dap->paused ? "pause" : reason, description,
                                  NULL, NULL);
        }
    }
    film_dap_answer_reset(&answer);
    return fine;
}

bool
film_dap_jump(film_dap *dap, const char *moment, const char *how, const char *with,
              const char *reason, const char *description)
{
    film_json_writer *question = film_dap_question(dap, "move");

    film_json_add_text(question, "m", moment);
    film_json_add_text(question, "how", how);
    film_json_add_integer(question, "frames", 1);
    if (with != NULL && with[0] != '\0') {
        film_json_add_raw(question, NULL, with, strlen(with));
    }
    return film_dap_arrive(dap, how, reason, description);
}

/* --- every time a line ran --- */

typedef struct hit {
    char moment[FILM_DAP_MOMENT];
    uint64_t time_ns;
} hit;

typedef struct hits {
    hit *list; /* owned */
    size_t count, capacity;
    bool all; /* none is missing */
} hits;

static bool
keep_hits(film_dap *dap, hits *kept, const film_dap_answer *answer)
{
    const film_json_node *rows = film_json_get(&answer->json, answer->root, "rows");

    for (const film_json_node *row = film_json_first(&answer->json, rows); row != NULL;
         row = film_json_next(&answer->json, row)) {
        const char *moment = film_dap_text(answer, row, "m");
        hit *list =
            film_grow(kept->list, &kept->capacity, kept->count + 1, sizeof(*list));
        if (list == NULL) {
            return film_dap_refuse(dap, "memory ran out");
        }
        kept->list = list;
        film_dap_copy_moment(list[kept->count].moment, moment == NULL ? "" : moment);
        list[kept->count++].time_ns =
            (uint64_t)film_dap_integer(answer, row, "time_ns", 0);
    }
    return true;
}

/* `most` runs of the line from the first on, or (from given) from there. */
static bool
collect_hits(film_dap *dap, size_t source, int64_t line, const char *from, bool back,
             size_t most, hits *kept)
{
    uint64_t began_ns = film_clock_monotonic_ns();
    film_dap_answer answer = {0};
    film_dap_watch watch;
    char next[NEXT] = "";
    bool fine = true;

    film_dap_watch_begin(dap, &watch, "Counting runs of the line");
    kept->all = false;
    while (fine && kept->count < most && !kept->all &&
           film_clock_monotonic_ns() - began_ns < COUNT_NS) {
        film_json_writer *question = film_dap_question(dap, "hits");
        const char *where;
        film_json_add_text(question, "file", dap->sources[source].file);
        film_json_add_integer(question, "line", line);
        film_json_add_integer(
            question, "limit",
            most - kept->count < HITS_PAGE ? (int64_t)(most - kept->count) : HITS_PAGE);
        film_json_add_bool(question, "back", back);
        if (next[0] != '\0' || from != NULL) {
            film_json_add_text(question, next[0] != '\0' ? "next" : "m",
                               next[0] != '\0' ? next : from);
        }
        fine = film_dap_ask(dap, &answer) && keep_hits(dap, kept, &answer);
        where = fine ? film_dap_text(&answer, answer.root, "next") : NULL;
        kept->all = fine && where == NULL;
        snprintf(next, sizeof(next), "%s", where == NULL ? "" : where);
        if (fine && film_dap_watch_go_on(dap, &watch, -1) != FILM_DAP_GO_ON) {
            fine = film_dap_refuse(dap, "cancelled");
        }
    }
    film_dap_watch_end(dap, &watch);
    film_dap_answer_reset(&answer);
    return fine;
}

/* "1st", "2nd", "3rd", "4th" */
static const char *
ending_of(size_t number)
{
    static const char *const endings[] = {"th", "st", "nd", "rd"};

    return number % 100 / 10 == 1 || number % 10 > 3 ? "th" : endings[number % 10];
}

/* ", i = 2, total = 1": what was just written there, or what is there. */
static void
add_values(film_dap *dap, const char *moment, char *label)
{
    film_json_writer *question = film_dap_question(dap, "moment");
    film_dap_answer answer = {0};
    unsigned told = 0;

    film_json_add_text(question, "m", moment);
    film_json_add_integer(question, "frames", 0);
    film_json_add_integer(question, "text_bytes", 24);
    film_json_open(question, "with", '[');
    film_json_add_text(question, NULL, "locals");
    film_json_close(question, ']');
    if (film_dap_ask(dap, &answer)) {
        const film_json_node *list = film_json_get(&answer.json, answer.root, "locals");
        for (unsigned pass = 0; pass < 2; pass++) {
            for (const film_json_node *one = film_json_first(&answer.json, list);
                 one != NULL && told < 3; one = film_json_next(&answer.json, one)) {
                const char *name = film_dap_text(&answer, one, "name");
                const char *text = film_dap_text(
                    &answer, film_json_get(&answer.json, one, "value"), "text");
                size_t used = strlen(label);
                if (name == NULL || text == NULL || text[0] == '<' ||
                    film_dap_is(&answer, one, "changed") != (pass == 0)) {
                    continue;
                }
                snprintf(label + used, LABEL - used, ", %.30s = %.30s", name, text);
                told++;
            }
        }
    }
    film_dap_answer_reset(&answer);
}

static void
put_target(film_dap *dap, const hit *one, size_t number, size_t all, int64_t line)
{
    film_json_writer *out = &dap->response;
    char label[LABEL];

    if (all > 0) {
        snprintf(label, sizeof(label), "%zu%s of %zu, %.6f s", number,
                 ending_of(number), all, (double)one->time_ns / 1e9);
    }
    else {
        snprintf(label, sizeof(label), "at %.6f s", (double)one->time_ns / 1e9);
    }
    add_values(dap, one->moment, label);
    film_json_open(out, NULL, '{');
    film_json_add_integer(
        out, "id", film_dap_add_handle(dap, FILM_DAP_TARGET, one->moment, 0, 0, NULL));
    film_json_add_text(out, "label", label);
    film_json_add_integer(out, "line", line);
    film_json_close(out, '}');
}

static uint64_t
time_of_moment(film_dap *dap)
{
    film_json_writer *question = film_dap_question(dap, "moment");
    film_dap_answer answer = {0};
    uint64_t time_ns = 0;

    film_json_add_text(question, "m", dap->moment);
    film_json_add_integer(question, "frames", 0);
    if (film_dap_ask(dap, &answer)) {
        time_ns = (uint64_t)film_dap_integer(&answer, answer.root, "time_ns", 0);
    }
    film_dap_answer_reset(&answer);
    return time_ns;
}

/* Those around the moment, with their numbers. */
static void
put_counted(film_dap *dap, const hits *found, int64_t line)
{
    uint64_t now_ns = time_of_moment(dap);
    size_t near = 0, first;

    while (near < found->count && found->list[near].time_ns < now_ns) {
        near++;
    }
    first = near > MOST_TARGETS / 2 ? near - MOST_TARGETS / 2 : 0;
    if (found->count > MOST_TARGETS && first > found->count - MOST_TARGETS) {
        first = found->count - MOST_TARGETS;
    }
    for (size_t i = first; i < found->count && i < first + MOST_TARGETS; i++) {
        put_target(dap, &found->list[i], i + 1, found->count, line);
    }
}

/* Too many to count: the nearest before and behind. */
static bool
put_nearest(film_dap *dap, size_t source, int64_t line, int64_t told)
{
    hits before = {0}, behind = {0};
    bool fine =
        collect_hits(dap, source, line, dap->moment, true, MOST_TARGETS / 2, &before) &&
        collect_hits(dap, source, line, dap->moment, false, MOST_TARGETS / 2, &behind);

    for (size_t i = before.count; fine && i > 0; i--) {
        put_target(dap, &before.list[i - 1], 0, 0, told);
    }
    for (size_t i = 0; fine && i < behind.count; i++) {
        put_target(dap, &behind.list[i], 0, 0, told);
    }
    film_free(before.list);
    film_free(behind.list);
    return fine;
}

bool
film_dap_goto_targets(film_dap *dap, const film_json_node *arguments)
{
    int64_t told = film_dap_get_integer(dap, arguments, "line", 0);
    int64_t line = film_dap_line_of(dap, told);
    hits found = {0};
    size_t source;
    bool fine;

    if (line <= 0 || line > INT32_MAX) {
        return film_dap_refuse(dap, "there is no such line");
    }
    if (!film_dap_find_source(dap, film_json_get(&dap->request, arguments, "source"),
                              &source)) {
        return false;
    }
    fine = collect_hits(dap, source, line, NULL, false, MOST_HITS, &found);
    film_json_open(&dap->response, "targets", '[');
    if (fine && found.all) {
        put_counted(dap, &found, told);
    }
    else if (fine) {
        fine = put_nearest(dap, source, line, told);
    }
    film_json_close(&dap->response, ']');
    film_free(found.list);
    return fine;
}

/* --- the others --- */

bool
film_dap_goto(film_dap *dap, const film_json_node *arguments)
{
    const film_dap_handle *target =
        film_dap_find_handle(dap, film_dap_get_integer(dap, arguments, "targetId", 0));
    char moment[FILM_DAP_MOMENT], with[64];
    const char *colon;

    if (target == NULL || target->kind != FILM_DAP_TARGET) {
        return target != NULL ? film_dap_refuse(dap, "this is no target") : false;
    }
    film_dap_copy_moment(moment, target->moment);
    colon = strchr(moment, ':');
    snprintf(with, sizeof(with), "\"event\": %" PRIu64,
             colon == NULL ? 0 : (uint64_t)strtoull(colon + 1, NULL, 10));
    return film_dap_jump(dap, moment, "event", with, "goto", "Went there");
}

bool
film_dap_restart_frame(film_dap *dap, const film_json_node *arguments)
{
    const film_dap_handle *frame =
        film_dap_find_handle(dap, film_dap_get_integer(dap, arguments, "frameId", 0));
    char moment[FILM_DAP_MOMENT], with[64];

    if (frame == NULL || frame->kind != FILM_DAP_FRAME) {
        return frame != NULL ? film_dap_refuse(dap, "this is no frame") : false;
    }
    film_dap_copy_moment(moment, frame->moment);
    snprintf(with, sizeof(with), "\"frame\": %" PRIu64, frame->frame);
    return film_dap_jump(dap, moment, "call", with, "restart", "Call of the frame");
}

bool
film_dap_restart(film_dap *dap, const film_json_node *arguments)
{
    (void)arguments;
    return film_dap_jump(dap, dap->first, "start", NULL, "entry",
                         "Start of the recording");
}

/* filmstrip/jump: how, and what film_query's move takes for it. */
bool
film_dap_jump_request(film_dap *dap, const film_json_node *arguments)
{
    static const char *const texts[] = {"variable", "file"};
    static const char *const numbers[] = {"event", "time_ns", "line", "n", "count"};
    const film_json_node *fraction =
        film_json_get(&dap->request, arguments, "fraction");
    const char *how = film_dap_get_text(dap, arguments, "how");
    const film_dap_handle *frame = NULL;
    int64_t frame_id = film_dap_get_integer(dap, arguments, "frameId", 0);
    film_json_writer with = {0};
    char moment[FILM_DAP_MOMENT], text[2048];

    if (how == NULL || strstr(how, "continue") != NULL) {
        return film_dap_refuse(dap, "'how' is missing");
    }
    if (!film_dap_thread_moment(
            dap, film_dap_get_integer(dap, arguments, "threadId", 0), moment) ||
        (frame_id > 0 && (frame = film_dap_find_handle(dap, frame_id)) == NULL)) {
        return false;
    }
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const char *value = film_dap_get_text(dap, arguments, texts[i]);
        if (value != NULL) {
            film_json_add_text(&with, texts[i], value);
        }
    }
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        const film_json_node *value =
            film_json_get(&dap->request, arguments, numbers[i]);
        if (film_json_is(value, FILM_JSON_INTEGER)) {
            film_json_add_integer(&with, numbers[i], value->integer);
        }
    }
    if (film_dap_get_bool(dap, arguments, "passing", false)) {
        film_json_add_bool(&with, "passing", true);
    }
    if (fraction != NULL) {
        film_json_add_real(&with, "fraction", film_json_number(fraction));
    }
    if (frame != NULL && frame->kind == FILM_DAP_FRAME) {
        film_json_add_integer(&with, "frame", (int64_t)frame->frame);
    }
    snprintf(text, sizeof(text), "%.*s", with.out.failed ? 0 : (int)with.out.length,
             with.out.data == NULL ? "" : (const char *)with.out.data);
    film_json_writer_reset(&with);
    return film_dap_jump(dap, moment, how, text, "goto", "Went there");
}
