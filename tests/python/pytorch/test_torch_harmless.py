"""A recording that starts within what the program has switched on: nothing of it is seen
by the recorder's own tries, and they are not seen by it."""

from __future__ import annotations

import json

import pytest

from conftest import Event, Runner, dump_events

PROGRAM = """
    import json, sys, threading, warnings
    import torch, filmstrip
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    seen, recordings = [], []

    class Functions(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            seen.append(str(function))
            return function(*args, **(kwargs or {}))

    class Dispatches(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            seen.append(str(function))
            return function(*args, **(kwargs or {}))

    def begin():
        recordings.append(filmstrip.record("out.film", torch=sys.argv[2]))
        recordings[0].__enter__()

    def within(tensor):
        begin()
        return (tensor * 2).sum()

    def start(how):
        if how == "vmap":
            torch.vmap(within)(torch.ones(2, 3))
        elif how == "grad":
            torch.func.grad(within)(torch.ones(3))
        elif how == "default_device":
            torch.set_default_device("meta")
            begin()
            torch.set_default_device("cpu")
        else:
            with {
                "functions": Functions, "dispatches": Dispatches,
                "device": lambda: torch.device("meta"), "no_grad": torch.no_grad,
                "inference": torch.inference_mode,
                "autocast": lambda: torch.autocast("cpu"),
                "plain": lambda: warnings.catch_warnings(),
            }[how]():
                begin()

    def number():
        return (parameter * 2).grad_fn._sequence_nr()

    parameter = torch.ones(3, requires_grad=True)
    random = torch.get_rng_state()
    if sys.argv[1] != "grad":
        before = number()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        start(sys.argv[1])
    taken = number() - before if sys.argv[1] != "grad" else 1
    changed = torch.ones(2, 3)
    changed.add_(1)
    view = changed[1:]
    recordings[0].__exit__(None, None, None)
    print(json.dumps({
        "seen": seen, "taken": taken, "warned": [str(one.message) for one in warned],
        "random": bool(torch.equal(random, torch.get_rng_state())),
        "cuda": torch.cuda.is_initialized(),
        "dtype": str(torch.get_default_dtype()), "device": str(torch.ones(1).device),
        "grad": torch.is_grad_enabled(), "inference": torch.is_inference_mode_enabled(),
        "threads": threading.active_count(),
    }))
"""


def op(events: list[Event], name: str) -> Event:
    return next(e for e in events if e["kind"] == "op" and e["function"] == name)


@pytest.mark.parametrize("torch_option", ["ops", "all"])
@pytest.mark.parametrize(
    "how",
    [
        "plain",
        "functions",
        "dispatches",
        "device",
        "default_device",
        "inference",
        "no_grad",
        "autocast",
        "vmap",
        "grad",
    ],
)
def test_a_recording_starts_within(runner: Runner, how: str, torch_option: str) -> None:
    runner.write(PROGRAM)
    result = runner.plain(None, how, torch_option)
    assert (result.rc, result.stderr) == (0, "")
    assert json.loads(result.stdout) == {
        "seen": [],
        "taken": 1,
        "warned": [],
        "random": True,
        "cuda": False,
        "dtype": "torch.float32",
        "device": "cpu",
        "grad": True,
        "inference": False,
        "threads": 1,
    }
    events = dump_events(runner.folder / "out.film")
    # What the tries found is right: versions, memory, and C++'s own operations.
    names = [event["function"] for event in events if event["kind"] == "op"]
    assert "torch.Tensor.add_" in names
    assert ("aten::add_" in names) == (torch_option == "all")
    assert not [event for event in events if event["kind"] == "lost_control"]
    text = json.dumps(events)
    assert '"version": 1' in text or '"version":1' in text, text[-2000:]
    assert names.count("torch.zeros") == names.count("torch.empty") == 0


TAKES_OUT = """
    import torch

    class Takes(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            if kwargs and kwargs.pop("other", None) is not None:
                kwargs["other"] = torch.ones(3)
            return super().__torch_function__(function, types, args, kwargs or {})

    tensor = torch.ones(3).as_subclass(Takes)
    bound = tensor.add
    for _ in range(20):
        bound(**{"other": torch.zeros(3) + 1})
        tensor.add(**{"other": torch.zeros(3) + 1})
        torch.add(tensor, **{"other": torch.zeros(3) + 1})
    print("whole")
"""


@pytest.mark.parametrize("level", ["calls", "values"])
def test_an_argument_that_is_let_go_of_meanwhile(
    runner: Runner, monkeypatch: pytest.MonkeyPatch, level: str
) -> None:
    """Only the dict of a bound method's keywords held it: its memory is overwritten."""
    monkeypatch.setenv("PYTHONMALLOC", "debug")
    result = runner.record(TAKES_OUT, options=["--level", level])
    assert (result.rc, result.stdout, result.stderr) == (0, "whole\n", "")
    ops = [event for event in dump_events(result.film) if event["kind"] == "op"]
    assert sum(op["function"] == "torch.Tensor.add" for op in ops) >= 40
