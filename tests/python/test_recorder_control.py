"""Hooks: put on, shared with the program's own tools, and taken off without a trace."""

from __future__ import annotations

import sys
import textwrap

import pytest

HEAD = """
import sys, sysconfig
from filmstrip import _recorder

OPTIONS = {"stdlib_dirs": [sysconfig.get_path("stdlib")]}
"""

has_monitoring = sys.version_info >= (3, 12)


@pytest.fixture
def program(runner, dump):
    """Runs a program that starts and stops the recorder by itself."""

    def run(text, *, film="out.film"):
        result = runner.plain(HEAD + textwrap.dedent(text))
        assert result.rc == 0, result.stderr
        assert result.stderr == ""
        events = dump(runner.folder / film) if film else []
        return result.stdout, events

    return run


@pytest.fixture
def twice(runner):
    """Output of a program bare, and with RECORD true; both must be alike."""

    def run(text):
        text = textwrap.dedent(text)
        outputs = []
        for recording in (False, True):
            result = runner.plain(
                HEAD + f"RECORD = {recording}\n" + text, env={"PYTHONHASHSEED": "0"}
            )
            assert (result.rc, result.stderr) == (0, ""), result.stderr
            outputs.append(result.stdout)
            (runner.folder / "out.film").unlink(missing_ok=True)
        assert outputs[0] == outputs[1]
        return outputs[0]

    return run


def calls(events, name):
    return sum(
        event["kind"] == "call" and event["function"].endswith(name) for event in events
    )


@pytest.mark.parametrize(
    "options", ["", "exceptions=False", "c_calls=True", "all=True, c_calls=True"]
)
def test_everything_is_off_afterwards(program, options):
    program(
        f"""
        import gc, threading

        def state():
            found = [sys.gettrace(), sys.getprofile(), threading.gettrace(),
                     sys.settrace, sys.getrecursionlimit(), sys._getframe().f_trace_lines]
            if hasattr(sys, "monitoring"):
                m = sys.monitoring
                events = [1 << n for n in range(17)]
                found += [m.get_tool(n) for n in range(6)]
                for tool in (3, 4, 5):
                    m.use_tool_id(tool, "probe")
                    found.append(m.get_events(tool))
                    for event in events:
                        try:
                            found.append(m.register_callback(tool, event, None))
                        except ValueError:
                            pass
                    m.free_tool_id(tool)
            return found

        def work():
            try:
                [].pop()
            except IndexError:
                pass
            return list(range(3))

        before = state()
        for _ in range(3):
            _recorder.start("out.film", replace=True, **OPTIONS, {options})
            work()
            assert _recorder.stop()["events"] > 2
        assert state() == before, (state(), before)
        assert _recorder.stop() == {{}} and _recorder.stats() is None
        assert not _recorder.active() and _recorder.path() is None
        work()
        """
    )


@pytest.mark.skipif(not has_monitoring, reason="sys.monitoring is new in 3.12")
def test_tool_ids(program):
    out, _ = program(
        """
        m = sys.monitoring
        m.use_tool_id(4, "other")
        _recorder.start("out.film", **OPTIONS)
        print([m.get_tool(n) for n in range(6)])
        _recorder.stop()
        m.use_tool_id(3, "other")
        m.use_tool_id(5, "other")
        try:
            _recorder.start("no.film", **OPTIONS)
        except RuntimeError as error:
            print(error)
        assert [m.get_tool(n) for n in (3, 4, 5)] == ["other"] * 3
        assert not __import__("os").path.exists("no.film")
        """
    )
    assert out.splitlines() == [
        "[None, None, None, 'filmstrip', 'other', None]",
        "cannot record: other tools hold the sys.monitoring ids 3, 4 and 5",
    ]


@pytest.mark.skipif(not has_monitoring, reason="sys.monitoring is new in 3.12")
def test_stolen_tool_id_is_told(program):
    _, events = program(
        """
        def f(): pass
        _recorder.start("out.film", **OPTIONS)
        f()
        sys.monitoring.set_events(4, 0)
        f()
        _recorder.stop()
        """
    )
    assert calls(events, "f") == 1
    assert [e["count"] for e in events if e["kind"] == "lost_control"] == [1]


TRACER = """
import threading
log = []

def tracer(frame, event, arg):
    if frame.f_code.co_filename == __file__:
        log.append((frame.f_code.co_name, event, frame.f_lineno,
                    arg[0].__name__ if event == "exception" else
                    arg if isinstance(arg, int) else None))
    return tracer

def profiler(frame, event, arg):
    if frame.f_code.co_filename == __file__:
        log.append((frame.f_code.co_name, event, frame.f_lineno,
                    getattr(arg, "__name__", None)))

def gen():
    yield 1
    yield 2

def fails():
    raise ValueError("x")

def work(n):
    total = 0
    for i in gen():
        total += i
    try:
        fails()
    except ValueError:
        total += len([1])
    return total if n == 0 else work(n - 1)

if RECORD:
    _recorder.start("out.film", **OPTIONS, {options})
"""


