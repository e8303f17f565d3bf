"""Real tensors at level values: type, shape and dtype, read in place. Needs
`make torch`."""

from __future__ import annotations

import importlib.util

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
    told = {
        event["name"]: event["value"]["text"].partition(" #")[0]
        for event in dump(result.film)
        if event["kind"] == "set" and event["scope"] == "local"
    }
    assert told == {
        "plain": "Tensor(shape=(2, 3), dtype=float32)",
        "whole": "Tensor(shape=(4,), dtype=int64)",
        "half": "Tensor(shape=(2, 3), dtype=float16)",
        "layer": "<Linear",
        "weight": "Parameter(shape=(2, 3), dtype=float32)",
        "scalar": "Tensor(shape=(), dtype=float32)",
        "both": "[Tensor(shape=(2, 3), dtype=float32), "
        "Tensor(shape=(4,), dtype=int64)]",
        "empty": "Tensor(shape=(0, 5), dtype=bool)",
        "brain": "Tensor(shape=(2, 2), dtype=bfloat16)",
        "complexes": "Tensor(shape=(2,), dtype=complex64)",
    }
