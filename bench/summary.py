"""From raw answers to figures, and from figures to bars met or not."""

from __future__ import annotations

import collections
import math
import statistics
from collections.abc import Iterable

MIB = 1 << 20
MONITORING = ("3.12", "3.13", "3.14")

# The bars of the project's first issue.
CALLS_RATIO = 1.8
VIZTRACER_SHARE = 0.75
LEGACY_RATIO = {"filmstrip": 4.4, "filmstrip_no_exceptions": 3.7}
CLOSING_SHARE = 0.05
PAIR_BYTES = 3.0
IDLE_RATIO = 1.03
EVENTS_PER_SECOND = 5e6
READER_PEAK = 64 * MIB
OPEN_SECONDS = 0.1
GROWTH = 16 * MIB
GROWTH_PER_THREAD = MIB
PASS_BYTES = 64 << 10


def best(answers: Iterable[dict], key: str, clock: str = "wall") -> float:
    return min(run[clock] for answer in answers for run in answer[key])


def best_ratio(answers: list[dict], clock: str = "wall") -> float:
    """The best run with the tool over the best bare run of the same processes."""
    return best(answers, "runs", clock) / best(answers, "bare", clock)


def choose_clock(raw: list[dict]) -> str:
    """The wall, unless others took the processor away even from the bare runs; then the
    CPU time of the program's own thread, which they do not change much."""
    shares = [run["wall"] / run["thread"] for a in raw for run in a["bare"]]
    return "wall" if not shares or statistics.median(shares) <= 1.05 else "thread"


def geometric_mean(values: Iterable[float]) -> float | None:
    values = list(values)
    if not values:
        return None
    return math.exp(sum(map(math.log, values)) / len(values))


def grouped(answers: Iterable[dict], *keys: str) -> dict[tuple, list[dict]]:
    groups: dict[tuple, list[dict]] = collections.defaultdict(list)
    for answer in answers:
        groups[tuple(answer[key] for key in keys)].append(answer)
    return groups


def summarise_times(raw: list[dict]) -> dict:
    clock = choose_clock(raw)
    workloads: dict[str, dict] = collections.defaultdict(
        lambda: collections.defaultdict(dict)
    )
    pairs_a_run: dict[tuple[str, str], float] = {}
    for (python, workload, tool), answers in grouped(
        raw, "python", "workload", "tool"
    ).items():
        figures = {
            "ratio": best_ratio(answers, clock),
            "median_ratio": statistics.median(
                statistics.median(run[clock] for run in answer["runs"])
                / statistics.median(run[clock] for run in answer["bare"])
                for answer in answers
            ),
            "wall_ratio": best_ratio(answers, "wall"),
            "thread_ratio": best_ratio(answers, "thread"),
            "process_ratio": best_ratio(answers, "process"),
            "bare_seconds": best(answers, "bare", clock),
        }
        if "events" in answers[0]:
            last = answers[-1]
            disk = max(last["size"], last["blocks"])
            pairs_a_run[python, workload] = last["events"] / 2 / (len(last["runs"]) + 1)
            figures |= {
                "pair_bytes": disk / (last["events"] / 2),
                "event_bytes": disk / last["events"],
                "events_a_run": last["events"] / (len(last["runs"]) + 1),
                "lost": sum(answer["lost"] or 0 for answer in answers),
                "closing_share": statistics.median(
                    answer["stop"]["wall"] / answer["total"] for answer in answers
                ),
                "closing_seconds": statistics.median(
                    answer["stop"]["wall"] for answer in answers
                ),
            }
        if "warm" in answers[0]:
            warm = min(answer["warm"][clock] for answer in answers)
            figures["warm_ratio"] = warm / figures["bare_seconds"]
        for answer in answers:
            if "save" in answer:
                figures["save_ratio"] = answer["save"][clock] / figures["bare_seconds"]
                figures["save_size"] = answer["size"]
        workloads[python][workload][tool] = figures
    for (python, workload), pairs in pairs_a_run.items():
        figures = workloads[python][workload].get("viztracer", {})
        if "save_size" in figures:
            figures["pair_bytes"] = figures["save_size"] / pairs
    return {
        python: {"workloads": dict(table), "means": means(table)}
        for python, table in workloads.items()
    }


