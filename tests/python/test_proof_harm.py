"""Harmless: results, order of deaths, limits, signals, hooks, modules and exit statuses
are what they are without us; other tools work inside a recorded program as if alone."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys

import pytest

from conftest import clean_environment, dump_events, wait_asleep
from proof import films

MONITORING = sys.version_info >= (3, 12)
ALL = ["--all", "--c-calls"]


def compare(runner, text, *args, options=(), flags=(), env=None):
    """Runs it plainly and recorded; both must end, print and complain alike."""
    plain = runner.plain(text, *args, flags=flags, env=env)
    recorded = runner.record(None, *args, flags=flags, env=env, options=options)
    assert recorded.rc == plain.rc, (plain.stderr, recorded.stderr)
    assert without_addresses(recorded.stdout) == without_addresses(plain.stdout)
    assert without_addresses(recorded.stderr) == without_addresses(plain.stderr)
    films.check(recorded.film)
    return plain, recorded


def without_addresses(text):
    return re.sub(r"0x[0-9a-f]{6,}", "0x", text)


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
    said = []
    for how in ([], ["-m", "filmstrip", "run", "-o", "out.film"]):
        child = subprocess.Popen(
            [sys.executable, *how, "program.py"],
            cwd=runner.folder,
            env=clean_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert child.stdout.readline() == "up\n"
        wait_asleep(child.pid)  # so that both tracebacks name that line
        child.send_signal(number)
        _, errors = child.communicate(timeout=30)
        assert child.returncode == -number
        said.append(errors)
    assert said[0] == said[1]
    films.check(runner.folder / "out.film")
    assert films.calls_of(dump_events(runner.folder / "out.film"), "f") == 100


# --- what the program can see of itself -------------------------------------------------

LOOK = """
import sys
before = sorted(sys.modules)
import gc, json, os, threading
main = sys.modules["__main__"]
facts = {
    "argv": sys.argv,
    "orig_argv": sys.orig_argv[1:],
    "path": sys.path,
    "path_hooks": [str(hook)[:30] for hook in sys.path_hooks],
    "meta_path": [str(finder).partition(" at 0x")[0] for finder in sys.meta_path],
    "flags": list(sys.flags),
    "xoptions": sys._xoptions,
    "main": sorted(vars(main)),
    "modules": [name for name in before if not name.startswith("filmstrip")],
    "ours": [name for name in before if name.startswith("filmstrip")],
    "threads": [thread.name for thread in threading.enumerate()],
    "trace": [sys.gettrace(), sys.getprofile(), threading.gettrace(), threading.getprofile()],
    "async_hooks": list(sys.get_asyncgen_hooks()),
    "hooks": [sys.excepthook is sys.__excepthook__, sys.displayhook is sys.__displayhook__,
              sys.unraisablehook is sys.__unraisablehook__, sys.breakpointhook is sys.__breakpointhook__],
    "gc": [gc.isenabled(), gc.get_threshold(), gc.get_debug(), len(gc.callbacks)],
    "switch": sys.getswitchinterval(),
    "limit": sys.getrecursionlimit(),
    "depth": sys._getframe().f_back is None,
    "builtins": sorted(vars(__builtins__)),
    "umask": [os.umask(0o22), os.umask(0o22)],
    "descriptors": sorted(int(n) for n in os.listdir("/proc/self/fd") if int(n) < 10),
}
with open(f"/proc/self/task/{os.getpid()}/children") as children:
    facts["children"] = children.read()
if hasattr(sys, "monitoring"):
    m = sys.monitoring
    facts["tools"] = [m.get_tool(tool) for tool in (0, 1, 2)]
    facts["events"] = [m.get_events(tool) for tool in (0, 1, 2) if m.get_tool(tool)]
