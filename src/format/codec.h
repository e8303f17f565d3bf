/* codec.h: compression of keyframes and payloads (zstd).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_CODEC_H
#define FILMSTRIP_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include <filmstrip/status.h>

#include "base/buffer.h"

typedef struct film_packer film_packer;     /* owns a compression context */
typedef struct film_unpacker film_unpacker; /* owns a decompression context */

film_packer *
film_packer_new(void);

void
film_packer_free(film_packer *packer);

/* Appends the packed bytes to `out`. FILM_NO_MEMORY leaves out as it was. */
FILM_NODISCARD film_status
film_pack(film_packer *packer, const uint8_t *raw, size_t length, film_buffer *out);

film_unpacker *
film_unpacker_new(void);

void
film_unpacker_free(film_unpacker *unpacker);

/* Replaces out's content by exactly `raw_length` bytes; FILM_CORRUPT when the packed
 * bytes say otherwise. codec is a FILM_CODEC_... */
FILM_NODISCARD film_status
film_unpack(film_unpacker *unpacker, uint8_t codec, const uint8_t *packed,
            size_t length, size_t raw_length, film_buffer *out);

#endif
