/* nan.c: the first op that gave numbers that are not finite, and how they spread.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/nan.h"

#include <inttypes.h>
#include <math.h>

#include "base/alloc.h"
#include "cli/nothing.h"
#include "cli/options.h"

enum { FORMAT_TEXT, FORMAT_JSON };

/* Events before and behind the op that are looked through: about a second. */
#define EVENTS 2000000u

typedef struct nan_options {
    film_option_list ignored;
    uint64_t thread, from, depth, width, events;
    size_t format;
} nan_options;

/* What was looked at in all recordings. */
typedef struct tally {
    uint64_t ops, tensors, summaries, left_out;
    bool any_found, any_watched;
} tally;

const char *
film_nan_verdict_name(film_nan_verdict verdict)
{
    static const char *const names[] = {[FILM_NAN_MADE] = "made",
                                        [FILM_NAN_ASKED] = "asked",
                                        [FILM_NAN_BROUGHT] = "brought",
                                        [FILM_NAN_CARRIED] = "carried",
                                        [FILM_NAN_UNKNOWN] = "unknown"};

    return names[verdict];
}

bool
film_nan_changed_unseen(const film_nan_story *story, const film_op_link *link)
{
    const film_op_graph *graph = &story->graph;
    const film_op_node *maker;

    if (link->from == FILM_NO_NODE || link->numbers != FILM_NUMBERS_NONFINITE) {
        return false;
    }
    maker = &graph->nodes[link->from];
    for (uint32_t i = 0; i < maker->given; i++) {
        const film_op_link *given = &graph->links[maker->first_given + i];

        if (given->serial == link->serial) {
            return given->numbers == FILM_NUMBERS_FINITE;
        }
    }
    return false;
}

static bool
names_backward(film_text name)
{
    return name.length > 0 && strstr(name.data, "backward") != NULL;
}

bool
film_nan_is_backward(const film_nan_story *story, uint32_t code)
{
    const film_code *of = film_reader_code(story->reader, code);

    return of != NULL && names_backward(of->function);
}

const film_op_node *
film_nan_backward(const film_nan_story *story)
{
    const film_op_graph *graph = &story->graph;

    for (size_t i = graph->middle; i-- > 0;) {
        const film_op_node *node = &graph->nodes[i];

        if (names_backward(film_reader_string(story->reader, node->function)) ||
            names_backward(film_reader_string(story->reader, node->api)) ||
            film_nan_is_backward(story, node->code)) {
            return node;
        }
    }
    return NULL;
}

film_status
film_nan_event(film_nan_story *story, uint32_t thread, uint64_t number,
               film_cursor **cursor, const film_event **event)
{
    film_error *error = &story->reading->error;
    film_status status = film_cursor_open(story->reader, thread, number, cursor, error);

    if (status == FILM_OK) {
        status = film_cursor_next(*cursor, event, error);
    }
    return status;
}

static bool
asks_for_it(const film_op_item *op)
{
    for (uint32_t i = 0; i < op->value_count; i++) {
        if (!isfinite(op->values[i].number)) {
            return true;
        }
    }
    return false;
}

static void
judge(film_nan_story *story)
{
    const film_op_node *middle = &story->graph.nodes[story->graph.middle];
    bool unknown = false;

    for (uint32_t i = 0; i < middle->taken; i++) {
        const film_op_link *link = &story->graph.links[middle->first_taken + i];

        if (link->numbers == FILM_NUMBERS_NONFINITE) {
            story->verdict = FILM_NAN_CARRIED;
            story->carried = i;
            return;
        }
        unknown = unknown || link->numbers == FILM_NUMBERS_UNKNOWN;
    }
    story->verdict = asks_for_it(&story->op) ? FILM_NAN_ASKED
                     : middle->taken == 0    ? FILM_NAN_BROUGHT
                     : unknown               ? FILM_NAN_UNKNOWN
                                             : FILM_NAN_MADE;
}

