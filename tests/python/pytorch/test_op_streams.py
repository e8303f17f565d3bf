"""What is recorded of real programs, operation by operation, against a mode in Python
(oracle.py): the same operations in the same order and nesting, with the same arguments,
results and exceptions, and of each tensor what Python's own attributes say.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator

import pytest

from conftest import clean_environment, dump_events, run_python
from pytorch import compare

HERE = pathlib.Path(__file__).parent
PROGRAMS = sorted(path.stem for path in (HERE / "programs").glob("*.py"))
ENTRY = "__main__.run"
# There the oracle is off while torch calls operations from Python code of its own.
BLIND = {"decomposed"}
# How a program is recorded: the options of record(), after torch was imported. "run" is
# `filmstrip run`, which torch is imported under; it takes longer, so some do it.
WAYS: dict[str, dict[str, object]] = {
    "ops": {"level": "calls", "torch": "ops"},
    "all calls": {"level": "calls", "torch": "ops", "all": True},
    "values": {"level": "values", "torch": "ops"},
    "everything": {"level": "values", "torch": "all", "torch_values": True},
}
RUN = ["cnn", "custom_autograd", "mlp", "subclass", "threads", "torch_function"]


class Server:
    """drive.py, which runs a program in all ways after one import of torch."""

    def __init__(self, folder: pathlib.Path) -> None:
        words = [sys.executable, str(HERE / "drive.py"), "--serve", json.dumps(WAYS)]
        self.process = subprocess.Popen(
            words,
            cwd=folder,
            env=clean_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, name: str, folder: pathlib.Path) -> dict[str, int]:
        """How each way ended; what they gave is in files."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps([name, str(folder)]) + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"
        return json.loads((folder / "status.json").read_text())

    def end(self) -> None:
        self.process.communicate(timeout=60)
        assert self.process.returncode == 0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("streams"))
    yield server
    server.end()


@dataclasses.dataclass
class Runs:
    """The runs of one program, made when the first is asked for."""

    name: str
    folder: pathlib.Path
    server: Server

    @functools.cached_property
    def status(self) -> dict[str, int]:
        return self.server.run(self.name, self.folder)

    def run(self) -> None:
        """`filmstrip run`."""
        film, result = self.folder / "run.film", self.folder / "run.json"
        options = ("--level", "calls", "--torch", "ops")
        run = ("-m", "filmstrip", "run", "-o", film, *options)
        words = [*run, HERE / "drive.py", self.name, result]
        done = run_python([str(word) for word in words], self.folder, timeout=250)
        assert (done.rc, done.stderr) == (0, "")

    def result(self, way: str) -> str:
        """What the program gave."""
        path = self.folder / f"{way}.json"
        if way == "run" and not path.exists():
            self.run()
        elif way != "run":
            assert self.status[way] == 0
            assert (self.folder / f"{way}.stderr").read_text() == ""
        return path.read_text()

    @functools.cached_property
    def oracle(self) -> compare.Oracle:
        if self.name in BLIND:
            pytest.skip("no mode is on in what this program calls")
        assert self.result("oracle") == self.result("plain"), "the oracle changes it"
        return compare.Oracle(self.folder / "oracle.jsonl")

    @functools.cache
    def aligned(self, way: str) -> list[compare.Alignment]:
        self.result(way)
        events = dump_events(self.folder / f"{way}.film")
        return self.oracle.align(compare.read_recording(events, ENTRY))

    def __hash__(self) -> int:
        return id(self)


@pytest.fixture(scope="module", params=PROGRAMS)
def runs(request: pytest.FixtureRequest, server: Server) -> Iterator[Runs]:
    with tempfile.TemporaryDirectory() as folder:
        yield Runs(request.param, pathlib.Path(folder), server)


def check_stream(runs: Runs, way: str) -> None:
    comparison = compare.Comparison()
    comparison.all_of(runs.aligned(way))
    assert comparison.found[: compare.MOST] == []
    assert comparison.ops >= 15


@pytest.mark.parametrize("way", ["ops", "values"])
def test_stream_equals_the_oracle(runs: Runs, way: str) -> None:
    check_stream(runs, way)


@pytest.mark.parametrize("runs", RUN, indirect=True)
def test_filmstrip_run(runs: Runs) -> None:
    assert runs.result("run") == runs.result("plain")
    check_stream(runs, "run")


def own_frames(op: compare.Op) -> list[str]:
    """The recorded calls behind the innermost of the program's own."""
    inner = [
        place
        for place, name in enumerate(op.frames)
        if name.startswith(("programs.", "__main__."))
    ]
    frames = op.frames[inner[-1] + 1 :] if inner else op.frames
    return [name for name in frames if name.startswith("torch.")]


def test_functions_of_torch_hold_their_operations(runs: Runs) -> None:
    """Those that a mode is told of are calls, with their operations nested below; where
    all of torch's Python code is recorded, all of them are."""
    found = []
    for way, wanted in (("ops", (True,)), ("all calls", (True, False))):
        for alignment in runs.aligned(way):
            for their, op in alignment.pairs:
                expected = [n for n, _, told in their.record["chain"] if told in wanted]
                if own_frames(op) != expected:
                    found.append((way, their.name, own_frames(op), expected))
    assert found[: compare.MOST] == []


def test_lines_and_modules(runs: Runs) -> None:
    """Of the innermost recorded frame; `api` is what that has called."""
    found = []
    for alignment in runs.aligned("ops"):
        for their, op in alignment.pairs:
            line, api = (their.record["frame"] or [None, None])[1], None
            for name, place, told in reversed(their.record["chain"]):
                if told:
                    line = place
                    break
                api = name
            expected = (line, api, their.record["module"])
            ours = op.record["line"], op.record.get("api"), op.record.get("module", "")
            if ours != expected and line is not None:
                found.append((their.name, ours, expected))
    assert found[: compare.MOST] == []


@pytest.mark.parametrize("way", WAYS)
def test_results_are_bit_identical(runs: Runs, way: str) -> None:
    assert runs.result(way) == runs.result("plain") != "null"


def test_off_records_no_operation(tmp_path: pathlib.Path) -> None:
    film = tmp_path / "off.film"
    run = ["-m", "filmstrip", "run", "-o", film, "--level", "calls", "--torch", "off"]
    done = run_python([*run, HERE / "drive.py", "mlp", "result.json"], tmp_path)
    assert (done.rc, done.stderr) == (0, "")
    events = dump_events(film)
    assert "call" in {event["kind"] for event in events}
    assert not {"op", "op_end"} & {event["kind"] for event in events}
