/* secrets.h: what is not told. Texts and bytes whose variable, key or attribute has a
 * secret's name (format/redact.h), wherever they turn up again; those in containers with
 * such a name, which stay hidden, whoever holds them; and those that look like secrets.
 * Numbers, None and objects with such a name are told: a language model's token is one.
 *
 * Threads: the holder of the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_SECRETS_H
#define FILMSTRIP_RECORDER_SECRETS_H

#include "recorder/compat.h"

#include "recorder/capture.h"
#include "recorder/known_secrets.h"

/* A container is hidden: its texts are not told. */
extern bool film_the_hidden;

/* Whether there is what looks like a secret in the text, whatever its name. */
bool
film_secret_looks_so(const char *text, size_t length);

/* Whether a value with that secret name is redacted: a text; with a name that the user
 * has given everything that says something. NULL: it lies in a hidden container. */
bool
film_secret_is_value(PyObject *value, PyObject *name);

/* A container has a secret's name, or lies in one that has: from now on its texts are
 * not told. Anything else is left as it is. */
void
film_secret_hide(film_context *context, PyObject *value, const film_holder *holder);

/* Whether a text stored at `key` of `owner` is a secret. */
bool
film_secret_is_item(PyObject *owner, PyObject *key);

void
film_secrets_end(void);

#endif
