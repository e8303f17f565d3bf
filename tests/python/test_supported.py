"""Which Pythons: the places that say so agree, and others are refused in a sentence."""

from __future__ import annotations

import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig

import pytest

from conftest import ROOT

OLDEST, NEWEST = 11, 14


def text_of(name):
    return (ROOT / name).read_text()


@pytest.mark.once
def test_every_place_says_the_same():
    supported = [f"3.{minor}" for minor in range(OLDEST, NEWEST + 1)]
    bounds = f"3.{OLDEST} to 3.{NEWEST}"
    project = text_of("pyproject.toml")
    assert f'requires-python = ">=3.{OLDEST},<3.{NEWEST + 1}"' in project
    assert re.findall(r":: Python :: (3\.\d+)", project) == supported
    assert f'versions="{" ".join(supported)}"' in text_of("tools/find_pythons")
    build = text_of("meson.build")
    assert f"version_compare('<3.{OLDEST}')" in build
    assert f"version_compare('>=3.{NEWEST + 1}')" in build
    assert f"CPython {bounds}" in build
    compat = text_of("src/recorder/compat.h")
    assert f"PY_VERSION_HEX >= {(3 << 24) + (OLDEST << 16):#010x} &&" in compat
    assert f"PY_VERSION_HEX < {(3 << 24) + ((NEWEST + 1) << 16):#010x},\n" in compat
    package = text_of("python/filmstrip/__init__.py")
    assert f"(3, {OLDEST}) <= sys.version_info[:2] <= (3, {NEWEST})" in package
    assert f"CPython {bounds}" in package
    assert f"CPython {bounds}" in text_of("README.md").replace("\n", " ")
    rows = re.findall(r"^    \{(\d+), ", text_of("src/analysis/line_reads.c"), re.M)
    assert [f"3.{minor}" for minor in rows] == supported


@pytest.mark.parametrize("minor", [10, NEWEST + 1, NEWEST + 2])
def test_import_refuses_another_python(runner, minor):
    """In one sentence; a program that is started with FILMSTRIP=1 runs unrecorded."""
    result = runner.plain(
        f"""
        import sys
        sys.version_info = (3, {minor}, 0, "final", 0)
        try:
            import filmstrip
        except ImportError as error:
            print(error)
        """
    )
    assert (result.rc, result.stderr) == (0, ""), result.stderr
    assert result.stdout == f"filmstrip needs CPython 3.{OLDEST} to 3.{NEWEST}\n"


def test_the_compiler_refuses_another_python(tmp_path):
    """Headers that say they are of the next one."""
    include = pathlib.Path(sysconfig.get_paths()["include"])
    compiler = shutil.which("cc")
    if compiler is None or not (include / "patchlevel.h").exists():
        pytest.skip("no compiler or no headers here")
    text = (include / "patchlevel.h").read_text()
    (tmp_path / "patchlevel.h").write_text(
        re.sub(r"(define PY_MINOR_VERSION\s+)\d+", rf"\g<1>{NEWEST + 1}", text)
    )
    (tmp_path / "try.c").write_text('#include "recorder/compat.h"\n')

    def compile_with(*folders):
        words = [f"-I{folder}" for folder in (*folders, ROOT / "src", ROOT / "include")]
        return subprocess.run(
            [compiler, "-fsyntax-only", "-std=gnu11", *words, f"-I{include}", "try.c"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )

    assert (compile_with().returncode, compile_with().stderr) == (0, "")
    refused = compile_with(tmp_path)
    assert refused.returncode != 0
    assert f"filmstrip records CPython 3.{OLDEST} to 3.{NEWEST};" in refused.stderr


def find_pythons(tmp_path, wanted):
    """With a pyenv that has this Python, and with no other on PATH."""
    this = "{}.{}".format(*sys.version_info[:2])
    home = tmp_path / "pyenv" / "versions" / f"{this}.99" / "bin"
    home.mkdir(parents=True)
    (home / f"python{this}").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (home / f"python{this}").chmod(0o755)
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "pyenv").write_text(f"#!/bin/sh\necho {tmp_path / 'pyenv'}\n")
    (tools / "pyenv").chmod(0o755)
    for name in ("sh", "dirname", "awk", "sort", "grep", "head"):
        (tools / name).symlink_to(shutil.which(name))
    done = subprocess.run(
        [ROOT / "tools" / "find_pythons"],
        env={"PATH": str(tools), "PYTHONS": wanted},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_a_version_is_found_where_it_is(tmp_path):
    """`make PYTHONS=3.12`, as the Makefile has it, with pyenv."""
    this = "{}.{}".format(*sys.version_info[:2])
    assert find_pythons(tmp_path, this)[:1] == [this]
