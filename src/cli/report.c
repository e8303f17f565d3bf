/* report.c: where the time went.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/report.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "cli/options.h"
#include "cli/reading.h"
#include "cli/report_ranks.h"
#include "export/track.h"

/* Steps of ranks that are shown unless asked otherwise. */
#define RANK_STEPS 10u

typedef enum sort_key { SORT_OWN, SORT_TOTAL, SORT_CALLS, SORT_NAME } sort_key;

typedef struct report_options {
    size_t sort;
    uint64_t limit;
    bool callers, callees, threads, json, ranks;
    const char *step;
} report_options;

/* What the comparisons look at; qsort hands over no context. One thread only. */
static struct {
    const film_tally *tallies;
    const film_function *functions;
    const film_edge *edges;
    sort_key key;
} sorting;

static int
compare_texts(film_text a, film_text b)
{
    int order = memcmp(a.data, b.data, a.length < b.length ? a.length : b.length);

    return order != 0 ? order : a.length < b.length ? -1 : a.length > b.length;
}

/* Largest first. */
static int
compare_numbers(uint64_t a, uint64_t b)
{
    return a > b ? -1 : a < b;
}

static int
compare_tallies(const film_tally *a, const film_tally *b)
{
    switch (sorting.key) {
    case SORT_OWN:
        return compare_numbers(a->own_ns, b->own_ns);
    case SORT_TOTAL:
        return compare_numbers(a->total_ns, b->total_ns);
    case SORT_CALLS:
        return compare_numbers(a->calls, b->calls);
    case SORT_NAME:
        break;
    }
    return 0;
}

static int
compare_functions(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int order = compare_tallies(&sorting.tallies[a], &sorting.tallies[b]);

    if (order == 0) {
        order =
            compare_texts(sorting.functions[a].function, sorting.functions[b].function);
    }
    return order != 0 ? order : a < b ? -1 : a > b;
}

static int
compare_within(uint32_t a, uint32_t b)
{
    int order = compare_numbers(sorting.edges[a].tally.total_ns,
                                sorting.edges[b].tally.total_ns);

    return order != 0 ? order : a < b ? -1 : a > b;
}

static int
compare_by_caller(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    uint32_t first = sorting.edges[a].caller, second = sorting.edges[b].caller;

    return first != second ? (first < second ? -1 : 1) : compare_within(a, b);
}

static int
compare_by_callee(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    uint32_t first = sorting.edges[a].callee, second = sorting.edges[b].callee;

    return first != second ? (first < second ? -1 : 1) : compare_within(a, b);
}

/* The stretch of `numbers` whose edges have `function` at that end. */
static film_report_edges
find_edges(const film_report *report, const uint32_t *numbers, bool callee,
           uint32_t function)
{
    size_t low = 0, high = report->edge_count, end;
    film_report_edges found = {numbers, 0};

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const film_edge *edge = &report->edges[numbers[middle]];
        if ((callee ? edge->callee : edge->caller) < function) {
            low = middle + 1;
        }
        else {
            high = middle;
        }
    }
    for (end = low; end < report->edge_count; end++) {
        const film_edge *edge = &report->edges[numbers[end]];
        if ((callee ? edge->callee : edge->caller) != function) {
            break;
        }
    }
    found.numbers += low;
    found.count = end - low;
    return found;
}

film_report_edges
film_report_callees(const film_report *report, uint32_t function)
{
    return find_edges(report, report->by_caller, false, function);
}

film_report_edges
film_report_callers(const film_report *report, uint32_t function)
{
    return find_edges(report, report->by_callee, true, function);
}

