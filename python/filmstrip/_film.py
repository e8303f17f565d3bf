"""Reading a recording from Python: filmstrip.open(path) gives a Film.

Everything is lazy: iterators walk the file, memory does not grow with it.
"""

from __future__ import annotations

import dataclasses
import heapq
import itertools
import json
import os
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from filmstrip import _reader
from filmstrip._moment import Moment, Write, write_of, writes
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

    # --- time travel ---

    def query(self, **request: Any) -> dict[str, Any]:
        """Asks the library (docs/timeline.md has the questions). One call works some
        50 ms; an answer with `next` goes on with that. ValueError: it cannot be
        answered, and why."""
        answer: dict[str, Any] = json.loads(self._reader.query(json.dumps(request)))
        if "error" in answer:
            raise ValueError(answer["error"]["message"])
        return answer

    def finish(self, **request: Any) -> dict[str, Any]:
        """Asks until it is answered."""
        answer = self.query(**request)
        while "next" in answer:
            answer = self.query(**{**request, "next": answer["next"]})
        return answer

    def at(
        self,
        event: int | None = None,
        *,
        thread: int = 1,
        time_ns: int | None = None,
        fraction: float | None = None,
        hit: tuple[str, int, int] | None = None,
    ) -> Moment:
        """The moment of an event of a thread, at a time, at a part (0 to 1) of the
        whole, or of the n-th hit of a line (file, line, n; from the end where n is
        negative). Without any: the thread's first. A time behind the end gives the last
        moment, whose told["stopped"]["reason"] then is "end"."""
        start = {"q": "move", "m": f"{thread}:{self._first(thread)}"}
        if time_ns is not None:
            told = self.query(**start, how="time", time_ns=time_ns)
        elif fraction is not None:
            told = self.query(**start, how="fraction", fraction=fraction)
        elif hit is not None:
            file, line, n = hit
            told = self.finish(**start, how="hit", file=file, line=line, n=n)
            if told["stopped"]["reason"] != "arrived":
                why = told.get("message", f"{file}:{line} has no hit {n}")
                raise ValueError(why)
        elif event is not None:
            told = self.query(q="moment", m=f"{thread}:{event}")
        else:
            told = self.query(**start, how="start")
        return Moment(self, told["m"], told)

    def _first(self, thread: int) -> int:
        for info in self.threads:
            if info.id == thread:
                return info.first_event
        raise ValueError(f"the recording has no thread {thread}")

    @property
    def end(self) -> Moment:
        """The last moment of the main thread."""
        told = self.query(q="move", m=f"1:{self._first(1)}", how="end")
        return Moment(self, told["m"], told)

    def last_write(self, name: str, before: Moment) -> Write | None:
        """The last write before a moment of a variable of its innermost frame; also
        "self.x", "d['k']", "module:NAME", "function:x". None: none is recorded."""
        request = {"q": "move", "m": before.m, "how": "back-write", "variable": name}
        return self._write(self.finish(**request), name, before, ("start", "end"))

    def next_write(self, name: str, after: Moment) -> Write | None:
        request = {"q": "move", "m": after.m, "how": "write", "variable": name}
        return self._write(self.finish(**request), name, after, ("start", "end"))

    def _write(
        self,
        told: dict[str, Any],
        name: str,
        moment: Moment,
        ends: tuple[str, ...],
    ) -> Write | None:
        if told["stopped"]["reason"] in ends:
            return None
        found = self.query(
            q="writes", m=moment.m, variable=name, next=told["m"], back=True, limit=1
        )
        return write_of(self, found["writes"][0], name) if found["writes"] else None

    def history(self, name: str, at: Moment | None = None) -> Iterator[Write]:
        """Every write of a variable, in the order of time: of the function that the
        moment's frame runs, or "function:x", "module:NAME", "self.x" ... Without a
        moment a name without ":" is looked for in every function."""
        if at is None and ":" not in name:
            return self._history_anywhere(name)
        request: dict[str, Any] = {"q": "history", "variable": name, "limit": 1000}
        if at is not None:
            request["m"] = at.m
        return writes(self, request, name)

    def _history_anywhere(self, name: str) -> Iterator[Write]:
        asked: set[str] = set()
        found = []
        for code in self.codes():
            where = code.function if name in code.locals else code.module
            if where not in asked and (name in code.locals or name in code.names):
                asked.add(where)
                request = {"q": "history", "variable": f"{where}:{name}", "limit": 1000}
                found.append(self._writes_or_none(request, name))
        return heapq.merge(*found, key=lambda write: write.time_ns)

    def _writes_or_none(self, request: dict[str, Any], name: str) -> Iterator[Write]:
        try:
            yield from writes(self, request, name)
        except ValueError:  # the module only reads it
            return

    def origin(self, name: str, at: Moment, depth: int = 1) -> dict[str, Any]:
        """Where a value came from: the write that made it and what its line read,
        `depth` levels of it."""
        answer = self.finish(q="origin", variable=name, m=at.m, depth=depth)
        origin: dict[str, Any] = answer["origin"]
        return origin

    def hits(
        self,
        file: str,
        line: int,
        expressions: list[str] | None = None,
        where: str | None = None,
    ) -> Hits:
        """Every time a line ran, with expressions evaluated there (None: not recorded):
        a print after the fact. The iterator's `verdict` says why there were none."""
        request: dict[str, Any] = {"q": "hits", "file": file, "line": line}
        request.update(expressions=expressions or [], where=where, limit=500)
        return Hits(self, request)

    def first(
        self,
        condition: str,
        after: Moment,
        back: bool = False,
        monotone: bool = False,
    ) -> Moment | None:
        """The first moment behind `after` (back: the last before it) at which the
        condition holds in the function that its frame runs. monotone: once it holds it
        goes on to (step >= 500), so that it is found by halving."""
        told = self.finish(
            q="first", condition=condition, m=after.m, back=back, monotone=monotone
        )
        if told["stopped"]["reason"] != "arrived":
            return None
        return Moment(self, told["m"], told)

    def line(self, code: int, offset: int) -> int:
        """The line of a place in a code object; 0: none."""
        return self._reader.line(code, offset)


class Hits(Iterator[tuple[Moment, list[str | None]]]):
    """An iterator of (moment, values). Once it has given all of them, `verdict` is
    "stops", or what kept the line from being hit: "no_file", "no_line", "no_lines" (the
    recording's level tells none), "never_ran", "never_true" (the condition) or
    "never_known" (the condition could not be told); `message` is a sentence about it.
    So far it `ran` so often, the condition `held` and was `unknown` so often."""

    def __init__(self, film: Film, request: dict[str, Any]) -> None:
        self.verdict: str | None = None
        self.message = ""
        self.ran = self.held = self.unknown = 0
        self._rows = self._walk(film, request)

    def _walk(
        self, film: Film, request: dict[str, Any]
    ) -> Iterator[tuple[Moment, list[str | None]]]:
        while True:
            answer = film.query(**request)
            self.ran, self.held = answer["ran"], answer["held"]
            self.unknown = answer["unknown"]
            for row in answer["rows"]:
                yield (
                    Moment(film, row["m"]),
                    [value.get("text") for value in row["values"]],
                )
            if "next" not in answer:
                self.verdict = answer["verdict"]
                self.message = answer.get("message", "")
                return
            request["next"] = answer["next"]

    def __next__(self) -> tuple[Moment, list[str | None]]:
        return next(self._rows)


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
