"""ObjWatch itself, from pip, and programs run with it and with filmstrip in its place."""

from __future__ import annotations

import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import pytest

from conftest import clean_environment

# What a program of ours says where it runs with ObjWatch itself.
RUN = "import runpy, sys; runpy.run_path(sys.argv[1], run_name='__main__')"


def fetch(version: str, folder: pathlib.Path) -> None:
    """ObjWatch with its tests; skips where pip cannot have it."""
    arguments = ["install", "-q", "--no-deps", "--disable-pip-version-check"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", *arguments, "-t", folder, f"objwatch=={version}"],
        capture_output=True,
        text=True,
        timeout=300,
        env=clean_environment(),
    )
    if done.returncode != 0:
        pytest.skip(f"pip cannot fetch ObjWatch {version}: {done.stderr[-200:]}")


@functools.cache
def fetched() -> pathlib.Path:
    """The folder of 0.5.1, fetched once a process."""
    folder = tempfile.TemporaryDirectory(prefix="objwatch-")
    fetch("0.5.1", pathlib.Path(folder.name))
    _kept.append(folder)
    return pathlib.Path(folder.name)


_kept: list[tempfile.TemporaryDirectory[str]] = []  # removed when the process ends


def log_of(words: list[str], folder: pathlib.Path, **environment: str) -> str:
    """What it writes, without what differs from run to run."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        env=clean_environment(PYTHONHASHSEED="0", **environment),
    )
    assert done.returncode == 0, done.stderr
    return normal(done.stderr) + done.stdout


def normal(text: str) -> str:
    text = re.sub(r"(?m)^(> [A-Za-z ]*:).*", r"\1", text)
    return re.sub(r" at 0x[0-9a-f]+", "", text)


def both(program: str, folder: pathlib.Path) -> tuple[str, str]:
    """The log of the program by ObjWatch itself and by ours, strict."""
    theirs = log_of(
        ["-c", RUN, program], folder, PYTHONPATH=os.fspath(fetched()) + ":."
    )
    for left in (*folder.glob("*.objwatch"), *folder.glob("*.json")):
        left.unlink()
    words = ["-m", "filmstrip.compat.objwatch", "--strict", program]
    return theirs, log_of(words, folder)
