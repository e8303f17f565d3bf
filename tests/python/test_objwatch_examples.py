"""examples/objwatch: each runs and writes the log that lies beside it.

python tests/python/test_objwatch_examples.py --update     writes the logs anew
"""

from __future__ import annotations

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "objwatch"
NEEDS = {"tensor_shapes": "torch", "memory": "psutil"}
PROGRAMS = sorted(
    path.stem for path in FOLDER.glob("*.py") if path.stem not in ("garden",)
)


def run(program: str) -> str:
    """What it prints, header and figures that differ from run to run made plain."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("FILMSTRIP", "PYTHON", "PYTEST"))
    }
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(FOLDER, folder, dirs_exist_ok=True)
        done = subprocess.run(
            [sys.executable, f"{program}.py"],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
        )
    assert done.returncode == 0, done.stdout
    text = re.sub(r"(?m)^(> [A-Za-z ]*:).*", r"\1", done.stdout)
    text = re.sub(r"(total: )\d+", r"\1N", text)
    text = re.sub(r" at 0x[0-9a-f]+", "", text)
    return re.sub(r"from '.*/garden.py'", "from 'garden.py'", text)


def pytest_generate_tests(metafunc):
    metafunc.parametrize("program", PROGRAMS)


def test_example(program):
    import pytest

    needed = NEEDS.get(program)
    if needed and importlib.util.find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed")
    assert run(program) == (FOLDER / f"{program}.log").read_text()


if __name__ == "__main__" and sys.argv[1:] == ["--update"]:
    for name in PROGRAMS:
        if name not in NEEDS or importlib.util.find_spec(NEEDS[name]):
            (FOLDER / f"{name}.log").write_text(run(name))
