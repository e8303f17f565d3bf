/* sources.c: finding and cutting.
 * SPDX-License-Identifier: Apache-2.0 */
#include "step/sources.h"

#include <string.h>

#include "base/alloc.h"

static char *
copy_bytes(const char *bytes, size_t length)
{
    char *copy = film_alloc(length + 1);

    if (copy != NULL && length > 0) {
        memcpy(copy, bytes, length);
    }
    return copy;
}

static void
forget(film_source_lines *of)
{
    film_free(of->file);
    film_free(of->text);
    film_free(of->begin);
    memset(of, 0, sizeof(*of));
}

/* Where lines begin: behind \n, \r\n or \r, as Python reads a source. */
static bool
cut_lines(film_source_lines *of, size_t length)
{
    size_t capacity = 0;

    for (size_t at = 0; at <= length; of->count++) {
        size_t *grown = film_grow(of->begin, &capacity, of->count + 2, sizeof(*grown));
        if (grown == NULL) {
            return false;
        }
        of->begin = grown;
        of->begin[of->count] = at;
        while (at < length && of->text[at] != '\n' && of->text[at] != '\r') {
            at++;
        }
        at +=
            at + 1 < length && of->text[at] == '\r' && of->text[at + 1] == '\n' ? 2 : 1;
        of->begin[of->count + 1] = at;
    }
    if (of->count > 0 && of->begin[of->count - 1] == length) {
        of->count--; /* nothing behind the last line's end */
    }
    return true;
}

static bool
load(film_source_lines *of, film_reader *reader, const char *file)
{
    film_source source;
    size_t length = strlen(file);

    of->file = copy_bytes(file, length);
    if (of->file == NULL) {
        return false;
    }
    for (size_t i = 0; film_reader_source(reader, i, &source, NULL) == FILM_OK; i++) {
        if (source.file.length == length &&
            memcmp(source.file.data, file, length) == 0) {
            of->cut = source.cut;
            of->text = copy_bytes(source.text.data, source.text.length);
            return of->text != NULL && cut_lines(of, source.text.length);
        }
    }
    return true;
}

const film_source_lines *
film_sources_get(film_sources *sources, film_reader *reader, const char *file)
{
    film_source_lines *oldest = &sources->items[0];

    sources->clock++;
    for (size_t i = 0; i < FILM_SOURCES_KEPT; i++) {
        film_source_lines *item = &sources->items[i];
        if (item->file != NULL && strcmp(item->file, file) == 0) {
            item->used = sources->clock;
            return item;
        }
        if (item->used < oldest->used) {
            oldest = item;
        }
    }
    forget(oldest);
    if (!load(oldest, reader, file)) {
        forget(oldest);
        return NULL;
    }
    oldest->used = sources->clock;
    return oldest;
}

film_text
film_source_line(const film_source_lines *of, uint64_t number)
{
    film_text line = {"", 0};

    if (of == NULL || number == 0 || number > of->count) {
        return line;
    }
    line.data = of->text + of->begin[number - 1];
    line.length = of->begin[number] - of->begin[number - 1];
    while (line.length > 0 &&
           (line.data[line.length - 1] == '\n' || line.data[line.length - 1] == '\r' ||
            line.data[line.length - 1] == '\0')) {
        line.length--;
    }
    return line;
}

void
film_sources_reset(film_sources *sources)
{
    for (size_t i = 0; i < FILM_SOURCES_KEPT; i++) {
        forget(&sources->items[i]);
    }
}
