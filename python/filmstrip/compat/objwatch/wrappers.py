"""What a log says about arguments, results and new values.

A wrapper of one's own is a subclass of ABCWrapper. Its methods are Python code that
runs inside the watched program; an error in them is shown once and goes no further.
"""

from __future__ import annotations

import abc
import enum
import sys
from collections.abc import Callable
from types import FrameType, FunctionType
from typing import Any

__all__ = [
    "ABCWrapper",
    "BaseWrapper",
    "CPUMemoryWrapper",
    "FunctionWrapper",
    "TensorShapeLogger",
    "TensorShapeWrapper",
    "TorchMemoryWrapper",
]

SIMPLE = (bool, int, float, str, type(None), FunctionType, enum.Enum)
CONTAINERS = (list, set, dict, tuple)
SHOWN = 3  # elements of a container
CO_VARKEYWORDS = 0x08

Convert = Callable[[list[Any]], "list[Any] | None"]


def format_sequence(
    container: Any, max_elements: int = SHOWN, func: Convert | None = None
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


def _shown_elements(elements: list[Any], func: Convert | None) -> list[Any] | None:
    if all(isinstance(element, SIMPLE) for element in elements):
        return elements
    return func(elements) if func is not None else None


def _shown_pairs(
    mapping: dict[Any, Any], count: int, func: Convert | None
) -> list[Any] | None:
    pairs = list(mapping.items())[:count]
    if all(isinstance(part, SIMPLE) for pair in pairs for part in pair):
        return list(pairs)
    values = func([value for _, value in pairs]) if func is not None else None
    if not values:
        return None
    return [(key, value) for (key, _), value in zip(pairs, values, strict=False)]


def format_value(value: Any, func: Convert | None = None) -> str:
    if isinstance(value, SIMPLE):
        return f"{value}"
    if isinstance(value, CONTAINERS):
        return format_sequence(value, func=func)
    try:
        return f"(type){value.__name__}"
    except Exception:
        return f"(type){type(value).__name__}"


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
        if is_return and isinstance(value, CONTAINERS):
            return f"[{text}]"
        return text

    def _format_return(self, result: Any) -> str:
        return self._format_value(result, is_return=True)


class BaseWrapper(ABCWrapper):
    """Arguments, results and values. The log's exporter writes the same from the
    recording, so this one costs the program nothing."""

    def wrap_call(self, func_name: str, frame: FrameType) -> str:
        return self._format_args_kwargs(*self._extract_args_kwargs(frame))

    def wrap_return(self, func_name: str, result: Any) -> str:
        return self._format_return(result)

    def wrap_upd(self, old_value: Any, current_value: Any) -> tuple[str, str]:
        return self._format_value(old_value), self._format_value(current_value)


def _is_tensor(value: Any) -> bool:
    tensor = getattr(sys.modules.get("torch"), "Tensor", None)
    return tensor is not None and isinstance(value, tensor)


def _shapes(elements: list[Any]) -> list[Any] | None:
    if all(map(_is_tensor, elements)):
        return [element.shape for element in elements]
    return None


class TensorShapeWrapper(BaseWrapper):
    """As BaseWrapper; of tensors, and of containers of tensors, the shapes."""

    def __init__(self) -> None:
        super().__init__()
        self.format_sequence_func = _shapes

    def _format_value(self, value: Any, is_return: bool = False) -> str:
        if _is_tensor(value):
            return f"{value.shape}"
        return super()._format_value(value, is_return)


class _MemoryWrapper(ABCWrapper):
    """Memory figures at every line. They are taken as the program runs: there is
    nothing of them in a recording."""

    mem_types: Any = ()

    def __init__(self) -> None:
        super().__init__()
        self.mem_types = list(type(self).mem_types)

    def _statistics(self) -> dict[str, Any]:
        raise NotImplementedError

    def _figures(self) -> str:
        found = self._statistics()
        return " | ".join(f"{name}: {found[name]}" for name in self.mem_types)

    def wrap_call(self, func_name: str, frame: FrameType) -> str:
        return self._figures()

    def wrap_return(self, func_name: str, result: Any) -> str:
        return self._figures()

    def wrap_upd(self, old_value: Any, current_value: Any) -> tuple[str, str]:
        return "", self._figures()


class CPUMemoryWrapper(_MemoryWrapper):
    """Fields of psutil.virtual_memory(), named by `mem_types` before the start."""

    mem_types: Any = ["total", "available", "percent"]  # noqa: RUF012 (ObjWatch's way)

    def _statistics(self) -> dict[str, Any]:
        import psutil  # type: ignore[import-untyped, import-not-found, unused-ignore]

        return dict(psutil.virtual_memory()._asdict())


class TorchMemoryWrapper(_MemoryWrapper):
    """Fields of torch.cuda.memory_stats(), named by `mem_types` before the start."""

    mem_types: Any = [  # noqa: RUF012 (ObjWatch's way)
        "allocation.all.current",
        "allocation.all.peak",
    ]

    def _statistics(self) -> dict[str, Any]:
        import torch  # type: ignore[import-untyped, import-not-found, unused-ignore]

        return dict(torch.cuda.memory_stats())


FunctionWrapper = ABCWrapper  # its name up to 0.4
TensorShapeLogger = TensorShapeWrapper  # its name up to 0.4
