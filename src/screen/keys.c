/* keys.c: single keys. Which key is which command stands in the table of commands
 * (analysis/commands.h); here is what the screen adds to it: the variable that is
 * picked, the line under the cursor.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "screen/screen_state.h"
#include "step/stops.h"

#define CONTROL(letter) ((letter) & 0x1f)
#define ESCAPE_KEY 0x1b

/* What the table calls keys that are no characters. */
static const struct {
    const char *name;
    int code; /* ncurses'; 0: `character` alone */
    wint_t character;
} named_keys[] = {
    {"Right", KEY_RIGHT, 0},    {"Left", KEY_LEFT, 0},
    {"Down", KEY_DOWN, 0},      {"Up", KEY_UP, 0},
    {"Home", KEY_HOME, 0},      {"End", KEY_END, 0},
    {"PageUp", KEY_PPAGE, 0},   {"PageDown", KEY_NPAGE, 0},
    {"Enter", KEY_ENTER, '\n'}, {"Backspace", KEY_BACKSPACE, 0x7f},
    {"Backspace", 0, '\b'},     {"Enter", 0, '\r'},
};

#define NAMED_COUNT (sizeof(named_keys) / sizeof(named_keys[0]))

/* The name of a key as the table writes it; empty: it has none. */
static void
name_key(wint_t key, bool is_code, char name[16])
{
    name[0] = '\0';
    for (size_t i = 0; i < NAMED_COUNT; i++) {
        if (is_code ? named_keys[i].code == (int)key && named_keys[i].code != 0
                    : named_keys[i].character == key && named_keys[i].character != 0) {
            snprintf(name, 16, "%s", named_keys[i].name);
            return;
        }
    }
    if (!is_code && key > 0x20 && key < 0x7f) {
        name[0] = (char)key;
        name[1] = '\0';
    }
}

static const film_word_info *
find_word(const char *key)
{
    size_t length = strlen(key);

    for (size_t i = 0; i < FILM_WORD_COUNT && length > 0; i++) {
        const char *keys = film_words[i].keys;
        while (*keys != '\0') {
            size_t one = strcspn(keys, " ");
            if (one == length && memcmp(keys, key, length) == 0) {
                return &film_words[i];
            }
            keys += one + (keys[one] == ' ');
        }
    }
    return NULL;
}

/* A command about the picked variable; without one it is typed. */
static void
about_pick(film_screen *screen, const film_word_info *word)
{
    char line[200];

    snprintf(line, sizeof(line), "%s %s", word->name, screen->pick);
    if (screen->pick[0] == '\0') {
        film_prompt_open(screen, ':', line);
        film_screen_say(screen, false, "");
        return;
    }
    film_screen_run_command(screen, line);
}

static void
at_cursor(film_screen *screen, const film_word_info *word, bool typed)
{
    char line[1200];

    snprintf(line, sizeof(line), "%s %s:%" PRIu64 "%s", word->name, screen->file,
             film_screen_cursor(screen), typed ? " " : "");
    if (screen->file[0] == '\0') {
        film_screen_say(screen, true, "no frame is open at this moment");
    }
    else if (typed) {
        film_prompt_open(screen, ':', line);
    }
    else {
        film_screen_run_command(screen, line);
    }
}

static void
toggle_stop(film_screen *screen, const film_word_info *word)
{
    const film_step_stop *stop =
        film_step_stop_at(screen->step, screen->file, film_screen_cursor(screen));
    char line[40];

    if (stop == NULL) {
        at_cursor(screen, word, false);
        return;
    }
    snprintf(line, sizeof(line), "delete %u", stop->id);
    film_screen_run_command(screen, line);
}

/* The thread behind this one, or before it, that has begun. */
static void
switch_thread(film_screen *screen, bool back)
{
    const film_step *step = screen->step;
    size_t count = film_reader_thread_count(step->reader), at = 0;
    char line[40];

    while (at < count && film_reader_thread(step->reader, at)->id != step->thread) {
        at++;
    }
    for (size_t i = 1; i < count; i++) {
        size_t other = (at + (back ? count - i : i)) % count;
        snprintf(line, sizeof(line), "thread %u",
                 film_reader_thread(step->reader, other)->id);
        film_screen_run_command(screen, line);
        if (!screen->message_is_wrong) {
            return;
        }
    }
    film_screen_say(screen, true, "no other thread has begun here");
}

static void
turn_page(film_screen *screen, bool back)
{
    int64_t page = screen->source.rows > 2 ? screen->source.rows - 2 : 1;

    film_screen_move_cursor(screen, back ? -page : page);
}

static void
show_help(film_screen *screen)
{
    film_buffer text = {0};

    film_words_help(&text, (size_t)(screen->columns > 60 ? screen->columns - 4 : 56));
    if (!text.failed) {
        film_screen_show(screen, (const char *)text.data, text.length);
        screen->popup_is_full = true;
    }
    film_buffer_reset(&text);
}

