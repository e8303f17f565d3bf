"""`filmstrip step` on a whole terminal, driven in tmux, its screens compared.

The expected screens are in golden/step; FILMSTRIP_UPDATE_GOLDEN=1 writes them anew (then
look at what changed)."""

from __future__ import annotations

import os
import pathlib
import re
import time

import pytest

from step_stories import THREADS, record, record_dying
from terminals import Terminal, start_step

# The screens do not depend on the Python, and they take long.
pytestmark = pytest.mark.once


GOLDEN = pathlib.Path(__file__).parent / "golden" / "step"


SIZES = [(80, 24), (120, 40), (200, 50)]


# --- screens -------------------------------------------------------------------------


# What a scene is called, and the keys that lead to it from the one before.
SCENES: list[tuple[str, list[str]]] = [
    ("the first line", []),
    ("into sell, line by line", ["/", *"fn:sell", "Enter", ".", ".", ".", ".", "."]),
    ("a breakpoint, a pick", ["k", "b", "Tab", "Tab", "Tab"]),
    ("its writes around here", ["v"]),
    ("the exception", ["q", "x"]),
    ("the caller", ["h"]),
    ("where a value came from", [":", *"origin items 1", "Enter"]),
    ("a command that fails", ["q", ":", *"nonsense", "Enter"]),
    ("the end", ["G"]),
    ("the keys", ["?"]),
]


def normal(screen: str) -> str:
    """Without what differs from run to run: times, numbers of events and objects."""
    text = re.sub(r"[━─◆]+ [\d.]+ s of [\d.]+ s, \d+ %", "<bar>", screen)
    text = re.sub(r"event \d+:\d+ ", "event <m> ", text)
    text = re.sub(r"^(  [ >]*)\d+:\d+ +", r"\1<m> ", text, flags=re.MULTILINE)
    text = re.sub(r" at \d+:\d+$", " at <m>", text, flags=re.MULTILINE)
    text = re.sub(r"#\d+>", "#n>", text)
    return "\n".join(line.rstrip() for line in text.split("\n")).rstrip("\n")


def scenes_of(path: pathlib.Path) -> dict[str, str]:
    if not path.exists():
        return {}
    parts = re.split(r"^==== (.*)\n", path.read_text(encoding="utf-8"), flags=re.M)
    return {name: text.rstrip("\n") for name, text in zip(parts[1::2], parts[2::2])}


@pytest.mark.parametrize(("columns", "rows"), SIZES)
def test_screens(terminal, shop, columns, rows):
    path = GOLDEN / f"{columns}x{rows}.txt"
    expected = scenes_of(path)
    update = bool(os.environ.get("FILMSTRIP_UPDATE_GOLDEN"))
    window = terminal(columns, rows)
    start_step(window, shop)
    seen = {}
    for name, keys in SCENES:
        window.keys(*keys)
        if update:
            time.sleep(0.7)
            seen[name] = normal(window.screen())
            continue
        deadline = time.monotonic() + 10
        while True:  # until it is drawn
            seen[name] = normal(window.screen())
            if seen[name] == expected.get(name) or time.monotonic() > deadline:
                break
            time.sleep(0.03)
        assert seen[name] == expected.get(name), name
    if update:
        GOLDEN.mkdir(parents=True, exist_ok=True)
        path.write_text(
            "".join(f"==== {name}\n{text}\n" for name, text in seen.items()),
            encoding="utf-8",
        )
    else:
        assert list(seen) == list(expected)


def test_nothing_is_drawn_outside(terminal, shop):
    """Every size from tiny to big: no row is longer than the terminal, none wraps."""
    window = terminal(80, 24)
    start_step(window, shop)
    window.keys("x")
    for columns, rows in [
        (200, 50),
        (120, 12),
        (40, 12),
        (41, 30),
        (119, 24),
        (300, 80),
    ]:
        window.resize(columns, rows)
        screen = window.wait(
            lambda screen, rows=rows: (
                "shop.film" in screen.split("\n")[0]
                and "event 1:" in screen.split("\n")[rows - 2]
            )
        )
        lines = screen.rstrip("\n").split("\n")
        assert len(lines) <= rows
        assert sum("event 1:" in line for line in lines) == 1, screen
        assert sum("shop.film" in line for line in lines) == 1, screen


def test_too_small(terminal, shop):
    window = terminal(80, 24)
    start_step(window, shop)
    window.resize(30, 8)
    window.see("30x8 is too small: at", "q ends")
    window.resize(12, 3)
    window.see("12x3 is")
    window.resize(80, 24)
    window.see("▶ class Till:", "level values")
    window.resize(30, 8)
    window.see("too small")
    window.keys("q")
    window.see("status 0")


