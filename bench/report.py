"""The results as a page with tables, as a chart and as text for the terminal. Nothing
here is written by hand: every figure comes from the results."""

from __future__ import annotations

import html

import values
from tables import command_table, in_unit, memory_table, ratio, table, workload_table

NAMES = {
    "filmstrip": "filmstrip",
    "filmstrip_no_exceptions": "filmstrip --no-exceptions",
    "floor": "floor",
    "floor_no_exceptions": "floor, no exceptions",
    "viztracer": "VizTracer",
    "cprofile": "cProfile",
    "yappi": "yappi",
}
COLOURS = {
    "filmstrip": "#d9480f",
    "filmstrip_no_exceptions": "#f08c4a",
    "floor": "#adb5bd",
    "floor_no_exceptions": "#dee2e6",
    "viztracer": "#1971c2",
    "cprofile": "#2f9e44",
    "yappi": "#9c36b5",
}


def bar_rows(bars: list[dict]) -> list[tuple[str, str, str, str, str]]:
    rows = []
    for line in bars:
        if line["bar"] is None:
            bar, met = "none", ""
        else:
            bar = f"{line['sign']} {in_unit(line['bar'], line['unit'])}"
            met = {True: "yes", False: "**no**", None: ""}.get(
                line["met"], "**in part**"
            )
        measured = in_unit(line["measured"], line["unit"]) or "not measured"
        rows.append((line["measure"], bar, measured, met, line["note"]))
    return rows


def viztracer_lines(times: dict) -> str:
    rows = []
    for python, part in times.items():
        saved = {
            name: figures["viztracer"]
            for name, figures in part["workloads"].items()
            if "save_ratio" in figures.get("viztracer", {})
        }
        if saved:
            ratios = [figures["save_ratio"] for figures in saved.values()]
            sizes = [row["pair_bytes"] for row in saved.values() if "pair_bytes" in row]
            rows.append(
                [
                    python,
                    ratio(part["means"]["viztracer"], "warm_ratio"),
                    f"{min(ratios):.0f} to {max(ratios):.0f}",
                    f"{min(sizes):.0f} to {max(sizes):.0f}" if sizes else "",
                ]
            )
    if not rows:
        return ""
    header = [
        "Python",
        "over bare, its buffer used before",
        "save, in bare runs",
        "bytes a call with its return",
    ]
    return (
        "More on VizTracer: when its buffer's memory is there from an earlier run, "
        "which it overwrites; its save, which comes on top; the file.\n\n"
        + table(header, rows)
        + "\n"
    )


def idle_table(idle: dict) -> str:
    pythons = list(idle)
    names = list(dict.fromkeys(name for part in idle.values() for name in part))
    names.sort(key=lambda name: (name == "mean", name == "raise_each_call"))
    rows = []
    for name in names:
        cells = [idle[python].get(name, {}).get("ratio") for python in pythons]
        title = {"mean": "**geometric mean**", "raise_each_call": "one raise a call"}
        rows.append(
            [title.get(name, name), *(f"{cell:.3f}" if cell else "" for cell in cells)]
        )
    rows.sort(key=lambda row: row[0] == "one raise a call")
    return table(["", *pythons], rows)


def clock_sentence(clocks: dict[str, str], priority: bool) -> str:
    if "thread" in clocks.values():
        return (
            "The machine was not ours alone: even bare runs lost time to others. So "
            "the ratios are of the CPU time of the program's own thread, which is what "
            "the wall shows when the sealing thread has a core; those of the crowded "
            "wall clock stand below each table."
        )
    return "The clock is the one on the wall" + (
        ", the processes having real-time priority over what else the machine did."
        if priority
        else "."
    )


