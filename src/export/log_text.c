/* log_text.c: the log for people.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/log_text.h"

#include <stdio.h>

#include "analysis/kinds.h"
#include "base/alloc.h"
#include "reader/render.h"

/* Deeper than this the indentation stays and the depth is written as a number: a
 * recursion of 100,000 frames must not make lines of 200,000 blanks. */
#define INDENT_LIMIT 48u

/* Bytes of one value, and arguments of one call, that a line has room for. */
#define VALUE_BYTES 96u
#define ATTRIBUTES_BYTES 160u /* of all that a change has changed */
#define ARGUMENTS 32u

static const char *const colour_codes[] = {
    [PLAIN] = "\033[0m", [DIM] = "\033[2m",      [GREEN] = "\033[32m",
    [BLUE] = "\033[34m", [RED] = "\033[31m",     [YELLOW] = "\033[33m",
    [CYAN] = "\033[36m", [MAGENTA] = "\033[35m",
};

static void
render_function(film_output *output, const film_reader *reader, const film_code *code)
{
    (void)reader;
    if (code == NULL) {
        FILM_OUTPUT_LITERAL(output, "?");
    }
    else {
        film_output_display(output, code->function);
    }
}

static void
render_place(film_output *output, const film_reader *reader, const film_code *code)
{
    if (code != NULL) {
        FILM_OUTPUT_LITERAL(output, "  ");
        film_output_display(output, film_short_file(reader, code->file));
        film_output_byte(output, ':');
        film_output_u64(output, code->first_line);
    }
    film_output_byte(output, '\n');
}

