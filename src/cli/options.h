/* options.h: a small declarative parser of long and short options.
 * `--name VALUE`, `--name=VALUE`, `-n VALUE`, `-nVALUE`, `-ab`, repeated options, and
 * `--` before names that begin with a dash. --help prints the command's page from the
 * same table.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_OPTIONS_H
#define FILMSTRIP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time_text.h"
#include "cli/command.h"

typedef enum film_option_type {
    FILM_OPTION_FLAG,   /* bool */
    FILM_OPTION_TEXT,   /* const char * */
    FILM_OPTION_LIST,   /* film_option_list; may be given again */
    FILM_OPTION_NUMBER, /* uint64_t */
    FILM_OPTION_CHOICE, /* size_t: place in `choices` */
    FILM_OPTION_RANGE,  /* film_option_range: A:B, A:, :B or A */
    FILM_OPTION_TIME    /* film_option_time: 1.5s, 20ms, 300us, 50ns, 50% */
} film_option_type;

typedef struct film_option_list {
    char **items; /* owned; the texts are argv's */
    size_t count;
} film_option_list;

typedef struct film_option_range {
    uint64_t first, end; /* end is one past the last */
} film_option_range;

typedef struct film_option_time {
    film_time_text told;
    bool is_given;
} film_option_time;

typedef struct film_option {
    const char *name; /* without dashes; NULL ends a table */
    char letter;      /* 0: none */
    film_option_type type;
    const char *argument; /* what --help calls the value */
    const char *help;
    void *target;               /* of the type's C type */
    const char *const *choices; /* ended by NULL */
} film_option;

/* Reads argv[1] on. What is no option is moved to the front of argv + 1, in order;
 * *count says how many. Lists are the caller's to free. False: the command is over,
 * *code is its exit code (--help was printed, or a sentence about what is wrong). */
bool
film_options_parse(const film_command *command, const film_option *options, int argc,
                   char **argv, size_t *count, int *code);

/* The command's page. */
void
film_options_help(const film_command *command, const film_option *options);

/* The time in a whole of `whole_ns`. */
uint64_t
film_option_time_ns(const film_option_time *time, uint64_t whole_ns);

/* The last instant that is meant: a time as it is printed, to the microsecond, stands
 * for all of that. */
uint64_t
film_option_last_ns(const film_option_time *time, uint64_t whole_ns);

extern const char *const film_color_choices[]; /* auto, always, never */

#endif
