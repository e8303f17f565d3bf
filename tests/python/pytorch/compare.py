"""Compares what was recorded of a program with what the oracle saw (oracle.py).

Nothing of torch is needed here: both sides are JSON.
"""

from __future__ import annotations

import json
import pathlib
import re
from typing import Any

Record = dict[str, Any]

# What a mode is told of though it is no operation: switches of torch's own.
SWITCHES = {"?._set_grad_enabled"}
# An operator and the method that does the same are one C function, which names itself to
# a mode by the method; the descriptor that was called has the operator's name.
OPERATORS = {
    **{f"__{name}__": name for name in ("add", "sub", "mul", "matmul", "abs", "neg")},
    **{f"__{name}__": name for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    **{f"__i{name}__": f"{name}_" for name in ("add", "sub", "mul")},
    **{"__radd__": "add", "__rmul__": "mul", "__pos__": "positive"},
    **{"__truediv__": "div", "__div__": "div", "__mod__": "remainder"},
    **{"__itruediv__": "div_", "__idiv__": "div_", "__imod__": "remainder_"},
    **{"__floordiv__": "floor_divide", "__ifloordiv__": "floor_divide_"},
    **{"__pow__": "pow", "__ipow__": "pow_", "__rand__": "bitwise_and"},
    **{"__ror__": "bitwise_or", "__rxor__": "bitwise_xor"},
}
# By Python's own attributes; of a tensor that is not plain, those that it has.
ALWAYS = ("dtype", "device", "layout", "requires_grad", "shape")
PLAIN = (*ALWAYS, "strides", "offset", "version")
# resolve_name takes the last name that a function has.
SAME = {"torch.spmm": {"torch.mm"}, "torch.functional.istft": {"torch.istft"}}
MOST = 12  # differences that are told of one program


# What no mode is told of, beside torch's own list.
ALSO_UNSEEN = {"torch.Tensor.set_", "torch.Tensor._make_wrapper_subclass"}
# Arguments that fit no form of the function: torch finds that out before it looks for
# modes.
MISFIT = re.compile(
    r"\w+\(\)(:| received| missing| takes| got)|unsupported operand|expected Tensor as el"
)


def canonical(name: str) -> str:
    """One name for one C function."""
    owner, _, last = name.rpartition(".")
    return f"{owner}.{OPERATORS.get(last, last)}"


class Op:
    """An operation of either side, with what happened within it."""

    def __init__(self, record: Record, depth: int, thread: int) -> None:
        self.record, self.depth, self.thread = record, depth, thread
        self.name = canonical(record["function"])
        self.end: Record | None = None
        self.frames: list[str] = []  # recordings: the open calls, outermost first

    def __repr__(self) -> str:
        return f"{'  ' * self.depth}{self.name}"


class Oracle:
    """What the oracle saw: the operations of each thread, in order; and what it cannot
    see."""

    def __init__(self, path: pathlib.Path) -> None:
        records = [json.loads(line) for line in path.read_text().splitlines()]
        self.unseen = unseen_functions(records[0])
        self.threads = in_order(read_oracle(records[1:]), 0)

    def align(self, threads: dict[int, list[Op]]) -> list[Alignment]:
        """With the threads of a recording."""
        pairs = zip(self.threads, in_order(threads, 1), strict=True)
        return [Alignment(self.unseen, theirs, ours) for theirs, ours in pairs]


def unseen_functions(first: Record) -> set[str]:
    return {canonical(name) for name in first["functions"]} | ALSO_UNSEEN


class Alignment:
    """The operations of a thread as both sides have them: `pairs` that are the same, and
    `found` where they differ. Passed over are recorded operations that no mode is told
    of: those of torch's own list (of which some are told all the same), and calls that
    fit no form of the function."""

    def __init__(self, unseen: set[str], theirs: list[Op], ours: list[Op]) -> None:
        self.pairs: list[tuple[Op, Op]] = []
        self.found: list[str] = []
        self.passed = 0
        place = other = 0
        while place < len(theirs) or other < len(ours):
            their, our = theirs[place : place + 1], ours[other : other + 1]
            if our and cannot_be_told(unseen, their, our[0]):
                self.passed += 1
                other += 1
            elif their and our and same_name(their[0].name, our[0].name):
                self.pairs.append((their[0], our[0]))
                place, other = place + 1, other + 1
            else:
                near = (ours[other : other + 4], theirs[place : place + 4])
                self.found.append(f"op {place}: recorded {near[0]}, true {near[1]}")
                more, less = resume(theirs[place:], ours[other:])
                place, other = place + more, other + less


def resume(theirs: list[Op], ours: list[Op]) -> tuple[int, int]:
    """How much to pass over on both sides until they agree again: the least."""
    for total in range(1, 40):
        for more in range(total + 1):
            less = total - more
            if (
                more < len(theirs)
                and less < len(ours)
                and same_name(theirs[more].name, ours[less].name)
            ):
                return more, less
    return len(theirs), len(ours)


def cannot_be_told(unseen: set[str], theirs: list[Op], ours: Op) -> bool:
    told = bool(theirs) and same_name(theirs[0].name, ours.name)
    if is_misfit(ours):
        return not (told and is_type_error(theirs[0]))
    return ours.name in unseen and not told


def is_misfit(op: Op) -> bool:
    if (op.end or {}).get("result", {}).get("type") == "NotImplementedType":
        return True  # an operator: Python asks the other operand
    raised = (op.end or {}).get("exception")
    return (
        raised is not None
        and raised["type"] == "TypeError"
        and MISFIT.match(raised.get("message", "")) is not None
    )


def is_type_error(op: Op) -> bool:
    return (op.end or {}).get("exception", [""])[0] == "TypeError"


def same_name(theirs: str, ours: str) -> bool:
    """Of what resolve_name does not know only the last part counts; of what has several
    names, any."""
    if theirs.startswith("?."):
        return theirs[2:].lstrip("_") == ours[ours.rindex(".") + 1 :].lstrip("_")
    return ours in SAME.get(theirs, {theirs})


def read_oracle(records: list[Record]) -> dict[int, list[Op]]:
    threads: dict[int, list[Op]] = {}
    by_number: dict[int, Op] = {}
    for record in records:
        if record["kind"] == "op":
            op = Op(record, record["depth"], record["thread"])
            by_number[record["op"]] = op
            if record["function"] not in SWITCHES:
                threads.setdefault(op.thread, []).append(op)
        else:
            by_number[record["op"]].end = record
    return threads


def read_recording(events: list[Record], entry: str) -> dict[int, list[Op]]:
    """The operations of each thread between the call of `entry` and its return; of
    threads that do not call it, all that came in that time."""
    begin, end = window(events, entry)
    threads: dict[int, list[Op]] = {}
    open_ops: dict[int, list[Op]] = {}
    frames: dict[int, list[Record]] = {}
    names: dict[int, str] = {}
    for event in events:
        thread, kind = event["thread"], event["kind"]
        stack = frames.setdefault(thread, [])
        if kind in ("call", "resume", "throw"):
            names.setdefault(event["frame"], event.get("function", ""))
            stack.append(event)
        elif kind in ("return", "yield", "unwind"):
            while stack and stack.pop()["frame"] != event["frame"]:
                pass
        elif kind == "op":
            within = open_ops.setdefault(thread, [])
            op = Op(event, len(within), thread)
            op.frames = [names[call["frame"]] for call in stack]
            within.append(op)
            if begin <= event["time_ns"] <= end:
                threads.setdefault(thread, []).append(op)
        elif kind == "op_end":
            op = open_ops[thread].pop()
            assert op.record["op"] == event["op"], "an op_end is not of the open op"
            op.end = event
    for thread, ops in open_ops.items():
        assert not ops, f"thread {thread}: {ops} did not end"
    return threads


def window(events: list[Record], entry: str) -> tuple[int, int]:
    """When the function was called and when it was left."""
    call = next(
        event
        for event in events
        if event["kind"] == "call" and event["function"] == entry
    )
    left = next(
        event
        for event in events
        if event["kind"] in ("return", "unwind") and event["frame"] == call["frame"]
    )
    return call["time_ns"], left["time_ns"]


class Classes:
    """Two numberings of the same things must map one to one."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.there: dict[int, int] = {}
        self.back: dict[int, int] = {}

    def differ(self, ours: int, theirs: int) -> str | None:
        if self.there.setdefault(theirs, ours) != ours:
            return f"{self.what} {theirs} is {self.there[theirs]} and {ours}"
        if self.back.setdefault(ours, theirs) != theirs:
            return f"{self.what} {self.back[ours]} and {theirs} are both {ours}"
        return None


class Comparison:
    def __init__(self, values: bool = True) -> None:
        self.values = values
        self.objects, self.storages = Classes("tensor"), Classes("storage")
        self.found: list[str] = []
        self.ops = self.tensors = self.read = 0

    def say(self, where: str, what: str) -> None:
        self.found.append(f"{where}: {what}")

    def tensor(self, where: str, theirs: Record, ours: Record) -> None:
        self.tensors += 1
        if ours.get("type") != theirs["type"]:
            self.say(where, f"type {ours.get('type')}, not {theirs['type']}")
        keys = PLAIN if theirs["plain"] else ALWAYS
        for key in keys:
            if key not in ours and not theirs["plain"]:
                continue
            if ours.get(key) != theirs.get(key):
                self.say(where, f"{key} {ours.get(key)}, not {theirs.get(key)}")
        if theirs["plain"]:
            self.read += 1
            numbers = [(self.objects, "object"), (self.storages, "storage")]
        else:
            numbers = [(self.objects, "object")] if ours.get("object") else []
        for classes, key in numbers:
            difference = classes.differ(ours.get(key, -1), theirs[key])
            if difference is not None:
                self.say(where, difference)

    def value(self, where: str, theirs: Record, ours: Record) -> None:
        if "tensor" in theirs:
            self.tensor(where, theirs["tensor"], ours)
        elif "text" in theirs:
            if ours.get("redacted"):
                return
            told, true = ours.get("text", ""), theirs["text"]
            if ours.get("cut"):
                told, _, _ = told.partition("...")
                true = true[: len(told)]
            if told != true:
                self.say(where, f"{told}, not {true}")
        elif "items" in theirs or "pairs" in theirs:
            if ours.get("type") != theirs["type"]:
                self.say(where, f"type {ours.get('type')}, not {theirs['type']}")
            true = theirs.get("items", theirs.get("pairs"))
            told = ours.get("items")
            if told is None:
                if true and not ours.get("cut"):
                    self.say(where, "its items are not told")
                return
            if len(told) != len(true) and not ours.get("cut"):
                self.say(where, f"{len(told)} items, not {len(true)}")
            for place, (their, our) in enumerate(zip(true, told, strict=False)):
                if "pairs" in theirs:
                    self.value(f"{where}[{their[0]}]", their[1], our[1])
                else:
                    self.value(f"{where}[{place}]", their, our)
        elif ours.get("type") != theirs["type"]:
            self.say(where, f"type {ours.get('type')}, not {theirs['type']}")

    def all(self, where: str, theirs: list[Record], ours: list[Record]) -> None:
        if len(theirs) != len(ours):
            self.say(where, f"{len(ours)} values, not {len(theirs)}")
        for place, (their, our) in enumerate(zip(theirs, ours, strict=False)):
            self.value(f"{where} {place}", their, our)

    def op(self, where: str, theirs: Op, ours: Op) -> None:
        self.ops += 1
        if ours.depth != theirs.depth:
            self.say(where, f"depth {ours.depth}, not {theirs.depth}")
        if not self.values:
            return
        self.all(f"{where} argument", theirs.record["args"], ours.record["args"])
        named, told = theirs.record["kwargs"], ours.record["kwargs"]
        if list(named) != list(told):
            self.say(where, f"keywords {list(told)}, not {list(named)}")
        for name in named:
            if name in told:
                self.value(f"{where} {name}=", named[name], told[name])
        if theirs.end is None or ours.end is None:
            self.say(where, "has no end")
            return
        if "exception" in theirs.end:
            self.exception(where, theirs.end["exception"], ours.end)
            return
        if "exception" in ours.end:
            self.say(where, f"raised {ours.end['exception']}")
            return
        self.value(f"{where} result", theirs.end["result"], ours.end["result"])
        # What an operation gives, changed or not, is told as its result.
        given = theirs.end["result"].get("tensor", {}).get("object")
        changed = [
            value
            for value in theirs.end["changed"]
            if value["tensor"]["object"] != given
        ]
        self.all(f"{where} changed", changed, ours.end.get("changed", []))

    def exception(self, where: str, theirs: list[str], ours: Record) -> None:
        told = ours.get("exception")
        if told is None:
            self.say(where, f"did not raise {theirs}")
            return
        message = told.get("message", "")
        cut = told.get("cut") or told.get("redacted")
        if told["type"].rpartition(".")[2] != theirs[0]:
            self.say(where, f"raised {told['type']}, not {theirs[0]}")
        elif not cut and message != theirs[1]:
            self.say(where, f"raised {message!r}, not {theirs[1]!r}")

    def all_of(self, alignments: list[Alignment]) -> None:
        for thread, alignment in enumerate(alignments):
            self.found += [f"thread {thread} {what}" for what in alignment.found]
            for place, (their, our) in enumerate(alignment.pairs):
                self.op(f"thread {thread} op {place} {their.name}", their, our)


def in_order(threads: dict[int, list[Op]], main: int) -> list[list[Op]]:
    """The main thread first; others by what they did, since their numbers depend on
    which began first."""
    numbers = sorted(threads, key=lambda n: (n != main, fingerprint(threads[n])))
    return [threads[number] for number in numbers]


def fingerprint(ops: list[Op]) -> str:
    """What tells one worker from another: the scalars it worked with."""
    texts = []
    for op in ops[:8]:
        values = [*op.record.get("args", []), *op.record.get("kwargs", {}).values()]
        texts += [value["text"] for value in values if is_scalar(value)]
    return " ".join(texts)


def is_scalar(value: Record) -> bool:
    return "text" in value and "shape" not in value and "items" not in value
