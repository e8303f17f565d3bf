/* session.h: what the files of the DAP server share: one client, one recording, the
 * moment it stands at.
 *
 * A request is answered by the handler of its name (requests.c), which writes the body
 * of the response member by member. Searches (search.c) run within their handler, in
 * pieces; what the client sends meanwhile is kept and looked at for a pause, a cancel
 * or an end.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_DAP_SESSION_H
#define FILMSTRIP_DAP_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/query.h"
#include "analysis/timeline.h"
#include "base/buffer.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "dap/dap.h"
#include "dap/transport.h"

#define FILM_DAP_MOMENT 48u /* "thread:event" with its NUL */

/* --- what client and recording are --- */

typedef struct film_dap_client {
    bool lines_at_1, columns_at_1;
    bool progress, types, paging;
} film_dap_client;

/* A file of the recording. */
typedef struct film_dap_source {
    char *file;   /* owned; as the recording names it */
    char *path;   /* owned; what the editor is told, NULL: not looked for yet */
    bool told;    /* its text is in the recording */
    bool by_text; /* the editor asks for the text: on disk is none, or another */
    bool missing; /* there is no text at all */
} film_dap_source;

typedef enum film_dap_group {
    FILM_DAP_LINE,
    FILM_DAP_FUNCTION,
    FILM_DAP_EXCEPTION,
    FILM_DAP_DATA
} film_dap_group;

typedef struct film_dap_point {
    int64_t id;
    film_dap_group group;
    size_t source; /* LINE */
    uint32_t line; /* where it stands */
    bool verified, log;
    bool stale;    /* being set anew */
    bool told;     /* a log point: its past hits were told */
    char *spec;    /* owned; JSON, as film_query takes it */
    char *message; /* owned; why it is not verified; NULL: it is */
} film_dap_point;

typedef struct film_dap_points {
    film_dap_point *list; /* owned */
    size_t count, capacity;
    int64_t last_id;
} film_dap_points;

/* What frame ids and variablesReferences stand for; forgotten when the moment
 * changes. */
typedef enum film_dap_handle_kind {
    FILM_DAP_FRAME,
    FILM_DAP_LOCALS,
    FILM_DAP_GLOBALS,
    FILM_DAP_OBJECT,
    FILM_DAP_OPERATION, /* arguments and results of the op one stands at */
    FILM_DAP_TENSOR,    /* what a tensor is, and of its numbers */
    FILM_DAP_TARGET     /* of a goto */
} film_dap_handle_kind;

typedef struct film_dap_handle {
    film_dap_handle_kind kind;
    char moment[FILM_DAP_MOMENT];
    uint64_t frame, object;
    char *expression; /* owned; how an object was come by, NULL: cannot be said */
} film_dap_handle;

typedef struct film_dap_handles {
    film_dap_handle *list; /* owned */
    size_t count, capacity;
    int64_t first; /* id of list[0]: ids are not used again */
} film_dap_handles;

typedef struct film_dap_message {
    char *text; /* owned */
    size_t length;
} film_dap_message;

typedef enum film_dap_interrupt {
    FILM_DAP_GO_ON,
    FILM_DAP_PAUSED,   /* stop where the search is */
    FILM_DAP_CANCELLED /* stay where it began; also when the session ends */
} film_dap_interrupt;

typedef struct film_dap {
    film_dap_transport transport;
    film_dap_options options;
    film_dap_client client;
    int64_t seq;
    bool initialized, admitted, configured, over;

    /* the request being answered */
    film_json request;
    int64_t request_seq;
    char command[64];
    film_json_writer response, event, question;
    bool answered;
    char why[320]; /* what a refusal says */

    /* what came in during a search, oldest first */
    film_dap_message *waiting; /* owned */
    size_t waiting_count, waiting_capacity, waiting_bytes;
    film_dap_interrupt interrupt;
    bool paused; /* a search was: its pause request is yet to be answered */
    int64_t progress_count;
    char progress_id[32];

    /* the recording */
    film_reader *reader;      /* owned; NULL: none is open */
    film_timeline *timeline;  /* owned */
    film_dap_source *sources; /* owned */
    size_t source_count, source_capacity;
    char **roots; /* owned; folders of launch where sources are looked for */
    size_t root_count;
    film_dap_points points;
    film_dap_handles handles;
    struct film_step *step; /* owned; runs the console's words, NULL: none yet */

    bool stop_on_entry;
    char entry[FILM_DAP_MOMENT]; /* start, end, or a moment */

    /* where it stands */
    char moment[FILM_DAP_MOMENT], first[FILM_DAP_MOMENT];
    uint32_t thread;
} film_dap;

/* --- session.c --- */

