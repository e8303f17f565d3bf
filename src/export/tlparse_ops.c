/* tlparse_ops.c: an op becomes a record: what was known before the call is written when
 * it begins, the record itself when it ends, as torchdbg does.
 *
 * Not logged, as by torchdbg: an op that raised, one that did not come back, a getter
 * (*.__get__), what torch does inside (the backward pass, ops within its C++), and ops
 * within an op without a frame of the program between them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/tlparse_state.h"

#include <stdio.h>

#include "base/alloc.h"
#include "reader/literal.h"
#include "reader/render.h"

#define LITERAL(out, text) film_buffer_append((out), (text), sizeof(text) - 1)

/* Values in one record, and bytes of ops' text in one artifact. */
#define VALUES 20000u
#define TEXT_BYTES ((size_t)1 << 20)
/* Of one argument in a line of text. */
#define SHOWN_BYTES 80u

#define CO_VARARGS 4u
#define CO_VARKEYWORDS 8u

static bool
ends_with(film_text text, const char *word)
{
    size_t length = strlen(word);

    return text.length >= length &&
           memcmp(text.data + text.length - length, word, length) == 0;
}

void
film_tlparse_forget_op(film_tlparse_op *op)
{
    film_buffer_reset(&op->record);
    film_buffer_reset(&op->rest);
    film_buffer_reset(&op->tokens);
    film_buffer_reset(&op->line);
}

static film_moment
moment_of(const film_event *event)
{
    return film_moment_of(event->thread, event->number);
}

static void
put_text(film_buffer *out, film_text text)
{
    film_buffer_append(out, text.data, text.length);
}

/* The next of names with commas between. */
static film_text
take_name(film_text *left)
{
    const char *comma =
        left->length == 0 ? NULL : memchr(left->data, ',', left->length);
    film_text name = *left;

    if (comma == NULL) {
        left->length = 0;
        return name;
    }
    name.length = (size_t)(comma - left->data);
    left->data += name.length + 1;
    left->length -= name.length + 1;
    return name;
}

/* "args": [...], "kwargs": {...} of the op itself, as they are when it has ended. */
static void
put_arguments(film_tlparse *to, film_buffer *out, const film_tlparse_op *op,
              film_moment moment)
{
    film_input input = film_input_of(op->tokens.data, op->tokens.length);
    film_text names = film_reader_string(to->reader, op->names);
    uint32_t positional = op->positional < op->count ? op->positional : op->count;

    LITERAL(out, "\"args\": [");
    for (uint32_t i = 0; i < op->count; i++) {
        film_datum value = film_datum_take(&input);

        if (i == positional) {
            LITERAL(out, "], \"kwargs\": {");
        }
        film_tlparse_separate(out);
        if (i >= positional) {
            film_trace_put_text(out, take_name(&names));
            LITERAL(out, ": ");
        }
        film_tlparse_put_value(to, out, moment, &value);
    }
    film_buffer_append_text(out, positional == op->count ? "], \"kwargs\": {}" : "}");
}

/* The items of *args or **kwargs, without their brackets. */
static void
put_spread(film_tlparse *to, film_buffer *out, film_moment moment,
           const film_datum *value)
{
    size_t before = out->length;

    film_tlparse_put_value(to, out, moment, value);
    if (out->failed || out->length - before < 2 ||
        (out->data[before] != '[' && out->data[before] != '{')) {
        return;
    }
    memmove(out->data + before, out->data + before + 1, out->length - before - 2);
    out->length -= 2;
}

