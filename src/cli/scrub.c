/* scrub.c: a recording without its secrets.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/scrub.h"

#include <string.h>

#include "base/alloc.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/reading.h"
#include "export/output_file.h"

typedef struct scrub_options {
    film_option_list names, patterns;
    bool force;
} scrub_options;

static film_status
scrub_to(film_reading *reading, const char *path, const scrub_options *wanted)
{
    film_scrub_options options = {wanted->names.items, wanted->names.count,
                                  wanted->patterns.items, wanted->patterns.count};
    film_scrub_counts counts = {0};
    film_output_file file;
    film_status status;

    film_interrupt_delay();
    status = film_output_file_create(&file, path, wanted->force, &reading->error);
    film_interrupt_guard(status == FILM_OK ? file.partial : NULL);
    if (status != FILM_OK) {
        return status;
    }
    status = film_scrub(reading->set.items[0].reader, &options, file.fd, &counts,
                        &reading->error);
    film_interrupt_release();
    if (status == FILM_OK) {
        status = film_output_file_commit(&file, &reading->error);
    }
    film_output_file_discard(&file);
    if (status == FILM_OK) {
        film_reading_clear_progress(reading);
        film_output_display(&reading->output, film_text_of(path));
        FILM_OUTPUT_LITERAL(&reading->output, ": ");
        film_output_count(&reading->output, counts.values, "value");
        FILM_OUTPUT_LITERAL(&reading->output, ", ");
        film_output_count(&reading->output, counts.texts, "text");
        FILM_OUTPUT_LITERAL(&reading->output, " and ");
        film_output_count(&reading->output, counts.sources, "source");
        FILM_OUTPUT_LITERAL(&reading->output, " changed");
        if (counts.unknown > 0) {
            FILM_OUTPUT_LITERAL(&reading->output, "; ");
            film_output_count(&reading->output, counts.unknown, "event");
            FILM_OUTPUT_LITERAL(&reading->output,
                                " of kinds that this version does not know left out");
        }
        film_output_byte(&reading->output, '\n');
    }
    return status;
}

static int
run(const film_command *command, int argc, char **argv)
{
    scrub_options wanted = {0};
    const film_option options[] = {
        {"name", 'n', FILM_OPTION_LIST, "GLOB",
         "Take out values of variables, arguments, attributes, globals, keys and "
         "functions with such a name; may be repeated.",
         &wanted.names, NULL},
        {"pattern", 'p', FILM_OPTION_LIST, "REGEX",
         "Take out what this matches in any text (POSIX extended); may be repeated.",
         &wanted.patterns, NULL},
        {"force", 0, FILM_OPTION_FLAG, NULL, "Replace OUT if it exists.", &wanted.force,
         NULL},
        {0},
    };
    film_reading reading;
    size_t count;
    int code;

    if (film_options_parse(command, options, argc, argv, &count, &code)) {
        code = FILM_EXIT_WRONG;
        if (count != 2) {
            film_command_fail(command, "give the recording and the new one's name");
        }
        else if (film_reading_open(&reading, command, argv + 1, 1)) {
            code = film_reading_close(&reading, scrub_to(&reading, argv[2], &wanted));
        }
    }
    film_free(wanted.names.items);
    film_free(wanted.patterns.items);
    return code;
}

const film_command film_command_scrub = {
    "scrub",
    "removes names or patterns from a recording",
    "IN OUT [--name GLOB]... [--pattern REGEX]... [--force]",
    "Writes the recording again without secrets. With --name it takes out the values "
    "of "
    "variables, arguments, attributes, globals and str keys whose name matches, and "
    "what functions of that name returned. A str of four characters or more that is "
    "found so is taken out wherever else it stands: in values, exception messages, "
    "names, source texts, the program's arguments. With --pattern it takes out what "
    "matches in any of these. Without either, the names of the deny list (password, "
    "token, secret, api_key, ...) count, as when recording.\n"
    "\n"
    "Values taken out read [redacted], source texts keep their length. Calls, lines "
    "and "
    "times stay. IN is not changed; it may be of a program that was killed. OUT is "
    "readable by its owner alone, and passes 'filmstrip check'.",
    "filmstrip scrub train.film share.film\n"
    "filmstrip scrub train.film share.film --name '*customer*' --name email\n"
    "filmstrip scrub train.film share.film --pattern '[0-9]{16}'",
    run,
};
