/* socket.c: sessions over TCP, on loopback only, for clients that bring the token.
 * SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "dap/dap.h"

/* How long a client may take to bring the token: others wait meanwhile. */
#define TOKEN_NS 10000000000u
#define TOKEN_BYTES 16u
#define BACKLOG 8
/* What a client that is sent away may still send. */
#define GOODBYE_MS 200
#define MOST_UNREAD 64

static film_status
make_token(char *token, film_error *error)
{
    uint8_t bytes[TOKEN_BYTES];

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes)) {
        return film_fail(error, FILM_IO, "no random token can be made: %s",
                         strerror(errno));
    }
    for (size_t i = 0; i < sizeof(bytes); i++) {
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    }
    return FILM_OK;
}

static film_status
open_port(uint16_t port, int *out, uint16_t *given, film_error *error)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int yes = 1, server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (server < 0) {
        return film_fail(error, FILM_IO, "no socket can be made: %s", strerror(errno));
    }
    (void)setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (bind(server, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(server, BACKLOG) != 0 ||
        getsockname(server, (struct sockaddr *)&address, &length) != 0) {
        film_status status = film_fail(
            error, FILM_IO, "port %u cannot be listened on: %s", port, strerror(errno));
        close(server);
        return status;
    }
    *given = ntohs(address.sin_port);
    *out = server;
    return FILM_OK;
}

/* What was sent last must arrive: a close with bytes unread would take it back. */
static void
say_goodbye(int client)
{
    struct pollfd wanted = {.fd = client, .events = POLLIN};
    char unread[4096];

    (void)shutdown(client, SHUT_WR);
    for (int i = 0; i < MOST_UNREAD && poll(&wanted, 1, GOODBYE_MS) > 0; i++) {
        if (read(client, unread, sizeof(unread)) <= 0) {
            break;
        }
    }
}

static void
serve_client(int client, const char *film, const char *token)
{
    film_dap_options options = {.film = film,
                                .token = token,
                                .deadline_ns = film_clock_monotonic_ns() + TOKEN_NS};
    film_error error = {FILM_OK, 0, ""};
    int yes = 1;

    (void)setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    if (film_dap_serve(client, client, &options, &error) != FILM_OK) {
        fprintf(stderr, "filmstrip dap: a client was sent away: %s\n", error.message);
    }
    say_goodbye(client);
    close(client);
}

film_status
film_dap_listen(uint16_t port, const char *film, film_dap_listening listening,
                void *context, film_error *error)
{
    char token[2 * TOKEN_BYTES + 1];
    int server = -1;

    FILM_TRY(make_token(token, error));
    FILM_TRY(open_port(port, &server, &port, error));
    listening(context, port, token);
    for (;;) {
        int client = accept4(server, NULL, NULL, SOCK_CLOEXEC);
        if (client >= 0) {
            serve_client(client, film, token);
        }
        else if (errno != EINTR && errno != ECONNABORTED) {
            film_status status = film_fail(error, FILM_IO, "no client can be taken: %s",
                                           strerror(errno));
            close(server);
            return status;
        }
    }
}