static void
put_user_arguments(film_tlparse *to, film_buffer *out, const film_event *call,
                   const film_code *code)
{
    film_input input = film_input_of(call->tokens, call->tokens_length);
    uint32_t positional = code->argument_count;
    uint32_t named = positional + code->keyword_only_count;
    film_buffer kwargs = {0};
    film_moment moment = moment_of(call);

    LITERAL(out, ", \"user_args\": [");
    LITERAL(&kwargs, "{");
    for (uint32_t i = 0; i < call->token_count; i++) {
        film_datum value = film_datum_take(&input);
        bool is_args = i == named && (code->flags & CO_VARARGS) != 0;
        film_buffer *side = i < positional || is_args ? out : &kwargs;
        size_t before;

        film_tlparse_separate(side);
        before = side->length;
        if (i >= named) {
            put_spread(to, side, moment, &value);
            if (side->length == before && before > 1 && side->data[before - 1] == ' ') {
                side->length -= 2; /* nothing in it: no comma */
            }
            continue;
        }
        if (side == &kwargs) {
            film_trace_put_text(side, film_reader_argument_name(to->reader, call, i));
            LITERAL(side, ": ");
        }
        film_tlparse_put_value(to, side, moment, &value);
    }
    LITERAL(out, "], \"user_kwargs\": ");
    film_buffer_append(out, kwargs.data, kwargs.length);
    LITERAL(out, "}");
    out->failed = out->failed || kwargs.failed;
    film_buffer_reset(&kwargs);
}

/* The frame of the program that called torch: the innermost that is shown, and the one
 * below it, torch's function, where that was recorded. */
static const film_tlparse_frame *
find_user(const film_tlparse *to, const film_tlparse_frame **inner)
{
    *inner = NULL;
    for (size_t i = to->frame_count; i > 0; i--) {
        if (to->frames[i - 1].shown) {
            return &to->frames[i - 1];
        }
        *inner = &to->frames[i - 1];
    }
    return NULL;
}

/* The Python function of torch's that the program's line called and that led to the op;
 * its arguments, where its call was recorded, else those of the op. */
static void
put_user(film_tlparse *to, film_buffer *out, const film_event *event)
{
    const film_tlparse_frame *inner, *user = find_user(to, &inner);
    const film_code *code =
        inner == NULL ? NULL : film_reader_code(to->reader, inner->code);
    const film_event *call;

    if ((event->api == 0 && code == NULL) || user == NULL) {
        return;
    }
    LITERAL(out, ", \"user_name\": ");
    film_trace_put_text(out, event->api != 0
                                 ? film_reader_string(to->reader, event->api)
                                 : code->function);
    LITERAL(out, ", \"user_line\": ");
    film_literal_int(out, user->line);
    LITERAL(out, ", \"user_filename\": ");
    code = film_reader_code(to->reader, user->code);
    film_literal_int(
        out,
        code == NULL ? 0 : film_trace_log_string(&to->log, event->time_ns, code->file));
    code = inner == NULL ? NULL : film_reader_code(to->reader, inner->code);
    if (code != NULL &&
        film_timeline_event(to->timeline, film_moment_of(event->thread, inner->entered),
                            &call, NULL) == FILM_OK &&
        call->kind == FILM_KIND_CALL && call->code == inner->code) {
        film_event kept = *call;
        uint8_t *tokens = film_alloc(call->tokens_length + 1);
        if (tokens == NULL) {
            out->failed = true;
            return;
        }
        if (call->tokens_length > 0) {
            memcpy(tokens, call->tokens, call->tokens_length);
        }
        kept.tokens = tokens;
        put_user_arguments(to, out, &kept, code);
        film_free(tokens);
    }
}

/* What torchdbg would see: a call of torch's that the program made, not one that torch
 * made while it ran another. Where a mode of filmstrip.torch has told it too, its op is
 * the one: it has the name and arguments that torch gives to modes. */
static bool
is_logged(film_tlparse *to, film_tlparse_thread *thread, const film_event *event,
          uint64_t frame)
{
    bool by_mode = (event->form & FILM_OPERATION_MODE) != 0;

    if ((event->form & (FILM_OPERATION_INNER | FILM_OPERATION_BACKWARD)) != 0 ||
        ends_with(film_reader_string(to->reader, event->text), ".__get__") ||
        (to->options->modes && !by_mode)) {
        return false;
    }
    for (size_t i = thread->count; i > 0; i--) {
        film_tlparse_op *op = &thread->ops[i - 1];

        if (op->frame != frame) {
            continue;
        }
        if (!by_mode || op->by_mode) {
            return false;
        }
        film_buffer_reset(&op->record);
    }
    return true;
}

