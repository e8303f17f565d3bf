/* nan_text.c: what `filmstrip nan` has found, for people.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/nan.h"

#include <inttypes.h>

#include "cli/op_text.h"

#define STACK_FRAMES 8u /* callers that are shown */

static film_output *
output_of(film_nan_story *story)
{
    return &story->reading->output;
}

static uint32_t
line_of(film_nan_story *story, const film_op_node *node)
{
    return film_reader_line(story->reader, node->code, node->offset);
}

/* t5: f32[64, 128] cpu  -2.1 to 2.3, all finite */
static void
print_record(film_nan_story *story, uint64_t record)
{
    film_output *output = output_of(story);
    film_tensor tensor;

    if (film_reader_tensor(story->reader, record, &tensor, NULL) != FILM_OK) {
        FILM_OUTPUT_LITERAL(output, "a tensor that is no longer in the recording");
        return;
    }
    film_output_format(output, "t%" PRIu64 ": ", tensor.serial);
    film_output_display(output, tensor.text);
    if (tensor.has_summary) {
        FILM_OUTPUT_LITERAL(output, "  ");
        film_op_text_numbers(output, &tensor.summary, film_tensor_elements(&tensor),
                             film_tensor_is_sampled(&tensor));
    }
}

/* torch.log  train.py:12 in __main__.loss */
static void
print_node(film_nan_story *story, const film_op_node *node)
{
    film_output *output = output_of(story);

    film_output_display(output, film_reader_string(story->reader, node->function));
    FILM_OUTPUT_LITERAL(output, "  ");
    film_op_text_place(output, story->reader, node->code, line_of(story, node));
    if (node->module != 0) {
        FILM_OUTPUT_LITERAL(output, ", module ");
        film_output_display(output, film_reader_string(story->reader, node->module));
    }
}

static void
print_write_name(film_nan_story *story, const film_event *event)
{
    film_output *output = output_of(story);
    film_text name = film_reader_event_name(story->reader, event);
    const char *scope = film_reader_event_scope(story->reader, event);

    if (name.length == 0) {
        FILM_OUTPUT_LITERAL(output, "an item");
        return;
    }
    film_output_text(output,
                     strcmp(scope, "attribute") == 0 ? "attribute " : "variable ");
    film_output_display(output, name);
}

/* The variable's name and place, of the write with that number. */
static void
print_write(film_nan_story *story, uint32_t thread, uint64_t number)
{
    film_output *output = output_of(story);
    film_cursor *cursor = NULL;
    const film_event *event;
    film_status status = film_nan_event(story, thread, number, &cursor, &event);

    if (status == FILM_OK && event->kind == FILM_KIND_SET) {
        print_write_name(story, event);
        FILM_OUTPUT_LITERAL(output, "  ");
        film_op_text_place(output, story->reader, event->code,
                           film_reader_event_line(story->reader, event));
    }
    film_cursor_close(cursor);
}

/* Where a tensor that no op made was first seen. */
static void
print_seen(film_nan_story *story, uint32_t thread, uint64_t number)
{
    film_output *output = output_of(story);
    film_cursor *cursor = NULL;
    const film_event *event;
    film_status status = film_nan_event(story, thread, number, &cursor, &event);

    if (status == FILM_OK && event->kind == FILM_KIND_SET) {
        print_write_name(story, event);
    }
    else if (status == FILM_OK && event->kind == FILM_KIND_OP) {
        FILM_OUTPUT_LITERAL(output, "argument of ");
        film_output_display(output, film_reader_string(story->reader, event->text));
    }
    else if (status == FILM_OK) {
        film_output_format(output, "event %u:%" PRIu64 " (%s)", thread, number,
                           film_kind_name(event->kind));
    }
    if (status == FILM_OK) {
        FILM_OUTPUT_LITERAL(output, "  ");
        film_op_text_place(output, story->reader, event->code,
                           film_reader_event_line(story->reader, event));
    }
    film_cursor_close(cursor);
}

