/* screen.c: the loop: keys, signals, and everything drawn anew.
 * SPDX-License-Identifier: Apache-2.0 */
#include "screen/screen.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "screen/screen_state.h"
#include "step/terminal.h"

#define ESCAPE_MS 25
/* How often flags of signals, and a recording that is being written, are looked at. */
#define LOOK_MS 500

/* --- saying --- */

void
film_screen_say(film_screen *screen, bool wrong, const char *text)
{
    snprintf(screen->message, sizeof(screen->message), "%s", text);
    screen->message[strcspn(screen->message, "\n")] = '\0';
    screen->message_is_wrong = wrong;
}

void
film_screen_show(film_screen *screen, const char *text, size_t length)
{
    film_buffer_clear(&screen->popup);
    film_buffer_append(&screen->popup, text, length);
    if (screen->popup.failed) {
        film_buffer_reset(&screen->popup);
    }
    screen->popup_top = 0;
    screen->popup_at = film_screen_marked_row(screen);
    screen->popup_is_full = false;
}

/* One line is a message, more lie over the panes. */
static void
show_answer(film_screen *screen)
{
    film_step *step = screen->step;
    const char *text = (const char *)step->text.data;
    size_t length = step->text.length;
    char line[sizeof(screen->message)];

    while (length > 0 && text[length - 1] == '\n') {
        length--;
    }
    if (length == 0) {
        return;
    }
    if (memchr(text, '\n', length) == NULL && length < sizeof(line) &&
        length + 1 < (size_t)screen->columns) {
        memcpy(line, text, length);
        line[length] = '\0';
        film_screen_say(screen, step->failed, line);
    }
    else {
        film_screen_show(screen, text, length);
    }
}

/* --- running --- */

void
film_screen_look(film_screen *screen)
{
    film_step *step = screen->step;
    const film_json_node *frame;
    const char *file;
    uint64_t line;
    size_t index;

    if (step->at[0] == '\0') {
        return;
    }
    if (!film_step_look(step) || !film_step_look_lines(step)) {
        film_output_drain(&step->out);
        film_screen_say(screen, true,
                        step->text.length > 0 ? "this moment cannot be read" : "");
        film_buffer_clear(&step->text);
        return;
    }
    frame = film_step_frame(step, &index);
    file = film_step_text(&step->moment, frame, "file");
    line = film_step_number(&step->moment, frame, "line");
    if (strcmp(file, screen->file) != 0) {
        snprintf(screen->file, sizeof(screen->file), "%s", file);
        screen->top = 0;
        screen->cursor = 0;
    }
    if (line != screen->line) {
        screen->cursor = 0;
    }
    screen->line = line;
}

void
film_screen_run_command(film_screen *screen, const char *line)
{
    film_step *step = screen->step;
    char before[FILM_STEP_PLACE];

    memcpy(before, step->at, sizeof(before));
    film_screen_say(screen, false, "");
    film_step_terminal_interrupted = 0;
    film_step_run(step, line, strlen(line));
    film_step_terminal_interrupted = 0;
    screen->quit = screen->quit || step->quit;
    show_answer(screen);
    film_buffer_clear(&step->text);
    if (strcmp(before, step->at) != 0) {
        screen->cursor = 0;
    }
    film_screen_look(screen);
    if (step->found != 0) {
        screen->cursor = step->found;
    }
}

/* A search that takes long says so, and can be given up. */
static bool
working(void *context, double progress)
{
    film_screen *screen = context;
    char text[80];

    snprintf(text, sizeof(text), "searching, %.0f %%; Ctrl-C gives it up",
             progress * 100.0);
    film_draw_blank(screen->rows - 1, 0, screen->columns);
    film_draw_words(screen, screen->rows - 1, 0, screen->columns - 1, text,
                    FILM_LOOK_NEW);
    refresh();
    return film_step_terminal_interrupted == 0 && film_step_terminal_ending == 0;
}

/* --- drawing --- */