print(json.dumps(facts, default=str))
"""

# What a recorded program finds in sys.modules that is not there without us.
OURS = {"filmstrip", "filmstrip._boot", "filmstrip._options", "filmstrip._recorder"}
MAY_BE_IMPORTED = {"atexit"}
# Under -X dev CPython looks up the codec when it imports any extension module.
IN_DEVELOPMENT_MODE = {"encodings.ascii"}


@pytest.mark.parametrize(
    "flags", [[], ["-O"], ["-X", "dev"], ["-I"], ["-s", "-E"]], ids=" ".join
)
def test_what_a_program_can_see(runner, flags):
    plain = runner.plain(LOOK, "a", "--b", flags=flags)
    recorded = runner.record(None, "a", "--b", flags=flags)
    assert (plain.rc, recorded.rc, recorded.stderr) == (0, 0, plain.stderr)
    alone, with_us = json.loads(plain.stdout), json.loads(recorded.stdout)
    assert set(with_us.pop("ours")) <= OURS and alone.pop("ours") == []
    more = set(with_us.pop("modules")) - set(alone.pop("modules"))
    allowed = MAY_BE_IMPORTED | (IN_DEVELOPMENT_MODE if "dev" in flags else set())
    assert more <= allowed, more
    assert with_us == alone


def test_the_interpreter_says_nothing_of_us(runner):
    """-v and -X importtime name every import; nothing else of ours may be printed."""
    program = "print('x')"
    plain = runner.plain(program, flags=["-X", "importtime"])
    recorded = runner.record(program, flags=["-X", "importtime"])

    def names(text):
        return {line.rpartition("|")[2].strip() for line in text.splitlines()}

    more = names(recorded.stderr) - names(plain.stderr)
    # `filmstrip run` itself is one process, the program another; both speak here.
    assert all("Error" not in name and "filmstrip:" not in name for name in more)
    assert recorded.stdout == plain.stdout


def test_hooks_before_and_after(runner):
    """After stop() every hook, tool id, callback and thread is as it was before."""
    program = """
        import json, os, signal, sys, threading
        def state():
            facts = {
                "trace": [sys.gettrace(), sys.getprofile()],
                "threading": [threading.gettrace(), threading.getprofile()],
                "threads": [thread.name for thread in threading.enumerate()],
                "native": len(os.listdir("/proc/self/task")),
                "descriptors": sorted(os.listdir("/proc/self/fd")),
                "environ": sorted(os.environ),
                "signals": [str(signal.getsignal(n)) for n in sorted(signal.valid_signals())],
                "maps": sum(".film" in line for line in open("/proc/self/maps")),
            }
            if hasattr(sys, "monitoring"):
                m = sys.monitoring
                facts["tools"] = [m.get_tool(tool) for tool in range(6)]
                for tool in range(6):
                    if m.get_tool(tool) is None:
                        m.use_tool_id(tool, "look")
                        callbacks = []
                        for bit in range(19):
                            try:
                                callbacks.append(m.register_callback(tool, 1 << bit, None))
                            except ValueError:
                                callbacks.append("no such event")
                        facts[f"tool {tool}"] = [m.get_events(tool), callbacks]
                        m.free_tool_id(tool)
            return facts
        def f(n):
            try:
                return f(n - 1) if n else [][0]
            except IndexError:
                return 0
        state()
        import filmstrip
        filmstrip.start; filmstrip.stop
        before = state()
        for options in ({}, {"all": True, "c_calls": True}, {"ring": "8M"}, {"exceptions": False}):
            with filmstrip.record("x.film", force=True, **options):
                f(50)
                thread = threading.Thread(target=f, args=(20,))
                thread.start(); thread.join()
                for _ in range(20_000):
                    f(1)
            after = state()
            assert after == before, [(k, before[k], after[k]) for k in before if before[k] != after[k]]
        f(5)
        print("as before")
    """
    result = runner.plain(program)
    assert (result.rc, result.stdout, result.stderr) == (0, "as before\n", "")


def test_a_stopped_recorder_records_nothing(runner):
    result = runner.plain("""
        import filmstrip, os
        def f():
            try:
                raise ValueError
            except ValueError:
                pass
        with filmstrip.record("x.film"):
            f()
        size = os.path.getsize("x.film")
        stamp = os.stat("x.film").st_mtime_ns
        for _ in range(10_000):
            f()
        print(os.path.getsize("x.film") == size, os.stat("x.film").st_mtime_ns == stamp)
    """)
    assert (result.rc, result.stdout, result.stderr) == (0, "True True\n", "")
    assert films.calls_of(dump_events(runner.folder / "x.film"), "f") == 1


@pytest.mark.skipif(not MONITORING, reason="sys.monitoring is new in 3.12")
def test_tool_ids(runner):
    """Never 0 to 2; the next free of 4, 3, 5; none free: one sentence, no film."""
    program = """
        import sys, filmstrip
        m = sys.monitoring
        for taken in ((), (4,), (4, 3), (4, 3, 5)):
            for tool in taken:
                m.use_tool_id(tool, "other")
            before = [m.get_tool(tool) for tool in range(6)]
            try:
                filmstrip.start("x.film", force=True)
            except RuntimeError as error:
                print(error)
            print([m.get_tool(tool) for tool in range(6)])
            filmstrip.stop()
            assert [m.get_tool(tool) for tool in range(6)] == before
            for tool in taken:
                m.free_tool_id(tool)
    """
    result = runner.plain(program)
    assert result.rc == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "[None, None, None, None, 'filmstrip', None]"
    assert lines[1] == "[None, None, None, 'filmstrip', 'other', None]"
    assert lines[2] == "[None, None, None, 'other', 'other', 'filmstrip']"
    assert "3, 4 and 5" in lines[3]
    assert lines[4] == "[None, None, None, 'other', 'other', 'other']"


# --- other tools, inside a recorded program ---------------------------------------------

WORKLOAD = """
def leaf(n):
    if n % 2:
        return n
    else:
        return -n

