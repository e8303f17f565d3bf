/* zones.c: datetime.timezone and zoneinfo.ZoneInfo.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/families/family.h"

#include "recorder/compat_modules.h"
#include "recorder/families/dates.h"
#include "recorder/families/note.h"

static Py_ssize_t key_offset; /* of ZoneInfo.key */

static PyTypeObject *
zone_type(void)
{
    const PyDateTime_CAPI *api = film_dates_api();

    return api == NULL ? NULL : Py_TYPE(api->TimeZone_UTC);
}

/* UTC is a timezone of no offset, as we read it. */
static bool
is_proven(const PyDateTime_CAPI *api)
{
    const film_timezone *utc = (const film_timezone *)api->TimeZone_UTC;

    return Py_TYPE(api->TimeZone_UTC)->tp_basicsize >= (Py_ssize_t)sizeof(*utc) &&
           utc->offset != NULL && Py_TYPE(utc->offset) == api->DeltaType &&
           PyDateTime_DELTA_GET_DAYS(utc->offset) == 0 &&
           PyDateTime_DELTA_GET_SECONDS(utc->offset) == 0 && utc->name == NULL;
}

static bool
learn(film_type *known, PyTypeObject *type)
{
    const PyTypeObject *zone;

    if (film_family_global("_datetime", "datetime_CAPI") != NULL &&
        (zone = zone_type()) != NULL && type == zone) {
        known->said = true;
        return is_proven(film_dates_api());
    }
    if ((const PyObject *)type == film_family_global("_zoneinfo", "ZoneInfo") &&
        film_family_member(type, "key", &key_offset)) {
        known->said = true;
        return true;
    }
    return false;
}

static void
note_offset(film_unfinished *making, const film_timezone *zone)
{
    static film_phrase utc = {"datetime.timezone.utc", 0, 0};
    static film_phrase offset = {"datetime.timezone(" HOLE_VALUE ")", 0, 0};
    static film_phrase named = {"datetime.timezone(" HOLE_VALUE ", " HOLE_VALUE ")", 0,
                                0};

    if ((const PyObject *)zone == film_dates_api()->TimeZone_UTC) {
        film_note_begin(film_phrase_id(&utc), 0, 0, 0);
        return;
    }
    film_note_begin(film_phrase_id(zone->name == NULL ? &offset : &named), 0, 0,
                    zone->name == NULL ? 1 : 2);
    film_note_value(making, zone->offset);
    if (zone->name != NULL) {
        film_note_value(making, zone->name);
    }
}

static bool
note(film_unfinished *making)
{
    static film_phrase zone_info = {"zoneinfo.ZoneInfo(key=" HOLE_VALUE ")", 0, 0};
    static film_phrase key_name = {"key", 0, 0};
    PyObject *key;

    if (Py_TYPE(making->object) == zone_type()) {
        note_offset(making, (const film_timezone *)making->object);
        return true;
    }
    key = film_family_object_at(making->object, key_offset);
    if (key == NULL || key == Py_None) {
        return false;
    }
    film_note_begin(film_phrase_id(&zone_info), film_phrase_id(&key_name), 0, 1);
    film_note_value(making, key);
    return true;
}

const film_family film_family_zones = {.learn = learn, .note = note, .whole = true};
