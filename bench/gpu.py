"""Everything that wants a GPU, in one run: prints its figures as one JSON.

    tools/gpu_session.sh prepare     here: builds for the Python of that machine
    tools/gpu_session.sh run OUT     there: this program, with what was built

    cupti    src/recorder/torch/gpu.h by itself: what CUPTI is, whether work is tied to
             what led to it, what an id costs, a training step with and without it
    tests    tests/python/pytorch, and what they need
    steps    the GPT training step of the bench: bare, recorded, and with --torch-gpu
    bench    bench/torch_bench.py --device cuda

A part that fails says so in its place and the others go on. Where there is no GPU,
`--double` takes the double of CUPTI from the C tests and a small model on the CPU.
"""

from __future__ import annotations

import argparse
import collections
import ctypes
import json
import pathlib
import statistics
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
BUILT = ROOT / "build" / "gpu"
SECONDS = 500

sys.path.insert(0, str(HERE))

CHILD = """
import json, sys, time
sys.path.insert(0, {here!r})
import torch
import torch_programs
device, steps = {device!r}, {steps}
step = torch_programs.STEPS["gpt"](device)
wait = torch.cuda.synchronize if device == "cuda" else (lambda: None)
for _ in range(5):
    step()
wait()
begin = time.perf_counter()
for _ in range(steps):
    step()
wait()
print(json.dumps((time.perf_counter() - begin) / steps * 1e3))
"""


def program() -> str:
    found = subprocess.run(
        [sys.executable, "-c", "import filmstrip; print(filmstrip.__file__)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return str(pathlib.Path(found.stdout.strip()).parent / "bin" / "filmstrip")


def machine(device: str) -> dict[str, Any]:
    import torch

    told: dict[str, Any] = {
        "python": sys.version.split()[0],
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
    }
    if device == "cuda":
        told["gpu"] = torch.cuda.get_device_name()
    maps = pathlib.Path("/proc/self/maps").read_text()
    told["cupti_loaded"] = sorted(
        {pathlib.Path(word).name for word in maps.split() if "libcupti" in word}
    )
    return told


# --- CUPTI by itself ------------------------------------------------------------------


def median_step(
    step: Callable[[], object], wait: Callable[[], None], turns: int
) -> float:
    times = []
    for _ in range(turns):
        begin = time.perf_counter()
        for _ in range(10):
            step()
        wait()
        times.append((time.perf_counter() - begin) * 100)
    return statistics.median(times)


def cupti(device: str, double: bool, out: pathlib.Path) -> dict[str, Any]:
    import torch
    import torch_programs

    library = ctypes.CDLL(str(BUILT / "libgpu_probe.so"))
    library.probe_pair_ns.restype = ctypes.c_double
    step = torch_programs.STEPS["gpt"](device)
    wait = torch.cuda.synchronize if device == "cuda" else (lambda: None)
    packages = str(pathlib.Path(torch.__file__).parents[1]).encode()
    fake = str(BUILT / "libcupti_double.so").encode() if double else None
    sentence = ctypes.create_string_buffer(200)
    film = out / "gpu_probe.film"
    turns = 15 if device == "cuda" else 2
    for _ in range(5):
        step()
    wait()

    def recorded() -> None:
        library.probe_enter()
        step()
        library.probe_leave()

    told: dict[str, Any] = {"bare_ms": [], "traced_ms": []}
    for turn in range(3):
        told["bare_ms"].append(median_step(step, wait, turns))
        begun = library.probe_begin(str(film).encode(), packages, fake, sentence)
        if begun != 1:
            told["sentence"] = sentence.value.decode()
            if begun == 0:
                library.probe_end()
            return told
        told["traced_ms"].append(median_step(recorded, wait, turns))
        told["push_and_pop_ns"] = library.probe_pair_ns(100_000)
        begin = time.perf_counter()
        library.probe_write()
        told["write_ms"] = (time.perf_counter() - begin) * 1e3
        if turn == 2:
            counts = (ctypes.c_ulonglong * 4)()
            library.probe_counts(counts)
            names = ("records", "linked", "unfinished", "lost")
            told |= dict(zip(names, counts, strict=True))
        begin = time.perf_counter()
        library.probe_end()
        told["end_ms"] = (time.perf_counter() - begin) * 1e3
    told["ratio"] = statistics.median(told["traced_ms"]) / statistics.median(
        told["bare_ms"]
    )
    told["film_bytes"] = film.stat().st_size
    told["tracks"] = tracks(film)
    return told


def tracks(film: pathlib.Path) -> dict[str, Any]:
    """What the recording says ran, and whether it ran when its step did."""
    dump = subprocess.run(
        [program(), "dump", str(film)], capture_output=True, text=True, check=True
    )
    functions: collections.Counter[str] = collections.Counter()
    linked = total = early = 0
    begun: dict[tuple[int, int], int] = {}  # ops of the program: threads come in order
    gpus = {
        event["thread"]
        for event in map(json.loads, dump.stdout.splitlines())
        if event["kind"] == "thread_start" and event["name"].startswith("cuda:")
    }
    for line in dump.stdout.splitlines():
        event = json.loads(line)
        if event["kind"] != "op":
            continue
        values = {
            name: value.get("text") for name, value in event.get("kwargs", {}).items()
        }
        began = event["time_ns"]
        if event["thread"] not in gpus:
            begun[event["thread"], event["event"]] = began
            continue
        total += 1
        functions[event["function"][:60]] += 1
        if "event" in values:
            linked += 1
            op = begun.get((int(values["thread"]), int(values["event"])))
            early += op is not None and began < op
    return {
        "ops": total,
        "linked": linked,
        "before_their_op": early,
        "most": functions.most_common(8),
    }


# --- the recorder ---------------------------------------------------------------------


def tests(out: pathlib.Path) -> dict[str, Any]:
    log = out / "tests.log"
    begin = time.perf_counter()
    with log.open("w") as to:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "--maxfail=20", "-n", "12", "-p",
             "no:cacheprovider", "tests/python/pytorch"],
            cwd=ROOT, stdout=to, stderr=subprocess.STDOUT, timeout=SECONDS,
        )  # fmt: skip
    return {
        "rc": done.returncode,
        "last": log.read_text().splitlines()[-3:],
        "seconds": time.perf_counter() - begin,
    }


