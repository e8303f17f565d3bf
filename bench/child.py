"""One measurement in a process of its own: the request is JSON in argv[1], the answer
one line of JSON on standard output.

    {"do": "time", "tool": "filmstrip", "workload": "richards", "runs": 4, ...}
"""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
import threading
import time
from collections.abc import Callable

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import workloads  # noqa: E402

CALLS = {"all": True, "level": "calls"}  # where a request says nothing else


def timed(work: Callable[[], object]) -> dict[str, float]:
    """Seconds on the wall, of this thread and of the whole process; how often the
    thread waited for something of its own accord."""
    gc.collect()
    waits = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
    process = time.process_time()
    thread = time.thread_time()
    wall = time.perf_counter()
    work()
    return {
        "wall": time.perf_counter() - wall,
        "thread": time.thread_time() - thread,
        "process": time.process_time() - process,
        "waits": resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw - waits,
    }


class Tool:
    """start, forget (between runs, not timed) and stop; stop is timed by itself."""

    def __init__(self, request: dict) -> None:
        self.request = request
        self.prepare()

    def prepare(self) -> None:
        pass

    def start(self) -> None:
        pass

    def forget(self) -> None:
        pass

    def wrap(self, work: workloads.Workload) -> workloads.Workload:
        """For a tool that goes round the work instead of being switched on."""
        return work

    def stop(self) -> None:
        pass

    def finish(self, work: workloads.Workload) -> dict[str, object]:
        """Further figures, after stop."""
        return {}


class Floor(Tool):
    """Empty C callbacks."""

    def prepare(self) -> None:
        import filmstrip_floor

        self.module = filmstrip_floor

    def start(self) -> None:
        self.module.start(self.request["mode"])

    def stop(self) -> None:
        self.module.stop()


class Filmstrip(Tool):
    def prepare(self) -> None:
        import filmstrip

        self.module = filmstrip
        self.path = self.request["film"]
        self.statistics: dict = {}

    def start(self) -> None:
        options = self.request.get("options", CALLS)
        self.module.start(self.path, force=True, **options)

    def stop(self) -> None:
        self.statistics = dict(self.module.stop() or {})

    def finish(self, work: workloads.Workload) -> dict[str, object]:
        status = os.stat(self.path)
        os.unlink(self.path)
        return {
            "events": self.statistics.get("events"),
            "lost": self.statistics.get("lost"),
            "size": status.st_size,
            "blocks": status.st_blocks * 512,
        }


class VizTracer(Tool):
    """Its C functions off. Each run gets a new buffer that holds all of it, as a
    program that is recorded once does; a buffer used before is faster (its pages are
    there already), which `warm` tells."""

    def prepare(self) -> None:
        import viztracer

        self.module = viztracer
        self.path = self.request["film"] + ".json"

    def start(self) -> None:
        self.tracer = self.module.VizTracer(
            ignore_c_function=True,
            tracer_entries=3_000_000,
            output_file=self.path,
            verbose=0,
        )
        self.tracer.start()

    def forget(self) -> None:
        self.tracer.stop()
        self.tracer.clear()
        self.start()

    def stop(self) -> None:
        self.tracer.stop()

    def finish(self, work: workloads.Workload) -> dict[str, object]:
        self.tracer.clear()
        self.tracer.start()
        warm = timed(work)
        self.tracer.stop()
        if not self.request.get("save"):
            return {"warm": warm}
        saved = timed(self.tracer.save)
        size = os.stat(self.path).st_size
        os.unlink(self.path)
        return {"warm": warm, "save": saved, "size": size}


class CProfile(Tool):
    def prepare(self) -> None:
        import cProfile

        self.profile = cProfile.Profile()

    def start(self) -> None:
        self.profile.enable()

    def stop(self) -> None:
        self.profile.disable()


class Yappi(Tool):
    """Wall clock, C functions off."""

    def prepare(self) -> None:
        import yappi

        self.module = yappi
        yappi.set_clock_type("wall")

    def start(self) -> None:
        self.module.start(builtins=False)

    def stop(self) -> None:
        self.module.stop()


class ObjWatch(Tool):
    """With locals, as its users have it; what it prints goes nowhere."""

    def prepare(self) -> None:
        import objwatch

        self.module = objwatch
        silence()

    def start(self) -> None:
        self.watch = self.module.watch(["run_benchmark.py"], with_locals=True)

    def stop(self) -> None:
        self.watch.stop()


