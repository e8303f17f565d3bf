/* commands.h: the one table of commands and keys of every view that steps through a
 * recording. The terminal's `help`, `?` and --help, docs/step.md and the question
 * `commands` of film_query are made of it.
 *
 * The words are those of pdb and gdb, the keys torchdbg's; what goes backwards has an
 * r before it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_COMMANDS_H
#define FILMSTRIP_COMMANDS_H

#include <stddef.h>

#include "base/buffer.h"

typedef enum film_word {
    FILM_WORD_STEP,
    FILM_WORD_RSTEP,
    FILM_WORD_NEXT,
    FILM_WORD_RNEXT,
    FILM_WORD_FINISH,
    FILM_WORD_RFINISH,
    FILM_WORD_RETURN,
    FILM_WORD_CALL,
    FILM_WORD_CONTINUE,
    FILM_WORD_RCONTINUE,
    FILM_WORD_UNTIL,
    FILM_WORD_RUNTIL,
    FILM_WORD_RAISE,
    FILM_WORD_RRAISE,
    FILM_WORD_UNCAUGHT,
    FILM_WORD_WRITE,
    FILM_WORD_RWRITE,
    FILM_WORD_STEPI,
    FILM_WORD_RSTEPI,
    FILM_WORD_OP,
    FILM_WORD_ROP,
    FILM_WORD_START,
    FILM_WORD_END,
    FILM_WORD_EVENT,
    FILM_WORD_TIME,
    FILM_WORD_HIT,
    FILM_WORD_FIRST,
    FILM_WORD_RFIRST,
    FILM_WORD_BISECT,
    FILM_WORD_UNDO,
    FILM_WORD_UP,
    FILM_WORD_DOWN,
    FILM_WORD_FRAME,
    FILM_WORD_WHERE,
    FILM_WORD_THREAD,
    FILM_WORD_THREADS,
    FILM_WORD_PRINT,
    FILM_WORD_ITEMS,
    FILM_WORD_LOCALS,
    FILM_WORD_LIST,
    FILM_WORD_HERE,
    FILM_WORD_INFO,
    FILM_WORD_LAST,
    FILM_WORD_NEXT_WRITE,
    FILM_WORD_WRITES,
    FILM_WORD_HISTORY,
    FILM_WORD_ORIGIN,
    FILM_WORD_MADE,
    FILM_WORD_HITS,
    FILM_WORD_BREAK,
    FILM_WORD_TBREAK,
    FILM_WORD_WATCH,
    FILM_WORD_LOGPOINT,
    FILM_WORD_DELETE,
    FILM_WORD_BREAKPOINTS,
    FILM_WORD_SEARCH,
    FILM_WORD_RSEARCH,
    FILM_WORD_HELP,
    FILM_WORD_QUIT,
    FILM_WORD_COUNT
} film_word;

typedef struct film_word_info {
    film_word word;
    const char *name;
    const char *aliases;   /* parted by blanks; empty: none */
    const char *keys;      /* on the full screen, parted by blanks; empty: none */
    const char *arguments; /* as help writes them */
    const char *query;     /* what film_query is asked; empty: nothing */
    const char *group;     /* heading; the same in a row of entries */
    const char *help;
} film_word_info;

/* FILM_WORD_COUNT of them, in the order of the enum. */
extern const film_word_info film_words[];

/* Keys of a full screen that are no commands; ended by NULL. */
typedef struct film_screen_key_info {
    const char *keys, *help;
} film_screen_key_info;

extern const film_screen_key_info film_screen_keys[];

/* The command with that name or alias, of `length` bytes; NULL: there is none. */
const film_word_info *
film_word_find(const char *text, size_t length);

/* Lines for people, at most `width` columns: what is typed, its key, what it does. */
void
film_words_help(film_buffer *out, size_t width);

/* The same as a table of markdown. */
void
film_words_markdown(film_buffer *out);

#endif
