/* prompt.c: a line being typed, with history and completion of commands.
 * SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "screen/screen_state.h"

#define CONTROL(letter) ((letter) & 0x1f)
#define DELETE_KEY 0x7f
#define ESCAPE_KEY 0x1b

void
film_prompt_open(film_screen *screen, char sign, const char *text)
{
    film_prompt *prompt = &screen->prompt;

    prompt->sign = sign;
    snprintf(prompt->text, sizeof(prompt->text), "%s", text);
    prompt->length = prompt->at = strlen(prompt->text);
    prompt->history_at = prompt->history_count;
}

void
film_prompt_reset(film_prompt *prompt)
{
    for (size_t i = 0; i < prompt->history_count; i++) {
        free(prompt->history[i]);
    }
    memset(prompt, 0, sizeof(*prompt));
}

static void
remember(film_prompt *prompt)
{
    char *copy;

    if (prompt->length == 0 ||
        (prompt->history_count > 0 &&
         strcmp(prompt->history[prompt->history_count - 1], prompt->text) == 0)) {
        return;
    }
    copy = strdup(prompt->text);
    if (copy == NULL) {
        return; /* a history is a comfort */
    }
    if (prompt->history_count == FILM_SCREEN_HISTORY) {
        free(prompt->history[0]);
        memmove(&prompt->history[0], &prompt->history[1],
                (FILM_SCREEN_HISTORY - 1) * sizeof(prompt->history[0]));
        prompt->history_count--;
    }
    prompt->history[prompt->history_count++] = copy;
}

static void
recall(film_prompt *prompt, bool back)
{
    const char *text = "";

    if (back && prompt->history_at > 0) {
        prompt->history_at--;
    }
    else if (!back && prompt->history_at < prompt->history_count) {
        prompt->history_at++;
    }
    if (prompt->history_at < prompt->history_count) {
        text = prompt->history[prompt->history_at];
    }
    snprintf(prompt->text, sizeof(prompt->text), "%s", text);
    prompt->length = prompt->at = strlen(prompt->text);
}

static bool
is_within(const film_prompt *prompt, size_t at)
{
    return at < prompt->length && ((unsigned char)prompt->text[at] & 0xc0) == 0x80;
}

static size_t
before(const film_prompt *prompt, size_t at)
{
    while (at > 0 && is_within(prompt, --at)) {
    }
    return at;
}

static size_t
behind(const film_prompt *prompt, size_t at)
{
    at += at < prompt->length;
    while (is_within(prompt, at)) {
        at++;
    }
    return at;
}

static void
cut(film_prompt *prompt, size_t from, size_t to)
{
    memmove(prompt->text + from, prompt->text + to, prompt->length - to + 1);
    prompt->length -= to - from;
    prompt->at = from;
}

static void
insert(film_prompt *prompt, const char *bytes, size_t length)
{
    if (prompt->length + length + 1 >= sizeof(prompt->text)) {
        return;
    }
    memmove(prompt->text + prompt->at + length, prompt->text + prompt->at,
            prompt->length - prompt->at + 1);
    memcpy(prompt->text + prompt->at, bytes, length);
    prompt->length += length;
    prompt->at += length;
}

/* The one command that begins so; several: what they share. */
static void
complete(film_screen *screen)
{
    film_prompt *prompt = &screen->prompt;
    const char *found = NULL;
    size_t shared = 0;

    if (prompt->sign != ':' || memchr(prompt->text, ' ', prompt->length) != NULL) {
        return;
    }
    for (size_t i = 0; i < FILM_WORD_COUNT; i++) {
        const char *name = film_words[i].name;
        if (strncmp(name, prompt->text, prompt->length) != 0) {
            continue;
        }
        if (found == NULL) {
            found = name;
            shared = strlen(name);
        }
        while (strncmp(found, name, shared) != 0) {
            shared--;
        }
    }
    if (found != NULL && shared > prompt->length) {
        prompt->at = prompt->length;
        insert(prompt, found + prompt->length, shared - prompt->length);
    }
    if (film_word_find(prompt->text, prompt->length) != NULL) {
        insert(prompt, " ", 1);
    }
}

