"""Level values: what it costs, with everything of the programs recorded, against empty
hooks and against other recorders of variables.

The programs and the way of measuring are those of the section "times". The others are
measured with one program, richards, once through: they take a minute for it.
"""

from __future__ import annotations

import json
import pathlib
import statistics
import subprocess
from collections.abc import Iterator

import summary
from prepare import Python

MIB = 1 << 20
# The bars of the second issue.
RATIO = {"3.11": 6.5, "3.12": 3.8, "3.13": 3.8, "3.14": 4.4}
TIMES_QUICKER = 100
GROWTH = 80 * MIB
GROWTH_PER_THREAD = MIB
EVENT_BYTES = 2.5
LOG_EVENTS_PER_SECOND = 2e6

PEER_WORKLOAD = "richards_once"
PEERS = ("objwatch", "pysnooper", "hunter")
QUICKEST_PEER = "hunter"  # a quick run measures no other
NAMES = {
    "values_floor": "floor with lines",
    "values_lines": "filmstrip --level lines",
    "values": "filmstrip --level values",
    "values_line_times": "the same with --line-times",
    "objwatch": "ObjWatch",
    "pysnooper": "PySnooper",
    "hunter": "hunter VarsSnooper",
}


def tools_of(python: Python) -> dict[str, dict]:
    mode = "monitoring_lines" if python.has_monitoring else "trace_lines"
    return {
        "values_floor": {"tool": "floor", "mode": mode},
        "values_lines": filmstrip(level="lines"),
        "values": filmstrip(level="values"),
        "values_line_times": filmstrip(level="values", line_times=True),
    }


def filmstrip(**options: object) -> dict:
    return {"tool": "filmstrip", "options": {"all": True, **options}}


# --- measuring ---------------------------------------------------------------------


def measure(bench) -> Iterator[dict]:
    yield from measure_times(bench)
    yield from measure_peers(bench)
    yield from measure_memory(bench)
    yield from measure_log(bench)


def measure_times(bench) -> Iterator[dict]:
    settings = bench.settings
    for number in range(settings.rounds):
        for workload in settings.workloads:
            for python in bench.pythons:
                ratios = []
                for label, request in tools_of(python).items():
                    if bench.tools is not None and label not in bench.tools:
                        continue
                    recorded = request["tool"] == "filmstrip"
                    answer = bench.child(
                        python,
                        do="time",
                        workload=workload,
                        runs=settings.runs,
                        seconds=settings.recorded_seconds if recorded else 0,
                        **request,
                    )
                    if answer is None:
                        continue
                    ratio = summary.best_ratio([answer], "thread")
                    ratios.append(f"{label} {ratio:.2f}")
                    yield {
                        "what": "time",
                        "python": python.version,
                        "workload": workload,
                        "tool": label,
                        "round": number,
                        **answer,
                    }
                bench.say(
                    f"values {number + 1}/{settings.rounds} {python.version} "
                    f"{workload}: {', '.join(ratios)}"
                )


def measure_peers(bench) -> Iterator[dict]:
    """One small program, the others and we in turn."""
    for python in bench.pythons:
        for tool, request in (
            ("values", filmstrip(level="values")),
            *((peer, {"tool": peer}) for peer in PEERS),
        ):
            if bench.tools is not None and tool not in bench.tools:
                continue
            if bench.settings.quick and tool not in ("values", QUICKEST_PEER):
                continue
            runs = bench.settings.runs if tool == "values" else 1
            answer = bench.child(
                python,
                do="time",
                workload=PEER_WORKLOAD,
                runs=runs,
                once=tool in PEERS,
                **request,
            )
            if answer is None:
                continue
            ratio = summary.best_ratio([answer], "thread")
            bench.say(f"values {python.version} {PEER_WORKLOAD}: {tool} {ratio:,.1f}")
            yield {"what": "peer", "python": python.version, "tool": tool, **answer}


