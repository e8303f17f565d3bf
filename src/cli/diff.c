/* diff.c: where two recordings part.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/diff.h"

#include <inttypes.h>

#include "cli/options.h"

enum { FORMAT_TEXT, FORMAT_JSON };

typedef struct diff_options {
    uint64_t thread, limit, context;
    size_t format;
    bool all, flow;
} diff_options;

/* What was found in the whole walk. */
typedef struct tally {
    uint64_t differences, other, shape, values; /* by film_diff_kind */
    uint64_t only[2];                           /* entries of one side alone */
} tally;

void
film_diff_view_reset(film_diff_view *view)
{
    for (size_t i = 0; i < 2; i++) {
        film_op_item_reset(&view->items[i]);
        film_op_item_reset(&view->ops[i]);
    }
}

film_status
film_diff_event(film_diff_view *view, size_t side, uint64_t number,
                film_cursor **cursor, const film_event **event)
{
    film_error *error = &view->reading->error;
    film_status status = film_cursor_open(view->run->sides[side].reader,
                                          view->threads[side], number, cursor, error);

    if (status == FILM_OK) {
        status = film_cursor_next(*cursor, event, error);
    }
    return status;
}

static film_status
read_item(film_diff_view *view, size_t side, uint64_t number)
{
    film_reader *reader = view->run->sides[side].reader;
    film_error *error = &view->reading->error;
    film_op_item *item = &view->items[side];
    film_cursor *cursor = NULL;
    const film_event *event;
    film_status status = film_diff_event(view, side, number, &cursor, &event);

    if (status == FILM_OK) {
        status = film_op_item_read(item, reader, event, error);
    }
    film_cursor_close(cursor);
    if (status == FILM_OK) {
        status = film_op_item_find(reader, view->threads[side], item->op,
                                   &view->ops[side], NULL, error);
        /* A ring may have given up the beginning. */
        status = status == FILM_END ? FILM_OK : status;
    }
    return status;
}

film_status
film_diff_read_ops(film_diff_view *view, const film_difference *difference)
{
    for (size_t i = 0; i < 2; i++) {
        view->ops[i].kind = view->items[i].kind = 0;
        if (difference->has[i]) {
            FILM_TRY(read_item(view, i, difference->first[i].number));
        }
    }
    return FILM_OK;
}

film_op_comparison
film_diff_compare(const film_diff_view *view, const film_difference *difference)
{
    film_op_comparison found = {.aspect = FILM_OP_FUNCTION};

    return difference->kind == FILM_DIFF_KEY
               ? found
               : film_op_compare(&view->items[0], &view->items[1], true);
}

static void
count(tally *found, const film_difference *difference)
{
    found->differences++;
    switch (difference->kind) {
    case FILM_DIFF_KEY:
        found->other++;
        found->only[0] += difference->counts[0];
        found->only[1] += difference->counts[1];
        break;
    case FILM_DIFF_SHAPE:
        found->shape++;
        break;
    case FILM_DIFF_VALUES:
        found->values++;
        break;
    }
}

static void
print_sum(film_diff_view *view, const diff_options *wanted, const tally *found)
{
    film_output *output = &view->reading->output;

    if (!wanted->all) {
        return;
    }
    film_output_byte(output, '\n');
    film_output_count(output, found->differences, "difference");
    film_output_format(output,
                       ": %" PRIu64 " times another way (%" PRIu64
                       " events only in the "
                       "first, %" PRIu64 " only in the second)",
                       found->other, found->only[0], found->only[1]);
    if (view->run->of_ops) {
        film_output_format(output,
                           ", %" PRIu64 " other arguments or results, %" PRIu64
                           " other numbers in tensors",
                           found->shape, found->values);
    }
    FILM_OUTPUT_LITERAL(output, "; ");
    film_output_count(output, view->run->diff.counted + view->run->skipped,
                      view->run->of_ops ? "op" : "event");
    FILM_OUTPUT_LITERAL(output, " the same\n");
    if (found->differences > view->shown) {
        film_output_format(output, "%" PRIu64 " are not shown: --limit\n",
                           found->differences - view->shown);
    }
}

