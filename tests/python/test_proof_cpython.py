"""CPython's own tests, plain and recorded with everything on, at level calls and at level
values: each case ends the same.

An oracle nobody here wrote. The recorder is switched on by the environment, through
filmstrip.pth, in the test process and in every Python it starts. Cases that differ for
a reason of CPython's are named below, with the reason."""

from __future__ import annotations

import collections
import fnmatch
import importlib.util
import os
import subprocess
import sys
import xml.etree.ElementTree

import pytest

from conftest import clean_environment, run_program
from proof import films, ways

VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"

FILES = [
    # those the issue names
    "test_sys_settrace",
    "test_generators",
    "test_coroutines",
    "test_asyncgen",
    "test_threading",
    "test_exceptions",
    "test_contextlib",
    "test_functools",
    "test_fork1",
    # and some that look at hooks, frames and deaths
    "test_sys_setprofile",
    "test_cprofile",
    "test_bdb",
    "test_frame",
    "test_generator_stop",
    "test_contextlib_async",
    "test_raise",
    "test_with",
    "test_scope",
]

# Not here: test_monitoring (its setUp asserts that no tool has events), test_code (sets
# a free function of ctypes for its co_extra index; CPython calls the free function of
# every index for each code object that has any, ours too, and this one after ctypes has
# torn it down).
SOAK = [
    "test_weakref",
    "test_sys",
    "test_traceback",
    "test_inspect",
    "test_gc",
    "test_signal",
    "test_subprocess",
    "test_thread",
    "test_threadsignals",
    "test_threading_local",
    "test_trace",
    "test_profile",
    "test_pdb",
    "test_dis",
    "test_compile",
    "test_descr",
    "test_dataclasses",
    "test_decimal",
    "test_unittest",
    "test_asyncio",
    "test_concurrent_futures",
    "test_multiprocessing_fork",
    "test_multiprocessing_spawn",
    "test_faulthandler",
    "test_atexit",
    "test_context",
    "test_types",
    "test_typing",
    "test_enum",
    "test_json",
    "test_re",
]

# At level values here: those that look at frames, hooks, lives and deaths; all in soak.
VALUES = [
    "test_sys_settrace",
    "test_generators",
    "test_coroutines",
    "test_asyncgen",
    "test_exceptions",
    "test_contextlib",
    "test_functools",
    "test_frame",
    "test_scope",
    "test_with",
    "test_descr",
    "test_dataclasses",
]
LEVELS = {"calls": 0, "values": 2}

# (Python, file, case) with * as in a shell -> why the outcome may differ.
EXCEPTIONS: dict[tuple[str, str, str], str] = {
    ("3.11", "test_frame", "*.test_sneaky_frame_object"): (
        "wants a garbage collection in the allocation of a frame object that its own "
        "trace function is the first to need; any trace hook made that object before"
    ),
}


def has_tests() -> bool:
    return importlib.util.find_spec("test.test_generators") is not None


def outcomes(report):
    """case -> passed, failed, error or skipped."""
    found: dict[str, str] = {}
    seen: collections.Counter[str] = collections.Counter()
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        name = case.get("name", "")
        seen[name] += 1
        if seen[name] > 1:
            name += f" #{seen[name]}"
        outcome = "passed"
        for element in case:
            if element.tag in ("failure", "error", "skipped"):
                outcome = element.tag
        if case.get("status") == "skipped" or case.get("result") == "skipped":
            outcome = "skipped"
        found[name] = outcome
    return found


