"""The planner in plain Python: what src/recorder/plan*.c is compared with.

Slow and simple: lists of writes are tuples, instructions come from dis. It shares nothing with the C planner but the rules:

- a region begins at a line start, a RESUME, a handler, a point;
- a point lies at a store in doubt (two paths with different writes meet, or a write
  would hide one that waits), at LOAD_FAST_AND_CLEAR and MAKE_CELL of a slot that waits,
  at an instruction that runs code while a write waits which that code could overwrite,
  at an instruction that may change in place what a write that waits has stored (or that
  write, if a region begins with it, is read off the stack there),
  at a store that must be read off the stack, at a call that changes what no name leads
  to, at a store that binds anew what its line has changed, and where lists or regions
  grow too long;
- with EXTENDED_ARG a point lies at the first of them.

Writes are tuples: (kind, slot or None, name or None).
"""

from __future__ import annotations

import dataclasses
import dis
from types import CodeType

from proof.plan_instructions import (
    ATTRIBUTES,
    CALLS,
    ENDS,
    LIST_LIMIT,
    OLD,
    REGION_LIMIT,
    STORED_VALUES,
    UNMARKED,
    UNWINDS,
    VARIABLES,
    State,
    Write,
    depths,
    loaded,
    reraises,
    stored,
    target,
)
from proof.plan_points import Points


@dataclasses.dataclass
class Region:
    states: dict[int, State]
    stops: dict[int, State]


@dataclasses.dataclass
class Plan:
    """Offsets are in bytes, as dis gives them."""

    ins: list[dis.Instruction]
    at: dict[int, dis.Instruction]
    ops: dict[int, list[Write]]
    before: dict[int, Write]
    marked: set[int]
    points: set[int]
    handler: dict[int, int]
    regions: dict[int, Region]


