/* report_json.c: the report as JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/report.h"

static void
print_function(film_output *output, const film_function *function)
{
    FILM_OUTPUT_LITERAL(output, "{\"function\":");
    film_output_json(output, function->function);
    if (!function->is_c) {
        FILM_OUTPUT_LITERAL(output, ",\"file\":");
        film_output_json(output, function->file);
        FILM_OUTPUT_LITERAL(output, ",\"line\":");
        film_output_u64(output, function->first_line);
    }
}

static void
print_tally(film_output *output, const film_tally *tally)
{
    film_output_format(
        output,
        ",\"calls\":%llu,\"primitive_calls\":%llu,\"activations\":%llu,"
        "\"primitive_activations\":%llu,\"tottime_ns\":%llu,"
        "\"cumtime_ns\":%llu",
        (unsigned long long)tally->calls, (unsigned long long)tally->primitive_calls,
        (unsigned long long)tally->activations,
        (unsigned long long)tally->primitive_activations,
        (unsigned long long)tally->own_ns, (unsigned long long)tally->total_ns);
}

static void
print_edges(film_output *output, const film_report *report, film_report_edges edges,
            bool callers)
{
    film_output_text(output, callers ? ",\"callers\":[" : ",\"callees\":[");
    for (size_t i = 0; i < edges.count; i++) {
        const film_edge *edge = &report->edges[edges.numbers[i]];

        film_output_text(output, i > 0 ? "," : "");
        print_function(
            output, &report->functions->items[callers ? edge->caller : edge->callee]);
        print_tally(output, &edge->tally);
        film_output_byte(output, '}');
    }
    film_output_byte(output, ']');
}

void
film_report_print_json(const film_report *report, film_output *output)
{
    film_output_format(output,
                       "\"calls\":%llu,\"primitive_calls\":%llu,\"tottime_ns\":%llu,"
                       "\"functions\":[\n",
                       (unsigned long long)report->calls,
                       (unsigned long long)report->primitive_calls,
                       (unsigned long long)report->own_ns);
    for (size_t i = 0; i < report->count; i++) {
        uint32_t number = report->order[i];

        film_output_text(output, i > 0 ? ",\n" : "");
        print_function(output, &report->functions->items[number]);
        print_tally(output, &report->tallies[number]);
        print_edges(output, report, film_report_callers(report, number), true);
        print_edges(output, report, film_report_callees(report, number), false);
        film_output_byte(output, '}');
    }
    film_output_byte(output, ']');
}
