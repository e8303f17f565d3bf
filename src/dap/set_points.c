/* set_points.c: the requests that set breakpoints in lines, on functions and on
 * exceptions.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "dap/handlers.h"
#include "dap/points.h"

void
film_dap_put_conditions(const film_dap *dap, film_json_writer *spec,
                        const film_json_node *from)
{
    const char *condition = film_dap_get_text(dap, from, "condition");
    const char *hit = film_dap_get_text(dap, from, "hitCondition");

    if (condition != NULL && condition[strspn(condition, " \t")] != '\0') {
        film_json_add_text(spec, "condition", condition);
    }
    if (hit != NULL && hit[strspn(hit, " \t")] != '\0') {
        film_json_add_key(spec, "hit");
        film_buffer_put_byte(&spec->out, '"');
        for (; *hit != '\0'; hit++) {
            if (strchr("0123456789<>=%", *hit) != NULL) {
                film_buffer_put_byte(&spec->out, (uint8_t)*hit);
            }
            else if (*hit != ' ' && *hit != '\t') {
                film_buffer_put_byte(&spec->out, '?'); /* refused with a sentence */
            }
        }
        film_buffer_put_byte(&spec->out, '"');
    }
}

static bool
add_line(film_dap *dap, size_t source, const film_json_node *from)
{
    const char *log = film_dap_get_text(dap, from, "logMessage");
    film_json_writer spec = {0};
    int64_t line = film_dap_line_of(dap, film_dap_get_integer(dap, from, "line", 0));
    bool fine;

    film_json_open(&spec, NULL, '{');
    film_json_add_text(&spec, "kind", "line");
    film_json_add_text(&spec, "file", dap->sources[source].file);
    film_json_add_integer(&spec, "line", line > 0 && line < INT32_MAX ? line : 0);
    film_dap_put_conditions(dap, &spec, from);
    if (log != NULL && log[0] != '\0') {
        film_json_add_text(&spec, "log", log);
    }
    film_json_close(&spec, '}');
    fine = film_dap_add_point(dap, FILM_DAP_LINE, source, &spec,
                              log != NULL && log[0] != '\0');
    film_json_writer_reset(&spec);
    return fine;
}

/* A file that the recording does not have: nothing there can be hit. */
static void
put_unknown(film_dap *dap, const film_json_node *list)
{
    film_json_open(&dap->response, "breakpoints", '[');
    for (const film_json_node *one = film_json_first(&dap->request, list); one != NULL;
         one = film_json_next(&dap->request, one)) {
        film_json_open(&dap->response, NULL, '{');
        film_json_add_bool(&dap->response, "verified", false);
        film_json_add_text(&dap->response, "message", dap->why);
        film_json_add_integer(&dap->response, "line",
                              film_dap_get_integer(dap, one, "line", 0));
        film_json_close(&dap->response, '}');
    }
    film_json_close(&dap->response, ']');
}

bool
film_dap_set_breakpoints(film_dap *dap, const film_json_node *arguments)
{
    const film_json_node *list = film_json_get(&dap->request, arguments, "breakpoints");
    bool fine = true;
    size_t source;

    if (!film_dap_find_source(dap, film_json_get(&dap->request, arguments, "source"),
                              &source)) {
        put_unknown(dap, list);
        return true;
    }
    film_dap_begin_points(dap, FILM_DAP_LINE, source);
    for (const film_json_node *one = film_json_first(&dap->request, list);
         one != NULL && fine; one = film_json_next(&dap->request, one)) {
        fine = add_line(dap, source, one);
    }
    if (!film_dap_end_points(dap, FILM_DAP_LINE, source) || !fine) {
        return false;
    }
    if (dap->configured) {
        film_dap_respond(dap);
        film_dap_tell_past(dap);
    }
    return true;
}

/* Whether a breakpoint of this kind on that function can be hit. */
static bool
is_known(film_dap *dap, const char *kind, const char *name)
{
    film_json_writer *question = film_dap_question(dap, "breakpoints");
    film_dap_answer answer = {0};
    const film_json_node *told;
    bool known;

    film_json_open(question, "breakpoints", '[');
    film_json_open(question, NULL, '{');
    film_json_add_text(question, "kind", kind);
    film_json_add_text(question, "function", name);
    film_json_close(question, '}');
    film_json_close(question, ']');
    known = film_dap_ask(dap, &answer);
    told = film_json_first(
        &answer.json,
        known ? film_json_get(&answer.json, answer.root, "breakpoints") : NULL);
    known = known && film_dap_is(&answer, told, "verified") &&
            !film_dap_is(&answer, told, "whole");
    film_dap_answer_reset(&answer);
    return known;
}

