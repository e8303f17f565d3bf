/* do_jump.c: to a moment that is named: by number, time, place, condition, text.
 * SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time_text.h"
#include "step/handlers.h"
#include "step/paragraph.h"

/* Numbers of requests are below 2^53. */
#define MOST_NS ((uint64_t)1 << 53)

static void
begin_jump(film_step *step, const char *how)
{
    film_step_begin(step, "move");
    film_step_add_text(step, "how", how, strlen(how));
    film_step_add_number(step, "frames", FILM_STEP_FRAMES);
}

bool
film_step_jump(film_step *step, const char *place)
{
    char before[FILM_STEP_PLACE];
    uint64_t frame = step->frame, innermost = step->innermost;

    memcpy(before, step->at, sizeof(before));
    if (strlen(place) >= sizeof(step->at)) {
        return film_step_fail(step, "'%.40s' is no moment: thread:event", place);
    }
    memcpy(step->at, place, strlen(place) + 1);
    step->frame = step->innermost = 0;
    film_step_begin(step, "moment");
    film_step_add_number(step, "frames", FILM_STEP_FRAMES);
    if (!film_step_ask(step)) {
        memcpy(step->at, before, sizeof(before));
        step->frame = frame;
        step->innermost = innermost;
        return false;
    }
    memcpy(step->at, before, sizeof(before));
    (void)film_step_arrive(step, false);
    film_step_tell_here(step);
    return true;
}

void
film_step_do_event(film_step *step, const film_word_info *word, const char *arguments)
{
    uint64_t number;

    (void)word;
    if (strchr(arguments, ':') != NULL) {
        (void)film_step_jump(step, arguments);
        return;
    }
    if (arguments[0] == '\0') {
        (void)film_step_fail(step, "which event? event N or event THREAD:N");
        return;
    }
    if (film_step_parse_count(step, arguments, 0, &number)) {
        begin_jump(step, "event");
        film_step_add_number(step, "event", number < MOST_NS ? number : MOST_NS);
        (void)film_step_move(step, false, NULL);
    }
}

bool
film_step_to_time(film_step *step, const char *text)
{
    film_time_text told;
    char fraction[400];

    if (!film_time_text_read(text, &told)) {
        return false;
    }
    begin_jump(step, told.is_share ? "fraction" : "time");
    if (told.is_share) {
        int length = snprintf(fraction, sizeof(fraction), "%.9f", told.share);
        film_step_add_raw(step, "fraction", fraction, (size_t)length);
    }
    else {
        film_step_add_number(step, "time_ns",
                             told.last_ns < MOST_NS ? told.last_ns : MOST_NS);
    }
    (void)film_step_move(step, false, NULL);
    return true;
}

void
film_step_do_time(film_step *step, const film_word_info *word, const char *arguments)
{
    (void)word;
    if (!film_step_to_time(step, arguments)) {
        (void)film_step_fail(step, "'%.40s' is no time like 0.25, 1.5s, 20ms or 50%%",
                             arguments);
    }
}

void
film_step_do_hit(film_step *step, const film_word_info *word, const char *arguments)
{
    size_t length = strcspn(arguments, " \t");
    const char *rest = arguments + length + strspn(arguments + length, " \t");
    film_step_place place;
    char *end = NULL, no[64];
    long long n = rest[0] == '\0' ? 1 : strtoll(rest, &end, 10);

    (void)word;
    if (length == 0 || (end != NULL && (*end != '\0' || end == rest || n == 0))) {
        (void)film_step_fail(step, "give a place and which time it ran: "
                                   "hit FILE:LINE N; -1 is the last time");
        return;
    }
    if (!film_step_look(step) ||
        !film_step_parse_location(step, arguments, length, &place)) {
        return;
    }
    begin_jump(step, "hit");
    film_step_add_location(step, &place);
    if (n < 0) {
        char number[32];
        int digits = snprintf(number, sizeof(number), "%lld", n);
        film_step_add_raw(step, "n", number, (size_t)digits);
    }
    else {
        film_step_add_number(step, "n", (uint64_t)n);
    }
    snprintf(no, sizeof(no), "it ran fewer than %llu times",
             n < 0 ? 0 - (unsigned long long)n : (unsigned long long)n);
    (void)film_step_move(step, false, n == 1 || n == -1 ? "it did not run" : no);
}

