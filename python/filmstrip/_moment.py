"""Time travel: moments of a recording, movement, values, questions.

A Moment is a place in a recording: a thread and an event number. Everything is asked of
the library by film_query, as every other view of filmstrip asks it; what comes back are
plain, frozen objects. Nothing of the recorded program is ever run.
"""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from filmstrip._film import Film


class NotRecorded(LookupError):
    """The recording does not tell this; the message says what is missing."""


@dataclasses.dataclass(frozen=True, slots=True)
class Value:
    """What a variable held, as it was at `moment`. `text` is a Python literal where the
    value is a scalar or a container of scalars; `object` is the serial of a container
    or instance."""

    text: str
    type: str
    object: int | None = None
    length: int | None = None
    cut: bool = False
    redacted: bool = False
    moment: Moment | None = dataclasses.field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        return self.text

    def items(self, limit: int = 100) -> list[tuple[Any, Value]]:
        """Its content then, one level deep: (index, key or attribute name, value)."""
        if self.object is None or self.moment is None:
            return []
        answer = self.moment.film.query(
            q="value", m=self.moment.m, object=self.object, limit=limit
        )
        return [
            (
                item.get("name", item.get("index"))
                if "key" not in item
                else _value(item["key"], self.moment),
                _value(item["value"], self.moment),
            )
            for item in answer["items"]
        ]

    def _repr_html_(self) -> str:
        kind = html.escape(self.type)
        return f"<code title='{kind}'>{html.escape(self.text)}</code>"


@dataclasses.dataclass(frozen=True, slots=True)
class Frame:
    """An open call at a moment. `entered` is its call, or its last resume."""

    serial: int
    function: str | None
    file: str | None
    line: int | None
    entered: str
    adopted: bool
    moment: Moment = dataclasses.field(repr=False, compare=False)

    @property
    def locals(self) -> Mapping[str, Value]:
        """Its variables that have a value, by name."""
        answer = self.moment.film.query(q="locals", m=self.moment.m, frame=self.serial)
        return {
            variable["name"]: _value(variable["value"], self.moment)
            for variable in answer["locals"]
        }

    @property
    def changed(self) -> list[str]:
        """The variables that its last line wrote."""
        answer = self.moment.film.query(q="locals", m=self.moment.m, frame=self.serial)
        return [item["name"] for item in answer["locals"] if item["changed"]]

    def evaluate(self, expression: str) -> Value:
        """An expression over recorded values. NotRecorded where one is missing."""
        return self.moment.evaluate(expression, frame=self)

    def __repr__(self) -> str:
        return f"<Frame {self.serial} {self.function} {self.file}:{self.line}>"


@dataclasses.dataclass(frozen=True, slots=True)
class Write:
    """One write of a variable, attribute or item; value None: it was deleted."""

    moment: Moment
    name: str
    value: Value | None
    function: str | None
    file: str | None
    line: int | None
    time_ns: int
    argument: bool

    def __repr__(self) -> str:
        told = "deleted" if self.value is None else self.value.text
        return (
            f"<Write {self.name} = {told} at {self.moment.m} {self.file}:{self.line}>"
        )


