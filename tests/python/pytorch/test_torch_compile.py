"""torch.compile is not disturbed: the same graphs, breaks and outputs as without us."""

from __future__ import annotations

import json
import os
import pathlib

import pytest

from conftest import Event, Result, Runner, dump_events

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


REGIONS = """
    import json, sys, warnings
    warnings.simplefilter("ignore")
    import torch, filmstrip

    def helper(y):
        return y * 2

    def broken(x):
        y = torch.relu(x) * 2
        print("in the middle")
        return torch.cat([helper(y), x], dim=-1)

    def refused(graph, inputs):
        def run(*values):
            raise ValueError("refused")
        return run

    def gives_up(graph, inputs):
        raise RuntimeError("not today")

    def main():
        compiled = torch.compile(broken, backend=sys.argv[1])
        x = torch.ones(3, 4, requires_grad=True)
        for size in (3, 3, 5, 7):
            compiled(torch.ones(size, 4, requires_grad=True)).sum().backward()
        optimiser = torch.optim.SGD([x], lr=0.1)
        optimiser.zero_grad()
        optimiser.step()
        for backend in (refused, gives_up):
            try:
                torch.compile(helper, backend=backend)(x)
            except Exception as error:
                print(type(error).__name__)

    main()
"""


def complaints(result: Result) -> str:
    """What was written to stderr, but for what torch itself says where triton is not."""
    lines = result.stderr.splitlines(keepends=True)
    return "".join(line for line in lines if "triton not found" not in line)


def recorded(runner: Runner, backend: str, *options: str) -> list[Event]:
    result = runner.record(REGIONS, backend, options=list(options))
    assert (result.rc, complaints(result)) == (0, "")
    return dump_events(result.film)


def ops_of(events: list[Event]) -> list[Event]:
    return [event for event in events if event["kind"] == "op"]


def regions_of(events: list[Event]) -> list[str]:
    """The names of the ops of torch.compile, without those of the compiler."""
    names = [op["function"] for op in ops_of(events) if op.get("compiled")]
    assert all(name.startswith("torch.compile: ") for name in names)
    return [name for name in names if "compiling" not in name]


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_compiled_region_is_one_op(runner: Runner, backend: str) -> None:
    events = recorded(runner, backend)
    regions = regions_of(events)
    # Two graphs, for the code before the break and behind it; once more for other shapes.
    assert len(regions) == 9, regions
    assert regions[0] == regions[2] and regions[1] == regions[3]
    assert [name.partition("[")[2] for name in regions[:8]] == [
        "0/0]", "1/0]", "0/0]", "1/0]", "0/1]", "1/1]", "0/1]", "1/1]",
    ]  # fmt: skip
    assert all("__compiled_fn_" in name for name in regions)
    compiling = [
        op["function"].removeprefix("torch.compile: compiling")
        for op in ops_of(events)
        if "compiling" in op["function"]
    ]
    assert [name for name in compiling if "backward" not in name][:4] == [
        " [0/0]", " [1/0]", " [0/1]", " [1/1]",
    ]  # fmt: skip
    assert len(compiling) >= 6, compiling


def test_ops_lie_within_the_region(runner: Runner) -> None:
    events = recorded(runner, "eager")
    first = next(
        place
        for place, event in enumerate(events)
        if event["kind"] == "op" and "__compiled_fn_" in event["function"]
    )
    within: list[str] = []
    for event in events[first + 1 :]:
        if event["kind"] == "op_end" and event["op"] == events[first]["op"]:
            break
        if event["kind"] == "op":
            within.append(event["function"])
            assert "api" not in event, event
    assert within == ["torch.relu", "torch.Tensor.__mul__"]


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_nothing_of_the_compiler_is_shown(runner: Runner, backend: str) -> None:
    events = recorded(runner, backend)
    calls = {event["function"] for event in events if event["kind"] == "call"}
    own = {
        "broken",
        "main",
        "helper",
        "<module>",
        "run",
        "torch_dynamo_resume_in_broken",
    }
    for name in calls:
        last = name.rpartition(".")[2].rpartition("_at_")[0] or name.rpartition(".")[2]
        assert last in own or ":torch." in name or name.startswith("torch."), name
    names = [op["function"] for op in ops_of(events)]
    assert names.count("torch.Tensor.storage_offset") <= 4, "asked of fake tensors"
    assert "torch.sym_max" not in names


