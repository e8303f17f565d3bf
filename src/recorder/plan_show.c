/* plan_show.c: see plan_show.h. Each function returns a new reference, or NULL with an
 * exception.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/plan_show.h"

#include "recorder/exception_table.h"
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
show_flag(bool flag)
{
    return PyBool_FromLong(flag);
}

static PyObject *
show_name(const film_named *named)
{
    return Py_NewRef(named == NULL ? Py_None : named->name);
}

static PyObject *
show_write(const film_write *write)
{
    return Py_BuildValue(
        "{sssisisisisNsNsNsisisisi}", "kind", kind_name(write->kind), "slot",
        (int)write->slot, "target", (int)write->target, "place", (int)write->place,
        "call_place", place_or_none(write->call_place), "name",
        show_name(write->named == 0 ? NULL : film_write_named(write)), "hidden",
        show_flag(write->hidden), "cell_owner", show_flag(write->cell_owner),
        "restores", (int)write->restores, "constant", (int)write->constant, "unnamed",
        (int)write->unnamed, "effect", (int)write->effect);
}

/* A plan, and the code object it is of. */
typedef struct shown {
    const film_plan *plan;
    PyCodeObject *code;
} shown;

/* One thing of a plan, by its number. */
typedef PyObject *(*show_function)(const shown *of, const void *items, size_t index);

/* A tuple of `count` things. */
static PyObject *
show_all(const shown *of, const void *items, size_t count, show_function show)
{
    PyObject *result = PyTuple_New((Py_ssize_t)count);

    for (size_t index = 0; result != NULL && index < count; index++) {
        PyObject *item = show(of, items, index);

        if (item == NULL) {
            Py_CLEAR(result);
            break;
        }
        PyTuple_SET_ITEM(result, (Py_ssize_t)index, item);
    }
    return result;
}

static PyObject *
show_one_write(const shown *Py_UNUSED(of), const void *items, size_t index)
{
    return show_write((const film_write *)items + index);
}

/* (place, count, count_entered, writes), all writes up to count_entered. */
static PyObject *
show_inner(const shown *of, const void *items, size_t index)
{
    const film_inner *inner = (const film_inner *)items + index;

    return Py_BuildValue(
        "(iiiN)", (int)inner->place, (int)inner->count, (int)inner->count_entered,
        show_all(of, film_inner_writes(inner), inner->count_entered, show_one_write));
}

/* The same of a stop. */
static PyObject *
show_stop(const shown *of, const void *items, size_t index)
{
    const film_exit *exit = (const film_exit *)items + index;

    return Py_BuildValue(
        "(iiiN)", (int)exit->place, (int)exit->count, (int)exit->count,
        show_all(of, film_exit_writes(exit), exit->count, show_one_write));
}

/* Whether a stop is calm, and where the region behind it begins; -1: there is none. */
static PyObject *
show_next(const shown *Py_UNUSED(of), const void *items, size_t index)
{
    const film_exit *exit = (const film_exit *)items + index;
    const film_region *next = film_exit_next(exit);

    return Py_BuildValue("(ii)", (int)exit->calm, next == NULL ? -1 : (int)next->place);
}

/* (base, slot or name, attribute, ...) */
static PyObject *
show_touch(const film_touch *touch)
{
    const film_lookup *lookup = film_touch_lookup(touch);
    PyObject *variable =
        lookup == NULL ? PyLong_FromLong(touch->slot) : Py_NewRef(lookup->name);

    switch (touch->depth) {
    case 0:
        return Py_BuildValue("(sN)", kind_name(touch->base), variable);
    case 1:
        return Py_BuildValue("(sNO)", kind_name(touch->base), variable,
                             film_touch_step(touch, 0)->name);
    default:
        return Py_BuildValue("(sNOO)", kind_name(touch->base), variable,
                             film_touch_step(touch, 0)->name,
                             film_touch_step(touch, 1)->name);
    }
}

static PyObject *
show_touch_at(const shown *of, const void *items, size_t index)
{
    return show_touch(&of->plan->touches[((const uint16_t *)items)[index]]);
}

static PyObject *
show_method(const shown *of, const void *items, size_t index)
{
    return show_flag(of->plan->touches[((const uint16_t *)items)[index]].method);
}

static PyObject *
show_change(const shown *of, const void *items, size_t index)
{
    const film_change *change = (const film_change *)items + index;

    return Py_BuildValue(
        "(iiiiiiNO)", (int)change->place, (int)change->receiver, (int)change->callee,
        (int)change->reads, (int)change->effect, (int)change->spreads,
        change->maker == 0 ? Py_NewRef(Py_None)
                           : show_touch(&of->plan->touches[change->maker - 1]),
        change->method == 0
            ? Py_None
            : PyTuple_GET_ITEM(of->code->co_names, (Py_ssize_t)change->method - 1));
}

