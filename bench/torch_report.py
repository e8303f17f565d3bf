"""The tables of docs/bench-torch.md, from what torch_bench.py has measured."""

from __future__ import annotations

import json
import statistics
from typing import Any

Answer = dict[str, Any]

# The bars of issue 15.
OP_NS = 200
TIMES_QUICKER = 5
STEP = {"cpu": 1.15, "cuda": 1.05}
STEP_WITH_KERNELS = 1.15
OP_BYTES = 12
SUMMARY_US = 1.0

NAMES = {
    "ops": "**filmstrip, calls and operations**",
    "ops_values": "filmstrip, `--level values`",
    "all": "filmstrip, `--torch all`",
    "ops_summaries": "filmstrip, `--torch-values`",
    "gpu": "filmstrip, `--torch-gpu`",
    "calls": "filmstrip, `--torch off`",
    "filmstrip": "**filmstrip**",
    "function_mode": "empty TorchFunctionMode (Python)",
    "profiler": "torch.profiler",
    "profiler_shapes": "torch.profiler, shapes",
    "viztracer": "VizTracer",
    "debug_mode": "DebugMode",
    "torchdbg": "torchdbg",
}
PROGRAMS = {
    "mlp": "MLP",
    "gpt": "GPT",
    "resnet": "ResNet",
    "lstm": "LSTM",
    "translator": "nn.Transformer",
    "diffusion": "diffusion U-Net",
    "reinforce": "policy gradient",
}


def ratio(answer: Answer) -> float:
    """Of each turn its own, and the median of those."""
    pairs = zip(answer["runs"], answer["bare"], strict=True)
    return statistics.median(run / bare for run, bare in pairs)


def added(answer: Answer) -> float:
    """Seconds over the bare run of the same turn."""
    pairs = zip(answer["runs"], answer["bare"], strict=True)
    return statistics.median(run - bare for run, bare in pairs)


def median(answers: list[Answer], figure) -> float | None:
    return statistics.median(map(figure, answers)) if answers else None


def picked(answers: list[Answer], **keys: object) -> list[Answer]:
    return [
        answer
        for answer in answers
        if all(answer.get(key) == value for key, value in keys.items())
    ]


def ordered(answers: list[Answer], key: str) -> list[str]:
    return list(dict.fromkeys(answer[key] for answer in answers))


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def cell(value: float | None, pattern: str) -> str:
    return "" if value is None else pattern.format(value)


# --- what is told ------------------------------------------------------------------


def op_bytes(answers: list[Answer]) -> float | None:
    """From a short and a long recording, so that the file's own parts cancel out."""
    if len(answers) < 2:
        return None
    short, long = answers[0], answers[-1]
    return (long["size"] - short["size"]) / (long["ran"] - short["ran"])


def summary_us(answers: list[Answer], items: int) -> float | None:
    told = {
        name: median(picked(answers, items=items, name=name), added)
        for name in ("without", "with")
    }
    if None in told.values():
        return None
    return 1e6 * (told["with"] - told["without"])


def bars(part: Answer) -> list[list[str]]:
    raw, device = part["raw"], part["device"]
    rows = []

    def bar(what: str, value: float | None, limit: float, pattern: str) -> None:
        if value is None:
            return
        least = limit == TIMES_QUICKER
        met = value >= limit if least else value <= limit
        sign = "≥" if least else "≤"
        rows.append(
            [
                what,
                f"{sign} {pattern.format(limit)}",
                pattern.format(value),
                "yes" if met else "**no**",
            ]
        )

    loops = raw.get("loops", [])
    for loop in ordered(loops, "loop") if device == "cpu" else []:
        own = median(picked(loops, loop=loop, name="filmstrip"), added)
        mode = median(picked(loops, loop=loop, name="function_mode"), added)
        if own is None:
            continue
        bar(f"`{loop}`, all metadata", 1e9 * own, OP_NS, "{:.0f} ns")
        if mode is not None:
            bar(f"`{loop}`, the mode's time over ours", mode / own, 5, "{:.1f}")
    program = "mlp" if device == "cpu" else "gpt"
    answers = picked(raw.get("steps", []), program=program, name="ops")
    what = "MLP training step" if device == "cpu" else "12-layer GPT training step"
    bar(
        f"{what}, operations and all calls of the user's code",
        median(answers, ratio),
        STEP[device],
        "{:.3f}x",
    )
    bar(
        f"{what}, with `--torch-gpu`",
        median(picked(raw.get("steps", []), program=program, name="gpu"), ratio),
        STEP_WITH_KERNELS,
        "{:.3f}x",
    )
    bar(
        "size on disk, an operation with three tensors",
        op_bytes(raw.get("bytes", [])),
        OP_BYTES,
        "{:.1f} bytes",
    )
    bar(
        "summary of a tensor of 1,024 floats",
        summary_us(raw.get("summaries", []), 1024),
        SUMMARY_US,
        "{:.2f} us",
    )
    return rows