@pytest.mark.parametrize("options", ["", "exceptions=False", "c_calls=True"])
@pytest.mark.parametrize("kind", ["settrace", "setprofile"])
def test_the_programs_own_tracer_works_as_if_alone(twice, kind, options):
    function = "tracer" if kind == "settrace" else "profiler"
    getter = kind.replace("set", "get")
    out = twice(
        TRACER.replace("{options}", options)
        + f"""
def inner():
    work(1)
    sys.{kind}({function})
    work(1)
    assert sys.{getter}() is {function}
    work(0)
    sys.{kind}(None)
    assert sys.{getter}() is None
    work(1)

def in_thread():
    work(0)
    sys.{kind}({function})
    work(0)
    sys.{kind}(None)

inner()
thread = threading.Thread(target=in_thread)
thread.start()
thread.join()
threading.{kind}({function})
thread = threading.Thread(target=work, args=(0,))
thread.start()
thread.join()
threading.{kind}(None)
for entry in log:
    # With CALL events on, 3.12 and later tell a new profile function that the call
    # of sys.setprofile returned.
    if entry[1::2] != ("c_return", "setprofile"):
        print(entry)
if RECORD:
    _recorder.stop()
"""
    )
    assert len(out.splitlines()) > 50


@pytest.mark.parametrize("options", ["", "exceptions=False"])
@pytest.mark.parametrize("kind", ["settrace", "setprofile"])
def test_nothing_is_lost_when_the_program_resets_hooks(program, kind, options):
    _, events = program(
        f"""
        import threading

        def f(): pass
        def g(): pass
        def h(): pass

        def reset(function):
            sys.{kind}(lambda *args: None)
            for _ in range(100):
                function()
            sys.{kind}(None)
            for _ in range(100):
                function()

        _recorder.start("out.film", **OPTIONS, {options})
        reset(f)
        thread = threading.Thread(target=reset, args=(g,))
        thread.start()
        thread.join()
        h()
        assert _recorder.stop()["lost"] == 0
        """
    )
    assert (calls(events, ".f"), calls(events, ".g"), calls(events, ".h")) == (
        200,
        200,
        1,
    )
    assert not [event for event in events if event["kind"] == "lost_control"]


def test_a_failing_tracer(twice):
    out = twice(
        """
        def f(): return 1
        def tracer(frame, event, arg):
            if frame.f_code.co_name == "f":
                raise KeyError("from the tracer")
            return tracer
        if RECORD:
            _recorder.start("out.film", **OPTIONS)
        sys.settrace(tracer)
        try:
            f()
        except KeyError as error:
            print(error)
        print(sys.gettrace(), f())
        if RECORD:
            _recorder.stop()
        """
    )
    assert out.splitlines() == ["'from the tracer'", "None 1"]


@pytest.mark.parametrize("core", ["ctrace", "pytrace", "sysmon"])
def test_coverage(twice, core):
    pytest.importorskip("coverage")
    if core == "sysmon" and not has_monitoring:
        pytest.skip("sys.monitoring is new in 3.12")
    out = twice(
        f"""
        import os, threading
        os.environ["COVERAGE_CORE"] = {core!r}
        import coverage

        def f(n):
            if n > 1:
                return 1
            return 2

        def late():
            return 3

        if RECORD:
            _recorder.start("out.film", **OPTIONS)
        f(1)
        measure = coverage.Coverage(data_file=None, include=[__file__])
        measure.start()
        f(2)
        thread = threading.Thread(target=late)
        thread.start()
        thread.join()
        measure.stop()
        if RECORD:
            _recorder.stop()
        print(sorted(measure.get_data().lines(__file__)))
        """
    )
    assert out.startswith("[")


def test_cprofile(twice):
    out = twice(
        """
        import cProfile, pstats

        def f(n):
            return n if n < 2 else f(n - 1) + f(n - 2)

        if RECORD:
            _recorder.start("out.film", **OPTIONS)
        profile = cProfile.Profile()
        profile.enable()
        f(10)
        len([])
        profile.disable()
        if RECORD:
            _recorder.stop()
        for key, value in sorted(pstats.Stats(profile).stats.items()):
            print(key, value[:2])
        """
    )
    assert "'f') (1, 177)" in out


