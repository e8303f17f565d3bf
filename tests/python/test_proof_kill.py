"""Unlosable: kill -9 at random instants. Everything committed is there, every film
opens, `check` finds nothing wrong.

Ninety kills for each Python, three hundred and sixty on four of them; FILMSTRIP_SOAK
makes it twenty times as many.
"""

from __future__ import annotations

import collections
import json
import mmap
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

import pytest

from conftest import PROGRAM, clean_environment, run_program, run_python
from proof import films

NURSERY = pathlib.Path(__file__).resolve().parent / "proof" / "nursery.py"
FACTOR = 20 if films.SOAK else 1
# Of rounds until one has hit what the test is about: where a kill lands is chance, and
# on a busy machine a whole round may miss it.
SEEDS = (44, 55, 66, 77)


def kill_children(folder, mode, count, seed):
    result = run_python([NURSERY, mode, str(count * FACTOR), str(seed), folder], folder)
    assert result.rc == 0, (result.stdout[-500:], result.stderr[-2000:])
    lives = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(lives) == count * FACTOR
    assert all(life["signal"] == signal.SIGKILL for life in lives), lives
    return lives


STEP = re.compile(
    rb'"thread":(\d+),"time_ns":\d+,"kind":"call","frame":(\d+),"function":"__main__\.step"'
)
STEP_AND_RETURN = re.compile(
    STEP.pattern
    + rb'[^\n]*\n\{"event":\d+,"thread":\d+,"time_ns":\d+,"kind":"return","frame":\2,'
)


def steps_by_thread(path):
    """How many calls of step have begun and how many have returned, by thread. It
    calls nothing, so its return follows its call. Also that no event is missing."""
    done = subprocess.run(
        [PROGRAM, "dump", path], capture_output=True, env=clean_environment()
    )
    assert done.returncode == 0, (path, done.stderr)
    assert b'"kind":"lost' not in done.stdout, path
    begun = collections.Counter(int(m[1]) for m in STEP.finditer(done.stdout))
    ended = collections.Counter(
        int(m[1]) for m in STEP_AND_RETURN.finditer(done.stdout)
    )
    for thread in begun:
        mine = re.findall(rb'\{"event":(\d+),"thread":%d,' % thread, done.stdout)
        assert list(map(int, mine)) == list(range(len(mine))), (path, thread)
    return begun, ended


@pytest.mark.parametrize(
    "mode, count, seed", [("calls", 20, 11), ("calls", 20, 22), ("ring", 8, 23)]
)
def test_one_thread(tmp_path, mode, count, seed):
    """(A ring that has not come round yet holds everything, too.)"""
    lives = kill_children(tmp_path, mode, count, seed)
    for life in lives:
        assert "died" in films.check(life["film"])
        begun, ended = steps_by_thread(life["film"])
        published = life["published"][0]
        # One call may have returned without being published, one more may have begun.
        assert published <= ended[1] <= published + 1, life
        assert ended[1] <= begun[1] <= ended[1] + 1, life
        os.unlink(life["film"])
    assert sum(life["published"][0] for life in lives) > 500 * count


def test_many_threads(tmp_path):
    lives = kill_children(tmp_path, "threads", 12, 33)
    for life in lives:
        films.check(life["film"])
        begun, ended = steps_by_thread(life["film"])
        # Threads have the numbers of their first events, so the sums are compared, and
        # each word finds a thread of its own.
        found = sorted(ended.values(), reverse=True)
        published = sorted((n for n in life["published"] if n), reverse=True)
        assert len(found) >= len(published), life
        for told, there in zip(published, found):
            assert told <= there <= told + 1, (life, found)
    assert sum(map(sum, (life["published"] for life in lives))) > 5_000


def test_while_it_starts(tmp_path):
    """Whatever the instant: there is no film yet, or it opens."""
    assert any(opened_of_starting(tmp_path / str(seed), seed) for seed in SEEDS), (
        "no child lived long enough: nothing was proved"
    )


def opened_of_starting(folder, seed):
    folder.mkdir()
    lives = kill_children(folder, "start", 12, seed)
    opened = 0
    for life in lives:
        if not os.path.exists(life["film"]):
            assert not life["ready"], life
            continue
        films.check(life["film"])
        opened += 1
        begun, ended = steps_by_thread(life["film"])
        assert life["published"][0] <= ended[1], life
    leftovers = set(os.listdir(folder)) - {os.path.basename(x["film"]) for x in lives}
    assert not leftovers
    return opened


