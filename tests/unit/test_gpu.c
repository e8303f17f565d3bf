/* test_gpu.c: work of a GPU from CUPTI's buffers into a recording, with a double of CUPTI.
 * SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "cupti_double.h"
#include "files.h"
#include "films.h"

#include <dlfcn.h>

#include "base/alloc.h"
#include "format/token.h"
#include "recorder/torch/cupti_records.h"
#include "recorder/torch/gpu.h"

#define PATH 300
#define EVENTS 64

static char sentence[FILM_CUPTI_SENTENCE];

static cupti_double *
the_double(void)
{
    void *library = dlopen(getenv("FILM_CUPTI_DOUBLE"), RTLD_NOW | RTLD_LOCAL);
    cupti_double *found;

    CHECK(library != NULL);
    found = dlsym(library, "the_cupti_double");
    CHECK(found != NULL);
    return found;
}

static film_cupti_options
options(void)
{
    return (film_cupti_options){.library = getenv("FILM_CUPTI_DOUBLE")};
}

static film_writer *
open_writer(char *path, const char *name)
{
    film_writer_options how = {.path = path, .level = 2};
    film_writer *writer = NULL;
    film_error error = {0};

    temporary_path(path, PATH, name);
    CHECK(film_writer_open(&how, &writer, &error) == FILM_OK);
    return writer;
}

static void
close_writer(film_writer *writer)
{
    film_error error = {0};

    CHECK(film_writer_close(writer, NULL, 0, &error) == FILM_OK);
}

static void
begin(film_writer *writer)
{
    film_cupti_options how = options();

    if (!film_gpu_begin(writer, &how, sentence)) {
        fprintf(stderr, "%s\n", sentence);
        CHECK(false);
    }
}

/* An op of the main thread's that makes one call of CUDA's; its event's number. */
static uint64_t
run_op(film_writer *writer, film_thread *thread, uint32_t correlation)
{
    cupti_double *cupti = the_double();
    uint64_t event = thread->events;
    film_op_row op = {.function = string(writer, "torch.mm"), .offset = FILM_NO_OFFSET};
    bool entered = film_gpu_enter(thread);

    CHECK(entered && film_append_op(thread, &op));
    cupti->call(correlation);
    film_gpu_leave();
    CHECK(film_append_op_end(thread, 1, 0, 0, 0));
    return event;
}

/* --- reading ------------------------------------------------------------------------- */

typedef struct told {
    uint8_t kind, form;
    char function[200], names[64];
    uint64_t time_ns, op, count;
    int64_t values[8];
    uint32_t value_count;
} told;

/* All events of a thread; returns how many. */
static size_t
read_thread(film_reader *reader, uint32_t thread, told *events)
{
    film_cursor *cursor = NULL;
    const film_event *event;
    film_error error = {0};
    size_t count = 0;

    CHECK(film_cursor_open(reader, thread, 0, &cursor, &error) == FILM_OK);
    while (film_cursor_next(cursor, &event, &error) == FILM_OK) {
        told *to = &events[count++];
        film_text text = film_reader_string(reader, event->text);
        film_input input = film_input_of(event->tokens, event->tokens_length);
        CHECK(count <= EVENTS);
        memset(to, 0, sizeof(*to));
        to->kind = event->kind;
        to->form = event->form;
        to->time_ns = event->time_ns;
        to->op = event->op;
        to->count = event->count;
        snprintf(to->function, sizeof(to->function), "%.*s", (int)text.length,
                 text.data);
        text = film_reader_string(reader, event->name);
        snprintf(to->names, sizeof(to->names), "%.*s", (int)text.length, text.data);
        for (uint32_t i = 0; i < event->token_count; i++) {
            film_token token = film_token_decode(&input);
            CHECK(!input.failed && to->value_count < 8);
            to->values[to->value_count++] = token.integer;
        }
    }
    film_cursor_close(cursor);
    return count;
}

static bool
is_named(film_reader *reader, size_t index, const char *name)
{
    const film_thread_info *thread = film_reader_thread(reader, index);

    return thread != NULL && thread->name.length == strlen(name) &&
           memcmp(thread->name.data, name, strlen(name)) == 0;
}

static bool
near(uint64_t left, uint64_t right)
{
    return (left > right ? left - right : right - left) < 50000;
}

/* --- tests ------------------------------------------------------------------------------ */

