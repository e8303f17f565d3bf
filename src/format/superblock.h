/* superblock.h: the first 4 KiB of a recording.
 *
 *    0  magic "\x89FILM\r\n\x1a"        8  u16 major, u16 minor, u32 size (4096)
 *   16  uuid                           32  u64 pid
 *   40  u64 start, ns since the epoch  48  u64 start, CLOCK_MONOTONIC ns
 *   56  u64 arena bytes                64  u64 ring bytes (0: not a ring)
 *   72  u32 tick_ns, u32 python        80  u32 level, u32 flags (1: write fallback)
 *   88  u32 clock source, u32 shift    96  u64 window bytes
 *  104  u64 XXH3 of bytes 0 to 103     112 to 127 zero
 *  128  fields that change while recording, each an aligned u64 stored whole:
 *       128 moved_until   136 index_offset + 1  144 layout_generation  152 tail
 *       160 lost          168 stop_reason       176 overwritten        184 closed
 *       192 duration_ns   200 head              208 exit status + 1
 *  256  u64 number of time segments, then 64 slots of {raw, ns, ns a raw tick as
 *       32.32 fixed point}; segment i lies in slot i mod 64
 *
 * Behind it lies the arena (arena bytes, cut into windows), then the log of chunks.
 * A chunk's offset is logical, counted from the start of the log:
 *   plain   physical = 4096 + L                 if L <  moved_until
 *           physical = 4096 + arena + L         else
 *   ring    physical = 4096 + arena + L mod ring bytes
 * At a clean close the log slides down over the arena in steps of at most its size,
 * moved_until following, so the file is whole at every instant.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_SUPERBLOCK_H
#define FILMSTRIP_SUPERBLOCK_H

#include <stdint.h>

#include <filmstrip/status.h>

#include "format/timescale.h"

#define FILM_SUPERBLOCK_BYTES 4096u
#define FILM_SUPERBLOCK_WRITE_FALLBACK 1u

enum film_superblock_field {
    FILM_FIELD_MOVED_UNTIL = 128,
    FILM_FIELD_INDEX_OFFSET = 136, /* logical offset + 1; 0: none */
    FILM_FIELD_LAYOUT_GENERATION = 144,
    FILM_FIELD_TAIL = 152,
    FILM_FIELD_LOST = 160,
    FILM_FIELD_STOP_REASON = 168,
    FILM_FIELD_OVERWRITTEN = 176,
    FILM_FIELD_CLOSED = 184,
    FILM_FIELD_DURATION_NS = 192,
    FILM_FIELD_HEAD = 200,        /* logical end of the log */
    FILM_FIELD_EXIT_STATUS = 208, /* what exit() was given, + 1; 0: not known */
    FILM_FIELD_SEGMENTS = 256
};

typedef struct film_superblock {
    uint16_t major, minor;
    uint8_t uuid[16];
    uint64_t pid;
    uint64_t start_realtime_ns, start_monotonic_ns;
    uint64_t arena_bytes, ring_bytes, window_bytes;
    uint32_t tick_ns, python_version, level, flags;
    uint32_t clock_source, clock_shift;
    /* changing */
    uint64_t moved_until, index_offset, layout_generation, tail, lost, stop_reason,
        overwritten, closed, duration_ns, head, exit_status;
    film_timescale timescale;
} film_superblock;

/* Writes all 4,096 bytes. */
void
film_superblock_encode(const film_superblock *block, uint8_t *to);

/* FILM_NOT_A_FILM, FILM_UNSUPPORTED (message names the version needed),
 * FILM_TRUNCATED or FILM_CORRUPT. `length` is how many bytes there are. */
FILM_NODISCARD film_status
film_superblock_decode(film_superblock *block, const uint8_t *from, uint64_t length,
                       film_error *error);

/* Where a logical offset lies in the file; *contiguous tells for how many bytes the
 * two run in step (UINT64_MAX: to the end). */
uint64_t
film_superblock_physical(const film_superblock *block, uint64_t logical,
                         uint64_t *contiguous);

#endif
