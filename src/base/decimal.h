/* decimal.h: numbers as decimal digits.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_DECIMAL_H
#define FILMSTRIP_DECIMAL_H

#include <stdint.h>

/* Digits of the longest number. */
#define FILM_DECIMAL_MAX 20

/* Decimal digits of `number` at `to`, which has room for them; returns their end. */
char *
film_format_u64(char *to, uint64_t number);

#endif
