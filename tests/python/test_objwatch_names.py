"""Programs that say `import objwatch`: every name they may want, install() and -m; the
lines as records of logging; trees that are there when the process is gone."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys

import pytest

from conftest import clean_environment, run_python
from objwatch_programs import check, lines, program


def test_install_answers_for_objwatch(runner):
    check(
        runner,
        """
        import sys
        import filmstrip.compat.objwatch as ours
        ours.install()
        import objwatch
        assert objwatch is ours
        import objwatch.utils.logger
        from objwatch.config import ObjWatchConfig
        from objwatch.constants import Constants
        from objwatch.core import ObjWatch, watch
        from objwatch.event_handls import EventHandls, log_element_types, log_sequence_types
        from objwatch.events import EventType
        from objwatch.mp_handls import MPHandls
        from objwatch.runtime_info import RuntimeInfo, __version__, runtime_info
        from objwatch.targets import Targets
        from objwatch.tracer import Tracer
        from objwatch.utils.logger import (
            create_logger, get_logger, log_debug, log_error, log_info, log_warn)
        from objwatch.utils.util import target_handler
        from objwatch.utils.weak import WeakIdKeyDictionary, WeakTensorKeyDictionary
        from objwatch.wrappers import BaseLogger, TensorShapeLogger, FunctionWrapper
        from objwatch.wrappers.abc_wrapper import ABCWrapper
        from objwatch.wrappers.base_wrapper import BaseWrapper
        from objwatch.wrappers.cpu_memory_wrapper import CPUMemoryWrapper
        from objwatch.wrappers.tensor_shape_wrapper import TensorShapeWrapper
        from objwatch.wrappers.torch_memory_wrapper import TorchMemoryWrapper
        assert Constants.MAX_TARGETS_DISPLAY == 8 and Constants.LOG_INDENT_LEVEL == 2
        assert EventHandls.format_sequence([1, 2, 3, 4]) == "(list)[1, 2, 3, '... (1 more elements)']"
        assert RuntimeInfo() is runtime_info and __version__ == objwatch.__version__
        assert set(runtime_info.get_info_dict()) == {
            "version", "start_time", "system_info", "python_version"}
        found = Targets(["json", "a.py"], ["json:dumps()", "b.py"])
        assert "loads" in found.get_targets()["json"]["functions"]
        assert found.get_exclude_targets()["json"]["functions"] == ["dumps"]
        assert found.get_filename_targets() == {"a.py"}
        assert found.get_exclude_filename_targets() == {"b.py"}
        assert Targets.serialize_targets({"x": {1}}) == '{\\n  "x": [\\n    1\\n  ]\\n}'
        tracer = Tracer(ObjWatchConfig(["json"], exclude_targets=["json:dumps()"]))
        assert tracer._should_trace_function("json", "loads")
        assert not tracer._should_trace_function("json", "dumps")
        class Thing: pass
        table, thing = WeakIdKeyDictionary(), Thing()
        table[thing] = 1
        assert thing in table and table[thing] == 1 and list(table) == [thing]
        assert Thing() not in table
        del thing
        assert len(table) == 0
        try:
            ours.install(version="0.2")
        except ValueError as error:
            assert str(error) == "version is '0.5' or '0.3', not '0.2'"
        else:
            raise AssertionError
        """,
    )


UNCHANGED = """
    import sys
    import objwatch
    from objwatch.wrappers import BaseWrapper

    class Car:
        def drive(self, km):
            self.km = km
            self.done = True

    def main():
        Car().drive(3)

    if __name__ == "__main__":
        with objwatch.ObjWatch(["script.py"], wrapper=BaseWrapper):
            main()
        print(sys.argv, __name__)
