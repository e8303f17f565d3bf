"""Measures readers on shapes of recordings that are hard for them.

    bench/shapes.py [--events N] [--folder FOLDER] [--json]

jobs: heapq, dicts and dataclasses; dicts told long ago are written to piece by piece.
turns: thousands of dicts are written to in turn, so what one holds at a late moment is
put together from writes in nearly all chunks.
orders: heapq, deque, dicts and dataclasses that come and go.
Times are of the processor, so that other work on the machine counts little. Exit status
1 where a bar is missed.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = {
    "jobs": ("shape_jobs.py", 27),
    "turns": ("shape_turns.py", 8),
    "orders": ("shape_orders.py", 73),
}
# Least for the log, most for the moments.
LOG_BAR, MOMENT_BAR = 2_000_000, 20
MOMENTS = 20


def record(name, film, events):
    program, each = PROGRAMS[name]
    command = [sys.executable, "-m", "filmstrip", "run", "--level", "values", "--force"]
    path = os.path.join(HERE, program)
    subprocess.run(
        [*command, "-o", film, path, str(max(1, events // each))], check=True
    )


def log_rate(film, events):
    """Events a second of the processor's time."""
    from filmstrip import __file__ as package

    program = os.path.join(os.path.dirname(package), "bin", "filmstrip")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([program, "log", film], check=True, stdout=subprocess.DEVNULL)
    return events / (resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)


def moments_ms(film, end):
    """Late moments with their variables, each in a reader of its own."""
    from filmstrip import _reader

    chance = random.Random(5)
    times = []
    for _ in range(MOMENTS):
        at = f"1:{chance.randrange(end * 3 // 4, end)}"
        request = json.dumps({"q": "moment", "m": at, "with": ["locals"]})
        began = time.process_time()
        answer = json.loads(_reader.Reader(film).query(request))
        times.append((time.process_time() - began) * 1000)
        if "error" in answer:
            raise RuntimeError(answer["error"])
    return sorted(times)[int(MOMENTS * 0.95)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=6_000_000)
    parser.add_argument("--folder", default="build/bench")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    import filmstrip

    os.makedirs(options.folder, exist_ok=True)
    results = {}
    missed = []
    for name in PROGRAMS:
        film = os.path.join(options.folder, f"shape_{name}.film")
        if not os.path.exists(film):
            record(name, film, options.events)
        with filmstrip.open(film) as opened:
            events = opened.info.events
        rate, moment = log_rate(film, events), moments_ms(film, events)
        results[name] = {
            "events": events,
            "file_bytes": os.path.getsize(film),
            "log_events_a_second": round(rate),
            "moment_cold_p95_ms": round(moment, 1),
        }
        if rate < LOG_BAR:
            missed.append(f"{name}: log {rate:,.0f} events a second, bar {LOG_BAR:,}")
        if moment > MOMENT_BAR:
            missed.append(f"{name}: a moment {moment:.1f} ms, bar {MOMENT_BAR}")
    if options.json:
        print(json.dumps(results))
    else:
        for name, values in results.items():
            for key, value in values.items():
                print(f"{name:8} {key:22} {value:>14,}")
    for line in missed:
        print("missed:", line, file=sys.stderr)
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
