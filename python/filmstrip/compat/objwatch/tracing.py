"""Watching with a wrapper of one's own.

Such a wrapper is Python code that wants the program's own frames and objects, live.
So this one does what ObjWatch does: a trace function, in Python, in the thread that
started it, as slow as that is. It keeps the values it compares alive until they change,
because wrap_upd is given the old one.

Nothing raised in a wrapper reaches the program: the first error is shown, and the line
says so.
"""

from __future__ import annotations

import logging
import sys
import time
import weakref
from types import FrameType
from typing import Any

from filmstrip import _watch
from filmstrip.compat.objwatch.constants import Constants
from filmstrip.compat.objwatch.event_handls import EventHandls
from filmstrip.compat.objwatch.scope import MISSING, Scope, class_of


class _Seen:
    """The variables of one place as they were at the last look."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values
        self.sizes = {
            name: len(value)
            for name, value in values.items()
            if isinstance(value, Constants.LOG_SEQUENCE_TYPES)
        }


class _Guarded:
    """The wrapper, whose errors go no further."""

    def __init__(self, tracing: Tracing) -> None:
        self._tracing = tracing
        self._wrapper: Any = None
        try:
            self._wrapper = tracing.config.wrapper()
        except Exception as error:
            tracing.tell_broken(error)

    def _ask(self, method: str, *arguments: Any) -> Any:
        try:
            return getattr(self._wrapper, method)(*arguments)
        except Exception as error:
            self._tracing.tell_broken(error)
            return f"(wrapper raised {type(error).__name__})"

    def wrap_call(self, symbol: str, frame: FrameType) -> Any:
        return self._ask("wrap_call", symbol, frame)

    def wrap_return(self, symbol: str, result: Any) -> Any:
        return self._ask("wrap_return", symbol, result)

    def wrap_upd(self, old: Any, new: Any) -> Any:
        told = self._ask("wrap_upd", old, new)
        return (told, told) if isinstance(told, str) else told


class Tracing:
    """A trace function; start() sets it, stop() takes it out again."""

    def __init__(self, plan: _watch.Plan) -> None:
        self.config = plan.config
        self._plan = plan
        self._older = plan.form == "0.3"
        self._broken = False
        self._depth = 0
        self._frames: dict[FrameType, _Seen] = {}
        self._lines: dict[FrameType, int] = {}
        self._objects: dict[int, tuple[weakref.ref[Any], _Seen]] = {}
        self._globals: dict[str, _Seen] = {}
        self._set = self._is_stopped = False
        self._scope = Scope(plan.targets, plan.config.with_globals)
        self._wrapper = _Guarded(self) if plan.config.wrapper is not None else None
        self.events = EventHandls(
            plan.config,
            lambda text: self._say(logging.DEBUG, text),
            self._older,
            plan.xml,
        )

    def start(self) -> None:
        self._say(logging.INFO, "Starting ObjWatch tracing.")
        self._say(logging.INFO, _watch.header(self._plan))
        if sys.gettrace() is not None:
            self._say(
                logging.INFO,
                "filmstrip: another trace function is set (a debugger?): a wrapper of "
                "one's own cannot be called; lines are left out",
            )
        else:
            self._set = True
            sys.settrace(self.trace)

    def stop(self) -> None:
        if self._is_stopped:
            return
        self._is_stopped = True
        if self._set:
            self._set = False
            # Bound methods are equal, never identical.
            if sys.gettrace() == self.trace:
                sys.settrace(None)
        self._frames.clear()
        self._objects.clear()
        self._globals.clear()
        self._say(logging.INFO, "Stopping ObjWatch tracing.")
        self._save("JSON", self.config.output_json, self.events.save_json)
        self._save("XML", self._plan.xml, self.events.save_xml)

    def _save(self, name: str, path: str | None, save: Any) -> None:
        if path is None:
            return
        self._say(logging.INFO, f"Starting to save {name} to {path}.")
        try:
            save()
        except (OSError, ValueError) as error:
            self._say(logging.INFO, f"filmstrip: {path}: {error}")
            return
        self._say(logging.INFO, f"{name} saved successfully to {path}.")

    def _say(self, level: int, text: str) -> None:
        if level < self._plan.level:
            return
        shown = text
        if self._older:
            shown = f"{logging.getLevelName(level)}: {text}"
        elif not self.config.simple:
            now = time.strftime("%Y-%m-%d %H:%M:%S")
            shown = f"[{now}] [{logging.getLevelName(level)}] objwatch: {text}"
        _watch.say(self._plan, shown)
        self._plan.records.tell(level, text)

    def tell_broken(self, error: BaseException) -> None:
        if not self._broken:
            self._broken = True
            name = getattr(self.config.wrapper, "__name__", "?")
            kind = type(error).__name__
            _watch.say(self._plan, f"filmstrip: wrapper {name} raised {kind}: {error}")

    # --- events ---

    def trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        try:
            if not self._scope.traces_frame(frame):
                return self.trace if event != "call" else None
            if not self._is_chosen():
                return self.trace
            if event == "call":
                self._on_call(frame)
            elif event == "line":
                self._on_line(frame)
            elif event == "return":
                self._on_return(frame, argument)
        except Exception as error:
            self.tell_broken(error)
        return self.trace

    def _is_chosen(self) -> bool:
        was_known = self._plan.index is not None
        chosen = self._plan.learn_index()
        if self._plan.index is not None and not was_known:
            told = self._plan.processes.told
            if told:
                self._say(logging.INFO, told)
        return chosen

    def _prefix(self) -> str:
        index = self._plan.index
        if index is None:
            return ""
        return f"[Rank {index}] " if self._older else f"[#{index}] "

    def _describe(self, frame: FrameType) -> dict[str, Any]:
        owner = class_of(frame)
        name = frame.f_code.co_name
        module = frame.f_globals.get("__name__", "")
        if self._older and owner is not None:
            # The class stands there only if the function is found in it by its name.
            found = getattr(type(frame.f_locals["self"]), name, None)
            if getattr(found, "__code__", None) is not frame.f_code:
                owner = None
        symbol = f"{owner}.{name}" if owner is not None else name
        qualified = f"{module}.{symbol}" if module else symbol
        if self._older:
            qualified = symbol
            if self._plan.with_module_path and module:
                qualified = f"{module}.{name}"
        return {
            "module": module,
            "symbol": symbol,
            "symbol_type": "function",
            "qualified_name": qualified,
            "frame": frame,
        }

    def _line_of(self, frame: FrameType) -> int:
        if frame.f_back is None or self._older:
            return frame.f_lineno
        return frame.f_back.f_lineno

    def _on_call(self, frame: FrameType) -> None:
        self._look_at_self(frame)
        self.events.handle_run(
            self._line_of(frame),
            self._describe(frame),
            self._wrapper,
            self._depth,
            self._prefix(),
        )
        self._depth += 1
        if self.config.with_locals:
            self._frames[frame] = _Seen(_shown_locals(frame))

    def _on_return(self, frame: FrameType, result: Any) -> None:
        if not self._plan.form:
            self._compare(frame, self._lines.get(frame, frame.f_lineno))
        self._depth = max(self._depth - 1, 0)
        self._look_at_self(frame)
        self.events.handle_end(
            self._line_of(frame),
            self._describe(frame),
            self._wrapper,
            self._depth,
            self._prefix(),
            result,
        )
        self._frames.pop(frame, None)
        self._lines.pop(frame, None)

    def _on_line(self, frame: FrameType) -> None:
        line = frame.f_lineno if self._older else self._lines.get(frame, frame.f_lineno)
        self._lines[frame] = frame.f_lineno
        self._compare(frame, line)

    def _compare(self, frame: FrameType, line: int) -> None:
        self._compare_self(frame, line)
        seen = self._frames.get(frame)
        if seen is not None:
            now = _shown_locals(frame)
            self._compare_values(line, "_", seen, now, first_is_new=True)
            seen.values = now
        if self.config.with_globals:
            self._compare_globals(frame, line)

    # --- comparing ---

    def _attributes(self, frame: FrameType) -> tuple[Any, dict[str, Any]] | None:
        if "self" not in frame.f_code.co_varnames:
            return None
        this = frame.f_locals.get("self", MISSING)
        if this is MISSING or not hasattr(this, "__dict__"):
            return None
        values = {
            name: value for name, value in vars(this).items() if not callable(value)
        }
        return this, values

    def _look_at_self(self, frame: FrameType) -> None:
        """A method begins or ends: its object is known from now on."""
        found = self._attributes(frame)
        if found is None:
            return
        this, values = found
        known = self._objects.get(id(this))
        if known is None:
            number, objects = id(this), self._objects
            try:
                alive = weakref.ref(this, lambda _: objects.pop(number, None))
            except TypeError:
                return  # it cannot be told from another at its address later
            objects[number] = (alive, _Seen(values))
        elif self._plan.form:
            known[1].sizes.update(_Seen(values).sizes)

    def _compare_self(self, frame: FrameType, line: int) -> None:
        found = self._attributes(frame)
        if found is None or id(found[0]) not in self._objects:
            return
        this, values = found
        owner = type(this).__name__
        shown = {
            name: value
            for name, value in values.items()
            if self._scope.shows_attribute(frame, owner, name)
        }
        self._compare_values(line, owner, self._objects[id(this)][1], shown)

    def _compare_globals(self, frame: FrameType, line: int) -> None:
        module = frame.f_globals.get("__name__", "")
        now = {
            name: value
            for name, value in list(frame.f_globals.items())
            if self._scope.traces_global(module, name)
        }
        seen = self._globals.setdefault(module, _Seen({}))
        self._compare_values(line, "@", seen, now)

    def _compare_values(
        self,
        line: int,
        owner: str,
        seen: _Seen,
        now: dict[str, Any],
        first_is_new: bool = False,
    ) -> None:
        for name, value in now.items():
            old = seen.values.get(name, MISSING)
            is_new = first_is_new and old is MISSING
            old = None if old is MISSING else old
            is_container = isinstance(value, Constants.LOG_SEQUENCE_TYPES)
            size = len(value) if is_container else None
            before = seen.sizes.get(name)
            place = (self._depth, self._prefix())
            if old is value and not is_new:
                if before is not None and size is not None and before != size:
                    tell = self.events.handle_apd
                    if size < before:
                        tell = self.events.handle_pop
                    tell(line, owner, name, type(value), before, size, *place)
            elif is_new or before is None or size is None or not self._plan.form:
                self.events.handle_upd(
                    line, owner, name, old, value, *place, self._wrapper
                )
            seen.values[name] = value
            if size is not None:
                seen.sizes[name] = size
            elif not self._plan.form:
                seen.sizes.pop(name, None)


def _shown_locals(frame: FrameType) -> dict[str, Any]:
    return {
        name: value
        for name, value in frame.f_locals.items()
        if name != "self" and not callable(value)
    }
