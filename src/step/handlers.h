/* handlers.h: what each command does, and what their files share.
 * A handler gets what was typed behind its name, without blanks at the ends.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_HANDLERS_H
#define FILMSTRIP_HANDLERS_H

#include "step/session.h"

typedef void (*film_step_handler)(film_step *step, const film_word_info *word,
                                  const char *arguments);

/* A place as it was typed: a line of a file, or a function, maybe of a file. */
typedef struct film_step_place {
    char file[1024]; /* of a function: empty where none was typed */
    char function[512];
    uint32_t line; /* 0: it is a function */
} film_step_place;

/* A place FILE:LINE, or LINE of the file one is in. False: it is none. */
bool
film_step_parse_place(film_step *step, const char *text, size_t length,
                      film_step_place *out);

/* The same, or [FILE:]FUNCTION; tells what is wrong and gives false. */
bool
film_step_parse_location(film_step *step, const char *text, size_t length,
                         film_step_place *out);

/* [FILE:]FUNCTION; false: it cannot be one. */
bool
film_step_take_function(const char *text, size_t length, film_step_place *out);

/* The file of the recording that a name means: the first that ends with it. */
bool
film_step_find_file(const film_step *step, const char *typed, char *file,
                    size_t capacity);

/* The function that a place names: its file, and its first line as the place's. */
bool
film_step_find_function(const film_step *step, film_step_place *place, char *file,
                        size_t capacity);

/* "file", "line" or "function" of a request. */
void
film_step_add_location(film_step *step, const film_step_place *place);

/* The BREAKPOINT there, without the brace that closes it. */
void
film_step_open_spec(film_buffer *to, const film_step_place *place);

/* A number that is the whole text, or `fallback` where the text is empty; tells what is
 * wrong and gives false. */
bool
film_step_parse_count(film_step *step, const char *text, uint64_t fallback,
                      uint64_t *out);

/* Splits off " if CONDITION": the text before it ends at *length. */
const char *
film_step_condition(const char *text, size_t *length);

/* A request that moves was begun: asks, arrives, tells where one is. `keep`: the frame
 * stays if it is still open. `no`: what is told, as a failure, where the start or the
 * end was reached instead; one then stays; NULL: one goes there. */
bool
film_step_move(film_step *step, bool keep, const char *no);

/* The same with the answer in the reply. */
bool
film_step_finish_move(film_step *step, bool keep, const char *no);

/* Whether the move in the reply came to the start or the end instead. */
bool
film_step_came_to_end(const film_step *step);

/* To a moment "thread:event". */
bool
film_step_jump(film_step *step, const char *place);

/* Looks at where one is and tells it. */
void
film_step_tell_here(film_step *step);

/* To the next (back: last) run of a line or call of a function. */
void
film_step_run_to(film_step *step, const film_step_place *place, bool back);

/* To a time ("1.5s", "50%"). False: it is none, nothing was done or told. */
bool
film_step_to_time(film_step *step, const char *text);

/* The next (back: last) exception; an empty type: any. */
void
film_step_to_raise(film_step *step, const char *type, bool back);

/* To the first moment where the condition is true; how: as first, rfirst or bisect. */
void
film_step_to_condition(film_step *step, const char *condition, film_word how);

/* do_move.c */
void
film_step_do_move(film_step *step, const film_word_info *word, const char *arguments);
void
film_step_do_continue(film_step *step, const film_word_info *word,
                      const char *arguments);
void
film_step_do_until(film_step *step, const film_word_info *word, const char *arguments);
void
film_step_do_raise(film_step *step, const film_word_info *word, const char *arguments);
void
film_step_do_write(film_step *step, const film_word_info *word, const char *arguments);

void
film_step_do_uncaught(film_step *step, const film_word_info *word,
                      const char *arguments);

/* do_jump.c */
void
film_step_do_event(film_step *step, const film_word_info *word, const char *arguments);
void
film_step_do_time(film_step *step, const film_word_info *word, const char *arguments);
void
film_step_do_hit(film_step *step, const film_word_info *word, const char *arguments);
void
film_step_do_first(film_step *step, const film_word_info *word, const char *arguments);
void
film_step_do_undo(film_step *step, const film_word_info *word, const char *arguments);
void
film_step_do_thread(film_step *step, const film_word_info *word, const char *arguments);
void
film_step_do_search(film_step *step, const film_word_info *word, const char *arguments);

/* do_look.c */
void
film_step_do_frame(film_step *step, const film_word_info *word, const char *arguments);
void
film_step_do_where(film_step *step, const film_word_info *word, const char *arguments);
void
film_step_do_threads(film_step *step, const film_word_info *word,
                     const char *arguments);
void
film_step_do_print(film_step *step, const film_word_info *word, const char *arguments);
void
film_step_do_items(film_step *step, const film_word_info *word, const char *arguments);
void
film_step_do_locals(film_step *step, const film_word_info *word, const char *arguments);
void
film_step_do_list(film_step *step, const film_word_info *word, const char *arguments);
void
film_step_do_here(film_step *step, const film_word_info *word, const char *arguments);
void
film_step_do_info(film_step *step, const film_word_info *word, const char *arguments);

/* do_ask.c */
void
film_step_do_last(film_step *step, const film_word_info *word, const char *arguments);
void
film_step_do_writes(film_step *step, const film_word_info *word, const char *arguments);
void
film_step_do_history(film_step *step, const film_word_info *word,
                     const char *arguments);
void
film_step_do_origin(film_step *step, const film_word_info *word, const char *arguments);
/* do_ops.c */
void
film_step_do_made(film_step *step, const film_word_info *word, const char *arguments);

/* After `last` of a variable that holds a tensor: the op that made it. */
void
film_step_tell_made(film_step *step, const char *expression, size_t length);

/* A number behind the last blank is split off; false: nothing was typed. */
bool
film_step_split_number(film_step *step, const char *arguments, size_t *length,
                       uint64_t fallback, uint64_t *number);

void
film_step_do_hits(film_step *step, const film_word_info *word, const char *arguments);

/* do_break.c */
void
film_step_do_break(film_step *step, const film_word_info *word, const char *arguments);
void
film_step_do_watch(film_step *step, const film_word_info *word, const char *arguments);
void
film_step_do_logpoint(film_step *step, const film_word_info *word,
                      const char *arguments);
void
film_step_do_delete(film_step *step, const film_word_info *word, const char *arguments);
void
film_step_do_breakpoints(film_step *step, const film_word_info *word,
                         const char *arguments);

#endif
