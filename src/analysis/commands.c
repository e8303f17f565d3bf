/* commands.c: the table, and what is made of it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/commands.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analysis/query_state.h"

#define MOVING "moving"
#define JUMPING "jumping"
#define STACK "stack and threads"
#define LOOKING "looking"
#define ASKING "asking"
#define BREAKING "breakpoints"
#define OTHER "other"

/* clang-format off */
const film_word_info film_words[] = {
    {FILM_WORD_STEP, "step", "s", ". Right", "[COUNT]", "move line", MOVING,
     "to the next line, also in a function that is called; looks at the innermost frame"},
    {FILM_WORD_RSTEP, "rstep", "rs back reverse-step", "u Left", "[COUNT]",
     "move back-line", MOVING, "to the line before, also in a function that was called"},
    {FILM_WORD_NEXT, "next", "n", "j Down", "[COUNT]", "move next", MOVING,
     "to the next line of this frame, or of its caller when it ends"},
    {FILM_WORD_RNEXT, "rnext", "rn reverse-next", "k Up", "[COUNT]", "move back-next",
     MOVING, "to the line before, of this frame or of its caller"},
    {FILM_WORD_FINISH, "finish", "r fin out", ">", "", "move out", MOVING,
     "out of this function: to the caller's next line"},
    {FILM_WORD_RFINISH, "rfinish", "rr rfin rout reverse-finish", "<", "",
     "move back-out", MOVING, "backwards out of this function: to the line that called it"},
    {FILM_WORD_RETURN, "return", "ret", "J", "", "move return", MOVING,
     "to the end of this call: what it returned or raised"},
    {FILM_WORD_CALL, "call", "", "K", "", "move call", MOVING,
     "to the begin of this call: its arguments"},
    {FILM_WORD_CONTINUE, "continue", "c cont", "c", "", "move continue", MOVING,
     "to the next breakpoint, or the end"},
    {FILM_WORD_RCONTINUE, "rcontinue", "rc reverse-continue", "C", "",
     "move reverse-continue", MOVING, "back to the breakpoint before, or the start"},
    {FILM_WORD_UNTIL, "until", "unt", "}", "[[FILE:]LINE|[FILE:]FUNCTION]", "move continue", MOVING,
     "to the next time a line or function runs; without one: this line, or the one under the cursor"},
    {FILM_WORD_RUNTIL, "runtil", "runt", "{", "as until", "move reverse-continue",
     MOVING, "back to the last time it ran"},
    {FILM_WORD_RAISE, "raise", "", "x", "[any] [TYPE]", "move raise", MOVING,
     "to the next exception, where it is raised; any: also where one passes by"},
    {FILM_WORD_RRAISE, "rraise", "", "X", "[any] [TYPE]", "move back-raise", MOVING,
     "back to where the exception before was raised; any: or passed by"},
    {FILM_WORD_UNCAUGHT, "uncaught", "", "E", "", "move reverse-continue", MOVING,
     "to the exception that ended the program or a thread, where it was raised"},
    {FILM_WORD_WRITE, "write", "", "]", "VARIABLE", "move write", MOVING,
     "to the next write of a variable: x, self.x, d['k'], l[3], function:x, module:X"},
    {FILM_WORD_RWRITE, "rwrite", "", "[", "VARIABLE", "move back-write", MOVING,
     "back to the write before"},
    {FILM_WORD_STEPI, "stepi", "si", ";", "[COUNT]", "move step", MOVING,
     "one event on"},
    {FILM_WORD_RSTEPI, "rstepi", "rsi", ",", "[COUNT]", "move back", MOVING,
     "one event back; the exact inverse"},
    {FILM_WORD_OP, "op", "", "+", "[COUNT]", "move op", MOVING,
     "to the next operation of PyTorch, in whichever function it is called"},
    {FILM_WORD_ROP, "rop", "", "-", "[COUNT]", "move back-op", MOVING,
     "back to the operation before"},
    {FILM_WORD_START, "start", "", "g Home", "", "move start", JUMPING,
     "to the start of this thread"},
    {FILM_WORD_END, "end", "", "G End", "", "move end", JUMPING,
     "to its end; of a recording that is being written: as it is now"},
    {FILM_WORD_EVENT, "event", "goto", "", "[THREAD:]N", "move event", JUMPING,
     "to an event by its number"},
    {FILM_WORD_TIME, "time", "", "", "TIME", "move time", JUMPING,
     "to a time since the start, like 0.25, 1.5s, 20ms, 300us, or 50% of the run"},
    {FILM_WORD_HIT, "hit", "", "", "[FILE:]LINE|[FILE:]FUNCTION [N]", "move hit", JUMPING,
     "to the N-th time a line or function ran; -1 is the last time"},
    {FILM_WORD_FIRST, "first", "find", "", "CONDITION", "first", JUMPING,
     "from here on to the next moment where a condition is true in this function"},
    {FILM_WORD_RFIRST, "rfirst", "rfind", "", "CONDITION", "first", JUMPING,
     "from here back to the last moment where it was true"},
    {FILM_WORD_BISECT, "bisect", "", "", "CONDITION", "first", JUMPING,
     "as first, by halving: for a condition that stays true once it is (step >= 500)"},
    {FILM_WORD_UNDO, "undo", "", "Backspace", "", "moment", JUMPING,
     "back to where one was before the last move"},
    {FILM_WORD_UP, "up", "u zoom-out", "h", "[COUNT]", "moment", STACK,
     "look at the caller; next, rnext and finish then are about it"},
    {FILM_WORD_DOWN, "down", "d zoom-in", "l", "[COUNT]", "moment", STACK,
     "look at the frame that was called"},
    {FILM_WORD_FRAME, "frame", "f", "", "N", "moment", STACK,
     "look at a frame by its number in where; 0 is the innermost"},
    {FILM_WORD_WHERE, "where", "w bt backtrace", "", "[COUNT]", "moment", STACK,
     "the stack, innermost first"},
    {FILM_WORD_THREAD, "thread", "t", "t T", "N", "threads", STACK,
     "to where another thread stood at this time; t the next one, T the one before"},
    {FILM_WORD_THREADS, "threads", "", "", "", "threads", STACK,
     "all threads and where they stood"},
    {FILM_WORD_PRINT, "print", "p", "p", "EXPRESSION", "evaluate", LOOKING,
     "a value; on the full screen the picked variable"},
    {FILM_WORD_ITEMS, "items", "pp", "Enter", "EXPRESSION", "value", LOOKING,
     "what an object holds, an item a line"},
    {FILM_WORD_LOCALS, "locals", "", "", "", "locals", LOOKING,
     "the variables of this frame; * marks what the last line wrote"},
    {FILM_WORD_LIST, "list", "l", "PageUp PageDown", "[[FILE:]LINE|[FILE:]FUNCTION]", "source", LOOKING,
     "source around a line, with what its lines wrote"},
    {FILM_WORD_HERE, "here", "", "", "", "moment", LOOKING, "this moment again"},
    {FILM_WORD_INFO, "info", "i", "i", "[files]", "open", LOOKING,
     "what is recorded, and how the program ended"},
    {FILM_WORD_LAST, "last", "", "", "VARIABLE", "writes", ASKING,
     "the last write of a variable, this moment included"},
    {FILM_WORD_NEXT_WRITE, "next-write", "", "", "VARIABLE", "writes", ASKING,
     "the next one"},
    {FILM_WORD_WRITES, "writes", "", "v", "VARIABLE [LIMIT]", "writes", ASKING,
     "its writes around this moment, of a local in every call; > marks the last one"},
    {FILM_WORD_HISTORY, "history", "hist", "", "VARIABLE [LIMIT]", "history", ASKING,
     "every write of it in the whole recording"},
    {FILM_WORD_ORIGIN, "origin", "o", "o", "VARIABLE [DEPTH]", "origin", ASKING,
     "where its value came from: the line that wrote it and what that line read"},
    {FILM_WORD_MADE, "made", "", "m", "EXPRESSION [DEPTH]", "made", ASKING,
     "which operation of PyTorch gave this tensor, or changed it last, and from what"},
    {FILM_WORD_HITS, "hits", "", "H", "[FILE:]LINE|[FILE:]FUNCTION [EXPRESSION, ...] [if CONDITION]",
     "hits", ASKING, "every time a line or function ran, with values: print after the fact"},
    {FILM_WORD_BREAK, "break", "b", "b",
     "[FILE:]LINE|[FILE:]FUNCTION|op NAME|raise|uncaught [if CONDITION] [hit N]", "breakpoints",
     BREAKING, "stop there, in both directions; hit: 5, >=5, %5; the key sets or removes"},
    {FILM_WORD_TBREAK, "tbreak", "tb", "", "as break", "breakpoints", BREAKING,
     "the same, once"},
    {FILM_WORD_WATCH, "watch", "", "W", "VARIABLE [if CONDITION]", "breakpoints", BREAKING,
     "stop where it is written, in both directions"},
    {FILM_WORD_LOGPOINT, "logpoint", "log", "", "[FILE:]LINE|[FILE:]FUNCTION TEXT",
     "breakpoints", BREAKING,
     "does not stop: continue tells TEXT with its {expressions} at each hit"},
    {FILM_WORD_DELETE, "delete", "del clear cl", "", "[N ...]", "", BREAKING,
     "remove breakpoints; all without a number"},
    {FILM_WORD_BREAKPOINTS, "breakpoints", "breaks bl", "B", "", "", BREAKING,
     "all that are set"},
    {FILM_WORD_SEARCH, "search", "/", "/ n", "TEXT", "", OTHER,
     "a condition (loss > 10), FILE:LINE, FILE:FUNCTION, fn:NAME, raise TYPE, @THREAD:EVENT, "
     "a time, or text of this source, from here on; n repeats it"},
    {FILM_WORD_RSEARCH, "rsearch", "", "N", "TEXT", "", OTHER, "the same backwards"},
    {FILM_WORD_HELP, "help", "h ?", "?", "[COMMAND]", "commands", OTHER, "this table"},
    {FILM_WORD_QUIT, "quit", "q exit", "q", "", "", OTHER, "the end"},
};
/* clang-format on */

