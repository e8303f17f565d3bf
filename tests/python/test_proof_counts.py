"""The film says what happened: its counts are cProfile's, its events those of a slow
reference tracer, on real programs, on hand-written ones and on generated ones."""

from __future__ import annotations

import collections
import json
import pathlib
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from conftest import clean_environment, dump_events, run_python
from proof import films, programs

HERE = pathlib.Path(__file__).resolve().parent / "proof"
REAL = HERE / "real_programs.py"
EXAMPLES = 4000 if films.SOAK else 400

REAL_PROGRAMS = [
    "parse_json",
    "walk_ast",
    "compare_texts",
    "wrap_text",
    "parse_arguments",
    "compute_decimals",
    "read_tokens",
    "read_markup",
    "compile_patterns",
    "read_settings",
    "make_classes",
    "pickle_slowly",
    "print_prettily",
    "read_mail",
    "take_apart_addresses",
    "run_unittest",
    "write_log",
    "run_asyncio",
    "shuffle_and_zip",
]


# --- cProfile, on real programs ------------------------------------------------------


@pytest.fixture(scope="module")
def real_runs(tmp_path_factory):
    """cProfile's counts by program, and the folder of the films."""
    folder = tmp_path_factory.mktemp("real")
    env = {"PYTHONHASHSEED": "0"}
    result = run_python(
        [REAL, "cprofile", "counts.json", *REAL_PROGRAMS], folder, env=env
    )
    assert result.rc == 0, result.stderr
    result = run_python([REAL, "film", ".", *REAL_PROGRAMS], folder, env=env)
    assert result.rc == 0, result.stderr
    return json.loads((folder / "counts.json").read_text()), folder


def count_as_cprofile(events):
    """Entries of each function, and of each pair of caller and callee."""
    functions, pairs = collections.Counter(), collections.Counter()
    codes: dict[int, str] = {}
    stacks: dict[int, list[str]] = collections.defaultdict(list)
    for event in events:
        kind = event["kind"]
        if kind == "call":
            codes[event["frame"]] = (
                f"{films.full_path(event['file'])}:{event['line']}:{event['function']}"
            )
        if kind in films.ENTERING:
            stack = stacks[event["thread"]]
            key = codes[event["frame"]]
            functions[key] += 1
            if stack:
                pairs[f"{stack[-1]} > {key}"] += 1
            stack.append(key)
        elif kind in films.LEAVING and event["frame"] in codes:
            stacks[event["thread"]].pop()
    return functions, pairs


def without_module(key):
    """cProfile does not know modules: a.b.C.method of file f is any ending of it."""
    file, line, name = key.rsplit(":", 2)
    return file, int(line), name


@pytest.mark.parametrize("name", REAL_PROGRAMS)
def test_counts_are_those_of_cprofile(real_runs, name):
    profiles, folder = real_runs
    film = folder / f"{name}.film"
    films.check(film)
    events = dump_events(film)
    # What lies around is starting and stopping, by filmstrip here, by cProfile there.
    first = next(
        i
        for i, event in enumerate(events)
        if event["kind"] == "call" and event["function"] == "__main__.measured"
    )
    last = next(
        i
        for i, event in enumerate(events)
        if event["kind"] == "return" and event["frame"] == events[first]["frame"]
    )
    events = events[first : last + 1]
    functions, pairs = count_as_cprofile(events)
    modules = {
        f"{films.full_path(event['file'])}:{event['line']}:{event['function']}": event
        for event in events
        if event["kind"] == "call"
    }

    def shorten(key):
        """module.qualname to qualname, by cProfile's own keys."""
        file, line, function = without_module(key)
        parts = function.split(".")
        for first in range(len(parts)):
            candidate = f"{file}:{line}:{'.'.join(parts[first:])}"
            if candidate in profiles[name]["functions"]:
                return candidate
        return key

    short = {key: shorten(key) for key in modules}
    found = collections.Counter()
    for key, count in functions.items():
        found[short[key]] += count
    expected = profiles[name]["functions"]
    assert sum(expected.values()) > 100, "a program too small to prove anything"
    different = {
        key: (expected.get(key), found.get(key))
        for key in expected.keys() | found.keys()
        if expected.get(key, 0) != found[key]
    }
    assert not different, f"(cProfile, film): {different}"
    found_pairs = collections.Counter()
    for pair, count in pairs.items():
        caller, callee = pair.split(" > ")
        found_pairs[f"{short[caller]} > {short[callee]}"] += count
    expected_pairs = profiles[name]["pairs"]
    by_c = set(profiles[name]["by_c"])

    def agrees(pair):
        # cProfile of 3.14 takes a C function in between for the caller.
        if pair.split(" > ")[1] in by_c:
            return expected_pairs.get(pair, 0) <= found_pairs[pair]
        return expected_pairs.get(pair, 0) == found_pairs[pair]

    different = {
        pair: (expected_pairs.get(pair), found_pairs[pair])
        for pair in expected_pairs.keys() | found_pairs.keys()
        if not agrees(pair)
    }
    assert not different, f"(cProfile, film): {different}"


