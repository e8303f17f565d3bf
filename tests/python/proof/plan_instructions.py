"""What the planner of plan_reference.py knows of single instructions."""

from __future__ import annotations

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


WRITERS = set(
    "add append appendleft clear discard extend extendleft insert pop popitem popleft "
    "remove reverse rotate setdefault sort update".split()
)


# These change the container they are given first.
CHANGERS = set(
    "delitem heapify heappop heappush heappushpop heapreplace insort insort_left "
    "insort_right setitem shuffle".split()
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