MEAN_KEYS = (
    *("ratio", "median_ratio", "wall_ratio", "thread_ratio", "process_ratio"),
    *("warm_ratio", "save_ratio", "pair_bytes", "event_bytes"),
)


def means(table: dict[str, dict]) -> dict[str, dict]:
    """For each tool the geometric mean over the workloads it was measured with."""
    tools = list(dict.fromkeys(tool for figures in table.values() for tool in figures))
    return {
        tool: {
            key: geometric_mean(
                figures[tool][key]
                for figures in table.values()
                if tool in figures and figures[tool].get(key)
            )
            for key in MEAN_KEYS
        }
        for tool in tools
    }


def summarise_idle(raw: list[dict]) -> dict:
    clock = choose_clock(raw)
    figures: dict[str, dict] = collections.defaultdict(dict)
    for (python, workload), answers in grouped(raw, "python", "workload").items():
        figures[python][workload] = {
            # Off and on alternate within a process, so each process gives a ratio.
            "ratio": statistics.median(
                best_ratio([answer], clock) for answer in answers
            ),
            "best_ratio": best_ratio(answers, clock),
        }
    for table in figures.values():
        table["mean"] = {
            key: geometric_mean(
                row[key] for name, row in table.items() if name != "raise_each_call"
            )
            for key in ("ratio", "best_ratio")
        }
    return dict(figures)


def summarise_memory(raw: list[dict], growth: int = GROWTH) -> dict:
    """`growth`: what is allowed beside a share for each thread."""
    figures: dict[str, list] = collections.defaultdict(list)
    for (python, workload, threads), answers in grouped(
        raw, "python", "workload", "threads"
    ).items():
        peaks = {
            recorded: [a["peak_kib"] for a in answers if a["recorded"] is recorded]
            for recorded in (False, True)
        }
        if not all(peaks.values()):
            continue
        bare, recorded = (statistics.median(peaks[key]) * 1024 for key in (False, True))
        figures[python].append(
            {
                "workload": workload,
                "threads": threads,
                "bare": bare,
                "recorded": recorded,
                "growth": recorded - bare,
                "allowed": growth + GROWTH_PER_THREAD * threads,
            }
        )
    return dict(figures)


def summarise_command(answers: list[dict], what: str) -> dict:
    """CPU time where others took the processor away: the commands wait for nothing,
    and have one thread."""
    chosen = min(answers, key=lambda answer: answer["wall"])
    cpu = min(answer["user"] + answer["system"] for answer in answers)
    quiet = chosen["wall"] <= cpu * 1.05 or what == "open"
    seconds = chosen["wall"] if quiet else cpu
    return {
        "seconds": seconds,
        "clock": "wall" if quiet else "CPU",
        "median_seconds": statistics.median(a["wall"] for a in answers),
        "events_per_second": answers[0]["events"] / seconds,
        "peak": max(answer["peak_kib"] for answer in answers) * 1024,
    }


def summarise_film(raw: list[dict]) -> dict:
    figures: dict[str, dict] = {}
    for (what,), answers in grouped(raw, "what").items():
        if what == "make":
            made = answers[-1]
            seconds = made["append_seconds"]
            figures[what] = {
                "events": made["events"],
                "lost": made["lost"],
                "size": max(made["size"], made["blocks"]),
                "append_seconds": seconds,
                "close_seconds": made["close_seconds"],
                "closing_share": made["close_seconds"] / seconds,
            }
        elif what == "python_open":
            figures[what] = {"seconds": best(answers, "runs")}
        else:
            figures[what] = summarise_command(answers, what)
    return figures


def summarise_pass(raw: list[dict]) -> dict:
    return {
        answer["python"]: {
            "bytes": max(answer["size"], answer["blocks"]),
            "size": answer["size"],
            "seconds": answer["seconds"],
        }
        for answer in raw
    }


