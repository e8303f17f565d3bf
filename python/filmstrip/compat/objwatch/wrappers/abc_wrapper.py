"""The base of all wrappers: what a log says about arguments, results and new values.

A wrapper's methods are Python code that runs inside the watched program; an error in
them is shown once and goes no further.
"""

from __future__ import annotations

import abc
from types import FrameType
from typing import Any

from filmstrip.compat.objwatch.constants import Constants
from filmstrip.compat.objwatch.event_handls import Convert, format_value

CO_VARKEYWORDS = 0x08


class ABCWrapper(abc.ABC):
    """Base of all wrappers. `format_sequence_func` turns the elements of a container
    into what is shown, or gives None."""

    format_sequence_func: Convert | None = None

    def __init__(self) -> None:
        self.format_sequence_func = None

    @abc.abstractmethod
    def wrap_call(self, func_name: str, frame: FrameType) -> str:
        """What stands behind `<-`."""

    @abc.abstractmethod
    def wrap_return(self, func_name: str, result: Any) -> str:
        """What stands behind `->`."""

    @abc.abstractmethod
    def wrap_upd(self, old_value: Any, current_value: Any) -> tuple[str, str]:
        """The old and the new value of a variable."""

    def _extract_args_kwargs(
        self, frame: FrameType
    ) -> tuple[list[Any], dict[str, Any]]:
        code, values = frame.f_code, frame.f_locals
        names = code.co_varnames[: code.co_argcount]
        positional = [values[name] for name in names if name in values]
        keyword = {}
        if code.co_flags & CO_VARKEYWORDS:
            keyword = {
                name: value
                for name, value in values.items()
                if name not in names and not name.startswith("_")
            }
        return positional, keyword

    def _format_args_kwargs(self, args: list[Any], kwargs: dict[str, Any]) -> str:
        named = [*enumerate(args), *kwargs.items()]
        return ", ".join(
            f"'{name}':{self._format_value(value)}" for name, value in named
        )

    def _format_value(self, value: Any, is_return: bool = False) -> str:
        text = format_value(value, self.format_sequence_func)
        if is_return and isinstance(value, Constants.LOG_SEQUENCE_TYPES):
            return f"[{text}]"
        return text

    def _format_return(self, result: Any) -> str:
        return self._format_value(result, is_return=True)


FunctionWrapper = ABCWrapper  # its name up to 0.4


def kind_of(wrapper: Any) -> str:
    """ "own": a class of the program's, to be run in it; "none", "base" and "shape" are
    written from a recording. Wrappers of ObjWatch itself, where it is installed too,
    count as ours; ValueError for what is no wrapper."""
    if wrapper is None:
        return "none"
    mro = wrapper.__mro__ if isinstance(wrapper, type) else ()
    if not any(_is_ours(base, "ABCWrapper", "FunctionWrapper") for base in mro):
        name = getattr(wrapper, "__name__", repr(wrapper))
        raise ValueError(f"wrapper '{name}' is not a subclass of ABCWrapper")
    if _is_ours(wrapper, "BaseWrapper", "BaseLogger"):
        return "base"
    if _is_ours(wrapper, "TensorShapeWrapper", "TensorShapeLogger"):
        return "shape"
    return "own"


def _is_ours(kind: type, *names: str) -> bool:
    module = kind.__module__
    return kind.__name__ in names and module.startswith(
        ("objwatch.wrappers", __name__.rpartition(".")[0])
    )