static void
print_json_sum(film_diff_view *view, const diff_options *wanted, const tally *found)
{
    film_output *output = &view->reading->output;

    film_output_format(output, "],\"equal\":%s,\"what\":\"%s\",\"same\":%" PRIu64,
                       found->differences == 0 ? "true" : "false",
                       view->run->of_ops ? "ops" : "flow",
                       view->run->diff.counted + view->run->skipped);
    if (wanted->all) {
        film_output_format(output,
                           ",\"counts\":{\"differences\":%" PRIu64 ",\"other\":%" PRIu64
                           ",\"arguments\":%" PRIu64 ",\"numbers\":%" PRIu64
                           ",\"only_first\":%" PRIu64 ",\"only_second\":%" PRIu64 "}",
                           found->differences, found->other, found->shape,
                           found->values, found->only[0], found->only[1]);
    }
    FILM_OUTPUT_LITERAL(output, "}\n");
}

static void
print_equal(film_diff_view *view)
{
    film_output *output = &view->reading->output;

    if (view->run->of_ops) {
        FILM_OUTPUT_LITERAL(output, "the same: ");
        film_output_count(output, view->run->diff.counted, "op");
        film_output_byte(output, '\n');
    }
    else {
        film_output_text(output, view->has_ops
                                     ? "control took the same way: "
                                     : "no ops, and control took the same way: ");
        film_output_count(output, view->run->diff.counted + view->run->skipped,
                          "event");
        film_output_byte(output, '\n');
    }
}

static film_status
walk(film_diff_view *view, const diff_options *wanted, tally *found)
{
    film_reading *reading = view->reading;
    bool is_json = wanted->format == FORMAT_JSON;
    film_difference difference;
    film_status status;

    while ((status = film_diff_next(&view->run->diff, &difference, &reading->error)) ==
           FILM_OK) {
        count(found, &difference);
        if (view->shown < wanted->limit) {
            film_reading_clear_progress(reading);
            FILM_TRY(is_json ? film_diff_print_json(view, &difference)
                             : film_diff_print_text(view, &difference));
            view->shown++;
        }
        if (!wanted->all) {
            return FILM_OK;
        }
    }
    return status == FILM_END ? FILM_OK : status;
}

static film_status
compare(film_reading *reading, const diff_options *wanted, bool has_ops, tally *found)
{
    film_reader *const readers[2] = {reading->set.items[0].reader,
                                     reading->set.items[1].reader};
    film_run_diff run;
    film_diff_view view = {
        .reading = reading,
        .run = &run,
        .threads = {(uint32_t)wanted->thread, (uint32_t)wanted->thread},
        .context = wanted->context,
        .has_ops = has_ops};
    film_status status =
        film_run_diff_open(&run, readers, view.threads, has_ops && !wanted->flow,
                           reading->set.progress, &reading->error);

    if (status == FILM_OK) {
        film_output_text(&reading->output,
                         wanted->format == FORMAT_JSON ? "{\"differences\":[" : "");
        status = walk(&view, wanted, found);
    }
    film_reading_clear_progress(reading);
    if (status == FILM_OK && wanted->format == FORMAT_JSON) {
        print_json_sum(&view, wanted, found);
    }
    else if (status == FILM_OK && found->differences == 0) {
        print_equal(&view);
    }
    else if (status == FILM_OK) {
        print_sum(&view, wanted, found);
    }
    film_run_diff_reset(&run);
    film_diff_view_reset(&view);
    return status;
}