/* file.py:12 name    torch.add(f32[2], f32[2], alpha=2) */
static void
put_line(film_tlparse *to, film_buffer *out, const film_event *event, size_t depth)
{
    film_text names = film_reader_string(to->reader, event->name);
    const film_code *code = film_reader_code(to->reader, event->code);
    char number[32];
    film_value value;

    for (size_t i = 0; i < depth && i < 20; i++) {
        LITERAL(out, "  ");
    }
    if (code != NULL) {
        const char *slash = memrchr(code->file.data, '/', code->file.length);
        put_text(out, slash == NULL
                          ? code->file
                          : (film_text){slash + 1,
                                        code->file.length -
                                            (size_t)(slash + 1 - code->file.data)});
        snprintf(number, sizeof(number), ":%lu ",
                 (unsigned long)film_reader_event_line(to->reader, event));
        film_buffer_append_text(out, number);
        put_text(out, code->name);
        LITERAL(out, "  ");
    }
    put_text(out, film_reader_string(to->reader, event->text));
    LITERAL(out, "(");
    for (uint32_t i = 0; i < event->token_count; i++) {
        film_buffer_append_text(out, i > 0 ? ", " : "");
        if (i >= event->slot) {
            put_text(out, take_name(&names));
            LITERAL(out, "=");
        }
        if (film_reader_event_value(to->reader, event, i, SHOWN_BYTES, &value, NULL) ==
            FILM_OK) {
            put_text(out, value.text);
        }
    }
    LITERAL(out, ")");
}

void
film_tlparse_flush_ops(film_tlparse *to, uint64_t time_ns)
{
    film_text payload = {(const char *)to->ops.data, to->ops.length};
    char name[80];

    if (payload.length == 0) {
        return;
    }
    film_buffer_clear(&to->json);
    snprintf(name, sizeof(name),
             "{\"name\": \"filmstrip_ops_%llu\", \"encoding\": \"string\"}",
             (unsigned long long)++to->op_texts);
    film_buffer_append_text(&to->json, name);
    film_trace_log_write(&to->log, time_ns, "artifact", &to->json, &payload);
    film_buffer_clear(&to->ops);
}

static void
begin_record(film_tlparse *to, film_tlparse_op *op, const film_event *event)
{
    film_buffer *out = &op->record;

    to->values_left = VALUES;
    LITERAL(out, "{\"target\": ");
    film_trace_put_text(out, film_reader_string(to->reader, event->text));
    LITERAL(out, ", ");
    film_tlparse_put_stack(to, out, event);
    LITERAL(out, ", ");
    put_user(to, &op->rest, event);
    if (event->module != 0) {
        LITERAL(&op->rest, ", \"module\": ");
        film_trace_put_text(&op->rest, film_reader_string(to->reader, event->module));
    }
    film_buffer_append(&op->tokens, event->tokens, event->tokens_length);
    op->count = event->token_count;
    op->positional = event->slot;
    op->names = event->name;
}

