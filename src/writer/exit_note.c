/* exit_note.c: see exit_note.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "writer/exit_note.h"

#include <stdlib.h>
#include <unistd.h>

/* One recording a process: a later one takes the place of the first. */
static film_sink noted = {.file = -1};
static pid_t owner;
static bool registered;

static void
write_note(int status, void *unused)
{
    (void)unused;
    if (noted.file >= 0 && getpid() == owner) {
        /* Nobody is left to tell if it fails: the status is then not known. */
        FILM_IGNORE(film_sink_write_field(&noted, FILM_FIELD_EXIT_STATUS,
                                          (uint64_t)(status & 0xff) + 1));
        film_sink_close(&noted);
    }
}

void
film_exit_note_take(film_sink *sink)
{
    film_sink_close(&noted);
    noted = *sink;
    sink->file = -1;
    owner = getpid();
    if (!registered) {
        registered = on_exit(write_note, NULL) == 0;
    }
}