/* Times, names, values and the tie to the op, through the file. */
TEST(kernels_and_copies_are_read_back)
{
    char path[PATH];
    cupti_double *cupti = the_double();
    film_writer *writer = open_writer(path, "gpu");
    film_thread *thread = film_writer_thread_begin(writer, "main", 1);
    told events[EVENTS];
    film_reader *reader;
    uint64_t base, after, first, second;

    cupti->clock_ahead = UINT64_C(1700000000000000000);
    begin(writer);
    base = film_clock_monotonic_ns() + cupti->clock_ahead;
    first = run_op(writer, thread, 7);
    after = film_clock_monotonic_ns() + cupti->clock_ahead;
    second = run_op(writer, thread, 8);
    cupti->deliver_calls();
    cupti->kernel("_ZN2at6native4copyEv", 0, 7, base + 1000000, base + 1500000, 7, 0,
                  0);
    cupti->copy(1, 4096, 7, base + 1600000, base + 1650000, 8);
    cupti->set(512, 7, base + 1700000, base + 1701000, 9);
    cupti->kernel("plain", 1, 13, base + 2000000, base + 2500000, 8, 3, 44);
    cupti->deliver_work();
    CHECK(film_cupti_ready() >= 3 && !film_gpu_is_due());
    film_gpu_write();
    film_gpu_end();
    CHECK(cupti->buffers_out == 0 && cupti->subscriptions == 0);
    close_writer(writer);

    reader = open_reader(path);
    CHECK_EQUAL(film_reader_thread_count(reader), 3);
    CHECK(is_named(reader, 1, "cuda:0 stream 7"));
    CHECK(is_named(reader, 2, "cuda:1 stream 13"));
    CHECK_EQUAL(read_thread(reader, 2, events), 8);
    CHECK(events[0].kind == FILM_KIND_THREAD_START &&
          events[7].kind == FILM_KIND_THREAD_END);
    CHECK(events[1].kind == FILM_KIND_OP && events[2].kind == FILM_KIND_OP_END);
    CHECK(strstr(events[1].function, "copy") != NULL);
    CHECK(events[1].form == 0 && events[2].form == FILM_OPERATION_DEVICE);
    CHECK(strcmp(events[1].names, "thread,event") == 0 && events[1].value_count == 2);
    CHECK(events[1].values[0] == 1 && (uint64_t)events[1].values[1] == first);
    CHECK(near(events[2].time_ns - events[1].time_ns, 500000));
    CHECK_EQUAL(events[2].op, 1);
    CHECK(strcmp(events[3].function, "Memcpy HtoD") == 0);
    CHECK(strcmp(events[3].names, "thread,event,bytes") == 0);
    CHECK((uint64_t)events[3].values[1] == second && events[3].values[2] == 4096);
    CHECK(near(events[3].time_ns - events[1].time_ns, 600000));
    CHECK(strcmp(events[5].function, "Memset") == 0); /* no op led to it */
    CHECK(strcmp(events[5].names, "bytes") == 0 && events[5].values[0] == 512);
    CHECK_EQUAL(read_thread(reader, 3, events), 4);
    CHECK(strcmp(events[1].names, "thread,event,graph,node") == 0);
    CHECK(events[1].values[2] == 3 && events[1].values[3] == 44);
    /* The op began before its kernel, by one clock. */
    told ops[EVENTS];
    CHECK(read_thread(reader, 1, ops) > 2);
    CHECK_EQUAL(ops[first].kind, FILM_KIND_OP);
    CHECK(ops[first].time_ns + 2000000 + 50000 > events[1].time_ns &&
          ops[first].time_ns + 2000000 < events[1].time_ns + (after - base) + 50000);
    film_reader_close(reader);
    unlink(path);
}

/* Work that comes before the calls it is of waits for them, and not for ever. */
TEST(work_may_come_before_its_call)
{
    char path[PATH];
    cupti_double *cupti = the_double();
    film_writer *writer = open_writer(path, "gpu_late");
    film_thread *thread = film_writer_thread_begin(writer, "main", 1);
    film_cupti_counts counts;
    uint64_t now;

    begin(writer);
    now = film_clock_monotonic_ns();
    (void)run_op(writer, thread, 70);
    cupti->kernel("early", 0, 7, now, now + 10, 70, 0, 0);
    cupti->kernel("nobody's", 0, 7, now + 20, now + 30, 71, 0, 0);
    cupti->deliver_work();
    CHECK_EQUAL(film_cupti_ready(), 0);
    cupti->deliver_calls();
    CHECK_EQUAL(film_cupti_ready(), 1);
    for (int i = 0; i < 5; i++) {
        cupti->call(100);
        cupti->deliver_calls();
    }
    CHECK_EQUAL(film_cupti_ready(), 2);
    film_cupti_get_counts(&counts);
    CHECK(counts.records == 2 && counts.linked == 1 && counts.lost == 0);
    film_gpu_end();
    CHECK_EQUAL(film_cupti_ready(), 0);
    close_writer(writer);
    unlink(path);
}