def raising(n):
    try:
        if n % 3 == 0:
            raise ValueError(n)
        return leaf(n)
    except ValueError:
        return 0
    finally:
        leaf(n)

def numbers(n):
    for i in range(n):
        got = yield leaf(i)
        if got:
            return

def unreached():
    return 1

def workload():
    total = 0
    for i in range(10):
        total += raising(i)
    total += sum(numbers(5))
    g = numbers(9)
    next(g); g.close()
    total += sum(leaf(i) for i in range(4))
    return total
"""


@pytest.mark.parametrize("core", ["ctrace", "pytrace", "sysmon"])
@pytest.mark.parametrize("branch", [False, True])
def test_coverage_inside(runner, core, branch):
    if core == "sysmon" and not MONITORING:
        pytest.skip("coverage's sysmon core needs 3.12")
    if core == "sysmon" and branch and sys.version_info < (3, 14):
        pytest.skip("coverage's sysmon core measures branches from 3.14 on")
    runner.write(WORKLOAD, "workload.py")
    program = f"""
        import coverage, threading
        measuring = coverage.Coverage(data_file=None, branch={branch}, include=["*workload.py"])
        measuring.start()
        import workload
        print(workload.workload())
        thread = threading.Thread(target=workload.raising, args=(6,))
        thread.start(); thread.join()
        measuring.stop()
        data = measuring.get_data()
        for file in sorted(data.measured_files()):
            print(file.rpartition("/")[2], sorted(data.lines(file)), sorted(data.arcs(file) or []))
        workload.unreached()
    """
    plain, recorded = compare(
        runner, program, options=["--all"], env={"COVERAGE_CORE": core}
    )
    assert "workload.py [" in plain.stdout
    events = dump_events(recorded.film)
    assert films.calls_of(events, "raising") == 11
    assert films.calls_of(events, "unreached") == 1


@pytest.mark.parametrize("flags", [[], ["--branch"]])
def test_coverage_around_the_program(runner, flags):
    """coverage run, started with the environment's switch."""
    runner.write(WORKLOAD + "\nprint(workload())\n", "workload.py")
    reports = []
    for env in ({}, {"FILMSTRIP": "1"}):
        result = runner.plain(
            None, "run", *flags, "workload.py", name="coverage", flags=["-m"], env=env
        )
        assert result.rc == 0, result.stderr
        report = runner.plain(
            None, "json", "-o", "-", "-q", name="coverage", flags=["-m"]
        )
        assert report.rc == 0, report.stderr
        reports.append((result.stdout, json.loads(report.stdout)["files"]))
    assert reports[0] == reports[1]
    assert any(path.name.startswith("coverage") for path in result.films)


