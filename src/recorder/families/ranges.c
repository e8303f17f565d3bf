/* ranges.c: range and slice. What a slice holds may be any object.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/families/family.h"

#include "recorder/compat_objects.h"
#include "recorder/families/note.h"

static Py_ssize_t range_start, range_stop, range_step; /* offsets */

static bool
learn(film_type *known, PyTypeObject *type)
{
    if (type == &PyRange_Type) {
        if (!film_family_member(type, "start", &range_start) ||
            !film_family_member(type, "stop", &range_stop) ||
            !film_family_member(type, "step", &range_step)) {
            return false;
        }
    }
    else if (type != &PySlice_Type) {
        return false;
    }
    known->said = true;
    return true;
}

static bool
note(film_unfinished *making)
{
    static film_phrase names = {"start,stop,step", 0, 0};
    static film_phrase short_range = {"range(" HOLE_VALUE ", " HOLE_VALUE ")", 0, 0};
    static film_phrase range = {"range(" HOLE_VALUE ", " HOLE_VALUE ", " HOLE_VALUE ")",
                                0, 0};
    static film_phrase slice = {"slice(" HOLE_VALUE ", " HOLE_VALUE ", " HOLE_VALUE ")",
                                0, 0};
    PyObject *object = making->object;
    PyObject *parts[3];
    film_phrase *phrase = &slice;

    if (PySlice_Check(object)) {
        const PySliceObject *fields = (const PySliceObject *)object;

        parts[0] = fields->start;
        parts[1] = fields->stop;
        parts[2] = fields->step;
    }
    else {
        int64_t step;

        parts[0] = film_family_object_at(object, range_start);
        parts[1] = film_family_object_at(object, range_stop);
        parts[2] = film_family_object_at(object, range_step);
        phrase = parts[2] != NULL && PyLong_CheckExact(parts[2]) &&
                         film_long_small(parts[2], &step) && step == 1
                     ? &short_range
                     : &range;
    }
    film_note_begin(film_phrase_id(phrase), film_phrase_id(&names), 0, 3);
    for (int index = 0; index < 3; index++) {
        film_note_value(making, parts[index]);
    }
    return true;
}

const film_family film_family_ranges = {.learn = learn, .note = note, .whole = true};
