/* exporter.h: the outputs that other tools read, one file of this folder each.
 * A new output adds its file and one line to the table in exporter.c.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_EXPORTER_H
#define FILMSTRIP_EXPORTER_H

#include "analysis/recordings.h"
#include "export/output.h"

/* Bytes of the longest name of a file, with its NUL. */
#define FILM_EXPORT_NAME 80u

typedef struct film_exporter {
    const char *name;
    const char *description; /* one line, for --help */
    const char *suffix;      /* of the default file name, or folder name */
    /* Writes all recordings. FILM_END: the reader of the output went away. The caller
     * flushes. */
    film_status (*run)(const film_recordings *set, film_output *output,
                       film_error *error);
    /* NULL, or: it makes a folder with a file for each recording. The name of one; run()
     * is called with one recording each time. */
    void (*name_file)(film_reader *reader, char name[FILM_EXPORT_NAME]);
} film_exporter;

/* All of them, in the order of --help; a NULL name ends the table. */
extern const film_exporter film_exporters[];

/* NULL if there is none of that name. */
const film_exporter *
film_exporter_find(const char *name);

film_status
film_export_pstats(const film_recordings *set, film_output *output, film_error *error);

film_status
film_export_dot(const film_recordings *set, film_output *output, film_error *error);

film_status
film_export_svg(const film_recordings *set, film_output *output, film_error *error);

film_status
film_export_collapsed(const film_recordings *set, film_output *output,
                      film_error *error);

film_status
film_export_speedscope(const film_recordings *set, film_output *output,
                       film_error *error);

film_status
film_export_perfetto(const film_recordings *set, film_output *output,
                     film_error *error);

film_status
film_export_chrome(const film_recordings *set, film_output *output, film_error *error);

film_status
film_export_tlparse(const film_recordings *set, film_output *output, film_error *error);

#endif
