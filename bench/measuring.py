"""What more than one section measures, each with programs and tools of its own."""

from __future__ import annotations

import json
import pathlib
import subprocess
from collections.abc import Callable, Iterator

import summary
from prepare import Python

SAVED = ("richards", "go", "asyncio")  # VizTracer's save takes long

# What is measured on a Python: label and request.
Tools = Callable[[Python], dict[str, dict]]


def times(bench, section: str, tools_of: Tools) -> Iterator[dict]:
    """Every program with every tool, the tools in turn. A request may have `runs` and
    `seconds` of its own."""
    settings = bench.settings
    for number in range(settings.rounds):
        for workload in settings.workloads:
            for python in bench.pythons:
                ratios = []
                for label, request in tools_of(python).items():
                    if not bench.is_wanted(label):
                        continue
                    answer = bench.child(
                        python,
                        do="time",
                        workload=workload,
                        save=number == 0 and workload in SAVED,
                        bare_runs=settings.runs,
                        **{"runs": settings.runs} | request,
                    )
                    if answer is None:
                        continue
                    ratio = summary.best_ratio([answer], "thread")
                    ratios.append(f"{label} {ratio:.2f}")
                    yield {
                        "python": python.version,
                        "workload": workload,
                        "tool": label,
                        "round": number,
                        **answer,
                    }
                bench.say(
                    f"{section} {number + 1}/{settings.rounds} {python.version} "
                    f"{workload}: {', '.join(ratios)}"
                )


def memory(
    bench, section: str, cases: tuple[tuple[int, str, int], ...], **request: object
) -> Iterator[dict]:
    """Peaks, bare and recorded; a case: threads (0: the main one), program, how often
    it is run in each."""
    for number in range(bench.settings.memory_repeats):
        for python in bench.pythons:
            for threads, workload, repeats in cases:
                for recorded in (False, True):
                    answer = bench.child(
                        python,
                        do="memory",
                        workload=workload,
                        repeats=repeats,
                        threads=threads,
                        recorded=recorded,
                        **request,
                    )
                    if answer is not None:
                        yield {
                            "python": python.version,
                            "workload": workload,
                            "threads": threads,
                            "recorded": recorded,
                            "round": number,
                            **answer,
                        }
        bench.say(f"{section}: memory {number + 1}/{bench.settings.memory_repeats}")


def commands(
    bench,
    section: str,
    film: pathlib.Path,
    events: int,
    plans: tuple[tuple[str, str, int], ...],
) -> Iterator[dict]:
    """The C program's commands over a film; a plan: what it is called, the command and
    how often."""
    program = bench.native_program(bench.pythons[-1])
    for what, command, runs in plans:
        for _ in range(runs):
            words = [str(word) for word in (bench.measure, program, command, film)]
            result = subprocess.run(words, capture_output=True, text=True)
            answer = json.loads(result.stdout)
            if answer["status"] != 0:
                last = (result.stderr.strip().splitlines() or ["no message"])[-1]
                bench.fail(f"{section}: {what}: status {answer['status']}, {last}")
                break
            yield {"what": what, "events": events, **answer}
            peak = answer["peak_kib"] / 1024
            bench.say(f"{section}: {what} {answer['wall']:.3f} s, {peak:.1f} MiB")
