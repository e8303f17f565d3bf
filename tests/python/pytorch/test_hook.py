"""When the hook is on, whatever way torch came in and whatever was recorded before; and
that it loses no call, however the call is written and however hot its loop is."""

from __future__ import annotations

import collections
import json
import pathlib

import pytest

from conftest import Runner, dump_events, run_program

# How torch comes in. `first` is the first operation after it, `last` comes later.
WAYS = {
    "module": """
        import torch
        first = torch.ones(2)
        last = torch.mul(first, 2)
    """,
    "function": """
        def main():
            import torch
            first = torch.ones(2)
            last = torch.mul(first, 2)
        main()
    """,
    "thread": """
        import threading
        def work():
            import torch
            first = torch.ones(2)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        import torch
        last = torch.mul(torch.tensor(2), 2)
    """,
    "submodule": """
        from torch.nn.functional import relu
        import torch
        first = torch.ones(2)
        last = torch.mul(first, 2)
    """,
    "reload": """
        import importlib, torch
        try:
            importlib.reload(torch)
        except RuntimeError:
            print("it cannot be")  # a library is registered once
        first = torch.ones(2)
        last = torch.mul(first, 2)
    """,
    "again after it failed": """
        import builtins
        real = builtins.__import__
        def refuse(name, *rest):
            if name == "torch._tensor":
                builtins.__import__ = real
                raise ImportError("not yet")
            return real(name, *rest)
        builtins.__import__ = refuse
        try:
            import torch
        except ImportError as error:
            print(error)
        import torch
        first = torch.ones(2)
        last = torch.mul(first, 2)
    """,
}

BEGINS = """
    import builtins, sys
    import filmstrip

    def main():
        import torch
        first = torch.ones(2)
        last = torch.mul(first, 2)

    def paused():
        filmstrip.pause()
        import torch
        filmstrip.resume()
        main()

    def within():
        '''The recording begins while torch's body runs.'''
        real = builtins.__import__
        def spy(name, *rest):
            if name == "torch.nn.functional":
                builtins.__import__ = real
                filmstrip.start("1.film", level=LEVEL)
            return real(name, *rest)
        builtins.__import__ = spy
        main()
        filmstrip.stop()

    HOW, LEVEL = sys.argv[1:]
    if HOW == "within":
        within()
    elif HOW == "before":
        import torch
        with filmstrip.record("1.film", level=LEVEL):
            main()
    else:
        with filmstrip.record("1.film", level=LEVEL):
            paused()
"""

TURNS = 6_000  # more than it takes to specialise a call, or to try once more

HOT = f"""
    import functools
    import torch
    from torch import add

    N = {TURNS}

    def forms(a, b):
        two, named = (a, b), {{"input": a, "other": b}}
        bound, half, held = a.add, functools.partial(torch.add, a), torch.Tensor.add
        for _ in range(N):
            add(a, b)
        for _ in range(N):
            torch.add(a, other=b)
        for _ in range(N):
            add(*two)
        for _ in range(N):
            add(**named)
        for _ in range(N):
            a.add(b)
        for _ in range(N):
            a.add(other=b)
        for _ in range(N):
            bound(b)
        for _ in range(N):
            half(b)
        for _ in range(N):
            held(a, b)
        for _ in range(N):
            a + b
        for _ in map(torch.add, [a] * N, [b] * N):
            pass
        for _ in map(a.add, [b] * N):
            pass
        [add(a, b) for _ in range(N)]

    def others(a, b):
        neg = a.neg
        for _ in range(N):
            a.neg()
        for _ in range(N):
            neg()
        for _ in range(N):
            -a
        for _ in range(N):
            a[0]
        for _ in range(N):
            a[1:] = 2
        for _ in range(N):
            a.add_(b)
        for _ in range(N):
            a.apply_(float)
        for _ in range(N):
            try:
                a.view(7)
            except RuntimeError:
                pass
        for _ in range(N):
            torch.nn.functional.relu(a)

    forms(torch.ones(2), torch.ones(2))
    others(torch.ones(2), torch.ones(2))
"""
FORMS, OTHERS = 13, 9

