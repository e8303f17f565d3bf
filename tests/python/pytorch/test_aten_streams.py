"""At `--torch all` the operations within torch's C++ are recorded too: the aten stream
equals what a TorchDispatchMode sees (dispatch_oracle.py), forwards and backwards.

torch's observer tells more than a mode: composite operations above those that reach the
dispatcher's Python key, autograd's nodes, and what kernels call themselves. So a tree of
observed operations is walked from above: what the mode has seen next is taken, and what
is below it passed over; anything else must be composite, or no operation of aten.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import pathlib

import pytest

from conftest import dump_events, run_python
from pytorch import compare

HERE = pathlib.Path(__file__).parent
if importlib.util.find_spec("torch") is not None:
    import torch

# With a dispatch mode torch takes other ways through these (layers of cuDNN's kind are
# decomposed, versions are counted in inference mode): their results differ from those
# without it, recorded or not.
DISTURBED = {"complex_numbers", "foreach", "inference", "rnn"}
# Modes are off in repr() of tensors, and where torch.func's transforms are at work.
BLIND = {"calls", "decomposed", "vmap"}
# What a mode sees and the observer is not told of: `.data` and `.detach()` by C++ code.
MODE_ONLY = {"aten::detach"}
# And the other way round: as_subclass() goes past the modes.
OBSERVER_ONLY = {"aten::alias"}
# Where a mode is on reshape() makes a view by the other operation, and gradients that
# meet are not added up in place.
SAME = {"aten::_reshape_alias": "aten::view", "aten::add_": "aten::add"}
PROGRAMS = sorted(
    path.stem
    for path in (HERE / "programs").glob("*.py")
    if path.stem not in DISTURBED | BLIND | {"threads"}
)


@functools.cache
def is_composite(name: str) -> bool:
    """Whether an operation may be made of others before the Python key."""
    for schema in torch._C._jit_get_schemas_for_operator(name):
        full = f"{name}.{schema.overload_name}" if schema.overload_name else name
        # The interpreter of TorchScript has overloads that the dispatcher has not.
        if torch._C._dispatch_has_kernel(full) and has_composite_kernel(full):
            return True
    return False


def has_composite_kernel(name: str) -> bool:
    key = "CompositeImplicitAutograd"
    return torch._C._dispatch_has_kernel_for_dispatch_key(name, key)


def read_tree(events: list[compare.Record]) -> list[list]:
    """The inner operations of the main thread: [name, children, whether it raised, or
    what it was called by]."""
    begin, end = compare.window(events, "__main__.run")
    roots: list[list] = []
    within: list[list] = []
    for event in events:
        if event["thread"] != 1 or not begin <= event["time_ns"] <= end:
            continue
        if event["kind"] == "op":
            node = [event["function"] if event.get("inner") else "", [], False]
            (within[-1][1] if within else roots).append(node)
            within.append(node)
        elif event["kind"] == "op_end":
            within.pop()[2] = "exception" in event
    return roots


def differences(nodes: list[list], expected: list[str]) -> list[str]:
    place = 0
    found: list[str] = []

    def is_next(name: str) -> bool:
        nonlocal place
        ahead = place
        while ahead < len(expected) and name != expected[ahead]:
            if expected[ahead] not in MODE_ONLY:
                return False
            ahead += 1
        if ahead == len(expected):
            return False
        place = ahead + 1
        return True

    def walk(nodes: list[list], failed: bool = False) -> None:
        for name, children, raised in nodes:
            if is_next(name) or is_next(SAME.get(name, name)) or name in OBSERVER_ONLY:
                continue
            leaf = not (
                children or failed or raised
            )  # where it raised no mode may be reached
            if leaf and name.startswith("aten::") and not is_composite(name):
                near = expected[place : place + 3]
                found.append(f"{name} where the mode saw {near}")
            walk(children, failed or raised)

    walk(nodes)
    while place < len(expected) and expected[place] in MODE_ONLY:
        place += 1
    if place < len(expected):
        found.append(f"not seen: {expected[place : place + 5]} ({place} were)")
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_aten_stream_equals_a_dispatch_mode(name: str, tmp_path: pathlib.Path) -> None:
    def drive(*before: object, after: tuple[object, ...] = ()) -> str:
        words = [*before, HERE / "drive.py", name, tmp_path / "result.json", *after]
        done = run_python([str(word) for word in words], tmp_path)
        assert (done.rc, done.stderr) == (0, "")
        return (tmp_path / "result.json").read_text()

    film, seen = tmp_path / "all.film", tmp_path / "aten.jsonl"
    options = ("--level", "calls", "--torch", "all")
    ours = drive("-m", "filmstrip", "run", "-o", film, *options)
    theirs = drive(after=("--aten", seen))
    assert ours == theirs
    told = [json.loads(line)["function"] for line in seen.read_text().splitlines()]
    expected = [name for name in told if not name.startswith("profiler::")]
    assert len(expected) > 5
    found = differences(read_tree(dump_events(film)), expected)
    assert found[: compare.MOST] == []
