"""Which exceptions are told: those of the program, with the lines that handle them. What
the interpreter raises and catches on its own, to end a loop or an await, is not."""

from __future__ import annotations

import sys

import pytest

from conftest import Runner, dump_events

PROGRAM = """\
import asyncio


class Numbers:
    def __init__(self):
        self.left = 2

    def __iter__(self):
        return self

    def __next__(self):
        if self.left == 0:
            raise StopIteration  # line 13
        self.left -= 1
        return self.left

    def __aiter__(self):
        return self

    async def __anext__(self):
        if self.left == 0:
            raise StopAsyncIteration  # line 22
        self.left -= 1
        return self.left


async def mends():
    try:
        await asyncio.sleep(100)
    except asyncio.CancelledError:  # line 30
        return 5


async def awaits():
    result = await mends()
    return result


async def cancels():
    task = asyncio.ensure_future(awaits())
    await asyncio.sleep(0)
    task.cancel()
    return await task


def inner():
    try:
        yield 1
    except KeyError:  # line 49
        return 7


def outer():
    result = yield from inner()
    yield result


def delegates():
    generator = outer()
    next(generator)
    return generator.throw(KeyError("k"))


def loops():
    total = 0
    for number in Numbers():
        total += number
    return total


async def waits():
    total = 0
    async for number in Numbers():
        total += number
    return total


def binds():
    try:
        int("x")  # line 80
    except ValueError as error:  # line 81
        return len(error.args)


def nests():
    try:
        try:
            {}["k"]  # line 88
        finally:
            marker = 1
    except KeyError:  # line 91
        return marker


def ends():
    generator = iter(())
    try:
        next(generator)  # line 98
    except StopIteration:  # line 99
        return 3


def main():
    assert asyncio.run(cancels()) == 5
    assert delegates() == 7
    assert loops() == 1
    assert asyncio.run(waits()) == 1
    assert binds() == 1
    assert nests() == 1
    assert ends() == 3


main()
"""

KINDS = ("raise", "handled", "throw", "resume", "unwind")


@pytest.fixture(scope="module", params=["calls", "values"])
def told(request, tmp_path_factory):
    """By function: what its events of exceptions are, and their lines."""
    runner = Runner(tmp_path_factory.mktemp("exceptions"))
    result = runner.record(PROGRAM, options=["--level", request.param])
    assert result.rc == 0, result.stderr
    functions, story = {}, {}
    for event in dump_events(result.film):
        if event["kind"] == "call":
            functions[event["frame"]] = event["function"].rsplit(".", 1)[1]
        if event["kind"] in KINDS and event.get("frame") in functions:
            name = functions[event["frame"]]
            kind = event.get("exception", {}).get("type")
            story.setdefault(name, []).append((event["kind"], kind, event["line"]))
    return story


def without_resumes(story):
    return [event for event in story if event[0] != "resume"]


def test_an_await_that_goes_on_after_a_throw_raised_nothing(told):
    assert [kind for kind, _, _ in told["awaits"]] == ["resume"]
    assert without_resumes(told["mends"])[0] == ("throw", "CancelledError", 29)
    assert ("handled", "CancelledError", 30) in told["mends"]


def test_a_yield_from_that_goes_on_after_a_throw_raised_nothing(told):
    exceptions = {kind for _, kind, _ in told["outer"]}
    assert exceptions <= {None, "GeneratorExit"}  # what is left of it is closed
    assert ("handled", "KeyError", 49) in told["inner"]


def test_loops_end_without_an_exception(told):
    assert "loops" not in told
    assert without_resumes(told.get("waits", [])) == []
    assert ("raise", "StopIteration", 13) in told["__next__"]
    assert ("raise", "StopAsyncIteration", 22) in told["__anext__"]


def test_a_handler_is_told_once_with_its_line(told):
    assert told["binds"] == [("raise", "ValueError", 80), ("handled", "ValueError", 81)]
    assert told["nests"][0] == ("raise", "KeyError", 88)
    # 3.11 does not say that `finally` raises again.
    handler = 91 if sys.version_info >= (3, 12) else 90
    assert told["nests"][-1] == ("handled", "KeyError", handler)
    assert told["ends"] == [
        ("raise", "StopIteration", 98),
        ("handled", "StopIteration", 99),
    ]


def test_every_handler_has_a_line(told):
    for story in told.values():
        assert all(line for kind, _, line in story if kind == "handled"), story
