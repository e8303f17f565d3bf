/* test_dap_fault.c: memory runs out in the middle of a debug session, at every place in
 * turn: no crash, no leak, and what is still said is a message.
 * SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <sys/mman.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/json.h"
#include "dap/dap.h"
#include "dap/transport.h"

/* Beyond the first so many allocations only every so many-th is tried. */
#define EVERY_ONE 400u
#define STRIDE 23u

static const char *const the_sessions[] = {"breakpoints", "state", "steps", "data",
                                           "console"};

static const char the_beginning[] =
    "{\"seq\": 1, \"type\": \"request\", \"command\": \"initialize\"}\n"
    "{\"seq\": 2, \"type\": \"request\", \"command\": \"launch\"}\n"
    "{\"seq\": 3, \"type\": \"request\", \"command\": \"configurationDone\"}\n";

static void
data_path(char *to, size_t room, const char *folder, const char *name)
{
    const char *data = getenv("FILM_TEST_DATA");

    CHECK(data != NULL);
    snprintf(to, room, "%s/fuzz/corpus/%s/%s", data, folder, name);
}

/* A message a line, each behind its header. */
static void
put_messages(int file, const char *text)
{
    while (*text != '\0') {
        int length = (int)strcspn(text, "\n");
        CHECK(dprintf(file, "Content-Length: %d\r\n\r\n%.*s", length, length, text) >
              0);
        text += length;
        text += *text == '\n';
    }
}

static int
open_session(const char *name)
{
    char path[512], text[16384];
    int file = memfd_create("session", MFD_CLOEXEC);
    FILE *seed;
    size_t length;

    CHECK(file >= 0);
    data_path(path, sizeof(path), "fuzz_dap", name);
    seed = fopen(path, "rb");
    CHECK(seed != NULL);
    length = fread(text, 1, sizeof(text) - 1, seed);
    CHECK(length > 0);
    text[length] = '\0';
    fclose(seed);
    put_messages(file, the_beginning);
    put_messages(file, text);
    return file;
}

static void
check_answers(int answers)
{
    film_dap_transport transport = {.in = answers, .out = -1};
    film_json json = {0};
    const char *text;
    size_t length;

    CHECK(lseek(answers, 0, SEEK_SET) == 0);
    while (film_dap_receive(&transport, 0, &text, &length, NULL) == FILM_OK) {
        CHECK(film_json_read(&json, text, length, NULL) == FILM_OK);
    }
    film_json_reset(&json);
    film_dap_transport_reset(&transport);
}

/* The session with allocation `n` and all later ones failing; how many there were. */
static uint64_t
run_session(int session, uint64_t n)
{
    int answers = memfd_create("answers", MFD_CLOEXEC);
    film_dap_options options = {0};
    char path[512];
    uint64_t asked;

    CHECK(answers >= 0);
    CHECK(lseek(session, 0, SEEK_SET) == 0);
    data_path(path, sizeof(path), "fuzz_timeline", "program");
    options.film = path;
    film_alloc_fail_at(n);
    FILM_IGNORE(film_dap_serve(session, answers, &options, NULL)); /* it may fail */
    asked = film_alloc_fail_never();
    check_answers(answers);
    close(answers);
    return asked;
}

TEST(memory_runs_out)
{
    for (size_t i = 0; i < sizeof(the_sessions) / sizeof(the_sessions[0]); i++) {
        int session = open_session(the_sessions[i]);
        uint64_t all = run_session(session, UINT64_MAX);
        CHECK(all > 100);
        for (uint64_t n = 1; n <= all; n += n < EVERY_ONE ? 1 : STRIDE) {
            (void)run_session(session, n);
        }
        close(session);
    }
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {TEST_ENTRY(memory_runs_out)};

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
