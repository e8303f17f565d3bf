/* frame_panes.c: what stands around the panes: title, bar of time, status, message, and
 * the text that lies over them.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "screen/screen_state.h"
#include "step/paragraph.h"

static const film_thread_info *
own_thread(const film_step *step)
{
    for (size_t i = 0; i < film_reader_thread_count(step->reader); i++) {
        if (film_reader_thread(step->reader, i)->id == step->thread) {
            return film_reader_thread(step->reader, i);
        }
    }
    return NULL;
}

void
film_screen_draw_title(film_screen *screen)
{
    const film_step *step = screen->step;
    const film_thread_info *thread = own_thread(step);
    size_t threads = film_reader_thread_count(step->reader);
    char right[200];
    int width = screen->columns, taken;

    attrset(film_look_attributes(screen, FILM_LOOK_TITLE));
    film_draw_blank(0, 0, width);
    snprintf(right, sizeof(right), " level %s%s ", step->level,
             step->live ? ", being written" : "");
    taken = film_draw_words(screen, 0, 1, width - 2, film_step_short_file(step->path),
                            FILM_LOOK_TITLE) +
            1;
    if (thread != NULL && threads > 0) {
        char name[200];
        snprintf(name, sizeof(name), "   thread %u of %zu, %.*s", thread->id, threads,
                 (int)(thread->name.length < 100 ? thread->name.length : 100),
                 thread->name.data == NULL ? "" : thread->name.data);
        taken +=
            film_draw_words(screen, 0, taken, width - taken, name, FILM_LOOK_TITLE);
    }
    if (taken + (int)strlen(right) < width) {
        film_draw_words(screen, 0, width - (int)strlen(right), (int)strlen(right),
                        right, FILM_LOOK_TITLE);
    }
}

/* Where in time one is, of the whole recording. */
void
film_screen_draw_bar(film_screen *screen)
{
    const film_step *step = screen->step;
    const film_json *json = &step->moment;
    uint64_t time_ns = film_step_number(json, film_json_root(json), "time_ns");
    uint64_t whole_ns = step->duration_ns > 0 ? step->duration_ns : 1;
    double share = (double)time_ns / (double)whole_ns;
    int row = screen->rows - 3, width, at;
    char text[120];

    share = share > 1.0 ? 1.0 : share;
    snprintf(text, sizeof(text), " %.6f s of %.6f s, %.0f %%", (double)time_ns / 1e9,
             (double)step->duration_ns / 1e9, share * 100.0);
    width = screen->columns - (int)strlen(text) - 1;
    at = (int)(share * (double)(width - 1) + 0.5);
    for (int i = 0; i < width; i++) {
        film_draw_words(screen, row, i, 1,
                        i == at  ? film_sign(screen, "\xe2\x97\x86", "#")
                        : i < at ? film_sign(screen, "\xe2\x94\x81", "=")
                                 : film_sign(screen, "\xe2\x94\x80", "-"),
                        i == at ? FILM_LOOK_NEW : FILM_LOOK_DIM);
    }
    film_draw_words(screen, row, width, screen->columns - width, text, FILM_LOOK_PLAIN);
}

void
film_screen_draw_status(film_screen *screen)
{
    film_step *step = screen->step;
    const film_json *json = &step->moment;
    const film_json_node *root = film_json_root(json);
    int row = screen->rows - 2, used;
    size_t index;
    const film_json_node *frame = film_step_frame(step, &index);
    char where[700], number[40] = "";

    attrset(film_look_attributes(screen, FILM_LOOK_TITLE));
    film_draw_blank(row, 0, screen->columns);
    if (index > 0) {
        snprintf(number, sizeof(number), "frame %zu: ", index);
    }
    snprintf(where, sizeof(where), " event %s %s   %s%.300s", step->at,
             film_step_text(json, root, "kind"), number,
             film_step_text(json, frame, "function"));
    used = film_draw_words(screen, row, 0, screen->columns, where, FILM_LOOK_TITLE);
    film_buffer_clear(&step->text);
    film_step_describe(json, &step->out);
    film_output_drain(&step->out);
    if (step->text.length > 0 && index == 0 && used + 12 < screen->columns) {
        film_text text = {(const char *)step->text.data, step->text.length};
        film_draw_text(
            screen, row, used + 3, screen->columns - used - 4, text,
            film_json_is(film_json_get(json, root, "exception"), FILM_JSON_OBJECT)
                ? FILM_LOOK_WRONG
                : FILM_LOOK_TITLE);
    }
    film_buffer_clear(&step->text);
}

