/* run.c: a line that was typed, its command found and run.
 * SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "step/handlers.h"
#include "step/stops.h"

/* Longer ones are no command. */
#define MOST_TYPED ((size_t)64 << 10)
#define HELP_WIDTH 78u

static void
do_help(film_step *step, const film_word_info *word, const char *arguments)
{
    const film_word_info *of = NULL;

    (void)word;
    if (step->json) {
        film_step_begin(step, "commands");
        (void)film_step_ask(step);
        return;
    }
    if (arguments[0] == '\0') {
        film_output_drain(&step->out);
        film_words_help(&step->text, HELP_WIDTH);
        return;
    }
    of = film_word_find(arguments, strlen(arguments));
    if (of == NULL) {
        (void)film_step_fail(step, "there is no command '%.40s'", arguments);
        return;
    }
    film_output_format(&step->out, "%s %s\n  %s\n", of->name, of->arguments, of->help);
    if (of->aliases[0] != '\0') {
        film_output_format(&step->out, "  short: %s\n", of->aliases);
    }
    if (of->keys[0] != '\0') {
        film_output_format(&step->out, "  keys: %s\n", of->keys);
    }
}

static void
do_quit(film_step *step, const film_word_info *word, const char *arguments)
{
    (void)word;
    (void)arguments;
    step->quit = true;
}

static const film_step_handler the_handlers[] = {
    [FILM_WORD_STEP] = film_step_do_move,
    [FILM_WORD_RSTEP] = film_step_do_move,
    [FILM_WORD_NEXT] = film_step_do_move,
    [FILM_WORD_RNEXT] = film_step_do_move,
    [FILM_WORD_FINISH] = film_step_do_move,
    [FILM_WORD_RFINISH] = film_step_do_move,
    [FILM_WORD_RETURN] = film_step_do_move,
    [FILM_WORD_CALL] = film_step_do_move,
    [FILM_WORD_CONTINUE] = film_step_do_continue,
    [FILM_WORD_RCONTINUE] = film_step_do_continue,
    [FILM_WORD_UNTIL] = film_step_do_until,
    [FILM_WORD_RUNTIL] = film_step_do_until,
    [FILM_WORD_RAISE] = film_step_do_raise,
    [FILM_WORD_RRAISE] = film_step_do_raise,
    [FILM_WORD_UNCAUGHT] = film_step_do_uncaught,
    [FILM_WORD_WRITE] = film_step_do_write,
    [FILM_WORD_RWRITE] = film_step_do_write,
    [FILM_WORD_STEPI] = film_step_do_move,
    [FILM_WORD_RSTEPI] = film_step_do_move,
    [FILM_WORD_OP] = film_step_do_move,
    [FILM_WORD_ROP] = film_step_do_move,
    [FILM_WORD_START] = film_step_do_move,
    [FILM_WORD_END] = film_step_do_move,
    [FILM_WORD_EVENT] = film_step_do_event,
    [FILM_WORD_TIME] = film_step_do_time,
    [FILM_WORD_HIT] = film_step_do_hit,
    [FILM_WORD_FIRST] = film_step_do_first,
    [FILM_WORD_RFIRST] = film_step_do_first,
    [FILM_WORD_BISECT] = film_step_do_first,
    [FILM_WORD_UNDO] = film_step_do_undo,
    [FILM_WORD_UP] = film_step_do_frame,
    [FILM_WORD_DOWN] = film_step_do_frame,
    [FILM_WORD_FRAME] = film_step_do_frame,
    [FILM_WORD_WHERE] = film_step_do_where,
    [FILM_WORD_THREAD] = film_step_do_thread,
    [FILM_WORD_THREADS] = film_step_do_threads,
    [FILM_WORD_PRINT] = film_step_do_print,
    [FILM_WORD_ITEMS] = film_step_do_items,
    [FILM_WORD_LOCALS] = film_step_do_locals,
    [FILM_WORD_LIST] = film_step_do_list,
    [FILM_WORD_HERE] = film_step_do_here,
    [FILM_WORD_INFO] = film_step_do_info,
    [FILM_WORD_LAST] = film_step_do_last,
    [FILM_WORD_NEXT_WRITE] = film_step_do_last,
    [FILM_WORD_WRITES] = film_step_do_writes,
    [FILM_WORD_HISTORY] = film_step_do_history,
    [FILM_WORD_ORIGIN] = film_step_do_origin,
    [FILM_WORD_MADE] = film_step_do_made,
    [FILM_WORD_HITS] = film_step_do_hits,
    [FILM_WORD_BREAK] = film_step_do_break,
    [FILM_WORD_TBREAK] = film_step_do_break,
    [FILM_WORD_WATCH] = film_step_do_watch,
    [FILM_WORD_LOGPOINT] = film_step_do_logpoint,
    [FILM_WORD_DELETE] = film_step_do_delete,
    [FILM_WORD_BREAKPOINTS] = film_step_do_breakpoints,
    [FILM_WORD_SEARCH] = film_step_do_search,
    [FILM_WORD_RSEARCH] = film_step_do_search,
    [FILM_WORD_HELP] = do_help,
    [FILM_WORD_QUIT] = do_quit,
};