def run_tests(file, folder, env):
    """CPython's test runner in a process of its own; the outcome of each case."""
    report = folder / "report.xml"
    scratch = folder / "scratch"
    scratch.mkdir(parents=True)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "test", "--junit-xml", report, "--randseed", "1"),
            *("--tempdir", scratch, "-v", file),
        ],
        cwd=folder,
        env=clean_environment(**env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="backslashreplace",
        timeout=900 if films.SOAK else 140,
    )
    assert report.exists(), (done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done, outcomes(report)


def excuse(file, case):
    for (version, in_file, pattern), reason in EXCEPTIONS.items():
        if (
            version in ("*", VERSION)
            and fnmatch.fnmatchcase(file, in_file)
            and fnmatch.fnmatchcase(case, pattern)
        ):
            return reason
    return None


def compare(file, alone, with_us):
    """case -> (outcome alone, outcome recorded), where they differ without excuse."""
    return {
        case: (alone.get(case), with_us.get(case))
        for case in sorted(alone.keys() | with_us.keys())
        if alone.get(case) != with_us.get(case) and excuse(file, case) is None
    }


# Half a minute each, waiting most of it: here on the oldest and the newest Python.
SLOW = {"test_threading", "test_fork1"}
if films.SOAK or sys.version_info[:2] in ((3, 11), (3, 14)):
    SLOW = set()

CASES = [("calls", file) for file in FILES + (SOAK if films.SOAK else [])]
CASES = [case for case in CASES if case[1] not in SLOW]
CASES += [("values", file) for file in (FILES + SOAK if films.SOAK else VALUES)]


@pytest.mark.timeout(3600 if films.SOAK else 300)
@pytest.mark.parametrize(("level", "file"), CASES)
def test_cpythons_own_tests(level, file, tmp_path):
    compare_outcomes(file, tmp_path, [f"level={LEVELS[level]}"])


@pytest.mark.timeout(3600 if films.SOAK else 300)
@pytest.mark.parametrize(("file", "way"), ways.rotating(VALUES, 3), ids=str)
def test_cpythons_own_tests_in_other_ways(file, way, tmp_path):
    compare_outcomes(file, tmp_path, [f"level={LEVELS['values']}", *way.lines])


def compare_outcomes(file, tmp_path, options):
    if not has_tests():
        pytest.skip(f"Python {VERSION} is installed without its own tests")
    if importlib.util.find_spec(f"test.{file}") is None:
        pytest.skip(f"Python {VERSION} has no {file}")
    film = tmp_path / "films" / "tests.film"
    film.parent.mkdir()
    switch = {
        "FILMSTRIP": "1",
        "FILMSTRIP_OPTIONS": "\n".join(
            [f"path={film}", "all=1", "free_name=1", "argv=1", *options]
        ),
    }
    plain, alone = run_tests(file, tmp_path / "plain", {})
    recorded, with_us = run_tests(file, tmp_path / "recorded", switch)
    different = compare(file, alone, with_us)
    if different:
        # Some of them measure time and fail on a busy machine, recorded or not: what
        # differs is looked at again, and what we break stays broken.
        _, alone_again = run_tests(file, tmp_path / "plain again", {})
        _, with_us_again = run_tests(file, tmp_path / "recorded again", switch)
        again = compare(file, alone_again, with_us_again)
        different = {case: again[case] for case in different if case in again}
    assert not different, (
        f"(plain, recorded): {different}\n{recorded.stdout[-6000:]}\n{recorded.stderr[-2000:]}"
    )
    if alone == with_us:
        assert recorded.returncode == plain.returncode, recorded.stdout[-2000:]
    # It was recorded, every process of it, and every film is whole.
    assert film.exists()
    calls = films.count_kinds(film)["call"] if film.stat().st_size < 8_000_000 else 1000
    assert calls > 500
    for path in films.film_paths(film.parent)[:40]:
        if path != film and not os.path.getsize(path):
            continue
        result = run_program("check", path)
        assert result.rc == 0, (path, result.stdout, result.stderr)


def test_the_comparison_can_fail(tmp_path):
    report = tmp_path / "report.xml"
    report.write_text(
        "<testsuites><testsuite><testcase name='a'/><testcase name='b'><failure/>"
        "</testcase><testcase name='c'><skipped/></testcase><testcase name='a'><error/>"
        "</testcase></testsuite></testsuites>"
    )
    found = outcomes(report)
    assert compare("test_x", found, {**found, "a": "failure"}) == {
        "a": ("passed", "failure")
    }
    assert found == {
        "a": "passed",
        "b": "failure",
        "c": "skipped",
        "a #2": "error",
    }
