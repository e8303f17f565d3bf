"""ObjWatch's own tests, of 0.5.1 and 0.3.5, with filmstrip in its place: outcome by
outcome as with ObjWatch itself.

The tests come with ObjWatch's wheels, from pip. The wheels leave out the modules and the
expected logs that some of them need: the modules are written here, the logs by ObjWatch
itself in a first run (objwatch_suites/teacher.py).
"""

from __future__ import annotations

import dataclasses
import importlib.util
import pathlib
import shutil
import subprocess
import sys
import textwrap
from xml.etree import ElementTree

import pytest

from conftest import clean_environment
from objwatch_theirs import fetch

HELPERS = pathlib.Path(__file__).parent / "objwatch_suites"
HAS_TORCH = importlib.util.find_spec("torch") is not None

MODULES = {
    "example_module.py": """
        class TestClass:
            def __init__(self):
                self.tracked_attr, self.excluded_attr = 1, 2
            def tracked_method(self):
                return self.tracked_attr
            def excluded_method(self):
                return self.excluded_attr
    """,
    "example_targets/__init__.py": "",
    "example_targets/sample_module.py": """
        GLOBAL_VAR = "global"

        class SampleClass:
            class_attr = 1
            @classmethod
            def class_method(cls):
                return cls.class_attr
            @staticmethod
            def static_method():
                return 2
            def method(self):
                return 3

        def module_function():
            return GLOBAL_VAR
    """,
    "multiprocessing_calculate.py": """
        import multiprocessing

        def square(number, results):
            results.put(number * number)

        def sum_of_squares(count):
            results = multiprocessing.Queue()
            children = [
                multiprocessing.Process(target=square, args=(number, results))
                for number in range(count)
            ]
            for child in children:
                child.start()
            total = 0
            for child in children:
                total += results.get()
                child.join()
            return total

        if __name__ == "__main__":
            assert sum_of_squares(6) == 55
    """,
}

# Edits of a test: (version, file, old, new).
EDITS = [
    # Functions have no address in a recording.
    ("0.3.5", "util.py", " at 0x[0-9a-fA-F]+>", "( at 0x[0-9a-fA-F]+)?>"),
    # So long may a loaded machine need until the program sleeps.
    ("", "test_output_exit.py", "time.sleep(0.1)", "time.sleep(1)"),
    # ObjWatch takes Ctrl-C away from the program: it writes its tree and exits. Ours
    # is KeyboardInterrupt, as without us, so the tree also has how the functions ended.
    ("", "test_output_exit.py", '"SIGINT": signal.SIGINT,', ""),
]


@dataclasses.dataclass(frozen=True)
class Suite:
    version: str
    plugin: str
    files: tuple[str, ...]
    count: int  # tests that pass with ObjWatch itself, without torch
    left_out: dict[str, str]  # test: why it ends otherwise


INTERNAL = "Tracer._process_targets, private: ours are names for the recorder, no files"
SUITES = (
    Suite(
        "0.5.1",
        "ours_0_5",
        tuple(
            f"tests/test_{name}.py"
            for name in (
                *("base", "comprehensive_exclude", "exclude_functionality"),
                *("multiprocessing_handls", "output_exit", "output_json", "targets"),
            )
        ),
        36,
        {},
    ),
    Suite(
        "0.3.5",
        "ours_0_3",
        ("tests/test.py", "tests/test_output_exit.py", "tests/test_output_xml.py")
        + (("tests/test_torch_train.py",) if HAS_TORCH else ()),
        23,
        {
            f"TestTracerProcessTargets{kind}.test_process_targets_with_submodules": INTERNAL
            for kind in ("Str", "Module")
        },
    ),
)


def prepare(version: str, folder: pathlib.Path) -> None:
    """ObjWatch with its tests, and what they need besides."""
    fetch(version, folder)
    for name, text in MODULES.items():
        path = folder / "tests" / "utils" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    for only, name, old, new in EDITS:
        if only not in ("", version):
            continue
        path = folder / "tests" / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))


def outcomes(suite: Suite, plugin: str, folder: pathlib.Path) -> dict[str, str]:
    words = ["-m", "pytest", "-q", "-p", plugin, "-p", "no:cacheprovider"]
    # pytest-timeout would handle SIGALRM, which ObjWatch's tests send.
    words += ["-p", "no:timeout", "--junit-xml=report.xml", "-o", "junit_family=xunit1"]
    done = subprocess.run(
        [sys.executable, *words, *suite.files],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        env=clean_environment(PYTHONPATH=f"{folder}:{HELPERS}"),
    )
    report = folder / "report.xml"
    assert report.exists(), done.stdout + done.stderr
    found = {}
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        name = f"{case.get('classname', '').rpartition('.')[2]}.{case.get('name')}"
        kinds = [child.tag for child in case if child.tag in ("failure", "error")]
        skipped = case.find("skipped") is not None
        found[name] = kinds[0] if kinds else "skipped" if skipped else "passed"
        if kinds and name not in suite.left_out:
            print(f"{name}\n{case[0].text}")
    return found


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.version)
def test_objwatchs_own_tests(suite, tmp_path):
    if suite.version == "0.3.5" and sys.version_info >= (3, 14):
        pytest.skip("ObjWatch 0.3.5 does not run on Python 3.14: _weakrefset")
    prepare(suite.version, tmp_path / "theirs")
    outcomes(suite, "teacher", tmp_path / "theirs")
    # Once more, against what it wrote: the first run compares nothing.
    theirs = outcomes(suite, "no:teacher", tmp_path / "theirs")
    shutil.copytree(tmp_path / "theirs" / "tests", tmp_path / "ours" / "tests")
    ours = outcomes(suite, suite.plugin, tmp_path / "ours")
    assert list(theirs.values()).count("passed") >= suite.count
    assert set(theirs.values()) <= {"passed", "skipped"}
    differ = {name for name in theirs if ours.get(name) != theirs[name]}
    assert differ == set(suite.left_out)
