/* diff_print.c: one difference, for people and as JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/diff.h"

#include <inttypes.h>

#include "cli/op_text.h"

static film_output *
output_of(film_diff_view *view)
{
    return &view->reading->output;
}

static const char *
path_of(const film_diff_view *view, size_t side)
{
    return view->reading->set.items[side].path;
}

/* call __main__.f, at train.py:12 */
typedef struct place {
    uint8_t kind;
    uint32_t code, line;
    film_text function; /* of an op; borrows from the reader */
} place;

static film_status
find_place(film_diff_view *view, size_t side, uint64_t number, place *out)
{
    film_reader *reader = view->run->sides[side].reader;
    film_cursor *cursor = NULL;
    const film_event *event;
    film_status status = film_diff_event(view, side, number, &cursor, &event);

    if (status == FILM_OK) {
        *out = (place){.kind = event->kind,
                       .code = event->code,
                       .line = film_reader_event_line(reader, event),
                       .function = event->kind == FILM_KIND_OP
                                       ? film_reader_string(reader, event->text)
                                       : (film_text){"", 0}};
    }
    film_cursor_close(cursor);
    return status;
}

static void
print_place(film_diff_view *view, size_t side, const place *at)
{
    film_output *output = output_of(view);

    if (at->kind == FILM_KIND_OP) {
        film_output_display(output, at->function);
    }
    else {
        film_output_text(output, film_kind_name(at->kind));
    }
    FILM_OUTPUT_LITERAL(output, "  ");
    film_op_text_place(output, view->run->sides[side].reader, at->code, at->line);
}

/* The last equal ops, the oldest first; ends of ops are left out. */
static film_status
print_context(film_diff_view *view)
{
    film_output *output = output_of(view);
    place found[FILM_DIFF_RECENT];
    uint64_t numbers[2];
    size_t count = 0;

    for (size_t i = 0;
         count < view->context && film_diff_recent(&view->run->diff, i, numbers); i++) {
        FILM_TRY(find_place(view, 0, numbers[0], &found[count]));
        count += found[count].kind != FILM_KIND_OP_END;
    }
    if (count > 0) {
        FILM_OUTPUT_LITERAL(output, "  before it, in both\n");
    }
    while (count-- > 0) {
        FILM_OUTPUT_LITERAL(output, "    ");
        print_place(view, 0, &found[count]);
        film_output_byte(output, '\n');
    }
    return FILM_OK;
}

/* result 1, argument 2 (dim), tensor 3 of it */
static void
print_which(film_diff_view *view, const film_op_comparison *found)
{
    film_output *output = output_of(view);
    const film_op_item *item = &view->items[0];
    const film_op_value *value = &item->values[found->value];

    if (item->kind == FILM_KIND_OP_END) {
        film_output_text(output, found->value == 0 ? "the result"
                                                   : "an argument that it changed");
    }
    else if (value->keyword.length > 0) {
        FILM_OUTPUT_LITERAL(output, "argument ");
        film_output_display(output, value->keyword);
    }
    else {
        film_output_format(output, "argument %u", found->value + 1);
    }
    if (!value->is_tensor && value->tensors > 0 && found->aspect != FILM_OP_VALUE) {
        film_output_format(output, ", tensor %u in it", found->tensor + 1);
    }
}