def test_the_bar_shows_where_one_is(terminal, shop):
    window = terminal(120, 24)
    start_step(window, shop)
    shares = []
    for keys in ["g"], [":", *"time 99%", "Enter"], ["G"], ["g"]:
        window.keys(*keys)
        time.sleep(0.3)
        bar = window.screen().split("\n")[21]
        told = int(re.search(r", (\d+) %", bar)[1])
        marks = bar.split(" ")[0]
        assert set(marks) <= set("━─◆")
        assert abs(marks.index("◆") * 100 / (len(marks) - 1) - told) < 2
        shares.append(told)
    assert shares[0] == shares[3] < shares[1] <= shares[2]


# --- keys ----------------------------------------------------------------------------


def at(window: Terminal, line: int) -> str:
    return window.wait(
        lambda screen: (
            re.search(rf"^.? +{line} [▶▷] ", screen, re.MULTILINE) is not None
        )
    )


def test_step_gives_the_zoom_up_and_next_keeps_it(terminal, shop):
    """torchdbg's keys: h and l zoom, j and k stay in the frame, . and u step."""
    window = terminal()
    start_step(window, shop)
    window.run("/fn:take")
    at(window, 13)
    window.keys("j", "j")
    at(window, 16)
    window.keys("h")
    at(window, 22)
    window.keys("j")
    at(window, 26)
    window.keys("k")
    at(window, 22)
    window.keys(".")
    at(window, 14)
    window.keys("h", "u")
    at(window, 22)
    window.keys("Right", "Left", "Down", "Up")
    at(window, 22)
    window.keys("j", "j", ">")
    window.see("__main__.main")
    window.keys("BSpace")
    window.see("__main__.sell")


def test_breakpoints_and_the_cursor(terminal, shop):
    window = terminal()
    start_step(window, shop)
    for _ in range(13):
        window.keys("C-n")
    window.keys("b")
    window.see("breakpoint 1: ", "●   14")
    window.keys("c")
    at(window, 14)
    window.keys("c", "c")
    window.see("STOCK", "* item = 'pear'")
    window.keys("C")
    at(window, 14)
    window.keys("b")
    window.wait(lambda screen: "●" not in screen)
    window.keys("c")
    window.see("this is the end of the recording")
    window.keys("C")
    window.see("this is the start of the recording")


def test_a_row_of_an_answer_leads_to_its_moment(terminal, shop):
    window = terminal()
    start_step(window, shop)
    window.run(":history sell:item")
    window.see("sell  item = 'apple'", "q closes")
    window.keys("j", "j", "Enter")
    at(window, 20)
    window.see("* item = 'pear'", "wrote item = 'pear'")


def test_the_prompt(terminal, shop):
    window = terminal()
    start_step(window, shop)
    window.keys(":")
    window.type("p 'héllo 日本'")
    window.see(":p 'héllo 日本'")
    window.keys("Enter")
    window.see("'héllo 日本'")
    window.keys(":", "Up")
    window.see(":p 'héllo 日本'")
    window.keys(*["BSpace"] * 3)
    window.wait(lambda screen: screen.rstrip().endswith(":p 'héllo"))
    window.keys("C-u")
    window.type("loc")
    window.keys("Tab")
    window.see(":locals")
    window.keys("Escape")
    window.wait(lambda screen: ":locals" not in screen)
    window.keys(":")
    window.type("x" * 3000)
    window.see("x" * 70)
    window.keys("C-c")
    window.wait(lambda screen: "xxx" not in screen)
    window.keys("/")
    window.type("LookupError")
    window.keys("Enter")
    window.see("shop.py:15 ")
    window.keys("n")
    window.see("shop.py:23 ")
    window.keys("N")
    window.see("shop.py:15 ")


def test_threads(terminal, tmp_path):
    window = terminal()
    start_step(window, record(tmp_path, THREADS, "work.py"))
    window.keys("t")
    window.see("no other thread has begun here")
    window.run("/fn:work")
    window.see("thread 2 of 2, helper")
    window.keys("t")
    window.see("thread 1 of 2, MainThread", "__main__.main")
    window.keys("T")
    window.see("thread 2 of 2, helper")


def test_what_ended_the_program_is_told_at_once(terminal, tmp_path):
    window = terminal()
    start_step(window, record_dying(tmp_path))
    window.see("E goes to what ended it: ValueError: too much", "▶ def pay(amount):")
    window.keys("E")
    window.see("raises ValueError: too much", "amount = 7")


def test_every_key_of_the_table_does_something_without_harm(terminal, shop):
    """No key ends the program but q, and the screen stays whole."""
    window = terminal(100, 30)
    start_step(window, shop)
    for key in ".ujkJK<>cC}{xXE;,gGhltTpvoiHWbB/n?[]":
        window.keys(key, "Escape")
    window.keys("Home", "End", "PageUp", "PageDown", "BSpace", "Enter", "Escape", "F5")
    window.keys("g", "Escape")
    window.see("level values", "thread_start")
