/* functions.c: numbering functions by what people call them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/functions.h"

#include <string.h>

#include "analysis/activity.h"
#include "base/alloc.h"
#include "base/hash.h"

typedef struct id_map {
    uint32_t *numbers; /* number + 1; 0: not asked for yet */
    size_t capacity;
} id_map;

struct film_function_ids {
    id_map codes;     /* by code id */
    id_map strings;   /* C functions, by string id */
    uint32_t unknown; /* number + 1 of code the tables do not hold */
};

film_status
film_functions_init(film_functions *functions, const film_recordings *set,
                    film_error *error)
{
    memset(functions, 0, sizeof(*functions));
    functions->set = set;
    functions->ids = film_alloc_array(set->count, sizeof(*functions->ids));
    if (functions->ids == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    return FILM_OK;
}

void
film_functions_reset(film_functions *functions)
{
    if (functions->ids != NULL) {
        for (size_t i = 0; i < functions->set->count; i++) {
            film_free(functions->ids[i].codes.numbers);
            film_free(functions->ids[i].strings.numbers);
        }
    }
    film_free(functions->ids);
    film_free(functions->items);
    film_intern_reset(&functions->by_name);
    memset(functions, 0, sizeof(*functions));
}

static uint64_t
hash_function(const film_function *function)
{
    uint64_t hash = film_hash(function->function.data, function->function.length);

    hash = film_digest_mix(hash, film_hash(function->file.data, function->file.length));
    return film_digest_mix(hash,
                           function->first_line + (function->is_c ? 1ull << 32 : 0));
}

static uint32_t
add_function(film_functions *functions, const film_function *function)
{
    uint64_t hash = hash_function(function);
    uint32_t number;

    if (film_intern_find(&functions->by_name, hash, &number)) {
        return number;
    }
    if (functions->count == functions->capacity) {
        film_function *grown = film_grow(functions->items, &functions->capacity,
                                         functions->count + 1, sizeof(*grown));
        if (grown == NULL) {
            return FILM_NO_FUNCTION;
        }
        functions->items = grown;
    }
    number = (uint32_t)functions->count;
    if (!film_intern_add(&functions->by_name, hash, number)) {
        return FILM_NO_FUNCTION;
    }
    functions->items[functions->count++] = *function;
    return number;
}

/* The slot of `id`, growing the map; NULL when memory is out. */
static uint32_t *
slot_of(id_map *map, size_t id)
{
    if (id >= map->capacity) {
        size_t old = map->capacity;
        uint32_t *grown =
            film_grow(map->numbers, &map->capacity, id + 1, sizeof(*grown));
        if (grown == NULL) {
            return NULL;
        }
        memset(grown + old, 0, (map->capacity - old) * sizeof(*grown));
        map->numbers = grown;
    }
    return &map->numbers[id];
}

static film_text
text_of(const char *literal)
{
    film_text text = {literal, strlen(literal)};

    return text;
}

static void
describe_c_function(const film_reader *reader, uint32_t string, film_function *function)
{
    function->function = film_reader_string(reader, string);
    if (function->function.length == 0) {
        function->function = text_of("?");
    }
    function->name = function->function;
    function->file = text_of("~"); /* as cProfile names the place of C functions */
    function->module = text_of("");
    function->is_c = true;
}

static void
describe_code(const film_code *code, film_function *function)
{
    if (code == NULL) {
        function->function = text_of("?");
        function->name = function->function;
        function->file = function->function;
        function->module = text_of("");
        return;
    }
    function->function = code->function;
    function->name = code->name;
    function->module = code->module;
    function->file = code->file;
    function->first_line = code->first_line;
}

uint32_t
film_functions_number(film_functions *functions, size_t recording,
                      uint32_t step_function)
{
    struct film_function_ids *ids = &functions->ids[recording];
    const film_reader *reader = functions->set->items[recording].reader;
    film_function function = {0};
    uint32_t *slot;
    uint32_t number;

    if (step_function & FILM_C_FUNCTION && step_function != FILM_NO_CODE) {
        uint32_t string = step_function & ~FILM_C_FUNCTION;
        slot = string < film_reader_string_count(reader)
                   ? slot_of(&ids->strings, string)
                   : &ids->unknown;
        if (slot != NULL && *slot == 0) {
            describe_c_function(reader, string, &function);
        }
    }
    else {
        /* Ids beyond the table come from damage: one entry for all of them, so that
         * they cannot make the map grow. */
        slot = step_function < film_reader_code_count(reader)
                   ? slot_of(&ids->codes, step_function)
                   : &ids->unknown;
        if (slot != NULL && *slot == 0) {
            describe_code(film_reader_code(reader, step_function), &function);
        }
    }
    if (slot == NULL) {
        return FILM_NO_FUNCTION;
    }
    if (*slot != 0) {
        return *slot - 1;
    }
    number = add_function(functions, &function);
    if (number != FILM_NO_FUNCTION) {
        *slot = number + 1;
    }
    return number;
}