static void
print_aspect(film_diff_view *view, const film_difference *difference,
             const film_op_comparison *found)
{
    film_output *output = output_of(view);

    if (!difference->has[0] || !difference->has[1]) {
        film_output_display(output, film_text_of(path_of(view, !difference->has[1])));
        FILM_OUTPUT_LITERAL(output, " ends here, the other goes on");
        return;
    }
    switch (found->aspect) {
    case FILM_OP_FUNCTION:
        film_output_text(output, view->items[0].kind == view->items[1].kind
                                     ? "another function"
                                     : "one ends where the other begins another");
        return;
    case FILM_OP_RAISED:
        FILM_OUTPUT_LITERAL(output, "the exception that it ended by");
        return;
    case FILM_OP_MODE:
        FILM_OUTPUT_LITERAL(output, "whether autograd records, or inference mode");
        return;
    case FILM_OP_ARGUMENTS:
        film_output_text(output, view->items[0].kind == FILM_KIND_OP
                                     ? "its arguments"
                                     : "what it changed in place");
        return;
    case FILM_OP_NUMBERS:
        FILM_OUTPUT_LITERAL(output, "the numbers in ");
        break;
    case FILM_OP_FORM:
        FILM_OUTPUT_LITERAL(output, "the form of ");
        break;
    case FILM_OP_DTYPE:
    case FILM_OP_SHAPE:
    case FILM_OP_DEVICE:
    case FILM_OP_LAYOUT:
    case FILM_OP_VALUE:
    case FILM_OP_ALIKE:
        film_output_format(output, "the %s of ",
                           found->aspect == FILM_OP_ALIKE
                               ? "value"
                               : film_op_aspect_name(found->aspect));
        break;
    }
    print_which(view, found);
}

static void
print_op(film_diff_view *view, size_t side)
{
    film_output *output = output_of(view);
    const film_op_item *op = &view->ops[side], *item = &view->items[side];

    FILM_OUTPUT_LITERAL(output, "  ");
    film_output_display(output, film_text_of(path_of(view, side)));
    if (item->kind == 0) {
        FILM_OUTPUT_LITERAL(output, ": no more ops\n");
        return;
    }
    film_output_text(output, ": op ");
    film_op_text_moment(output, item->thread, item->op);
    film_output_byte(output, ' ');
    film_output_display(output, op->kind == 0 ? film_text_of("?") : op->function);
    FILM_OUTPUT_LITERAL(output, "  ");
    film_op_text_place(output, view->run->sides[side].reader,
                       op->kind == 0 ? item->code : op->code,
                       op->kind == 0 ? item->line : op->line);
    film_output_byte(output, '\n');
    if (op->module.length > 0) {
        FILM_OUTPUT_LITERAL(output, "    module   ");
        film_output_display(output, op->module);
        film_output_byte(output, '\n');
    }
    for (uint32_t i = 0; op->kind != 0 && i < op->value_count; i++) {
        FILM_OUTPUT_LITERAL(output, "    took     ");
        film_op_text_value(output, op, i, 15);
        film_output_byte(output, '\n');
    }
    for (uint32_t i = 0; item->kind == FILM_KIND_OP_END && i < item->value_count; i++) {
        film_output_text(output, i == 0 ? "    gave     " : "    changed  ");
        film_op_text_value(output, item, i, 15);
        film_output_byte(output, '\n');
    }
    if (item->kind == FILM_KIND_OP_END && (item->flags & FILM_OPERATION_RAISED) != 0) {
        FILM_OUTPUT_LITERAL(output, "    raised   ");
        film_output_display(output, item->function);
        film_output_byte(output, '\n');
    }
}

/* How many of each side come before they are the same again. */
static void
print_counts(film_diff_view *view, const film_difference *difference)
{
    film_output *output = output_of(view);

    if (difference->kind != FILM_DIFF_KEY || !difference->has[0] ||
        !difference->has[1]) {
        return;
    }
    film_output_format(output, "  %" PRIu64 " and %" PRIu64 " of them differ",
                       difference->counts[0], difference->counts[1]);
    film_output_text(output, difference->counts[0] == FILM_DIFF_WINDOW &&
                                     difference->counts[1] == FILM_DIFF_WINDOW
                                 ? " at least\n"
                                 : ", then they are the same again\n");
}

static film_status
print_control(film_diff_view *view, const film_difference *difference)
{
    film_output *output = output_of(view);

    for (size_t i = 0; i < 2; i++) {
        place at;

        FILM_OUTPUT_LITERAL(output, "  ");
        film_output_display(output, film_text_of(path_of(view, i)));
        if (!difference->has[i]) {
            FILM_OUTPUT_LITERAL(output, ": no more events\n");
            continue;
        }
        FILM_OUTPUT_LITERAL(output, ": event ");
        film_op_text_moment(output, view->threads[i], difference->first[i].number);
        film_output_byte(output, ' ');
        FILM_TRY(find_place(view, i, difference->first[i].number, &at));
        print_place(view, i, &at);
        film_output_byte(output, '\n');
    }
    return FILM_OK;
}

