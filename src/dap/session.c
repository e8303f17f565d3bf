/* session.c: the loop of a session: messages in, responses and events out.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dap/session.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

/* What may wait while a search runs; the rest stays in the pipe. */
#define MOST_WAITING 256u
#define MOST_WAITING_BYTES ((size_t)16 << 20)

bool
film_dap_refuse(film_dap *dap, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(dap->why, sizeof(dap->why), format, arguments);
    va_end(arguments);
    return false;
}

/* --- going out --- */

static void
begin_message(film_dap *dap, film_json_writer *out, const char *type)
{
    film_json_writer_clear(out);
    film_json_open(out, NULL, '{');
    film_json_add_integer(out, "seq", ++dap->seq);
    film_json_add_text(out, "type", type);
}

static void
send_message(film_dap *dap, film_json_writer *out)
{
    film_json_close(out, '}');
    if (out->out.failed) { /* no memory: what is half written helps nobody */
        film_json_writer_reset(out);
        return;
    }
    film_dap_send(&dap->transport, &out->out);
}

static void
begin_response(film_dap *dap, bool success)
{
    begin_message(dap, &dap->event, "response");
    film_json_add_integer(&dap->event, "request_seq", dap->request_seq);
    film_json_add_bool(&dap->event, "success", success);
    film_json_add_text(&dap->event, "command", dap->command);
}

/* Whether the user asked: what an editor asks by itself, for each hover and each watch,
 * is refused without a pop-up, and the console shows its own. */
static bool
is_users(const film_dap *dap)
{
    static const char *const own[] = {
        "evaluate",           "completions",   "scopes", "variables",
        "stackTrace",         "threads",       "source", "loadedSources",
        "dataBreakpointInfo", "exceptionInfo", "cancel", "breakpointLocations"};

    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        if (strcmp(dap->command, own[i]) == 0) {
            return false;
        }
    }
    return true;
}

static void
send_refusal(film_dap *dap)
{
    const char *cancelled = "cancelled";

    begin_response(dap, false);
    film_json_add_text(&dap->event, "message", dap->why);
    if (strcmp(dap->why, cancelled) != 0) {
        film_json_open(&dap->event, "body", '{');
        film_json_open(&dap->event, "error", '{');
        film_json_add_integer(&dap->event, "id", 1);
        film_json_add_text(&dap->event, "format", dap->why);
        film_json_add_bool(&dap->event, "showUser", is_users(dap));
        film_json_close(&dap->event, '}');
        film_json_close(&dap->event, '}');
    }
    send_message(dap, &dap->event);
}

void
film_dap_respond(film_dap *dap)
{
    film_buffer *body = &dap->response.out;

    if (dap->answered) {
        return;
    }
    dap->answered = true;
    if (body->failed) {
        film_json_writer_reset(&dap->response);
        (void)film_dap_refuse(dap, "memory ran out");
        send_refusal(dap);
        return;
    }
    begin_response(dap, true);
    if (body->length > 0) {
        film_json_open(&dap->event, "body", '{');
        film_buffer_append(&dap->event.out, body->data, body->length);
        film_json_close(&dap->event, '}');
    }
    send_message(dap, &dap->event);
}

film_json_writer *
film_dap_event(film_dap *dap, const char *name)
{
    begin_message(dap, &dap->event, "event");
    film_json_add_text(&dap->event, "event", name);
    film_json_open(&dap->event, "body", '{');
    return &dap->event;
}

void
film_dap_send_event(film_dap *dap)
{
    film_json_close(&dap->event, '}');
    send_message(dap, &dap->event);
}

void
film_dap_say(film_dap *dap, const char *category, const char *text)
{
    film_json_writer *out = film_dap_event(dap, "output");

    film_json_add_text(out, "category", category);
    film_json_add_key(out, "output");
    film_json_put_text(&out->out, text, strlen(text));
    out->out.length -= out->out.length > 0; /* its quote goes behind the newline */
    film_buffer_append(&out->out, "\\n\"", 3);
    film_dap_send_event(dap);
}

/* --- coming in --- */

static void
note_interrupt(film_dap *dap, const char *text, size_t length)
{
    film_json json = {0};

    if (film_json_read(&json, text, length, NULL) == FILM_OK) {
        const film_json_node *root = film_json_root(&json);
        const film_json_node *arguments = film_json_get(&json, root, "arguments");
        const char *command =
            film_json_text(&json, film_json_get(&json, root, "command"));
        if (command == NULL) {
            /* no request */
        }
        else if (strcmp(command, "pause") == 0) {
            dap->interrupt = FILM_DAP_PAUSED;
        }
        else if (strcmp(command, "disconnect") == 0 ||
                 strcmp(command, "terminate") == 0) {
            dap->interrupt = FILM_DAP_CANCELLED;
        }
        else if (strcmp(command, "cancel") == 0) {
            const film_json_node *id = film_json_get(&json, arguments, "requestId");
            const char *progress =
                film_json_text(&json, film_json_get(&json, arguments, "progressId"));
            if ((film_json_is(id, FILM_JSON_INTEGER) &&
                 id->integer == dap->request_seq) ||
                (progress != NULL && strcmp(progress, dap->progress_id) == 0)) {
                dap->interrupt = FILM_DAP_CANCELLED;
            }
        }
    }
    film_json_reset(&json);
}

