/* spans.h: the calls of chosen functions in a recording, each from its call to its end.
 * Calls within a call of them are passed over. Chunks that hold none are not read.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_SPANS_H
#define FILMSTRIP_SPANS_H

#include <filmstrip/reader.h>

/* What is told of each; both events are borrowed until it returns. False: out of
 * memory. */
typedef struct film_span_visitor {
    void *context;
    bool (*begin)(void *context, const film_event *call);
    /* Of the call begun last in that thread. */
    bool (*end)(void *context, uint32_t thread, const film_event *end);
} film_span_visitor;

/* Walks thread after thread; `wanted` says of each code id whether it is meant. Calls
 * that have no end in the recording are only begun. */
FILM_NODISCARD film_status
film_spans_read(film_reader *reader, const bool *wanted,
                const film_span_visitor *visitor, film_error *error);

#endif
