"""A ring at level values: what was told long ago is told again before it is dropped."""

from __future__ import annotations

import json

from conftest import run_program

PROGRAM = """
import random, sys
rng = random.Random(7)
class Node:
    def __init__(self, name):
        self.name = name
        self.parts = []
        self.peer = None
class Slotted:
    __slots__ = ("value", "next")
def fail(number):
    raise ValueError("the same message of every turn, long enough for a record")
def make():
    nodes = [Node("a name that is too long for a token, number %d" % i) for i in range(40)]
    for node in nodes:
        node.peer = nodes[rng.randrange(40)]
        node.parts = [rng.random() for _ in range(5)]
    return nodes
def turn(number, nodes, table, grown, pair, text, big, fixed):
    node = nodes[number % 40]
    node.name = text
    node.peer = nodes[(number * 7) % 40]
    other = node.peer
    node.parts = [rng.random() for _ in range(12)]
    table["key %d which is a long one, too long for a token" % (number % 30)] = node
    grown.append((node, number))
    if len(grown) > 200:
        grown.clear()
    same = pair
    number_kept = big
    blob = fixed
    try:
        fail(number)
    except ValueError as error:
        last = error
    slot = Slotted()
    slot.value = table
    slot.next = nodes
    return other
def main():
    nodes = make()
    table, grown = {}, []
    pair = (nodes[0], (nodes[1], "another text that is longer than a token holds"))
    text = "the one text that stays the same, which is longer than a token holds"
    big, fixed = 3 ** 200, b"bytes that stay the same, all the time, here"
    for number in range(int(sys.argv[1])):
        turn(number, nodes, table, grown, pair, text, big, fixed)
main()
"""

TURNS = 70_000
TEXT = "the one text that stays the same, which is longer than a token holds"


def texts(part):
    """Every value's text, but for what objects held when they were told first: they
    lead from one to the next, back to the beginning of the run."""
    if isinstance(part, list):
        for item in part:
            yield from texts(item)
    elif isinstance(part, dict):
        if "text" in part:
            yield part["text"]
        for name, item in part.items():
            if name != "first":
                yield from texts(item)


def test_every_value_of_a_ring_resolves(runner):
    result = runner.record(
        PROGRAM, str(TURNS), options=["--level", "values", "--ring", "4M"], timeout=250
    )
    assert (result.rc, result.stderr) == (0, "")
    info = json.loads(run_program("info", "--json", result.film).stdout)
    assert info["overwritten"] > 4 * info["events"]  # far beyond the ring
    assert info["lost_events"] == 0
    told = run_program("dump", result.film)
    assert (told.rc, told.stderr) == (0, "")
    turns = 0
    for line in told.stdout.splitlines():
        event = json.loads(line)
        for text in texts(event):
            assert "<not recorded>" not in text and "<not in the rec" not in text, event
        if event["kind"] == "call" and event["function"].endswith(".turn"):
            given = {name: value["text"] for name, value in event["args"].items()}
            assert given["text"] == repr(TEXT)
            assert given["big"] == str(3**200)
            assert given["fixed"] == repr(
                b"bytes that stay the same, all the time, here"
            )
            assert given["pair"].endswith(
                "'another text that is longer than a token holds'))"
            )
            turns += 1
        elif event["kind"] == "raise":
            assert event["exception"]["message"].startswith(
                "the same message of every turn"
            )
    assert turns > 1000