/* Rows of a track are one behind the other: what runs beside it gets another. */
TEST(work_at_the_same_time_has_tracks_of_its_own)
{
    char path[PATH];
    cupti_double *cupti = the_double();
    film_writer *writer = open_writer(path, "gpu_beside");
    told events[EVENTS];
    film_reader *reader;
    uint64_t now, last = 0;

    begin(writer);
    now = film_clock_monotonic_ns();
    cupti->kernel("b", 0, 7, now + 500000, now + 900000, 2, 1, 2);
    cupti->kernel("a", 0, 7, now, now + 1000000, 1, 1, 1);
    cupti->kernel("c", 0, 7, now + 2000000, now + 3000000, 3, 1, 3);
    cupti->kernel("unfinished", 0, 7, 0, 0, 4, 1, 3);
    film_gpu_end();
    close_writer(writer);
    reader = open_reader(path);
    CHECK_EQUAL(film_reader_thread_count(reader), 2);
    CHECK(is_named(reader, 0, "cuda:0 stream 7"));
    CHECK(is_named(reader, 1, "cuda:0 stream 7 (2)"));
    CHECK_EQUAL(read_thread(reader, 1, events), 7);
    CHECK(strcmp(events[1].function, "a") == 0 && strcmp(events[3].function, "c") == 0);
    CHECK(events[5].kind == FILM_KIND_LOST && events[5].count == 1);
    for (size_t i = 0; i < 7; i++) {
        CHECK(events[i].time_ns >= last);
        last = events[i].time_ns;
    }
    CHECK_EQUAL(read_thread(reader, 2, events), 4);
    CHECK(strcmp(events[1].function, "b") == 0);
    film_reader_close(reader);
    unlink(path);
}

/* Many of them, in several batches, and buffers that fill up. */
TEST(many_records)
{
    char path[PATH];
    cupti_double *cupti = the_double();
    film_writer *writer = open_writer(path, "gpu_many");
    film_thread *thread = film_writer_thread_begin(writer, "main", 1);
    film_reader *reader;
    film_cupti_counts counts;
    uint64_t ops = 0, linked = 0;
    static char names[50][16]; /* CUPTI's live as long as the kernels */
    const film_event *event;
    film_cursor *cursor = NULL;
    film_error error = {0};

    begin(writer);
    for (uint32_t i = 1; i <= 40000; i++) {
        uint64_t start = film_clock_monotonic_ns();
        char *name = names[i % 50];
        snprintf(name, sizeof(names[0]), "kernel_%u", i % 50);
        (void)run_op(writer, thread, i);
        cupti->kernel(name, 0, 7, start, start + 100, i, 0, 0);
        if (film_gpu_is_due()) {
            film_gpu_write();
        }
    }
    film_gpu_write();
    film_cupti_get_counts(&counts);
    film_gpu_end();
    close_writer(writer);
    CHECK(counts.records > 30000 && counts.lost == 0);
    reader = open_reader(path);
    CHECK(film_reader_thread_count(reader) >= 2);
    for (uint32_t id = 2; id <= film_reader_thread_count(reader); id++) {
        CHECK(film_cursor_open(reader, id, 0, &cursor, &error) == FILM_OK);
        while (film_cursor_next(cursor, &event, &error) == FILM_OK) {
            ops += event->kind == FILM_KIND_OP;
            linked += event->kind == FILM_KIND_OP && event->token_count == 2;
        }
        film_cursor_close(cursor);
    }
    CHECK_EQUAL(ops, 40000);
    CHECK_EQUAL(linked, 40000);
    film_reader_close(reader);
    unlink(path);
}

static void
check_refused(const char *reason)
{
    char path[PATH];
    film_writer *writer = open_writer(path, "gpu_refused");
    film_cupti_options how = options();

    sentence[0] = 0;
    CHECK(!film_gpu_begin(writer, &how, sentence));
    if (strstr(sentence, reason) == NULL) {
        fprintf(stderr, "%s\n", sentence);
        CHECK(false);
    }
    CHECK(!film_cupti_push(1));
    film_gpu_write();
    film_gpu_end();
    close_writer(writer);
    unlink(path);
}

TEST(one_sentence_says_why_not)
{
    cupti_double *cupti = the_double();
    cupti_double before = *cupti;
    film_cupti_options nowhere = {.packages = "/nowhere"};

    cupti->version = 17;
    check_refused("version 17");
    cupti->version = 140000;
    check_refused("version 140000");
    *cupti = before;
    cupti->kernel_bytes = 152;
    check_refused("not as expected");
    *cupti = before;
    cupti->subscribe_result = 39;
    check_refused("another profiler");
    *cupti = before;
    cupti->enable_result = 35;
    check_refused("INSUFFICIENT_PRIVILEGES");
    CHECK(!cupti->enabled[10] && !cupti->enabled[39]);
    CHECK(!film_cupti_begin(&nowhere, sentence));
    CHECK(strstr(sentence, "no CUPTI") != NULL);
}

