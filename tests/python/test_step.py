"""`filmstrip step` from a pipe: movement, questions, breakpoints, hostile input."""

from __future__ import annotations

import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

import pytest

from conftest import PROGRAM as PATH
from conftest import ROOT, clean_environment, run_program
from step_stories import SHOP, THREADS, record, record_dying, step

ASAN = ROOT / "build" / "asan" / "filmstrip"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return record(tmp_path_factory.mktemp("step"), SHOP)


@pytest.fixture(scope="module")
def threads(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return record(tmp_path_factory.mktemp("step"), THREADS, "work.py")


def places(answers):
    """FILE:LINE of each answer that says where one is."""
    found = [
        re.search(r"^([\w/]+\.py:\d+)  ", part, re.MULTILINE)
        for part in answers.paragraphs
    ]
    return [match[1] if match else None for match in found]


def place(film, *commands):
    return places(step(film, *commands))[-1]


# --- moving --------------------------------------------------------------------------


def test_begins_at_the_first_line(shop):
    answers = step(shop, "here")
    assert answers.rc == 0
    assert places(answers) == ["shop.py:1"]
    assert "    1 ->  class Till:" in answers.text


def test_step_and_next_and_back(shop):
    forwards = ["b main", "c", "s", "n", "n", "n", "n", "s", "s", "s"]
    answers = step(shop, *forwards, "rs", "rs", "rn", "rn")
    assert answers.rc == 0
    assert places(answers)[1:] == [
        *("shop.py:31", "shop.py:32", "shop.py:33", "shop.py:34", "shop.py:35"),
        *("shop.py:36", "shop.py:35", "shop.py:20", "shop.py:21"),
        *("shop.py:20", "shop.py:35", "shop.py:36", "shop.py:35"),
    ]


def test_counts(shop):
    assert place(shop, "b main", "c", "n 4") == place(shop, "b main", "c", *"nnnn")
    assert place(shop, "n 3", "rn 3") == place(shop, "here")
    assert place(shop, "stepi 7", "rstepi 7") == place(shop, "here")


def test_words_of_pdb_and_gdb_mean_the_same(shop):
    for one, other in [
        *(("s", "step"), ("n", "next"), ("r", "finish"), ("c", "continue")),
        *(("rs", "reverse-step"), ("rc", "reverse-continue"), ("w", "bt")),
        *(("p STOCK", "print STOCK"), ("l", "list"), ("out", "fin")),
    ]:
        before = ["b take", "c", "n"]
        assert step(shop, *before, one).text == step(shop, *before, other).text


def test_finish_goes_to_the_caller_and_rfinish_to_its_call(shop):
    assert place(shop, "b take", "c", "finish") == "shop.py:26"
    assert place(shop, "b take", "c", "n", "rfinish") == "shop.py:22"


LONG = """\
def turn(n):
    x = n * 2
    return x

def work(count):
    total = 0
    for n in range(count):
        total += turn(n)
    return total

def main():
    before = 1
    result = work(10_000)
    after = result + before
    return after

main()
"""


def test_over_a_call_of_many_chunks(tmp_path):
    """The frame stays the one that was meant, and what was written long ago is old."""
    film = record(tmp_path, LONG, "long.py")
    answers = step(film, "until long.py:13", "n", "rn", "s", "finish", "rwrite before")
    assert places(answers) == [
        *("long.py:13", "long.py:14", "long.py:13", "long.py:6", "long.py:14"),
        "long.py:12",
    ]
    assert "* before = 1" in answers.paragraphs[0]
    assert "* result = 99990000" in answers.paragraphs[1]
    assert "* before" not in answers.paragraphs[1]
    hits = step(
        film, "hits long.py:8 n if n % 2000 == 0", "b turn hit 7000", "c", "p n"
    )
    assert hits.paragraphs[0].splitlines()[-1] == "5 hits"
    assert hits.paragraphs[3] == "6999"
    moves = step(
        film, "end", *["rwrite work:total"] * 2, "p total", "n 9999", "rn 9999"
    )
    assert moves.paragraphs[3] == "99970002"


def test_return_and_call(shop):
    answers = step(shop, "b Till.put", "c", "return", "call")
    assert "returns 50" in answers.paragraphs[2]
    assert answers.paragraphs[3].startswith("shop.py:5  __main__.Till.put")


def test_up_keeps_the_frame_for_next_and_step_gives_it_up(shop):
    answers = step(shop, "b take", "c", "n", "up", "n", "where")
    assert "frame 1" in answers.paragraphs[3]
    assert places(answers)[4] == "shop.py:26"
    assert answers.paragraphs[5].splitlines()[0].startswith(">  0  __main__.sell")
    assert places(step(shop, "b take", "c", "n", "up", "s"))[-1] == "shop.py:16"


def test_up_and_down_end(shop):
    answers = step(shop, "b take", "c", "up 3", "up", "down 3", "down", "frame 2")
    assert answers.rc == 1
    assert answers.paragraphs[3] == "this is the outermost frame"
    assert answers.paragraphs[5] == "this is the innermost frame"
    assert "__main__.main" in answers.paragraphs[6]


def test_the_ends(shop):
    answers = step(shop, "end", "n", "start", "rs")
    assert answers.rc == 0
    assert "this is the end of the recording" in answers.paragraphs[1]
    assert "this is the start of the recording" in answers.paragraphs[3]


def test_undo(shop):
    answers = step(shop, "n", "n", "end", "undo", "undo", "undo", "undo")
    assert places(answers)[:2] == [places(answers)[4], places(answers)[3]][::1]
    assert answers.paragraphs[-1] == "there is no move to take back"


def test_jumps(shop):
    answers = step(
        shop, "event 5", "event 1:5", "hit shop.py:22 2", "p item", "hit 22 -1"
    )
    assert answers.rc == 0
    assert answers.paragraphs[0] == answers.paragraphs[1]
    assert answers.paragraphs[3] == "'pear'"
    assert "event 1:" in answers.paragraphs[4]
    assert places(answers)[4] == "shop.py:22"
    for command in ["time 100%", "time 5s", "time 5000ms"]:
        assert "return" in step(shop, command).text, command
    assert step(shop, "time 0%").text == step(shop, "start").text
    assert step(shop, "time nan").rc == step(shop, "time 5x").rc == 1
    assert step(shop, "hit shop.py:22 9").rc == 1


def test_raises(shop):
    answers = step(
        shop, "raise", "raise KeyError", "rraise", "end", "rraise LookupError"
    )
    assert "raises LookupError: no pear left" in answers.paragraphs[0]
    assert answers.paragraphs[1] == "no exception is raised behind this"
    assert "LookupError" in answers.paragraphs[4]
    assert answers.rc == 1


def test_uncaught(shop, tmp_path):
    film = record_dying(tmp_path)
    answers = step(film, "uncaught", "p amount", "undo")
    assert "raises ValueError: too much" in answers.paragraphs[0]
    assert places(answers)[0] == "dies.py:2"
    assert answers.paragraphs[1] == "7"
    assert places(answers)[2] == "dies.py:1"
    none = step(shop, "uncaught")
    assert (none.rc, none.text) == (1, "no exception ended the program or a thread\n")


def test_first(shop):
    answers = step(shop, "b sell", "c", "first item == 'pear'", "p item", "p price")
    assert answers.rc == 0
    assert answers.paragraphs[3:] == ["'pear'", "50"]
    assert step(shop, "b sell", "c", "first item == 'plum'").rc == 1


def test_until(shop):
    answers = step(shop, "until shop.py:26", "until", "runtil 20", "until shop.py:15")
    assert places(answers) == ["shop.py:26", "shop.py:26", "shop.py:20", "shop.py:15"]
    assert step(shop, "until shop.py:15", "until").rc == 1


def test_search(shop):
    answers = step(
        shop, "/fn:Till.put", "/shop.py:26", "/raise LookupError", "/@1:5", "/100%"
    )
    assert answers.rc == 0
    assert places(answers)[:3] == ["shop.py:5", "shop.py:26", "shop.py:15"]
    assert "event 1:5 " in answers.paragraphs[3]
    text = step(shop, "/LookupError", "search", "rsearch", "/nothing like it")
    assert [part[:10] for part in text.paragraphs[:3]] == [
        *("shop.py:15", "shop.py:23", "shop.py:15")
    ]
    assert text.rc == 1
    condition = step(shop, "b sell", "c", "search item == 'pear'", "p item")
    assert condition.paragraphs[-1] == "'pear'"


# --- looking -------------------------------------------------------------------------


def test_print_and_items(shop):
    answers = step(
        shop,
        *("b take", "c", "p STOCK", "p len(item) * 2 > 9", "p nothing", "pp STOCK"),
        *("up 2", "pp till", "p till.money", "p 1 +"),
    )
    assert answers.paragraphs[2] == "{'apple': 3, 'pear': 1}"
    assert answers.paragraphs[3] == "True"
    assert "no recorded value" in answers.paragraphs[4]
    assert answers.paragraphs[5].splitlines()[1:] == ["  'apple': 3", "  'pear': 1"]
    assert answers.paragraphs[7].splitlines()[1:] == ["  money = 0"]
    assert answers.paragraphs[8] == "0"
    assert answers.rc == 1


def test_locals_mark_what_changed(shop):
    answers = step(shop, "hit shop.py:27 1", "locals", "list", "l 20")
    assert answers.paragraphs[1].splitlines() == [
        "  items = ['apple', 'pear', 'pear']",
        *(line for line in answers.paragraphs[1].splitlines() if "till" in line),
        "  item = 'apple'",
        "* price = 50",
    ]
    assert "* price = 50" in answers.paragraphs[0]
    listed = answers.paragraphs[2].splitlines()
    assert any(line.startswith("   27 ->") for line in listed)
    assert any("price = len(item) * 10   # price = 50" in line for line in listed)
    assert "for item in items:   # item = 'apple'" in answers.paragraphs[3]


def test_list_elsewhere(shop):
    answers = step(
        shop, "list shop.py:5", "l 40", "list nosuch.py:3", "list 4000", "l x"
    )
    assert "def put(self, amount):" in answers.paragraphs[0]
    assert "main()" in answers.paragraphs[1]
    assert answers.rc == 1
    assert len(answers.paragraphs) == 5


def test_attributes_and_changes_stand_beside_their_lines(shop):
    answers = step(shop, "b Till.put", "c", "return", "list", "end", "hit 36 2", "list")
    assert "self.money += amount   # self.money = 50" in answers.paragraphs[3]
    assert "boxes.append(box)   # boxes = ['apple']" in answers.paragraphs[6]


def test_control_characters_do_not_reach_the_terminal(shop):
    answers = step(shop, "hit 35 1", "locals", "p greeting")
    assert "\x1b" not in answers.text
    assert "日本語" in answers.text


def test_threads(threads):
    answers = step(
        threads, "b work", "c", "n 2", "threads", "thread 1", "thread 2", "thread 7"
    )
    lines = answers.paragraphs[3].splitlines()
    assert lines[0].startswith("   1  MainThread")
    assert lines[1].startswith(">  2  helper")
    assert "__main__.main" in answers.paragraphs[4]
    assert places(answers)[5].startswith("work.py:")
    assert answers.paragraphs[6] == "there is no thread 7"
    assert "has not begun" in step(threads, "threads").text
    assert step(threads, "thread 2").rc == 1


def test_info(shop):
    answers = step(shop, "info", "info files", "info locals", "info nonsense")
    assert "level values" in answers.paragraphs[0]
    assert answers.paragraphs[1].endswith("shop.py")
    assert answers.rc == 1


# --- asking --------------------------------------------------------------------------


def test_last_and_next_write(shop):
    answers = step(
        shop, "hit shop.py:27 2", "last price", "next-write price", "last item"
    )
    assert answers.paragraphs[1].endswith("price = 40")
    assert answers.paragraphs[2] == "no write of it was recorded behind this"
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
    assert "tells more" in answers.paragraphs[1]
    assert answers.rc == 1


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


# --- recordings that tell less -------------------------------------------------------------


def test_level_calls(tmp_path):
    film = record(tmp_path, SHOP, "shop.py", "--level", "calls")
    answers = step(film, "s", "s", "locals", "bt", "p x", "end", "list")
    assert "level calls: no values were recorded" in answers.paragraphs[2]
    assert "__main__" in answers.paragraphs[3]
    assert "no recorded value" in answers.paragraphs[4]


def test_without_source(tmp_path):
    film = record(
        tmp_path,
        "exec(compile('def f(a):\\n    return a + 1\\nf(3)\\n', '<made>', 'exec'))",
        "made.py",
    )
    answers = step(film, "b f", "c", "n", "locals", "list")
    assert "the recording has no source of this file" in answers.paragraphs[2]
    assert "a = 3" in answers.paragraphs[3]
    assert answers.paragraphs[4] == "the recording has no source of this file"


def test_no_events(tmp_path):
    film = record(tmp_path, "pass", "empty.py", "--target", "no_such_module")
    answers = step(
        film, "here", "n", "bt", "locals", "c", "info", "threads", "p 1", "end"
    )
    assert "Traceback" not in answers.errors
    assert len(answers.paragraphs) == 9
    assert answers.rc in (0, 1)


def test_a_recording_being_written(tmp_path):
    script = tmp_path / "live.py"
    script.write_text("import time\nfor turn in range(10**9):\n    time.sleep(0.01)\n")
    film = tmp_path / "live.film"
    program = subprocess.Popen(
        [sys.executable, "-m", "filmstrip", "run", "--no-progress", "-o", film, script],
        cwd=tmp_path,
        env=clean_environment(),
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if film.exists() and "turn" in step(film, "end", "locals").text:
                break
            time.sleep(0.2)
        answers = step(film, "info", "end", "locals")
        assert "being written" in answers.paragraphs[0]
        assert "turn = " in answers.paragraphs[2]
    finally:
        os.killpg(program.pid, signal.SIGKILL)
        program.wait()
    answers = step(film, "info", "end", "rn", "p turn")
    assert "ended without closing" in answers.paragraphs[0]
    assert answers.paragraphs[3].isdigit()


def damage(film, to, seed):
    bytes_ = bytearray(film.read_bytes())
    chance = random.Random(seed)
    for _ in range(chance.choice([1, 4, 40])):
        bytes_[chance.randrange(64, len(bytes_))] = chance.randrange(256)
    if chance.random() < 0.3:
        del bytes_[chance.randrange(len(bytes_) // 2, len(bytes_)) :]
    to.write_bytes(bytes_)


EVERYTHING = [
    *("info", "here", "s 5", "n 5", "locals", "b take", "c", "c", "bt", "list"),
    *("origin item", "history sell:item", "hits shop.py:27 item", "rc", "end", "rs 9"),
    *("raise", "rraise", "threads", "watch till.money", "c", "time 50%", "event 40"),
    *("first item == 'pear'", "return", "call", "finish", "rfinish", "pp STOCK"),
]


@pytest.mark.parametrize("program", ["plain", "asan"])
def test_damaged_recordings(shop, tmp_path, program):
    path = PATH if program == "plain" else ASAN
    if not path.exists():
        pytest.skip("build/asan is not there: make build-asan")
    for seed in range(40 if program == "plain" else 25):
        film = tmp_path / f"{seed}.film"
        damage(shop, film, seed)
        answers = step(film, *EVERYTHING, program=path)
        assert answers.rc in (0, 1, 2), (seed, answers.errors)
        assert "Sanitizer" not in answers.errors, (seed, answers.errors)


def test_no_recording(tmp_path):
    missing = step(tmp_path / "no.film", "here")
    assert missing.rc == 2 and missing.text == ""
    (tmp_path / "text.film").write_text("hello")
    assert step(tmp_path / "text.film", "here").rc == 2
    assert run_program("step").rc == 2
    assert run_program("step", "a", "b").rc == 2


# --- hostile input -------------------------------------------------------------------------

NONSENSE = [
    *("b", "b :", "b ::", "b :5", "b a:b:5", "b if", "b  if  ", "b take if", "tbreak"),
    *(
        "watch .",
        "watch [",
        "watch a[",
        "watch a.b[",
        "watch :",
        "watch x:",
        "watch :x",
    ),
    *("p", "p (", "p [" * 500, "p " + "(" * 5000, "p 1" + "+1" * 5000, "pp", "pp ("),
    *(
        "hits",
        "hits :",
        "hits ,",
        "hits take ,,,",
        "hits take 'a",
        "hits take (a",
        "hits x if",
    ),
    *(
        "event",
        "event -1",
        "event 99999999999999999999",
        "event :",
        "event 0:0",
        "event 1:",
    ),
    *(
        "event 4294967297:1",
        "time",
        "time -5s",
        "time 1e400s",
        "time %",
        "hit",
        "hit 5 0",
    ),
    *(
        "hit 5 x",
        "hit :",
        "n -1",
        "n 0",
        "n x",
        "n 99999999999999999999",
        "up 99",
        "down -1",
    ),
    *(
        "frame",
        "frame 99",
        "thread x",
        "thread 0",
        "first",
        "first (",
        "origin",
        "history",
    ),
    *(
        "origin 5",
        "history x 0",
        "last",
        "last (",
        "write",
        "rwrite ]",
        "search",
        "/",
        "/@",
    ),
    *(
        "/fn:",
        "/:5",
        "//",
        "list :",
        "list 0",
        "list -1",
        "list 99999999999",
        "logpoint",
    ),
    *(
        "logpoint 5",
        "logpoint 5 {",
        "logpoint 5 {(}",
        "delete -1",
        "delete 1 2 x",
        "help :",
    ),
    *(
        "info :",
        "undo",
        "raise (",
        "rraise \u202e",
        "\u65e5\u672c",
        "b \u65e5:5",
        "\xff\xfe",
        "?" * 100,
    ),
    *(
        "until",
        "until x",
        "until 0",
        "until :9",
        "runtil 99999999999",
        "return 5",
        "quitt",
    ),
]


@pytest.mark.parametrize("program", ["plain", "asan"])
def test_nonsense(shop, program):
    path = PATH if program == "plain" else ASAN
    if not path.exists():
        pytest.skip("build/asan is not there: make build-asan")
    typed = (
        "\n".join(NONSENSE).encode() + b"\n\x00\nb \x00x\np \xff\xfe\xc3\n\r\n\x1b[A\n"
    )
    for options in [(), ("--json",)]:
        answers = step(shop, stdin=typed + b"here\n", options=options, program=path)
        assert answers.rc == 1
        assert "Sanitizer" not in answers.errors
        if options:
            assert "m" in answers.objects[-1]
        else:
            assert places(answers)[-1] is not None
        assert "\x1b" not in answers.text


def test_random_bytes(shop):
    chance = random.Random(5)
    names = [b"b", b"c", b"p", b"watch", b"hits", b"first", b"/", b"list", b"origin"]
    lines = [
        chance.choice(names) + b" " + bytes(chance.choices(range(1, 256), k=30))
        for _ in range(500)
    ]
    typed = b"\n".join(line.replace(b"\n", b" ") for line in lines)
    answers = step(shop, stdin=typed + b"\nhere\n")
    assert answers.rc == 1
    assert places(answers)[-1] is not None


def test_huge_lines(shop):
    answers = step(
        shop, stdin=b"p " + b"x" * (3 << 20) + b"\nhere\n" + b"n" * (2 << 20)
    )
    assert answers.paragraphs[0] == "the line is too long to be a command"
    assert places(answers)[1] == "shop.py:1"
    assert len(answers.paragraphs) == 3


def test_a_reader_that_goes_away(shop):
    program = subprocess.Popen(
        [PATH, "step", shop],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=clean_environment(),
    )
    assert program.stdin and program.stdout and program.stderr
    program.stdout.close()
    try:
        program.stdin.write(b"help\n" * 20000)
        program.stdin.close()
    except BrokenPipeError:
        pass
    assert program.wait(20) in (0, 1)
    assert program.stderr.read() == b""


def test_answers_come_at_once(shop):
    """A person or program that reads an answer before it types the next command."""
    program = subprocess.Popen(
        [PATH, "step", "--json", shop],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=clean_environment(),
    )
    assert program.stdin and program.stdout
    for command in [b"here\n", b"n\n", b"locals\n"]:
        program.stdin.write(command)
        program.stdin.flush()
        assert program.stdout.readline().startswith(b"{")
    program.stdin.close()
    assert program.wait(20) == 0


def test_many_commands_leave_memory_alone(shop):
    """10,000 moves and questions in one session."""
    typed = ["n", "s", "rs", "p STOCK", "locals", "end", "start"] * 1500
    answers = step(shop, *typed, options=("--json",))
    assert answers.rc == 1  # STOCK has no value at the start
    assert len(answers.objects) == len(typed)
