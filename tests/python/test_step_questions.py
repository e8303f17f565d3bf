"""`filmstrip step` from a pipe: questions, breakpoints, answers for machines, the table of
commands."""

from __future__ import annotations

import re

import pytest

from conftest import ROOT, run_program
from step_stories import place, places, step

# --- asking --------------------------------------------------------------------------


def test_last_and_next_write(shop):
    answers = step(
        shop, "hit shop.py:27 2", "last price", "next-write price", "last item"
    )
    assert answers.paragraphs[1].endswith("price = 40")
    assert answers.paragraphs[2].startswith("no write of price was recorded behind ev")
    assert "shop.py:20" in answers.paragraphs[3]
    assert answers.rc == 1


def test_moving_to_writes(shop):
    answers = step(
        shop,
        "hit shop.py:27 2",
        "rwrite price",
        "rwrite price",
        "p price",
        "write price",
        "p price",
    )
    assert [answers.paragraphs[3], answers.paragraphs[5]] == ["50", "40"]


def test_history(shop):
    answers = step(shop, "history sell:item", "hist sell:item 2", "history nothing:x")
    values = [line.rsplit(" = ")[-1] for line in answers.paragraphs[0].splitlines()]
    assert values == ["'apple'", "'pear'", "'pear'"]
    assert "asks for more" in answers.paragraphs[1]
    assert answers.rc == 1


CHANGED_BY_OTHERS = """
exec(compile('''
def flip(net):
    net.mode = "eval"
    net.extra = 1
def drop(net):
    del net.extra
''', "/nowhere/helper.py", "exec"))
class Net:
    mode = None
def main():
    net = Net()
    net.mode = "train"
    net.size = 1
    flip(net)
    drop(net)
    print(net.mode)
    net.mode = "test"

main()
"""


def test_attributes_that_code_changed_which_is_not_recorded(runner):
    """The change that was seen is the write: of what it has changed, and only of that."""
    film = runner.record(
        CHANGED_BY_OTHERS, options=["--level", "values", "--exclude", "/nowhere"]
    ).film
    line = CHANGED_BY_OTHERS.splitlines().index("    print(net.mode)") + 1
    answers = step(
        film,
        f"hit program.py:{line}",
        *("p net.mode", "last net.mode", "last net.size", "history net.extra"),
        *("history net.mode", f"hit program.py:{line - 3}", "watch net.mode", "c"),
    )
    assert answers.paragraphs[1] == "'eval'"
    assert answers.paragraphs[2].endswith("net.mode = 'eval'")
    assert answers.paragraphs[3].endswith("net.size = 1")
    extra, mode = (answers.paragraphs[index].splitlines() for index in (4, 5))
    assert [one.rsplit(" = ")[-1] for one in extra] == ["1", "deleted"]
    assert [one.rsplit(" = ")[-1] for one in mode] == ["'train'", "'eval'", "'test'"]
    assert "flip(net)" in answers.paragraphs[8]


def test_writes_around_a_moment(shop):
    answers = step(
        shop, "hit shop.py:27 2", "writes item", "writes item 1", "writes nothing"
    )
    lines = answers.paragraphs[1].splitlines()
    assert [line[0] for line in lines] == [" ", ">", " "]
    assert [line.rsplit(" = ")[-1] for line in lines] == ["'apple'", "'pear'", "'pear'"]
    assert len(answers.paragraphs[2].splitlines()) == 2
    assert answers.rc == 1
    found = step(shop, "hit shop.py:27 2", "writes item", options=("--json",)).objects
    assert [len(found[1]["before"]), len(found[1]["behind"])] == [2, 1]


def test_origin(shop):
    answers = step(shop, "hit shop.py:27 1", "origin price")
    assert answers.rc == 0
    first, *rest = answers.paragraphs[1].splitlines()
    assert "price = 50" in first
    assert any("local item = 'apple'" in line for line in rest)
    assert any("for item" not in line and "shop.py:20" in line for line in rest)


