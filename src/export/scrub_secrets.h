/* scrub_secrets.h: what is to be taken out: names, patterns, and what is found by them:
 * texts, value records, objects.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_SCRUB_SECRETS_H
#define FILMSTRIP_SCRUB_SECRETS_H

#include <regex.h>

#include "base/intern.h"
#include "export/scrub.h"
#include "format/token.h"
#include "format/value_record.h"

/* Shorter texts are taken out where their name says so, not wherever they stand: a
 * password `no` would blank every `no`. */
#define FILM_SECRET_LEAST 4u

typedef struct film_secrets {
    const film_scrub_options *options; /* borrowed */
    regex_t *patterns;                 /* owned */
    size_t pattern_count;
    film_buffer *texts; /* owned */
    size_t text_count, text_capacity;
    film_intern known;   /* hashes of the texts */
    film_intern records; /* value id + 1 */
    film_intern objects; /* serial + 1 */
    film_buffer subject; /* scratch: the text that is being cleaned, a NUL behind it */
    bool failed;         /* memory ran out */
} film_secrets;

/* FILM_MISUSE: a pattern that makes no sense. */
FILM_NODISCARD film_status
film_secrets_init(film_secrets *secrets, const film_scrub_options *options,
                  film_error *error);

void
film_secrets_reset(film_secrets *secrets);

bool
film_secrets_is_name(const film_secrets *secrets, film_text name);

/* The value, a key, is a str that is a secret name. */
bool
film_secrets_is_key(film_secrets *secrets, film_reader *reader,
                    const film_token *token);

void
film_secrets_add_text(film_secrets *secrets, const void *bytes, size_t length);

/* A value that a secret name holds: itself, and what it holds. */
void
film_secrets_add_value(film_secrets *secrets, film_reader *reader,
                       const film_token *token, unsigned nesting);

bool
film_secrets_has_record(const film_secrets *secrets, uint64_t id,
                        const film_value_record *record);

/* Appends the bytes to `out`, secrets replaced: by `[redacted]`, or with `fill` by as
 * many of that. True: there was one. */
bool
film_secrets_clean(film_secrets *secrets, const void *bytes, size_t length,
                   film_buffer *out, char fill);

/* Appends the next token of `input`; one that is secret, or `named` so, as REDACTED.
 * True: it was. */
bool
film_secrets_clean_token(film_secrets *secrets, film_input *input, bool named,
                         film_buffer *out);

#endif
