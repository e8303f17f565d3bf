/* tlparse_frames.c: the stack of an op as torchdbg shows it: outermost first, without
 * torch's own frames, each with its name, line, file and locals.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/tlparse_state.h"

#include "analysis/ops/own_code.h"
#include "base/alloc.h"
#include "reader/literal.h"

#define LITERAL(out, text) film_buffer_append((out), (text), sizeof(text) - 1)

enum { KIND_UNKNOWN, KIND_USER, KIND_OWN };

/* True for code of torch and of filmstrip. */
static bool
is_own(film_tlparse *to, uint32_t id)
{
    const film_code *code = film_reader_code(to->reader, id);
    bool own;

    if (code == NULL) {
        return false;
    }
    if (id < to->code_kind_count && to->code_kinds[id] != KIND_UNKNOWN) {
        return to->code_kinds[id] == KIND_OWN;
    }
    own = film_code_is_own(code);
    if (id < to->code_kind_count) {
        to->code_kinds[id] = own ? KIND_OWN : KIND_USER;
    }
    return own;
}

film_status
film_tlparse_look(film_tlparse *to, const film_event *event, film_error *error)
{
    film_moment moment = film_moment_of(event->thread, event->number);
    uint32_t line = film_reader_event_line(to->reader, event);
    const film_stack_frame *frames;
    size_t depth, outer = to->options->thread != 0 ? to->options->outer : 0;
    film_tlparse_frame *grown;

    to->frame_count = 0;
    FILM_TRY(film_timeline_stack(to->timeline, moment, &frames, &depth, error));
    grown = film_grow(to->frames, &to->frame_capacity, depth + 1, sizeof(*grown));
    if (grown == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    to->frames = grown;
    for (size_t i = outer; i < depth; i++) {
        to->frames[to->frame_count++] = (film_tlparse_frame){
            .serial = frames[i].serial,
            .entered = frames[i].entered,
            .index = i,
            .code = frames[i].code,
            .line = i + 1 == depth && line != 0 ? line : frames[i].line,
            .shown = frames[i].code != FILM_NO_CODE && !is_own(to, frames[i].code),
        };
    }
    return FILM_OK;
}

/* {name: value}, without self. */
static void
put_locals(film_tlparse *to, film_buffer *out, film_moment moment, size_t index)
{
    const film_variable *variables;
    size_t count;
    film_status status =
        film_timeline_variables(to->timeline, moment, index, &variables, &count, NULL);

    if (status == FILM_NO_MEMORY) {
        out->failed = true;
    }
    if (status != FILM_OK) {
        return;
    }
    for (size_t i = 0; i < count && !out->failed; i++) {
        film_token token = film_datum_token(&variables[i].value);
        film_text name = variables[i].name;

        if (variables[i].value.length == 0 || token.kind == FILM_TOKEN_UNBOUND ||
            (name.length == 4 && memcmp(name.data, "self", 4) == 0)) {
            continue;
        }
        film_tlparse_separate(out);
        film_trace_put_text(out, name);
        LITERAL(out, ": ");
        film_tlparse_put_value(to, out, moment, &variables[i].value);
    }
}

/* The outermost frame of a program has no locals: they are the module's names. */
static bool
is_program(const film_tlparse_frame *frame, const film_code *code)
{
    static const char name[] = "<module>";

    return frame->index == 0 && code->name.length == sizeof(name) - 1 &&
           memcmp(code->name.data, name, sizeof(name) - 1) == 0;
}

static void
put_frame(film_tlparse *to, film_buffer *out, const film_event *event,
          const film_tlparse_frame *frame)
{
    const film_code *code = film_reader_code(to->reader, frame->code);
    uint32_t file;

    if (code == NULL) {
        return;
    }
    file = film_trace_log_string(&to->log, event->time_ns, code->file);
    film_tlparse_visit(to, event->time_ns, file, code->file, frame->line);
    film_tlparse_separate(out);
    LITERAL(out, "{\"name\": ");
    film_trace_put_text(out, code->name);
    LITERAL(out, ", \"line\": ");
    film_literal_int(out, (int64_t)frame->line);
    LITERAL(out, ", \"filename\": ");
    film_literal_int(out, (int64_t)file);
    LITERAL(out, ", \"locals\": {");
    if (to->has_values && !is_program(frame, code)) {
        put_locals(to, out, film_moment_of(event->thread, event->number), frame->index);
    }
    LITERAL(out, "}}");
}

void
film_tlparse_put_stack(film_tlparse *to, film_buffer *out, const film_event *event)
{
    LITERAL(out, "\"stack\": [");
    for (size_t i = 0; i < to->frame_count && !out->failed; i++) {
        if (to->frames[i].shown) {
            put_frame(to, out, event, &to->frames[i]);
        }
    }
    LITERAL(out, "]");
}
