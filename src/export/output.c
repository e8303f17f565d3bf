/* output.c: the buffer, its way to the system, and numbers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/output.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"

film_status
film_output_init(film_output *output, int fd, film_error *error)
{
    memset(output, 0, sizeof(*output));
    output->fd = fd;
    output->data = film_alloc(FILM_OUTPUT_BYTES);
    if (output->data == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    return FILM_OK;
}

void
film_output_reset(film_output *output)
{
    film_free(output->data);
    memset(output, 0, sizeof(*output));
}

static film_status
status_of(int error_number)
{
    switch (error_number) {
    case EPIPE:
        return FILM_END;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return FILM_NO_SPACE;
    default:
        return FILM_IO;
    }
}

static void
send(film_output *output, const char *bytes, size_t length)
{
    if (output->memory != NULL) {
        film_buffer_append(output->memory, bytes, length);
        output->status = output->memory->failed ? FILM_NO_MEMORY : output->status;
        return;
    }
    while (length > 0 && output->status == FILM_OK) {
        ssize_t sent = write(output->fd, bytes, length);

        if (sent >= 0) {
            bytes += sent;
            length -= (size_t)sent;
            output->written += (uint64_t)sent;
        }
        else if (errno != EINTR) {
            output->error_number = errno;
            output->status = status_of(errno);
        }
    }
}

void
film_output_drain(film_output *output)
{
    send(output, output->data, output->used);
    output->used = 0;
}

film_status
film_output_flush(film_output *output, film_error *error)
{
    film_output_drain(output);
    if (output->status == FILM_OK || output->status == FILM_END) {
        return output->status;
    }
    return film_fail(error, output->status, "cannot write the output: %s",
                     strerror(output->error_number));
}

void
film_output_write(film_output *output, const void *bytes, size_t length)
{
    if (length > FILM_OUTPUT_BYTES) {
        film_output_drain(output);
        send(output, bytes, length);
        return;
    }
    memcpy(film_output_room(output, length), bytes, length);
    output->used += length;
}

void
film_output_format(film_output *output, const char *format, ...)
{
    char text[1024]; /* callers format numbers and short words only */
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (length > 0) {
        size_t whole = (size_t)length;
        film_output_write(output, text,
                          whole < sizeof(text) ? whole : sizeof(text) - 1);
    }
}

void
film_output_padded_u64(film_output *output, uint64_t value, unsigned width)
{
    char digits[20];
    size_t length = (size_t)(film_format_u64(digits, value) - digits);
    size_t blanks = length < width ? width - length : 0;
    char *to = film_output_room(output, blanks + length);

    memset(to, ' ', blanks);
    memcpy(to + blanks, digits, length);
    output->used += blanks + length;
}

void
film_output_grouped_u64(film_output *output, uint64_t value)
{
    char digits[20];
    size_t length = (size_t)(film_format_u64(digits, value) - digits);

    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            film_output_byte(output, ',');
        }
        film_output_byte(output, digits[i]);
    }
}

void
film_output_count(film_output *output, uint64_t count, const char *noun)
{
    film_output_grouped_u64(output, count);
    film_output_byte(output, ' ');
    film_output_text(output, noun);
    film_output_text(output, count == 1 ? "" : "s");
}

void
film_output_duration(film_output *output, uint64_t duration_ns)
{
    static const struct {
        uint64_t unit_ns;
        const char *name;
    } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}};

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        uint64_t hundredths =
            duration_ns / (units[i].unit_ns / 100 ? units[i].unit_ns / 100 : 1);
        if (duration_ns >= units[i].unit_ns) {
            film_output_u64(output, hundredths / 100);
            if (hundredths < 100000) {
                uint64_t rest = hundredths % 100;
                film_output_byte(output, '.');
                film_output_byte(output, (char)('0' + rest / 10));
                if (hundredths < 1000) {
                    film_output_byte(output, (char)('0' + rest % 10));
                }
            }
            film_output_text(output, units[i].name);
            return;
        }
    }
    film_output_u64(output, duration_ns);
    FILM_OUTPUT_LITERAL(output, "ns");
}
