/* modules.c: see modules.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/torch/modules.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/intern.h"
#include "recorder/attributes.h"
#include "recorder/capture.h"
#include "recorder/capture_keep.h"
#include "recorder/objects.h"
#include "recorder/text.h"

#define PATH_BYTES 512u
#define NAME_BYTES 128u
#define FAR_FRAMES 256u /* how far enclosing modules are looked for */
#define DEEPEST 8u      /* levels of modules that are not called themselves */
#define MOST_LOOKED_AT 20000u

typedef struct known_module {
    char *path;  /* owned; "" for an outermost one */
    uint32_t id; /* string id of what is told */
} known_module;

static struct {
    film_intern places;    /* of a module's serial in `modules` */
    known_module *modules; /* owned */
    size_t capacity, count;
} known;

const PyObject *film_the_module_call;
static PyObject *modules_key; /* "_modules", owned */

void
film_modules_begin(void)
{
    PyObject *module =
        film_dict_find(PyImport_GetModuleDict(), "torch.nn.modules.module");
    PyObject *type, *call = NULL;

    film_the_module_call = NULL;
    if (modules_key == NULL) {
        modules_key = PyUnicode_InternFromString("_modules");
    }
    if (module == NULL || !PyModule_Check(module) || modules_key == NULL) {
        PyErr_Clear();
        return;
    }
    type = film_dict_find(PyModule_GetDict(module), "Module");
    if (type != NULL && PyType_Check(type)) {
        call = film_dict_find(film_type_dict((PyTypeObject *)type), "_call_impl");
    }
    if (call != NULL && PyFunction_Check(call)) {
        film_the_module_call = PyFunction_GET_CODE(call);
    }
}

void
film_modules_reset(void)
{
    for (size_t index = 0; index < known.count; index++) {
        film_free(known.modules[index].path);
    }
    film_free(known.modules);
    film_intern_reset(&known.places);
    memset(&known, 0, sizeof(known));
}

/* The module a frame of _call_impl calls; NULL: not readable. Borrowed. */
static PyObject *
called_module(const film_frame *frame)
{
    PyObject *self = film_frame_local(frame, 0);

    /* An inner function of _call_impl uses it too. */
    return self != NULL && PyCell_Check(self) ? PyCell_GET(self) : self;
}

/* The dict of its direct children; NULL: none. Borrowed. */
static PyObject *
children_of(PyObject *module)
{
    PyObject *children = film_attribute_kept(module, modules_key);

    return children != NULL && PyDict_Check(children) ? children : NULL;
}

/* Looks for `wanted` exactly `level` levels below `module`; its path from there is put at
 * the end of `path`. */
static bool
find_below(PyObject *module, const PyObject *wanted, uint32_t level, char *path,
           size_t length, uint32_t *looks)
{
    PyObject *children = children_of(module), *key, *child;
    Py_ssize_t position = 0;

    if (children == NULL) {
        return false;
    }
    while (PyDict_Next(children, &position, &key, &child) && *looks > 0) {
        char name[NAME_BYTES];
        size_t end;

        --*looks;
        if (!PyUnicode_CheckExact(key) || (level == 1 && child != wanted)) {
            continue;
        }
        (void)film_text_copy(key, name, sizeof(name) - 1, NULL);
        end = length + (size_t)snprintf(path + length, PATH_BYTES - length, "%s%s",
                                        length == 0 ? "" : ".", name);
        if (end >= PATH_BYTES) {
            continue;
        }
        if (level == 1 || find_below(child, wanted, level - 1, path, end, looks)) {
            return true;
        }
    }
    path[length] = '\0';
    return false;
}

static known_module *
find_known(const film_object *object)
{
    uint32_t place;

    return film_intern_find(&known.places, object->serial, &place)
               ? &known.modules[place]
               : NULL;
}

static film_object *
see(film_context *context, PyObject *module)
{
    film_holder nowhere = {.kind = FILM_HOLDER_NONE};
    film_object *object = film_objects_find_sure(module);
    bool seen;

    return object != NULL ? object : film_objects_see(context, module, &nowhere, &seen);
}

/* Puts the path of `module`, called by `frame`, as the nearest enclosing module that has
 * it says; false: none does. */
static bool
find_path(film_context *context, PyObject *module, const film_frame *frame, char *path)
{
    uint32_t looks = MOST_LOOKED_AT;

    for (uint32_t walked = 0; walked < FAR_FRAMES; walked++) {
        PyObject *parent;
        const known_module *above;
        const film_object *object;

        frame = film_frame_caller(frame);
        if (frame == NULL) {
            return false;
        }
        if (!film_frame_calls_module(frame) || film_frame_is_incomplete(frame) ||
            (parent = called_module(frame)) == NULL || parent == module) {
            continue;
        }
        (void)film_module_path(context, frame);
        object = see(context, parent);
        above = object == NULL ? NULL : find_known(object);
        (void)snprintf(path, PATH_BYTES, "%s", above == NULL ? "" : above->path);
        for (uint32_t level = 1; level <= DEEPEST && looks > 0; level++) {
            if (find_below(parent, module, level, path, strlen(path), &looks)) {
                return true;
            }
        }
    }
    return false;
}

static uint32_t
keep(const film_object *object, const char *path, const char *shown)
{
    known_module *modules = film_grow(known.modules, &known.capacity, known.count + 1,
                                      sizeof(*known.modules));
    char *copy = film_alloc(strlen(path) + 1);
    uint32_t id = film_keep_string(shown, strlen(shown));

    if (modules != NULL) {
        known.modules = modules;
    }
    if (modules == NULL || copy == NULL ||
        !film_intern_add(&known.places, object->serial, (uint32_t)known.count)) {
        film_free(copy);
        return id;
    }
    strcpy(copy, path);
    known.modules[known.count++] = (known_module){.path = copy, .id = id};
    return id;
}

uint32_t
film_module_path(film_context *context, const film_frame *frame)
{
    PyObject *module = called_module(frame);
    const film_object *object;
    const known_module *found;
    char path[PATH_BYTES] = "";

    if (module == NULL || (Py_TYPE(module)->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0) {
        return 0;
    }
    object = see(context, module);
    if (object == NULL) {
        return 0;
    }
    found = find_known(object);
    if (FILM_LIKELY(found != NULL)) {
        return found->id;
    }
    if (find_path(context, module, frame, path)) {
        object = see(context, module); /* it may have moved */
        return object == NULL ? 0 : keep(object, path, path);
    }
    object = see(context, module);
    return object == NULL ? 0
                          : keep(object, "",
                                 strrchr(Py_TYPE(module)->tp_name, '.')
                                     ? strrchr(Py_TYPE(module)->tp_name, '.') + 1
                                     : Py_TYPE(module)->tp_name);
}