static void
draw_too_small(const film_screen *screen)
{
    char text[120];

    snprintf(text, sizeof(text), "%dx%d is too small: at least %dx%d", screen->columns,
             screen->rows, FILM_SCREEN_LEAST_COLUMNS, FILM_SCREEN_LEAST_ROWS);
    film_draw_words(screen, 0, 0, screen->columns, text, FILM_LOOK_WRONG);
    if (screen->rows > 1) {
        film_draw_words(screen, 1, 0, screen->columns, "(q ends)", FILM_LOOK_PLAIN);
    }
}

static void
draw_separator(const film_screen *screen)
{
    const film_area *side = screen->wide ? &screen->stack : &screen->variables;
    const char *line = film_sign(screen, "\xe2\x94\x82", "|");
    int first = side->row - 1, rows = screen->wide ? screen->rows - 4 : side->rows + 1;

    attrset(film_look_attributes(screen, FILM_LOOK_DIM));
    for (int i = 0; i < rows; i++) {
        mvaddstr(first + i, side->column - 1, line);
    }
    mvaddstr(first, side->column - 1,
             screen->wide ? film_sign(screen, "\xe2\x94\x9c", "|")
                          : film_sign(screen, "\xe2\x94\xac", "+"));
    if (screen->wide) {
        mvaddstr(screen->variables.row - 1, side->column - 1,
                 film_sign(screen, "\xe2\x94\x9c", "|"));
    }
    attrset(A_NORMAL);
}

void
film_screen_draw(film_screen *screen)
{
    erase();
    if (screen->too_small) {
        draw_too_small(screen);
        refresh();
        return;
    }
    film_screen_draw_source(screen);
    film_screen_draw_stack(screen);
    film_screen_draw_variables(screen);
    draw_separator(screen);
    if (screen->popup.length > 0) {
        film_screen_draw_popup(screen);
    }
    film_screen_draw_title(screen);
    film_screen_draw_bar(screen);
    film_screen_draw_status(screen);
    film_screen_draw_message(screen);
    refresh();
}

/* --- the loop --- */

static void
set_colors(film_screen *screen)
{
    static const short colors[] = {
        [FILM_LOOK_TITLE] = COLOR_BLUE,    [FILM_LOOK_HERE] = COLOR_GREEN,
        [FILM_LOOK_VALUE] = COLOR_CYAN,    [FILM_LOOK_NEW] = COLOR_YELLOW,
        [FILM_LOOK_STOP] = COLOR_RED,      [FILM_LOOK_WRONG] = COLOR_RED,
        [FILM_LOOK_PICKED] = COLOR_YELLOW,
    };

    screen->color = screen->color && has_colors() && start_color() == OK &&
                    COLOR_PAIRS > FILM_LOOK_COUNT;
    for (int i = FILM_LOOK_TITLE; screen->color && i < FILM_LOOK_COUNT; i++) {
        init_pair((short)i, colors[i], use_default_colors() == OK ? -1 : COLOR_BLACK);
    }
}

static void
greet(film_screen *screen)
{
    film_step *step = screen->step;
    char text[300] = "? lists the keys, : takes a command, q ends", exception[200];

    if (film_reader_damage_count(step->reader) > 0) {
        size_t damaged = film_reader_damage_count(step->reader);
        snprintf(text, sizeof(text),
                 "%zu place%s of the recording %s damaged: filmstrip check lists them",
                 damaged, damaged == 1 ? "" : "s", damaged == 1 ? "is" : "are");
    }
    else if (step->live) {
        snprintf(text, sizeof(text),
                 "the recording is being written: G goes to what "
                 "is there; ? lists the keys");
    }
    else if (strcmp(step->level, "values") != 0) {
        snprintf(text, sizeof(text),
                 "level %s: run --level values keeps lines and "
                 "values too; ? lists the keys",
                 step->level);
    }
    else if (film_step_uncaught(step, exception, sizeof(exception))) {
        snprintf(text, sizeof(text), "E goes to what ended it: %s", exception);
    }
    film_screen_say(screen, false, text);
}

/* Ctrl-C closes what is open; twice in a row it ends us, as it would any program. */
static void
interrupt(film_screen *screen)
{
    film_step_terminal_interrupted = 0;
    if (screen->prompt.sign != 0 || screen->popup.length > 0) {
        screen->prompt.sign = 0;
        film_buffer_clear(&screen->popup);
        return;
    }
    if (++screen->interrupts > 1) {
        film_step_terminal_ending = SIGINT;
        return;
    }
    film_screen_say(screen, false, "q ends; so does Ctrl-C a second time");
}

