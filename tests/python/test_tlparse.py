"""export --to tlparse and filmstrip.torch: what tlparse and torchdbg make of them."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from conftest import Result, Runner, call_names, dump_events, run_program

HAS_TORCH = importlib.util.find_spec("torch") is not None
TLPARSE = pathlib.Path(sys.executable).with_name("tlparse")


def need(what: str, there: bool) -> None:
    """Where CI has PyTorch, what comes with it is there too."""
    if not there:
        if os.environ.get("CI") and HAS_TORCH:
            pytest.fail(f"{what} is missing: `make torch` installs it")
        pytest.skip(f"{what} is not installed")


needs_torch = pytest.mark.skipif(not HAS_TORCH, reason="torch is not installed")


class Log:
    """A structured log, read by the rules that torch's own readers go by."""

    PREFIX = re.compile(
        r"V\d{4} \d\d:\d\d:\d\d\.\d{6} \d+ [^:]+:\d+\] (\{.*)", re.ASCII
    )

    def __init__(self, path: pathlib.Path) -> None:
        self.strings: dict[int, str] = {}
        self.records: list[dict[str, Any]] = []
        self.sources: dict[str, str] = {}
        lines = path.read_bytes().decode().split("\n")
        assert lines.pop() == ""
        for line in lines:
            assert "\r" not in line
            if line.startswith("\t"):
                self.records[-1].setdefault("lines", []).append(line[1:])
                continue
            matched = self.PREFIX.fullmatch(line)
            assert matched, line[:100]
            record = json.loads(matched[1])
            self.records.append(record)
            if "str" in record:
                text, number = record["str"]
                assert number not in self.strings
                self.strings[number] = text
        for record in self.records:
            record["payload"] = "\n".join(record.pop("lines", []))
            if "has_payload" in record:
                md5 = hashlib.md5(record["payload"].encode()).hexdigest()
                assert record["has_payload"] == md5
            if "dump_source" in record:
                name = self.strings[record["dump_source"]["filename"]]
                self.sources[name] = record["payload"]

    def of(self, key: str) -> list[dict[str, Any]]:
        return [record for record in self.records if key in record]

    def dispatches(self) -> list[dict[str, Any]]:
        """torchdbg's records, with the names of files and without addresses."""
        told = []
        for record in self.of("eager_dispatch"):
            dispatch = record["eager_dispatch"]
            stack = [
                {**frame, "filename": self.strings[frame["filename"]]}
                for frame in dispatch["stack"]
            ]
            keys = ("target", "args", "kwargs", "ret")
            told.append(
                without_addresses({**{k: dispatch[k] for k in keys}, "stack": stack})
            )
        return told


def without_addresses(value: Any) -> Any:
    if isinstance(value, str):
        return re.sub(r" at 0x[0-9a-f]+", "", value)
    if isinstance(value, list):
        return [without_addresses(item) for item in value]
    if isinstance(value, dict):
        return {key: without_addresses(item) for key, item in value.items()}
    return value


def one_log(folder: pathlib.Path) -> Log:
    paths = list(folder.glob("dedicated_log_torch_trace_*.log"))
    assert len(paths) == 1, paths
    return Log(paths[0])


