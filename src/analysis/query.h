/* query.h: the one interface for everything a view asks: JSON in, JSON out.
 * The terminal, the DAP server, the Python API and the page ask the same questions and
 * get the same bytes. No call works longer than about 50 ms: what is not finished comes
 * with "next", to be sent with the same request to go on, and "progress", 0 to 1.
 *
 * A request is an object with "q", the name of the question, and its parameters:
 *
 *   {"q": "moment", "m": "1:1234", "with": ["locals"]}
 *
 * m is "thread:event"; without m it is the first moment. Every answer is an object; a
 * failure is {"error": {"code": "misuse"|"end"|"corrupt"|..., "message": "..."}}, and
 * every other answer has "took_us" and "events" (known so far in the recording).
 *
 * - open: nothing.
 *     Gives uuid, program, python, level, ending, how_ended, duration_ns, lost, start
 * (m), end (m), threads [{id, name, first, end, first_ns, last_ns, lost}], files
 * [{file, source}]
 * - moment: m, with [locals], frame.
 *     Gives a MOMENT
 * - move: m, how, and by how: frame, across, count, breakpoints [BREAKPOINT], until (an
 *     event of the thread: a continue stops short of it), event, time_ns, fraction,
 *     file and line | function, n, variable, passing (raise, back-raise: also where an
 *     exception merely passes by).
 *     Gives a MOMENT, "stopped" {reason, breakpoint} and of a continue "log"
 *     [{breakpoint, m, text}]. Reasons: arrived, breakpoint, start, end, unfinished
 *     (then the MOMENT is where it began). An event or time behind the end: end, and
 *     "message". A hit that there is not: end or start, and as `breakpoints` verdict
 *     and message where the place never runs.
 *     how: step back line back-line next back-next out back-out call return raise
 *     back-raise start end continue reverse-continue event time fraction hit write
 *     back-write
 * - threads: m.
 *     Gives threads [{id, name and a MOMENT, where it stood; m null: not begun}]
 * - locals: m, frame.
 *     Gives locals [VARIABLE]
 * - globals: m, frame.
 *     Gives globals [VARIABLE] of the module of the frame's function
 * - value: m, expression (and frame) | object, offset, limit.
 *     Gives value, type, object, form, length, cut, count,
 *     items [{name | key | index, value}]
 * - evaluate: m, frame, expression.
 *     Gives value, truth | unknown | error_text
 * - source: file.
 *     Gives file, text, cut
 * - lines: file.
 *     Gives lines [numbers of lines with code], functions [{name, first, last}]
 * - breakpoints: breakpoints [BREAKPOINT].
 *     Gives breakpoints [{verified, line, verdict, message, whole}]: verdict "stops" or
 *     why nothing stops there (verdict.h), told by message; whole: all of the recording
 *     was looked at, and it is not being written. Without verdict: not known in time
 * - writes: m, variable, frame, back, limit.
 *     Gives writes [WRITE], from m on; back: the moment itself counts
 * - history: variable, m, frame, limit, this_frame.
 *     Gives writes [WRITE], oldest first, in every call unless this_frame
 * - origin: m, variable, frame, depth.
 *     Gives origin {WRITE, stopped, reads [{kind, name, value, m, origin}]}
 * - hits: file, line | function, expressions, where, m, limit, back.
 *     Gives rows [{m, time_ns, values [{text, type} | {unknown} | {error_text}]}], line
 *     (where code is), and so far, over all pages: ran, held, unknown (how often the
 *     condition could not be told; why); at the end verdict, and message where there
 *     was no hit
 * - first: condition, m, frame, back, line, monotone (once true it stays true).
 *     Gives as move, with from (m), ran, unknown, and verdict and message where it is
 *     not true
 * - exception: m.
 *     Gives exception {type, message} or null, raised (m of where it was raised, null:
 *     not recorded), fate: none, caught, left (the recorded code), uncaught
 * - written: m, frame.
 *     Gives written [{m, line, name, value or null}]: what the lines of the frame wrote
 *     last, newest first, as far as this chunk tells; arguments at the function's line
 * - made: expression or object, m, frame, depth (2, at most 8).
 *     Gives made {m (of the op's end; null: no op that is recorded made it), op (m of the
 *     op), function, file, line, name (of the op), module, tensor, inputs [{tensor, made
 *     (as this one, of those that depth allows)}], stopped (why it goes no further)}: the
 *     op that gave a tensor, or changed it last
 * - commands: nothing.
 *     Gives commands [{name, aliases, keys, arguments, query, group, help}]: the one
 *     table of commands and keys (commands.h)
 *
 * MOMENT: m, kind, time_ns, thread, function, file, line, depth, exception {type,
 *   message} or null, task {id, name} or null, event {kind and what dump tells of it},
 *   stack [{frame, function, name, file, line, entered, code, adopted}], innermost
 *   first (at most "frames" of the request); with "locals": locals of the frame asked
 * for (innermost without "frame").
 *
 * VARIABLE: name, scope, value, changed, wrote (m; null: before this chunk), shared (a
 *   cell: other functions have it too, and `wrote` may be one of theirs).
 *
 * WRITE: m, time_ns, function, file, line, name, value or null (deleted), argument.
 *
 * "value" is {text, type, object, length, cut, redacted, tensor} as dump writes it, tensor
 *   {text, dtype, shape, device, requires_grad, version, storage, summary}; texts are
 *   about 400 bytes at most, or "text_bytes" of the request.
 *
 * "frame" is the serial that "stack" gives. Numbers are below 2^53 up to some 8,000
 *   threads. "variable" is x, self.x, a.b.c, d["k"], l[3], module:NAME or function:x.
 *
 * BREAKPOINT: {kind: line|function|raised|uncaught|variable|attribute|object, file,
 *   line, function, module, name, object, frame, condition, hit, log}; see
 *   docs/timeline.md.
 * SPDX-License-Identifier: Apache-2.0 */
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
