"""The planner of PLANS.md 1 in plain Python: what src/recorder/plan*.c is compared with.

Slow and simple: lists of writes are tuples, instructions come from dis. It shares nothing with the C planner but the rules:

- a region begins at a line start, a RESUME, a handler, a point;
- a point lies at a store in doubt (two paths with different writes meet, or a write
  would hide one that waits), at LOAD_FAST_AND_CLEAR and MAKE_CELL of a slot that waits,
  at an instruction that runs code while a write waits which that code could overwrite,
  at an instruction that may change in place what a write that waits has stored (or that
  write, if a region begins with it, is read off the stack there),
  at a store that must be read off the stack, and where lists or regions grow too long;
- with EXTENDED_ARG a point lies at the first of them.

Writes are tuples: (kind, slot or None, name or None).
"""

from __future__ import annotations

import dataclasses
import dis
import sys
from types import CodeType

OLD = sys.version_info < (3, 12)
LIST_LIMIT, REGION_LIMIT = 64, 256
UNWINDS = 65534
ENDS = {
    "RETURN_VALUE",
    "RETURN_CONST",
    "RAISE_VARARGS",
    "RERAISE",
    "JUMP_FORWARD",
    "JUMP_BACKWARD",
    "JUMP_BACKWARD_NO_INTERRUPT",
    "INTERPRETER_EXIT",
}
UNMARKED = {"END_FOR", "END_SEND", "END_ASYNC_FOR", "RESUME", "POP_ITER"}
NO_JUMP = {"END_ASYNC_FOR"}  # 3.14 lists it among the jumps; it is none
RERAISES = {"RERAISE", "END_ASYNC_FOR", "CLEANUP_THROW"}
CALLS = {
    "PRECALL",
    "CALL",
    "CALL_KW",
    "CALL_FUNCTION_EX",
    "BINARY_OP",
    "BINARY_SUBSCR",
    "IMPORT_NAME",
    "WITH_EXCEPT_START",
    "BEFORE_WITH",
    "BEFORE_ASYNC_WITH",
    "LOAD_SPECIAL",
    "FOR_ITER",
    "SEND",
}
# No event can come from these: they run nothing, free nothing, cannot raise.
QUIET = {
    "EXTENDED_ARG",
    "NOP",
    "NOT_TAKEN",
    "PUSH_NULL",
    "PUSH_EXC_INFO",
    "COPY",
    "SWAP",
    "LOAD_CONST",
    "LOAD_SMALL_INT",
    "LOAD_COMMON_CONSTANT",
    "LOAD_ASSERTION_ERROR",
    "LOAD_CLOSURE",
    "LOAD_FAST_AND_CLEAR",
    "LOAD_FAST_BORROW",
    "LOAD_FAST_LOAD_FAST",
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW",
    "COPY_FREE_VARS",
    "KW_NAMES",
    "JUMP_FORWARD",
    "JUMP_BACKWARD_NO_INTERRUPT",
}
if not OLD:
    QUIET.add("LOAD_FAST")
VARIABLES = {"fast", "cell", "delete fast", "delete cell"}
ATTRIBUTES = {"attribute", "delete attribute"}
NAMES = {
    "STORE_GLOBAL": "global",
    "STORE_NAME": "name",
    "DELETE_GLOBAL": "delete global",
    "DELETE_NAME": "delete name",
}

Write = tuple[str, "int | None", "str | None"]
State = tuple[tuple[Write, int], ...]


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


WRITERS = set(
    "add append appendleft clear discard extend extendleft insert pop popitem popleft "
    "remove reverse rotate setdefault sort update".split()
)


READERS = set(
    "bit_length capitalize center copy count decode difference encode endswith find "
    "format get index intersection isalnum isalpha isdigit isdisjoint isidentifier "
    "islower isnumeric isspace issubset issuperset isupper items join keys ljust lower "
    "lstrip partition replace rfind rindex rjust rpartition rsplit rstrip split "
    "splitlines startswith strip swapcase title translate union upper values zfill".split()
)
CHANGES = {
    *("CALL", "CALL_KW", "CALL_FUNCTION_EX", "WITH_EXCEPT_START", "BEFORE_WITH"),
    *("BEFORE_ASYNC_WITH", "LOAD_SPECIAL", "SEND", "STORE_SUBSCR", "STORE_SLICE"),
    "DELETE_SUBSCR",
}
STORED_VALUES = {"fast", "cell", "global", "name", "attribute"}


