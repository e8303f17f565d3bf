/* exporter.c: the table of outputs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/exporter.h"

#include "export/objwatch.h"
#include "export/tlparse.h"

const film_exporter film_exporters[] = {
    {"pstats", "cProfile's statistics, for pstats, snakeviz and gprof2dot", ".pstats",
     film_export_pstats, NULL},
    {"dot", "call graph in graphviz' language, coloured by share of time", ".dot",
     film_export_dot, NULL},
    {"svg", "the same graph drawn by graphviz (needs its program dot)", ".svg",
     film_export_svg, NULL},
    {"collapsed", "folded stacks with nanoseconds, for flame graph scripts", ".folded",
     film_export_collapsed, NULL},
    {"speedscope", "every call, for https://www.speedscope.app", ".speedscope.json",
     film_export_speedscope, NULL},
    {"perfetto", "every call as a protobuf trace, for https://ui.perfetto.dev",
     ".perfetto-trace", film_export_perfetto, NULL},
    {"chrome", "every call as JSON, for chrome://tracing and others", ".trace.json",
     film_export_chrome, NULL},
    {"json", "calls and values as a tree, as ObjWatch 0.5 saves it", ".json",
     film_export_objwatch_json, NULL},
    {"xml", "the same as XML, as ObjWatch 0.3 saves it", ".xml",
     film_export_objwatch_xml, NULL},
    {"tlparse", "torch ops as a structured log, for tlparse and torchdbg", ".tlparse",
     film_export_tlparse, film_tlparse_name},
    {NULL, NULL, NULL, NULL, NULL},
};

const film_exporter *
film_exporter_find(const char *name)
{
    for (const film_exporter *found = film_exporters; found->name != NULL; found++) {
        if (strcmp(found->name, name) == 0) {
            return found;
        }
    }
    return NULL;
}
