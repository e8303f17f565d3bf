"""Memory of the graphics card, as torch tells it."""

from __future__ import annotations

from typing import Any

from filmstrip.compat.objwatch.wrappers.cpu_memory_wrapper import MemoryWrapper


class TorchMemoryWrapper(MemoryWrapper):
    """Fields of torch.cuda.memory_stats(), named by `mem_types` before the start."""

    mem_types: Any = [  # noqa: RUF012 (ObjWatch's way)
        "allocation.all.current",
        "allocation.all.peak",
    ]

    def _statistics(self) -> dict[str, Any]:
        import torch  # type: ignore[import-untyped, import-not-found, unused-ignore]

        return dict(torch.cuda.memory_stats())
