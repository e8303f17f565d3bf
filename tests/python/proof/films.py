"""Readings of a film that do not depend on serials, pids or times."""

from __future__ import annotations

import collections
import json
import os
import pathlib
import resource
import subprocess
from collections.abc import Callable, Iterable
from typing import Any

from conftest import PROGRAM, Event, Result, clean_environment, run_program

SOAK = os.environ.get("FILMSTRIP_SOAK", "") not in ("", "0")

ENTERING = ("call", "resume", "throw")
LEAVING = ("return", "yield", "unwind")
FRAME_KINDS = (*ENTERING, *LEAVING, "raise", "handled")


def full_path(name: str) -> str:
    """Films shorten the home directory; references do not."""
    return os.path.expanduser(name) if name.startswith("~") else name


def check(path: str | os.PathLike[str]) -> str:
    """`filmstrip check` must answer 0; gives what it said."""
    result = run_program("check", path)
    assert result.rc == 0, (path, result.rc, result.stdout, result.stderr)
    return result.stdout


def dump_text(path: str | os.PathLike[str]) -> bytes:
    """All of `filmstrip dump`, for films too large to make an object of each event."""
    done = subprocess.run(
        [PROGRAM, "dump", path],
        capture_output=True,
        env=clean_environment(),
        timeout=120,
    )
    assert done.returncode == 0, (path, done.stderr)
    return done.stdout


def count_kinds(path: str | os.PathLike[str]) -> collections.Counter[str]:
    """How many events of each kind."""
    text = dump_text(path)
    counts: collections.Counter[str] = collections.Counter()
    for kind in (*FRAME_KINDS, "lost", "lost_control", "thread_start"):
        counts[kind] = text.count(b'"kind":"%s"' % kind.encode())
    return counts


def count_calls(path: str | os.PathLike[str], name: str) -> int:
    """How many calls of a function of the main module."""
    return dump_text(path).count(b'"function":"__main__.%s"' % name.encode())


def calls_of(events: Iterable[Event], name: str) -> int:
    """How many calls of a function, named without its module."""
    return sum(
        event["kind"] == "call" and event["function"].endswith("." + name)
        for event in events
    )


def dump_lines(text: str) -> list[Event]:
    return [json.loads(line) for line in text.splitlines()]


def thread_names(events: Iterable[Event]) -> dict[int, str]:
    """Thread number to name; the main thread is "main"."""
    names = {1: "main"}
    for event in events:
        if event["kind"] == "thread_start" and event["thread"] != 1:
            names[event["thread"]] = event["name"]
    return names


def canonical(events: Iterable[Event]) -> dict[str, list[list[Any]]]:
    """The events of each thread, by its name, as the reference tracer tells them:
    [kind, frame, function, line, caller line, exception]. A frame is the name of the
    thread that called it and the number of that call in it."""
    events = list(events)
    names = thread_names(events)
    frames: dict[int, tuple[str, str]] = {}
    calls: collections.Counter[str] = collections.Counter()
    streams: dict[str, list[list[Any]]] = {}
    # A frame may go on in another thread, so its name is given before anything is told.
    for event in events:
        if event["kind"] == "call":
            thread = names[event["thread"]]
            calls[thread] += 1
            frames[event["frame"]] = (f"{thread}#{calls[thread]}", event["function"])
    for event in events:
        kind = event["kind"]
        if kind in ("lost", "lost_control"):
            raise AssertionError(event)
        if kind not in FRAME_KINDS:
            continue
        frame, function = frames.get(event["frame"], ("adopted", None))
        streams.setdefault(names[event["thread"]], []).append(
            [
                kind,
                frame,
                function,
                event["line"],
                event.get("caller_line") if kind in ENTERING else None,
                event.get("exception", {}).get("type")
                if kind not in ("call", "resume", "return", "yield")
                else None,
            ]
        )
    return streams


def film_paths(folder: pathlib.Path) -> list[pathlib.Path]:
    return sorted(folder.glob("*.film"))


def first_difference(model: list[Any], found: list[Any], around: int = 4) -> str:
    """Where two lists part, with what stands around it; empty if they are equal."""
    if model == found:
        return ""
    index = next(
        (i for i, (a, b) in enumerate(zip(model, found)) if a != b),
        min(len(model), len(found)),
    )
    low = max(0, index - around)
    lines = [f"event {index} of {len(model)} (model) and {len(found)} (film):"]
    for i in range(low, index):
        lines.append(f"  both   {model[i]}")
    for i in range(index, min(index + around, max(len(model), len(found)))):
        lines.append(f"  model  {model[i] if i < len(model) else '-'}")
        lines.append(f"  film   {found[i] if i < len(found) else '-'}")
    return "\n".join(lines)


def one_sentence(result: Result, rc: int = 2) -> str:
    """A refusal is one line that names us; gives it."""
    assert result.rc == rc, (result.rc, result.stdout[-300:], result.stderr[-2000:])
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert result.stderr.startswith("filmstrip"), result.stderr
    return result.stderr


def limited(kind: int, value: int) -> Callable[[], None]:
    """What a child is to do before it begins: to limit itself."""

    def set_limit() -> None:
        resource.setrlimit(kind, (value, value))

    return set_limit
