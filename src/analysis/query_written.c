/* query_written.c: the answer to `written`: what the lines of a frame wrote last, for
 * values beside the lines of a source. The frame's own events are walked backwards, in
 * the chunk of the moment only: what is farther back is not looked for.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "analysis/query_state.h"
#include "analysis/timeline_state.h"

#define MOST_WRITTEN 64u
#define MOST_WALKED 4096u
#define MOST_NAMED 64u

/* An event that wrote something. */
typedef struct wrote {
    uint64_t event;
    uint32_t line, number;
    uint8_t kind, form;
} wrote;

typedef struct walk {
    film_reader *reader; /* borrowed */
    wrote found[MOST_WRITTEN];
    size_t count, walked;
} walk;

/* What the frame's variables call an object. */
typedef struct named {
    uint64_t serial;
    char name[80];
} named;

typedef struct names {
    named items[MOST_NAMED];
    size_t count;
} names;

static bool
is_write(uint8_t kind)
{
    return kind == FILM_KIND_SET || kind == FILM_KIND_DELETE ||
           kind == FILM_KIND_CHANGE || kind == FILM_KIND_CALL;
}

/* Of the writes that a line made to a name, the newest counts. */
static void
meet(walk *on, const film_scene *scene, uint32_t index)
{
    const film_scene_event *event = &scene->events[index];
    film_event whole;
    uint32_t line;

    film_scene_event_of(scene, index, &whole);
    line = film_reader_event_line(on->reader, &whole);
    for (size_t i = 0; i < on->count; i++) {
        const wrote *other = &on->found[i];
        if (other->line == line && other->number == event->number &&
            other->kind == event->kind && other->form == event->form) {
            return;
        }
    }
    on->found[on->count++] = (wrote){.event = scene->first + index,
                                     .line = line,
                                     .number = event->number,
                                     .kind = event->kind,
                                     .form = event->form};
}

static void
walk_frame(walk *on, const film_scene *scene, film_place place)
{
    for (;;) {
        for (uint32_t at = place.at; at != 0; at = scene->events[at - 1].previous) {
            uint8_t kind = scene->events[at - 1].kind;
            if (on->count == MOST_WRITTEN || ++on->walked > MOST_WALKED) {
                return;
            }
            if (is_write(kind)) {
                meet(on, scene, at - 1);
            }
            if (kind == FILM_KIND_CALL) {
                return;
            }
        }
        if (scene->nodes[place.node].before == 0) {
            return;
        }
        place.node = scene->nodes[place.node].before - 1;
        place.at = scene->nodes[place.node].last;
    }
}

static film_status
collect_names(film_ask *ask, film_moment moment, size_t index, names *out)
{
    const film_variable *variables;
    size_t count;

    out->count = 0;
    FILM_TRY(film_timeline_variables(ask->timeline, moment, index, &variables, &count,
                                     ask->error));
    for (size_t i = 0; i < count && out->count < MOST_NAMED; i++) {
        uint64_t serial = film_timeline_serial(ask->timeline, &variables[i].value);
        named *to = &out->items[out->count];
        if (serial != 0 && variables[i].name.length < sizeof(to->name)) {
            memcpy(to->name, variables[i].name.data, variables[i].name.length);
            to->name[variables[i].name.length] = '\0';
            to->serial = serial;
            out->count++;
        }
    }
    return FILM_OK;
}

static const char *
name_of(film_ask *ask, const names *known, const film_datum *object)
{
    uint64_t serial = film_timeline_serial(ask->timeline, object);

    for (size_t i = 0; serial != 0 && i < known->count; i++) {
        if (known->items[i].serial == serial) {
            return known->items[i].name;
        }
    }
    return "";
}

/* The event's value of that role; length 0: it has none. */
static film_status
datum_of(film_ask *ask, film_moment moment, const film_event *event,
         film_value_role role, film_datum *out)
{
    int at = film_event_value_index(event, role);
    film_scene *scene;
    uint32_t index;

    memset(out, 0, sizeof(*out));
    if (at >= 0) {
        FILM_TRY(
            film_timeline_locate(ask->timeline, moment, &scene, &index, ask->error));
        *out = film_scene_token(scene, index, (uint32_t)at);
    }
    return FILM_OK;
}