def test_threads_before_and_after(program):
    _, events = program(
        """
        import _thread, threading, time

        def f(): pass

        def many(n):
            for _ in range(n):
                f()

        go, done = threading.Event(), threading.Event()

        def early():
            go.wait()
            many(100)
            done.set()

        threading.Thread(target=early, name="early").start()
        _recorder.start("out.film", **OPTIONS)
        go.set()
        done.wait()
        threads = [threading.Thread(target=many, args=(50,), name=f"late {n}")
                   for n in range(3)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        lock = _thread.allocate_lock()
        lock.acquire()

        def raw():
            many(2000)
            lock.release()

        _thread.start_new_thread(raw, ())
        lock.acquire()
        time.sleep(0.05)
        assert _recorder.stop()["lost"] == 0
        """
    )
    by_thread = {}
    for event in events:
        if event["kind"] == "call" and event["function"].endswith(".f"):
            by_thread[event["thread"]] = by_thread.get(event["thread"], 0) + 1
    assert sorted(by_thread.values()) == [50, 50, 50, 100, 2000]
    names = {e["name"] for e in events if e["kind"] == "thread_start"}
    assert {"MainThread", "early", "late 0", "late 1", "late 2"} <= names
    assert sum(event["kind"] == "thread_end" for event in events) >= 3


def test_fork_from_c(program, runner, dump):
    """A fork that Python does not know of."""
    program(
        """
        import ctypes, os

        def before(): pass
        def child(): pass
        def parent(): pass

        _recorder.start("out.film", **OPTIONS)
        before()
        pid = ctypes.PyDLL(None).fork()
        if pid == 0:
            child()
            _recorder.stop()
            os._exit(0)
        os.waitpid(pid, 0)
        parent()
        _recorder.stop()
        """
    )
    (path,) = runner.folder.glob("out.*.film")
    child, parent = dump(path), dump(runner.folder / "out.film")
    assert (calls(child, "child"), calls(child, "parent")) == (1, 0)
    assert (calls(parent, "child"), calls(parent, "parent")) == (0, 1)


def test_fork_without_children(program, runner):
    _, events = program(
        """
        import os, warnings
        warnings.simplefilter("error")

        def child(): pass
        def parent(): pass

        _recorder.start("out.film", **OPTIONS, children=False)
        pid = os.fork()
        if pid == 0:
            child()
            child()
            assert not _recorder.active()
            assert _recorder.stop() == {}
            if hasattr(sys, "monitoring"):
                assert sys.monitoring.get_tool(4) is None
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        parent()
        _recorder.stop()
        """
    )
    assert (calls(events, "child"), calls(events, "parent")) == (0, 1)
    assert [path.name for path in runner.folder.glob("*.film")] == ["out.film"]


def test_no_code_of_the_program_runs(twice):
    out = twice(
        """
        import gc, weakref

        ran = []

        class Text(str):
            def __str__(self): ran.append("str"); return "x"
            def __len__(self): ran.append("len"); return 0
            def __hash__(self): ran.append("hash"); return 1
            def __eq__(self, other): ran.append("eq"); return True

        class Evil(Exception):
            @property
            def args(self): ran.append("args"); return ("x",)
            def __str__(self): ran.append("str"); return "x"
            def __repr__(self): ran.append("repr"); return "x"
            def __getattribute__(self, name): ran.append(name); return 1

        class Other(ValueError): pass

        class Key:
            def __hash__(self): return hash("__name__")
            def __eq__(self, other): ran.append("key"); return False

        def f(error):
            raise error

        def died(n):
            print("died", n, ran)

        if RECORD:
            _recorder.start("out.film", **OPTIONS)
        errors = [Evil("a"), Other(Text("b")), Other(1)]
        for n in range(3):
            error = errors.pop(0)
            try:
                f(error)
            except Exception:
                pass
            reference = weakref.ref(error, lambda _, n=n: died(n))
            error = None
        gc.collect()
        exec("def g(): pass\\ng()", {Key(): 1, "__name__": Text("no")})
        print(ran)
        if RECORD:
            _recorder.stop()
        """
    )
    assert "died" in out


def test_bad_options(program):
    out, _ = program(
        """
        import os
        open("there.film", "w").close()
        os.symlink("there.film", "link.film")
        for arguments in [
            dict(path="there.film"), dict(path="no/such/folder.film"),
            dict(path="link.film", replace=True), dict(path="x.film", level=9),
            dict(path="x.film", ring=-1), dict(path="x.film", tick_ns=0),
            dict(path="x.film", targets="one"), dict(path="a\\0b.film"),
        ]:
            try:
                _recorder.start(**arguments)
            except Exception as error:
                print(type(error).__name__, error)
            else:
                print("started", arguments)
                _recorder.stop()
        _recorder.start("once.film")
        try:
            _recorder.start("twice.film")
        except RuntimeError as error:
            print(error)
        _recorder.stop()
        """,
        film=None,
    )
    lines = out.splitlines()
    assert len(lines) == 9
    assert lines[0].startswith("FileExistsError")
    assert not [line for line in lines if line.startswith("started")]
    assert lines[-1] == "a recording is already being written to once.film"
