/* log_xml.c: the log as an XML document.
 *
 *   <log>
 *   <thread id="1" name="MainThread" pid="1234">
 *   <call function="m.f" file="m.py" line="3" caller_line="9" event="0" time_ns="5">
 *   <raise type="ValueError" message="no" line="4" event="1" time_ns="9"/>
 *   <unwind ... /></call>
 *
 *
 * At level values: <set scope="local" name="x" value="5" type="int" .../>, delete
 * alike; <change object="7" type="list" value="[1, 2]" length_before="1" .../>; a call
 * has args, a return its value. An op: <op function="torch.add" args="t3, alpha=2" ...>,
 * its last child <op_end value="t17: f32[64] cpu" .../>.
 *
 * The element of an activation is call, resume or throw; its last child says how it
 * ended (return, yield, unwind), except where the recording does not know.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/log.h"

#include <filmstrip/tensor.h>

#include "analysis/activity.h"
#include "export/moment_texts.h"

/* Bytes of one value. */
#define VALUE_BYTES 4096u

typedef struct document {
    film_output *output; /* borrowed */
    film_selection *selection;
    const film_merge_range *range;
    film_reader *reader;
    size_t recording;
    uint64_t shift_ns;
    film_moment_texts texts;
} document;

static void
write_text(film_output *output, const char *key, film_text text)
{
    film_output_text(output, key);
    film_output_xml(output, text);
    film_output_byte(output, '"');
}

static void
write_number(film_output *output, const char *key, uint64_t number)
{
    film_output_text(output, key);
    film_output_u64(output, number);
    film_output_byte(output, '"');
}

static void
write_line(document *to, const char *key, uint32_t line)
{
    if (line != 0) {
        write_number(to->output, key, line);
    }
}

static void
write_when(document *to, const film_step *step)
{
    if (step->event != NULL) {
        write_number(to->output, " event=\"", step->event->number);
    }
    write_number(to->output, " time_ns=\"", step->time_ns + to->shift_ns);
}

static void
write_exception(document *to, const film_event *event)
{
    film_value message;

    write_text(to->output, " type=\"", film_reader_string(to->reader, event->text));
    if (event->value != 0 &&
        film_reader_value(to->reader, event->value - 1, &message, NULL) == FILM_OK) {
        write_text(to->output, " message=\"", message.text);
    }
}

/* The value with that role, if the event has it. */
static void
write_value(document *to, const film_event *event, const char *key,
            film_value_role role)
{
    int index = film_event_value_index(event, role);
    film_value value;

    film_moment_texts_begin(&to->texts, event);
    if (index >= 0 && film_reader_event_value(to->reader, event, (uint32_t)index,
                                              VALUE_BYTES, &value, NULL) == FILM_OK) {
        write_text(to->output, key, value.text);
        if (role == FILM_ROLE_VALUE) {
            if (value.is_object && event->kind == FILM_KIND_CHANGE) {
                write_number(to->output, " object=\"", value.object);
            }
            write_text(to->output, " type=\"", value.type);
        }
    }
    film_moment_texts_end(&to->texts);
}

/* args="a=1, b=2" */
static void
write_arguments(document *to, const film_event *event)
{
    film_value value;

    film_moment_texts_begin(&to->texts, event);
    FILM_OUTPUT_LITERAL(to->output, " args=\"");
    for (uint32_t i = 0; i < event->token_count; i++) {
        film_output_text(to->output, i > 0 ? ", " : "");
        film_output_xml(to->output, film_reader_argument_name(to->reader, event, i));
        film_output_byte(to->output, '=');
        if (film_reader_event_value(to->reader, event, i, VALUE_BYTES, &value, NULL) ==
            FILM_OK) {
            film_output_xml(to->output, value.text);
        }
    }
    film_output_byte(to->output, '"');
    film_moment_texts_end(&to->texts);
}

