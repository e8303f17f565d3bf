"""Watching with a wrapper of one's own.

Such a wrapper is Python code that wants the program's own frames and objects, live.
So this one does what ObjWatch does: a trace function, in Python, in the thread that
started it, as slow as that is. It keeps the values it compares alive until they change,
because wrap_upd is given the old one.

Nothing raised in a wrapper reaches the program: the first error is shown, and the line
says so.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
import weakref
from types import FrameType
from typing import Any

from filmstrip import _watch
from filmstrip.compat.objwatch.wrappers import CONTAINERS

OWN_FOLDER = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
NOT_GLOBALS = {
    "__builtins__",
    "__cached__",
    "__file__",
    "__loader__",
    "__name__",
    "__package__",
    "__spec__",
    "self",
}
MISSING: Any = object()


class _Seen:
    """The variables of one place as they were at the last look."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values
        self.sizes = {
            name: len(value)
            for name, value in values.items()
            if isinstance(value, CONTAINERS)
        }


class Tracing:
    """A trace function that is set; stop() takes it out again."""

    def __init__(self, plan: _watch.Plan) -> None:
        self._plan = plan
        self._config = plan.config
        self._wrapper: Any = None
        self._broken = False
        self._depth = 0
        self._frames: dict[FrameType, _Seen] = {}
        self._lines: dict[FrameType, int] = {}
        self._objects: dict[int, tuple[weakref.ref[Any], _Seen]] = {}
        self._globals: dict[str, _Seen] = {}
        self._set = False
        self._tree: list[list[dict[str, Any]]] = [[]]
        self._event_id = 0
        self._runtime = _watch.runtime_facts()
        self._prefix = f"[#{plan.index}] " if plan.index is not None else ""
        try:
            self._wrapper = self._config.wrapper()
        except Exception as error:
            self._tell_broken(error)
        self._say(logging.INFO, "Starting ObjWatch tracing.")
        self._say(logging.INFO, _watch.header(plan))
        if sys.gettrace() is not None:
            self._say(
                logging.INFO,
                "filmstrip: another trace function is set (a debugger?): a wrapper of "
                "one's own cannot be called; lines are left out",
            )
        elif plan.chosen:
            self._set = True
            sys.settrace(self._trace)

    def stop(self) -> None:
        if self._set:
            self._set = False
            # Bound methods are equal, never identical.
            if sys.gettrace() == self._trace:
                sys.settrace(None)
        self._frames.clear()
        self._objects.clear()
        self._globals.clear()
        self._say(logging.INFO, "Stopping ObjWatch tracing.")
        if self._config.output_json is not None:
            self._save(self._config.output_json)

    def _save(self, path: str) -> None:
        tree = {
            "runtime_info": self._runtime,
            "config": self._config.to_dict(),
            "events": self._tree[0],
        }
        self._say(logging.INFO, f"Starting to save JSON to {path}.")
        try:
            with open(path, "w", encoding="utf-8") as file:
                json.dump(
                    {"ObjWatch": tree},
                    file,
                    ensure_ascii=False,
                    separators=(",", ":"),
                    default=str,
                )
        except (OSError, ValueError) as error:
            self._say(logging.INFO, f"filmstrip: {path}: {error}")
            return
        self._say(logging.INFO, f"JSON saved successfully to {path}.")

    def _say(self, level: int, text: str) -> None:
        if level < self._plan.level:
            return
        if not self._config.simple:
            now = time.strftime("%Y-%m-%d %H:%M:%S")
            text = f"[{now}] [{logging.getLevelName(level)}] objwatch: {text}"
        _watch.say(self._plan, text)

    def _line(self, number: int, event: str, text: str) -> None:
        indent = "  " * self._depth
        self._say(logging.DEBUG, f"{self._prefix}{number:>5} {indent}{event} {text}")

    def _keep(self, kind: str, **data: Any) -> dict[str, Any]:
        """Adds to the tree, if one is wanted."""
        self._event_id += 1
        event = {"id": self._event_id, "type": kind, **data}
        if self._config.output_json is not None:
            self._tree[-1].append(event)
        return event

    def _tell_broken(self, error: BaseException) -> None:
        if not self._broken:
            self._broken = True
            name = getattr(self._config.wrapper, "__name__", "?")
            kind = type(error).__name__
            _watch.say(self._plan, f"filmstrip: wrapper {name} raised {kind}: {error}")

    def _ask(self, method: str, *arguments: Any) -> Any:
        try:
            return getattr(self._wrapper, method)(*arguments)
        except Exception as error:
            self._tell_broken(error)
            failed = f"(wrapper raised {type(error).__name__})"
            return (failed, failed) if method == "wrap_upd" else failed

    # --- what is traced ---

    def _is_target(self, frame: FrameType) -> bool:
        file = frame.f_code.co_filename
        targets = self._plan.targets
        if file.startswith(OWN_FOLDER):
            return False
        if any(map(file.endswith, targets.files)):
            return not any(map(file.endswith, targets.exclude_files))
        module = frame.f_globals.get("__name__", "")
        entry = targets.table.get(module)
        if entry is None:
            return False
        excluded = targets.exclude_table.get(module, {"classes": {}, "functions": []})
        name = frame.f_code.co_name
        owner = self._class_of(frame)
        if owner is None:
            return name in entry["functions"] and name not in excluded["functions"]
        if _covers(excluded["classes"].get(owner), name):
            return False
        details = entry["classes"].get(owner)
        return details is not None and (
            _covers(details, name) or bool(details["attributes"])
        )

    def _shows_attribute(self, frame: FrameType, owner: str, name: str) -> bool:
        targets = self._plan.targets
        if any(map(frame.f_code.co_filename.endswith, targets.files)):
            return True
        module = frame.f_globals.get("__name__", "")
        details = targets.table.get(module, {}).get("classes", {}).get(owner)
        excluded = targets.exclude_table.get(module, {}).get("classes", {}).get(owner)
        if excluded is not None and name in excluded["attributes"]:
            return False
        return details is not None and (
            details["track_all"] or name in details["attributes"]
        )

    @staticmethod
    def _class_of(frame: FrameType) -> str | None:
        if "self" not in frame.f_code.co_varnames:
            return None
        this = frame.f_locals.get("self", MISSING)
        return None if this is MISSING else type(this).__name__

    # --- events ---

    def _trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        try:
            if not self._is_target(frame):
                return self._trace if event != "call" else None
            if event == "call":
                self._on_call(frame)
            elif event == "line":
                self._on_line(frame)
            elif event == "return":
                self._on_return(frame, argument)
        except Exception as error:
            self._tell_broken(error)
        return self._trace

    def _name(self, frame: FrameType) -> tuple[str, str]:
        owner = self._class_of(frame)
        name = frame.f_code.co_name
        symbol = f"{owner}.{name}" if owner is not None else name
        module = frame.f_globals.get("__name__", "")
        return symbol, f"{module}.{symbol}" if module else symbol

    def _on_call(self, frame: FrameType) -> None:
        symbol, qualified = self._name(frame)
        line = frame.f_back.f_lineno if frame.f_back else frame.f_lineno
        self._look_at_self(frame)
        told = self._ask("wrap_call", symbol, frame)
        self._line(line, "run", f"{qualified} <- {told}")
        event = self._keep(
            "Function",
            module=frame.f_globals.get("__name__", ""),
            symbol=symbol,
            symbol_type="function",
            run_line=line,
            qualified_name=qualified,
            events=[],
            call_msg=told,
        )
        self._tree.append(event["events"])
        self._depth += 1
        if self._config.with_locals:
            self._frames[frame] = _Seen(_shown_locals(frame))

    def _on_return(self, frame: FrameType, result: Any) -> None:
        symbol, qualified = self._name(frame)
        line = frame.f_back.f_lineno if frame.f_back else frame.f_lineno
        if not self._plan.strict:
            self._compare(frame, self._lines.get(frame, frame.f_lineno))
        self._depth = max(self._depth - 1, 0)
        self._look_at_self(frame)
        told = self._ask("wrap_return", symbol, result)
        self._line(line, "end", f"{qualified} -> {told}")
        if len(self._tree) > 1:
            self._tree.pop()
            if self._tree[-1]:
                self._tree[-1][-1].update(return_msg=told, end_line=line)
        self._frames.pop(frame, None)
        self._lines.pop(frame, None)

    def _on_line(self, frame: FrameType) -> None:
        line = self._lines.get(frame, frame.f_lineno)
        self._lines[frame] = frame.f_lineno
        self._compare(frame, line)

    def _compare(self, frame: FrameType, line: int) -> None:
        self._compare_self(frame, line)
        seen = self._frames.get(frame)
        if seen is not None:
            now = _shown_locals(frame)
            self._compare_values(line, "_", seen, now, first_is_new=True)
            seen.values = now
        if self._config.with_globals:
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
        elif self._plan.strict:
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
            if self._shows_attribute(frame, owner, name)
        }
        self._compare_values(line, owner, self._objects[id(this)][1], shown)

    def _compare_globals(self, frame: FrameType, line: int) -> None:
        module = frame.f_globals.get("__name__", "")
        wanted = self._plan.targets.table.get(module, {}).get("globals", ())
        any_wanted = any(e["globals"] for e in self._plan.targets.table.values())
        now = {
            name: value
            for name, value in list(frame.f_globals.items())
            if (name in wanted if any_wanted else name not in NOT_GLOBALS)
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
            size = len(value) if isinstance(value, CONTAINERS) else None
            before = seen.sizes.get(name)
            if old is value and not is_new:
                self._tell_size(line, owner, name, value, before, size)
            elif is_new or before is None or size is None or not self._plan.strict:
                told = self._ask("wrap_upd", old, value)
                if isinstance(told, tuple) and len(told) == 2:
                    self._tell_value(line, f"{owner}.{name}", *told)
            seen.values[name] = value
            if size is not None:
                seen.sizes[name] = size
            elif not self._plan.strict:
                seen.sizes.pop(name, None)

    def _tell_value(self, line: int, name: str, old: str, new: str) -> None:
        self._line(line, "upd", f"{name} {old} -> {new}")
        self._keep(
            "upd", name=name, line=line, old=old, new=new, call_depth=self._depth
        )

    def _tell_size(
        self,
        line: int,
        owner: str,
        name: str,
        value: Any,
        before: int | None,
        size: int | None,
    ) -> None:
        if before is None or size is None or before == size:
            return
        event = "apd" if size > before else "pop"
        kind = type(value).__name__
        self._line(line, event, f"{owner}.{name} ({kind})(len){before} -> {size}")
        self._keep(
            event,
            name=f"{owner}.{name}",
            line=line,
            old={"type": kind, "len": before},
            new={"type": kind, "len": size},
            call_depth=self._depth,
        )


def _covers(details: dict[str, Any] | None, method: str) -> bool:
    return details is not None and (
        details["track_all"] or method in details["methods"]
    )


def _shown_locals(frame: FrameType) -> dict[str, Any]:
    return {
        name: value
        for name, value in frame.f_locals.items()
        if name != "self" and not callable(value)
    }
