/* capture_debug.h: capture without the hooks, for tests: filmstrip._recorder._capture.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_CAPTURE_DEBUG_H
#define FILMSTRIP_RECORDER_CAPTURE_DEBUG_H

#include "recorder/compat.h"

/* METH_VARARGS: _capture(what, ...). */
PyObject *
film_capture_debug(PyObject *module, PyObject *args);

/* METH_O: _told_anew(bits). */
PyObject *
film_capture_debug_period(PyObject *module, PyObject *bits);

#endif
