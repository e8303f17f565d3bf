/* decimal.c: see decimal.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/decimal.h"

#include <string.h>

/* "00", "01", ... "99": two digits a step halves the divisions. */
static const char digit_pairs[] = "00010203040506070809"
                                  "10111213141516171819"
                                  "20212223242526272829"
                                  "30313233343536373839"
                                  "40414243444546474849"
                                  "50515253545556575859"
                                  "60616263646566676869"
                                  "70717273747576777879"
                                  "80818283848586878889"
                                  "90919293949596979899";

static unsigned
count_digits(uint64_t number)
{
    unsigned digits = 1;

    for (;;) {
        if (number < 10) {
            return digits;
        }
        if (number < 100) {
            return digits + 1;
        }
        if (number < 1000) {
            return digits + 2;
        }
        if (number < 10000) {
            return digits + 3;
        }
        number /= 10000;
        digits += 4;
    }
}

char *
film_format_u64(char *to, uint64_t number)
{
    char *end = to + count_digits(number);
    char *at = end;

    while (number >= 100) {
        at -= 2;
        memcpy(at, digit_pairs + 2 * (number % 100), 2);
        number /= 100;
    }
    if (number >= 10) {
        memcpy(at - 2, digit_pairs + 2 * number, 2);
    }
    else {
        at[-1] = (char)('0' + number);
    }
    return end;
}