/* Chooses and sorts; `order` has room for all functions, the others for all edges. */
static void
fill_report(film_report *report, const report_options *wanted, uint32_t *order,
            uint32_t *by_caller, uint32_t *by_callee, size_t function_count)
{
    sorting.tallies = report->tallies;
    sorting.functions = report->functions->items;
    sorting.edges = report->edges;
    sorting.key = (sort_key)wanted->sort;
    for (size_t i = 0; i < function_count; i++) {
        const film_tally *tally = &report->tallies[i];
        if (tally->activations > 0 || tally->total_ns > 0 || tally->own_ns > 0) {
            order[report->all_count++] = (uint32_t)i;
            report->calls += tally->calls;
            report->primitive_calls += tally->primitive_calls;
        }
    }
    for (size_t i = 0; i < report->edge_count; i++) {
        by_caller[i] = by_callee[i] = (uint32_t)i;
    }
    qsort(order, report->all_count, sizeof(*order), compare_functions);
    if (report->edge_count > 0) {
        qsort(by_caller, report->edge_count, sizeof(*by_caller), compare_by_caller);
        qsort(by_callee, report->edge_count, sizeof(*by_callee), compare_by_callee);
    }
    report->count = wanted->limit == 0 || wanted->limit > report->all_count
                        ? report->all_count
                        : (size_t)wanted->limit;
    report->order = order;
    report->by_caller = by_caller;
    report->by_callee = by_callee;
}

static film_status
print_statistics(film_reading *reading, const report_options *wanted,
                 const film_functions *functions, const film_statistics *statistics)
{
    film_report report = {
        .functions = functions, .callers = wanted->callers, .callees = wanted->callees};
    size_t count;
    uint32_t *order, *by_caller, *by_callee;
    film_status status = FILM_OK;

    report.tallies = film_statistics_functions(statistics, &count);
    report.edges = film_statistics_edges(statistics, &report.edge_count);
    report.own_ns = film_statistics_own_ns(statistics);
    order = film_alloc_array(count, sizeof(*order));
    by_caller = film_alloc_array(report.edge_count, sizeof(*by_caller));
    by_callee = film_alloc_array(report.edge_count, sizeof(*by_callee));
    if (order == NULL || by_caller == NULL || by_callee == NULL) {
        status = film_fail(&reading->error, FILM_NO_MEMORY, "not enough memory");
    }
    else {
        fill_report(&report, wanted, order, by_caller, by_callee, count);
        if (wanted->json) {
            film_report_print_json(&report, &reading->output);
        }
        else {
            film_report_print(&report, &reading->output);
        }
    }
    film_free(order);
    film_free(by_caller);
    film_free(by_callee);
    return status;
}

/* The line or keys before a thread's own numbers. */
static void
print_thread_head(film_reading *reading, const report_options *wanted, size_t recording,
                  size_t index, bool is_first)
{
    film_output *output = &reading->output;
    const film_reader *reader = reading->set.items[recording].reader;
    const film_thread_info *thread = film_reader_thread(reader, index);
    uint64_t pid = film_reader_info(reader)->pid;
    char room[32];
    film_text name = film_track_thread_name(thread, room);

    if (wanted->json) {
        film_output_text(output, is_first ? "{" : ",\n{");
        film_output_format(output, "\"pid\":%llu,\"thread\":%u,\"name\":",
                           (unsigned long long)pid, thread->id);
        film_output_json(output, name);
        film_output_byte(output, ',');
        return;
    }
    film_output_text(output, is_first ? "" : "\n");
    film_output_format(output, "thread %u ", thread->id);
    film_output_display(output, name);
    if (reading->set.count > 1) {
        film_output_format(output, " of process %llu", (unsigned long long)pid);
    }
    FILM_OUTPUT_LITERAL(output, ": ");
}

static film_status
report_threads(film_reading *reading, const report_options *wanted,
               const film_functions *functions, film_statistics *statistics)
{
    bool is_first = true;

    film_output_text(&reading->output, wanted->json ? "{\"threads\":[\n" : "");
    for (size_t i = 0; i < reading->set.count; i++) {
        const film_reader *reader = reading->set.items[i].reader;
        size_t threads = film_reader_thread_count(reader);
        for (size_t k = 0; k < threads; k++) {
            film_statistics_clear(statistics);
            FILM_TRY(film_statistics_add_thread(
                statistics, i, film_reader_thread(reader, k)->id, &reading->error));
            print_thread_head(reading, wanted, i, k, is_first);
            FILM_TRY(print_statistics(reading, wanted, functions, statistics));
            film_output_text(&reading->output, wanted->json ? "}" : "");
            is_first = false;
        }
    }
    film_output_text(&reading->output, wanted->json ? "]}\n" : "");
    return FILM_OK;
}

