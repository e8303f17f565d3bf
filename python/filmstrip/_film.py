"""Reading a recording from Python: filmstrip.open(path) gives a Film.

Everything is lazy: iterators walk the file, memory does not grow with it.
"""

from __future__ import annotations

import dataclasses
import heapq
import itertools
import os
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from filmstrip import _reader
from filmstrip._reader import Code, Event


@dataclasses.dataclass(frozen=True, slots=True)
class Info:
    """What a recording is. `ending`: closed, live (its process is still writing) or
    died (its process went away without closing it)."""

    version: tuple[int, int]
    uuid: bytes
    pid: int
    start_realtime_ns: int
    duration_ns: int
    events: int
    lost: int
    overwritten: int
    file_bytes: int
    disk_bytes: int
    ring_bytes: int
    python_version: int
    tick_ns: int
    level: int
    ending: str
    exit_status: int | None
    stopped_early: bool
    write_fallback: bool
    damaged: int


@dataclasses.dataclass(frozen=True, slots=True)
class Thread:
    """One recorded thread; its events have the numbers first_event to end_event - 1."""

    id: int
    name: str
    native_id: int
    first_event: int
    end_event: int
    first_ns: int
    last_ns: int
    lost: int


@dataclasses.dataclass(frozen=True, slots=True)
class Call:
    """One finished or still open call. Events are given by number; `end_event`,
    `end_ns` and `ending` are None while it is open at the end of the recording.
    `ending` is return or unwind."""

    thread: int
    frame: int
    function: str
    code_id: int
    depth: int
    caller_line: int | None
    start_event: int
    start_ns: int
    end_event: int | None
    end_ns: int | None
    ending: str | None

    @property
    def duration_ns(self) -> int | None:
        return None if self.end_ns is None else self.end_ns - self.start_ns


class Film:
    """An open recording. A context manager; close() it or let it go."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        os.stat(self.path)  # FileNotFoundError and its kind say more than we could
        self._reader = _reader.Reader(self.path)

    def __enter__(self) -> Film:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Film {self.path!r}{' closed' if self._reader.closed else ''}>"

    def close(self) -> None:
        self._reader.close()

    def refresh(self) -> None:
        """Looks again at a recording that is being written."""
        self._reader.refresh()

    @property
    def info(self) -> Info:
        return Info(**self._reader.info())

    @property
    def threads(self) -> list[Thread]:
        return [Thread(**thread) for thread in self._reader.threads()]

    def meta(self, key: str) -> str | None:
        """What the recorder noted about the program: program, python, argv ..."""
        return self._reader.meta(key)

    @property
    def damage(self) -> list[dict[str, Any]]:
        """Damaged chunks met so far: number, offset, message."""
        return self._reader.damage()

    def events(self, thread: int | None = None, first: int = 0) -> Iterator[Event]:
        """The events of one thread from number `first` on, or of all threads, one
        thread after the other."""
        chosen = [info for info in self.threads if thread in (None, info.id)]
        if thread is not None and not chosen:
            raise ValueError(f"the recording has no thread {thread}")
        return itertools.chain.from_iterable(
            self._reader.cursor(info.id, max(first, info.first_event))
            for info in chosen
        )

    def merged_events(self) -> Iterator[Event]:
        """The events of all threads in the order of their times."""
        return heapq.merge(
            *(self._reader.cursor(info.id, info.first_event) for info in self.threads),
            key=lambda event: event.time_ns,
        )

    def calls(self, thread: int | None = None) -> Iterator[Call]:
        """Every call, in the order in which they end; at last those still open."""
        for info in self.threads:
            if thread in (None, info.id):
                yield from self._calls_of(info)

    def _calls_of(self, thread: Thread) -> Iterator[Call]:
        opened: dict[int, Event] = {}
        for event in self._reader.cursor(thread.id, thread.first_event):
            kind = event.kind
            if kind == "call":
                opened[event.frame] = event
            elif kind in ("return", "unwind"):
                start = opened.pop(event.frame, None)
                if start is not None:
                    yield _call(start, event)
        for start in opened.values():
            yield _call(start, None)

    def code(self, id: int) -> Code:
        """A code object by its number. KeyError if there is none."""
        code = self._reader.code(id)
        if code is None:
            raise KeyError(id)
        return code

    def codes(self) -> Iterator[Code]:
        """Every code object that was recorded."""
        for id in range(self._reader.code_count()):
            code = self._reader.code(id)
            if code is not None:
                yield code

    def strings(self) -> Iterator[str]:
        """The table of names."""
        for id in range(self._reader.string_count()):
            yield self._reader.string(id)

    def sources(self) -> Iterator[tuple[str, str]]:
        """The recorded source files: name and text."""
        index = 0
        while (source := self._reader.source(index)) is not None:
            yield source["file"], source["text"]
            index += 1

    def line(self, code: int, offset: int) -> int:
        """The line of a place in a code object; 0: none."""
        return self._reader.line(code, offset)


def _call(start: Event, end: Event | None) -> Call:
    return Call(
        thread=start.thread,
        frame=start.frame,
        function=start.function or "",
        code_id=start.code_id if start.code_id is not None else -1,
        depth=start.depth,
        caller_line=start.caller_line,
        start_event=start.number,
        start_ns=start.time_ns,
        end_event=end.number if end else None,
        end_ns=end.time_ns if end else None,
        ending=end.kind if end else None,
    )


def open(path: str | os.PathLike[str]) -> Film:
    """Opens a recording, also one that is being written or whose process died.

    FilmError: the file is no recording, or of a newer version. OSError: it cannot be
    read. Damaged chunks are skipped and told by Film.damage and `lost` events.
    """
    return Film(path)
