/* test_queries.c: questions and answers in JSON, and JSON itself.
 * SPDX-License-Identifier: Apache-2.0 */
#include "timeline_films.h"

#include <filmstrip/filmstrip.h>

#include "analysis/query.h"
#include "analysis/timeline.h"
#include "base/alloc.h"
#include "base/json.h"

static bool
answers(const film *opened, const char *request, const char *wanted)
{
    film_buffer answer = {0};
    film_json json = {0};
    bool found;

    CHECK(film_query(opened->timeline, request, strlen(request), &answer) == FILM_OK);
    CHECK(film_json_read(&json, (const char *)answer.data, answer.length, NULL) ==
          FILM_OK);
    film_buffer_put_byte(&answer, 0);
    found = strstr((const char *)answer.data, wanted) != NULL;
    if (!found) {
        fprintf(stderr, "%s: %s\n", request, answer.data);
    }
    film_json_reset(&json);
    film_buffer_reset(&answer);
    return found;
}

TEST(queries_are_answered)
{
    film opened;

    write_long(100);
    opened = open_film();
    CHECK(answers(&opened, "{\"q\": \"open\"}", "\"start\": \"1:0\""));
    CHECK(
        answers(&opened, "{\"q\": \"moment\", \"m\": \"1:3\", \"with\": [\"locals\"]}",
                "\"name\": \"x\", \"scope\": \"local\", \"value\": {\"text\": \"77\""));
    CHECK(answers(&opened, "{\"q\": \"move\", \"m\": \"1:2\", \"how\": \"next\"}",
                  "\"m\": \"1:4\""));
    CHECK(answers(&opened,
                  "{\"q\": \"evaluate\", \"m\": \"1:3\", \"expression\": \"x + 1\"}",
                  "\"text\": \"78\""));
    CHECK(answers(&opened, "{\"q\": \"lines\", \"file\": \"/src/m.py\"}", "[11, 12"));
    CHECK(
        answers(&opened, "{\"q\": \"source\", \"file\": \"/src/m.py\"}", "\"error\""));
    CHECK(answers(&opened, "{\"q\": 1}", "\"misuse\""));
    CHECK(answers(&opened, "{", "\"misuse\""));
    CHECK(answers(&opened, "[1]", "\"misuse\""));
    close_film(&opened);
}

/* Every allocation that can fail does, once. */
TEST(memory_may_run_out)
{
    static const char *const requests[] = {
        "{\"q\": \"moment\", \"m\": \"1:300\", \"with\": [\"locals\"]}",
        ("{\"q\": \"move\", \"m\": \"1:400\", \"how\": \"reverse-continue\", "
         "\"breakpoints\": [{\"kind\": \"line\", \"file\": \"m.py\", \"line\": 12}]}"),
        "{\"q\": \"writes\", \"m\": \"1:300\", \"variable\": \"x\", \"back\": true}",
        "{\"q\": \"evaluate\", \"m\": \"1:3\", \"expression\": \"[x, 'abc', a]\"}",
    };

    write_long(100);
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        for (uint64_t fail = 1; fail < 60; fail++) {
            film opened = open_film();
            film_buffer answer = {0};
            film_alloc_fail_at(fail);
            (void)!film_query(opened.timeline, requests[i], strlen(requests[i]),
                              &answer);
            film_alloc_fail_never();
            film_buffer_reset(&answer);
            film_timeline_close(opened.timeline);
            film_reader_close(opened.reader);
        }
    }
    unlink(path);
}

TEST(json_is_read_strictly)
{
    static const char *const good[] = {"null", " [1, -2.5e3, \"a\\u00e9\\n\", {}, []] ",
                                       "{\"a\": {\"b\": [true, false]}}"};
    static const char *const bad[] = {"",         "[1,]", "{\"a\"}",  "01",    "1.",
                                      "\"\\x\"",  "\"a",  "nul",      "[1 2]", "{1: 2}",
                                      "\"\x01\"", "1 1",  "\"\xff\"", "-",     "+1"};
    film_json json = {0};
    const film_json_node *node;
    char deep[200];

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        CHECK(film_json_read(&json, good[i], strlen(good[i]), NULL) == FILM_OK);
    }
    node = film_json_get(&json, film_json_root(&json), "a");
    node = film_json_get(&json, node, "b");
    CHECK(film_json_is(node, FILM_JSON_ARRAY) && node->count == 2);
    CHECK(film_json_is(film_json_first(&json, node), FILM_JSON_TRUE));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CHECK(film_json_read(&json, bad[i], strlen(bad[i]), NULL) == FILM_MISUSE);
        CHECK(film_json_root(&json) == NULL);
    }
    memset(deep, '[', sizeof(deep));
    CHECK(film_json_read(&json, deep, sizeof(deep), NULL) == FILM_MISUSE);
    film_json_reset(&json);
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {
        TEST_ENTRY(queries_are_answered),
        TEST_ENTRY(memory_may_run_out),
        TEST_ENTRY(json_is_read_strictly),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
