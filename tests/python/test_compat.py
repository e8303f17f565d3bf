"""Recordings of every released format version, which all later readers must read.

tests/compat/VERSION.film was written by that version; VERSION.jsonl is what `dump` said
of it then. Keys may be added to an event, none may change its meaning.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import PROGRAM

FILMS = sorted((Path(__file__).parent.parent / "compat").glob("*.film"))


def test_there_is_a_recording_of_every_version() -> None:
    assert [film.stem for film in FILMS] == ["1.0", "1.1"]


@pytest.mark.parametrize("film", FILMS, ids=lambda film: film.stem)
def test_old_recordings_read_as_they_did(film: Path) -> None:
    expected = [json.loads(line) for line in film.with_suffix(".jsonl").open()]
    answer = subprocess.run([PROGRAM, "dump", film], capture_output=True, check=True)
    events = [json.loads(line) for line in answer.stdout.splitlines()]
    assert len(events) == len(expected)
    for event, known in zip(events, expected, strict=True):
        assert {key: event.get(key) for key in known} == known


@pytest.mark.parametrize("film", FILMS, ids=lambda film: film.stem)
def test_old_recordings_are_whole(film: Path) -> None:
    subprocess.run([PROGRAM, "check", film], check=True, capture_output=True)


@pytest.mark.parametrize("film", FILMS, ids=lambda film: film.stem)
def test_a_newer_major_is_refused_with_a_sentence(film: Path, tmp_path: Path) -> None:
    newer = tmp_path / "newer.film"
    shutil.copy(film, newer)
    with newer.open("r+b") as file:
        file.seek(8)
        file.write((99).to_bytes(2, "little"))
    answer = subprocess.run([PROGRAM, "dump", newer], capture_output=True, text=True)
    assert answer.returncode == 2
    assert answer.stdout == ""
    minor = film.stem.partition(".")[2]
    assert f"99.{minor}" in answer.stderr and "newer filmstrip" in answer.stderr
    assert answer.stderr.count("\n") == 1
