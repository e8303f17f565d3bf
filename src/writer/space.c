/* space.c: giving the space of windows back when a recording is closed.
 *
 * The log slides down over the arena; its WINDOWS chunks, which lie between others, are
 * left out on the way. At every instant the file is whole for whoever reads it then,
 * should the process be killed: each step shows by the store of one field, or of one
 * header that lies within a page.
 *
 * For that a filler (a WINDOWS chunk) stands behind what has been moved and spans what
 * is not needed any more, up to the chunks that still lie where they were:
 *
 *   moved chunks | filler ................................ | chunks | windows | ...
 *   moved chunks | filler | chunks | filler ............... ........ | windows | ...
 *
 * The next chunks are copied behind the filler, a second filler behind them;
 * moved_until lets both count, but the first filler still passes over them: then it is
 * cut to its header. The two may not meet the chunks being moved, so as many are moved
 * at once as were left out before.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/alloc.h"
#include "writer/writer_state.h"

/* Logs up to this size slide down over the arena, so that the file has no hole in it;
 * for larger ones the hole is a small part, and copying would delay the exit. */
#define SLIDE_LIMIT (32u << 20)
#define PIECE_BYTES (2u << 20)
#define PAGE 4096u
/* A header and its padding: a filler that passes over nothing. */
#define FILLER_BYTES                                                                   \
    ((FILM_CHUNK_HEADER + FILM_CHUNK_ALIGN - 1) / FILM_CHUNK_ALIGN * FILM_CHUNK_ALIGN)
/* A span is told in 32 bits. */
#define MOST_FILLED (UINT32_MAX - (uint64_t)PAGE)

typedef struct compaction {
    film_writer *writer;
    uint8_t *bytes;  /* owned; PIECE_BYTES and room for fillers */
    uint64_t filler; /* logical: where it stands */
    uint64_t next;   /* logical: the first chunk that is not moved, behind it */
} compaction;

static film_status
set_field(film_writer *writer, enum film_superblock_field field, uint64_t *place,
          uint64_t number)
{
    *place = number;
    return film_sink_write_field(&writer->sink, field, number);
}

static film_status
set_moved_until(film_writer *writer, uint64_t logical)
{
    return set_field(writer, FILM_FIELD_MOVED_UNTIL, &writer->block.moved_until,
                     logical);
}

/* Moves the log down over the arena up to `end`, piece by piece. A piece never overlaps
 * what is not moved yet, and moved_until follows each, so the file can be read all
 * along. */
static film_status
slide_down(film_writer *writer, uint8_t *bytes, uint64_t end)
{
    film_superblock *block = &writer->block;
    uint64_t capacity =
        block->arena_bytes < PIECE_BYTES ? block->arena_bytes : PIECE_BYTES;

    while (block->moved_until < end) {
        uint64_t left = end - block->moved_until;
        size_t piece = (size_t)(left < capacity ? left : capacity);
        uint64_t to = FILM_SUPERBLOCK_BYTES + block->moved_until;
        FILM_TRY(film_sink_read(&writer->sink, to + block->arena_bytes, bytes, piece));
        FILM_TRY(film_sink_write(&writer->sink, to, bytes, piece));
        FILM_TRY(set_moved_until(writer, block->moved_until + piece));
    }
    return FILM_OK;
}

/* --- leaving WINDOWS chunks out -------------------------------------------------- */

static void
encode_filler(uint64_t span, uint8_t *to)
{
    film_chunk_header header = {.type = FILM_CHUNK_WINDOWS, .first_value = UINT64_MAX};

    header.payload_stored = header.payload_raw = (uint32_t)(span - FILM_CHUNK_HEADER);
    memset(to, 0, FILLER_BYTES);
    film_chunk_encode(&header, to);
}

/* Makes the filler pass over `span` bytes, its own among them. */
static film_status
set_filler(const compaction *work, uint64_t span)
{
    uint8_t header[FILLER_BYTES];

    encode_filler(span, header);
    return film_sink_write(&work->writer->sink, FILM_SUPERBLOCK_BYTES + work->filler,
                           header, FILM_CHUNK_HEADER);
}

/* Puts a filler at the end of the `length` bytes that will lie at the logical `at`: one
 * up to the logical `end`, in one page, for which an empty one may come before it.
 * Gives the new length; *filler says where it stands. */
static size_t
put_filler(const compaction *work, uint64_t at, size_t length, uint64_t end,
           uint64_t *filler)
{
    uint64_t physical = FILM_SUPERBLOCK_BYTES + at + length;

    if (physical / PAGE != (physical + FILM_CHUNK_HEADER - 1) / PAGE) {
        encode_filler(FILLER_BYTES, work->bytes + length);
        length += FILLER_BYTES;
    }
    *filler = at + length;
    encode_filler(end - *filler, work->bytes + length);
    return length + FILLER_BYTES;
}

/* The log up to its first WINDOWS chunk has slid down: a filler takes that one's place.
 */
static film_status
begin_filler(compaction *work, const film_chunk_header *windows)
{
    film_writer *writer = work->writer;
    uint64_t at = writer->block.moved_until;
    size_t length;

    work->next = at + film_chunk_span(windows);
    length = put_filler(work, at, 0, work->next, &work->filler);
    FILM_TRY(film_sink_write(&writer->sink, FILM_SUPERBLOCK_BYTES + at, work->bytes,
                             length));
    return set_moved_until(writer, at + length);
}

/* Reads chunks from work->next on, as many as there is room for and up to the next
 * WINDOWS chunk; *length 0: there are none before that. */