class Planner(Points):
    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.ins = [i for i in dis.get_instructions(code) if i.opname != "CACHE"]
        self.at = {i.offset: i for i in self.ins}
        self.number = {i.offset: k for k, i in enumerate(self.ins)}
        self.line: dict[int, int | None] = {}
        for start, end, line in code.co_lines():
            for offset in range(start, end, 2):
                self.line[offset] = line
        self.read_handlers()
        self.find_successors()
        self.find_marks()
        self.find_writes()

    def read_handlers(self) -> None:
        self.handler: dict[int, int] = {}
        self.handler_depth: dict[int, int] = {}
        for e in dis._parse_exception_table(self.code):  # type: ignore[attr-defined]
            self.handler_depth[e.target] = e.depth + 1 + bool(e.lasti)
            for offset in range(e.start, e.end, 2):
                self.handler[offset] = e.target

    def find_successors(self) -> None:
        self.following: dict[int, list[int]] = {}
        self.succ: dict[int, list[int]] = {}
        for k, i in enumerate(self.ins):
            n = []
            if i.opname not in ENDS and k + 1 < len(self.ins):
                n.append(self.ins[k + 1].offset)
            if (t := target(i)) is not None:
                n.append(t)
            self.following[i.offset] = list(n)
            if OLD and reraises(i) and i.offset in self.handler:
                n.append(self.handler[i.offset])
            self.succ[i.offset] = n
        self.jumps = {t for i in self.ins if (t := target(i)) is not None}
        for t in list(self.jumps):
            k = self.number[t] + 1
            if self.at[t].opname in ("END_FOR", "END_SEND") and k < len(self.ins):
                self.jumps.add(self.ins[k].offset)

    def fires(self, x: int, y: int) -> bool:
        if OLD:
            return (
                self.line.get(y) is not None
                and self.at[y].opname != "RESUME"
                and (
                    self.line[y] != self.line.get(x)
                    or (y < x and self.at[y].opname != "SEND")
                )
            )
        return y in self.sure and self.line.get(x) != self.line.get(y)

    def find_marks(self) -> None:
        self.marked: set[int] = set()
        self.sure: set[int] = set()
        if OLD:
            self.marked = {
                y for x in self.succ for y in self.succ[x] if self.fires(x, y)
            }
            for k, i in enumerate(self.ins[:-1]):
                if i.opname == "RESUME":
                    self.marked.add(self.ins[k + 1].offset)
            return
        last: int | None = -2
        known = -2
        returned_to = {
            i.argval for i in self.ins if i.opname.startswith("JUMP_BACKWARD")
        }
        resumes = [k for k, i in enumerate(self.ins) if i.opname == "RESUME"]
        for i in self.ins[resumes[0] if resumes else 0 :]:
            o, line = i.offset, self.line.get(i.offset)
            joined = o in self.jumps or o in self.handler_depth
            if i.opname not in UNMARKED:
                if line is not None and (line != last or joined):
                    self.marked.add(o)
                    if line != known or joined:
                        self.sure.add(o)
                last = line
            elif i.opname in ("END_FOR", "END_SEND") and o in returned_to:
                # The END_SEND that a CLEANUP_THROW goes on to.
                if line is not None:
                    self.marked.add(o)
                    self.sure.add(o)
            if line is not None:
                known = line

    def augmented(self, k: int) -> list[int]:
        """owner.name += value: the slot of the owner, if it is in a local to the end."""
        ins = [i for i in self.ins[:k] if i.opname != "EXTENDED_ARG"] + [self.ins[k]]
        k = len(ins) - 1
        for j in range(k - 2, 1, -1):
            if (
                ins[j].opname == "LOAD_ATTR"
                and ins[j].argval == ins[k].argval
                and ins[j - 1].opname == "COPY"
                and ins[j - 1].arg == 1
                and (own := loaded(ins[j - 2]))
            ):
                written = [op[1] for i in ins[j:k] for op in stored(i)]
                return own[-1:] if own[-1] not in written else []
            if ins[j].opname in ("STORE_ATTR", "RESUME"):
                break
        return []

    def owner(self, i: dis.Instruction) -> list[int]:
        previous = self.previous(i.offset)
        if previous is None:
            return []
        if previous.opname in ("LOAD_DEREF", "LOAD_CLASSDEREF"):
            return [previous.arg or 0]
        if previous.opname == "SWAP" and i.opname == "STORE_ATTR":
            return self.augmented(self.number[i.offset])
        return loaded(previous)[-1:]

    def is_compilers(self, i: dis.Instruction) -> bool:
        """Items of __annotations__, keys taken off the dict of `case {..., **rest}`."""
        previous = self.previous(i.offset)
        if previous is None or i.opname not in ("STORE_SUBSCR", "DELETE_SUBSCR"):
            return False
        if i.opname == "DELETE_SUBSCR":
            return previous.opname == "SWAP"
        owner = self.previous(previous.offset)
        return (
            previous.opname in ("LOAD_CONST", "LOAD_SMALL_INT")
            and owner is not None
            and owner.opname == "LOAD_NAME"
            and owner.argval == "__annotations__"
        )

    def find_writes(self) -> None:
        names = set(self.code.co_varnames) | set(self.code.co_cellvars)
        self.slots = slots = len(names) + len(self.code.co_freevars)
        depth = depths(self.code, self.ins, self.following, self.handler_depth)
        self.depth = depth
        self.ops: dict[int, list[Write]] = {}
        self.before: dict[int, Write] = {}
        stack_kinds = {
            "STORE_ATTR": "stack attribute",
            "DELETE_ATTR": "stack delete attribute",
            "STORE_SUBSCR": "stack item",
            "STORE_SLICE": "stack slice",
            "DELETE_SUBSCR": "stack delete item",
            "IMPORT_STAR": "stack star",
        }
        for i in self.ins:
            o = i.offset
            writes = stored(i)
            top = slots + depth.get(o, 0)
            if len(writes) == 2 and writes[0] == writes[1]:
                self.before[self.first_prefix(o)] = ("stack fast", top, None)
                writes = writes[1:]
            if i.opname in ("STORE_ATTR", "DELETE_ATTR") and (own := self.owner(i)):
                delete = "delete " if i.opname == "DELETE_ATTR" else ""
                writes = [(delete + "attribute", own[-1], i.argval)]
            elif i.opname == "CALL_INTRINSIC_1" and i.arg == 2:
                self.before[self.first_prefix(o)] = ("stack star", top, None)
            elif i.opname in stack_kinds and not self.is_compilers(i):
                name = i.argval if i.opname.endswith("ATTR") else None
                self.before[self.first_prefix(o)] = (stack_kinds[i.opname], top, name)
            if (unnamed := self.unnamed_call(o)) is not None:
                point, called = unnamed
                top = slots + depth[point]
                self.before[self.first_prefix(point)] = ("stack call", top, called)
            if writes:
                self.ops[o] = writes

    def find_constants(self) -> None:
        """Stores of what was loaded right before as a constant."""
        loads = ("LOAD_CONST", "LOAD_SMALL_INT", "LOAD_COMMON_CONSTANT")
        self.constant = set()
        for o, writes in self.ops.items():
            previous = self.previous(o)
            if previous is not None and previous.opname in loads:
                if writes[0][0] != "attribute":
                    self.constant.add(o)

    def stops_for_change(self, p: int, x: int, s: State) -> bool:
        """True when what a write that waits has stored may be changed here. Where the
        region begins with that write it is read off the stack: self.again."""
        waiting = [
            o
            for a, o in s
            if a[0] in STORED_VALUES
            and o not in self.constant
            and o not in self.restoring
        ]
        if not waiting or not self.may_change(x):
            return False
        store = p
        while self.at[store].opname == "EXTENDED_ARG":
            store += 2
        if (
            p in self.points
            and p not in self.before
            and [o for _, o in s] == [store]
            and s[0][0][0] == "fast"
        ):
            self.before[p] = ("stack fast", self.slots + self.depth[store], None)
            self.again = True
            del self.ops[store]
        return True

    def must_stop(self, x: int, s: State) -> bool:
        """True when the writes that wait must be told before this instruction."""
        i = self.at[x]
        if i.opname in ("LOAD_FAST_AND_CLEAR", "MAKE_CELL") and any(
            a[0] in VARIABLES | ATTRIBUTES and a[1] == i.arg for a, _ in s
        ):
            return True
        if i.opname in CALLS and any(a[0] not in ("fast", "delete fast") for a, _ in s):
            return True
        return any(
            bool(s) and (len(s) >= LIST_LIMIT or any(hides(op, a) for a, _ in s))
            for op in self.ops.get(x, ())
        )

    def add_point(self, offset: int) -> None:
        offset = self.first_prefix(offset)
        if offset not in self.points:
            self.points.add(offset)
            self.fresh.add(offset)
            if offset not in self.order:
                self.order.append(offset)

    def flow(self, p: int) -> Region | None:
        """Walks one region; None when two paths met with different writes."""
        states: dict[int, State] = {p: ()}
        stops: dict[int, State] = {}
        work = [p]
        reached = 1
        doubtful = False

        def join(table: dict[int, State], y: int, s: State) -> bool:
            nonlocal doubtful
            if y not in table:
                table[y] = s
                return True
            t = table[y]
            if [a for a, _ in t] != [a for a, _ in s]:
                k = 0
                while k < min(len(t), len(s)) and t[k][0] == s[k][0]:
                    k += 1
                doubtful = True
                for _, o in [*t[k:][::-1], *s[k:][::-1]]:
                    self.add_point(o)
            return False

        def stop_at(x: int) -> None:
            self.add_point(x)
            s = states[x]
            first = self.first_prefix(x)
            for o in range(first, x + 1, 2):
                states.pop(o, None)
            join(stops, first, s)

        while work and not doubtful:
            x = work.pop()
            i, s = self.at[x], states[x]
            if self.must_stop(x, s):
                stop_at(x)
            elif self.stops_for_change(p, x, s):
                if self.again:
                    return None
                stop_at(x)
            else:
                for op in self.ops.get(x, ()):
                    s = (*s, (op, x))
                if OLD and reraises(i) and x not in self.handler:
                    join(stops, UNWINDS * 2, s)
                for y in self.succ[x]:
                    if y in self.points or self.fires(x, y):
                        join(stops, y, s)
                    elif join(states, y, s):
                        reached += 1
                        work.append(y)
            if reached > REGION_LIMIT:
                while work and not doubtful:
                    stop_at(work.pop())
        return None if doubtful else Region(states, stops)

    def plan(self) -> Plan:
        starts = set(self.marked) | set(self.handler_depth) | set(self.before)
        cleared = {
            (i.argval, i.positions)
            for i in self.ins
            if i.opname == "LOAD_FAST_AND_CLEAR"
        }
        self.restoring = {
            i.offset for i in self.ins if (i.argval, i.positions) in cleared
        } | {
            o
            for o, writes in self.ops.items()
            if (writes[0][2] or "").startswith("__") and writes[0][0] == "name"
        }
        let_go = self.let_go_changed() | self.rebound()
        starts |= let_go
        if OLD:  # a delegated throw() may go on there without an event
            starts |= {i.argval for i in self.ins if i.opname == "SEND"}
        starts |= {i.offset for i in self.ins if i.opname == "RESUME"}
        self.points = set(self.before) | let_go
        self.find_constants()
        self.order = sorted(starts)
        regions: dict[int, Region] = {}
        while True:
            self.fresh: set[int] = set()
            self.again = False
            again = False
            for p in self.order:  # grows while it is walked
                if p not in regions and (region := self.flow(p)) is not None:
                    regions[p] = region
                again, self.again = again or self.again, False
            if not self.fresh and not again:
                break
            for p in list(regions):
                if (set(regions[p].states) - {p}) & self.fresh:
                    del regions[p]
        assert set(regions) == set(self.order)
        return Plan(
            self.ins,
            self.at,
            self.ops,
            self.before,
            self.marked,
            self.points,
            self.handler,
            regions,
        )


def hides(op: Write, waiting: Write) -> bool:
    """True when `op` makes a write that waits unreadable."""
    if op[0] in VARIABLES:
        return waiting[0] in VARIABLES | ATTRIBUTES and waiting[1] == op[1]
    if op[0] in ATTRIBUTES:
        return waiting[0] in ATTRIBUTES and waiting[2] == op[2]
    return waiting[0] not in VARIABLES | ATTRIBUTES and waiting[2] == op[2]


def plan(code: CodeType) -> Plan:
    return Planner(code).plan()