def reraises(i: dis.Instruction) -> bool:
    return i.opname in RERAISES or (i.opname == "RAISE_VARARGS" and i.arg == 0)


def is_subscript(i: dis.Instruction) -> bool:
    return i.opname == "BINARY_SUBSCR" or (i.opname == "BINARY_OP" and i.arg == 26)


def is_plain_load(i: dis.Instruction) -> bool:
    """Pushes one item and does nothing else."""
    if i.opname == "LOAD_GLOBAL":
        return (i.arg or 0) & 1 == 0
    return i.opname in {
        *("LOAD_CONST", "LOAD_SMALL_INT", "LOAD_COMMON_CONSTANT", "LOAD_FAST"),
        *("LOAD_FAST_CHECK", "LOAD_FAST_BORROW", "LOAD_DEREF", "LOAD_CLASSDEREF"),
        "LOAD_NAME",
    }


def is_method(i: dis.Instruction) -> bool:
    return i.opname == "LOAD_METHOD" or (
        i.opname == "LOAD_ATTR" and not OLD and (i.arg or 0) & 1 == 1
    )


def stored(i: dis.Instruction) -> list[Write]:
    """What one instruction writes, attributes and items left out."""
    name, arg = i.opname, i.arg or 0
    if name == "STORE_FAST" or name == "STORE_FAST_MAYBE_NULL":
        return [("fast", arg, None)]
    if name == "STORE_DEREF":
        return [("cell", arg, None)]
    if name == "DELETE_FAST":
        return [("delete fast", arg, None)]
    if name == "DELETE_DEREF":
        return [("delete cell", arg, None)]
    if name == "STORE_FAST_LOAD_FAST":
        return [("fast", arg >> 4, None)]
    if name == "STORE_FAST_STORE_FAST":
        return [("fast", arg >> 4, None), ("fast", arg & 15, None)]
    if name in NAMES:
        return [(NAMES[name], None, i.argval)]
    return []


def loaded(i: dis.Instruction) -> list[int]:
    name, arg = i.opname, i.arg or 0
    if name in ("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW"):
        return [arg]
    if name in ("LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW"):
        return [arg >> 4, arg & 15]
    if name == "STORE_FAST_LOAD_FAST":
        return [arg & 15]
    return []


def target(i: dis.Instruction) -> int | None:
    if i.opcode in dis.hasjrel and i.opname not in NO_JUMP:
        return int(i.argval)
    return None


def depths(
    code: CodeType,
    ins: list[dis.Instruction],
    following: dict[int, list[int]],
    handlers: dict[int, int],
) -> dict[int, int]:
    """The depth of the evaluation stack before each instruction."""
    found: dict[int, int] = {}
    at = {i.offset: i for i in ins}
    # Up to 3.12 what RETURN_GENERATOR leaves for POP_TOP is not in its effect.
    left = dis.stack_effect(dis.opmap["RETURN_GENERATOR"]) == 0
    entry = int(left and code.co_flags & 0x2A0 != 0)
    work = [(ins[0].offset, entry), *handlers.items()]
    while work:
        offset, depth = work.pop()
        if offset in found:
            continue
        found[offset] = depth
        i = at[offset]
        jump = target(i)
        arg = i.arg if i.opcode >= dis.HAVE_ARGUMENT else None
        for y in following[offset]:
            taken = None if jump is None else y == jump
            try:
                effect = dis.stack_effect(i.opcode, arg, jump=taken)
            except ValueError:
                effect = 0
            work.append((y, depth + effect))
    return found


