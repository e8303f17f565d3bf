"""filmstrip.watch and filmstrip.compat.objwatch: parameters, messages, live lines."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest

from conftest import clean_environment, run_program
from objwatch_programs import check, program


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
        "__main__.double",  # with_module_path
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
