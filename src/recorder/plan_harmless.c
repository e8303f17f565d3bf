/* plan_harmless.c: see plan_harmless.h. The lists are sorted: they are searched by
 * halves.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/plan_harmless.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const char *const functions[] = {
    "abs",        "bool",    "callable", "chr",   "divmod", "enumerate", "float",
    "frozenset",  "getattr", "hasattr",  "hex",   "id",     "int",       "isinstance",
    "issubclass", "len",     "list",     "max",   "min",    "ord",       "pow",
    "print",      "range",   "reversed", "round", "set",    "str",       "sum",
    "super",      "tuple",   "type",     "zip",
};

static const char *const readers[] = {
    "bit_length", "capitalize", "center",     "copy",         "count",
    "decode",     "difference", "encode",     "endswith",     "find",
    "format",     "get",        "index",      "intersection", "isalnum",
    "isalpha",    "isdigit",    "isdisjoint", "isidentifier", "islower",
    "isnumeric",  "isspace",    "issubset",   "issuperset",   "isupper",
    "items",      "join",       "keys",       "ljust",        "lower",
    "lstrip",     "partition",  "replace",    "rfind",        "rindex",
    "rjust",      "rpartition", "rsplit",     "rstrip",       "split",
    "splitlines", "startswith", "strip",      "swapcase",     "title",
    "translate",  "union",      "upper",      "values",       "zfill",
};

static const char *const writers[] = {
    "add",        "append", "appendleft", "clear",   "discard", "extend",
    "extendleft", "insert", "pop",        "popitem", "popleft", "remove",
    "reverse",    "rotate", "setdefault", "sort",    "update",
};

static const char *const removers[] = {
    "clear", "discard", "pop", "popitem", "popleft", "remove",
};

/* Of heapq, bisect, operator and random. */
static const char *const changers[] = {
    "delitem", "heapify",     "heappop",      "heappush", "heappushpop", "heapreplace",
    "insort",  "insort_left", "insort_right", "setitem",  "shuffle",
};

static int
compare(const void *name, const void *word)
{
    return strcmp(name, *(const char *const *)word);
}

static bool
is_among(PyObject *name, const char *const *words, size_t count)
{
    if (!PyUnicode_IS_COMPACT_ASCII(name)) {
        return false;
    }
    return bsearch(PyUnicode_DATA(name), words, count, sizeof(*words), compare) != NULL;
}

bool
film_function_is_harmless(PyObject *name)
{
    return is_among(name, functions, COUNT(functions));
}

bool
film_method_is_contained(PyObject *name, bool *reads)
{
    *reads = is_among(name, readers, COUNT(readers));
    return *reads || is_among(name, writers, COUNT(writers));
}

film_effect
film_method_effect(PyObject *name)
{
    if (PyUnicode_CompareWithASCIIString(name, "append") == 0) {
        return FILM_EFFECT_APPENDS;
    }
    return is_among(name, removers, COUNT(removers)) ? FILM_EFFECT_REMOVES
                                                     : FILM_EFFECT_ANY;
}

bool
film_function_changes_first(PyObject *name)
{
    return is_among(name, changers, COUNT(changers));
}
