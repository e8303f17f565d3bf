/* test_expressions.c: expressions in the words of the recorded program.
 * SPDX-License-Identifier: Apache-2.0 */
#include "timeline_films.h"

#include "analysis/expression.h"
#include "analysis/timeline.h"

static const char *
evaluate(const film *opened, const char *text)
{
    static char told[300];
    film_expression *tree;
    film_evaluated value;
    film_error error = {0};

    if (film_expression_parse(text, strlen(text), &tree, &error) != FILM_OK) {
        snprintf(told, sizeof(told), "! %s", error.message);
        return told;
    }
    CHECK(film_expression_evaluate(tree, opened->timeline, film_moment_of(1, 3), 0,
                                   &value, &error) == FILM_OK);
    snprintf(told, sizeof(told), "%s%s",
             value.outcome == FILM_EVAL_VALUE     ? ""
             : value.outcome == FILM_EVAL_UNKNOWN ? "? "
                                                  : "x ",
             value.outcome == FILM_EVAL_VALUE ? value.value.text.data : value.why);
    film_expression_free(tree);
    return told;
}

TEST(expressions_mean_what_python_means)
{
    static const char *const cases[][2] = {
        {"a + b * x", "155"},
        {"(a + b) * x", "231"},
        {"-a ** 2", "-1"},
        {"2 ** 3 ** 2", "512"},
        {"7 // -2", "-4"},
        {"-7 % 3", "2"},
        {"7.5 // 2", "3.0"},
        {"1 / 4", "0.25"},
        {"1 < b <= 2 < x", "True"},
        {"1 < b < 2", "False"},
        {"a == 1 and b == 2 or 1 / 0", "True"},
        {"not a", "False"},
        {"0 or 'text'", "'text'"},
        {"[1, 2, 3][-1]", "3"},
        {"[1, 2, 3, 4][1:3]", "[2, 3]"},
        {"'hello'[::-1]", "'olleh'"},
        {"'ell' in 'hello'", "True"},
        {"3 not in (1, 2)", "True"},
        {"{'k': a}['k']", "1"},
        {"len({1: 2, 3: 4})", "2"},
        {"x if a else b", "77"},
        {"type(a) == 'int'", "True"},
        {"type(a) is int", "True"},
        {"a is None", "False"},
        {"(1, 2) < (1, 3)", "True"},
        {"max([1, 5, 3]) + min(4, 2) + sum((1, 2))", "10"},
        {"0x1f + 0b11 + 1_000", "1034"},
        {"1e3", "1000.0"},
        {"'a' 'b' + \"\\x41\"", "'abA'"},
        {"b'ab'[0]", "97"},
        {"1 << 3 | 1", "9"},
        {"~5 & 7", "2"},
        {"abs(-3)", "3"},
        {"()", "()"},
        {"(1,)", "(1,)"},
        {"a, b", "(1, 2)"},
        {"{(1, 2): 'k'}[1, 2]", "'k'"},
        {"{1, 2} == {2, 1}", "True"},
    };
    film opened;

    write_long(0);
    opened = open_film();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *found = evaluate(&opened, cases[i][0]);
        if (strcmp(found, cases[i][1]) != 0) {
            fprintf(stderr, "%s gives %s, not %s\n", cases[i][0], found, cases[i][1]);
            exit(1);
        }
    }
    close_film(&opened);
}

TEST(expressions_say_what_is_wrong)
{
    static const char *const faults[] = {
        "",        "a +",    "(a",       "a)",        "[1, 2",
        "a b",     "1 2",    "f(a)",     "a.b(c)",    "lambda: 1",
        "x = 1",   "a if b", "'open",    "0x",        "1__2x",
        "a[",      "a[]",    "a[1:2,3]", "{1: 2, 3}", "not",
        "a not b", "..a",    "@",        "a; b",      "99999999999999999999",
        "\x01",    "a.",     "{,}",
    };
    static const char *const outcomes[] = {
        "y",      "x.attr",  "a[0]",    "a[1,2]",
        "1 / 0",  "[1][5]",  "{}['k']", "9223372036854775807 + 1",
        "len(5)", "'a' + 1", "1 < 'a'", "zzz"};
    char deep[2 * FILM_EXPRESSION_LENGTH];
    film opened;

    write_long(0);
    opened = open_film();
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        CHECK(evaluate(&opened, faults[i])[0] == '!');
    }
    for (size_t i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++) {
        CHECK(strchr("?x", evaluate(&opened, outcomes[i])[0]) != NULL);
    }
    memset(deep, '(', sizeof(deep) - 1);
    deep[sizeof(deep) - 1] = '\0';
    CHECK(evaluate(&opened, deep)[0] == '!');
    deep[2000] = '\0';
    CHECK(evaluate(&opened, deep)[0] == '!');
    memset(deep, '-', 2000);
    CHECK(evaluate(&opened, deep)[0] == '!');
    close_film(&opened);
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {
        TEST_ENTRY(expressions_mean_what_python_means),
        TEST_ENTRY(expressions_say_what_is_wrong),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
