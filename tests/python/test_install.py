"""The wheel: installs and records in an empty environment, leaves nothing behind."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import zipfile

import pytest

from conftest import ROOT, clean_environment

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def tree(folder: pathlib.Path) -> set[str]:
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if "__pycache__" not in path.parts
    }


def build_wheel(folder: pathlib.Path) -> pathlib.Path:
    folder.mkdir()
    tools = ROOT / ".venv" / "bin"
    if not (tools / "meson").exists():
        pytest.skip("no .venv: use `make test`")
    environment = clean_environment(PATH=f"{tools}:{os.environ['PATH']}")
    done = subprocess.run(
        [
            *(tools / "python", "-m", "pip", "--python", sys.executable, "wheel", "-q"),
            *("--disable-pip-version-check", "--no-build-isolation", "--no-deps"),
            *("-w", folder, ROOT),
        ],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = folder.glob("filmstrip-*.whl")
    return path


def test_wheel(tmp_path):
    """One test, so that the wheel is built once."""
    wheel = build_wheel(tmp_path / "wheel")
    check_content(wheel)
    check_empty_environment(wheel, tmp_path)


def check_content(wheel):
    tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    assert f"-{tag}-{tag}-linux_x86_64.whl" in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        record = archive.read(
            next(name for name in names if name.endswith("RECORD"))
        ).decode()
        program = archive.getinfo("filmstrip/bin/filmstrip")
        pth = archive.read("filmstrip.pth").decode()
    assert program.external_attr >> 16 & 0o111
    for name in (
        "filmstrip.pth",
        "filmstrip/py.typed",
        "filmstrip/__init__.py",
        "filmstrip/_reader.pyi",
    ):
        assert name in names and name in record
    for name, line in zip(
        ("FILMSTRIP", "FILMSTRIP_OBJWATCH"), pth.splitlines(), strict=True
    ):
        assert line.startswith(f'import os; os.environ.get("{name}") and __import__(')


def check_empty_environment(wheel, tmp_path):
    home = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    python = home / "bin" / "python"
    pip = [ROOT / ".venv/bin/python", "-m", "pip", "--python", python]
    # Nothing of the machine but the loader: no compiler, no pkg-config, no libzstd.
    environment = clean_environment(PATH=str(home / "bin"), LD_LIBRARY_PATH=None)
    # pip removes a site-packages that has become empty: that is not ours to judge.
    (next(home.glob("lib/python*/site-packages")) / "other.txt").touch()
    before = tree(home)

    subprocess.run(
        [
            *pip,
            "install",
            "-q",
            "--no-index",
            "--no-deps",
            "--disable-pip-version-check",
            wheel,
        ],
        env=clean_environment(),
        check=True,
    )
    (tmp_path / "hello.py").write_text("def hello():\n    print('hello')\nhello()\n")

    def run(*command):
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True
        )

    done = run(home / "bin" / "filmstrip", "run", "hello.py")
    assert (done.returncode, done.stdout, done.stderr) == (0, "hello\n", "")
    done = run(home / "bin" / "filmstrip", "dump", "hello.film")
    assert done.returncode == 0, done.stderr
    assert '"__main__.hello"' in done.stdout
    done = run(
        python,
        "-c",
        "import filmstrip; print(filmstrip.open('hello.film').info.events)",
    )
    assert done.returncode == 0 and int(done.stdout) >= 4, done.stderr
    for library in (home / "lib").rglob("filmstrip/*.so"):
        needed = subprocess.run(
            ["readelf", "-d", library], capture_output=True, text=True
        )
        assert "zstd" not in needed.stdout and "RUNPATH" not in needed.stdout

    subprocess.run(
        [*pip, "uninstall", "-q", "-y", "filmstrip"],
        env=clean_environment(),
        check=True,
    )
    assert tree(home) == before
    done = subprocess.run(
        [python, "-c", "print('quiet')"],
        env={**environment, "FILMSTRIP": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "quiet\n", "")
