/* selection.c: globs are matched once per code object, then looked up.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/selection.h"

#include <filmstrip/tensor.h>

#include <fnmatch.h>
#include <string.h>

#include "analysis/kinds.h"
#include "base/alloc.h"

enum { UNKNOWN = 0, TAKEN = 1, LEFT = 2 };

struct film_selection_codes {
    uint8_t *answers;
    size_t capacity;
};

film_status
film_selection_init(film_selection *selection, const film_recordings *set,
                    film_error *error)
{
    memset(selection, 0, sizeof(*selection));
    selection->set = set;
    selection->codes = film_alloc_array(set->count, sizeof(*selection->codes));
    if (selection->codes == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    return FILM_OK;
}

film_status
film_selection_follow_values(film_selection *selection, bool whole, film_error *error)
{
    selection->known =
        film_alloc_array(selection->set->count, sizeof(film_variables *));
    if (selection->known == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    for (size_t i = 0; i < selection->set->count; i++) {
        FILM_TRY(film_variables_new(selection->set->items[i].reader, whole,
                                    &selection->known[i], error));
    }
    return FILM_OK;
}

void
film_selection_reset(film_selection *selection)
{
    if (selection->codes != NULL) {
        for (size_t i = 0; i < selection->set->count; i++) {
            film_free(selection->codes[i].answers);
        }
    }
    if (selection->known != NULL) {
        for (size_t i = 0; i < selection->set->count; i++) {
            film_variables_free(selection->known[i]);
        }
    }
    film_free(selection->known);
    film_open_ops_reset(&selection->ops);
    film_buffer_reset(&selection->name);
    film_free(selection->codes);
    memset(selection, 0, sizeof(*selection));
}

static bool
matches(const film_selection *selection, const char *name)
{
    for (size_t i = 0; i < selection->pattern_count; i++) {
        if (fnmatch(selection->patterns[i], name, 0) == 0) {
            return true;
        }
    }
    return false;
}

/* A pattern without a dot also means the bare name: `--function main`. */
static bool
matches_code(const film_selection *selection, const film_code *code)
{
    return matches(selection, code->function.data) ||
           matches(selection, code->qualname.data);
}

bool
film_selection_takes_code(film_selection *selection, size_t recording, uint32_t code)
{
    struct film_selection_codes *codes = &selection->codes[recording];
    const film_code *entry;

    if (selection->pattern_count == 0) {
        return true;
    }
    if (code < codes->capacity && codes->answers[code] != UNKNOWN) {
        return codes->answers[code] == TAKEN;
    }
    entry = film_reader_code(selection->set->items[recording].reader, code);
    if (entry == NULL) {
        return false;
    }
    if (code >= codes->capacity) {
        size_t old = codes->capacity;
        uint8_t *grown = film_grow(codes->answers, &codes->capacity, code + 1u, 1);
        if (grown == NULL) {
            return matches_code(selection, entry);
        }
        memset(grown + old, UNKNOWN, codes->capacity - old);
        codes->answers = grown;
    }
    codes->answers[code] = matches_code(selection, entry) ? TAKEN : LEFT;
    return codes->answers[code] == TAKEN;
}

bool
film_selection_takes_op(film_selection *selection, size_t recording,
                        const film_event *event)
{
    film_reader *reader = selection->set->items[recording].reader;
    film_open_op *begun, ended;

    if (selection->pattern_count == 0) {
        return true;
    }
    if (event->kind == FILM_KIND_OP_END) {
        return film_open_ops_end(&selection->ops, recording, event, &ended) &&
               ended.mark;
    }
    begun = film_open_ops_begin(&selection->ops, recording, event);
    if (begun == NULL) {
        return false;
    }
    begun->mark = matches(selection, film_reader_string(reader, event->text).data) ||
                  (event->api != 0 &&
                   matches(selection, film_reader_string(reader, event->api).data));
    return begun->mark;
}

/* Names of ops have no table of their own. */
static bool
is_string(const film_reader *reader, const char *pattern)
{
    size_t count = film_reader_string_count(reader);

    for (size_t id = 1; id < count; id++) {
        if (fnmatch(pattern, film_reader_string(reader, (uint32_t)id).data, 0) == 0) {
            return true;
        }
    }
    return false;
}

bool
film_selection_knows(film_reader *reader, const char *pattern)
{
    size_t count = film_reader_code_count(reader);

    for (size_t id = 0; id < count; id++) {
        const film_code *code = film_reader_code(reader, (uint32_t)id);

        if (code != NULL && (fnmatch(pattern, code->function.data, 0) == 0 ||
                             fnmatch(pattern, code->qualname.data, 0) == 0)) {
            return true;
        }
    }
    return film_reader_has_ops(reader) && is_string(reader, pattern);
}