static film_status
report_together(film_reading *reading, const report_options *wanted,
                const film_functions *functions, film_statistics *statistics)
{
    FILM_TRY(film_statistics_add_all(statistics, &reading->error));
    film_reading_clear_progress(reading);
    film_output_text(&reading->output, wanted->json ? "{" : "");
    FILM_TRY(print_statistics(reading, wanted, functions, statistics));
    film_output_text(&reading->output, wanted->json ? "}\n" : "");
    return FILM_OK;
}

static film_status
report(film_reading *reading, const report_options *wanted)
{
    film_functions functions;
    film_statistics *statistics = NULL;
    film_status status =
        film_functions_init(&functions, &reading->set, &reading->error);

    if (status == FILM_OK) {
        status = film_statistics_new(&functions, &statistics, &reading->error);
    }
    if (status == FILM_OK) {
        status = wanted->threads
                     ? report_threads(reading, wanted, &functions, statistics)
                     : report_together(reading, wanted, &functions, statistics);
    }
    film_statistics_free(statistics);
    film_functions_reset(&functions);
    return status;
}

static int
run(const film_command *command, int argc, char **argv)
{
    static const char *const keys[] = {"tottime", "cumtime", "calls", "name", NULL};
    report_options wanted = {0};
    const film_option options[] = {
        {"sort", 's', FILM_OPTION_CHOICE, "KEY",
         "tottime (the default), cumtime, calls or name.", &wanted.sort, keys},
        {"limit", 'n', FILM_OPTION_NUMBER, "N",
         "Only the first N functions (with --ranks: steps).", &wanted.limit, NULL},
        {"callers", 0, FILM_OPTION_FLAG, NULL, "Under each function, who called it.",
         &wanted.callers, NULL},
        {"callees", 0, FILM_OPTION_FLAG, NULL, "Under each function, what it called.",
         &wanted.callees, NULL},
        {"threads", 0, FILM_OPTION_FLAG, NULL,
         "A table for each thread instead of one for all.", &wanted.threads, NULL},
        {"json", 0, FILM_OPTION_FLAG, NULL,
         "JSON with nanoseconds; callers and callees included.", &wanted.json, NULL},
        {"ranks", 0, FILM_OPTION_FLAG, NULL,
         "Of a distributed program's ranks: the slowest in each step; and where each "
         "rank was, who waited and who did not come, when it hung.",
         &wanted.ranks, NULL},
        {"step", 0, FILM_OPTION_TEXT, "FUNCTION",
         "With --ranks: a step is a call of this function (a name or a pattern), less "
         "its time in collectives; without it collectives end the steps.",
         &wanted.step, NULL},
        {0},
    };
    film_reading reading;
    int code;

    if (!film_reading_begin(&reading, command, options, argc, argv, SIZE_MAX, &code)) {
        return code;
    }
    if (wanted.ranks || wanted.step != NULL) {
        return film_reading_close(
            &reading, film_report_ranks(&reading, wanted.step,
                                        wanted.limit == 0 ? RANK_STEPS : wanted.limit,
                                        wanted.json));
    }
    return film_reading_close(&reading, report(&reading, &wanted));
}

const film_command film_command_report = {
    "report",
    "where the time went: calls, times, callers, callees",
    "[options] FILE...",
    "Prints where the time went, a line a function:\n"
    "\n"
    "  calls    real calls; 120/4 means 120 calls of which 4 were not recursive\n"
    "  tottime  seconds in the function itself\n"
    "  cumtime  seconds in it and all it called, recursion counted once\n"
    "  percall  tottime a call and cumtime a call that was not recursive\n"
    "\n"
    "Times and recursion follow cProfile's rules. Unlike cProfile a generator counts "
    "as called once, however often it is resumed; its time is the sum of all parts "
    "(export --to pstats counts as cProfile does). Several recordings are added up.\n"
    "\n"
    "--ranks looks at several ranks of a distributed program side by side: where one "
    "was slow, where one was missing (docs/ranks.md).",
    "filmstrip report train.film --limit 20\n"
    "filmstrip report train.film --sort cumtime --callees\n"
    "filmstrip report train.film --threads\n"
    "filmstrip report 'train*.film' --ranks\n"
    "filmstrip report train.film --json | jq '.functions[0]'",
    run,
};
