"""Ops of PyTorch as they are read: dump, log --ops, exports, report, scrub, Python. Needs
`make torch`."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

import filmstrip
from conftest import (
    PROGRAM as PROGRAM_PATH,
)
from conftest import (
    RUN_CALLS,
    Runner,
    call_names,
    clean_environment,
    dump_events,
    run_program,
)

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed"
)

PROGRAM = """
import torch
from torch import nn
import torch.nn.functional as F

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)

    def forward(self, x):
        return F.relu(self.lin(x)) + x

def main():
    net = nn.Sequential(Block(), Block())
    x = torch.ones(4, 8)
    with torch.no_grad():
        y = net(x)
    x.add_(1, alpha=2)
    z = torch.stack([x, y], dim=0)
    try:
        torch.mm(x, x)
    except RuntimeError:
        pass
    return z

main()
"""


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    result = Runner(tmp_path_factory.mktemp("ops")).record(PROGRAM)
    assert (result.rc, result.stderr) == (0, "")
    return result.film


def log(film, *options):
    """The log's lines without times."""
    result = run_program("log", *options, film)
    assert result.rc == 0, result.stderr
    return [line[12:] for line in result.stdout.splitlines()]


def without_times(line):
    return re.sub(r"  [0-9.]+(ns|us|ms|s)\b", "", line)


def test_dump_tells_ops_and_their_ends(film):
    events = dump_events(film)
    ops = {event["op"]: event for event in events if event["kind"] == "op"}
    ends = [event for event in events if event["kind"] == "op_end"]
    assert len(ends) == len(ops) and {end["op"] for end in ends} == set(ops)
    for end in ends:
        op = ops[end["op"]]
        assert op["event"] == end["op"]
        assert end["duration_ns"] == end["time_ns"] - op["time_ns"]
        assert ("result" in end) != ("exception" in end)
    stack = next(op for op in ops.values() if op["function"] == "torch.stack")
    assert stack["kwargs"] == {"dim": {"text": "0", "type": "int"}}
    (tensors,) = stack["args"]
    assert [item["shape"] for item in tensors["items"]] == [[4, 8], [4, 8]]
    linear = [op for op in ops.values() if op["function"].endswith("linear")]
    assert [op["module"] for op in linear] == ["0.lin", "1.lin"]
    assert "grad" not in linear[0] and linear[0]["line"] == 12
    failed = next(end for end in ends if "exception" in end)
    assert ops[failed["op"]]["function"] == "torch.mm"
    assert failed["exception"]["type"] == "RuntimeError"


def test_metadata_is_what_torch_says(runner):
    result = runner.record(
        """
        import json
        import torch

        def main():
            a = torch.zeros(3, 4, 5)
            b = a[1:, ::2].transpose(1, 2)
            c = torch.zeros(2, 3, dtype=torch.complex64, requires_grad=True)
            d = torch.zeros(0, 3)[:, None]
            e = torch.zeros((), dtype=torch.int16)
            f = torch.empty(2, 3, device="meta")
            g = b.expand(7, *b.shape)
            return a, b, c, d, e, f, g

        said = {}
        for name, tensor in zip("abcdefg", main()):
            said[name] = {
                "shape": list(tensor.shape),
                "dtype": str(tensor.dtype).removeprefix("torch."),
                "device": str(tensor.device),
                "layout": str(tensor.layout).removeprefix("torch."),
                "requires_grad": tensor.requires_grad,
                "strides": list(tensor.stride()),
                "offset": tensor.storage_offset(),
                "version": tensor._version,
            }
        print(json.dumps(said))
        """,
        options=["--level", "values"],
    )
    assert (result.rc, result.stderr) == (0, "")
    said = json.loads(result.stdout)
    told = {
        event["name"]: event["value"]
        for event in dump_events(result.film)
        if event["kind"] == "set" and event.get("name") in said
    }
    assert set(told) == set(said)
    for name, facts in said.items():
        assert {key: told[name].get(key) for key in facts} == facts, name
    assert told["a"]["storage"] == told["b"]["storage"] == told["g"]["storage"]
    assert told["c"]["storage"] != told["a"]["storage"]


