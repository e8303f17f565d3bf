"""How much of a film is read for an answer: counted, not timed."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from conftest import PROGRAM, run_program

# Dicts that are told once, in more chunks of values than are kept unpacked by a small
# cache, and written to long after that in another order.
TOLD_LONG_AGO = """
def main(count, steps):
    jobs = {}
    for n in range(count):
        text = "some text %d" % n
        jobs[n] = {"kind": n, "a": [n, text, n + 1, n * n], "b": "%d or more" % n}
    for step in range(steps):
        jobs[step * 7919 % count]["kind"] = step

main(120000, 20000)
"""


def count_reads(folder, *arguments):
    """How often the C program reads from the film: once a chunk and header."""
    log = folder / "strace.txt"
    traced = ("strace", "-f", "-qq", "-o", log, "-e", "trace=pread64")
    command = [*traced, PROGRAM, *arguments]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode != 0 and b"ptrace" in done.stderr:
        pytest.skip("strace may not trace here")
    assert done.returncode == 0, done.stderr
    return sum("pread64(" in line for line in log.read_text().splitlines())


def count_chunks(film):
    told = run_program("check", film).stdout
    return int(re.search(r"([\d,]+) chunks", told).group(1).replace(",", ""))


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_log_reads_each_chunk_about_once(runner):
    film = runner.record(TOLD_LONG_AGO, options=["--level", "values"]).film
    chunks = count_chunks(film)
    assert chunks > 120
    assert count_reads(runner.folder, "log", film) <= 1.5 * chunks


# Thousands of dicts written to in turn, each told once: what one holds is put together
# from writes in nearly all chunks.
IN_TURN = """
def main(turns, many):
    tables = [{"n": i} for i in range(many)]
    for turn in range(turns):
        for i in range(many):
            tables[i]["n"] = turn
    return tables

main(200, 3000)
"""


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_a_moment_reads_each_chunk_about_once(runner):
    """However many objects are shown."""
    film = runner.record(IN_TURN, options=["--level", "values"]).film
    words = ("step", film, "-c", "event 1700000", "-c", "locals")
    shown = run_program(*words).stdout
    turn = re.search(r"\bturn = (\d+)", shown).group(1)
    assert shown.count(f"{{'n': {turn}}}") > 20
    assert count_reads(runner.folder, *words) <= 2 * count_chunks(film)
