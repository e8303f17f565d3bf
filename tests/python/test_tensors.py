"""Real tensors at level values: dtype, shape and device, read in place. Needs
`make torch`."""

from __future__ import annotations

import importlib.util
import re

import pytest

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed"
)


def test_shapes_and_dtypes(runner, dump):
    result = runner.record(
        """
        import torch
        def main():
            plain = torch.zeros(2, 3)
            whole = torch.ones(4, dtype=torch.int64)
            half = plain.half()
            layer = torch.nn.Linear(3, 2)
            weight = layer.weight
            scalar = torch.tensor(3.5)
            both = [plain, whole]
            empty = torch.zeros(0, 5, dtype=torch.bool)
            brain = torch.zeros(2, 2, dtype=torch.bfloat16)
            complexes = torch.zeros(2, dtype=torch.complex64)
        main()
        """,
        options=["--level", "values"],
    )
    assert (result.rc, result.stderr) == (0, "")
    written = [
        event
        for event in dump(result.film)
        if event["kind"] == "set" and event["scope"] == "local"
    ]
    types = {event["name"]: event["value"]["type"] for event in written}
    assert (types["plain"], types["weight"]) == ("Tensor", "Parameter")
    told = {
        event["name"]: re.sub(r"\bt\d+: | #\d+>", "", event["value"]["text"])
        for event in written
    }
    assert told == {
        "plain": "f32[2, 3] cpu",
        "whole": "i64[4] cpu",
        "half": "f16[2, 3] cpu",
        "layer": "<Linear",
        "weight": "f32[2, 3] cpu grad",
        "scalar": "f32[] cpu",
        "both": "[f32[2, 3] cpu, i64[4] cpu]",
        "empty": "b8[0, 5] cpu",
        "brain": "bf16[2, 2] cpu",
        "complexes": "c64[2] cpu",
    }
