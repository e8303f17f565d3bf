/* options.c: parsing.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

const char *const film_color_choices[] = {"auto", "always", "never", NULL};

static bool
parse_number(const char *text, const char **end, uint64_t *number)
{
    char *stop;

    if (text[0] < '0' || text[0] > '9') {
        return false;
    }
    errno = 0;
    *number = strtoull(text, &stop, 10);
    *end = stop;
    return errno == 0;
}

static bool
parse_range(const char *text, film_option_range *range)
{
    const char *at = text;

    range->first = 0;
    range->end = UINT64_MAX;
    if (*at != ':' && !parse_number(at, &at, &range->first)) {
        return false;
    }
    if (*at == '\0' && at != text) {
        range->end = range->first + 1;
        return true;
    }
    if (*at++ != ':') {
        return false;
    }
    if (*at == '\0') {
        return true;
    }
    return parse_number(at, &at, &range->end) && *at == '\0';
}

static bool
parse_time(const char *text, film_option_time *time)
{
    time->is_given = film_time_text_read(text, &time->told);
    return time->is_given;
}

uint64_t
film_option_last_ns(const film_option_time *time, uint64_t whole_ns)
{
    return time->told.is_share ? film_option_time_ns(time, whole_ns)
                               : time->told.last_ns;
}

uint64_t
film_option_time_ns(const film_option_time *time, uint64_t whole_ns)
{
    double part = time->told.share * (double)whole_ns;

    if (!time->told.is_share) {
        return time->told.time_ns;
    }
    return part < 1.8e19 ? (uint64_t)part : UINT64_MAX;
}

static bool
parse_choice(const film_option *option, const char *text)
{
    for (size_t i = 0; option->choices[i] != NULL; i++) {
        if (strcmp(option->choices[i], text) == 0) {
            *(size_t *)option->target = i;
            return true;
        }
    }
    return false;
}

static bool
append(film_option_list *list, char *text, int argc)
{
    if (list->items == NULL) {
        list->items = film_alloc_array((size_t)argc, sizeof(*list->items));
        if (list->items == NULL) {
            return false;
        }
    }
    list->items[list->count++] = text;
    return true;
}

/* Stores a value; false when it is not of the option's type. */
static bool
store(const film_option *option, char *text, int argc)
{
    const char *end;

    switch (option->type) {
    case FILM_OPTION_FLAG:
        *(bool *)option->target = true;
        return true;
    case FILM_OPTION_TEXT:
        *(const char **)option->target = text;
        return true;
    case FILM_OPTION_LIST:
        return append(option->target, text, argc);
    case FILM_OPTION_NUMBER:
        return parse_number(text, &end, option->target) && *end == '\0';
    case FILM_OPTION_CHOICE:
        return parse_choice(option, text);
    case FILM_OPTION_RANGE:
        return parse_range(text, option->target);
    case FILM_OPTION_TIME:
        return parse_time(text, option->target);
    }
    return false;
}

static void
complain_value(const film_command *command, const film_option *option, const char *text)
{
    char allowed[256] = "";

    switch (option->type) {
    case FILM_OPTION_CHOICE:
        for (size_t i = 0; option->choices[i] != NULL; i++) {
            size_t used = strlen(allowed);
            strncat(allowed, i > 0 ? ", " : "", sizeof(allowed) - used - 1);
            strncat(allowed, option->choices[i], sizeof(allowed) - used - 3);
        }
        film_command_fail(command, "--%s takes one of %s, not '%s'", option->name,
                          allowed, text);
        break;
    case FILM_OPTION_NUMBER:
        film_command_fail(command, "--%s takes a number, not '%s'", option->name, text);
        break;
    case FILM_OPTION_RANGE:
        film_command_fail(command,
                          "--%s takes two event numbers like 100:200, not '%s'",
                          option->name, text);
        break;
    case FILM_OPTION_TIME:
        film_command_fail(command,
                          "--%s takes a time like 1.5s, 20ms or 50%%, not '%s'",
                          option->name, text);
        break;
    case FILM_OPTION_FLAG:
    case FILM_OPTION_TEXT:
    case FILM_OPTION_LIST:
        film_command_fail(command, "--%s: not enough memory", option->name);
        break;
    }
}