def test_hits(shop):
    answers = step(
        shop,
        "hits shop.py:27 item, len(item), till.money",
        "hits take item if item == 'pear'",
        "hits shop.py:15",
        "hits nowhere.py:3",
        "hits shop.py:27 f(1, 2), 'a,b'",
    )
    rows = answers.paragraphs[0].splitlines()
    assert [row.split("s  ", 1)[1] for row in rows[:-1]] == [
        "'apple', 5, 0",
        "'pear', 4, 50",
    ]
    assert rows[-1] == "2 hits"
    assert len(answers.paragraphs[1].splitlines()) == 3
    assert answers.paragraphs[2].endswith("1 hit")
    assert answers.rc == 1


# --- breakpoints ---------------------------------------------------------------------


def test_breakpoints_both_ways(shop):
    answers = step(
        shop, "b shop.py:16", "b take if item == 'pear'", *["c"] * 5, *["rc"] * 5
    )
    forwards = [part.splitlines()[0] for part in answers.paragraphs[2:7]]
    backwards = [part.splitlines()[0] for part in answers.paragraphs[7:]]
    assert [line[:12] for line in forwards] == [
        *(
            "breakpoint 1",
            "breakpoint 2",
            "breakpoint 1",
            "breakpoint 2",
            "this is the ",
        )
    ]
    assert backwards == [*forwards[3::-1], "this is the start of the recording"]


def test_hit_counts(shop):
    for typed in ["b take hit 3", "b take hit >=3", "b take if item hit 3"]:
        answers = step(shop, typed, "c", "p item", "c")
        assert answers.paragraphs[2] == "'pear'", typed
        assert "this is the end" in answers.paragraphs[3], typed


def test_tbreak_stops_once(shop):
    answers = step(shop, "tbreak take", "c", "breakpoints", "c")
    assert answers.paragraphs[2] == "no breakpoint is set"
    assert "this is the end" in answers.paragraphs[3]


def test_exceptions(shop):
    answers = step(shop, "b raise", "c", "c", "b uncaught")
    assert "raises LookupError" in answers.paragraphs[1]
    assert "this is the end" in answers.paragraphs[2]


@pytest.mark.parametrize(
    ("typed", "values"),
    [
        ("watch till.money", ["50", "90"]),
        ("watch sell:price", ["50", "40"]),
        ("watch __main__:STOCK", []),
    ],
)
def test_watch(shop, typed, values):
    commands = ["hit shop.py:33 1", typed]
    for _ in range(len(values) + 1):
        commands.append("c")
    answers = step(shop, *commands)
    assert answers.paragraphs[1] == f"breakpoint 1: {typed}"
    stops = answers.paragraphs[2:]
    told = [re.search(r"wrote .* = (\d+)$", part, re.MULTILINE) for part in stops[:-1]]
    assert [match and match[1] for match in told] == values
    assert "this is the end" in stops[-1]


def test_watch_a_local_and_an_item(shop):
    answers = step(
        shop,
        "hit 21 1",
        "watch item",
        "c",
        "p item",
        "hit 14 1",
        "watch STOCK['pear']",
        "delete 1",
        "c",
    )
    assert answers.paragraphs[3] == "'pear'"
    assert "STOCK" in step(shop, "hit 14 1", "watch STOCK['pear']").text
    assert answers.rc == 0
    assert step(shop, "watch nothing.x").rc == 1


def test_logpoints(shop):
    answers = step(shop, "logpoint shop.py:27 sold {item} for {price}", "c")
    lines = answers.paragraphs[1].splitlines()
    assert [line.split(None, 1)[1] for line in lines[:2]] == [
        *("sold 'apple' for 50", "sold 'pear' for 40")
    ]
    assert lines[2] == "this is the end of the recording"


def test_breakpoints_that_make_no_sense(shop):
    answers = step(
        shop,
        *("b nosuch", "b shop.py:9000", "b nosuch.py:1", "b take if )(", "watch"),
        *("delete 9", "delete x", "b", "breakpoints", "delete", "breakpoints"),
    )
    assert answers.rc == 1
    assert answers.paragraphs[-3:] == [
        "   1  shop.py:1",
        "1 removed",
        "no breakpoint is set",
    ]
    assert len(answers.paragraphs) == 11


