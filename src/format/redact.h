/* redact.h: the deny list of the value layer: names whose values are never kept.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_REDACT_H
#define FILMSTRIP_REDACT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

/* What stands in a recording for a value that was taken out. */
#define FILM_REDACTED "[redacted]"

/* True if a variable, key or attribute of this name holds a secret: one of the deny
 * list's words is part of it, whatever the case, `-` and `_` counting alike. */
bool
film_redact_is_secret_name(const char *name, size_t length);

/* Copies `text` to `out` with the value behind each secret name taken out: in
 * `password=hunter2`, `"token": "abc"`, `Authorization: Bearer abc`,
 * `https://user:pass@host`. True if anything was. */
bool
film_redact_text(const char *text, size_t length, film_buffer *out);

#endif
