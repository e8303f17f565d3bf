/* random.h: the same numbers in every run, small ones as often as large ones.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_TEST_RANDOM_H
#define FILMSTRIP_TEST_RANDOM_H

#include <stdint.h>

static uint64_t seed = 88172645463325252u;

static uint64_t
random_number(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed >> (seed & 63);
}

#endif
