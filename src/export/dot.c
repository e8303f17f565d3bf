/* dot.c: the call graph in graphviz' language.
 * It looks as gprof2dot's default does, because its readers know the code of colours:
 * from dark blue (no time) over green to red (all of it), thick lines where time
 * flows; functions below 0.5 % and calls below 0.1 % of the time are left out.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/exporter.h"

#include "analysis/statistics.h"

#define NODE_THRESHOLD 0.005
#define EDGE_THRESHOLD 0.001

#define LABEL_LIMIT 4096u /* graphviz cannot read strings of 16 KiB */

typedef struct graph {
    const film_functions *functions; /* borrowed, as the rest */
    const film_tally *tallies;
    const film_edge *edges;
    size_t count, edge_count;
    double own_ns, total_ns; /* what 100 % means */
} graph;

static double
share(uint64_t part, double whole)
{
    double result = whole > 0.0 ? (double)part / whole : 1.0;

    return result > 1.0 ? 1.0 : result;
}

/* By Newton: arrow sizes need no libm. `number` is at least 0.25. */
static double
square_root(double number)
{
    double root = 1.0;

    for (int i = 0; i < 8; i++) {
        root = (root + number / root) / 2.0;
    }
    return root;
}

static double
channel(double low, double high, double hue)
{
    if (hue < 0.0) {
        hue += 1.0;
    }
    else if (hue > 1.0) {
        hue -= 1.0;
    }
    if (hue * 6.0 < 1.0) {
        return low + (high - low) * hue * 6.0;
    }
    if (hue * 2.0 < 1.0) {
        return high;
    }
    if (hue * 3.0 < 2.0) {
        return low + (high - low) * (2.0 / 3.0 - hue) * 6.0;
    }
    return low;
}

/* Dark blue (hue 2/3, saturation 0.8, lightness 0.25) to red (0, 1, 0.5). */
static void
put_color(film_output *output, double weight)
{
    double hue = 2.0 / 3.0 * (1.0 - weight);
    double saturation = 0.8 + 0.2 * weight;
    double lightness = 0.25 + 0.25 * weight;
    double high = lightness * (saturation + 1.0);
    double low = lightness * 2.0 - high;

    film_output_format(output, "\"#%02x%02x%02x\"",
                       (unsigned)(255.0 * channel(low, high, hue + 1.0 / 3.0) + 0.5),
                       (unsigned)(255.0 * channel(low, high, hue) + 0.5),
                       (unsigned)(255.0 * channel(low, high, hue - 1.0 / 3.0) + 0.5));
}

/* The inside of a quoted string. */
static void
put_quoted(film_output *output, film_text text)
{
    size_t length = text.length < LABEL_LIMIT ? text.length : LABEL_LIMIT;
    size_t from = 0;

    while (length < text.length && length > 0 && (text.data[length] & 0xc0) == 0x80) {
        length--; /* do not cut a character in two */
    }
    for (size_t i = 0; i < length; i++) {
        if (text.data[i] == '"' || text.data[i] == '\\') {
            film_output_display(output, (film_text){text.data + from, i - from});
            film_output_byte(output, '\\');
            from = i;
        }
    }
    film_output_display(output, (film_text){text.data + from, length - from});
}

/* module:qualname */
static void
put_function(film_output *output, const film_function *function)
{
    size_t module = function->module.length;
    film_text rest = function->function;

    if (module > 0 && rest.length > module + 1 && rest.data[module] == '.' &&
        memcmp(rest.data, function->module.data, module) == 0) {
        put_quoted(output, function->module);
        film_output_byte(output, ':');
        rest.data += module + 1;
        rest.length -= module + 1;
    }
    put_quoted(output, rest);
}

static void
put_node(film_output *output, const graph *from, size_t number)
{
    const film_function *function = &from->functions->items[number];
    const film_tally *tally = &from->tallies[number];
    double weight = share(tally->total_ns, from->total_ns);

    film_output_format(output, "\t%zu [color=", number);
    put_color(output, weight);
    FILM_OUTPUT_LITERAL(output,
                        ", fontcolor=\"#ffffff\", fontsize=\"10.00\", label=\"");
    put_function(output, function);
    film_output_format(output, "\\n%.2f%%\\n(%.2f%%)\\n%llu\u00d7\", tooltip=\"",
                       weight * 100.0, share(tally->own_ns, from->own_ns) * 100.0,
                       (unsigned long long)tally->calls);
    put_quoted(output, function->file);
    FILM_OUTPUT_LITERAL(output, "\"];\n");
}

static void
put_edge(film_output *output, const graph *from, const film_edge *edge)
{
    double weight = share(edge->tally.total_ns, from->total_ns);
    double width = weight * 4.0 > 0.5 ? weight * 4.0 : 0.5;

    film_output_format(output, "\t%u -> %u [arrowsize=\"%.2f\", color=", edge->caller,
                       edge->callee, 0.5 * square_root(width));
    put_color(output, weight);
    FILM_OUTPUT_LITERAL(output, ", fontcolor=");
    put_color(output, weight);
    film_output_format(output,
                       ", fontsize=\"10.00\", label=\"%.2f%%\\n%llu\u00d7\", "
                       "labeldistance=\"%.2f\", penwidth=\"%.2f\"];\n",
                       weight * 100.0, (unsigned long long)edge->tally.calls, width,
                       width);
}

static bool
is_shown(const graph *from, uint32_t function)
{
    const film_tally *tally = &from->tallies[function];

    return (tally->activations > 0 || tally->total_ns > 0) &&
           share(tally->total_ns, from->total_ns) >= NODE_THRESHOLD;
}

static void
put_graph(film_output *output, const graph *from)
{
    FILM_OUTPUT_LITERAL(output,
                        "digraph {\n\ttooltip=\" \"\n"
                        "\tgraph [fontname=Arial, nodesep=0.125, ranksep=0.25];\n"
                        "\tnode [fontcolor=white, fontname=Arial, height=0, shape=box, "
                        "style=filled, width=0];\n"
                        "\tedge [fontname=Arial];\n");
    for (size_t i = 0; i < from->count; i++) {
        if (is_shown(from, (uint32_t)i)) {
            put_node(output, from, i);
        }
    }
    for (size_t i = 0; i < from->edge_count; i++) {
        const film_edge *edge = &from->edges[i];
        if (is_shown(from, edge->caller) && is_shown(from, edge->callee) &&
            share(edge->tally.total_ns, from->total_ns) >= EDGE_THRESHOLD) {
            put_edge(output, from, edge);
        }
    }
    FILM_OUTPUT_LITERAL(output, "}\n");
}

film_status
film_export_dot(const film_recordings *set, film_output *output, film_error *error)
{
    film_functions functions;
    film_statistics *statistics = NULL;
    graph from = {0};
    film_status status = film_functions_init(&functions, set, error);

    if (status == FILM_OK) {
        status = film_statistics_new(&functions, &statistics, error);
    }
    if (status == FILM_OK) {
        status = film_statistics_add_all(statistics, error);
    }
    if (status == FILM_OK) {
        from.functions = &functions;
        from.tallies = film_statistics_functions(statistics, &from.count);
        from.edges = film_statistics_edges(statistics, &from.edge_count);
        from.own_ns = (double)film_statistics_own_ns(statistics);
        from.total_ns = from.own_ns;
        for (size_t i = 0; i < from.count; i++) {
            double total = (double)from.tallies[i].total_ns;
            from.total_ns = total > from.total_ns ? total : from.total_ns;
        }
        put_graph(output, &from);
    }
    film_statistics_free(statistics);
    film_functions_reset(&functions);
    return status;
}