_Static_assert(sizeof(film_words) / sizeof(film_words[0]) == FILM_WORD_COUNT,
               "a row for each word");

static bool
has_alias(const char *aliases, const char *text, size_t length)
{
    while (*aliases != '\0') {
        size_t word = strcspn(aliases, " ");
        if (word == length && memcmp(aliases, text, length) == 0) {
            return true;
        }
        aliases += word;
        aliases += *aliases == ' ';
    }
    return false;
}

const film_word_info *
film_word_find(const char *text, size_t length)
{
    for (size_t i = 0; i < FILM_WORD_COUNT; i++) {
        if ((strlen(film_words[i].name) == length &&
             memcmp(film_words[i].name, text, length) == 0) ||
            has_alias(film_words[i].aliases, text, length)) {
            return &film_words[i];
        }
    }
    return NULL;
}

const film_screen_key_info film_screen_keys[] = {
    {":", "type a command; Tab completes it, Up and Down recall earlier ones"},
    {"Tab Shift-Tab", "pick a variable: p, Enter, [, ], v, o and W are about it"},
    {"Ctrl-N Ctrl-P", "the cursor to another line: b, { and } are about it"},
    {"Esc", "no pick, and the cursor back to the line that is about to run"},
    {"Ctrl-C", "gives a search up; twice in a row it ends"},
    {"Ctrl-L", "draws the screen anew"},
    {NULL, NULL},
};

