"""`filmstrip dap`: recordings that are not whole, tell less or are still being written."""

from __future__ import annotations

import os
import pathlib
import random
import subprocess
import sys

import pytest

from conftest import clean_environment
from dap_client import Client, Refused, feed
from dap_films import asan_program, line_of, record_market


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return record_market(tmp_path_factory.mktemp("dap"))


@pytest.mark.once
def test_damaged_recordings(film: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Sessions over recordings with bytes changed or missing: answers or sentences."""
    program = asan_program()
    whole = film.read_bytes()
    draw = random.Random(5)
    opened = 0
    for turn in range(30):
        damaged = bytearray(whole)
        if turn % 3 == 0:
            del damaged[draw.randrange(len(damaged)) :]
        for _ in range(turn % 3 * 8):
            damaged[draw.randrange(200, len(damaged))] = draw.randrange(256)
        path = tmp_path / "damaged.film"
        path.write_bytes(damaged)
        with Client(program=program) as client:
            try:
                client.begin(path)
            except Refused as refused:
                assert len(str(refused)) > 10
                continue
            opened += 1
            for command in (
                "continue",
                "stepBack",
                "reverseContinue",
                "stepIn",
                "next",
            ):
                client.move(command)
                for thread in client.threads()["threads"]:
                    for frame in client.stackTrace(threadId=thread["id"])[
                        "stackFrames"
                    ]:
                        try:
                            client.locals(frame=frame["id"])
                        except Refused as refused:
                            assert len(str(refused)) > 10
    assert opened > 10


@pytest.mark.parametrize("level", ["calls", "lines"])
def test_recordings_without_values(tmp_path: pathlib.Path, level: str) -> None:
    film = record_market(tmp_path, level)
    with Client() as client:
        stopped = client.begin(film)
        assert stopped["description"] == "Start of the recording"
        assert f"recorded at level '{level}'" in client.output()
        set_at = client.setBreakpoints(
            source={"path": "market.py"}, breakpoints=[{"line": line_of("total")}]
        )
        point = set_at["breakpoints"][0]
        assert point["verified"] == (level == "lines")
        assert ("no lines were recorded" in point.get("message", "")) == (
            level == "calls"
        )
        stopped = client.move("continue")
        if level == "lines":
            assert (stopped["reason"], client.line()) == (
                "breakpoint",
                line_of("total"),
            )
        assert client.top()["name"]
        assert client.locals() == {} or level == "calls"
        with pytest.raises(Refused, match="not recorded|no recorded value|no frame"):
            client.evaluate(expression="total", context="hover")
        client.move("next")
        client.move("reverseContinue")


def test_recordings_without_source(film: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Code of no file: its place is told, and that it cannot be shown."""
    film = tmp_path / "exec.film"
    code = "exec(compile('x = 1\\ny = x + 1\\n', '/no/such/file.py', 'exec'))"
    subprocess.run(
        [
            *(sys.executable, "-m", "filmstrip", "run", "--level", "values"),
            *("-o", os.fspath(film), "-c", code),
        ],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        env=clean_environment(),
        timeout=60,
    )
    with Client() as client:
        client.begin(film)
        client.setBreakpoints(
            source={"path": "/no/such/file.py"}, breakpoints=[{"line": 2}]
        )
        client.move("continue")
        top = client.top()
        assert top["source"]["path"] == "/no/such/file.py" and top["line"] == 2
        assert client.locals()["x"] == "1"
        if not top["source"].get("sourceReference"):
            assert top["source"]["presentationHint"] == "deemphasize"
            with pytest.raises(Refused, match="no source"):
                client.source(source=top["source"], sourceReference=0)


LIVE = """\
import sys


def say(turn):
    word = "turn %d" % turn
    print(word, flush=True)


for turn in range(1000):
    sys.stdin.readline()
    say(turn)
"""


def test_a_recording_that_is_still_being_written(tmp_path: pathlib.Path) -> None:
    """Its end is where it is now; a continue from there finds what came since."""
    (tmp_path / "live.py").write_text(LIVE)
    program = subprocess.Popen(
        [
            *(sys.executable, "-m", "filmstrip", "run", "--level", "values"),
            *("--no-progress", "live.py"),
        ],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=clean_environment(),
    )
    assert program.stdin and program.stdout

    def turn() -> bytes:
        assert program.stdin and program.stdout
        program.stdin.write(b"\n")
        program.stdin.flush()
        return program.stdout.readline()

    try:
        assert turn() == b"turn 0\n"
        with Client() as client:
            stopped = client.begin(tmp_path / "live.film", at="end")
            assert "still being written" in stopped["description"]
            assert "still being written" in client.output()
            for number in range(1, 4):
                assert turn() == b"turn %d\n" % number
                client.setFunctionBreakpoints(breakpoints=[{"name": "say"}])
                stopped = client.move("continue")
                assert stopped["reason"] == "function breakpoint"
                assert client.locals()["turn"] == str(number)
                client.move("stepOut")
            client.setFunctionBreakpoints(breakpoints=[])
            stopped = client.move("continue")
            assert "still being written" in stopped["description"]
            client.move("reverseContinue")
            assert client.line() == 1
    finally:
        program.kill()
        program.communicate()


@pytest.mark.once
def test_a_recording_that_cannot_be_read(tmp_path: pathlib.Path) -> None:
    (tmp_path / "junk.film").write_bytes(b"junk")
    for name, sentence in ("none.film", "no such file"), ("junk.film", "not a .film"):
        rc, said, error = feed(b"", None, str(tmp_path / name))
        assert (rc, said) == (2, b"") and sentence in error, error
