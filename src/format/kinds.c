/* kinds.c: names of event kinds and of reasons.
 * SPDX-License-Identifier: Apache-2.0 */
#include <filmstrip/event.h>

#include "format/window.h"

const char *
film_kind_name(uint8_t kind)
{
    switch (kind) {
#define FILM_EVENT(enumerator, name, number)                                           \
    case number:                                                                       \
        return name;
#include <filmstrip/events.def>
#undef FILM_EVENT
    default:
        return "unknown";
    }
}

const char *
film_lost_reason_text(uint64_t reason)
{
    switch (reason) {
    case FILM_LOST_NONE:
        return "";
    case FILM_LOST_NO_SPACE:
        return "the disk, quota or file size limit was reached";
    case FILM_LOST_IO:
        return "the recording could not be written";
    case FILM_LOST_NO_MEMORY:
        return "memory ran out";
    case FILM_LOST_DAMAGED:
        return "a chunk of the recording is damaged";
    case FILM_LOST_STOPPED:
        return "the recorder stopped by itself";
    default:
        return "a reason this filmstrip does not know";
    }
}
