"""The ways to end or upset a process (exits, signals, faults, limits): whatever
the program does, every call is in a film, and exit status, output and error output are
what they are without us."""

from __future__ import annotations

import importlib.util
import sys

import pytest

from conftest import dump_events
from proof import films, ways

CALLS = 2000

PROGRAM = """
import os, signal, sys

def f(i):
    b = bytearray(5000)
    return i

def work():
    for i in range(2000):
        f(i)

def main(mode):
    if mode == "fork":
        pid = os.fork()
        if pid == 0:
            work()
            os._exit(0)
        os.waitpid(pid, 0)
    elif mode in ("spawn", "forkserver", "mp_fork"):
        import multiprocessing as mp
        context = mp.get_context(mode.removeprefix("mp_"))
        process = context.Process(target=work)
        process.start()
        process.join()
        print("child", process.exitcode)
    elif mode == "pool":
        import multiprocessing as mp
        with mp.get_context("fork").Pool(2) as pool:
            print(sum(pool.map(f, range(2000))))
    elif mode == "executor":
        import concurrent.futures, multiprocessing as mp
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=mp.get_context("spawn")) as pool:
            print(sum(pool.map(f, range(2000), chunksize=100)))
    elif mode == "subprocess":
        import subprocess
        print(subprocess.run([sys.executable, __file__, "normal"]).returncode)
    elif mode == "recursion":
        def rec(n):
            return rec(n + 1)
        try:
            rec(0)
        except RecursionError:
            print("too deep")
        work()
    elif mode == "settrace":
        sys.settrace(None)
        sys.setprofile(None)
        work()
    elif mode == "hooks":
        sys.settrace(lambda frame, event, arg: None)
        sys.setprofile(lambda frame, event, arg: None)
        work()
        sys.settrace(None)
        sys.setprofile(None)
    elif mode == "greenlet":
        import greenlet
        def one():
            for i in range(1000):
                f(i)
                second.switch()
        def two():
            for i in range(1000):
                f(i)
                first.switch()
        first, second = greenlet.greenlet(one), greenlet.greenlet(two)
        first.switch()
    elif mode == "thread":
        import _thread, time
        done = []
        def target():
            work()
            done.append(1)
        _thread.start_new_thread(target, ())
        while not done:
            time.sleep(0.001)
    elif mode == "threads":
        import threading
        def target():
            for i in range(500):
                f(i)
        threads = [threading.Thread(target=target) for _ in range(4)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
    elif mode == "daemon":
        import threading
        ready = threading.Event()
        def target():
            work()
            ready.set()
            while True:
                sum(range(100))
        threading.Thread(target=target, daemon=True).start()
        ready.wait()
    elif mode == "old_thread":
        # A thread that runs before anything of ours could know of it is in the next
        # test; here one that outlives main().
        import threading, time
        def target():
            time.sleep(0.05)
            work()
        threading.Thread(target=target).start()
    elif mode == "asyncio":
        import asyncio
        async def part(n):
            for i in range(n):
                f(i)
                if i % 100 == 0:
                    await asyncio.sleep(0)
        async def all():
            await asyncio.gather(*(part(500) for _ in range(4)))
        asyncio.run(all())
    else:
        work()
    print("end of main", flush=True)
    sys.stderr.write("a word of its own\\n")
    sys.stderr.flush()
    if mode == "_exit":
        os._exit(7)
    elif mode == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif mode == "term":
        os.kill(os.getpid(), signal.SIGTERM)
    elif mode == "int":
        os.kill(os.getpid(), signal.SIGINT)
    elif mode == "segv":
        import ctypes
        ctypes.string_at(0)
    elif mode == "bus":
        os.kill(os.getpid(), signal.SIGBUS)
    elif mode == "abort":
        os.abort()
    elif mode == "xfsz":
        os.kill(os.getpid(), signal.SIGXFSZ)
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGXFSZ)
    elif mode == "exec":
        os.execv(sys.executable, [sys.executable, "-c", "print('another program')"])
    elif mode == "exec_other":
        os.execv("/bin/echo", ["echo", "not Python"])
    elif mode == "raise":
        raise ValueError("uncaught")
    elif mode == "exit":
        raise SystemExit(3)
    elif mode == "atexit":
        import atexit
        atexit.register(lambda: [f(i) for i in range(10)])

if __name__ == "__main__":
    main(sys.argv[1])
"""