def test_while_it_closes(tmp_path):
    assert any(hit_while_closing(tmp_path / str(seed), seed) for seed in SEEDS), (
        "no child was killed while it closed"
    )


def hit_while_closing(folder, seed):
    folder.mkdir()
    lives = kill_children(folder, "close", 10, seed)
    for life in lives:
        said = films.check(life["film"])
        kinds = films.count_kinds(life["film"])
        steps = life["published"][0]
        assert kinds["call"] >= steps and kinds["return"] >= steps, (life, kinds, said)
        assert kinds["lost"] == 0
        if life["closing"] == 2:
            assert "died" not in said, life
    return any(life["closing"] == 1 for life in lives)


ENDLESS = """
    import ctypes, mmap, sys
    file = open(sys.argv[1], "r+b")
    page = mmap.mmap(file.fileno(), 4096)
    word = ctypes.c_uint64.from_buffer(page)
    def step(n):
        return n
    n = 0
    while True:
        step(n)
        n += 1
        word.value = n
"""


@pytest.mark.parametrize("number", range(6 * FACTOR))
def test_a_program_under_run(runner, number):
    """The same from outside, through `filmstrip run`."""
    runner.write(ENDLESS)
    progress = runner.folder / "progress"
    progress.write_bytes(bytes(4096))
    chance = random.Random(1000 + number)
    child = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "filmstrip",
            "run",
            *("--level", "calls"),
            "-o",
            "out.film",
            "program.py",
            progress,
        ],
        cwd=runner.folder,
        env=clean_environment(),
        stdout=subprocess.DEVNULL,
    )
    try:
        with open(progress, "r+b") as file, mmap.mmap(file.fileno(), 4096) as page:
            end = time.monotonic() + 60
            while page[:8] == bytes(8) and time.monotonic() < end:
                time.sleep(0.0005)
            time.sleep(chance.random() * 0.06)
            child.kill()
            assert child.wait() == -signal.SIGKILL
            published = int.from_bytes(page[:8], "little")
    finally:
        child.kill()
        child.wait()
    assert published > 0
    films.check(runner.folder / "out.film")
    kinds = films.count_kinds(runner.folder / "out.film")
    # The module and the imports are calls too: `step` is what was called most.
    begun, ended = steps_by_thread(runner.folder / "out.film")
    assert published <= ended[1] <= published + 1
    assert kinds["call"] >= begun[1]


def test_every_command_reads_what_a_kill_left(tmp_path):
    life = kill_children(tmp_path, "calls", 1, 66)[0]
    for command in (["info"], ["log"], ["report"], ["dump"], ["check"]):
        result = run_program(*command, life["film"])
        assert result.rc == 0 and result.stdout and not result.stderr, command
    for format in ("pstats", "collapsed", "speedscope", "perfetto", "chrome", "dot"):
        out = tmp_path / f"out.{format}"
        result = run_program("export", life["film"], "--to", format, "-o", out)
        assert result.rc == 0 and out.stat().st_size > 0, (format, result.stderr)


def windows_of(film):
    """Where the committed lengths of its windows in use lie. Format 3: 64 bytes behind a
    window's magic, which starts a page."""
    return [
        at + 64
        for at in range(4096, len(film), 4096)
        if film[at : at + 4] == b"FWIN" and film[at + 4 : at + 8] == b"\1\0\0\0"
    ]


def committed_in_windows(path):
    film = pathlib.Path(path).read_bytes()
    return sum(int.from_bytes(film[at : at + 8], "little") for at in windows_of(film))


def test_a_missing_call_would_be_noticed(tmp_path):
    """The proof can fail: a film cut down by its last committed rows is told apart. Of
    several lives the one with the most rows in its windows: one may be killed before it
    has called anything, another when its rows have just been sealed."""
    lives = kill_children(tmp_path, "calls", 8, 67)
    life = max(lives, key=lambda life: committed_in_windows(life["film"]))
    begun, ended = steps_by_thread(life["film"])
    assert ended[1] >= life["published"][0] > 100
    with open(life["film"], "r+b") as file, mmap.mmap(file.fileno(), 0) as film:
        for at in windows_of(film):
            committed = int.from_bytes(film[at : at + 8], "little")
            film[at : at + 8] = (committed // 2).to_bytes(8, "little")
    try:
        begun, ended = steps_by_thread(life["film"])
    except AssertionError:
        return  # rows of one window are missing before those of the next
    assert ended[1] < life["published"][0]
