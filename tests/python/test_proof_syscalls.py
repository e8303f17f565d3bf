"""Every system call that changes the film, one after the other: the process is killed
at it, or it fails. (strace does that: it needs no help from us.)"""

from __future__ import annotations

import collections
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest

from conftest import RUN_CALLS, clean_environment, run_program
from proof import films

pytestmark = pytest.mark.once

# What changes a file, its size, its name or its mapping.
CHANGES = (
    "ftruncate,fallocate,pwrite64,mmap,linkat,renameat,renameat2,rename,unlink,"
    "unlinkat,copy_file_range,fsync,fdatasync"
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
            *("strace", "-f", "-qq", "-o", log, "-e", f"trace={CHANGES}"),
            *(["-e", f"inject={inject}"] if inject else []),
            *(sys.executable, *RUN_CALLS, "-o", film, *options),
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


def places(log):
    """The system calls on the film: (name, how many of that name there were by then, in
    the whole process). Its descriptor is that of the first ftruncate."""
    film = re.search(r"ftruncate\((\d+),", log)[1]
    ours = re.compile(rf"\w+\({film}, |MAP_SHARED, {film}, |out\.film|/fd/{film}\b")
    seen: collections.Counter[str] = collections.Counter()
    found = []
    for line in log.splitlines():
        call = re.match(r"\d+ +(\w+)\(", line)
        if call:
            seen[call[1]] += 1
            if ours.search(line):
                found.append((call[1], seen[call[1]]))
    return found


def steps_in(film):
    result = run_program("dump", film)
    assert result.rc == 0, result.stderr
    return len(re.findall(r'"kind":"call".*\.step"', result.stdout))


@pytest.mark.parametrize("how", OPTIONS)
def test_killed_at_every_call(traced, how):
    """Before it: no film, or one that opens and holds all that was committed."""
    options = OPTIONS[how]
    done, published, film, log = trace(traced, "", options)
    assert (done.returncode, done.stdout) == (4, f"result {STEPS - 1}\n")
    calls = places(log)
    assert len(calls) > 20
    stride = 1 if films.SOAK or how == "plain" else 4
    opened = complete = 0
    wrong = []
    for place in calls[::stride]:
        done, published, film, log = trace(
            traced, "{}:signal=SIGKILL:when={}".format(*place), options
        )
        if done.returncode != -signal.SIGKILL and place[0] == "mmap":
            continue  # the allocator's own, another time than before
        assert done.returncode == -signal.SIGKILL, (place, done)
        left = set(os.listdir(traced.folder)) - {
            *("program.py", "progress", "out.film", "strace.txt"),
        }
        if left:
            wrong.append((place, left))
        if not film.exists():
            if published:
                wrong.append((place, "no film"))
            continue
        result = run_program("check", film)
        if result.rc != 0:
            wrong.append((place, result.stdout + result.stderr))
            continue
        found = steps_in(film)
        if not published <= found <= published + 1:
            wrong.append((place, published, found))
        opened += 1
        complete += published == STEPS
    assert not wrong, f"{len(wrong)} of {len(calls[::stride])}: {wrong[:5]}"
    assert opened > 10 // stride and complete > 3 // stride


@pytest.mark.parametrize("error", ["ENOSPC", "EIO", "ENOMEM"])
@pytest.mark.parametrize("times", ["once", "from then on"])
def test_failing_at_every_call(traced, error, times):
    """The program's result is its own; what is lost is counted."""
    calls = places(trace(traced, "", [])[3])
    stride = 1 if films.SOAK else 3
    outcomes = collections.Counter()
    wrong = []
    first = {"ENOSPC": 1, "EIO": 2, "ENOMEM": 3}[error]
    for name, number in calls[first - 1 :: stride]:
        # Every mapping from then on would be the interpreter's, too.
        when = f"{number}" if times == "once" or name == "mmap" else f"{number}+"
        done, published, film, log = trace(
            traced, f"{name}:error={error}:when={when}", []
        )
        place = name, number
        if name == "mmap" and not re.search(r"MAP_SHARED, .*\(INJECTED\)", log):
            continue  # the allocator's own, another time than before
        if done.returncode == 2:
            # Refused before the program began, in one sentence.
            outcomes["refused"] += 1
            if done.stdout or len(done.stderr.splitlines()) != 1 or published:
                wrong.append((place, done.stdout, done.stderr))
            continue
        if (done.returncode, done.stdout) != (4, f"result {STEPS - 1}\n"):
            wrong.append((place, done.returncode, done.stdout, done.stderr))
            continue
        if len(done.stderr.splitlines()) > 1:
            wrong.append((place, done.stderr))
        outcomes["ran"] += 1
        result = run_program("dump", film)
        info = run_program("info", film)
        if result.rc not in (0, 2) or info.rc != 0:
            wrong.append((place, result.stderr, info.stderr))
            continue
        events = result.stdout.count("\n")
        told = re.search(r"lost\s+([\d,]+)", info.stdout)
        lost = int(told[1].replace(",", "")) if told else 0
        if times == "from then on" and name == "pwrite64":
            continue  # nowhere to write the count to
        if events + lost < 2 * STEPS:
            wrong.append((place, f"{events} events, {lost} lost of {2 * STEPS}"))
    assert not wrong, f"{len(wrong)} of {len(calls[first - 1 :: stride])}: {wrong[:5]}"
    assert outcomes["ran"], outcomes