void
film_step_to_condition(film_step *step, const char *condition, film_word how)
{
    bool back = how == FILM_WORD_RFIRST;
    char from[FILM_STEP_PLACE];

    memcpy(from, step->at, sizeof(from));
    film_step_begin(step, "first");
    film_step_add_text(step, "condition", condition, strlen(condition));
    film_step_add_raw(step, "back", back ? "true" : "false", back ? 4 : 5);
    if (how == FILM_WORD_BISECT) {
        film_step_add_raw(step, "monotone", "true", 4);
    }
    if (!film_step_ask(step)) {
        return;
    }
    if (!film_step_came_to_end(step)) {
        film_output_format(&step->out,
                           back ? "last true before event %s:\n"
                                : "first true behind event %s:\n",
                           from);
    }
    (void)film_step_finish_move(step, false, "it is not true there");
}

void
film_step_do_first(film_step *step, const film_word_info *word, const char *arguments)
{
    if (arguments[0] == '\0') {
        (void)film_step_fail(step, "which condition? Like: %s loss > 10", word->name);
        return;
    }
    film_step_to_condition(step, arguments, word->word);
}

void
film_step_do_undo(film_step *step, const film_word_info *word, const char *arguments)
{
    char place[FILM_STEP_PLACE];
    size_t before = step->trail_count;

    (void)word;
    (void)arguments;
    if (before == 0 || step->trail[(before - 1) % FILM_STEP_TRAIL][0] == '\0') {
        (void)film_step_fail(step, "there is no move to take back");
        return;
    }
    memcpy(place, step->trail[(before - 1) % FILM_STEP_TRAIL], sizeof(place));
    (void)film_step_jump(step, place);
    step->trail[(before - 1) % FILM_STEP_TRAIL][0] = '\0';
    step->trail_count = before - 1; /* going back is no move of its own */
}

/* Where the thread with that number stood; empty: it had not begun. */
static bool
find_thread(film_step *step, uint64_t id, char *place)
{
    const film_json *reply = &step->reply;
    const film_json_node *list = film_json_get(reply, film_json_root(reply), "threads");

    for (const film_json_node *item = film_json_first(reply, list); item != NULL;
         item = film_json_next(reply, item)) {
        if (film_step_number(reply, item, "id") == id) {
            snprintf(place, FILM_STEP_PLACE, "%s", film_step_text(reply, item, "m"));
            return true;
        }
    }
    return false;
}

void
film_step_do_thread(film_step *step, const film_word_info *word, const char *arguments)
{
    char place[FILM_STEP_PLACE] = "";
    uint64_t id;

    (void)word;
    if (arguments[0] == '\0') {
        (void)film_step_fail(step, "which thread? threads lists them");
        return;
    }
    if (!film_step_parse_count(step, arguments, 0, &id)) {
        return;
    }
    if (strcmp(step->at, step->switched_to) != 0) {
        memcpy(step->switched_at, step->at, sizeof(step->switched_at));
    }
    film_step_begin_at(step, "threads", step->switched_at);
    film_step_add_number(step, "frames", 1);
    if (!film_step_ask(step)) {
        return;
    }
    if (!find_thread(step, id, place)) {
        (void)film_step_fail(step, "there is no thread %.20s", arguments);
    }
    else if (place[0] == '\0') {
        (void)film_step_fail(step, "thread %.20s has not begun here", arguments);
    }
    else if (film_step_jump(step, place)) {
        memcpy(step->switched_to, step->at, sizeof(step->switched_to));
    }
}

/* --- search: one box for all of them --- */

