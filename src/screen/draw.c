/* draw.c: text on the terminal: clipped, of any width, harmless.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "screen/screen_state.h"

#define TAB_WIDTH 4

int
film_look_attributes(const film_screen *screen, film_look look)
{
    static const int plain[] = {
        [FILM_LOOK_PLAIN] = A_NORMAL,        [FILM_LOOK_TITLE] = (int)A_REVERSE,
        [FILM_LOOK_HERE] = (int)A_BOLD,      [FILM_LOOK_VALUE] = A_NORMAL,
        [FILM_LOOK_NEW] = (int)A_BOLD,       [FILM_LOOK_STOP] = (int)A_BOLD,
        [FILM_LOOK_WRONG] = (int)A_BOLD,     [FILM_LOOK_DIM] = (int)A_DIM,
        [FILM_LOOK_PICKED] = (int)A_REVERSE,
    };

    if (screen->color && look != FILM_LOOK_PLAIN && look != FILM_LOOK_DIM) {
        return plain[look] | (int)COLOR_PAIR((int)look);
    }
    return plain[look];
}

/* The character at `at`, and its length; a byte that begins none is taken alone. */
static uint32_t
decode(const unsigned char *at, size_t left, size_t *length)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    size_t more = at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 1 : at[0] < 0xf0 ? 2 : 3;
    uint32_t point;

    *length = 1;
    if (at[0] < 0x80) {
        return at[0];
    }
    if (more == 0 || more >= left || at[0] > 0xf4) {
        return 0xfffd;
    }
    point = at[0] & (0x3fu >> more);
    for (size_t i = 1; i <= more; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return 0xfffd;
        }
        point = point << 6 | (at[i] & 0x3fu);
    }
    if (point < least[more] || point > 0x10ffff || (point & ~0x7ffu) == 0xd800) {
        return 0xfffd;
    }
    *length = more + 1;
    return point;
}

/* Characters that move, hide or reorder what a terminal shows. */
static bool
is_unsafe(uint32_t point)
{
    return point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0x61c ||
           point == 0xad || (point >= 0x200b && point <= 0x200f) ||
           (point >= 0x2028 && point <= 0x202e) ||
           (point >= 0x2060 && point <= 0x206f) || point == 0xfeff ||
           (point >= 0xfff9 && point <= 0xfffb) || point >= 0xe0000;
}

/* What a character looks like: at most 12 wide characters into `to`; their columns. */
static int
show(const film_screen *screen, uint32_t point, int column, wchar_t *to)
{
    char escape[16];
    int width;

    if (point == '\t') {
        width = TAB_WIDTH - column % TAB_WIDTH;
        wmemset(to, L' ', (size_t)width);
        to[width] = 0;
        return width;
    }
    width = is_unsafe(point) || (point >= 0x80 && !screen->utf8)
                ? -1
                : wcwidth((wchar_t)point);
    if (width >= 0) {
        to[0] = (wchar_t)point;
        to[1] = 0;
        return width;
    }
    width = snprintf(escape, sizeof(escape),
                     point < 0x100     ? "\\x%02x"
                     : point < 0x10000 ? "\\u%04x"
                                       : "\\U%08x",
                     point);
    for (int i = 0; i <= width; i++) {
        to[i] = (wchar_t)escape[i];
    }
    return width;
}

int
film_draw_text(const film_screen *screen, int row, int column, int width,
               film_text text, film_look look)
{
    const unsigned char *bytes = (const unsigned char *)text.data;
    int used = 0;

    attrset(film_look_attributes(screen, look));
    for (size_t i = 0; i < text.length && width > 0;) {
        wchar_t shown[16];
        size_t length;
        int wide =
            show(screen, decode(bytes + i, text.length - i, &length), used, shown);
        i += length;
        if (used + wide > width || (used + wide == width && i < text.length)) {
            const char *cut = film_sign(screen, "\xe2\x80\xa6", "~");
            while (used < width - 1) {
                mvaddch(row, column + used++, ' ');
            }
            mvaddstr(row, column + width - 1, cut);
            used = width;
            break;
        }
        if (wide > 0) {
            mvaddwstr(row, column + used, shown);
        }
        else {
            addwstr(shown); /* joins the character before */
        }
        used += wide;
    }
    attrset(A_NORMAL);
    return used;
}

int
film_draw_words(const film_screen *screen, int row, int column, int width,
                const char *text, film_look look)
{
    return film_draw_text(screen, row, column, width, film_text_of(text), look);
}

int
film_draw_width(const film_screen *screen, film_text text)
{
    const unsigned char *bytes = (const unsigned char *)text.data;
    int used = 0;

    for (size_t i = 0; i < text.length && used < 10000;) {
        wchar_t shown[16];
        size_t length;
        used += show(screen, decode(bytes + i, text.length - i, &length), used, shown);
        i += length;
    }
    return used;
}

void
film_draw_blank(int row, int column, int width)
{
    move(row, column);
    for (int i = 0; i < width; i++) {
        addch(' ');
    }
}

const char *
film_sign(const film_screen *screen, const char *sign, const char *plain)
{
    return screen->utf8 ? sign : plain;
}

void
film_draw_ruler(const film_screen *screen, int row, int column, int width,
                const char *title)
{
    const char *line = film_sign(screen, "\xe2\x94\x80", "-");
    int used = 0;

    attrset(film_look_attributes(screen, FILM_LOOK_DIM));
    for (int i = 0; i < width; i++) {
        mvaddstr(row, column + i, line);
    }
    attrset(A_NORMAL);
    if (title[0] != '\0' && width > 6) {
        mvaddstr(row, column + 1, " ");
        used =
            film_draw_words(screen, row, column + 2, width - 4, title, FILM_LOOK_PLAIN);
        mvaddstr(row, column + 2 + used, " ");
    }
}