# mode -> calls of f in all films together
MODES = {
    # the fourteen of table A
    "normal": CALLS,
    "_exit": CALLS,
    "kill": CALLS,
    "term": CALLS,
    "segv": CALLS,
    "abort": CALLS,
    "exec": CALLS,
    "fork": CALLS,
    "spawn": CALLS,
    "subprocess": CALLS,
    "recursion": CALLS,
    "settrace": CALLS,
    "greenlet": CALLS,
    "thread": CALLS,
    # and more
    "mp_fork": CALLS,
    "forkserver": CALLS,
    "pool": CALLS,
    "executor": CALLS,
    "hooks": CALLS,
    "threads": CALLS,
    "daemon": CALLS,
    "old_thread": CALLS,
    "asyncio": CALLS,
    "int": CALLS,
    "bus": CALLS,
    "xfsz": CALLS,
    "exec_other": CALLS,
    "raise": CALLS,
    "exit": CALLS,
    "atexit": CALLS + 10,
}

# 3.11 has one slot for a trace function: what the program takes from us there may cost
# events, and the film says so.
MAY_LOSE_CONTROL = {"settrace", "hooks"} if sys.version_info < (3, 12) else set()


def calls_in_films(result):
    """Calls of f, and whether a film tells of lost control."""
    total, lost_control = 0, False
    for path in result.films:
        films.check(path)
        events = dump_events(path)
        total += films.calls_of(events, "f")
        for event in events:
            assert event["kind"] != "lost", (path, event)
            lost_control |= event["kind"] == "lost_control"
    return total, lost_control


def run_both(runner, mode, flags=(), options=()):
    if mode == "greenlet" and importlib.util.find_spec("greenlet") is None:
        pytest.skip("greenlet is not installed")
    plain = runner.plain(PROGRAM, mode, flags=flags)
    recorded = runner.record(PROGRAM, mode, flags=flags, options=options)
    return plain, recorded


@pytest.mark.parametrize("mode", MODES)
def test_a_way_to_end(runner, mode):
    compare_ends(runner, mode)


@pytest.mark.parametrize(("mode", "way"), ways.rotating(MODES, 3), ids=str)
def test_a_way_to_end_recorded_in_other_ways(runner, mode, way):
    compare_ends(runner, mode, way.words)


def compare_ends(runner, mode, options=()):
    plain, recorded = run_both(runner, mode, options=options)
    assert "Traceback" not in plain.stderr or mode in ("raise", "int"), plain.stderr
    assert recorded.rc == plain.rc
    assert recorded.stdout == plain.stdout
    assert recorded.stderr == plain.stderr
    found, lost_control = calls_in_films(recorded)
    if mode in MAY_LOSE_CONTROL and lost_control:
        assert found <= MODES[mode]
    else:
        assert found == MODES[mode]


@pytest.mark.parametrize("warnings", ["error", "always"])
@pytest.mark.parametrize(
    "mode", ["fork", "mp_fork", "spawn", "forkserver", "pool", "thread"]
)
def test_no_new_warning(runner, mode, warnings):
    """A second native thread would make os.fork() warn from 3.12 on. (As an error that
    warning is swallowed by os.fork() itself, so it must also be looked for as text.)"""
    plain, recorded = run_both(runner, mode, flags=["-W", warnings])
    assert (recorded.rc, recorded.stdout, recorded.stderr) == (
        plain.rc,
        plain.stdout,
        plain.stderr,
    )
    assert calls_in_films(recorded)[0] == CALLS


