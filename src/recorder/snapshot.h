/* snapshot.h: the content of an object as a value record.
 *
 * Containers and instances within get serials and records of their own; their tokens
 * stand in the outer record. The same content is not written twice in a row.
 * Threads: the holder of the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_SNAPSHOT_H
#define FILMSTRIP_RECORDER_SNAPSHOT_H

#include "recorder/compat.h"

#include "recorder/capture.h"
#include "recorder/fingerprint.h"
#include "recorder/objects.h"

/* True when a record must be written before a row can refer to the object. Not where
 * nothing is kept any more: to try it again would tell what lies within once more, and
 * changes there would not be counted. */
bool
film_snapshot_is_missing(const film_object *object);

/* The token of any object but a scalar, seen at `holder`; levels: of containers whose
 * content is told, 0 for none. Returns the end. */
uint8_t *
film_snapshot_token(film_context *context, PyObject *value, const film_holder *holder,
                    uint32_t levels, uint8_t *to);

/* The same where it has a secret's name: of what is nothing but its content (a match, a
 * pattern, a slice) texts are not told. */
uint8_t *
film_snapshot_hidden(film_context *context, PyObject *value, const film_holder *holder,
                     uint32_t levels, uint8_t *to);

/* Writes the record of `value`, whose fingerprint is now this one (`levels` deep),
 * unless it equals the last one. Returns the object, for it may have moved; its
 * `record` is 0 when it could not be kept. */
film_object *
film_snapshot_write(film_context *context, PyObject *value, uint32_t levels,
                    const film_fingerprint *fingerprint);

/* The part of film_snapshot_compared that deals with addresses. */
void
film_snapshot_address(film_object *object, PyObject *value,
                      const film_fingerprint *fingerprint);

/* Takes the fingerprint for the object's own. */
void
film_snapshot_compared(film_object *object, PyObject *value, uint32_t levels,
                       const film_fingerprint *fingerprint);

/* How deep an object is compared. */
static inline uint32_t
film_compared_levels(const film_object *object)
{
    return object->flat || object->levels == 0 ? film_the_shown_levels : object->levels;
}

bool
film_snapshot_begin(const film_capture_limits *limits);

void
film_snapshot_end(void);

#endif
