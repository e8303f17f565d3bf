/* search.c: long questions, asked piece by piece: the client sees how far they are and
 * can stop them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dap/search.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"

/* Shorter ones show nothing. */
#define SHOW_AFTER_NS 500000000u
#define SHOW_EVERY_NS 200000000u

void
film_dap_watch_begin(film_dap *dap, film_dap_watch *watch, const char *title)
{
    memset(watch, 0, sizeof(*watch));
    watch->title = title;
    watch->began_ns = film_clock_monotonic_ns();
    dap->interrupt = FILM_DAP_GO_ON;
    dap->progress_id[0] = '\0';
}

static void
show(film_dap *dap, film_dap_watch *watch, double progress)
{
    film_json_writer *out;

    if (!watch->shown) {
        snprintf(dap->progress_id, sizeof(dap->progress_id), "search-%lld",
                 (long long)++dap->progress_count);
        out = film_dap_event(dap, "progressStart");
        film_json_add_text(out, "title", watch->title);
        film_json_add_bool(out, "cancellable", true);
        film_json_add_integer(out, "requestId", dap->request_seq);
    }
    else {
        out = film_dap_event(dap, "progressUpdate");
    }
    film_json_add_text(out, "progressId", dap->progress_id);
    if (progress >= 0 && progress <= 1) {
        film_json_add_real(out, "percentage", progress * 100);
    }
    film_dap_send_event(dap);
    watch->shown = true;
}

film_dap_interrupt
film_dap_watch_go_on(film_dap *dap, film_dap_watch *watch, double progress)
{
    uint64_t now_ns = film_clock_monotonic_ns();

    if (dap->client.progress && now_ns - watch->began_ns >= SHOW_AFTER_NS &&
        now_ns - watch->shown_ns >= SHOW_EVERY_NS) {
        show(dap, watch, progress);
        watch->shown_ns = now_ns;
    }
    film_dap_look_for_input(dap);
    return dap->interrupt;
}

void
film_dap_watch_end(film_dap *dap, film_dap_watch *watch)
{
    if (watch->shown) {
        film_json_writer *out = film_dap_event(dap, "progressEnd");
        film_json_add_text(out, "progressId", dap->progress_id);
        film_dap_send_event(dap);
    }
    dap->progress_id[0] = '\0';
}

/* What log points said, into the editor's console. */
static void
tell_log(film_dap *dap, const film_dap_answer *answer)
{
    const film_json_node *log = film_json_get(&answer->json, answer->root, "log");

    for (const film_json_node *line = film_json_first(&answer->json, log); line != NULL;
         line = film_json_next(&answer->json, line)) {
        film_dap_tell_log(dap,
                          film_dap_active_point(
                              dap, film_dap_integer(answer, line, "breakpoint", -1)),
                          film_dap_text(answer, line, "text"));
    }
}

void
film_dap_tell_log(film_dap *dap, const film_dap_point *point, const char *text)
{
    film_json_writer *out = film_dap_event(dap, "output");

    film_json_add_text(out, "category", "console");
    film_json_add_key(out, "output");
    text = text == NULL ? "" : text;
    film_json_put_text(&out->out, text, strlen(text));
    out->out.length -= out->out.length > 0; /* its quote goes behind the newline */
    film_buffer_append(&out->out, "\\n\"", 3);
    if (point != NULL && point->group == FILM_DAP_LINE &&
        point->source < dap->source_count) {
        film_dap_put_source(dap, out, "source", point->source);
        film_json_add_integer(out, "line", film_dap_line(dap, point->line));
    }
    film_dap_send_event(dap);
}

bool
film_dap_search(film_dap *dap, const char *title, film_dap_answer *answer,
                film_dap_interrupt *interrupt)
{
    film_buffer base = {0};
    film_dap_watch watch;
    char next[FILM_DAP_MOMENT] = "";
    bool fine;

    film_buffer_append(&base, dap->question.out.data, dap->question.out.length);
    film_dap_watch_begin(dap, &watch, title);
    *interrupt = FILM_DAP_GO_ON;
    for (;;) {
        const char *where;
        fine = !base.failed && film_dap_ask(dap, answer);
        if (!fine) {
            break;
        }
        tell_log(dap, answer);
        where = film_dap_text(answer, answer->root, "next");
        if (where == NULL) {
            break;
        }
        film_dap_copy_moment(next, where);
        *interrupt = film_dap_watch_go_on(
            dap, &watch,
            film_json_number(film_json_get(&answer->json, answer->root, "progress")));
        if (*interrupt != FILM_DAP_GO_ON) {
            break;
        }
        film_json_writer_clear(&dap->question);
        film_buffer_append(&dap->question.out, base.data, base.length);
        dap->question.comma = true;
        film_json_add_text(&dap->question, "next", next);
    }
    film_dap_watch_end(dap, &watch);
    film_buffer_reset(&base);
    if (fine && *interrupt == FILM_DAP_PAUSED) {
        film_json_writer *question = film_dap_question(dap, "moment");
        film_json_add_text(question, "m", next);
        fine = film_dap_ask(dap, answer);
    }
    return fine;
}
