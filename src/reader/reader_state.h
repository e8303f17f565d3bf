/* reader_state.h: what the reader's files share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_READER_STATE_H
#define FILMSTRIP_READER_STATE_H

#include <filmstrip/reader.h>

#include <string.h>

#include "format/keyframe.h"
#include "format/value_record.h"
#include "reader/damage.h"
#include "reader/directory.h"
#include "reader/loader.h"
#include "reader/source.h"
#include "reader/tables.h"
#include "reader/tracks.h"
#include "reader/windows.h"

/* Literal frames of keyframes that others refer to. */
#define FILM_LITERALS 16u
/* Frames kept in all of them together (64 MiB). */
#define FILM_LITERAL_BUDGET ((size_t)1 << 20)

typedef struct film_literals {
    film_frame *frames; /* owned */
    size_t count, capacity;
    uint32_t thread; /* 0: free */
    uint64_t number; /* of the chunk in its thread */
    uint64_t used;   /* when, by film_reader.clock */
} film_literals;

/* Unpacked VALUE chunks, and how many bytes of them are kept at most but for one. */
#define FILM_VALUE_CHUNKS 250u
#define FILM_VALUE_CACHE_BYTES ((size_t)64 << 20)

typedef struct film_value_index {
    uint32_t *offsets; /* owned; where each record begins */
    size_t count, capacity;
} film_value_index;

typedef struct film_value_chunk {
    film_buffer raw;
    film_value_index index;
    uint64_t first; /* id of its first record */
    size_t place;   /* in film_reader.values, + 1; 0: free */
    size_t bytes;   /* of memory */
    uint64_t used;
} film_value_chunk;

/* What objects were, by the id of their record: programs name few objects often, and
 * the records lie far back. */
#define FILM_OBJECT_HEADS 65536u

typedef struct film_object_head {
    uint64_t id; /* + 1; 0: free */
    uint64_t serial;
    uint32_t type;
    bool is_object;      /* else it is a record of another value */
    bool is_plain;       /* its text is <Name #serial> */
    bool has_attributes; /* the record tells them */
    bool shows_all;      /* its text shows whatever attributes it has */
    bool is_fixed;       /* a tuple or frozenset without objects in it */
    bool is_tensor;
} film_object_head;

static inline bool
film_text_is(film_text text, const char *other, size_t length)
{
    return text.length == length && memcmp(text.data, other, length) == 0;
}

/* See film_renderer.renew (render.h). `held`: an attribute that is shown as it is by now
 * holds the object, or holds what holds it. */
typedef void
film_record_renewer(void *context, uint64_t id, film_value_record *record, bool held);

/* See film_reader_tell_tensors_by (render.h). `text`: string id of what it is; version: as
 * in film_tensor. */
typedef bool
film_tensor_teller(void *context, uint64_t serial, uint32_t text, int64_t version);

struct film_reader {
    film_record_renewer *renew;       /* what texts are made with; NULL: as recorded */
    void *renew_context;              /* borrowed */
    film_tensor_teller *tells_tensor; /* NULL: texts tell what each tensor is */
    void *tells_context;              /* borrowed */
    film_file file;
    film_loader loader;
    film_directory directory;
    film_tables tables;
    film_windows windows;
    film_tracks tracks;
    film_damages damages;
    film_info info;
    size_t tables_read; /* chunks of the directory already looked at for tables */
    uint32_t *values;   /* owned; VALUE chunks in the directory, by first record */
    size_t value_count;
    uint8_t *value_places; /* owned; for each of them: index in value_chunks + 1 */
    film_value_chunk *value_chunk; /* borrowed; the one used last, or NULL */
    size_t value_bytes;            /* of all unpacked ones */
    uint64_t values_unpacked;      /* counts them, for tests */
    uint64_t **serials; /* owned; for each of them its records' serials, or NULL */
    size_t serials_count, serials_bytes;
    film_value_index *value_windows; /* owned; one a window of values, NULL: not made */
    size_t value_window_count;
    uint32_t *sources; /* owned; SOURCE chunks in the directory */
    size_t source_count;
    uint64_t generation; /* counts loads: cursors notice a new one */
    uint64_t clock;      /* counts uses of the caches */
    film_literals literals[FILM_LITERALS];
    film_frame *unknown_frames; /* owned; stand-ins for frames that are lost */
    film_value_chunk value_chunks[FILM_VALUE_CHUNKS];
    film_object_head object_heads[FILM_OBJECT_HEADS];
    film_buffer rendered; /* what film_reader_event_value gave last */
    film_buffer items;    /* records whose items are being rendered, innermost last */
    film_buffer keyframe, reference; /* scratch: a keyframe, and one it refers to */
    film_buffer scratch;             /* an unpacked payload */
    film_buffer text;                /* what film_reader_value or _source gave last */
    film_buffer tensor;              /* what film_reader_tensor gave last */
};

/* Notes that a chunk, the one with that index in the directory, is damaged. */
void
film_reader_note(film_reader *reader, const film_chunk_info *chunk, size_t number,
                 const char *why);

/* values.c: the place in film_reader.values of the chunk that has this record;
 * value_count: none has. */
size_t
film_reader_value_place(const film_reader *reader, uint64_t id);

/* serials.c: the serials of the records of the chunk at a place of film_reader.values,
 * one for each; 0: no object. Borrowed until the next call. */
FILM_NODISCARD film_status
film_reader_serials(film_reader *reader, size_t place, const uint64_t **out,
                    film_error *error);

/* The serial of the object that a record is of; 0: none. */
uint64_t
film_reader_serial(film_reader *reader, uint64_t id);

void
film_reader_forget_serials(film_reader *reader);

/* keyframes.c: sets `state` (begun for its thread) to the keyframe of the chunk just
 * loaded. Frames that lie in a damaged chunk become frames without code. */
FILM_NODISCARD film_status
film_reader_keyframe(film_reader *reader, const film_track *track,
                     const film_chunk_info *chunk, film_state *state);

void
film_reader_forget_keyframes(film_reader *reader);

/* The keyframe of a thread's chunk as it was written, unpacked into `out`. FILM_END:
 * there is no such chunk, or it has none. */
FILM_NODISCARD film_status
film_reader_raw_keyframe(film_reader *reader, uint32_t thread, uint64_t number,
                         film_buffer *out);

/* kind_counts.c: appends a chunk's summary to `out`; *length is 0 where it cannot be
 * read. FILM_NO_MEMORY. */
FILM_NODISCARD film_status
film_reader_summary(film_reader *reader, const film_chunk_info *chunk, film_buffer *out,
                    size_t *length);

/* values.c */
FILM_NODISCARD film_status
film_reader_list_values(film_reader *reader);

void
film_reader_forget_values(film_reader *reader);

/* The value record with that id; it borrows until the next one is asked for. */
FILM_NODISCARD film_status
film_reader_record(film_reader *reader, uint64_t id, film_value_record *out,
                   film_error *error);

#endif