def steps(device: str, out: pathlib.Path) -> dict[str, Any]:
    child = out / "gpt_steps.py"
    child.write_text(
        CHILD.format(here=str(HERE), device=device, steps=60 if device == "cuda" else 5)
    )
    usage = subprocess.run(
        [sys.executable, "-m", "filmstrip", "run", "--help"],
        capture_output=True, text=True,
    ).stdout  # fmt: skip
    film = str(out / "gpt.film")
    run = [sys.executable, "-m", "filmstrip", "run", "--force", "-o", film]
    ways = {
        "bare": [sys.executable],
        "recorded": [*run, "--level", "calls"],
        "recorded_values": [*run, "--level", "values"],
    }
    if "--torch-gpu" in usage:
        ways["recorded_gpu"] = [*run, "--level", "calls", "--torch-gpu"]
    told: dict[str, Any] = {way: [] for way in ways}
    told["has_torch_gpu"] = "--torch-gpu" in usage
    for _ in range(3 if device == "cuda" else 1):
        for way, words in ways.items():
            done = subprocess.run(
                [*words, str(child)], capture_output=True, text=True, timeout=SECONDS
            )
            if done.returncode != 0:
                told[way].append(done.stderr[-500:])
                continue
            told[way].append(json.loads(done.stdout.splitlines()[-1]))
            told[way + "_stderr"] = done.stderr[-300:]
    bare = [ms for ms in told["bare"] if isinstance(ms, float)]
    for way in ways:
        taken = [ms for ms in told[way] if isinstance(ms, float)]
        if taken and bare:
            told[way + "_ratio"] = statistics.median(taken) / statistics.median(bare)
    if told["has_torch_gpu"]:
        told["tracks"] = tracks(pathlib.Path(film))
    return told


def bench(device: str, out: pathlib.Path) -> dict[str, Any]:
    made = out / "torch_bench.json"
    done = subprocess.run(
        [sys.executable, str(HERE / "torch_bench.py"), "--rounds", "1", "--no-peers",
         "--only", "steps", "--tools",
         "calls,ops,ops_values,gpu,profiler,profiler_shapes,function_mode",
         "--device", device, "--json", str(made)],
        capture_output=True, text=True, timeout=SECONDS,
    )  # fmt: skip
    return {"rc": done.returncode, "said": (done.stdout + done.stderr)[-3000:]}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--double", action="store_true")
    parser.add_argument("--parts", default="cupti,steps,tests,bench")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "cupti": lambda: cupti(options.device, options.double, options.out),
        "steps": lambda: steps(options.device, options.out),
        "tests": lambda: tests(options.out),
        "bench": lambda: bench(options.device, options.out),
    }
    told: dict[str, Any] = {}
    failed = False
    for name in ["machine", *options.parts.split(",")]:
        try:
            told[name] = machine(options.device) if name == "machine" else parts[name]()
        except Exception:
            failed = True
            told[name] = {"failed": traceback.format_exc()[-1500:]}
        # What there is is kept, should the time run out.
        (options.out / "gpu.json").write_text(json.dumps(told, indent=1) + "\n")
        print(name, json.dumps(told[name])[:2000], flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
