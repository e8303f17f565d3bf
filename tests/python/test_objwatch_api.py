"""filmstrip.watch and filmstrip.compat.objwatch: parameters, messages, live lines,
wrappers, processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from conftest import PACKAGE, clean_environment, run_program


def check(runner, text, *args, **how):
    """Runs a program that asserts for itself."""
    result = runner.plain(text, *args, **how)
    assert result.rc == 0, result.stderr
    return result


def lines(result):
    """The log's lines without the header."""
    text = result.stderr
    rule = "=" * 80 + "\n"
    parts = text.split(rule)
    return "".join(parts[2::2]).splitlines() if len(parts) > 2 else []


def test_the_names_are_objwatchs(runner):
    check(
        runner,
        """
        import inspect, logging, filmstrip
        import filmstrip.compat.objwatch as objwatch
        from filmstrip.compat.objwatch.wrappers import (
            ABCWrapper, BaseWrapper, CPUMemoryWrapper, FunctionWrapper, TensorShapeLogger,
            TensorShapeWrapper, TorchMemoryWrapper,
        )
        assert objwatch.__version__ == "0.5.1"
        assert filmstrip.watch is objwatch.watch
        assert FunctionWrapper is ABCWrapper and TensorShapeLogger is TensorShapeWrapper
        assert [e.value for e in objwatch.EventType] == [1, 2, 3, 4, 5]
        assert [e.label for e in objwatch.EventType] == ["run", "end", "upd", "apd", "pop"]
        parameters = list(inspect.signature(objwatch.ObjWatch).parameters.values())[:11]
        assert [(p.name, p.default) for p in parameters] == [
            ("targets", inspect.Parameter.empty), ("exclude_targets", None),
            ("with_locals", False), ("with_globals", False), ("output", None),
            ("output_json", None), ("level", logging.DEBUG), ("simple", True),
            ("wrapper", None), ("framework", None), ("indexes", None)]
        assert CPUMemoryWrapper.mem_types == ["total", "available", "percent"]
        assert TorchMemoryWrapper.mem_types == ["allocation.all.current", "allocation.all.peak"]
        config = objwatch.ObjWatchConfig(["a", "b"], wrapper=BaseWrapper)
        assert str(config).splitlines() == [
            "* targets:", "  - a", "  - b", "* exclude_targets: None", "* with_locals: False",
            "* with_globals: False", "* output: None", "* output_json: None",
            "* level: DEBUG", "* simple: True", "* wrapper: BaseWrapper",
            "* framework: None", "* indexes: None"]
        assert config.to_dict()["level"] == "DEBUG"
        assert config.to_dict()["wrapper"] == "BaseWrapper"
        try:
            config.level = 1
        except AttributeError:
            pass
        else:
            raise AssertionError("not frozen")
        """,
    )


@pytest.mark.parametrize(
    "arguments, message",
    [
        ("[]", "At least one monitoring target must be specified"),
        ("''", "At least one monitoring target must be specified"),
        (
            "['x.py'], level='force', output='x.objwatch'",
            "output cannot be specified when level is 'force'",
        ),
        (
            "['x.py'], output='x.log'",
            "output file must end with '.objwatch' for ObjWatch Log Viewer extension",
        ),
        ("['x.py'], output_json='x.txt'", "output_json file must end with '.json'"),
        (
            "['a/x.py', 'y.py'], exclude_targets=['x.py']",
            "Found multiple filename validation errors:\n"
            "Target 'a/x.py' ends with excluded pattern 'x.py'",
        ),
        ("['x.py'], framework='magic'", "Invalid framework: magic"),
        ("['x.py'], wrapper=dict", "wrapper 'dict' is not a subclass of ABCWrapper"),
    ],
)
def test_validation(runner, arguments, message):
    check(
        runner,
        f"""
        import filmstrip.compat.objwatch as objwatch
        for make in (objwatch.ObjWatch, objwatch.watch):
            try:
                make({arguments})
            except ValueError as error:
                assert str(error) == {message!r}, str(error)
            else:
                raise AssertionError
        """,
    )


PROGRAM = """
    import sys
    import filmstrip

    def double(n):
        result = n * 2
        return result

    def main():
        total = 0
        for n in range(3):
            total += double(n)
        return total
"""


def program(text):
    import textwrap

    return textwrap.dedent(PROGRAM) + textwrap.dedent(text)


