"""At `--torch all` each node of the backward pass leads to the op that made it. The oracle
is Python's grad_fn: the program walks the graph after each line and notes which nodes,
by name and number, that line has made."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest

ORACLE = """
import json, sys, threading
import torch
import torch.nn.functional as F

torch.manual_seed(0)
NODES = {}  # (name, number, native thread): line; the nodes are kept alive
KEPT = []


def made(*results):
    "Notes the nodes that are new behind these tensors as those of the caller's line."
    line = sys._getframe(1).f_lineno
    todo = [one.grad_fn for one in results]
    while todo:
        node = todo.pop()
        if node is None or any(node is one for one in KEPT):
            continue
        KEPT.append(node)
        number = node._sequence_nr()
        if number < 2**63:
            key = json.dumps([node.name(), number, threading.current_thread().name])
            assert key not in NODES
            NODES[key] = line
        todo += [one for one, _ in node.next_functions]
    return results[0] if len(results) == 1 else results


def finish():
    with open(sys.argv[1], "w") as out:
        json.dump(NODES, out)
"""

PROGRAMS = {
    "mlp": """
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
x = torch.randn(3, 4)
for turn in range(2):
    out = made(net(x))
    loss = made(F.mse_loss(out, torch.zeros(3, 2)))
    loss.backward()
""",
    "many": """
a = torch.randn(4, 4, requires_grad=True)
b = made(a @ a.t())
c = made(F.layer_norm(torch.sigmoid(b) * 2 + b[0], (4,)))
u, v, *rest = made(*c.split([1, 1, 2], dim=1))
d = made(torch.einsum("ij,jk->ik", b, c))
e = made(torch.linalg.svd(d).S)
f = made(torch.stack([e.sum(), u.sum(), v.exp().mean()]))
g = made(*torch._foreach_mul([f, e], 2.0))
h = made(F.scaled_dot_product_attention(d[None], b[None], c[None]))
made(h.sum() + g[0].sum() + g[1].prod()).backward()
""",
    "in_place": """
a = torch.randn(3, 3, requires_grad=True)
b = made(a.clone())
b[0] = 1.0; made(b)
c = made(b.view(9))
c.mul_(2); made(c, b)
b.add_(1).relu_(); made(b)
d = made(b.t())
made(d.sum() + b.prod()).backward()
""",
    "custom": """
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return 2 * x * g

a = torch.randn(3, requires_grad=True)
b = made(Square.apply(a))
c = made(Square.apply(b * 2))
made(c.sum()).backward()
""",
    "twice": """
a = torch.randn(3, requires_grad=True)
b = made(a.sin() * a)
c = made(b.pow(3).sum())
g, = torch.autograd.grad(c, a, create_graph=True); made(g)
d = made((g * g).sum())
d.backward()
""",
    "checkpoint": """
from torch.utils.checkpoint import checkpoint

def block(x):
    y = made(x * 2)
    return made(torch.tanh(y))

