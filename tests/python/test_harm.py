"""Never harm: the program's result, order of deaths, limits and warnings stay."""

from __future__ import annotations

import pytest


def same(runner, text, *args, **how):
    plain = runner.plain(text, *args, **how)
    recorded = runner.record(text, *args, **how)
    assert (recorded.rc, recorded.stdout, recorded.stderr) == (
        plain.rc,
        plain.stdout,
        plain.stderr,
    )
    return recorded


def test_recursion_limit(runner):
    same(
        runner,
        """
        import sys
        def depth(n):
            try:
                return depth(n + 1)
            except RecursionError:
                return n
        print(depth(0))
        sys.setrecursionlimit(300)
        print(depth(0))
        class Deep:
            def __repr__(self):
                return repr(self)
        try:
            repr(Deep())
        except RecursionError as error:
            print(type(error))
        print(depth(0))
        """,
    )


def test_order_of_deaths(runner):
    same(
        runner,
        """
        import weakref, gc
        class Thing:
            def __init__(self, name):
                self.name = name
            def __del__(self):
                print("del", self.name)
        def use(thing):
            print("use", thing.name)
            thing = None
            print("after")
        use(Thing("a"))
        x = Thing("b")
        weakref.finalize(x, print, "finalized b")
        x = None
        print("gone")
        try:
            use(Thing("c")); raise ValueError
        except ValueError as e:
            pass
        def generator():
            thing = Thing("g")
            try:
                yield 1
            finally:
                print("closing")
        next(generator())
        cycle = Thing("cycle"); cycle.me = cycle; del cycle
        gc.collect()
        last = Thing("at shutdown")
        """,
    )


def test_evil_values(runner):
    """No method of the program's objects is called by the recorder."""
    same(
        runner,
        """
        calls = []
        class Evil(Exception):
            def __getattribute__(self, name):
                calls.append(name)
                return super().__getattribute__(name)
            def __repr__(self):
                calls.append("repr"); raise SystemExit(9)
            __str__ = __len__ = __bool__ = __hash__ = __repr__
            def __eq__(self, other):
                calls.append("eq"); raise SystemExit(9)
        class Name(str):
            def __str__(self):
                calls.append("name"); return "x"
            __repr__ = __hash__ = __str__
        def f(a, *, b):
            try:
                raise a
            except Evil:
                return b
        for _ in range(3):
            f(Evil(Name("secret")), b=Evil())
        print(calls)
        """,
    )


def test_programs_own_hooks(runner):
    same(
        runner,
        """
        import sys, threading
        seen = []
        def tracer(frame, event, arg):
            if frame.f_code.co_filename == __file__:
                seen.append((event, frame.f_code.co_name, frame.f_lineno))
            return tracer
        def f(n):
            return n + 1
        sys.settrace(tracer)
        f(1)
        assert sys.gettrace() is tracer
        sys.settrace(None)
        assert sys.gettrace() is None
        print(seen); seen.clear()
        sys.setprofile(lambda frame, event, arg: seen.append((event, frame.f_code.co_name)))
        f(1); len([])
        sys.setprofile(None)
        assert sys.getprofile() is None
        print(seen)
        f(2)
        """,
    )


def test_cprofile_inside(runner):
    same(
        runner,
        """
        import cProfile, pstats
        def f(n):
            return n and f(n - 1)
        profile = cProfile.Profile()
        profile.enable()
        f(20)
        profile.disable()
        stats = pstats.Stats(profile).stats
        print(sorted((key[2], value[0], value[1]) for key, value in stats.items()))
        """,
    )


def test_monitoring_inside(runner):
    import sys

    if sys.version_info < (3, 12):
        pytest.skip("sys.monitoring is new in 3.12")
    same(
        runner,
        """
        import sys
        m = sys.monitoring
        for tool in range(3):
            m.use_tool_id(tool, f"tool {tool}")
        seen = []
        m.register_callback(1, m.events.PY_START, lambda code, offset: seen.append(code.co_name))
        m.set_events(1, m.events.PY_START)
        def f():
            pass
        f(); f()
        m.set_events(1, 0)
        print(seen)
        for tool in range(3):
            m.free_tool_id(tool)
        """,
    )


@pytest.mark.parametrize(
    "flags", [["-X", "dev"], ["-W", "error"], ["-X", "tracemalloc"]], ids=" ".join
)
def test_strict_modes(runner, flags):
    same(
        runner,
        """
        import threading, subprocess, sys
        def f():
            raise ValueError
        def g():
            try:
                f()
            except ValueError:
                pass
        threads = [threading.Thread(target=g) for _ in range(4)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(len(threading.enumerate()))
        """,
        flags=flags,
    )


def test_signals(runner):
    same(
        runner,
        """
        import signal, os, time
        def handler(number, frame):
            print("handled", number, frame.f_code.co_name)
        signal.signal(signal.SIGUSR1, handler)
        def f():
            os.kill(os.getpid(), signal.SIGUSR1)
        f()
        def alarmed(number, frame):
            global rings
            rings += 1
            handler(number, frame)
        rings = 0
        signal.signal(signal.SIGALRM, alarmed)
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        while not rings:
            pass
        print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
        """,
    )


def test_open_files_and_descriptors(runner):
    """The program finds the same free descriptors, and its child inherits nothing."""
    same(
        runner,
        """
        import os, subprocess, sys
        print(sorted(int(n) for n in os.listdir("/proc/self/fd") if int(n) < 10))
        subprocess.run([sys.executable, "-I", "-S", "-c",
            "import os; print(sorted(os.listdir('/proc/self/fd')))"], close_fds=False)
        """,
    )


def test_program_closes_descriptors_that_are_not_its_own(runner):
    """A daemon closes all descriptors and opens its own: ours must not write there."""
    recorded = same(
        runner,
        """
        import os
        def f(n):
            return n
        os.closerange(3, 200)
        out = os.open("mine.txt", os.O_CREAT | os.O_TRUNC | os.O_RDWR)
        os.write(out, b"mine")
        for n in range(300_000):
            f(n)
        os.lseek(out, 0, 0)
        print(out, os.read(out, 100), os.path.getsize("mine.txt"))
        """,
    )
    assert (runner.folder / "mine.txt").read_text() == "mine"
    assert recorded.film.exists()