def test_cprofile_inside(runner):
    """Its counts, callers included, are those it has alone."""
    runner.write(WORKLOAD, "workload.py")
    program = """
        import cProfile, pstats, workload
        profiler = cProfile.Profile()
        profiler.enable()
        print(workload.workload())
        profiler.disable()
        for key, (cc, nc, tt, ct, callers) in sorted(pstats.Stats(profiler).stats.items()):
            print(key[1:], cc, nc, sorted((k[1:], v[0], v[1]) for k, v in callers.items()))
        import sys
        print(sys.getprofile(), sys.gettrace())
        workload.leaf(1)
    """
    plain, recorded = compare(runner, program)
    assert "'leaf')" in plain.stdout
    assert films.calls_of(dump_events(recorded.film), "leaf") >= 12 + 5 + 4


def test_cprofile_around_the_program(runner):
    runner.write(WORKLOAD + "\nprint(workload())\n", "workload.py")
    read = """
        import pstats
        stats = pstats.Stats("out.prof").stats
        for key, (cc, nc, tt, ct, callers) in sorted(stats.items()):
            if key[0].endswith("workload.py"):
                print(key[1:], cc, nc, sorted((k[1:], v[0]) for k, v in callers.items()))
    """
    said = []
    for env in ({}, {"FILMSTRIP": "1"}):
        result = runner.plain(
            None,
            "-o",
            "out.prof",
            "workload.py",
            name="cProfile",
            flags=["-m"],
            env=env,
        )
        assert result.rc == 0, result.stderr
        said.append((result.stdout, runner.plain(read, name="read.py").stdout))
    assert said[0] == said[1] and "leaf" in said[0][1]


def test_a_programs_own_trace_function(runner):
    """Every event it would get, it gets, and it may do all that a tracer may."""
    runner.write(WORKLOAD, "workload.py")
    program = """
        import sys, threading, workload
        seen = []
        def local(frame, event, arg):
            seen.append((event, frame.f_code.co_name, frame.f_lineno, repr(arg)[:40] if event != "exception" else arg[0].__name__))
            return local
        def tracer(frame, event, arg):
            if frame.f_code.co_filename.endswith("workload.py"):
                frame.f_trace_opcodes = opcodes
                return local(frame, event, arg)
        def profiler(frame, event, arg):
            if frame.f_code.co_filename.endswith("workload.py"):
                seen.append((event, frame.f_code.co_name, getattr(arg, "__name__", None)))
        for opcodes in (False, True):
            sys.settrace(tracer); threading.settrace(tracer)
            workload.workload()
            thread = threading.Thread(target=workload.raising, args=(3,)); thread.start(); thread.join()
            print(sys.gettrace() is tracer)
            sys.settrace(None); threading.settrace(None)
            print(len(seen), seen[:80]); seen.clear()
        sys.setprofile(profiler); threading.setprofile(profiler)
        workload.workload()
        thread = threading.Thread(target=workload.raising, args=(3,)); thread.start(); thread.join()
        print(sys.getprofile() is profiler)
        sys.setprofile(None); threading.setprofile(None)
        print(len(seen), seen); seen.clear()
        # A tracer that fails is switched off by the interpreter, with its traceback.
        def failing(frame, event, arg):
            raise RuntimeError("tracer")
        sys.settrace(failing)
        try:
            workload.leaf(1)
        except RuntimeError as error:
            print("raised", error, sys.gettrace())
        # A tracer that jumps and one that changes a local.
        def jumper(frame, event, arg):
            if event == "line" and frame.f_lineno == start + 2:
                frame.f_lineno = start + 3
            return jumper
        def jumped():
            x = 1
            x = 2
            return x
        start = jumped.__code__.co_firstlineno
        sys.settrace(jumper)
        print(jumped())
        sys.settrace(None)
        print(sys.gettrace(), sys.getprofile())
    """
    compare(runner, program)


