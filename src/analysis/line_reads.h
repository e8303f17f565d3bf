/* line_reads.h: what a line of code reads, from the bytecode that the recording keeps:
 * names and attributes of names, in order. Without Python: the few opcodes that load
 * something are known for each version of CPython.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_LINE_READS_H
#define FILMSTRIP_LINE_READS_H

#include <filmstrip/reader.h>

typedef enum film_line_read_kind {
    FILM_LINE_LOCAL,
    FILM_LINE_GLOBAL,
    FILM_LINE_ATTRIBUTE, /* text is the whole path: self.x.y */
    FILM_LINE_CONSTANT
} film_line_read_kind;

typedef struct film_line_read {
    film_line_read_kind kind;
    char text[120];
} film_line_read;

/* At most `most` of them, each once; how many. 0 also where the version of Python is
 * not known. */
size_t
film_line_reads(film_reader *reader, const film_code *code, uint32_t line,
                film_line_read *to, size_t most);

#endif
