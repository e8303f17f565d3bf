"""Memory of the machine, as psutil tells it."""

from __future__ import annotations

from types import FrameType
from typing import Any

from filmstrip.compat.objwatch.wrappers.abc_wrapper import ABCWrapper


class MemoryWrapper(ABCWrapper):
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


class CPUMemoryWrapper(MemoryWrapper):
    """Fields of psutil.virtual_memory(), named by `mem_types` before the start."""

    mem_types: Any = ["total", "available", "percent"]  # noqa: RUF012 (ObjWatch's way)

    def _statistics(self) -> dict[str, Any]:
        import psutil  # type: ignore[import-untyped, import-not-found, unused-ignore]

        return dict(psutil.virtual_memory()._asdict())
