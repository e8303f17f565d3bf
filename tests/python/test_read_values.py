"""Reading values: Event's attributes say what `dump` says, texts are what repr() gives,
the log follows a running program and ends cleanly at Ctrl-C."""

from __future__ import annotations

import json
import math
import random
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from conftest import PROGRAM, clean_environment, run_python

PROGRAM_TEXT = """
import sys


class Cart:
    limit = 3

    def __init__(self):
        self.items = []

    def add(self, item, *, count=1):
        self.items.append(item)
        self.last = count
        return len(self.items)


def outer(start):
    total = start

    def inner(step):
        nonlocal total
        total += step
        return total

    inner(5)
    return total


cart = Cart()
cart.add("pear", count=2)
prices = {"pear": 1.5}
prices["apple"] = 2
del prices["pear"]
gone = 1
del gone
outer(10)
"""


def record(folder, text, name="program.py"):
    (folder / name).write_text(textwrap.dedent(text), encoding="utf-8")
    result = run_python(
        ["-m", "filmstrip", "run", "--level", "values", "-o", "out.film", name], folder
    )
    assert result.rc == 0, result.stderr
    return folder / "out.film"


def dump(film):
    answer = subprocess.run([PROGRAM, "dump", film], capture_output=True, check=True)
    return [json.loads(line) for line in answer.stdout.splitlines()]


def without_first(value):
    """`first` is told once by dump, each time by Event."""
    if isinstance(value, dict):
        return {k: without_first(v) for k, v in value.items() if k != "first"}
    if isinstance(value, list):
        return [without_first(item) for item in value]
    return value


def test_events_say_what_dump_says(tmp_path):
    film = record(tmp_path, PROGRAM_TEXT)
    script = """
    import filmstrip, json, sys
    for event in filmstrip.open(sys.argv[1]).events():
        told = {"kind": event.kind, "event": event.number}
        for key in ("value", "args", "name", "scope", "owner", "key", "length_before"):
            found = getattr(event, key)
            if found is not None:
                told[key] = found
        if event.via:
            told["via"] = True
        print(json.dumps(told))
    """
    result = run_python(["-c", textwrap.dedent(script), film], tmp_path)
    assert result.rc == 0, result.stderr
    told = [json.loads(line) for line in result.stdout.splitlines()]
    expected = dump(film)
    assert len(told) == len(expected)
    kinds = set()
    for event, known in zip(told, expected, strict=True):
        kinds.add(known["kind"])
        for key in ("kind", "event", "scope", "owner", "key", "length_before", "via"):
            assert without_first(event.get(key)) == without_first(known.get(key))
        if known["kind"] in ("set", "delete"):
            assert event.get("name") == known.get("name")
        if known["kind"] in ("set", "change", "return"):
            assert without_first(event["value"]) == without_first(known["value"])
        if known["kind"] == "call":
            assert without_first(event.get("args", {})) == without_first(known["args"])
    assert {"call", "return", "line", "set", "delete", "change"} <= kinds
    scopes = {event.get("scope") for event in expected} - {None}
    assert scopes == {"local", "nonlocal", "global", "class", "attribute", "item"}


def interesting_values():
    """Texts of literals: scalars and containers of scalars."""
    numbers = [0, -17, 223, 224, 2**62, 2**63, -(2**63) - 1, 10**40, -(10**70)]
    generator = random.Random(7)
    floats = [0.0, -0.0, 1e16, 123456789.125, 5e-324, 1.7976931348623157e308]
    for _ in range(3000):
        floats.append(generator.uniform(-1, 1) * 10.0 ** generator.randint(-310, 308))
        floats.append(round(generator.uniform(-1000, 1000), generator.randint(0, 6)))
    texts = ["", "plain", "it's", 'say "hi"', "both ' and \"", "\\ \n\r\t\x00\x7f\x85"]
    texts += ["é€", "\u2028\u202e\xad", "😀", "\U000e0001", "x" * 200, "'" * 20 + '"']
    others = [None, True, False, 1.5 - 2j, 2.5j, b"a'\x00\xff", b'"', b""]
    containers = [(), (1,), [], [1, [2.5, None]], {}, {"a": (1, 2)}, {1: {2: {}}}]
    containers += [{3}, frozenset({"x"}), set(), frozenset(), bytearray(b"ab\x00")]
    return [*numbers, *floats, *texts, *others, *containers]


def test_texts_are_what_repr_gives(tmp_path):
    values = interesting_values()
    lines = [f"x = {value!r}" for value in values]
    film = record(tmp_path, "\n".join(lines))
    told = [
        event["value"]
        for event in dump(film)
        if event["kind"] == "set" and event["name"] == "x"
    ]
    assert len(told) == len(values)
    for value, known in zip(values, told, strict=True):
        assert known["text"] == repr(value)
        assert known["type"] == type(value).__name__
        assert "cut" not in known
        if isinstance(value, float):
            assert math.copysign(1, float(known["text"])) == math.copysign(1, value)


@pytest.mark.parametrize("length", [257, 5000])
def test_long_texts_are_cut_and_measured(tmp_path, length):
    film = record(tmp_path, f"x = 'ab' * {length}\ny = list(range({length}))\n")
    told = {e["name"]: e["value"] for e in dump(film) if e["kind"] == "set"}
    assert told["x"]["cut"] and told["x"]["length"] == 2 * length
    assert told["x"]["text"].startswith("'abab") and told["x"]["text"].endswith("'...")
    assert told["y"]["cut"] and told["y"]["length"] == length
    assert told["y"]["text"].startswith("[0, 1, ") and told["y"]["text"].endswith(
        ", ...]"
    )


def test_follow_shows_values_and_ends_at_an_interrupt(tmp_path):
    (tmp_path / "slow.py").write_text(
        "import sys, time\nfor turn in range(1000):\n    time.sleep(0.05)\n"
    )
    program = subprocess.Popen(
        [sys.executable, "-m", "filmstrip", "run", "--level", "values", "-o"]
        + ["live.film", "slow.py"],
        cwd=tmp_path,
        env=clean_environment(),
    )
    try:
        film = tmp_path / "live.film"
        deadline = time.monotonic() + 20
        while not film.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        follower = subprocess.Popen(
            [PROGRAM, "log", "--follow", "--variable", "turn", film],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert follower.stdout is not None
        lines = [follower.stdout.readline() for _ in range(5)]
        assert "upd turn -> 0" in lines[0]
        assert "upd turn 3 -> 4" in lines[4]
        follower.send_signal(signal.SIGINT)
        rest = follower.stdout.read()
        assert follower.wait(timeout=10) == 0
        assert rest == "" or rest.endswith("\n")
    finally:
        program.kill()
        program.wait()


def test_follow_ends_with_the_program(tmp_path):
    (tmp_path / "short.py").write_text(
        "import time\nfor turn in range(10):\n    time.sleep(0.05)\n"
    )
    program = subprocess.Popen(
        [sys.executable, "-m", "filmstrip", "run", "--level", "values", "-o"]
        + ["live.film", "short.py"],
        cwd=tmp_path,
        env=clean_environment(),
    )
    film = tmp_path / "live.film"
    deadline = time.monotonic() + 20
    while not film.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    answer = subprocess.run(
        [PROGRAM, "log", "--follow", "--variable", "turn", film],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert program.wait(timeout=20) == 0
    told = [line.split("upd ")[1] for line in answer.stdout.splitlines()]
    assert told == ["turn -> 0", *(f"turn {n} -> {n + 1}" for n in range(9))]
