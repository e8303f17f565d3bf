/* known_secrets.h: the texts that were bound to secret names, to be redacted wherever they are
 * seen later.
 *
 * The latest 256 are known, each up to its first bytes; a program whose words are secret
 * names, as a parser's `token`, fills them all. They are found by their first four bytes,
 * so that a text is looked through once, however many there are. Threads: the holder of
 * the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_KNOWN_SECRETS_H
#define FILMSTRIP_RECORDER_KNOWN_SECRETS_H

#include "recorder/compat.h"

/* As much as is known of one. */
#define FILM_SECRET_BYTES 256u

/* How many secrets are known: while it is 0, no str needs to be looked at. */
extern uint32_t film_the_secret_count;

/* `value` was bound to a secret name: its text, or the texts directly in it, are
 * secrets. */
void
film_secret_remember(PyObject *value);

void
film_secret_remember_text(const char *text, size_t length);

/* True when `text` is or holds a secret that was seen. */
bool
film_secret_is_in(const char *text, size_t length);

/* Forgets them all. */
void
film_known_secrets_end(void);

#endif
