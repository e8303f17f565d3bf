"""Level values: what it costs, with everything of the programs recorded, against empty
hooks and against other recorders of variables.

The programs and the way of measuring are those of the section "times". The others are
measured with one program, a tenth of richards.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import measuring
import summary
from prepare import Python
from tables import command_table, memory_table, table, workload_table

MIB = 1 << 20
# The bars of the second issue.
RATIO = {"3.11": 6.5, "3.12": 3.8, "3.13": 3.8, "3.14": 4.4}
TIMES_QUICKER = 100
GROWTH = 80 * MIB
EVENT_BYTES = 2.5
LOG_EVENTS_PER_SECOND = 2e6

EVERYTHING = {"all": True, "level": "values"}
PEER_WORKLOAD = "richards_short"
PEERS = ("objwatch", "pysnooper", "hunter")
QUICKEST_PEER = "hunter"  # a quick run measures no other
NAMES = {
    "values_floor": "floor with lines",
    "values_locals": "filmstrip --values locals",
    "values_attributes": "--values attributes",
    "values": "--values all",
    "values_line_times": "the same with --line-times",
    "objwatch": "ObjWatch",
    "pysnooper": "PySnooper",
    "hunter": "hunter VarsSnooper",
}


def tools_of(bench, python: Python) -> dict[str, dict]:
    few = bench.settings.few_runs
    mode = "monitoring_lines" if python.has_monitoring else "trace_lines"
    return {
        "values_floor": {"tool": "floor", "mode": mode},
        "values_locals": {**filmstrip(values="locals"), "runs": few},
        "values_attributes": {**filmstrip(values="attributes"), "runs": few},
        "values": filmstrip(),
        "values_line_times": {**filmstrip(line_times=True), "runs": few},
    }


def filmstrip(**options: object) -> dict:
    return {"tool": "filmstrip", "options": EVERYTHING | options}


# --- measuring ---------------------------------------------------------------------


def measure(bench) -> Iterator[dict]:
    def named(what: str, answers: Iterator[dict]) -> Iterator[dict]:
        return ({"what": what, **answer} for answer in answers)

    tools = functools.partial(tools_of, bench)
    yield from named("time", measuring.times(bench, "values", tools))
    yield from named("peer", measure_peers(bench))
    cases = (
        (0, "richards", 3),
        (0, "go", 3),
        (0, "asyncio", 3),
        (bench.settings.memory_threads, "fib_once", 1),
    )
    yield from named(
        "memory", measuring.memory(bench, "values", cases, options=EVERYTHING)
    )
    yield from measure_log(bench)


def measure_peers(bench) -> Iterator[dict]:
    """One small program, the others and we in turn."""
    for python in bench.pythons:
        for tool, request in (
            ("values", filmstrip()),
            *((peer, {"tool": peer}) for peer in PEERS),
        ):
            if not bench.is_wanted(tool):
                continue
            if bench.settings.quick and tool not in ("values", QUICKEST_PEER):
                continue
            runs = bench.settings.runs if tool == "values" else 1
            answer = bench.child(
                python,
                do="time",
                workload=PEER_WORKLOAD,
                runs=runs,
                bare_runs=bench.settings.runs,
                once=tool in PEERS,
                **request,
            )
            if answer is None:
                continue
            ratio = summary.best_ratio([answer], "thread")
            bench.say(f"values {python.version} {PEER_WORKLOAD}: {tool} {ratio:,.1f}")
            yield {"python": python.version, "tool": tool, **answer}


def measure_log(bench) -> Iterator[dict]:
    """`log` over a recording at level values."""
    python = bench.pythons[-1]
    film = bench.folder / "values.film"
    made = bench.child(
        python,
        do="film",
        workload="richards",
        film=str(film),
        events=bench.settings.film_events // 20,
        options=EVERYTHING,
    )
    if made is None:
        return
    yield {"what": "film", "python": python.version, **made}
    runs = bench.settings.film_runs
    plans = (("log", "log", runs), ("dump", "dump", runs), ("open", "info", runs))
    for answer in measuring.commands(bench, "values", film, made["events"], plans):
        yield {**answer, "what": "command", "command": answer["what"]}
    film.unlink(missing_ok=True)


# --- figures -----------------------------------------------------------------------


def summarise(raw: list[dict]) -> dict:
    groups = {
        what: answers for (what,), answers in summary.grouped(raw, "what").items()
    }
    times = groups.get("time", [])
    figures: dict = {
        "clock": summary.choose_clock(times),
        "pythons": summary.summarise_times(times),
        "peers": summarise_peers(groups.get("peer", [])),
        "memory": summary.summarise_memory(groups.get("memory", []), GROWTH),
        "commands": {
            command: summary.summarise_command(answers, command)
            for (command,), answers in summary.grouped(
                groups.get("command", []), "command"
            ).items()
        },
    }
    if "film" in groups:
        made = groups["film"][-1]
        figures["film"] = {"events": made["events"], "size": made["size"]}
    return figures


def summarise_peers(answers: list[dict]) -> dict:
    figures: dict[str, dict] = {}
    for (python, tool), group in summary.grouped(answers, "python", "tool").items():
        figures.setdefault(python, {})[tool] = {
            "seconds": summary.best(group, "runs", "thread"),
            "ratio": summary.best_ratio(group, "thread"),
        }
    return figures


def compare(bars, figures: dict) -> None:
    """Lines for the table of bars; nothing where the section was not measured."""
    if not figures:
        return
    for python, limit in RATIO.items():
        means = figures["pythons"].get(python, {}).get("means", {})
        value = means.get("values", {}).get("ratio")
        notes = [
            f"{title} {means[tool]['ratio']:.2f}x"
            for tool, title in (
                ("values_floor", "floor"),
                ("values_locals", "locals only"),
                ("values_attributes", "with attributes"),
                ("values_line_times", "with `--line-times`"),
            )
            if means.get(tool, {}).get("ratio")
        ]
        if figures["clock"] == "thread" and means.get("values"):
            wall = means["values"]["wall_ratio"]
            notes.append(f"without a core to spare {wall:.2f}x on the wall")
        title = f"{python}, every value recorded, over the bare program"
        bars.at_most(title, limit, value, "x", "; ".join(notes))
    for python, tools in figures["peers"].items():
        others = {name: tools[name]["seconds"] for name in PEERS if name in tools}
        if others and "values" in tools:
            quickest = min(others, key=others.__getitem__)
            bars.at_least(
                f"{python}, every value: the quickest other recorder's time over ours",
                TIMES_QUICKER,
                others[quickest] / tools["values"]["seconds"],
                "",
                f"{NAMES[quickest]}, {tools[quickest]['ratio']:,.0f}x over the bare "
                "program",
            )
    summary.compare_memory(bars, figures["memory"], GROWTH, "every value: ")
    sizes = {
        f"{workload} on {python}": row["values"]["event_bytes"]
        for python, part in figures["pythons"].items()
        for workload, row in part["workloads"].items()
        if row.get("values", {}).get("event_bytes")
    }
    title = "every value: size on disk, an event (call, return, line or set)"
    summary.compare_sizes(bars, title, EVENT_BYTES, sizes)
    log = figures["commands"].get("log", {})
    bars.at_least(
        "every value: `log`, events a second",
        LOG_EVENTS_PER_SECOND,
        log.get("events_per_second"),
        "million",
        "by CPU time" if log.get("clock") == "CPU" else "",
    )


# --- the page ------------------------------------------------------------------------


def markdown(figures: dict) -> list[str]:
    """The section's part of the page."""
    parts = [
        "## Every value\nLevel values: time over the bare program while it runs, all "
        "of its code and of the library's it uses as target; then the size of the "
        "recording in bytes an event (a call, return, line or set), and the time to "
        "close it as a share of the run."
    ]
    for python, part in figures["pythons"].items():
        parts.append(
            f"### Every value, Python {python}\n"
            + workload_table(part, NAMES, "values", "event_bytes")
        )
    if figures["peers"]:
        parts.append(
            "Other recorders of variables, a tenth of richards, its file as their "
            "target, their output to /dev/null: seconds, and times over the bare "
            "program.\n\n" + peer_table(figures["peers"])
        )
    if figures["memory"]:
        parts.append(
            "Peak resident memory (VmHWM) at level values, closing included.\n\n"
            + memory_table(figures["memory"])
        )
    if figures["commands"]:
        film = figures.get("film", {})
        parts.append(
            f"Commands over a recording of {film.get('events', 0):,} events at level "
            f"values, {film.get('size', 0) / MIB:.1f} MiB.\n\n"
            + command_table(figures["commands"])
        )
    return parts


def peer_table(peers: dict) -> str:
    tools = ("values", *PEERS)
    rows = [
        [
            python,
            *(
                f"{row[tool]['seconds']:.2f} s, {row[tool]['ratio']:,.1f}x"
                if tool in row
                else ""
                for tool in tools
            ),
        ]
        for python, row in peers.items()
    ]
    return table(["Python", *(NAMES[tool] for tool in tools)], rows)
