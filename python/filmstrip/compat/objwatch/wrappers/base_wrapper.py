"""Arguments, results and values as texts."""

from __future__ import annotations

from types import FrameType
from typing import Any

from filmstrip.compat.objwatch.wrappers.abc_wrapper import ABCWrapper


class BaseWrapper(ABCWrapper):
    """Arguments, results and values. The log's exporter writes the same from the
    recording, so this one costs the program nothing."""

    def wrap_call(self, func_name: str, frame: FrameType) -> str:
        return self._format_args_kwargs(*self._extract_args_kwargs(frame))

    def wrap_return(self, func_name: str, result: Any) -> str:
        return self._format_return(result)

    def wrap_upd(self, old_value: Any, current_value: Any) -> tuple[str, str]:
        return self._format_value(old_value), self._format_value(current_value)


BaseLogger = BaseWrapper  # its name up to 0.3
