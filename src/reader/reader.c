/* reader.c: opening a recording, looking at it again, and what it tells.
 *
 * The order of reading matters while a recording is being written: rows move from
 * windows to chunks, so windows are copied first and the chunks sealed meanwhile are
 * found by walking on; then no event falls between the two.
 * SPDX-License-Identifier: Apache-2.0 */
#include <filmstrip/reader.h>

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "format/window.h"
#include "reader/lines.h"
#include "reader/reader_state.h"

/* How often a recording that keeps changing is read again before what was found has to
 * do. */
#define MOST_LOADS 16u
/* The same where nobody holds the lock (a file system may have none). */
#define UNLOCKED_LOADS 3u
/* A real handler is PUSH_EXC_INFO, which has no line, then an instruction that has the
 * line; cleanup code of the compiler has none, and looking further would find code that
 * is not the handler. */
#define HANDLER_UNITS 2u

void
film_reader_note(film_reader *reader, const film_chunk_info *chunk, size_t number,
                 const char *why)
{
    film_damages_note(&reader->damages, number,
                      film_file_physical(&reader->file, chunk->offset), why);
}

/* Forgets what was read from the file; the file stays open. */
static void
forget(film_reader *reader)
{
    film_tracks_reset(&reader->tracks);
    film_windows_reset(&reader->windows);
    film_tables_reset(&reader->tables);
    film_directory_reset(&reader->directory);
    film_reader_forget_keyframes(reader);
    film_reader_forget_values(reader);
    reader->tables_read = 0;
}

static size_t
count_window_chunks(const film_directory *directory)
{
    size_t count = 0;

    for (size_t i = 0; i < directory->count; i++) {
        count += directory->chunks[i].type == FILM_CHUNK_WINDOWS;
    }
    return count;
}

static film_status
name_failure(film_status status, film_error *error)
{
    switch (status) {
    case FILM_OK:
        return status;
    case FILM_NO_MEMORY:
        return film_fail(error, status, "memory ran out");
    case FILM_LIMIT:
        return film_fail(error, status,
                         "the recording asks for more memory than any real one needs");
    case FILM_END:
    case FILM_TRUNCATED:
    case FILM_CORRUPT:
    case FILM_UNSUPPORTED:
    case FILM_NOT_A_FILM:
    case FILM_IO:
    case FILM_NO_SPACE:
    case FILM_MISUSE:
    case FILM_EXISTS:
    default:
        return film_fail(error, status, "the recording cannot be read");
    }
}

/* Windows first, then the chunks; again if new windows came in between. */
static film_status
read_chunks_and_windows(film_reader *reader, film_error *error)
{
    size_t known, found;

    FILM_TRY(film_directory_load(&reader->directory, &reader->loader, &reader->damages,
                                 error));
    found = count_window_chunks(&reader->directory);
    for (unsigned i = 0; i < MOST_LOADS; i++) {
        film_status status;
        known = found;
        film_windows_reset(&reader->windows);
        status = film_windows_copy(&reader->windows, &reader->file, &reader->directory);
        if (status != FILM_OK) {
            return name_failure(status, error);
        }
        if (film_file_look(&reader->file, NULL) != FILM_OK) {
            return FILM_OK; /* cut meanwhile: what we have is all there is */
        }
        FILM_TRY(film_directory_load(&reader->directory, &reader->loader,
                                     &reader->damages, error));
        found = count_window_chunks(&reader->directory);
        if (found == known) {
            break;
        }
    }
    return FILM_OK;
}

/* One chunk of tables. Damage is noted, not fatal. */
static film_status
read_table(film_reader *reader, size_t index)
{
    const film_chunk_info *chunk = &reader->directory.chunks[index];
    film_status status = film_loader_load(&reader->loader, chunk);

    if (status == FILM_OK) {
        status = film_loader_payload(&reader->loader, &reader->scratch);
    }
    if (status == FILM_OK) {
        reader->loader.why = "its records make no sense";
        status =
            chunk->type == FILM_CHUNK_TABLE
                ? film_tables_add_chunk(&reader->tables, chunk->first,
                                        reader->scratch.data, reader->scratch.length)
                : film_tables_add_meta(&reader->tables, chunk->number,
                                       reader->scratch.data, reader->scratch.length);
    }
    if (status == FILM_OK || status == FILM_NO_MEMORY || status == FILM_LIMIT) {
        return status;
    }
    if (!reader->loader.overwritten) {
        film_reader_note(reader, chunk, index, reader->loader.why);
    }
    return FILM_OK;
}

typedef struct table_chunk {
    uint64_t first;
    size_t index;
} table_chunk;

static int
by_first(const void *a, const void *b)
{
    const table_chunk *left = a, *right = b;

    return (left->first > right->first) - (left->first < right->first);
}

/* The chunks of tables that are new, in the order of their records: a ring copies old
 * ones forward, behind newer ones that refer to them. */
