/* plan_harmless.c: see plan_harmless.h. The list is sorted: it is searched by halves.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/plan_harmless.h"

#include <stdlib.h>
#include <string.h>

typedef struct known_name {
    const char *name;
    uint8_t traits;
} known_name;

static const known_name known_names[] = {
    {"abs", FILM_NAME_HARMLESS},
    {"add", FILM_NAME_WRITES},
    {"append", FILM_NAME_WRITES | FILM_NAME_APPENDS},
    {"appendleft", FILM_NAME_WRITES},
    {"bit_length", FILM_NAME_READS},
    {"bool", FILM_NAME_HARMLESS},
    {"callable", FILM_NAME_HARMLESS},
    {"capitalize", FILM_NAME_READS},
    {"center", FILM_NAME_READS},
    {"chr", FILM_NAME_HARMLESS},
    {"clear", FILM_NAME_WRITES | FILM_NAME_REMOVES},
    {"copy", FILM_NAME_READS},
    {"count", FILM_NAME_READS},
    {"decode", FILM_NAME_READS},
    {"delitem", FILM_NAME_CHANGES_FIRST},
    {"difference", FILM_NAME_READS},
    {"discard", FILM_NAME_WRITES | FILM_NAME_REMOVES},
    {"divmod", FILM_NAME_HARMLESS},
    {"encode", FILM_NAME_READS},
    {"endswith", FILM_NAME_READS},
    {"enumerate", FILM_NAME_HARMLESS},
    {"extend", FILM_NAME_WRITES},
    {"extendleft", FILM_NAME_WRITES},
    {"find", FILM_NAME_READS},
    {"float", FILM_NAME_HARMLESS},
    {"format", FILM_NAME_READS},
    {"frozenset", FILM_NAME_HARMLESS},
    {"get", FILM_NAME_READS},
    {"getattr", FILM_NAME_HARMLESS},
    {"hasattr", FILM_NAME_HARMLESS},
    {"heapify", FILM_NAME_CHANGES_FIRST},
    {"heappop", FILM_NAME_CHANGES_FIRST},
    {"heappush", FILM_NAME_CHANGES_FIRST},
    {"heappushpop", FILM_NAME_CHANGES_FIRST},
    {"heapreplace", FILM_NAME_CHANGES_FIRST},
    {"hex", FILM_NAME_HARMLESS},
    {"id", FILM_NAME_HARMLESS},
    {"index", FILM_NAME_READS},
    {"insert", FILM_NAME_WRITES},
    {"insort", FILM_NAME_CHANGES_FIRST},
    {"insort_left", FILM_NAME_CHANGES_FIRST},
    {"insort_right", FILM_NAME_CHANGES_FIRST},
    {"int", FILM_NAME_HARMLESS},
    {"intersection", FILM_NAME_READS},
    {"isalnum", FILM_NAME_READS},
    {"isalpha", FILM_NAME_READS},
    {"isdigit", FILM_NAME_READS},
    {"isdisjoint", FILM_NAME_READS},
    {"isidentifier", FILM_NAME_READS},
    {"isinstance", FILM_NAME_HARMLESS},
    {"islower", FILM_NAME_READS},
    {"isnumeric", FILM_NAME_READS},
    {"isspace", FILM_NAME_READS},
    {"issubclass", FILM_NAME_HARMLESS},
    {"issubset", FILM_NAME_READS},
    {"issuperset", FILM_NAME_READS},
    {"isupper", FILM_NAME_READS},
    {"items", FILM_NAME_READS},
    {"join", FILM_NAME_READS},
    {"keys", FILM_NAME_READS},
    {"len", FILM_NAME_HARMLESS},
    {"list", FILM_NAME_HARMLESS},
    {"ljust", FILM_NAME_READS},
    {"lower", FILM_NAME_READS},
    {"lstrip", FILM_NAME_READS},
    {"max", FILM_NAME_HARMLESS},
    {"min", FILM_NAME_HARMLESS},
    {"ord", FILM_NAME_HARMLESS},
    {"partition", FILM_NAME_READS},
    {"pop", FILM_NAME_WRITES | FILM_NAME_REMOVES},
    {"popitem", FILM_NAME_WRITES | FILM_NAME_REMOVES},
    {"popleft", FILM_NAME_WRITES | FILM_NAME_REMOVES},
    {"pow", FILM_NAME_HARMLESS},
    {"print", FILM_NAME_HARMLESS},
    {"range", FILM_NAME_HARMLESS},
    {"remove", FILM_NAME_WRITES | FILM_NAME_REMOVES},
    {"replace", FILM_NAME_READS},
    {"reverse", FILM_NAME_WRITES},
    {"reversed", FILM_NAME_HARMLESS},
    {"rfind", FILM_NAME_READS},
    {"rindex", FILM_NAME_READS},
    {"rjust", FILM_NAME_READS},
    {"rotate", FILM_NAME_WRITES},
    {"round", FILM_NAME_HARMLESS},
    {"rpartition", FILM_NAME_READS},
    {"rsplit", FILM_NAME_READS},
    {"rstrip", FILM_NAME_READS},
    {"set", FILM_NAME_HARMLESS},
    {"setdefault", FILM_NAME_WRITES},
    {"setitem", FILM_NAME_CHANGES_FIRST},
    {"shuffle", FILM_NAME_CHANGES_FIRST},
    {"sort", FILM_NAME_WRITES},
    {"split", FILM_NAME_READS},
    {"splitlines", FILM_NAME_READS},
    {"startswith", FILM_NAME_READS},
    {"str", FILM_NAME_HARMLESS},
    {"strip", FILM_NAME_READS},
    {"sum", FILM_NAME_HARMLESS},
    {"super", FILM_NAME_HARMLESS},
    {"swapcase", FILM_NAME_READS},
    {"title", FILM_NAME_READS},
    {"translate", FILM_NAME_READS},
    {"tuple", FILM_NAME_HARMLESS},
    {"type", FILM_NAME_HARMLESS},
    {"union", FILM_NAME_READS},
    {"update", FILM_NAME_WRITES},
    {"upper", FILM_NAME_READS},
    {"values", FILM_NAME_READS},
    {"zfill", FILM_NAME_READS},
    {"zip", FILM_NAME_HARMLESS},
};

static int
compare(const void *name, const void *known)
{
    return strcmp(name, ((const known_name *)known)->name);
}

uint8_t
film_name_traits_of(PyObject *name)
{
    const known_name *found = PyUnicode_IS_COMPACT_ASCII(name)
                                  ? bsearch(PyUnicode_DATA(name), known_names,
                                            sizeof(known_names) / sizeof(*known_names),
                                            sizeof(*known_names), compare)
                                  : NULL;

    return found == NULL ? 0 : found->traits;
}