static bool
matches_variable(const film_selection *selection, const char *name)
{
    for (size_t i = 0; i < selection->variable_count; i++) {
        if (fnmatch(selection->variables[i], name, 0) == 0) {
            return true;
        }
    }
    return false;
}

static bool
is_item(const film_event *event)
{
    return event->kind != FILM_KIND_CHANGE &&
           (event->form == FILM_SET_ITEM || event->form == FILM_SET_ITEM_VIA);
}

/* self.counts[k]: `self.counts` and `counts` are changed by it, also where that is a
 * container which changes. The name is cut. */
static bool
matches_owner(const film_selection *selection, char *name, film_bare_name bare)
{
    size_t length = strlen(name);
    char *key;

    if (bare.end != 0) {
        name[bare.end] = 0;
        if (matches_variable(selection, name) ||
            matches_variable(selection, name + bare.start)) {
            return true;
        }
    }
    key = strchr(name, '[');
    if (key == NULL || name[length - 1] != ']') {
        return false;
    }
    *key = 0;
    return matches_variable(selection, name);
}

/* The attributes that a change of an object has changed: x or self.x. */
typedef struct attribute_search {
    const film_selection *selection;
    film_buffer *name; /* the object's, not ended by NUL */
    bool found;
} attribute_search;

static void
match_attribute(void *context, film_text name)
{
    attribute_search *search = context;
    size_t length = search->name->length;

    search->found = search->found || matches_variable(search->selection, name.data);
    if (search->found) {
        return;
    }
    film_buffer_put_byte(search->name, '.');
    film_buffer_append(search->name, name.data, name.length);
    film_buffer_put_byte(search->name, 0);
    search->found = !search->name->failed &&
                    matches_variable(search->selection, (char *)search->name->data);
    search->name->length = length;
}

static bool
matches_attributes(film_selection *selection, size_t recording, const film_event *event)
{
    attribute_search search = {.selection = selection, .name = &selection->name};
    film_buffer text = {0};

    film_buffer_clear(&selection->name);
    film_variables_name(selection->known[recording], event, &selection->name, NULL);
    (void)film_variables_changed_attributes(selection->known[recording], event,
                                            UINT16_MAX, &text, match_attribute,
                                            &search);
    film_buffer_reset(&text);
    return search.found;
}

/* By its bare name (x, an attribute's x) or as the source would write it (self.x). */
static bool
takes_write(film_selection *selection, size_t recording, const film_event *event)
{
    film_reader *reader = selection->set->items[recording].reader;
    film_bare_name bare;

    if (event->kind != FILM_KIND_SET && event->kind != FILM_KIND_DELETE &&
        event->kind != FILM_KIND_CHANGE) {
        return false;
    }
    if (event->kind != FILM_KIND_CHANGE &&
        matches_variable(selection, film_reader_event_name(reader, event).data)) {
        return true;
    }
    if (selection->known == NULL) {
        return false;
    }
    film_buffer_clear(&selection->name);
    film_variables_name(selection->known[recording], event, &selection->name, &bare);
    film_buffer_put_byte(&selection->name, 0);
    return !selection->name.failed &&
           (matches_variable(selection, (const char *)selection->name.data) ||
            ((is_item(event) || event->kind == FILM_KIND_CHANGE) &&
             matches_owner(selection, (char *)selection->name.data, bare)) ||
            (event->kind == FILM_KIND_CHANGE &&
             matches_attributes(selection, recording, event)));
}

bool
film_selection_takes_kind(film_selection *selection, size_t recording,
                          const film_event *event)
{
    if (event->kind == FILM_KIND_LINE && selection->without_lines) {
        return false;
    }
    if (film_kind_is_op(event->kind) && selection->without_ops) {
        return false;
    }
    if (selection->variable_count == 0) {
        return true;
    }
    if (!takes_write(selection, recording, event)) {
        return false;
    }
    selection->met_variable = true;
    return true;
}

static bool
takes(film_selection *selection, size_t recording, const film_event *event)
{
    bool by_name = false;

    if (!film_selection_takes_kind(selection, recording, event)) {
        return false;
    }
    if (film_kind_is_op(event->kind)) {
        by_name = film_selection_takes_op(selection, recording, event);
    }
    if (event->frame == 0) {
        return selection->pattern_count == 0 || by_name;
    }
    if (selection->depth != 0 && event->depth >= selection->depth) {
        return false;
    }
    return by_name || film_selection_takes_code(selection, recording, event->code);
}

bool
film_selection_takes(film_selection *selection, size_t recording,
                     const film_event *event)
{
    bool taken = takes(selection, recording, event);

    selection->taken += taken;
    return taken;
}