def summarise_values(raw: list[dict]) -> dict:
    import values  # it uses what is above

    return values.summarise(raw)


SUMMARISERS = {
    "times": summarise_times,
    "idle": summarise_idle,
    "memory": summarise_memory,
    "film": summarise_film,
    "pass": summarise_pass,
    "values": summarise_values,
}


def summarise(sections: dict[str, dict]) -> dict:
    figures = {name: SUMMARISERS[name](part["raw"]) for name, part in sections.items()}
    figures["clocks"] = {
        name: choose_clock(sections[name]["raw"])
        for name in ("times", "idle")
        if name in sections
    }
    return figures


class Bars:
    """Collects lines: measure, bar, measured, met (None: there is no bar, or nothing
    was measured)."""

    def __init__(self) -> None:
        self.lines: list[dict] = []

    def at_most(
        self,
        measure: str,
        limit: float | None,
        value: float | None,
        unit: str,
        note: str = "",
        upper: float | None = None,
    ) -> None:
        """`upper`: what it would be at worst, where the measurement leaves that open;
        a bar that only the better figure meets counts as met in part."""
        self._add(measure, "≤", limit, value, unit, note)
        line = self.lines[-1]
        if line["met"] and upper is not None and limit is not None and upper > limit:
            line["met"] = "in part"

    def at_least(
        self, measure: str, limit: float, value: float | None, unit: str, note=""
    ) -> None:
        self._add(measure, "≥", limit, value, unit, note)

    def _add(self, measure, sign, limit, value, unit, note) -> None:
        met = None
        if value is not None and limit is not None:
            met = bool(value <= limit if sign == "≤" else value >= limit)
        self.lines.append(
            {
                "measure": measure,
                "sign": sign,
                "bar": limit,
                "measured": value,
                "unit": unit,
                "met": met,
                "note": note,
            }
        )


def compare(figures: dict) -> list[dict]:
    """Every bar, one line each."""
    bars = Bars()
    clock = figures.get("clocks", {}).get("times", "wall")
    compare_times(bars, figures.get("times", {}), clock)
    compare_idle(bars, figures.get("idle", {}))
    compare_film(bars, figures.get("film", {}))
    compare_memory(bars, figures.get("memory", {}))
    sizes = figures.get("pass", {})
    bars.at_most(
        "a recording of `pass`",
        PASS_BYTES,
        max((row["bytes"] for row in sizes.values()), default=None),
        "KiB",
        "largest of the Pythons",
    )
    import values

    values.compare(bars, figures.get("values", {}))
    return bars.lines


def compare_times(bars: Bars, times: dict, clock: str) -> None:
    def mean(python: str, tool: str, key: str = "ratio") -> float | None:
        return times.get(python, {}).get("means", {}).get(tool, {}).get(key)

    def on_the_wall(python: str, tool: str) -> float | None:
        """Where another clock was taken: what the crowded machine's wall clock said,
        with no core to spare for the sealing thread."""
        return mean(python, tool, "wall_ratio") if clock == "thread" else None

    def floor_note(python: str, floor: str, tool: str = "filmstrip") -> str:
        value, wall = mean(python, floor), on_the_wall(python, tool)
        notes = [f"floor {value:.2f}x"] if value else []
        if wall:
            notes.append(f"without a core to spare {wall:.2f}x on the wall")
        return "; ".join(notes)

    for python in MONITORING:
        value = mean(python, "filmstrip")
        peer = mean(python, "viztracer")
        bars.at_most(
            f"{python}, every call recorded, over the bare program",
            CALLS_RATIO,
            value,
            "x",
            floor_note(python, "floor"),
            on_the_wall(python, "filmstrip"),
        )
        bars.at_most(
            f"{python}, over VizTracer's time while running",
            VIZTRACER_SHARE,
            value / peer if value and peer else None,
            "",
            f"VizTracer {peer:.2f}x" if peer else "",
        )
    for tool, title, floor in (
        ("filmstrip", "with exceptions", "floor"),
        ("filmstrip_no_exceptions", "with `--no-exceptions`", "floor_no_exceptions"),
    ):
        bars.at_most(
            f"3.11, every call recorded, {title}",
            LEGACY_RATIO[tool],
            mean("3.11", tool),
            "x",
            floor_note("3.11", floor, tool),
            on_the_wall("3.11", tool),
        )
    shares, sizes = {}, {}
    for python, part in times.items():
        for workload, tools in part["workloads"].items():
            if "filmstrip" in tools:
                place = f"{workload} on {python}"
                shares[place] = tools["filmstrip"]["closing_share"]
                sizes[place] = tools["filmstrip"]["pair_bytes"]
    place = max(shares, key=shares.__getitem__, default="")
    bars.at_most(
        "closing the recording, runs of 1 s and more, share of the run",
        CLOSING_SHARE,
        shares.get(place),
        "%",
        f"worst: {place}; median {statistics.median(shares.values()):.1%}"
        if shares
        else "",
    )
    compare_sizes(bars, "size on disk, a call with its return", PAIR_BYTES, sizes)


