/* export_part.c: export_tlparse(), the export of a part of a recording, which may go on
 * being written: what filmstrip.torch.LoggingMode does where its block ends.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pyreader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "export/tlparse.h"

typedef struct part {
    char *film, *folder, *log; /* borrowed; log may be NULL: a new one in the folder */
    film_tlparse_options options;
    film_tlparse_result result;
    char *path; /* owned: of the log */
} part;

static film_status
open_log(part *of, film_reader *reader, int *fd, film_error *error)
{
    char name[FILM_EXPORT_NAME];
    size_t room;

    if (of->log != NULL) {
        of->path = strdup(of->log);
    }
    else {
        film_tlparse_name(reader, name);
        room = strlen(of->folder) + 1 + sizeof(name);
        of->path = malloc(room);
        if (of->path != NULL) {
            snprintf(of->path, room, "%s/%s", of->folder, name);
        }
    }
    if (of->path == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    *fd = open(of->path,
               O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC |
                   (of->log == NULL ? O_CREAT | O_EXCL : 0),
               0600);
    return *fd >= 0 ? FILM_OK
                    : film_fail(error, FILM_IO, "cannot write %.160s: %s", of->path,
                                strerror(errno));
}

static film_status
write_log(part *of, const film_recordings *set, int fd, film_error *error)
{
    film_output output;
    film_status status = film_output_init(&output, fd, error);

    if (status == FILM_OK) {
        status = film_tlparse_write(set, &of->options, &output, &of->result, error);
    }
    if (status == FILM_OK) {
        status = film_output_flush(&output, error);
    }
    film_output_reset(&output);
    return status;
}

static film_status
export_part(part *of, film_error *error)
{
    film_recordings set = {0};
    int fd = -1;
    film_status status = film_recordings_open(&set, &of->film, 1, error);

    if (status == FILM_OK) {
        status = open_log(of, set.items[0].reader, &fd, error);
    }
    if (status == FILM_OK) {
        status = write_log(of, &set, fd, error);
    }
    if (fd >= 0 && close(fd) != 0 && status == FILM_OK) {
        status = film_fail(error, FILM_IO, "cannot write %.160s: %s", of->path,
                           strerror(errno));
    }
    film_recordings_close(&set);
    return status;
}

PyObject *
film_pyreader_export_tlparse(PyObject *module, PyObject *arguments)
{
    PyObject *film = NULL, *folder = NULL, *log = NULL, *given, *result = NULL;
    unsigned long long first, end;
    film_error error = {FILM_OK, 0, ""};
    film_status status;
    Py_ssize_t outer;
    part of = {0};
    int moved;

    of.options.modes = true;
    if (!PyArg_ParseTuple(arguments, "O&O&OIIKKnp:export_tlparse",
                          PyUnicode_FSConverter, &film, PyUnicode_FSConverter, &folder,
                          &given, &of.options.strings, &of.options.thread, &first, &end,
                          &outer, &moved) ||
        (given != Py_None && !PyUnicode_FSConverter(given, &log))) {
        goto done;
    }
    of.film = PyBytes_AS_STRING(film);
    of.folder = PyBytes_AS_STRING(folder);
    of.log = log == NULL ? NULL : PyBytes_AS_STRING(log);
    of.options.first = first;
    of.options.end = end;
    of.options.outer = outer < 0 ? 0 : (size_t)outer;
    of.options.moved = moved != 0;
    Py_BEGIN_ALLOW_THREADS;
    status = export_part(&of, &error);
    Py_END_ALLOW_THREADS;
    if (status != FILM_OK) {
        (void)film_pyreader_raise(PyModule_GetState(module), status, &error);
        goto done;
    }
    result =
        Py_BuildValue("NIKs", PyUnicode_DecodeFSDefault(of.path), of.result.strings,
                      (unsigned long long)of.result.ops, of.result.note);

done:
    free(of.path);
    Py_XDECREF(film);
    Py_XDECREF(folder);
    Py_XDECREF(log);
    return result;
}
