/* captures.h: an output into memory.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_TEST_CAPTURES_H
#define FILMSTRIP_TEST_CAPTURES_H

#include "test.h"

#include "base/buffer.h"
#include "export/output.h"

typedef struct capture {
    film_output output;
    film_buffer bytes;
} capture;

static inline void
open_capture(capture *to)
{
    memset(to, 0, sizeof(*to));
    CHECK(film_output_init(&to->output, -1, NULL) == FILM_OK);
    to->output.memory = &to->bytes;
}

static inline void
close_capture(capture *to)
{
    film_output_reset(&to->output);
    film_buffer_reset(&to->bytes);
}

#endif
