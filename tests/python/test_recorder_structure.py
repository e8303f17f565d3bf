"""What the recorder writes: the structure of calls, generators and exceptions.

Programs are recorded through filmstrip._recorder itself and read back with `dump`, so
that a fault here is the recorder's.
"""

from __future__ import annotations

import textwrap

import pytest

HEAD = """
import os, sys, sysconfig
from filmstrip import _recorder

OPTIONS = {"stdlib_dirs": [sysconfig.get_path("stdlib")]}
"""


@pytest.fixture
def recorded(runner, dump):
    """Runs HEAD, the given text with its main() recorded, and gives the events from
    the call of main on."""

    def run(text, *, options="", film="out.film"):
        program = (
            HEAD
            + textwrap.dedent(text)
            + textwrap.dedent(
                f"""
                _recorder.start("out.film", **OPTIONS, {options})
                try:
                    main()
                finally:
                    stats = _recorder.stop()
                assert not stats["stopped"] and stats["lost"] == 0, stats
                """
            )
        )
        result = runner.plain(program)
        assert result.rc == 0, result.stderr
        assert result.stderr == ""
        return dump(runner.folder / film)

    return run


def of_thread(events, thread=1):
    return [event for event in events if event["thread"] == thread]


def steps(events, thread=1):
    """kind and last part of the function's name of each event with a frame."""
    names = {}
    result = []
    for event in of_thread(events, thread):
        if event["kind"] == "call":
            names[event["frame"]] = event["function"].rsplit(".", 1)[-1]
        if "frame" in event:
            result.append((event["kind"], names.get(event["frame"], "?")))
    return result


def check_balance(events):
    """Every frame that begins ends once, and nothing happens in a frame that has
    ended."""
    open_frames, ended = set(), set()
    for event in events:
        frame = event.get("frame")
        if frame is None:
            continue
        assert frame not in ended, event
        if event["kind"] == "call":
            assert frame not in open_frames
            open_frames.add(frame)
        elif event["kind"] in ("return", "unwind"):
            open_frames.discard(frame)
            ended.add(frame)
    return open_frames


def test_calls_have_their_callers_line(recorded):
    events = recorded(
        """
        def leaf():
            pass

        def main():
            leaf()
            (
                leaf
            )()
            sorted([1], key=lambda x: leaf())
        """
    )
    calls = [
        (event["function"], event["caller_line"])
        for event in events
        if event["kind"] == "call"
    ]
    first = next(event for event in events if event["kind"] == "call")["line"]
    lines = [line - first for name, line in calls[1:]]
    assert [name for name, _ in calls] == [
        "__main__.main",
        "__main__.leaf",
        "__main__.leaf",
        "__main__.main.<locals>.<lambda>",
        "__main__.leaf",
    ]
    assert lines[0] == 1 and lines[1] in (2, 3, 4) and lines[2:] == [5, 5]


def test_generators(recorded):
    events = recorded(
        """
        def numbers():
            got = yield 1
            yield got

        def delegate():
            return (yield from numbers())

        def main():
            g = delegate()
            next(g)
            g.send(5)
            for _ in g:
                pass
        """
    )
    seen = [step for step in steps(events) if step[0] != "raise"]
    assert seen == [
        ("call", "main"),
        ("call", "delegate"),
        ("call", "numbers"),
        ("yield", "numbers"),
        ("yield", "delegate"),
        ("resume", "delegate"),
        ("resume", "numbers"),
        ("yield", "numbers"),
        ("yield", "delegate"),
        ("resume", "delegate"),
        ("resume", "numbers"),
        ("return", "numbers"),
        ("return", "delegate"),
        ("return", "main"),
    ]
    check_balance(events)


