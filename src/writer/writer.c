/* writer.c: opening a recording, its statistics, stopping and fork.
 * SPDX-License-Identifier: Apache-2.0 */
#include "writer/writer.h"

#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <filmstrip/filmstrip.h>

#include "base/alloc.h"
#include "writer/writer_state.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "window headers are mapped: little-endian hosts only");

#define RING_LEAST (4u << 20)
#define ARENA_BYTES ((uint64_t)FILM_ARENA_WINDOWS * FILM_WINDOW_BYTES)

static film_status
fill_superblock(film_writer *writer, const film_writer_options *options,
                film_error *error)
{
    film_superblock *block = &writer->block;

    block->major = FILM_FORMAT_MAJOR;
    block->minor = FILM_FORMAT_MINOR;
    /* Without entropy the recording still works: its uuid is then zero. */
    if (getrandom(block->uuid, sizeof(block->uuid), GRND_NONBLOCK) < 0) {
        memset(block->uuid, 0, sizeof(block->uuid));
    }
    block->pid = (uint64_t)getpid();
    block->tick_ns = options->tick_ns == 0 ? 16 : options->tick_ns;
    block->python_version = options->python_version;
    block->level = options->level;
    block->window_bytes = FILM_WINDOW_BYTES;
    block->arena_bytes = ARENA_BYTES;
    if (options->ring_bytes != 0) {
        if (options->ring_bytes < RING_LEAST) {
            return film_fail(error, FILM_LIMIT, "a ring needs at least %u MiB",
                             RING_LEAST >> 20);
        }
        /* Everything counts towards the size: superblock, windows, log. */
        if (block->arena_bytes > options->ring_bytes / 4) {
            block->arena_bytes =
                options->ring_bytes / 4 / FILM_WINDOW_BYTES * FILM_WINDOW_BYTES;
        }
        block->ring_bytes =
            (options->ring_bytes - FILM_SUPERBLOCK_BYTES - block->arena_bytes) /
            FILM_CHUNK_ALIGN * FILM_CHUNK_ALIGN;
    }
    film_clock_init(&writer->clock, block->tick_ns);
    block->clock_source = (uint32_t)writer->clock.source;
    block->clock_shift = writer->clock.shift;
    film_timescale_begin(&block->timescale,
                         1e9 / film_clock_frequency(&writer->clock) *
                             (double)(UINT64_C(1) << writer->clock.shift));
    block->start_realtime_ns = film_clock_realtime_ns();
    block->start_monotonic_ns = film_clock_start(&writer->clock);
    return FILM_OK;
}

static film_status
init_locks(film_writer *writer)
{
    if (pthread_mutex_init(&writer->lock, NULL) != 0 ||
        pthread_mutex_init(&writer->table_lock, NULL) != 0 ||
        pthread_cond_init(&writer->work, NULL) != 0 ||
        pthread_cond_init(&writer->space, NULL) != 0) {
        return FILM_NO_MEMORY;
    }
    return FILM_OK;
}

static bool
begin_records(film_writer *writer, film_record_stream *records, uint32_t id,
              uint8_t chunk_type)
{
    film_window_start start = {0};

    records->stream.id = id;
    records->chunk_type = chunk_type;
    return film_stream_begin(writer, &records->stream, &start);
}

static film_status
write_first_blocks(film_writer *writer)
{
    uint8_t bytes[FILM_SUPERBLOCK_BYTES];

    film_superblock_encode(&writer->block, bytes);
    FILM_TRY(film_sink_truncate(&writer->sink,
                                FILM_SUPERBLOCK_BYTES + writer->block.arena_bytes));
    return film_sink_write(&writer->sink, 0, bytes, sizeof(bytes));
}

/* Everything behind the created file; on failure the caller frees the writer. */
static film_status
set_up(film_writer *writer, const film_writer_options *options, film_error *error)
{
    film_status status = init_locks(writer);

    if (status == FILM_OK) {
        status = film_limits_begin(writer, error);
    }
    if (status == FILM_OK) {
        status = write_first_blocks(writer);
    }
    if (status == FILM_OK) {
        status = film_sink_name(&writer->sink, options->path, options->replace, error);
    }
    if (status == FILM_OK) {
        status = film_log_init(&writer->log, &writer->sink, &writer->block);
    }
    if (status == FILM_OK) {
        status = film_arena_init(&writer->arena, &writer->sink, &writer->log,
                                 FILM_SUPERBLOCK_BYTES, writer->block.arena_bytes,
                                 !options->no_map);
    }
    if (status == FILM_OK &&
        (!begin_records(writer, &writer->table, FILM_STREAM_TABLE, FILM_CHUNK_TABLE) ||
         !begin_records(writer, &writer->values, FILM_STREAM_VALUE,
                        FILM_CHUNK_VALUE))) {
        status = FILM_NO_SPACE;
    }
    if (status == FILM_OK && !writer->arena.may_map) {
        writer->block.flags |= FILM_SUPERBLOCK_WRITE_FALLBACK;
        status = write_first_blocks(writer);
    }
    if (status == FILM_OK && !writer->arena.may_map) {
        /* Rows are written out by the sealing thread, so it runs from the start. */
        pthread_mutex_lock(&writer->lock);
        film_sealer_queue(writer, &writer->table.stream);
        pthread_mutex_unlock(&writer->lock);
    }
    if (status != FILM_OK && (error == NULL || error->status == FILM_OK)) {
        return film_fail(error, status, "cannot record to %s: %s", options->path,
                         status == FILM_NO_SPACE ? "no space left on the disk"
                         : status == FILM_NO_MEMORY
                             ? "out of memory"
                             : "the file system refused to write");
    }
    return status;
}