static film_status
read_chunks(compaction *work, size_t *length, film_chunk_header *header)
{
    film_writer *writer = work->writer;
    uint64_t at = work->next;
    uint64_t room = work->next - work->filler;
    uint64_t run;

    room = room < 4 * FILLER_BYTES ? 0 : room - 4 * FILLER_BYTES;
    if (room > PIECE_BYTES) {
        room = PIECE_BYTES;
    }
    *length = 0;
    while (at < writer->block.head) {
        uint64_t span;
        FILM_TRY(film_log_read_header(&writer->log, at, header));
        span = film_chunk_span(header);
        if (header->type == FILM_CHUNK_WINDOWS) {
            break;
        }
        if (span > room - *length) {
            return *length == 0 ? FILM_LIMIT : FILM_OK;
        }
        FILM_TRY(film_sink_read(&writer->sink,
                                film_superblock_physical(&writer->block, at, &run),
                                work->bytes + *length, (size_t)span));
        *length += (size_t)span;
        at += span;
    }
    return FILM_OK;
}

/* Passes over the WINDOWS chunk at work->next. */
static film_status
skip_windows(compaction *work, const film_chunk_header *header)
{
    uint64_t end = work->next + film_chunk_span(header);

    if (end - work->filler > MOST_FILLED) {
        return FILM_LIMIT;
    }
    FILM_TRY(set_filler(work, end - work->filler));
    work->next = end;
    return FILM_OK;
}

/* Moves what read_chunks has read. */
static film_status
move_chunks(compaction *work, size_t length)
{
    film_writer *writer = work->writer;
    uint64_t at = work->filler + FILLER_BYTES, end = work->next + length, filler;
    size_t whole = put_filler(work, at, length, end, &filler);

    FILM_TRY(
        film_sink_write(&writer->sink, FILM_SUPERBLOCK_BYTES + at, work->bytes, whole));
    FILM_TRY(set_moved_until(writer, at + whole));
    FILM_TRY(set_filler(work, FILLER_BYTES));
    work->filler = filler;
    work->next = end;
    return FILM_OK;
}

/* All is moved: the last filler ends the log, and the file. */
static film_status
end_log(compaction *work)
{
    film_writer *writer = work->writer;

    FILM_TRY(film_log_set_head(&writer->log, work->filler));
    return film_sink_truncate(&writer->sink,
                              FILM_SUPERBLOCK_BYTES + work->filler + FILLER_BYTES);
}

static film_status
compact(compaction *work)
{
    film_writer *writer = work->writer;
    film_chunk_header header;
    uint64_t first = 0;

    for (;; first += film_chunk_span(&header)) {
        FILM_TRY(film_log_read_header(&writer->log, first, &header));
        if (header.type == FILM_CHUNK_WINDOWS) {
            break;
        }
    }
    FILM_TRY(slide_down(writer, work->bytes, first));
    FILM_TRY(begin_filler(work, &header));
    while (work->next < writer->block.head) {
        size_t length;
        FILM_TRY(read_chunks(work, &length, &header));
        FILM_TRY(length > 0 ? move_chunks(work, length) : skip_windows(work, &header));
    }
    return end_log(work);
}

bool
film_space_is_to_be_compacted(const film_writer *writer)
{
    uint64_t windows = writer->log.window_bytes;
    uint64_t rest = writer->block.head - windows;

    return writer->block.ring_bytes == 0 && windows != 0 &&
           (rest <= SLIDE_LIMIT || rest <= windows);
}

void
film_space_compact(film_writer *writer)
{
    compaction work = {.writer = writer,
                       .bytes = film_alloc(PIECE_BYTES + 2 * FILLER_BYTES)};

    /* Should it fail half way, the file is whole, only larger. */
    if (work.bytes != NULL && compact(&work) == FILM_OK) {
        /* Nothing lies behind: what comes goes there. */
        FILM_IGNORE(set_moved_until(writer, UINT64_MAX / 2));
    }
    film_free(work.bytes);
}

/* --- the rest ----------------------------------------------------------------------
 */

static void
punch_windows(film_writer *writer)
{
    film_log *log = &writer->log;
    film_chunk_header header;

    film_sink_punch(&writer->sink, FILM_SUPERBLOCK_BYTES, writer->block.arena_bytes);
    for (uint64_t offset = 0; log->window_bytes != 0 && offset < writer->block.head &&
                              film_log_read_header(log, offset, &header) == FILM_OK;
         offset += film_chunk_span(&header)) {
        if (header.type == FILM_CHUNK_WINDOWS) {
            uint64_t run;
            uint64_t at = film_superblock_physical(&writer->block, offset, &run);
            film_sink_punch(&writer->sink, at + FILM_CHUNK_HEADER,
                            film_chunk_span(&header) - FILM_CHUNK_HEADER);
        }
    }
}

void
film_space_give_back(film_writer *writer)
{
    film_superblock *block = &writer->block;
    uint8_t *bytes = NULL;

    if (block->moved_until > block->head) { /* compacted */
        FILM_IGNORE(set_moved_until(writer, block->head));
        return;
    }
    if (block->moved_until != 0) {
        return; /* half way: the arena is the log's already */
    }
    if (block->ring_bytes == 0 && block->head <= SLIDE_LIMIT &&
        writer->log.window_bytes == 0) {
        bytes = film_alloc(PIECE_BYTES);
    }
    if (bytes == NULL) {
        punch_windows(writer);
    }
    /* Should this fail half way, the file is whole, only larger. */
    else if (slide_down(writer, bytes, block->head) == FILM_OK) {
        FILM_IGNORE(
            film_sink_truncate(&writer->sink, FILM_SUPERBLOCK_BYTES + block->head));
    }
    film_free(bytes);
}