static void
run_word(film_screen *screen, const film_word_info *word, const char *key)
{
    switch ((int)word->word) {
    case FILM_WORD_PRINT:
    case FILM_WORD_ITEMS:
    case FILM_WORD_WRITE:
    case FILM_WORD_RWRITE:
    case FILM_WORD_WRITES:
    case FILM_WORD_ORIGIN:
    case FILM_WORD_MADE:
    case FILM_WORD_WATCH:
        about_pick(screen, word);
        break;
    case FILM_WORD_UNTIL:
    case FILM_WORD_RUNTIL:
        at_cursor(screen, word, false);
        break;
    case FILM_WORD_HITS:
        at_cursor(screen, word, true);
        break;
    case FILM_WORD_BREAK:
        toggle_stop(screen, word);
        break;
    case FILM_WORD_THREAD:
        switch_thread(screen, key[0] == 'T');
        break;
    case FILM_WORD_LIST:
        turn_page(screen, strcmp(key, "PageUp") == 0);
        break;
    case FILM_WORD_SEARCH:
        if (key[0] == '/') {
            film_prompt_open(screen, '/', "");
            break;
        }
        film_screen_run_command(screen, word->name);
        break;
    case FILM_WORD_HELP:
        show_help(screen);
        break;
    default:
        film_screen_run_command(screen, word->name);
        break;
    }
}

/* A row that begins with a moment leads there: histories, hits, logs. */
static bool
go_to_row(film_screen *screen)
{
    char row[512], line[80];
    const char *at = row;
    size_t digits;

    film_screen_popup_line(screen, row, sizeof(row));
    at += strspn(at, " >");
    digits = strspn(at, "0123456789:");
    if (memchr(at, ':', digits) == NULL || digits > 40) {
        return false;
    }
    film_buffer_clear(&screen->popup);
    snprintf(line, sizeof(line), "event %.*s", (int)digits, at);
    film_screen_run_command(screen, line);
    return true;
}

/* The row that is meant, and what is shown with it. */
static void
move_popup(film_screen *screen, size_t at)
{
    size_t rows = screen->popup_rows > 0 ? screen->popup_rows : 1;

    if (at >= screen->popup_lines) {
        at = screen->popup_lines > 0 ? screen->popup_lines - 1 : 0;
    }
    screen->popup_at = at;
    if (at < screen->popup_top) {
        screen->popup_top = at;
    }
    else if (at >= screen->popup_top + rows) {
        screen->popup_top = at - rows + 1;
    }
}

static bool
is_key(wint_t key, bool is_code, int code, wint_t character)
{
    return is_code ? (int)key == code : key == character && character != 0;
}

/* Keys of the text over the panes; false: it was closed by a key of another kind. */
static bool
popup_key(film_screen *screen, wint_t key, bool is_code)
{
    size_t rows = screen->popup_rows, at = screen->popup_at;

    if (is_key(key, is_code, KEY_DOWN, 'j')) {
        move_popup(screen, at + 1);
    }
    else if (is_key(key, is_code, KEY_UP, 'k')) {
        move_popup(screen, at > 0 ? at - 1 : 0);
    }
    else if (is_key(key, is_code, KEY_NPAGE, ' ')) {
        move_popup(screen, at + rows);
    }
    else if (is_key(key, is_code, KEY_PPAGE, 0)) {
        move_popup(screen, at > rows ? at - rows : 0);
    }
    else if (is_key(key, is_code, KEY_HOME, 'g')) {
        move_popup(screen, 0);
    }
    else if (is_key(key, is_code, KEY_END, 'G')) {
        move_popup(screen, SIZE_MAX - 1);
    }
    else if (is_key(key, is_code, KEY_ENTER, '\r') ||
             is_key(key, is_code, KEY_ENTER, '\n')) {
        if (!go_to_row(screen)) {
            film_buffer_clear(&screen->popup);
        }
    }
    else {
        film_buffer_clear(&screen->popup);
        return !is_code && (key == 'q' || key == ESCAPE_KEY || key == '?');
    }
    return true;
}

/* Keys that only a screen has. */
static bool
screen_key(film_screen *screen, wint_t key, bool is_code)
{
    if (is_code) {
        if (key == KEY_BTAB) {
            film_screen_pick(screen, true);
        }
        else if (key == KEY_SR || key == KEY_SF) {
            film_screen_move_cursor(screen, key == KEY_SR ? -1 : 1);
        }
        else {
            return false;
        }
        return true;
    }
    switch (key) {
    case ':':
        film_prompt_open(screen, ':', "");
        return true;
    case '\t':
        film_screen_pick(screen, false);
        return true;
    case CONTROL('n'):
    case CONTROL('p'):
        film_screen_move_cursor(screen, key == CONTROL('p') ? -1 : 1);
        return true;
    case CONTROL('l'):
        clearok(curscr, TRUE);
        return true;
    case ESCAPE_KEY:
        screen->pick[0] = '\0';
        screen->cursor = 0;
        return true;
    default:
        return false;
    }
}

void
film_screen_key(film_screen *screen, wint_t key, bool is_code)
{
    const film_word_info *word;
    char name[16];

    if (screen->too_small) {
        screen->quit = !is_code && key == 'q';
        return;
    }
    if (screen->prompt.sign != 0) {
        film_prompt_key(screen, key, is_code);
        return;
    }
    if (screen->popup.length > 0 && popup_key(screen, key, is_code)) {
        return;
    }
    film_screen_say(screen, false, "");
    if (screen_key(screen, key, is_code)) {
        return;
    }
    name_key(key, is_code, name);
    word = find_word(name);
    if (word != NULL) {
        run_word(screen, word, name);
    }
    else if (!is_code && key > 0x20) {
        film_screen_say(screen, true, "no command has this key; ? lists them");
    }
}
