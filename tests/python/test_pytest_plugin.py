"""pytest --film: films of failing tests, and of no others."""

from __future__ import annotations

import pathlib
import sys

import pytest

from conftest import PACKAGE, ROOT, dump_events, run_program, run_python

if sys.version_info >= (3, 11):
    import tomllib

TESTS = """
    import pytest

    def helper(n):
        total = n + 1
        return total

    def test_good():
        assert helper(1) == 2

    def test_bad():
        assert helper(1) == 3

    @pytest.mark.parametrize("text", ["a/b c", "é"])
    def test_each(text):
        assert helper(len(text)) == 3, text

    @pytest.fixture
    def broken():
        helper(5)
        raise RuntimeError("no")

    def test_setup(broken):
        pass

    @pytest.mark.xfail
    def test_expected():
        assert helper(2) == 0

    def test_skipped():
        pytest.skip("not now")
"""


@pytest.fixture
def tests(runner):
    runner.write(TESTS, "test_them.py")
    return runner


def run(runner, *options, env=None):
    return run_python(
        ["-m", "pytest", "-p", "filmstrip.pytest_plugin", "-p", "no:cacheprovider"]
        + [*options],
        runner.folder,
        env=env,
    )


def test_failing_tests_keep_their_films(tests):
    result = run(tests, "--film", "test_them.py")
    assert result.rc == 1, result.stdout
    assert "3 failed, 1 passed, 1 skipped, 1 xfailed, 1 error" in result.stdout
    films = {path.name: path for path in (tests.folder / "films").glob("*.film")}
    assert "test_them.py-test_bad.film" in films
    assert "test_them.py-test_setup.film" in films
    assert len(films) == 4
    assert not any("good" in n or "skipped" in n or "expected" in n for n in films)
    for name, path in films.items():
        assert run_program("check", path).rc == 0, name
        assert str(path.relative_to(tests.folder)) in result.stdout
    calls = [
        event["function"]
        for event in dump_events(films["test_them.py-test_bad.film"])
        if event["kind"] == "call"
    ]
    assert calls == ["test_them.test_bad", "test_them.helper"]
    assert "filmstrip log films/test_them.py-test_bad.film" in result.stdout


def test_names_of_films_are_safe_and_different(tests):
    run(tests, "--film", "test_them.py")
    names = [path.name for path in (tests.folder / "films").iterdir()]
    assert all(name.isascii() and "/" not in name and " " not in name for name in names)
    each = [name for name in names if "test_each" in name]
    assert len(each) == 2


def test_nothing_is_left_when_all_pass(runner):
    runner.write("def test(): pass\n", "test_one.py")
    result = run(runner, "--film", "test_one.py")
    assert result.rc == 0, result.stdout
    assert not (runner.folder / "films").exists()
    assert "recordings" not in result.stdout


def test_without_the_option_nothing_happens(tests):
    result = run(tests, "test_them.py")
    assert result.rc == 1
    assert not (tests.folder / "films").exists()
    assert "recording" not in result.stdout


def test_options(tests):
    result = run(
        tests,
        "--film",
        "--film-dir=kept",
        "--film-target=test_them:helper()",
        "--film-level=calls",
        "-k",
        "bad",
        "test_them.py",
    )
    assert result.rc == 1, result.stdout
    [film] = (tests.folder / "kept").iterdir()
    calls = [e["function"] for e in dump_events(film) if e["kind"] == "call"]
    assert calls == ["test_them.helper"]


def test_a_recording_that_cannot_be_made_fails_no_test(tests):
    (tests.folder / "films").write_text("in the way")
    result = run(tests, "--film", "-k", "good", "test_them.py")
    assert result.rc == 0, result.stdout
    assert "was not recorded" in result.stdout


def test_a_program_recorded_already(tests):
    result = run_python(
        ["-m", "filmstrip", "run", "-o", "all.film", "-m", "pytest", "-p"]
        + ["filmstrip.pytest_plugin", "--film", "-k", "bad", "test_them.py"],
        tests.folder,
    )
    assert result.rc == 1, result.stdout + result.stderr
    assert "a recording is running already" in result.stdout
    assert pathlib.Path(tests.folder / "all.film").exists()


def test_pytest_finds_the_plugin_by_itself():
    assert list(entry_points().values()) == ["filmstrip.pytest_plugin"]


def entry_points():
    with open(ROOT / "pyproject.toml", "rb") as file:
        return tomllib.load(file)["project"]["entry-points"]["pytest11"]


@pytest.fixture
def strict(runner):
    """A project whose warnings are errors, and a filmstrip that pytest finds as it
    finds one that pip installed: through what the distribution says of itself."""
    runner.write("[pytest]\nfilterwarnings = error\n", "pytest.ini")
    runner.write("def test_one():\n    assert 1 == 1\n", "test_one.py")
    site = runner.folder / "site"
    lines = ["[pytest11]", *(f"{name} = {m}" for name, m in entry_points().items())]
    runner.write("\n".join(lines), "site/filmstrip-0.dist-info/entry_points.txt")
    runner.write("Name: filmstrip\nVersion: 0\n", "site/filmstrip-0.dist-info/METADATA")
    runner.write(
        "filmstrip/__init__.py,,\nfilmstrip/pytest_plugin.py,,\n",
        "site/filmstrip-0.dist-info/RECORD",
    )
    (site / "filmstrip").symlink_to(PACKAGE)
    return runner, str(site)


@pytest.mark.parametrize("flags", [(), ("-OO",), ("-X", "dev")])
@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize(
    "options", [(), ("--film",), ("-p", "filmstrip.pytest_plugin")]
)
def test_no_warning_of_an_import_too_early(strict, flags, recorded, options):
    runner, site = strict
    if flags == ("-OO",):  # pytest's own warning: there are no asserts left
        options = (*options, "-W", "ignore:assertions not in test modules")
    result = run_python(
        [*flags, "-m", "pytest", "-p", "no:cacheprovider", *options],
        runner.folder,
        env={"PYTHONPATH": site, "FILMSTRIP": "1" if recorded else None},
    )
    assert (result.rc, result.stderr) == (0, ""), result.stdout + result.stderr
    assert (
        " 1 passed in " in result.stdout
    )  # "1 passed, 1 warning in" where one was given
    assert "filmstrip-0" in result.stdout  # among the plugins that pytest found
    assert len(list(runner.folder.glob("*.film"))) == recorded
