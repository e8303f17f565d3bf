/* redact_state.h: what the files of redact.h share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_REDACT_STATE_H
#define FILMSTRIP_REDACT_STATE_H

#include "format/redact.h"

/* The bit of a second byte in film_word_starts: bytes that share one are compared. */
#define FILM_SECOND(c) (1u << ((unsigned char)(c) & 31u))

/* Whatever the program's locale says. */
static inline bool
film_redact_is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool
film_redact_is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static inline bool
film_redact_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* redact_names.c: small letters (a to z), and `_` for `-`. */
char
film_redact_folded(char c);

/* Whether `name` begins with the word, which is folded. */
bool
film_redact_matches(const char *name, size_t length, const char *word);

/* Whether the built-in list counts. */
static inline bool
film_redact_by_list(const film_redaction *redaction)
{
    return redaction == NULL || !redaction->without_list;
}

#endif