film_status
film_log_text_new(const film_recordings *set, bool coloured, film_log_text **out,
                  film_error *error)
{
    film_log_text *log = film_alloc(sizeof(*log));
    film_status status = FILM_OK;

    *out = NULL;
    if (log == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    log->set = set;
    log->colour = coloured;
    log->items = film_alloc_array(set->count, sizeof(*log->items));
    if (log->items == NULL) {
        status = film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    for (size_t i = 0; status == FILM_OK && i < set->count; i++) {
        film_log_recorded *item = &log->items[i];
        film_reader *reader = set->items[i].reader;

        item->process_length = 0;
        if (set->count > 1) {
            item->process_length = (size_t)snprintf(
                item->process, sizeof(item->process), "%s:", set->items[i].label);
        }
        status = film_names_init(&item->places, reader, render_place, error);
        if (status == FILM_OK) {
            status = film_names_init(&item->functions, reader, render_function, error);
        }
    }
    if (status != FILM_OK) {
        film_log_text_free(log);
        return status;
    }
    *out = log;
    return FILM_OK;
}

void
film_log_text_free(film_log_text *log)
{
    if (log != NULL) {
        for (size_t i = 0; log->items != NULL && i < log->set->count; i++) {
            film_names_reset(&log->items[i].places);
            film_names_reset(&log->items[i].functions);
        }
        film_log_ops_free(log->ops);
        film_buffer_reset(&log->name);
        film_free(log->items);
        film_free(log);
    }
}

void
film_log_text_use(film_log_text *log, film_selection *selection)
{
    log->selection = selection;
}

film_status
film_log_text_show_ops(film_log_text *log, film_error *error)
{
    return film_log_ops_new(log->set, &log->ops, error);
}

void
film_log_text_flush(film_log_text *log, film_output *output)
{
    film_log_ops_flush(log, output);
}

static void
paint(const film_log_text *log, film_output *output, film_log_colour wanted)
{
    if (log->colour) {
        film_output_text(output, colour_codes[wanted]);
    }
}

/* Seconds with microseconds, in a field of 12. */
static void
write_time(film_output *output, uint64_t time_ns)
{
    uint64_t micros = time_ns / 1000;
    uint64_t fraction = micros % 1000000;
    char *to;

    film_output_padded_u64(output, micros / 1000000, 5);
    to = film_output_room(output, 7);
    *to++ = '.';
    for (int i = 5; i >= 0; i--) {
        to[i] = (char)('0' + fraction % 10);
        fraction /= 10;
    }
    output->used += 7;
}

static void
write_line(film_output *output, uint32_t line)
{
    if (line == 0) {
        FILM_OUTPUT_LITERAL(output, "      -  ");
        return;
    }
    film_output_padded_u64(output, line, 7);
    FILM_OUTPUT_LITERAL(output, "  ");
}

static void
write_indent(film_output *output, uint32_t depth)
{
    uint32_t shown = depth < INDENT_LIMIT ? depth : INDENT_LIMIT;

    memset(film_output_room(output, 2 * INDENT_LIMIT), ' ', 2 * INDENT_LIMIT);
    output->used += 2 * shown;
    if (depth >= INDENT_LIMIT) {
        film_output_byte(output, '(');
        film_output_u64(output, depth);
        FILM_OUTPUT_LITERAL(output, ") ");
    }
}

/* [2] or, with several recordings, [1234:2], of ranks [r0:2] */
static void
write_marker(film_log_text *log, film_output *output, const film_merged *merged)
{
    const film_log_recorded *item = &log->items[merged->recording];

    if (film_reader_thread_count(log->set->items[merged->recording].reader) < 2 &&
        log->set->count < 2) {
        return;
    }
    FILM_OUTPUT_LITERAL(output, " [");
    film_output_write(output, item->process, item->process_length);
    film_output_u64(output, merged->event->thread);
    film_output_byte(output, ']');
}

void
film_log_exception(film_output *output, film_reader *reader, const film_event *event)
{
    film_value message;

    film_output_display(output, film_reader_string(reader, event->text));
    if (event->value != 0 &&
        film_reader_value(reader, event->value - 1, &message, NULL) == FILM_OK &&
        message.text.length > 0) {
        FILM_OUTPUT_LITERAL(output, ": ");
        film_output_display(output, message.text);
        film_output_text(output, message.cut ? "..." : "");
    }
}

/* How long the activation lasted that this event ended, where the cursor still knows.
 */
static void
write_lasted(film_output *output, const film_reader *reader, const film_merged *merged)
{
    const film_frame *closed =
        merged->cursor == NULL ? NULL : film_cursor_closed(merged->cursor);
    uint64_t enter_ns;

    if (closed == NULL) {
        return;
    }
    enter_ns = film_reader_ticks_to_ns(reader, closed->enter_tick);
    if (enter_ns <= merged->event->time_ns) {
        FILM_OUTPUT_LITERAL(output, "  ");
        film_output_duration(output, merged->event->time_ns - enter_ns);
    }
}

void
film_log_head(film_log_text *log, film_output *output, const film_merged *merged,
              bool at_caller)
{
    const film_event *event = merged->event;
    film_reader *reader = log->set->items[merged->recording].reader;

    paint(log, output, DIM);
    write_time(output, merged->time_ns);
    write_marker(log, output, merged);
    write_line(output, at_caller ? film_reader_line(reader, event->caller_code,
                                                    event->caller_offset)
                                 : film_reader_event_line(reader, event));
    write_indent(output,
                 event->depth +
                     (log->ops == NULL ? 0 : film_log_ops_indent(log->ops, merged)));
    paint(log, output, PLAIN);
}

void
film_log_word(const film_log_text *log, film_output *output, const char *word,
              film_log_colour wanted)
{
    paint(log, output, wanted);
    film_output_text(output, word);
    paint(log, output, PLAIN);
}

void
film_log_value(film_output *output, film_reader *reader, const film_event *event,
               uint32_t index)
{
    film_input input = film_input_of(event->tokens, event->tokens_length);
    film_token token;
    film_text text;
    bool cut;

    if (index >= event->token_count) {
        return;
    }
    film_tokens_skip(&input, index);
    film_token_read(&input, &token);
    if (film_token_text(reader, &token, VALUE_BYTES, &text, &cut) == FILM_OK) {
        film_output_display(output, text);
    }
}

/* (a=1, b=[1, 2]); for resume the value that was sent. */
static void
write_arguments(film_log_text *log, film_output *output, const film_merged *merged)
{
    const film_event *event = merged->event;
    film_reader *reader = log->set->items[merged->recording].reader;

    film_output_byte(output, '(');
    for (uint32_t i = 0; i < event->token_count && i < ARGUMENTS; i++) {
        film_output_text(output, i > 0 ? ", " : "");
        if (event->kind == FILM_KIND_CALL) {
            film_output_display(output, film_reader_argument_name(reader, event, i));
            film_output_byte(output, '=');
        }
        film_log_value(output, reader, event, i);
    }
    film_output_text(output, event->token_count > ARGUMENTS ? ", ...)" : ")");
}

static void
write_entry(film_log_text *log, film_output *output, const film_merged *merged)
{
    const film_event *event = merged->event;
    film_log_recorded *item = &log->items[merged->recording];
    film_text place = film_names_get(&item->places, event->code);
    film_text function = film_names_get(&item->functions, event->code);

    film_log_head(log, output, merged, true);
    if (event->kind == FILM_KIND_CALL) {
        film_log_word(log, output, "run ", GREEN);
    }
    else {
        film_log_word(log, output,
                      event->kind == FILM_KIND_RESUME ? "resume " : "throw ", YELLOW);
    }
    if (event->kind == FILM_KIND_THROW && event->text != 0) {
        film_log_exception(output, log->set->items[merged->recording].reader, event);
        FILM_OUTPUT_LITERAL(output, " into ");
    }
    film_output_write(output, function.data, function.length);
    if (event->token_count > 0) {
        write_arguments(log, output, merged);
    }
    film_output_write(output, place.data, place.length);
}

static void
write_exit(film_log_text *log, film_output *output, const film_merged *merged)
{
    const film_event *event = merged->event;
    film_reader *reader = log->set->items[merged->recording].reader;
    film_log_recorded *item = &log->items[merged->recording];
    film_text function = film_names_get(&item->functions, event->code);

    film_log_head(log, output, merged, false);
    if (event->kind == FILM_KIND_RETURN) {
        film_log_word(log, output, "end ", BLUE);
    }
    else if (event->kind == FILM_KIND_YIELD) {
        film_log_word(log, output, "yield ", YELLOW);
    }
    else {
        film_log_word(log, output, "unwind ", RED);
    }
    film_output_write(output, function.data, function.length);
    write_lasted(output, reader, merged);
    if (event->kind == FILM_KIND_UNWIND) {
        FILM_OUTPUT_LITERAL(output, "  ");
        film_log_exception(output, reader, event);
    }
    if (event->token_count > 0) {
        FILM_OUTPUT_LITERAL(output, "  -> ");
        film_log_value(output, reader, event, 0);
    }
    film_output_byte(output, '\n');
}

/* What variables of the event's recording held; NULL: that is not kept. */
static film_variables *
known_of(const film_log_text *log, const film_merged *merged)
{
    return log->selection == NULL || log->selection->known == NULL
               ? NULL
               : log->selection->known[merged->recording];
}

/* What the variable held before; false where it is not known. */
static bool
write_before(film_log_text *log, film_output *output, const film_merged *merged)
{
    film_variables *known = known_of(log, merged);
    film_past_value past;
    film_text text;

    if (known == NULL || !film_variables_before(known, merged->event, &past) ||
        film_variables_text(known, &past, VALUE_BYTES, &text) != FILM_OK) {
        return false;
    }
    film_output_byte(output, ' ');
    film_output_display(output, text);
    return true;
}

/* An object whose attributes changed in place: which, and from what to what. False
 * where that is not known. */
static bool
write_attributes(film_log_text *log, film_output *output, const film_merged *merged)
{
    film_variables *known = known_of(log, merged);

    film_buffer_clear(&log->name);
    if (known == NULL || merged->event->kind != FILM_KIND_CHANGE ||
        !film_variables_changed_attributes(known, merged->event, ATTRIBUTES_BYTES,
                                           &log->name, NULL, NULL)) {
        return false;
    }
    film_output_byte(output, ' ');
    film_log_value(output, log->set->items[merged->recording].reader, merged->event, 0);
    FILM_OUTPUT_LITERAL(output, "  ");
    film_output_display(output,
                        (film_text){(const char *)log->name.data, log->name.length});
    return true;
}

static void
write_name(film_log_text *log, film_output *output, const film_merged *merged)
{
    film_reader *reader = log->set->items[merged->recording].reader;
    film_text name = film_reader_event_name(reader, merged->event);
    film_variables *known = known_of(log, merged);

    if (known != NULL) {
        film_buffer_clear(&log->name);
        film_variables_name(known, merged->event, &log->name, NULL);
        name.data = (const char *)log->name.data;
        name.length = log->name.failed ? 0 : log->name.length;
    }
    film_output_display(output, name);
}

/* A container that grew or shrank: apd items (list)(len)2 -> 3  [1, 2, 3] */
static void
write_growth(film_log_text *log, film_output *output, const film_merged *merged,
             const film_value *value)
{
    uint64_t before = (uint64_t)merged->event->length_before;
    uint64_t after = (uint64_t)value->length;

    film_log_word(log, output, after > before ? "apd " : "pop ", CYAN);
    write_name(log, output, merged);
    FILM_OUTPUT_LITERAL(output, " (");
    film_output_display(output, value->type);
    FILM_OUTPUT_LITERAL(output, ")(len)");
    film_output_u64(output, before);
    FILM_OUTPUT_LITERAL(output, " -> ");
    film_output_u64(output, after);
    FILM_OUTPUT_LITERAL(output, "  ");
}

/* A container that a change made longer or shorter; its type and length are given. */
static bool
has_grown(film_reader *reader, const film_event *event, film_value *value)
{
    film_input input = film_input_of(event->tokens, event->tokens_length);
    film_value_record record;
    film_token token;

    if (event->kind != FILM_KIND_CHANGE || event->length_before < 0) {
        return false;
    }
    film_token_read(&input, &token);
    if (input.failed) {
        return false;
    }
    (void)film_token_describe(reader, &token, value, &record);
    return value->length >= 0 && value->length != event->length_before;
}

/* upd, apd, pop, del */
static void
write_write(film_log_text *log, film_output *output, const film_merged *merged)
{
    const film_event *event = merged->event;
    film_reader *reader = log->set->items[merged->recording].reader;
    int index = film_event_value_index(event, FILM_ROLE_VALUE);
    film_value value;

    film_log_head(log, output, merged, false);
    FILM_OUTPUT_LITERAL(output, "  ");
    if (has_grown(reader, event, &value)) {
        write_growth(log, output, merged, &value);
    }
    else {
        film_log_word(log, output, event->kind == FILM_KIND_DELETE ? "del " : "upd ",
                      CYAN);
        write_name(log, output, merged);
        if (write_attributes(log, output, merged)) {
            index = -1;
        }
        else {
            write_before(log, output, merged);
        }
        if (index >= 0) {
            FILM_OUTPUT_LITERAL(output, " -> ");
        }
    }
    if (index >= 0) {
        film_log_value(output, reader, event, (uint32_t)index);
    }
    film_output_text(output, event->cut ? "  (may have changed)\n" : "\n");
}

/* Everything that neither enters nor leaves a frame. */
static void
write_other(film_log_text *log, film_output *output, const film_merged *merged)
{
    const film_event *event = merged->event;
    film_reader *reader = log->set->items[merged->recording].reader;
    bool is_exception =
        event->kind == FILM_KIND_RAISE || event->kind == FILM_KIND_HANDLED;
    bool is_loss =
        event->kind == FILM_KIND_LOST || event->kind == FILM_KIND_LOST_CONTROL;

    film_log_head(log, output, merged, false);
    if (event->frame != 0) {
        FILM_OUTPUT_LITERAL(output, "  "); /* inside the frame, where its calls stand */
    }
    film_log_word(log, output, film_kind_name(event->kind),
                  event->kind == FILM_KIND_RAISE || is_loss ? RED : YELLOW);
    if (is_exception) {
        film_output_byte(output, ' ');
        film_log_exception(output, reader, event);
    }
    else if (is_loss) {
        film_output_byte(output, ' ');
        if (event->kind == FILM_KIND_LOST) {
            film_output_count(output, event->count, "event");
            FILM_OUTPUT_LITERAL(output, ": ");
        }
        film_output_display(output, film_reader_string(reader, event->text));
    }
    else if (event->text != 0 || event->kind == FILM_KIND_C_CALL) {
        film_output_byte(output, ' ');
        film_output_display(output, film_reader_string(reader, event->text));
    }
    film_output_byte(output, '\n');
}

static void
write_op(film_log_text *log, film_output *output, const film_merged *merged)
{
    if (log->ops == NULL) {
        return;
    }
    if (merged->event->kind == FILM_KIND_OP) {
        film_log_ops_begin(log, output, merged);
    }
    else {
        film_log_ops_end(log, output, merged);
    }
}

void
film_log_text_write(film_log_text *log, film_output *output, const film_merged *merged)
{
    if (film_kind_is_op(merged->event->kind)) {
        write_op(log, output, merged);
        return;
    }
    if (log->ops != NULL) {
        film_log_ops_pass(log, output, merged);
    }
    switch (merged->event->kind) {
    case FILM_KIND_CALL:
    case FILM_KIND_RESUME:
    case FILM_KIND_THROW:
        write_entry(log, output, merged);
        break;
    case FILM_KIND_RETURN:
    case FILM_KIND_YIELD:
    case FILM_KIND_UNWIND:
        write_exit(log, output, merged);
        break;
    case FILM_KIND_SET:
    case FILM_KIND_DELETE:
    case FILM_KIND_CHANGE:
        write_write(log, output, merged);
        break;
    case FILM_KIND_TASK:
        if (merged->event->count == 0) {
            break; /* back in the event loop: the next one tells who runs */
        }
        __attribute__((fallthrough));
    default:
        write_other(log, output, merged);
    }
}
