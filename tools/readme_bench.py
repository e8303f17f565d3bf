"""Writes the measured figures of docs/bench.json into README.md, between the marks
`bench:begin` and `bench:end`. No figure there is typed by hand.

    tools/readme_bench.py            writes them
    tools/readme_bench.py --check    says whether they are those of docs/bench.json
"""

from __future__ import annotations

import itertools
import json
import pathlib
import statistics
import sys
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- bench:begin -->\n", "<!-- bench:end -->\n"

TOOLS = {
    "filmstrip": "**filmstrip**",
    "filmstrip_no_exceptions": "filmstrip `--no-exceptions`",
    "viztracer": "VizTracer",
    "cprofile": "cProfile",
    "yappi": "yappi",
    "floor": "empty callbacks",
}

Figures = dict[str, Any]


def span(values: list[float], pattern: str) -> str:
    low, high = pattern.format(min(values)), pattern.format(max(values))
    return low if low == high else f"{low} to {high}"


# Other ways to look at the same runs.
SEEN_OTHERWISE = {
    "process_ratio": "filmstrip, all threads",
    "wall_ratio": "filmstrip, wall clock",
}


def more_cells(times: Figures, tool: str, key: str) -> list[str]:
    cells = (part["means"].get(tool, {}).get(key) for part in times.values())
    return [f"{cell:.2f}" if cell else "" for cell in cells]


VALUES = {
    "values": "**every value** (`--level values --all`)",
    "values_line_times": "the same with `--line-times`",
    "values_attributes": "variables and attributes (`--values attributes`)",
    "values_locals": "variables only (`--values locals`)",
    "values_floor": "empty callbacks, with lines",
}
PEERS = {
    "objwatch": "ObjWatch with locals",
    "pysnooper": "PySnooper",
    "hunter": "hunter VarsSnooper",
}


def ratio_table(times: Figures, names: dict[str, str], ours: str) -> str:
    """Geometric means over the programs, a row for each tool."""
    pythons = list(times)
    rows = []
    for tool, name in names.items():
        cells = [
            times[python]["means"].get(tool, {}).get("ratio") for python in pythons
        ]
        if any(cells):
            marked = [f"{cell:.2f}" if cell else "" for cell in cells]
            if tool == ours:
                marked = [f"**{cell}**" if cell else "" for cell in marked]
            rows.append([name, *marked])
        if tool == ours == "filmstrip":
            for key, what in SEEN_OTHERWISE.items():
                rows.append([what, *more_cells(times, tool, key)])
    return table(pythons, rows)


def table(pythons: list[str], rows: list[list[str]]) -> str:
    header = ["", *(f"Python {python}" for python in pythons)]
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def rows_of(times: Figures, tool: str) -> list[Figures]:
    return [
        tools[tool]
        for part in times.values()
        for tools in part["workloads"].values()
        if tool in tools
    ]


def values(rows: list[Figures], key: str) -> list[float]:
    return [row[key] for row in rows if row.get(key) is not None]


def times_text(times: Figures) -> list[str]:
    programs = len(next(iter(times.values()))["workloads"])
    parts = [
        f"CPU time of the program's own thread over the bare program, every call of "
        f"{programs} programs recorded (`--all`; VizTracer without C functions), "
        "geometric mean. filmstrip packs what was recorded in a thread beside it: *all "
        "threads* adds that one, and *wall clock* is what was seen on a busy machine "
        "with the measured programs at a higher priority than the rest. *Empty "
        "callbacks* is what Python itself takes for telling of the events, so no such "
        "tool can be faster.",
        ratio_table(times, TOOLS, "filmstrip"),
    ]
    facts = []
    ours, peer = rows_of(times, "filmstrip"), rows_of(times, "viztracer")
    sizes = values(ours, "pair_bytes")
    if sizes:
        text = f"* A call with its return takes {span(sizes, '{:.1f}')} bytes on disk"
        theirs = values(peer, "pair_bytes")
        facts.append(
            text + (f" (VizTracer: {span(theirs, '{:,.0f}')})." if theirs else ".")
        )
    closing = values(ours, "closing_share")
    if closing:
        text = (
            f"* Closing the recording takes {statistics.median(closing):.1%} of the "
            f"run (median; at most {max(closing):.1%})"
        )
        saves = values(peer, "save_ratio")
        facts.append(
            text
            + (
                f"; VizTracer's save takes {span(saves, '{:,.0f}')} times the bare run."
                if saves
                else "."
            )
        )
    return [*parts, "\n".join(facts)] if facts else parts


