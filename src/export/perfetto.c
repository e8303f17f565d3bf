/* perfetto.c: every call as a slice of a Perfetto trace (protobuf).
 *
 * A trace is a row of packets. Each thread is a packet sequence of its own: its first
 * packet clears the sequence's state, names the track as default, and every function
 * name is sent once a sequence, with the packet that first uses it (interning). A call
 * is then some 20 bytes. Field numbers are those of perfetto's protos/perfetto/trace.
 *
 *   Trace            packet 1
 *   TracePacket      timestamp 8, sequence id 10, track_event 11, interned_data 12,
 *                    sequence_flags 13, defaults 59, track_descriptor 60
 *   TrackDescriptor  uuid 1, name 2, process 3, thread 4
 *   ProcessDescriptor pid 1, process_name 6    ThreadDescriptor pid 1, tid 2, name 5
 *   TrackEvent       debug_annotations 4, type 9, name_iid 10
 *   InternedData     event_names 2 { iid 1, name 2 }
 *   DebugAnnotation  string_value 6, name 10
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/exporter.h"

#include "analysis/activity.h"
#include "base/alloc.h"
#include "export/protobuf.h"
#include "export/track.h"

enum { SLICE_BEGIN = 1, SLICE_END = 2 };
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };

typedef struct trace {
    const film_recordings *set; /* borrowed */
    film_output *output;        /* borrowed */
    film_functions functions;
    uint32_t *sent; /* owned: by function, the sequence its name was last sent in */
    size_t sent_capacity;
    uint32_t sequence;
    film_buffer packet, message, inner; /* reused: built from the inside out */
    film_output name;                   /* writes into `text` */
    film_buffer text;
    bool failed; /* one of the buffers ran out of memory, now or before */
} trace;

static void
restart(trace *to, film_buffer *buffer)
{
    to->failed = to->failed || buffer->failed;
    film_buffer_clear(buffer);
}

static film_status
put_packet(trace *to, film_error *error)
{
    uint8_t head[1 + FILM_VARINT_MAX] = {1 << 3 | 2};
    uint8_t *end = film_varint_encode(head + 1, to->packet.length);

    if (to->packet.failed || to->message.failed || to->inner.failed ||
        to->text.failed) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    film_output_write(to->output, head, (size_t)(end - head));
    film_output_write(to->output, to->packet.data, to->packet.length);
    restart(to, &to->packet);
    return to->output->status == FILM_OK ? FILM_OK
                                         : film_output_flush(to->output, error);
}

static film_status
put_process(trace *to, size_t recording, uint64_t uuid, film_error *error)
{
    char room[FILM_TRACK_BYTES];
    film_text name = film_track_process_name(&to->set->items[recording], room);

    restart(to, &to->inner);
    restart(to, &to->message);
    film_protobuf_number(&to->inner, 1, film_track_process(to->set, recording));
    film_protobuf_bytes(&to->inner, 6, name.data, name.length);
    film_protobuf_number(&to->message, 1, uuid);
    film_protobuf_message(&to->message, 3, &to->inner);
    film_protobuf_message(&to->packet, 60, &to->message);
    return put_packet(to, error);
}

/* The packet that opens a thread's sequence. */
static film_status
put_thread(trace *to, size_t recording, size_t index, uint64_t uuid, film_error *error)
{
    const film_reader *reader = to->set->items[recording].reader;
    char room[32];
    film_text name = film_track_thread_name(film_reader_thread(reader, index), room);

    restart(to, &to->inner);
    restart(to, &to->message);
    film_protobuf_number(&to->inner, 1, film_track_process(to->set, recording));
    film_protobuf_number(&to->inner, 2, film_track_thread(reader, index));
    film_protobuf_bytes(&to->inner, 5, name.data, name.length);
    film_protobuf_number(&to->message, 1, uuid);
    film_protobuf_message(&to->message, 4, &to->inner);
    film_protobuf_message(&to->packet, 60, &to->message);

    film_buffer_clear(
        &to->inner); /* defaults { track_event_defaults 11 { uuid 11 } } */
    restart(to, &to->message);
    film_protobuf_number(&to->inner, 11, uuid);
    film_protobuf_message(&to->message, 11, &to->inner);
    film_protobuf_message(&to->packet, 59, &to->message);

    film_protobuf_number(&to->packet, 10, to->sequence);
    film_protobuf_number(&to->packet, 13, STATE_CLEARED);
    return put_packet(to, error);
}

