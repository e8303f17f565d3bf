"""Recordings of every released format version, which all later readers must read.

tests/compat/VERSION.film was written by that version; VERSION.jsonl (or .jsonl.gz) is what
`dump` said of it then. Keys may be added to an event, none may change its meaning.
"""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import PROGRAM

FILMS = sorted((Path(__file__).parent.parent / "compat").glob("*.film"))


def test_there_is_a_recording_of_every_version() -> None:
    assert [film.stem for film in FILMS] == ["1.0", "1.1", "1.2", "1.3", "1.4"]


def dumped(film: Path) -> list[str]:
    packed = film.with_suffix(".jsonl.gz")
    if packed.exists():
        return gzip.decompress(packed.read_bytes()).decode().splitlines()
    return film.with_suffix(".jsonl").read_text().splitlines()


@pytest.mark.parametrize("film", FILMS, ids=lambda film: film.stem)
def test_old_recordings_read_as_they_did(film: Path) -> None:
    expected = [json.loads(line) for line in dumped(film)]
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


def test_moments_of_1_2() -> None:
    """What 1.2 brought: variables at the start of a chunk, cells, what a comprehension
    hid, tasks."""
    import filmstrip

    film = filmstrip.open(FILMS[[one.stem for one in FILMS].index("1.2")])
    try:
        # The frame of long() is told by the second chunk's keyframe; inner calls write.
        moment = film.at(event=16_997)
        shown = {frame.function: frame.locals for frame in moment.stack}
        outer, inner = shown["__main__.long"], shown["__main__.long.<locals>.step"]
        assert outer["turns"].text == "2600"
        assert outer["done"].text == inner["done"].text == "2402"
        closure = film.at(hit=("golden.py", 8, 5))  # add(10): outer has ended
        assert closure.locals["total"].text == "6"
        assert closure.next().locals["total"].text == "16"
        assert film.at(hit=("golden.py", 18, 1)).locals["k"].text == "7"
        names = [film.at(hit=("golden.py", 41, n)).task["name"] for n in (1, 2)]
        assert names == ["fetch a", "fetch b"]
        assert film.at(event=16_997).task is None
    finally:
        film.close()


def test_operations_of_1_4() -> None:
    """What 1.4 brought: operations, tensors and what they hold."""
    film = FILMS[[one.stem for one in FILMS].index("1.4")]
    answer = subprocess.run(
        [PROGRAM, "nan", film, "--format", "json"], capture_output=True, text=True
    )
    assert answer.returncode == 1, answer.stderr
    found = json.loads(answer.stdout)
    assert (found["verdict"], found["op"]["function"], found["op"]["line"]) == (
        *("asked", "torch.Tensor.__setitem__"),
        31,
    )
    log = [PROGRAM, "log", "--ops", film, "-f"]
    shown = subprocess.run([*log, "torch.relu"], capture_output=True, text=True)
    assert shown.returncode == 1  # it was called as a method
    shown = subprocess.run(
        [*log, "torch.Tensor.relu"], capture_output=True, text=True, check=True
    )
    assert re.findall(r"\[(layers\.\d)\]", shown.stdout) == ["layers.0", "layers.1"]
