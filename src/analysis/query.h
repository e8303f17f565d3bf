/* query.h: the one interface for everything a view asks: JSON in, JSON out.
 * The terminal, the DAP server, the Python API and the page ask the same questions and
 * get the same bytes. No call works longer than about 50 ms: what is not finished comes
 * with "next", to be sent with the same request to go on, and "progress", 0 to 1.
 *
 * A request is an object with "q", the name of the question, and its parameters:
 *
 *   {"q": "moment", "m": "1:1234", "with": ["locals"]}
 *
 * m is "thread:event". Every answer is an object; a failure is
 *   {"error": {"code": "misuse"|"end"|"corrupt"|"memory"|"io"|..., "message": "..."}}
 * and every other answer has "took_us" and "events" (known so far in the recording).
 *
 *  q          parameters                         answer (besides took_us, events)
 *  open       -                                  uuid, program, python, level, ending,
 *             duration_ns, lost, threads [{id, name, first, end, first_ns, last_ns,
 *             lost}], files [{file, source}], start (m), end (m)
 *  moment     m, with [locals], frame            a MOMENT
 *  move       m, how, frame, across, count, breakpoints [BREAKPOINT], file, line, n,
 *             time_ns, fraction, event, variable  a MOMENT and "stopped" {reason:
 *             arrived|breakpoint|start|end|unfinished, breakpoint, log [{breakpoint, m,
 *             text}]}
 *             how: step back line back-line next back-next out back-out continue
 *             reverse-continue call return raise back-raise start end event time
 *             fraction hit write back-write
 *  threads    m                                  threads [{id, name, m, stack}]: where
 *             each stood at that moment
 *  locals     m, frame                           locals [VARIABLE]
 *  value      m, object | expression, frame, offset, limit   type, object, form,
 * length, cut, items [{name | key | index, value}] evaluate   m, frame, expression
 * value, number | unknown | error source     file                               file,
 * text, cut lines      file                               lines [line numbers with
 * code], functions [{name, first, last}] breakpoints breakpoints [BREAKPOINT]
 * breakpoints [{verified, line, message}] writes     m, variable, frame, back, limit
 * writes [WRITE] history    variable, m, frame, limit          writes [WRITE], oldest
 * first origin     m, variable, frame, depth          origin {WRITE, reads [{kind,
 * name, value, m, origin}]} hits       file, line | function, expressions, where, m,
 * limit, back rows [{m, n, time_ns, values}], total (null while it is not known) first
 * condition, m, frame, back, file, line    a MOMENT and "stopped"
 *
 * MOMENT: m, kind, time_ns, thread, line, function, file, depth, exception {type,
 *   message} or null, task {id, name} or null, event {as dump writes it, without
 * stack}, stack [{frame, function, name, file, line, entered, code, adopted}],
 * innermost first; with "locals": locals of the frame asked for (innermost without
 * "frame"). VARIABLE: name, scope, value, changed, wrote (m or null). WRITE: m,
 * time_ns, function, file, line, name, value or null (deleted), argument. VALUE
 * ("value"): {text, type, object, length, cut, redacted} as dump writes it. "frame" is
 * the serial that "stack" gives. Numbers that can exceed 2^53 do not occur before some
 * 9,000 threads; they are numbers, not strings. BREAKPOINT: {kind:
 * line|function|raised|uncaught|variable|attribute|object, file, line, function,
 * module, name, object, frame, condition, hit, log}. SPDX-License-Identifier:
 * Apache-2.0 */
#ifndef FILMSTRIP_QUERY_H
#define FILMSTRIP_QUERY_H

#include "analysis/timeline.h"
#include "base/buffer.h"

/* A request is at most this long. */
#define FILM_QUERY_LENGTH ((size_t)1 << 20)
/* How long one call works. */
#define FILM_QUERY_MS 45u

/* Answers a request; `answer` is cleared first and ends without a NUL. Always gives an
 * answer; FILM_NO_MEMORY only if not even an error could be written. */
FILM_NODISCARD film_status
film_query(film_timeline *timeline, const char *request, size_t length,
           film_buffer *answer);

#endif