/* args="t3: f32[64] cpu, alpha=2" changed="..." and what else an op has. */
static void
write_values(document *to, const film_event *event, const char *key, uint32_t first)
{
    film_value value;

    film_output_text(to->output, key);
    for (uint32_t i = first; i < event->token_count; i++) {
        film_text name = film_reader_op_keyword(to->reader, event, i);

        film_output_text(to->output, i > first ? ", " : "");
        film_output_xml(to->output, name);
        film_output_text(to->output, name.length > 0 ? "=" : "");
        if (film_reader_event_value(to->reader, event, i, VALUE_BYTES, &value, NULL) ==
            FILM_OK) {
            film_output_xml(to->output, value.text);
        }
    }
    film_output_byte(to->output, '"');
}

static void
write_op(document *to, const film_event *event)
{
    static const struct {
        uint8_t flag;
        const char *key;
    } keys[] = {{FILM_OPERATION_GRAD, " grad=\"true\""},
                {FILM_OPERATION_INFERENCE, " inference=\"true\""},
                {FILM_OPERATION_INNER, " inner=\"true\""},
                {FILM_OPERATION_BACKWARD, " backward=\"true\""},
                {FILM_OPERATION_SYNC, " sync=\"true\""},
                {FILM_OPERATION_LAUNCH, " launch=\"true\""},
                {FILM_OPERATION_COMPILED, " compiled=\"true\""},
                {FILM_OPERATION_MODE, " mode=\"true\""}};

    film_moment_texts_begin(&to->texts, event);
    if (event->token_count > 0) {
        write_values(to, event, " args=\"", 0);
    }
    film_moment_texts_end(&to->texts);
    if (event->module != 0) {
        write_text(to->output, " module=\"",
                   film_reader_string(to->reader, event->module));
    }
    if (event->api != 0) {
        write_text(to->output, " api=\"", film_reader_string(to->reader, event->api));
    }
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *key = keys[i].flag == FILM_OPERATION_NODE &&
                                  (event->form & FILM_OPERATION_INNER) != 0
                              ? " node=\"true\""
                              : keys[i].key;
        film_output_text(to->output, (event->form & keys[i].flag) != 0 ? key : "");
    }
    write_line(to, " line=\"", film_reader_event_line(to->reader, event));
}

/* What an op gave and changed, or raised. */
static void
write_op_end(document *to, const film_event *event)
{
    if ((event->form & FILM_OPERATION_RAISED) != 0) {
        write_exception(to, event);
        return;
    }
    write_value(to, event, " value=\"", FILM_ROLE_VALUE);
    if (event->token_count > 1) {
        write_values(to, event, " changed=\"", 1);
    }
}

static void
write_write(document *to, const film_event *event)
{
    bool is_write = event->kind != FILM_KIND_CHANGE;
    film_text name = film_reader_event_name(to->reader, event);

    if (is_write) {
        write_text(to->output, " scope=\"",
                   film_text_of(film_reader_event_scope(to->reader, event)));
    }
    if (is_write && name.length > 0) {
        write_text(to->output, " name=\"", name);
    }
    write_value(to, event, " owner=\"", FILM_ROLE_OWNER);
    write_value(to, event, " key=\"", FILM_ROLE_KEY);
    write_value(to, event, " value=\"", FILM_ROLE_VALUE);
    if (event->form == FILM_SET_ATTRIBUTE_VIA || event->form == FILM_SET_ITEM_VIA) {
        FILM_OUTPUT_LITERAL(to->output, " via=\"true\"");
    }
    if (event->length_before >= 0) {
        write_number(to->output, " length_before=\"", (uint64_t)event->length_before);
    }
    if (event->cut) {
        FILM_OUTPUT_LITERAL(to->output, " cut=\"true\"");
    }
}

static const char *
entry_name(uint8_t cause)
{
    /* An adopted frame shows as a call without an event. */
    return cause == FILM_KIND_RESUME   ? "resume"
           : cause == FILM_KIND_THROW  ? "throw"
           : cause == FILM_KIND_C_CALL ? "c_call"
           : cause == FILM_KIND_OP     ? "op"
                                       : "call";
}

