/* screen_state.h: what the files of the full screen share.
 *
 *   title
 *   source                          | stack        (wide: at least 120 columns)
 *                                   | variables
 *   bar, status, message or prompt
 *
 * On narrower terminals stack and variables lie side by side below the source.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_SCREEN_STATE_H
#define FILMSTRIP_SCREEN_STATE_H

#include <stdbool.h>
#include <stddef.h>

#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1 /* functions: their macros take our names */
#include <ncurses.h>

#include "screen/screen.h"

#define FILM_SCREEN_LEAST_COLUMNS 40
#define FILM_SCREEN_LEAST_ROWS 12
#define FILM_SCREEN_WIDE 120
#define FILM_SCREEN_HISTORY 64u
#define FILM_SCREEN_TYPED 2048u

typedef struct film_area {
    int row, column, rows, columns;
} film_area;

/* What things look like; the numbers are ncurses' pairs. */
typedef enum film_look {
    FILM_LOOK_PLAIN,
    FILM_LOOK_TITLE,
    FILM_LOOK_HERE,   /* the line that is about to run */
    FILM_LOOK_VALUE,  /* beside a line */
    FILM_LOOK_NEW,    /* what the last line wrote */
    FILM_LOOK_STOP,   /* a breakpoint */
    FILM_LOOK_WRONG,  /* exceptions, failures */
    FILM_LOOK_DIM,    /* numbers, rulers */
    FILM_LOOK_PICKED, /* where keys work */
    FILM_LOOK_COUNT
} film_look;

/* A line being typed behind ':' or '/'. */
typedef struct film_prompt {
    char sign; /* 0: none is open */
    char text[FILM_SCREEN_TYPED];
    size_t length, at;
    char *history[FILM_SCREEN_HISTORY]; /* owned; oldest first */
    size_t history_count, history_at;
} film_prompt;

typedef struct film_screen {
    film_step *step; /* borrowed */
    bool color, utf8;
    int rows, columns;
    bool wide, too_small;
    film_area source, stack, variables;
    char file[1024];      /* whose source is shown */
    uint64_t top, cursor; /* lines; cursor 0: it is at the line of the frame */
    uint64_t line;        /* of the frame */
    char pick[128];       /* the variable that keys are about; empty: none */
    char message[512];
    bool message_is_wrong;
    film_buffer popup;              /* text over the panes; length 0: none */
    size_t popup_top, popup_at;     /* first row shown, the row that keys are about */
    size_t popup_lines, popup_rows; /* of the text, and of them shown at a time */
    bool popup_is_full;             /* it may take all rows */
    film_prompt prompt;
    int interrupts; /* Ctrl-C in a row */
    bool quit;
} film_screen;

/* --- drawing (draw.c) --- */

int
film_look_attributes(const film_screen *screen, film_look look);

/* Draws a text from a column on, at most `width` columns of it; what could steer the
 * terminal is shown as an escape, a cut is marked. Gives the columns it took. */
int
film_draw_text(const film_screen *screen, int row, int column, int width,
               film_text text, film_look look);

int
film_draw_words(const film_screen *screen, int row, int column, int width,
                const char *text, film_look look);

/* How many columns film_draw_text would take. */
int
film_draw_width(const film_screen *screen, film_text text);

/* Blanks, or a ruler. */
void
film_draw_blank(int row, int column, int width);

void
film_draw_ruler(const film_screen *screen, int row, int column, int width,
                const char *title);

/* A sign, or its stand-in where the terminal is not UTF-8. */
const char *
film_sign(const film_screen *screen, const char *sign, const char *plain);

/* --- panes --- */

/* layout.c: where everything is, for the terminal's size. */
void
film_screen_layout(film_screen *screen);

/* source_pane.c */
void
film_screen_draw_source(film_screen *screen);

/* The line that keys are about. */
uint64_t
film_screen_cursor(const film_screen *screen);

/* So that the line under the cursor is shown. After each key, not when drawing: what is
 * seen then does not depend on how many keys came between two drawings. */
void
film_screen_scroll(film_screen *screen);

void
film_screen_move_cursor(film_screen *screen, int64_t by);

/* state_panes.c */
void
film_screen_draw_stack(film_screen *screen);

void
film_screen_draw_variables(film_screen *screen);

/* Picks the next variable, or the one before. */
void
film_screen_pick(film_screen *screen, bool back);

/* frame_panes.c: title, bar, status, message, popup */
void
film_screen_draw_title(film_screen *screen);

void
film_screen_draw_bar(film_screen *screen);

void
film_screen_draw_status(film_screen *screen);

void
film_screen_draw_message(film_screen *screen);

void
film_screen_draw_popup(film_screen *screen);

/* The row that begins with >; 0: none does. */
size_t
film_screen_marked_row(const film_screen *screen);

/* The row that keys are about. */
void
film_screen_popup_line(const film_screen *screen, char *to, size_t capacity);

/* --- doing (keys.c, prompt.c) --- */

/* Everything, anew. */
void
film_screen_draw(film_screen *screen);

/* Runs a command and shows what it says. */
void
film_screen_run_command(film_screen *screen, const char *line);

/* Looks at the moment anew: source, variables, values of the lines. */
void
film_screen_look(film_screen *screen);

void
film_screen_say(film_screen *screen, bool wrong, const char *text);

void
film_screen_show(film_screen *screen, const char *text, size_t length);

/* A key: a character, or one of ncurses' codes. */
void
film_screen_key(film_screen *screen, wint_t key, bool is_code);

/* prompt.c */
void
film_prompt_open(film_screen *screen, char sign, const char *text);

void
film_prompt_key(film_screen *screen, wint_t key, bool is_code);

void
film_prompt_draw(film_screen *screen, int row);

void
film_prompt_reset(film_prompt *prompt);

#endif