/* A function of the program, or an op of PyTorch: "op torch.mm", and "torch.mm" where no
 * function of that name was recorded. */
static void
put_function(film_dap *dap, film_json_writer *spec, const char *name)
{
    bool said = strncmp(name, "op ", 3) == 0;
    const char *of = said ? name + 3 + strspn(name + 3, " ") : name;
    bool is_op = said || (of[0] != '\0' && !is_known(dap, "function", of) &&
                          is_known(dap, "op", of));

    film_json_add_text(spec, "kind", is_op ? "op" : "function");
    film_json_add_text(spec, "function", of);
}

bool
film_dap_set_function_breakpoints(film_dap *dap, const film_json_node *arguments)
{
    const film_json_node *list = film_json_get(&dap->request, arguments, "breakpoints");
    bool fine = true;

    film_dap_begin_points(dap, FILM_DAP_FUNCTION, 0);
    for (const film_json_node *one = film_json_first(&dap->request, list);
         one != NULL && fine; one = film_json_next(&dap->request, one)) {
        const char *name = film_dap_get_text(dap, one, "name");
        film_json_writer spec = {0};
        film_json_open(&spec, NULL, '{');
        put_function(dap, &spec, name == NULL ? "" : name);
        film_dap_put_conditions(dap, &spec, one);
        film_json_close(&spec, '}');
        fine = film_dap_add_point(dap, FILM_DAP_FUNCTION, 0, &spec, false);
        film_json_writer_reset(&spec);
    }
    return film_dap_end_points(dap, FILM_DAP_FUNCTION, 0) && fine;
}

static bool
add_filter(film_dap *dap, const char *name, const film_json_node *options)
{
    film_json_writer spec = {0};
    bool fine;

    film_json_open(&spec, NULL, '{');
    film_json_add_text(
        &spec, "kind",
        name != NULL && (strcmp(name, "raised") == 0 || strcmp(name, "uncaught") == 0)
            ? name
            : "unknown filter");
    film_dap_put_conditions(dap, &spec, options);
    film_json_close(&spec, '}');
    fine = film_dap_add_point(dap, FILM_DAP_EXCEPTION, 0, &spec, false);
    film_json_writer_reset(&spec);
    return fine;
}

bool
film_dap_set_exception_breakpoints(film_dap *dap, const film_json_node *arguments)
{
    const film_json_node *filters = film_json_get(&dap->request, arguments, "filters");
    const film_json_node *options =
        film_json_get(&dap->request, arguments, "filterOptions");
    bool fine = true;

    film_dap_begin_points(dap, FILM_DAP_EXCEPTION, 0);
    for (const film_json_node *one = film_json_first(&dap->request, filters);
         one != NULL && fine; one = film_json_next(&dap->request, one)) {
        fine = add_filter(dap, film_json_text(&dap->request, one), NULL);
    }
    for (const film_json_node *one = film_json_first(&dap->request, options);
         one != NULL && fine; one = film_json_next(&dap->request, one)) {
        fine = add_filter(dap, film_dap_get_text(dap, one, "filterId"), one);
    }
    return film_dap_end_points(dap, FILM_DAP_EXCEPTION, 0) && fine;
}

bool
film_dap_breakpoint_locations(film_dap *dap, const film_json_node *arguments)
{
    int64_t first =
        film_dap_line_of(dap, film_dap_get_integer(dap, arguments, "line", 0));
    int64_t last = film_dap_line_of(
        dap, film_dap_get_integer(dap, arguments, "endLine",
                                  film_dap_get_integer(dap, arguments, "line", 0)));
    film_dap_answer answer = {0};
    size_t source;
    bool fine;

    if (!film_dap_find_source(dap, film_json_get(&dap->request, arguments, "source"),
                              &source)) {
        return false;
    }
    film_json_add_text(film_dap_question(dap, "lines"), "file",
                       dap->sources[source].file);
    fine = film_dap_ask(dap, &answer);
    film_json_open(&dap->response, "breakpoints", '[');
    for (const film_json_node *line = film_json_first(
             &answer.json,
             fine ? film_json_get(&answer.json, answer.root, "lines") : NULL);
         line != NULL; line = film_json_next(&answer.json, line)) {
        if (line->integer >= first && line->integer <= last) {
            film_json_open(&dap->response, NULL, '{');
            film_json_add_integer(&dap->response, "line",
                                  film_dap_line(dap, line->integer));
            film_json_close(&dap->response, '}');
        }
    }
    film_json_close(&dap->response, ']');
    film_dap_answer_reset(&answer);
    return fine;
}