# --- the reference tracer ------------------------------------------------------------


class Server:
    """A child that runs programs under the model and under the recorder. A program
    that kills it is a failed test; the next one gets a new child."""

    def __init__(self, folder):
        self.folder = folder
        self.child = None

    def start(self):
        self.errors = open(self.folder / "errors.txt", "w+")
        self.child = subprocess.Popen(
            [sys.executable, HERE / "reference.py"],
            cwd=self.folder,
            env=clean_environment(PYTHONHASHSEED="0"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
        )

    def ask(self, text):
        if self.child is None:
            self.start()
        program = self.folder / "generated.py"
        program.write_text(text, encoding="utf-8")
        request = {"program": str(program), "film": str(self.folder / "g.film")}
        try:
            self.child.stdin.write(json.dumps(request) + "\n")
            self.child.stdin.flush()
            answer = self.child.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            status = self.stop()
            self.errors.seek(0)
            raise AssertionError(
                f"the recorder or the model ended with {status}:\n{self.errors.read()[-3000:]}"
            )
        return json.loads(answer)

    def stop(self):
        if self.child is None:
            return None
        self.child.stdin.close()
        try:
            status = self.child.wait(10)
        except subprocess.TimeoutExpired:
            self.child.kill()
            status = self.child.wait()
        self.child = None
        return status


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("server"))
    yield server
    assert server.stop() in (0, None)


def comparable(streams):
    """What both sides can know. 3.11 does not tell the model what exception a throw or
    an unwind carries."""
    if sys.version_info >= (3, 12):
        return streams
    return {
        thread: [
            [*event[:5], None if event[0] in ("throw", "unwind") else event[5]]
            for event in stream
        ]
        for thread, stream in streams.items()
    }


def assert_same(answer, text):
    first, second = answer["output"]
    assert first == second, text
    model = comparable(answer["model"])
    found = comparable(films.canonical(answer["film"]))
    assert model.keys() == found.keys(), text
    for thread in sorted(model):
        difference = films.first_difference(model[thread], found[thread])
        if difference:
            numbered = "\n".join(
                f"{i:4} {line}" for i, line in enumerate(text.splitlines(), 1)
            )
            raise AssertionError(f"{numbered}\nthread {thread}: {difference}")


@pytest.mark.parametrize("name", programs.WRITTEN)
def test_written_programs_match_the_model(server, name):
    text = programs.WRITTEN[name]
    answer = server.ask(text)
    assert sum(map(len, answer["model"].values())) > 10
    assert_same(answer, text)


@pytest.mark.parametrize("part", range(4))
def test_generated_programs_match_the_model(server, part):
    """Each part walks a road of its own through the programs, always the same one."""
    events = 0

    def compare(text):
        nonlocal events
        answer = server.ask(text)
        events += sum(map(len, answer["model"].values()))
        assert_same(answer, text)

    # derandomize seeds by the function: another name is another road.
    compare.__name__ = f"compare_{part}"
    configured = settings(
        max_examples=EXAMPLES // 4,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    configured(given(text=programs.generated_programs())(compare))()
    assert events > EXAMPLES


def test_the_model_notices(server):
    """The comparison can fail: a model with one event less, one line off, or another
    order is told apart."""
    text = programs.WRITTEN["exceptions"]
    for spoil in ("drop", "line", "swap", "frame"):
        answer = server.ask(text)
        stream = answer["model"]["main"]
        if spoil == "drop":
            del stream[10]
        elif spoil == "line":
            stream[10][3] += 1
        elif spoil == "swap":
            stream[10], stream[11] = stream[11], stream[10]
        else:
            stream[10][1] = "main#999"
        with pytest.raises(AssertionError):
            assert_same(answer, text)
