/* report.h: a report's content, for the functions that print it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_REPORT_H
#define FILMSTRIP_REPORT_H

#include "analysis/statistics.h"
#include "export/output.h"

typedef struct film_report {
    const film_functions *functions; /* borrowed, as all pointers here */
    const film_tally *tallies;       /* by function number */
    const uint32_t *order;           /* function numbers, sorted and cut */
    size_t count;                    /* of `order` */
    size_t all_count;                /* functions that ran, cut or not */
    const film_edge *edges;
    const uint32_t *by_caller, *by_callee; /* edge numbers, grouped, largest first */
    size_t edge_count;
    uint64_t own_ns; /* of all functions */
    uint64_t calls, primitive_calls;
    bool callers, callees; /* to be shown */
} film_report;

/* The edges of one function: a stretch of by_caller or by_callee. */
typedef struct film_report_edges {
    const uint32_t *numbers;
    size_t count;
} film_report_edges;

film_report_edges
film_report_callees(const film_report *report, uint32_t function);

film_report_edges
film_report_callers(const film_report *report, uint32_t function);

void
film_report_print(const film_report *report, film_output *output);

/* The members of one JSON object, without its braces. */
void
film_report_print_json(const film_report *report, film_output *output);

#endif
