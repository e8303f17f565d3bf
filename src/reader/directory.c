/* directory.c: see directory.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reader/directory.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"

/* A header, rounded up. */
#define SHORTEST_CHUNK 192u
#define SCAN_BYTES ((size_t)64 << 10)

void
film_directory_reset(film_directory *directory)
{
    film_free(directory->chunks);
    memset(directory, 0, sizeof(*directory));
}

static film_chunk_info *
add(film_directory *directory)
{
    film_chunk_info *chunks = film_grow(directory->chunks, &directory->capacity,
                                        directory->count + 1, sizeof(*chunks));

    if (chunks == NULL) {
        return NULL;
    }
    directory->chunks = chunks;
    memset(&chunks[directory->count], 0, sizeof(*chunks));
    return &chunks[directory->count++];
}

static film_status
add_entry(film_directory *directory, const film_file *file,
          const film_index_entry *entry)
{
    film_chunk_info *info = add(directory);

    if (info == NULL) {
        return FILM_NO_MEMORY;
    }
    info->offset = entry->offset;
    info->number = entry->number;
    info->first = entry->first;
    info->first_ns = entry->first_tick * file->block.tick_ns;
    info->last_ns = entry->last_tick * file->block.tick_ns;
    info->lost = entry->lost;
    info->flow_digest = entry->flow_digest;
    info->value_digest = entry->value_digest;
    info->op_digest = entry->op_digest;
    info->stream = entry->stream;
    info->count = entry->count;
    info->stored_bytes = (uint32_t)entry->span;
    info->type = entry->type;
    return FILM_OK;
}

static bool
is_known(uint8_t type)
{
    return type >= FILM_CHUNK_META && type <= FILM_CHUNK_INDEX;
}

static film_status
refuse_unknown(const film_chunk_header *header, uint64_t offset, film_error *error)
{
    if (!is_known(header->type) && (header->flags & FILM_CHUNK_CRITICAL) != 0) {
        return film_fail_at(error, FILM_UNSUPPORTED, offset,
                            "the recording has a chunk of type %u, which it cannot be "
                            "read without: a newer filmstrip is needed",
                            header->type);
    }
    return FILM_OK;
}

static film_status
read_header(const film_file *file, uint64_t offset, film_chunk_header *header)
{
    uint8_t bytes[FILM_CHUNK_HEADER];

    FILM_TRY(film_file_read(file, offset, bytes, sizeof(bytes)));
    return film_chunk_decode(header, bytes);
}

static film_status
add_header(film_directory *directory, const film_file *file,
           const film_chunk_header *header, uint64_t offset, film_error *error)
{
    film_index_entry entry;

    FILM_TRY(refuse_unknown(header, film_file_physical(file, offset), error));
    film_index_entry_of(&entry, header, offset);
    if (add_entry(directory, file, &entry) != FILM_OK) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    if (header->clock_ns > directory->last_clock) {
        directory->last_clock = header->clock_ns;
    }
    directory->end = offset + entry.span;
    return FILM_OK;
}

/* Takes the entries over, if each lies behind the one before. */
static film_status
take_entries(film_directory *directory, const film_file *file, const film_buffer *raw,
             uint64_t index_offset, film_error *error)
{
    uint64_t end = 0;

    for (size_t at = 0; at < raw->length; at += FILM_INDEX_ENTRY) {
        film_chunk_header header;
        film_index_entry entry;
        film_index_entry_decode(&entry, raw->data + at);
        if (entry.offset < end || entry.span < SHORTEST_CHUNK ||
            entry.span > UINT32_MAX || entry.offset > index_offset ||
            entry.span > index_offset - entry.offset) {
            return FILM_CORRUPT;
        }
        end = entry.offset + entry.span;
        if (file->block.ring_bytes != 0 && entry.offset < file->block.tail) {
            continue; /* ring mode has dropped it since */
        }
        if (!is_known(entry.type) &&
            read_header(file, entry.offset, &header) == FILM_OK) {
            FILM_TRY(
                refuse_unknown(&header, film_file_physical(file, entry.offset), error));
        }
        FILM_TRY(add_entry(directory, file, &entry));
    }
    return FILM_OK;
}

