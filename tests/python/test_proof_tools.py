"""Harmless: other tools work inside a recorded program as if alone."""

from __future__ import annotations

import json
import sys

import pytest

from conftest import dump_events
from proof import films
from proof.alike import MONITORING, compare

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
    one line late when any tool of sys.monitoring is on.)"""
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
