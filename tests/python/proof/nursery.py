"""Starts children that record themselves, and kills them at random instants.

    nursery.py MODE COUNT SEED FOLDER

A child publishes, in a page it shares with us, how many calls have returned; that word
is written after the return, so every call it tells must be in the film. One JSON line
for each child: the film, what was published, how long it lived.

Modes: calls (one thread), threads (four), start (killed from its first instant on, the
start of the recorder included), close (killed while it closes), ring.
"""

import ctypes
import json
import mmap
import os
import random
import signal
import sys
import threading
import time

import filmstrip

THREADS = 4
CLOSING_CALLS = 60_000
MOST_CALLS = 50_000

page = mmap.mmap(-1, 4096)  # shared and anonymous: outlives the child, never torn
words = (ctypes.c_uint64 * 16).from_buffer(page)
READY, CLOSING = 8, 9


def step(n):
    return n


def work(slot):
    n = 0
    while True:
        step(n)
        n += 1
        words[slot] = n


def work_nested(slot, n):
    """Deep and shallow calls, exceptions and generators; only step is counted."""
    while True:
        try:
            for i in pieces(3):
                step(i)
                n += 1
                words[slot] = n
            raise ValueError("on the way")
        except ValueError:
            pass


def pieces(n):
    yield from range(n)


def child(mode, path, seed):
    if mode == "ring":
        filmstrip.start(path, ring="8M", level="calls")
    else:
        filmstrip.start(path, level="calls")
    words[READY] = 1
    if mode == "threads":
        for slot in range(1, THREADS):
            threading.Thread(target=work_nested, args=(slot, 0), daemon=True).start()
        work(0)
    elif mode == "close":
        for n in range(CLOSING_CALLS):
            step(n)
        words[0] = CLOSING_CALLS
        words[CLOSING] = 1
        filmstrip.stop()
        words[CLOSING] = 2
        time.sleep(60)
    elif seed % 2:
        work_nested(0, 0)
    else:
        work(0)


def wait_for(word, pid):
    wait_until(lambda: words[word], pid)


def wait_for_calls(count, pid):
    wait_until(lambda: words[READY] and sum(words[:THREADS]) >= count, pid)


def wait_until(reached, pid):
    end = time.monotonic() + 60
    while not reached():
        if os.waitpid(pid, os.WNOHANG)[0] or time.monotonic() > end:
            raise SystemExit("the child ended by itself")
        time.sleep(0.0002)


def time_to_start(folder):
    """How long a child takes to be ready, on this machine and under this load."""
    path = os.path.join(folder, "measured.film")
    taken = []
    for _ in range(3):
        ctypes.memset(words, 0, ctypes.sizeof(words))
        began = time.perf_counter()
        pid = os.fork()
        if pid == 0:
            try:
                child("calls", path, 0)
            finally:
                os._exit(70)
        wait_for(READY, pid)
        taken.append(time.perf_counter() - began)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.unlink(path)
    return sorted(taken)[1]


def main():
    mode, count, seed, folder = (
        sys.argv[1],
        int(sys.argv[2]),
        int(sys.argv[3]),
        sys.argv[4],
    )
    chance = random.Random(seed)
    assert filmstrip.start and filmstrip.stop  # imported here, not in each child
    starting = time_to_start(folder) if mode == "start" else 0
    for number in range(count):
        ctypes.memset(words, 0, ctypes.sizeof(words))
        path = os.path.join(folder, f"{mode}-{number}.film")
        pid = os.fork()
        if pid == 0:
            try:
                child(mode, path, number)
            finally:
                os._exit(70)
        if mode == "start":
            delay = chance.random() * 1.4 * starting
        elif mode == "close":
            wait_for(CLOSING, pid)
            delay = chance.random() * 0.012
        else:
            # Mostly within the first window, some far behind it, and every fourth from
            # its first instant on. By calls and not by the clock alone: a machine that
            # is slow or busy kills as far into the program as a quick one.
            wanted = int(chance.random() ** 3 * MOST_CALLS) if number % 4 else 0
            wait_for_calls(wanted, pid)
            delay = chance.random() * 0.002
        time.sleep(delay)
        os.kill(pid, signal.SIGKILL)
        status = os.waitpid(pid, 0)[1]
        print(
            json.dumps(
                {
                    "film": path,
                    "published": list(words[:THREADS]),
                    "ready": words[READY],
                    "closing": words[CLOSING],
                    "delay": delay,
                    "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
                }
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
