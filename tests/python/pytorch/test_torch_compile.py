"""torch.compile is not disturbed: the same graphs, breaks and outputs as without us."""

from __future__ import annotations

import json
import pathlib

import pytest

from conftest import Runner

PROGRAM = """
    import json, sys, warnings
    warnings.simplefilter("ignore")
    import torch
    from torch import nn
    from torch._dynamo.utils import counters
    from torch._dynamo.testing import CompileCounterWithBackend

    HANDLED = {torch.add: "add"}

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = nn.Linear(4, 8), nn.Linear(8, 2)

        def forward(self, x):
            return self.last(torch.nn.functional.gelu(self.first(x)).add_(1)[:, 1:7].sin()
                             @ torch.ones(6, 8))

    def broken(x):
        y = torch.relu(x) * 2
        if y.sum() > 0:
            y = y - 1
        print("in the middle", end="")
        return torch.cat([y, x], dim=-1)[..., ::2].contiguous()

    def lookup(x):
        return x + 1 if HANDLED[torch.add] == "add" else x

    def main():
        torch.manual_seed(5)
        told = {}
        x = torch.randn(3, 4, requires_grad=True)
        for name, function in (("net", Net()), ("broken", broken), ("lookup", lookup)):
            torch._dynamo.reset()
            counters.clear()
            counting = CompileCounterWithBackend(sys.argv[1])
            compiled = torch.compile(function, backend=counting)
            outs = [compiled(x), compiled(x), compiled(torch.randn(5, 4))]
            outs[0].sum().backward()
            told[name] = {
                "frames": counting.frame_count,
                "graphs": [
                    [getattr(node.target, "__name__", node.target) for node in graph.graph.nodes]
                    for graph in counting.graphs
                ],
                "breaks": dict(counters["graph_break"]),
                "stats": dict(counters["stats"]),
                "frames_ok": dict(counters["frames"]),
                "outs": [out.detach().tolist() for out in outs],
                "gradient": x.grad.tolist(),
            }
        print()
        print(json.dumps(told))

    main()
"""


@pytest.mark.parametrize(
    ("backend", "options"),
    [
        ("eager", ["--torch", "ops"]),
        ("eager", ["--level", "values", "--torch", "ops"]),
        ("eager", ["--all", "--torch", "all"]),
        ("aot_eager", ["--torch", "ops"]),
        ("aot_eager", ["--torch", "all"]),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_graphs_breaks_and_outputs(
    runner: Runner, backend: str, options: list[str]
) -> None:
    bare = runner.plain(PROGRAM, backend)
    recorded = runner.record(PROGRAM, backend, options=options)
    assert (bare.rc, recorded.rc) == (0, 0), recorded.stderr
    theirs = json.loads(bare.stdout.splitlines()[-1])
    ours = json.loads(recorded.stdout.splitlines()[-1])
    assert theirs["net"]["frames"] >= 1 and theirs["net"]["breaks"] == {}
    assert theirs["broken"]["breaks"] != {}
    for name in theirs:
        assert ours[name] == theirs[name], name
    assert recorded.stdout == bare.stdout
    assert pathlib.Path(recorded.film).exists()
