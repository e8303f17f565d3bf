/* dates.c: datetime, date, time and timedelta, as <datetime.h> lays them out. Proven by
 * objects that the module's own C API makes for us.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/families/dates.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "recorder/families/family.h"
#include "recorder/families/note.h"

#define DATE_SALT UINT64_C(0x428a2f98d728ae22)

static struct {
    uint32_t era;
    PyDateTime_CAPI *api; /* NULL: not there, or not as we read it */
} known_api;

/* --- proof -------------------------------------------------------------------------- */

static bool
reads_date(PyDateTime_CAPI *api)
{
    PyObject *date = api->Date_FromDate(2024, 2, 29, api->DateType);
    bool right = date != NULL && PyDateTime_GET_YEAR(date) == 2024 &&
                 PyDateTime_GET_MONTH(date) == 2 && PyDateTime_GET_DAY(date) == 29;

    Py_XDECREF(date);
    return right;
}

static bool
reads_datetime(PyDateTime_CAPI *api)
{
    PyObject *date = api->DateTime_FromDateAndTimeAndFold(
        2023, 12, 31, 23, 58, 59, 654321, api->TimeZone_UTC, 1, api->DateTimeType);
    bool right = date != NULL && PyDateTime_GET_YEAR(date) == 2023 &&
                 PyDateTime_GET_MONTH(date) == 12 && PyDateTime_GET_DAY(date) == 31 &&
                 PyDateTime_DATE_GET_HOUR(date) == 23 &&
                 PyDateTime_DATE_GET_MINUTE(date) == 58 &&
                 PyDateTime_DATE_GET_SECOND(date) == 59 &&
                 PyDateTime_DATE_GET_MICROSECOND(date) == 654321 &&
                 PyDateTime_DATE_GET_FOLD(date) == 1 &&
                 PyDateTime_DATE_GET_TZINFO(date) == api->TimeZone_UTC;

    Py_XDECREF(date);
    return right;
}

static bool
reads_time(PyDateTime_CAPI *api)
{
    PyObject *time = api->Time_FromTimeAndFold(23, 58, 59, 654321, api->TimeZone_UTC, 1,
                                               api->TimeType);
    bool right = time != NULL && PyDateTime_TIME_GET_HOUR(time) == 23 &&
                 PyDateTime_TIME_GET_MINUTE(time) == 58 &&
                 PyDateTime_TIME_GET_SECOND(time) == 59 &&
                 PyDateTime_TIME_GET_MICROSECOND(time) == 654321 &&
                 PyDateTime_TIME_GET_FOLD(time) == 1 &&
                 PyDateTime_TIME_GET_TZINFO(time) == api->TimeZone_UTC;

    Py_XDECREF(time);
    return right;
}

static bool
reads_delta(PyDateTime_CAPI *api)
{
    PyObject *delta = api->Delta_FromDelta(-3, 86399, 999999, 0, api->DeltaType);
    bool right = delta != NULL && PyDateTime_DELTA_GET_DAYS(delta) == -3 &&
                 PyDateTime_DELTA_GET_SECONDS(delta) == 86399 &&
                 PyDateTime_DELTA_GET_MICROSECONDS(delta) == 999999;

    Py_XDECREF(delta);
    return right;
}

PyDateTime_CAPI *
film_dates_api(void)
{
    PyObject *capsule, *type, *value, *trace;
    PyDateTime_CAPI *api;

    if (known_api.era == film_the_family_era && known_api.api != NULL) {
        return known_api.api;
    }
    capsule = film_family_global("_datetime", "datetime_CAPI");
    if (capsule == NULL || !PyCapsule_IsValid(capsule, PyDateTime_CAPSULE_NAME) ||
        known_api.era == film_the_family_era) {
        return NULL;
    }
    known_api.era = film_the_family_era;
    known_api.api = NULL;
    PyErr_Fetch(&type, &value, &trace);
    api = PyCapsule_GetPointer(capsule, PyDateTime_CAPSULE_NAME);
    if (api != NULL && reads_date(api) && reads_datetime(api) && reads_time(api) &&
        reads_delta(api)) {
        known_api.api = api;
    }
    PyErr_Restore(type, value, trace);
    return known_api.api;
}

/* --- texts -------------------------------------------------------------------------- */

/* A note being put together: the first tokens are shown, those behind them are there to
 * be asked for. */
typedef struct parts {
    film_template text, names;
    int64_t numbers[8];
    unsigned count, shown;
} parts;

