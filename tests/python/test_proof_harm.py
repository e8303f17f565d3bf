"""Harmless: results, order of deaths, limits, signals and exit statuses are what they are
without us."""

from __future__ import annotations

import signal

import pytest

from conftest import dump_events
from proof import films
from proof.alike import compare, die_alike

ALL = ["--all", "--c-calls"]


# --- table B: values that bite --------------------------------------------------------


EVIL = """
import sys, threading, time, weakref

mode = sys.argv[1]
order = []
lock = threading.Lock()

class Evil:
    n = 0
    def __init__(self):
        self.x = 1
    def bite(self, *rest):
        Evil.n += 1
        if mode == "raise": raise ValueError("bitten")
        elif mode == "exit": raise SystemExit(7)
        elif mode == "mutate": self.x += 1
        elif mode == "sleep": time.sleep(0.2)
        elif mode == "recurse": repr(self)
        elif mode == "block": lock.acquire(timeout=40)
        return "evil"
    __repr__ = __str__ = __format__ = __len__ = __hash__ = __bool__ = __iter__ = bite
    __eq__ = __getitem__ = __call__ = __index__ = __fspath__ = __sizeof__ = bite
    @property
    def __class__(self):
        Evil.n += 1
        return int
    def __getattr__(self, name):
        Evil.n += 1
        raise AttributeError(name)

class EvilError(Exception):
    def bite(self, *rest):
        Evil.n += 1
        raise SystemExit(8)
    __str__ = __repr__ = __getattr__ = bite

class D:
    def __del__(self):
        order.append("del")

def life():
    d = D()
    w = weakref.ref(d)
    order.append("before")
    d = None
    order.append("after:%s" % (w() is None))

def f(e):
    local = e
    return e.x

def g(big):
    return len(big)

def fails(e):
    raise EvilError(e)

began = time.monotonic()
if mode == "block":
    lock.acquire()
total = 0
e = Evil()
if mode == "big":
    for _ in range(5):
        total += g([list(range(1000)) for _ in range(3000)])
else:
    for _ in range(5):
        total += f(e)
        try:
            fails(e)
        except EvilError:
            pass
life()
slow = time.monotonic() - began > 30
print(total, e.x, Evil.n, order, slow)
"""


@pytest.mark.parametrize(
    "mode", ["ok", "raise", "exit", "mutate", "sleep", "recurse", "block", "big"]
)
def test_evil_values(runner, mode):
    plain, _ = compare(runner, EVIL, mode, options=ALL)
    total, x, bites = plain.stdout.split()[:3]
    assert (total, x, bites) == ("15000" if mode == "big" else "5", "1", "0")


def test_deaths_and_weak_references(runner):
    compare(
        runner,
        """
        import gc, sys, threading, weakref
        order = []
        class Thing:
            def __init__(self, name): self.name = name
            def __del__(self): order.append("del " + self.name)
        def watch(thing):
            weakref.finalize(thing, order.append, "final " + thing.name)
            return weakref.ref(thing, lambda ref: order.append("weak"))
        def replaced():
            a = Thing("a"); r = watch(a)
            order.append("1"); a = Thing("a2"); order.append("2"); del a; order.append("3")
            return r() is None
        def raising():
            b = Thing("b"); watch(b)
            raise ValueError(b.name)
        def generator():
            c = Thing("c"); watch(c)
            try:
                yield 1
            finally:
                order.append("finally c")
        def argument(d):
            order.append("in"); d = None; order.append("out")
        def cycle():
            e = Thing("e"); e.self = e; watch(e)
        def frames():
            g = Thing("g")
            return sys._getframe()
        print(replaced())
        try:
            raising()
        except ValueError as error:
            order.append("caught")
        order.append("after")
        x = generator(); next(x); del x; order.append("gone")
        x = generator(); next(x)
        try:
            x.throw(KeyError)
        except KeyError:
            pass
        del x
        argument(Thing("d"))
        cycle(); order.append("cycled"); gc.collect()
        frame = frames(); order.append("framed"); del frame
        t = threading.Thread(target=argument, args=(Thing("t"),)); t.start(); t.join(); del t
        print(order)
        print(sys.getrefcount(order), len(gc.garbage))
        last = Thing("at the end")
        import atexit
        atexit.register(lambda: print("exit", order[-1]))
        """,
        options=ALL,
    )


# --- limits ---------------------------------------------------------------------------