def markdown(results: dict) -> str:
    figures = results["summary"]
    machine = results["machine"]
    sections = results["sections"]
    settings: dict = {}
    for name in ("values", "memory", "film", "idle", "times"):  # the last: the times'
        settings |= sections.get(name, {}).get("settings", {})
    for name, prefix in (("film", "film_"), ("idle", "idle_")):
        own = sections.get(name, {}).get("settings", {})
        settings |= {key: own[key] for key in own if key.startswith(prefix)}
    dates = sorted({part["date"] for part in sections.values()})
    loads = [part["load"] for part in sections.values()]
    pythons = ", ".join(part["version"] for part in results["pythons"].values())
    peers = next(iter(results["pythons"].values()))["peers"]
    parts = [
        "# What filmstrip costs",
        f"Written by `make bench` on {' and '.join(dates)}; every figure is measured. "
        "The raw times are in [bench.json](bench.json).",
    ]
    if results["quick"]:
        parts.append("This was a quick run: the figures are rough.")
    parts += [
        "![Time over the bare program](bench.svg)",
        "## The bars",
        table(
            ["measure", "bar", "measured", "met", ""],
            bar_rows(results["bars"]),
        ),
    ]
    if results["failures"]:
        parts.append("Could not be measured:")
        parts.append("\n".join(f"- {failure}" for failure in results["failures"]))
    if "times" in figures:
        parts.append(
            "## Each program\nTime over the bare program while it runs, everything "
            "recorded; then the size of the recording in bytes for a call with its "
            "return (a resume with its yield counts as one), and the time to close it "
            "as a share of the run."
        )
        for python, part in figures["times"].items():
            parts.append(
                f"### Python {python}\n"
                + workload_table(part, NAMES, "filmstrip", "pair_bytes")
            )
        parts.append(viztracer_lines(figures["times"]))
    if "idle" in figures:
        parts.append(
            "## Code that is no target\nTime over the bare program with "
            "`targets=['nothing_matches']`. asyncio does not raise rarely: many an "
            "await ends in a StopIteration. On 3.11 the hooks cannot be taken off code "
            "that is no target.\n\n" + idle_table(figures["idle"])
        )
    if "film" in figures:
        made = figures["film"]["make"]
        parts.append(
            f"## A long recording\n{made['events']:,} events of "
            f"{settings['film_functions']} functions in four threads, "
            f"{in_unit(made['size'], 'MiB')} on disk, written in "
            f"{made['append_seconds']:.1f} s and closed in "
            f"{made['close_seconds'] * 1000:.0f} ms; "
            "output to /dev/null, file in the page cache.\n\n"
            + command_table(figures["film"])
        )
    if "memory" in figures:
        parts.append(
            "## Memory of the recorded program\nPeak resident memory (VmHWM), closing "
            "included.\n\n" + memory_table(figures["memory"])
        )
    if "values" in figures:
        parts += values.markdown(figures["values"])
    parts.append(
        "## How it was measured\n"
        f"- {machine['processor']}, {machine['cores']} cores, {machine['memory']}; "
        f"{machine['system']}; recordings on {machine['file_system']}. "
        f"Load average while measuring {min(loads)} to {max(loads)}: what else the "
        "machine did is in the figures.\n"
        f"- CPython {pythons}; pyperformance {peers['pyperformance']}, VizTracer "
        f"{peers['viztracer']}, yappi {peers['yappi']}"
        + "".join(
            f", {title} {peers[name]}"
            for name, title in (
                ("objwatch", "ObjWatch"),
                ("pysnooper", "PySnooper"),
                ("hunter", "hunter"),
            )
            if name in peers
        )
        + ".\n"
        f"- A fresh process for each program and tool: one run to warm up, "
        f"{settings['runs']} bare runs, then the tool on, one run to warm up, "
        f"{settings['runs']} runs or more "
        f"({settings.get('few_runs', settings['runs'])} with VizTracer and where part "
        "of the values or `--line-times` is recorded, "
        f"{settings.get('profiler_runs', settings['runs'])} with the profilers); the "
        f"tools take turns, {settings['rounds']} "
        f"round{'s' if settings['rounds'] > 1 else ''}. A ratio is the best run with "
        "the tool over the best bare run of the same processes; means are geometric. "
        + clock_sentence(figures.get("clocks", {}), settings.get("priority", False))
        + "\n"
        "- filmstrip: `filmstrip.start(all=True, level='calls')`; the recording goes "
        "on, with its "
        "sealing thread, while the time is taken; runs are added until the recording "
        f"is {settings['recorded_seconds']:g} s long, then closing is timed. "
        "VizTracer: `ignore_c_function=True`, for each run a new buffer that holds all "
        "of it, its save timed apart. cProfile: `enable()`. yappi: wall clock, "
        "builtins off.\n"
        "- The floor: the same events answered by empty C callbacks. On 3.11 the trace "
        "hook with its lines off, and without exceptions the profile hook. For every "
        "value, with line events too.\n"
        "- Size: the larger of length and blocks on disk, over half the number of "
        "events.\n"
        f"- No target: off and on in turns within a process, "
        f"{settings['idle_turns']} turns of {settings['idle_runs']} runs; the median "
        f"of {settings['idle_processes']} processes' ratios.\n"
        "- Commands: started by a small C program that reads the peak of their memory "
        "from wait4. Where others took the processor away, by their CPU time, which "
        "the table of bars then says."
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def chart(figures: dict) -> str:
    """Geometric means as bars, one group for each Python."""
    times = figures.get("times", {})
    groups = {
        python: {
            tool: row["ratio"]
            for tool, row in part["means"].items()
            if row["ratio"] and tool in COLOURS
        }
        for python, part in times.items()
    }
    order = list(COLOURS)
    bar, gap, left, top, height = 26, 34, 46, 54, 260
    highest = max((v for group in groups.values() for v in group.values()), default=1)
    scale = height / (highest * 1.08)
    base = top + height
    shapes = []
    step = 1 if highest <= 8 else 2 if highest <= 16 else 5
    for mark in range(0, int(highest) + 1, step):
        y = base - mark * scale
        colour = "#868e96" if mark == 1 else "#e9ecef"
        shapes.append((mark, y, colour))
    x = left + gap / 2
    bars, labels = [], []
    for python, group in groups.items():
        begin = x
        for tool in sorted(group, key=order.index):
            value = group[tool]
            y = base - value * scale
            bars.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{bar - 3}" '
                f'height="{value * scale:.1f}" fill="{COLOURS[tool]}">'
                f"<title>{html.escape(NAMES[tool])} on {python}: {value:.2f}</title>"
                "</rect>"
                f'<text x="{x + (bar - 3) / 2:.1f}" y="{y - 4:.1f}" '
                f'text-anchor="middle" font-size="10">{value:.1f}</text>'
            )
            x += bar
        labels.append(
            f'<text x="{(begin + x) / 2:.1f}" y="{base + 18}" '
            f'text-anchor="middle">Python {python}</text>'
        )
        x += gap
    used = [tool for tool in order if any(tool in group for group in groups.values())]
    width = max(x, left + 130 * min(len(used), 5) + 20)
    legend = []
    for index, tool in enumerate(used):
        row, column = divmod(index, 4)
        lx, ly = left + column * (width - left) / 4, base + 40 + row * 20
        legend.append(
            f'<rect x="{lx:.1f}" y="{ly - 10}" width="12" height="12" '
            f'fill="{COLOURS[tool]}"/><text x="{lx + 18:.1f}" y="{ly}">'
            f"{html.escape(NAMES[tool])}</text>"
        )
    total = base + 50 + 20 * ((len(used) + 3) // 4)
    lines = [
        f'<line x1="{left}" x2="{width - 10:.0f}" y1="{y:.1f}" y2="{y:.1f}" '
        f'stroke="{colour}"/><text x="{left - 8}" y="{y + 4:.1f}" '
        f'text-anchor="end">{mark}</text>'
        for mark, y, colour in shapes
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{total}" '
        f'viewBox="0 0 {width:.0f} {total}" font-family="sans-serif" font-size="12" '
        'fill="#212529" role="img">\n'
        f'<rect width="{width:.0f}" height="{total}" fill="#ffffff"/>\n'
        f'<text x="{left}" y="24" font-size="15">Time over the bare program while '
        "running: geometric mean of the programs</text>\n"
        + "\n".join([*lines, *bars, *labels, *legend])
        + "\n</svg>\n"
    )


def terminal(results: dict) -> str:
    rows = bar_rows(results["bars"])
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append("  ".join([*cells, row[4]]).replace("**", "").rstrip())
    return "\n".join(lines)
