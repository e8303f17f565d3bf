/* reading.c: the frame around every reading command.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/reading.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"

/* Work shorter than this shows no progress line. */
#define PROGRESS_AFTER_NS 1000000000u
#define PROGRESS_EVERY_NS 200000000u

static film_reading *
reading_of(film_progress *progress)
{
    return (film_reading *)(void *)((char *)progress -
                                    offsetof(film_reading, progress));
}

static void
show_progress(film_progress *progress)
{
    film_reading *reading = reading_of(progress);
    uint64_t now_ns = film_clock_monotonic_ns();

    if (now_ns - reading->started_ns < PROGRESS_AFTER_NS ||
        now_ns - reading->shown_ns < PROGRESS_EVERY_NS) {
        return;
    }
    reading->shown_ns = now_ns;
    reading->progress_shown = true;
    fprintf(stderr, "\r%llu million events",
            (unsigned long long)(progress->done / 1000000));
    if (reading->total > 0) {
        uint64_t done =
            progress->done < reading->total ? progress->done : reading->total;
        fprintf(stderr, ", %u %%", (unsigned)(done * 100 / reading->total));
    }
    fprintf(stderr, " \033[K");
    fflush(stderr);
}

void
film_reading_clear_progress(film_reading *reading)
{
    if (reading->progress_shown) {
        fprintf(stderr, "\r\033[K");
        fflush(stderr);
        reading->progress_shown = false;
    }
}

bool
film_reading_wants_color(size_t choice)
{
    const char *refused = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");

    if (choice != 0) {
        return choice == 1;
    }
    return isatty(STDOUT_FILENO) && (refused == NULL || refused[0] == '\0') &&
           (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

static bool
open_all(film_reading *reading, char **words, size_t count)
{
    film_error *error = &reading->error;

    if (!film_paths_expand(words, count, &reading->paths)) {
        (void)film_fail(error, FILM_NO_MEMORY, "not enough memory");
        return false;
    }
    return film_recordings_open(&reading->set, reading->paths.items,
                                reading->paths.count, error) == FILM_OK &&
           film_output_init(&reading->output, STDOUT_FILENO, error) == FILM_OK;
}

bool
film_reading_open(film_reading *reading, const film_command *command, char **paths,
                  size_t count)
{
    memset(reading, 0, sizeof(*reading));
    reading->command = command;
    if (count == 0) {
        film_command_fail(command, "which recording? Usage: filmstrip %s %s",
                          command->name, command->usage);
        return false;
    }
    if (!open_all(reading, paths, count)) {
        film_command_fail(command, "%s", reading->error.message);
        film_recordings_close(&reading->set);
        film_paths_reset(&reading->paths);
        return false;
    }
    reading->started_ns = film_clock_monotonic_ns();
    reading->total = film_recordings_events(&reading->set);
    /* A line that moves is of use only where the output itself does not. */
    if (isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO)) {
        reading->progress.show = show_progress;
        reading->set.progress = &reading->progress;
    }
    return true;
}

bool
film_reading_begin(film_reading *reading, const film_command *command,
                   const film_option *options, int argc, char **argv, size_t most,
                   int *code)
{
    size_t count;

    if (!film_options_parse(command, options, argc, argv, &count, code)) {
        return false;
    }
    *code = FILM_EXIT_WRONG;
    if (count > most) {
        film_command_fail(command, "one recording at a time, not %zu", count);
        return false;
    }
    if (!film_reading_open(reading, command, argv + 1, count)) {
        return false;
    }
    if (reading->set.count > most) { /* a pattern stood for several */
        film_command_fail(command, "one recording at a time, not %zu",
                          reading->set.count);
        (void)film_reading_close(reading, FILM_OK);
        return false;
    }
    return true;
}

/* Damage is told after everything that could be read, one sentence a recording. */
static bool
tell_damage(const film_reading *reading)
{
    bool damaged = false;

    for (size_t i = 0; i < reading->set.count; i++) {
        const film_recording *recording = &reading->set.items[i];
        size_t count = film_reader_damage_count(recording->reader);
        const film_damage *first = film_reader_damage(recording->reader, 0);

        if (count == 1) {
            film_command_fail(reading->command, "%s: %s", recording->path,
                              first->message);
        }
        else if (count > 1) {
            film_command_fail(reading->command,
                              "%s: %s; %zu more places are damaged, 'filmstrip check' "
                              "lists them",
                              recording->path, first->message, count - 1);
        }
        damaged = damaged || count > 0;
    }
    return damaged;
}

static bool
is_damage(film_status status)
{
    return status == FILM_CORRUPT || status == FILM_TRUNCATED;
}

int
film_reading_close(film_reading *reading, film_status status)
{
    int code = FILM_EXIT_DONE;
    film_status flushed;

    film_reading_clear_progress(reading);
    if (status == FILM_OK) {
        flushed = film_output_flush(&reading->output, &reading->error);
        status = flushed == FILM_END ? FILM_OK : flushed;
    }
    else if (status == FILM_END) {
        status = FILM_OK; /* the reader of our output has seen enough */
    }
    else {
        film_output_drain(&reading->output); /* what was read is still of use */
    }
    if (tell_damage(reading)) {
        code = FILM_EXIT_WRONG;
    }
    /* What failed because of damage was told just now, with its place. */
    if (status != FILM_OK && !(code == FILM_EXIT_WRONG && is_damage(status))) {
        code = film_command_fail(reading->command, "%s", reading->error.message);
    }
    film_output_reset(&reading->output);
    film_recordings_close(&reading->set);
    film_paths_reset(&reading->paths);
    return code;
}
