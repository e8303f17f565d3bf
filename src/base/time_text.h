/* time_text.h: times as people type them, in every form that our output has them:
 * 0.1459, 0.145900 s, 1.5s, 20ms, 300us, 50ns, 2m, 1h, 50%.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_TIME_TEXT_H
#define FILMSTRIP_TIME_TEXT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct film_time_text {
    uint64_t time_ns;
    uint64_t last_ns; /* what is printed to the microsecond stands for all of it */
    double share;     /* of the whole, where `is_share` */
    bool is_share;
} film_time_text;

/* False: it is no time. Without a unit it is seconds. */
bool
film_time_text_read(const char *text, film_time_text *out);

#endif