/* FILM_CORRUPT leaves the directory empty: then it is walked. */
static film_status
load_index(film_directory *directory, film_loader *loader, film_error *error)
{
    const film_file *file = loader->file;
    uint64_t offset = file->block.index_offset - 1;
    film_chunk_header header;
    film_index_entry entry;
    film_directory itself = {0};
    film_buffer raw = {0};
    film_status status = read_header(file, offset, &header);

    if (status != FILM_OK || header.type != FILM_CHUNK_INDEX) {
        return status == FILM_IO ? FILM_IO : FILM_CORRUPT;
    }
    if (header.payload_raw % FILM_INDEX_ENTRY != 0) {
        return FILM_CORRUPT;
    }
    film_index_entry_of(&entry, &header, offset);
    status = add_entry(&itself, file, &entry);
    if (status == FILM_OK) {
        status = film_loader_load(loader, itself.chunks);
    }
    if (status == FILM_OK) {
        status = film_loader_payload(loader, &raw);
    }
    if (status == FILM_OK) {
        status = take_entries(directory, file, &raw, offset, error);
    }
    if (status == FILM_OK) {
        status = add_header(directory, file, &header, offset, error);
    }
    if (status != FILM_OK) {
        film_directory_reset(directory);
    }
    film_buffer_reset(&raw);
    film_directory_reset(&itself);
    return status == FILM_TRUNCATED ? FILM_CORRUPT : status;
}

/* Holes hold no chunks: moves *at over the one it stands in. */
static void
skip_hole(const film_file *file, uint64_t *at)
{
    uint64_t contiguous;
    uint64_t physical = film_superblock_physical(&file->block, *at, &contiguous);
    uint64_t skipped = film_file_next_data(file, physical) - physical;

    if (skipped > contiguous) {
        skipped = contiguous;
    }
    *at += skipped & ~(uint64_t)(FILM_CHUNK_ALIGN - 1);
}

/* The first good header in [from, end). */
static film_status
scan(const film_file *file, uint64_t from, uint64_t end, uint64_t *found)
{
    uint8_t *bytes = film_alloc(SCAN_BYTES + FILM_CHUNK_HEADER);
    film_status status = bytes == NULL ? FILM_NO_MEMORY : FILM_END;
    film_chunk_header header;

    while (status == FILM_END && from < end && end - from >= FILM_CHUNK_HEADER) {
        size_t length;
        skip_hole(file, &from);
        if (from >= end || end - from < FILM_CHUNK_HEADER) {
            break;
        }
        length = end - from < SCAN_BYTES + FILM_CHUNK_HEADER
                     ? (size_t)(end - from)
                     : SCAN_BYTES + FILM_CHUNK_HEADER;
        if (film_file_read(file, from, bytes, length) != FILM_OK) {
            break; /* cut meanwhile */
        }
        for (size_t at = 0; at < SCAN_BYTES && at + FILM_CHUNK_HEADER <= length;
             at += FILM_CHUNK_ALIGN) {
            if (film_get_u32(bytes + at) == FILM_CHUNK_MAGIC &&
                film_chunk_decode(&header, bytes + at) == FILM_OK) {
                *found = from + at;
                status = FILM_OK;
                break;
            }
        }
        from += SCAN_BYTES;
    }
    film_free(bytes);
    return status;
}

/* Beyond what the superblock calls the head of a ring the bytes may be those of an
 * earlier round: only what was sealed later than all before it belongs here. What is
 * left out wrongly is still in its window. */
static bool
is_stale(const film_directory *directory, const film_file *file,
         const film_chunk_header *header, uint64_t offset)
{
    const film_superblock *block = &file->block;

    if (block->ring_bytes == 0) {
        return false;
    }
    if (offset + film_chunk_span(header) > block->tail + block->ring_bytes) {
        return true;
    }
    return offset >= block->head && (header->type != FILM_CHUNK_EVENT ||
                                     header->clock_ns < directory->last_clock);
}

