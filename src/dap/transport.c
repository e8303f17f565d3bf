/* transport.c: see transport.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dap/transport.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/clock.h"

#define READ_BYTES ((size_t)16 << 10)

void
film_dap_transport_reset(film_dap_transport *transport)
{
    film_buffer_reset(&transport->read);
}

/* --- taking messages apart --- */

/* The value of Content-Length in a header field; false: it is another field. */
static bool
take_length(const char *field, size_t length, size_t *out, bool *fine)
{
    static const char name[] = "content-length:";
    size_t at = sizeof(name) - 1;
    size_t value = 0, digits = 0;

    if (length < at || strncasecmp(field, name, at) != 0) {
        return false;
    }
    while (at < length && (field[at] == ' ' || field[at] == '\t')) {
        at++;
    }
    for (; at < length && field[at] >= '0' && field[at] <= '9' && digits < 18; at++) {
        value = value * 10 + (size_t)(field[at] - '0');
        digits++;
    }
    while (at < length && (field[at] == ' ' || field[at] == '\t')) {
        at++;
    }
    *fine = digits > 0 && at == length;
    *out = value;
    return true;
}

/* Where the header ends (behind its empty line); 0: not yet. */
static size_t
find_header_end(const char *text, size_t length)
{
    for (size_t i = 0; i + 1 < length; i++) {
        if (text[i] == '\n' && text[i + 1] == '\n') {
            return i + 2;
        }
        if (i + 2 < length && text[i] == '\n' && text[i + 1] == '\r' &&
            text[i + 2] == '\n') {
            return i + 3;
        }
    }
    return 0;
}

static film_status
read_header(const char *text, size_t end, size_t *length, film_error *error)
{
    bool known = false, fine = true;

    for (size_t at = 0; at < end;) {
        const char *newline = memchr(text + at, '\n', end - at);
        size_t stop = newline == NULL ? end : (size_t)(newline - text);
        size_t field = stop - at;
        if (field > 0 && text[at + field - 1] == '\r') {
            field--;
        }
        if (take_length(text + at, field, length, &fine)) {
            known = true;
            if (!fine) {
                break;
            }
        }
        else if (field > 0 && memchr(text + at, ':', field) == NULL) {
            return film_fail(error, FILM_CORRUPT,
                             "what came is no message of the Debug Adapter Protocol");
        }
        at = stop + 1;
    }
    if (!known || !fine) {
        return film_fail(error, FILM_CORRUPT, "a header without a Content-Length came");
    }
    if (*length > FILM_DAP_MESSAGE) {
        return film_fail(error, FILM_LIMIT,
                         "a message of %zu bytes was announced; %zu are the most",
                         *length, FILM_DAP_MESSAGE);
    }
    return FILM_OK;
}

/* A whole message from what has come in. FILM_END: there is none yet. */
static film_status
take_message(film_dap_transport *transport, const char **message, size_t *length,
             film_error *error)
{
    const char *text = (const char *)transport->read.data;
    size_t have = transport->read.length;
    size_t header =
        find_header_end(text, have < FILM_DAP_HEADER ? have : FILM_DAP_HEADER);
    film_status status;

    if (header == 0) {
        return have < FILM_DAP_HEADER
                   ? FILM_END
                   : film_fail(error, FILM_CORRUPT,
                               "%zu bytes came and no header of a message in them",
                               FILM_DAP_HEADER);
    }
    status = read_header(text, header, length, error);
    if (status != FILM_OK) {
        return status == FILM_LIMIT ? FILM_CORRUPT : status;
    }
    if (have - header < *length) {
        return FILM_END;
    }
    *message = text + header;
    transport->taken = header + *length;
    return FILM_OK;
}

static void
drop_taken(film_dap_transport *transport)
{
    film_buffer *read = &transport->read;

    if (transport->taken > 0) {
        read->length -= transport->taken;
        memmove(read->data, read->data + transport->taken, read->length);
        transport->taken = 0;
    }
}

/* --- bytes --- */

/* How long to wait now; the deadline counts too. */
static int
wait_of(const film_dap_transport *transport, int wait_ms)
{
    uint64_t now_ns = film_clock_monotonic_ns(), left;

    if (transport->deadline_ns == 0) {
        return wait_ms;
    }
    left = now_ns >= transport->deadline_ns
               ? 0
               : (transport->deadline_ns - now_ns) / 1000000 + 1;
    return wait_ms >= 0 && (uint64_t)wait_ms < left ? wait_ms : (int)left;
}

/* Reads what is there. FILM_LIMIT: nothing within the time. */
static film_status
read_more(film_dap_transport *transport, int wait_ms, film_error *error)
{
    struct pollfd wanted = {.fd = transport->in, .events = POLLIN};
    uint8_t *room;
    ssize_t got;
    int ready;

    do {
        ready = poll(&wanted, 1, wait_of(transport, wait_ms));
    } while (ready < 0 && errno == EINTR);
    if (ready == 0) {
        return FILM_LIMIT;
    }
    room = film_buffer_reserve(&transport->read, READ_BYTES);
    if (room == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    do {
        got = read(transport->in, room, READ_BYTES);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) {
        transport->closed = true;
        return FILM_END;
    }
    transport->read.length += (size_t)got;
    return FILM_OK;
}

film_status
film_dap_receive(film_dap_transport *transport, int wait_ms, const char **message,
                 size_t *length, film_error *error)
{
    drop_taken(transport);
    for (;;) {
        film_status status = take_message(transport, message, length, error);
        if (status != FILM_END) {
            return status;
        }
        if (transport->closed) {
            return FILM_END;
        }
        FILM_TRY(read_more(transport, wait_ms, error));
    }
}

static void
send_bytes(film_dap_transport *transport, const void *bytes, size_t length)
{
    const uint8_t *at = bytes;

    while (length > 0 && !transport->closed) {
        ssize_t sent = write(transport->out, at, length);
        if (sent < 0 && errno == EINTR) {
            continue;
        }
        if (sent <= 0) {
            transport->closed = true;
            return;
        }
        at += sent;
        length -= (size_t)sent;
    }
}

void
film_dap_send(film_dap_transport *transport, const film_buffer *message)
{
    char header[48];
    int length = snprintf(header, sizeof(header), "Content-Length: %zu\r\n\r\n",
                          message->length);

    send_bytes(transport, header, (size_t)length);
    send_bytes(transport, message->data, message->length);
}
