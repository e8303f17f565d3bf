"""How values are written: arguments, returned values, variables."""

import enum

import objwatch
from objwatch.wrappers import BaseWrapper


class Colour(enum.Enum):
    RED = 1
    GREEN = "g"


class Plain:
    pass


class Named:
    __slots__ = ("name",)


def echo(value):
    kept = value
    again = kept
    return value


def many(first, second=2, *rest, key=None, **others):
    return first, second


def keywords(first, **others):
    return others


def main():
    for value in (
        None,
        True,
        0,
        -7,
        12345678901234567890,
        1.0,
        2.5e300,
        1e-7,
        float("inf"),
        "plain",
        "two\nlines",
        "",
        "it's",
        b"bytes",
        1j,
        [],
        [1],
        [1, 2, 3],
        [1, 2, 3, 4],
        [1, 2, 3, 4, 5, 6, 7],
        ["a", "b"],
        [1.5, None, True, "x"],
        [[1], [2]],
        (),
        (1,),
        (1, "two", 3.0, 4),
        set(),
        {1},
        {"only"},
        frozenset({1}),
        {},
        {"a": 1},
        {"a": 1, "b": 2, "c": 3, "d": 4},
        {1: None, 2: "it's"},
        {"a": [1]},
        {(1, 2): 3},
        Plain(),
        Named(),
        [Plain(), Plain()],
        [1, 2, 3, Plain()],
        Colour.RED,
        [Colour.GREEN],
        Plain,
        range(3),
        ValueError("no"),
        bytearray(b"x"),
    ):
        echo(value)
    many(1)
    many(1, [2], 3, 4, key=5, other=6)
    keywords(1, a=2, b="x")
    keywords(1)


with objwatch.ObjWatch(["values.py"], with_locals=True, wrapper=BaseWrapper):
    main()
