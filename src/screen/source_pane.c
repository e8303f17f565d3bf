/* source_pane.c: the source, the line that is about to run, breakpoints, and beside the
 * lines what they wrote.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "screen/screen_state.h"
#include "step/paragraph.h"
#include "step/stops.h"

/* Number, marks and blanks before the text of a line. */
#define GUTTER 9
/* Values begin here at the earliest, so that they stand in a column. */
#define VALUE_COLUMN 48
/* Below this there is no room for a value. */
#define LEAST_VALUE 8

uint64_t
film_screen_cursor(const film_screen *screen)
{
    return screen->cursor != 0 ? screen->cursor : screen->line;
}

/* The lines that are shown hold the cursor, with some around it. */
static void
scroll_to(film_screen *screen, uint64_t line, uint64_t count)
{
    uint64_t rows = (uint64_t)screen->source.rows;
    uint64_t margin = rows > 8 ? 3 : rows / 4;

    if (screen->top == 0 || line < screen->top || line >= screen->top + rows) {
        screen->top = line > rows / 2 ? line - rows / 2 : 1;
    }
    else if (line < screen->top + margin) {
        screen->top = line > margin ? line - margin : 1;
    }
    else if (line + margin >= screen->top + rows) {
        screen->top = line + margin + 1 - rows;
    }
    if (screen->top + rows > count + 1) {
        screen->top = count + 1 > rows ? count + 1 - rows : 1;
    }
}

void
film_screen_scroll(film_screen *screen)
{
    const film_source_lines *source =
        screen->file[0] == '\0' || screen->too_small
            ? NULL
            : film_sources_get(&screen->step->sources, screen->step->reader,
                               screen->file);

    if (source != NULL) {
        scroll_to(screen, film_screen_cursor(screen), source->count);
    }
}

void
film_screen_move_cursor(film_screen *screen, int64_t by)
{
    const film_source_lines *source =
        film_sources_get(&screen->step->sources, screen->step->reader, screen->file);
    int64_t count = source == NULL ? 0 : (int64_t)source->count;
    int64_t line = (int64_t)film_screen_cursor(screen) + by;

    if (count > 0) {
        line = line < 1 ? 1 : line > count ? count : line;
        screen->cursor = (uint64_t)line;
    }
}

/* Whether it is what the last line wrote. */
static bool
is_new(const film_screen *screen, const char *name, const char *wrote)
{
    const film_json *json = &screen->step->moment;
    const film_json_node *locals = film_json_get(json, film_json_root(json), "locals");

    for (const film_json_node *item = film_json_first(json, locals); item != NULL;
         item = film_json_next(json, item)) {
        if (strcmp(film_step_text(json, item, "name"), name) == 0) {
            return film_json_is(film_json_get(json, item, "changed"), FILM_JSON_TRUE) &&
                   strcmp(film_step_text(json, item, "wrote"), wrote) == 0;
        }
    }
    return false;
}

/* "x = 1, y = 2" of a line. */
static void
draw_values(const film_screen *screen, int row, int column, uint64_t line)
{
    const film_json *json = &screen->step->written;
    const film_json_node *list = film_json_get(json, film_json_root(json), "written");
    int end = screen->source.column + screen->source.columns;
    const char *before = "";

    if (end - column < LEAST_VALUE) {
        return;
    }
    for (const film_json_node *item = film_json_first(json, list); item != NULL;
         item = film_json_next(json, item)) {
        const film_json_node *value = film_json_get(json, item, "value");
        const char *name = film_step_text(json, item, "name");
        film_look look;
        if (film_step_number(json, item, "line") != line) {
            continue;
        }
        look = is_new(screen, name, film_step_text(json, item, "m")) ? FILM_LOOK_NEW
                                                                     : FILM_LOOK_VALUE;
        column +=
            film_draw_words(screen, row, column, end - column, before, FILM_LOOK_VALUE);
        column += film_draw_words(screen, row, column, end - column, name, look);
        column += film_draw_words(screen, row, column, end - column, " = ", look);
        column += film_draw_words(screen, row, column, end - column,
                                  film_json_is(value, FILM_JSON_OBJECT)
                                      ? film_step_text(json, value, "text")
                                      : "deleted",
                                  look);
        before = ", ";
    }
}

static void
draw_line(const film_screen *screen, const film_source_lines *source, uint64_t line,
          int row)
{
    const film_area *area = &screen->source;
    bool here = line == screen->line;
    bool under = line == film_screen_cursor(screen) && !here;
    film_look look = here ? FILM_LOOK_HERE : FILM_LOOK_PLAIN;
    char number[24];
    int text, column;

    if (film_step_stop_at(screen->step, screen->file, line) != NULL) {
        film_draw_words(screen, row, area->column, 1,
                        film_sign(screen, "\xe2\x97\x8f", "*"), FILM_LOOK_STOP);
    }
    snprintf(number, sizeof(number), "%5" PRIu64, line);
    film_draw_words(screen, row, area->column + 1, 5, number,
                    under  ? FILM_LOOK_PICKED
                    : here ? FILM_LOOK_HERE
                           : FILM_LOOK_DIM);
    if (here) {
        film_draw_words(screen, row, area->column + 7, 1,
                        screen->step->frame == 0
                            ? film_sign(screen, "\xe2\x96\xb6", ">")
                            : film_sign(screen, "\xe2\x96\xb7", ")"),
                        FILM_LOOK_HERE);
    }
    text = film_draw_text(screen, row, area->column + GUTTER, area->columns - GUTTER,
                          film_source_line(source, line), look);
    column = GUTTER + text + 2;
    draw_values(screen, row,
                area->column + (column < VALUE_COLUMN ? VALUE_COLUMN : column), line);
}

static void
draw_note(const film_screen *screen, const char *text)
{
    film_draw_words(screen, screen->source.row + screen->source.rows / 2,
                    screen->source.column + 2, screen->source.columns - 4, text,
                    FILM_LOOK_DIM);
}

void
film_screen_draw_source(film_screen *screen)
{
    film_step *step = screen->step;
    const film_source_lines *source = NULL;
    char note[1200];

    if (screen->file[0] == '\0') {
        draw_note(screen, step->at[0] == '\0' ? "the recording has no events"
                                              : "no frame is open at this moment");
        return;
    }
    source = film_sources_get(&step->sources, step->reader, screen->file);
    if (source == NULL || source->text == NULL) {
        snprintf(note, sizeof(note), "the recording has no source of %s, line %" PRIu64,
                 film_step_short_file(screen->file), screen->line);
        draw_note(screen, source == NULL ? "memory ran out" : note);
        return;
    }
    for (int i = 0; i < screen->source.rows; i++) {
        uint64_t line = screen->top + (uint64_t)i;
        if (line <= source->count) {
            draw_line(screen, source, line, screen->source.row + i);
        }
    }
}