def test_watch_and_stop(runner):
    result = check(
        runner,
        program(
            """
            watcher = filmstrip.watch(["program.py"], with_locals=True)
            main()
            watcher.stop()
            watcher.stop()
            main()
            assert filmstrip.recording() is None
            with filmstrip.watch(["program.py"]):
                double(1)
            """
        ),
    )
    text = result.stderr
    assert text.startswith(
        "Starting ObjWatch tracing.\n" + "=" * 80 + "\n# ObjWatch Log\n"
    )
    assert text.endswith("Stopping ObjWatch tracing.\n")
    assert text.count("run __main__.double") == 4
    assert "    6     upd _.result None -> 4" in text.splitlines()
    assert not list(runner.folder.glob("*.film"))


def test_output_file_and_stdout(runner):
    result = check(
        runner,
        program(
            """
            with filmstrip.watch(["program.py"], output="log.objwatch"):
                double(1)
            with filmstrip.watch(["program.py"], output="log.objwatch"):
                double(2)
            """
        ),
    )
    assert (runner.folder / "log.objwatch").read_text() == result.stderr
    assert result.stderr.count("run __main__.double") == 2
    result = check(
        runner,
        program(
            """
            with filmstrip.watch(["program.py"], level="force"):
                double(1)
            """
        ),
    )
    assert result.stderr == ""
    assert "run __main__.double" in result.stdout
    assert result.stdout.startswith("Starting ObjWatch tracing.")


def test_levels_and_times(runner):
    text = """
        import logging
        with filmstrip.watch(["program.py"], level=logging.{level}, simple={simple}):
            double(1)
        """
    result = check(runner, program(text.format(level="INFO", simple=True)))
    assert "# ObjWatch Log" in result.stderr and "run " not in result.stderr
    assert "Stopping ObjWatch tracing." in result.stderr
    result = check(runner, program(text.format(level="WARNING", simple=True)))
    assert result.stderr == ""
    result = check(runner, program(text.format(level="DEBUG", simple=False)))
    day = time.strftime("%Y-%m-%d")
    assert result.stderr.startswith(f"[{day} ")
    assert "] [DEBUG] objwatch:    17 run __main__.double" in result.stderr, (
        result.stderr
    )
    assert "] [INFO] objwatch: Stopping ObjWatch tracing." in result.stderr


def test_older_names(runner):
    result = check(
        runner,
        program(
            """
            with filmstrip.watch(["program.py"], ranks=[0, 1], with_module_path=True,
                                 output_xml="old.xml", with_locals=True):
                double(3)
            """
        ),
        env={"RANK": "1"},
    )
    assert "[#1]    17 run __main__.double" in result.stderr
    assert "Starting to save XML to old.xml." in result.stderr
    import xml.etree.ElementTree as tree

    root = tree.parse(runner.folder / "old.xml").getroot()
    [function] = root
    assert (root.tag, function.tag, function.get("name")) == (
        "ObjWatch",
        "Function",
        "double",
    )


def test_film_is_kept_where_asked_for(runner, dump):
    check(
        runner,
        program(
            """
            with filmstrip.watch(["program.py"], film="kept.film"):
                double(2)
            """
        ),
    )
    events = dump(runner.folder / "kept.film")
    assert any(e["kind"] == "set" and e["name"] == "result" for e in events)
    assert run_program("check", runner.folder / "kept.film").rc == 0


