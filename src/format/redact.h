/* redact.h: the deny list of the value layer: names whose values are never kept. It is
 * the built-in one, unless a film_redaction says more, less or something else.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_REDACT_H
#define FILMSTRIP_REDACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* What stands in a recording for a value that was taken out. */
#define FILM_REDACTED "[redacted]"

/* How words begin: by their first byte, which second bytes there are (bit: the byte's
 * lowest five bits; all: of a word of one byte). */
typedef struct film_word_starts {
    uint32_t seconds[256];
} film_word_starts;

/* What counts as secret. Valid when zeroed: the built-in list and nothing else. */
typedef struct film_redaction {
    char **words; /* owned, as are the words: these count too */
    size_t word_count;
    film_word_starts starts; /* of the words */
    bool without_list; /* the built-in list, and passwords in URLs, do not count */
} film_redaction;

/* Adds a copy of a word that is not empty; false when memory is out. */
bool
film_redaction_add(film_redaction *redaction, const char *word);

void
film_redaction_reset(film_redaction *redaction);

/* True if a value of any kind in a variable, key or attribute of this name is secret, not
 * a text alone: one of the words that were added is part of it. */
bool
film_redact_is_added_name(const film_redaction *redaction, const char *name,
                          size_t length);

/* True if a text in a variable, key or attribute of this name is a secret: one of the
 * deny list's words is a word of the name (auth_token, accessToken, x-api-key; not
 * tokenizer, nor eos_token_id, which a language model has), or one that was added is part
 * of it, whatever the case (of a to z), `-` and `_` counting alike. `redaction` may be
 * NULL: the built-in list. */
bool
film_redact_is_secret_name(const film_redaction *redaction, const char *name,
                           size_t length);

/* The shortest secret that is known by its look. */
#define FILM_LOOK_LEAST 15u

/* Whether there is a secret in the text by the look of it: a JWT, `Bearer ...`, a
 * private key, a key of a cloud or a code host. */
bool
film_redact_has_secret(const film_redaction *redaction, const char *text,
                       size_t length);

/* How long the one is that begins at text[at]; 0: none does. */
size_t
film_redact_looks_secret(const char *text, size_t length, size_t at);

/* Copies `text` to `out` with the value behind each secret name taken out: in
 * `password=hunter2`, `"token": "abc"`, `Authorization: Bearer abc`,
 * `https://user:pass@host`. True if anything was. */
bool
film_redact_text(const film_redaction *redaction, const char *text, size_t length,
                 film_buffer *out);

#endif
