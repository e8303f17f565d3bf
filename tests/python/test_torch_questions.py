"""`filmstrip nan` and `filmstrip diff` over a training loop: a planted NaN, a planted
change of a shape, a planted nondeterminism. Needs `make torch`."""

from __future__ import annotations

import importlib.util
import json
import pathlib

import pytest

from conftest import Result, run_program

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed"
)

LOOP = """
    import sys
    import torch
    import torch.nn.functional as F
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(8, 16)
            self.second = nn.Linear(16, 4)

        def forward(self, x):
            return self.second(self.scale(torch.relu(self.first(x))))

        def scale(self, hidden):
            return hidden / hidden.sum(dim=1, keepdim=True)  # divides

    def step(net, optimiser, x, y):
        optimiser.zero_grad()
        loss = F.mse_loss(net(x), y)
        loss.backward()
        optimiser.step()
        return loss

    def main(how):
        torch.manual_seed(0)
        net = Net()
        optimiser = torch.optim.SGD(net.parameters(), lr=0.1)
        for turn in range(6):
            x = torch.randn(5, 8)
            if turn == 3:
                x = change(how, x, net)
            loss = step(net, optimiser, x, torch.zeros(len(x), 4))
        return loss

    def change(how, x, net):
        if how == "zero":  # a row of nothing but zeros: divides by its sum
            with torch.no_grad():
                net.first.bias.zero_()
            x[2] = 0
        elif how == "batch":
            x = x[:3]
        elif how == "noise":
            torch.seed()
            x = torch.randn(5, 8)
        elif how == "mask":
            x = x.masked_fill(x > 1, float("-inf"))
        elif how == "read":
            x = torch.frombuffer(bytearray(b"\\xff" * 160), dtype=torch.float32)
            x = x.reshape(5, 8)
        elif how == "grad":
            net.first.bias.grad = torch.zeros(16)
            root = net.first.bias * 0
            root.sqrt().sum().backward()
            torch.optim.SGD([net.first.bias], lr=0.1).step()
        else:
            x = x * 1
        return x

    main(sys.argv[1])
"""


def line_of(text: str) -> int:
    return next(n for n, line in enumerate(LOOP.splitlines(), 1) if text in line)


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    """films("zero") records the loop once."""
    from conftest import Runner

    made: dict[str, pathlib.Path] = {}
    runner = Runner(tmp_path_factory.mktemp("loop"))

    def get(how: str, name: str | None = None, values: bool = True) -> pathlib.Path:
        name = name or how
        if name not in made:
            options = ["--level", "values", *(["--torch-values"] if values else [])]
            done = runner.record(LOOP, how, options=options, film=f"{name}.film")
            assert done.rc == 0, done.stderr
            assert done.film is not None
            made[name] = done.film
        return made[name]

    return get


def nan(film: pathlib.Path, *options: str) -> dict:
    done = run_program("nan", "--format", "json", *options, film)
    assert (done.rc, done.stderr) == (1, "")
    return json.loads(done.stdout)


def diff(*words: str | pathlib.Path) -> tuple[int, dict]:
    done = run_program("diff", "--format", "json", *words)
    assert done.stderr == ""
    return done.rc, json.loads(done.stdout)


# --- nan --------------------------------------------------------------------------------


def test_a_planted_nan_is_found(films):
    found = nan(films("zero"))
    op = found["op"]
    assert op["function"].endswith("__truediv__")
    assert (op["line"], op["in"]) == (line_of("# divides"), "__main__.Net.scale")
    assert op["module"] == "Net"
    assert found["verdict"] == "made"
    (result,) = op["results"][0]["tensors"]
    assert (result["shape"], result["nonfinite"]) == ([5, 16], 16)
    for value in op["args"]:
        assert [each["nonfinite"] for each in value["tensors"]] == [0]


