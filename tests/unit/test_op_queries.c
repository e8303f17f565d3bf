/* test_op_queries.c: ops as places in time: moves, moments, who made a tensor.
 * SPDX-License-Identifier: Apache-2.0 */
#include "op_films.h"

#include "analysis/query.h"
#include "analysis/timeline.h"
#include "base/alloc.h"

typedef struct opened {
    film_reader *reader;
    film_timeline *timeline;
} opened;

static opened
open_film(void)
{
    opened film = {.reader = open_reader(path)};

    unlink(path);
    CHECK(film_timeline_open(film.reader, &film.timeline, NULL) == FILM_OK);
    return film;
}

static void
close_film(opened *film)
{
    film_timeline_close(film->timeline);
    film_reader_close(film->reader);
}

/* Whether the answer holds each of `wanted`, parted by '|', in this order. */
static void
check_answer(const opened *film, const char *request, const char *wanted)
{
    film_buffer answer = {0};
    const char *at, *end;
    char part[200];

    CHECK(film_query(film->timeline, request, strlen(request), &answer) == FILM_OK);
    film_buffer_put_byte(&answer, 0);
    at = (const char *)answer.data;
    for (; *wanted != '\0'; wanted = *end == '|' ? end + 1 : end) {
        end = wanted + strcspn(wanted, "|");
        snprintf(part, sizeof(part), "%.*s", (int)(end - wanted), wanted);
        at = strstr(at, part);
        if (at == NULL) {
            fprintf(stderr, "%s: no %s in %s\n", request, part,
                    (const char *)answer.data);
            exit(1);
        }
    }
    film_buffer_reset(&answer);
}

/* Events 3 to 12: relu(1) -> 2, view(2) -> 3 in the memory of 2, log_(3) changes it,
 * sum(2) -> 4, x = 4, mm(4) raises. */
static opened
record(void)
{
    op_film film = begin_ops("q");
    uint64_t one = tensor(&film, (op_tensor){.serial = 1, .size = 4}),
             two = tensor(&film, (op_tensor){.serial = 2, .size = 4}),
             view = tensor(&film, (op_tensor){.serial = 3, .size = 4, .storage = 2}),
             log = tensor(
                 &film,
                 (op_tensor){.serial = 3, .size = 4, .storage = 2, .nonfinite = 3}),
             seen = tensor(&film, (op_tensor){.serial = 2, .size = 4, .nonfinite = 3}),
             sum = tensor(&film, (op_tensor){.serial = 4, .size = 1, .nonfinite = 1});

    CHECK_EQUAL(op(&film, (op_call){.function = "torch.relu", .gave = two}, &one, 1),
                3);
    op(&film, (op_call){.function = "torch.view", .gave = view}, &two, 1);
    op(&film, (op_call){.function = "torch.log_", .gave = log, .changed = log}, &view,
       1);
    op(&film,
       (op_call){.function = "torch.sum", .module = "net", .gave = sum, .number = 0.5},
       &seen, 1);
    set_tensor(&film, 2, sum);
    op(&film, (op_call){.function = "torch.mm", .raises = true}, &sum, 1);
    end_ops(&film);
    return open_film();
}

TEST(moves_go_by_ops)
{
    opened film = record();

    check_answer(&film, "{\"q\": \"move\", \"m\": \"1:1\", \"how\": \"op\"}",
                 "\"reason\": \"arrived\"|\"m\": \"1:3\"|\"kind\": \"op\"");
    check_answer(&film,
                 "{\"q\": \"move\", \"m\": \"1:3\", \"how\": \"op\", \"count\": 3}",
                 "\"m\": \"1:9\"|\"function\": \"torch.sum\"");
    check_answer(&film, "{\"q\": \"move\", \"m\": \"1:9\", \"how\": \"back-op\"}",
                 "\"m\": \"1:7\"");
    check_answer(&film, "{\"q\": \"move\", \"m\": \"1:3\", \"how\": \"back-op\"}",
                 "\"reason\": \"start\"");
    check_answer(&film, "{\"q\": \"move\", \"m\": \"1:13\", \"how\": \"op\"}",
                 "\"reason\": \"end\"");
    close_film(&film);
}

TEST(moments_on_ops_tell_them)
{
    opened film = record();

    check_answer(
        &film, "{\"q\": \"moment\", \"m\": \"1:9\"}",
        "\"function\": \"torch.sum\"|\"args\": [|t2: f32[2, 4] cpu|\"tensor\": "
        "{|\"shape\": [2, 4]|\"nonfinite\": 3|\"text\": \"0.5\"|\"module\": "
        "\"net\"");
    check_answer(&film, "{\"q\": \"moment\", \"m\": \"1:8\"}",
                 "\"kind\": \"op_end\"|\"value\": |\"function\": \"torch.log_\"|"
                 "\"changed\": [{|t3: f32[2, 4] cpu");
    check_answer(&film, "{\"q\": \"moment\", \"m\": \"1:13\"}",
                 "\"function\": \"torch.mm\"|\"text\": \"RuntimeError\"");
    close_film(&film);
}

TEST(what_made_a_tensor_is_found)
{
    opened film = record();

    /* sum(2), whose memory log_(3) changed, which view(2) showed. */
    check_answer(
        &film,
        "{\"q\": \"made\", \"m\": \"1:11\", \"expression\": \"x\", "
        "\"depth\": 5}",
        "\"tensor\": {|\"object\": 4|\"made\": {|\"m\": \"1:10\"|\"op\": "
        "\"1:9\"|\"line\": 11|\"name\": \"torch.sum\"|\"module\": \"net\"|"
        "\"object\": 2|\"made\": {|\"torch.log_\"|\"object\": 3|"
        "\"made\": {|\"torch.view\"|\"object\": 2|\"torch.relu\"|\"object\": 1|"
        "no op that is recorded made it");
    check_answer(&film, "{\"q\": \"made\", \"m\": \"1:11\", \"expression\": \"a\"}",
                 "\"misuse\"|it is no tensor");
    check_answer(&film, "{\"q\": \"made\", \"m\": \"1:11\", \"object\": 1}",
                 "\"m\": null|no op that is recorded made it");
    check_answer(&film, "{\"q\": \"made\", \"m\": \"1:3\", \"object\": 77}",
                 "\"misuse\"");
    close_film(&film);
}

/* Every allocation that can fail does, once. */
TEST(memory_may_run_out)
{
    static const char request[] = "{\"q\": \"made\", \"m\": \"1:11\", \"expression\": "
                                  "\"x\", \"depth\": 5}";
    opened film = record();

    for (uint64_t fail = 1; fail < 120; fail++) {
        film_buffer answer = {0};
        film_timeline *timeline = NULL;

        film_alloc_fail_at(fail);
        if (film_timeline_open(film.reader, &timeline, NULL) == FILM_OK) {
            (void)!film_query(timeline, request, sizeof(request) - 1, &answer);
        }
        film_alloc_fail_never();
        film_buffer_reset(&answer);
        film_timeline_close(timeline);
    }
    close_film(&film);
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {
        TEST_ENTRY(moves_go_by_ops),
        TEST_ENTRY(moments_on_ops_tell_them),
        TEST_ENTRY(what_made_a_tensor_is_found),
        TEST_ENTRY(memory_may_run_out),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
