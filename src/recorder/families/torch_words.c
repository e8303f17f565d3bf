/* torch_words.c: torch.float32, torch.strided, device(type='cuda', index=0): what says how
 * a tensor is to be made. They never change, and their repr() is C code of torch's, which
 * makes a str and nothing else: it is asked, once for each of the few there are.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/families/family.h"

#include <string.h>

#include "base/hash.h"
#include "recorder/families/note.h"

/* The first ones exist once each, and for good. */
static const char *const types[] = {"torch.dtype", "torch.layout",
                                    "torch.memory_format", "torch.qscheme",
                                    "torch.device"};
#define TYPES (sizeof(types) / sizeof(types[0]))
#define DEVICE (TYPES - 1)

#define TEXT_BYTES 96

/* No class statement makes a type that is not on the heap: the name cannot be had by any
 * other. TYPES: it is none of them. */
static size_t
find(const PyTypeObject *type)
{
    size_t index = 0;

    if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0 || type->tp_repr == NULL) {
        return TYPES;
    }
    while (index < TYPES && strcmp(type->tp_name, types[index]) != 0) {
        index++;
    }
    return index;
}

/* What it says of itself, which is ASCII; false: nothing that can be told. */
static bool
say(PyObject *object, char text[TEXT_BYTES])
{
    PyObject *type, *value, *trace, *said;
    bool right;

    PyErr_Fetch(&type, &value, &trace);
    said = Py_TYPE(object)->tp_repr(object);
    right = said != NULL && PyUnicode_CheckExact(said) && PyUnicode_IS_ASCII(said) &&
            PyUnicode_GET_LENGTH(said) < TEXT_BYTES;
    if (right) {
        memcpy(text, PyUnicode_1BYTE_DATA(said), (size_t)PyUnicode_GET_LENGTH(said));
        text[PyUnicode_GET_LENGTH(said)] = '\0';
    }
    Py_XDECREF(said);
    PyErr_Restore(type, value, trace);
    return right;
}

static bool
note(film_unfinished *making)
{
    film_template made = {0};
    char text[TEXT_BYTES];

    if (!say(making->object, text)) {
        return false;
    }
    film_template_put(&made, text);
    film_note_begin(film_template_keep(&made), 0, 0, 0);
    return true;
}

static uint64_t
word(PyObject *value)
{
    char text[TEXT_BYTES];

    if (find(Py_TYPE(value)) != DEVICE) {
        return (uint64_t)(uintptr_t)value;
    }
    return say(value, text) ? film_hash(text, strlen(text)) : 0;
}

static bool
learn(film_type *known, PyTypeObject *type)
{
    known->said = find(type) != TYPES;
    return known->said;
}

const film_family film_family_torch = {
    .learn = learn, .note = note, .word = word, .whole = true};