def test_log_shows_ops_only_when_asked(film):
    assert not [line for line in log(film) if " op torch" in line]
    told = [without_times(line) for line in log(film, "--ops")]
    (add,) = [line for line in told if "add_(" in line]
    assert re.fullmatch(
        r"\s+19      op torch.Tensor.add_\((t\d+), 1, alpha=2\)"
        r" -> \1: f32\[4, 8\] cpu  \1 changed: version 1",
        add,
    )
    (mm,) = [line for line in told if " op torch.mm(" in line]
    assert "raised RuntimeError: mat1 and mat2" in mm
    linear = [line for line in told if "linear(t" in line]
    assert [line.partition("  [")[2] for line in linear] == [
        "0.lin]  by torch.nn.modules.module.Module._wrapped_call_impl",
        "1.lin]  by torch.nn.modules.module.Module._wrapped_call_impl",
    ]
    for line in log(film, "--ops"):  # each op took a time
        assert " op " not in line or re.search(r"  [0-9.]+(ns|us|ms|s)\b", line)


def test_log_tells_once_what_a_tensor_is(film):
    told = "\n".join(log(film, "--ops"))
    named = re.findall(r"\bt(\d+)(: \w+\[[^]]*\])?", told)
    met = set()
    for number, what in named:
        if number not in met:
            assert what, number  # at its first mention
        met.add(number)
    assert sum(1 for _, what in named if not what) > len(met)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--function", "torch.stack"], {"torch.stack"}),
        (["--function", "torch.nn.functional.relu"], {"torch.relu"}),
        (["--function", "main", "--depth", "1"], set()),
        (["--thread", "1", "--function", "torch.mm"], {"torch.mm"}),
    ],
)
def test_filters_take_ops(film, options, expected):
    lines = run_program("log", "--ops", *options, film).stdout.splitlines()
    shown = [re.search(r" op ([\w.]+)", line) for line in lines]
    assert {op[1] for op in shown if op is not None} == expected
    told = run_program("log", "--format", "json", *options, film).stdout.splitlines()
    events = [json.loads(line) for line in told]
    ops = [event for event in events if event["kind"] == "op"]
    assert {event["function"] for event in ops} == expected
    assert len(ops) == sum(event["kind"] == "op_end" for event in events)


def test_a_part_by_time_and_number_has_its_ops(film):
    ops = [event for event in dump_events(film) if event["kind"] == "op"]
    last = ops[-1]
    by_number = log(film, "--ops", "--events", f"{last['event']}:{last['event'] + 2}")
    by_time = log(film, "--ops", "--from", f"{last['time_ns']}ns")
    assert len(by_number) == 1 and " op torch.mm(" in by_number[0]
    assert any(" op torch.mm(" in line for line in by_time)
    assert sum(" op " in line for line in by_time) <= 2


