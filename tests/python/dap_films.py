"""What the tests of `filmstrip dap` share: recordings, and the program with sanitizers."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys

from conftest import ROOT, clean_environment

SUITE = ROOT / "tests" / "dap"
LONG = """\
def count(turns):
    value = 0
    for turn in range(turns):
        value = turn * 3
    return value


count(400_000)
"""


def record(folder: pathlib.Path, script: str, *options: str) -> pathlib.Path:
    subprocess.run(
        [sys.executable, "-m", "filmstrip", "run", *options, script],
        cwd=folder,
        capture_output=True,
        env=clean_environment(),
        timeout=120,
    )
    film = folder / script.replace(".py", ".film")
    assert film.exists()
    return film


def record_market(folder: pathlib.Path, level: str = "values") -> pathlib.Path:
    shutil.copy(SUITE / "market.py", folder)
    return record(folder, "market.py", "--level", level)


def record_films(folder: pathlib.Path) -> pathlib.Path:
    """market.film and long.film."""
    record_market(folder)
    (folder / "long.py").write_text(LONG)
    record(folder, "long.py", "--level", "values")
    return folder


def line_of(comment: str) -> int:
    lines = (SUITE / "market.py").read_text().splitlines()
    return next(i for i, text in enumerate(lines, 1) if text.endswith(f"  # {comment}"))


def asan_program() -> str | None:
    path = ROOT / "build" / "asan" / "filmstrip"
    return os.fspath(path) if path.exists() else None
