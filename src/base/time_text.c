/* time_text.c: see time_text.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/time_text.h"

#include <stdlib.h>
#include <string.h>

/* No number that anybody types has more digits. */
#define MOST_DIGITS 40u

bool
film_time_text_read(const char *text, film_time_text *out)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"", 1e9},   {"s", 1e9},  {"ms", 1e6},   {"us", 1e3},
                 {"ns", 1.0}, {"m", 6e10}, {"min", 6e10}, {"h", 3.6e12}};
    size_t digits = strspn(text, "0123456789.");
    const char *point = memchr(text, '.', digits);
    char *unit;
    double number, width;

    out->time_ns = out->last_ns = 0;
    out->share = 0.0;
    out->is_share = false;
    if (digits == 0 || digits > MOST_DIGITS) {
        return false;
    }
    number = strtod(text, &unit);
    /* strtod would also take "nan", "inf", exponents and hexadecimal. */
    if (unit != text + digits) {
        return false;
    }
    unit += strspn(unit, " ");
    if (strcmp(unit, "%") == 0) {
        out->is_share = true;
        out->share = number / 100.0;
        return true;
    }
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(unit, units[i].name) == 0) {
            double ns = number * units[i].ns + 0.5;
            out->time_ns = ns < 1.8e19 ? (uint64_t)ns : UINT64_MAX;
            width = units[i].ns;
            for (const char *at = point; at != NULL && ++at < text + digits;) {
                width /= 10.0;
            }
            out->last_ns = out->time_ns;
            if (width > 1.0 && width < 1000.5 && out->time_ns < UINT64_MAX - 1000) {
                out->last_ns += (uint64_t)(width + 0.5) - 1;
            }
            return true;
        }
    }
    return false;
}