def test_only_long_ops(film):
    ends = [event for event in dump_events(film) if event["kind"] == "op_end"]
    least = sorted(event["duration_ns"] for event in ends)[len(ends) // 2]
    lines = log(film, "--ops", "--min-duration", f"{least}ns")
    shown = [line for line in lines if re.search(r"^\s+\d+ +(op|end) torch", line)]
    assert 0 < len(shown) <= len(ends)
    assert sum(" op " in line for line in lines) == sum(
        event["duration_ns"] >= least for event in ends
    )


def test_json_and_xml_logs_have_ops(film):
    functions = [e["function"] for e in dump_events(film) if e["kind"] == "op"]
    told = run_program("log", "--format", "json", film).stdout.splitlines()
    events = [json.loads(line) for line in told]
    assert [e["function"] for e in events if e["kind"] == "op"] == functions
    tree = ElementTree.fromstring(
        run_program("log", "--format", "xml", "--ops", film).stdout
    )
    assert [op.get("function") for op in tree.iter("op")] == functions
    assert all(op[-1].tag == "op_end" for op in tree.iter("op"))
    plain = ElementTree.fromstring(run_program("log", "--format", "xml", film).stdout)
    assert not list(plain.iter("op"))
    assert len(list(plain.iter("call"))) == len(list(tree.iter("call")))


def test_exports_and_report_have_ops(film, tmp_path):
    events = dump_events(film)
    functions = [event["function"] for event in events if event["kind"] == "op"]

    def export(form):
        out = tmp_path / form
        assert run_program("export", "--to", form, "-o", out, film).rc == 0
        return out.read_bytes()

    slices = json.loads(export("chrome"))["traceEvents"]
    begun = [each["name"] for each in slices if each["ph"] == "B"]
    # Python's functions have their file in parentheses.
    assert sorted(name for name in begun if "(" not in name) == sorted(functions)
    assert begun.count("torch.mm") == 1
    assert re.search(rb"main;torch\.stack \d+", export("collapsed"))
    assert b"torch.stack" in export("perfetto")
    rows = json.loads(run_program("report", "--json", film).stdout)["functions"]
    counted = {row["function"]: row["calls"] for row in rows}
    for function in set(functions):
        assert counted[function] == functions.count(function)
    assert f"op {len(functions)}," in run_program("info", film).stdout


def test_python_reads_ops(film):
    with filmstrip.open(film) as opened:
        dumped = dump_events(film)
        events = list(opened.events())
        assert len(events) == len(dumped)
        for event, told in zip(events, dumped):
            if event.kind == "op":
                assert event.op == event.number == told["op"]
                assert event.function == told["function"]
                assert event.args == told["args"] and event.kwargs == told["kwargs"]
                assert event.module == told.get("module")
                assert event.api == told.get("api")
                assert ("grad" in event.flags) == told.get("grad", False)
                assert event.sequence == told.get("sequence")
                assert event.result is event.changed is event.duration_ns is None
            elif event.kind == "op_end":
                assert event.op == told["op"]
                assert event.function == events[event.op].function
                assert event.result == told.get("result")
                assert event.changed == told.get("changed", [])
                assert event.duration_ns == told["duration_ns"]
                assert event.args is event.kwargs is event.flags is None
                assert event.text == told.get("exception", {}).get("type", "")
            else:
                assert event.op is event.kwargs is event.module is None
                assert event.result is event.changed is event.sequence is None


def test_scrub_keeps_ops(film, tmp_path):
    clean = tmp_path / "clean.film"
    result = run_program("scrub", film, clean, "--name", "alpha")
    assert result.rc == 0, result.stderr
    assert run_program("check", clean).rc == 0
    before, after = dump_events(film), dump_events(clean)
    assert call_names(after, "op") == call_names(before, "op")
    (add,) = [e for e in after if e.get("function") == "torch.Tensor.add_"]
    assert add["kwargs"]["alpha"]["redacted"] is True
    assert add["args"] == next(e for e in before if e["event"] == add["event"])["args"]


def test_moments_within_ops(film):
    """Every event of an op is a moment with its frame's stack and variables."""
    with filmstrip.open(film) as opened:
        for event in opened.events():
            if event.kind not in ("op", "op_end") or event.frame == 0:
                continue
            moment = opened.at(thread=event.thread, event=event.number)
            assert moment.lineno == event.line
            assert moment.stack[-1].serial == event.frame


def test_an_op_that_kills_the_process_is_the_last_line(runner):
    result = runner.record(
        """
        import os, signal
        import torch

        class Fatal(torch.autograd.Function):
            @staticmethod
            def forward(context, x):
                os.kill(os.getpid(), signal.SIGKILL)
                return x

        x = torch.ones(2)
        torch.add(x, x)
        Fatal.apply(x)
        """
    )
    assert result.rc != 0
    lines = log(result.film, "--ops")
    assert any(" op torch.add(" in line for line in lines)
    assert "Fatal.forward" in lines[-1]


def test_following_shows_an_op_that_hangs(runner):
    """Its line does not wait for an end that never comes."""
    path = runner.write(
        """
        import functools, os, torch

        nobody_reads, pipe = os.pipe()
        full = functools.partial(print, "x" * 1_000_000, file=os.fdopen(pipe, "w"))

        class Waits(torch.Tensor):  # what C code calls blocks, without an event
            __torch_function__ = staticmethod(full)

        x = torch.ones(2).as_subclass(Waits)
        print("waiting", flush=True)
        torch.add(x, 1)
        """,
        "hang.py",
    )
    film = runner.folder / "hang.film"
    with subprocess.Popen(
        [sys.executable, *RUN_CALLS, "-o", film, path],
        stdout=subprocess.PIPE,
        text=True,
        env=clean_environment(),
    ) as program:
        try:
            assert program.stdout.readline() == "waiting\n"
            with subprocess.Popen(
                [PROGRAM_PATH, "log", "--ops", "--follow", film],
                stdout=subprocess.PIPE,
                text=True,
            ) as follower:
                for line in follower.stdout:
                    if " op torch.add(" in line:
                        break
                else:
                    raise AssertionError("the op is not shown")
                follower.kill()
        finally:
            program.kill()
