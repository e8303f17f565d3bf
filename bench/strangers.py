"""What values cost on programs that filmstrip was not tuned on: times over the bare
program and bytes an event. The ten programs of bench/run.py were there while it was
made quick; these were written afterwards, and most of them work on containers.

    bench/strangers.py

For each Python found in .venvs: each program in a process of its own, first bare, then
recorded (`level="values", all=True`); the best of several runs of each, on the wall.
"""

from __future__ import annotations

import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BARE_RUNS, RECORDED_RUNS = 7, 2


def heap_and_counter() -> None:
    import collections
    import heapq

    queue: list[tuple[int, int]] = []
    counts: collections.Counter[int] = collections.Counter()
    for turn in range(4000):
        heapq.heappush(queue, (turn * 7919 % 1000, turn))
        counts[turn % 13] += 1
    while queue:
        heapq.heappop(queue)


def group_by() -> None:
    groups: dict[int, list[int]] = {}
    for number in range(6000):
        groups.setdefault(number * 31 % 97, []).append(number)
    assert sum(map(len, groups.values())) == 6000


def breadth_first() -> None:
    import collections

    ahead, seen = collections.deque([0]), {0}
    while ahead:
        here = ahead.popleft()
        for there in (here * 2 + 1, here * 3 + 1, here - 7):
            if 0 <= there < 4000 and there not in seen:
                seen.add(there)
                ahead.append(there)


def least_recently_used() -> None:
    import collections

    cache: collections.OrderedDict[int, int] = collections.OrderedDict()
    for turn in range(6000):
        key = turn * turn % 151
        if key in cache:
            cache.move_to_end(key)
        cache[key] = turn
        if len(cache) > 64:
            cache.popitem(last=False)


def sieve() -> None:
    prime = [True] * 8000
    for number in range(2, 90):
        if prime[number]:
            for multiple in range(number * number, 8000, number):
                prime[multiple] = False


def text_wrapping() -> None:
    import textwrap

    for width in range(20, 80, 4):
        textwrap.wrap("the quick brown fox jumps over the lazy dog " * 20, width)


def comparing_texts() -> None:
    import difflib

    first = [f"line {number * 7 % 23}" for number in range(150)]
    second = [f"line {number * 5 % 23}" for number in range(150)]
    list(difflib.unified_diff(first, second))


def parsing_options() -> None:
    import argparse as options

    for turn in range(30):
        parser = options.ArgumentParser(add_help=False)
        for name in "abcdefgh":
            parser.add_argument(f"--{name}", type=int, default=turn)
        parser.parse_args(["--a", "3", "--h", "4"])


PROGRAMS = {
    function.__name__: function
    for function in (
        heap_and_counter,
        group_by,
        breadth_first,
        least_recently_used,
        sieve,
        text_wrapping,
        comparing_texts,
        parsing_options,
    )
}


def measure(name: str, film: str) -> dict[str, float]:
    """In a process of its own."""
    import time

    import filmstrip

    def best(runs: int) -> float:
        times = []
        for _ in range(runs):
            begin = time.perf_counter()
            PROGRAMS[name]()
            times.append(time.perf_counter() - begin)
        return min(times)

    bare = best(BARE_RUNS)
    filmstrip.start(film, level="values", all=True)
    recorded = best(RECORDED_RUNS)
    told = filmstrip.stop()
    assert told is not None and told["lost"] == 0
    return {
        "bare_ms": bare * 1e3,
        "ratio": recorded / bare,
        "event_bytes": told["bytes"] / told["events"],
    }


def run_all(python: pathlib.Path) -> dict[str, dict[str, float]]:
    rows = {}
    for name in PROGRAMS:
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [python, __file__, "--one", name, f"{folder}/one.film"],
                stdout=subprocess.PIPE, text=True, check=True,
            )  # fmt: skip
        rows[name] = json.loads(done.stdout)
    return rows


def mean(rows: dict[str, dict[str, float]]) -> float:
    return math.exp(sum(math.log(row["ratio"]) for row in rows.values()) / len(rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(*options.one)))
        return
    pythons = sorted((HERE.parent / ".venvs").glob("3.*/bin/python"))
    if not pythons:
        sys.exit("no Python in .venvs: type make build")
    told = {python.parents[1].name: run_all(python) for python in pythons}
    print("| program | " + " | ".join(told) + " | bytes an event |")
    print("|---|" + "---|" * (len(told) + 1))
    for name in PROGRAMS:
        rows = [figures[name] for figures in told.values()]
        ratios = " | ".join(f"{row['ratio']:.1f}" for row in rows)
        size = max(row["event_bytes"] for row in rows)
        print(f"| {name.replace('_', ' ')} | {ratios} | {size:.1f} |")
    means = " | ".join(f"**{mean(rows):.1f}**" for rows in told.values())
    print(f"| **geometric mean** | {means} | |")


if __name__ == "__main__":
    main()
