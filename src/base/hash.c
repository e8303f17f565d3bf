/* hash.c: the only file that includes xxHash.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t
film_hash(const void *bytes, size_t length)
{
    return XXH3_64bits(bytes, length);
}
