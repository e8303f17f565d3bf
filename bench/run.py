"""Measures filmstrip against the bare program, against empty hooks and against peers.

    make bench                          everything, into docs/bench.{json,md,svg}
    bench/run.py --quick                some minutes, into build/bench/quick
    bench/run.py --only idle,pass       some sections, into build/bench/partial
    bench/run.py --only film --merge    some sections, put in place in docs
    bench/run.py --render               the table and chart again, from docs/bench.json

Each time is taken in a fresh process that runs the program bare and then with one tool;
the tools take turns, round after round, so that all see the same noise.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

import measuring
import prepare
import report
import summary
import values
import workloads
from prepare import BUILD, HERE, ROOT, PreparationError, Python

SECTIONS = ("pass", "film", "memory", "idle", "times", "values")
CHILD_SECONDS = 300


class Settings:
    def __init__(self, quick: bool, priority: bool) -> None:
        self.priority = priority
        self.quick = quick
        self.rounds = 1
        self.runs = 2 if quick else 3
        self.few_runs = 2  # of what has no bar of its own, or is slow
        self.profiler_runs = 1
        self.recorded_seconds = 1.0
        self.workloads = workloads.QUICK_NAMES if quick else workloads.NAMES
        self.idle_processes = 1 if quick else 2
        self.idle_turns = 2 if quick else 3
        self.idle_runs = 2 if quick else 3
        self.memory_repeats = 1
        self.memory_threads = 20
        self.film_events = 5_000_000 if quick else 100_000_000
        self.film_functions = 960
        self.film_runs = 1 if quick else 2
        self.open_runs = 5 if quick else 11


def take_priority() -> None:
    """Real-time, so that what else the machine does gets out of the way; the sealing
    thread inherits it."""
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))


class Bench:
    def __init__(
        self,
        pythons: list[Python],
        settings: Settings,
        tools: list[str] | None,
        folder: pathlib.Path,
    ) -> None:
        self.pythons = pythons
        self.settings = settings
        self.tools = tools
        self.folder = folder
        self.failures: list[str] = []
        self.measure = prepare.build_measure()

    def say(self, text: str) -> None:
        print(f"{datetime.datetime.now():%H:%M:%S} {text}", file=sys.stderr, flush=True)

    def child(self, python: Python, **request: object) -> dict | None:
        """Runs child.py; None if it failed, which is told and counted."""
        request["paths"] = [str(python.package), str(python.peers)]
        request.setdefault("film", str(self.folder / "child.film"))
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTHON", "FILMSTRIP"))
        }
        environment["PYTHONHASHSEED"] = "0"
        command = [str(python.executable), str(HERE / "child.py"), json.dumps(request)]
        what = " ".join(
            str(request[key]) for key in ("do", "workload", "tool") if key in request
        )
        try:
            result = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=CHILD_SECONDS,
                env=environment,
                cwd=self.folder,
                preexec_fn=take_priority if self.settings.priority else None,
            )
        except subprocess.TimeoutExpired:
            self.fail(f"{python.version} {what}: not done after {CHILD_SECONDS} s")
            return None
        if result.returncode != 0 or not result.stdout.strip():
            last = (result.stderr.strip().splitlines() or ["no message"])[-1]
            self.fail(f"{python.version} {what}: status {result.returncode}, {last}")
            return None
        return json.loads(result.stdout.splitlines()[-1])

    def fail(self, sentence: str) -> None:
        self.failures.append(sentence)
        self.say("FAILED " + sentence)

    def is_wanted(self, tool: str) -> bool:
        return self.tools is None or tool in self.tools

    def tools_of(self, python: Python) -> dict[str, dict]:
        """What the times are measured with."""
        seconds = self.settings.recorded_seconds
        tools: dict[str, dict] = {
            "floor": {"tool": "floor", "mode": "monitoring"},
            "filmstrip": {"tool": "filmstrip", "seconds": seconds},
        }
        if not python.has_monitoring:
            tools["floor"]["mode"] = "trace"
            tools["floor_no_exceptions"] = {"tool": "floor", "mode": "profile"}
            tools["filmstrip_no_exceptions"] = {
                "tool": "filmstrip",
                "options": {"all": True, "level": "calls", "exceptions": False},
                "seconds": seconds,
            }
        tools["viztracer"] = {"tool": "viztracer", "runs": self.settings.few_runs}
        for name in ("cprofile", "yappi"):
            tools[name] = {"tool": name, "runs": self.settings.profiler_runs}
        return tools

    # --- sections: each gives its raw answers, one by one -----------------------

    def times(self) -> Iterator[dict]:
        return measuring.times(self, "times", self.tools_of)

    def idle(self) -> Iterator[dict]:
        for number in range(self.settings.idle_processes):
            for workload in (*self.settings.workloads, "raise_each_call"):
                for python in self.pythons:
                    if number > 0 and not python.has_monitoring:
                        continue  # no bar there, and slow
                    answer = self.child(
                        python,
                        do="idle",
                        workload=workload,
                        turns=self.settings.idle_turns if python.has_monitoring else 1,
                        runs=self.settings.idle_runs,
                    )
                    if answer is None:
                        continue
                    self.say(
                        f"idle {number + 1}/{self.settings.idle_processes} "
                        f"{python.version} {workload}: "
                        f"{summary.best_ratio([answer], 'thread'):.3f}"
                    )
                    yield {
                        "python": python.version,
                        "workload": workload,
                        "round": number,
                        **answer,
                    }

    def memory(self) -> Iterator[dict]:
        cases = (
            (0, "richards", 5),
            (0, "asyncio", 5),
            (self.settings.memory_threads, "fib", 1),
        )
        return measuring.memory(self, "calls", cases)

    def pass_(self) -> Iterator[dict]:
        """`filmstrip run -c pass`: what it leaves, and how long it takes."""
        for python in self.pythons:
            film = self.folder / "pass.film"
            command = [str(python.program), "run", "-o", str(film), "--force"]
            command += ["--level", "calls"]
            started = time.perf_counter()
            result = subprocess.run(
                [*command, "-c", "pass"], capture_output=True, text=True
            )
            seconds = time.perf_counter() - started
            if result.returncode != 0 or not film.exists():
                last = (result.stderr.strip().splitlines() or ["no message"])[-1]
                self.fail(f"{python.version} run -c pass: {last}")
                continue
            status = film.stat()
            film.unlink()
            yield {
                "python": python.version,
                "size": status.st_size,
                "blocks": status.st_blocks * 512,
                "seconds": seconds,
            }
            self.say(f"pass {python.version}: {status.st_size} bytes")

    def film(self) -> Iterator[dict]:
        """The commands over a long recording."""
        python = self.pythons[-1]
        make_film = prepare.build_make_film(python)
        film = self.folder / "long.film"
        made = json.loads(
            prepare.run(
                [
                    *(make_film, film),
                    *(self.settings.film_events, self.settings.film_functions),
                ],
                "make_film",
            )
        )
        status = film.stat()
        made["what"] = "make"
        made |= {"size": status.st_size, "blocks": status.st_blocks * 512}
        self.say(f"film of {made['events']:,} events: {status.st_size >> 20} MiB")
        yield made
        yield from measuring.commands(
            self,
            "film",
            film,
            made["events"],
            (
                ("open", "info", self.settings.open_runs),
                *(
                    (name, name, self.settings.film_runs)
                    for name in ("dump", "log", "report")
                ),
                ("check", "check", 1),
            ),
        )
        opened = self.child(
            python, do="open", film=str(film), runs=self.settings.open_runs
        )
        if opened is not None:
            yield {"what": "python_open", **opened}
        film.unlink()

    def values(self) -> Iterator[dict]:
        """Level values: values.py."""
        return values.measure(self)

    def native_program(self, python: Python) -> pathlib.Path:
        """The C program itself, without Python's start."""
        native = python.package / "filmstrip" / "bin" / "filmstrip"
        return native if native.exists() else python.program


