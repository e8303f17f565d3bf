/* query_state.h: what the files of film_query share: a request being answered.
 * Handlers write the members of the answer behind one another; the object's braces and
 * what every answer has are query.c's.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_QUERY_STATE_H
#define FILMSTRIP_QUERY_STATE_H

#include <filmstrip/tensor.h>

#include "analysis/breakpoints.h"
#include "analysis/query.h"
#include "analysis/questions.h"
#include "analysis/timeline.h"
#include "base/json.h"

typedef struct film_ask {
    film_timeline *timeline;
    film_reader *reader;
    film_json json; /* the request */
    film_buffer *out;
    film_error *error;
    film_budget budget;
    bool comma; /* the next member needs one before it */
} film_ask;

/* --- writing (query_write.c) --- */

void
film_ask_key(film_ask *ask, const char *key);

void
film_ask_open(film_ask *ask, const char *key, char bracket);

void
film_ask_close(film_ask *ask, char bracket);

void
film_ask_string(film_ask *ask, const char *key, film_text text);

void
film_ask_words(film_ask *ask, const char *key, const char *text);

void
film_ask_number(film_ask *ask, const char *key, uint64_t number);

void
film_ask_bool(film_ask *ask, const char *key, bool is);

void
film_ask_null(film_ask *ask, const char *key);

/* "thread:event"; null where it is no moment. */
void
film_ask_moment(film_ask *ask, const char *key, film_moment moment);

/* A value as it was at the moment. */
FILM_NODISCARD film_status
film_ask_value(film_ask *ask, const char *key, film_moment moment,
               const film_datum *value);

/* The tensor of a value as it was at the moment, by its newest record. FILM_END: it is
 * none. */
FILM_NODISCARD film_status
film_ask_get_tensor(film_ask *ask, film_moment moment, const film_datum *value,
                    film_tensor *out);

/* "tensor": what it was. */
void
film_ask_put_tensor(film_ask *ask, const film_tensor *tensor);

/* "function" and "module" of the op that an op_end ends, "changed": what it changed in
 * place (query_ops.c). */
FILM_NODISCARD film_status
film_ask_put_op_end(film_ask *ask, film_moment moment, const film_event *event);

/* The value that "expression" or "object" of the request names. */
FILM_NODISCARD film_status
film_ask_find_value(film_ask *ask, film_moment moment, film_datum *out);

/* "function", "file", "line". */
void
film_ask_place(film_ask *ask, uint32_t code, uint32_t line);

/* "exception": what the event tells of one; null: it is about none. */
void
film_ask_put_exception(film_ask *ask, const film_event *event);

/* All of a MOMENT; the variables of the frame with that serial if `locals`. */
FILM_NODISCARD film_status
film_ask_whole_moment(film_ask *ask, film_moment moment, bool locals, uint64_t frame);

FILM_NODISCARD film_status
film_ask_locals(film_ask *ask, film_moment moment, size_t index);

FILM_NODISCARD film_status
film_ask_globals(film_ask *ask, film_moment moment, size_t index);

FILM_NODISCARD film_status
film_ask_written(film_ask *ask, const film_written *written, const char *name);

/* --- reading (query.c) --- */

/* FILM_MISUSE where it is missing or no moment, unless `fallback`: then the first
 * moment of the recording. */
FILM_NODISCARD film_status
film_ask_get_moment(film_ask *ask, const char *key, bool fallback, film_moment *out);

/* The text of a parameter; NULL: it is not there (or null). */
FILM_NODISCARD film_status
film_ask_get_text(film_ask *ask, const char *key, bool needed, const char **out);

FILM_NODISCARD film_status
film_ask_get_number(film_ask *ask, const char *key, uint64_t fallback, uint64_t *out);

bool
film_ask_get_bool(film_ask *ask, const char *key);

/* A member of the request; NULL: it is not there. */
const film_json_node *
film_ask_get(const film_ask *ask, const char *key);

/* Whether "with" names it. */
bool
film_ask_wants(film_ask *ask, const char *what);

/* The frame parameter (a serial) as an index of the moment's stack; the innermost
 * without one. FILM_MISUSE: there is no such frame. */
FILM_NODISCARD film_status
film_ask_get_frame(film_ask *ask, film_moment moment, size_t *index, uint64_t *serial);

/* The "file" and "line", or "function", of a request. */
FILM_NODISCARD film_status
film_ask_get_place(film_ask *ask, film_breakpoint *out);

/* "verdict" and "message" of a place where nothing stopped; nothing where it is not
 * known within the budget, or something does. */
FILM_NODISCARD film_status
film_ask_put_verdict(film_ask *ask, const film_breakpoint *place);

/* "next", where a search goes on that counts what it meets: the moment and what was
 * counted until then. As they were without one. */
FILM_NODISCARD film_status
film_ask_get_next(film_ask *ask, film_moment *at, film_tally *tally);

/* What film_ask_get_next takes. */
void
film_ask_put_next(film_ask *ask, film_moment at, const film_tally *tally);

/* The request's "breakpoints"; the caller owns *out. */
FILM_NODISCARD film_status
film_ask_breakpoints(film_ask *ask, film_breakpoints **out, size_t *bad);

/* "stopped" and the moment it is about. `tally`: of a search that counts what it meets;
 * NULL: it does not. */
FILM_NODISCARD film_status
film_ask_stopped(film_ask *ask, film_moment from, const film_stop *stop,
                 const film_tally *tally);

/* --- handlers --- */

typedef film_status (*film_answer)(film_ask *ask);

film_status
film_answer_open(film_ask *ask);
film_status
film_answer_moment(film_ask *ask);
film_status
film_answer_move(film_ask *ask);
film_status
film_answer_threads(film_ask *ask);
film_status
film_answer_locals(film_ask *ask);
film_status
film_answer_globals(film_ask *ask);
film_status
film_answer_value(film_ask *ask);
film_status
film_answer_evaluate(film_ask *ask);
film_status
film_answer_source(film_ask *ask);
film_status
film_answer_lines(film_ask *ask);
film_status
film_answer_breakpoints(film_ask *ask);
film_status
film_answer_writes(film_ask *ask);
film_status
film_answer_history(film_ask *ask);
film_status
film_answer_origin(film_ask *ask);
film_status
film_answer_hits(film_ask *ask);
film_status
film_answer_first(film_ask *ask);
film_status
film_answer_written(film_ask *ask);
film_status
film_answer_commands(film_ask *ask);
film_status
film_answer_exception(film_ask *ask);
film_status
film_answer_made(film_ask *ask);

film_status
film_answer_op(film_ask *ask);

/* What the event itself says, in the words of dump, as member `event`. */
FILM_NODISCARD film_status
film_ask_whole_event(film_ask *ask, film_moment moment, const film_event *event);

/* query_op.c: of a node of the backward pass, which op made it. */
FILM_NODISCARD film_status
film_ask_put_forward(film_ask *ask, const film_event *event);

#endif
