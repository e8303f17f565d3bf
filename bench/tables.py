"""The tables of the page that more than one section has."""

from __future__ import annotations

MIB = 1 << 20


def in_unit(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    if unit == "x":
        return f"{value:.3f}x" if 0.9 < value < 1.1 else f"{value:.2f}x"
    if unit == "%":
        return f"{value * 100:.1f} %"
    if unit == "bytes":
        return f"{value:.2f} bytes"
    if unit == "KiB":
        return f"{value / 1024:.1f} KiB"
    if unit == "MiB":
        return f"{value / MIB:.1f} MiB"
    if unit == "ms":
        return f"{value * 1000:.1f} ms"
    if unit == "million":
        return f"{value / 1e6:.2f} million"
    return f"{value:.2f}"


def table(header: list[str], rows: list) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return "\n".join(lines)


def ratio(figures: dict | None, key: str = "ratio") -> str:
    value = (figures or {}).get(key)
    return f"{value:.2f}" if value else ""


def workload_table(part: dict, names: dict[str, str], ours_name: str, size: str) -> str:
    """Each program's ratios, the geometric means last. `ours_name`: the tool whose
    bytes (under `size`) and closing are told."""
    tools = list(part["means"])
    header = ["", "bare, ms", *(names[tool] for tool in tools), "bytes", "closing"]
    rows = []
    for workload, figures in part["workloads"].items():
        ours = figures.get(ours_name, {})
        bare = min(row["bare_seconds"] for row in figures.values())
        rows.append(
            [
                workload,
                f"{bare * 1000:.0f}",
                *(ratio(figures.get(tool)) for tool in tools),
                ratio(ours, size),
                f"{ours['closing_share'] * 100:.1f} %" if ours else "",
            ]
        )
    ours = part["means"].get(ours_name)
    rows.append(
        [
            "**geometric mean**",
            "",
            *(f"**{ratio(part['means'][tool])}**" for tool in tools),
            ratio(ours, size),
            "",
        ]
    )
    for title, key in (
        ("from medians", "median_ratio"),
        ("on the wall", "wall_ratio"),
        ("CPU of the program's thread", "thread_ratio"),
        ("CPU of all threads", "process_ratio"),
    ):
        cells = [ratio(part["means"][tool], key) for tool in tools]
        rows.append([title, "", *cells, "", ""])
    return table(header, rows)


def memory_table(memory: dict) -> str:
    rows = [
        [
            python,
            f"{row['workload']}, "
            + (f"{row['threads']} threads" if row["threads"] else "one thread"),
            *(in_unit(row[key], "MiB") for key in ("bare", "recorded", "growth")),
            in_unit(row["allowed"], "MiB"),
        ]
        for python, table_ in memory.items()
        for row in table_
    ]
    return table(["Python", "program", "bare", "recorded", "growth", "bar"], rows)


def command_table(film: dict) -> str:
    rows = []
    for command in ("dump", "log", "report", "check"):
        if command in film:
            figures = film[command]
            rows.append(
                [
                    f"`{command}`",
                    f"{figures['seconds']:.1f} s",
                    in_unit(figures["events_per_second"], "million"),
                    in_unit(figures["peak"], "MiB"),
                ]
            )
    if "open" in film:
        figures = film["open"]
        cells = [in_unit(figures["seconds"], "ms"), "", in_unit(figures["peak"], "MiB")]
        rows.append(["`info`", *cells])
    if "python_open" in film:
        seconds = in_unit(film["python_open"]["seconds"], "ms")
        rows.append(["`filmstrip.open` in Python", seconds, "", ""])
    return table(["", "time", "events a second", "peak memory"], rows)