_Static_assert(sizeof(the_handlers) / sizeof(the_handlers[0]) == FILM_WORD_COUNT,
               "a handler for each word");

/* Splits "name arguments" and "/text"; both end with a NUL. */
static void
run_typed(film_step *step, char *typed)
{
    size_t length = strlen(typed), name;
    const film_word_info *word;
    char *arguments;

    while (length > 0 && isspace((unsigned char)typed[length - 1])) {
        typed[--length] = '\0';
    }
    name = typed[0] == '/' ? 1 : strcspn(typed, " \t");
    word = film_word_find(typed, name);
    if (word == NULL) {
        (void)film_step_fail(step, "there is no command '%.*s'; help lists them all",
                             (int)(name < 40 ? name : 40), typed);
        return;
    }
    arguments = typed + name;
    arguments += strspn(arguments, " \t");
    if (word->arguments[0] == '\0' && arguments[0] != '\0') {
        (void)film_step_fail(step, "%s takes nothing behind it, and here is '%.40s'",
                             word->name, arguments);
        return;
    }
    the_handlers[word->word](step, word, arguments);
}

void
film_step_run(film_step *step, const char *line, size_t length)
{
    char *typed;

    film_buffer_clear(&step->text);
    film_buffer_clear(&step->answer);
    step->failed = step->beyond = false;
    while (length > 0 && isspace((unsigned char)*line)) {
        line++;
        length--;
    }
    if (length > MOST_TYPED) {
        (void)film_step_fail(step, "the line is too long to be a command");
    }
    else if (memchr(line, '\0', length) != NULL) {
        (void)film_step_fail(step, "the line holds a NUL: no command does");
    }
    else {
        typed = film_step_copy(line, length);
        if (typed == NULL) {
            (void)film_step_fail(step, "memory ran out");
        }
        else {
            run_typed(step, typed);
        }
        film_free(typed);
    }
    film_output_drain(&step->out);
    if (step->json) {
        film_buffer_clear(&step->text);
        if (step->answer.length == 0) {
            film_buffer_append_text(&step->answer, "{}");
        }
        film_buffer_append(&step->text, step->answer.data, step->answer.length);
        film_buffer_put_byte(&step->text, '\n');
    }
}

/* --- what was typed behind the name --- */

bool
film_step_parse_count(film_step *step, const char *text, uint64_t fallback,
                      uint64_t *out)
{
    char *end;

    *out = fallback;
    if (text[0] == '\0') {
        return true;
    }
    errno = 0;
    *out = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0) {
        return film_step_fail(step, "'%.40s' is no number", text);
    }
    return true;
}

const char *
film_step_condition(const char *text, size_t *length)
{
    const char *found = strncmp(text, "if ", 3) == 0 ? text : strstr(text, " if ");

    *length = found == NULL ? strlen(text) : (size_t)(found - text);
    while (*length > 0 && text[*length - 1] == ' ') {
        --*length;
    }
    return found == NULL ? NULL : found + (found[0] == ' ' ? 4 : 3);
}
