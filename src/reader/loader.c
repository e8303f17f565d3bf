/* loader.c: see loader.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reader/loader.h"

#include <string.h>

#include "base/hash.h"

/* No chunk is longer: header and the greatest parts its bounds allow. */
#define GREATEST_CHUNK                                                                 \
    (FILM_CHUNK_HEADER + FILM_CHUNK_MAX_SUMMARY + 2 * FILM_CHUNK_MAX_RAW +             \
     FILM_CHUNK_ALIGN)

/* A header, rounded up. */
#define SHORTEST_CHUNK 192u
/* 5.9 million chunks, some 10^11 events. */
#define GREATEST_INDEX ((uint32_t)512 << 20)

/* A log that slides down at close changes its layout some ten times in all. */
#define MOST_TRIES 64u

film_status
film_loader_init(film_loader *loader, film_file *file)
{
    memset(loader, 0, sizeof(*loader));
    loader->file = file;
    loader->why = "";
    loader->unpacker = film_unpacker_new();
    return loader->unpacker == NULL ? FILM_NO_MEMORY : FILM_OK;
}

void
film_loader_reset(film_loader *loader)
{
    film_unpacker_free(loader->unpacker);
    film_buffer_reset(&loader->stored);
    memset(loader, 0, sizeof(*loader));
    loader->why = "";
}

static film_status
fail(film_loader *loader, film_status status, const char *why)
{
    loader->why = why;
    return status;
}

/* Headers and directory must tell the same story. */
static bool
matches(const film_chunk_header *header, const film_chunk_info *info)
{
    return header->type == info->type && header->stream == info->stream &&
           header->first == info->first && header->count == info->count &&
           header->number == info->number &&
           film_chunk_span(header) == info->stored_bytes;
}

static film_status
check_sums(film_loader *loader)
{
    const film_chunk_header *header = &loader->header;
    const uint8_t *summary = loader->stored.data + FILM_CHUNK_HEADER;
    const uint8_t *packed = summary + header->summary_bytes;

    if (film_hash(summary, header->summary_bytes) != header->summary_hash) {
        return fail(loader, FILM_CORRUPT, "the checksum of its summary does not match");
    }
    if (film_hash(packed, (size_t)header->keyframe_stored + header->payload_stored) !=
        header->payload_hash) {
        return fail(loader, FILM_CORRUPT, "checksum does not match");
    }
    return FILM_OK;
}

/* A file may have been cut in a chunk's padding, which nobody needs: how many bytes of
 * it are missing. */
static size_t
missing_padding(const film_file *file, const film_chunk_info *info)
{
    uint64_t end = film_file_physical(file, info->offset) + info->stored_bytes;

    return end > file->bytes && end - file->bytes < FILM_CHUNK_ALIGN
               ? (size_t)(end - file->bytes)
               : 0;
}

/* Of windows only the header is of use: they may be large. */
static film_status
load_windows(film_loader *loader, const film_chunk_info *info)
{
    film_buffer *stored = &loader->stored;
    film_chunk_header *header = &loader->header;

    film_buffer_clear(stored);
    if (film_buffer_reserve(stored, FILM_CHUNK_HEADER) == NULL) {
        return FILM_NO_MEMORY;
    }
    FILM_TRY(
        film_file_read(loader->file, info->offset, stored->data, FILM_CHUNK_HEADER));
    stored->length = FILM_CHUNK_HEADER;
    if (film_chunk_decode(header, stored->data) != FILM_OK ||
        header->summary_bytes != 0 || header->keyframe_stored != 0) {
        return fail(loader, FILM_CORRUPT, "its header is not readable");
    }
    return matches(header, info)
               ? FILM_OK
               : fail(loader, FILM_CORRUPT, "its header contradicts the index");
}

static film_status
load_once(film_loader *loader, const film_chunk_info *info)
{
    film_buffer *stored = &loader->stored;
    size_t missing = missing_padding(loader->file, info);
    film_status status;

    if (info->type == FILM_CHUNK_WINDOWS) {
        return load_windows(loader, info);
    }
    film_buffer_clear(stored);
    if (info->stored_bytes < FILM_CHUNK_HEADER || info->stored_bytes > GREATEST_CHUNK) {
        return fail(loader, FILM_CORRUPT, "its header is not readable");
    }
    if (info->stored_bytes > loader->file->bytes) {
        return fail(loader, FILM_TRUNCATED, "the file ends in it");
    }
    if (film_buffer_reserve(stored, info->stored_bytes) == NULL) {
        return FILM_NO_MEMORY;
    }
    status = film_file_read(loader->file, info->offset, stored->data,
                            info->stored_bytes - missing);
    if (status != FILM_OK) {
        return fail(loader, status,
                    status == FILM_TRUNCATED ? "the file ends in it"
                                             : "it cannot be read");
    }
    memset(stored->data + info->stored_bytes - missing, 0, missing);
    stored->length = info->stored_bytes;
    if (film_chunk_decode(&loader->header, stored->data) != FILM_OK) {
        return fail(loader, FILM_CORRUPT, "its header is not readable");
    }
    if (!matches(&loader->header, info)) {
        return fail(loader, FILM_CORRUPT, "its header contradicts the index");
    }
    return check_sums(loader);
}

