/* film_mutator.c: changes recordings so that they stay readable up to the change.
 *
 * Checksums and compression keep a blind mutator out: nearly every change is found at
 * the first check, and nothing behind it is ever tried. This one takes a chunk apart,
 * lets libFuzzer change one of its parts (header, summary, keyframe, payload, all
 * unpacked), puts it back stored without compression and with the checksums it should
 * have. One change in eight is a blind one.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/hash.h"
#include "format/chunk.h"
#include "format/codec.h"
#include "format/superblock.h"

#define MAX_CHUNKS 256u
#define SUPERBLOCK_HASHED 104u /* bytes in front of the superblock's checksum */
#define CHUNK_HASHED 156u

size_t
LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

static uint32_t
next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Where chunks begin, as the bytes tell; gives how many. */
static size_t
find_chunks(const uint8_t *data, size_t size, size_t *places)
{
    size_t count = 0;
    film_chunk_header header;

    for (size_t at = FILM_SUPERBLOCK_BYTES;
         at + FILM_CHUNK_HEADER <= size && count < MAX_CHUNKS; at += FILM_CHUNK_ALIGN) {
        if (film_chunk_decode(&header, data + at) == FILM_OK &&
            film_chunk_span(&header) <= size - at) {
            places[count++] = at;
        }
    }
    return count;
}

static size_t
mutate_superblock(uint8_t *data, size_t size, uint32_t *state)
{
    size_t at = next_random(state) % 448;

    (void)LLVMFuzzerMutate(data + at, 8, 8);
    if (at < SUPERBLOCK_HASHED + 8) {
        film_put_u64(data + SUPERBLOCK_HASHED, film_hash(data, SUPERBLOCK_HASHED));
    }
    return size;
}

/* Changes some bytes of a header and makes its checksum right again. */
static size_t
mutate_header(uint8_t *data, size_t size, size_t at, uint32_t *state)
{
    size_t field = 6 + next_random(state) % (CHUNK_HASHED - 14);

    (void)LLVMFuzzerMutate(data + at + field, 8, 8);
    film_put_u32(data + at + CHUNK_HASHED,
                 (uint32_t)film_hash(data + at, CHUNK_HASHED));
    return size;
}

static size_t
pad(size_t length)
{
    return (length + FILM_CHUNK_ALIGN - 1) / FILM_CHUNK_ALIGN * FILM_CHUNK_ALIGN;
}

/* Takes the chunk at `at` apart, changes one part, puts it back; 0 if it cannot. */
static size_t
mutate_part(uint8_t *data, size_t size, size_t max_size, size_t at, uint32_t *state)
{
    static film_unpacker *unpacker;
    film_chunk_header header;
    film_buffer keyframe = {0}, payload = {0};
    uint8_t *parts[3];
    size_t lengths[3], capacity, total, old, new_size = 0;
    uint8_t *chunk = NULL;
    uint32_t which = next_random(state) % 4;

    if (unpacker == NULL) {
        unpacker = film_unpacker_new();
    }
    if (film_chunk_decode(&header, data + at) != FILM_OK ||
        header.payload_raw > FILM_CHUNK_MAX_RAW) {
        return 0;
    }
    old = (size_t)film_chunk_span(&header);
    const uint8_t *packed = data + at + FILM_CHUNK_HEADER + header.summary_bytes;
    if (film_unpack(unpacker, header.codec, packed, header.keyframe_stored,
                    header.keyframe_raw, &keyframe) != FILM_OK ||
        film_unpack(unpacker, header.codec, packed + header.keyframe_stored,
                    header.payload_stored, header.payload_raw, &payload) != FILM_OK) {
        goto done;
    }
    capacity = FILM_CHUNK_HEADER + header.summary_bytes + keyframe.length +
               payload.length + 256;
    chunk = calloc(1, pad(capacity));
    if (chunk == NULL) {
        goto done;
    }
    parts[0] = data + at + FILM_CHUNK_HEADER;
    parts[1] = keyframe.data;
    parts[2] = payload.data;
    lengths[0] = header.summary_bytes;
    lengths[1] = keyframe.length;
    lengths[2] = payload.length;
    total = FILM_CHUNK_HEADER;
    for (uint32_t part = 0; part < 3; part++) {
        if (lengths[part] > 0) {
            memcpy(chunk + total, parts[part], lengths[part]);
        }
        /* The payload is most of a chunk: it is chosen twice as often. */
        if (part == (which > 2 ? 2 : which)) {
            lengths[part] =
                LLVMFuzzerMutate(chunk + total, lengths[part], lengths[part] + 64);
        }
        total += lengths[part];
    }
    header.codec = FILM_CODEC_NONE;
    header.summary_bytes = (uint32_t)lengths[0];
    header.keyframe_stored = header.keyframe_raw = (uint32_t)lengths[1];
    header.payload_stored = header.payload_raw = (uint32_t)lengths[2];
    header.summary_hash = film_hash(chunk + FILM_CHUNK_HEADER, lengths[0]);
    header.payload_hash =
        film_hash(chunk + FILM_CHUNK_HEADER + lengths[0], lengths[1] + lengths[2]);
    film_chunk_encode(&header, chunk);
    if (size - old + pad(total) <= max_size) {
        memmove(data + at + pad(total), data + at + old, size - at - old);
        memcpy(data + at, chunk, pad(total));
        new_size = size - old + pad(total);
    }

done:
    film_buffer_reset(&keyframe);
    film_buffer_reset(&payload);
    free(chunk);
    return new_size;
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    static size_t places[MAX_CHUNKS];
    uint32_t state = seed;
    uint32_t choice = next_random(&state) % 8;
    size_t count, at, changed = 0;

    if (size < FILM_SUPERBLOCK_BYTES || choice == 0) {
        return LLVMFuzzerMutate(data, size, max_size);
    }
    if (choice == 1) {
        return mutate_superblock(data, size, &state);
    }
    count = find_chunks(data, size, places);
    if (count == 0) {
        return LLVMFuzzerMutate(data, size, max_size);
    }
    at = places[next_random(&state) % count];
    if (choice == 2) {
        return mutate_header(data, size, at, &state);
    }
    if (choice == 3) {
        /* Without its index a recording is scanned: another way to read it. */
        film_put_u64(data + FILM_FIELD_INDEX_OFFSET, 0);
    }
    changed = mutate_part(data, size, max_size, at, &state);
    return changed != 0 ? changed : LLVMFuzzerMutate(data, size, max_size);
}
