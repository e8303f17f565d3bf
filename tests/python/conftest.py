"""What the tests share: write a program, run it plainly or recorded, read the film.

Everything runs in child processes of the Python that runs pytest, where filmstrip is
installed; nothing here imports filmstrip into the test process.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

# What a failed assert compared is told there too.
pytest.register_assert_rewrite(
    *("asking", "dap_client", "dap_films", "objwatch_programs", "objwatch_theirs"),
    *("proof.alike", "step_stories", "stories", "terminals"),
)

# Where make was started with `nohup` or in the background, these are ignored, and the
# programs of tests would inherit that.
for _number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(
            _number,
            signal.default_int_handler if _number == signal.SIGINT else signal.SIG_DFL,
        )

ROOT = pathlib.Path(__file__).resolve().parents[2]

_spec = importlib.util.find_spec("filmstrip")
if _spec is None or _spec.origin is None:
    raise pytest.UsageError(
        "filmstrip is not installed for this Python: use `make test`"
    )
PACKAGE = pathlib.Path(_spec.origin).parent
PROGRAM = PACKAGE / "bin" / "filmstrip"  # the C program

# Behind sys.executable: starts a recording of calls, without values.
RUN_CALLS = ("-m", "filmstrip", "run", "--level", "calls")

Event = dict[str, Any]


@dataclasses.dataclass
class Result:
    """One finished run. `film` is None for a plain run."""

    rc: int
    stdout: str
    stderr: str
    folder: pathlib.Path
    film: pathlib.Path | None = None

    @property
    def films(self) -> list[pathlib.Path]:
        """Every film in the folder: the first and those of child processes."""
        return sorted(self.folder.glob("*.film"))

    @property
    def children(self) -> list[pathlib.Path]:
        return [path for path in self.films if path != self.film]


# `make test-asan`: the sanitizer sees what Python gives back only without its own pools.
KEPT = {"PYTHONMALLOC"} if "FILMSTRIP_SANITIZED" in os.environ else set()


def clean_environment(**more: str | None) -> dict[str, str]:
    """The environment without what would change a program under test."""
    environment = {
        key: value
        for key, value in os.environ.items()
        if key in KEPT
        or not key.startswith(("FILMSTRIP", "PYTHON", "COVERAGE", "PYTEST"))
    }
    for key, value in more.items():
        if value is None:
            environment.pop(key, None)
        else:
            environment[key] = value
    return environment


def run_python(
    arguments: Sequence[str | os.PathLike[str]],
    folder: pathlib.Path,
    *,
    stdin: str | None = None,
    env: dict[str, str | None] | None = None,
    timeout: float = 120,
) -> Result:
    """Runs this Python with `arguments` in `folder`."""
    done = subprocess.run(
        [sys.executable, *map(os.fspath, arguments)],
        cwd=folder,
        env=clean_environment(**(env or {})),
        input=stdin if stdin is not None else "",
        capture_output=True,
        text=True,
        errors="backslashreplace",
        timeout=timeout,
    )
    return Result(done.returncode, done.stdout, done.stderr, folder)


class Runner:
    """Writes programs into one folder and runs them."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder

    def write(self, text: str, name: str = "program.py") -> pathlib.Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    def plain(
        self,
        text: str | None,
        *args: str,
        name: str = "program.py",
        flags: Sequence[str] = (),
        **how: Any,
    ) -> Result:
        """Runs the program without us."""
        if text is not None:
            self.write(text, name)
        return run_python([*flags, name, *args], self.folder, **how)

    def record(
        self,
        text: str | None,
        *args: str,
        name: str = "program.py",
        options: Sequence[str] = (),
        flags: Sequence[str] = (),
        film: str = "out.film",
        **how: Any,
    ) -> Result:
        """Runs it under `filmstrip run -o out.film`; `options` are run's own, `flags`
        the interpreter's. A film left by an earlier run of the test is replaced."""
        if text is not None:
            self.write(text, name)
        path = self.folder / film
        result = run_python(
            [
                *flags,
                "-m",
                "filmstrip",
                "run",
                "-o",
                path,
                "--force",
                *("--level", "calls"),  # what tests of values ask for comes behind it
                *options,
                name,
                *args,
            ],
            self.folder,
            **how,
        )
        result.film = path
        return result


