/* tlparse_state.h: what the files of the tlparse export share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_TLPARSE_STATE_H
#define FILMSTRIP_TLPARSE_STATE_H

#include "analysis/functions.h"
#include "analysis/timeline.h"
#include "analysis/timeline_state.h"
#include "export/tlparse.h"
#include "export/trace_log.h"

/* A frame of the op's stack that is shown, or of torch's own. */
typedef struct film_tlparse_frame {
    uint64_t serial;
    uint64_t entered; /* event of its call */
    size_t index;     /* in the timeline's stack */
    uint32_t code, line;
    bool shown;
} film_tlparse_frame;

/* A file that was in a stack. */
typedef struct film_tlparse_file {
    uint32_t line; /* the first that was seen */
    bool dumped;
} film_tlparse_file;

/* An op that has begun. */
typedef struct film_tlparse_op {
    uint64_t event;
    uint64_t frame;     /* serial of the innermost that is shown; 0: none */
    bool by_mode;       /* FILM_OPERATION_MODE */
    film_buffer record; /* owned: its JSON up to `args`; empty: it is not logged */
    film_buffer rest;   /* owned: what stands behind `kwargs` */
    film_buffer tokens; /* owned: of its arguments */
    uint32_t count, positional, names; /* of them, as of an op event */
    film_buffer line;                  /* owned: its line of text up to what it gave */
} film_tlparse_op;

typedef struct film_tlparse_thread {
    film_tlparse_op *ops; /* owned, as what is in them; the innermost last */
    size_t count, capacity;
    uint64_t tid;
} film_tlparse_thread;

typedef struct film_tlparse {
    const film_recordings *set; /* borrowed, as the next two */
    const film_tlparse_options *options;
    film_reader *reader;
    film_timeline *timeline; /* owned, as the rest */
    film_functions functions;
    film_trace_log log;
    film_tlparse_frame *frames; /* of the op at hand, outermost first */
    size_t frame_count, frame_capacity;
    uint8_t *code_kinds; /* by code id: whether it is torch's own; see is_own */
    size_t code_kind_count;
    film_tlparse_file *files; /* by id of the log's string, from options->strings on */
    size_t file_count;
    film_tlparse_thread *threads; /* by index in the reader */
    size_t thread_count;
    film_buffer json, text; /* scratch */
    film_buffer renewed;    /* ids of records that tell what tensors are like by now */
    film_buffer ops;        /* lines of text not yet written */
    film_output scratch;    /* writes into `text` */
    uint64_t values_left;   /* that may still be written for this record */
    uint64_t ops_written, ops_raised, ops_inner, op_texts;
    bool has_values;
    film_status status; /* the first failure of a value */
} film_tlparse;

/* --- tlparse_value.c --- */

/* A value as torchdbg's _json() gives it, as it was at the moment. */
void
film_tlparse_put_value(film_tlparse *to, film_buffer *out, film_moment moment,
                       const film_datum *value);

/* A comma, where something stands before it in this bracket. */
void
film_tlparse_separate(film_buffer *out);

/* --- tlparse_frames.c --- */

/* Sets to->frames to the stack of an op. */
FILM_NODISCARD film_status
film_tlparse_look(film_tlparse *to, const film_event *event, film_error *error);

/* Appends "stack": [...]; writes strings and sources that it needs. */
void
film_tlparse_put_stack(film_tlparse *to, film_buffer *out, const film_event *event);

/* --- tlparse_source.c --- */

/* A line of a file has been in a stack: dump_source and dump_file, once. */
void
film_tlparse_visit(film_tlparse *to, uint64_t time_ns, uint32_t file_id, film_text file,
                   uint32_t line);

/* --- tlparse_ops.c --- */

FILM_NODISCARD film_status
film_tlparse_begin_op(film_tlparse *to, film_tlparse_thread *thread,
                      const film_event *event, film_error *error);

FILM_NODISCARD film_status
film_tlparse_end_op(film_tlparse *to, film_tlparse_thread *thread,
                    const film_event *event, film_error *error);

/* Writes the artifact of the lines of text so far. */
void
film_tlparse_flush_ops(film_tlparse *to, uint64_t time_ns);

void
film_tlparse_forget_op(film_tlparse_op *op);

/* --- tlparse_chromium.c --- */

/* One trace event: phase 'B' or 'E' of a call or an op. */
void
film_tlparse_put_slice(film_tlparse *to, const film_tlparse_thread *thread,
                       uint64_t time_ns, char phase, const char *category,
                       film_text name, film_text exception);

/* The names of the process and its threads. */
void
film_tlparse_put_names(film_tlparse *to);

#endif
