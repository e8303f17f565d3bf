/* fuzz_dap.c: any client of `filmstrip dap`. The input is what it sends: a message a
 * line, behind a launch; or, where it begins with '!', bare bytes. No crash, no hang;
 * every message that comes back is JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/json.h"
#include "dap/dap.h"
#include "dap/transport.h"

#ifndef FUZZ_FOLDER
#define FUZZ_FOLDER "tests/fuzz"
#endif

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A recording of a real program. */
static const char the_film[] = FUZZ_FOLDER "/corpus/fuzz_timeline/program";

static const char *const the_beginning[] = {
    "{\"seq\": 1, \"type\": \"request\", \"command\": \"initialize\"}",
    "{\"seq\": 2, \"type\": \"request\", \"command\": \"launch\"}",
    "{\"seq\": 3, \"type\": \"request\", \"command\": \"configurationDone\"}",
};

static void
put_message(film_buffer *out, const void *text, size_t length)
{
    char header[48];

    snprintf(header, sizeof(header), "Content-Length: %zu\r\n\r\n", length);
    film_buffer_append_text(out, header);
    film_buffer_append(out, text, length);
}

static void
put_lines(film_buffer *out, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < sizeof(the_beginning) / sizeof(the_beginning[0]); i++) {
        put_message(out, the_beginning[i], strlen(the_beginning[i]));
    }
    while (size > 0) {
        const uint8_t *newline = memchr(data, '\n', size);
        size_t length = newline == NULL ? size : (size_t)(newline - data);
        put_message(out, data, length);
        data += length + (newline != NULL);
        size -= length + (newline != NULL);
    }
}

static int
file_with(const film_buffer *content)
{
    int memory = memfd_create("fuzz", MFD_CLOEXEC);

    if (memory >= 0 && content != NULL && content->length > 0 &&
        (write(memory, content->data, content->length) != (ssize_t)content->length ||
         lseek(memory, 0, SEEK_SET) != 0)) {
        close(memory);
        memory = -1;
    }
    return memory;
}

/* Everything that was sent is a message, and JSON. */
static void
check_answers(int answers)
{
    film_dap_transport transport = {.in = answers, .out = -1};
    film_json json = {0};
    const char *text;
    size_t length;
    film_status status;

    if (lseek(answers, 0, SEEK_SET) != 0) {
        abort();
    }
    while ((status = film_dap_receive(&transport, 0, &text, &length, NULL)) ==
           FILM_OK) {
        if (film_json_read(&json, text, length, NULL) == FILM_MISUSE) {
            abort();
        }
    }
    /* A message longer than a client may send is fine the other way. */
    if (status != FILM_END && status != FILM_CORRUPT) {
        abort();
    }
    film_json_reset(&json);
    film_dap_transport_reset(&transport);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    film_dap_options options = {.film = the_film};
    film_buffer input = {0};
    int in, out;

    if (size > 0 && data[0] == '!') {
        film_buffer_append(&input, data + 1, size - 1);
    }
    else {
        put_lines(&input, data, size);
    }
    in = file_with(&input);
    out = file_with(NULL);
    if (in >= 0 && out >= 0) {
        FILM_IGNORE(film_dap_serve(in, out, &options, NULL)); /* broken is expected */
        check_answers(out);
    }
    if (in >= 0) {
        close(in);
    }
    if (out >= 0) {
        close(out);
    }
    film_buffer_reset(&input);
    return 0;
}
