"""Commands whose output or input goes away, and a film that is still being written."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from conftest import PROGRAM, RUN_CALLS, clean_environment, run_program, run_python


@pytest.fixture(scope="module")
def long_film(tmp_path_factory):
    folder = tmp_path_factory.mktemp("long")
    (folder / "program.py").write_text(
        "def f(n): return n\nfor n in range(400_000): f(n)\n"
    )
    film = folder / "out.film"
    result = run_python([*RUN_CALLS, "-o", film, "program.py"], folder)
    assert result.rc == 0
    return film


@pytest.mark.parametrize("command", ["log", "dump", "report"])
def test_a_pipe_that_closes_early(long_film, command):
    child = subprocess.Popen(
        [PROGRAM, command, long_film],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=clean_environment(),
    )
    assert child.stdout.readline()
    child.stdout.close()
    errors = child.stderr.read()
    assert errors == b""
    assert child.wait(30) in (0, -signal.SIGPIPE, 128 + signal.SIGPIPE)


def test_log_and_head(long_film):
    done = subprocess.run(
        f"{PROGRAM} log {long_film} | head -n 1",
        shell=True,
        capture_output=True,
        text=True,
        env=clean_environment(),
    )
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 1 and done.stderr == ""


def test_a_full_device(long_film):
    """Output that cannot be written is a failure with a sentence, not silence."""
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [PROGRAM, "dump", long_film],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=clean_environment(),
        )
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", [["dump"], ["log"], ["log", "--follow"]])
def test_an_interrupt(long_film, command):
    child = subprocess.Popen(
        [PROGRAM, *command, long_film],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=clean_environment(),
    )
    child.stdout.read(1000)
    child.send_signal(signal.SIGINT)
    child.stdout.close()
    assert child.wait(30) in (0, -signal.SIGINT, 128 + signal.SIGINT)
    assert child.stderr.read() == b""


def test_an_interrupted_export_leaves_nothing(long_film, tmp_path):
    for attempt in range(8):
        out = tmp_path / "out.json"
        child = subprocess.Popen(
            [PROGRAM, "export", long_film, "--to", "chrome", "-o", out],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env=clean_environment(),
        )
        time.sleep(0.01 * attempt)
        child.send_signal(signal.SIGINT)
        status = child.wait(30)
        if status == 0:
            json.loads(out.read_text())
            out.unlink()
        else:
            assert os.listdir(tmp_path) == [], status
        child.stderr.close()


def test_reading_while_it_is_written(runner):
    """A live recording opens at any moment, each time with at least as much."""
    runner.write(
        """
        import os, time
        def f(n):
            return n
        print("up", flush=True)
        n = 0
        end = time.time() + 60
        while time.time() < end and not os.path.exists("seen"):
            for _ in range(1000):
                f(n)
            time.sleep(0.001)
        """
    )
    child = subprocess.Popen(
        [sys.executable, *RUN_CALLS, "-o", "out.film", "program.py"],
        cwd=runner.folder,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout.readline() == "up\n"
        seen = [0]
        while child.poll() is None:
            result = run_program("info", runner.folder / "out.film")
            assert result.rc == 0, result.stderr
            seen.append(
                int(re.search(r"events\s+([\d,]+)", result.stdout)[1].replace(",", ""))
            )
            result = run_program("check", runner.folder / "out.film")
            assert result.rc == 0, result.stdout
            if len(set(seen)) > 20:
                (runner.folder / "seen").touch()
    finally:
        child.kill()
        child.communicate()
    assert seen == sorted(seen) and len(set(seen)) > 5
