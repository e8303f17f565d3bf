/* kinds.c: names of event kinds and of reasons.
 * SPDX-License-Identifier: Apache-2.0 */
#include <filmstrip/event.h>
#include <filmstrip/reader.h>

#include "format/window.h"
#include "format/token.h"

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

int
film_event_value_index(const film_event *event, film_value_role role)
{
    bool is_write = event->kind == FILM_KIND_SET || event->kind == FILM_KIND_DELETE;
    uint32_t before_value = is_write ? film_set_tokens(event->form) - 1 : 0;
    uint32_t index = role == FILM_ROLE_OWNER ? 0 : role == FILM_ROLE_KEY ? 1 : 0;

    if (role == FILM_ROLE_VALUE) {
        if (event->kind == FILM_KIND_CALL || event->kind == FILM_KIND_OP) {
            return -1; /* arguments: each has its slot, or name */
        }
        if (event->kind == FILM_KIND_OP_END &&
            (event->form & FILM_OPERATION_RAISED) != 0) {
            return -1;
        }
        index = before_value;
    }
    else if (index >= before_value) {
        return -1;
    }
    return index < event->token_count ? (int)index : -1;
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

const char *
film_ending_name(film_ending ending)
{
    switch (ending) {
    case FILM_ENDING_CLOSED:
        return "closed";
    case FILM_ENDING_LIVE:
        return "live";
    case FILM_ENDING_DIED:
        return "died";
    }
    return "unknown";
}