def describe_machine() -> dict[str, object]:
    """Without names of host or person."""
    processor = memory = system = ""
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as lines:
        for line in lines:
            if line.startswith("model name"):
                processor = line.split(":", 1)[1].strip()
                break
    with contextlib.suppress(OSError), open("/proc/meminfo") as lines:
        memory = f"{int(lines.readline().split()[1]) >> 20} GiB"
    with contextlib.suppress(OSError):
        system = platform.freedesktop_os_release().get("PRETTY_NAME", "")
    kernel = ".".join(platform.release().split("-")[0].split(".")[:2])
    return {
        "processor": processor,
        "cores": len(os.sched_getaffinity(0)),
        "memory": memory,
        "system": f"{system}, Linux {kernel}",
        "file_system": file_system(BUILD),
    }


def file_system(path: pathlib.Path) -> str:
    """The type of what is mounted where `path` lies."""
    found = ("", "")
    with contextlib.suppress(OSError), open("/proc/self/mounts") as lines:
        for line in lines:
            _, place, kind, *_ = line.split()
            if path.is_relative_to(place) and len(place) >= len(found[0]):
                found = (place, kind)
    return found[1]


def rounded(value: object) -> object:
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return value


def measure(bench: Bench, sections: list[str]) -> dict[str, dict]:
    functions = {
        "pass": bench.pass_,
        "film": bench.film,
        "memory": bench.memory,
        "idle": bench.idle,
        "times": bench.times,
        "values": bench.values,
    }
    measured = {}
    for name in sections:
        started = time.monotonic()
        loads = [os.getloadavg()[0]]
        raw: list[dict] = []
        interrupted = False
        try:
            raw.extend(functions[name]())
        except PreparationError as error:
            bench.fail(f"{name}: {error}")
        except KeyboardInterrupt:
            bench.fail(f"{name}: interrupted; what was measured until then is kept")
            interrupted = True
        if not raw:
            continue
        loads.append(os.getloadavg()[0])
        measured[name] = {
            "date": f"{datetime.date.today():%Y-%m-%d}",
            "seconds": round(time.monotonic() - started),
            "load": round(statistics.mean(loads), 1),
            "settings": vars(bench.settings),
            "raw": rounded(raw),
        }
        if interrupted:
            break
    return measured


