/* export.c: recordings in the formats of other tools.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/export_folder.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/reading.h"
#include "export/exporter.h"
#include "export/output_file.h"

typedef struct export_options {
    const char *format, *path;
    bool force;
    size_t sources; /* place in source_choices */
} export_options;

static const char *const source_choices[] = {"all", "moved", NULL};

/* The first `length` bytes of a path with an ending; the caller owns it. */
static char *
join(const char *path, size_t length, const char *ending)
{
    char *joined = film_alloc(length + strlen(ending) + 1);

    if (joined != NULL) {
        memcpy(joined, path, length);
        memcpy(joined + length, ending, strlen(ending));
    }
    return joined;
}

/* train.film becomes train.pstats, beside it. */
static char *
default_path(const char *film, const char *suffix)
{
    size_t length = strlen(film);

    if (length > 5 && strcmp(film + length - 5, ".film") == 0) {
        length -= 5;
    }
    return join(film, length, suffix);
}

static film_status
write_file(film_reading *reading, const film_exporter *exporter, film_output_file *file)
{
    film_output output;
    film_status status = film_output_init(&output, file->fd, &reading->error);

    if (status == FILM_OK) {
        status = exporter->run(&reading->set, &output, &reading->error);
    }
    if (status == FILM_OK) {
        status = film_output_flush(&output, &reading->error);
    }
    film_output_reset(&output);
    return status;
}

static film_status
write_to_path(film_reading *reading, const film_exporter *exporter, const char *path,
              bool force)
{
    film_output_file file;
    film_status status;

    film_interrupt_delay();
    status = film_output_file_create(&file, path, force, &reading->error);
    film_interrupt_guard(status == FILM_OK ? file.partial : NULL);
    if (status == FILM_OK) {
        status = write_file(reading, exporter, &file);
        film_interrupt_release();
        if (status == FILM_OK) {
            status = film_output_file_commit(&file, &reading->error);
        }
        film_output_file_discard(&file);
    }
    return status;
}

static film_status
export_to_file(film_reading *reading, const film_exporter *exporter,
               const export_options *wanted)
{
    const char *first = reading->set.items[0].path;
    char *path = wanted->path != NULL ? join(wanted->path, strlen(wanted->path), "")
                                      : default_path(first, exporter->suffix);
    film_status status;

    if (path == NULL) {
        return film_fail(&reading->error, FILM_NO_MEMORY, "not enough memory");
    }
    status = exporter->name_file != NULL
                 ? film_export_to_folder(
                       reading, &(film_export_folder){.exporter = exporter,
                                                      .path = path,
                                                      .force = wanted->force,
                                                      .moved = wanted->sources == 1})
                 : write_to_path(reading, exporter, path, wanted->force);
    if (status == FILM_OK && wanted->path == NULL) {
        film_reading_clear_progress(reading);
        film_output_display(&reading->output, film_text_of(path));
        film_output_byte(&reading->output, '\n');
    }
    film_free(path);
    return status;
}

static const film_exporter *
choose_exporter(const film_command *command, const char *name)
{
    const char *names[16];
    char list[256] = "";
    const film_exporter *exporter;
    size_t count = 0;

    for (exporter = film_exporters; exporter->name != NULL && count < 15; exporter++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof(list) - used, "%s%s", count > 0 ? ", " : "",
                 exporter->name);
        names[count++] = exporter->name;
    }
    names[count] = NULL;
    if (name == NULL) {
        film_command_fail(command, "--to is missing: one of %s", list);
        return NULL;
    }
    exporter = film_exporter_find(name);
    if (exporter == NULL) {
        const char *meant = film_command_suggest(name, names);
        film_command_fail(command, "cannot export to '%s'%s%s%s; there are %s", name,
                          meant == NULL ? "" : " (did you mean ",
                          meant == NULL ? "" : meant, meant == NULL ? "" : "?)", list);
    }
    return exporter;
}

static int
run(const film_command *command, int argc, char **argv)
{
    export_options wanted = {0};
    const film_option options[] = {
        {"to", 't', FILM_OPTION_TEXT, "NAME",
         "What to write: pstats, dot, svg, collapsed, speedscope, perfetto, chrome, "
         "json, xml or tlparse.",
         &wanted.format, NULL},
        {"output", 'o', FILM_OPTION_TEXT, "OUT",
         "Where to; '-' is the standard output. Without it the recording's name with "
         "the format's own ending, which is printed.",
         &wanted.path, NULL},
        {"force", 0, FILM_OPTION_FLAG, NULL, "Replace OUT if it exists.", &wanted.force,
         NULL},
        {"sources", 0, FILM_OPTION_CHOICE, "WHICH",
         "tlparse: texts of all files with a frame in a stack, or (moved) only of "
         "those "
         "of which more than one line was in one.",
         &wanted.sources, source_choices},
        {0},
    };
    const film_exporter *exporter;
    film_reading reading;
    size_t count;
    int code;
    film_status status;

    if (!film_options_parse(command, options, argc, argv, &count, &code)) {
        return code;
    }
    exporter = choose_exporter(command, wanted.format);
    if (exporter == NULL || !film_reading_open(&reading, command, argv + 1, count)) {
        return FILM_EXIT_WRONG;
    }
    if (wanted.path != NULL && strcmp(wanted.path, "-") == 0) {
        status = exporter->run(&reading.set, &reading.output, &reading.error);
    }
    else {
        status = export_to_file(&reading, exporter, &wanted);
    }
    return film_reading_close(&reading, status);
}

const film_command film_command_export = {
    "export",
    "writes pstats, dot, svg, collapsed, speedscope, perfetto, chrome, json, xml, "
    "tlparse",
    "FILE... --to NAME [-o OUT] [--force] [--sources WHICH]",
    "Writes recordings in the formats of other tools:\n"
    "\n"
    "  pstats      cProfile's statistics, for pstats, snakeviz and gprof2dot\n"
    "  dot         call graph for graphviz, coloured by share of time\n"
    "  svg         the same graph drawn by graphviz\n"
    "  collapsed   folded stacks with nanoseconds, for flame graphs\n"
    "  speedscope  every call, for https://www.speedscope.app\n"
    "  perfetto    every call as protobuf, for https://ui.perfetto.dev\n"
    "  chrome      every call as JSON, for chrome://tracing\n"
    "  json        calls and values as a tree, as ObjWatch 0.5 saves it\n"
    "  xml         the same as XML, as ObjWatch 0.3 saves it\n"
    "  tlparse     torch ops as a structured log, for tlparse and torchdbg: a folder\n"
    "\n"
    "Of several recordings (a program and its child processes) pstats, dot, svg and "
    "collapsed add the times up; the others show each process by itself.\n"
    "\n"
    "pstats counts as cProfile does: every resume of a generator or coroutine is a "
    "call. report and dot count real calls. collapsed cuts stacks at 1,000 frames. "
    "Functions still running at the end are "
    "closed at the last moment of the recording. The file is readable by its owner "
    "alone, is never written through a symbolic link, and is removed when the export "
    "fails or is interrupted.",
    "filmstrip export train.film --to perfetto -o train.perfetto-trace\n"
    "filmstrip export train.film --to pstats && python3 -m pstats train.pstats\n"
    "filmstrip export train.film --to collapsed -o - | flamegraph.pl > flame.svg\n"
    "filmstrip export train.film train.*.film --to chrome -o all.json\n"
    "filmstrip export train.film --to tlparse -o trace && tlparse trace",
    run,
};
