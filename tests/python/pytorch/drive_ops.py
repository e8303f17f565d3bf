"""Runs torch's own database of operations, each with its first sample on the CPU.

    drive_ops.py RESULT.json                  plainly
    drive_ops.py RESULT.json --oracle FILE    under the oracle
    drive_ops.py RESULT.json --record FILE    recorded

The samples are made before; only the operations themselves are seen. The result has a
line for each: what it gave, or what it raised.
"""

from __future__ import annotations

import contextlib
import json
import pathlib
import sys
import warnings
import zlib

import torch
from drive import told
from torch.testing._internal.common_methods_invocations import op_db

# What memory held before is theirs to show.
UNFILLED = ("empty", "new_empty", "resize")


def samples():
    """(name, callable, sample) of each operation that has one here."""
    for info in op_db:
        name = ".".join(filter(None, (info.name, info.variant_test_name)))
        types = info.supported_dtypes("cpu")
        if not types:
            continue
        dtype = torch.float32 if torch.float32 in types else sorted(types, key=str)[0]
        torch.manual_seed(zlib.crc32(name.encode()))
        try:
            made = next(iter(info.sample_inputs("cpu", dtype)), None)
        except Exception as error:
            print(f"{name}: no sample: {error!r}", file=sys.stderr)
            continue
        if made is not None:
            yield name, info.op, made


def run_case(function, sample):
    """The frame of this function is what is compared."""
    return function(sample.input, *sample.args, **sample.kwargs)


def run_all(cases, begin) -> list[list[object]]:
    results = []
    for name, function, sample in cases:
        torch.manual_seed(11)
        begin(name)
        try:
            results.append([name, run_case(function, sample)])
        except Exception as error:
            results.append([name, [type(error).__name__, str(error)]])
    return results


def main() -> int:
    result, *how = sys.argv[1:]
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    cases = list(samples())
    watched = contextlib.nullcontext()
    begin = str  # which does nothing
    if how and how[0] == "--oracle":
        from oracle import Oracle

        watched = Oracle(pathlib.Path(how[1]), str(pathlib.Path(__file__).parent))
        begin = watched.begin
    elif how:
        import filmstrip

        watched = filmstrip.record(how[1], level="calls", torch="ops")
    with watched:
        results = run_all(cases, begin)
    lines = []
    for name, value in results:
        if any(word in name for word in UNFILLED):
            value = None
        try:
            lines.append(json.dumps([name, told(value)]))
        except (RuntimeError, NotImplementedError) as error:  # it cannot be read whole
            lines.append(json.dumps([name, type(error).__name__]))
    pathlib.Path(result).write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