static void
print_stack(film_nan_story *story)
{
    film_output *output = output_of(story);
    film_cursor *cursor = NULL;
    const film_event *event;
    size_t depth = 0;
    const film_frame *stack;

    if (film_nan_event(story, story->found.thread, story->found.op, &cursor, &event) !=
        FILM_OK) {
        film_cursor_close(cursor);
        return;
    }
    stack = film_cursor_stack(cursor, &depth);
    for (size_t i = 1; i < depth && i <= STACK_FRAMES; i++) {
        const film_frame *below = &stack[depth - i], *frame = &stack[depth - 1 - i];
        uint32_t place = below->site == 0 ? frame->offset : below->site - 1;

        film_output_text(output, "  called    ");
        film_op_text_place(output, story->reader, frame->code,
                           film_reader_line(story->reader, frame->code, place));
        film_output_byte(output, '\n');
    }
    if (depth > STACK_FRAMES + 1) {
        film_output_format(output, "            and %zu frames more\n",
                           depth - STACK_FRAMES - 1);
    }
    film_cursor_close(cursor);
}

static void
print_values(film_nan_story *story, const film_op_item *item, bool given)
{
    film_output *output = output_of(story);

    for (uint32_t i = 0; i < item->value_count; i++) {
        film_output_text(output, !given   ? "  took      "
                                 : i == 0 ? "  gave      "
                                          : "  changed   ");
        film_op_text_value(output, item, i, 14);
        film_output_byte(output, '\n');
    }
    if (item->all_values > item->value_count) {
        film_output_format(output, "            and %u more\n",
                           item->all_values - item->value_count);
    }
}

static void
print_head(film_nan_story *story)
{
    film_output *output = output_of(story);
    const film_op_item *op = &story->op;

    if (story->reading->set.count > 1) {
        film_output_display(output, film_text_of(story->recording->path));
        FILM_OUTPUT_LITERAL(output, ": ");
    }
    FILM_OUTPUT_LITERAL(output, "op ");
    film_op_text_moment(output, op->thread, op->number);
    film_output_byte(output, ' ');
    film_output_display(output, op->function);
    FILM_OUTPUT_LITERAL(output, " gave numbers that are not finite; ");
    if (story->found.ops > 1) {
        film_output_grouped_u64(output, story->found.ops - 1 - story->found.left_out);
        FILM_OUTPUT_LITERAL(output, " before it gave none\n  at        ");
    }
    else {
        FILM_OUTPUT_LITERAL(output, "it is the first\n  at        ");
    }
    film_op_text_place(output, story->reader, op->code, op->line);
    film_output_byte(output, '\n');
    print_stack(story);
    if (op->module.length > 0) {
        FILM_OUTPUT_LITERAL(output, "  module    ");
        film_output_display(output, op->module);
        film_output_byte(output, '\n');
    }
    if (op->api.length > 0) {
        FILM_OUTPUT_LITERAL(output, "  through   ");
        film_output_display(output, op->api);
        film_output_byte(output, '\n');
    }
    print_values(story, op, false);
    print_values(story, &story->end, true);
}

/* Where backward() was called: the innermost frame that is not its own. */
static void
print_backward(film_nan_story *story, const film_op_node *node)
{
    film_output *output = output_of(story);
    film_cursor *cursor = NULL;
    const film_event *event;
    size_t depth = 0;
    const film_frame *stack = NULL;
    uint32_t site = 0;

    if (film_nan_event(story, node->thread, node->op, &cursor, &event) == FILM_OK) {
        stack = film_cursor_stack(cursor, &depth);
    }
    while (depth > 1 && film_nan_is_backward(story, stack[depth - 1].code)) {
        site = stack[--depth].site;
    }
    if (depth > 0) {
        const film_frame *frame = &stack[depth - 1];

        film_op_text_place(output, story->reader, frame->code,
                           film_reader_line(story->reader, frame->code,
                                            site > 0 ? site - 1 : frame->offset));
    }
    film_cursor_close(cursor);
}

