/* page.c: a command's page for --help, made from its words and its options.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include <stdio.h>
#include <string.h>

#define PAGE_WIDTH 78
#define HELP_COLUMN 28

/* Words of `text` in lines, from column `indent` on; `column` is where we are. */
static void
print_wrapped(const char *text, int indent, int column)
{
    while (*text != '\0') {
        int length = (int)strcspn(text, " ");

        if (column > indent && column + 1 + length > PAGE_WIDTH) {
            printf("\n%*s", indent, "");
            column = indent;
        }
        else if (column > indent) {
            putchar(' ');
            column++;
        }
        printf("%.*s", length, text);
        column += length;
        text += length;
        text += *text == ' ';
    }
    putchar('\n');
}

static void
print_option(const film_option *option)
{
    char head[96];
    char letter[8] = "    ";
    int length;

    if (option->letter != 0) {
        snprintf(letter, sizeof(letter), "-%c, ", option->letter);
    }
    length = snprintf(head, sizeof(head), "  %s--%s%s%s", letter, option->name,
                      option->argument == NULL ? "" : " ",
                      option->argument == NULL ? "" : option->argument);
    printf("%s", head);
    if (length >= HELP_COLUMN) {
        putchar('\n');
        length = 0;
    }
    printf("%*s", HELP_COLUMN - length, "");
    print_wrapped(option->help, HELP_COLUMN, HELP_COLUMN);
}

/* Paragraphs are parted by line breaks; lines that begin with a blank stay as is. */
static void
print_paragraphs(const char *text)
{
    while (*text != '\0') {
        char paragraph[2048];
        size_t length = strcspn(text, "\n");

        snprintf(paragraph, sizeof(paragraph), "%.*s", (int)length, text);
        if (paragraph[0] == ' ') {
            puts(paragraph);
        }
        else {
            print_wrapped(paragraph, 0, 0);
        }
        text += length;
        text += *text == '\n';
    }
}

static void
print_examples(const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");

        printf("  %.*s\n", (int)length, text);
        text += length;
        text += *text == '\n';
    }
}

void
film_options_help(const film_command *command, const film_option *options)
{
    printf("usage: filmstrip %s %s\n\n", command->name, command->usage);
    print_paragraphs(command->description);
    printf("\noptions:\n");
    for (; options->name != NULL; options++) {
        print_option(options);
    }
    printf("  -h, --help%*sthis page\n", HELP_COLUMN - 12, "");
    printf("\nexamples:\n");
    print_examples(command->examples);
    printf("\nexit status: 0 done; 1 the answer is no (damage found, nothing that "
           "matches);\n2 wrong use or bad input.\n");
}
