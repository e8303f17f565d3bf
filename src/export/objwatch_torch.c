/* objwatch_torch.c: where torch.nn.Module puts what is written to its attributes.
 * Its __setattr__ keeps parameters, buffers and modules in dicts of the instance. A
 * recording has the write, by its name; ObjWatch looks at the dicts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/objwatch_view.h"

#include <string.h>

#include "export/output.h"

static const film_seen_variable *
find(const film_objwatch *view, const film_seen_object *object, const char *name)
{
    for (size_t i = 0; object != NULL && i < object->attributes.count; i++) {
        const film_seen_variable *variable = &object->attributes.items[i];
        film_text text = film_reader_string(view->reader, variable->name);

        if (variable->now.length > 0 && text.length == strlen(name) &&
            memcmp(text.data, name, text.length) == 0) {
            return variable;
        }
    }
    return NULL;
}

/* A dict of that name, all of whose items are known; or NULL. */
static film_seen_object *
find_dict(film_objwatch *view, const film_seen_object *module, const char *name)
{
    const film_seen_variable *variable = find(view, module, name);
    film_seen_object *dict =
        variable == NULL ? NULL : film_watch_object(&view->state, &variable->now);

    if (dict == NULL || dict->form != FILM_OBJECT_MAPPING) {
        return NULL;
    }
    film_watch_load(&view->state, dict);
    return dict->length == (int64_t)dict->count ? dict : NULL;
}

bool
film_objwatch_take_module(film_objwatch *view, film_seen_object *module, uint32_t name,
                          const film_held *value)
{
    static const char *const kinds[] = {"_parameters", "_buffers", "_modules"};
    film_text text = film_reader_string(view->reader, name);
    film_seen_object *object = film_watch_object(&view->state, value);
    film_held key = {0};
    film_seen_object *dicts[3], *to = NULL;
    film_text type;

    if (text.length > FILM_TOKEN_TEXT) {
        return false;
    }
    key.length =
        (uint8_t)(film_token_put_text(key.bytes, text.data, text.length) - key.bytes);
    for (size_t i = 0; i < 3; i++) {
        dicts[i] = find_dict(view, module, kinds[i]);
        if (dicts[i] == NULL) {
            return false;
        }
        if (film_watch_item(&view->state, dicts[i], &key) != NULL) {
            to = dicts[i]; /* a tensor or None written to what is there already */
        }
    }
    type = object == NULL ? film_text_of("") : film_objwatch_type(&view->state, object);
    if (film_text_equals(type, film_text_of("Parameter"))) {
        to = dicts[0];
    }
    else if (film_text_equals(type, film_text_of("Buffer"))) {
        to = dicts[1];
    }
    else if (find(view, object, "_modules") != NULL &&
             find(view, object, "_parameters") != NULL) {
        to = dicts[2];
    }
    if (to != NULL) {
        film_watch_set_item(&view->state, to, &key, value);
    }
    return to != NULL;
}