def idle_text(idle: Figures) -> str:
    # On 3.11 the hook is called for all code, target or not: docs/bench.md has it.
    later = [part for python, part in idle.items() if python != "3.11"]
    means = [part["mean"]["ratio"] for part in later if part.get("mean")]
    each = [
        part["raise_each_call"]["ratio"]
        for part in later
        if part.get("raise_each_call")
    ]
    text = (
        "* A program none of whose code is a target, from 3.12 on: "
        f"{span(means, '{:.3f}')} times the bare program"
    )
    if each:
        text += f"; {span(each, '{:.2f}')} if it raises an exception at every call"
    return text + "."


def film_text(film: Figures) -> str:
    events = film["make"]["events"] / 1e6
    reading = ", ".join(
        f"`{command}` {film[command]['events_per_second'] / 1e6:.0f} million"
        for command in ("report", "log", "dump")
        if command in film
    )
    text = (
        f"* Reading a recording of {events:,.0f} million events, events a second: "
        f"{reading}"
    )
    peaks = [film[name]["peak"] for name in ("report", "log", "dump") if name in film]
    if peaks:
        text += f", with at most {max(peaks) / 2**20:.0f} MiB of memory"
    if "open" in film:
        text += f"; opening it takes {film['open']['seconds'] * 1000:.0f} ms"
    return text + "."


def peer_table(peers: Figures) -> str:
    rows = []
    for tool, name in {"values": "**filmstrip**", **PEERS}.items():
        ratios = [row.get(tool, {}).get("ratio") for row in peers.values()]
        if any(ratios):
            rows.append([name, *(f"{ratio:,.0f}" if ratio else "" for ratio in ratios)])
    return table(list(peers), rows)


def values_text(figures: Figures) -> list[str]:
    """Level values: the table, the peers, the facts."""
    pythons = figures["pythons"]
    parts = [
        "The same programs with every value recorded: each call, return and line, "
        "every write of a variable, attribute and item, and changes in place.",
        ratio_table(pythons, VALUES, "values"),
    ]
    if figures["peers"]:
        parts += [
            "Against other recorders of variables, on a short program (a tenth of "
            "richards), times over the bare program:",
            peer_table(figures["peers"]),
        ]
    facts = []
    sizes = values(rows_of(pythons, "values"), "event_bytes")
    if sizes:
        facts.append(
            "* With values, an event (a call, return, line or write) of these programs "
            f"takes {span(sizes, '{:.1f}')} bytes on disk."
        )
    memory = [row for part in figures["memory"].values() for row in part]
    if memory:
        growth = [row["growth"] / 2**20 for row in memory]
        facts.append(
            f"* Memory over the bare program with values: {span(growth, '{:.0f}')} MiB."
        )
    log = figures["commands"].get("log")
    if log:
        facts.append(
            "* `log` prints "
            f"{log['events_per_second'] / 1e6:.1f} million events with values a second."
        )
    return [*parts, "\n".join(facts)] if facts else parts


def section(results: Figures) -> str:
    figures, machine = results["summary"], results["machine"]
    parts: list[str] = []
    if figures.get("times"):
        parts += times_text(figures["times"])
    if figures.get("idle"):
        parts.append(idle_text(figures["idle"]))
    if figures.get("film", {}).get("make"):
        parts.append(film_text(figures["film"]))
    if figures.get("values", {}).get("pythons"):
        parts += values_text(figures["values"])
    dates = sorted({part["date"] for part in results["sections"].values()})
    parts.append(
        ("Roughly measured" if results["quick"] else "Measured")
        + f" on {' and '.join(dates)} on {machine['processor']}, {machine['cores']} "
        f"cores, {machine['system']}, all tools in one run. [bench.md](docs/bench.md) "
        "has each program, how it was measured, and a chart; `make bench` does it "
        "again."
    )
    text = parts[0]
    for before, part in itertools.pairwise(parts):
        # The facts are one list.
        text += ("\n" if before[0] == part[0] == "*" else "\n\n") + part
    return text + "\n"


def main(words: list[str]) -> int:
    readme, bench = ROOT / "README.md", ROOT / "docs" / "bench.json"
    if words not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    if not bench.exists():
        print("docs/bench.json is not there: make bench writes it", file=sys.stderr)
        return 2
    text = readme.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, behind = rest.partition(END)
    if not begin or not end:
        print(f"README.md lacks {BEGIN.strip()} or {END.strip()}", file=sys.stderr)
        return 2
    figures = section(json.loads(bench.read_text(encoding="utf-8")))
    updated = before + begin + figures + end + behind
    if words == ["--check"]:
        if updated != text:
            print(
                "README.md does not show the figures of docs/bench.json: run "
                "tools/readme_bench.py",
                file=sys.stderr,
            )
            return 1
    elif updated != text:
        readme.write_text(updated, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
