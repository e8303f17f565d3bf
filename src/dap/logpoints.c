/* logpoints.c: a log point that is set says at once what it would have said so far:
 * a print statement after the fact.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "dap/points.h"
#include "dap/search.h"

/* So many of the latest hits are shown. */
#define MOST_TOLD 1000u

typedef struct past {
    char **lines; /* owned, the latest first */
    size_t count, capacity;
    uint64_t hits;
} past;

static bool
keep_lines(past *kept, const film_dap_answer *answer)
{
    const film_json_node *log = film_json_get(&answer->json, answer->root, "log");

    for (const film_json_node *line = film_json_first(&answer->json, log); line != NULL;
         line = film_json_next(&answer->json, line)) {
        const char *text = film_dap_text(answer, line, "text");
        char **lines;
        kept->hits++;
        if (kept->count >= MOST_TOLD || text == NULL) {
            continue;
        }
        lines =
            film_grow(kept->lines, &kept->capacity, kept->count + 1, sizeof(*lines));
        if (lines == NULL) {
            return false;
        }
        kept->lines = lines;
        lines[kept->count] = film_alloc(strlen(text) + 1);
        if (lines[kept->count] == NULL) {
            return false;
        }
        memcpy(lines[kept->count++], text, strlen(text));
    }
    return true;
}

/* The hits before the moment, from the latest on. False: there may be more: so many are
 * enough, the client stopped it, or it failed. */
static bool
collect(film_dap *dap, const film_dap_point *point, past *kept)
{
    film_dap_answer answer = {0};
    film_dap_watch watch;
    char next[FILM_DAP_MOMENT] = "";
    bool fine;

    film_dap_watch_begin(dap, &watch, "Log point: past hits");
    for (;;) {
        film_json_writer *question = film_dap_question(dap, "move");
        const char *where;
        film_json_add_text(question, "m", dap->moment);
        film_json_add_text(question, "how", "reverse-continue");
        film_json_add_bool(question, "across", true);
        film_json_add_integer(question, "frames", 0);
        film_json_open(question, "breakpoints", '[');
        film_json_add_raw(question, NULL, point->spec, strlen(point->spec));
        film_json_close(question, ']');
        if (next[0] != '\0') {
            film_json_add_text(question, "next", next);
        }
        fine = film_dap_ask(dap, &answer) && keep_lines(kept, &answer);
        where = fine ? film_dap_text(&answer, answer.root, "next") : NULL;
        if (where == NULL || kept->count >= MOST_TOLD) {
            fine = fine && where == NULL;
            break;
        }
        film_dap_copy_moment(next, where);
        if (film_dap_watch_go_on(dap, &watch, -1) != FILM_DAP_GO_ON) {
            fine = false;
            break;
        }
    }
    film_dap_watch_end(dap, &watch);
    film_dap_answer_reset(&answer);
    return fine;
}

static void
tell_point(film_dap *dap, const film_dap_point *point)
{
    past kept = {0};
    bool all = collect(dap, point, &kept);
    char text[160];

    if (kept.hits > 0) {
        snprintf(text, sizeof(text), "%s%zu past hit%s of this log point:",
                 all && kept.hits == kept.count ? "" : "the latest ", kept.count,
                 kept.count == 1 ? "" : "s");
        film_dap_tell_log(dap, point, text);
    }
    for (size_t i = kept.count; i > 0; i--) {
        film_dap_tell_log(dap, point, kept.lines[i - 1]);
        film_free(kept.lines[i - 1]);
    }
    film_free(kept.lines);
}

void
film_dap_tell_past(film_dap *dap)
{
    for (size_t i = 0; i < dap->points.count; i++) {
        film_dap_point *point = &dap->points.list[i];
        if (point->log && point->verified && !point->told) {
            point->told = true;
            tell_point(dap, point);
        }
    }
}
