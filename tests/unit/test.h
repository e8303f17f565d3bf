/* test.h: plain C tests. Each test runs in a child process, so a crash or a hang is one
 * failure, not the end. A file lists its tests:
 *
 *   TEST(adds) { CHECK(1 + 1 == 2); }
 *   TESTS(adds, ...)
 *
 * With arguments the program runs the tests named, in its own process (for gdb).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_TEST_H
#define FILMSTRIP_TEST_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct film_test {
    const char *name;
    void (*run)(void);
} film_test;

/* Holds with NDEBUG too. */
#define CHECK(expression)                                                              \
    do {                                                                               \
        if (!(expression)) {                                                           \
            fprintf(stderr, "%s:%d: CHECK failed: %s\n", __FILE__, __LINE__,           \
                    #expression);                                                      \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

#define CHECK_EQUAL(left, right)                                                       \
    do {                                                                               \
        unsigned long long film_left = (unsigned long long)(left);                     \
        unsigned long long film_right = (unsigned long long)(right);                   \
        if (film_left != film_right) {                                                 \
            fprintf(stderr, "%s:%d: CHECK failed: %s is %llu, %s is %llu\n", __FILE__, \
                    __LINE__, #left, film_left, #right, film_right);                   \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

#define TEST(name) static void test_##name(void)

#define TEST_SECONDS 120

static inline bool
run_test_in_child(const film_test *test)
{
    int status = 0;
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0) {
        alarm(TEST_SECONDS);
        test->run();
        exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        return false;
    }
    if (WIFSIGNALED(status)) {
        fprintf(stderr, "%s: ended by signal %d\n", test->name, WTERMSIG(status));
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static inline int
run_tests(const film_test *tests, size_t count, int argc, char **argv)
{
    int passed = 0, failed = 0;

    for (size_t i = 0; i < count; i++) {
        bool chosen = argc < 2;
        for (int a = 1; a < argc; a++) {
            if (strcmp(argv[a], tests[i].name) == 0) {
                tests[i].run();
                passed++;
            }
        }
        if (chosen) {
            bool good = run_test_in_child(&tests[i]);
            passed += good;
            failed += !good;
            printf("%s %s\n", good ? "ok  " : "FAIL", tests[i].name);
        }
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}

#define TEST_ENTRY(name) {#name, test_##name}

#endif