/* The first numbers that were not finite came in by a tensor. */
static void
print_carried(film_nan_story *story)
{
    film_output *output = output_of(story);
    const film_op_node *middle = &story->graph.nodes[story->graph.middle];
    const film_op_link *link =
        &story->graph.links[middle->first_taken + story->carried];
    const film_op_tensor_seen *seen = film_op_graph_tensor(&story->graph, link->serial);
    const film_op_node *backward = film_nan_backward(story);

    film_output_format(output, "It took t%" PRIu64 ", which was not finite already",
                       link->serial);
    if (film_nan_changed_unseen(story, link)) {
        FILM_OUTPUT_LITERAL(output, ": it was finite when it came from ");
        print_node(story, &story->graph.nodes[link->from]);
        FILM_OUTPUT_LITERAL(output, ", and was changed by something that is not "
                                    "recorded");
    }
    else if (link->from != FILM_NO_NODE) {
        FILM_OUTPUT_LITERAL(output, ": from ");
        print_node(story, &story->graph.nodes[link->from]);
    }
    else {
        FILM_OUTPUT_LITERAL(output, "; no op that is recorded made it");
    }
    FILM_OUTPUT_LITERAL(output, ".\n");
    if (link->from != FILM_NO_NODE && !film_nan_changed_unseen(story, link)) {
        return;
    }
    if (seen != NULL && seen->nonfinite_seen &&
        seen->nonfinite_event != story->found.op) {
        FILM_OUTPUT_LITERAL(output, "First seen so: ");
        print_seen(story, seen->nonfinite_thread, seen->nonfinite_event);
        FILM_OUTPUT_LITERAL(output, ".\n");
    }
    if (backward != NULL) {
        FILM_OUTPUT_LITERAL(output, "Before it backward() ran, at ");
        print_backward(story, backward);
        FILM_OUTPUT_LITERAL(output, ": what that calls is recorded with 'filmstrip run "
                                    "--torch all'.\n");
    }
}

static bool
took_samples(const film_nan_story *story)
{
    for (uint32_t i = 0; i < story->op.tensor_count; i++) {
        if (story->op.tensors[i].sampled) {
            return true;
        }
    }
    return false;
}

static void
print_verdict(film_nan_story *story)
{
    film_output *output = output_of(story);

    film_output_byte(output, '\n');
    switch (story->verdict) {
    case FILM_NAN_MADE:
        FILM_OUTPUT_LITERAL(output, "All it took was finite: they were made here.\n");
        if (took_samples(story)) {
            FILM_OUTPUT_LITERAL(output, "(Of a tensor that it took the recording tells "
                                        "a sample only.)\n");
        }
        break;
    case FILM_NAN_ASKED:
        FILM_OUTPUT_LITERAL(output, "It was given a number that is not finite, so this "
                                    "may be meant: --ignore ");
        film_output_display(output, story->op.function);
        FILM_OUTPUT_LITERAL(output, " goes on behind such ops.\n");
        break;
    case FILM_NAN_BROUGHT:
        FILM_OUTPUT_LITERAL(output, "It took no tensor: they came in here.\n");
        break;
    case FILM_NAN_CARRIED:
        print_carried(story);
        break;
    case FILM_NAN_UNKNOWN:
        FILM_OUTPUT_LITERAL(output, "Of a tensor that it took the recording does not "
                                    "tell the numbers: whether they were made here is "
                                    "not known.\n");
        break;
    }
}

/* --- where they came from --- */

static void
print_indent(film_nan_story *story, uint64_t level)
{
    film_output_format(output_of(story), "%*s", (int)(2 * level), "");
}

/* What a tensor is called, or where one that no op made was first seen. */
static void
print_leaf(film_nan_story *story, const film_op_link *link)
{
    film_output *output = output_of(story);
    const film_op_tensor_seen *seen = film_op_graph_tensor(&story->graph, link->serial);

    if (seen == NULL) {
        return;
    }
    if (seen->written > 0) {
        film_output_text(output, "  <- ");
        print_write(story, seen->written_thread, seen->written - 1);
    }
    else if (seen->event != story->found.op || seen->thread != story->found.thread) {
        film_output_text(output, "  <- first seen: ");
        print_seen(story, seen->thread, seen->event);
    }
    else {
        film_output_text(output, "  <- not seen before");
    }
    if (!story->graph.whole) {
        film_output_text(output, ", in the events that were looked through");
    }
}

/* One node at a time, the way to it on the C stack: at most --depth deep. */
static void
print_makers(film_nan_story *story, uint32_t index, uint64_t level)
{
    film_output *output = output_of(story);
    const film_op_node *node = &story->graph.nodes[index];

    for (uint32_t i = 0; i < node->taken; i++) {
        const film_op_link *link = &story->graph.links[node->first_taken + i];

        print_indent(story, level);
        if (i == story->width) {
            film_output_format(output, "and %u more\n", node->taken - i);
            return;
        }
        print_record(story, link->record);
        if (link->from == FILM_NO_NODE) {
            print_leaf(story, link);
            film_output_byte(output, '\n');
            continue;
        }
        FILM_OUTPUT_LITERAL(output, "  <- ");
        print_node(story, &story->graph.nodes[link->from]);
        if (story->shown[link->from] != 0 && story->graph.nodes[link->from].taken > 0) {
            FILM_OUTPUT_LITERAL(output, " (above)\n");
            continue;
        }
        film_output_byte(output, '\n');
        if (level < story->depth) {
            story->shown[link->from] = 1;
            print_makers(story, link->from, level + 1);
        }
    }
}

