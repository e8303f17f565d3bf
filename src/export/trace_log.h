/* trace_log.h: torch's structured log, as tlparse and torchdbg read it: records of one
 * JSON object behind a glog prefix, payloads behind them, each line after a tab.
 *
 *   V1115 08:26:25.675000 10923 filmstrip:1] {"artifact": {...}, "has_payload": md5}
 *
 * What a log must keep so that tlparse takes every line: a string stands in it once, by
 * {"str": [text, id]} before its first use; has_payload is the MD5 of the payload as its
 * lines give it back (they lose a carriage return at their end, so there is none);
 * `rank` is in every record or in none (strings have none); top-level keys that tlparse
 * keeps for itself (timestamp, thread, pathname, lineno, payload_filename) are not used.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_TRACE_LOG_H
#define FILMSTRIP_TRACE_LOG_H

#include "base/intern.h"
#include "export/output.h"

typedef struct film_trace_log {
    film_output *output;  /* borrowed */
    uint64_t realtime_ns; /* of time 0, since the Unix epoch */
    uint64_t pid;
    int64_t rank; /* -1: none */
    film_intern strings;
    uint32_t next_string;
    film_buffer text; /* scratch: a payload made fit */
    int64_t second;   /* that `prefix` tells */
    char prefix[24];  /* V1115 08:26:25 */
    bool failed;      /* memory ran out */
} film_trace_log;

/* `first_string`: the ids of strings begin here (a log that is appended to). */
void
film_trace_log_begin(film_trace_log *log, film_output *output, uint64_t realtime_ns,
                     uint64_t pid, int64_t rank, uint32_t first_string);

void
film_trace_log_reset(film_trace_log *log);

/* The id of a string; writes it where it is new. */
uint32_t
film_trace_log_string(film_trace_log *log, uint64_t time_ns, film_text text);

/* One record; `json` is the value of `key`. payload may be NULL. */
void
film_trace_log_write(film_trace_log *log, uint64_t time_ns, const char *key,
                     const film_buffer *json, const film_text *payload);

/* A text in JSON, whatever bytes it has. */
void
film_trace_put_text(film_buffer *out, film_text text);

#endif