def measure_memory(bench) -> Iterator[dict]:
    for number in range(bench.settings.memory_repeats):
        for python in bench.pythons:
            for threads, workload, repeats in (
                (0, "richards", 3),
                (0, "go", 3),
                (0, "asyncio", 3),
                (bench.settings.memory_threads, "fib_once", 1),
            ):
                for recorded in (False, True):
                    answer = bench.child(
                        python,
                        do="memory",
                        workload=workload,
                        repeats=repeats,
                        threads=threads,
                        recorded=recorded,
                        options={"all": True, "level": "values"},
                    )
                    if answer is not None:
                        yield {
                            "what": "memory",
                            "python": python.version,
                            "workload": workload,
                            "threads": threads,
                            "recorded": recorded,
                            "round": number,
                            **answer,
                        }
        bench.say(f"values: memory {number + 1}/{bench.settings.memory_repeats}")


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
        options={"all": True, "level": "values"},
    )
    if made is None:
        return
    yield {"what": "film", "python": python.version, **made}
    program = bench.native_program(python)
    for command in ("log", "dump", "info"):
        for _ in range(bench.settings.film_runs):
            words = [str(word) for word in (bench.measure, program, command, film)]
            result = subprocess.run(words, capture_output=True, text=True)
            answer = json.loads(result.stdout)
            if answer["status"] != 0:
                bench.fail(f"values: {command}: status {answer['status']}")
                break
            bench.say(f"values: {command} {answer['wall']:.2f} s")
            yield {
                "what": "command",
                "command": command,
                "events": made["events"],
                **answer,
            }
    pathlib.Path(film).unlink(missing_ok=True)


# --- figures -----------------------------------------------------------------------


def summarise(raw: list[dict]) -> dict:
    groups = {
        what: answers for (what,), answers in summary.grouped(raw, "what").items()
    }
    times = groups.get("time", [])
    figures: dict = {"clock": summary.choose_clock(times), "pythons": {}}
    for (python,), answers in summary.grouped(times, "python").items():
        figures["pythons"][python] = summarise_python(answers, figures["clock"])
    figures["peers"] = summarise_peers(groups.get("peer", []))
    figures["memory"] = summarise_memory(groups.get("memory", []))
    figures["commands"] = summarise_commands(groups.get("command", []))
    if "film" in groups:
        made = groups["film"][-1]
        figures["film"] = {"events": made["events"], "size": made["size"]}
    return figures


def summarise_python(answers: list[dict], clock: str) -> dict:
    workloads: dict[str, dict] = {}
    for (workload, tool), group in summary.grouped(answers, "workload", "tool").items():
        row = {
            "ratio": summary.best_ratio(group, clock),
            "wall_ratio": summary.best_ratio(group, "wall"),
            "process_ratio": summary.best_ratio(group, "process"),
            "bare_seconds": summary.best(group, "bare", clock),
        }
        if group[-1].get("events"):
            last = group[-1]
            row["event_bytes"] = max(last["size"], last["blocks"]) / last["events"]
            row["events_a_run"] = last["events"] / (len(last["runs"]) + 1)
            row["lost"] = sum(answer["lost"] or 0 for answer in group)
        workloads.setdefault(workload, {})[tool] = row
    tools = list(dict.fromkeys(tool for row in workloads.values() for tool in row))
    means = {
        tool: {
            key: summary.geometric_mean(
                row[tool][key]
                for row in workloads.values()
                if tool in row and row[tool].get(key)
            )
            for key in ("ratio", "wall_ratio", "process_ratio", "event_bytes")
        }
        for tool in tools
    }
    return {"workloads": workloads, "means": means}


def summarise_peers(answers: list[dict]) -> dict:
    figures: dict[str, dict] = {}
    for (python, tool), group in summary.grouped(answers, "python", "tool").items():
        figures.setdefault(python, {})[tool] = {
            "seconds": summary.best(group, "runs", "thread"),
            "ratio": summary.best_ratio(group, "thread"),
        }
    return figures


def summarise_memory(answers: list[dict]) -> dict:
    figures: dict[str, list] = {}
    for (python, workload, threads), group in summary.grouped(
        answers, "python", "workload", "threads"
    ).items():
        peaks = {
            recorded: [a["peak_kib"] for a in group if a["recorded"] is recorded]
            for recorded in (False, True)
        }
        if all(peaks.values()):
            bare, recorded = (
                statistics.median(peaks[key]) * 1024 for key in (False, True)
            )
            figures.setdefault(python, []).append(
                {
                    "workload": workload,
                    "threads": threads,
                    "bare": bare,
                    "recorded": recorded,
                    "growth": recorded - bare,
                }
            )
    return figures


