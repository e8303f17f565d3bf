/* layout.c: where everything is.
 * SPDX-License-Identifier: Apache-2.0 */
#include "screen/screen_state.h"

/* The title above; bar, status and message below. */
#define ROWS_ABOVE 1
#define ROWS_BELOW 3

static void
lay_wide(film_screen *screen, int rows)
{
    int side = screen->columns * 2 / 5;
    int stack = rows / 3;

    side = side < 44 ? 44 : side > 84 ? 84 : side;
    screen->source = (film_area){ROWS_ABOVE, 0, rows, screen->columns - side - 1};
    /* A ruler with the pane's name stands above each. */
    screen->stack =
        (film_area){ROWS_ABOVE + 1, screen->columns - side, stack - 1, side};
    screen->variables = (film_area){ROWS_ABOVE + stack + 1, screen->columns - side,
                                    rows - stack - 1, side};
}

static void
lay_narrow(film_screen *screen, int rows)
{
    int below = rows * 2 / 5, stack = screen->columns * 2 / 5;

    screen->source = (film_area){ROWS_ABOVE, 0, rows - below, screen->columns};
    screen->stack = (film_area){ROWS_ABOVE + rows - below + 1, 0, below - 1, stack};
    screen->variables = (film_area){ROWS_ABOVE + rows - below + 1, stack + 1, below - 1,
                                    screen->columns - stack - 1};
}

void
film_screen_layout(film_screen *screen)
{
    int rows;

    getmaxyx(stdscr, screen->rows, screen->columns);
    rows = screen->rows - ROWS_ABOVE - ROWS_BELOW;
    screen->too_small = screen->rows < FILM_SCREEN_LEAST_ROWS ||
                        screen->columns < FILM_SCREEN_LEAST_COLUMNS;
    screen->wide = screen->columns >= FILM_SCREEN_WIDE;
    if (screen->too_small) {
        return;
    }
    if (screen->wide) {
        lay_wide(screen, rows);
    }
    else {
        lay_narrow(screen, rows);
    }
}
