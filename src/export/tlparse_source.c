/* tlparse_source.c: the texts of files: as they were recorded, else as they lie on disk.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/tlparse_state.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "export/names.h"

#define LITERAL(out, text) film_buffer_append((out), (text), sizeof(text) - 1)

/* Files on disk that are greater are no sources. */
#define SOURCE_BYTES ((off_t)16 << 20)

static bool
take_recorded(film_tlparse *to, film_text file, film_buffer *out)
{
    film_source source;

    for (size_t i = 0; film_reader_source(to->reader, i, &source, NULL) == FILM_OK;
         i++) {
        if (source.file.length == file.length &&
            memcmp(source.file.data, file.data, file.length) == 0) {
            film_buffer_append(out, source.text.data, source.text.length);
            return !source.cut || source.text.length > 0;
        }
    }
    return false;
}

static bool
read_all(int fd, film_buffer *out)
{
    for (;;) {
        uint8_t *room = film_buffer_reserve(out, FILM_OUTPUT_BYTES);
        ssize_t got = room == NULL ? -1 : read(fd, room, FILM_OUTPUT_BYTES);

        if (got <= 0) {
            return got == 0;
        }
        out->length += (size_t)got;
        if (out->length > (size_t)SOURCE_BYTES) {
            return false;
        }
    }
}

static bool
read_file(const char *path, film_buffer *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat found;
    bool done = fd >= 0 && fstat(fd, &found) == 0 && S_ISREG(found.st_mode) &&
                found.st_size <= SOURCE_BYTES && read_all(fd, out);

    if (fd >= 0) {
        close(fd);
    }
    return done;
}

/* Below the program's working directory where the name is relative. */
static bool
take_from_disk(film_tlparse *to, film_text file, film_buffer *out)
{
    const char *folder = film_reader_meta(to->reader, "cwd");
    film_buffer path = {0};
    bool done;

    if (file.length == 0 || file.data[0] == '<') {
        return false;
    }
    if (file.data[0] != '/' && folder != NULL) {
        film_buffer_append_text(&path, folder);
        film_buffer_put_byte(&path, '/');
    }
    film_buffer_append(&path, file.data, file.length);
    film_buffer_put_byte(&path, 0);
    done = !path.failed && read_file((const char *)path.data, out);
    film_buffer_reset(&path);
    return done;
}

/* A name for dump_file, from which tlparse makes one of a page: the file's as people
 * want to see it, without what paths and links do not take, and its number, for two
 * files may have one name then. */
static void
put_page_name(film_tlparse *to, film_buffer *out, uint32_t id, film_text file)
{
    film_text name = film_short_file(to->reader, file);
    char number[24];

    film_buffer_put_byte(out, '"');
    for (size_t i = 0; i < name.length; i++) {
        unsigned char byte = (unsigned char)name.data[i];
        bool plain = isalnum(byte) || byte == '.' || byte == '-' || byte == '_';
        if (byte < 0x80 && (i > 0 || byte != '/')) {
            film_buffer_put_byte(out, plain ? byte : '_');
        }
    }
    snprintf(number, sizeof(number), "_%lu\"", (unsigned long)id);
    film_buffer_append_text(out, number);
}

static void
dump(film_tlparse *to, uint64_t time_ns, uint32_t id, film_text file)
{
    film_buffer text = {0};
    film_text payload;
    char number[48];

    if (!take_recorded(to, file, &text)) {
        film_buffer_clear(&text);
        if (!take_from_disk(to, file, &text)) {
            film_buffer_reset(&text);
            return;
        }
    }
    payload = (film_text){(const char *)text.data, text.length};
    to->log.failed = to->log.failed || text.failed;
    film_buffer_clear(&to->json);
    snprintf(number, sizeof(number), "{\"filename\": %lu}", (unsigned long)id);
    film_buffer_append_text(&to->json, number);
    if (!text.failed) {
        film_trace_log_write(&to->log, time_ns, "dump_source", &to->json, &payload);
        film_buffer_clear(&to->json);
        LITERAL(&to->json, "{\"name\": ");
        put_page_name(to, &to->json, id, file);
        LITERAL(&to->json, "}");
        film_trace_log_write(&to->log, time_ns, "dump_file", &to->json, &payload);
    }
    film_buffer_reset(&text);
}

void
film_tlparse_visit(film_tlparse *to, uint64_t time_ns, uint32_t file_id, film_text file,
                   uint32_t line)
{
    size_t index = file_id - to->options->strings;
    film_tlparse_file *known;

    if (index >= to->file_count) {
        size_t old = to->file_count;
        film_tlparse_file *grown =
            film_grow(to->files, &to->file_count, index + 1, sizeof(*grown));
        if (grown == NULL) {
            to->log.failed = true;
            return;
        }
        memset(grown + old, 0, (to->file_count - old) * sizeof(*grown));
        to->files = grown;
    }
    known = &to->files[index];
    if (known->dumped) {
        return;
    }
    if (to->options->moved && (known->line == 0 || known->line == line)) {
        known->line = line;
        return;
    }
    known->dumped = true;
    dump(to, time_ns, file_id, file);
}
