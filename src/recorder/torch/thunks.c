/* thunks.c: see thunks.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/torch/thunks.h"

#include "recorder/torch/operation_rows.h"

/* Of each of the two kinds. */
#define THUNKS 512u
#define MOST_VALUES 64 /* of one call; one with more is not told */

typedef struct thunk {
    PyMethodDef *method; /* NULL: not used yet. For good: a bound method may keep it */
    PyCFunction original;
    film_operation *operation; /* NULL: its calls are not told */
} thunk;

static thunk bare[THUNKS];  /* methods without arguments, or with one as it is */
static thunk given[THUNKS]; /* those with a tuple and a dict */

static FILM_HOT PyObject *
bare_called(const thunk *called, PyObject *self, PyObject *argument)
{
    PyObject *const values[] = {self, argument};
    film_operation_call call = {.operation = called->operation,
                                .values = values,
                                .count = argument == NULL ? 1 : 2};
    bool told = call.operation != NULL && film_operation_begin(&call);
    PyObject *result = called->original(self, argument);

    if (told) {
        film_operation_end(&call, result);
    }
    return result;
}

/* What the method was given, in `values`; the names of the last ones are the dict's keys.
 * False: too much. All borrowed. */
static bool
gather(film_operation_call *call, PyObject *self, PyObject *arguments,
       PyObject *keywords, PyObject **values)
{
    Py_ssize_t positional = PyTuple_GET_SIZE(arguments), position = 0;
    Py_ssize_t named = keywords == NULL ? 0 : PyDict_GET_SIZE(keywords);
    PyObject *key, *value;

    if (1 + positional + named > MOST_VALUES) {
        return false;
    }
    values[call->count++] = self;
    for (Py_ssize_t index = 0; index < positional; index++) {
        values[call->count++] = PyTuple_GET_ITEM(arguments, index);
    }
    while (named > 0 && PyDict_Next(keywords, &position, &key, &value)) {
        values[call->count++] = value;
    }
    call->values = values;
    call->keywords = named > 0 ? keywords : NULL;
    return true;
}

static FILM_HOT PyObject *
given_called(const thunk *called, PyObject *self, PyObject *arguments,
             PyObject *keywords)
{
    PyObject *values[MOST_VALUES];
    film_operation_call call = {.operation = called->operation};
    bool told = call.operation != NULL && self != NULL &&
                gather(&call, self, arguments, keywords, values) &&
                film_operation_begin(&call);
    PyObject *result = ((PyCFunctionWithKeywords)(void (*)(void))called->original)(
        self, arguments, keywords);

    if (told) {
        film_operation_end(&call, result);
    }
    return result;
}

#define THUNK(number)                                                                  \
    static PyObject *bare_##number(PyObject *self, PyObject *argument)                 \
    {                                                                                  \
        return bare_called(&bare[0x##number], self, argument);                         \
    }                                                                                  \
    static PyObject *given_##number(PyObject *self, PyObject *arguments,               \
                                    PyObject *keywords)                                \
    {                                                                                  \
        return given_called(&given[0x##number], self, arguments, keywords);            \
    }
#define BARE(number) bare_##number,
#define GIVEN(number) (PyCFunction)(void (*)(void)) given_##number,

/* clang-format off */
#define EACH_OF_16(what, base)                                                         \
    what(base##0) what(base##1) what(base##2) what(base##3)                            \
    what(base##4) what(base##5) what(base##6) what(base##7)                            \
    what(base##8) what(base##9) what(base##a) what(base##b)                            \
    what(base##c) what(base##d) what(base##e) what(base##f)
#define EACH_OF_256(what, base)                                                        \
    EACH_OF_16(what, base##0) EACH_OF_16(what, base##1) EACH_OF_16(what, base##2)      \
    EACH_OF_16(what, base##3) EACH_OF_16(what, base##4) EACH_OF_16(what, base##5)      \
    EACH_OF_16(what, base##6) EACH_OF_16(what, base##7) EACH_OF_16(what, base##8)      \
    EACH_OF_16(what, base##9) EACH_OF_16(what, base##a) EACH_OF_16(what, base##b)      \
    EACH_OF_16(what, base##c) EACH_OF_16(what, base##d) EACH_OF_16(what, base##e)      \
    EACH_OF_16(what, base##f)

EACH_OF_256(THUNK, 0)
EACH_OF_256(THUNK, 1)

static const PyCFunction bare_functions[THUNKS] = {
    EACH_OF_256(BARE, 0) EACH_OF_256(BARE, 1)
};
static const PyCFunction given_functions[THUNKS] = {
    EACH_OF_256(GIVEN, 0) EACH_OF_256(GIVEN, 1)
};
/* clang-format on */

void
film_thunk_put(film_operation *operation)
{
    PyMethodDef *method = ((PyMethodDescrObject *)operation->callable)->d_method;
    bool is_bare = (method->ml_flags & (METH_NOARGS | METH_O)) != 0;
    thunk *table = is_bare ? bare : given;
    const PyCFunction *functions = is_bare ? bare_functions : given_functions;

    for (size_t which = 0; which < THUNKS; which++) {
        if (table[which].method == NULL) {
            table[which].method = method;
            table[which].original = method->ml_meth;
        }
        if (table[which].method == method) {
            if (table[which].operation == NULL) {
                table[which].operation = operation;
                method->ml_meth = functions[which];
            } /* else another descriptor of the same method came first */
            return;
        }
    }
}

static void
remove_from(thunk *table, const PyCFunction *functions)
{
    for (size_t which = 0; which < THUNKS && table[which].method != NULL; which++) {
        if (table[which].method->ml_meth == functions[which]) {
            table[which].method->ml_meth = table[which].original;
        }
        table[which].operation = NULL;
    }
}

void
film_thunks_remove(void)
{
    remove_from(bare, bare_functions);
    remove_from(given, given_functions);
}