/* Writes why, for a handler to `return film_dap_refuse(...)`. Always false. */
bool
film_dap_refuse(film_dap *dap, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Sends the response now, where something is to follow it within the handler. */
void
film_dap_respond(film_dap *dap);

/* An event: opens its body in dap->event, to be sent by film_dap_send_event. */
film_json_writer *
film_dap_event(film_dap *dap, const char *name);

void
film_dap_send_event(film_dap *dap);

/* An output event of the editor's console, ended by a newline. */
void
film_dap_say(film_dap *dap, const char *category, const char *text);

/* Takes what has come in, without waiting; sets dap->interrupt. */
void
film_dap_look_for_input(film_dap *dap);

/* --- requests.c --- */

/* The handler of a command; false: refused, dap->why says why. */
typedef bool (*film_dap_handler)(film_dap *dap, const film_json_node *arguments);

typedef struct film_dap_command {
    const char *name;
    film_dap_handler handle;
    bool needs_film;
} film_dap_command;

const film_dap_command *
film_dap_find_command(const char *name);

/* --- arguments.c: what a request brings --- */

const char *
film_dap_get_text(const film_dap *dap, const film_json_node *of, const char *key);

/* `fallback` where it is missing or no whole number. */
int64_t
film_dap_get_integer(const film_dap *dap, const film_json_node *of, const char *key,
                     int64_t fallback);

bool
film_dap_get_bool(const film_dap *dap, const film_json_node *of, const char *key,
                  bool fallback);

/* A line of the recording (from 1 on) as the client counts, and back. */
int64_t
film_dap_line(const film_dap *dap, int64_t line);

int64_t
film_dap_line_of(const film_dap *dap, int64_t told);

/* --- question.c: asks film_query --- */

typedef struct film_dap_answer {
    film_buffer bytes;
    film_json json;
    const film_json_node *root;
} film_dap_answer;

void
film_dap_answer_reset(film_dap_answer *answer);

/* Begins a question in dap->question; its members follow. */
film_json_writer *
film_dap_question(film_dap *dap, const char *name);

/* Asks it. False: refused, why is written. `answer` is zeroed or was used before. */
bool
film_dap_ask(film_dap *dap, film_dap_answer *answer);

const char *
film_dap_text(const film_dap_answer *answer, const film_json_node *of, const char *key);

int64_t
film_dap_integer(const film_dap_answer *answer, const film_json_node *of,
                 const char *key, int64_t fallback);

bool
film_dap_is(const film_dap_answer *answer, const film_json_node *of, const char *key);

/* --- movement.c --- */

/* "ValueError: too much", of the exception of a moment; false: none passes. */
bool
film_dap_describe_exception(const film_dap_answer *answer, char *text, size_t room);

/* --- recording.c --- */

bool
film_dap_open_film(film_dap *dap, const char *path);

void
film_dap_close_film(film_dap *dap);

/* Looks again at a recording that is still being written. */
bool
film_dap_refresh(film_dap *dap);

/* Copies a moment, cut where it is too long to be one. */
void
film_dap_copy_moment(char *to, const char *from);

/* Where a thread stands at the session's moment. False: it has not begun. */
bool
film_dap_thread_moment(film_dap *dap, int64_t thread, char *moment);

/* Stands at the moment of an answer, forgets handles. */
void
film_dap_stand(film_dap *dap, const film_dap_answer *answer);

void
film_dap_stand_at(film_dap *dap, const char *moment);

/* --- sources.c --- */

/* Which file of the recording a Source of a request is; false: none, why is written. */
bool
film_dap_find_source(film_dap *dap, const film_json_node *source, size_t *index);

/* The index of a file by its name in the recording; SIZE_MAX: none. */
size_t
film_dap_source_of(const film_dap *dap, const char *file);

/* A Source as member `key` (NULL: as an item). */
void
film_dap_put_source(film_dap *dap, film_json_writer *out, const char *key,
                    size_t index);

/* --- points.c --- */

/* The verified breakpoints as a member of a question. */
void
film_dap_put_points(const film_dap *dap, film_json_writer *question);

size_t
film_dap_active_points(const film_dap *dap);

/* The n-th of those. NULL: none. */
const film_dap_point *
film_dap_active_point(const film_dap *dap, int64_t n);

void
film_dap_free_points(film_dap *dap);

/* --- handles.c --- */

/* A new one; 0: memory ran out. `expression` is copied. */
int64_t
film_dap_add_handle(film_dap *dap, film_dap_handle_kind kind, const char *moment,
                    uint64_t frame, uint64_t object, const char *expression);

/* NULL: there is none, why is written. */
const film_dap_handle *
film_dap_find_handle(film_dap *dap, int64_t id);

void
film_dap_forget_handles(film_dap *dap);

/* --- values.c --- */

/* "value", "type", "variablesReference" and counts of a value of an answer. */
void
film_dap_put_value(film_dap *dap, film_json_writer *out, const char *key,
                   const film_dap_answer *answer, const film_json_node *value,
                   const film_dap_handle *place, const char *expression, bool hex);

/* A variable of a response. `expression` (NULL: none) evaluates to it. */
void
film_dap_put_variable(film_dap *dap, const char *name, const film_dap_answer *answer,
                      const film_json_node *value, const film_dap_handle *place,
                      const char *expression, const char *kind, bool hex);

/* One that is only a text. */
void
film_dap_put_plain(film_dap *dap, const char *name, const char *text, const char *type);

/* --- operation.c --- */

/* The name that the frame has where one stands at an op: "train, at torch.mm(x, w)". False:
 * one does not, or in another frame. */
bool
film_dap_describe_operation(const film_dap_answer *answer, const film_json_node *frame,
                            char *text, size_t room);

/* Whether the frame stands at an op. */
bool
film_dap_stands_at_operation(film_dap *dap, const film_dap_handle *frame);

/* The variables of the two handles. */
bool
film_dap_put_operation(film_dap *dap, const film_dap_handle *place, bool hex);

bool
film_dap_put_tensor(film_dap *dap, const film_dap_handle *place);

/* --- words.c: what the console understands beside expressions --- */

/* Whether the line was one of its words; then *fine says whether it was done. */
bool
film_dap_word(film_dap *dap, const char *line, const film_dap_handle *frame,
              bool *fine);

/* All of them, for completions; NULL: no more. */
const char *
film_dap_word_named(size_t index);

void
film_dap_close_step(film_dap *dap);

#endif
