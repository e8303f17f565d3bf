"""What the program answers where there is nothing to show or the command was another."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
    class Box:
        def __init__(self):
            self.size = 3

        def grow(self, by):
            grown = self.size + by
            self.size = grown

    def main():
        box = Box()
        box.grow(4)

    main()
"""


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    import textwrap

    folder = tmp_path_factory.mktemp("answers")
    (folder / "program.py").write_text(textwrap.dedent(PROGRAM))
    for level in ("calls", "values"):
        subprocess.run(
            [sys.executable, "-m", "filmstrip", "run", "--level", level, "-o", f"{level}.film", "program.py"],
            cwd=folder,
            check=True,
        )  # fmt: skip
    return folder


def is_no(result, *words):
    """Exit status 1, nothing to read, one sentence with these words."""
    assert (result.rc, result.stdout) == (1, ""), result
    assert len(result.stderr.splitlines()) == 1, result.stderr
    for word in words:
        assert word in result.stderr, result.stderr


@pytest.mark.parametrize("form", ["text", "json"])
def test_log_of_what_is_not_there(films, filmstrip, form):
    def log(*words):
        return filmstrip("log", films / "values.film", "--format", form, *words)

    is_no(log("-f", "nosuch"), "no function", "'nosuch'")
    is_no(log("-f", "main", "-f", "no.*", "-d", "0", "-t", "7"), "no thread 7")
    is_no(log("-v", "nosuch"), "written", "'nosuch'")
    is_no(log("-v", "no", "-v", "such"), "'no' or the others")
    is_no(log("-t", "7"), "no thread 7")
    # Both are there, but not together.
    is_no(log("-f", "main", "-v", "grown"), "no event")
    # A function that is not there is named, whatever else is asked for.
    is_no(log("-f", "nosuch", "-v", "grown"), "'nosuch'")


def test_log_of_what_is_there(films, filmstrip):
    for words in (
        ("-f", "main"),
        ("-f", "*.grow", "-v", "grown"),
        ("-f", "nosuch", "-f", "main"),
        ("-v", "self.size"),
        ("-v", "nosuch", "-v", "box"),
        ("-t", "1"),
        ("--from", "1h"),  # no name in it: an empty part is an answer
    ):
        result = filmstrip("log", films / "values.film", *words)
        assert (result.rc, result.stderr) == (0, ""), words
        assert (result.stdout == "") == ("--from" in words)


def test_log_of_values_that_were_not_recorded(films, filmstrip):
    is_no(filmstrip("log", films / "calls.film", "-v", "box"), "--level values")


def test_log_as_xml_of_what_is_not_there(films, filmstrip):
    """A document all the same."""
    result = filmstrip("log", films / "values.film", "--format", "xml", "-f", "nosuch")
    assert result.rc == 1 and "'nosuch'" in result.stderr
    assert "<call" not in result.stdout and result.stdout.endswith("</log>\n")
    result = filmstrip("log", films / "values.film", "--format", "xml", "-f", "main")
    assert (result.rc, result.stderr) == (0, "")


def test_dump_of_a_thread_that_is_not_there(films, filmstrip):
    is_no(filmstrip("dump", films / "values.film", "-t", "7"), "no thread 7")
    assert filmstrip("dump", films / "values.film", "-t", "1").rc == 0


def ask(*words, folder=None):
    """By way of Python, as the entry point does."""
    return subprocess.run(
        [sys.executable, "-m", "filmstrip", *map(str, words)],
        cwd=folder,
        capture_output=True,
        text=True,
    )


def test_help_of_a_command():
    commands = [
        line.split()[0]
        for line in ask("help").stdout.split("commands:\n")[1].splitlines()
        if line.startswith("  ")
    ][: len("run info log report export dump check scrub nan diff step dap".split())]
    assert commands[0] == "run" and "dap" in commands
    assert ask("help").stdout == ask("--help").stdout
    for command in commands:
        page = ask("help", command)
        assert (page.returncode, page.stderr) == (0, ""), command
        assert page.stdout == ask(command, "--help").stdout
        assert page.stdout.startswith(f"usage: filmstrip {command} ")
    wrong = ask("help", "nosuch")
    assert wrong.returncode == 2 and "no command 'nosuch'" in wrong.stderr


def test_run_or_log_is_suggested(films):
    for word, meant in (
        ("program.py", "run program.py"),
        ("nosuch.py", "run nosuch.py"),
        ("values.film", "log values.film"),
        ("-m", "run -m"),
        ("logs", "log"),
    ):
        result = ask(word, folder=films)
        assert (result.returncode, result.stdout) == (2, "")
        assert f"'filmstrip {meant}'" in result.stderr or f"'{meant}'" in result.stderr
        assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "words, status",
    [
        (["-m", "nosuchmodule"], 1),
        (["-m", "nosuchpackage.module"], 1),
        (["-m", "json.nosuch"], 1),
        (["-m", "package"], 1),  # has no __main__
        (["nosuch.py"], 2),
        (["package"], 2),
        (["-o", "mine.film", "-m", "nosuchmodule"], 1),
    ],
)
def test_a_program_that_is_not_there_leaves_no_film(tmp_path, words, status):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    result = ask("run", *words, folder=tmp_path)
    assert result.returncode == status
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert os.listdir(tmp_path) == ["package"]


def test_a_program_that_fails_at_once_has_its_film(tmp_path):
    (tmp_path / "wrong.py").write_text("import nosuchmodule\n")
    for words in (["wrong.py"], ["-m", "wrong"]):
        assert ask("run", *words, folder=tmp_path).returncode == 1
        assert len(list(tmp_path.glob("*.film"))) == 1
        (tmp_path / "wrong.film").unlink()
