"""Where code that is no target calls code that is: filmstrip.watch tells it, and
--outer-calls. Caller and target lie in different files here."""

from __future__ import annotations

import sys

import pytest

from conftest import dump_events
from proof import films

# Objects whose deaths nobody tells of (objects.h): what holds them is looked at.
LIBRARY = """
    import array, collections, io
    MAKERS = {
        "object": object, "BytesIO": lambda: io.BytesIO(b"x"), "array": lambda: array.array("i", [1]),
        "OrderedDict": lambda: collections.OrderedDict(a=1),
    }
    class Kept: pass
    def step(make):
        a = make()
        a = None
        b = make()
        kept = Kept()
        kept.b = b
        def inner():
            return b, kept.b
        c = inner()
        b = [c, make()]
        b.append(a)
        return len(b)
    def walk(count, make):
        for n in range(count):
            got = yield make()
            got = [got, n]
    def through(function, *rest):
        result = function(*rest)
        return result
"""

CALLER = """
    import filmstrip, functools, library, threading
    def deep(n, make):
        return library.step(make) if n == 0 else deep(n - 1, make)
    def work():
        total = 0
        for name, make in library.MAKERS.items():
            for n in range(3):
                total += library.step(make) + deep(n, make)
                total += functools.reduce(lambda a, b: a + library.step(make), range(2), 0)
                total += library.through(lambda: library.through(library.step, make))
            for thing in library.walk(3, make):
                library.through(deep, 1, make)
        return total
    def main():
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(work())
"""

# In `work`: 4 makers, 3 turns of 5 steps each, and 3 of one each within a generator.
STEPS = 4 * (3 * (1 + 1 + 2 + 1) + 3)


@pytest.fixture
def caller(runner):
    runner.write(LIBRARY, "library.py")
    runner.write(CALLER, "caller.py")
    return runner


def test_watch_of_another_file(caller):
    """Segmentation faults on 3.11 to 3.13, once: a caller's frame was followed by a
    pointer that was no pointer."""
    program = "import filmstrip, caller\nwatch = filmstrip.watch(['library'])\ncaller.main()\nwatch.stop()\n"
    result = caller.plain(program)
    assert result.rc == 0, result.stderr[-2000:]
    assert (
        f"{4 * 3 * (1 + 1 + 2 + 1) * 4}".isdigit() and result.stdout.strip().isdigit()
    )
    assert result.stderr.count("run library.step") == 4 * STEPS


@pytest.mark.parametrize(
    "options", [[], ["--c-calls"], ["--values", "locals"], ["--level", "calls"]]
)
def test_outer_calls(caller, options):
    program = "import caller\ncaller.main()\n"
    plain = caller.plain(program)
    recorded = caller.record(
        None,
        options=["--level", "values", "--outer-calls", "--target", "library", *options],
    )
    assert (recorded.rc, recorded.stdout, recorded.stderr) == (
        plain.rc,
        plain.stdout,
        plain.stderr,
    )
    films.check(recorded.film)
    events = dump_events(recorded.film)
    calls = [event for event in events if event["kind"] == "call"]
    steps = [event for event in calls if event["function"] == "library.step"]
    assert len(steps) == 4 * STEPS
    # Each has a line that called it: in caller.py, but for those from within library.py.
    lines = (caller.folder / "caller.py").read_text().splitlines()
    lines += (caller.folder / "library.py").read_text().splitlines()
    for event in steps:
        assert event["caller_line"]
    told = {lines[event["caller_line"] - 1].strip() for event in steps}
    assert "return library.step(make) if n == 0 else deep(n - 1, make)" in told
    # Code that is no target is told of as a caller, and is not recorded itself.
    assert {event["function"].partition(".")[0] for event in calls} == {"library"}


def test_outer_calls_change_nothing_else(caller):
    program = "import caller\ncaller.work()\n"
    told = []
    for options in ([], ["--outer-calls"]):
        caller.write(program, "program.py")
        film = caller.record(
            None, options=["--level", "values", "--target", "library", *options]
        ).film
        told.append(
            [
                (event["kind"], event.get("line"), event.get("name"))
                for event in dump_events(film)
                if event["kind"] in ("call", "line", "set", "change", "return", "yield")
            ]
        )
    assert told[0] == told[1] and len(told[0]) > 500


GREENLETS = """
    # greenlet's own test of a switch at an unexpected moment: the trace function itself
    # switches, so that a greenlet is left behind in the middle of it.
    import atexit, greenlet
    switch_to_second = False
    order = []
    def trace(*args):
        global switch_to_second
        order.append(args[0])
        if switch_to_second:
            switch_to_second = False
            second.switch()
        order.append("left")
    def run_first():
        global switch_to_second
        switch_to_second = True
        greenlet.getcurrent().parent.switch()
        order.append("first")
    def run_second():
        first.switch()
        order.append("second")
    def bye(words):
        words.append(len(words))
        kept = [words, list(words)]
        print(kept[1])
    atexit.register(bye, order)
    greenlet.settrace(trace)
    first, second = greenlet.greenlet(run_first), greenlet.greenlet(run_second)
    first.switch()
    bye(["main"])
    {end}
"""


@pytest.mark.parametrize(
    "options", [[], ["--all"], ["--outer-calls", "--target", "program.py"]]
)
@pytest.mark.parametrize("end", ["second.switch()", "pass"])
def test_greenlets_that_are_left_behind(runner, options, end):
    """A segmentation fault at exit, once: the frame that was last seen was taken for the
    caller of whatever came next."""
    pytest.importorskip("greenlet")
    plain = runner.plain(GREENLETS.format(end=end))
    assert plain.rc == 0, plain.stderr
    recorded = runner.record(None, options=["--level", "values", *options])
    assert (recorded.rc, recorded.stdout, recorded.stderr) == (
        plain.rc,
        plain.stdout,
        plain.stderr,
    )
    films.check(recorded.film)
    events = dump_events(recorded.film)
    assert films.calls_of(events, "bye") == 2
    # (What a trace function runs is hidden from all hooks, ours too.)
    assert films.calls_of(events, "run_first") == 1


def test_a_call_from_far(runner):
    """Code that is no target lies between a target and its caller, deep: a call does not
    walk it all, and what is read of callers is right all the same."""
    runner.write(
        """
        def far(n, function):
            return function() if n == 0 else far(n - 1, function)
        """,
        "between.py",
    )
    program = """
        import between, sys
        sys.setrecursionlimit(5000)
        def outer(depth):
            values = []
            total = 0
            def inner():
                nonlocal total
                total += 1
                values.append(total)
                return between.far(depth, last) if total < 3 else total
            def last():
                values.append("last")
                return inner()
            return (n := depth) and between.far(depth, inner), values, n
        for depth in (5, 50, 300, 900):
            print(outer(depth))
    """
    plain = runner.plain(program)
    recorded = runner.record(
        None, options=["--level", "values", "--target", "program.py"]
    )
    assert (recorded.rc, recorded.stdout) == (0, plain.stdout), recorded.stderr
    totals = [
        event["value"]["text"]
        for event in dump_events(recorded.film)
        if event["kind"] == "set" and event["name"] == "total"
    ]
    assert totals == ["0", "1", "2", "3"] * 4
    names = [
        (event["name"], event["value"]["text"])
        for event in dump_events(recorded.film)
        if event["kind"] == "set" and event["name"] == "n"
    ]
    assert names == [("n", str(depth)) for depth in (5, 50, 300, 900)]
    if sys.version_info >= (3, 12):
        assert "unknown edges" not in films.check(recorded.film)
