"""Tensors by their shape."""

from __future__ import annotations

import sys
from typing import Any

from filmstrip.compat.objwatch.wrappers.base_wrapper import BaseWrapper


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


TensorShapeLogger = TensorShapeWrapper  # its name up to 0.4