/* torch.profiler takes CUPTI while we trace: what it enabled is left alone. */
TEST(who_comes_later_keeps_what_it_has)
{
    char path[PATH];
    cupti_double *cupti = the_double();
    film_writer *writer = open_writer(path, "gpu_later");
    int disables;

    begin(writer);
    CHECK(cupti->enabled[10] && cupti->enabled[39]);
    disables = cupti->disables;
    cupti->subscribe_result = 39;
    film_gpu_end();
    CHECK(cupti->enabled[10] && cupti->disables == disables);
    close_writer(writer);
    unlink(path);
}

TEST(only_calls_that_start_work_are_watched)
{
    char path[PATH];
    cupti_double *cupti = the_double();
    film_writer *writer = open_writer(path, "gpu_calls");
    film_thread *thread = film_writer_thread_begin(writer, "main", 1);
    film_cupti_counts counts;

    begin(writer);
    /* The runtime's calls, but for those that start nothing; none of the driver's. */
    CHECK(cupti->enabled[5] && cupti->silent_runtime_calls > 0);
    CHECK(!cupti->enabled[4] && cupti->silent_driver_calls == 0);
    cupti->only_driver = true;
    for (uint32_t i = 1; i <= 300; i++) {
        uint64_t now = film_clock_monotonic_ns();
        (void)run_op(writer, thread, i);
        cupti->kernel("k", 0, 7, now, now + 5, i, 0, 0);
        if (i % 100 == 0) {
            cupti->deliver_calls();
            cupti->deliver_work();
            film_gpu_write();
        }
    }
    CHECK(cupti->enabled[4] && cupti->silent_driver_calls > 0);
    film_cupti_get_counts(&counts);
    CHECK(counts.linked >= 100);
    film_gpu_end();
    CHECK(!cupti->enabled[4] && !cupti->enabled[5]);
    close_writer(writer);
    unlink(path);
}

/* A second recording has nothing of the first: no ids, no names, no records. */
TEST(one_recording_after_the_other)
{
    cupti_double *cupti = the_double();
    told events[EVENTS];

    for (int turn = 0; turn < 3; turn++) {
        char path[PATH];
        film_writer *writer = open_writer(path, "gpu_again");
        film_thread *thread = film_writer_thread_begin(writer, "main", 1);
        film_reader *reader;
        uint64_t now = film_clock_monotonic_ns();
        begin(writer);
        if (turn < 2) {
            CHECK(film_gpu_enter(thread)); /* an op that has not ended */
        }
        cupti->call(5);
        cupti->deliver_calls();
        cupti->kernel(turn == 0 ? "zero" : "later", 0, 7, now, now + 5, 5, 0, 0);
        if (turn == 1) {
            film_gpu_leave(); /* that of the first recording stays: it is nobody's now */
        }
        film_gpu_end();
        close_writer(writer);
        reader = open_reader(path);
        CHECK_EQUAL(read_thread(reader, 2, events), 4);
        CHECK(strcmp(events[1].function, turn == 0 ? "zero" : "later") == 0);
        CHECK_EQUAL(events[1].value_count, turn < 2 ? 2 : 0);
        film_reader_close(reader);
        unlink(path);
    }
}

TEST(a_forked_child_knows_nothing)
{
    char path[PATH];
    cupti_double *cupti = the_double();
    film_writer *writer = open_writer(path, "gpu_fork");
    int status;
    pid_t child;

    begin(writer);
    cupti->kernel("k", 0, 7, 1000, 2000, 1, 0, 0);
    cupti->deliver_work();
    child = fork();
    if (child == 0) {
        film_gpu_forget();
        film_gpu_write();
        film_gpu_end();
        film_gpu_leave();
        _exit(film_cupti_push(1) || film_cupti_ready() != 0);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    film_gpu_end();
    close_writer(writer);
    unlink(path);
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {
        TEST_ENTRY(kernels_and_copies_are_read_back),
        TEST_ENTRY(work_may_come_before_its_call),
        TEST_ENTRY(work_at_the_same_time_has_tracks_of_its_own),
        TEST_ENTRY(many_records),
        TEST_ENTRY(one_sentence_says_why_not),
        TEST_ENTRY(who_comes_later_keeps_what_it_has),
        TEST_ENTRY(only_calls_that_start_work_are_watched),
        TEST_ENTRY(one_recording_after_the_other),
        TEST_ENTRY(a_forked_child_knows_nothing),
    };

    return run_tests(tests, sizeof(tests) / sizeof(*tests), argc, argv);
}