RECORDINGS = """
    import sys
    import torch
    import filmstrip

    def main():
        a = torch.ones(2)
        torch.nn.functional.relu(a)
        try:
            torch.nn.functional.dropout(a, 7.0)
        except ValueError:
            pass
        torch.einsum("i,i->i", a, a)
        a.norm()

    main()
    for number, torch_option in enumerate(("off", "ops", "off", "ops", "ops")):
        with filmstrip.record(f"{number}.film", level=sys.argv[1], torch=torch_option):
            main()
            if number == 3 and hasattr(sys, "monitoring"):
                sys.monitoring.restart_events()  # as another tool would
            main()
"""


def told(film: pathlib.Path) -> list[tuple[str, str]]:
    """The operations, and the calls and ends of torch's own functions, in order."""
    found, names = [], {}
    for event in dump_events(film):
        kind = event["kind"]
        if kind == "call":
            names[event["frame"]] = event["function"]
        name = event.get("function") or names.get(event.get("frame"), "")
        if kind in ("op", "op_end") or (
            kind in ("call", "return", "unwind") and name.startswith("torch.")
        ):
            found.append((kind, name if kind != "op_end" else ""))
    return found


def operations(film: pathlib.Path) -> list[str]:
    """Those that the programs here call, in order of time."""
    only = ["--function", "torch.ones", "--function", "torch.mul"]
    result = run_program("log", "--format", "json", *only, film)
    assert (result.rc, result.stderr) == (0, "")
    events = map(json.loads, result.stdout.splitlines())
    return [event["function"] for event in events if event["kind"] == "op"]


@pytest.mark.parametrize("level", ["calls", "lines", "values"])
@pytest.mark.parametrize("way", WAYS)
def test_on_when_torch_has_come(runner: Runner, way: str, level: str) -> None:
    result = runner.record(WAYS[way], options=["--level", level])
    assert (result.rc, result.stderr) == (0, "")
    assert operations(result.film)[-2:] == ["torch.ones", "torch.mul"]


@pytest.mark.parametrize("level", ["calls", "values"])
@pytest.mark.parametrize("way", ["module", "thread"])
def test_on_when_all_code_is_recorded(runner: Runner, way: str, level: str) -> None:
    options = ["--all", "--level", level]
    result = runner.record(WAYS[way], options=options, timeout=250)
    assert (result.rc, result.stderr) == (0, "")
    assert operations(result.film)[-2:] == ["torch.ones", "torch.mul"]


@pytest.mark.parametrize("level", ["calls", "values"])
@pytest.mark.parametrize("how", ["before", "paused", "within"])
def test_on_whenever_the_recording_begins(runner: Runner, how: str, level: str) -> None:
    result = runner.plain(BEGINS, how, level)
    assert (result.rc, result.stderr) == (0, "")
    assert operations(runner.folder / "1.film")[-2:] == ["torch.ones", "torch.mul"]


@pytest.mark.parametrize("level", ["calls", "values"])
def test_no_form_of_a_call_is_lost_in_a_hot_loop(runner: Runner, level: str) -> None:
    result = runner.record(HOT, options=["--level", level], timeout=250)
    assert (result.rc, result.stderr) == (0, "")
    lines: collections.Counter[int] = collections.Counter()
    ends = raised = calls = 0
    for event in dump_events(result.film):
        if event["kind"] == "op" and event["function"] != "torch.ones":
            lines[event["line"]] += 1
        elif event["kind"] == "op_end":
            ends += 1
            raised += "exception" in event
        elif event["kind"] == "call":
            calls += event["function"] == "torch.nn.functional.relu"
    assert set(lines.values()) == {TURNS}, lines
    assert len(lines) == FORMS + OTHERS
    assert ends == TURNS * (FORMS + OTHERS) + 4
    assert (raised, calls) == (TURNS, TURNS)


@pytest.mark.parametrize("level", ["calls", "lines", "values"])
def test_recordings_one_after_another(runner: Runner, level: str) -> None:
    """What one of them switched off where it was of no interest, the next one sees."""
    result = runner.plain(RECORDINGS, level)
    assert (result.rc, result.stderr) == (0, "")
    films = [told(runner.folder / f"{number}.film") for number in range(5)]
    assert films[0] == films[2] == []
    half = films[1][: len(films[1]) // 2]
    assert ("call", "torch.nn.functional.dropout") in half
    assert ("unwind", "torch.nn.functional.dropout") in half
    assert films[1] == films[3] == films[4] == half * 2
