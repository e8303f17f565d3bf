"""Measures the recording of PyTorch's operations against the bare program and against
peers, all in one run.

    make bench-torch                  everything, into docs/bench-torch.{json,md}
    bench/torch_bench.py --quick      some minutes, into build/bench/torch-quick
    bench/torch_bench.py --device cuda --json gpu.json   on a machine with a GPU
    bench/torch_bench.py --add gpu.json                  puts that file into docs
    bench/torch_bench.py --render     the table again, from docs/bench-torch.json

Each figure is taken in a fresh process that runs the program bare and with one tool in
turns; the tools take turns too, round after round. What is told is the median.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile

import torch_report

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
BUILD = ROOT / "build" / "bench"
PEERS = BUILD / "torch-peers"
CHILD_SECONDS = 540

LOOPS = (
    *("torch.add(a, b)", "a + b", "a.add_(b)"),
    *("F.linear(a, W)", "a.relu()", "a[1:]"),
)
LOOP_TOOLS = {
    "filmstrip": {"tool": "filmstrip"},
    "function_mode": {"tool": "function_mode"},
}


def ours(**options: object) -> dict[str, object]:
    return {"tool": "filmstrip", "options": options}


# A slow tool runs fewer steps of each turn.
STEP_TOOLS: dict[str, dict[str, object]] = {
    "calls": ours(torch="off"),
    "ops": ours(),
    "ops_values": ours(level="values"),
    "all": ours(torch="all"),
    "ops_summaries": ours(torch_values=True),
    "gpu": ours(torch_gpu=True),
    "profiler": {"tool": "profiler", "options": {}},
    "profiler_shapes": {"tool": "profiler", "options": {"record_shapes": True}},
    "function_mode": {"tool": "function_mode"},
    "viztracer": {"tool": "viztracer"},
    "debug_mode": {"tool": "debug_mode", "share": 0.2},
    "torchdbg": {"tool": "torchdbg", "share": 0.1},
}
SECOND_TOOLS = ("ops", "ops_values", "profiler", "function_mode")
# Steps of a turn, so that one takes about half a second bare.
STEPS = {"mlp": 800, "gpt": 60}
SECOND = {"resnet": 80, "lstm": 150, "translator": 150, "diffusion": 200}
SECOND |= {"reinforce": 80}
GPU_STEPS = 30
SUMMARY_ITEMS = (16, 1024, 16384)


class Bench:
    def __init__(self, options: argparse.Namespace, folder: str) -> None:
        self.device = options.device
        self.python = options.python
        self.folder = folder
        self.rounds = 1 if options.quick else options.rounds
        self.turns = 3 if options.quick else 7
        self.share = 0.25 if options.quick else 1.0
        self.tools = options.tools.split(",") if options.tools else None
        self.failures: list[str] = []

    def say(self, text: str) -> None:
        print(f"{datetime.datetime.now():%H:%M:%S} {text}", file=sys.stderr, flush=True)

    def wants(self, tool: str) -> bool:
        return self.tools is None or tool in self.tools

    def child(self, what: str, **request: object) -> dict | None:
        """Runs torch_child.py; None if it failed, which is told and kept."""
        paths = [str(PEERS)] if PEERS.exists() else []
        request |= {"paths": paths, "device": self.device, "folder": self.folder}
        request = {"options": {}, "turns": self.turns} | request
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("FILMSTRIP", "TORCH_TRACE"))
        }
        command = [self.python, str(HERE / "torch_child.py"), json.dumps(request)]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=CHILD_SECONDS,
                env={**environment, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"},
                cwd=self.folder,
            )
        except subprocess.TimeoutExpired:
            return self.fail(f"{what}: not done after {CHILD_SECONDS} s")
        if done.returncode != 0 or not done.stdout.strip():
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            return self.fail(f"{what}: status {done.returncode}, {last}")
        return json.loads(done.stdout.splitlines()[-1])

    def fail(self, sentence: str) -> None:
        self.failures.append(sentence)
        self.say("FAILED " + sentence)

    # --- sections: each gives its raw answers ----------------------------------------

    def loops(self):
        """ns an operation over the bare one."""
        count = int(20_000 * self.share)
        for number in range(self.rounds):
            for loop in LOOPS:
                for tool, request in LOOP_TOOLS.items():
                    if not self.wants(tool):
                        continue
                    what = f"loop {loop} {tool}"
                    answer = self.child(
                        what, do="loop", loop=loop, count=count, **request
                    )
                    if answer is None:
                        continue
                    answer |= {"loop": loop, "name": tool, "round": number}
                    self.say(f"{what}: +{1e9 * torch_report.added(answer):.0f} ns")
                    yield answer

    def steps(self, programs: dict[str, int], tools):
        for number in range(self.rounds):
            for program, steps in programs.items():
                for tool in tools:
                    if not self.wants(tool) or (self.device, tool) == ("cpu", "gpu"):
                        continue
                    request = dict(STEP_TOOLS[tool])
                    share = float(request.pop("share", 1.0)) * self.share
                    count = GPU_STEPS if self.device != "cpu" else steps
                    what = f"{program} {tool}"
                    answer = self.child(
                        what,
                        do="step",
                        program=program,
                        count=max(3, int(count * self.share)),
                        tool_count=max(3, int(count * share)),
                        **request,
                    )
                    if answer is None:
                        continue
                    answer |= {"program": program, "name": tool, "round": number}
                    self.say(f"{what}: {torch_report.ratio(answer):.3f}x")
                    yield answer

    def bytes_of_an_op(self):
        """Two tensors in, one out, always new."""
        count = 200_000
        request = {"do": "loop", "loop": "torch.add(a, b)", "turns": 1}
        for size in (count // 10, count):
            answer = self.child("bytes", **request, **ours(), count=size)
            if answer is not None:
                yield answer

    def summaries(self):
        """What a summary adds to an operation that makes one new tensor."""
        for number in range(self.rounds):
            for items in SUMMARY_ITEMS:
                for name, values in (("without", False), ("with", True)):
                    answer = self.child(
                        f"summaries {items} {name}",
                        do="loop",
                        loop="torch.add(a, b)",
                        items=items,
                        count=int(20_000 * self.share),
                        **ours(torch_values=values),
                    )
                    if answer is not None:
                        yield answer | {"items": items, "name": name, "round": number}

    def sections(self) -> dict[str, object]:
        second = [tool for tool in SECOND_TOOLS if tool in STEP_TOOLS]
        found: dict[str, object] = {
            "loops": self.loops(),
            "steps": self.steps(STEPS, STEP_TOOLS),
            "second": self.steps(SECOND, second),
            "bytes": self.bytes_of_an_op(),
            "summaries": self.summaries(),
        }
        if self.device != "cpu":  # what these tell does not depend on the device
            del found["bytes"], found["summaries"]
        return found


def describe(options: argparse.Namespace) -> dict[str, str]:
    """Without names of host or person."""
    code = (
        "import json, torch, platform; cuda = torch.cuda.is_available(); "
        "print(json.dumps([platform.python_version(), torch.__version__, "
        "torch.cuda.get_device_name(0) if cuda else '']))"
    )
    done = subprocess.run([options.python, "-c", code], capture_output=True, text=True)
    python, torch, gpu = json.loads(done.stdout)
    processor = ""
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            processor = line.split(":", 1)[1].strip()
            break
    return {
        "date": f"{datetime.date.today():%Y-%m-%d}",
        "python": python,
        "torch": torch,
        "processor": processor,
        "cores": str(len(os.sched_getaffinity(0))),
        "gpu": gpu if options.device != "cpu" else "",
        "kernel": ".".join(platform.release().split("-")[0].split(".")[:2]),
        "quick": "yes" if options.quick else "",
    }


def peers_installed() -> dict[str, str]:
    found = {}
    for name in ("torchdbg", "viztracer"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            places = PEERS.glob(f"{name}-*.dist-info")
            found |= {name: place.name.split("-")[1][:-5] for place in places}
    return found


def install_peers(python: str) -> None:
    """torchdbg, from PyPI, without what it asks for (torch is there)."""
    if PEERS.exists():
        return
    print("installing the peers", file=sys.stderr)
    wanted = str(HERE / "requirements-torch.txt")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet"]
    where = ["--disable-pip-version-check", "--no-deps", "--target", str(PEERS)]
    done = subprocess.run([*pip, *where, "-r", wanted], capture_output=True, text=True)
    if done.returncode != 0:
        print(f"the peers could not be installed: {done.stderr}", file=sys.stderr)


def rounded(value: object) -> object:
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return value


def measure(options: argparse.Namespace) -> dict[str, object]:
    wanted = options.only.split(",") if options.only else None
    raw: dict[str, list[dict]] = {}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, folder)
        load = [os.getloadavg()[0]]
        for name, answers in bench.sections().items():
            if wanted is None or name in wanted:
                raw[name] = [rounded(answer) for answer in answers]
        load.append(os.getloadavg()[0])
    return {
        "machine": describe(options) | {"load": f"{statistics.mean(load):.1f}"},
        "device": options.device,
        "peers": peers_installed(),
        "failures": bench.failures,
        "raw": raw,
    }


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--quick", action="store_true", help="a few minutes, rough")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", default="", help="sections, with commas between")
    parser.add_argument("--tools", default="", help="some tools only")
    parser.add_argument("--python", default=sys.executable, help="what is measured")
    parser.add_argument("--no-peers", action="store_true", help="install none")
    parser.add_argument("--json", type=pathlib.Path, help="only this file is written")
    parser.add_argument("--add", type=pathlib.Path, help="a file that --json wrote")
    parser.add_argument("--render", action="store_true", help="measure nothing")
    return parser.parse_args()


def main() -> int:
    options = parse()
    folder = BUILD / "torch-quick" if options.quick else ROOT / "docs"
    kept = folder / "bench-torch.json"
    results = json.loads(kept.read_text()) if kept.exists() else {}
    if options.add:
        added = json.loads(options.add.read_text())
        results[added["device"]] = added
    elif not options.render:
        if not options.no_peers:
            install_peers(options.python)
        found = measure(options)
        if options.json:
            options.json.write_text(json.dumps(found) + "\n")
            print(torch_report.markdown({options.device: found}))
            return 1 if found["failures"] else 0
        before = results.get(options.device, {})
        if options.only and before:  # the other sections stay
            found["raw"] = before["raw"] | found["raw"]
        results[options.device] = found
    folder.mkdir(parents=True, exist_ok=True)
    kept.write_text(torch_report.compact(results) + "\n")
    (folder / "bench-torch.md").write_text(torch_report.markdown(results))
    print(torch_report.markdown(results))
    return 1 if any(part["failures"] for part in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