static void
write_enter(document *to, const film_step *step)
{
    const film_code *code = film_reader_code(to->reader, step->function);

    film_output_byte(to->output, '<');
    film_output_text(to->output, entry_name(step->cause));
    if (step->cause == FILM_KIND_C_CALL || step->cause == FILM_KIND_OP) {
        write_text(to->output, " function=\"",
                   film_reader_string(to->reader, step->function & ~FILM_C_FUNCTION));
    }
    else if (code != NULL) {
        write_text(to->output, " function=\"", code->function);
        write_text(to->output, " file=\"", code->file);
        write_number(to->output, " line=\"", code->first_line);
    }
    if (step->event != NULL && step->cause == FILM_KIND_OP) {
        write_op(to, step->event);
    }
    else if (step->event != NULL && step->cause != FILM_KIND_C_CALL) {
        write_line(to, " caller_line=\"",
                   film_reader_line(to->reader, step->event->caller_code,
                                    step->event->caller_offset));
    }
    if (step->event != NULL && step->event->kind == FILM_KIND_CALL &&
        step->event->token_count > 0) {
        write_arguments(to, step->event);
    }
    write_when(to, step);
    FILM_OUTPUT_LITERAL(to->output, ">\n");
}

static void
write_event(document *to, const film_step *step)
{
    const film_event *event = step->event;

    film_output_byte(to->output, '<');
    film_output_text(to->output, film_kind_name(event->kind));
    if (event->kind == FILM_KIND_RAISE || event->kind == FILM_KIND_HANDLED ||
        event->kind == FILM_KIND_UNWIND) {
        write_exception(to, event);
    }
    else if (event->kind == FILM_KIND_LOST || event->kind == FILM_KIND_LOST_CONTROL) {
        write_number(to->output, " count=\"", event->count);
        write_text(to->output, " reason=\"",
                   film_reader_string(to->reader, event->text));
    }
    else if (event->kind == FILM_KIND_SET || event->kind == FILM_KIND_DELETE ||
             event->kind == FILM_KIND_CHANGE) {
        write_write(to, event);
    }
    else if (event->kind == FILM_KIND_RETURN || event->kind == FILM_KIND_YIELD) {
        write_value(to, event, " value=\"", FILM_ROLE_VALUE);
    }
    else if (event->kind == FILM_KIND_OP_END) {
        write_op_end(to, event);
    }
    else if (event->text != 0) {
        write_text(to->output, " name=\"", film_reader_string(to->reader, event->text));
    }
    write_line(to, " line=\"", film_reader_event_line(to->reader, event));
    write_when(to, step);
    FILM_OUTPUT_LITERAL(to->output, "/>\n");
}

static bool
is_in_range(const document *to, const film_step *step)
{
    uint64_t time_ns = step->time_ns + to->shift_ns;

    return time_ns >= to->range->from_ns && time_ns <= to->range->to_ns &&
           (step->event == NULL || (step->event->number >= to->range->first_event &&
                                    step->event->number < to->range->end_event));
}

/* Whatever the range. */
static bool
takes(document *to, const film_step *step, uint64_t depth)
{
    if (to->selection->depth != 0 && depth > to->selection->depth) {
        return false;
    }
    if (step->event != NULL &&
        !film_selection_takes_kind(to->selection, to->recording, step->event)) {
        return false;
    }
    if (step->cause == FILM_KIND_OP && step->event != NULL) {
        return film_selection_takes_op(to->selection, to->recording, step->event) ||
               film_selection_takes_code(to->selection, to->recording,
                                         step->event->code);
    }
    if (step->function & FILM_C_FUNCTION) {
        return to->selection->pattern_count == 0;
    }
    return film_selection_takes_code(to->selection, to->recording, step->function);
}

static void
write_leave(document *to, const film_step *step, const char *name)
{
    if (step->event != NULL) {
        write_event(to, step);
    }
    FILM_OUTPUT_LITERAL(to->output, "</");
    film_output_text(to->output, name);
    FILM_OUTPUT_LITERAL(to->output, ">\n");
}

/* One byte an open activation: which element to close, or one of these. */
#define LEFT_OUT 0u
#define OP_LEFT_OUT 0xfdu /* ops are no levels of calls */
#define OP_BEGAN_BEFORE 0xfeu
#define BEGAN_BEFORE 0xffu /* the range: its end is shown by itself */

