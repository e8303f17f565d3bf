"""torch's own database of operations (op_db), each with its first sample: the same
operations, arguments, results and metadata as a mode in Python sees, and the same
results bit for bit.
"""

from __future__ import annotations

import json
import pathlib

import pytest

from conftest import dump_events, run_python
from pytorch import compare

HERE = pathlib.Path(__file__).parent
ENTRY = "__main__.run_case"
LEAST = 500
# They call operators of torch.ops that are Python code within: there no mode is on.
BLIND = {
    "nn.functional.linear_cross_entropy.chunked",
    "nn.functional.linear_cross_entropy.chunked_none",
}


def drive(folder: pathlib.Path, *how: str) -> list[list[object]]:
    result = folder / "result.json"
    script = str(HERE / "drive_ops.py")
    same: dict[str, str | None] = {"PYTHONHASHSEED": "0"}  # samples come out of sets
    done = run_python([script, str(result), *how], folder, env=same, timeout=280)
    assert done.rc == 0, done.stderr
    return [json.loads(line) for line in result.read_text().splitlines()]


def by_case(path: pathlib.Path) -> tuple[set[str], dict[str, list[compare.Op]]]:
    """What the oracle cannot see, and its operations of each case."""
    first, *records = map(json.loads, path.read_text().splitlines())
    parts: dict[str, list[compare.Record]] = {}
    for record in records:
        if record["kind"] == "case":
            part = parts.setdefault(record["name"], [])
        else:
            part.append(record)
    return compare.unseen_functions(first), {
        name: compare.read_oracle(part).get(0, []) for name, part in parts.items()
    }


def recorded_cases(
    events: list[compare.Record], names: list[str]
) -> dict[str, list[compare.Op]]:
    """Those of a recording: what lies within each call of run_case."""
    cases: dict[str, list[compare.Op]] = {}
    frame, start, place = None, 0, 0
    main = [event for event in events if event["thread"] == 1]
    for index, event in enumerate(main):
        if event["kind"] == "call" and event["function"] == ENTRY and frame is None:
            frame, start = event["frame"], index
        elif event["kind"] in ("return", "unwind") and event["frame"] == frame:
            within = compare.read_recording(main[start : index + 1], ENTRY)
            cases[names[place]] = within.get(1, [])
            frame, place = None, place + 1
    assert place == len(names)
    return cases


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("database")
    plain = drive(folder)
    theirs = drive(folder, "--oracle", str(folder / "oracle.jsonl"))
    ours = drive(folder, "--record", str(folder / "ops.film"))
    return folder, plain, theirs, ours


def test_results_are_bit_identical(results) -> None:
    _, plain, theirs, ours = results
    assert theirs == plain
    assert ours == plain
    assert len(plain) >= LEAST


def test_streams_equal_the_oracle(results) -> None:
    folder, plain, *_ = results
    names = [str(name) for name, _ in plain]
    unseen, theirs = by_case(folder / "oracle.jsonl")
    ours = recorded_cases(dump_events(folder / "ops.film"), names)
    assert list(theirs) == names
    wrong: list[str] = []
    equal = 0
    for name in names:
        if name in BLIND:
            continue
        comparison = compare.Comparison()
        alignment = compare.Alignment(unseen, theirs[name], ours[name])
        comparison.all_of([alignment])
        wrong += [f"{name}: {difference}" for difference in comparison.found[:2]]
        equal += not comparison.found
    assert wrong == []
    assert equal >= LEAST