class PySnooper(Tool):
    def prepare(self) -> None:
        import pysnooper

        self.module = pysnooper

    def wrap(self, work: workloads.Workload) -> workloads.Workload:
        snooped = self.module.snoop(os.devnull, depth=1000)

        def wrapped() -> None:
            with snooped:
                work()

        return wrapped


class Hunter(Tool):
    """VarsSnooper on the program's own module."""

    def prepare(self) -> None:
        import hunter

        self.module = hunter
        self.stream = open(os.devnull, "w")

    def start(self) -> None:
        self.tracer = self.module.trace(
            module_startswith="bm_",
            action=self.module.VarsSnooper(stream=self.stream),
        )

    def stop(self) -> None:
        self.tracer.stop()


def silence() -> None:
    """Standard error, where ObjWatch logs to, goes nowhere from here on."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


TOOLS = {
    "objwatch": ObjWatch,
    "pysnooper": PySnooper,
    "hunter": Hunter,
    "floor": Floor,
    "filmstrip": Filmstrip,
    "viztracer": VizTracer,
    "cprofile": CProfile,
    "yappi": Yappi,
}


def measure_time(request: dict) -> dict:
    """Bare runs, then the same number and more with the tool on, in one process."""
    work = workloads.get(request["workload"])
    work()
    bare = [timed(work) for _ in range(request["bare_runs"])]
    tool = TOOLS[request["tool"]](request)  # not before: VizTracer's import has effects
    tool.start()
    work = tool.wrap(work)
    first = timed(work)
    runs = [first] if request.get("once") else []
    total = first["wall"]
    while len(runs) < request["runs"] or total < request.get("seconds", 0):
        tool.forget()
        runs.append(timed(work))
        total += runs[-1]["wall"]
    stopping = timed(tool.stop)
    return {
        "bare": bare,
        "first": first,
        "runs": runs,
        "total": total,
        "stop": stopping,
        **tool.finish(work),
    }


def measure_idle(request: dict) -> dict:
    """A recording that matches nothing: off and on in turns, each after a run that is
    not counted."""
    import filmstrip

    work = workloads.get(request["workload"])
    bare, runs = [], []
    events = 0
    work()
    for _ in range(request["turns"]):
        work()
        bare += [timed(work) for _ in range(request["runs"])]
        filmstrip.start(
            request["film"], force=True, targets=["nothing_matches"], level="calls"
        )
        work()
        runs += [timed(work) for _ in range(request["runs"])]
        events = (filmstrip.stop() or {}).get("events", 0)
    os.unlink(request["film"])
    return {"bare": bare, "runs": runs, "events": events}


def peak_kib() -> int:
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    raise RuntimeError("/proc/self/status has no VmHWM")


def measure_memory(request: dict) -> dict:
    """The peak of this process after a fixed amount of work, recorded or not."""
    work = workloads.get(request["workload"])
    recorded = request["recorded"]
    events = 0
    if recorded:
        import filmstrip

        options = request.get("options", CALLS)
        filmstrip.start(request["film"], force=True, **options)

    def repeat() -> None:
        for _ in range(request["repeats"]):
            work()

    if request["threads"]:
        threads = [threading.Thread(target=repeat) for _ in range(request["threads"])]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    else:
        repeat()
    if recorded:
        events = (filmstrip.stop() or {}).get("events", 0)
        os.unlink(request["film"])
    return {"peak_kib": peak_kib(), "events": events}


def measure_open(request: dict) -> dict:
    """Opening a recording from Python: until its threads and their events are known."""
    import filmstrip

    def look() -> None:
        film = filmstrip.open(request["film"])
        sum(thread.end_event - thread.first_event for thread in film.threads)
        film.close()

    return {"runs": [timed(look) for _ in range(request["runs"])]}


def measure_film(request: dict) -> dict:
    """A recording of at least so many events, left where it is."""
    import filmstrip

    work = workloads.get(request["workload"])
    filmstrip.start(request["film"], force=True, **request["options"])
    work()
    while filmstrip.statistics()["events"] < request["events"]:
        work()
    events = dict(filmstrip.stop())["events"]
    return {"events": events, "size": os.stat(request["film"]).st_size}


ACTIONS = {
    "film": measure_film,
    "time": measure_time,
    "idle": measure_idle,
    "memory": measure_memory,
    "open": measure_open,
}


def main() -> int:
    request = json.loads(sys.argv[1])
    sys.path[1:1] = request["paths"]
    print(json.dumps(ACTIONS[request["do"]](request)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