/* --- help for people --- */

#define INDENT 2u
#define KEYS_WIDTH 17u
#define NAME_WIDTH 22u

static void
put_padding(film_buffer *out, size_t count)
{
    while (count-- > 0) {
        film_buffer_put_byte(out, ' ');
    }
}

/* Words of `text` from `column` on, in lines that begin at `indent`. */
static void
put_wrapped(film_buffer *out, const char *text, size_t indent, size_t column,
            size_t width)
{
    bool first = true;

    while (*text != '\0') {
        size_t word = strcspn(text, " ");
        if (!first && column + 1 + word > width) {
            film_buffer_put_byte(out, '\n');
            put_padding(out, indent);
            column = indent;
        }
        else if (!first) {
            film_buffer_put_byte(out, ' ');
            column++;
        }
        first = false;
        film_buffer_append(out, text, word);
        column += word;
        text += word;
        text += *text == ' ';
    }
    film_buffer_put_byte(out, '\n');
}

static void
put_help_line(film_buffer *out, const film_word_info *of, size_t width)
{
    size_t indent = INDENT + KEYS_WIDTH + NAME_WIDTH, used;
    char typed[200] = "";
    int length = snprintf(typed, sizeof(typed), "%s", of->name);

    for (const char *alias = of->aliases; *alias != '\0';) {
        int one = (int)strcspn(alias, " ");
        length += snprintf(typed + length, sizeof(typed) - (size_t)length, ", %.*s",
                           one, alias);
        alias += one + (alias[one] == ' ');
    }
    length += snprintf(typed + length, sizeof(typed) - (size_t)length, "%s%s",
                       of->arguments[0] == '\0' ? "" : " ", of->arguments);

    put_padding(out, INDENT);
    film_buffer_append_text(out, of->keys);
    used = strlen(of->keys);
    if (used >= KEYS_WIDTH) {
        film_buffer_put_byte(out, ' ');
        used = KEYS_WIDTH - 1;
    }
    put_padding(out, KEYS_WIDTH - used);
    if (length >= (int)NAME_WIDTH) {
        put_wrapped(out, typed, INDENT + KEYS_WIDTH + 2, INDENT + KEYS_WIDTH, width);
        put_padding(out, indent);
    }
    else {
        film_buffer_append(out, typed, (size_t)length);
        put_padding(out, NAME_WIDTH - (size_t)length);
    }
    put_wrapped(out, of->help, indent, indent, width);
}