static film_status
put_one(film_ask *ask, film_moment moment, uint32_t line, film_text name,
        const film_datum *value)
{
    film_ask_open(ask, NULL, '{');
    film_ask_moment(ask, "m", moment);
    film_ask_number(ask, "line", line);
    film_ask_string(ask, "name", name);
    if (value->length == 0) {
        film_ask_null(ask, "value");
    }
    else {
        FILM_TRY(film_ask_value(ask, "value", moment, value));
    }
    film_ask_close(ask, '}');
    return FILM_OK;
}

static film_status
put_arguments(film_ask *ask, film_moment moment, uint32_t line, const film_event *event)
{
    for (uint32_t i = 0; i < event->token_count; i++) {
        film_scene *scene;
        film_datum datum;
        uint32_t index;
        FILM_TRY(
            film_timeline_locate(ask->timeline, moment, &scene, &index, ask->error));
        datum = film_scene_token(scene, index, i);
        FILM_TRY(put_one(ask, moment, line,
                         film_reader_argument_name(ask->reader, event, i), &datum));
    }
    return FILM_OK;
}

/* What was written to, as the source is likely to name it: x, self.x, table['k']; an
 * owner that no variable of the frame holds is left out: .x, ['k']. */
static film_status
write_name(film_ask *ask, film_moment moment, const film_event *event,
           const names *known, film_buffer *name)
{
    film_datum owner, key;
    film_value told;

    FILM_TRY(datum_of(ask, moment, event, FILM_ROLE_OWNER, &owner));
    FILM_TRY(datum_of(ask, moment, event, FILM_ROLE_KEY, &key));
    if (event->kind == FILM_KIND_CHANGE) {
        FILM_TRY(datum_of(ask, moment, event, FILM_ROLE_VALUE, &owner));
        film_buffer_append_text(name, name_of(ask, known, &owner));
        return FILM_OK;
    }
    if (owner.length > 0) {
        film_buffer_append_text(name, name_of(ask, known, &owner));
    }
    if (key.length > 0) {
        FILM_TRY(
            film_timeline_text(ask->timeline, moment, &key, 40, &told, ask->error));
        film_buffer_put_byte(name, '[');
        film_buffer_append(name, told.text.data, told.text.length);
        film_buffer_put_byte(name, ']');
    }
    else {
        film_text text = film_reader_event_name(ask->reader, event);
        if (owner.length > 0) {
            film_buffer_put_byte(name, '.');
        }
        film_buffer_append(name, text.data, text.length);
    }
    return FILM_OK;
}

static film_status
put_write(film_ask *ask, film_moment moment, const names *known, film_buffer *name)
{
    const film_event *borrowed;
    film_event event;
    film_datum value;
    film_text text;
    uint32_t line;

    FILM_TRY(film_timeline_event(ask->timeline, moment, &borrowed, ask->error));
    event = *borrowed;
    line = film_reader_event_line(ask->reader, &event);
    if (event.kind == FILM_KIND_CALL) {
        return put_arguments(ask, moment, line, &event);
    }
    film_buffer_clear(name);
    FILM_TRY(write_name(ask, moment, &event, known, name));
    FILM_TRY(datum_of(ask, moment, &event, FILM_ROLE_VALUE, &value));
    if (name->failed) {
        return film_fail(ask->error, FILM_NO_MEMORY, "memory ran out");
    }
    text.data = (const char *)name->data;
    text.length = name->length;
    if (text.length == 0) { /* an object that nothing here holds */
        return FILM_OK;
    }
    return put_one(ask, moment, line, text, &value);
}

film_status
film_answer_written(film_ask *ask)
{
    film_moment moment;
    film_scene *scene;
    film_buffer name = {0};
    film_status status = FILM_OK;
    walk on = {.reader = ask->reader};
    names known;
    uint64_t serial;
    size_t index;
    uint32_t at;

    FILM_TRY(film_ask_get_moment(ask, "m", true, &moment));
    FILM_TRY(film_ask_get_frame(ask, moment, &index, &serial));
    FILM_TRY(collect_names(ask, moment, index, &known));
    FILM_TRY(film_timeline_locate(ask->timeline, moment, &scene, &at, ask->error));
    FILM_TRY(film_timeline_places(ask->timeline, scene, at, ask->error));
    walk_frame(&on, scene, ask->timeline->places[index]);
    film_ask_open(ask, "written", '[');
    for (size_t i = 0; i < on.count && status == FILM_OK; i++) {
        status = put_write(ask, film_moment_of(moment.thread, on.found[i].event),
                           &known, &name);
    }
    film_ask_close(ask, ']');
    film_buffer_reset(&name);
    return status;
}
