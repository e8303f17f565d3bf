"""Harmless: modules, hooks, threads and tool ids, all that a program can see of itself, are
what they are without us."""

from __future__ import annotations

import json

import pytest

from conftest import dump_events
from proof import films
from proof.alike import MONITORING

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
OURS = {"filmstrip", "filmstrip._boot", "filmstrip._options", "filmstrip._ranks"}
OURS |= {"filmstrip._recorder"}


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
