"""The programs that are measured, each a function of 0.1 to 0.4 s when bare.

Eight come from the installed pyperformance package: its files are loaded from where pip
put them and their inner functions called; nothing is copied. The others are fib(25),
an asyncio program, and two that only some measures use.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import types
from collections.abc import Callable

Workload = Callable[[], object]

NAMES = (
    "richards",
    "deltablue",
    "raytrace",
    "go",
    "chaos",
    "hexiom",
    "pyflate",
    "nqueens",
    "fib",
    "asyncio",
)
QUICK_NAMES = ("richards", "go", "nqueens", "fib", "asyncio")


def load_benchmark(name: str) -> types.ModuleType:
    package = importlib.util.find_spec("pyperformance")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("pyperformance is not installed")
    path = os.path.join(
        os.path.dirname(package.origin),
        *("data-files", "benchmarks", f"bm_{name}", "run_benchmark.py"),
    )
    spec = importlib.util.spec_from_file_location(f"bm_{name}", path)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"pyperformance has no benchmark {name}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def richards() -> Workload:
    run = load_benchmark("richards").Richards().run
    return lambda: run(4)


def richards_short() -> Workload:
    """A tenth of it, for recorders that take a thousand times as long."""
    module = load_benchmark("richards")
    whole = module.IdleTaskRec

    class Tenth(whole):  # type: ignore[misc, valid-type]
        def __init__(self) -> None:
            whole.__init__(self)
            self.count //= 10

    module.IdleTaskRec = Tenth
    run = module.Richards().run
    return lambda: run(1)


def deltablue() -> Workload:
    delta_blue = load_benchmark("deltablue").delta_blue
    return lambda: delta_blue(4000)


def raytrace() -> Workload:
    bench = load_benchmark("raytrace").bench_raytrace
    return lambda: bench(1, 70, 70, None)


def go() -> Workload:
    return load_benchmark("go").versus_cpu


def chaos() -> Workload:
    module = load_benchmark("chaos")
    captured: list[Workload] = []

    class Runner:
        """Stands in for pyperf's: keeps the function that main would have timed."""

        def __init__(self) -> None:
            self.metadata: dict[str, object] = {}

        def bench_func(self, name: str, function: Callable[..., object], *args):
            captured.append(lambda: function(*args))

    module.main(
        Runner(),
        types.SimpleNamespace(
            thickness=module.DEFAULT_THICKNESS,
            width=module.DEFAULT_WIDTH,
            height=module.DEFAULT_HEIGHT,
            iterations=module.DEFAULT_ITERATIONS * 2,
            filename=None,
            rng_seed=module.DEFAULT_RNG_SEED,
        ),
    )
    return captured[0]


def hexiom() -> Workload:
    module = load_benchmark("hexiom")
    return lambda: module.main(24, module.DEFAULT_LEVEL)


def pyflate() -> Workload:
    module = load_benchmark("pyflate")
    data = os.path.join(os.path.dirname(module.__file__), "data")
    name = os.path.join(data, "interpreter.tar.bz2")
    return lambda: module.bench_pyflake(1, name)


def nqueens() -> Workload:
    bench = load_benchmark("nqueens").bench_n_queens

    def work() -> None:
        for _ in range(2):
            bench(8)

    return work


def _fib(n: int) -> int:
    return n if n < 2 else _fib(n - 1) + _fib(n - 2)


def fib() -> Workload:
    def work() -> None:
        for _ in range(12):
            _fib(25)

    return work


def fib_once() -> Workload:
    """For many threads at once."""
    return lambda: _fib(20)


async def _square(number: int) -> int:
    await asyncio.sleep(0)
    return number * number


async def _numbers(count: int):
    for number in range(count):
        yield number


async def _produce(queue: asyncio.Queue, count: int) -> None:
    async for number in _numbers(count):
        await queue.put(number)
    await queue.put(None)


async def _consume(queue: asyncio.Queue, lock: asyncio.Lock, sums: list[int]) -> None:
    while True:
        number = await queue.get()
        if number is None:
            return
        async with lock:
            sums.append(await _square(number))


async def _pipelines(pipelines: int, items: int) -> int:
    sums: list[int] = []
    lock = asyncio.Lock()
    tasks = []
    for _ in range(pipelines):
        queue: asyncio.Queue = asyncio.Queue(maxsize=4)
        tasks.append(asyncio.create_task(_produce(queue, items)))
        tasks.append(asyncio.create_task(_consume(queue, lock, sums)))
    await asyncio.gather(*tasks)
    sums += await asyncio.gather(*(_square(number) for number in range(1000)))
    return sum(sums)


def asyncio_tasks() -> Workload:
    return lambda: asyncio.run(_pipelines(80, 100))


def _raise_and_catch(number: int) -> int:
    try:
        raise ValueError(number)
    except ValueError:
        return number


def raise_each_call() -> Workload:
    """One raise a call: the dearest case for code that is no target."""

    def work() -> None:
        for number in range(800_000):
            _raise_and_catch(number)

    return work


_MAKERS: dict[str, Callable[[], Workload]] = {
    "richards": richards,
    "richards_short": richards_short,
    "deltablue": deltablue,
    "raytrace": raytrace,
    "go": go,
    "chaos": chaos,
    "hexiom": hexiom,
    "pyflate": pyflate,
    "nqueens": nqueens,
    "fib": fib,
    "fib_once": fib_once,
    "asyncio": asyncio_tasks,
    "raise_each_call": raise_each_call,
}


def get(name: str) -> Workload:
    return _MAKERS[name]()
