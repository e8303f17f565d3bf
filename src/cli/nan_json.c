/* nan_json.c: what `filmstrip nan` has found, as one JSON object.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/nan.h"

#include <inttypes.h>

#include "cli/op_text.h"

static film_output *
output_of(film_nan_story *story)
{
    return &story->reading->output;
}

static void
write_text(film_nan_story *story, const char *key, uint32_t text)
{
    film_output_text(output_of(story), key);
    film_output_json(output_of(story), film_reader_string(story->reader, text));
}

static const char *
numbers_name(uint8_t numbers)
{
    return numbers == FILM_NUMBERS_FINITE      ? "finite"
           : numbers == FILM_NUMBERS_NONFINITE ? "nonfinite"
                                               : "unknown";
}

/* What a link is, without the closing brace. */
static void
begin_link(film_nan_story *story, const film_op_link *link)
{
    film_output *output = output_of(story);
    film_tensor tensor;
    bool known =
        film_reader_tensor(story->reader, link->record, &tensor, NULL) == FILM_OK;

    film_output_format(output, "{\"tensor\":\"t%" PRIu64 "\",\"text\":", link->serial);
    film_output_json(output, known ? tensor.text : film_text_of(""));
    film_output_format(output, ",\"numbers\":\"%s\"", numbers_name(link->numbers));
    if (known && tensor.has_summary) {
        film_output_format(output, ",\"nonfinite\":%" PRIu64, tensor.summary.nonfinite);
    }
}

/* What a node is, without the closing brace. */
static void
begin_node(film_nan_story *story, const film_op_node *node)
{
    film_output *output = output_of(story);

    film_output_format(output, "{\"m\":\"%u:%" PRIu64 "\"", node->thread, node->op);
    write_text(story, ",\"function\":", node->function);
    film_output_byte(output, ',');
    film_op_json_place(output, story->reader, node->code,
                       film_reader_line(story->reader, node->code, node->offset));
    if (node->module != 0) {
        write_text(story, ",\"module\":", node->module);
    }
}

static void
write_makers(film_nan_story *story, uint32_t index, uint64_t level)
{
    film_output *output = output_of(story);
    const film_op_node *node = &story->graph.nodes[index];

    film_output_byte(output, '[');
    for (uint32_t i = 0; i < node->taken && i < story->width; i++) {
        const film_op_link *link = &story->graph.links[node->first_taken + i];

        film_output_text(output, i > 0 ? "," : "");
        begin_link(story, link);
        if (link->from != FILM_NO_NODE) {
            FILM_OUTPUT_LITERAL(output, ",\"from\":");
            begin_node(story, &story->graph.nodes[link->from]);
            if (level < story->depth && story->shown[link->from] == 0) {
                story->shown[link->from] = 1;
                FILM_OUTPUT_LITERAL(output, ",\"inputs\":");
                write_makers(story, link->from, level + 1);
            }
            film_output_byte(output, '}');
        }
        film_output_byte(output, '}');
    }
    film_output_byte(output, ']');
}

static void
write_variable(film_nan_story *story, const film_op_write *write)
{
    film_output *output = output_of(story);
    film_cursor *cursor = NULL;
    const film_event *event;
    film_status status =
        film_nan_event(story, write->thread, write->event, &cursor, &event);

    film_output_format(output, "{\"m\":\"%u:%" PRIu64 "\"", write->thread,
                       write->event);
    if (status == FILM_OK && event->kind == FILM_KIND_SET) {
        FILM_OUTPUT_LITERAL(output, ",\"name\":");
        film_output_json(output, film_reader_event_name(story->reader, event));
        film_output_byte(output, ',');
        film_op_json_place(output, story->reader, event->code,
                           film_reader_event_line(story->reader, event));
    }
    film_output_byte(output, '}');
    film_cursor_close(cursor);
}

static void
write_takers(film_nan_story *story, uint32_t index, uint64_t level)
{
    film_output *output = output_of(story);
    const film_op_graph *graph = &story->graph;
    const film_op_node *node = &graph->nodes[index];
    uint64_t shown = 0;

    FILM_OUTPUT_LITERAL(output, ",\"gave\":[");
    for (uint32_t i = 0; i < node->given; i++) {
        film_output_text(output, i > 0 ? "," : "");
        begin_link(story, &graph->links[node->first_given + i]);
        film_output_byte(output, '}');
    }
    FILM_OUTPUT_LITERAL(output, "],\"variables\":[");
    for (uint32_t at = node->write; at != FILM_NO_NODE && shown < story->width;
         at = graph->writes[at].next, shown++) {
        film_output_text(output, shown > 0 ? "," : "");
        write_variable(story, &graph->writes[at]);
    }
    FILM_OUTPUT_LITERAL(output, "],\"taken_by\":[");
    shown = 0;
    for (uint32_t at = node->child;
         at != FILM_NO_NODE && shown < story->width && level <= story->depth;
         at = graph->nodes[at].sibling, shown++) {
        film_output_text(output, shown > 0 ? "," : "");
        begin_node(story, &graph->nodes[at]);
        write_takers(story, at, level + 1);
        film_output_byte(output, '}');
    }
    film_output_byte(output, ']');
}

void
film_nan_print_json(film_nan_story *story)
{
    film_output *output = output_of(story);
    const film_op_graph *graph = &story->graph;
    const film_op_node *middle = &graph->nodes[graph->middle];

    FILM_OUTPUT_LITERAL(output, "{\"found\":true,\"recording\":");
    film_output_json(output, film_text_of(story->recording->path));
    film_output_format(
        output,
        ",\"ops\":%" PRIu64 ",\"left_out\":%" PRIu64 ",\"verdict\":\"%s\",\"op\":",
        story->found.ops, story->found.left_out, film_nan_verdict_name(story->verdict));
    begin_node(story, middle);
    if (story->op.api.length > 0) {
        FILM_OUTPUT_LITERAL(output, ",\"api\":");
        film_output_json(output, story->op.api);
    }
    FILM_OUTPUT_LITERAL(output, ",\"args\":");
    film_op_json_values(output, &story->op);
    FILM_OUTPUT_LITERAL(output, ",\"results\":");
    film_op_json_values(output, &story->end);
    FILM_OUTPUT_LITERAL(output, "},\"came_from\":");
    write_makers(story, graph->middle, 1);
    film_output_format(output,
                       ",\"ops_behind\":%zu,\"reached\":%zu,\"to_end\":%s,\"went\":{"
                       "\"m\":\"%u:%" PRIu64 "\"",
                       graph->node_count - graph->middle - 1, story->reached,
                       graph->to_end ? "true" : "false", middle->thread, middle->op);
    write_takers(story, graph->middle, 1);
    FILM_OUTPUT_LITERAL(output, "}}\n");
}