"""


def test_run_as_a_module(runner):
    runner.write(UNCHANGED, "script.py")
    words = ["-m", "filmstrip.compat.objwatch"]
    result = run_python([*words, "--strict", "script.py", "-x"], runner.folder)
    assert (result.rc, result.stdout) == (0, "['script.py', '-x'] __main__\n")
    assert lines(result) == [
        "   16 run __main__.main <- ",
        "   12   run __main__.Car.drive <- '0':(type)Car, '1':3",
        "    8     upd Car.km None -> 3",
        "   12   end __main__.Car.drive -> None",
        "   16 end __main__.main -> None",
        "Stopping ObjWatch tracing.",
    ]
    full = lines(run_python([*words, "script.py"], runner.folder))
    assert "    9     upd Car.done None -> True" in full
    older = run_python([*words, "--older", "script.py"], runner.folder).stderr
    assert "DEBUG:     8 | | upd Car.km None -> 3" in older.replace("    9", "    8")
    assert run_python([*words, "missing.py"], runner.folder).rc == 2
    runner.write("import objwatch, sys\nprint(sys.flags.optimize)\n1 / 0", "failing.py")
    failing = run_python(["-O", "-X", "utf8", *words, "failing.py"], runner.folder)
    assert (failing.rc, failing.stdout) == (1, "1\n")
    assert "filmstrip" not in failing.stderr  # no frame of ours
    assert run_python(words, runner.folder).rc == 2


def test_wrappers_of_objwatch_itself_are_accepted(runner):
    """A program may have both: its wrappers derive from the other's base."""
    runner.write(
        """
        import abc
        class ABCWrapper(abc.ABC):
            def _format_value(self, value):
                return f"<{value}>"
        class BaseWrapper(ABCWrapper):
            pass
        """,
        "objwatch/wrappers/__init__.py",
    )
    runner.write("", "objwatch/__init__.py")
    result = check(
        runner,
        program(
            """
            from objwatch.wrappers import ABCWrapper, BaseWrapper
            class Mine(ABCWrapper):
                def wrap_call(self, name, frame):
                    return "called"
                def wrap_return(self, name, result):
                    return self._format_value(result)
                def wrap_upd(self, old, new):
                    return "", ""
            with filmstrip.watch(["program.py"], wrapper=Mine):
                double(4)
            with filmstrip.watch(["program.py"], wrapper=BaseWrapper):
                double(4)
            """
        ),
    )
    assert "run __main__.double <- called" in result.stderr
    assert "end __main__.double -> <8>" in result.stderr
    assert "run __main__.double <- '0':4" in result.stderr


# --- logging ---


def test_handlers_get_the_lines_as_records(runner):
    result = check(
        runner,
        program(
            """
            import logging, unittest
            import filmstrip.compat.objwatch as objwatch

            class Keep(logging.Handler):
                def __init__(self):
                    super().__init__()
                    self.told = []
                def emit(self, record):
                    assert record.name == "objwatch"
                    self.told.append((record.levelname, record.getMessage()))

            logger = logging.getLogger("objwatch")
            first, second = Keep(), Keep()
            logger.addHandler(first)
            logger.setLevel(logging.DEBUG)
            watcher = objwatch.watch(["program.py"], with_locals=True)
            double(1)
            logger.addHandler(second)
            double("two\\nlines")
            logger.removeHandler(second)
            double(3)
            with unittest.TestCase().assertLogs("objwatch", level="DEBUG") as log:
                double(4)
            watcher.stop()
            levels, texts = zip(*first.told)
            assert texts[0] == "Starting ObjWatch tracing."
            assert texts[1].startswith("=" * 80 + "\\n# ObjWatch Log\\n")
            assert texts[-1] == "Stopping ObjWatch tracing."
            assert set(levels[2:-1]) == {"DEBUG"} and set(levels[:2]) == {"INFO"}
            runs = [text for text in texts if " run __main__.double" in text]
            assert len(runs) == 3, texts  # the fourth was assertLogs's
            assert any("_.result None -> two" in text for _, text in second.told)
            assert len(second.told) == 3, second.told
            assert len(log.output) == 3 and "_.result None -> 8" in log.output[1]
            """
        ),
    )
    assert result.stderr.count("run __main__.double") == 4


