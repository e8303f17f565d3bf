/* report_text.c: the report as a table.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/report.h"

#include <stdio.h>

static double
seconds(uint64_t time_ns)
{
    return (double)time_ns / 1e9;
}

static double
per(uint64_t time_ns, uint64_t calls)
{
    return calls == 0 ? 0.0 : seconds(time_ns) / (double)calls;
}

/* "120/4", or "4" without recursion. */
static void
print_calls(film_output *output, const film_tally *tally, int width)
{
    char text[48];

    if (tally->calls != tally->primitive_calls) {
        snprintf(text, sizeof(text), "%llu/%llu", (unsigned long long)tally->calls,
                 (unsigned long long)tally->primitive_calls);
    }
    else {
        snprintf(text, sizeof(text), "%llu", (unsigned long long)tally->calls);
    }
    film_output_format(output, "%*s", width, text);
}

static void
print_name(film_output *output, const film_function *function)
{
    film_output_display(output, function->function);
    if (!function->is_c) {
        FILM_OUTPUT_LITERAL(output, "  ");
        film_output_display(output, function->file);
        film_output_byte(output, ':');
        film_output_u64(output, function->first_line);
    }
    film_output_byte(output, '\n');
}

static void
print_edges(film_output *output, const film_report *report, film_report_edges edges,
            bool callers)
{
    for (size_t i = 0; i < edges.count; i++) {
        const film_edge *edge = &report->edges[edges.numbers[i]];

        print_calls(output, &edge->tally, 15);
        film_output_format(output, " %10.6f %10s %10.6f %10s    %s ",
                           seconds(edge->tally.own_ns), "",
                           seconds(edge->tally.total_ns), "", callers ? "<-" : "->");
        film_output_display(
            output,
            report->functions->items[callers ? edge->caller : edge->callee].function);
        film_output_byte(output, '\n');
    }
}

void
film_report_print(const film_report *report, film_output *output)
{
    film_output_count(output, report->calls, "call");
    FILM_OUTPUT_LITERAL(output, " (");
    film_output_grouped_u64(output, report->primitive_calls);
    film_output_format(output, " primitive) of %zu function%s in %.6f seconds",
                       report->all_count, report->all_count == 1 ? "" : "s",
                       seconds(report->own_ns));
    if (report->count < report->all_count) {
        film_output_format(output, ", the first %zu", report->count);
    }
    film_output_format(output, "\n\n%15s %10s %10s %10s %10s  %s\n", "calls", "tottime",
                       "percall", "cumtime", "percall", "function");
    for (size_t i = 0; i < report->count; i++) {
        uint32_t number = report->order[i];
        const film_tally *tally = &report->tallies[number];

        print_calls(output, tally, 15);
        film_output_format(output, " %10.6f %10.6f %10.6f %10.6f  ",
                           seconds(tally->own_ns), per(tally->own_ns, tally->calls),
                           seconds(tally->total_ns),
                           per(tally->total_ns, tally->primitive_calls));
        print_name(output, &report->functions->items[number]);
        if (report->callers) {
            print_edges(output, report, film_report_callers(report, number), true);
        }
        if (report->callees) {
            print_edges(output, report, film_report_callees(report, number), false);
        }
    }
}