static film_status
read_table_chunks(film_reader *reader)
{
    const film_directory *directory = &reader->directory;
    table_chunk *chunks = NULL;
    size_t count = 0, capacity = 0;
    film_status status = FILM_OK;

    for (; reader->tables_read < directory->count; reader->tables_read++) {
        const film_chunk_info *chunk = &directory->chunks[reader->tables_read];
        if (chunk->type == FILM_CHUNK_TABLE || chunk->type == FILM_CHUNK_META) {
            table_chunk *grown =
                film_grow(chunks, &capacity, count + 1, sizeof(*chunks));
            if (grown == NULL) {
                status = FILM_NO_MEMORY;
                break;
            }
            chunks = grown;
            chunks[count].first = chunk->type == FILM_CHUNK_TABLE ? chunk->first : 0;
            chunks[count++].index = reader->tables_read;
        }
    }
    if (count > 1) {
        qsort(chunks, count, sizeof(*chunks), by_first);
    }
    for (size_t i = 0; i < count && status == FILM_OK; i++) {
        status = read_table(reader, chunks[i].index);
    }
    film_free(chunks);
    return status;
}

static film_status
read_tables(film_reader *reader)
{
    const film_window_copy *windows;
    size_t count;

    FILM_TRY(read_table_chunks(reader));
    windows = film_windows_of(&reader->windows, FILM_STREAM_TABLE, &count);
    for (size_t i = 0; i < count; i++) {
        film_status status = film_tables_add_window(&reader->tables, windows[i].first,
                                                    windows[i].rows, windows[i].length);
        if (status == FILM_NO_MEMORY || status == FILM_LIMIT) {
            return status;
        }
    }
    return FILM_OK;
}

static bool
same_layout(const film_superblock *a, const film_superblock *b)
{
    return a->moved_until == b->moved_until && a->tail == b->tail &&
           a->layout_generation == b->layout_generation &&
           a->index_offset == b->index_offset && a->closed == b->closed;
}

/* True if a thread's windows do not follow one another, as when the file changed while
 * they were copied. */
static bool
has_gap(const film_reader *reader)
{
    for (size_t i = 0; i < reader->tracks.count; i++) {
        if (reader->tracks.items[i].has_gap) {
            return true;
        }
    }
    return false;
}

static void
fill_info(film_reader *reader, bool locked)
{
    const film_superblock *block = &reader->file.block;
    film_info *info = &reader->info;

    memset(info, 0, sizeof(*info));
    info->version_major = block->major;
    info->version_minor = block->minor;
    memcpy(info->uuid, block->uuid, sizeof(info->uuid));
    info->pid = block->pid;
    info->start_realtime_ns = block->start_realtime_ns;
    info->start_monotonic_ns = block->start_monotonic_ns;
    info->lost = block->lost;
    info->overwritten = block->overwritten;
    info->file_bytes = reader->file.bytes;
    info->disk_bytes = reader->file.disk_bytes;
    info->ring_bytes = block->ring_bytes;
    info->python_version = block->python_version;
    info->tick_ns = block->tick_ns;
    info->level = block->level;
    info->ending = block->closed != 0 ? FILM_ENDING_CLOSED
                   : locked           ? FILM_ENDING_LIVE
                                      : FILM_ENDING_DIED;
    info->exit_status = block->exit_status == 0 || block->exit_status > 256
                            ? -1
                            : (int)block->exit_status - 1;
    info->stopped_early = block->stop_reason != 0;
    if (info->stopped_early) {
        info->stop_reason = film_lost_reason_text(block->stop_reason);
    }
    info->write_fallback = (block->flags & FILM_SUPERBLOCK_WRITE_FALLBACK) != 0;
    info->damaged = reader->damages.count;
    for (size_t i = 0; i < reader->tracks.count; i++) {
        const film_track *track = &reader->tracks.items[i];
        info->events += track->readable;
        info->lost += track->info.lost;
        if (track->info.last_ns > info->duration_ns) {
            info->duration_ns = track->info.last_ns;
        }
    }
    if (block->closed != 0 && block->duration_ns != 0) {
        info->duration_ns = block->duration_ns;
    }
}

/* Brings the reader up to what the file holds now. */
static film_status
load(film_reader *reader, film_error *error)
{
    film_status status = FILM_OK;
    bool locked = false;

    for (unsigned i = 0; i < MOST_LOADS; i++) {
        film_superblock before = reader->file.block;
        locked = film_file_is_locked(&reader->file);
        film_tracks_reset(&reader->tracks);
        FILM_TRY(read_chunks_and_windows(reader, error));
        if (!same_layout(&before, &reader->file.block) && i + 1 < MOST_LOADS) {
            /* Closed, or gone on as a ring, while it was read. */
            forget(reader);
            film_damages_reset(&reader->damages);
            continue;
        }
        status = read_tables(reader);
        if (status == FILM_OK) {
            status = film_reader_list_values(reader);
        }
        if (status == FILM_OK) {
            status =
                film_tracks_build(&reader->tracks, &reader->file, &reader->directory,
                                  &reader->windows, &reader->tables);
        }
        if (status != FILM_OK || !has_gap(reader) || (!locked && i >= UNLOCKED_LOADS)) {
            break;
        }
        FILM_TRY(film_file_look(&reader->file, error));
    }
    if (status == FILM_OK) {
        fill_info(reader, locked);
    }
    return name_failure(status, error);
}