def test_handlers_that_are_targets_are_not_told_of_themselves(runner):
    """With another thread too, whose events may not be lost; and a pause stays one."""
    result = check(
        runner,
        program(
            """
            import logging, threading
            told = []
            class Keep(logging.Handler):
                def emit(self, record):
                    told.append(record.getMessage())
            logger = logging.getLogger("objwatch")
            logger.setLevel(logging.DEBUG)
            keep = Keep()
            logger.addHandler(keep)
            filmstrip.watch(["program.py"], with_locals=True)
            other = threading.Event()
            thread = threading.Thread(target=other.wait)
            thread.start()
            for _ in range(12):
                double(1)
                logger.addHandler(keep)
            other.set()
            thread.join()
            double(2)
            filmstrip.pause()
            logger.addHandler(keep)
            double(3)
            filmstrip.resume()
            double(4)
            logger.addHandler(keep)
            lines = [line for line in told if "__main__.double" in line]
            assert len(lines) == 2 * (12 + 2), told
            assert not any("emit" in line for line in told)
            """
        ),
    )
    assert "upd _.result None -> 6" not in result.stderr


def test_records_and_levels(runner):
    check(
        runner,
        program(
            """
            import logging
            import filmstrip.compat.objwatch as objwatch
            from filmstrip.compat.objwatch.wrappers import BaseWrapper
            class Mine(BaseWrapper): pass
            told = []
            class Keep(logging.Handler):
                def emit(self, record):
                    told.append(record.getMessage())
            logging.getLogger("objwatch").addHandler(Keep())
            for level, count in (("INFO", 3), (logging.WARNING, 0), ("DEBUG", 5)):
                logging.getLogger("objwatch").setLevel(level)
                for wrapper in (None, Mine):
                    told.clear()
                    with objwatch.ObjWatch(["program.py"], level=level, wrapper=wrapper):
                        double(1)
                    assert len(told) == count, told
            for wrong, kind in (("LOUD", ValueError), (1.5, TypeError)):
                try:
                    objwatch.ObjWatch(["program.py"], level=wrong)
                except kind:
                    pass
                else:
                    raise AssertionError
            """
        ),
    )


# --- files ---


def test_output_is_there_or_raises(runner):
    check(
        runner,
        program(
            """
            import os
            watcher = filmstrip.compat.objwatch.ObjWatch(
                ["program.py"], output="now.objwatch")
            assert os.path.exists("now.objwatch")
            for start in (filmstrip.watch, filmstrip.compat.objwatch.ObjWatch):
                try:
                    start(["program.py"], output="no/folder.objwatch")
                except FileNotFoundError as error:
                    assert error.filename == os.path.abspath("no/folder.objwatch")
                else:
                    raise AssertionError
            """
        ).replace(
            "import filmstrip\n", "import filmstrip, filmstrip.compat.objwatch\n"
        ),
    )


def test_modes_of_files_are_the_umasks(runner):
    check(
        runner,
        program(
            """
            import os
            os.umask(0o026)
            with filmstrip.watch(["program.py"], output="a.objwatch",
                                 output_json="a.json", output_xml="a.xml"):
                double(1)
            """
        ),
    )
    for name in ("a.objwatch", "a.json", "a.xml"):
        mode = stat.S_IMODE((runner.folder / name).stat().st_mode)
        assert oct(mode) == oct(0o640), name


DYING = """
    import ctypes, faulthandler, os, signal, sys, time
    import filmstrip

    def work(number):
        for i in range(number):
            last = i
        print("ready", flush=True)
        if sys.argv[1] == "exit":
            os._exit(3)
        if sys.argv[1] == "fault":
            ctypes.string_at(8)
        if sys.argv[1] == "abort":
            os.abort()
        time.sleep(60)

    if len(sys.argv) > 2:
        faulthandler.enable()
    builtin = os._exit
    with filmstrip.watch(["program.py"], output_json="tree.json", output_xml="tree.xml"):
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    assert os._exit is builtin
    os.remove("tree.json")
    filmstrip.watch(["program.py"], with_locals=True, output_json="tree.json",
                    output_xml="tree.xml")
    work(2000)
"""