def test_generator_keeps_its_frame_in_another_thread(recorded):
    events = recorded(
        """
        import threading

        def numbers():
            yield 1
            yield 2

        def step(g):
            next(g)

        def main():
            g = numbers()
            next(g)
            thread = threading.Thread(target=step, args=(g,))
            thread.start()
            thread.join()
            list(g)
        """
    )
    (frame,) = (
        event["frame"]
        for event in events
        if event["kind"] == "call" and event["function"].endswith("numbers")
    )
    resumes = [event for event in events if event["kind"] == "resume"]
    assert sorted(event["thread"] for event in resumes) == [1, 2]
    assert {event["frame"] for event in resumes} == {frame}
    check_balance(sorted(events, key=lambda event: event["time_ns"]))


def test_throw_and_close(recorded):
    events = recorded(
        """
        def guarded():
            try:
                yield 1
            except KeyError:
                yield 2

        def main():
            g = guarded()
            next(g)
            g.throw(KeyError("k"))
            g.close()
            h = guarded()
            next(h)
            del h
            after()

        def after():
            pass
        """
    )
    kinds = steps(events)
    assert ("throw", "guarded") in kinds
    throw = next(event for event in events if event["kind"] == "throw")
    assert throw["exception"] == {"type": "KeyError", "message": "'k'"}
    assert ("handled", "guarded") in kinds
    # Whatever the version tells of closing, the stack is right afterwards.
    after = next(
        event
        for event in events
        if event["kind"] == "call" and event["function"].endswith("after")
    )
    assert after["caller_line"] is not None
    assert kinds[-2:] == [("return", "after"), ("return", "main")]


def test_coroutines_and_async_generators(recorded):
    events = recorded(
        """
        import asyncio

        async def leaf(n):
            await asyncio.sleep(0)
            return n

        async def numbers():
            for n in range(3):
                yield await leaf(n)

        async def top():
            total = 0
            async for n in numbers():
                total += n
            results = await asyncio.gather(leaf(1), leaf(2), leaf(3))
            assert total == 3 and results == [1, 2, 3]

        def main():
            asyncio.run(top())
        """
    )
    counts = {}
    for event in events:
        if event["kind"] == "call":
            counts[event["function"]] = counts.get(event["function"], 0) + 1
    assert counts == {
        "__main__.main": 1,
        "__main__.top": 1,
        "__main__.numbers": 1,
        "__main__.leaf": 6,
    }
    assert check_balance(events) == set()
    assert sum(event["kind"] == "resume" for event in events) == sum(
        event["kind"] == "yield" for event in events
    )


def test_exceptions(recorded):
    events = recorded(
        """
        def fails():
            raise ValueError("bad " + "value")

        def passes():
            fails()

        def main():
            try:
                passes()
            except ValueError:
                pass
        """
    )
    assert steps(events) == [
        ("call", "main"),
        ("call", "passes"),
        ("call", "fails"),
        ("raise", "fails"),
        ("unwind", "fails"),
        ("raise", "passes"),
        ("unwind", "passes"),
        ("raise", "main"),
        ("handled", "main"),
        ("return", "main"),
    ]
    for event in events:
        if event["kind"] in ("raise", "unwind", "handled"):
            assert event["exception"] == {"type": "ValueError", "message": "bad value"}
    lines = [event["line"] for event in events if event["kind"] == "raise"]
    assert lines == sorted(lines)


def test_without_exceptions(recorded):
    events = recorded(
        """
        def fails():
            raise ValueError("bad")

        def main():
            try:
                fails()
            except ValueError:
                pass
        """,
        options="exceptions=False",
    )
    assert steps(events) == [
        ("call", "main"),
        ("call", "fails"),
        ("unwind", "fails"),
        ("return", "main"),
    ]


def test_c_functions(recorded):
    events = recorded(
        """
        def main():
            len([])
            [].append(1)
            try:
                int.from_bytes(b"", "no such order")
            except ValueError:
                pass
        """,
        options="c_calls=True",
    )
    calls = [
        (event["kind"], event["function"])
        for event in events
        if event["kind"].startswith("c_")
    ]
    for function, ending in [
        ("builtins.len", "c_return"),
        ("list.append", "c_return"),
        ("int.from_bytes", "c_raise"),
    ]:
        at = calls.index(("c_call", function))
        assert calls[at + 1] == (ending, function)