film_status
film_reader_open(const char *path, film_reader **out, film_error *error)
{
    film_reader *reader;
    film_status status;

    *out = NULL;
    reader = film_alloc(sizeof(*reader));
    if (reader == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    status = film_file_open(&reader->file, path, error);
    if (status != FILM_OK) {
        goto done;
    }
    status = film_loader_init(&reader->loader, &reader->file);
    if (status != FILM_OK) {
        status = name_failure(status, error);
        goto done;
    }
    status = load(reader, error);
    if (status != FILM_OK) {
        goto done;
    }
    *out = reader;
    reader = NULL;

done:
    film_reader_close(reader);
    return status;
}

void
film_reader_close(film_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    forget(reader);
    film_damages_reset(&reader->damages);
    film_loader_reset(&reader->loader);
    film_file_close(&reader->file);
    film_free(reader->unknown_frames);
    film_buffer_reset(&reader->keyframe);
    film_buffer_reset(&reader->reference);
    film_buffer_reset(&reader->scratch);
    film_buffer_reset(&reader->text);
    film_buffer_reset(&reader->tensor);
    film_buffer_reset(&reader->rendered);
    film_buffer_reset(&reader->items);
    film_free(reader);
}

film_status
film_reader_refresh(film_reader *reader, film_error *error)
{
    /* Not file.block: a chunk that was not where it had been has made us look since. */
    film_superblock before = reader->loader.listed;
    film_status status;

    FILM_TRY(film_file_look(&reader->file, error));
    reader->generation++;
    /* A log that only grew is walked on; a ring, or one laid out anew, is read again.
     */
    if (!same_layout(&before, &reader->file.block) || before.ring_bytes != 0 ||
        memcmp(before.uuid, reader->file.block.uuid, sizeof(before.uuid)) != 0) {
        forget(reader);
    }
    status = load(reader, error);
    if (status != FILM_OK) {
        forget(reader); /* empty, but whole */
        memset(&reader->info, 0, sizeof(reader->info));
    }
    return status;
}

const film_info *
film_reader_info(const film_reader *reader)
{
    return &reader->info;
}

size_t
film_reader_thread_count(const film_reader *reader)
{
    return reader->tracks.count;
}

const film_thread_info *
film_reader_thread(const film_reader *reader, size_t index)
{
    return index < reader->tracks.count ? &reader->tracks.items[index].info : NULL;
}

size_t
film_reader_code_count(const film_reader *reader)
{
    return reader->tables.code_count;
}

const film_code *
film_reader_code(const film_reader *reader, uint32_t id)
{
    return id < reader->tables.code_count ? reader->tables.codes[id] : NULL;
}

uint32_t
film_reader_line(film_reader *reader, uint32_t code, uint32_t offset)
{
    const film_code *described = film_reader_code(reader, code);
    film_lines *lines;

    if (described == NULL) {
        return 0;
    }
    lines = &reader->tables.lines[code];
    if (lines->lines == NULL &&
        film_lines_decode(described->line_table, described->line_table_length,
                          described->first_line, &lines->lines,
                          &lines->count) != FILM_OK) {
        return 0;
    }
    return offset < lines->count ? lines->lines[offset] : 0;
}

uint32_t
film_reader_event_line(film_reader *reader, const film_event *event)
{
    uint32_t look = event->kind == FILM_KIND_HANDLED ? HANDLER_UNITS : 1;
    uint32_t line = 0;

    if (event->offset == FILM_NO_OFFSET) {
        return 0;
    }
    for (uint32_t i = 0; line == 0 && i < look; i++) {
        line = film_reader_line(reader, event->code, event->offset + i);
    }
    return line;
}

film_text
film_reader_string(const film_reader *reader, uint32_t id)
{
    return film_tables_string(&reader->tables, id);
}

size_t
film_reader_string_count(const film_reader *reader)
{
    return reader->tables.string_count;
}

const char *
film_reader_meta(const film_reader *reader, const char *key)
{
    const film_meta_record *best = NULL;

    for (size_t i = 0; i < reader->tables.meta_count; i++) {
        const film_meta_record *meta = &reader->tables.metas[i];
        if (strcmp(meta->key.data, key) == 0 &&
            (best == NULL || meta->number >= best->number)) {
            best = meta;
        }
    }
    return best == NULL ? NULL : best->value.data;
}

size_t
film_reader_damage_count(const film_reader *reader)
{
    return reader->damages.count;
}

const film_damage *
film_reader_damage(const film_reader *reader, size_t index)
{
    return index < reader->damages.count ? &reader->damages.items[index] : NULL;
}

size_t
film_reader_chunk_count(const film_reader *reader)
{
    return reader->directory.count;
}

const film_chunk_info *
film_reader_chunk(const film_reader *reader, size_t index)
{
    return index < reader->directory.count ? &reader->directory.chunks[index] : NULL;
}

uint64_t
film_reader_ticks_to_ns(const film_reader *reader, uint64_t ticks)
{
    return ticks * reader->file.block.tick_ns;
}
