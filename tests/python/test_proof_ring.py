"""Ring mode: the end of a long run in a file that never grows past its size."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from conftest import RUN_CALLS, clean_environment, run_program
from proof import films

SIZE = 8 << 20

# Functions of many lengths in an order that repeats late: a film of this run does not
# compress to nothing, and 8 MiB are soon full.
PROGRAM = """
    import random, sys, threading
    source = "".join(
        f"def f{i}(n):\\n    {'sum(range(n % ' + str(i + 1) + '))' if i % 3 else 'pass'}\\n    return n\\n"
        for i in range(64)
    )
    exec(compile(source, __file__, "exec"))
    functions = [globals()[f"f{i}"] for i in range(64)]

    def mark(n):
        return n

    def work(rounds, seed):
        order = random.Random(seed).choices(functions, k=20_000)
        n = 0
        while rounds is None or n < rounds:
            for function in order:
                function(n)
            mark(n)
            n += 1
            if rounds is None and n == 3:
                print("up", flush=True)

    def the_last_call():
        pass

    rounds = int(sys.argv[1]) or None
    others = [threading.Thread(target=work, args=(rounds, k)) for k in range(int(sys.argv[2]))]
    for thread in others: thread.start()
    work(rounds, 9)
    for thread in others: thread.join()
    the_last_call()
    print("done")
"""


class Watch:
    """The greatest size a file was ever seen to have, by length and by blocks."""

    def __init__(self, path, child):
        self.length = self.blocks = self.looks = 0
        while child.poll() is None:
            self.look(path)
            time.sleep(0.0005)
        self.look(path)

    def look(self, path):
        try:
            status = os.stat(path)
        except FileNotFoundError:
            return
        self.length = max(self.length, status.st_size)
        self.blocks = max(self.blocks, status.st_blocks * 512)
        self.looks += 1


def start(runner, *args, options=()):
    runner.write(PROGRAM)
    return subprocess.Popen(
        [
            *(sys.executable, *RUN_CALLS, "-o", "out.film", "--ring", "8M"),
            *("--tick", "1", *options, "program.py", *args),
        ],
        cwd=runner.folder,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def dump_of(path):
    """Like conftest's, but as text: films here hold millions of events."""
    result = run_program("dump", path)
    assert (result.rc, result.stderr) == (0, ""), result.stderr
    return result.stdout


@pytest.mark.parametrize("threads", [0, 3])
def test_never_above_its_size(runner, threads):
    rounds = 220 // (threads + 1)
    child = start(runner, str(rounds), str(threads))
    film = runner.folder / "out.film"
    watch = Watch(film, child)
    output, errors = child.communicate()
    assert (child.returncode, output, errors) == (0, "done\n", "")
    assert watch.looks > 100
    # Blocks count what the file system needs for itself (extents), too.
    assert watch.length <= SIZE and watch.blocks <= SIZE + (64 << 10)
    films.check(film)
    text = dump_of(film)
    events = text.count("\n")
    total = 2 * (rounds * 20_001 + 1) * (threads + 1)
    assert events < total, "the ring never came round: nothing was proved"
    assert events > 200_000
    # What came last is there, and what is there is whole: numbers without a gap.
    assert text.count('"function":"__main__.the_last_call"') == 1
    assert '"kind":"lost"' not in text
    main = [int(n) for n in re.findall(r'\{"event":(\d+),"thread":1,', text)]
    assert main == list(range(main[0], main[-1] + 1)) and main[0] > 0
    info = run_program("info", film).stdout
    # Kept and given up together are all there ever were.
    given_up = int(re.search(r"given up\s+([\d,]+)", info)[1].replace(",", ""))
    assert total <= given_up + events <= total + 1000


def test_after_a_kill(runner):
    child = start(runner, "0", "1")
    assert child.stdout.readline() == "up\n"
    time.sleep(2)
    child.send_signal(signal.SIGKILL)
    child.communicate()
    film = runner.folder / "out.film"
    assert film.stat().st_size <= SIZE
    assert "died" in films.check(film)
    text = dump_of(film)
    marks = text.count('"function":"__main__.mark"')
    assert marks >= 1
    main = [int(n) for n in re.findall(r'\{"event":(\d+),"thread":1,', text)]
    assert main == list(range(main[0], main[-1] + 1))
    for command in ("info", "report", "log"):
        result = run_program(command, film)
        assert result.rc == 0 and not result.stderr, command


def test_while_it_runs(runner):
    """A ring that is being written can be read at the same time."""
    child = start(runner, "0", "0")
    try:
        assert child.stdout.readline() == "up\n"
        film = runner.folder / "out.film"
        seen = []
        for _ in range(4):
            time.sleep(0.6)
            result = run_program("report", "--json", film)
            assert result.rc == 0, result.stderr
            text = run_program("info", film).stdout
            seen.append(int(re.search(r"events\s+([\d,]+)", text)[1].replace(",", "")))
        assert all(seen)
    finally:
        child.kill()
        child.communicate()


def test_a_short_run_is_whole(runner):
    result = runner.record(PROGRAM, "1", "0", options=["--ring", "8M"])
    assert (result.rc, result.stdout) == (0, "done\n")
    text = dump_of(result.film)
    assert text.count('"function":"__main__.mark"') == 1
    assert text.startswith('{"event":0,')


@pytest.mark.parametrize("size", ["1", "1K", "64K"])
def test_a_ring_too_small(runner, size):
    """Refused with a sentence before the program starts, or kept."""
    result = runner.record(PROGRAM, "1", "0", options=["--ring", size])
    if result.rc == 2:
        assert result.stdout == "" and len(result.stderr.splitlines()) == 1
    else:
        assert (result.rc, result.stdout, result.stderr) == (0, "done\n", "")
        units = {"1": 1, "1K": 1 << 10, "64K": 64 << 10}
        assert result.film.stat().st_size <= units[size]
        films.check(result.film)