static void
add(parts *of, const char *name, int64_t number, bool shown)
{
    if (of->count > 0) {
        film_template_put(&of->names, ",");
    }
    film_template_put(&of->names, name);
    of->numbers[of->count++] = number;
    if (shown) {
        film_template_put(&of->text, of->shown++ > 0 ? ", " HOLE_VALUE : HOLE_VALUE);
    }
}

static void
put(film_unfinished *making, parts *of, PyObject *zone)
{
    uint32_t tokens = of->count + (zone != NULL);

    film_template_put(&of->text, ")");
    film_note_begin(film_template_keep(&of->text), film_template_keep(&of->names), 0,
                    tokens);
    for (unsigned index = 0; index < of->shown; index++) {
        film_note_int(of->numbers[index]);
    }
    if (zone != NULL) {
        film_note_value(making, zone);
    }
    for (unsigned index = of->shown; index < of->count; index++) {
        film_note_int(of->numbers[index]);
    }
}

/* The names in the order of the tokens: the zone comes behind what is shown. */
static void
add_zone(parts *of, PyObject *zone, bool fold, bool fold_first)
{
    if (fold && fold_first) {
        film_template_put(&of->text, ", fold=1");
    }
    if (zone != NULL) {
        film_template_put(&of->text, ", tzinfo=" HOLE_VALUE);
        film_template_put(&of->names, ",tzinfo");
    }
    if (fold && !fold_first) {
        film_template_put(&of->text, ", fold=1");
    }
}

/* What a day is divided into. */
typedef struct time_of_day {
    int hour, minute, second, micro;
    PyObject *zone; /* borrowed; None: it has none */
    bool fold;
} time_of_day;

/* Zeros at the end are not shown, but can be asked for. */
static void
put_clock(film_unfinished *making, parts *of, time_of_day at, bool fold_first)
{
    PyObject *zone = at.zone == Py_None ? NULL : at.zone;

    add(of, "hour", at.hour, true);
    add(of, "minute", at.minute, true);
    if (at.second != 0 || at.micro != 0) {
        add(of, "second", at.second, true);
    }
    if (at.micro != 0) {
        add(of, "microsecond", at.micro, true);
    }
    add_zone(of, zone, at.fold, fold_first);
    if (at.second == 0 && at.micro == 0) {
        add(of, "second", 0, false);
    }
    if (at.micro == 0) {
        add(of, "microsecond", 0, false);
    }
    put(making, of, zone);
}

static void
open_text(parts *of, const PyTypeObject *type)
{
    of->count = of->shown = 0;
    of->text.length = of->names.length = 0;
    of->text.cut = of->names.cut = false;
    film_template_put_name(&of->text, type->tp_name);
    film_template_put(&of->text, "(");
}

static void
note_date(film_unfinished *making, PyObject *date)
{
    parts of;

    open_text(&of, Py_TYPE(date));
    add(&of, "year", PyDateTime_GET_YEAR(date), true);
    add(&of, "month", PyDateTime_GET_MONTH(date), true);
    add(&of, "day", PyDateTime_GET_DAY(date), true);
    put(making, &of, NULL);
}

static void
note_datetime(film_unfinished *making, PyObject *date)
{
    parts of;

    open_text(&of, Py_TYPE(date));
    add(&of, "year", PyDateTime_GET_YEAR(date), true);
    add(&of, "month", PyDateTime_GET_MONTH(date), true);
    add(&of, "day", PyDateTime_GET_DAY(date), true);
    put_clock(making, &of,
              (time_of_day){.hour = PyDateTime_DATE_GET_HOUR(date),
                            .minute = PyDateTime_DATE_GET_MINUTE(date),
                            .second = PyDateTime_DATE_GET_SECOND(date),
                            .micro = PyDateTime_DATE_GET_MICROSECOND(date),
                            .zone = PyDateTime_DATE_GET_TZINFO(date),
                            .fold = PyDateTime_DATE_GET_FOLD(date) != 0},
              true);
}

static void
note_time(film_unfinished *making, PyObject *time)
{
    parts of;

    open_text(&of, Py_TYPE(time));
    put_clock(making, &of,
              (time_of_day){.hour = PyDateTime_TIME_GET_HOUR(time),
                            .minute = PyDateTime_TIME_GET_MINUTE(time),
                            .second = PyDateTime_TIME_GET_SECOND(time),
                            .micro = PyDateTime_TIME_GET_MICROSECOND(time),
                            .zone = PyDateTime_TIME_GET_TZINFO(time),
                            .fold = PyDateTime_TIME_GET_FOLD(time) != 0},
              false);
}