def test_recursion_to_any_depth(recorded):
    events = recorded(
        """
        sys.setrecursionlimit(60_000)

        def down(n):
            if n:
                down(n - 1)

        def main():
            down(20_000)
        """
    )
    assert sum(event["kind"] == "call" for event in events) == 20_002
    assert check_balance(events) == set()


def test_recursion_error_and_limit(recorded):
    events = recorded(
        """
        def depth(n=0):
            try:
                return depth(n + 1)
            except RecursionError:
                return n

        def main():
            pass

        bare = depth()
        real = main

        def main():
            assert depth() == bare - 1, (depth(), bare)
            real()
        """
    )
    assert check_balance(events) == set()


def test_frames_open_at_the_start(recorded, runner, dump):
    program = HEAD + textwrap.dedent(
        """
        def leaf():
            pass

        def inner():
            _recorder.start("out.film", **OPTIONS)
            leaf()

        def outer():
            inner()
            leaf()

        outer()
        leaf()
        _recorder.stop()
        """
    )
    result = runner.plain(program)
    assert (result.rc, result.stderr) == (0, "")
    events = dump(runner.folder / "out.film")
    calls = [event for event in events if event["kind"] == "call"]
    assert [event["function"] for event in calls] == ["__main__.leaf"] * 3
    assert all(event["caller_line"] for event in calls)
    assert [event["kind"] for event in events if "frame" in event] == [
        "call",
        "return",
        "return",
        "call",
        "return",
        "return",
        "call",
        "return",
    ]


def test_pause(recorded):
    events = recorded(
        """
        def seen():
            pass

        def unseen():
            _recorder.pause()
            seen()

        def main():
            seen()
            unseen()
            seen()
            _recorder.resume()
            seen()
        """
    )
    assert steps(events) == [
        ("call", "main"),
        ("call", "seen"),
        ("return", "seen"),
        ("call", "unseen"),
        ("call", "seen"),
        ("return", "seen"),
        ("return", "main"),
    ]


def test_second_recording_has_its_own_targets(runner, dump):
    program = HEAD + textwrap.dedent(
        """
        import textwrap

        def mine():
            textwrap.dedent(" x")

        for number, target in enumerate(["__main__", "textwrap", "__main__"]):
            _recorder.start(f"{number}.film", targets=[target], **OPTIONS)
            mine()
            mine()
            _recorder.stop()
        """
    )
    result = runner.plain(program)
    assert (result.rc, result.stderr) == (0, "")
    for number, function in enumerate(["__main__.mine", "textwrap.dedent"]):
        calls = [
            event["function"]
            for event in dump(runner.folder / f"{number}.film")
            if event["kind"] == "call"
        ]
        assert calls == [function] * 2
    assert [
        event["function"]
        for event in dump(runner.folder / "2.film")
        if event["kind"] == "call"
    ] == ["__main__.mine"] * 2


def test_greenlets(recorded):
    pytest.importorskip("greenlet")
    events = recorded(
        """
        import greenlet

        def step():
            pass

        def one():
            step()
            second.switch()
            step()
            second.switch()

        def two():
            step()
            first.switch()
            step()

        def main():
            global first, second
            first, second = greenlet.greenlet(one), greenlet.greenlet(two)
            first.switch()
        """
    )
    counts = {}
    for event in events:
        if event["kind"] == "call":
            counts[event["function"]] = counts.get(event["function"], 0) + 1
    assert counts == {
        "__main__.main": 1,
        "__main__.one": 1,
        "__main__.two": 1,
        "__main__.step": 4,
    }
    ended = {event["frame"] for event in events if event["kind"] == "return"}
    begun = {event["frame"] for event in events if event["kind"] == "call"}
    assert ended <= begun
