"""docs/compatibility.md: what `make soak-libraries` has measured."""

from __future__ import annotations

import json
import pathlib
from typing import Any

from suites import SUITES, Suite

BEGIN = "<!-- table: written by make soak-libraries -->"
END = "<!-- end of the table -->"
MODES = {
    "default": "default targets",
    "target": "`--target` the library",
    "all": "`--all`",
}
LOSSES = {"lost_events": "events lost", "plans_missing": "without a plan"}


def sentence(result: dict[str, Any]) -> str:
    """One run in a line, for the terminal."""
    words = [f"{result['tests']} tests"]
    if "slowdown" not in result:
        return f"{words[0]}, {result['cpu_s']} s CPU, {result['rss_mib']} MiB"
    words.append(f"{len(result['changed'])} changed")
    if result["unsteady"]:
        words.append(f"{len(result['unsteady'])} unsteady")
    words.append(f"CPU x {result['slowdown']}, RSS {result['rss_over_bare_mib']:+} MiB")
    words.append(f"{result['events']:,} events, {result['film_bytes'] >> 20} MiB")
    words += [f"{name}: {count}" for name, count in result["losses"].items() if count]
    words += result["faults"]
    if not result["same_status"]:
        words.append(f"status {result['status']}")
    words += [f"\n    {name}: {how}" for name, how in result["changed"].items()]
    return ", ".join(words)


def unexplained(suite: Suite, mode: str, result: dict[str, Any]) -> list[str]:
    return [
        name
        for name in result.get("changed", ())
        if f"{mode} {name}" not in suite.known
    ]


def is_fault(suite: Suite, mode: str, result: dict[str, Any]) -> bool:
    """Whether a run tells of a fault of ours."""
    if mode == "bare":
        return False
    ended = result["same_status"] or bool(result["changed"] or result["unsteady"])
    lost = any(
        count and f"{mode} {name}" not in suite.known
        for name, count in result["losses"].items()
    )
    crashed = result["status"] is not None and result["status"] < 0
    faults = lost or crashed or bool(result["faults"])
    return bool(unexplained(suite, mode, result)) or not ended or faults


def cell(result: dict[str, Any] | None, bare: dict[str, Any]) -> str:
    """One run in the table: tests that changed, CPU time and memory over bare."""
    if result is None:
        return NOT_MEASURED
    if result["status"] is None:
        return "not done in time"
    if result["status"] < 0:
        return f"ended by signal {-result['status']}"
    changed = str(len(result["changed"]))
    if result["unsteady"]:
        changed += f" ({len(result['unsteady'])} unsteady)"
    cpu = result["cpu_s"] / max(bare["cpu_s"], 0.01)
    told = f"{changed}, × {cpu:.2f}, {result['rss_mib'] - bare['rss_mib']:+.0f} MiB"
    return told + "".join(
        f", {count:,} {LOSSES[name]}"
        for name, count in result["losses"].items()
        if count
    )


def notes_of(suite: Suite, mode: str, result: dict[str, Any]) -> list[str]:
    """What a cell's numbers are: each test that changed, each kind of loss, and why."""
    told = {name: f"`{name}`, {how}" for name, how in result["changed"].items()}
    for name, count in result["losses"].items():
        if count:
            told[name] = f"{count:,} {LOSSES[name]}"
    return [
        f"{words}: {suite.known.get(f'{mode} {name}', 'not explained yet')}"
        for name, words in told.items()
    ]


Row = tuple[str, str]  # a suite with its version, a Python
NOT_MEASURED = "–"


def title(suite: Suite) -> str:
    return f"{suite.name} {suite.version}".strip()


def told_before(lines: list[str]) -> tuple[dict[Row, list[str]], dict[Row, list[str]]]:
    """The rows and notes of the page as it is, of the versions that are tried. What was
    measured is kept on the machine that did it; the page also has what others measured."""
    current = {title(suite) for suite in SUITES.values()}
    rows: dict[Row, list[str]] = {}
    notes: dict[Row, list[str]] = {}
    of_suite = {}
    for line in lines:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and cells[0] in current:
            rows[cells[0], cells[1]] = cells[2:]
            of_suite[cells[0].split()[0], cells[1]] = (cells[0], cells[1])
        elif line.startswith("* "):
            name, rest = line[2:].split(" on ", 1)
            version = rest.split(",")[0]
            if (name, version) in of_suite:
                notes.setdefault(of_suite[name, version], []).append(line)
    return rows, notes


def measured(home: pathlib.Path, suite: Suite) -> dict[str, dict[str, Any]]:
    """The results of a suite by mode; not those of an earlier row of suites.py."""
    return {
        path.stem: result
        for path in home.glob("*.json")
        if (result := json.loads(path.read_text()))["mark"]["suite"] == suite.run_as()
    }


def put_row(
    row: Row,
    suite: Suite,
    results: dict[str, dict[str, Any]],
    rows: dict[Row, list[str]],
    notes: dict[Row, list[str]],
) -> None:
    """One row and its notes; cells that were not measured here stay as they were."""
    bare, modes = results["bare"], [mode for mode in MODES if mode in results]
    old = dict(zip(MODES, rows.get(row, [])[2:], strict=False))
    rows[row] = [
        f"{bare['tests']:,}",
        f"{bare['cpu_s']:.0f} s, {bare['rss_mib']:.0f} MiB",
        *(
            cell(results[mode], bare) if mode in modes else old.get(mode, NOT_MEASURED)
            for mode in MODES
        ),
    ]
    begins = {mode: f"* {suite.name} on {row[1]}, {MODES[mode]}: " for mode in MODES}
    measured_now = tuple(begins[mode] for mode in modes)
    notes[row] = [
        *(note for note in notes.get(row, ()) if not note.startswith(measured_now)),
        *(
            begins[mode] + note
            for mode in modes
            for note in notes_of(suite, mode, results[mode])
        ),
    ]


def table(folder: pathlib.Path, before: list[str]) -> list[str]:
    """The lines between the markers; `before`: those that were there."""
    rows, notes = told_before(before)
    for suite in SUITES.values():
        for home in folder.glob(f"3.*/{suite.name}/results"):
            results = measured(home, suite)
            row = (title(suite), home.parent.parent.name)
            if "bare" in results and len(results) > 1:
                put_row(row, suite, results, rows, notes)
    all_notes = [note for row in sorted(rows) for note in notes.get(row, ())]
    return [
        "| suite | Python | tests | bare | " + " | ".join(MODES.values()) + " |",
        "|---|---|---|---|" + "---|" * len(MODES),
        *(f"| {' | '.join([*row, *rows[row]])} |" for row in sorted(rows)),
        "",
        *(all_notes or ["But for the unsteady, no test ended otherwise than bare."]),
    ]


def write(page: pathlib.Path, folder: pathlib.Path) -> None:
    """Puts the table into the page, between the markers."""
    text = page.read_text()
    before, rest = text.split(BEGIN)
    old, after = rest.split(END)
    page.write_text(
        "\n".join([before + BEGIN, *table(folder, old.splitlines()), END]) + after
    )