void
film_screen_draw_message(film_screen *screen)
{
    int row = screen->rows - 1;

    film_draw_blank(row, 0, screen->columns);
    if (screen->prompt.sign != 0) {
        film_prompt_draw(screen, row);
        return;
    }
    curs_set(0);
    film_draw_words(screen, row, 0, screen->columns - 1, screen->message,
                    screen->message_is_wrong ? FILM_LOOK_WRONG : FILM_LOOK_PLAIN);
}

/* --- text over the panes --- */

/* The next piece of a line that fits into `width`. */
static film_text
next_row(const film_screen *screen, film_text *rest, int width)
{
    const char *end = memchr(rest->data, '\n', rest->length);
    film_text row = {rest->data,
                     end == NULL ? rest->length : (size_t)(end - rest->data)};
    size_t taken = row.length + (end != NULL);

    if (film_draw_width(screen, row) > width) {
        size_t length = (size_t)width; /* bytes: never more than columns allow */
        while (length > 1 && (((unsigned char)row.data[length]) & 0xc0) == 0x80) {
            length--;
        }
        row.length = taken = length;
    }
    rest->data += taken;
    rest->length -= taken;
    return row;
}

/* How many rows the text takes. */
static size_t
count_rows(const film_screen *screen, int width)
{
    film_text rest = {(const char *)screen->popup.data, screen->popup.length};
    size_t count = 0;

    while (rest.length > 0) {
        (void)next_row(screen, &rest, width);
        count++;
    }
    return count;
}

size_t
film_screen_marked_row(const film_screen *screen)
{
    film_text rest = {(const char *)screen->popup.data, screen->popup.length};

    for (size_t i = 0; rest.length > 0; i++) {
        film_text row = next_row(screen, &rest, screen->columns - 4);
        if (row.length > 0 && row.data[0] == '>') {
            return i;
        }
    }
    return 0;
}

/* Only as many rows as it needs: what is above stays in sight. */
void
film_screen_draw_popup(film_screen *screen)
{
    film_text rest = {(const char *)screen->popup.data, screen->popup.length};
    int most = screen->popup_is_full ? screen->rows - 5 : screen->rows * 3 / 5;
    int width = screen->columns - 4, row;
    size_t number = 0, top;

    screen->popup_lines = count_rows(screen, width);
    screen->popup_rows =
        screen->popup_lines < (size_t)most ? screen->popup_lines : (size_t)most;
    row = screen->rows - 3 - (int)screen->popup_rows;
    if (screen->popup_at >= screen->popup_top + screen->popup_rows) {
        screen->popup_top = screen->popup_at - screen->popup_rows / 2;
    }
    top = screen->popup_top;
    film_draw_ruler(screen, row - 1, 0, screen->columns,
                    "up, down, page keys; Enter goes to a moment; q closes");
    for (; rest.length > 0; number++) {
        film_text text = next_row(screen, &rest, width);
        if (number < top || number >= top + screen->popup_rows) {
            continue;
        }
        film_draw_blank(row, 0, screen->columns);
        film_draw_text(screen, row++, 2, width, text,
                       number == screen->popup_at ? FILM_LOOK_PICKED : FILM_LOOK_PLAIN);
    }
}

void
film_screen_popup_line(const film_screen *screen, char *to, size_t capacity)
{
    film_text rest = {(const char *)screen->popup.data, screen->popup.length};
    film_text row = {"", 0};

    for (size_t i = 0; i <= screen->popup_at && rest.length > 0; i++) {
        row = next_row(screen, &rest, screen->columns - 4);
    }
    snprintf(to, capacity, "%.*s", (int)(row.length < 500 ? row.length : 500),
             row.data);
}
