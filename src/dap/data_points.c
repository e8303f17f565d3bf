/* data_points.c: breakpoints on what is written: variables of a function or module,
 * attributes of an object, any change of a container.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "dap/handlers.h"
#include "dap/points.h"

/* What a client may set, as it is told: dataId is the spec itself. */
typedef struct watched {
    film_json_writer spec;
    char description[320];
    bool lasting; /* it is the same in another session */
} watched;

/* --- finding out what is meant --- */

/* A variable of the frame's function, or a global of its module. */
static bool
watch_variable(film_dap *dap, const film_dap_handle *place, const char *name,
               bool global, watched *out)
{
    film_json_writer *question = film_dap_question(dap, "moment");
    film_dap_answer answer = {0};
    const film_json_node *frame;
    const char *function, *qualname;
    size_t length, inner;
    bool fine;

    film_json_add_text(question, "m", place->moment);
    fine = film_dap_ask(dap, &answer);
    frame = film_json_first(
        &answer.json, fine ? film_json_get(&answer.json, answer.root, "stack") : NULL);
    while (frame != NULL && place->frame != 0 &&
           (uint64_t)film_dap_integer(&answer, frame, "frame", 0) != place->frame) {
        frame = film_json_next(&answer.json, frame);
    }
    function = frame == NULL ? NULL : film_dap_text(&answer, frame, "function");
    qualname = frame == NULL ? NULL : film_dap_text(&answer, frame, "name");
    if (function == NULL || qualname == NULL) {
        film_dap_answer_reset(&answer);
        return fine && film_dap_refuse(dap, "it is not known which function this is");
    }
    length = strlen(function);
    inner = strlen(qualname) + 1;
    film_json_open(&out->spec, NULL, '{');
    film_json_add_text(&out->spec, "kind", "variable");
    film_json_add_text(&out->spec, "name", name);
    if ((global || strcmp(qualname, "<module>") == 0) && length > inner) {
        film_json_add_bytes(&out->spec, "module", function, length - inner);
        snprintf(out->description, sizeof(out->description), "%.100s of module %.*s",
                 name, (int)(length - inner), function);
    }
    else {
        film_json_add_text(&out->spec, "function", function);
        snprintf(out->description, sizeof(out->description), "%.100s in %.150s", name,
                 function);
    }
    film_json_close(&out->spec, '}');
    out->lasting = true;
    film_dap_answer_reset(&answer);
    return true;
}

/* An attribute of an object; of other containers any change. */
static bool
watch_object(film_dap *dap, const char *moment, uint64_t object, const char *name,
             watched *out)
{
    film_json_writer *question = film_dap_question(dap, "value");
    film_dap_answer answer = {0};
    const char *form, *type;
    bool fine;

    film_json_add_text(question, "m", moment);
    film_json_add_integer(question, "object", (int64_t)object);
    film_json_add_integer(question, "limit", 0);
    fine = film_dap_ask(dap, &answer);
    form = fine ? film_dap_text(&answer, answer.root, "form") : NULL;
    type = fine ? film_dap_text(&answer, answer.root, "type") : NULL;
    if (form != NULL) {
        bool attribute = strcmp(form, "attributes") == 0 && name != NULL;
        film_json_open(&out->spec, NULL, '{');
        film_json_add_text(&out->spec, "kind", attribute ? "attribute" : "object");
        if (attribute) {
            film_json_add_text(&out->spec, "name", name);
        }
        film_json_add_integer(&out->spec, "object", (int64_t)object);
        film_json_close(&out->spec, '}');
        snprintf(out->description, sizeof(out->description), "%s%.100s%s<%.80s #%llu>",
                 attribute ? "" : "any change of ", attribute ? name : "",
                 attribute ? " of " : "", type == NULL ? "object" : type,
                 (unsigned long long)object);
    }
    film_dap_answer_reset(&answer);
    return form != NULL || (fine && film_dap_refuse(dap, "it is no recorded object"));
}

/* The object that an expression gives; 0: none. */
static uint64_t
object_of(film_dap *dap, const film_dap_handle *place, const char *expression,
          size_t length)
{
    film_json_writer *question = film_dap_question(dap, "value");
    film_dap_answer answer = {0};
    uint64_t object = 0;

    film_json_add_text(question, "m", place->moment);
    if (place->frame != 0) {
        film_json_add_integer(question, "frame", (int64_t)place->frame);
    }
    film_json_add_bytes(question, "expression", expression, length);
    film_json_add_integer(question, "limit", 0);
    if (film_dap_ask(dap, &answer)) {
        object = (uint64_t)film_dap_integer(&answer, answer.root, "object", 0);
    }
    film_dap_answer_reset(&answer);
    return object;
}

/* Whether the frame has a local of that name. */
static bool
is_local(film_dap *dap, const film_dap_handle *place, const char *name)
{
    film_json_writer *question = film_dap_question(dap, "locals");
    film_dap_answer answer = {0};
    bool found = false;

    film_json_add_text(question, "m", place->moment);
    if (place->frame != 0) {
        film_json_add_integer(question, "frame", (int64_t)place->frame);
    }
    if (film_dap_ask(dap, &answer)) {
        const film_json_node *list = film_json_get(&answer.json, answer.root, "locals");
        for (const film_json_node *one = film_json_first(&answer.json, list);
             one != NULL && !found; one = film_json_next(&answer.json, one)) {
            const char *have = film_dap_text(&answer, one, "name");
            found = have != NULL && strcmp(have, name) == 0;
        }
    }
    film_dap_answer_reset(&answer);
    return found;
}