def test_where_it_came_from_and_went(films):
    found = nan(films("zero"))
    rows, sums = found["came_from"]
    assert rows["from"]["function"].endswith("relu")
    assert sums["from"]["function"].endswith("sum")
    linear = rows["from"]["inputs"][0]["from"]
    assert linear["function"].endswith("linear") and linear["module"] == "first"
    x, weight, bias = (each["from"]["function"] for each in linear["inputs"])
    assert x.endswith("__setitem__") and bias.endswith("zero_")
    assert weight.endswith(("add_", "add"))  # the optimizer's
    taken = found["went"]["taken_by"]
    assert taken[0]["module"] == "second"
    assert taken[0]["gave"][0]["numbers"] == "nonfinite"
    assert found["reached"] >= 3 and found["to_end"]


def test_text_tells_the_same(films):
    done = run_program("nan", films("zero"))
    assert done.rc == 1
    assert f"program.py:{line_of('# divides')} in __main__.Net.scale" in done.stdout
    assert "All it took was finite: they were made here." in done.stdout
    assert "16 of 80 not finite" in done.stdout


def test_infinity_that_was_asked_for(films):
    film = films("mask")
    found = nan(film)
    assert found["op"]["function"].endswith("masked_fill")
    assert found["verdict"] == "asked"
    further = nan(film, "--ignore", "masked_fill")
    assert further["verdict"] == "carried" and further["left_out"] == 1
    assert further["came_from"][0]["from"]["function"].endswith("masked_fill")
    event = int(found["op"]["m"].partition(":")[2])
    assert nan(film, "--from", str(event + 1))["op"] == further["op"]


def test_numbers_that_were_read(films):
    found = nan(films("read"))
    assert found["verdict"] == "brought"
    assert found["op"]["function"].endswith("frombuffer")


def test_gradients_that_are_not_finite(films):
    done = run_program("nan", films("grad"))
    assert done.rc == 1
    assert "which was not finite already" in done.stdout
    assert "Before it backward() ran" in done.stdout


def test_nothing_is_found(films):
    done = run_program("nan", films("plain"))
    assert (done.rc, done.stderr) == (0, "")
    assert done.stdout.startswith("all finite: ")
    done = run_program("nan", "--format", "json", films("plain"))
    assert json.loads(done.stdout)["found"] is False


def test_several_recordings(films):
    done = run_program("nan", films("plain"), films("zero"), films("mask"))
    assert done.rc == 1
    assert "zero.film: op " in done.stdout and "mask.film: op " in done.stdout


def test_recordings_that_do_not_tell(films, record):
    done = run_program("nan", films("zero", "bare", values=False))
    assert (done.rc, done.stdout) == (2, "")
    assert "'filmstrip run --torch-values' records that" in done.stderr
    done = run_program("nan", record("print(1)").film)
    assert done.rc == 2 and "no operations of PyTorch" in done.stderr


def test_wrong_use_of_nan(films):
    film = films("plain")
    for words in ((), (film, "--thread", "7"), (film, "--depth", "x"), ("no.film",)):
        done = run_program("nan", *words)
        assert (done.rc, done.stdout) == (2, "") and done.stderr


# --- diff -------------------------------------------------------------------------------


def test_two_runs_are_the_same(films):
    rc, told = diff(films("plain"), films("plain", "again"))
    assert (rc, told["equal"], told["what"], told["differences"]) == (
        0,
        True,
        "ops",
        [],
    )
    assert told["same"] > 50
    done = run_program("diff", films("plain"), films("plain", "again"))
    assert (done.rc, done.stdout) == (0, f"the same: {told['same']} ops\n")


def test_a_planted_shape(films):
    rc, told = diff(films("plain"), films("batch"))
    (first,) = told["differences"]
    assert rc == 1 and first["aspect"] == "function"
    assert first["second"]["function"].endswith("__getitem__")
    assert first["second"]["line"] == line_of("x = x[:3]")
    rc, told = diff("--all", "--limit", "100", films("plain"), films("batch"))
    shapes = [each for each in told["differences"] if each["aspect"] == "shape"]
    assert shapes[0]["first"]["args"][0]["tensors"][0]["shape"] == [5, 8]
    assert shapes[0]["second"]["args"][0]["tensors"][0]["shape"] == [3, 8]