def test_a_region_that_raises(runner: Runner) -> None:
    events = recorded(runner, "eager")
    ends = {e["op"]: e for e in events if e["kind"] == "op_end"}
    ops = {e["op"]: e for e in ops_of(events)}
    assert ends.keys() == ops.keys(), "every op has its end"
    raised = [
        (ops[number]["function"], end["exception"]["type"])
        for number, end in ends.items()
        if "exception" in end
    ]
    assert [name for name, _ in raised if "__compiled_fn_" in name], raised
    assert [kind for _, kind in raised] == ["ValueError", "BackendCompilerFailed"]
    assert "compiling" in raised[1][0]


def test_all_leaves_out_the_compiler(runner: Runner) -> None:
    """Some 500,000 calls of Dynamo's."""
    events = recorded(runner, "aot_eager", "--all", "--level", "calls")
    calls = [event["function"] for event in events if event["kind"] == "call"]
    assert len(regions_of(events)) == 9
    assert not [name for name in calls if "InstructionTranslatorBase.step" in name]
    assert not [name for name in calls if "FakeTensorMode.dispatch" in name]


def test_the_compiler_can_be_asked_for(runner: Runner) -> None:
    result = runner.record(
        REGIONS,
        "eager",
        options=["--level", "calls", "--target", "torch._dynamo.convert_frame"],
    )
    assert (result.rc, complaints(result)) == (0, "")
    calls = [e["function"] for e in dump_events(result.film) if e["kind"] == "call"]
    assert [name for name in calls if name.endswith("._compile")], calls


LATE = """
    import json, warnings
    warnings.simplefilter("ignore")
    import torch, filmstrip
    from torch._dynamo.testing import CompileCounterWithBackend

    counting = CompileCounterWithBackend("eager")

    @torch.compile(backend=counting)
    def compiled(x):
        return torch.relu(x) * 2

    told, x = [], torch.ones(3)
    told.append((compiled(x).tolist(), counting.frame_count))
    for name in ("first", "second"):
        with filmstrip.record(name + ".film", torch="all"):
            told.append((compiled(x).tolist(), counting.frame_count))
        told.append((compiled(x).tolist(), counting.frame_count))
    with filmstrip.record("third.film"):
        compiled(torch.ones(4))
    told.append((compiled(torch.ones(6)).tolist(), counting.frame_count))
    print(json.dumps(told))
"""


def test_recording_begins_late_and_ends_early(runner: Runner) -> None:
    runner.write(LATE)
    result = runner.plain(None)
    assert (result.rc, complaints(result)) == (0, "")
    told = json.loads(result.stdout)
    assert told[:-1] == [[[2.0] * 3, 1]] * 5
    assert told[-1] == [[2.0] * 6, 2]  # compiled anew for other sizes, once
    for name, expected in (("first", ""), ("second", ""), ("third", "[0/1]")):
        regions = regions_of(dump_events(runner.folder / f"{name}.film"))
        # What was compiled before is known by its name alone.
        assert [region.partition(" [")[1:] for region in regions] == [
            (" [" if expected else "", expected.removeprefix("["))
        ], (name, regions)


EXPLAINS = """
    import torch

    def broken(x):
        y = torch.relu(x)
        print("in the middle")
        return y.sin() if y.sum() > 0 else y.cos()

    told = torch._dynamo.explain(broken)(torch.ones(3))
    print("Guard Count:", len(told.out_guards))
    print(sorted(guard.name + " " + guard.guard_types[0] if guard.guard_types else guard.name
                 for guard in told.out_guards))
    print([str(reason.reason) for reason in told.break_reasons])
    print([graph.code for graph in told.graphs])
    print("\\n".join(str(told).splitlines()[:3]))
"""


@pytest.mark.parametrize("torch_option", ["ops", "all"])
def test_explain_and_guards_are_the_same(runner: Runner, torch_option: str) -> None:
    bare = runner.plain(EXPLAINS)
    told = runner.record(EXPLAINS, options=["--torch", torch_option])
    assert (bare.rc, told.rc, complaints(told)) == (0, 0, "")

    assert "Guard Count: " in bare.stdout and "Graph Break Count: 2" in bare.stdout
    assert told.stdout == bare.stdout


@pytest.mark.skipif("FILMSTRIP_SLOW" not in os.environ, reason="compiles C++: a minute")
def test_inductor(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(runner.folder / "bare"))
    bare = runner.plain(PROGRAM, "inductor")
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(runner.folder / "recorded"))
    told = runner.record(PROGRAM, "inductor")
    assert (bare.rc, told.rc, complaints(told)) == (0, 0, "")
    assert told.stdout == bare.stdout
    events = dump_events(told.film)
    assert len(regions_of(events)) >= 9
    calls = {event["function"] for event in events if event["kind"] == "call"}
    assert not [name for name in calls if "compile_tasks" in name or "/c" in name], (
        calls
    )
    assert [film.name for film in runner.folder.glob("*.film")] == [told.film.name]