a = torch.randn(3, requires_grad=True)
b = made(checkpoint(block, a, use_reentrant=False))
made(b.sum()).backward()
""",
}


# Nodes that no backward pass of the program runs: a change in place gave their tensor
# another.
MISSING = {
    "in_place": {"ViewBackward0", "AsStridedBackward0"},
    "checkpoint": {"MulBackward0"},  # made by the recomputation, which nobody runs
}


def run(folder: pathlib.Path, program: str, *options: str) -> tuple[pathlib.Path, Any]:
    script = folder / "program.py"
    script.write_text(ORACLE + textwrap.dedent(program) + "\nfinish()\n")
    film, told = folder / "program.film", folder / "nodes.json"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "filmstrip", "run", "--no-progress", "--force"),
            *("--torch", "all", *options, "-o", film, script, told),
        ],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    nodes = {tuple(json.loads(key)): line for key, line in
             json.loads(told.read_text()).items()}  # fmt: skip
    return film, nodes


def dump(film: pathlib.Path) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-m", "filmstrip", "dump", film],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return [json.loads(line) for line in done.stdout.splitlines()]


def nodes_of(events: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for one in events:
        if one["kind"] == "op" and one.get("node") and "sequence" in one:
            yield one


@pytest.mark.parametrize("level", ["calls", "values"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_node_leads_to_its_line(
    tmp_path: pathlib.Path, name: str, level: str
) -> None:
    film, wanted = run(tmp_path, PROGRAMS[name], "--level", level)
    events = dump(film)
    by_number = {(one["thread"], one["event"]): one for one in events}
    told = log_lines(film)
    nodes = [node for node in nodes_of(events) if "forward" in node]
    assert [node["function"] for node in nodes] == [one for one, _ in told]
    ran = set()
    for node, (_, line) in zip(nodes, told, strict=True):
        key = (node["function"], node["sequence"], "MainThread")
        made = by_number[(node["forward"]["thread"], node["forward"]["op"])]
        inner = by_number[(node["forward"]["thread"], node["forward"]["inner"])]
        assert made["event"] <= inner["event"] < node["event"]
        assert inner["inner"] and inner["sequence"] <= node["sequence"]
        if key in wanted:
            assert line == wanted[key], (key, made)
            ran.add(key)
        else:  # made anew in the backward pass, or run by another node: in no graph
            assert name in ("in_place", "twice", "checkpoint", "many"), key
    missing = set(wanted) - ran
    assert not missing or name in MISSING, missing
    assert {key[0] for key in missing} <= MISSING.get(name, set())


def log_lines(film: pathlib.Path) -> list[tuple[str, int | None]]:
    """(node, line of the program) of each `op NODE ... (of FILE:LINE ...)`, in order."""
    done = subprocess.run(
        [sys.executable, "-m", "filmstrip", "log", "--ops", film],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    found: list[tuple[str, int | None]] = []
    for line in done.stdout.splitlines():
        if "  (of " in line:
            node = line.split(" op ", 1)[1].split(" ", 1)[0]
            file, _, rest = line.split("  (of ", 1)[1].partition(":")
            ours = file.endswith("program.py")
            found.append((node, int(rest.split(" ", 1)[0]) if ours else None))
    return found


def test_numbers_of_other_threads(tmp_path: pathlib.Path) -> None:
    """Each thread has numbers of its own: a node tells whose it is."""
    film, wanted = run(
        tmp_path,
        """
        results = {}

        def forward(index):
            a = torch.randn(3, requires_grad=True)
            for turn in range(index):
                a = made(a * 2)
            results[index] = made(a.sin())

        threads = [threading.Thread(target=forward, args=(i,), name=f"t{i}")
                   for i in range(1, 4)]
        for one in threads:
            one.start()
            one.join()
        total = made(sum(results.values()).sum())

        def backward():
            total.backward()

        other = threading.Thread(target=backward)
        other.start()
        other.join()
        """,
    )
    events = dump(film)
    names = {one["thread"]: one["name"] for one in events
             if one["kind"] == "thread_start"}  # fmt: skip
    by_number = {(one["thread"], one["event"]): one for one in events}
    found = set()
    for node in nodes_of(events):
        made = by_number[(node["forward"]["thread"], node["forward"]["op"])]
        key = (node["function"], node["sequence"], names[made["thread"]])
        assert made["line"] == wanted[key], key
        found.add(key)
    assert found == set(wanted)
    assert len({key[2] for key in found}) == 4


def test_the_log_names_function_and_module(tmp_path: pathlib.Path) -> None:
    film, _ = run(
        tmp_path,
        """
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = torch.nn.ModuleList([torch.nn.Linear(3, 3)])

            def forward(self, x):
                return F.layer_norm(self.layers[0](x), (3,))

        Net()(torch.ones(2, 3)).sum().backward()
        """,
    )
    done = subprocess.run(
        [sys.executable, "-m", "filmstrip", "log", "--ops", film],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    (line,) = [one for one in done.stdout.splitlines() if " op AddmmBackward0" in one]
    assert "torch.nn.functional.linear [layers.0])" in line
    (line,) = [one for one in done.stdout.splitlines()
               if " op NativeLayerNormBackward0" in one]  # fmt: skip
    assert "/program.py:" in line and " torch.layer_norm" in line
    assert "torch.zeros" not in done.stdout  # the trial of the recorder is not in it


def test_many_blocks(tmp_path: pathlib.Path) -> None:
    """Ops and nodes in chunks far from one another."""
    film, wanted = run(
        tmp_path,
        """
        def grow(a):
            for turn in range(4000):
                a = a * 1.0001
            return a

        a = torch.randn(3, requires_grad=True)
        b = grow(a)
        b.sum().backward()
        """,
    )
    events = dump(film)
    by_number = {(one["thread"], one["event"]): one for one in events}
    seen = 0
    for node in nodes_of(events):
        made = by_number[(1, node["forward"]["op"])]
        inner = by_number[(1, node["forward"]["inner"])]
        assert inner["sequence"] == node["sequence"]
        if node["function"] == "MulBackward0":
            assert made["function"] == "torch.Tensor.__mul__"
            assert made["event"] + 1 == inner["event"]
            seen += 1
    assert seen == 4000
    assert max(one["event"] for one in events) > 3 * 16384


def test_nesting_when_an_op_raises(tmp_path: pathlib.Path) -> None:
    film, _ = run(
        tmp_path,
        """
        a = torch.ones(2, 3, requires_grad=True)
        for turn in range(3):
            for call in (lambda: torch.mm(a, a), lambda: F.linear(a, torch.ones(5, 5)),
                         lambda: a.view(7), lambda: torch.einsum("ij,jk", a, a),
                         lambda: torch.ones(1).backward()):
                try:
                    call()
                except RuntimeError:
                    pass
            (a * 2).sum().backward()

        class Bad(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 1

            @staticmethod
            def backward(ctx, g):
                raise ValueError("bad")

        try:
            Bad.apply(a).sum().backward()
        except ValueError:
            pass
        torch.add(a, 1)
        """,
    )
    check_nesting(dump(film))


def check_nesting(events: list[dict[str, Any]]) -> None:
    """Each op ends, the innermost first."""
    open_ops: dict[int, list[int]] = {}
    for one in events:
        if one["kind"] == "op":
            open_ops.setdefault(one["thread"], []).append(one["event"])
        elif one["kind"] == "op_end":
            assert open_ops[one["thread"]].pop() == one["op"], one
    assert not any(open_ops.values())


def test_a_thread_that_runs_backward_and_a_fork(tmp_path: pathlib.Path) -> None:
    film, _ = run(
        tmp_path,
        """
        import os
        a = torch.randn(16, 16, requires_grad=True)

        def work():
            for turn in range(20):
                (a @ a).tanh().sum().backward()

        threads = [threading.Thread(target=work) for _ in range(3)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        child = os.fork()
        if child == 0:
            (a * 3).sum()
            with torch.no_grad():
                (a * 3).sum()
            sys.stdout.flush()
        else:
            assert os.waitpid(child, 0)[1] == 0
            (a * 2).sum().backward()
        """,
    )
    films = sorted(tmp_path.glob("*.film"))
    assert len(films) == 2
    for one in films:
        events = dump(one)
        check_nesting(events)
        names = [op["function"] for op in events if op["kind"] == "op"]
        assert "aten::mul" in names
    threads = {node["thread"] for node in nodes_of(dump(film))}
    assert len(threads) == 4


STRESS = """
import os, sys, threading, time
import filmstrip, torch

torch.set_num_threads(1)
stop = False
counts = [0] * 4


def work(index):
    a = torch.randn(24, 24, requires_grad=index % 2 == 0)
    while not stop:
        b = a @ a
        if index % 2 == 0:
            b.sum().backward()
            a.grad = None
        try:
            torch.mm(a, torch.ones(3))
        except RuntimeError:
            pass
        counts[index] += 1


threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(4)]
for one in threads:
    one.start()
for turn in range(int(sys.argv[2])):
    path = os.path.join(sys.argv[1], f"{turn}.film")
    with filmstrip.record(path, torch="all", force=True):
        torch.ones(2) + 1
        if turn % 3 == 0:
            filmstrip.pause()
            torch.ones(2) + 2
            filmstrip.resume()
        if turn % 10 == 0:
            time.sleep(0.02)
stop = True
for one in threads:
    one.join()
assert all(counts), counts
"""


def test_starts_and_stops_while_threads_run(tmp_path: pathlib.Path) -> None:
    """200 recordings, begun and ended while other threads are within ops."""
    script = tmp_path / "stress.py"
    script.write_text(STRESS)
    films = tmp_path / "films"
    films.mkdir()
    done = subprocess.run(
        [sys.executable, script, films, "200"],
        capture_output=True, text=True, timeout=400,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    inner = ends = 0
    for turn in range(200):
        film = films / f"{turn}.film"
        checked = subprocess.run(
            [sys.executable, "-m", "filmstrip", "check", film],
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert checked.returncode == 0, checked.stdout + checked.stderr
        if turn % 8 == 0:
            ops: dict[Any, dict[str, Any]] = {}
            for one in dump(film):
                assert one["kind"] != "lost_control", one
                if one["kind"] == "op":
                    ops[(one["thread"], one["event"])] = one
                    inner += bool(one.get("inner"))
                elif one["kind"] == "op_end":
                    begun = ops.pop((one["thread"], one["op"]))  # it began here
                    assert begun["time_ns"] <= one["time_ns"]
                    ends += 1
    assert inner > 100 and ends > 100