film_status
film_writer_open(const film_writer_options *options, film_writer **out,
                 film_error *error)
{
    film_writer *writer = film_alloc(sizeof(*writer));
    film_status status;

    *out = NULL;
    if (error != NULL) {
        memset(error, 0, sizeof(*error));
    }
    if (writer == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "out of memory");
    }
    writer->sink.file = -1;
    writer->redaction = options->redaction;
    status = fill_superblock(writer, options, error);
    if (status == FILM_OK) {
        status =
            film_sink_create(&writer->sink, options->path, options->replace, error);
    }
    if (status == FILM_OK) {
        status = set_up(writer, options, error);
        if (status != FILM_OK && writer->sink.named) {
            (void)unlink(options->path); /* ours, and useless */
        }
    }
    if (status != FILM_OK) {
        film_writer_free(writer);
        return status;
    }
    *out = writer;
    return FILM_OK;
}

static film_lost_reason
reason_of(film_status status)
{
    switch (status) {
    case FILM_NO_SPACE:
    case FILM_LIMIT:
        return FILM_LOST_NO_SPACE;
    case FILM_NO_MEMORY:
        return FILM_LOST_NO_MEMORY;
    case FILM_IO:
        return FILM_LOST_IO;
    case FILM_OK:
    case FILM_END:
    case FILM_TRUNCATED:
    case FILM_CORRUPT:
    case FILM_UNSUPPORTED:
    case FILM_NOT_A_FILM:
    case FILM_MISUSE:
    case FILM_EXISTS:
        break;
    }
    return FILM_LOST_STOPPED;
}

void
film_writer_stop(film_writer *writer, film_status why)
{
    uint32_t none = 0;
    uint32_t reason = (uint32_t)reason_of(why);

    if (atomic_compare_exchange_strong(&writer->stop_reason, &none, reason)) {
        writer->block.stop_reason = reason;
        /* The field lies in a block that exists: this works on a full disk too. */
        FILM_IGNORE(
            film_sink_write_field(&writer->sink, FILM_FIELD_STOP_REASON, reason));
    }
    pthread_mutex_lock(&writer->lock);
    pthread_cond_broadcast(&writer->space);
    pthread_mutex_unlock(&writer->lock);
}

bool
film_writer_has_stopped(film_writer *writer)
{
    return film_writer_stopped(writer);
}

void
film_writer_add_lost(film_writer *writer, uint64_t count)
{
    writer->lost += count;
    /* Counted in the file at once: the program may die without a close. */
    FILM_IGNORE(film_sink_write_field(&writer->sink, FILM_FIELD_LOST, writer->lost));
}

void
film_writer_count_lost(film_writer *writer, uint64_t count)
{
    pthread_mutex_lock(&writer->lock);
    film_writer_add_lost(writer, count);
    pthread_mutex_unlock(&writer->lock);
}

void
film_writer_get_stats(film_writer *writer, film_writer_stats *stats)
{
    memset(stats, 0, sizeof(*stats));
    pthread_mutex_lock(&writer->lock);
    stats->events = writer->ended_events;
    for (film_stream *stream = writer->threads; stream != NULL; stream = stream->next) {
        stats->events += film_thread_kept(film_thread_of_stream(stream));
    }
    film_drain_settle(writer);
    stats->lost = writer->lost + film_writer_count_window_losses(writer);
    stats->bytes = FILM_SUPERBLOCK_BYTES + atomic_load(&writer->log.head);
    stats->stopped = film_writer_stopped(writer);
    pthread_mutex_unlock(&writer->lock);
}

void
film_writer_before_fork(film_writer *writer)
{
    if (film_limits_are_ours(writer)) {
        film_sealer_join(writer);
    }
}

void
film_writer_abandon(film_writer *writer)
{
    /* The parent's windows are not mapped here and its locks may be held by threads
     * that do not exist in this process: only the descriptor is given up. */
    film_sink_close(&writer->sink);
}

const film_clock *
film_writer_clock(const film_writer *writer)
{
    return &writer->clock;
}