def test_a_planted_nondeterminism(films):
    rc, told = diff(films("noise"), films("noise", "noise again"))
    (first,) = told["differences"]
    assert rc == 1
    assert first["aspect"] in ("numbers", "value")  # torch.seed() gives the seed
    rc, told = diff("--all", films("noise"), films("noise", "noise again"))
    numbers = next(each for each in told["differences"] if each["aspect"] == "numbers")
    assert numbers["first"]["function"].endswith("randn")
    assert numbers["first"]["line"] == line_of("x = torch.randn(5, 8)") or (
        numbers["first"]["in"] == "__main__.change"
    )
    assert told["counts"]["numbers"] > 10 and told["counts"]["other"] == 0


def test_numbers_need_both(films):
    rc, told = diff(films("noise", "noise bare", values=False), films("noise"))
    assert all(each["aspect"] != "numbers" for each in told["differences"])


def test_control_without_ops(record):
    program = """
        import sys
        def odd(n):
            return n % 2
        for n in range(int(sys.argv[1])):
            if odd(n):
                last = n
    """
    films = [
        record(program, count, options=["--level", "lines"], film=f"{count}.film").film
        for count in ("5000", "6000")
    ]
    rc, told = diff(*films)
    assert (rc, told["what"]) == (1, "flow")
    (first,) = told["differences"]
    assert first["aspect"] == "control"
    assert (first["first"]["kind"], first["second"]["kind"]) == ("return", "line")
    rc, told = diff(films[0], films[0])
    assert (rc, told["equal"]) == (0, True)


def test_wrong_use_of_diff(films, record):
    film = films("plain")
    other = record("print(1)").film
    for words, sentence in (
        ((film,), "two recordings are compared, not 1"),
        ((film, film, film), "not 3"),
        ((film, other), "operations of PyTorch in"),
        ((film, film, "--thread", "9"), "has no thread 9"),
        ((film, "no.film"), "no such file"),
        ((film, film, "--limit", "0"), "from 1 on"),
    ):
        done: Result = run_program("diff", *words)
        assert (done.rc, done.stdout) == (2, "")
        assert sentence in done.stderr


# --- step -------------------------------------------------------------------------------


def walk(film: pathlib.Path, *words: str) -> list[str]:
    """What each command prints, on a film at its start."""
    import subprocess

    from conftest import PROGRAM, clean_environment

    done = subprocess.run(
        [PROGRAM, "step", film],
        input="\n".join(words) + "\n",
        capture_output=True,
        text=True,
        timeout=120,
        env=clean_environment(),
    )
    assert done.stderr == ""
    return done.stdout.split("\n\n")


def test_ops_are_places_to_stand_at(films):
    op = nan(films("zero"))["op"]["m"]
    at, end, back, further = walk(films("zero"), f"event {op}", "stepi", "rop", "op 2")[
        :4
    ]
    assert f"event {op} op" in at and f":{line_of('# divides')}" in at
    assert "torch.Tensor.__truediv__(t" in at and "f32[5, 16] cpu grad" in at
    assert " op_end" in end and "torch.Tensor.__truediv__ gives t" in end
    assert "16 not finite" in end
    assert f"event {op} op" in back
    assert "torch.nn.functional.linear(" not in at and " op, " in further


def test_ops_of_other_frames_are_stops_and_next_stays(films):
    """op goes into functions, next stays in the frame, and up keeps it."""
    first = f"until program.py:{line_of('loss = F.mse_loss(net(x), y)')}"
    line, op, up, after = walk(films("plain"), first, "op", "up", "next")[:4]
    assert "__main__.step" in line
    assert "__main__.Net.forward" in op and " op, " in op
    assert "__main__.step" in up and "frame 1" in up
    assert "__main__.step" in after and f":{line_of('loss.backward()')}" in after


def test_what_made_a_tensor(films):
    first = f"until program.py:{line_of('loss.backward()')}"
    _, made, last = walk(films("zero"), first, "made loss 3", "last loss")[:3]
    for told in (made, last):
        lines = [line.strip() for line in told.splitlines()]
        makers = [line.split()[2] for line in lines if line.startswith("made by ")]
        assert makers[0].endswith("mse_loss")
        assert makers[1].endswith("linear")
    assert "loss = t" in last
    wrong = walk(films("zero"), first, "made y")
    assert "made by torch.zeros" in wrong[1]
    assert "it is no tensor" in walk(films("zero"), first, "made net")[1]
