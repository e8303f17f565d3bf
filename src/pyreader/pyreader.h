/* pyreader.h: what the files of the extension filmstrip._reader share.
 *
 * Python objects here are shells over include/filmstrip/reader.h: each method is a
 * check that the recording is open and one call. Everything runs under the GIL, but
 * opening, where nobody else can know the reader yet, and film_query: while that works,
 * every other use of the same reader waits (film_pyreader_wait).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_PYREADER_H
#define FILMSTRIP_PYREADER_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>

#include <filmstrip/reader.h>

#include "analysis/timeline.h"

typedef struct reader_state {
    PyTypeObject *reader_type; /* owned, as all here */
    PyTypeObject *cursor_type;
    PyTypeObject *event_type;
    PyTypeObject *objwatch_lines_type;
    PyTypeObject *code_type;
    PyObject *error; /* FilmError */
    PyObject *kinds[FILM_KIND_COUNT];
} reader_state;

typedef struct CursorObject CursorObject;

typedef struct ReaderObject {
    PyObject_HEAD
    film_reader *reader;            /* owned; NULL: closed */
    struct film_timeline *timeline; /* owned; NULL: not asked for yet */
    CursorObject *cursors;   /* borrowed: the open ones, which must close before it */
    PyThread_type_lock lock; /* owned; held by a query that works without the GIL */
    bool busy;               /* one does */
} ReaderObject;

struct CursorObject {
    PyObject_HEAD
    ReaderObject *reader;          /* owned */
    film_cursor *cursor;           /* owned; NULL: closed */
    CursorObject *next, *previous; /* borrowed; in reader->cursors while open */
};

typedef struct EventObject {
    PyObject_HEAD
    ReaderObject *reader; /* owned */
    film_event event;     /* a copy, without its body; its tokens are owned */
} EventObject;

extern PyType_Spec film_reader_spec;
extern PyType_Spec film_cursor_spec;
extern PyType_Spec film_event_spec;
extern PyType_Spec film_objwatch_lines_spec;
extern PyStructSequence_Desc film_code_description;

/* The module's state, from a type of the module. */
reader_state *
film_pyreader_state(PyTypeObject *type);

/* Sets the exception that fits `error`; gives NULL. */
PyObject *
film_pyreader_raise(reader_state *state, film_status status, const film_error *error);

/* export_tlparse(film, folder, log or None, strings, thread, first, end, outer, moved):
 * (path of the log, strings in it, ops, what is missing). */
PyObject *
film_pyreader_export_tlparse(PyObject *module, PyObject *arguments);

/* A str; damaged UTF-8 is replaced. */
PyObject *
film_pyreader_text(film_text text);

/* Closes a cursor and takes it out of its reader's list; does nothing when closed. */
void
film_pyreader_cursor_close(CursorObject *self);

/* A new cursor of `reader`; NULL with an exception set. */
PyObject *
film_pyreader_cursor_new(ReaderObject *reader, uint32_t thread, uint64_t first);

/* A new Event, a copy of `event`; NULL with an exception set. */
PyObject *
film_pyreader_event_new(reader_state *state, ReaderObject *reader,
                        const film_event *event);

/* A Code, or None if the id is unknown; NULL with an exception set. */
PyObject *
film_pyreader_code(reader_state *state, const film_reader *reader, uint32_t id);

/* A dict with the text and type of a value; NULL with an exception set. */
PyObject *
film_pyreader_value(reader_state *state, film_reader *reader, uint64_t id);

/* event_values.c: getters of Event. */
PyObject *
film_event_get_value(PyObject *object, void *closure);

PyObject *
film_event_get_owner(PyObject *object, void *closure);

PyObject *
film_event_get_key(PyObject *object, void *closure);

PyObject *
film_event_get_args(PyObject *object, void *closure);

PyObject *
film_event_get_name(PyObject *object, void *closure);

PyObject *
film_event_get_scope(PyObject *object, void *closure);

PyObject *
film_event_get_via(PyObject *object, void *closure);

PyObject *
film_event_get_length_before(PyObject *object, void *closure);

PyObject *
film_event_get_cut(PyObject *object, void *closure);

/* event_ops.c: what ops say; None for other events. */
PyObject *
film_event_get_op(PyObject *object, void *closure);

PyObject *
film_event_get_kwargs(PyObject *object, void *closure);

PyObject *
film_event_get_result(PyObject *object, void *closure);

PyObject *
film_event_get_changed(PyObject *object, void *closure);

PyObject *
film_event_get_module(PyObject *object, void *closure);

PyObject *
film_event_get_api(PyObject *object, void *closure);

PyObject *
film_event_get_flags(PyObject *object, void *closure);

PyObject *
film_event_get_sequence(PyObject *object, void *closure);

PyObject *
film_event_get_duration_ns(PyObject *object, void *closure);

/* The positional arguments of an op: a list. */
PyObject *
film_event_op_args(EventObject *self, film_reader *reader);

/* The op that an op_end ends. 1: found; 0: not in the recording; -1: an exception. */
int
film_event_find_op(EventObject *self, film_reader *reader, film_event *out);

/* event_values.c: the event's value at `index`, a dict. */
PyObject *
film_event_value_at(EventObject *self, film_reader *reader, uint32_t index);

/* The recording's timeline, borrowed; NULL with an exception. */
film_timeline *
film_event_timeline(EventObject *self, film_reader *reader);

/* Waits, without the GIL, until no query of another thread uses the reader. */
void
film_pyreader_wait(ReaderObject *self);

/* The open reader, which nobody uses; NULL with a ValueError set when it is closed. */
film_reader *
film_pyreader_open(ReaderObject *self);

#endif