def test_recursion_limit(runner):
    """The same depth, in Python functions and in C functions that call back."""
    compare(
        runner,
        """
        import functools, sys, json
        def depth(n):
            try:
                return depth(n + 1)
            except RecursionError:
                return n
        def through_c(n):
            try:
                return max([n], key=lambda n: through_c(n + 1)) if n < 0 else list(map(through_c, [n + 1]))[0]
            except RecursionError:
                return n
        class Deep:
            def __repr__(self):
                return repr(self)
        def generator(n):
            yield n
            try:
                yield from generator(n + 1)
            except RecursionError:
                return
        for limit in (1000, 300, 2000):
            sys.setrecursionlimit(limit)
            print(depth(0), sum(1 for _ in generator(0)))
        sys.setrecursionlimit(1000)
        print(through_c(0))
        for what in (lambda: repr(Deep()), lambda: json.dumps(nested), lambda: depth.missing):
            nested = []
            for _ in range(100000):
                nested = [nested]
            try:
                what()
            except (RecursionError, AttributeError) as error:
                print(type(error).__name__, str(error)[:14])
        print(depth(0), sys.getrecursionlimit())
        """,
    )


def test_deep_recursion_is_recorded_to_any_depth(runner):
    program = """
        import sys, threading
        sys.setrecursionlimit(60_000)
        def down(n):
            return down(n - 1) if n else 0
        print(down(50_000))
    """
    _, recorded = compare(runner, program)
    assert films.count_calls(recorded.film, "down") == 50_001


# --- signals --------------------------------------------------------------------------


def test_signal_handling(runner):
    compare(
        runner,
        """
        import os, signal, sys, threading, time
        def handler(number, frame):
            print(signal.Signals(number).name, frame.f_code.co_name)
        names = {number: str(signal.getsignal(number)) for number in signal.valid_signals()}
        print(names, signal.pthread_sigmask(signal.SIG_BLOCK, []))
        def sends(number):
            os.kill(os.getpid(), number)
        for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP, signal.SIGALRM):
            signal.signal(number, handler)
            sends(number)
        def interrupted():
            try:
                sends(signal.SIGINT)
                time.sleep(5)
            except KeyboardInterrupt:
                print("interrupted")
        interrupted()
        def raising(number, frame):
            raise RuntimeError("from a handler")
        signal.signal(signal.SIGUSR1, raising)
        try:
            sends(signal.SIGUSR1)
            for _ in range(10): pass
        except RuntimeError as error:
            print(error)
        signal.signal(signal.SIGALRM, raising)
        caught = 0
        while caught < 5:
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.02)
                while True:
                    sum(range(100))
            except RuntimeError:
                caught += 1
        print(caught, threading.active_count())
        signal.signal(signal.SIGCHLD, handler)
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
        for _ in range(10): pass
        """,
    )


ENDINGS = {
    "nothing": ("pass", 0),
    "zero": ("raise SystemExit(0)", 0),
    "three": ("raise SystemExit(3)", 3),
    "none": ("raise SystemExit(None)", 0),
    "a string": ("raise SystemExit('a sentence')", 1),
    "a big number": ("import sys; sys.exit(257)", 1),
    "uncaught": ("def f():\n    raise ValueError('x')\nf()", 1),
    "in a thread": (
        "import threading\nthreading.Thread(target=lambda: 1 / 0).start()",
        0,
    ),
    "in atexit": ("import atexit\natexit.register(lambda: 1 / 0)", 0),
    "exit in atexit": (
        "import atexit, sys\natexit.register(lambda: sys.exit(5))",
        None,
    ),
    "interrupt": ("raise KeyboardInterrupt", None),
    "stdout closed": ("import sys\nprint('x')\nsys.stdout.close()", None),
    "stderr closed": ("import sys\nsys.stderr.close()\n1 / 0", 1),
    "descriptors closed": ("import os\nos.closerange(3, 1000)\nprint('ok')", 0),
    "in __del__": ("class A:\n    def __del__(self): 1 / 0\nA()", 0),
    "syntax": ("def", 1),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_exit_status_and_last_words(runner, name):
    text, status = ENDINGS[name]
    runner.write(text + "\n")
    plain, _ = compare(runner, None)
    if status is not None:
        assert plain.rc == status


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_death_by_a_signal_from_outside(runner, number):
    runner.write("""
        import time
        def f():
            pass
        for _ in range(100):
            f()
        print("up", flush=True)
        time.sleep(60)
    """)
    die_alike(runner, number)
    films.check(runner.folder / "out.film")
    assert films.calls_of(dump_events(runner.folder / "out.film"), "f") == 100
