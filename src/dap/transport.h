/* transport.h: messages of the Debug Adapter Protocol over two file descriptors: a
 * header with Content-Length, an empty line, JSON.
 * Whatever a client sends is expected: nonsense, half a message, nothing at all.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_DAP_TRANSPORT_H
#define FILMSTRIP_DAP_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <filmstrip/status.h>

#include "base/buffer.h"

/* Longer headers and messages are refused. */
#define FILM_DAP_HEADER ((size_t)4 << 10)
#define FILM_DAP_MESSAGE ((size_t)4 << 20)

typedef struct film_dap_transport {
    int in, out;
    film_buffer read;     /* what came in and was not taken yet */
    size_t taken;         /* of it: the last message, to be dropped */
    uint64_t deadline_ns; /* nothing is waited for beyond; 0: for ever */
    bool closed;          /* the client is gone */
} film_dap_transport;

void
film_dap_transport_reset(film_dap_transport *transport);

/* The next message, valid until the next call. wait_ms: how long, -1 for ever. FILM_OK;
 * FILM_LIMIT: none came within that time; FILM_END: the client is gone; anything else:
 * what came is no message, and nothing after it can be understood. */
FILM_NODISCARD film_status
film_dap_receive(film_dap_transport *transport, int wait_ms, const char **message,
                 size_t *length, film_error *error);

/* Sends one message. A client that is gone is no failure: see `closed`. */
void
film_dap_send(film_dap_transport *transport, const film_buffer *message);

#endif