/* What stands at directory->end is no header. Finds the next one, or FILM_END. */
static film_status
pass_damage(film_directory *directory, const film_file *file, film_status what,
            film_damages *damages, film_error *error)
{
    const film_superblock *block = &file->block;
    uint64_t end = block->ring_bytes != 0 ? block->head : film_file_logical_end(file);
    uint64_t from = directory->end, to = end;
    film_chunk_info *hole;
    film_status status;

    /* Behind the head zeros are the log's end, and other bytes a chunk that was being
     * written when its process died: its events are still in their windows. */
    if (from >= end || (from >= block->head && what == FILM_END)) {
        return FILM_END;
    }
    status = scan(file, from + FILM_CHUNK_ALIGN, end, &to);
    if (status == FILM_NO_MEMORY) {
        return film_fail(error, status, "memory ran out");
    }
    if (status == FILM_END && from >= block->head) {
        return FILM_END;
    }
    film_damages_note(damages, directory->count, film_file_physical(file, from),
                      "its header is not readable");
    hole = add(directory);
    if (hole == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    hole->offset = from;
    hole->stored_bytes = to - from > UINT32_MAX ? UINT32_MAX : (uint32_t)(to - from);
    hole->type = FILM_CHUNK_UNREADABLE;
    directory->end = to;
    return status;
}

/* A chunk behind the head may be torn: it counts once all of it is there. */
static bool
is_torn(film_loader *loader, const film_chunk_header *header, uint64_t offset)
{
    film_directory one = {0};
    film_index_entry entry;
    bool torn = false;

    film_index_entry_of(&entry, header, offset);
    if (header->type != FILM_CHUNK_WINDOWS &&
        add_entry(&one, loader->file, &entry) == FILM_OK) {
        film_status status = film_loader_load(loader, one.chunks);
        torn = status == FILM_CORRUPT || status == FILM_TRUNCATED;
    }
    film_directory_reset(&one);
    return torn;
}

static film_status
walk(film_directory *directory, film_loader *loader, film_damages *damages,
     film_error *error)
{
    const film_file *file = loader->file;

    for (;;) {
        film_chunk_header header;
        uint64_t offset = directory->end;
        film_status status = offset >= film_file_logical_end(file)
                                 ? FILM_END
                                 : read_header(file, offset, &header);
        if (status == FILM_IO) {
            return film_fail(error, FILM_IO,
                             "the recording cannot be read at byte %" PRIu64,
                             film_file_physical(file, offset));
        }
        if (status == FILM_OK) {
            if (is_stale(directory, file, &header, offset) ||
                (file->block.closed == 0 && offset >= file->block.head &&
                 is_torn(loader, &header, offset))) {
                return FILM_OK;
            }
            FILM_TRY(add_header(directory, file, &header, offset, error));
            continue;
        }
        status = pass_damage(directory, file, status, damages, error);
        if (status == FILM_END) {
            return FILM_OK;
        }
        FILM_TRY(status);
    }
}

/* A closed recording tells where its log ended. */
static void
note_cut(const film_directory *directory, const film_file *file, film_damages *damages)
{
    if (file->block.closed != 0 && directory->end < file->block.head) {
        film_damages_note(damages, directory->count,
                          film_file_physical(file, directory->end),
                          "the file ends too early");
    }
}

/* Only a ring has a tail; elsewhere a number there is damage. */
static uint64_t
log_begin(const film_file *file)
{
    return file->block.ring_bytes != 0 ? file->block.tail : 0;
}

film_status
film_directory_load(film_directory *directory, film_loader *loader,
                    film_damages *damages, film_error *error)
{
    const film_file *file = loader->file;
    film_status status;

    loader->listed = file->block;
    while (directory->count > 0 &&
           directory->chunks[directory->count - 1].type == FILM_CHUNK_UNREADABLE) {
        directory->end = directory->chunks[--directory->count].offset;
    }
    if (directory->count == 0) {
        directory->end = log_begin(file);
        if (file->block.index_offset != 0) {
            status = load_index(directory, loader, error);
            if (status == FILM_CORRUPT) {
                directory->end = log_begin(file);
                film_damages_note(
                    damages, FILM_DAMAGED_INDEX,
                    film_file_physical(file, file->block.index_offset - 1),
                    "the chunks were found by walking the log");
            }
            else if (status != FILM_OK) {
                return status == FILM_UNSUPPORTED
                           ? status
                           : film_fail(error, status, "the index cannot be read");
            }
        }
    }
    FILM_TRY(walk(directory, loader, damages, error));
    note_cut(directory, file, damages);
    return FILM_OK;
}