def loop_table(answers: list[Answer]) -> str:
    loops = ordered(answers, "loop")
    bare = [
        median(picked(answers, loop=loop), lambda a: statistics.median(a["bare"]))
        for loop in loops
    ]
    rows = [["the operation itself", *(cell(x and 1e9 * x, "{:.0f}") for x in bare)]]
    for tool in ordered(answers, "name"):
        told = [median(picked(answers, loop=loop, name=tool), added) for loop in loops]
        rows.append(
            [NAMES[tool], *(cell(x and 1e9 * x, "+{:.0f}") for x in told)],
        )
    return table(["", *(f"`{loop}`" for loop in loops)], rows)


def step_table(answers: list[Answer]) -> str:
    programs = ordered(answers, "program")
    bare = [
        median(picked(answers, program=p), lambda a: statistics.median(a["bare"]))
        for p in programs
    ]
    rows = [["bare, ms a step", *(cell(x and 1e3 * x, "{:.2f}") for x in bare)]]
    tools = [name for name in NAMES if name in ordered(answers, "name")]
    for tool in tools:
        told = [median(picked(answers, program=p, name=tool), ratio) for p in programs]
        rows.append([NAMES[tool], *(cell(x, "{:.2f}") for x in told)])
    return table(["", *(PROGRAMS[p] for p in programs)], rows)


def file_table(answers: list[Answer]) -> str:
    """Of recordings: events a step and bytes an event."""
    rows = []
    for program in ordered(answers, "program"):
        for tool in NAMES:
            told = [
                a for a in picked(answers, program=program, name=tool) if "size" in a
            ]
            if told and told[0].get("events"):
                last = told[-1]
                rows.append(
                    [
                        f"{PROGRAMS[program]}, {NAMES[tool]}",
                        f"{last['events'] / last['ran']:.0f}",
                        f"{last['size'] / last['events']:.1f}",
                        f"{last['size'] / last['ran']:.0f}",
                    ]
                )
    return table(["", "events a step", "bytes an event", "bytes a step"], rows)


def device_text(part: Answer) -> list[str]:
    machine, raw = part["machine"], part["raw"]
    where = machine["gpu"] or f"{machine['processor']}, {machine['cores']} cores"
    texts = [
        f"## {'On a GPU' if part['device'] != 'cpu' else 'On the CPU'}",
        f"{machine['date']}: {where}; Python {machine['python']}, torch "
        f"{machine['torch']}, one thread, Linux {machine['kernel']}, load "
        f"{machine['load']}"
        + (", roughly measured (`--quick`)" if machine["quick"] else "")
        + ("; peers: " if part["peers"] else "")
        + ", ".join(f"{name} {version}" for name, version in part["peers"].items())
        + ".",
        table(["measure", "bar", "measured", "met"], bars(part)),
    ]
    if raw.get("loops"):
        texts += [
            "### Single operations, ns over the bare one",
            loop_table(raw["loops"]),
        ]
    if raw.get("steps"):
        texts += [
            "### Training steps, time over the bare one",
            step_table(raw["steps"]),
        ]
    if raw.get("second"):
        texts += [
            "### Programs that nothing was tuned on, time over the bare one",
            step_table(raw["second"]),
        ]
    if raw.get("summaries"):
        rows = [
            [f"{items:,}", cell(summary_us(raw["summaries"], items), "{:.2f}")]
            for items in ordered(raw["summaries"], "items")
        ]
        texts += [
            "### Summaries of values, us a tensor over an operation without",
            table(["floats", "us"], rows),
        ]
    recorded = [*raw.get("steps", []), *raw.get("second", [])]
    if recorded:
        texts += ["### Files", file_table(recorded)]
    if part["failures"]:
        texts += ["Not measured:", "\n".join(f"* {what}" for what in part["failures"])]
    return texts


def markdown(results: dict[str, Answer]) -> str:
    texts = [
        "# What recording PyTorch costs",
        "Written by `make bench-torch`; every figure is measured. The raw times are in "
        "[bench-torch.json](bench-torch.json). A figure is taken in a process of its "
        "own, where the program runs bare and with the tool in turns; it is the median "
        "over the turns of the time over the bare run (of the thread's CPU time; on a "
        "GPU the time until it is done). The recording has all calls of the program's "
        "own code (`--level calls`) and its operations, unless said otherwise.",
    ]
    for part in results.values():
        texts += device_text(part)
    return "\n\n".join(texts) + "\n"


def compact(results: dict[str, Answer]) -> str:
    """JSON that a diff can show: one line for each raw answer."""
    outline = json.loads(json.dumps(results))
    lines = {}
    for device, part in results.items():
        for name, answers in part["raw"].items():
            mark = f"@{device} {name}@"
            outline[device]["raw"][name] = mark
            lines[mark] = ",\n".join("    " + json.dumps(answer) for answer in answers)
    text = json.dumps(outline, indent=1)
    for mark, answers in lines.items():
        text = text.replace(f'"{mark}"', f"[\n{answers}\n   ]")
    return text