def test_lines_come_while_the_program_runs(runner):
    runner.write(
        program(
            """
            watcher = filmstrip.watch(["program.py"], with_locals=True)
            double(21)
            print("done", flush=True)
            sys.stdin.readline()
            double(4)
            """
        )
    )
    process = subprocess.Popen(
        [sys.executable, "program.py"],
        cwd=runner.folder,
        env=clean_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "done\n"
    seen = ""
    deadline = time.monotonic() + 20
    while "end __main__.double" not in seen and time.monotonic() < deadline:
        seen += process.stderr.readline()
    assert "upd _.result None -> 42" in seen
    assert process.poll() is None
    _, rest = process.communicate("\n", timeout=30)
    assert process.returncode == 0
    assert "upd _.result None -> 8" in rest
    assert "Stopping" not in rest  # as with ObjWatch: nobody stopped it


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_killed_programs_leave_log_and_tree(runner, number):
    runner.write(
        program(
            f"""
            import os, tempfile
            tempfile.tempdir = "."
            filmstrip.watch(["program.py"], with_locals=True, output="log.objwatch",
                            output_json="tree.json")
            main()
            os.kill(os.getpid(), {int(number)})
            """
        )
    )
    process = subprocess.Popen(
        [sys.executable, "program.py"],
        cwd=runner.folder,
        env=clean_environment(),
        stderr=subprocess.PIPE,
        text=True,
    )
    text = process.communicate(timeout=60)[1]  # until the follower has ended too
    assert process.returncode == -number
    assert text.count("run __main__.double") == 3
    assert (runner.folder / "log.objwatch").read_text() == text
    tree = json.loads((runner.folder / "tree.json").read_text())["ObjWatch"]
    assert [e["symbol"] for e in tree["events"]] == ["main"]
    left = {path.name for path in runner.folder.iterdir()} - {"__pycache__"}
    assert left == {"program.py", "log.objwatch", "tree.json"}


def test_the_follower_is_not_seen_by_the_program(runner):
    check(
        runner,
        program(
            """
            import os, signal, threading
            died = []
            watcher = filmstrip.watch(["program.py"])
            signal.signal(signal.SIGCHLD, lambda *_: died.append(1))
            before = threading.active_count()
            pid = os.fork()
            if pid == 0:
                os._exit(3)
            assert os.waitpid(-1, 0) == (pid, 3 << 8)
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                pass
            else:
                raise AssertionError("a child nobody started")
            main()
            watcher.stop()
            assert len(died) == 1, died
            assert threading.active_count() == before == 1
            assert not any(name.startswith("FILMSTRIP") for name in os.environ)
            """
        ),
    )


def test_forked_children_do_not_end_the_log(runner):
    result = check(
        runner,
        program(
            """
            import os
            watcher = filmstrip.watch(["program.py"], with_locals=True)
            pid = os.fork()
            if pid == 0:
                watcher.stop()
                sys.exit(0)
            os.waitpid(pid, 0)
            double(5)
            watcher.stop()
            """
        ),
    )
    assert result.stderr.count("Stopping ObjWatch tracing.") == 1
    assert "upd _.result None -> 10" in result.stderr


def test_recorded_from_outside(runner):
    result = runner.record(
        program(
            """
            watcher = filmstrip.watch(["program.py"])
            double(1)
            watcher.stop()
            double(2)
            """
        )
    )
    assert result.rc == 0, result.stderr
    assert "already recording to" in result.stderr
    assert [path.name for path in result.films] == ["out.film"]


def test_objwatch_view_of_any_recording(runner):
    """A film made by `run` shows all it has."""
    result = runner.record(program("main()"), options=["--level", "values"])
    assert result.rc == 0, result.stderr
    shown = run_program("log", "--objwatch", result.film).stdout
    assert "## Config:" in shown
    assert "   14   run __main__.main <- \n" in shown
    assert "run __main__.double <- '0':2" in shown
    assert "end __main__.double -> 4" in shown
    assert "upd _.total 2 -> 6" in shown
    for wrong in ("--objwatch=2", "--objwatch="):
        refused = run_program("log", wrong, result.film)
        assert refused.rc == 2 and "--objwatch takes one of" in refused.stderr


# --- wrappers ---


def test_wrapper_of_ones_own(runner):
    result = check(
        runner,
        program(
            """
            from filmstrip.compat.objwatch.wrappers import ABCWrapper

            class Mine(ABCWrapper):
                def wrap_call(self, func_name, frame):
                    return f"called {func_name} at {frame.f_lineno}"
                def wrap_return(self, func_name, result):
                    return f"gave {result}"
                def wrap_upd(self, old_value, current_value):
                    return f"<{old_value}>", f"<{current_value}>"

            with filmstrip.watch(["program.py"], with_locals=True, wrapper=Mine,
                                 output="log.objwatch", output_json="tree.json"):
                double(4)
            """
        ),
    )
    assert lines(result)[:4] == [
        "   27 run __main__.double <- called double at 5",
        "    6   upd _.result <None> -> <8>",
        "   27 end __main__.double -> gave 8",
        "Stopping ObjWatch tracing.",
    ]
    assert (runner.folder / "log.objwatch").read_text() == result.stderr
    tree = json.loads((runner.folder / "tree.json").read_text())["ObjWatch"]
    [function] = tree["events"]
    assert function["return_msg"] == "gave 8"
    assert function["events"][0]["new"] == "<8>"


def test_wrapper_that_raises(runner):
    result = check(
        runner,
        program(
            """
            from filmstrip.compat.objwatch.wrappers import BaseWrapper

            class Broken(BaseWrapper):
                def wrap_call(self, func_name, frame):
                    raise ValueError("mine")
                def wrap_upd(self, old, new):
                    return 1 / 0

            with filmstrip.watch(["program.py"], with_locals=True, wrapper=Broken):
                assert main() == 6
            assert sys.gettrace() is None
            """
        ),
    )
    assert result.stderr.count("filmstrip: wrapper Broken raised") == 1
    assert "run __main__.main <- (wrapper raised ValueError)" in result.stderr
    assert "end __main__.main -> 6" in result.stderr


def test_wrapper_keeps_a_debugger_working(runner):
    result = check(
        runner,
        program(
            """
            from filmstrip.compat.objwatch.wrappers import BaseWrapper
            class Mine(BaseWrapper): pass
            def theirs(frame, event, argument):
                return None
            sys.settrace(theirs)
            watcher = filmstrip.watch(["program.py"], wrapper=Mine)
            assert sys.gettrace() is theirs
            main()
            watcher.stop()
            assert sys.gettrace() is theirs
            """
        ),
    )
    assert "another trace function is set" in result.stderr


def test_memory_wrappers(runner):
    runner.write(
        """
        import collections
        Memory = collections.namedtuple("Memory", "total available percent used")
        def virtual_memory():
            return Memory(100, 60, 40.0, 40)
        """,
        "psutil.py",
    )
    runner.write(
        """
        class cuda:
            def memory_stats():
                return {"allocation.all.current": 3, "allocation.all.peak": 9}
        """,
        "torch.py",
    )
    result = check(
        runner,
        program(
            """
            from filmstrip.compat.objwatch.wrappers import CPUMemoryWrapper, TorchMemoryWrapper
            with filmstrip.watch(["program.py"], with_locals=True, wrapper=CPUMemoryWrapper):
                double(1)
            CPUMemoryWrapper.mem_types = ["used"]
            with filmstrip.watch(["program.py"], wrapper=CPUMemoryWrapper):
                double(1)
            with filmstrip.watch(["program.py"], wrapper=TorchMemoryWrapper):
                double(1)
            """
        ),
    )
    text = result.stderr
    assert "run __main__.double <- total: 100 | available: 60 | percent: 40.0" in text
    assert "upd _.result  -> total: 100 | available: 60 | percent: 40.0" in text
    assert "end __main__.double -> used: 40" in text
    assert "<- allocation.all.current: 3 | allocation.all.peak: 9" in text


def test_wrapper_formats_are_objwatchs(runner):
    """The helpers that subclasses use, against what ObjWatch's own tests expect."""
    check(
        runner,
        """
        import types
        from filmstrip.compat.objwatch.wrappers import BaseWrapper

        def call(values, flags=0):
            code = types.SimpleNamespace(
                co_varnames=tuple(values), co_argcount=len(values), co_flags=flags)
            return BaseWrapper().wrap_call("f", types.SimpleNamespace(f_code=code, f_locals=values))

        class Thing: pass
        give = BaseWrapper().wrap_return
        assert call({"a": 10, "b": [1, 2, 3, 4, 5]}) == "'0':10, '1':(list)[1, 2, 3, '... (2 more elements)']"
        assert call({}) == ""
        assert call({"a": {"a": 1, "b": 2}}) == "'0':(dict)[('a', 1), ('b', 2)]"
        assert call({"a": []}) == "'0':(list)[]" and call({"a": {}}) == "'0':(dict)[]"
        assert call({"a": {Thing(): 1, "a": 2}}) == "'0':(dict)[2 elements]"
        assert give("f", 20) == "20"
        assert give("f", [True, False, True, False]) == "[(list)[True, False, True, '... (1 more elements)']]"
        assert give("f", Thing()) == "(type)Thing" and give("f", Thing) == "(type)Thing"
        assert BaseWrapper().wrap_upd(None, (1,)) == ("None", "(tuple)[1]")
        """,
    )


# --- processes ---


def test_indexes(runner):
    text = program(
        """
        with filmstrip.watch(["program.py"], framework="torch.distributed", indexes=[0, 2]):
            double(1)
        """
    )
    for rank, shown in (("0", True), ("1", False), ("2", True)):
        result = check(runner, text, env={"RANK": rank})
        assert f"torch.distributed initialized. index: {rank}" in result.stderr
        assert "# ObjWatch Log" in result.stderr
        assert (f"[#{rank}]    16 run __main__.double" in result.stderr) is shown
    assert "   16 run __main__.double" in check(runner, text).stderr


def test_framework_of_ones_own(runner):
    result = check(
        runner,
        program(
            """
            from filmstrip.compat.objwatch.mp_handls import MPHandls

            def check(self):
                self.initialized = True
                self.index = 7
                self.sync_fn = lambda: 1 / 0

            MPHandls._check_init_mine = check
            with filmstrip.watch(["program.py"], framework="mine", indexes=[7]):
                double(1)
            """
        ),
    )
    assert "[#7]    24 run __main__.double" in result.stderr


def test_targets_not_found(runner):
    result = check(
        runner,
        program(
            """
            with filmstrip.watch(["no_such_module_here", 7]):
                double(1)
            """
        ),
    )
    assert "Module no_such_module_here not found" in result.stderr
    assert "Unsupported target type: <class 'int'>" in result.stderr
    assert "run " not in result.stderr


def test_header_shortens_many_modules(runner):
    result = check(
        runner,
        """
        import filmstrip
        with filmstrip.watch(["email"]):
            pass
        """,
    )
    assert '"email.message": "..."' in result.stderr
    assert "Warning: too many top-level keys, only showing values like" in result.stderr


def test_program_is_found(runner):
    assert os.access(PACKAGE / "bin" / "filmstrip", os.X_OK)


def test_lines_of_callers_that_are_not_watched(runner):
    """Whatever code calls a target, run and end have its line: callbacks of the
    standard library, generators, deep recursion, threads."""
    runner.write(
        """
        def leaf(n=0):
            return n
        def gen():
            got = yield 1
            yield got
        class Thing:
            def __lt__(self, other):
                return True
        """,
        "aimed.py",
    )
    result = check(
        runner,
        """
        import functools, threading
        import aimed, filmstrip

        def deep(n):
            if n:
                return deep(n - 1)
            return aimed.leaf(1)

        def other():
            aimed.leaf(2); x = 1
            aimed.leaf(3)

        watcher = filmstrip.watch(["aimed"], film="kept.film")
        deep(60)
        for _ in range(2):
            other()
        list(map(aimed.leaf, [1, 2]))
        sorted([aimed.Thing(), aimed.Thing()])
        functools.reduce(lambda a, b: aimed.leaf(b), [1, 2, 3])
        g = aimed.gen()
        next(g)
        g.send(1)
        g.close()
        thread = threading.Thread(target=aimed.leaf)
        thread.start()
        thread.join()
        try:
            deep("no")
        except TypeError:
            pass
        deep(3)
        watcher.stop()
        """,
    )
    runs = [line.split() for line in lines(result) if " run " in line]
    places = [(int(line), name) for line, _, name in runs]
    leaf, thing, gen = "aimed.leaf", "aimed.Thing.__lt__", "aimed.gen"
    run = next(line for line, name in places if name == leaf and line > 100)
    assert places == [
        (8, leaf),
        *[(11, leaf), (12, leaf)] * 2,
        *[(18, leaf)] * 2,
        (19, thing),
        *[(20, leaf)] * 2,
        (22, gen),
        (23, gen),
        *[(24, gen)] * (sys.version_info[:2] != (3, 13)),
        (run, leaf),  # threading's own line
        (8, leaf),
    ]
    ends = [line.split() for line in lines(result) if " end " in line]
    assert [(int(line), name) for line, _, name in ends] == places
    assert run_program("check", runner.folder / "kept.film").rc == 0


def test_writes_taken_by_setattr_are_told_as_not_recorded(runner):
    """Or with their value, once the recorder reads it; never as None."""
    result = check(
        runner,
        """
        import filmstrip
        class Guarded:
            def __init__(self):
                self.kept = 5
                self.kept = 6
                return
            def __setattr__(self, name, value):
                object.__setattr__(self, name, value)
        with filmstrip.watch(["__main__:Guarded"]):
            Guarded()
        """,
    )
    told = [
        line.split("upd Guarded.kept ")[1] for line in lines(result) if "upd" in line
    ]
    assert told in (
        ["None -> <not recorded>", "<not recorded> -> <not recorded>"],
        ["None -> 5", "5 -> 6"],
    )