def run_tlparse(log: pathlib.Path, out: pathlib.Path) -> pathlib.Path:
    """Its pages; it takes every line."""
    need("tlparse", TLPARSE.exists())
    done = subprocess.run(
        [TLPARSE, "--strict", "--no-browser", "-o", out, log],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return out


# --- exports of what is recorded ---------------------------------------------------------

MODEL = """
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3, 4)

        def forward(self, batch):
            hidden = self.layer(batch)
            return torch.nn.functional.dropout(hidden, 0.5)

    def train(steps):
        net = Net()
        for step in range(steps):
            batch = torch.randn(2, 3)
            out = net(batch)
            loss = out.sum()
            loss.backward()
        try:
            torch.mm(batch, batch)
        except RuntimeError:
            pass
        return loss

    train(2)
"""


@needs_torch
def test_tlparse_takes_and_shows_a_recording(
    record: Callable[..., Result], tmp_path: pathlib.Path
) -> None:
    result = record(MODEL, options=["--level", "values"])
    assert result.rc == 0, result.stderr
    done = run_program("export", result.film, "--to", "tlparse", "-o", tmp_path / "out")
    assert (done.rc, done.stdout, done.stderr) == (0, "", "")
    (path,) = (tmp_path / "out").iterdir()
    assert re.fullmatch(r"dedicated_log_torch_trace_[0-9a-f]{8}\.log", path.name)
    assert path.stat().st_mode & 0o777 == 0o600

    pages = run_tlparse(path, tmp_path / "pages")
    index = (pages / "index.html").read_text()
    assert "filmstrip_ops_1" in index and "dump_file" in index
    (source,) = (pages / "dump_file").iterdir()
    assert "class Net(torch.nn.Module)" in source.read_text()
    (ops,) = pages.rglob("filmstrip_ops_1*")
    text = ops.read_text()
    assert re.search(r"program\.py:\d+ train  torch\.randn\(2, 3\) -> t\d+: f32", text)
    assert re.search(r"torch\.mm\(.*\) raised RuntimeError", text)
    slices = json.loads((pages / "chromium_events.json").read_text())
    names = [one["name"] for one in slices if one.get("ph") == "B"]
    assert "torch.randn" in names and "__main__.train" in names
    assert len(names) == sum(one.get("ph") == "E" for one in slices)


@needs_torch
def test_records_of_a_recording(
    record: Callable[..., Result], tmp_path: pathlib.Path
) -> None:
    result = record(MODEL, options=["--level", "values"])
    run_program("export", result.film, "--to", "tlparse", "-o", tmp_path / "out")
    log = one_log(tmp_path / "out")
    program = str(tmp_path / "program.py")
    assert log.sources == {program: (tmp_path / "program.py").read_text()}
    linear = [
        one["eager_dispatch"]
        for one in log.of("eager_dispatch")
        if one["eager_dispatch"]["target"] == "torch.nn.functional.linear"
    ]
    assert len(linear) == 2
    assert linear[0]["module"] == "layer"
    assert linear[0]["args"] == [
        {"dtype": "torch.float32", "shape": [2, 3]},
        {"dtype": "torch.float32", "shape": [4, 3]},
        {"dtype": "torch.float32", "shape": [4]},
    ]
    stack = linear[1]["stack"]
    assert [frame["name"] for frame in stack] == ["<module>", "train", "forward"]
    assert stack[0]["locals"] == {}
    assert stack[1]["locals"]["net"] == "Module()"
    assert stack[1]["locals"]["steps"] == 2 and stack[1]["locals"]["step"] == 1
    assert stack[2]["locals"] == {"batch": {"dtype": "torch.float32", "shape": [2, 3]}}
    dropout = [
        one["eager_dispatch"]
        for one in log.of("eager_dispatch")
        if one["eager_dispatch"]["target"] == "torch.dropout"
    ]
    assert dropout[0]["user_name"] == "torch.nn.functional.dropout"
    assert dropout[0]["user_args"][1:] == [0.5, True, False]
    assert "torch.mm" not in [one["target"] for one in log.dispatches()]


@needs_torch
def test_user_arguments_where_torch_is_recorded(
    record: Callable[..., Result], tmp_path: pathlib.Path
) -> None:
    result = record(
        """
        import torch

        def work(x):
            return torch.nn.functional.dropout(x, 0.25, inplace=False)

        work(torch.ones(2))
        """,
        options=["--level", "values", "--target", "program.py"]
        + ["--target", "torch.nn.functional"],
    )
    assert result.rc == 0, result.stderr
    run_program("export", result.film, "--to", "tlparse", "-o", tmp_path / "out")
    (dropout,) = (
        one["eager_dispatch"]
        for one in one_log(tmp_path / "out").of("eager_dispatch")
        if one["eager_dispatch"]["target"] == "torch.dropout"
    )
    assert [frame["name"] for frame in dropout["stack"]] == ["<module>", "work"]
    assert dropout["user_name"] == "torch.nn.functional.dropout"
    assert dropout["user_args"] == [
        {"dtype": "torch.float32", "shape": [2]},
        0.25,
        True,
        False,
    ]
    assert dropout["user_kwargs"] == {}


@needs_torch
def test_sources_of_files_that_moved(runner: Runner, tmp_path: pathlib.Path) -> None:
    runner.write("def still(x):\n    return x.relu()\n", "still.py")
    result = runner.record(
        """
        import torch, still

        def work(x):
            y = still.still(x)
            return still.still(y)

        work(torch.ones(2))
        """,
        options=["--level", "values"],
    )
    for which, names in (
        ("all", ["program.py", "still.py"]),
        ("moved", ["program.py"]),
    ):
        out = tmp_path / which
        done = run_program(
            *("export", result.film, "--to", "tlparse", "--sources", which, "-o", out)
        )
        assert done.rc == 0, done.stderr
        files = [os.path.basename(name) for name in one_log(out).sources]
        assert sorted(files) == names


@needs_torch
def test_no_values_no_locals(
    record: Callable[..., Result], tmp_path: pathlib.Path
) -> None:
    result = record(MODEL)  # level calls
    done = run_program("export", result.film, "--to", "tlparse", "-o", tmp_path / "out")
    assert done.rc == 0
    assert "the locals of all frames are empty" in done.stderr
    log = one_log(tmp_path / "out")
    assert all(not f["locals"] for one in log.dispatches() for f in one["stack"])
    (facts,) = (
        json.loads(one["payload"])
        for one in log.of("artifact")
        if one["artifact"]["name"] == "filmstrip_recording"
    )
    assert facts["locals"] is False and "locals" in facts["missing"]


def test_a_program_without_torch(
    record: Callable[..., Result], tmp_path: pathlib.Path
) -> None:
    result = record("def f():\n    return 1\nf()\n")
    out = tmp_path / "out"
    done = run_program("export", result.film, "--to", "tlparse", "-o", out)
    assert done.rc == 0 and "it has no ops" in done.stderr
    assert len(one_log(out).of("chromium_event")) == 2 + 4
    again = run_program("export", result.film, "--to", "tlparse", "-o", out)
    assert again.rc == 2 and "exists already; --force replaces it" in again.stderr
    again = run_program("export", result.film, "--to", "tlparse", "-o", out, "--force")
    assert again.rc == 0
    path = tmp_path / "stdout.log"
    done = run_program("export", result.film, "--to", "tlparse", "-o", "-")
    path.write_text(done.stdout)
    assert Log(path).records == one_log(out).records


@needs_torch
def test_the_rank_is_in_the_name_and_every_record(
    record: Callable[..., Result], tmp_path: pathlib.Path
) -> None:
    result = record(
        MODEL, options=["--level", "values"], env={"RANK": "1", "WORLD_SIZE": "2"}
    )
    assert result.rc == 0, result.stderr
    out = tmp_path / "out"
    run_program("export", *result.films, "--to", "tlparse", "-o", out)
    (path,) = out.iterdir()
    assert re.fullmatch(r"dedicated_log_torch_trace_rank_1_[0-9a-f]{8}\.log", path.name)
    ranks = {record.get("rank") for record in Log(path).records if "str" not in record}
    assert ranks == {1}
    run_tlparse(path, tmp_path / "pages")


# --- filmstrip.torch ---------------------------------------------------------------------

SWITCH = """
    import sys
    if sys.argv[1] == "theirs":
        import torchdbg
    else:
        import filmstrip.torch as torchdbg
    import torch
"""

# python/test.py of torchdbg, which its README shows the first lines of.
README = """
    with torchdbg.LoggingMode():
        x = torch.randn(3)
        x = torch.nn.functional.dropout(x, 0.5)
        x = torch.nn.functional.dropout(x, 0.5)
        x = torch.nn.functional.dropout(x, 0.5)
"""

DEEPER = """
    import collections

    Pair = collections.namedtuple("Pair", "a b")

    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())

        def forward(self, x, scale=2):
            return torch.einsum("ij,ij->i", self.inner(x), x * scale)

    def work(net, batch):
        many = list(range(100))
        long = "x" * 1000
        mapping = {"a": 1, 2: batch, None: [1, (2, 3.5)], True: None}
        pair = Pair(1, "z")
        big = 10**30
        kinds = [torch.float32, torch.device("cpu"), torch.strided]
        out = net(batch)
        loss = torch.nn.functional.mse_loss(out, torch.zeros(2))
        loss.backward()
        batch[0] = 3.0
        many.append(batch[0, 1:].shape)
        try:
            torch.mm(batch, batch)
        except RuntimeError as error:
            del error
        joined = torch.cat([batch, batch], dim=0).t_()
        return [joined.sum(dim=k).tolist() for k in (0, 1)]

    def enter(skip):
        before = {1, }
        net = Block()
        def made_by():
            return net
        with torchdbg.LoggingMode(skip=skip):
            result = work(made_by(), torch.ones(2, 3))
            torch.add(torch.ones(1, dtype=torch.bfloat16, device="cpu"), 1, alpha=3)
            torch.empty_like(torch.ones(1), memory_format=torch.preserve_format)
        return result

    def main():
        count = 3
        for skip in range(count):
            enter(skip)

    main()
"""


def trace_both_ways(runner: Runner, program: str) -> tuple[Log, Log]:
    need("torchdbg", importlib.util.find_spec("torchdbg") is not None)
    logs = []
    for whose in ("theirs", "ours"):
        folder = runner.folder / whose
        result = runner.plain(program, whose, env={"TORCH_TRACE": str(folder)})
        assert (result.rc, result.stdout, result.stderr) == (0, "", "")
        logs.append(one_log(folder))
    return logs[0], logs[1]


@needs_torch
@pytest.mark.parametrize("program", [README, DEEPER], ids=["readme", "deeper"])
def test_torchdbg_writes_the_same(
    runner: Runner, tmp_path: pathlib.Path, program: str
) -> None:
    theirs, ours = trace_both_ways(runner, SWITCH + program)
    expected, told = theirs.dispatches(), ours.dispatches()
    assert len(expected) >= 4
    # The iterator of a comprehension has an address for its repr; ours has no name.
    for one in expected:
        for frame in one["stack"]:
            frame["locals"].pop(".0", None)
    for one, other in zip(expected, told, strict=True):
        assert one == other
    assert ours.sources == theirs.sources
    (path,) = (tmp_path / "ours").iterdir()
    run_tlparse(path, tmp_path / "pages")


@needs_torch
def test_logging_mode_within_a_recording(
    runner: Runner, tmp_path: pathlib.Path
) -> None:
    """It logs its block, and the recording goes on."""
    result = runner.record(
        SWITCH + DEEPER,
        "ours",
        options=["--level", "values", "--items", "512"],
        env={"TORCH_TRACE": str(tmp_path / "trace")},
    )
    assert (result.rc, result.stderr.count("Warning")) == (0, 0), result.stderr
    log = one_log(tmp_path / "trace")
    names = [frame["name"] for frame in log.dispatches()[0]["stack"]]
    assert names[0] == "enter"
    assert call_names(dump_events(result.film)).count("enter") == 3


@needs_torch
def test_nothing_is_written_without_the_variable(
    runner: Runner, tmp_path: pathlib.Path
) -> None:
    result = runner.plain(SWITCH + README, "ours", env={"TORCH_TRACE": None})
    assert (result.rc, result.stderr) == (0, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["program.py"]


@needs_torch
def test_a_folder_that_cannot_be_written_is_a_warning(
    runner: Runner, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "file").write_text("")
    result = runner.plain(
        SWITCH + README + "\n    print('done')\n",
        "ours",
        env={"TORCH_TRACE": str(tmp_path / "file" / "trace")},
    )
    assert (result.rc, result.stdout) == (0, "done\n")
    assert "no torch trace was written" in result.stderr


@needs_torch
@pytest.mark.parametrize("mode", ["FunctionMode", "DispatchMode"])
def test_modes_record_what_torch_hands_to_them(
    runner: Runner, mode: str, dump: Callable[..., list[dict[str, Any]]]
) -> None:
    base, method = {
        "FunctionMode": ("torch.overrides.TorchFunctionMode", "__torch_function__"),
        "DispatchMode": (
            "torch.utils._python_dispatch.TorchDispatchMode",
            "__torch_dispatch__",
        ),
    }[mode]
    result = runner.record(
        f"""
        import json, torch
        import torch.utils._python_dispatch
        import filmstrip.torch
        from torch.overrides import resolve_name

        seen = []
        class Mode({base}):
            def {method}(self, func, types, args=(), kwargs=None):
                seen.append(resolve_name(func) or str(func))
                return func(*args, **(kwargs or {{}}))

        def work(net, x):
            y = torch.nn.functional.dropout(net(x), 0.5)
            y.sum().backward()
            y.shape, x[0], x + 1
            try:
                torch.mm(x, x)
            except RuntimeError:
                pass
            return [p.grad for p in net.parameters()]

        net = torch.nn.Linear(3, 2)
        torch.manual_seed(0)
        with Mode():
            theirs = work(net, torch.ones(2, 3))
        names = list(seen)
        net.zero_grad()
        torch.manual_seed(0)
        with filmstrip.torch.{mode}() as entered:
            assert type(entered) is filmstrip.torch.{mode}
            ours = work(net, torch.ones(2, 3))
        assert all(map(torch.equal, theirs, ours))
        print(json.dumps(names))
        """,
    )
    assert result.rc == 0, result.stderr
    film = dump(result.film)
    told = [one["function"] for one in film if one["kind"] == "op" and one.get("mode")]
    assert told == json.loads(result.stdout)


@needs_torch
def test_modes_leave_nothing_behind(runner: Runner) -> None:
    result = runner.plain(
        """
        import gc, sys, torch
        import filmstrip.torch

        class Mine(filmstrip.torch.FunctionMode):
            pass

        def work():
            x = torch.ones(2)
            for mode in (filmstrip.torch.FunctionMode, filmstrip.torch.DispatchMode, Mine):
                with mode():
                    x = x + 1
                    try:
                        with mode():
                            raise KeyError
                    except KeyError:
                        pass
            return x

        work()
        before = sys.getrefcount(torch.add), sys.getrefcount(None)
        for _ in range(200):
            work()
        after = sys.getrefcount(torch.add), sys.getrefcount(None)
        assert before[0] == after[0] and abs(before[1] - after[1]) < 100, (before, after)
        assert torch._C._len_torch_function_stack() == 0
        assert torch._C._len_torch_dispatch_stack() == 0
        print("ok")
        """
    )
    assert (result.rc, result.stdout, result.stderr) == (0, "ok\n", "")


def test_without_torch_a_mode_says_so(runner: Runner) -> None:
    result = runner.plain(
        """
        import sys
        sys.modules["torch"] = None  # as if it were not installed
        import filmstrip.torch
        for mode in ("LoggingMode", "FunctionMode", "DispatchMode"):
            try:
                getattr(filmstrip.torch, mode)()
            except ImportError as error:
                print(error)
        """
    )
    assert (result.rc, result.stderr) == (0, "")
    assert result.stdout == 3 * (
        "a mode of filmstrip.torch needs PyTorch, which cannot be imported here\n"
    )
