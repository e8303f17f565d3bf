"""Every system call that changes the film, one after the other: the process is killed
at it, or it fails. (strace does that: it needs no help from us.)"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest

from conftest import clean_environment, run_program
from proof import films

pytestmark = pytest.mark.once

# What changes a file, its size, its name or its mapping.
CHANGES = (
    "openat,ftruncate,fallocate,pwrite64,pwritev,write,mmap,munmap,linkat,renameat,"
    "renameat2,rename,unlink,unlinkat,copy_file_range,fsync,fdatasync"
)
STEPS = 12_000

PROGRAM = """
    import ctypes, mmap, sys
    with open(sys.argv[1], "r+b") as file:
        page = mmap.mmap(file.fileno(), 4096)
    word = ctypes.c_uint64.from_buffer(page)
    def step(n):
        return n
    for n in range(12_000):
        step(n)
        word.value = n + 1
    print("result", n)
    raise SystemExit(4)
"""

OPTIONS = {"plain": [], "ring": ["--ring", "8M"]}


def trace(runner, inject, options):
    """Runs the program under strace; what it gave, and how far it came."""
    progress = runner.folder / "progress"
    progress.write_bytes(bytes(4096))
    film = runner.folder / "out.film"
    film.unlink(missing_ok=True)
    log = runner.folder / "strace.txt"
    done = subprocess.run(
        [
            *("strace", "-f", "-qq", "-P", film, "-o", log, "-e", f"trace={CHANGES}"),
            *(["-e", f"inject={CHANGES}:{inject}"] if inject else []),
            *(sys.executable, "-m", "filmstrip", "run", "-o", film, *options),
            *("program.py", progress),
        ],
        cwd=runner.folder,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    published = int.from_bytes(progress.read_bytes()[:8], "little")
    return done, published, film, log.read_text()


@pytest.fixture
def traced(runner):
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    runner.write(PROGRAM)
    done, published, film, log = trace(runner, "", [])
    if done.returncode != 4 or not log:
        pytest.skip("strace may not trace here")
    return runner


def count_calls(log):
    return len(re.findall(r"^\d+ +\w+\(", log, re.MULTILINE))


def steps_in(film):
    kinds = run_program("dump", film)
    assert kinds.rc == 0, kinds.stderr
    return len(re.findall(r'"kind":"call".*\.step"', kinds.stdout)), kinds.stdout


@pytest.mark.parametrize("how", OPTIONS)
def test_killed_at_every_call(traced, how):
    """Before it: no film, or one that opens and holds all that was committed."""
    options = OPTIONS[how]
    done, published, film, log = trace(traced, "", options)
    total = count_calls(log)
    assert (done.returncode, done.stdout) == (4, f"result {STEPS - 1}\n")
    assert total > 20
    stride = 1 if films.SOAK or how == "plain" else 4
    opened = complete = 0
    for number in range(1, total + 1, stride):
        done, published, film, log = trace(
            traced, f"signal=SIGKILL:when={number}", options
        )
        if not film.exists():
            assert published == 0, number
            continue
        films.check(film)
        found, _ = steps_in(film)
        assert published <= found <= published + 1, (number, published, found)
        opened += 1
        complete += published == STEPS
        left = set(os.listdir(traced.folder)) - {
            *("program.py", "progress", "out.film", "strace.txt"),
        }
        assert not left, (number, left)
    assert opened > 10 // stride and complete > 3 // stride


@pytest.mark.parametrize("error", ["ENOSPC", "EIO", "ENOMEM"])
@pytest.mark.parametrize("times", ["once", "from then on"])
def test_failing_at_every_call(traced, error, times):
    """The program's result is its own; what is lost is counted."""
    total = count_calls(trace(traced, "", [])[3])
    stride = 1 if films.SOAK else 5
    outcomes = {"unharmed": 0, "refused": 0, "lost": 0}
    first = {"ENOSPC": 1, "EIO": 2, "ENOMEM": 3}[error]
    for number in range(first, total + 1, stride):
        when = f"{number}" if times == "once" else f"{number}+"
        done, published, film, log = trace(traced, f"error={error}:when={when}", [])
        if done.returncode == 2:
            assert done.stdout == "" and len(done.stderr.splitlines()) == 1, number
            assert published == 0
            outcomes["refused"] += 1
            continue
        assert done.returncode == 4, (number, done.returncode, done.stderr, log[-800:])
        assert done.stdout == f"result {STEPS - 1}\n", number
        assert len(done.stderr.splitlines()) <= 1, (number, done.stderr)
        if not film.exists():
            continue
        result = run_program("check", film)
        assert result.rc in (0, 1), (number, result.stdout, result.stderr)
        result = run_program("dump", film)
        assert result.rc in (0, 2), (number, result.stderr)
        found = len(re.findall(r'"kind":"call".*\.step"', result.stdout))
        events = result.stdout.count("\n")
        lost = sum(
            int(n) for n in re.findall(r'"kind":"lost","count":(\d+)', result.stdout)
        )
        if found == STEPS:
            outcomes["unharmed"] += 1
        else:
            outcomes["lost"] += 1
            info = run_program("info", film)
            counted = re.search(r"lost\s+([\d,]+)", info.stdout)
            told = max(lost, int(counted[1].replace(",", "")) if counted else 0)
            assert events + told >= 2 * STEPS, (number, events, told, log[-800:])
    assert outcomes["refused"] and outcomes["unharmed"] + outcomes["lost"], outcomes
