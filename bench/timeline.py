"""Measures the timeline on a recording of 100 million events at level values.

    bench/timeline.py [--events N] [--film FILE] [--json]

Records bench/timeline_program.py with the filmstrip of this Python, unless FILE is
there already, and asks in a fresh process. Exit status 1 where a bar is missed.
"""

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "timeline_program.py")
BARS = {
    "open_ms": 100,
    "moment_cold_p95_ms": 20,
    "step_warm_p95_ms": 0.2,
    "last_write_ms": 100,
    "reverse_continue_s": 2,
    "memory_mib": 256,
}


def record(film, turns):
    began = time.monotonic()
    command = [sys.executable, "-m", "filmstrip", "run", "--level", "values", "--force"]
    subprocess.run([*command, "-o", film, PROGRAM, str(turns)], check=True)
    return time.monotonic() - began


def count_events(film):
    import filmstrip

    with filmstrip.open(film) as opened:
        return opened.info.events


def make(film, events):
    """A recording of about that many events; how long it took."""
    record(film, 200)
    few = count_events(film)
    record(film, 1200)
    each = (count_events(film) - few) / 1000
    return record(film, max(1, int(events / each)))


class Asker:
    def __init__(self, film):
        from filmstrip import _reader

        self.reader = _reader.Reader(film)

    def ask(self, **request):
        answer = json.loads(self.reader.query(json.dumps(request)))
        if "error" in answer:
            raise RuntimeError(f"{request}: {answer['error']}")
        return answer

    def finish(self, **request):
        """Asks until it is answered."""
        answer = self.ask(**request)
        while "next" in answer and not answer.get("writes"):
            answer = self.ask(**request, next=answer["next"])
        return answer


def milliseconds(began):
    return (time.perf_counter() - began) * 1000


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def line_of(text):
    with open(PROGRAM, encoding="utf-8") as file:
        return next(n for n, line in enumerate(file, 1) if text in line)


def measure(film):
    chance = random.Random(5)
    results = {}
    began = time.perf_counter()
    asker = Asker(film)
    opened = asker.ask(q="open")
    results["open_ms"] = milliseconds(began)
    results["events"] = opened["events"]
    end = opened["threads"][0]["end"]
    shown = {"with": ["locals"]}
    cold = []
    for _ in range(1000):
        began = time.perf_counter()
        asker.ask(q="moment", m=f"1:{chance.randrange(end)}", **shown)
        cold.append(milliseconds(began))
    results["moment_cold_p95_ms"] = percentile(cold, 0.95)
    results["moment_cold_median_ms"] = statistics.median(cold)
    warm = []
    for _ in range(20):
        at = f"1:{chance.randrange(end)}"
        asker.ask(q="moment", m=at, **shown)
        for how in ["step"] * 25 + ["back"] * 25:
            began = time.perf_counter()
            at = asker.ask(q="move", m=at, how=how, **shown)["m"]
            warm.append(milliseconds(began))
    results["step_warm_p95_ms"] = percentile(warm, 0.95)
    results["step_warm_median_ms"] = statistics.median(warm)
    # The last line of main: its frame is open.
    at = asker.finish(
        q="move",
        m=f"1:{end - 1}",
        how="reverse-continue",
        breakpoints=[
            {"kind": "line", "file": PROGRAM, "line": line_of("return result, halfway")}
        ],
    )
    fresh = Asker(film)
    began = time.perf_counter()
    found = fresh.finish(q="writes", m=at["m"], variable="halfway", back=True, limit=1)
    results["last_write_ms"] = milliseconds(began)
    wrote = int(found["writes"][0]["m"].split(":")[1])
    results["last_write_events_ago"] = int(at["m"].split(":")[1]) - wrote
    fresh = Asker(film)
    began = time.perf_counter()
    stopped = fresh.finish(
        q="move",
        m=f"1:{end - 1}",
        how="reverse-continue",
        breakpoints=[
            {"kind": "line", "file": PROGRAM, "line": line_of("return particles")}
        ],
    )
    results["reverse_continue_s"] = milliseconds(began) / 1000
    assert stopped["stopped"]["reason"] == "breakpoint", stopped["stopped"]
    results["reverse_continue_to_event"] = int(stopped["m"].split(":")[1])
    # A line that runs in every chunk, under a condition that holds only at the start.
    hot = Asker(film)
    began = time.perf_counter()
    hot.ask(
        q="move",
        m=f"1:{end - 1}",
        how="reverse-continue",
        breakpoints=[
            {"kind": "line", "file": PROGRAM, "line": line_of("total += place")}
        ],
    )
    results["reverse_continue_hot_line_ms"] = milliseconds(began)
    results["memory_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    results["file_bytes"] = os.path.getsize(film)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=100_000_000)
    parser.add_argument("--film", default="build/bench/timeline.film")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.film)))
        return 0
    if not os.path.exists(options.film):
        os.makedirs(os.path.dirname(os.path.abspath(options.film)), exist_ok=True)
        seconds = make(options.film, options.events)
        print(f"recorded in {seconds:.1f} s", file=sys.stderr)
    command = [sys.executable, __file__, "--measure", "--film", options.film]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    results = json.loads(done.stdout)
    if options.json:
        print(json.dumps(results))
    else:
        for name, value in results.items():
            bar = BARS.get(name)
            told = "" if bar is None else f"   bar {bar}"
            shown = f"{value:,}" if isinstance(value, int) else f"{value:,.3f}"
            print(f"{name:30} {shown:>18}{told}")
    return int(any(results[name] > bar for name, bar in BARS.items()))


if __name__ == "__main__":
    sys.exit(main())
