"""A service records for weeks: whatever the program makes and drops, the recorder's
memory is flat once it is warm. Each program makes things, looks at its memory, makes
three times as many, and looks again; the same program is run bare beside it. In `make
test` each kind runs on every other Python, in `make soak` on all."""

from __future__ import annotations

import json
import os
import sys
import textwrap

import pytest

from conftest import Runner, run_program
from proof import films

# Of the C heap, where the recorder keeps what it knows: exact but for buffers that grow
# a little, and at level values for the tables of objects and places, which have a bound
# (28 MiB) and are doubled on the way there. Python's own objects lie in other pages.
HEAP_BOUND = {"calls": 512 << 10, "values": 4 << 20}
PAGES_BOUND = 3 << 20

PROGRAM = """
import ctypes, gc, json, os, sys, time

class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd",
        "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]

libc = ctypes.CDLL(None)
libc.mallinfo2.restype = Info

def memory():
    gc.collect()
    time.sleep(0.3)  # what has ended goes to the file in the background
    libc.malloc_trim(0)
    info = libc.mallinfo2()
    with open("/proc/self/status") as status:
        pages = [int(line.split()[1]) for line in status if line.startswith("RssAnon")]
    return info.uordblks + info.hblkhd, pages[0] * 1024

def tick():
    return 1

{make}

def main():
    warm, more = int(sys.argv[1]), int(sys.argv[2])
    for _ in range(60_000):
        tick()  # the first chunk is sealed
    make(warm)
    heap, pages = memory()
    make(more)
    heap_after, pages_after = memory()
    print(json.dumps({{"heap": heap_after - heap, "pages": pages_after - pages}}))

main()
"""

KINDS = {
    "tasks": """
        import asyncio

        async def step():
            await asyncio.sleep(0)

        async def work(count):
            for _ in range(count // 100):
                await asyncio.gather(*[step() for _ in range(100)])

        def make(count):
            asyncio.run(work(count))
        """,
    "tasks with names of their own": """
        import asyncio

        async def step():
            pass

        async def work(count):
            for number in range(count):
                await asyncio.create_task(step(), name=f"request_{number}_{count}")

        def make(count):
            asyncio.run(work(count))
        """,
    "tasks that are cancelled": """
        import asyncio

        async def step():
            await asyncio.sleep(1000)

        async def work(count):
            for _ in range(count // 100):
                tasks = [asyncio.ensure_future(step()) for _ in range(100)]
                await asyncio.sleep(0)
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

        def make(count):
            asyncio.run(work(count))
        """,
    "coroutines that nobody awaits": """
        import warnings
        warnings.simplefilter("ignore")

        async def never():
            return 1

        def make(count):
            for _ in range(count):
                never()
        """,
    "coroutines that are dropped half way": """
        class Forever:
            def __await__(self):
                yield 1

        async def waits():
            await Forever()

        def make(count):
            for _ in range(count):
                coroutine = waits()
                coroutine.send(None)
                del coroutine
        """,
    "async generators left by break": """
        import asyncio

        async def numbers():
            for number in range(3):
                yield number

        async def work(count):
            for turn in range(count):
                async for _ in numbers():
                    break
                if turn % 100 == 0:
                    await asyncio.sleep(0)

        def make(count):
            asyncio.run(work(count))
        """,
    "generators that are dropped half way": """
        def numbers():
            yield 1
            yield 2

        def make(count):
            kept = []
            for _ in range(count):
                generator = numbers()
                next(generator)
                kept.append(generator)
                if len(kept) == 50:
                    kept.clear()
        """,
    "greenlets": """
        import greenlet

        def run():
            greenlet.getcurrent().parent.switch(1)
            return 2

        def make(count):
            for number in range(count):
                one = greenlet.greenlet(run)
                one.switch()
                if number % 2:
                    one.switch()
                del one
        """,
    "code of eval": """
        def make(count):
            for number in range(count):
                eval(f"{number} + 1")
        """,
    "code of exec": """
        def make(count):
            for number in range(count):
                exec("a = 1\\nb = a + 1\\n", {})
        """,
    "functions of exec": """
        def make(count):
            for number in range(count):
                names = {}
                exec("def double(a):\\n    b = a * 2\\n    return b\\n", names)
                names["double"](number)
        """,
    "types": """
        def make(count):
            for _ in range(count):
                made = type("Made", (), {})
                one = made()
                one.attribute = 1
        """,
    "class statements": """
        def statement():
            class Made:
                def method(self):
                    self.value = 1
                    return self.value
            return Made

        def make(count):
            for _ in range(count):
                statement()().method()
        """,
    "modules": """
        import types

        def make(count):
            for _ in range(count):
                module = types.ModuleType("made")
                sys.modules["made"] = module
                exec("value = 1\\ndef get():\\n    return value\\n", module.__dict__)
                module.get()
                del sys.modules["made"]
        """,
    "modules from a file": """
        import importlib, pathlib
        pathlib.Path("loaded.py").write_text("value = 1\\ndef get():\\n    return value\\n")
        sys.path.insert(0, os.getcwd())

        def make(count):
            for _ in range(count):
                importlib.import_module("loaded").get()
                del sys.modules["loaded"]
        """,
    "objects and closures": """
        class Point:
            def __init__(self, x):
                self.x = x

        def make(count):
            for number in range(count):
                point = Point(number)
                held = {"points": [point]}
                def inner():
                    return held
                inner()
        """,
    "exceptions": """
        def make(count):
            for number in range(count):
                try:
                    raise ValueError(f"number {number}")
                except ValueError as error:
                    caught = error
        """,
    "threads, one after another": """
        import threading

        def run():
            return 1

        def make(count):
            for _ in range(count):
                thread = threading.Thread(target=run)
                thread.start()
                thread.join()
        """,
}

