/* export_folder.h: an export that is a folder with a file for each recording.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_EXPORT_FOLDER_H
#define FILMSTRIP_EXPORT_FOLDER_H

#include "cli/reading.h"
#include "export/exporter.h"

typedef struct film_export_folder {
    const film_exporter *exporter;
    const char *path; /* of the folder; it may be there */
    bool force;       /* replaces files that are there */
    bool moved;       /* tlparse: sources of files with more than one line visited */
} film_export_folder;

/* Makes the folder, and in it a file for each recording. What a recording does not hold
 * is told on the standard error. */
film_status
film_export_to_folder(film_reading *reading, const film_export_folder *wanted);

#endif