static bool
same_layout(const film_superblock *a, const film_superblock *b)
{
    return a->moved_until == b->moved_until &&
           a->layout_generation == b->layout_generation;
}

/* A recording that was closed after its directory was read may have left windows out:
 * then its chunks lie elsewhere. Gives where this one is now; false: nowhere. */
static bool
find_again(const film_loader *loader, film_chunk_info *info)
{
    const film_file *file = loader->file;
    uint64_t offset = 0;

    if (same_layout(&loader->listed, &file->block) || file->block.ring_bytes != 0) {
        return false;
    }
    while (offset < file->block.head) {
        uint8_t bytes[FILM_CHUNK_HEADER];
        film_chunk_header header;

        if (film_file_read(file, offset, bytes, sizeof(bytes)) != FILM_OK ||
            film_chunk_decode(&header, bytes) != FILM_OK) {
            return false;
        }
        if (matches(&header, info)) {
            bool moved = info->offset != offset;
            info->offset = offset;
            return moved;
        }
        offset += film_chunk_span(&header);
    }
    return false;
}

film_status
film_loader_load(film_loader *loader, const film_chunk_info *wanted)
{
    film_status status = FILM_OK;
    film_chunk_info copy = *wanted, *info = &copy;

    loader->overwritten = false;
    loader->why = "";
    for (unsigned i = 0; i < MOST_TRIES; i++) {
        film_superblock before = loader->file->block;
        status = load_once(loader, info);
        if (status != FILM_CORRUPT && status != FILM_TRUNCATED) {
            return status;
        }
        /* Perhaps the file was closed or the ring went on just now. */
        if (film_file_look(loader->file, NULL) != FILM_OK) {
            return status;
        }
        if (before.ring_bytes != 0 && loader->file->block.tail > info->offset) {
            loader->overwritten = true;
            return fail(loader, status, "ring mode has overwritten it meanwhile");
        }
        if (!find_again(loader, info) && same_layout(&before, &loader->file->block)) {
            return status;
        }
    }
    return status;
}

static film_status
unpack(film_loader *loader, size_t at, size_t stored, size_t raw, film_buffer *out)
{
    film_status status;

    if (at + stored > loader->stored.length) {
        return fail(loader, FILM_CORRUPT, "its header is not readable");
    }
    status = film_unpack(loader->unpacker, loader->header.codec,
                         loader->stored.data + at, stored, raw, out);
    if (status == FILM_NO_MEMORY) {
        return status;
    }
    if (status == FILM_UNSUPPORTED) {
        return fail(loader, status, "its codec needs a newer filmstrip");
    }
    return status == FILM_OK ? FILM_OK
                             : fail(loader, FILM_CORRUPT, "it cannot be unpacked");
}

film_status
film_loader_keyframe(film_loader *loader, film_buffer *out)
{
    const film_chunk_header *header = &loader->header;

    return unpack(loader, (size_t)FILM_CHUNK_HEADER + header->summary_bytes,
                  header->keyframe_stored, header->keyframe_raw, out);
}

film_status
film_loader_payload(film_loader *loader, film_buffer *out)
{
    const film_chunk_header *header = &loader->header;
    uint64_t chunks = loader->file->bytes / SHORTEST_CHUNK + 1;

    /* Only an index may be larger than other chunks, as large as its file gives cause
     * for. */
    if (header->payload_raw > FILM_CHUNK_MAX_RAW &&
        (header->payload_raw > chunks * FILM_INDEX_ENTRY ||
         header->payload_raw > GREATEST_INDEX)) {
        return fail(loader, FILM_CORRUPT, "it cannot be unpacked");
    }

    return unpack(loader,
                  (size_t)FILM_CHUNK_HEADER + header->summary_bytes +
                      header->keyframe_stored,
                  header->payload_stored, header->payload_raw, out);
}

const uint8_t *
film_loader_summary(const film_loader *loader, size_t *length)
{
    *length = loader->header.summary_bytes;
    return loader->stored.data + FILM_CHUNK_HEADER;
}
