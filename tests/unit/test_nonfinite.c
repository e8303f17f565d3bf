/* test_nonfinite.c: the first op whose result is not finite, and what leads there and on.
 * SPDX-License-Identifier: Apache-2.0 */
#include "op_films.h"

#include <math.h>

#include "analysis/ops/nonfinite.h"
#include "analysis/ops/op_graph.h"
#include "analysis/ops/op_item.h"

typedef struct opened {
    film_recordings set;
    film_reader *reader;
} opened;

static opened
open_film(void)
{
    char *paths[] = {path};
    opened film;

    CHECK(film_recordings_open(&film.set, paths, 1, NULL) == FILM_OK);
    film.reader = film.set.items[0].reader;
    if (getenv("KEEP") == NULL) {
        unlink(path);
    }
    return film;
}

static film_nonfinite
find(const opened *film, char *ignored, uint64_t from)
{
    const film_nonfinite_options options = {
        .ignored = &ignored, .ignored_count = ignored != NULL, .from = from};
    film_nonfinite found;

    CHECK(film_nonfinite_find(&film->set, 0, &options, &found, NULL) == FILM_OK);
    return found;
}

/* relu(1) -> 2, log(2) -> 3 which is not finite, sum(3) -> 4, nan_to_num(3) -> 5,
 * relu(5) -> 6; x = 4. */
typedef struct spread {
    uint64_t relu, log, sum, mended, last;
} spread;

static spread
write_spread(void)
{
    op_film film = begin_ops("a");
    uint64_t one = tensor(&film, (op_tensor){.serial = 1, .size = 4}),
             two = tensor(&film, (op_tensor){.serial = 2, .size = 4}),
             three = tensor(&film, (op_tensor){.serial = 3, .size = 4, .nonfinite = 3}),
             four = tensor(&film, (op_tensor){.serial = 4, .size = 1, .nonfinite = 1}),
             five = tensor(&film, (op_tensor){.serial = 5, .size = 4}),
             six = tensor(&film, (op_tensor){.serial = 6, .size = 4});
    spread told;

    set_tensor(&film, 2, one);
    told.relu = op(&film, (op_call){.function = "torch.relu", .gave = two}, &one, 1);
    told.log =
        op(&film, (op_call){.function = "torch.log", .module = "net.a", .gave = three},
           &two, 1);
    told.sum = op(&film, (op_call){.function = "torch.sum", .gave = four}, &three, 1);
    set_tensor(&film, 2, four);
    told.mended =
        op(&film, (op_call){.function = "torch.nan_to_num", .gave = five}, &three, 1);
    told.last = op(&film, (op_call){.function = "torch.relu", .gave = six}, &five, 1);
    end_ops(&film);
    return told;
}

TEST(the_first_is_found)
{
    spread told = write_spread();
    opened film = open_film();
    film_nonfinite found = find(&film, NULL, 0);
    film_op_item op = {0}, end = {0};

    CHECK(found.found);
    CHECK_EQUAL(found.op, told.log);
    CHECK_EQUAL(found.ops, 2);
    CHECK(film_op_item_find(film.reader, 1, found.op, &op, &end, NULL) == FILM_OK);
    CHECK(strcmp(op.function.data, "torch.log") == 0);
    CHECK(strcmp(op.module.data, "net.a") == 0);
    CHECK_EQUAL(op.line, 11);
    CHECK_EQUAL(op.tensor_count, 1);
    CHECK(op.values[0].is_tensor);
    CHECK_EQUAL(op.tensors[0].summary.nonfinite, 0);
    CHECK_EQUAL(end.tensors[0].summary.nonfinite, 3);
    CHECK_EQUAL(end.tensors[0].elements, 8);
    CHECK(film_op_item_find(film.reader, 1, found.op + 1, &op, &end, NULL) == FILM_END);
    film_op_item_reset(&op);
    film_op_item_reset(&end);
    film_recordings_close(&film.set);
}

TEST(what_is_ignored_does_not_count)
{
    static char log[] = "log", full[] = "torch.l*g", none[] = "tan*";
    spread told = write_spread();
    opened film = open_film();

    CHECK_EQUAL(find(&film, log, 0).op, told.sum);
    CHECK_EQUAL(find(&film, log, 0).left_out, 1);
    CHECK_EQUAL(find(&film, full, 0).op, told.sum);
    CHECK_EQUAL(find(&film, none, 0).op, told.log);
    CHECK_EQUAL(find(&film, NULL, told.log + 1).op, told.sum);
    CHECK(!find(&film, NULL, told.sum + 1).found);
    film_recordings_close(&film.set);
}