/* Runs what was typed. */
static void
enter(film_screen *screen)
{
    film_prompt *prompt = &screen->prompt;
    char line[FILM_SCREEN_TYPED + 8];

    snprintf(line, sizeof(line), "%s%s", prompt->sign == '/' ? "search " : "",
             prompt->text);
    prompt->sign = 0;
    if (prompt->text[strspn(prompt->text, " ")] == '\0') {
        if (line[0] == 's') {
            film_screen_run_command(screen, "search");
        }
        return;
    }
    remember(prompt);
    film_screen_run_command(screen, line);
}

static void
code_key(film_screen *screen, wint_t key)
{
    film_prompt *prompt = &screen->prompt;

    switch ((int)key) {
    case KEY_LEFT:
        prompt->at = before(prompt, prompt->at);
        break;
    case KEY_RIGHT:
        prompt->at = behind(prompt, prompt->at);
        break;
    case KEY_HOME:
        prompt->at = 0;
        break;
    case KEY_END:
        prompt->at = prompt->length;
        break;
    case KEY_UP:
    case KEY_DOWN:
        recall(prompt, key == KEY_UP);
        break;
    case KEY_BACKSPACE:
        film_prompt_key(screen, DELETE_KEY, false);
        break;
    case KEY_DC:
        cut(prompt, prompt->at, behind(prompt, prompt->at));
        break;
    case KEY_ENTER:
        enter(screen);
        break;
    default:
        break;
    }
}

static void
character_key(film_screen *screen, wint_t key)
{
    film_prompt *prompt = &screen->prompt;
    char bytes[MB_LEN_MAX];
    mbstate_t state;
    size_t length, from = prompt->at;

    switch (key) {
    case '\n':
    case '\r':
        enter(screen);
        return;
    case ESCAPE_KEY:
        prompt->sign = 0;
        return;
    case '\t':
        complete(screen);
        return;
    case '\b':
    case DELETE_KEY:
        if (prompt->length == 0) {
            prompt->sign = 0;
            return;
        }
        cut(prompt, before(prompt, from), from);
        return;
    case CONTROL('u'):
        cut(prompt, 0, from);
        return;
    case CONTROL('a'):
        prompt->at = 0;
        return;
    case CONTROL('e'):
        prompt->at = prompt->length;
        return;
    case CONTROL('w'):
        while (from > 0 && prompt->text[from - 1] == ' ') {
            from--;
        }
        while (from > 0 && prompt->text[from - 1] != ' ') {
            from--;
        }
        cut(prompt, from, prompt->at);
        return;
    default:
        break;
    }
    memset(&state, 0, sizeof(state));
    length = wcrtomb(bytes, (wchar_t)key, &state);
    if (key >= 0x20 && length != (size_t)-1) {
        insert(prompt, bytes, length);
    }
}

void
film_prompt_key(film_screen *screen, wint_t key, bool is_code)
{
    if (is_code) {
        code_key(screen, key);
    }
    else {
        character_key(screen, key);
    }
}

void
film_prompt_draw(film_screen *screen, int row)
{
    const film_prompt *prompt = &screen->prompt;
    char sign[2] = {prompt->sign, '\0'};
    int width = screen->columns - 2;
    size_t from = 0;
    film_text head = {prompt->text, prompt->at};
    film_text rest;

    /* The end that is being typed stays in sight. */
    while (film_draw_width(screen, head) >= width) {
        from = behind(prompt, from);
        head = (film_text){prompt->text + from, prompt->at - from};
    }
    rest = (film_text){prompt->text + from, prompt->length - from};
    film_draw_words(screen, row, 0, 1, sign, FILM_LOOK_PLAIN);
    film_draw_text(screen, row, 1, width, rest, FILM_LOOK_PLAIN);
    move(row, 1 + film_draw_width(screen, head));
    curs_set(1);
}
