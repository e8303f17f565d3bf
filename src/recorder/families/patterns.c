/* patterns.c: re.Pattern and re.Match. A pattern is found by the members it declares; a
 * match's span is proven by what its own method says of the first one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/families/family.h"

#include <stdio.h>
#include <string.h>

#include "recorder/attributes.h"
#include "recorder/compat_modules.h"
#include "recorder/compat_objects.h"
#include "recorder/families/note.h"
#include "recorder/text.h"

#define MATCHED_BYTES 256u
#define UTF8_BYTES 4u
#define LOCALE 4u
#define UNICODE 32u
#define ASCII 256u

static Py_ssize_t pattern_offset, flags_offset; /* of re.Pattern */

static film_proof proof;

/* --- patterns ----------------------------------------------------------------------- */

/* An int member; false: it is not declared so. */
static bool
int_member(PyTypeObject *type, const char *name, Py_ssize_t *offset)
{
    PyObject *dict = film_type_dict(type);
    PyObject *found = dict == NULL ? NULL : film_dict_find(dict, name);
    const PyMemberDef *member;

    if (found == NULL || Py_TYPE(found) != &PyMemberDescr_Type) {
        return false;
    }
    member = ((PyMemberDescrObject *)found)->d_member;
    *offset = member->offset;
    return member->type == T_INT;
}

static void
put_flags(film_template *made, unsigned flags)
{
    static const char *const names[] = {"re.TEMPLATE",  "re.IGNORECASE", "re.LOCALE",
                                        "re.MULTILINE", "re.DOTALL",     "re.UNICODE",
                                        "re.VERBOSE",   "re.DEBUG",      "re.ASCII"};
    const char *between = ", ";

    for (unsigned bit = 0; bit < sizeof(names) / sizeof(names[0]); bit++) {
        if ((flags & 1u << bit) != 0) {
            film_template_put(made, between);
            film_template_put(made, names[bit]);
            between = "|";
        }
    }
    if (flags >> (sizeof(names) / sizeof(names[0])) != 0) {
        char text[16];

        snprintf(text, sizeof(text), "0x%x", flags & ~0x1ffu);
        film_template_put(made, between);
        film_template_put(made, text);
    }
}

static bool
note_pattern(film_unfinished *making)
{
    static film_phrase names = {"pattern,flags", 0, 0};
    PyObject *pattern = film_family_object_at(making->object, pattern_offset);
    unsigned flags = *(const unsigned *)((const char *)making->object + flags_offset);
    unsigned shown = flags;
    film_template made = {0};

    if (pattern == NULL) {
        return false;
    }
    if (PyUnicode_Check(pattern) && (flags & (LOCALE | UNICODE | ASCII)) == UNICODE) {
        shown &= ~UNICODE;
    }
    film_template_put(&made, "re.compile(" HOLE_VALUE);
    put_flags(&made, shown);
    film_template_put(&made, ")");
    film_note_begin(film_template_keep(&made), film_phrase_id(&names), 0, 2);
    film_note_value(making, pattern);
    film_note_int(flags);
    return true;
}

/* --- matches ------------------------------------------------------------------------ */

/* What match.span() says: C code of a type that nobody can change. The collector, which
 * would run finalizers of the program, is held meanwhile. */
static bool
says_span(PyObject *match, Py_ssize_t first, Py_ssize_t last)
{
    PyObject *type, *value, *trace, *method, *span;
    bool collects = PyGC_Disable() != 0, right = false;

    PyErr_Fetch(&type, &value, &trace);
    method = film_dict_find(film_type_dict(Py_TYPE(match)), "span");
    span = method == NULL || Py_TYPE(method) != &PyMethodDescr_Type
               ? NULL
               : PyObject_CallOneArg(method, match);
    if (span != NULL && PyTuple_CheckExact(span) && PyTuple_GET_SIZE(span) == 2) {
        right = PyLong_AsSsize_t(PyTuple_GET_ITEM(span, 0)) == first &&
                PyLong_AsSsize_t(PyTuple_GET_ITEM(span, 1)) == last;
    }
    Py_XDECREF(span);
    PyErr_Restore(type, value, trace);
    if (collects) {
        PyGC_Enable();
    }
    return right;
}

static bool
prove(PyObject *object)
{
    const film_match *match = (const film_match *)object;

    if (film_proof_is_open(&proof)) {
        film_proof_settle(&proof, says_span(object, match->marks[0], match->marks[1]));
    }
    return proof.proven;
}

/* A part of a str as UTF-8. */
static size_t
copy_part(PyObject *text, Py_ssize_t first, Py_ssize_t last, char *to, bool *cut)
{
    size_t length = 0;
    int kind = PyUnicode_KIND(text);

    for (; first < last && length + UTF8_BYTES < MATCHED_BYTES; first++) {
        length += film_text_encode(PyUnicode_READ(kind, PyUnicode_DATA(text), first),
                                   to + length);
    }
    *cut = first < last;
    return length;
}

static bool
note_match(film_unfinished *making)
{
    static film_phrase names = {"start,end", 0, 0};
    static film_phrase phrase = {"<re.Match object; span=(" HOLE_VALUE ", " HOLE_VALUE
                                 "), match=" HOLE_VALUE ">",
                                 0, 0};
    const film_match *match = (const film_match *)making->object;
    PyObject *searched = match->string;
    Py_ssize_t first = match->marks[0], last = match->marks[1], length;
    char text[MATCHED_BYTES];
    bool cut = false;

    if (!prove(making->object) || searched == NULL) {
        return false;
    }
    length = PyUnicode_Check(searched) ? PyUnicode_GET_LENGTH(searched)
             : PyBytes_Check(searched) ? PyBytes_GET_SIZE(searched)
                                       : -1;
    if (first < 0 || first > last || last > length) {
        return false;
    }
    film_note_begin(film_phrase_id(&phrase), film_phrase_id(&names), 0, 3);
    film_note_int(first);
    film_note_int(last);
    if (PyUnicode_Check(searched)) {
        film_note_text(making, text, copy_part(searched, first, last, text, &cut));
    }
    else {
        film_note_bytes(making, PyBytes_AS_STRING(searched) + first,
                        (size_t)(last - first));
    }
    making->cut = making->cut || cut;
    return true;
}

/* --- the family --------------------------------------------------------------------- */

static bool
learn(film_type *known, PyTypeObject *type)
{
    if ((type->tp_flags & Py_TPFLAGS_IMMUTABLETYPE) == 0) {
        return false;
    }
    if (strcmp(type->tp_name, "re.Pattern") == 0) {
        known->said = film_family_member(type, "pattern", &pattern_offset) &&
                      int_member(type, "flags", &flags_offset);
    }
    else if (strcmp(type->tp_name, "re.Match") == 0) {
        Py_ssize_t offset;

        known->said = film_family_member(type, "string", &offset) &&
                      offset == (Py_ssize_t)offsetof(film_match, string) &&
                      film_family_member(type, "re", &offset) &&
                      offset == (Py_ssize_t)offsetof(film_match, pattern);
    }
    return known->said;
}

static bool
note(film_unfinished *making)
{
    return Py_TYPE(making->object)->tp_name[3] == 'P' ? note_pattern(making)
                                                      : note_match(making);
}

const film_family film_family_patterns = {.learn = learn, .note = note, .whole = true};
