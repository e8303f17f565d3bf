/* tlparse.h: torch ops of a recording as torchdbg logs them, with what tlparse shows:
 * one log of torch's structured form (trace_log.h) for each recording. Its records:
 *
 *   eager_dispatch   each op: {target, stack, args, kwargs, ret}, as torchdbg 0.3 has
 *                    it; more keys where they are known: user_name, user_args,
 *                    user_kwargs, user_line, user_filename (as 0.1: the Python function
 *                    of torch's that led to the op), module (the path of the nn.Module)
 *   dump_source      {filename} and the text of each file in a stack
 *   dump_file        {name} and the same text: the form of it that tlparse shows
 *   chromium_event   calls and ops, as they begin and end
 *   artifact         filmstrip_ops_1 and on: the ops as lines of text;
 *                    filmstrip_recording: what was recorded, what is missing
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_TLPARSE_H
#define FILMSTRIP_TLPARSE_H

#include "export/exporter.h"

/* Zeroed: everything. */
typedef struct film_tlparse_options {
    bool moved; /* sources only of files of which more than one line was in a stack */
    bool modes; /* only ops that a mode of filmstrip.torch has told */
    /* A part of the recording: what one thread did from event `first` up to, not
     * including, `end`; without the outermost `outer` frames of its stacks. */
    uint32_t thread; /* 0: all of it */
    uint64_t first, end;
    size_t outer;
    uint32_t strings; /* the strings of the log begin at this id (it is appended to) */
} film_tlparse_options;

typedef struct film_tlparse_result {
    uint64_t ops;     /* eager_dispatch records */
    uint32_t strings; /* ids used so far */
    char note[200];   /* what is missing, in a sentence; empty: nothing */
} film_tlparse_result;

/* dedicated_log_torch_trace_[rank_N_]XXXXXXXX.log: the name that the log must have. */
void
film_tlparse_name(film_reader *reader, char name[FILM_EXPORT_NAME]);

/* Writes the log of the set's one recording. FILM_MISUSE: it has more. */
FILM_NODISCARD film_status
film_tlparse_write(const film_recordings *set, const film_tlparse_options *options,
                   film_output *output, film_tlparse_result *result, film_error *error);

#endif