film_status
film_diff_print_text(film_diff_view *view, const film_difference *difference)
{
    film_output *output = output_of(view);
    film_op_comparison found = {.aspect = FILM_OP_FUNCTION};

    if (view->run->of_ops) {
        FILM_TRY(film_diff_read_ops(view, difference));
        found = film_diff_compare(view, difference);
    }
    film_output_text(output, view->shown > 0 ? "\n" : "");
    if (view->shown == 0) {
        film_output_count(output, view->run->diff.counted + view->run->skipped,
                          view->run->of_ops ? "op" : "event");
        FILM_OUTPUT_LITERAL(output, " the same, then: ");
    }
    if (view->run->of_ops || !difference->has[0] || !difference->has[1]) {
        print_aspect(view, difference, &found);
    }
    else {
        film_output_text(output, difference->kind == FILM_DIFF_SHAPE
                                     ? "another exception"
                                     : "control goes another way");
    }
    film_output_byte(output, '\n');
    if (view->run->of_ops) {
        print_op(view, 0);
        print_op(view, 1);
    }
    else {
        FILM_TRY(print_control(view, difference));
    }
    print_counts(view, difference);
    return view->shown == 0 ? print_context(view) : FILM_OK;
}

/* --- JSON --- */

static film_status
write_side(film_diff_view *view, size_t side, const film_difference *difference)
{
    film_output *output = output_of(view);
    const film_op_item *op = &view->ops[side], *item = &view->items[side];
    uint64_t number = difference->first[side].number;
    place at;

    if (!difference->has[side]) {
        FILM_OUTPUT_LITERAL(output, "null");
        return FILM_OK;
    }
    FILM_TRY(find_place(view, side, number, &at));
    film_output_format(output, "{\"m\":\"%u:%" PRIu64 "\",\"kind\":\"%s\",",
                       view->threads[side], number, film_kind_name(at.kind));
    film_op_json_place(output, view->run->sides[side].reader, at.code, at.line);
    if (view->run->of_ops) {
        FILM_OUTPUT_LITERAL(output, ",\"function\":");
        film_output_json(output, op->kind == 0 ? film_text_of("") : op->function);
        FILM_OUTPUT_LITERAL(output, ",\"module\":");
        film_output_json(output, op->kind == 0 ? film_text_of("") : op->module);
        FILM_OUTPUT_LITERAL(output, ",\"args\":");
        film_op_json_values(output, op);
        if (item->kind == FILM_KIND_OP_END) {
            FILM_OUTPUT_LITERAL(output, ",\"results\":");
            film_op_json_values(output, item);
        }
    }
    film_output_byte(output, '}');
    return FILM_OK;
}

film_status
film_diff_print_json(film_diff_view *view, const film_difference *difference)
{
    film_output *output = output_of(view);
    film_op_comparison found = {.aspect = FILM_OP_FUNCTION};

    if (view->run->of_ops) {
        FILM_TRY(film_diff_read_ops(view, difference));
        found = film_diff_compare(view, difference);
    }
    film_output_text(output, view->shown > 0 ? ",\n{" : "\n{");
    film_output_format(
        output, "\"aspect\":\"%s\",\"value\":%u,\"tensor\":%u,",
        !difference->has[0] || !difference->has[1] ? "end"
        : !view->run->of_ops
            ? (difference->kind == FILM_DIFF_SHAPE ? "exception" : "control")
            : film_op_aspect_name(found.aspect),
        found.value, found.tensor);
    film_output_format(output, "\"counts\":[%" PRIu64 ",%" PRIu64 "],\"first\":",
                       difference->counts[0], difference->counts[1]);
    FILM_TRY(write_side(view, 0, difference));
    FILM_OUTPUT_LITERAL(output, ",\"second\":");
    FILM_TRY(write_side(view, 1, difference));
    film_output_byte(output, '}');
    return FILM_OK;
}