static void
complain_name(const film_command *command, const film_option *options,
              const char *typed)
{
    const char *names[64] = {"help"};
    size_t count = 1;
    const char *meant;

    for (; options->name != NULL && count < 63; options++) {
        names[count++] = options->name;
    }
    names[count] = NULL;
    meant = film_command_suggest(typed + strspn(typed, "-"), names);
    if (meant != NULL) {
        film_command_fail(command, "there is no option %s; did you mean --%s?", typed,
                          meant);
    }
    else {
        film_command_fail(command,
                          "there is no option %s; 'filmstrip %s --help' lists them all",
                          typed, command->name);
    }
}

typedef struct parser {
    const film_command *command;
    const film_option *options;
    char **argv;
    int argc, at;
} parser;

static bool
take(parser *from, const film_option *option, char *text)
{
    if (!store(option, text, from->argc)) {
        complain_value(from->command, option, text);
        return false;
    }
    return true;
}

/* The value of an option is the next argument. */
static bool
take_next(parser *from, const film_option *option)
{
    if (from->at + 1 >= from->argc) {
        film_command_fail(from->command, "--%s needs %s after it", option->name,
                          option->argument);
        return false;
    }
    return take(from, option, from->argv[++from->at]);
}

/* --name, --name=VALUE, --name VALUE */
static bool
parse_long(parser *from)
{
    char *typed = from->argv[from->at];
    char *equals = strchr(typed, '=');
    size_t length = equals == NULL ? strlen(typed + 2) : (size_t)(equals - typed - 2);

    for (const film_option *option = from->options; option->name != NULL; option++) {
        if (strlen(option->name) != length ||
            memcmp(option->name, typed + 2, length) != 0) {
            continue;
        }
        if (option->type != FILM_OPTION_FLAG) {
            return equals == NULL ? take_next(from, option)
                                  : take(from, option, equals + 1);
        }
        if (equals != NULL) {
            film_command_fail(from->command, "--%s takes no value", option->name);
            return false;
        }
        return take(from, option, NULL);
    }
    if (equals != NULL) {
        *equals = '\0';
    }
    complain_name(from->command, from->options, typed);
    return false;
}

static const film_option *
find_letter(const film_option *options, char letter)
{
    for (; options->name != NULL; options++) {
        if (options->letter == letter) {
            return options;
        }
    }
    return NULL;
}

/* -a, -ab, -nVALUE, -n VALUE */
static bool
parse_short(parser *from)
{
    char *typed = from->argv[from->at];

    for (char *letter = typed + 1; *letter != '\0'; letter++) {
        const film_option *option = find_letter(from->options, *letter);

        if (option == NULL) {
            char name[] = {'-', *letter, '\0'};
            complain_name(from->command, from->options, name);
            return false;
        }
        if (option->type != FILM_OPTION_FLAG) {
            return letter[1] != '\0' ? take(from, option, letter + 1)
                                     : take_next(from, option);
        }
        if (!take(from, option, NULL)) {
            return false;
        }
    }
    return true;
}

bool
film_options_parse(const film_command *command, const film_option *options, int argc,
                   char **argv, size_t *count, int *code)
{
    parser from = {command, options, argv, argc, 1};
    bool only_names = false;

    *count = 0;
    for (; from.at < argc; from.at++) {
        char *typed = argv[from.at];

        if (only_names || typed[0] != '-' || typed[1] == '\0') {
            argv[1 + (*count)++] = typed;
        }
        else if (strcmp(typed, "--") == 0) {
            only_names = true;
        }
        else if (strcmp(typed, "--help") == 0 || strcmp(typed, "-h") == 0) {
            film_options_help(command, options);
            *code = FILM_EXIT_DONE;
            return false;
        }
        else if (!(typed[1] == '-' ? parse_long(&from) : parse_short(&from))) {
            *code = FILM_EXIT_WRONG;
            return false;
        }
    }
    return true;
}
