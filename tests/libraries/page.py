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
        return "–"
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


def table(folder: pathlib.Path) -> list[str]:
    """The lines between the markers."""
    lines = [
        "| suite | Python | tests | bare | " + " | ".join(MODES.values()) + " |",
        "|---|---|---|---|" + "---|" * len(MODES),
    ]
    notes = []
    for suite in sorted(SUITES.values(), key=lambda suite: suite.name):
        for home in sorted(folder.glob(f"3.*/{suite.name}/results")):
            results = {
                path.stem: result
                for path in home.glob("*.json")
                if (result := json.loads(path.read_text()))["mark"]["suite"]
                == suite.run_as()  # not of an earlier row
            }
            if "bare" not in results or len(results) == 1:
                continue
            bare, version = results["bare"], home.parent.parent.name
            cells = [cell(results.get(mode), bare) for mode in MODES]
            lines.append(
                f"| {suite.name} {suite.version} | {version} | {bare['tests']:,} | "
                f"{bare['cpu_s']:.0f} s, {bare['rss_mib']:.0f} MiB | {' | '.join(cells)} |"
            )
            notes += [
                f"* {suite.name} on {version}, {MODES[mode]}: {note}"
                for mode in MODES
                if mode in results
                for note in notes_of(suite, mode, results[mode])
            ]
    return [
        *lines,
        "",
        *(notes or ["But for the unsteady, no test ended otherwise than bare."]),
    ]


def write(page: pathlib.Path, folder: pathlib.Path) -> None:
    """Puts the table into the page, between the markers."""
    text = page.read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    page.write_text("\n".join([before + BEGIN, *table(folder), END]) + after)
