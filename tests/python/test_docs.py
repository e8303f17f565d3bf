"""Every example of README.md and docs/ runs here, so that none can go stale.

A ```python block whose first line is `# name.py` is a program: all of them are written
into the folder the examples run in. A ```console block holds commands behind `$ ` and
what they print; a line `...` stands for any lines. Times, sizes, process ids, dates and
the like are not compared, everything else is. A command that fails is followed by
`$ echo $?`. ```console needs=dot is left out where dot is missing, needs=torch where
this Python has no PyTorch. ```python blocks with
`>>>` are doctests.

    python tests/python/test_docs.py --update     writes what the commands print into
                                                  the pages; look at the difference
"""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# Each command of the program, in its order, and its page.
PAGE_OF = {
    name: f"{name}.md"
    for name in (
        *("run", "info", "log", "report", "export", "dump", "check", "scrub"),
        *("nan", "diff"),
    )
} | {"step": "step.md", "dap": "editors.md"}

FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROGRAM = re.compile(r"# (\w+\.py)\n")

# What differs from run to run, and what is compared instead of it.
VARYING = [
    (r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}", "DATE"),
    (r"\b\d+\.\d{6}\b", "SECONDS"),
    (r"\b\d+(\.\d+)?(ns|us|ms|s)\b", "DURATION"),
    (
        r'("(?:\w+_ns|pid|native_id|uuid|\w+_bytes|bytes_per_event)": ?)"?[\w.]+"?',
        r"\1N",
    ),
    (r'(\b(?:\w+_ns|pid|native_id)=)"?\d+"?', r"\1N"),
    (r"^(size +)[\d,]+ bytes(, [\d.]+ an event)?(; [\d,]+ bytes on disk)?", r"\1N"),
    (r"[\d,]+ bytes", "N bytes"),
    (r"^(process +)\d+(, child of )?\d*", r"\1N"),
    (r"^(python +)3\.\d+\.\d+\S*.*$", r"\1VERSION"),
    (r'"python": ?"3[^"]*"', '"python": VERSION'),
    (r"\[\d+:(\d+)\]", r"[PID:\1]"),
    (r"(\w)\.\d+(\.\w*film)\b", r"\1.PID\2"),
    (r"(?m)^(\S+(?:;\S+)*) \d+$", r"\1 N"),  # folded stacks
    (r"\bevent \d+:\d+", "event M"),  # step: events differ between Pythons
    (r"\bop \d+:\d+", "op M"),
    (r"\bt\d+\b", "tN"),  # tensors
    (r"(?m)^( *)\d+:\d+ ", r"\1M "),
    (r"written at \d+:\d+", "written at M"),
    (r"[ \t]+", " "),
    (r" +$", ""),
]


@dataclasses.dataclass
class Command:
    """One `$ ` line of a page and the lines it prints."""

    text: str
    expected: str
    start: int  # where `expected` lies in the page
    end: int
    needs: tuple[str, ...]


def blocks(page: str) -> Iterator[tuple[str, str, str, int]]:
    """Language, rest of the fence's line, body and where the body begins."""
    for found in FENCE.finditer(page):
        yield found[1], found[2], found[3], found.start(3)


