"""Which of several processes this is, as the frameworks count them.

A framework of one's own is a method `_check_init_NAME` added to MPHandls: it sets
`initialized` and `index`. `sync_fn` is kept for such methods and never called: a
barrier would change the program.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any


class MPHandls:
    def __init__(self, framework: str | None = None) -> None:
        self.framework = framework
        self.initialized = False
        self.index: int | None = None
        self.sync_fn: Callable[..., Any] | None = None
        self.told = ""  # what ObjWatch says when it learns the index
        self._check_initialized()

    def _check_initialized(self) -> None:
        if self.framework is None:
            return
        if self.framework == "torch.distributed":
            self._check_init_torch()
        elif self.framework == "multiprocessing":
            self._check_init_multiprocessing()
        else:
            check = getattr(self, f"_check_init_{self.framework}", None)
            if check is None:
                raise ValueError(f"Invalid framework: {self.framework}")
            check()

    def is_initialized(self) -> bool:
        if self.framework is not None and not self.initialized:
            self._check_initialized()
        return self.initialized

    def get_index(self) -> int | None:
        return self.index

    def sync(self) -> None:
        """Does nothing, on purpose."""

    def _found(self, index: int) -> None:
        self.initialized = True
        self.index = index
        self.told = f"{self.framework} initialized. index: {index}"

    def _check_init_torch(self) -> None:
        """The rank, or what the launcher says it will be."""
        torch: Any = sys.modules.get("torch")
        distributed = getattr(torch, "distributed", None)
        try:
            if distributed is not None and distributed.is_initialized():
                self._found(distributed.get_rank())
                return
        except (AttributeError, RuntimeError):
            pass  # torch without distributed, or not set up
        rank = os.environ.get("RANK", "")
        if rank.isascii() and rank.isdigit():
            self._found(int(rank))

    def _check_init_multiprocessing(self) -> None:
        import multiprocessing

        process = multiprocessing.current_process()
        identity = getattr(process, "_identity", ())
        if process.name != "MainProcess" and identity:
            self._found(identity[0] - 1)