static void
answer_place(film_step *step, const char *file, uint64_t line)
{
    char number[40];

    film_buffer_clear(&step->answer);
    film_buffer_append_text(&step->answer, "{\"file\": ");
    film_json_put(&step->answer, file, strlen(file));
    snprintf(number, sizeof(number), ", \"line\": %" PRIu64 "}", line);
    film_buffer_append_text(&step->answer, number);
}

static bool
looks_like_condition(const char *text)
{
    return strpbrk(text, "<>=") != NULL || strstr(text, " in ") != NULL ||
           strstr(text, " is ") != NULL || strncmp(text, "not ", 4) == 0;
}

/* The next line of this source that holds the text, around the end. One does not move:
 * the line is told, and until goes there. */
static void
find_text(film_step *step, const char *text, bool back)
{
    size_t index;
    const film_json_node *frame = film_step_frame(step, &index);
    const film_source_lines *source =
        frame == NULL ? NULL
                      : film_sources_get(&step->sources, step->reader,
                                         film_step_text(&step->moment, frame, "file"));
    uint64_t from =
        step->found != 0 ? step->found : film_step_number(&step->moment, frame, "line");

    for (uint64_t i = 1; source != NULL && i <= source->count; i++) {
        uint64_t line = (from - 1 + (back ? source->count - i : i)) % source->count + 1;
        film_text held = film_source_line(source, line);
        if (memmem(held.data, held.length, text, strlen(text)) != NULL) {
            step->found = line;
            film_output_display(&step->out,
                                film_text_of(film_step_short_file(source->file)));
            film_output_format(&step->out, ":%" PRIu64 "  ", line);
            film_output_display(&step->out, held);
            film_output_byte(&step->out, '\n');
            if (step->json) {
                answer_place(step, source->file, line);
            }
            return;
        }
    }
    (void)film_step_fail(step, "'%.80s' is not in this source", text);
}

/* FILE:LINE, FILE:FUNCTION and fn:NAME; false: the text is none of them. */
static bool
find_place(film_step *step, const char *text, film_step_place *place)
{
    char file[1024];

    if (strncmp(text, "fn:", 3) == 0) {
        return film_step_parse_location(step, text + 3, strlen(text + 3), place);
    }
    if (strchr(text, ':') == NULL) {
        return false;
    }
    if (film_step_parse_place(step, text, strlen(text), place)) {
        return true;
    }
    return !looks_like_condition(text) && strchr(text, ' ') == NULL &&
           film_step_take_function(text, strlen(text), place) &&
           film_step_find_file(step, place->file, file, sizeof(file));
}

static void
search(film_step *step, const char *text, bool back)
{
    film_step_place place;

    if (text[0] == '@') {
        (void)film_step_jump(step, text + 1);
    }
    else if (strncmp(text, "raise", 5) == 0 && (text[5] == ' ' || text[5] == '\0')) {
        film_step_to_raise(step, text + 5 + strspn(text + 5, " "), back);
    }
    else if (find_place(step, text, &place)) {
        film_step_run_to(step, &place, back);
    }
    else if (step->failed) {
        return; /* fn: and no name, which was told */
    }
    else if (looks_like_condition(text)) {
        film_step_to_condition(step, text, back ? FILM_WORD_RFIRST : FILM_WORD_FIRST);
    }
    else if (!isdigit((unsigned char)text[0]) || !film_step_to_time(step, text)) {
        find_text(step, text, back);
    }
}

void
film_step_do_search(film_step *step, const film_word_info *word, const char *arguments)
{
    if (arguments[0] != '\0') {
        film_buffer_clear(&step->searched);
        film_buffer_append(&step->searched, arguments, strlen(arguments) + 1);
    }
    if (step->searched.length == 0 || step->searched.failed) {
        (void)film_step_fail(step, "search for what? Like: loss > 10, train.py:12, "
                                   "fn:forward, raise KeyError");
        return;
    }
    if (film_step_look(step)) {
        search(step, (const char *)step->searched.data,
               word->word == FILM_WORD_RSEARCH);
    }
}