/* "x", "self.x", "a.b[3]": what an expression names. */
static bool
watch_expression(film_dap *dap, const film_dap_handle *place, const char *text,
                 watched *out)
{
    const char *dot = strrchr(text, '.');
    size_t length = strlen(text);
    uint64_t object;

    if (length > 0 && text[length - 1] == ']') {
        const char *bracket = strrchr(text, '[');
        object =
            bracket == NULL ? 0 : object_of(dap, place, text, (size_t)(bracket - text));
        return object != 0 ? watch_object(dap, place->moment, object, NULL, out)
                           : film_dap_refuse(dap, "it is no recorded object");
    }
    if (dot != NULL) {
        object = object_of(dap, place, text, (size_t)(dot - text));
        return object != 0 ? watch_object(dap, place->moment, object, dot + 1, out)
                           : film_dap_refuse(dap, "it is no recorded object");
    }
    if (text[0] == '\0' || strpbrk(text, " ()+-*/=<>\"'") != NULL) {
        return film_dap_refuse(dap, "only variables, attributes and items are written");
    }
    return watch_variable(dap, place, text, !is_local(dap, place, text), out);
}

static bool
find_watched(film_dap *dap, const film_json_node *arguments, watched *out)
{
    int64_t reference = film_dap_get_integer(dap, arguments, "variablesReference", 0);
    int64_t frame = film_dap_get_integer(dap, arguments, "frameId", 0);
    const char *name = film_dap_get_text(dap, arguments, "name");
    film_dap_handle here = {.kind = FILM_DAP_FRAME};
    const film_dap_handle *place = &here;

    if (name == NULL) {
        return film_dap_refuse(dap, "which variable?");
    }
    film_dap_copy_moment(here.moment, dap->moment);
    if (reference > 0 || frame > 0) {
        place = film_dap_find_handle(dap, reference > 0 ? reference : frame);
        if (place == NULL) {
            return false;
        }
    }
    if (place->kind == FILM_DAP_OBJECT) {
        return watch_object(dap, place->moment, place->object, name, out);
    }
    if (place->kind == FILM_DAP_FRAME) {
        return watch_expression(dap, place, name, out);
    }
    return watch_variable(dap, place, name, place->kind == FILM_DAP_GLOBALS, out);
}

/* --- the requests --- */

bool
film_dap_data_breakpoint_info(film_dap *dap, const film_json_node *arguments)
{
    film_json_writer *out = &dap->response;
    watched found = {0};

    if (!find_watched(dap, arguments, &found) || found.spec.out.failed) {
        film_json_add_raw(out, "dataId", "null", 4);
        film_json_add_text(out, "description", dap->why);
    }
    else {
        film_json_add_bytes(out, "dataId", (const char *)found.spec.out.data,
                            found.spec.out.length);
        film_json_add_text(out, "description", found.description);
        film_json_open(out, "accessTypes", '[');
        film_json_add_text(out, NULL, "write");
        film_json_close(out, ']');
        film_json_add_bool(out, "canPersist", found.lasting);
    }
    film_json_writer_reset(&found.spec);
    return true;
}

/* A spec from what a client brings back: only what we know of is taken over. */
static void
put_spec(film_json_writer *spec, const film_json *json)
{
    static const char *const texts[] = {"kind", "name", "function", "module"};
    const film_json_node *root = film_json_root(json);
    const film_json_node *object = film_json_get(json, root, "object");

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const char *text = film_json_text(json, film_json_get(json, root, texts[i]));
        if (text != NULL) {
            film_json_add_text(spec, texts[i], text);
        }
    }
    if (film_json_is(object, FILM_JSON_INTEGER)) {
        film_json_add_integer(spec, "object", object->integer);
    }
}

bool
film_dap_set_data_breakpoints(film_dap *dap, const film_json_node *arguments)
{
    const film_json_node *list = film_json_get(&dap->request, arguments, "breakpoints");
    bool fine = true;

    film_dap_begin_points(dap, FILM_DAP_DATA, 0);
    for (const film_json_node *one = film_json_first(&dap->request, list);
         one != NULL && fine; one = film_json_next(&dap->request, one)) {
        const char *id = film_dap_get_text(dap, one, "dataId");
        film_json_writer spec = {0};
        film_json json = {0};
        film_json_open(&spec, NULL, '{');
        if (id != NULL && film_json_read(&json, id, strlen(id), NULL) == FILM_OK) {
            put_spec(&spec, &json);
        }
        film_dap_put_conditions(dap, &spec, one);
        film_json_close(&spec, '}');
        fine = film_dap_add_point(dap, FILM_DAP_DATA, 0, &spec, false);
        film_json_writer_reset(&spec);
        film_json_reset(&json);
    }
    return film_dap_end_points(dap, FILM_DAP_DATA, 0) && fine;
}
