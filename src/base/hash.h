/* hash.h: XXH3, the one checksum and hash of the project (xxHash, header only).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_HASH_H
#define FILMSTRIP_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t
film_hash(const void *bytes, size_t length);

/* Mixes `word` into a running digest; cheap enough for every event. */
static inline uint64_t
film_digest_mix(uint64_t digest, uint64_t word)
{
    digest = (digest ^ word) * 0x9E3779B97F4A7C15u;
    return digest ^ (digest >> 29);
}

#endif
