"""Every value: films at level values against the truth of the same Python.

Generated programs (proof/values_programs.py, and values_nested.py for containers that
lie deep), programs written by hand for the traps the plans must see, and the standard library's own code as the target: calls, lines,
sets, deletes, returns and yields in order, values equal, and the state that the film
implies equal at each line. 500 and 100 generated programs here, 20,000 and 4,000 in
`make soak`; one of them again: proof/values_worker.py FOLDER seed:NUMBER. FILMSTRIP_TRUTHS=FOLDER keeps their
truths there, so that a second run, of another build, takes a third of the time."""

from __future__ import annotations

import collections
import json
import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

from conftest import clean_environment
from proof import (
    films,
    values_library,
    values_nested,
    values_programs,
    values_traps,
    values_traps_objects,
)

HERE = pathlib.Path(__file__).resolve().parent / "proof"
TRAPS = values_traps.TRAPS | values_traps_objects.TRAPS
PROGRAMS = int(os.environ.get("FILMSTRIP_PROGRAMS", 20_000 if films.SOAK else 500))
BATCH = 200 if films.SOAK else 25
NESTED = 4000 if films.SOAK else 100
FIRST = int(os.environ.get("FILMSTRIP_FIRST_SEED", 0))


def perform(folder, jobs, timeout=280):
    """Runs a worker; job -> its answer. A worker that dies fails the job it was at."""
    try:
        done = subprocess.run(
            [sys.executable, HERE / "values_worker.py", folder, *jobs],
            capture_output=True,
            text=True,
            errors="backslashreplace",
            timeout=timeout,
            env=clean_environment(
                PYTHONHASHSEED="0", FILMSTRIP_TRUTHS=os.environ.get("FILMSTRIP_TRUTHS")
            ),
            cwd=folder,
        )
        output, ended, stderr = done.stdout, done.returncode, done.stderr
    except subprocess.TimeoutExpired as late:
        output = (late.stdout or b"").decode(errors="backslashreplace")
        ended, stderr = "a timeout", ""
    answers: dict[str, dict] = {}
    for line in output.splitlines():
        answer = json.loads(line)
        if answer.get("begun"):
            answers[answer["job"]] = {
                "job": answer["job"],
                "difference": f"the worker ended with {ended}\n{stderr[-3000:]}",
            }
        else:
            answers[answer["job"]] = answer
    assert answers, (ended, stderr)
    if ended == 0:
        assert list(answers) == list(jobs)
    return answers


def explain(answers, folder):
    """The first difference, with the program; how many there are."""
    wrong = [answer for answer in answers.values() if answer["difference"]]
    if not wrong:
        return ""
    first = wrong[0]
    kind, _, what = first["job"].partition(":")
    text = ""
    if kind in ("seed", "nested", "narrow", "way"):
        maker = values_programs if kind in ("seed", "way") else values_nested
        text = maker.generate(int(what.partition(":")[0])).removeprefix(maker.PRELUDE)
        offset = maker.PRELUDE.count("\n")
        text = "\n".join(
            f"{number:4} {line}"
            for number, line in enumerate(text.splitlines(), offset + 1)
        )
    jobs = ", ".join(answer["job"] for answer in wrong[:20])
    return (
        f"{len(wrong)} of {len(answers)} differ: {jobs}\n{first['job']}: "
        f"{first['difference']}\nagain: {HERE / 'values_worker.py'} {folder} {first['job']}\n"
        f"{text}"
    )


def totals(answers):
    counts: collections.Counter[str] = collections.Counter()
    for answer in answers.values():
        counts.update(answer["counts"])
    return counts


def compared(kind, seeds, folder):
    """What was counted; none of the programs differs."""
    answers = perform(folder, [f"{kind}:{seed}" for seed in seeds])
    why = explain(answers, folder)
    assert not why, why
    return totals(answers)


@pytest.mark.parametrize("first", range(FIRST, FIRST + PROGRAMS, BATCH))
def test_generated_programs(first, tmp_path):
    seeds = range(first, min(first + BATCH, FIRST + PROGRAMS))
    counts = compared("seed", seeds, tmp_path)
    # Something was compared: programs of some 1,500 events each.
    assert counts["set"] > 200 * len(seeds) and counts["state"] > 1000 * len(seeds)
    assert counts["change"] > 5 * len(seeds)
    assert counts["moved"] == 0 and counts["unclear"] == 0, counts
    # A serial never means two objects (values_compare.Identities), but an object may get a
    # second one: where the table of objects is full, or nothing that was recorded held a
    # tuple (whose death is not seen) for a moment. Seen: 0 to 0.11 % on each Python.
    assert counts["renamed"] <= counts["objects"] // 200, counts


@pytest.mark.parametrize("first", range(0, NESTED, BATCH))
def test_nested_programs(first, tmp_path):
    counts = compared("nested", range(first, first + BATCH), tmp_path)
    assert counts["set"] > 200 * BATCH and counts["state"] > 1000 * BATCH
    assert counts["change"] > 50 * BATCH
    assert counts["moved"] == counts["unclear"] == counts["renamed"] == 0, counts


@pytest.mark.parametrize("first", range(0, NESTED, BATCH))
def test_few_items_shown(first, tmp_path):
    counts = compared("narrow", range(first, first + BATCH), tmp_path)
    assert counts["event"] > 500 * BATCH and counts["own"] < counts["event"] // 200


@pytest.mark.parametrize("name", values_library.LIBRARY)
def test_the_library_at_work(name, tmp_path):
    answers = perform(tmp_path, [f"library:{name}"])
    why = explain(answers, tmp_path)
    assert not why, why
    counts = totals(answers)
    assert counts["set"] > 20
    # A store that starts no line of its own (docs/values.md): one in argparse, on 3.14.
    assert counts["moved"] <= (1 if name == "argparse" else 0), counts


@pytest.mark.parametrize("name", TRAPS)
def test_traps(name, tmp_path):
    path = tmp_path / f"{name}.py"
    path.write_text(textwrap.dedent(TRAPS[name]), encoding="utf-8")
    try:
        compile(path.read_text(), path, "exec")
    except SyntaxError as error:
        pytest.skip(f"not in this Python: {error.msg}")
    answers = perform(tmp_path, [f"file:{path}"])
    why = explain(answers, tmp_path)
    assert not why, f"{why}\n{path.read_text()}"
