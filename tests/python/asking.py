"""A program recorded with its values, and Python code that asks the film."""

from __future__ import annotations

import json
import pathlib
import textwrap
from typing import Any

from conftest import run_python


def python(
    where: pathlib.Path, *arguments: str, status: int = 0, timeout: float = 120
) -> str:
    """What this Python prints, run in that folder."""
    done = run_python(arguments, where, timeout=timeout)
    assert done.rc == status, done.stderr
    return done.stdout


def record_values(
    where: pathlib.Path, name: str, text: str, *, status: int = 0
) -> pathlib.Path:
    """Records a program at level values under `filmstrip run`; gives its film."""
    path = where / name
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    python(where, "-m", "filmstrip", "run", "--level", "values", name, status=status)
    return path.with_suffix(".film")


def ask(where: pathlib.Path, script: str) -> Any:
    """What a script, run in that folder, prints as JSON."""
    return json.loads(python(where, "-c", script))
