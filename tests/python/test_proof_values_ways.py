"""Generated programs recorded in each of the ways that lead through other parts of the
recorder: a film tells what the film of the same program, recorded plainly, tells
(proof/values_ways.py). The plain one is compared with the truth in test_proof_values.py.
"""

from __future__ import annotations

import json
import sys

import pytest

from proof import films, ways
from test_proof_values import explain, perform, totals

PROGRAMS = 500 if films.SOAK else 8
BATCH = 50 if films.SOAK else 8
# Other programs on each Python.
FIRST = 1000 * sys.version_info[1]
WAYS = {
    **{way.name: f"{way.name}={json.dumps(way.options)}" for way in ways.WAYS},
    **{name: name for name in ways.OWN},
}


@pytest.mark.parametrize("first", range(FIRST, FIRST + PROGRAMS, BATCH))
@pytest.mark.parametrize("way", WAYS)
def test_generated_programs_in_other_ways(way, first, tmp_path):
    jobs = [f"way:{seed}:{WAYS[way]}" for seed in range(first, first + BATCH)]
    answers = perform(tmp_path, jobs)
    why = explain(answers, tmp_path)
    assert not why, why
    # Something was compared: programs of some 1,500 events, half of the functions.
    least = 300 if way.startswith("narrow") else 1000
    assert totals(answers)["event"] > least * BATCH
