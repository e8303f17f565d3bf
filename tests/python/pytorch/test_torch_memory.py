"""References and memory: what the program had before it has after, and a long loop does
not grow."""

from __future__ import annotations

import json

from conftest import Runner

REFERENCES = """
    import gc, json, sys, weakref
    import torch
    import filmstrip

    MANY = 400

    class Odd:
        pass

    def calls(a, b, pair, scale):
        torch.add(a, b, alpha=scale)
        a + b
        a.add_(b)
        a[1:]
        a[0] = 1
        a.relu()
        torch.cat(pair, dim=0)
        torch.stack(list(pair))
        torch.nn.functional.linear(a, torch.ones(2, 3))
        a.max(dim=0)
        for wrong in (lambda: a @ torch.ones(7), lambda: a.view(9), lambda: a[9],
                      lambda: torch.add(a, Odd())):
            try:
                wrong()
            except Exception:
                pass

    def counts(things):
        return [sys.getrefcount(thing) for thing in things]

    def main(on):
        a, b = torch.ones(3), torch.ones(3)
        pair, scale = (a, b), 1234567.5
        things = [a, b, pair, scale, torch.float32, torch.Tensor, torch.add, None.__class__]
        calls(a, b, pair, scale)
        first = counts(things)
        if on:
            filmstrip.start("refs.film", force=True, level="calls", torch="ops")
        for _ in range(20):
            calls(a, b, pair, scale)
        gc.collect()
        before, objects = counts(things), len(gc.get_objects())
        for _ in range(MANY):
            calls(a, b, pair, scale)
        gc.collect()
        after, grown = counts(things), len(gc.get_objects()) - objects
        died = []
        def dies():
            made = torch.ones(5) * 2
            weakref.finalize(made, died.append, 1)
            part = made[1:]
        dies()
        if on:
            filmstrip.stop()
        stopped = counts(things)
        print(json.dumps([first, before, after, stopped, grown, len(died)]))

    main(False)
    main(True)
"""

LOOP = """
    import json, os, sys
    import torch

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def step(net, optimiser, x):
        optimiser.zero_grad()
        net(x).square().mean().backward()
        optimiser.step()

    def main():
        torch.set_num_threads(1)
        net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
        optimiser = torch.optim.SGD(net.parameters(), lr=0.01)
        sizes = []
        for part in range(5):
            for _ in range(1500):
                step(net, optimiser, torch.randn(4, 8))
            sizes.append(resident())
        print(json.dumps(sizes))

    main()
"""


def test_references_are_as_before(runner: Runner) -> None:
    result = runner.plain(REFERENCES)
    assert (result.rc, result.stderr) == (0, "")
    bare, ours = map(json.loads, result.stdout.splitlines())
    first, before, after, stopped, grown, died = ours
    assert after == before
    assert stopped == first
    assert grown <= max(bare[4], 0) + 4
    assert died == bare[5] == 1


def test_a_loop_does_not_grow(runner: Runner) -> None:
    """Some 180,000 operations; from the second of five parts on nothing is added."""
    result = runner.record(LOOP, options=["--torch", "ops"])
    assert (result.rc, result.stderr) == (0, "")
    sizes = json.loads(result.stdout)
    assert sizes[-1] - sizes[1] < 3 << 20, sizes


def test_a_loop_does_not_grow_with_values(runner: Runner) -> None:
    options = ["--level", "values", "--torch", "all", "--torch-values"]
    result = runner.record(LOOP, options=options)
    assert (result.rc, result.stderr) == (0, "")
    sizes = json.loads(result.stdout)
    assert sizes[-1] - sizes[1] < 3 << 20, sizes
