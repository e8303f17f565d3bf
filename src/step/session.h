/* session.h: somebody stepping through a recording: where they stand, the frame they
 * look at, their breakpoints, and the questions they ask film_query.
 *
 * A command writes its answer into `text`: a paragraph for people, or with `json` one
 * object. Nothing here knows of a terminal.
 * Threads: one at a time. Everything belongs to the session unless said otherwise.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_SESSION_H
#define FILMSTRIP_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include <filmstrip/reader.h>

#include "analysis/commands.h"
#include "analysis/query.h"
#include "base/json.h"
#include "export/output.h"
#include "step/sources.h"

#define FILM_STEP_TRAIL 64u
/* "thread:event" */
#define FILM_STEP_PLACE 48u
/* "next" of an answer: a moment, or that and what was counted until then. */
#define FILM_STEP_NEXT 128u
/* So many frames of a stack are looked at. */
#define FILM_STEP_FRAMES 1000u

/* A breakpoint that was set. */
typedef struct film_step_stop {
    char *spec;  /* owned; the BREAKPOINT of film_query, JSON */
    char *words; /* owned; as a list tells it */
    char *file;  /* owned; of a line, as it was typed; NULL: no line */
    uint32_t line;
    unsigned id;
    bool once;       /* tbreak */
    char never[400]; /* why nothing stops there; empty: it does, or that is not known */
    bool for_ever;   /* all of the recording was looked at, and it is not written on */
} film_step_stop;

typedef struct film_step {
    film_reader *reader; /* borrowed */
    const char *path;    /* borrowed */
    film_timeline *timeline;
    film_buffer request, answer;
    film_json reply; /* the last answer, read */
    film_buffer text;
    film_output out; /* writes into `text` */

    char at[FILM_STEP_PLACE]; /* empty: the recording has no events */
    uint32_t thread;
    uint64_t event;
    uint64_t frame;     /* the serial that is looked at; 0: the innermost */
    uint64_t innermost; /* 0: no frame is open */
    char trail[FILM_STEP_TRAIL][FILM_STEP_PLACE];
    size_t trail_count; /* of all time; the place is modulo */
    /* Threads are looked at as they were at one moment, until one moves. */
    char switched_at[FILM_STEP_PLACE], switched_to[FILM_STEP_PLACE];

    film_json moment;  /* the MOMENT, with the locals of the frame */
    film_json written; /* what the frame's lines wrote; after film_step_look_lines */
    film_sources sources;
    film_step_stop *stops;
    size_t stop_count, stop_capacity;
    unsigned last_stop;   /* id */
    film_buffer searched; /* what was searched for last, and a NUL */
    uint64_t found;       /* line of this source where a text was found; 0: none */

    uint64_t duration_ns;
    char level[16];
    bool live;   /* the recording is being written */
    bool json;   /* answers for machines */
    bool failed; /* the command failed, or its answer is no */
    bool quiet;  /* moves do not tell where one is: it is seen */
    bool quit;
    bool beyond; /* what was asked for lies behind the end, where one went instead */
    /* Called every 50 ms of a long search, with 0 to 1; false: give it up. */
    bool (*working)(void *context, double progress);
    void *working_context;
} film_step;

/* `reader` and `path` stay the caller's. On failure the session is closed. */
FILM_NODISCARD film_status
film_step_open(film_step *step, film_reader *reader, const char *path,
               film_error *error);

void
film_step_close(film_step *step);

/* Runs a line: film_step.text is its answer, `failed` whether it failed. */
void
film_step_run(film_step *step, const char *line, size_t length);

/* --- asking (ask.c) --- */

/* A request begins with its question and the moment and frame one is at. */
void
film_step_begin(film_step *step, const char *question);

/* At another moment, and no frame. */
void
film_step_begin_at(film_step *step, const char *question, const char *at);

void
film_step_add_text(film_step *step, const char *key, const char *text, size_t length);

void
film_step_add_number(film_step *step, const char *key, uint64_t number);

/* JSON as it is. */
void
film_step_add_raw(film_step *step, const char *key, const char *json, size_t length);

/* Asks, goes on while the answer is unfinished; the answer is in `answer` and `reply`.
 * False: it is an error, which was told. */
bool
film_step_ask(film_step *step);

/* The same for a question whose answer is a list of at most `limit`, named `list`. */
bool
film_step_ask_list(film_step *step, const char *list, uint64_t limit);

/* Tells that something is wrong; always false. */
bool
film_step_fail(film_step *step, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A copy of a node as text. */
void
film_json_copy(const film_json *json, const film_json_node *node, film_buffer *to);

/* A text as a JSON string. */
void
film_json_put(film_buffer *to, const char *text, size_t length);

/* --- where one is (session.c) --- */

/* Stands at the moment of the reply; the place before goes onto the trail. The frame
 * stays if it is still open and `keep`, else the innermost is looked at. */
bool
film_step_arrive(film_step *step, bool keep);

/* Reads the moment one is at anew into film_step.moment. */
bool
film_step_look(film_step *step);

/* What the lines of the frame wrote, into film_step.written. */
bool
film_step_look_lines(film_step *step);

/* The frame that is looked at, in the stack of film_step.moment; NULL: none is open. */
const film_json_node *
film_step_frame(const film_step *step, size_t *index);

/* The exception that ended the program or a thread, looked for 50 ms at most: "Type:
 * message" into `to`. False: none was found. */
bool
film_step_uncaught(film_step *step, char *to, size_t capacity);

/* The recording as it is now, where it is being written. */
void
film_step_refresh(film_step *step);

/* --- what replies hold --- */

const char *
film_step_text(const film_json *json, const film_json_node *of, const char *key);

uint64_t
film_step_number(const film_json *json, const film_json_node *of, const char *key);

#endif
