/* query_moves.c: answers about the recording, moments and movement.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/ending.h"
#include "analysis/query_state.h"
#include "analysis/raises.h"
#include "base/alloc.h"

static const char *const the_levels[] = {"calls", "lines", "values"};
static const char *const the_endings[] = {"closed", "live", "died"};

static void
put_meta(film_ask *ask, const char *key)
{
    const char *text = film_reader_meta(ask->reader, key);

    if (text == NULL) {
        film_ask_null(ask, key);
    }
    else {
        film_ask_words(ask, key, text);
    }
}

static void
put_threads(film_ask *ask)
{
    film_ask_open(ask, "threads", '[');
    for (size_t i = 0; i < film_reader_thread_count(ask->reader); i++) {
        const film_thread_info *thread = film_reader_thread(ask->reader, i);
        film_ask_open(ask, NULL, '{');
        film_ask_number(ask, "id", thread->id);
        film_ask_string(ask, "name", thread->name);
        film_ask_number(ask, "first", thread->first_event);
        film_ask_number(ask, "end", thread->end_event);
        film_ask_number(ask, "first_ns", thread->first_ns);
        film_ask_number(ask, "last_ns", thread->last_ns);
        film_ask_number(ask, "lost", thread->lost);
        film_ask_close(ask, '}');
    }
    film_ask_close(ask, ']');
}

/* A file of the recording, once. Names of one file are one text of the table. */
typedef struct file_entry {
    film_text name;
    uint32_t code; /* the first that is in it */
    bool source;
} file_entry;

static int
by_text(const void *a, const void *b)
{
    const file_entry *one = a, *other = b;

    if (one->name.data != other->name.data) {
        return one->name.data < other->name.data ? -1 : 1;
    }
    return (one->code > other->code) - (one->code < other->code);
}

static int
by_code(const void *a, const void *b)
{
    const file_entry *one = a, *other = b;

    return (one->code > other->code) - (one->code < other->code);
}

static size_t
list_files(film_reader *reader, file_entry *files)
{
    size_t count = 0, distinct = 0;

    for (size_t i = 0; i < film_reader_code_count(reader); i++) {
        const film_code *code = film_reader_code(reader, (uint32_t)i);
        if (code != NULL) {
            files[count++] = (file_entry){.name = code->file, .code = (uint32_t)i};
        }
    }
    if (count > 1) {
        qsort(files, count, sizeof(*files), by_text);
    }
    for (size_t i = 0; i < count; i++) {
        if (distinct == 0 || files[distinct - 1].name.data != files[i].name.data) {
            files[distinct++] = files[i];
        }
    }
    if (distinct > 1) {
        qsort(files, distinct, sizeof(*files), by_code);
    }
    return distinct;
}

static film_status
put_files(film_ask *ask)
{
    file_entry *files =
        film_alloc_array(film_reader_code_count(ask->reader) + 1, sizeof(*files));
    film_source source;
    size_t count;

    if (files == NULL) {
        return film_fail(ask->error, FILM_NO_MEMORY, "memory ran out");
    }
    count = list_files(ask->reader, files);
    for (size_t i = 0; film_reader_source(ask->reader, i, &source, NULL) == FILM_OK;
         i++) {
        for (size_t k = 0; k < count; k++) {
            files[k].source =
                files[k].source ||
                (files[k].name.length == source.file.length &&
                 memcmp(files[k].name.data, source.file.data, source.file.length) == 0);
        }
    }
    film_ask_open(ask, "files", '[');
    for (size_t i = 0; i < count; i++) {
        film_ask_open(ask, NULL, '{');
        film_ask_string(ask, "file", files[i].name);
        film_ask_bool(ask, "source", files[i].source);
        film_ask_close(ask, '}');
    }
    film_ask_close(ask, ']');
    film_free(files);
    return FILM_OK;
}

film_status
film_answer_open(film_ask *ask)
{
    const film_info *info = film_reader_info(ask->reader);
    film_moment start = {0}, first = {0}, last = {0};
    char uuid[33], room[256];

    for (size_t i = 0; i < sizeof(info->uuid); i++) {
        snprintf(uuid + 2 * i, 3, "%02x", info->uuid[i]);
    }
    film_ask_words(ask, "uuid", uuid);
    put_meta(ask, "program");
    put_meta(ask, "python");
    film_ask_words(ask, "level", info->level < 3 ? the_levels[info->level] : "unknown");
    film_ask_words(ask, "ending", the_endings[info->ending]);
    film_ask_words(ask, "how_ended", film_how_ended(ask->reader, room));
    film_ask_number(ask, "duration_ns", info->duration_ns);
    film_ask_number(ask, "lost", info->lost);
    put_threads(ask);
    FILM_TRY(put_files(ask));
    for (size_t i = 0; i < film_reader_thread_count(ask->reader); i++) {
        if (film_timeline_ends(ask->timeline, film_reader_thread(ask->reader, i)->id,
                               &first, &last, NULL) == FILM_OK) {
            start = first;
            break;
        }
    }
    film_ask_moment(ask, "start", start);
    film_ask_moment(ask, "end", last);
    return FILM_OK;
}

film_status
film_answer_moment(film_ask *ask)
{
    film_moment moment;
    uint64_t frame;

    FILM_TRY(film_ask_get_moment(ask, "m", true, &moment));
    FILM_TRY(film_ask_get_number(ask, "frame", 0, &frame));
    return film_ask_whole_moment(ask, moment, film_ask_wants(ask, "locals"), frame);
}

