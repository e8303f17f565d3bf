"""Random walks through films: at every line met, by whichever way, the variables are what
the truth copied from the frame there; every moment is the same each time it is met, and
for a fresh reader; back undoes step (proof/timeline_worker.py). 100,000 moments over 200
programs here, half of them on every second Python and half on the others; ten times as
many on each in `make soak`."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import pytest

from conftest import clean_environment
from proof import films

WORKER = pathlib.Path(__file__).resolve().parent / "proof" / "timeline_worker.py"
PROGRAMS = int(os.environ.get("FILMSTRIP_WALKS", 2000 if films.SOAK else 200))
MOMENTS = 500
BATCH = 25
FIRST, STEP = (0, 1) if films.SOAK else (sys.version_info[1] % 2 * BATCH, 2)


@pytest.mark.parametrize("first", range(FIRST, PROGRAMS, BATCH * STEP))
def test_walks(tmp_path: pathlib.Path, first: int) -> None:
    seeds = list(range(first, first + BATCH))
    done = subprocess.run(
        [sys.executable, WORKER, tmp_path, str(MOMENTS), *map(str, seeds)],
        capture_output=True,
        text=True,
        timeout=600,
        env=clean_environment(PYTHONHASHSEED="0"),
    )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["seed"] for one in told] == seeds, done.stderr[-3000:]
    differences = [one for one in told if one["difference"]]
    assert not differences, json.dumps(differences, indent=1)[:6000]
    assert sum(one["moments"] for one in told) >= MOMENTS * len(seeds)
    # The comparison is not idle, and chunks are crossed.
    assert sum(one["compared"] for one in told) > 300 * len(seeds)
    assert sum(one["at_border"] > 0 for one in told) > len(seeds) // 4