/* Adds the function's name to the packet if this sequence has not had it yet. */
static film_status
put_name_once(trace *to, uint32_t function, film_error *error)
{
    if (function >= to->sent_capacity) {
        size_t old = to->sent_capacity;
        uint32_t *grown =
            film_grow(to->sent, &to->sent_capacity, function + 1u, sizeof(*grown));
        if (grown == NULL) {
            return film_fail(error, FILM_NO_MEMORY, "not enough memory");
        }
        memset(grown + old, 0, (to->sent_capacity - old) * sizeof(*grown));
        to->sent = grown;
    }
    if (to->sent[function] == to->sequence) {
        return FILM_OK;
    }
    to->sent[function] = to->sequence;
    restart(to, &to->text);
    film_track_put_slice_name(&to->name, &to->functions.items[function]);
    FILM_TRY(film_output_flush(&to->name, error));
    restart(to, &to->inner);
    restart(to, &to->message);
    film_protobuf_number(&to->inner, 1, function + 1u);
    film_protobuf_message(&to->inner, 2, &to->text);
    film_protobuf_message(&to->message, 2, &to->inner);
    film_protobuf_message(&to->packet, 12, &to->message);
    return FILM_OK;
}

/* debug_annotations { name 10: "exception", string_value 6: its type } */
static void
put_exception(trace *to, const film_reader *reader, const film_event *event)
{
    film_text type = film_reader_string(reader, event->text);

    restart(to, &to->inner);
    film_protobuf_bytes(&to->inner, 10, "exception", 9);
    film_protobuf_bytes(&to->inner, 6, type.data, type.length);
    film_protobuf_message(&to->message, 4, &to->inner);
}

static film_status
put_step(trace *to, size_t recording, const film_step *step, film_error *error)
{
    const film_recording *from = &to->set->items[recording];

    film_protobuf_number(&to->packet, 8, step->time_ns + from->shift_ns);
    film_protobuf_number(&to->packet, 10, to->sequence);
    film_protobuf_number(&to->packet, 13, NEEDS_STATE);
    if (step->kind == FILM_STEP_ENTER) {
        uint32_t function =
            film_functions_number(&to->functions, recording, step->function);
        if (function == FILM_NO_FUNCTION) {
            return film_fail(error, FILM_NO_MEMORY, "not enough memory");
        }
        FILM_TRY(put_name_once(to, function, error));
        restart(to, &to->message);
        film_protobuf_number(&to->message, 9, SLICE_BEGIN);
        film_protobuf_number(&to->message, 10, function + 1u);
    }
    else {
        restart(to, &to->message);
        film_protobuf_number(&to->message, 9, SLICE_END);
        if (film_step_raised(step)) {
            put_exception(to, from->reader, step->event);
        }
    }
    film_protobuf_message(&to->packet, 11, &to->message);
    return put_packet(to, error);
}

static film_status
put_thread_steps(trace *to, size_t recording, uint32_t thread, film_error *error)
{
    film_activity *activity;
    film_step step;
    film_status status;

    FILM_TRY(film_activity_open(to->set, recording, thread, &activity, error));
    while ((status = film_activity_next(activity, &step, error)) == FILM_OK) {
        if (step.kind == FILM_STEP_EVENT) {
            continue;
        }
        status = put_step(to, recording, &step, error);
        if (status != FILM_OK) {
            film_activity_close(activity);
            return status;
        }
    }
    film_activity_close(activity);
    return status == FILM_END ? FILM_OK : status;
}

static film_status
put_all(trace *to, film_error *error)
{
    for (size_t i = 0; i < to->set->count; i++) {
        const film_reader *reader = to->set->items[i].reader;
        size_t threads = film_reader_thread_count(reader);
        /* Track ids: recording and thread, apart from any other track's id. */
        uint64_t uuid = (uint64_t)(i + 1) << 32;

        FILM_TRY(put_process(to, i, uuid, error));
        for (size_t k = 0; k < threads; k++) {
            uint32_t id = film_reader_thread(reader, k)->id;
            to->sequence++;
            FILM_TRY(put_thread(to, i, k, uuid + id, error));
            FILM_TRY(put_thread_steps(to, i, id, error));
        }
    }
    return FILM_OK;
}

film_status
film_export_perfetto(const film_recordings *set, film_output *output, film_error *error)
{
    trace to = {0};
    film_status status = film_functions_init(&to.functions, set, error);

    to.set = set;
    to.output = output;
    if (status == FILM_OK) {
        status = film_output_init(&to.name, -1, error);
        to.name.memory = &to.text;
    }
    if (status == FILM_OK) {
        status = put_all(&to, error);
    }
    film_output_reset(&to.name);
    film_buffer_reset(&to.packet);
    film_buffer_reset(&to.message);
    film_buffer_reset(&to.inner);
    film_buffer_reset(&to.text);
    film_free(to.sent);
    film_functions_reset(&to.functions);
    return status;
}