def write_results(results: dict, folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    results["summary"] = rounded(summary.summarise(results["sections"]))
    results["bars"] = rounded(summary.compare(results["summary"]))
    (folder / "bench.json").write_text(compact(results) + "\n")
    (folder / "bench.md").write_text(report.markdown(results))
    (folder / "bench.svg").write_text(report.chart(results["summary"]))


def compact(results: dict) -> str:
    """JSON that a diff can show: one line for each raw answer, the rest indented."""
    raw = {name: part["raw"] for name, part in results["sections"].items()}
    outline = json.loads(json.dumps(results))
    for name in raw:
        outline["sections"][name]["raw"] = f"@{name}@"
    text = json.dumps(outline, indent=1)
    for name, answers in raw.items():
        lines = ",\n".join("    " + json.dumps(answer) for answer in answers)
        text = text.replace(f'"@{name}@"', f"[\n{lines}\n   ]")
    return text


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("versions", nargs="*", help="3.12 ...; default: all found")
    parser.add_argument("--quick", action="store_true", help="some minutes, rough")
    parser.add_argument(
        "--only", default="", help=f"sections, of: {', '.join(SECTIONS)}"
    )
    parser.add_argument("--workloads", default="", help="some programs only")
    parser.add_argument("--tools", default="", help="some tools only")
    parser.add_argument("--rounds", type=int, help="rounds of the times")
    parser.add_argument(
        "--merge", action="store_true", help="put the sections measured into docs"
    )
    parser.add_argument(
        "--priority",
        action="store_true",
        help="on a busy machine, as root: measure with real-time priority",
    )
    parser.add_argument("--render", action="store_true", help="measure nothing")
    parser.add_argument("--output", type=pathlib.Path, help="folder of the results")
    return parser.parse_args(arguments)


def found_versions() -> list[str]:
    output = prepare.run([ROOT / "tools" / "find_pythons"], "tools/find_pythons")
    return [line.split()[0] for line in output.splitlines()]


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    docs = ROOT / "docs"
    sections = options.only.split(",") if options.only else list(SECTIONS)
    unknown = set(sections) - set(SECTIONS)
    if unknown:
        print(f"no such section: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    if options.render:
        results = json.loads((docs / "bench.json").read_text())
        write_results(results, options.output or docs)
        return 0
    settings = Settings(options.quick, options.priority)
    if options.workloads:
        settings.workloads = tuple(options.workloads.split(","))
    if options.rounds:
        settings.rounds = options.rounds
    partial = bool(options.only or options.workloads or options.tools)
    output = options.output or (
        BUILD / "quick"
        if options.quick
        else docs
        if options.merge or not partial
        else BUILD / "partial"
    )
    BUILD.mkdir(parents=True, exist_ok=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="films-", dir=BUILD))
    try:
        pythons = [Python(version) for version in options.versions or found_versions()]
        for python in pythons:
            python.install_peers()
            python.build_floor()
            python.take_snapshot(folder)
        tools = options.tools.split(",") if options.tools else None
        bench = Bench(pythons, settings, tools, folder)
        measured = measure(bench, sections)
    except PreparationError as error:
        print(error, file=sys.stderr)
        return 2
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    results = {
        "quick": options.quick,
        "machine": describe_machine(),
        "pythons": {
            python.version: {
                "version": python.full_version,
                "peers": python.peer_versions(),
            }
            for python in pythons
        },
        "failures": bench.failures,
        "sections": measured,
    }
    if options.merge and (output / "bench.json").exists():
        before = json.loads((output / "bench.json").read_text())
        results["sections"] = before["sections"] | measured
        results["pythons"] = before["pythons"] | results["pythons"]
    write_results(results, output)
    print(report.terminal(results))
    print(f"written to {os.path.relpath(output)}")
    return 1 if bench.failures else 0


if __name__ == "__main__":
    sys.exit(main())