def compare_sizes(bars: Bars, title: str, limit: float, sizes: dict) -> None:
    """`sizes`: bytes by where they were measured; the worst counts."""
    place = max(sizes, key=sizes.__getitem__, default="")
    note = (
        f"worst: {place}; median {statistics.median(sizes.values()):.2f}"
        if sizes
        else ""
    )
    bars.at_most(title, limit, sizes.get(place), "bytes", note)


def compare_idle(bars: Bars, idle: dict) -> None:
    for python in MONITORING:
        table = idle.get(python, {})
        rows = {
            name: row["ratio"]
            for name, row in table.items()
            if name not in ("mean", "raise_each_call")
        }
        place = max(rows, key=rows.__getitem__, default="")
        bars.at_most(
            f"{python}, targets make up no calls, raising rarely",
            IDLE_RATIO,
            table.get("mean", {}).get("ratio"),
            "x",
            f"worst: {place} {rows[place]:.3f}x" if rows else "",
        )
    for python in MONITORING:
        bars.at_most(
            f"{python}, the same with one raise a call",
            None,
            idle.get(python, {}).get("raise_each_call", {}).get("ratio"),
            "x",
        )


def compare_film(bars: Bars, film: dict) -> None:
    events = film.get("make", {}).get("events")
    note = f"recording of {events / 1e6:,.0f} million events" if events else ""
    for command in ("dump", "log", "report"):
        figures = film.get(command, {})
        bars.at_least(
            f"`{command}`, events a second",
            EVENTS_PER_SECOND,
            figures.get("events_per_second"),
            "million",
            note + (", by CPU time" if figures.get("clock") == "CPU" else ""),
        )
        bars.at_most(
            f"`{command}`, memory at its peak",
            READER_PEAK,
            figures.get("peak"),
            "MiB",
            note,
        )
    opened = film.get("open")
    bars.at_most(
        "opening that recording (`info`, the whole process)",
        OPEN_SECONDS,
        opened["seconds"] if opened else None,
        "ms",
        f"median {opened['median_seconds'] * 1000:.1f} ms" if opened else "",
    )


def compare_memory(
    bars: Bars, memory: dict, growth: int = GROWTH, prefix: str = ""
) -> None:
    rows = [
        {**row, "python": python} for python, table in memory.items() for row in table
    ]
    for threads in sorted({row["threads"] for row in rows} or {0}):
        chosen = [row for row in rows if row["threads"] == threads]
        worst = max(chosen, key=lambda row: row["growth"], default=None)
        title = f"{threads} threads" if threads else "one thread"
        bars.at_most(
            f"{prefix}growth of RSS over the bare run, {title}",
            growth + GROWTH_PER_THREAD * threads,
            worst["growth"] if worst else None,
            "MiB",
            f"worst: {worst['workload']} on {worst['python']}" if worst else "",
        )
