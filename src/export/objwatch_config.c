/* objwatch_config.c: see objwatch_config.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/objwatch_config.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* async def: ObjWatch does not look for them. */
#define CO_COROUTINES (0x80u | 0x200u)

/* Cuts the next part off `rest`, which ends at the first `end`. */
static film_text
cut(film_text *rest, char end)
{
    const char *found =
        rest->length == 0 ? NULL : memchr(rest->data, end, rest->length);
    film_text part = {rest->data,
                      found == NULL ? rest->length : (size_t)(found - rest->data)};
    size_t taken = part.length + (found != NULL);

    rest->data += taken;
    rest->length -= taken;
    return part;
}

static bool
is(film_text text, const char *word)
{
    return text.length == strlen(word) && memcmp(text.data, word, text.length) == 0;
}

static bool
parse_rule(film_text line, film_objwatch_rule *rule)
{
    static const struct {
        const char *word;
        char kind;
        int parts;
    } kinds[] = {{"file", 'f', 1},   {"module", 'm', 1}, {"class", 'c', 2},
                 {"method", 'r', 3}, {"attr", 'a', 3},   {"func", 'u', 2},
                 {"global", 'g', 2}};
    film_text word;

    memset(rule, 0, sizeof(*rule));
    if (line.length > 0 && line.data[0] == '-') {
        rule->excludes = true;
        line.data++;
        line.length--;
    }
    word = cut(&line, ' ');
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (is(word, kinds[i].word)) {
            rule->kind = kinds[i].kind;
            rule->module = kinds[i].parts == 1 ? line : cut(&line, ' ');
            if (kinds[i].parts == 3) {
                rule->owner = cut(&line, ' ');
            }
            rule->name = kinds[i].parts == 1 ? (film_text){"", 0} : line;
            return rule->module.length > 0;
        }
    }
    return false;
}

static film_status
load_rules(film_objwatch_config *config, const char *text, film_error *error)
{
    film_text rest = {"", strlen(text)};
    size_t capacity = 0;

    config->text = film_alloc(rest.length + 1);
    if (config->text == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    memcpy(config->text, text, rest.length);
    rest.data = config->text;
    while (rest.length > 0) {
        film_objwatch_rule rule;

        if (parse_rule(cut(&rest, '\n'), &rule)) {
            film_objwatch_rule *rules = film_grow(
                config->rules, &capacity, config->rule_count + 1, sizeof(*rules));
            if (rules == NULL) {
                return film_fail(error, FILM_NO_MEMORY, "not enough memory");
            }
            config->rules = rules;
            rules[config->rule_count++] = rule;
        }
    }
    return FILM_OK;
}

static uint64_t
number_of(film_text text)
{
    uint64_t number = 0;

    for (size_t i = 0; i < text.length && i < 18; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') {
            break;
        }
        number = number * 10 + (uint64_t)(text.data[i] - '0');
    }
    return number;
}

static void
set_word(film_objwatch_config *config, film_text name, film_text value)
{
    if (is(name, "locals")) {
        config->with_locals = is(value, "1");
    }
    else if (is(name, "globals")) {
        config->with_globals = is(value, "1");
    }
    else if (is(name, "simple")) {
        config->simple = is(value, "1");
    }
    else if (is(name, "modules")) {
        config->with_modules = is(value, "1");
    }
    else if (is(name, "child")) {
        config->is_child = is(value, "1");
    }
    else if (is(name, "depth")) {
        config->depth = number_of(value);
    }
    else if (is(name, "level")) {
        config->level = number_of(value);
    }
    else if (is(name, "index")) {
        config->has_index = true;
        config->index = number_of(value);
    }
    else if (is(name, "wrapper")) {
        config->wrapper = is(value, "shape")  ? FILM_WRAPPER_SHAPE
                          : is(value, "base") ? FILM_WRAPPER_BASE
                                              : FILM_WRAPPER_NONE;
    }
}