static film_status
tell(film_nan_story *story, const nan_options *wanted, size_t recording)
{
    film_reading *reading = story->reading;
    film_error *error = &reading->error;
    const film_nonfinite *found = &story->found;

    FILM_TRY(film_op_item_find(story->reader, found->thread, found->op, &story->op,
                               &story->end, error));
    FILM_TRY(film_op_graph_make(&story->graph, &reading->set, recording, found->thread,
                                found->op, found->time_ns, wanted->events, error));
    story->reached = film_op_graph_follow(&story->graph);
    story->shown = film_alloc(story->graph.node_count);
    if (story->shown == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    judge(story);
    film_reading_clear_progress(reading);
    if (wanted->format == FORMAT_JSON) {
        film_nan_print_json(story);
    }
    else {
        film_nan_print_text(story);
    }
    return story->status;
}

static film_status
search(film_reading *reading, const nan_options *wanted, size_t recording,
       tally *looked)
{
    const film_nonfinite_options options = {.ignored = wanted->ignored.items,
                                            .ignored_count = wanted->ignored.count,
                                            .thread = (uint32_t)wanted->thread,
                                            .from = wanted->from};
    film_nan_story story = {.reading = reading,
                            .recording = &reading->set.items[recording],
                            .reader = reading->set.items[recording].reader,
                            .depth = wanted->depth,
                            .width = wanted->width};
    film_status status = film_nonfinite_find(&reading->set, recording, &options,
                                             &story.found, &reading->error);

    looked->ops += story.found.ops;
    looked->tensors += story.found.tensors;
    looked->summaries += story.found.summaries;
    looked->left_out += story.found.left_out;
    if (status == FILM_OK && story.found.found) {
        if (looked->any_found && wanted->format == FORMAT_TEXT) {
            film_output_byte(&reading->output, '\n');
        }
        looked->any_found = true;
        status = tell(&story, wanted, recording);
    }
    film_op_item_reset(&story.op);
    film_op_item_reset(&story.end);
    film_op_graph_reset(&story.graph);
    film_free(story.shown);
    return status;
}

/* Nothing was found: why. */
static int
tell_nothing(film_reading *reading, const nan_options *wanted, const tally *looked)
{
    film_output *output = &reading->output;

    if (looked->ops == 0) {
        return film_command_fail(reading->command,
                                 "there are no operations of PyTorch in the recording; "
                                 "'filmstrip run --torch-values' records them");
    }
    if (looked->tensors > 0 && looked->summaries == 0) {
        return film_command_fail(
            reading->command,
            "the recording does not tell what numbers were in its tensors; "
            "'filmstrip run --torch-values' records that");
    }
    if (wanted->format == FORMAT_JSON) {
        film_output_format(output,
                           "{\"found\":false,\"ops\":%" PRIu64 ",\"tensors\":%" PRIu64
                           ",\"summaries\":%" PRIu64 ",\"left_out\":%" PRIu64 "}\n",
                           looked->ops, looked->tensors, looked->summaries,
                           looked->left_out);
        return FILM_EXIT_DONE;
    }
    FILM_OUTPUT_LITERAL(output, "all finite: ");
    film_output_count(output, looked->ops, "op");
    FILM_OUTPUT_LITERAL(output, ", ");
    film_output_count(output, looked->summaries, "tensor");
    if (looked->summaries < looked->tensors) {
        FILM_OUTPUT_LITERAL(output, "; ");
        film_output_count(output, looked->tensors - looked->summaries, "tensor");
        FILM_OUTPUT_LITERAL(output, " more without a summary");
    }
    if (looked->left_out > 0) {
        FILM_OUTPUT_LITERAL(output, "; ");
        film_output_count(output, looked->left_out, "op");
        FILM_OUTPUT_LITERAL(output, " left out, as asked for");
    }
    film_output_byte(output, '\n');
    return FILM_EXIT_DONE;
}

static int
run(const film_command *command, int argc, char **argv)
{
    static const char *const formats[] = {"text", "json", NULL};
    nan_options wanted = {.depth = 3, .width = 8, .events = EVENTS};
    const film_option options[] = {
        {"ignore", 'i', FILM_OPTION_LIST, "GLOB",
         "Results of functions like this do not count: masked_fill, 'torch.nn.*'; may "
         "be repeated.",
         &wanted.ignored, NULL},
        {"from", 0, FILM_OPTION_NUMBER, "EVENT",
         "Ops before this event of their thread do not count.", &wanted.from, NULL},
        {"thread", 't', FILM_OPTION_NUMBER, "N", "Only ops of this thread count.",
         &wanted.thread, NULL},
        {"depth", 'd', FILM_OPTION_NUMBER, "N", "How deep the two trees are shown (3).",
         &wanted.depth, NULL},
        {"width", 0, FILM_OPTION_NUMBER, "N",
         "How many are shown below each op of a tree (8).", &wanted.width, NULL},
        {"events", 'e', FILM_OPTION_NUMBER, "N",
         "How many events before and behind the op are looked through for where its "
         "inputs come from and its results went (2000000).",
         &wanted.events, NULL},
        {"format", 0, FILM_OPTION_CHOICE, "FORMAT",
         "text (the default) or json, an object a line.", &wanted.format, formats},
        {0},
    };
    film_reading reading;
    film_status status = FILM_OK;
    tally looked = {0};
    int code, closed;

    if (!film_reading_begin(&reading, command, options, argc, argv, SIZE_MAX, &code)) {
        film_free(wanted.ignored.items);
        return code;
    }
    wanted.depth = wanted.depth > 64 ? 64 : wanted.depth;
    code = film_nothing_of_thread(&reading, wanted.thread) ? FILM_EXIT_WRONG
                                                           : FILM_EXIT_DONE;
    for (size_t i = 0;
         code == FILM_EXIT_DONE && status == FILM_OK && i < reading.set.count; i++) {
        status = search(&reading, &wanted, i, &looked);
    }
    if (code == FILM_EXIT_DONE && status == FILM_OK) {
        film_reading_clear_progress(&reading);
        code =
            looked.any_found ? FILM_EXIT_NO : tell_nothing(&reading, &wanted, &looked);
    }
    closed = film_reading_close(&reading, status);
    film_free(wanted.ignored.items);
    return closed != FILM_EXIT_DONE ? closed : code;
}

const film_command film_command_nan = {
    "nan",
    "the first op of PyTorch whose result is not finite, and how that spread",
    "[options] FILE...",
    "Finds the first op that gave a NaN or an infinity, or changed a tensor so that it "
    "holds one, and tells what it was given, whether that was finite, where it came "
    "from, and which ops, variables and modules took the result afterwards.\n"
    "\n"
    "It needs a recording that tells what was in the tensors ('filmstrip run "
    "--torch-values'). Memory that nothing was written to yet (torch.empty) does not "
    "count.",
    "filmstrip run --torch-values train.py\n"
    "filmstrip nan train.film\n"
    "filmstrip nan train.film --ignore masked_fill --depth 5\n"
    "filmstrip nan train.film --format json | jq .op.line",
    run,
};