@pytest.mark.parametrize(
    "how, ending",
    [
        *((name, -getattr(signal, name)) for name in ("SIGTERM", "SIGHUP", "SIGUSR1")),
        ("exit", 3),
        ("fault", -signal.SIGSEGV),
        ("abort", -signal.SIGABRT),
        ("fault faulthandler", -signal.SIGSEGV),
    ],
)
def test_trees_are_there_when_the_process_is_gone(runner, how, ending):
    runner.write(DYING)
    # A file: whoever still writes there keeps nobody waiting.
    with open(runner.folder / "stderr", "w") as stderr:
        child = subprocess.Popen(
            [sys.executable, "program.py", *how.split()],
            cwd=runner.folder,
            env=clean_environment(),
            stdout=subprocess.PIPE,
            stderr=stderr,
        )
        assert child.stdout.readline() == b"ready\n"
        if how.startswith("SIG"):
            child.send_signal(getattr(signal, how))
        assert child.wait(60) == ending
        tree = json.loads((runner.folder / "tree.json").read_text())["ObjWatch"]
        child.stdout.close()
    [function] = tree["events"]
    assert function["symbol"] == "work"
    assert function["events"][-1]["new"] == "1999"
    assert (runner.folder / "tree.xml").read_text().endswith("</ObjWatch>")
    told = (runner.folder / "stderr").read_text()
    assert ("Fatal Python error" in told) is ("faulthandler" in how)
    assert "upd _.last 1998 -> 1999" in told


def test_a_handler_of_the_program_stays(runner):
    result = check(
        runner,
        program(
            """
            import os, signal
            told = []
            signal.signal(signal.SIGUSR1, lambda *given: told.append("mine"))
            signal.signal(signal.SIGUSR2, signal.SIG_IGN)
            with filmstrip.watch(["program.py"], output_json="tree.json"):
                os.kill(os.getpid(), signal.SIGUSR1)
                os.kill(os.getpid(), signal.SIGUSR2)
                signal.signal(signal.SIGTERM, lambda *given: told.append("later"))
                os.kill(os.getpid(), signal.SIGTERM)
                double(1)
            os.kill(os.getpid(), signal.SIGTERM)
            assert told == ["mine", "later", "later"]
            """
        ),
    )
    assert "JSON saved" in result.stderr


def test_forked_child_of_a_killed_wait_dies_at_once(runner):
    """The parent's wait is none of its child's."""
    check(
        runner,
        program(
            """
            import os, signal, time
            with filmstrip.watch(["program.py"], output_json="tree.json"):
                child = os.fork()
                if child == 0:
                    time.sleep(60)
                time.sleep(0.2)
                began = time.monotonic()
                os.kill(child, signal.SIGTERM)
                _, status = os.waitpid(child, 0)
                assert os.WTERMSIG(status) == signal.SIGTERM
                assert time.monotonic() - began < 10
                double(1)
            assert os.path.exists("tree.json")
            """
        ),
    )


def test_no_temporary_files_are_left(runner):
    (runner.folder / "tmp").mkdir()
    check(
        runner,
        program(
            """
            with filmstrip.watch(["program.py"], output_json="tree.json"):
                double(1)
            """
        ),
        env={"TMPDIR": os.fspath(runner.folder / "tmp")},
    )
    assert not list((runner.folder / "tmp").iterdir())


def test_spawned_processes_of_a_program_find_the_name(runner):
    """multiprocessing's "spawn" runs the script once more, in a new interpreter."""
    runner.write(
        """
        import multiprocessing
        import objwatch
        from objwatch.wrappers import BaseWrapper

        def double(n):
            return n * 2

        def child(n):
            with objwatch.ObjWatch(["script.py"], wrapper=BaseWrapper):
                double(n)

        if __name__ == "__main__":
            process = multiprocessing.get_context("spawn").Process(target=child, args=(4,))
            process.start()
            process.join()
            assert process.exitcode == 0
        """,
        "script.py",
    )
    words = ["-m", "filmstrip.compat.objwatch", "--strict", "script.py"]
    result = run_python(words, runner.folder)
    assert result.rc == 0, result.stderr
    assert "run __mp_main__.double <- '0':4" in result.stderr
    assert "end __mp_main__.double -> 8" in result.stderr