class Moment:
    """A point in a recording. Moves give other moments, or None at the recording's
    start or end; step() and back() are exact inverses."""

    __slots__ = ("_told", "event", "film", "thread")

    def __init__(self, film: Film, m: str, told: dict[str, Any] | None = None) -> None:
        self.film = film
        thread, _, event = m.partition(":")
        self.thread, self.event = int(thread), int(event)
        self._told = told

    # --- what it is ---

    @property
    def m(self) -> str:
        """As queries write it: thread:event."""
        return f"{self.thread}:{self.event}"

    @property
    def told(self) -> dict[str, Any]:
        """The whole answer of the query `moment`."""
        if self._told is None:
            self._told = self.film.query(q="moment", m=self.m)
        return self._told

    @property
    def kind(self) -> str:
        return str(self.told["kind"])

    @property
    def time_ns(self) -> int:
        return int(self.told["time_ns"])

    @property
    def function(self) -> str | None:
        told: str | None = self.told["function"]
        return told

    @property
    def file(self) -> str | None:
        told: str | None = self.told["file"]
        return told

    @property
    def lineno(self) -> int | None:
        told: int | None = self.told["line"]
        return told

    @property
    def exception(self) -> dict[str, str] | None:
        told: dict[str, str] | None = self.told["exception"]
        return told

    @property
    def task(self) -> dict[str, Any] | None:
        """The asyncio task that runs: its `id` in the recording and its `name`."""
        told: dict[str, Any] | None = self.told["task"]
        return told

    @property
    def stack(self) -> list[Frame]:
        """The open frames, innermost last."""
        return [
            Frame(
                serial=frame["frame"],
                function=frame["function"],
                file=frame["file"],
                line=frame["line"],
                entered=frame["entered"],
                adopted=frame["adopted"],
                moment=self,
            )
            for frame in reversed(self.told["stack"])
        ]

    @property
    def locals(self) -> Mapping[str, Value]:
        """The variables of the innermost frame."""
        stack = self.stack
        return stack[-1].locals if stack else {}

    @property
    def threads(self) -> dict[int, Moment]:
        """Where each thread stands at this moment, those that have begun."""
        answer = self.film.query(q="threads", m=self.m)
        return {
            thread["id"]: Moment(self.film, thread["m"], thread)
            for thread in answer["threads"]
            if thread["m"] is not None
        }

    def evaluate(self, expression: str, frame: Frame | None = None) -> Value:
        """An expression over recorded values, in the innermost or the given frame."""
        request: dict[str, Any] = {"q": "evaluate", "m": self.m}
        if frame is not None:
            request["frame"] = frame.serial
        answer = self.film.query(**request, expression=expression)
        if "value" not in answer:
            raise NotRecorded(answer.get("unknown") or answer["error_text"])
        return _value(answer["value"], self)

    # --- moving ---

    def move(self, how: str, **options: Any) -> Moment | None:
        """Any move that the query `move` knows; None where there is nothing more."""
        answer = self.film.finish(q="move", m=self.m, how=how, **options)
        if answer["stopped"]["reason"] in ("start", "end"):
            return None
        return Moment(self.film, answer["m"], answer)

    def step(self, across: bool = False) -> Moment | None:
        """The next event of this thread, or (across) of all threads by time."""
        return self.move("step", across=across)

    def back(self, across: bool = False) -> Moment | None:
        """The event before: undoes step()."""
        return self.move("back", across=across)

    def line(self) -> Moment | None:
        """The next line, also within a call."""
        return self.move("line")

    def back_line(self) -> Moment | None:
        return self.move("back-line")

    def next(self) -> Moment | None:
        """The next line of this frame, over calls, awaits and yields."""
        return self.move("next")

    def back_next(self) -> Moment | None:
        return self.move("back-next")

    def out(self) -> Moment | None:
        """The caller's next line."""
        return self.move("out")

    def back_out(self) -> Moment | None:
        """The caller's line that made this call."""
        return self.move("back-out")

    def call(self) -> Moment | None:
        """The call of this frame."""
        return self.move("call")

    def returned(self) -> Moment | None:
        """The end of this frame: its return, or the exception that left it."""
        return self.move("return")

    def next_raise(self, passing: bool = False) -> Moment | None:
        """Where the next exception is raised; passing: or passes through a frame."""
        return self.move("raise", passing=passing)

    def last_raise(self, passing: bool = False) -> Moment | None:
        """Where the last exception was raised; passing: or passed through a frame."""
        return self.move("back-raise", passing=passing)

    def run(self, *breakpoints: dict[str, Any], across: bool = False) -> Moment | None:
        """On to the first breakpoint that is hit; docs/timeline.md has their keys."""
        return self.move("continue", breakpoints=list(breakpoints), across=across)

    def run_back(
        self, *breakpoints: dict[str, Any], across: bool = False
    ) -> Moment | None:
        return self.move(
            "reverse-continue", breakpoints=list(breakpoints), across=across
        )

    # --- Python's own ---

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Moment)
            and self.film is other.film
            and (self.thread, self.event) == (other.thread, other.event)
        )

    def __hash__(self) -> int:
        return hash((id(self.film), self.thread, self.event))

    def __repr__(self) -> str:
        where = f" {self.file}:{self.lineno} in {self.function}" if self.file else ""
        return f"<Moment {self.m} {self.kind}{where}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td><td><code>{html.escape(value.text)}</code>"
            f"</td><td>{html.escape(value.type)}</td></tr>"
            for name, value in self.locals.items()
        )
        return (
            f"<b>{html.escape(self.m)}</b> {html.escape(self.kind)} "
            f"<code>{html.escape(str(self.file))}:{self.lineno}</code> in "
            f"{html.escape(str(self.function))}<table>{rows}</table>"
        )


def _value(told: dict[str, Any], moment: Moment | None) -> Value:
    return Value(
        text=told["text"],
        type=told["type"],
        object=told.get("object"),
        length=told.get("length"),
        cut=told.get("cut", False),
        redacted=told.get("redacted", False),
        moment=moment,
    )


def write_of(film: Film, told: dict[str, Any], name: str) -> Write:
    moment = Moment(film, told["m"])
    return Write(
        moment=moment,
        name=told.get("name", name),
        value=None if told["value"] is None else _value(told["value"], moment),
        function=told["function"],
        file=told["file"],
        line=told["line"],
        time_ns=told["time_ns"],
        argument=told["argument"],
    )


def writes(film: Film, request: dict[str, Any], name: str) -> Iterator[Write]:
    """The writes of all pages of a query."""
    following: dict[str, Any] = {}
    while True:
        answer = film.query(**request, **following)
        for told in answer["writes"]:
            yield write_of(film, told, name)
        if "next" not in answer:
            return
        following = {"next": answer["next"]}
