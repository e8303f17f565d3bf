/* log_ops.c: see log_ops.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/log_ops.h"

#include <filmstrip/tensor.h>

#include "analysis/open_ops.h"
#include "analysis/ops/forward.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "base/intern.h"
#include "export/log_text.h"
#include "reader/render.h"

/* Arguments, and changed ones, that a line has room for. */
#define ARGUMENTS 32u
#define CHANGED 8u

typedef struct told_state {
    int64_t version;
    uint32_t text;
} told_state;

/* What texts of one recording have told of its tensors. */
typedef struct told {
    film_intern by_serial; /* serial's hash to an index of `states` */
    told_state *states;    /* owned */
    size_t count, capacity;
} told;

struct film_log_ops {
    const film_recordings *set; /* borrowed */
    told *tensors;              /* owned, one a recording */
    film_forwards **forwards;   /* owned, one a recording; NULL: none asked for yet */
    film_open_ops open;         /* marked: those whose opening line was written */
    /* The op that waits: its line so far, and what ends it. */
    film_output line, tail; /* write into: */
    film_buffer line_bytes, tail_bytes;
    bool waits;
    size_t recording;
    uint32_t thread;
    uint64_t number;
};

/* --- what was told of tensors --------------------------------------------------------- */

/* What was told of it last; NULL: nothing. */
static told_state *
find_told(told *of, uint64_t serial)
{
    uint32_t index;

    return film_intern_find(&of->by_serial, film_digest_mix(serial, 1) | 1, &index)
               ? &of->states[index]
               : NULL;
}

static bool
tells_tensor(void *context, uint64_t serial, uint32_t text, int64_t version)
{
    told *of = context;
    told_state *known = find_told(of, serial), *states, now = {version, text};
    bool is_new;

    if (known != NULL) {
        is_new = known->text != text || known->version != version;
        *known = now;
        return is_new;
    }
    states = film_grow(of->states, &of->capacity, of->count + 1, sizeof(*states));
    if (states != NULL) {
        of->states = states;
        if (film_intern_add(&of->by_serial, film_digest_mix(serial, 1) | 1,
                            (uint32_t)of->count)) {
            states[of->count++] = now;
        }
    }
    return true; /* where memory is out each is told again */
}

/* --- begin and end ------------------------------------------------------------------- */