static void
note_delta(film_unfinished *making, PyObject *delta)
{
    static const char *const names[] = {"days", "seconds", "microseconds"};
    int numbers[] = {PyDateTime_DELTA_GET_DAYS(delta),
                     PyDateTime_DELTA_GET_SECONDS(delta),
                     PyDateTime_DELTA_GET_MICROSECONDS(delta)};
    parts of;

    open_text(&of, Py_TYPE(delta));
    for (int index = 0; index < 3; index++) {
        if (numbers[index] != 0) {
            film_template_put(&of.text, of.shown > 0 ? ", " : "");
            film_template_put(&of.text, names[index]);
            film_template_put(&of.text, "=" HOLE_VALUE);
            of.shown++;
            add(&of, names[index], numbers[index], false);
        }
    }
    if (of.shown == 0) {
        film_template_put(&of.text, "0");
    }
    for (int index = 0; index < 3; index++) {
        if (numbers[index] == 0) {
            add(&of, names[index], 0, false);
        }
    }
    put(making, &of, NULL);
}

/* --- the family --------------------------------------------------------------------- */

static bool
is_one(PyObject *object, PyTypeObject *type)
{
    return Py_TYPE(object) == type || PyType_IsSubtype(Py_TYPE(object), type) != 0;
}

static bool
note(film_unfinished *making)
{
    PyDateTime_CAPI *api = film_dates_api();
    PyObject *object = making->object;

    if (api == NULL) {
        return false;
    }
    if (is_one(object, api->DateTimeType)) {
        note_datetime(making, object);
    }
    else if (is_one(object, api->DateType)) {
        note_date(making, object);
    }
    else if (is_one(object, api->TimeType)) {
        note_time(making, object);
    }
    else {
        note_delta(making, object);
    }
    return true;
}

static uint64_t
mixed(uint64_t salt, uint64_t first, uint64_t second)
{
    uint64_t sum = film_digest_mix(film_digest_mix(DATE_SALT, salt), first);

    sum = film_digest_mix(sum, second);
    return sum == 0 ? 1 : sum;
}

/* Of one without a zone: that is another object. */
static uint64_t
word(PyObject *value)
{
    const PyDateTime_CAPI *api = film_dates_api();
    const PyTypeObject *type = Py_TYPE(value);
    uint64_t bytes[2] = {0, 0};

    if (api == NULL) {
        return 0;
    }
    if (type == api->DeltaType) {
        return mixed(1, (uint64_t)PyDateTime_DELTA_GET_DAYS(value),
                     (uint64_t)PyDateTime_DELTA_GET_SECONDS(value) << 32 |
                         (uint64_t)PyDateTime_DELTA_GET_MICROSECONDS(value));
    }
    if (type == api->DateType) {
        memcpy(bytes, ((PyDateTime_Date *)value)->data, _PyDateTime_DATE_DATASIZE);
        return mixed(2, bytes[0], 0);
    }
    if (type == api->TimeType && !((PyDateTime_Time *)value)->hastzinfo) {
        memcpy(bytes, ((PyDateTime_Time *)value)->data, _PyDateTime_TIME_DATASIZE);
        return mixed(3, bytes[0], ((PyDateTime_Time *)value)->fold);
    }
    if (type == api->DateTimeType && !((PyDateTime_DateTime *)value)->hastzinfo) {
        memcpy(bytes, ((PyDateTime_DateTime *)value)->data,
               _PyDateTime_DATETIME_DATASIZE);
        return mixed(4 + (uint64_t)((PyDateTime_DateTime *)value)->fold, bytes[0],
                     bytes[1]);
    }
    return 0;
}

static bool
learn(film_type *known, PyTypeObject *type)
{
    PyDateTime_CAPI *api;
    PyTypeObject *types[4];

    if (film_family_global("_datetime", "datetime_CAPI") == NULL ||
        (api = film_dates_api()) == NULL) {
        return false;
    }
    types[0] = api->DateTimeType; /* a class made of a date's */
    types[1] = api->DateType;
    types[2] = api->TimeType;
    types[3] = api->DeltaType;
    for (int index = 0; index < 4; index++) {
        if (type == types[index] || PyType_IsSubtype(type, types[index])) {
            known->said = known->said || type == types[index];
            return true;
        }
    }
    return false;
}

const film_family film_family_dates = {
    .learn = learn, .note = note, .word = word, .whole = true};