void
film_words_help(film_buffer *out, size_t width)
{
    const char *group = "";

    for (size_t i = 0; i < FILM_WORD_COUNT; i++) {
        if (strcmp(group, film_words[i].group) != 0) {
            group = film_words[i].group;
            film_buffer_put_byte(out, ' ');
            film_buffer_append_text(out, group);
            film_buffer_put_byte(out, '\n');
        }
        put_help_line(out, &film_words[i], width);
    }
    film_buffer_append_text(out, " on the full screen\n");
    for (const film_screen_key_info *of = film_screen_keys; of->keys != NULL; of++) {
        put_padding(out, INDENT);
        film_buffer_append_text(out, of->keys);
        put_padding(out, KEYS_WIDTH - strlen(of->keys));
        put_wrapped(out, of->help, INDENT + KEYS_WIDTH, INDENT + KEYS_WIDTH, width);
    }
}

/* --- markdown --- */

/* Each of the words in code marks; a bar within a table is escaped. */
static void
put_codes(film_buffer *out, const char *words, bool whole)
{
    while (*words != '\0') {
        size_t word = whole ? strlen(words) : strcspn(words, " ");
        film_buffer_put_byte(out, '`');
        for (size_t i = 0; i < word; i++) {
            if (words[i] == '|') {
                film_buffer_put_byte(out, '\\');
            }
            film_buffer_put_byte(out, (uint8_t)words[i]);
        }
        film_buffer_put_byte(out, '`');
        words += word;
        if (*words == ' ') {
            film_buffer_put_byte(out, ' ');
            words++;
        }
    }
}

void
film_words_markdown(film_buffer *out)
{
    const char *group = "";

    for (size_t i = 0; i < FILM_WORD_COUNT; i++) {
        const film_word_info *of = &film_words[i];
        if (strcmp(group, of->group) != 0) {
            film_buffer_append_text(out, i == 0 ? "| **" : "\n| **");
            group = of->group;
            film_buffer_append_text(out, group);
            film_buffer_append_text(out, "** | short | keys | |\n|---|---|---|---|\n");
        }
        film_buffer_append_text(out, "| `");
        film_buffer_append_text(out, of->name);
        film_buffer_put_byte(out, '`');
        if (of->arguments[0] != '\0') {
            film_buffer_put_byte(out, ' ');
            put_codes(out, of->arguments, true);
        }
        film_buffer_append_text(out, " | ");
        put_codes(out, of->aliases, false);
        film_buffer_append_text(out, " | ");
        put_codes(out, of->keys, false);
        film_buffer_append_text(out, " | ");
        film_buffer_append_text(out, of->help);
        film_buffer_append_text(out, " |\n");
    }
    film_buffer_append_text(out, "\n| **on the full screen** | |\n|---|---|\n");
    for (const film_screen_key_info *of = film_screen_keys; of->keys != NULL; of++) {
        film_buffer_append_text(out, "| ");
        put_codes(out, of->keys, false);
        film_buffer_append_text(out, " | ");
        film_buffer_append_text(out, of->help);
        film_buffer_append_text(out, " |\n");
    }
}

/* --- film_query --- */

film_status
film_answer_commands(film_ask *ask)
{
    film_ask_open(ask, "commands", '[');
    for (size_t i = 0; i < FILM_WORD_COUNT; i++) {
        const film_word_info *of = &film_words[i];
        film_ask_open(ask, NULL, '{');
        film_ask_words(ask, "name", of->name);
        film_ask_words(ask, "aliases", of->aliases);
        film_ask_words(ask, "keys", of->keys);
        film_ask_words(ask, "arguments", of->arguments);
        film_ask_words(ask, "query", of->query);
        film_ask_words(ask, "group", of->group);
        film_ask_words(ask, "help", of->help);
        film_ask_close(ask, '}');
    }
    film_ask_close(ask, ']');
    return FILM_OK;
}
