"""Which frames, attributes and globals a watching is about: for a log that Python code
makes. For a recording src/export/objwatch_config.c decides the same."""

from __future__ import annotations

import builtins
import os
from types import FrameType
from typing import Any

from filmstrip.compat.objwatch.targets import Targets

OWN_FOLDER = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
NOT_GLOBALS = {
    *dir(builtins),
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
NO_ENTRY: dict[str, Any] = {"classes": {}, "functions": [], "globals": []}


def class_of(frame: FrameType) -> str | None:
    """The class of `self`; None: there is none, it is a plain function."""
    if "self" not in frame.f_code.co_varnames:
        return None
    this = frame.f_locals.get("self", MISSING)
    return None if this is MISSING else type(this).__name__


class Scope:
    def __init__(self, targets: Targets, with_globals: bool) -> None:
        self._table = targets.table
        self._excluded = targets.exclude_table
        self._files = tuple(targets.files)
        self._exclude_files = tuple(targets.exclude_files)
        self._with_globals = with_globals
        self._names_globals = any(entry["globals"] for entry in self._table.values())

    def _entries(self, module: str) -> tuple[dict[str, Any], dict[str, Any]]:
        return (
            self._table.get(module, NO_ENTRY),
            self._excluded.get(module, NO_ENTRY),
        )

    def traces_file(self, file: str) -> bool:
        return file.endswith(self._files) and not file.endswith(self._exclude_files)

    def traces_class(self, module: str, class_name: str) -> bool:
        entry, excluded = self._entries(module)
        return class_name in entry["classes"] and not excluded["classes"].get(
            class_name, {}
        ).get("track_all", False)

    def _traces_part(self, kind: str, module: str, class_name: str, name: str) -> bool:
        """A method or an attribute, of a class that is a target."""
        entry, excluded = self._entries(module)
        details = entry["classes"].get(class_name)
        without = excluded["classes"].get(class_name, {kind: []})
        return (
            details is not None
            and name not in without[kind]
            and (details["track_all"] or name in details[kind])
        )

    def traces_method(self, module: str, class_name: str, name: str) -> bool:
        return self._traces_part("methods", module, class_name, name)

    def traces_attribute(self, module: str, class_name: str, name: str) -> bool:
        return self._traces_part("attributes", module, class_name, name)

    def traces_function(self, module: str, name: str) -> bool:
        entry, excluded = self._entries(module)
        return name in entry["functions"] and name not in excluded["functions"]

    def traces_global(self, module: str, name: str) -> bool:
        if not self._with_globals:
            return False
        if not self._names_globals:
            return name not in NOT_GLOBALS
        entry, excluded = self._entries(module)
        return name in entry["globals"] and name not in excluded["globals"]

    def traces_frame(self, frame: FrameType) -> bool:
        file = frame.f_code.co_filename
        if file.startswith(OWN_FOLDER):
            return False
        if file.endswith(self._files):
            return not file.endswith(self._exclude_files)
        module = frame.f_globals.get("__name__", "")
        if module not in self._table:
            return False
        name, owner = frame.f_code.co_name, class_of(frame)
        if owner is None:
            return self.traces_function(module, name) or (
                self._with_globals and bool(self._table[module]["globals"])
            )
        if self.traces_class(module, owner):
            return self.traces_method(module, owner, name) or bool(
                self._table[module]["classes"][owner]["attributes"]
            )
        return self.traces_function(module, name)  # put into a class

    def shows_attribute(self, frame: FrameType, owner: str, name: str) -> bool:
        return self.traces_file(frame.f_code.co_filename) or self.traces_attribute(
            frame.f_globals.get("__name__", ""), owner, name
        )
