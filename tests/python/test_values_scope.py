"""--values: how much of level values is recorded."""

from __future__ import annotations

import json

import pytest

from conftest import run_python
from stories import story

PROGRAM = """
class P:
    def __init__(self, x):
        self.x = x
        self.items = [x]
class S:
    __slots__ = ("a",)
G = 1
def change(l, p):
    l.append(6)
    p.items.append(3)
    return l
def main():
    global G
    p = P(1)
    l = [1, {"a": p}]
    l[0] = 5
    change(l, p)
    d = {}
    d["k"] = l
    del d["k"]
    d.update(z=1)
    G = d
    s = S()
    s.a = (2, "two")
    del s.a
    def inner():
        nonlocal l
        l = l
        return len
    return inner()
main()
"""

LOCALS = [
    "main()",
    "P.__init__(self=<P>, x=1)",
    "P.__init__ return None",
    "main: p = <P>",
    "main: l = <list>",
    "change(l=<list>, p=<P>)",
    "change return <list>",
    "main: d = <dict>",
    "main: global G = <dict>",
    "main: s = <S>",
    "main: inner = <function main.<locals>.inner>",
    "main.<locals>.inner()",
    "main.<locals>.inner: nonlocal l = <list>",
    "main.<locals>.inner return <built-in function len>",
    "main return <built-in function len>",
    "<module> return None",
]
ATTRIBUTES = [
    *LOCALS[:2],
    "P.__init__: P.x = 1",
    "P.__init__: P.items = <list>",
    *LOCALS[2:10],
    "main: S.a = <tuple>",
    "main: del S.a",
    *LOCALS[10:],
]


def record(runner, dump, *options):
    result = runner.record(PROGRAM, options=["--level", "values", *options])
    assert (result.rc, result.stderr) == (0, "")
    return result.film, dump(result.film)


def story_of_main(events):
    told = story(events)
    return told[told.index("main()") :]


@pytest.mark.parametrize(
    ("which", "expected"), [("locals", LOCALS), ("attributes", ATTRIBUTES)]
)
def test_scope(runner, dump, filmstrip, which, expected):
    film, events = record(runner, dump, "--values", which)
    assert story_of_main(events) == expected
    assert "values     " + which in filmstrip("info", film).stdout
    facts = json.loads(filmstrip("info", "--json", film).stdout)
    assert facts["values"] == which


@pytest.mark.parametrize("which", ["locals", "attributes"])
def test_names_of_one_object_have_one_serial(runner, dump, which):
    _, events = record(runner, dump, "--values", which)
    lists = {
        event["value"]["text"]
        for event in events
        if event["kind"] == "set" and event.get("name") == "l"
    }
    given = [event["args"] for event in events if "l" in event.get("args", {})]
    assert lists == {given[0]["l"]["text"]}


def test_all_is_the_default(runner, dump):
    told = [
        story_of_main(record(runner, dump, *options)[1])
        for options in ((), ("--values", "all"))
    ]
    assert told[0] == told[1]
    assert "main: list[0] = 5" in told[0]
    assert "change: change 2 [5, {'a': <P>}, 6]" in told[0]
    assert "main: S.a = (2, 'two')" in told[0]


def test_from_python(runner, dump):
    result = runner.plain(
        """
        import filmstrip

        def work():
            d = {}
            d["k"] = 1

        with filmstrip.record("a.film", level="values", values="locals"):
            work()
        try:
            filmstrip.record("a.film", values="some")
        except ValueError as error:
            print(error)
        """
    )
    assert (result.stdout, result.stderr) == (
        "'some' is none of locals, attributes, all\n",
        "",
    )
    events = dump(result.folder / "a.film")
    assert [event["name"] for event in events if event["kind"] == "set"] == ["d"]


def test_wrong_word(runner):
    result = runner.record("pass", options=["--values", "some"])
    assert result.rc == 2
    assert result.stderr == "filmstrip: 'some' is none of locals, attributes, all\n"


def test_values_are_the_default_level(runner, dump):
    """Of run, of the environment's switch and of record()."""
    program = runner.write("def f(n):\n    x = n + 1\n    return x\n\n\nf(1)\n")
    run_python(["-m", "filmstrip", "run", "-o", "a.film", program], runner.folder)
    run_python([program], runner.folder, env={"FILMSTRIP": "1"})
    runner.plain(
        """
        import filmstrip
        def f(n):
            x = n + 1
        with filmstrip.record("c.film"):
            f(1)
        """,
        name="third.py",
    )
    for name in ("a.film", "program.film", "c.film"):
        told = story(dump(runner.folder / name))
        assert "f(n=1)" in told and "f: x = 2" in told, name
