/* export_folder.c: see export_folder.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/export_folder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "cli/interrupt.h"
#include "export/output_file.h"
#include "export/tlparse.h"

static film_status
write_one(film_reading *reading, const film_export_folder *wanted, size_t index,
          film_output *output)
{
    film_recordings one = {.items = &reading->set.items[index],
                           .count = 1,
                           .progress = reading->set.progress};
    film_tlparse_options options = {.moved = wanted->moved};
    film_tlparse_result result;
    film_status status;

    if (wanted->exporter->run != film_export_tlparse) {
        return wanted->exporter->run(&one, output, &reading->error);
    }
    status = film_tlparse_write(&one, &options, output, &result, &reading->error);
    if (status == FILM_OK && result.note[0] != '\0') {
        film_reading_clear_progress(reading);
        fprintf(stderr, "filmstrip export: %s: %s\n", one.items[0].path, result.note);
    }
    return status;
}

static film_status
write_file(film_reading *reading, const film_export_folder *wanted, size_t index,
           const char *path)
{
    film_output_file file;
    film_output output;
    film_status status;

    film_interrupt_delay();
    status = film_output_file_create(&file, path, wanted->force, &reading->error);
    film_interrupt_guard(status == FILM_OK ? file.partial : NULL);
    if (status != FILM_OK) {
        return status;
    }
    status = film_output_init(&output, file.fd, &reading->error);
    if (status == FILM_OK) {
        status = write_one(reading, wanted, index, &output);
    }
    if (status == FILM_OK) {
        status = film_output_flush(&output, &reading->error);
    }
    film_output_reset(&output);
    film_interrupt_release();
    if (status == FILM_OK) {
        status = film_output_file_commit(&file, &reading->error);
    }
    film_output_file_discard(&file);
    return status;
}

film_status
film_export_to_folder(film_reading *reading, const film_export_folder *wanted)
{
    size_t room = strlen(wanted->path) + 1 + FILM_EXPORT_NAME;
    char *path = film_alloc(room);
    film_status status = FILM_OK;

    if (path == NULL) {
        return film_fail(&reading->error, FILM_NO_MEMORY, "not enough memory");
    }
    if (mkdir(wanted->path, 0700) != 0 && errno != EEXIST) {
        status = film_fail(&reading->error, FILM_IO, "cannot create %.160s: %s",
                           wanted->path, strerror(errno));
    }
    for (size_t i = 0; i < reading->set.count && status == FILM_OK; i++) {
        char name[FILM_EXPORT_NAME];

        wanted->exporter->name_file(reading->set.items[i].reader, name);
        snprintf(path, room, "%s/%s", wanted->path, name);
        status = write_file(reading, wanted, i, path);
    }
    film_free(path);
    return status;
}