def run_program(*arguments: str | os.PathLike[str], timeout: float = 120) -> Result:
    """Runs the C program: run_program("info", film)."""
    done = subprocess.run(
        [os.fspath(PROGRAM), *map(os.fspath, arguments)],
        capture_output=True,
        text=True,
        errors="backslashreplace",
        timeout=timeout,
        env=clean_environment(),
        stdin=subprocess.DEVNULL,
    )
    return Result(done.returncode, done.stdout, done.stderr, pathlib.Path())


def wait_asleep(pid: int) -> None:
    """Until the main thread of a process has been asleep for some looks in a row."""
    looks, end = 0, time.monotonic() + 60
    while looks < 5:
        assert time.monotonic() < end, "the program does not go to sleep"
        stat = pathlib.Path(f"/proc/{pid}/task/{pid}/stat").read_text()
        looks = looks + 1 if stat.rpartition(")")[2].split()[0] == "S" else 0
        time.sleep(0.02)


def dump_events(path: str | os.PathLike[str], *options: str) -> list[Event]:
    """Every event of a film, as `filmstrip dump` tells them."""
    result = run_program("dump", *options, path)
    assert result.rc == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def call_names(events: Sequence[Event], kind: str = "call") -> list[str]:
    """The functions of the calls, in order, without their module."""
    return [
        event["function"].rpartition(":")[2].split(".", 1)[-1]
        for event in events
        if event["kind"] == kind
    ]


@pytest.fixture
def runner(tmp_path: pathlib.Path) -> Runner:
    return Runner(tmp_path)


@pytest.fixture
def record(runner: Runner) -> Callable[..., Result]:
    """record(program_text, *args, options=[...]) -> Result with .film"""
    return runner.record


@pytest.fixture
def plain(runner: Runner) -> Callable[..., Result]:
    """plain(program_text, *args) -> Result"""
    return runner.plain


HELPER = pathlib.Path(__file__).with_name("capturing.py")


@pytest.fixture
def program(runner: Runner) -> Callable[..., Result]:
    """Runs `text` (its functions named test_... in order) under capture."""

    def run(text: str, how: str = "", rc: int = 0) -> Result:
        (runner.folder / "capturing.py").write_text(HELPER.read_text())
        text = (
            "import sys\nfrom capturing import *\n"
            + textwrap.dedent(text)
            + f"\nbegin({how})\n"
            + "for _name, _test in list(globals().items()):\n"
            + "    if _name.startswith('test_'):\n        _test()\n"
            + "counts = end()\nprint('ok')\n"
        )
        result = runner.plain(text)
        assert (result.rc, result.stderr) == (rc, ""), result.stderr
        assert result.stdout.endswith("ok\n"), result.stdout
        return result

    return run


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The film of the shop in step_stories.py."""
    import step_stories  # it imports this file

    return step_stories.record(tmp_path_factory.mktemp("step"), step_stories.SHOP)


@pytest.fixture
def terminal(tmp_path: pathlib.Path) -> Iterator[Callable[..., Any]]:
    """terminal(80, 24) is a shell of that size."""
    import terminals  # it imports this file

    terminals.need_tmux()
    with terminals.terminals(tmp_path) as make:
        yield make


@pytest.fixture
def dump() -> Callable[..., list[Event]]:
    return dump_events


@pytest.fixture
def filmstrip() -> Callable[..., Result]:
    """filmstrip("report", film) runs the C program."""
    return run_program


@pytest.fixture(autouse=True)
def _no_films_left_behind() -> Iterator[None]:
    """No test may write a film into the folder pytest was started in."""
    before = set(pathlib.Path.cwd().glob("*.film"))
    yield
    assert set(pathlib.Path.cwd().glob("*.film")) <= before
