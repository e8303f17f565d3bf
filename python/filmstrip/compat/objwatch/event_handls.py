"""Values as texts, and the lines and the tree of a log that Python code makes.

The log of a recording is made by src/export/objwatch*.c, by the same rules.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

from filmstrip.compat.objwatch.config import ObjWatchConfig
from filmstrip.compat.objwatch.constants import Constants
from filmstrip.compat.objwatch.events import EventType
from filmstrip.compat.objwatch.runtime_info import runtime_info
from filmstrip.compat.objwatch.utils.logger import log_debug
from filmstrip.compat.objwatch.utils.util import target_handler

log_element_types = Constants.LOG_ELEMENT_TYPES  # their names in 0.3
log_sequence_types = Constants.LOG_SEQUENCE_TYPES

Convert = Callable[[list[Any]], "list[Any] | None"]


def _are_simple(elements: Any) -> bool:
    return all(isinstance(one, Constants.LOG_ELEMENT_TYPES) for one in elements)


def _shown_elements(elements: list[Any], func: Convert | None) -> list[Any] | None:
    if _are_simple(elements):
        return elements
    return func(elements) if func is not None else None


def _shown_pairs(
    mapping: dict[Any, Any], count: int, func: Convert | None
) -> list[Any] | None:
    pairs = list(mapping.items())[:count]
    if all(map(_are_simple, pairs)):
        return list(pairs)
    values = func([value for _, value in pairs]) if func is not None else None
    if not values:
        return None
    return [(key, value) for (key, _), value in zip(pairs, values, strict=False)]


def format_sequence(
    container: Any,
    max_elements: int = Constants.MAX_SEQUENCE_ELEMENTS,
    func: Convert | None = None,
) -> str:
    """`(list)[1, 2, 3, '... (4 more elements)']`, or `(list)[7 elements]` where the
    first ones are not simple and `func` does not make them so."""
    kind, size = type(container).__name__, len(container)
    if size == 0:
        return f"({kind})[]"
    shown: list[Any] | None
    if isinstance(container, dict):
        shown = _shown_pairs(container, max_elements, func)
    else:
        shown = _shown_elements(list(container)[:max_elements], func)
    if shown is None:
        return f"({kind})[{size} elements]"
    if size > max_elements:
        shown.append(f"... ({size - max_elements} more elements)")
    return f"({kind}){shown}"


def format_value(value: Any, func: Convert | None = None) -> str:
    if isinstance(value, Constants.LOG_ELEMENT_TYPES):
        return f"{value}"
    if isinstance(value, Constants.LOG_SEQUENCE_TYPES):
        return format_sequence(value, func=func)
    try:
        return f"(type){value.__name__}"
    except Exception:
        return f"(type){type(value).__name__}"


class EventHandls:
    """Writes the line of each event, and keeps the events for JSON and XML. `older`:
    in the form of 0.3."""

    format_sequence = staticmethod(format_sequence)
    _format_value = staticmethod(format_value)

    def __init__(
        self,
        config: ObjWatchConfig,
        say: Callable[[str], None] = log_debug,
        older: bool = False,
        output_xml: str | None = None,
    ) -> None:
        self.config = config
        self.output_json = config.output_json
        self.output_xml = output_xml
        self._say = say
        self._older = older
        self._runtime = runtime_info.get_info_dict()
        self._levels: list[list[dict[str, Any]]] = [[]]
        self._open: list[dict[str, Any]] = []  # the functions above each of them
        self._count = 0
        self._is_saved = False

    # --- lines ---

    def _line(self, number: int, kind: EventType, depth: int, text: str) -> str:
        indent = ("| " if self._older else "  ") * depth
        return f"{number:>5} {indent}{kind.label} {text}"

    def _keep(self, kind: str, data: dict[str, Any]) -> dict[str, Any]:
        self._count += 1
        event = {"id": self._count, "type": kind, **data}
        if self.output_json or self.output_xml:
            self._levels[-1].append(event)
        return event

    def handle_run(
        self,
        lineno: int,
        func_info: dict[str, Any],
        abc_wrapper: Any,
        call_depth: int,
        index_info: str,
    ) -> None:
        name = func_info["qualified_name"]
        data = {
            "module": func_info["module"],
            "symbol": func_info["symbol"],
            "symbol_type": func_info["symbol_type"] or "function",
            "run_line": lineno,
            "qualified_name": name,
            "events": [],
        }
        text = name
        if abc_wrapper is not None:
            told = abc_wrapper.wrap_call(func_info["symbol"], func_info["frame"])
            data["call_msg"] = told
            text = f"{name} <- {told}"
        self._say(index_info + self._line(lineno, EventType.RUN, call_depth, text))
        event = self._keep("Function", data)
        self._open.append(event)
        self._levels.append(event["events"])

    def handle_end(
        self,
        lineno: int,
        func_info: dict[str, Any],
        abc_wrapper: Any,
        call_depth: int,
        index_info: str,
        result: Any,
    ) -> None:
        text, told = func_info["qualified_name"], ""
        if abc_wrapper is not None:
            told = abc_wrapper.wrap_return(func_info["symbol"], result)
            text += f" -> {told}"
        self._say(index_info + self._line(lineno, EventType.END, call_depth, text))
        if self._open:
            self._levels.pop()
            self._open.pop().update(return_msg=told, end_line=lineno)

    def handle_upd(
        self,
        lineno: int,
        class_name: str,
        key: str,
        old_value: Any,
        current_value: Any,
        call_depth: int,
        index_info: str,
        abc_wrapper: Any = None,
    ) -> None:
        if abc_wrapper is None:
            old, new = format_value(old_value), format_value(current_value)
        else:
            told = abc_wrapper.wrap_upd(old_value, current_value)
            if not isinstance(told, tuple) or len(told) != 2:
                return
            old, new = told
        name = f"{class_name}.{key}"
        text = f"{name} {old} -> {new}"
        self._say(index_info + self._line(lineno, EventType.UPD, call_depth, text))
        data = {"name": name, "line": lineno, "old": old, "new": new}
        self._keep("upd", {**data, "call_depth": call_depth})

    def _handle_length(
        self,
        kind: EventType,
        lineno: int,
        class_name: str,
        key: str,
        value_type: type,
        old_value_len: int | None,
        current_value_len: int | None,
        call_depth: int,
        index_info: str,
    ) -> None:
        name, type_name = f"{class_name}.{key}", value_type.__name__
        text = f"{name} ({type_name})(len){old_value_len} -> {current_value_len}"
        self._say(index_info + self._line(lineno, kind, call_depth, text))
        data = {
            "name": name,
            "line": lineno,
            "old": {"type": type_name, "len": old_value_len},
            "new": {"type": type_name, "len": current_value_len},
            "call_depth": call_depth,
        }
        self._keep(kind.label, data)

    handle_apd = functools.partialmethod(_handle_length, EventType.APD)
    handle_pop = functools.partialmethod(_handle_length, EventType.POP)

    def determine_change_type(
        self, old_value_len: int, current_value_len: int
    ) -> EventType | None:
        if current_value_len == old_value_len:
            return None
        return EventType.APD if current_value_len > old_value_len else EventType.POP

    # --- trees ---

    def save_json(self) -> None:
        """Once; OSError where the file cannot be written."""
        if not self.output_json or self._is_saved:
            return
        self._is_saved = True
        tree = {
            "runtime_info": self._runtime,
            "config": self.config.to_dict(),
            "events": self._levels[0],
        }
        with open(self.output_json, "w", encoding="utf-8") as file:
            json.dump(
                {"ObjWatch": tree},
                file,
                ensure_ascii=False,
                separators=(",", ":"),
                default=target_handler,
            )

    def save_xml(self) -> None:
        """The older tree."""
        if self.output_xml:
            root = ElementTree.Element("ObjWatch")
            _put_elements(root, self._levels[0])
            tree = ElementTree.ElementTree(root)
            ElementTree.indent(tree)
            tree.write(self.output_xml, encoding="utf-8", xml_declaration=True)


def _put_elements(parent: ElementTree.Element, events: list[dict[str, Any]]) -> None:
    for event in events:
        if event["type"] == "Function":
            shown = {"name": event["qualified_name"], "run_line": event["run_line"]}
            for key in ("call_msg", "return_msg", "end_line"):
                if key in event:
                    shown[key] = event[key]
        else:
            shown = {key: event[key] for key in ("name", "line", "old", "new")}
            for key in ("old", "new"):
                if isinstance(shown[key], dict):
                    length = shown[key]
                    shown[key] = f"({length['type']})(len){length['len']}"
        texts = {key: str(value) for key, value in shown.items()}
        element = ElementTree.SubElement(parent, event["type"], texts)
        _put_elements(element, event.get("events", []))