static bool
keep_waiting(film_dap *dap, const char *text, size_t length)
{
    film_dap_message *list = film_grow(dap->waiting, &dap->waiting_capacity,
                                       dap->waiting_count + 1, sizeof(*list));
    char *copy = film_alloc(length + 1);

    if (list != NULL) {
        dap->waiting = list;
    }
    if (list == NULL || copy == NULL) {
        film_free(copy);
        return false;
    }
    memcpy(copy, text, length);
    list[dap->waiting_count++] = (film_dap_message){copy, length};
    dap->waiting_bytes += length;
    return true;
}

void
film_dap_look_for_input(film_dap *dap)
{
    const char *text;
    size_t length;

    while (dap->waiting_count < MOST_WAITING &&
           dap->waiting_bytes < MOST_WAITING_BYTES) {
        film_status status = film_dap_receive(&dap->transport, 0, &text, &length, NULL);
        if (status == FILM_LIMIT) {
            return;
        }
        if (status != FILM_OK || !keep_waiting(dap, text, length)) {
            dap->interrupt = FILM_DAP_CANCELLED;
            return;
        }
        note_interrupt(dap, text, length);
    }
}

/* --- one message --- */

static bool
handle(film_dap *dap, const film_json_node *arguments)
{
    const film_dap_command *command = film_dap_find_command(dap->command);

    if (command == NULL) {
        return film_dap_refuse(dap,
                               "'%.40s' is not offered: a recording has no such "
                               "thing",
                               dap->command);
    }
    if (!dap->initialized && strcmp(dap->command, "initialize") != 0 &&
        strcmp(dap->command, "disconnect") != 0) {
        return film_dap_refuse(dap, "'initialize' comes first");
    }
    if (command->needs_film && dap->timeline == NULL) {
        return film_dap_refuse(dap, "no recording is open: 'launch' comes first");
    }
    return command->handle(dap, arguments);
}

static void
dispatch(film_dap *dap, const char *text, size_t length)
{
    film_error error = {FILM_OK, 0, ""};
    const film_json_node *root, *seq;
    const char *type, *command;

    if (film_json_read(&dap->request, text, length, &error) != FILM_OK) {
        film_dap_say(dap, "important", error.message);
        return;
    }
    root = film_json_root(&dap->request);
    type = film_dap_get_text(dap, root, "type");
    command = film_dap_get_text(dap, root, "command");
    seq = film_json_get(&dap->request, root, "seq");
    if (type != NULL && strcmp(type, "response") == 0) {
        return; /* nothing is asked of clients */
    }
    if (type == NULL || strcmp(type, "request") != 0 || command == NULL ||
        !film_json_is(seq, FILM_JSON_INTEGER)) {
        film_dap_say(dap, "important", "a message came that is no request");
        return;
    }
    dap->request_seq = seq->integer;
    snprintf(dap->command, sizeof(dap->command), "%s", command);
    film_json_writer_clear(&dap->response);
    dap->answered = false;
    dap->interrupt = FILM_DAP_GO_ON;
    if (handle(dap, film_json_get(&dap->request, root, "arguments"))) {
        film_dap_respond(dap);
    }
    else if (dap->answered) { /* it came to nothing behind the response */
        film_dap_say(dap, "important", dap->why);
    }
    else {
        send_refusal(dap);
    }
}

/* --- all of them --- */

static void
take_waiting(film_dap *dap)
{
    film_dap_message first = dap->waiting[0];

    dap->waiting_count--;
    memmove(dap->waiting, dap->waiting + 1, dap->waiting_count * sizeof(first));
    dap->waiting_bytes -= first.length;
    dispatch(dap, first.text, first.length);
    film_free(first.text);
}

static film_status
run(film_dap *dap, film_error *error)
{
    while (!dap->over) {
        const char *text;
        size_t length;
        film_status status;
        if (dap->waiting_count > 0) {
            take_waiting(dap);
            continue;
        }
        status = film_dap_receive(&dap->transport, -1, &text, &length, error);
        if (status == FILM_END) {
            return FILM_OK;
        }
        if (status == FILM_LIMIT) {
            return film_fail(error, FILM_LIMIT, "the client did not bring its token");
        }
        if (status != FILM_OK) {
            if (error != NULL) {
                film_dap_say(dap, "important", error->message);
            }
            return status;
        }
        dispatch(dap, text, length);
        if (dap->admitted) {
            dap->transport.deadline_ns = 0;
        }
    }
    return FILM_OK;
}

static void
release(film_dap *dap)
{
    film_dap_close_film(dap);
    film_dap_free_points(dap);
    for (size_t i = 0; i < dap->waiting_count; i++) {
        film_free(dap->waiting[i].text);
    }
    film_free(dap->waiting);
    film_json_reset(&dap->request);
    film_json_writer_reset(&dap->response);
    film_json_writer_reset(&dap->event);
    film_json_writer_reset(&dap->question);
    film_dap_transport_reset(&dap->transport);
}

film_status
film_dap_serve(int in, int out, const film_dap_options *options, film_error *error)
{
    film_dap dap = {
        .transport = {.in = in, .out = out, .deadline_ns = options->deadline_ns},
        .options = *options,
        .admitted = options->token == NULL,
        .client = {.lines_at_1 = true, .columns_at_1 = true},
        .handles = {.first = 1}};
    film_status status = run(&dap, error);

    release(&dap);
    return status;
}
