/* dap.h: a recording as a debug session for any editor that speaks the Debug Adapter
 * Protocol. Nothing of the recorded program runs, so every request can be answered
 * backwards as well.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_DAP_H
#define FILMSTRIP_DAP_H

#include <stdint.h>

#include <filmstrip/status.h>

typedef struct film_dap_options {
    const char *film;     /* what launch opens if it names none; NULL: it must */
    const char *token;    /* what launch must bring; NULL: nothing */
    uint64_t deadline_ns; /* until when it must have; 0: whenever */
} film_dap_options;

/* One session over two file descriptors, until the client ends it or is gone. A failure
 * says what the client sent that cannot be a message. */
FILM_NODISCARD film_status
film_dap_serve(int in, int out, const film_dap_options *options, film_error *error);

/* Tells where the server listens, before the first client. */
typedef void (*film_dap_listening)(void *context, uint16_t port, const char *token);

/* Sessions one after the other over TCP on 127.0.0.1, until the process is ended; a
 * client must bring the token that is made here. port 0: any that is free. */
FILM_NODISCARD film_status
film_dap_listen(uint16_t port, const char *film, film_dap_listening listening,
                void *context, film_error *error);

#endif