TEST(the_graph_leads_back_and_on)
{
    spread told = write_spread();
    opened film = open_film();
    film_nonfinite found = find(&film, NULL, 0);
    film_op_graph graph;
    const film_op_node *middle, *sum, *mended;
    const film_op_link *took;

    CHECK(film_op_graph_make(&graph, &film.set, 0, 1, found.op, found.time_ns, 1000,
                             NULL) == FILM_OK);
    CHECK(graph.whole && graph.to_end);
    CHECK_EQUAL(graph.node_count, 5);
    middle = &graph.nodes[graph.middle];
    CHECK_EQUAL(middle->op, told.log);
    took = &graph.links[middle->first_taken];
    CHECK_EQUAL(middle->taken, 1);
    CHECK(took->numbers == FILM_NUMBERS_FINITE);
    CHECK_EQUAL(graph.nodes[took->from].op, told.relu);
    took = &graph.links[graph.nodes[took->from].first_taken];
    CHECK(took->from == FILM_NO_NODE);
    CHECK(film_op_graph_tensor(&graph, 1)->written > 0);
    CHECK(!film_op_graph_tensor(&graph, 1)->nonfinite_seen);
    CHECK(film_op_graph_tensor(&graph, 99) == NULL);

    CHECK_EQUAL(film_op_graph_follow(&graph), 2);
    sum = &graph.nodes[middle->child];
    CHECK_EQUAL(sum->op, told.sum);
    mended = &graph.nodes[sum->sibling];
    CHECK_EQUAL(mended->op, told.mended);
    CHECK(mended->sibling == FILM_NO_NODE && mended->child == FILM_NO_NODE);
    CHECK(sum->write != FILM_NO_NODE && middle->write == FILM_NO_NODE);
    CHECK_EQUAL(graph.nodes[4].depth, 0);
    film_op_graph_reset(&graph);
    CHECK(film_op_graph_make(&graph, &film.set, 0, 1, found.op + 1, found.time_ns, 1000,
                             NULL) == FILM_END);
    film_recordings_close(&film.set);
}

/* torch.empty may give anything; writing a part of it leaves the rest, div_ makes more. */
TEST(blank_memory_does_not_count)
{
    op_film film = begin_ops("a");
    op_tensor told = {.serial = 1, .size = 4, .nonfinite = 4};
    uint64_t blank = tensor(&film, told), view, part, more, div;
    opened read;

    told.serial = 2;
    told.storage = 1;
    view = tensor(&film, told);
    told.nonfinite = 2;
    part = tensor(&film, told);
    told.nonfinite = 5;
    more = tensor(&film, told);
    op(&film, (op_call){.function = "torch.empty", .gave = blank}, NULL, 0);
    op(&film, (op_call){.function = "torch.Tensor.view", .gave = view}, &blank, 1);
    op(&film,
       (op_call){.function = "torch.Tensor.fill_", .gave = part, .changed = part},
       &view, 1);
    div = op(&film,
             (op_call){.function = "torch.Tensor.div_", .gave = more, .changed = more},
             &part, 1);
    end_ops(&film);
    read = open_film();
    CHECK_EQUAL(find(&read, NULL, 0).op, div);
    film_recordings_close(&read.set);
}

/* A view shows what was done to the memory that it shares. */
TEST(a_change_is_seen_through_a_view)
{
    op_film film = begin_ops("a");
    uint64_t base = tensor(&film, (op_tensor){.serial = 1, .size = 4}),
             view = tensor(&film, (op_tensor){.serial = 2, .size = 4, .storage = 1}),
             bad = tensor(&film, (op_tensor){.serial = 1, .size = 4, .nonfinite = 1}),
             seen = tensor(
                 &film,
                 (op_tensor){.serial = 2, .size = 4, .storage = 1, .nonfinite = 1}),
             sum = tensor(&film, (op_tensor){.serial = 3, .size = 1, .nonfinite = 1});
    uint64_t change, last;
    film_op_graph graph;
    opened read;

    op(&film, (op_call){.function = "torch.Tensor.view", .gave = view}, &base, 1);
    change = op(&film,
                (op_call){.function = "torch.Tensor.log_", .gave = bad, .changed = bad},
                &base, 1);
    last = op(&film, (op_call){.function = "torch.sum", .gave = sum}, &seen, 1);
    end_ops(&film);
    read = open_film();
    CHECK(film_op_graph_make(&graph, &read.set, 0, 1, last, 0, 1000, NULL) == FILM_OK);
    CHECK_EQUAL(graph.nodes[graph.links[graph.nodes[graph.middle].first_taken].from].op,
                change);
    film_op_graph_reset(&graph);
    film_recordings_close(&read.set);
}

TEST(without_summaries_nothing_is_found)
{
    op_film film = begin_ops("a");
    uint64_t one = tensor(&film, (op_tensor){.serial = 1, .size = 4, .nonfinite = -1});
    film_nonfinite found;
    opened read;

    op(&film, (op_call){.function = "torch.relu", .gave = one}, &one, 1);
    op(&film, (op_call){.function = "torch.mm", .raises = true}, &one, 1);
    end_ops(&film);
    read = open_film();
    found = find(&read, NULL, 0);
    CHECK(!found.found);
    CHECK_EQUAL(found.ops, 2);
    CHECK_EQUAL(found.tensors, 1);
    CHECK_EQUAL(found.summaries, 0);
    film_recordings_close(&read.set);
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {
        TEST_ENTRY(the_first_is_found),
        TEST_ENTRY(what_is_ignored_does_not_count),
        TEST_ENTRY(the_graph_leads_back_and_on),
        TEST_ENTRY(blank_memory_does_not_count),
        TEST_ENTRY(a_change_is_seen_through_a_view),
        TEST_ENTRY(without_summaries_nothing_is_found),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
