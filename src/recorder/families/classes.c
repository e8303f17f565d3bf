/* classes.c: classes of the standard library whose instances are known by a few of their
 * attributes: Enum, Fraction, UUID, ipaddress, Path. Their text is made by readers, of
 * what the attributes hold by then.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/families/family.h"

#include "format/value_record.h"
#include "recorder/compat_modules.h"
#include "recorder/families/note.h"

#define IPV6 (FILM_IPV6_SHOWS_MAPPED ? HOLE_MAPPED : HOLE_ADDRESS6)

static const struct known_class {
    const char *module, *name;
    const char *before, *behind; /* around the name of the class */
    const char *attributes;      /* that the holes show, in order */
} classes[] = {
    {"enum", "Enum", "<", HOLE_MEMBER ": " HOLE_ATTRIBUTE ">", "_name_,_value_"},
    {"fractions", "Fraction", "", "(" HOLE_ATTRIBUTE ", " HOLE_ATTRIBUTE ")",
     "_numerator,_denominator"},
    {"uuid", "UUID", "", "('" HOLE_UUID "')", "int"},
    {"ipaddress", "IPv4Interface", "", "('" HOLE_ADDRESS4 "/" HOLE_ATTRIBUTE "')",
     "_ip,_prefixlen"},
    {"ipaddress", "IPv6Interface", "", NULL, "_ip,_prefixlen"},
    {"ipaddress", "IPv4Address", "", "('" HOLE_ADDRESS4 "')", "_ip"},
    {"ipaddress", "IPv6Address", "", NULL, "_ip"},
    {"ipaddress", "IPv4Network", "", "('" HOLE_ADDRESS4 "/" HOLE_ATTRIBUTE "')",
     "network_address,_prefixlen"},
    {"ipaddress", "IPv6Network", "", NULL, "network_address,_prefixlen"},
    {"pathlib", "PureWindowsPath", NULL, NULL, NULL},
    {"pathlib", "PurePath", "", "(" HOLE_PATH ")", "_str,_raw_paths,_parts"},
};

/* IPv6 is written in another way by later Pythons. */
static void
put_ipv6(film_template *made, const struct known_class *of)
{
    film_template_put(made, "('");
    film_template_put(made, IPV6);
    film_template_put(made, of->name[4] == 'A' ? "')" : "/" HOLE_ATTRIBUTE "')");
}

/* IntEnum, IntFlag, StrEnum. */
static bool
is_scalar_too(PyTypeObject *type)
{
    return PyType_FastSubclass(type, Py_TPFLAGS_LONG_SUBCLASS |
                                         Py_TPFLAGS_UNICODE_SUBCLASS |
                                         Py_TPFLAGS_BYTES_SUBCLASS) ||
           PyType_IsSubtype(type, &PyFloat_Type);
}

/* Their str() is that of the scalar. */
static bool
says_value(PyTypeObject *type)
{
    return film_family_comes_from(type, film_family_global("enum", "ReprEnum"));
}

static bool
learn(film_type *known, PyTypeObject *type)
{
    const struct known_class *of = NULL;
    film_template made = {0}, names = {0};

    if (known->content != FILM_CONTENT_INSTANCE) {
        return false;
    }
    for (size_t index = 0; of == NULL && index < sizeof(classes) / sizeof(classes[0]);
         index++) {
        if (film_family_comes_from(
                type, film_family_global(classes[index].module, classes[index].name))) {
            of = &classes[index];
        }
    }
    if (of == NULL || of->before == NULL) {
        return false;
    }
    film_template_put(&made, of->before);
    film_template_put_short(&made, type);
    if (of->behind != NULL) {
        film_template_put(&made, of->behind);
    }
    else {
        put_ipv6(&made, of);
    }
    film_template_put(&names, of->attributes);
    known->note_text = film_template_keep(&made);
    known->note_names = film_template_keep(&names);
    if (of == &classes[0] && is_scalar_too(type)) {
        known->note_base =
            FILM_BASE_IS_VALUE | (says_value(type) ? FILM_BASE_SAYS_VALUE : 0);
    }
    return true;
}

const film_family film_family_classes = {.learn = learn};