class Planner:
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

    def first_prefix(self, offset: int) -> int:
        k = self.number[offset]
        while k and self.ins[k - 1].opname == "EXTENDED_ARG":
            k -= 1
        return self.ins[k].offset

    def previous(self, offset: int) -> dis.Instruction | None:
        """The instruction before, if control can come from nowhere else."""
        k = self.number[offset]
        while True:
            if k == 0 or self.ins[k].offset in self.jumps:
                return None
            k -= 1
            if self.ins[k].opname != "EXTENDED_ARG":
                return self.ins[k]

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

    def called_method(self, x: int) -> str | None:
        """The name of the method that the CALL at `x` calls, in straight code."""
        i = self.at[x]
        if i.opname not in ("CALL", "CALL_KW") or x not in self.depth:
            return None
        above = 0 if OLD else (i.arg or 0) + (i.opname == "CALL_KW")
        wanted = self.depth[x] - above - 2
        for k in range(self.number[x] - 1, -1, -1):
            before = self.ins[k]
            depth = self.depth.get(before.offset, -1)
            if is_method(before) and depth - 1 == wanted:
                return str(before.argval)
            if depth >= 0 and depth <= wanted and before.opname != "EXTENDED_ARG":
                return None
        return None

    def may_change(self, x: int) -> bool:
        i = self.at[x]
        if i.opname == "PRECALL":
            x += 2 * (1 + self.caches(x))
            i = self.at[x]
        if i.opname == "BINARY_OP":
            return 13 <= (i.arg or 0) <= 25
        return i.opname in CHANGES and self.called_method(x) not in READERS

    def caches(self, x: int) -> int:
        k = self.number[x]
        return (self.ins[k + 1].offset - x) // 2 - 1

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

    def let_go_changed(self) -> set[int]:
        """Stores to a variable whose object a method of this line may have changed."""
        points = set()
        for number, i in enumerate(self.ins):
            for kind, slot, _ in stored(i):
                if kind not in VARIABLES:
                    continue
                line = self.line.get(i.offset)
                for j in self.ins[max(0, number - 256) : number][::-1]:
                    if self.line.get(j.offset) not in (None, line):
                        break
                    method = j.opname == "LOAD_METHOD" or (
                        j.opname == "LOAD_ATTR" and not OLD and (j.arg or 0) & 1
                    )
                    if not method or j.argval not in WRITERS:
                        continue
                    owner = self.previous(j.offset)
                    while owner is not None:
                        if is_subscript(owner):
                            key = self.previous(owner.offset)
                            if key is None or not is_plain_load(key):
                                owner = None
                                break
                            owner = key
                        elif owner.opname != "LOAD_ATTR" or is_method(owner):
                            break
                        owner = self.previous(owner.offset)
                    if owner is None:
                        continue
                    cell = owner.opname in ("LOAD_DEREF", "LOAD_CLASSDEREF")
                    held = [owner.arg] if cell else loaded(owner)[-1:]
                    if held == [slot]:
                        points.add(self.first_prefix(i.offset))
        return points

    def rebound(self) -> set[int]:
        """Stores of a statement that follows one of its line which has loaded the same
        variable or attribute and then changed something."""
        points = set()
        for number, i in enumerate(self.ins):
            writes = self.ops.get(i.offset, [])
            if not writes or i.offset not in self.depth or self.cleans_up(number):
                continue
            kind, _, name = writes[0]
            slots = {slot for _, slot, _ in writes if slot is not None}
            taken = {"attribute": 2, "delete attribute": 1}.get(
                kind, 0 if kind.startswith("delete") else len(writes)
            )
            base = self.depth[i.offset] - taken
            ended = changed = False
            for j in self.ins[max(0, number - 255) : number][::-1]:
                if self.line.get(j.offset) not in (None, self.line.get(i.offset)):
                    break
                changed |= ended and self.may_change(j.offset)
                if kind in ATTRIBUTES:
                    loads = j.opname == "LOAD_ATTR" and not is_method(j)
                    loads = loads and j.argval == name
                elif not slots:
                    loads = j.opname in ("LOAD_GLOBAL", "LOAD_NAME")
                    loads = loads and j.argval == name
                elif j.opname in ("LOAD_DEREF", "LOAD_CLASSDEREF"):
                    loads = j.arg in slots
                else:
                    loads = not slots.isdisjoint(loaded(j))
                if changed and loads:
                    points.add(self.first_prefix(i.offset))
                    break
                between = j.opname == "STORE_FAST_LOAD_FAST"
                ended |= self.depth.get(j.offset, base + 1 + between) - between <= base
        return points

    def cleans_up(self, number: int) -> bool:
        """The end of `except E as e` and of a comprehension."""
        i = self.ins[number]
        if i.offset in self.restoring:
            return True
        around = {"STORE_FAST": number + 1, "DELETE_FAST": number - 1}.get(i.opname)
        if around is None or not 0 <= around < len(self.ins):
            return False
        other = self.ins[around]
        pair = {i.opname, other.opname} == {"STORE_FAST", "DELETE_FAST"}
        return pair and other.arg == i.arg

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
