/* plan_show.h: a plan as Python objects, for tests.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_PLAN_SHOW_H
#define FILMSTRIP_RECORDER_PLAN_SHOW_H

#include "recorder/compat.h"

/* _recorder._plan(code): a dict with the fields of film_plan; None where there is no
 * plan. Places are in code units, writes are dicts, regions are in order of place. */
PyObject *
film_plan_show(PyObject *module, PyObject *code);

/* _recorder._opcodes(forget): the numbers of the opcodes that the planner knows. From
 * now on it does not know the one of number `forget`; -1: all of its table. */
PyObject *
film_plan_show_opcodes(PyObject *module, PyObject *forget);

/* _recorder._plan_bytes(code): the bytes that its plan takes; None where there is none.
 */
PyObject *
film_plan_weigh(PyObject *module, PyObject *code);

#endif