/* Whether each has the thread, and ops: both or none. */
static film_status
look(film_reading *reading, const diff_options *wanted, bool *has_ops, bool *usable)
{
    uint64_t ops[2];

    *usable = false;
    for (size_t i = 0; i < 2; i++) {
        const film_recording *recording = &reading->set.items[i];
        uint64_t counts[FILM_KIND_COUNT];
        size_t k = 0, threads = film_reader_thread_count(recording->reader);

        while (k < threads &&
               film_reader_thread(recording->reader, k)->id != wanted->thread) {
            k++;
        }
        if (k == threads) {
            film_command_fail(reading->command, "%s has no thread %" PRIu64,
                              recording->path, wanted->thread);
            return FILM_OK;
        }
        FILM_TRY(film_reader_kind_counts(recording->reader, counts, &reading->error));
        ops[i] = counts[FILM_KIND_OP];
    }
    *has_ops = ops[0] > 0 || ops[1] > 0;
    *usable = true;
    if (*has_ops && !wanted->flow && (ops[0] == 0 || ops[1] == 0)) {
        film_command_fail(reading->command,
                          "there are operations of PyTorch in %s only; --flow compares "
                          "the way that control took",
                          reading->set.items[ops[0] == 0].path);
        *usable = false;
    }
    return FILM_OK;
}

static int
diff(film_reading *reading, const diff_options *wanted)
{
    bool has_ops = false, usable;
    tally found = {0};
    film_status status = look(reading, wanted, &has_ops, &usable);
    int code;

    if (status == FILM_OK && !usable) {
        (void)film_reading_close(reading, FILM_OK);
        return FILM_EXIT_WRONG;
    }
    if (status == FILM_OK) {
        status = compare(reading, wanted, has_ops, &found);
    }
    code = film_reading_close(reading, status);
    return code == FILM_EXIT_DONE && found.differences > 0 ? FILM_EXIT_NO : code;
}

static int
run(const film_command *command, int argc, char **argv)
{
    static const char *const formats[] = {"text", "json", NULL};
    diff_options wanted = {.thread = 1, .limit = 20, .context = 3};
    const film_option options[] = {
        {"all", 'a', FILM_OPTION_FLAG, NULL,
         "Go on behind the first difference, and count them all.", &wanted.all, NULL},
        {"limit", 'n', FILM_OPTION_NUMBER, "N",
         "With --all: how many differences are shown (20).", &wanted.limit, NULL},
        {"thread", 't', FILM_OPTION_NUMBER, "N",
         "The thread that is compared (1, the main thread).", &wanted.thread, NULL},
        {"context", 'c', FILM_OPTION_NUMBER, "N",
         "How many equal ops before the first difference are shown (3, at most 15).",
         &wanted.context, NULL},
        {"flow", 0, FILM_OPTION_FLAG, NULL,
         "Compare calls and lines, though there are ops.", &wanted.flow, NULL},
        {"format", 0, FILM_OPTION_CHOICE, "FORMAT", "text (the default) or json.",
         &wanted.format, formats},
        {0},
    };
    film_reading reading;
    size_t paths;
    int code;

    if (!film_options_parse(command, options, argc, argv, &paths, &code)) {
        return code;
    }
    if (paths != 2) {
        return film_command_fail(command,
                                 "two recordings are compared, not %zu. Usage: "
                                 "filmstrip diff %s",
                                 paths, command->usage);
    }
    if (wanted.limit == 0) {
        return film_command_fail(command, "--limit takes a number from 1 on");
    }
    if (!film_reading_open(&reading, command, argv + 1, paths)) {
        return FILM_EXIT_WRONG;
    }
    return diff(&reading, &wanted);
}

const film_command film_command_diff = {
    "diff",
    "where two recordings part: the first op, or line, that differs",
    "[options] A B",
    "Walks the operations of PyTorch in one thread of two recordings side by side and "
    "tells the first that differs: in its function, its arguments or results, their "
    "shapes, dtypes or devices, or, where both recordings tell what was in the tensors "
    "('filmstrip run --torch-values'), in the numbers. Serials, ids and times do not "
    "count.\n"
    "\n"
    "Without ops it compares the way that control took: calls, returns, exceptions "
    "and, "
    "where both recordings have them, lines.",
    "filmstrip diff monday.film tuesday.film\n"
    "filmstrip diff monday.film tuesday.film --all --limit 50\n"
    "filmstrip diff old.film new.film --flow\n"
    "filmstrip diff a.film b.film --format json | jq '.differences[0].aspect'",
    run,
};