/* --- where they went --- */

static void
print_given(film_nan_story *story, const film_op_node *node)
{
    film_output *output = output_of(story);
    uint32_t printed = 0;

    for (uint32_t i = 0; i < node->given && printed < 2; i++) {
        const film_op_link *link = &story->graph.links[node->first_given + i];

        if (link->numbers == FILM_NUMBERS_FINITE && node->given > 1) {
            continue;
        }
        film_output_text(output, printed++ == 0 ? "  -> " : ", ");
        print_record(story, link->record);
    }
    if (printed == 0 && node->given > 0) {
        FILM_OUTPUT_LITERAL(output, "  -> all finite");
    }
}

static void
print_takers(film_nan_story *story, uint32_t index, uint64_t level)
{
    film_output *output = output_of(story);
    const film_op_graph *graph = &story->graph;
    uint64_t shown = 0;

    for (uint32_t at = graph->nodes[index].write;
         at != FILM_NO_NODE && shown < story->width;
         at = graph->writes[at].next, shown++) {
        print_indent(story, level);
        film_output_format(output, "t%" PRIu64 " -> ",
                           graph->tensors[graph->writes[at].tensor].serial);
        print_write(story, graph->writes[at].thread, graph->writes[at].event);
        film_output_byte(output, '\n');
    }
    shown = 0;
    for (uint32_t at = graph->nodes[index].child; at != FILM_NO_NODE;
         at = graph->nodes[at].sibling, shown++) {
        if (shown == story->width) {
            uint64_t more = 0;

            for (; at != FILM_NO_NODE; at = graph->nodes[at].sibling) {
                more++;
            }
            print_indent(story, level);
            film_output_format(output, "and %" PRIu64 " more\n", more);
            return;
        }
        print_indent(story, level);
        print_node(story, &graph->nodes[at]);
        print_given(story, &graph->nodes[at]);
        film_output_byte(output, '\n');
        if (level < story->depth) {
            print_takers(story, at, level + 1);
        }
    }
}

/* Modules that took them, each once, in order. */
static void
print_modules(film_nan_story *story)
{
    film_output *output = output_of(story);
    const film_op_graph *graph = &story->graph;
    uint32_t told[16];
    size_t count = 0;

    for (size_t i = graph->middle; i < graph->node_count && count < 16; i++) {
        const film_op_node *node = &graph->nodes[i];
        size_t k = 0;

        if (node->depth == 0 || node->module == 0) {
            continue;
        }
        while (k < count && told[k] != node->module) {
            k++;
        }
        if (k == count) {
            film_output_text(output, count == 0 ? "  modules: " : ", ");
            film_output_display(output,
                                film_reader_string(story->reader, node->module));
            told[count++] = node->module;
        }
    }
    film_output_text(output, count > 0 ? (count == 16 ? " ...\n" : "\n") : "");
}

static uint64_t
ops_behind(const film_op_graph *graph)
{
    return graph->node_count - graph->middle - 1;
}

void
film_nan_print_text(film_nan_story *story)
{
    film_output *output = output_of(story);
    const film_op_graph *graph = &story->graph;

    print_head(story);
    print_verdict(story);
    if (graph->nodes[graph->middle].taken > 0 && story->depth > 0) {
        FILM_OUTPUT_LITERAL(output, "\nwhere its inputs come from\n");
        print_makers(story, graph->middle, 1);
    }
    FILM_OUTPUT_LITERAL(output, "\nwhere its results went: ");
    film_output_grouped_u64(output, story->reached);
    FILM_OUTPUT_LITERAL(output, " of the ");
    film_output_count(output, ops_behind(graph), "op");
    film_output_text(output, graph->to_end
                                 ? " behind it took them, or what came of "
                                   "them\n"
                                 : " that were looked at behind it took them, "
                                   "or what came of them\n");
    if (story->depth > 0) {
        print_takers(story, graph->middle, 1);
    }
    print_modules(story);
}
