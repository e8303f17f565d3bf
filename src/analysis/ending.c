/* ending.c: see ending.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ending.h"

#include <stdio.h>
#include <string.h>

const char *
film_how_ended(const film_reader *reader, char room[256])
{
    const film_info *info = film_reader_info(reader);
    const char *ended = film_reader_meta(reader, "ended");
    const char *exception = film_reader_meta(reader, "exit_exception");

    if (info->ending == FILM_ENDING_LIVE) {
        return "still running";
    }
    if (info->ending == FILM_ENDING_DIED) {
        return "its process went away without closing the recording (killed or "
               "crashed)";
    }
    if (ended != NULL && strcmp(ended, "stop") == 0) {
        return "recording stopped by the program";
    }
    if (info->exit_status < 0) {
        return exception == NULL ? "closed; the process then ended without exit()"
                                 : "closed after an uncaught exception";
    }
    if (exception != NULL && exception[0] != '\0') {
        snprintf(room, 256, "uncaught %.180s, exit status %d", exception,
                 info->exit_status);
    }
    else {
        snprintf(room, 256, "exit status %d", info->exit_status);
    }
    return room;
}
