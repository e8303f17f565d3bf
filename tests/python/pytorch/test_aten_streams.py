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
PROGRAMS = sorted(
    path.stem
    for path in (HERE / "programs").glob("*.py")
    if path.stem not in DISTURBED | {"threads", "decomposed"}
)


@functools.cache
def is_composite(name: str) -> bool:
    """Whether an operation may be made of others before the Python key."""
    schemas = torch._C._jit_get_schemas_for_operator(name)
    return any(
        torch._C._dispatch_has_kernel_for_dispatch_key(
            f"{name}.{schema.overload_name}" if schema.overload_name else name,
            "CompositeImplicitAutograd",
        )
        for schema in schemas
    )


def read_tree(events: list[compare.Record]) -> list[list]:
    """The inner operations of the main thread: [name, children]."""
    begin, end = compare.window(events, "__main__.run")
    roots: list[list] = []
    within: list[list] = []
    for event in events:
        if event["thread"] != 1 or not begin <= event["time_ns"] <= end:
            continue
        if event["kind"] == "op":
            node = [event["function"] if event.get("inner") else "", []]
            (within[-1][1] if within else roots).append(node)
            within.append(node)
        elif event["kind"] == "op_end":
            within.pop()
    return roots


def differences(nodes: list[list], expected: list[str]) -> list[str]:
    place = 0
    found: list[str] = []

    def walk(nodes: list[list]) -> None:
        nonlocal place
        for name, children in nodes:
            if place < len(expected) and name == expected[place]:
                place += 1
                continue
            if not children and name.startswith("aten::") and not is_composite(name):
                near = expected[place : place + 3]
                found.append(f"{name} where the mode saw {near}")
            walk(children)

    walk(nodes)
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
    expected = [
        record["function"] for record in map(json.loads, seen.read_text().splitlines())
    ]
    assert len(expected) > 5
    found = differences(read_tree(dump_events(film)), expected)
    assert found[: compare.MOST] == []