static PyObject *
show_region(const shown *of, const void *items, size_t index)
{
    const film_region *region = (const film_region *)items + index;
    const film_write *before = film_region_before(region);
    size_t changes =
        region->change_count > FILM_REGION_CHANGES ? 0 : region->change_count;

    return Py_BuildValue(
        "{sisNsNsNsNsNsNsNsisisNsNsNsNsNsNsNsN}", "place", (int)region->place, "early",
        show_flag(region->early), "sent", show_flag(region->sent), "forward",
        show_flag(region->forward), "reraises", show_flag(region->reraises),
        "quiet_ahead", show_flag(region->quiet_ahead), "early_change",
        show_flag(region->early_change), "point", show_flag(region->point),
        "change_count", (int)region->change_count, "change_mask",
        (int)region->change_mask, "changes",
        show_all(of, film_region_changes(region), changes, show_change), "nexts",
        show_all(of, film_region_stops(region), region->stop_count, show_next),
        "methods",
        show_all(of, film_region_touches(region), region->touch_count, show_method),
        "points_ahead", show_flag(region->points_ahead), "stops",
        show_all(of, film_region_stops(region), region->stop_count, show_stop), "inner",
        show_all(of, film_region_inner(region), region->inner_count, show_inner),
        "touches",
        show_all(of, film_region_touches(region), region->touch_count, show_touch_at),
        "before", before == NULL ? Py_NewRef(Py_None) : show_write(before));
}

static PyObject *
show_number(const shown *Py_UNUSED(of), const void *items, size_t index)
{
    return PyLong_FromLong(((const uint16_t *)items)[index]);
}

/* The number of the region that begins at a place + 1. */
static PyObject *
show_region_at(const shown *of, const void *Py_UNUSED(items), size_t unit)
{
    const film_region *region = film_plan_region(of->plan, (uint32_t)unit);

    return PyLong_FromLong(region == NULL ? 0 : (long)(region - of->plan->regions) + 1);
}

static PyObject *
show_owner(const shown *of, const void *Py_UNUSED(items), size_t unit)
{
    return PyLong_FromLong((long)film_plan_instruction(of->plan, (uint32_t)unit));
}

static PyObject *
show_quiet(const shown *of, const void *Py_UNUSED(items), size_t unit)
{
    return PyLong_FromLong((long)film_plan_quiet_line(of->plan, (uint32_t)unit));
}

/* Where an exception goes that is raised there + 1. */
static PyObject *
show_handler(const shown *of, const void *Py_UNUSED(items), size_t unit)
{
    uint32_t handler, place = film_plan_instruction(of->plan, (uint32_t)unit);

    return PyLong_FromLong(
        film_exception_table_find(of->code, place, &handler) ? (long)handler + 1 : 0);
}

static PyObject *
show_flags(const film_plan *plan)
{
    PyObject *result = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)plan->unit_count);

    for (uint32_t unit = 0; result != NULL && unit < plan->unit_count; unit++) {
        PyBytes_AS_STRING(result)[unit] = (char)film_plan_flags(plan, unit);
    }
    return result;
}

static PyObject *
show_plan(const shown *of)
{
    const film_plan *plan = of->plan;
    uint32_t units = plan->unit_count;

    return Py_BuildValue(
        "{sIsIsNsNsNsNsNsNsisisisN}", "units", units, "points", plan->point_count,
        "regions", show_all(of, plan->regions, plan->region_count, show_region),
        "region_at", show_all(of, NULL, units, show_region_at), "owner",
        show_all(of, NULL, units, show_owner), "handler",
        show_all(of, NULL, units, show_handler), "arguments",
        show_all(of, plan->arguments, plan->argument_count, show_number), "flags",
        show_flags(plan), "entry", plan->entry == NULL ? -1 : (int)plan->entry->place,
        "opening", (int)plan->opening, "opens_calmly", (int)plan->opens_calmly, "quiet",
        show_all(of, NULL, units, show_quiet));
}

/* The plan of a code object, for a test; NULL: it gets none, or with an exception. */
static film_plan *
plan_for_test(PyObject *code)
{
    film_plan_wishes wishes = {0};

    if (!PyCode_Check(code)) {
        PyErr_SetString(PyExc_TypeError, "expected a code object");
        return NULL;
    }
    return film_plan_new((PyCodeObject *)code, &wishes);
}

/* What the function returns where there is no plan. */
static PyObject *
no_plan(void)
{
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

PyObject *
film_plan_show(PyObject *Py_UNUSED(module), PyObject *code)
{
    film_plan *plan = plan_for_test(code);
    shown of = {.plan = plan, .code = (PyCodeObject *)code};
    PyObject *result = plan == NULL ? no_plan() : show_plan(&of);

    film_plan_free(plan);
    return result;
}

PyObject *
film_plan_weigh(PyObject *Py_UNUSED(module), PyObject *code)
{
    film_plan *plan = plan_for_test(code);
    PyObject *result = plan == NULL ? no_plan() : PyLong_FromSize_t(plan->bytes);

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
