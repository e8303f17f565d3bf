/* window.h: the mapped piece of the file that a stream's rows or records go to before
 * they are sealed into chunks.
 *
 *   0  u32 magic "FWIN"       4  u32 stream
 *   8  u64 generation         counts reuses; odd while the header is being set up
 *  16  u64 first              number of the first event or record in it
 *  24  u64 base_raw           raw clock before its first row
 *  32  u64 next_frame         serial of the first call in it
 *  40  u64 last_resumed       what the first resume in it is relative to
 *  48  u64 lost               events of the stream that were counted, not kept
 *  56  u64 lost_reason        film_lost_reason
 *  64  u64 committed          bytes after the header that count, stored with release
 *  72  u64 sequence           orders the windows of a stream
 *  80  up to 128: zero
 * 128  rows
 *
 * This struct is the one place where memory and file share a layout: it is mapped.
 * Little-endian 64-bit hosts only, which writer.c checks.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_WINDOW_H
#define FILMSTRIP_WINDOW_H

#include <stdatomic.h>
#include <stdint.h>

#define FILM_WINDOW_MAGIC 0x4e495746u /* "FWIN" */
#define FILM_WINDOW_HEADER 128u
#define FILM_WINDOW_BYTES (256u << 10)

/* Streams: threads are 1, 2, ...; the shared ones stand apart. */
#define FILM_STREAM_TABLE 0x80000001u /* strings, codes, threads */
#define FILM_STREAM_VALUE 0x80000002u /* value texts */

typedef enum film_lost_reason {
    FILM_LOST_NONE = 0,
    FILM_LOST_NO_SPACE = 1, /* disk, quota or file size limit */
    FILM_LOST_IO = 2,       /* the file could not be written */
    FILM_LOST_NO_MEMORY = 3,
    FILM_LOST_DAMAGED = 4, /* found by a reader */
    FILM_LOST_STOPPED = 5  /* the recorder gave up by itself */
} film_lost_reason;

/* A sentence for people: "the disk was full". */
const char *
film_lost_reason_text(uint64_t reason);

typedef struct film_window_header {
    uint32_t magic;
    uint32_t stream;
    _Atomic(uint64_t) generation;
    uint64_t first;
    uint64_t base_raw;
    uint64_t next_frame;
    uint64_t last_resumed;
    _Atomic(uint64_t) lost;
    _Atomic(uint64_t) lost_reason;
    _Atomic(uint64_t) committed;
    uint64_t sequence;
    uint8_t unused[FILM_WINDOW_HEADER - 80];
} film_window_header;

_Static_assert(sizeof(film_window_header) == FILM_WINDOW_HEADER, "window header");

static inline uint8_t *
film_window_rows(film_window_header *window)
{
    return (uint8_t *)window + FILM_WINDOW_HEADER;
}

#endif
