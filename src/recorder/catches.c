/* catches.c: see catches.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/catches.h"

#include <stdlib.h>

#include "recorder/compat_opcodes.h"
#include "recorder/exception_table.h"

typedef enum catch_kind {
    CATCH_NONE,
    CATCH_LOOP,  /* FOR_ITER, SEND: a StopIteration raised here goes on */
    CATCH_SENT,  /* handler: a StopIteration is what was awaited, others go on */
    CATCH_ASYNC, /* handler: a StopAsyncIteration ends the loop, others go on */
    CATCH_TIDY   /* handler: puts things in order and raises again */
} catch_kind;

typedef struct film_catch {
    uint32_t unit : 29;
    uint32_t kind : 3;
} film_catch;

struct film_catches {
    uint32_t count;
    film_catch places[]; /* in order of their units */
};

#define MOST_UNITS (1u << 28)

typedef struct plain_bytecode {
    const uint8_t *bytes;
    uint32_t unit_count;
} plain_bytecode;

static uint8_t
opcode_at(const plain_bytecode *bytecode, uint32_t unit)
{
    return unit < bytecode->unit_count ? bytecode->bytes[2 * (size_t)unit] : 0;
}

/* What begins at `unit`, if that is a handler. */
static catch_kind
kind_of_handler(const plain_bytecode *bytecode, uint32_t unit)
{
    uint8_t opcode = opcode_at(bytecode, unit), after = opcode_at(bytecode, unit + 1);

    if (FILM_IS_CLEANUP_THROW(opcode)) {
        return CATCH_SENT;
    }
    if (opcode == END_ASYNC_FOR) {
        return CATCH_ASYNC;
    }
    if ((opcode == COPY && after == POP_EXCEPT) ||
        (FILM_IS_STOP_ITERATION_ERROR(opcode, bytecode->bytes[2 * (size_t)unit + 1]) &&
         after == RERAISE)) {
        return CATCH_TIDY;
    }
    return CATCH_NONE;
}

static int
by_unit(const void *one, const void *other)
{
    uint32_t a = ((const film_catch *)one)->unit, b = ((const film_catch *)other)->unit;

    return (a > b) - (a < b);
}

/* Fills `to`, which may be NULL; returns how many there are. */
static uint32_t
find_catches(PyCodeObject *code, const plain_bytecode *bytecode, film_catch *to)
{
    film_exception_cursor cursor;
    film_exception_entry entry;
    uint32_t count = 0;

    for (uint32_t unit = 0; unit < bytecode->unit_count; unit++) {
        uint8_t opcode = opcode_at(bytecode, unit);

        if ((film_opcodes[opcode].traits & FILM_OP_SWALLOWS) != 0) {
            if (to != NULL) {
                to[count] =
                    (film_catch){.unit = unit & (MOST_UNITS - 1), .kind = CATCH_LOOP};
            }
            count++;
        }
    }
    film_exception_table_open(&cursor, code);
    while (film_exception_table_next(&cursor, &entry)) {
        catch_kind kind = entry.handler < bytecode->unit_count
                              ? kind_of_handler(bytecode, entry.handler)
                              : CATCH_NONE;

        if (kind == CATCH_NONE) {
            continue;
        }
        if (to != NULL) {
            to[count] = (film_catch){.unit = entry.handler & (MOST_UNITS - 1),
                                     .kind = (unsigned)kind & 7u};
        }
        count++;
    }
    return count;
}

film_catches *
film_catches_new(PyCodeObject *code)
{
    PyObject *bytes = film_code_bytes(code); /* owned; unspecialised */
    film_catches *catches = NULL;
    plain_bytecode bytecode;
    uint32_t count;

    if (bytes == NULL || PyBytes_GET_SIZE(bytes) / 2 >= (Py_ssize_t)MOST_UNITS) {
        PyErr_Clear();
        Py_XDECREF(bytes);
        return NULL;
    }
    bytecode = (plain_bytecode){
        .bytes = (const uint8_t *)PyBytes_AS_STRING(bytes),
        .unit_count = (uint32_t)(PyBytes_GET_SIZE(bytes) / 2),
    };
    count = find_catches(code, &bytecode, NULL);
    if (count != 0) {
        catches = malloc(sizeof(*catches) + count * sizeof(catches->places[0]));
    }
    if (catches != NULL) {
        catches->count = find_catches(code, &bytecode, catches->places);
        qsort(catches->places, count, sizeof(catches->places[0]), by_unit);
    }
    Py_DECREF(bytes);
    return catches;
}

void
film_catches_free(film_catches *catches)
{
    free(catches);
}

static catch_kind
catch_at(const film_catches *catches, uint32_t unit)
{
    film_catch wanted = {.unit = unit & (MOST_UNITS - 1)};
    const film_catch *found = catches == NULL
                                  ? NULL
                                  : bsearch(&wanted, catches->places, catches->count,
                                            sizeof(catches->places[0]), by_unit);

    return found == NULL ? CATCH_NONE : (catch_kind)found->kind;
}

/* As `except base` decides it. */
static bool
is_a(PyObject *exception, PyObject *base)
{
    PyTypeObject *type =
        PyType_Check(exception) ? (PyTypeObject *)exception : Py_TYPE(exception);

    return PyType_IsSubtype(type, (PyTypeObject *)base);
}

/* What catches an exception at `unit`. */
static catch_kind
catch_of(const film_catches *catches, PyCodeObject *code, uint32_t unit)
{
    uint32_t handler;

    return film_exception_table_find(code, unit, &handler) ? catch_at(catches, handler)
                                                           : CATCH_NONE;
}

bool
film_catches_raise(const film_catches *catches, PyCodeObject *code, uint32_t unit,
                   PyObject *exception)
{
    if (FILM_LIKELY(catches == NULL)) {
        return false;
    }
    if (is_a(exception, PyExc_StopIteration)) {
        return catch_at(catches, unit) == CATCH_LOOP ||
               film_catches_throw(catches, code, unit, exception);
    }
    return is_a(exception, PyExc_StopAsyncIteration) &&
           catch_of(catches, code, unit) == CATCH_ASYNC;
}

bool
film_catches_handler(const film_catches *catches, uint32_t unit)
{
    return catch_at(catches, unit) > CATCH_LOOP;
}

bool
film_catches_throw(const film_catches *catches, PyCodeObject *code, uint32_t unit,
                   PyObject *exception)
{
    return catches != NULL && is_a(exception, PyExc_StopIteration) &&
           catch_of(catches, code, FILM_YIELD_UNIT(unit)) == CATCH_SENT;
}
