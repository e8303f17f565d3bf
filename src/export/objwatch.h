/* objwatch.h: the log as ObjWatch writes it.
 * ObjWatch looks at a function's variables whenever a line begins and tells what has
 * changed since it looked last. A recording holds every write, so there are two ways to
 * the same lines: FULL tells each write when it happened; STRICT keeps the variables as
 * they were at ObjWatch's last look and tells what it would have told, losses included.
 * OLD is STRICT in the form of ObjWatch 0.2 to 0.4.
 *
 *   objwatch_config.c  what the watching was asked for, from META
 *   objwatch_state.c   variables, objects and containers as they are at a moment
 *   objwatch_frames.c  the open frames
 *   objwatch_value.c   values as texts
 *   objwatch.c         events to lines
 *   objwatch_full.c    the lines of writes, as they happened
 *   objwatch_strict.c  the lines of a look
 *   objwatch_torch.c   where torch.nn.Module keeps what is written to it
 *   objwatch_text.c    lines to text; objwatch_json.c, objwatch_xml.c: to trees
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_OBJWATCH_H
#define FILMSTRIP_OBJWATCH_H

#include "analysis/merge.h"
#include "export/output.h"

typedef enum film_objwatch_mode {
    FILM_OBJWATCH_FULL,
    FILM_OBJWATCH_STRICT,
    FILM_OBJWATCH_OLD
} film_objwatch_mode;

/* One line, as the writers of all forms get it. Texts are borrowed for the call. */
typedef struct film_objwatch_line {
    const char *word; /* run, end, upd, apd, pop, del, raise */
    uint64_t time_ns;
    uint32_t line, depth, thread;
    film_text module;        /* run, end */
    film_text owner;         /* the class of a method or attribute; `_` and `@` */
    film_text name;          /* the function or variable */
    film_text item;          /* upd, del of an item: `[key]`; else empty */
    film_text before, after; /* run: arguments, end: value in `after`; upd: both */
    film_text type;          /* apd, pop: of the container */
    int64_t length_before, length_after;
    bool has_message; /* run, end: `after` counts; else there is no wrapper */
} film_objwatch_line;

typedef void (*film_objwatch_writer)(void *context, const film_objwatch_line *line);

typedef struct film_objwatch film_objwatch;

/* Walks one recording; the caller owns *out, which borrows the reader. */
FILM_NODISCARD film_status
film_objwatch_new(film_reader *reader, film_objwatch_mode mode,
                  film_objwatch_writer write, void *context, film_objwatch **out,
                  film_error *error);

void
film_objwatch_free(film_objwatch *view);

/* Takes the next event and writes the lines it makes. */
FILM_NODISCARD film_status
film_objwatch_event(film_objwatch *view, const film_event *event, film_error *error);

/* --- as text --- */

typedef struct film_objwatch_text film_objwatch_text;

/* Writes the headers; the caller owns *out, which borrows set and output. */
FILM_NODISCARD film_status
film_objwatch_text_new(const film_recordings *set, film_objwatch_mode mode,
                       film_output *output, film_objwatch_text **out,
                       film_error *error);

void
film_objwatch_text_free(film_objwatch_text *text);

FILM_NODISCARD film_status
film_objwatch_text_write(film_objwatch_text *text, const film_merged *merged,
                         film_error *error);

/* The last words. */
void
film_objwatch_text_finish(film_objwatch_text *text);

/* --- as a tree --- */

/* Who takes the lines of a recording: a function's stand between its run and its end.
 */
typedef struct film_objwatch_tree {
    film_objwatch_writer line;
    void (*end_thread)(void *context); /* what is open is at its end */
    void *context;
    const bool *failed;  /* memory ran out */
    film_output *output; /* borrowed; looked at for failures */
} film_objwatch_tree;

/* Thread after thread. */
FILM_NODISCARD film_status
film_objwatch_walk(film_reader *reader, film_objwatch_mode mode,
                   const film_objwatch_tree *tree, film_error *error);

/* The run as ObjWatch 0.5 and 0.3 save it. */
film_status
film_export_objwatch_json(const film_recordings *set, film_output *output,
                          film_error *error);

film_status
film_export_objwatch_xml(const film_recordings *set, film_output *output,
                         film_error *error);

#endif