def test_pdb_inside(runner):
    """A debugger session, its commands read from stdin. (3.13.0 and earlier 3.13 stop
    one line late when any tool is on: RELIABILITY.md 2.1.)"""
    program = """
        import pdb
        def f(n):
            m = n + 1
            return m * 2
        debugger = pdb.Pdb(nosigint=True, readrc=False)
        debugger.use_rawinput = False
        debugger.prompt = ""
        print(debugger.runcall(f, 3))
    """
    runner.write(program)
    commands = "n\np n, m\nn\nw\nc\n"
    plain = runner.plain(None, stdin=commands)
    recorded = runner.record(None, stdin=commands)
    assert plain.rc == 0 and "(3, 4)" in plain.stdout
    assert (recorded.rc, recorded.stdout, recorded.stderr) == (
        plain.rc,
        plain.stdout,
        plain.stderr,
    )


@pytest.mark.skipif(not MONITORING, reason="sys.monitoring is new in 3.12")
def test_a_programs_own_monitoring(runner):
    """Its events, its DISABLE and its restart are as alone."""
    runner.write(WORKLOAD, "workload.py")
    program = """
        import sys, workload
        m, E = sys.monitoring, sys.monitoring.events
        seen = []
        def note(name, answer=None):
            def callback(code, *rest):
                if code.co_filename.endswith("workload.py"):
                    seen.append((name, code.co_name, rest[0] if name != "LINE" else rest[0]))
                    return answer
            return callback
        names = ["PY_START", "PY_RESUME", "PY_RETURN", "PY_YIELD", "PY_THROW", "PY_UNWIND",
                 "RAISE", "RERAISE", "EXCEPTION_HANDLED", "STOP_ITERATION", "LINE", "JUMP", "CALL"]
        m.use_tool_id(0, "program")
        for name in names:
            m.register_callback(0, getattr(E, name), note(name))
            # With calls, as any tool that wants calls: 3.13 leaves out the LINE of
            # one-line functions (gh-155992) and 3.14 the throw of a generator that is
            # closed, unless some tool asks for PY_START and PY_UNWIND.
            m.set_events(0, getattr(E, name) | E.PY_START | E.PY_RESUME | E.PY_UNWIND)
            workload.workload()
            m.set_events(0, 0)
            m.register_callback(0, getattr(E, name), None)
            print(name, len(seen), seen[:50]); seen.clear()
        for name in names:
            m.register_callback(0, getattr(E, name), None)
        m.register_callback(0, E.LINE, note("LINE", m.DISABLE))
        m.set_events(0, E.LINE | E.PY_START | E.PY_RESUME)
        workload.workload(); first = len(seen)
        workload.workload(); print(first, len(seen) - first)
        m.restart_events()
        workload.workload(); print(len(seen) == 2 * first)
        m.set_local_events(0, workload.leaf.__code__, E.PY_START)
        print(m.get_local_events(0, workload.leaf.__code__) == E.PY_START)
        m.free_tool_id(0)
    """
    compare(runner, program)


def test_tracemalloc_inside(runner):
    """tracemalloc sees the program's own blocks, in the program's own lines."""
    program = """
        import tracemalloc
        def make(n):
            return [bytearray(1000) for _ in range(n)]
        tracemalloc.start()
        kept = make(100)
        snapshot = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, __file__)])
        tracemalloc.stop()
        # (3.11 makes frame objects for any trace hook: small blocks are not compared.)
        print([(t.traceback[0].lineno, t.size) for t in snapshot.traces if t.size > 900])
    """
    compare(runner, program)


def test_faulthandler_and_inspection(runner):
    compare(
        runner,
        """
        import faulthandler, inspect, io, sys, traceback
        def f():
            g()
        def g():
            print([frame.function for frame in inspect.stack()])
            print([entry.name for entry in traceback.extract_stack()])
            faulthandler.dump_traceback(sys.stdout, all_threads=True)
            for frame in sys._current_frames().values():
                print(frame.f_code.co_name)
            h = sys._getframe(1)
            print(h.f_code.co_name, h.f_lineno, sorted(h.f_locals), h.f_trace)
        sys.stdout.reconfigure(line_buffering=True)
        f()
        try:
            exec("1 / 0")
        except ZeroDivisionError:
            traceback.print_exc(file=sys.stdout)
        """,
    )