film_status
film_log_ops_new(const film_recordings *set, film_log_ops **out, film_error *error)
{
    film_log_ops *ops = film_alloc(sizeof(*ops));
    film_status status = FILM_OK;

    *out = NULL;
    if (ops == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    ops->set = set;
    ops->tensors = film_alloc_array(set->count, sizeof(*ops->tensors));
    ops->forwards = film_alloc_array(set->count, sizeof(*ops->forwards));
    if (ops->tensors == NULL || ops->forwards == NULL) {
        status = film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    if (status == FILM_OK) {
        status = film_output_init(&ops->line, -1, error);
        ops->line.memory = &ops->line_bytes;
    }
    if (status == FILM_OK) {
        status = film_output_init(&ops->tail, -1, error);
        ops->tail.memory = &ops->tail_bytes;
    }
    if (status != FILM_OK) {
        film_log_ops_free(ops);
        return status;
    }
    for (size_t i = 0; i < set->count; i++) {
        film_reader_tell_tensors_by(set->items[i].reader, tells_tensor,
                                    &ops->tensors[i]);
    }
    *out = ops;
    return FILM_OK;
}

void
film_log_ops_free(film_log_ops *ops)
{
    if (ops == NULL) {
        return;
    }
    for (size_t i = 0; ops->tensors != NULL && i < ops->set->count; i++) {
        film_reader_tell_tensors_by(ops->set->items[i].reader, NULL, NULL);
        film_intern_reset(&ops->tensors[i].by_serial);
        film_free(ops->tensors[i].states);
    }
    for (size_t i = 0; ops->forwards != NULL && i < ops->set->count; i++) {
        film_forwards_free(ops->forwards[i]);
    }
    film_free(ops->forwards);
    film_free(ops->tensors);
    film_open_ops_reset(&ops->open);
    film_output_reset(&ops->line);
    film_output_reset(&ops->tail);
    film_buffer_reset(&ops->line_bytes);
    film_buffer_reset(&ops->tail_bytes);
    film_free(ops);
}

uint32_t
film_log_ops_indent(const film_log_ops *ops, const film_merged *merged)
{
    return film_open_ops_marked(&ops->open, merged->recording, merged->event->thread);
}

/* Takes what was written into a buffer to where the log goes. */
static void
move(film_output *from, film_buffer *bytes, film_output *to)
{
    film_output_drain(from);
    if (bytes->length > 0) {
        film_output_write(to, bytes->data, bytes->length);
    }
    film_buffer_clear(bytes);
}

/* The op that waited: it is a line of its own from now on, or it is not shown. */
static void
mark_open(film_log_ops *ops)
{
    film_thread_ops *of = film_open_ops_of(&ops->open, ops->recording, ops->thread);

    if (of != NULL && of->count > 0 && of->ops[of->count - 1].number == ops->number) {
        of->ops[of->count - 1].mark = true;
    }
}

void
film_log_ops_flush(film_log_text *log, film_output *output)
{
    film_log_ops *ops = log->ops;

    if (ops == NULL || !ops->waits) {
        return;
    }
    ops->waits = false;
    move(&ops->line, &ops->line_bytes, output);
    move(&ops->tail, &ops->tail_bytes, output);
    film_output_byte(output, '\n');
    mark_open(ops);
}

void
film_log_ops_pass(film_log_text *log, film_output *output, const film_merged *merged)
{
    film_log_ops_flush(log, output);
    film_open_ops_settle(&log->ops->open, merged->recording, merged->event);
}

/* --- an op's line --------------------------------------------------------------------- */

static void
write_arguments(film_output *output, film_reader *reader, const film_event *event)
{
    if ((event->form & FILM_OPERATION_INNER) != 0) {
        return; /* they were not told; a node's thread is told with its forward op */
    }
    film_output_byte(output, '(');
    for (uint32_t i = 0; i < event->token_count && i < ARGUMENTS; i++) {
        film_text name = film_reader_op_keyword(reader, event, i);

        film_output_text(output, i > 0 ? ", " : "");
        if (name.length > 0) {
            film_output_display(output, name);
            film_output_byte(output, '=');
        }
        film_log_value(output, reader, event, i);
    }
    film_output_text(output, event->token_count > ARGUMENTS ? ", ...)" : ")");
}

/* (sync, launch) */
static void
write_flags(film_output *output, uint8_t flags)
{
    static const struct {
        uint8_t flag;
        const char *word;
    } words[] = {{FILM_OPERATION_SYNC, "sync"},
                 {FILM_OPERATION_LAUNCH, "launch"},
                 {FILM_OPERATION_BACKWARD, "backward"},
                 {FILM_OPERATION_INFERENCE, "inference"},
                 {FILM_OPERATION_COMPILED, "compiled"}};
    bool any = false;

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if ((flags & words[i].flag) != 0) {
            film_output_text(output, any ? ", " : "  (");
            film_output_text(output, words[i].word);
            any = true;
        }
    }
    film_output_text(output, any ? ")" : "");
}

/* Where it came from. */
static void
write_tail(film_output *output, film_reader *reader, const film_event *event)
{
    write_flags(output, event->form);
    if (event->module != 0) {
        FILM_OUTPUT_LITERAL(output, "  [");
        film_output_display(output, film_reader_string(reader, event->module));
        film_output_byte(output, ']');
    }
    if (event->api != 0) {
        FILM_OUTPUT_LITERAL(output, "  by ");
        film_output_display(output, film_reader_string(reader, event->api));
    }
}

/* (of train.py:21 torch.nn.functional.linear [layers.0.lin]) */
static void
write_forward(film_log_ops *ops, film_output *output, const film_merged *merged)
{
    film_reader *reader = ops->set->items[merged->recording].reader;
    film_forwards **forwards = &ops->forwards[merged->recording];
    film_forward of;
    film_text file;

    if (!film_op_is_node(merged->event) ||
        (*forwards == NULL && film_forwards_open(reader, forwards, NULL) != FILM_OK) ||
        film_forwards_find(*forwards, merged->event, &of, NULL) != FILM_OK) {
        return;
    }
    FILM_OUTPUT_LITERAL(output, "  (of ");
    if (of.code != FILM_NO_CODE) {
        file = film_short_file(reader, film_reader_code(reader, of.code)->file);
        film_output_display(output, file);
        film_output_byte(output, ':');
        film_output_u64(output, of.line);
        film_output_byte(output, ' ');
    }
    film_output_display(output, film_reader_string(reader, of.function));
    if (of.module != 0) {
        FILM_OUTPUT_LITERAL(output, " [");
        film_output_display(output, film_reader_string(reader, of.module));
        film_output_byte(output, ']');
    }
    film_output_byte(output, ')');
}

static void
write_begin(film_log_text *log, film_output *line, const film_merged *merged)
{
    const film_event *event = merged->event;
    film_reader *reader = log->set->items[merged->recording].reader;

    film_log_head(log, line, merged, false);
    if (event->frame != 0) {
        FILM_OUTPUT_LITERAL(line, "  ");
    }
    film_log_word(log, line, "op ", MAGENTA);
    film_output_display(line, film_reader_string(reader, event->text));
    write_arguments(line, reader, event);
}

void
film_log_ops_begin(film_log_text *log, film_output *output, const film_merged *merged)
{
    film_log_ops *ops = log->ops;
    const film_event *event = merged->event;

    film_log_ops_flush(log, output);
    film_open_ops_settle(&ops->open, merged->recording, event);
    write_begin(log, &ops->line, merged);
    write_tail(&ops->tail, log->set->items[merged->recording].reader, event);
    write_forward(ops, &ops->tail, merged);
    ops->waits = true;
    ops->recording = merged->recording;
    ops->thread = event->thread;
    ops->number = event->number;
    if (film_open_ops_begin(&ops->open, merged->recording, event) == NULL) {
        film_log_ops_flush(log, output);
    }
}

/* t4 changed: version 3 */
static void
put_changed(film_output *output, const film_tensor *tensor)
{
    FILM_OUTPUT_LITERAL(output, "  t");
    film_output_u64(output, tensor->serial);
    FILM_OUTPUT_LITERAL(output, " changed");
    if (tensor->version >= 0) {
        FILM_OUTPUT_LITERAL(output, ": version ");
        film_output_u64(output, (uint64_t)tensor->version);
    }
}

/* The tensor that the event's value at `index` is; false: it is none. */
static bool
tensor_at(film_reader *reader, const film_event *event, uint32_t index,
          film_tensor *out)
{
    film_input input = film_input_of(event->tokens, event->tokens_length);
    film_token token;

    if (index >= event->token_count) {
        return false;
    }
    film_tokens_skip(&input, index);
    film_token_read(&input, &token);
    return !input.failed &&
           (token.kind == FILM_TOKEN_VALUE || token.kind == FILM_TOKEN_OBJECT) &&
           film_reader_tensor(reader, token.value, out, NULL) == FILM_OK;
}

/* Whether it gave an argument that it has changed: x.add_(1). To be asked before the
 * result is told. */
static bool
changed_result(film_log_ops *ops, const film_merged *merged, film_tensor *out)
{
    const told_state *known;

    if ((merged->event->form & FILM_OPERATION_RAISED) != 0 ||
        !tensor_at(ops->set->items[merged->recording].reader, merged->event, 0, out)) {
        return false;
    }
    known = find_told(&ops->tensors[merged->recording], out->serial);
    return known != NULL && known->version >= 0 && out->version > known->version;
}

static void
write_changed(film_output *output, film_reader *reader, const film_event *event)
{
    film_tensor tensor;

    for (uint32_t i = 1; i < event->token_count && i <= CHANGED; i++) {
        if (tensor_at(reader, event, i, &tensor)) {
            put_changed(output, &tensor);
        }
        else { /* of a class of the program's */
            FILM_OUTPUT_LITERAL(output, "  ");
            film_log_value(output, reader, event, i);
            FILM_OUTPUT_LITERAL(output, " changed");
        }
    }
    film_output_text(output, event->token_count > CHANGED + 1 ? "  ..." : "");
}

/* -> t17: f32[64, 128] cuda:0  12.0us */
static void
write_outcome(film_log_text *log, film_output *output, const film_merged *merged,
              const film_open_op *begun)
{
    const film_event *event = merged->event;
    film_reader *reader = log->set->items[merged->recording].reader;
    int result = film_event_value_index(event, FILM_ROLE_VALUE);

    if ((event->form & FILM_OPERATION_RAISED) != 0) {
        film_log_word(log, output, "  raised ", RED);
        film_log_exception(output, reader, event);
    }
    else if (result >= 0) {
        FILM_OUTPUT_LITERAL(output, " -> ");
        film_log_value(output, reader, event, (uint32_t)result);
    }
    if (begun != NULL && begun->time_ns <= event->time_ns) {
        FILM_OUTPUT_LITERAL(output, "  ");
        film_output_duration(output, event->time_ns - begun->time_ns);
    }
}

static void
write_end(film_log_text *log, film_output *output, const film_merged *merged,
          const film_open_op *begun)
{
    film_reader *reader = log->set->items[merged->recording].reader;

    film_log_head(log, output, merged, false);
    if (merged->event->frame != 0) {
        FILM_OUTPUT_LITERAL(output, "  ");
    }
    film_log_word(log, output, "end ", MAGENTA);
    if (begun != NULL) {
        film_output_display(output, film_reader_string(reader, begun->function));
    }
    else {
        FILM_OUTPUT_LITERAL(output, "op of event ");
        film_output_u64(output, merged->event->op);
    }
    write_outcome(log, output, merged, begun);
}

void
film_log_ops_end(film_log_text *log, film_output *output, const film_merged *merged)
{
    film_log_ops *ops = log->ops;
    const film_event *event = merged->event;
    film_reader *reader = log->set->items[merged->recording].reader;
    bool is_next = ops->waits && ops->recording == merged->recording &&
                   ops->thread == event->thread && ops->number == event->op;
    film_tensor result = {0};
    film_open_op op;
    bool is_known, gave_changed;

    if (!is_next) {
        film_log_ops_flush(log, output);
    }
    is_known = film_open_ops_end(&ops->open, merged->recording, event, &op);
    gave_changed = changed_result(ops, merged, &result);
    if (is_next) {
        ops->waits = false;
        move(&ops->line, &ops->line_bytes, output);
        write_outcome(log, output, merged, is_known ? &op : NULL);
        move(&ops->tail, &ops->tail_bytes, output);
    }
    else {
        write_end(log, output, merged, is_known ? &op : NULL);
    }
    if (gave_changed) {
        put_changed(output, &result);
    }
    if ((event->form & FILM_OPERATION_RAISED) == 0) {
        write_changed(output, reader, event);
    }
    film_output_byte(output, '\n');
}
