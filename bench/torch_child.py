"""One measurement of `make bench-torch` in a process of its own: the request is JSON in
argv[1], the answer one line of JSON on standard output.

    {"do": "loop", "tool": "filmstrip", "loop": "a + b", "device": "cpu", ...}
    {"do": "step", "tool": "profiler", "program": "mlp", ...}

Turn by turn the program runs bare and with the tool; a ratio is of one turn.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))

REQUEST = json.loads(sys.argv[1])
sys.path[1:1] = REQUEST.get("paths", [])
if REQUEST["tool"] == "torchdbg":  # read when torch is imported
    os.environ["TORCH_TRACE"] = tempfile.mkdtemp(dir=REQUEST["folder"])

import torch  # noqa: E402
import torch_programs as programs  # noqa: E402
from torch.overrides import TorchFunctionMode  # noqa: E402

DEVICE = REQUEST["device"]
FILM = os.path.join(REQUEST["folder"], f"{os.getpid()}.film")


class Empty(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


class Tool:
    def start(self) -> None:
        pass

    def stop(self) -> None:
        pass

    def figures(self) -> dict[str, object]:
        return {}


class Filmstrip(Tool):
    def __init__(self) -> None:
        import filmstrip

        self.module = filmstrip
        self.told: dict[str, object] = {}

    def start(self) -> None:
        options = {"level": "calls", "torch": "ops"} | REQUEST["options"]
        self.module.start(FILM, force=True, targets=[programs.__file__], **options)

    def stop(self) -> None:
        statistics = dict(self.module.stop() or {})
        status = os.stat(FILM)
        self.told = {
            "events": statistics.get("events"),
            "lost": statistics.get("lost"),
            "size": status.st_size,
        }

    def figures(self) -> dict[str, object]:
        os.unlink(FILM)
        return self.told


class Entered(Tool):
    """What is a context manager."""

    def make(self) -> object:
        raise NotImplementedError

    def start(self) -> None:
        self.made = self.make()
        self.made.__enter__()

    def stop(self) -> None:
        self.made.__exit__(None, None, None)


class FunctionMode(Entered):
    def make(self) -> object:
        return Empty()


class Profiler(Entered):
    def make(self) -> object:
        activities = [torch.profiler.ProfilerActivity.CPU]
        if DEVICE != "cpu":
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        return torch.profiler.profile(activities=activities, **REQUEST["options"])


class DebugMode(Entered):
    def make(self) -> object:
        from torch.utils._debug_mode import DebugMode as Mode

        return Mode()


class Torchdbg(Entered):
    def make(self) -> object:
        import torchdbg

        return torchdbg.LoggingMode()


class VizTracer(Tool):
    def start(self) -> None:
        import viztracer

        self.tracer = viztracer.VizTracer(
            ignore_c_function=True, verbose=0, tracer_entries=3_000_000
        )
        self.tracer.start()

    def stop(self) -> None:
        self.tracer.stop()
        self.tracer.clear()


TOOLS = {
    "bare": Tool,
    "filmstrip": Filmstrip,
    "function_mode": FunctionMode,
    "profiler": Profiler,
    "debug_mode": DebugMode,
    "torchdbg": Torchdbg,
    "viztracer": VizTracer,
}


def timed(work, count: int) -> float:
    """Seconds of one: of this thread on the CPU, on the wall where there is a GPU."""
    gc.collect()
    if DEVICE == "cpu":
        started = time.thread_time()
        work(count)
        return (time.thread_time() - started) / count
    torch.cuda.synchronize()
    started = time.perf_counter()
    work(count)
    torch.cuda.synchronize()
    return (time.perf_counter() - started) / count


def measure() -> dict[str, object]:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    if REQUEST["do"] == "loop":
        programs.prepare_loops(DEVICE, REQUEST.get("items", 4))
        work = programs.LOOPS[REQUEST["loop"]]
    else:
        step = (programs.STEPS | programs.SECOND)[REQUEST["program"]](DEVICE)

        def work(count: int) -> None:
            programs.repeat(step, count)

    tool = TOOLS[REQUEST["tool"]]()
    count, with_tool = REQUEST["count"], REQUEST.get("tool_count", REQUEST["count"])
    work(max(2, count // 5))
    bare, runs = [], []
    figures: dict[str, object] = {}
    for _ in range(REQUEST["turns"]):
        bare.append(timed(work, count))
        tool.start()
        work(max(1, with_tool // 10))
        runs.append(timed(work, with_tool))
        tool.stop()
        figures = tool.figures()
    ran = max(1, with_tool // 10) + with_tool
    return {"bare": bare, "runs": runs, "ran": ran, **figures}


if __name__ == "__main__":
    print(json.dumps(measure()))