def commands(page: str) -> Iterator[Command]:
    for language, options, body, start in blocks(page):
        if language != "console":
            continue
        needs = tuple(re.findall(r"needs=(\S+)", options))
        assert body.startswith("$ "), f"a console block begins with a command: {body}"
        for part in re.finditer(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", body, re.MULTILINE):
            yield Command(
                part[1], part[2], start + part.start(2), start + part.end(2), needs
            )


def doctests(page: str) -> str:
    """The blocks with `>>>`, a blank line behind each."""
    return "\n".join(
        body
        for language, _, body, _ in blocks(page)
        if language == "python" and ">>>" in body
    )


def programs() -> dict[str, str]:
    """The example programs of all pages by name; a name means one program."""
    found: dict[str, str] = {}
    for path in PAGES:
        for language, _, body, _ in blocks(path.read_text(encoding="utf-8")):
            name = PROGRAM.match(body)
            if language == "python" and name:
                assert found.setdefault(name[1], body) == body, f"two {name[1]}"
    return found


def normalised(text: str) -> str:
    for pattern, replacement in VARYING:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    return text.strip("\n")


def matches(expected: str, printed: str) -> bool:
    lines = [
        ".*" if line.strip() == "..." else re.escape(line)
        for line in normalised(expected).split("\n")
    ]
    pattern = "\n".join(lines).replace(".*\n", "(.*\n)*").replace("\n.*", "(\n.*)*")
    return re.fullmatch(pattern, normalised(printed)) is not None


class Folder:
    """A folder ~/work with the example programs, and on PATH a `python` and a
    `filmstrip` of the Python that runs this."""

    def __init__(self, home: pathlib.Path) -> None:
        self.home = home
        self.work = home / "work"
        self.work.mkdir()
        self.status = 0
        tools = home / ".tools"
        tools.mkdir()
        for name, words in (("python", ""), ("filmstrip", "-m filmstrip ")):
            tool = tools / name
            tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words}"$@"\n')
            tool.chmod(0o755)
        for name, text in programs().items():
            (self.work / name).write_text(text, encoding="utf-8")
        self.environment = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("FILMSTRIP", "PYTHON", "COVERAGE", "PYTEST"))
        }
        self.environment |= {
            "HOME": str(home),
            "PATH": f"{tools}:{os.environ['PATH']}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "LC_ALL": "C.UTF-8",
        }

    def run(self, command: str) -> str:
        """What the command prints, both streams together; `$?` is the status of the
        one before."""
        with tempfile.TemporaryFile() as printed:
            done = subprocess.run(
                ["bash", "-c", f"(exit {self.status})\n{command}"],
                cwd=self.work,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                timeout=120,
            )
            self.status = done.returncode
            printed.seek(0)
            text = printed.read().decode(errors="backslashreplace")
        return text.replace(str(self.home), "~")

    def run_doctests(self, text: str) -> tuple[int, str]:
        (self.work / "page.txt").write_text(text, encoding="utf-8")
        driver = (
            "import doctest, sys; sys.path.insert(0, '.'); "
            "sys.exit(doctest.testfile('page.txt', module_relative=False, "
            "optionflags=doctest.ELLIPSIS).failed)"
        )
        done = subprocess.run(
            [sys.executable, "-c", driver],
            cwd=self.work,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        return done.returncode, done.stdout + done.stderr


def is_there(tool: str) -> bool:
    if tool == "torch":
        return importlib.util.find_spec(tool) is not None
    return shutil.which(tool) is not None


def missing_tools(wanted: tuple[str, ...]) -> list[str]:
    return [tool for tool in wanted if not is_there(tool)]


def problem_of_page(
    path: pathlib.Path, home: pathlib.Path, needs: tuple[str, ...]
) -> str:
    """Runs a page from its beginning, of the blocks that need a tool those that need
    exactly `needs`; tells the first command that does not do what the page says."""
    folder = Folder(home)
    everything = list(commands(path.read_text(encoding="utf-8")))
    for place, command in enumerate(everything):
        if command.needs not in ((), needs):
            continue
        printed = folder.run(command.text)
        if not matches(command.expected, printed):
            return (
                f"{path.name}: $ {command.text}\n--- the page says\n{command.expected}"
                f"--- it prints\n{printed}"
            )
        following = everything[place + 1].text if place + 1 < len(everything) else ""
        if folder.status != 0 and following != "echo $?":
            return (
                f"{path.name}: $ {command.text}\nends with {folder.status}: {printed}"
            )
    return ""


def has_gap(expected: str) -> bool:
    return "..." in (line.strip() for line in expected.split("\n"))


def update_page(path: pathlib.Path) -> None:
    """Writes all outputs anew if one of them no longer holds, so that the times of a
    page belong together; those with a gap only if they do not hold."""
    text = path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as home:
        folder = Folder(pathlib.Path(home))
        outputs = [
            (command, folder.run(command.text))
            for command in commands(text)
            if not missing_tools(command.needs)
        ]
    if all(matches(command.expected, printed) for command, printed in outputs):
        return
    pieces, behind = [], 0
    for command, printed in outputs:
        if not (has_gap(command.expected) and matches(command.expected, printed)):
            printed += "" if printed.endswith("\n") or not printed else "\n"
            pieces += [text[behind : command.start], printed]
            behind = command.end
    path.write_text("".join(pieces) + text[behind:], encoding="utf-8")
    print(f"{path.name}: written anew")


if __name__ == "__main__":
    if sys.argv[1:2] != ["--update"]:
        sys.exit(__doc__)
    for page_path in map(pathlib.Path, sys.argv[2:] or PAGES):
        update_page(page_path)
    sys.exit()


import pytest  # noqa: E402 (--update works without it)


def page_name(path: pathlib.Path) -> str:
    return str(path.relative_to(ROOT))


def pages_that_need() -> list[tuple[pathlib.Path, tuple[str, ...]]]:
    found = {
        (path, command.needs)
        for path in PAGES
        for command in commands(path.read_text(encoding="utf-8"))
    }
    return sorted(found)


@pytest.mark.parametrize(
    ("path", "needs"),
    pages_that_need(),
    ids=[" ".join([page_name(path), *needs]) for path, needs in pages_that_need()],
)
def test_commands(path, needs, tmp_path):
    missing = missing_tools(needs)
    if missing:
        pytest.skip(f"{missing[0]} is missing")
    problem = problem_of_page(path, tmp_path, needs)
    if problem:
        pytest.fail(problem, pytrace=False)


@pytest.mark.parametrize("path", PAGES, ids=page_name)
def test_commands_with_a_prompt_are_run(path):
    """A block that shows what somebody types is ```console, so that it is run here."""
    shown = re.findall(
        r"^```(\w*)[^\n]*\n\$ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert [text for language, text in shown if language != "console"] == []


@pytest.mark.parametrize(
    "path",
    [path for path in PAGES if doctests(path.read_text(encoding="utf-8"))],
    ids=page_name,
)
def test_python(path, tmp_path):
    failed, printed = Folder(tmp_path).run_doctests(
        doctests(path.read_text(encoding="utf-8"))
    )
    if failed:
        pytest.fail(printed, pytrace=False)


@pytest.mark.parametrize("command", PAGE_OF)
def test_options_are_those_of_the_help(command, tmp_path):
    """A page lists its command's options: none missing, none that is not there."""
    printed = Folder(tmp_path).run(f"filmstrip {command} --help")
    page = (ROOT / "docs" / PAGE_OF[command]).read_text(encoding="utf-8")
    told = re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", printed, re.MULTILINE)
    listed = re.findall(r"^\| `(?:-\w`, `)?(--[a-z-]+)", page, re.MULTILINE)
    assert sorted(listed) == sorted(told)


def test_every_command_has_a_page_and_a_row(tmp_path):
    """README's table, the pages and the program's own list name the same commands."""
    printed = Folder(tmp_path).run("filmstrip --help")
    listed = printed.split("commands:\n")[1].split("\n\n")[0]
    told = [line.split()[0] for line in listed.splitlines()]
    assert told == list(PAGE_OF)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = readme.split("| command | does |")[1].split("\n\n")[0]
    assert re.findall(r"^\| \[`(\w+)`\]\(docs/(\w+\.md)\)", rows, re.MULTILINE) == [
        *PAGE_OF.items()
    ]
    assert len(rows.strip().splitlines()) == 1 + len(PAGE_OF)


def anchors(path: pathlib.Path) -> set[str]:
    """The names GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        for heading in headings
    }


@pytest.mark.parametrize("path", PAGES, ids=page_name)
def test_links(path):
    prose = FENCE.sub("", path.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        page = (path.parent / name).resolve() if name else path
        if page.name in ("bench.md", "bench.svg", "bench.json"):
            continue  # written by `make bench`
        assert page.exists(), f"{path.name}: {target}"
        assert not anchor or anchor in anchors(page), f"{path.name}: {target}"


def test_figures_are_measured():
    """README's figures are those of docs/bench.json."""
    if not (ROOT / "docs" / "bench.json").exists():
        pytest.skip("docs/bench.json is not there: make bench writes it")
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "readme_bench.py", "--check"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