static film_status
copy_slots(film_objwatch_config *config, const char *text, film_error *error)
{
    size_t length = text == NULL ? 0 : strlen(text);

    if (length == 0) {
        return FILM_OK;
    }
    config->slots = film_alloc(length + 1);
    if (config->slots == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    memcpy(config->slots, text, length);
    return FILM_OK;
}

film_status
film_objwatch_config_load(film_objwatch_config *config, const film_reader *reader,
                          film_error *error)
{
    const char *words = film_reader_meta(reader, "objwatch");
    const char *rules = film_reader_meta(reader, "objwatch.rules");

    *config = (film_objwatch_config){
        .with_locals = true,
        .with_globals = true,
        .simple = true,
        .level = 10,
        .wrapper = FILM_WRAPPER_BASE,
    };
    if (words != NULL) {
        film_text rest = {words, strlen(words)};

        config->is_watched = true;
        while (rest.length > 0) {
            film_text value = cut(&rest, ' ');
            film_text name = cut(&value, '=');
            set_word(config, name, value);
        }
    }
    FILM_TRY(copy_slots(config, film_reader_meta(reader, "objwatch.slots"), error));
    return rules == NULL ? FILM_OK : load_rules(config, rules, error);
}

void
film_objwatch_config_reset(film_objwatch_config *config)
{
    film_free(config->rules);
    film_free(config->text);
    film_free(config->slots);
    memset(config, 0, sizeof(*config));
}

/* `module` is the rule's module or lies in that package. */
static bool
covers(const film_objwatch_rule *rule, film_text module)
{
    return rule->module.length <= module.length &&
           memcmp(rule->module.data, module.data, rule->module.length) == 0 &&
           (rule->module.length == module.length ||
            module.data[rule->module.length] == '.');
}

static bool
ends_with(film_text text, film_text tail)
{
    return tail.length <= text.length &&
           memcmp(text.data + text.length - tail.length, tail.data, tail.length) == 0;
}

static bool
is_file_target(const film_objwatch_config *config, const film_code *code)
{
    bool found = false;

    for (size_t i = 0; i < config->rule_count; i++) {
        const film_objwatch_rule *rule = &config->rules[i];
        if (rule->kind == 'f' && ends_with(code->file, rule->module)) {
            if (rule->excludes) {
                return false;
            }
            found = true;
        }
    }
    return found;
}

/* A function that no class is around: `f`, `f.<locals>.g`, not `<lambda>`. */
static bool
is_plain_function(const film_code *code)
{
    static const char inner[] = ".<locals>.";
    film_text left = code->qualname;

    if ((code->flags & CO_COROUTINES) != 0 ||
        (code->name.length > 0 && code->name.data[0] == '<')) {
        return false;
    }
    for (;;) {
        const char *dot = left.length == 0 ? NULL : memchr(left.data, '.', left.length);
        size_t skipped;

        if (dot == NULL) {
            return true;
        }
        skipped = (size_t)(dot - left.data);
        if (left.length - skipped < sizeof(inner) - 1 ||
            memcmp(dot, inner, sizeof(inner) - 1) != 0) {
            return false;
        }
        left.data += skipped + sizeof(inner) - 1;
        left.length -= skipped + sizeof(inner) - 1;
    }
}

static bool
traces_method(const film_objwatch_rule *rule, const film_objwatch_place *place)
{
    switch (rule->kind) {
    case 'm':
        /* Only classes that the module itself defines. */
        return place->home.length == 0 ||
               film_text_equals(place->home, place->code->module);
    case 'c':
        return film_text_equals(rule->name, place->owner);
    case 'r':
        return film_text_equals(rule->owner, place->owner) &&
               film_text_equals(rule->name, place->code->name);
    case 'a':
        return film_text_equals(rule->owner, place->owner) && place->has_attribute;
    case 'u': /* a function put into a class */
        return film_text_equals(rule->name, place->code->name);
    default:
        return false;
    }
}

static bool
traces_function(const film_objwatch_config *config, const film_objwatch_rule *rule,
                const film_code *code)
{
    switch (rule->kind) {
    case 'm':
        return is_plain_function(code) || config->with_globals;
    case 'u':
        return film_text_equals(rule->name, code->name);
    case 'g':
        return config->with_globals;
    default:
        return false;
    }
}

bool
film_objwatch_traces(const film_objwatch_config *config,
                     const film_objwatch_place *place)
{
    const film_code *code = place->code;
    bool found = false;

    if (config->rule_count == 0 || is_file_target(config, code)) {
        return true;
    }
    for (size_t i = 0; i < config->rule_count; i++) {
        const film_objwatch_rule *rule = &config->rules[i];

        if (rule->kind == 'f' ||
            !(rule->kind == 'm' ? covers(rule, code->module)
                                : film_text_equals(rule->module, code->module))) {
            continue;
        }
        if (rule->excludes) {
            return false; /* whatever it names: ObjWatch leaves the module out */
        }
        if (!found) {
            found = place->owner.data != NULL ? traces_method(rule, place)
                                              : traces_function(config, rule, code);
        }
    }
    return found;
}

bool
film_objwatch_names_attribute(const film_objwatch_config *config, film_text module,
                              film_text owner, film_text name)
{
    for (size_t i = 0; i < config->rule_count; i++) {
        const film_objwatch_rule *rule = &config->rules[i];
        if (rule->kind == 'a' && !rule->excludes &&
            film_text_equals(rule->module, module) &&
            film_text_equals(rule->owner, owner) &&
            film_text_equals(rule->name, name)) {
            return true;
        }
    }
    return false;
}

bool
film_objwatch_shows_attribute(const film_objwatch_config *config, const film_code *code,
                              film_text owner, film_text name)
{
    bool named = false, all = config->rule_count == 0;

    if (is_file_target(config, code)) {
        return true;
    }
    for (size_t i = 0; i < config->rule_count; i++) {
        const film_objwatch_rule *rule = &config->rules[i];
        bool is_owner = film_text_equals(rule->module, code->module) &&
                        film_text_equals(rule->owner, owner);

        if (rule->kind == 'a' && is_owner && film_text_equals(rule->name, name)) {
            if (rule->excludes) {
                return false;
            }
            named = true;
        }
        else if (!rule->excludes) {
            all = all || (rule->kind == 'm' && covers(rule, code->module)) ||
                  (rule->kind == 'c' && film_text_equals(rule->name, owner) &&
                   film_text_equals(rule->module, code->module));
        }
    }
    return named || all;
}

bool
film_objwatch_shows_global(const film_objwatch_config *config, film_text module,
                           film_text name)
{
    bool named = false, any = false;

    for (size_t i = 0; i < config->rule_count; i++) {
        const film_objwatch_rule *rule = &config->rules[i];
        bool is_it = rule->kind == 'g' && film_text_equals(rule->module, module) &&
                     film_text_equals(rule->name, name);

        if (rule->excludes && is_it) {
            return false;
        }
        if (!rule->excludes && (rule->kind == 'g' || rule->kind == 'm')) {
            any = true;
            named = named || is_it || (rule->kind == 'm' && covers(rule, module));
        }
    }
    return named || !any;
}

bool
film_objwatch_is_slot(const film_objwatch_config *config, film_text type,
                      film_text name)
{
    film_text rest = {config->slots, config->slots == NULL ? 0 : strlen(config->slots)};

    while (rest.length > 0) {
        film_text slot = cut(&rest, '\n');
        film_text owner = cut(&slot, ' ');

        if (film_text_equals(slot, name) && film_text_equals(owner, type)) {
            return true;
        }
    }
    return false;
}
