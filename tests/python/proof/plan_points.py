"""Points of plan_reference.py that are there for objects changed in place: at stores that
bind anew what their line has changed, and at calls that change what no name leads to."""

from __future__ import annotations

import dis

from proof.plan_instructions import (
    ATTRIBUTES,
    CHANGERS,
    CHANGES,
    OLD,
    READERS,
    VARIABLES,
    WRITERS,
    Write,
    is_method,
    is_plain_load,
    is_subscript,
    loaded,
    stored,
)


def loads_target(i: dis.Instruction, writes: list[Write]) -> bool:
    """It loads what the writes of a store bind anew."""
    kind, _, name = writes[0]
    slots = {slot for _, slot, _ in writes if slot is not None}
    if kind in ATTRIBUTES:
        return i.opname == "LOAD_ATTR" and not is_method(i) and i.argval == name
    if not slots:
        return i.opname in ("LOAD_GLOBAL", "LOAD_NAME") and i.argval == name
    if i.opname in ("LOAD_DEREF", "LOAD_CLASSDEREF"):
        return i.arg in slots
    return not slots.isdisjoint(loaded(i))


class Points:
    ins: list[dis.Instruction]
    at: dict[int, dis.Instruction]
    number: dict[int, int]
    line: dict[int, int | None]
    depth: dict[int, int]
    jumps: set[int]
    ops: dict[int, list[Write]]
    restoring: set[int]

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

    def callee_depth(self, x: int) -> int | None:
        """Where the function lies that the CALL at `x` calls, or its NULL."""
        i = self.at[x]
        if i.opname not in ("CALL", "CALL_KW") or x not in self.depth:
            return None
        above = 0 if OLD else (i.arg or 0) + (i.opname == "CALL_KW")
        return self.depth[x] - above - 2

    def method_of(self, x: int) -> dis.Instruction | None:
        """The load of the method that the CALL at `x` calls, in straight code."""
        wanted = self.callee_depth(x)
        if wanted is None:
            return None
        for k in range(self.number[x] - 1, -1, -1):
            before = self.ins[k]
            depth = self.depth.get(before.offset, -1)
            if is_method(before) and depth - 1 == wanted:
                return before
            if depth >= 0 and depth <= wanted and before.opname != "EXTENDED_ARG":
                return None
        return None

    def called_method(self, x: int) -> str | None:
        method = self.method_of(x)
        return None if method is None else str(method.argval)

    def named(self, x: int) -> bool:
        """What the instruction at `x` finds on the top of the stack is a variable, or up
        to two attributes of one."""
        load = self.previous(x)
        for _ in range(2):
            if load is None or load.opname != "LOAD_ATTR" or is_method(load):
                break
            load = self.previous(load.offset)
        if load is None:
            return False
        if load.opname == "LOAD_GLOBAL":
            return (load.arg or 0) & 1 == 0 or OLD
        return bool(loaded(load)) or load.opname in ("LOAD_DEREF", "LOAD_NAME")

    def called_function(self, x: int) -> str | None:
        """The name of the function that the CALL at `x` calls, or of its attribute."""
        wanted = self.callee_depth(x)
        for k in range(self.number[x] - 1, -1, -1):
            i = self.ins[k]
            depth = self.depth.get(i.offset, -1)
            first = self.depth.get(self.ins[k + 1].offset, -1)
            if wanted is None or depth < wanted:
                return None
            # What follows is the first argument, or the call itself.
            if first == wanted + 2 and i.opname not in ("PUSH_NULL", "EXTENDED_ARG"):
                loads = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_ATTR", "LOAD_METHOD")
                return str(i.argval) if i.opname in loads else None
        return None

    def unnamed_call(self, x: int) -> tuple[int, str] | None:
        """Where a call that changes what no name leads to is to be looked at, and its
        name."""
        wanted = self.callee_depth(x)
        if wanted is None:
            return None
        point = x
        if OLD and (before := self.ins[self.number[x] - 1]).opname == "PRECALL":
            point = before.offset
        function = self.called_function(x)
        if function in CHANGERS and self.at[x].arg:
            # The second argument begins where the first lies on the stack alone.
            k = self.number[point]
            while self.depth[self.ins[k].offset] != wanted + 3:
                k -= 1
            return None if self.named(self.ins[k].offset) else (point, function)
        method = self.method_of(x)
        if method is None or method.argval not in WRITERS or self.named(method.offset):
            return None
        return point, str(method.argval)

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
            kind = writes[0][0]
            if self.rebound_by_loop(number, writes):
                points.add(self.first_prefix(i.offset))
                continue
            taken = {"attribute": 2, "delete attribute": 1}.get(
                kind, 0 if kind.startswith("delete") else len(writes)
            )
            base = self.depth[i.offset] - taken
            ended = changed = False
            for j in self.ins[max(0, number - 255) : number][::-1]:
                if self.line.get(j.offset) not in (None, self.line.get(i.offset)):
                    break
                changed |= ended and self.may_change(j.offset)
                if changed and loads_target(j, writes):
                    points.add(self.first_prefix(i.offset))
                    break
                between = j.opname == "STORE_FAST_LOAD_FAST"
                ended |= self.depth.get(j.offset, base + 1 + between) - between <= base
        return points

    def rebound_by_loop(self, number: int, writes: list[Write]) -> bool:
        """A loop within the line of the store leads back to it, and changes something."""
        line = self.line.get(self.ins[number].offset)
        for k in range(number + 1, min(number + 256, len(self.ins))):
            i = self.ins[k]
            if self.line.get(i.offset) not in (None, line):
                return False
            if "JUMP_BACKWARD" not in i.opname or i.argval > self.ins[number].offset:
                continue
            body = self.ins[self.number[i.argval] : k + 1]
            if (
                all(self.line.get(j.offset) in (None, line) for j in body)
                and any(self.may_change(j.offset) for j in body)
                and any(loads_target(j, writes) for j in body)
            ):
                return True
        return False

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