static void
take_flags(film_screen *screen)
{
    if (film_step_terminal_interrupted != 0) {
        interrupt(screen);
    }
    if (film_step_terminal_resumed != 0) {
        film_step_terminal_resumed = 0;
        reset_prog_mode();
        clearok(curscr, TRUE);
    }
    if (film_step_terminal_ending != 0) {
        screen->quit = true;
    }
}

static void
take_keys(film_screen *screen)
{
    wint_t key;
    int kind;

    while (!screen->quit && (kind = get_wch(&key)) != ERR) {
        if (kind == KEY_CODE_YES && key == KEY_RESIZE) {
            film_screen_layout(screen);
            screen->top = 0;
            film_screen_scroll(screen);
            clearok(curscr, TRUE);
            continue;
        }
        screen->interrupts = 0;
        film_screen_key(screen, key, kind == KEY_CODE_YES);
        film_screen_scroll(screen);
    }
}

static void
loop(film_screen *screen)
{
    while (!screen->quit) {
        struct pollfd wait = {.fd = STDIN_FILENO, .events = POLLIN};
        int ready;
        film_screen_draw(screen);
        ready = poll(&wait, 1, LOOK_MS);
        if (ready > 0 && (wait.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) {
            return; /* the terminal is gone */
        }
        take_flags(screen);
        take_keys(screen);
        if (ready == 0 && screen->step->live) {
            film_step_refresh(screen->step);
            film_screen_look(screen);
            film_screen_scroll(screen);
        }
    }
}

/* What leaves the full screen, for a handler that may call no function of ncurses. */
static void
guard(void)
{
    static const char *const names[] = {"sgr0", "cnorm", "rmkx", "rmcup"};
    char leave[256] = "";

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char name[16];
        const char *text;
        snprintf(name, sizeof(name), "%s", names[i]);
        text = tigetstr(name);
        if (text != NULL && text != (char *)-1 &&
            strlen(leave) + strlen(text) < sizeof(leave)) {
            strcat(leave, text);
        }
    }
    film_step_terminal_guard(leave);
}

/* The locale of the environment; where that names none, UTF-8 as terminals have it. */
static bool
set_locale(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    bool named = false;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *text = getenv(names[i]);
        named = named || (text != NULL && text[0] != '\0');
    }
    if (setlocale(LC_CTYPE, named ? "" : "C.UTF-8") == NULL) {
        setlocale(LC_CTYPE, "C");
    }
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static void
run_on(film_screen *screen)
{
    film_step *step = screen->step;

    guard();
    cbreak();
    noecho();
    nonl();
    set_escdelay(ESCAPE_MS);
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_colors(screen);
    film_screen_layout(screen);
    greet(screen);
    step->quiet = true;
    step->working = working;
    step->working_context = screen;
    film_screen_look(screen);
    film_screen_scroll(screen);
    loop(screen);
    endwin();
    step->quiet = false;
    step->working = NULL;
    step->working_context = NULL;
}

bool
film_screen_run(film_step *step, bool color, const char **why)
{
    film_screen *screen = film_alloc(sizeof(*screen));
    SCREEN *terminal;

    if (screen == NULL) {
        *why = "memory ran out";
        return false;
    }
    screen->step = step;
    screen->color = color;
    screen->utf8 = set_locale();
    film_step_terminal_keep();
    /* The terminal knows its size; LINES and COLUMNS of the environment, which some
     * shells and test runners set, would be kept through every resize. */
    (void)unsetenv("LINES");
    (void)unsetenv("COLUMNS");
    terminal = newterm(NULL, stdout, stdin);
    if (terminal == NULL) {
        film_free(screen);
        *why = "this terminal can do no full screen";
        return false;
    }
    run_on(screen);
    delscreen(terminal);
    film_buffer_reset(&screen->popup);
    film_prompt_reset(&screen->prompt);
    film_free(screen);
    film_step_terminal_release();
    return true;
}