# Those that take long to make, each: warm up with so many, then so many more.
COUNTS = {
    "exceptions": (25_000, 30_000),  # their texts fill a window of their own
    "functions of exec": (3000, 10_000),
    "modules": (3000, 10_000),
    "modules from a file": (1000, 3000),
    "threads, one after another": (500, 3000),
}

# From 3.13 on Python ends a generator that is dropped at a yield without running it: no
# event tells. Their variables used to be kept until there were 131,072 of them, 25 to 41
# MB. These kinds run on every Python.
DROPPED = [kind for kind in KINDS if "dropped half way" in kind]


@pytest.mark.skipif(
    "FILMSTRIP_SANITIZED" in os.environ, reason="the sanitizer has a heap of its own"
)
@pytest.mark.parametrize(
    "kind",
    KINDS
    if films.SOAK
    else dict.fromkeys([*list(KINDS)[sys.version_info[1] % 2 :: 2], *DROPPED]),
)
def test_memory_is_flat(runner: Runner, kind: str) -> None:
    if kind == "greenlets":
        pytest.importorskip("greenlet")
    warm, more = map(str, COUNTS.get(kind, (10_000, 30_000)))
    runner.write(PROGRAM.format(make=textwrap.dedent(KINDS[kind])))
    plain = runner.plain(None, warm, more)
    assert plain.rc == 0, plain.stderr
    bare = json.loads(plain.stdout)
    for level, bound in HEAP_BOUND.items():
        done = runner.record(None, warm, more, options=("--level", level))
        assert done.rc == 0, done.stderr
        grown = json.loads(done.stdout.splitlines()[0])
        heap = grown["heap"] - max(bare["heap"], 0)
        assert heap < bound, (level, bare, grown)
        pages = grown["pages"] - max(bare["pages"], 0)
        assert pages < bound + PAGES_BOUND, (level, bare, grown)


# Each text is another function to the recording, made of names that it knows.
DIFFERENT = """
number = 0

def make(count):
    global number
    for _ in range(count):
        number += 1
        one, two, three = number % 60, number // 60 % 60, number // 3600
        exec(f"a{one} = 1; a{two} = tick(); a{three} = 2", {"tick": tick})
"""


@pytest.mark.skipif(
    "FILMSTRIP_SANITIZED" in os.environ, reason="the sanitizer has a heap of its own"
)
@pytest.mark.parametrize("level", ["calls", "values"])
def test_code_that_differs_each_time(runner: Runner, level: str) -> None:
    """It took 110 bytes for each code object, for good (at level values 330), and is 8
    now: the hash that tells which function it is. A part of the rest depends on how far
    the file is behind."""
    runner.write(PROGRAM.format(make=DIFFERENT))
    done = runner.record(None, "45000", "90000", options=("--level", level))
    assert done.rc == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[0])["heap"] < 90_000 * 45


TOGETHER = """
import json, os, threading, time

def run(gate):
    gate.wait()

def burst(count):
    gate = threading.Event()
    threads = [threading.Thread(target=run, args=(gate,)) for _ in range(count)]
    for thread in threads:
        thread.start()
    gate.set()
    for thread in threads:
        thread.join()

def mapped():
    film = str(os.stat("out.film").st_ino)
    with open("/proc/self/maps") as maps:
        return sum(line.split()[4] == film for line in maps)

burst(400)
end = time.monotonic() + 30
while mapped() > 40 and time.monotonic() < end:
    time.sleep(0.05)  # the sealing thread goes through them
blocks = os.stat("out.film").st_blocks * 512
print(json.dumps({"mapped": mapped(), "blocks": blocks}))
"""


@pytest.mark.parametrize("options", [(), ("--ring", "16MB")], ids=["plain", "ring"])
def test_many_threads_at_a_time_leave_nothing(
    runner: Runner, options: tuple[str, ...]
) -> None:
    done = runner.record(TOGETHER, options=options)
    assert done.rc == 0, done.stderr
    assert done.film is not None
    left = json.loads(done.stdout.splitlines()[0])
    assert left["mapped"] <= 40, left
    assert left["blocks"] < 24 << 20, left
    if not options:
        assert done.film.stat().st_size < 2 << 20
    checked = run_program("check", done.film)
    assert checked.rc == 0, checked.stdout + checked.stderr
    told = json.loads(run_program("info", "--json", done.film).stdout)
    assert len(told["threads"]) == 401
