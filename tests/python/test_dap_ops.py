"""`filmstrip dap` and `filmstrip step` at operations of PyTorch: an op is a place to stop
at. Needs `make torch`."""

from __future__ import annotations

import importlib.util
import pathlib
import subprocess
import sys

import pytest

from dap_client import Client
from step_stories import record

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed"
)

PROGRAM = """\
import torch


def layer(x, w):
    h = torch.mm(x, w)
    h = torch.nn.functional.layer_norm(h, (3,))
    return h.relu_()


x = torch.ones(2, 4)
w = torch.ones(4, 3)
for i in range(3):
    y = layer(x, w)
    z = torch.add(y, x[:, :3], alpha=2)
"""


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("dap_ops")
    return record(folder, PROGRAM, "ops.py", "--torch-values")


def stop_at(client: Client, *names: str) -> list[dict[str, object]]:
    points = [{"name": name} for name in names]
    found = client.setFunctionBreakpoints(breakpoints=points)["breakpoints"]
    return list(found)


def operation(client: Client) -> dict[str, dict[str, object]]:
    scopes = client.scopes(frameId=client.top()["id"])["scopes"]
    (scope,) = [one for one in scopes if one["name"] == "Operation"]
    found = client.variables(variablesReference=scope["variablesReference"])
    return {one["name"]: one for one in found["variables"]}


def test_function_breakpoints_on_ops(film: pathlib.Path) -> None:
    with Client() as client:
        client.begin(film)
        first, second, none = stop_at(client, "torch.mm", "op relu_", "torch.bmm")
        assert first["verified"] and second["verified"] and not none["verified"]
        assert "torch.bmm" in str(none["message"])
        lines = []
        while (stopped := client.move("continue"))["reason"] == "function breakpoint":
            lines.append(client.line())
        assert lines == [5, 7] * 3
        assert stopped["reason"] == "end of recording"
        back = client.move("reverseContinue")
        assert back["reason"] == "function breakpoint" and client.line() == 7


def test_a_function_of_the_program_goes_first(film: pathlib.Path) -> None:
    """A name that is a function's is one of a function; nothing called it is told."""
    with Client() as client:
        client.begin(film)
        (point,) = stop_at(client, "layer")
        assert point["verified"]
        client.move("continue")
        assert client.top()["name"] == "layer"


def test_conditions_and_counts(film: pathlib.Path) -> None:
    with Client() as client:
        client.begin(film)
        client.setFunctionBreakpoints(
            breakpoints=[{"name": "torch.add", "condition": "i == 1"}]
        )
        client.move("continue")
        assert client.locals()["i"] == "1"
        assert client.move("continue")["reason"] == "end of recording"
        client.setFunctionBreakpoints(
            breakpoints=[{"name": "op torch.mm", "hitCondition": "3"}]
        )
        client.move("reverseContinue")
        assert client.top()["name"].startswith("layer, at torch.mm(")
        assert client.evaluate(expression="i")["result"] == "2"


def test_the_frame_and_the_scope_tell_the_op(film: pathlib.Path) -> None:
    with Client() as client:
        client.begin(film)
        stop_at(client, "torch.add")
        client.move("continue")
        frame = client.top()
        assert frame["name"].startswith("<module>, at torch.add(t")
        assert frame["name"].endswith("alpha=2)")
        found = operation(client)
        assert found["(function)"]["value"] == "torch.add"
        assert found["alpha"]["value"] == "2"
        assert "f32[2, 3] cpu" in str(found["argument 0"]["value"])
        result = found["(result)"]
        assert "f32[2, 3] cpu" in str(result["value"])
        parts = {
            one["name"]: one["value"]
            for one in client.variables(
                variablesReference=result["variablesReference"]
            )["variables"]
        }
        assert parts["shape"] == "[2, 3]" and parts["dtype"] == "float32"
        assert parts["requires_grad"] == "False" and parts["device"] == "cpu"
        # y is relu of rows that are all alike: zeros; x is ones, twice
        assert float(parts["min"]) == float(parts["max"]) == 2.0
        assert parts["nonfinite"] == "0"


def test_what_an_op_changes_in_place(film: pathlib.Path) -> None:
    with Client() as client:
        client.begin(film)
        stop_at(client, "relu_")
        client.move("continue")
        found = operation(client)
        before, after = found["argument 0"], found["(result)"]

        def version(of: dict[str, object]) -> str:
            reference = of["variablesReference"]
            members = client.variables(variablesReference=reference)["variables"]
            return str({one["name"]: one["value"] for one in members}["version"])

        assert int(version(after)) == int(version(before)) + 1


def test_instructions_are_ops(film: pathlib.Path) -> None:
    """next goes over the ops of functions that are called, stepIn into them."""
    with Client() as client:
        client.begin(film)
        client.setBreakpoints(source={"path": "ops.py"}, breakpoints=[{"line": 13}])
        client.move("continue")
        client.setBreakpoints(source={"path": "ops.py"}, breakpoints=[])

        def go(command: str) -> str:
            client.move(command, granularity="instruction")
            name: str = client.top()["name"]
            return name.split("(")[0]

        assert go("stepIn") == "layer, at torch.mm"
        assert go("next").endswith("at torch.layer_norm")
        assert go("next") == "layer, at torch.Tensor.relu_"
        assert go("next") == "<module>, at torch.Tensor.__getitem__"
        assert go("next") == "<module>, at torch.add"
        assert go("next") == "<module>, at torch.Tensor.__getitem__"  # over layer()
        assert go("stepBack") == "<module>, at torch.add"
        assert go("stepIn") == "layer, at torch.mm"


def test_the_words_of_the_console(film: pathlib.Path) -> None:
    with Client() as client:
        client.begin(film)

        def say(text: str) -> str:
            frame = client.top()["id"]
            answer: str = client.evaluate(
                expression=text, frameId=frame, context="repl"
            )["result"]
            return answer

        assert "torch.ones" in say("op")
        client.stopped()
        assert "torch.mm" in say("op 2")
        client.stopped()
        assert "torch.ones" in say("rop")
        client.stopped()
        stop_at(client, "torch.add")
        client.move("continue")
        assert "relu_" in say("made y")


def step(film: pathlib.Path, *lines: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "filmstrip", "step", film],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.stdout


def test_step_breaks_at_ops(film: pathlib.Path) -> None:
    out = step(film, "break op torch.mm", "c", "c", "break op relu_ hit 3", "delete 1",
               "c", "rc")  # fmt: skip
    assert out.count("torch.mm(t") == 2
    assert "breakpoint 1: op torch.mm" in out
    assert "breakpoint 2: op relu_ hit 3" in out
    assert "torch.Tensor.relu_(t" in out
    assert "no operation 'nothing' was recorded" in step(film, "break op nothing")
    out = step(film, "break op torch.add if i == 2", "c", "p i")
    assert out.rstrip().endswith("2")