# --- for machines ----------------------------------------------------------------------


def test_json(shop):
    answers = step(
        shop,
        *("b take", "c", "p STOCK", "bt", "locals", "history sell:item", "nonsense"),
        *("hits take item", "list", "threads", "info", "up", "breakpoints", "delete"),
        *("/Lookup", "origin item", "help", "last item", "x" * 70000, "p \x00"),
        options=("--json",),
    )
    found = answers.objects
    assert len(found) == 20
    assert answers.rc == 1
    assert found[1]["stopped"] == {"reason": "breakpoint", "breakpoint": 0}
    assert found[1]["function"] == "__main__.take"
    assert [one["name"] for one in found[1]["locals"]] == ["item"]
    assert found[2]["value"]["text"] == "{'apple': 3, 'pear': 1}"
    assert [frame["name"] for frame in found[3]["stack"]][:2] == ["take", "sell"]
    assert [write["value"]["text"] for write in found[5]["writes"]][0] == "'apple'"
    assert found[6]["error"]["message"].startswith("there is no command")
    assert len(found[7]["rows"]) == 3
    assert found[8]["file"].endswith("shop.py")
    assert found[11]["m"] == found[1]["m"]
    assert found[12]["breakpoints"][0]["breakpoint"]["kind"] == "function"
    assert found[13] == {"breakpoints": []}
    assert {one["name"] for one in found[16]["commands"]} >= {"step", "next", "history"}
    assert "error" in found[18]
    assert "error" in found[19]


def test_commands_as_options(shop):
    answers = step(
        shop,
        options=("-c", "b take", "-c", "c", "--command", "p item"),
        stdin=b"nonsense",
    )
    assert answers.paragraphs[2] == "'apple'"
    assert answers.rc == 0


def test_at(shop):
    where = step(shop, "hit shop.py:27 1", options=("--json",)).objects[0]["m"]
    assert place(shop, f"event {where}") == "shop.py:27"
    answers = step(shop, "here", "undo", options=("--at", where))
    assert places(answers)[0] == "shop.py:27"
    assert answers.rc == 1
    assert step(shop, "here", options=("--at", "100%")).text.count("returns") == 1
    wrong = step(shop, "here", options=("--at", "nonsense"))
    assert (wrong.rc, wrong.text) == (2, "")


def test_comments_and_blank_lines(shop):
    answers = step(shop, "", "# a comment", "   ", "here", "quit", "nonsense")
    assert len(answers.paragraphs) == 1
    assert answers.rc == 0


# --- the table ---------------------------------------------------------------------------


def test_the_page_has_the_table_of_the_program():
    table = run_program("step", "--table").stdout
    page = (ROOT / "docs" / "step.md").read_text(encoding="utf-8")
    assert table.strip() in page


def test_help_names_every_command(shop):
    page = run_program("step", "--help").stdout
    named = [
        one["name"]
        for one in step(shop, "help", options=("--json",)).objects[0]["commands"]
    ]
    assert len(named) == len(set(named)) > 50
    help_lines = step(shop, "help").text
    for name in named:
        assert re.search(rf"^  .{{17}}{re.escape(name)}( |,|$)", page, re.MULTILINE)
        assert name in help_lines
        assert step(shop, f"help {name}").rc == 0
    assert step(shop, "help nonsense").rc == 1
    assert max(map(len, help_lines.splitlines())) <= 78


def test_no_two_commands_share_a_word_or_a_key(shop):
    commands = step(shop, "help", options=("--json",)).objects[0]["commands"]
    words = [w for one in commands for w in [one["name"], *one["aliases"].split()]]
    keys = [key for one in commands for key in one["keys"].split()]
    assert len(words) == len(set(words))
    assert len(keys) == len(set(keys))
