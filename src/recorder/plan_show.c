/* plan_show.c: see plan_show.h. Each function returns a new reference, or NULL with an
 * exception.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/plan_show.h"

#include "recorder/plan.h"
#include "recorder/plan_bytecode.h"

static const char *
kind_name(uint8_t kind)
{
    static const char *const names[] = {
        [FILM_WRITE_FAST] = "fast",
        [FILM_WRITE_CELL] = "cell",
        [FILM_WRITE_GLOBAL] = "global",
        [FILM_WRITE_NAME] = "name",
        [FILM_WRITE_ATTRIBUTE] = "attribute",
        [FILM_DELETE_FAST] = "delete fast",
        [FILM_DELETE_CELL] = "delete cell",
        [FILM_DELETE_GLOBAL] = "delete global",
        [FILM_DELETE_NAME] = "delete name",
        [FILM_DELETE_ATTRIBUTE] = "delete attribute",
        [FILM_WRITE_STACK_FAST] = "stack fast",
        [FILM_WRITE_STACK_STAR] = "stack star",
        [FILM_WRITE_STACK_NAME] = "stack name",
        [FILM_WRITE_STACK_ATTRIBUTE] = "stack attribute",
        [FILM_WRITE_STACK_ITEM] = "stack item",
        [FILM_WRITE_STACK_SLICE] = "stack slice",
        [FILM_DELETE_STACK_ATTRIBUTE] = "stack delete attribute",
        [FILM_DELETE_STACK_ITEM] = "stack delete item",
        [FILM_CALL_ON_STACK] = "stack call",
    };

    return kind < sizeof(names) / sizeof(*names) ? names[kind] : "?";
}

static int
place_or_none(uint16_t place)
{
    return place == FILM_PLAN_NO_PLACE ? -1 : place;
}

static PyObject *
show_write(const film_write *write)
{
    return Py_BuildValue("{sssisisisisOsNsN}", "kind", kind_name(write->kind), "slot",
                         (int)write->slot, "target", (int)write->target, "place",
                         (int)write->place, "call_place",
                         place_or_none(write->call_place), "name",
                         write->name == NULL ? Py_None : write->name, "hidden",
                         PyBool_FromLong(write->hidden), "cell_owner",
                         PyBool_FromLong(write->cell_owner));
}

typedef PyObject *(*show_function)(const void *item);

/* A tuple of `count` things of `size` bytes each. */
static PyObject *
show_all(const void *items, size_t count, size_t size, show_function show)
{
    PyObject *result = PyTuple_New((Py_ssize_t)count);

    for (size_t index = 0; result != NULL && index < count; index++) {
        PyObject *item = show((const char *)items + index * size);

        if (item == NULL) {
            Py_CLEAR(result);
            break;
        }
        PyTuple_SET_ITEM(result, (Py_ssize_t)index, item);
    }
    return result;
}

static PyObject *
show_one_write(const void *write)
{
    return show_write(write);
}

/* (place, count, count_entered, writes), all writes up to count_entered. */
static PyObject *
show_exit(const void *item)
{
    const film_exit *exit = item;

    return Py_BuildValue("(iiiN)", (int)exit->place, (int)exit->count,
                         (int)exit->count_entered,
                         show_all(exit->writes, exit->count_entered, sizeof(film_write),
                                  show_one_write));
}

/* (base, slot or name, attribute, ...) */
static PyObject *
show_touch(const void *item)
{
    const film_touch *touch = item;
    PyObject *variable =
        touch->name == NULL ? PyLong_FromLong(touch->slot) : Py_NewRef(touch->name);

    switch (touch->depth) {
    case 0:
        return Py_BuildValue("(sN)", kind_name(touch->base), variable);
    case 1:
        return Py_BuildValue("(sNO)", kind_name(touch->base), variable,
                             touch->step[0].name);
    default:
        return Py_BuildValue("(sNOO)", kind_name(touch->base), variable,
                             touch->step[0].name, touch->step[1].name);
    }
}

static PyObject *
show_region(const void *item)
{
    const film_region *region = item;

    return Py_BuildValue(
        "{sisNsNsNsNsNsNsN}", "place", (int)region->place, "early",
        PyBool_FromLong(region->early), "point", PyBool_FromLong(region->point),
        "points_ahead", PyBool_FromLong(region->points_ahead), "stops",
        show_all(region->stops, region->stop_count, sizeof(film_exit), show_exit),
        "inner",
        show_all(region->inner, region->inner_count, sizeof(film_exit), show_exit),
        "touches",
        show_all(region->touches, region->touch_count, sizeof(film_touch), show_touch),
        "before",
        region->before == NULL ? Py_NewRef(Py_None) : show_write(region->before));
}

static PyObject *
show_number(const void *number)
{
    return PyLong_FromLong(*(const uint16_t *)number);
}

static PyObject *
show_plan(const film_plan *plan)
{
    return Py_BuildValue(
        "{sIsIsNsNsNsNsNsNsi}", "units", plan->unit_count, "points", plan->point_count,
        "regions",
        show_all(plan->regions, plan->region_count, sizeof(film_region), show_region),
        "region_at",
        show_all(plan->region_at, plan->unit_count, sizeof(uint16_t), show_number),
        "owner", show_all(plan->owner, plan->unit_count, sizeof(uint16_t), show_number),
        "handler",
        show_all(plan->handler, plan->unit_count, sizeof(uint16_t), show_number),
        "arguments",
        show_all(plan->arguments, plan->argument_count, sizeof(uint16_t), show_number),
        "flags",
        PyBytes_FromStringAndSize((const char *)plan->flags,
                                  (Py_ssize_t)plan->unit_count),
        "entry", plan->entry == NULL ? -1 : (int)plan->entry->place);
}

PyObject *
film_plan_show(PyObject *Py_UNUSED(module), PyObject *code)
{
    film_plan_wishes wishes = {0};
    film_plan *plan;
    PyObject *result;

    if (!PyCode_Check(code)) {
        PyErr_SetString(PyExc_TypeError, "expected a code object");
        return NULL;
    }
    plan = film_plan_new((PyCodeObject *)code, &wishes);
    if (plan == NULL) {
        Py_RETURN_NONE;
    }
    result = show_plan(plan);
    film_plan_free(plan);
    return result;
}

PyObject *
film_plan_show_opcodes(PyObject *Py_UNUSED(module), PyObject *forget)
{
    bool known[256];
    long number = PyLong_AsLong(forget);
    PyObject *result;

    if (number == -1 && PyErr_Occurred() != NULL) {
        return NULL;
    }
    film_bytecode_opcodes(number < 0 || number > 255 ? -1 : (int)number, known);
    result = PyList_New(0);
    for (long opcode = 0; result != NULL && opcode < 256; opcode++) {
        PyObject *item = known[opcode] ? PyLong_FromLong(opcode) : NULL;

        if (known[opcode] && (item == NULL || PyList_Append(result, item) < 0)) {
            Py_CLEAR(result);
        }
        Py_XDECREF(item);
    }
    return result;
}
