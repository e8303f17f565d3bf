/* scrub.h: a recording written again without its secrets.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_SCRUB_H
#define FILMSTRIP_SCRUB_H

#include <filmstrip/reader.h>

typedef struct film_scrub_options {
    char *const *names; /* globs; with none of either the deny list of redact.h */
    size_t name_count;
    char *const *patterns; /* POSIX extended regular expressions */
    size_t pattern_count;
} film_scrub_options;

typedef struct film_scrub_counts {
    uint64_t values; /* told in rows and in containers */
    uint64_t texts;  /* value records, names, facts */
    uint64_t sources;
    uint64_t unknown; /* events of kinds that are not known here: left out */
} film_scrub_counts;

/* Writes the recording to `fd`, an empty file, without
 *   - values of variables, arguments, attributes, globals and keys with such a name,
 *     values that functions of such a name returned, and what they hold;
 *   - the same str wherever else it stands: values, messages, source texts, facts;
 *   - what a pattern matches in any of these.
 * Of a recording that was not closed, what lies outside its chunks comes along in
 * chunks. FILM_MISUSE: a pattern makes no sense, or the recording is still being
 * written; the message says which. */
FILM_NODISCARD film_status
film_scrub(film_reader *reader, const film_scrub_options *options, int fd,
           film_scrub_counts *counts, film_error *error);

#endif