def summarise_commands(answers: list[dict]) -> dict:
    figures = {}
    for (command,), group in summary.grouped(answers, "command").items():
        seconds = min(answer["user"] + answer["system"] for answer in group)
        figures[command] = {
            "seconds": seconds,
            "events_per_second": group[0]["events"] / seconds,
            "peak": max(answer["peak_kib"] for answer in group) * 1024,
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
                ("values_lines", "level lines"),
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
    compare_memory(bars, figures["memory"])
    sizes = {
        f"{workload} on {python}": row["values"]["event_bytes"]
        for python, part in figures["pythons"].items()
        for workload, row in part["workloads"].items()
        if row.get("values", {}).get("event_bytes")
    }
    place = max(sizes, key=sizes.__getitem__, default="")
    bars.at_most(
        "every value: size on disk, an event (call, return, line or set)",
        EVENT_BYTES,
        sizes.get(place),
        "bytes",
        f"worst: {place}; median {statistics.median(sizes.values()):.2f}"
        if sizes
        else "",
    )
    log = figures["commands"].get("log", {})
    bars.at_least(
        "every value: `log`, events a second",
        LOG_EVENTS_PER_SECOND,
        log.get("events_per_second"),
        "million",
        "by CPU time" if log else "",
    )


def compare_memory(bars, memory: dict) -> None:
    rows = [
        {**row, "python": python} for python, table in memory.items() for row in table
    ]
    for threads in sorted({row["threads"] for row in rows}):
        worst = max(
            (row for row in rows if row["threads"] == threads),
            key=lambda row: row["growth"],
        )
        bars.at_most(
            "every value: growth of RSS over the bare run, "
            + (f"{threads} threads" if threads else "one thread"),
            GROWTH + GROWTH_PER_THREAD * threads,
            worst["growth"],
            "MiB",
            f"worst: {worst['workload']} on {worst['python']}",
        )


# --- the page ------------------------------------------------------------------------


def markdown(figures: dict, table) -> list[str]:
    """The section's part of the page; `table` makes one."""
    parts = [
        "## Every value\nLevel values: time over the bare program while it runs, all "
        "of its code and of the library's it uses as target; then the size of the "
        "recording in bytes an event (a call, return, line or set)."
    ]
    for python, part in figures["pythons"].items():
        parts.append(f"### Every value, Python {python}\n" + time_table(part, table))
    if figures["peers"]:
        parts.append(
            "Other recorders of variables, richards once through, its file as their "
            "target, their output to /dev/null: seconds, and times over the bare "
            "program.\n\n" + peer_table(figures["peers"], table)
        )
    if figures["memory"]:
        rows = [
            [
                python,
                row["workload"]
                + (f", {row['threads']} threads" if row["threads"] else ""),
                *(
                    f"{row[key] / MIB:.1f} MiB"
                    for key in ("bare", "recorded", "growth")
                ),
            ]
            for python, part in figures["memory"].items()
            for row in part
        ]
        parts.append(
            "Peak resident memory (VmHWM) at level values.\n\n"
            + table(["Python", "program", "bare", "recorded", "growth"], rows)
        )
    if figures["commands"]:
        rows = [
            [
                f"`{command}`",
                f"{row['seconds']:.2f} s",
                f"{row['events_per_second'] / 1e6:.2f} million",
                f"{row['peak'] / MIB:.1f} MiB",
            ]
            for command, row in figures["commands"].items()
        ]
        film = figures.get("film", {})
        parts.append(
            f"Commands over a recording of {film.get('events', 0):,} events at level "
            f"values, {film.get('size', 0) / MIB:.1f} MiB; CPU time.\n\n"
            + table(["", "time", "events a second", "peak memory"], rows)
        )
    return parts


def time_table(part: dict, table) -> str:
    tools = list(part["means"])
    rows = []
    for workload, row in part["workloads"].items():
        size = row.get("values", {}).get("event_bytes")
        bare = min(figures["bare_seconds"] for figures in row.values())
        rows.append(
            [
                workload,
                f"{bare * 1000:.0f}",
                *(f"{row[tool]['ratio']:.2f}" if tool in row else "" for tool in tools),
                f"{size:.2f}" if size else "",
            ]
        )
    for title, key in (
        ("**geometric mean**", "ratio"),
        ("on the wall", "wall_ratio"),
        ("CPU of all threads", "process_ratio"),
    ):
        cells = [part["means"][tool].get(key) for tool in tools]
        size = part["means"].get("values", {}).get("event_bytes")
        rows.append(
            [
                *(title, ""),
                *(f"{cell:.2f}" if cell else "" for cell in cells),
                f"{size:.2f}" if size and key == "ratio" else "",
            ]
        )
    return table(["", "bare, ms", *(NAMES[tool] for tool in tools), "bytes"], rows)


def peer_table(peers: dict, table) -> str:
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