def test_fork_in_the_middle_of_sealing(runner):
    """The recorder's own thread is at work when the program forks; it must not be there
    (3.12 and later warn), and everything before and after each fork must."""
    program = """
        import os, sys
        def f(n):
            return n
        for _ in range(10):
            for n in range(45_000):
                f(n)
            pid = os.fork()
            if pid == 0:
                for n in range(1000):
                    f(n)
                os._exit(0)
            os.waitpid(pid, 0)
        print("fine")
    """
    result = runner.record(program, flags=["-W", "always"])
    assert (result.rc, result.stdout, result.stderr) == (0, "fine\n", "")
    films.check(result.film)
    kinds = films.count_kinds(result.film)
    assert (kinds["call"], kinds["lost"]) == (450_001, 0)
    assert len(result.children) == 10
    for path in result.children:
        films.check(path)
        assert films.calls_of(dump_events(path), "f") == 1000


def test_fork_while_threads_work(runner):
    """A child has the thread that forked alone; its film holds that one."""
    program = """
        import os, threading, warnings
        warnings.simplefilter("ignore")
        stop = False
        def f(n):
            return n
        def g(n):
            return n
        def busy():
            while not stop:
                g(1)
        threads = [threading.Thread(target=busy) for _ in range(2)]
        for thread in threads: thread.start()
        statuses = []
        for _ in range(8):
            pid = os.fork()
            if pid == 0:
                for n in range(200):
                    f(n)
                os._exit(0)
            statuses.append(os.waitpid(pid, 0)[1])
        stop = True
        for thread in threads: thread.join()
        print(statuses)
    """
    result = runner.record(program)
    assert (result.rc, result.stdout) == (0, f"{[0] * 8}\n"), result.stderr
    films.check(result.film)
    assert len(result.children) == 8
    for path in result.children:
        films.check(path)
        events = dump_events(path)
        assert films.calls_of(events, "f") == 200
        assert {event["thread"] for event in events} == {1}


def test_threads_that_ran_before(runner):
    """Recording begins while threads are in the middle of their work."""
    program = """
        import threading, filmstrip
        go, done = threading.Event(), threading.Event()
        def f(n):
            return n
        def busy():
            ready.wait()
            go.wait()
            for n in range(500):
                f(n)
        ready = threading.Barrier(4)
        threads = [threading.Thread(target=busy) for _ in range(3)]
        for thread in threads: thread.start()
        ready.wait()
        filmstrip.start("mid.film")
        go.set()
        for thread in threads: thread.join()
        filmstrip.stop()
    """
    result = runner.plain(program)
    assert (result.rc, result.stderr) == (0, "")
    events = dump_events(runner.folder / "mid.film")
    assert films.calls_of(events, "f") == 1500
    assert len({e["thread"] for e in events if e["kind"] == "call"}) >= 3


def test_the_program_takes_our_hooks(runner):
    """What is lost is said, with the reason; what is not lost is there."""
    if sys.version_info >= (3, 12):
        program = """
            import sys
            m = sys.monitoring
            def f(n):
                return n
            for n in range(100):
                f(n)
            for tool in range(6):
                if m.get_tool(tool) == "filmstrip":
                    m.set_events(tool, 0)
            for n in range(100):
                f(n)
        """
    else:
        program = """
            import ctypes
            def f(n):
                return n
            for n in range(100):
                f(n)
            api = ctypes.pythonapi
            api.PyEval_SetTrace.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
            api.PyEval_SetProfile.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
            api.PyEval_SetTrace(None, None)
            api.PyEval_SetProfile(None, None)
            for n in range(100):
                f(n)
        """
    result = runner.record(program)
    assert (result.rc, result.stderr) == (0, "")
    events = dump_events(result.film)
    found = films.calls_of(events, "f")
    lost = [event for event in events if event["kind"] == "lost_control"]
    assert found >= 100
    assert found == 200 or (lost and all(event["reason"] for event in lost)), found