film_status
film_answer_exception(film_ask *ask)
{
    static const char *const fates[] = {"none", "caught", "left", "uncaught"};
    const film_event *event;
    film_moment moment, raised;
    film_fate fate;

    FILM_TRY(film_ask_get_moment(ask, "m", true, &moment));
    FILM_TRY(film_exception_fate(ask->timeline, moment, &ask->budget, &fate, &raised,
                                 ask->error));
    FILM_TRY(film_timeline_event(ask->timeline, moment, &event, ask->error));
    film_ask_put_exception(ask, event);
    film_ask_words(ask, "fate", fates[fate]);
    film_ask_moment(ask, "raised", raised);
    return FILM_OK;
}

film_status
film_answer_threads(film_ask *ask)
{
    film_moment moment, other;

    FILM_TRY(film_ask_get_moment(ask, "m", true, &moment));
    film_ask_open(ask, "threads", '[');
    for (size_t i = 0; i < film_reader_thread_count(ask->reader); i++) {
        const film_thread_info *thread = film_reader_thread(ask->reader, i);
        film_status status =
            film_timeline_other_thread(ask->timeline, moment, thread->id, &other, NULL);
        film_ask_open(ask, NULL, '{');
        film_ask_number(ask, "id", thread->id);
        film_ask_string(ask, "name", thread->name);
        if (status == FILM_OK) {
            FILM_TRY(film_ask_whole_moment(ask, other, false, 0));
        }
        else if (status == FILM_END) {
            film_ask_null(ask, "m");
        }
        else {
            return status;
        }
        film_ask_close(ask, '}');
    }
    film_ask_close(ask, ']');
    return FILM_OK;
}

film_status
film_answer_locals(film_ask *ask)
{
    film_moment moment;
    uint64_t serial;
    size_t index;

    FILM_TRY(film_ask_get_moment(ask, "m", true, &moment));
    FILM_TRY(film_ask_get_frame(ask, moment, &index, &serial));
    return film_ask_locals(ask, moment, index);
}

film_status
film_answer_globals(film_ask *ask)
{
    film_moment moment;
    uint64_t serial;
    size_t index;

    FILM_TRY(film_ask_get_moment(ask, "m", true, &moment));
    FILM_TRY(film_ask_get_frame(ask, moment, &index, &serial));
    return film_ask_globals(ask, moment, index);
}

film_status
film_answer_source(film_ask *ask)
{
    const char *file;
    film_source source;

    FILM_TRY(film_ask_get_text(ask, "file", true, &file));
    for (size_t i = 0; film_reader_source(ask->reader, i, &source, NULL) == FILM_OK;
         i++) {
        if (source.file.length == strlen(file) &&
            memcmp(source.file.data, file, source.file.length) == 0) {
            film_ask_string(ask, "file", source.file);
            film_ask_string(ask, "text", source.text);
            film_ask_bool(ask, "cut", source.cut);
            return FILM_OK;
        }
    }
    return film_fail(ask->error, FILM_END, "the recording has no source of '%.100s'",
                     file);
}

static int
by_line(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    return (left > right) - (left < right);
}

/* Adds the lines that a code object has instructions on. */
static bool
add_lines(film_reader *reader, const film_code *code, uint32_t **lines, size_t *count,
          size_t *capacity)
{
    uint32_t last = 0;

    for (uint32_t unit = 0; unit < code->bytecode_length / 2; unit++) {
        uint32_t line = film_reader_line(reader, code->id, unit);
        uint32_t *grown;
        if (line == 0 || line == last) {
            continue;
        }
        grown = film_grow(*lines, capacity, *count + 1, sizeof(*grown));
        if (grown == NULL) {
            return false;
        }
        *lines = grown;
        grown[(*count)++] = last = line;
    }
    return true;
}

film_status
film_answer_lines(film_ask *ask)
{
    uint32_t *lines = NULL;
    size_t count = 0, capacity = 0;
    const char *file;

    FILM_TRY(film_ask_get_text(ask, "file", true, &file));
    film_ask_open(ask, "functions", '[');
    for (size_t i = 0; i < film_reader_code_count(ask->reader); i++) {
        const film_code *code = film_reader_code(ask->reader, (uint32_t)i);
        size_t before = count;
        uint32_t last = 0;
        if (code == NULL || code->file.length != strlen(file) ||
            memcmp(code->file.data, file, code->file.length) != 0) {
            continue;
        }
        if (!add_lines(ask->reader, code, &lines, &count, &capacity)) {
            film_free(lines);
            return film_fail(ask->error, FILM_NO_MEMORY, "memory ran out");
        }
        for (size_t k = before; k < count; k++) {
            last = lines[k] > last ? lines[k] : last;
        }
        film_ask_open(ask, NULL, '{');
        film_ask_string(ask, "name", code->qualname);
        film_ask_number(ask, "first", code->first_line);
        film_ask_number(ask, "last", last);
        film_ask_close(ask, '}');
    }
    film_ask_close(ask, ']');
    if (count > 1) {
        qsort(lines, count, sizeof(*lines), by_line);
    }
    film_ask_open(ask, "lines", '[');
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || lines[i] != lines[i - 1]) {
            film_ask_number(ask, NULL, lines[i]);
        }
    }
    film_ask_close(ask, ']');
    film_free(lines);
    return FILM_OK;
}
