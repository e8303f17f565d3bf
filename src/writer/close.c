/* close.c: ending a recording: everything sealed, the windows' space given back, the
 * index written. At every instant in between the file is whole.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/alloc.h"
#include "writer/exit_note.h"
#include "writer/writer_state.h"

#define CLOSED_WHOLE 1u
#define CLOSED_WITH_WINDOWS 2u /* stopped early: windows still hold rows */

uint64_t
film_writer_count_window_losses(film_writer *writer)
{
    uint64_t lost = 0;

    for (film_stream *stream = writer->threads; stream != NULL; stream = stream->next) {
        if (stream->current != NULL) {
            lost += atomic_load_explicit(&stream->current->header->lost,
                                         memory_order_relaxed);
        }
    }
    return lost;
}

static film_status
tell_new_layout(film_writer *writer)
{
    return film_sink_write_field(&writer->sink, FILM_FIELD_LAYOUT_GENERATION,
                                 ++writer->block.layout_generation);
}

static film_status
write_ending(film_writer *writer)
{
    uint64_t index;

    FILM_TRY(film_log_append_index(&writer->log, &index));
    FILM_TRY(film_sink_write_field(&writer->sink, FILM_FIELD_INDEX_OFFSET, index + 1));
    FILM_TRY(tell_new_layout(writer));
    return film_sink_write_field(&writer->sink, FILM_FIELD_CLOSED, CLOSED_WHOLE);
}

/* Everything is in chunks: nobody needs to look for windows where the log is going to
 * be. */
static film_status
compact(film_writer *writer)
{
    if (!film_space_is_to_be_compacted(writer)) {
        return FILM_OK;
    }
    FILM_TRY(film_sink_write_field(&writer->sink, FILM_FIELD_CLOSED, CLOSED_WHOLE));
    FILM_TRY(tell_new_layout(writer));
    film_space_compact(writer);
    return FILM_OK;
}

/* Events in windows that have no place in the file: they end with this process. */
static uint64_t
count_unkept(film_writer *writer)
{
    uint64_t unkept = 0;

    for (film_stream *stream = writer->threads; stream != NULL; stream = stream->next) {
        for (film_window *window = stream->oldest; window != NULL;
             window = window->next) {
            uint64_t first = window->header->first;
            if (first < stream->sealed) {
                first = stream->sealed;
            }
            if (window->offset == 0) {
                unkept += window->end > first ? window->end - first : 0;
                unkept +=
                    atomic_load_explicit(&window->header->lost, memory_order_relaxed);
            }
        }
    }
    return unkept;
}

/* The disk was full: what is in the windows stays there for readers. */
static void
leave_windows(film_writer *writer)
{
    uint64_t unkept = count_unkept(writer);

    FILM_IGNORE(film_arena_flush(&writer->arena));
    if (unkept > 0) {
        film_writer_count_lost(writer, unkept);
    }
    FILM_IGNORE(
        film_sink_write_field(&writer->sink, FILM_FIELD_CLOSED, CLOSED_WITH_WINDOWS));
}

film_status
film_writer_close(film_writer *writer, const film_meta_pair *pairs, size_t count,
                  film_error *error)
{
    film_status status = FILM_OK;
    uint64_t raw, ns;

    if (!film_limits_are_ours(writer)) {
        film_writer_abandon(writer);
        return FILM_OK;
    }
    film_sealer_join(writer);
    film_drain_settle(writer);
    film_clock_pair(&writer->clock, &raw, &ns);
    if (!film_writer_stopped(writer)) {
        film_sealer_finish(writer);
    }
    film_writer_meta(writer, pairs, count);
    /* Fields of the first block: they can be written even when nothing else can. */
    FILM_IGNORE(
        film_sink_write_field(&writer->sink, FILM_FIELD_DURATION_NS,
                              film_timescale_ns(&writer->block.timescale, raw)));
    if (!film_writer_stopped(writer)) {
        status = compact(writer);
        if (status == FILM_OK) {
            status = write_ending(writer);
        }
        if (status == FILM_OK || writer->block.moved_until != 0) {
            film_space_give_back(writer);
            status = FILM_OK; /* whole, if without an index */
        }
        else {
            film_writer_stop(writer, status);
        }
    }
    if (film_writer_stopped(writer)) {
        leave_windows(writer);
        status = film_fail(error, FILM_NO_SPACE, "the recording is not complete: %s",
                           film_lost_reason_text(atomic_load(&writer->stop_reason)));
    }
    if (writer->ends_with_process) {
        film_exit_note_take(&writer->sink);
    }
    film_writer_free(writer);
    return status;
}

static void
free_threads(film_writer *writer)
{
    while (writer->threads != NULL) {
        film_stream *stream = writer->threads;
        writer->threads = stream->next;
        film_state_reset(&stream->state);
        film_free(film_thread_of_stream(stream));
    }
}

static void
free_sources(film_writer *writer)
{
    while (writer->sources != NULL) {
        film_source_request *request = writer->sources;
        writer->sources = request->next;
        film_free(request->file);
        film_free(request->path);
        film_free(request->text);
        film_free(request);
    }
}

void
film_writer_free(film_writer *writer)
{
    free_threads(writer);
    free_sources(writer);
    film_arena_reset(&writer->arena);
    film_log_reset(&writer->log);
    film_limits_reset(writer);
    film_sink_close(&writer->sink);
    film_intern_reset(&writer->strings);
    film_intern_reset(&writer->source_files);
    film_buffer_reset(&writer->scratch);
    film_buffer_reset(&writer->redacted);
    film_columns_reset(&writer->columns);
    film_value_columns_reset(&writer->value_columns);
    film_summary_reset(&writer->summary);
    film_touched_reset(&writer->touched);
    film_locals_reset(&writer->locals);
    film_gone_reset(&writer->gone);
    film_serials_reset(&writer->serials);
    film_totals_reset(&writer->totals);
    film_buffer_reset(&writer->summary_bytes);
    film_buffer_reset(&writer->keyframe_bytes);
    film_buffer_reset(&writer->payload_bytes);
    for (size_t i = 0; i < FILM_CODE_BLOCKS; i++) {
        film_free(atomic_load_explicit(&writer->code_hashes[i], memory_order_relaxed));
    }
    pthread_mutex_destroy(&writer->lock);
    pthread_mutex_destroy(&writer->table_lock);
    pthread_cond_destroy(&writer->work);
    pthread_cond_destroy(&writer->space);
    film_free(writer);
}
