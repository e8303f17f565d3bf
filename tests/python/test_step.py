"""`filmstrip step` from a pipe: moving and looking."""

from __future__ import annotations

import pathlib
import re

import pytest

from step_stories import THREADS, place, places, record, record_dying, step


@pytest.fixture(scope="module")
def threads(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return record(tmp_path_factory.mktemp("step"), THREADS, "work.py")


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


def test_a_function_of_a_file(shop):
    assert place(shop, "b shop.py:take", "c") == place(shop, "b take", "c")
    for wrong, why in (
        ("b other.py:take", "no file 'other.py' was recorded"),
        ("b shop.py:steal", "no function 'steal' of shop.py was recorded"),
        ("b shop.py:", "'shop.py:' is no place"),
        ("b :take", "':take' is no place"),
    ):
        answers = step(shop, wrong)
        assert (answers.rc, why in answers.text) == (1, True), answers.text


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
    assert re.fullmatch(
        r"no KeyError is raised behind event 1:\d+", answers.paragraphs[1]
    )
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


def test_bisect(shop):
    answers = step(shop, "b sell", "c", "bisect item == 'pear'", "p item")
    assert answers.paragraphs[3:] == ["'pear'"]
    assert step(shop, "b sell", "c", "bisect item == 'plum'").rc == 1
    assert step(shop, "bisect").rc == 1


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
