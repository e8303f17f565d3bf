/* state_panes.c: the stack and the variables.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "screen/screen_state.h"
#include "step/paragraph.h"

/* The first row that is shown so that `chosen` of `count` is among `rows`. */
static size_t
first_shown(size_t chosen, size_t count, size_t rows)
{
    size_t first = chosen < rows ? 0 : chosen - rows / 2;

    return count > rows && first > count - rows ? count - rows : first;
}

static void
draw_frame(const film_screen *screen, int row, const film_json_node *frame, bool chosen)
{
    const film_json *json = &screen->step->moment;
    const film_area *area = &screen->stack;
    uint64_t line = film_step_number(json, frame, "line");
    const char *name = film_step_text(json, frame, "name");
    char place[300];
    int used, place_width;

    snprintf(place, sizeof(place), "%.200s:%" PRIu64,
             film_step_short_file(film_step_text(json, frame, "file")), line);
    place_width = film_draw_width(screen, film_text_of(place));
    film_draw_words(screen, row, area->column, 2,
                    chosen ? film_sign(screen, "\xe2\x96\xb6 ", "> ") : "  ",
                    FILM_LOOK_HERE);
    used = area->columns - place_width - 4;
    used = film_draw_words(screen, row, area->column + 2,
                           used < area->columns / 3 ? area->columns / 3 : used,
                           name[0] == '\0' ? "(lost)" : name,
                           chosen ? FILM_LOOK_HERE : FILM_LOOK_PLAIN);
    film_draw_words(screen, row, area->column + used + 4, area->columns - used - 4,
                    place, FILM_LOOK_DIM);
}

void
film_screen_draw_stack(film_screen *screen)
{
    const film_json *json = &screen->step->moment;
    const film_json_node *stack = film_json_get(json, film_json_root(json), "stack");
    const film_json_node *task = film_json_get(json, film_json_root(json), "task");
    size_t chosen, number = 0, first;
    char title[200] = "stack";

    (void)film_step_frame(screen->step, &chosen);
    if (film_json_is(task, FILM_JSON_OBJECT)) {
        snprintf(title, sizeof(title), "stack of %.150s",
                 film_step_text(json, task, "name"));
    }
    film_draw_ruler(screen, screen->stack.row - 1, screen->stack.column,
                    screen->stack.columns, title);
    first = first_shown(chosen, stack == NULL ? 0 : stack->count,
                        (size_t)screen->stack.rows);
    for (const film_json_node *frame = film_json_first(json, stack); frame != NULL;
         frame = film_json_next(json, frame), number++) {
        if (number >= first && number < first + (size_t)screen->stack.rows) {
            draw_frame(screen, screen->stack.row + (int)(number - first), frame,
                       number == chosen);
        }
    }
}

/* --- variables --- */

static const film_json_node *
locals_of(const film_screen *screen)
{
    const film_json *json = &screen->step->moment;

    return film_json_get(json, film_json_root(json), "locals");
}

/* Which of the variables is picked; count: none. *changed: the first that the last line
 * wrote, or 0. */
static size_t
picked(const film_screen *screen, size_t *count, size_t *changed)
{
    const film_json *json = &screen->step->moment;
    size_t number = 0, found = SIZE_MAX, wrote = SIZE_MAX;

    for (const film_json_node *item = film_json_first(json, locals_of(screen));
         item != NULL; item = film_json_next(json, item), number++) {
        if (strcmp(film_step_text(json, item, "name"), screen->pick) == 0) {
            found = number;
        }
        if (wrote == SIZE_MAX &&
            film_json_is(film_json_get(json, item, "changed"), FILM_JSON_TRUE)) {
            wrote = number;
        }
    }
    *count = number;
    *changed = wrote == SIZE_MAX ? 0 : wrote;
    return found == SIZE_MAX ? number : found;
}

void
film_screen_pick(film_screen *screen, bool back)
{
    const film_json *json = &screen->step->moment;
    const film_json_node *item = film_json_first(json, locals_of(screen));
    size_t count, changed, at = picked(screen, &count, &changed);

    if (count == 0) {
        film_screen_say(screen, true, "there is no variable to pick here");
        return;
    }
    at = back ? (at == 0 ? count - 1 : at - 1) : (at + 1 >= count ? 0 : at + 1);
    if (screen->pick[0] == '\0') {
        at = changed; /* what the last line wrote is asked about most */
    }
    for (; at > 0; at--) {
        item = film_json_next(json, item);
    }
    snprintf(screen->pick, sizeof(screen->pick), "%s",
             film_step_text(json, item, "name"));
}

static void
draw_variable(const film_screen *screen, int row, const film_json_node *item)
{
    const film_json *json = &screen->step->moment;
    const film_area *area = &screen->variables;
    const char *name = film_step_text(json, item, "name");
    bool changed = film_json_is(film_json_get(json, item, "changed"), FILM_JSON_TRUE);
    film_look look = changed ? FILM_LOOK_NEW : FILM_LOOK_PLAIN;
    int end = area->column + area->columns, column = area->column + 2;

    film_draw_words(screen, row, area->column, 2, changed ? "* " : "  ", look);
    column +=
        film_draw_words(screen, row, column, end - column, name,
                        strcmp(name, screen->pick) == 0 ? FILM_LOOK_PICKED : look);
    column += film_draw_words(screen, row, column, end - column, " = ", look);
    film_draw_words(screen, row, column, end - column,
                    film_step_text(json, film_json_get(json, item, "value"), "text"),
                    look);
}

static void
draw_no_variables(const film_screen *screen)
{
    const film_step *step = screen->step;
    char note[200] = "none has a value here";

    if (strcmp(step->level, "values") != 0) {
        snprintf(note, sizeof(note), "level %s: no values recorded", step->level);
    }
    film_draw_words(screen, screen->variables.row, screen->variables.column + 2,
                    screen->variables.columns - 2, note, FILM_LOOK_DIM);
}

void
film_screen_draw_variables(film_screen *screen)
{
    const film_json *json = &screen->step->moment;
    size_t count, changed, at = picked(screen, &count, &changed), number = 0, first;
    size_t rows = (size_t)screen->variables.rows;

    film_draw_ruler(screen, screen->variables.row - 1, screen->variables.column,
                    screen->variables.columns, "variables");
    first = first_shown(at == count ? changed : at, count, rows);
    for (const film_json_node *item = film_json_first(json, locals_of(screen));
         item != NULL; item = film_json_next(json, item), number++) {
        if (number >= first && number < first + rows) {
            draw_variable(screen, screen->variables.row + (int)(number - first), item);
        }
    }
    if (count == 0) {
        draw_no_variables(screen);
    }
    else if (count > first + rows) {
        char more[40];
        snprintf(more, sizeof(more), " %zu more ", count - first - rows);
        film_draw_words(screen, screen->variables.row - 1,
                        screen->variables.column + 14, screen->variables.columns - 14,
                        more, FILM_LOOK_DIM);
    }
}
