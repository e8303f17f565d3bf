"""The aten operations that a Python TorchDispatchMode sees, as JSON lines:

    {"function": "aten::add", "thread": 0}

A mode is of one thread; threads that start while it is on get their own.
"""

from __future__ import annotations

import json
import pathlib
import threading

from torch.utils._python_dispatch import TorchDispatchMode


class Mode(TorchDispatchMode):
    def __init__(self, oracle: DispatchOracle) -> None:
        super().__init__()
        self.oracle = oracle

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.oracle.write(function._schema.name)
        return function(*args, **(kwargs or {}))


class DispatchOracle:
    def __init__(self, path: pathlib.Path) -> None:
        self.out = path.open("w", encoding="utf-8")
        self.lock = threading.Lock()
        self.threads: dict[int, int] = {}

    def write(self, function: str) -> None:
        with self.lock:
            thread = self.threads.setdefault(threading.get_ident(), len(self.threads))
            record = {"function": function, "thread": thread}
            self.out.write(json.dumps(record) + "\n")

    def __enter__(self) -> DispatchOracle:
        self.run = run = threading.Thread.run

        def running(thread: threading.Thread) -> None:
            with Mode(self):
                run(thread)

        threading.Thread.run = running
        self.mode = Mode(self)
        self.mode.__enter__()
        return self

    def __exit__(self, *what: object) -> None:
        self.mode.__exit__(None, None, None)
        threading.Thread.run = self.run
        self.out.close()
