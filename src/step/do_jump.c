/* do_jump.c: to a moment that is named: by number, time, place, condition, text.
 * SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "step/handlers.h"
#include "step/paragraph.h"

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
        if (number > (uint64_t)1 << 53) {
            (void)film_step_fail(step, "there is no such event");
            return;
        }
        begin_jump(step, "event");
        film_step_add_number(step, "event", number);
        (void)film_step_move(step, false, NULL);
    }
}

bool
film_step_to_time(film_step *step, const char *text)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"s", 1e9},  {"ms", 1e6},   {"us", 1e3},  {"ns", 1.0},
                 {"m", 6e10}, {"min", 6e10}, {"h", 3.6e12}};
    size_t digits = strspn(text, "0123456789.");
    char *unit, fraction[40];
    double number;

    if (digits == 0 || digits > 24) {
        return false;
    }
    number = strtod(text, &unit);
    if (unit != text + digits) {
        return false;
    }
    unit += strspn(unit, " ");
    if (strcmp(unit, "%") == 0) {
        int length = snprintf(fraction, sizeof(fraction), "%.9f", number / 100.0);
        begin_jump(step, "fraction");
        film_step_add_raw(step, "fraction", fraction, (size_t)length);
        (void)film_step_move(step, false, NULL);
        return true;
    }
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(unit, units[i].name) == 0) {
            double ns = number * units[i].ns + 0.5;
            begin_jump(step, "time");
            film_step_add_number(step, "time_ns",
                                 ns < 9e15 ? (uint64_t)ns : (uint64_t)9e15);
            (void)film_step_move(step, false, NULL);
            return true;
        }
    }
    return false;
}

void
film_step_do_time(film_step *step, const film_word_info *word, const char *arguments)
{
    (void)word;
    if (!film_step_to_time(step, arguments)) {
        (void)film_step_fail(step, "'%.40s' is no time like 1.5s, 20ms, 300us or 50%%",
                             arguments);
    }
}

void
film_step_do_hit(film_step *step, const film_word_info *word, const char *arguments)
{
    size_t length = strcspn(arguments, " \t");
    const char *rest = arguments + length + strspn(arguments + length, " \t");
    film_step_place place;
    char *end = NULL;
    long long n = rest[0] == '\0' ? 1 : strtoll(rest, &end, 10);

    (void)word;
    if (!film_step_parse_place(step, arguments, length, &place) ||
        (end != NULL && (*end != '\0' || end == rest || n == 0))) {
        (void)film_step_fail(step, "give a line and which time it ran: "
                                   "hit FILE:LINE N; -1 is the last time");
        return;
    }
    begin_jump(step, "hit");
    film_step_add_text(step, "file", place.file, strlen(place.file));
    film_step_add_number(step, "line", place.line);
    if (n < 0) {
        char number[32];
        int digits = snprintf(number, sizeof(number), "%lld", n);
        film_step_add_raw(step, "n", number, (size_t)digits);
    }
    else {
        film_step_add_number(step, "n", (uint64_t)n);
    }
    (void)film_step_move(step, false, "the line did not run that often");
}

void
film_step_to_condition(film_step *step, const char *condition, film_word how)
{
    bool back = how == FILM_WORD_RFIRST;

    film_step_begin(step, "first");
    film_step_add_text(step, "condition", condition, strlen(condition));
    film_step_add_raw(step, "back", back ? "true" : "false", back ? 4 : 5);
    if (how == FILM_WORD_BISECT) {
        film_step_add_raw(step, "monotone", "true", 4);
    }
    (void)film_step_move(step, false,
                         back
                             ? "it was not true before, in this function"
                             : "it does not become true behind this, in this function");
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

static void
search(film_step *step, const char *text, bool back)
{
    const char *no = back ? "it did not run before" : "it does not run behind this";
    film_step_place place;
    film_buffer spec = {0};

    if (text[0] == '@') {
        (void)film_step_jump(step, text + 1);
    }
    else if (strncmp(text, "raise", 5) == 0 && (text[5] == ' ' || text[5] == '\0')) {
        film_step_to_raise(step, text + 5 + strspn(text + 5, " "), back);
    }
    else if (strncmp(text, "fn:", 3) == 0) {
        film_step_spec_function(&spec, text + 3, strlen(text + 3));
    }
    else if (strchr(text, ':') != NULL &&
             film_step_parse_place(step, text, strlen(text), &place)) {
        film_step_spec_line(&spec, &place);
    }
    else if (looks_like_condition(text)) {
        film_step_to_condition(step, text, back ? FILM_WORD_RFIRST : FILM_WORD_FIRST);
    }
    else if (!isdigit((unsigned char)text[0]) || !film_step_to_time(step, text)) {
        find_text(step, text, back);
    }
    if (spec.length > 0) {
        film_buffer_put_byte(&spec, '\0');
        if (!spec.failed) {
            film_step_run_to(step, (const char *)spec.data, back, no);
        }
    }
    film_buffer_reset(&spec);
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