static void
write_step_leave(document *to, const film_step *step, uint8_t cause)
{
    if (cause == BEGAN_BEFORE || cause == OP_BEGAN_BEFORE) {
        if (step->event != NULL && is_in_range(to, step)) {
            write_event(to, step);
        }
    }
    else if (cause != LEFT_OUT && cause != OP_LEFT_OUT) {
        write_leave(to, step, entry_name(cause));
    }
}

static bool
is_op(uint8_t cause)
{
    return cause == FILM_KIND_OP || cause == OP_LEFT_OUT || cause == OP_BEGAN_BEFORE;
}

/* The activation that begins, as a byte of the open ones. */
static uint8_t
open_as(document *to, const film_step *step, uint64_t depth)
{
    bool op = step->cause == FILM_KIND_OP;
    bool taken = takes(to, step, op ? depth : depth + 1);

    if (!taken) {
        return op ? OP_LEFT_OUT : LEFT_OUT;
    }
    if (!is_in_range(to, step)) {
        return op ? OP_BEGAN_BEFORE : BEGAN_BEFORE;
    }
    to->selection->taken++;
    write_enter(to, step);
    return step->cause;
}

static film_status
write_steps(document *to, film_activity *activity, film_buffer *open, film_error *error)
{
    film_step step;
    film_status status;
    uint64_t depth = 0;

    while ((status = film_activity_next(activity, &step, error)) == FILM_OK) {
        if (step.kind == FILM_STEP_ENTER) {
            uint8_t opened = open_as(to, &step, depth);
            film_buffer_put_byte(open, opened);
            if (open->failed) {
                return film_fail(error, FILM_NO_MEMORY, "not enough memory");
            }
            depth += !is_op(opened);
        }
        else if (step.kind == FILM_STEP_LEAVE) {
            if (open->length > 0) {
                uint8_t opened = open->data[--open->length];
                depth -= !is_op(opened);
                write_step_leave(to, &step, opened);
            }
        }
        else if (takes(to, &step, depth) && is_in_range(to, &step)) {
            to->selection->taken++;
            write_event(to, &step);
        }
        if (step.event != NULL) {
            film_selection_note(to->selection, to->recording, step.event);
        }
        if (to->output->status != FILM_OK) {
            return film_output_flush(to->output, error);
        }
    }
    return status == FILM_END ? FILM_OK : status;
}

static film_status
write_thread(document *to, const film_recordings *set, const film_thread_info *thread,
             film_error *error)
{
    film_activity *activity;
    film_buffer open = {0};
    film_status status;

    if (to->range->thread != 0 && to->range->thread != thread->id) {
        return FILM_OK;
    }
    write_number(to->output, "<thread id=\"", thread->id);
    write_text(to->output, " name=\"", thread->name);
    write_number(to->output, " pid=\"", film_reader_info(to->reader)->pid);
    FILM_OUTPUT_LITERAL(to->output, ">\n");
    FILM_TRY(film_activity_open(set, to->recording, thread->id, &activity, error));
    status = write_steps(to, activity, &open, error);
    film_activity_close(activity);
    film_buffer_reset(&open);
    FILM_OUTPUT_LITERAL(to->output, "</thread>\n");
    return status;
}

film_status
film_log_xml_write(const film_recordings *set, const film_merge_range *range,
                   film_selection *selection, film_output *output, film_error *error)
{
    document to = {.output = output, .selection = selection, .range = range};
    film_status status = FILM_OK;

    FILM_OUTPUT_LITERAL(output, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<log>\n");
    for (size_t i = 0; i < set->count && status == FILM_OK; i++) {
        size_t threads;

        to.recording = i;
        to.reader = set->items[i].reader;
        to.shift_ns = set->items[i].shift_ns;
        status = film_moment_texts_init(&to.texts, to.reader, error);
        threads = film_reader_thread_count(to.reader);
        for (size_t k = 0; status == FILM_OK && k < threads; k++) {
            status = write_thread(&to, set, film_reader_thread(to.reader, k), error);
        }
        film_moment_texts_reset(&to.texts);
    }
    FILM_OUTPUT_LITERAL(output, "</log>\n");
    return status;
}