film_status
film_tlparse_begin_op(film_tlparse *to, film_tlparse_thread *thread,
                      const film_event *event, film_error *error)
{
    film_tlparse_op *op, *grown = film_grow(thread->ops, &thread->capacity,
                                            thread->count + 1, sizeof(*grown));
    const film_tlparse_frame *inner, *user;

    if (grown == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    thread->ops = grown;
    op = &thread->ops[thread->count];
    FILM_TRY(film_tlparse_look(to, event, error));
    user = find_user(to, &inner);
    *op = (film_tlparse_op){.event = event->number,
                            .frame = user == NULL ? 0 : user->serial,
                            .by_mode = (event->form & FILM_OPERATION_MODE) != 0 &&
                                       (event->form & FILM_OPERATION_INNER) == 0};
    if (is_logged(to, thread, event, op->frame)) {
        begin_record(to, op, event);
    }
    else {
        to->ops_inner++;
    }
    put_line(to, &op->line, event, thread->count);
    thread->count++;
    return op->record.failed || op->rest.failed || op->tokens.failed || op->line.failed
               ? film_fail(error, FILM_NO_MEMORY, "not enough memory")
               : FILM_OK;
}

/* The tensors that the op has changed in place, and the one it gave: what they are like
 * now is what its arguments are like. */
static void
note_renewed(film_tlparse *to, const film_event *event)
{
    film_input input = film_input_of(event->tokens, event->tokens_length);

    film_buffer_clear(&to->renewed);
    for (uint32_t i = 0; i < event->token_count; i++) {
        film_token token = film_token_decode(&input);

        if (token.kind == FILM_TOKEN_VALUE) {
            film_buffer_append(&to->renewed, &token.value, sizeof(token.value));
        }
    }
}

static void
end_record(film_tlparse *to, film_tlparse_op *op, const film_event *event)
{
    film_input input = film_input_of(event->tokens, event->tokens_length);
    film_buffer *out = &op->record;

    to->values_left = VALUES;
    note_renewed(to, event);
    put_arguments(to, out, op, film_moment_of(event->thread, op->event));
    film_buffer_clear(&to->renewed);
    film_buffer_append(out, op->rest.data, op->rest.length);
    LITERAL(out, ", \"ret\": ");
    if (event->token_count == 0) {
        LITERAL(out, "null");
    }
    else {
        film_datum value = film_datum_take(&input);
        film_tlparse_put_value(to, out, moment_of(event), &value);
    }
    LITERAL(out, "}");
    out->failed = out->failed || to->renewed.failed;
    film_trace_log_write(&to->log, event->time_ns, "eager_dispatch", out, NULL);
    to->ops_written++;
}

static void
end_line(film_tlparse *to, film_tlparse_op *op, const film_event *event)
{
    film_value value;

    put_text(&to->ops, (film_text){(const char *)op->line.data, op->line.length});
    if ((event->form & FILM_OPERATION_RAISED) != 0) {
        LITERAL(&to->ops, " raised ");
        put_text(&to->ops, film_reader_string(to->reader, event->text));
    }
    else if (event->token_count > 0 &&
             film_reader_event_value(to->reader, event, 0, SHOWN_BYTES, &value, NULL) ==
                 FILM_OK) {
        LITERAL(&to->ops, " -> ");
        put_text(&to->ops, value.text);
    }
    LITERAL(&to->ops, "\n");
    if (to->ops.length >= TEXT_BYTES) {
        film_tlparse_flush_ops(to, event->time_ns);
    }
}

film_status
film_tlparse_end_op(film_tlparse *to, film_tlparse_thread *thread,
                    const film_event *event, film_error *error)
{
    film_tlparse_op *op = NULL;

    for (size_t i = thread->count; i > 0 && op == NULL; i--) {
        if (thread->ops[i - 1].event == event->op) {
            op = &thread->ops[i - 1];
        }
    }
    if (op == NULL) {
        return FILM_OK; /* it began before the part that is exported, or in damage */
    }
    while (&thread->ops[thread->count - 1] != op) {
        film_tlparse_forget_op(&thread->ops[--thread->count]); /* no end was seen */
    }
    if ((event->form & FILM_OPERATION_RAISED) != 0) {
        to->ops_raised++;
    }
    else if (op->record.length > 0) {
        end_record(to, op, event);
    }
    end_line(to, op, event);
    film_tlparse_forget_op(op);
    thread->count--;
    return to->log.failed || to->ops.failed
               ? film_fail(error, FILM_NO_MEMORY, "not enough memory")
               : FILM_OK;
}
