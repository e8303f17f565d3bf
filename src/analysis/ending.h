/* ending.h: how the program of a recording ended, as a sentence.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_ENDING_H
#define FILMSTRIP_ENDING_H

#include <filmstrip/reader.h>

/* A text that stays, or `room`. */
const char *
film_how_ended(const film_reader *reader, char room[256]);

#endif
