"""The truth about values: a slow recorder in Python, told of every instruction.

On 3.12 and later by INSTRUCTION events of sys.monitoring, none disabled; on 3.11 by
opcode events of a trace function set through ctypes (sys.settrace would copy every
frame's locals into a dict before each event and keep the objects in it alive). One
executed STORE or DELETE is one write; one that raised is none. What a store writes is
read off the frame's evaluation stack just before it, whose depth comes from
dis.stack_effect and the exception table. Nothing of the program's is called: no repr of
its objects, no attribute of them.

A stream, one for each thread by its name, is a list of items:

    ["call", frame, function, {argument: value}]
    ["line", frame, line, {local: text, or None for one that is no literal, or UNBOUND}]
    ["set", frame, line, scope, name, value, owner, key, marks]
    ["delete", frame, line, scope, name, None, owner, key, marks]
    ["return", frame, line, value, states]   ["yield", frame, line, value, states]

A line's locals (and the states of a return or yield) are those that changed since the
frame's last line; those of a module also its globals. A value is
[type, text, length, identity]: text is the literal of a scalar or of a container of
scalars, else None; identity is the number of a container or instance, else None.
Numbers are never given twice as long as `keep` holds: then every object lives on, so a
program that looks at deaths must have it off, and identities are not told.
Marks: "ran" (the frame's last line event, where that is another line), "via" (a property, a __setattr__, a __setitem__ took it), "since": index in the
stream from which on it may be told (code of the program ran within the store).

Left out, because the source does not show them: what an inlined comprehension gives back
to the variables it used, names the compiler writes into a class, items of
__annotations__ and those that `case {**rest}` takes off its dict. A store to a slice of
a builtin container is left out too: a film tells it as a change of the container, which
the states prove.
"""

import collections
import ctypes
import dis
import sys
import threading
import types
import weakref

UNBOUND = "<unbound>"
ITEMS, DEPTH, TEXT_BYTES = 32, 3, 256
PROGRAM = "generated"  # its module
VERSION = sys.version_info[:2]

SCALARS = (type(None), bool, int, float, complex, str, bytes)
SEQUENCES = (list, tuple, set, frozenset, collections.deque)
CONTAINERS = (*SEQUENCES, dict, bytearray)
# What the compiler writes for itself; readers never see them.
COMPILERS_NAMES = {
    *("__classdict__", "__conditional_annotations__", "__classdictcell__"),
    *("__firstlineno__", "__static_attributes__", "__classcell__"),
    *("__type_params__", "__annotate__", "__annotate_func__"),
}
# Cells it makes for its own use.
NO_VARIABLES = {"__class__", "__classdict__"}
# What it writes first of all into a class; the program may write them, too.
OF_CLASSES = {"__module__", "__qualname__"}


# --- values ------------------------------------------------------------------------


def type_name(value):
    return type.__dict__["__qualname__"].__get__(type(value))


def literal(value, depth=DEPTH, instances=False):
    """Its Python literal; None where it is not one, or beyond the limits. Instances of
    the program's own classes are literals only where they are asked for."""
    kind = type(value)
    if kind in SCALARS:
        if kind is str and len(value.encode("utf-8", "surrogatepass")) > TEXT_BYTES:
            return None
        if kind is bytes and len(value) > TEXT_BYTES:
            return None
        if kind is int and value.bit_length() > 14_000:  # int's own limit of digits
            return None
        return repr(value)
    if depth == 0:
        return None
    if kind not in CONTAINERS:
        return of_instance(value, kind, depth) if instances else None
    if len(value) > ITEMS:
        return None
    if kind is bytearray:
        return repr(value)
    return of_container(value, kind, depth, instances)


TEXTS: dict = {}  # address of a container -> (kind, items' addresses, items, text)


def of_container(value, kind, depth, instances):
    """One that holds the same scalars as when it was last asked for, or that another at
    its address did, has the same text. The scalars are kept, so that their addresses
    stay theirs."""
    items = [*value.keys(), *value.values()] if kind is dict else [*value]
    addresses = [*map(id, items)]
    known = TEXTS.get(id(value))
    if known is not None and known[0] is kind and known[1] == addresses:
        return known[3]
    text = spelled(value, kind, depth, instances)
    if text is not None and all(type(item) in SCALARS for item in items):
        if len(TEXTS) > 1000:
            TEXTS.clear()
        TEXTS[id(value)] = (kind, addresses, items, text)
    return text


def spelled(value, kind, depth, instances):
    if kind is dict:
        pairs = [
            (literal(key, depth - 1), literal(item, depth - 1, instances))
            for key, item in value.items()
        ]
        if any(k is None or v is None for k, v in pairs):
            return None
        return "{" + ", ".join(f"{k}: {v}" for k, v in pairs) + "}"
    items = [literal(item, depth - 1, instances) for item in value]
    if any(item is None for item in items):
        return None
    text = ", ".join(items)
    if kind is list:
        return f"[{text}]"
    if kind is tuple:
        return f"({text},)" if len(items) == 1 else f"({text})"
    if kind is set:
        return f"{{{text}}}" if items else "set()"
    if kind is frozenset:
        return f"frozenset({{{text}}})" if items else "frozenset()"
    return f"deque([{text}])"  # its limit is no content


MEMBERS: dict = {}  # address of a class -> (weak reference to it, what members_of gives)


def members_of(kind):
    """Slots of a class of the program's, and under no name what gives an instance's dict;
    None for one that is not the program's. A class gets them when it is made."""
    if kind is object:
        return ()
    known = MEMBERS.get(id(kind))
    if known is None or known[0]() is not kind:
        space = type.__dict__["__dict__"].__get__(kind)
        members = None
        if space.get("__module__") == PROGRAM:
            members = [
                (None if name == "__dict__" else name, member)
                for name, member in space.items()
                if type(member) is types.MemberDescriptorType
                or name == "__dict__"
                and type(member) is types.GetSetDescriptorType
            ]
        known = MEMBERS[id(kind)] = (weakref.ref(kind), members)
    return known[1]


def of_instance(value, kind, depth):
    """<Kind x=1, y=2> for an instance of a class of the program's that holds nothing
    else, else None."""
    names = {}
    if kind is object:
        return None
    for base in type.__dict__["__mro__"].__get__(kind):
        members = members_of(base)
        if members is None:
            return None
        for name, member in members:
            if name is None:
                names |= member.__get__(value)
                continue
            try:
                names[name] = member.__get__(value)
            except AttributeError:
                pass
    if len(names) > ITEMS:
        return None
    texts = []
    for name in sorted(names):
        text = literal(names[name], depth - 1, True)
        if text is None:
            return None
        texts.append(f"{name}={text}")
    return f"<{type_name(value).rpartition('.')[2]} {', '.join(texts)}>"


LIVING = (
    types.GeneratorType,
    types.CoroutineType,
    types.AsyncGeneratorType,
    types.FrameType,
    types.TracebackType,
)


def is_alive(kind):
    """Its death runs code, or it holds frames: never kept."""
    return kind in LIVING or type.__subclasscheck__(BaseException, kind)


class Values:
    """Tells values; gives containers and instances their numbers."""

    def __init__(self, keep):
        self.keep = {} if keep else None

    def tell(self, value):
        if value is UNBOUND:
            return [None, UNBOUND, None, None]
        kind = type(value)
        length = len(value) if kind in CONTAINERS else None
        identity = None
        if self.keep is not None and kind not in SCALARS and not is_alive(kind):
            identity = self.keep.setdefault(id(value), (len(self.keep) + 1, value))[0]
        return [type_name(value), literal(value), length, identity]


# --- what code writes --------------------------------------------------------------

LOCAL_STORES = {
    "STORE_FAST",
    "STORE_FAST_MAYBE_NULL",
    "STORE_FAST_LOAD_FAST",
    "STORE_FAST_STORE_FAST",
    "DELETE_FAST",
}
OTHER_STORES = {
    "STORE_DEREF",
    "STORE_GLOBAL",
    "STORE_NAME",
    "STORE_ATTR",
    "STORE_SUBSCR",
    "STORE_SLICE",
    "DELETE_DEREF",
    "DELETE_GLOBAL",
    "DELETE_NAME",
    "DELETE_ATTR",
    "DELETE_SUBSCR",
    "IMPORT_STAR",
}
STORES = LOCAL_STORES | OTHER_STORES
HAS_ARGUMENT = set(getattr(dis, "hasarg", range(dis.HAVE_ARGUMENT, 256)))
NO_NEXT = {
    *("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"),
    *("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"),
    "INTERPRETER_EXIT",
}


def effect(instruction, jump):
    if instruction.opname == "RETURN_GENERATOR":
        return 1  # what the first send pushes
    argument = instruction.arg if instruction.opcode in HAS_ARGUMENT else None
    return dis.stack_effect(instruction.opcode, argument, jump=jump)


def stack_depths(code, instructions):
    """Offset -> depth of the stack before that instruction."""
    order = [instruction.offset for instruction in instructions]
    following = dict(zip(order, order[1:]))
    by_offset = {instruction.offset: instruction for instruction in instructions}
    jumps = {*dis.hasjrel, *dis.hasjabs}
    depths = {}
    work = [(order[0], 0)]
    for entry in dis._parse_exception_table(code):
        work.append((entry.target, entry.depth + 1 + bool(entry.lasti)))
    while work:
        offset, depth = work.pop()
        if offset in depths:
            assert depths[offset] == depth, (code, offset, depth, depths[offset])
            continue
        depths[offset] = depth
        instruction = by_offset[offset]
        name = instruction.opname
        if instruction.opcode in jumps and name != "END_ASYNC_FOR":
            work.append((instruction.argval, depth + effect(instruction, True)))
        if name not in NO_NEXT and offset in following:
            work.append((following[offset], depth + effect(instruction, False)))
    return depths


def source_segment(lines, positions):
    """The text an instruction stands for, if it is on one line, else its first."""
    if None in (positions.lineno, positions.col_offset, positions.end_col_offset):
        return ""
    line = lines[positions.lineno - 1] if positions.lineno <= len(lines) else ""
    line = line.encode()
    if positions.end_lineno != positions.lineno:
        rest = lines[positions.lineno : positions.end_lineno]
        return line[positions.col_offset :].decode() + " " + " ".join(rest)
    return line[positions.col_offset : positions.end_col_offset].decode()


class Store:
    """One storing instruction."""

    __slots__ = ("offset", "opname", "names", "slots", "depth", "line", "hidden")

    def __init__(self, instruction, depth, lines, given_back):
        self.offset = instruction.offset
        self.opname = name = instruction.opname
        self.depth = depth
        positions = instruction.positions
        self.line = positions.lineno
        value = instruction.argval
        if name == "STORE_FAST_LOAD_FAST":
            self.names, self.slots = [value[0]], [instruction.arg >> 4]
        elif name == "STORE_FAST_STORE_FAST":
            self.names = list(value)
            self.slots = [instruction.arg >> 4, instruction.arg & 15]
        else:
            self.names, self.slots = [value], [instruction.arg]
        # An inlined comprehension puts back what its variable's slot held before.
        restores = name == "STORE_FAST" and (value, positions) in given_back
        # `case {"k": x, **rest}` deletes the keys it has matched from a dict of its own.
        matches = name == "DELETE_SUBSCR" and not source_segment(
            lines, positions
        ).strip().endswith("]")
        self.hidden = restores or matches


def is_star(instruction):
    """from m import *"""
    name = instruction.opname
    return name == "IMPORT_STAR" or (name, instruction.arg) == ("CALL_INTRINSIC_1", 2)


def public_names(module):
    """What it writes, and the values."""
    space = types.ModuleType.__dict__["__dict__"].__get__(module)
    names = space.get("__all__")
    if names is None:
        names = [name for name in space if name[:1] != "_"]
    return {name: space.get(name, UNBOUND) for name in names}


class Code:
    """What is known of a code object from its bytecode."""

    def __init__(self, code, lines):
        instructions = list(dis.get_instructions(code))
        depths = stack_depths(code, instructions)
        self.code = code
        self.stores = {}
        self.is_class = code.co_flags & 0x3 == 0 and code.co_name != "<module>"
        given_back = {
            (instruction.argval, instruction.positions)
            for instruction in instructions
            if instruction.opname == "LOAD_FAST_AND_CLEAR"
        }
        seen = set()  # names the compiler has written into the class
        for index, instruction in enumerate(instructions):
            if instruction.opname not in STORES and not is_star(instruction):
                continue
            depth = depths.get(instruction.offset)
            constant = index and instructions[index - 1].opname == "LOAD_CONST"
            store = Store(instruction, depth, lines, () if constant else given_back)
            if instruction.opname == "STORE_SUBSCR" and index > 1:
                # `x: int` at a module's or a class's level.
                owner = instructions[index - 2].argval
                store.hidden |= owner == "__annotations__"
            if instruction.opname == "STORE_NAME" and self.is_class:
                name = instruction.argval
                store.hidden |= name in OF_CLASSES and name not in seen
                seen.add(name)
            self.stores[instruction.offset] = store
            # 3.11 tells of the first EXTENDED_ARG only, not of what it extends.
            before = index - 1
            while VERSION < (3, 12) and before >= 0:
                if instructions[before].opname != "EXTENDED_ARG":
                    break
                self.stores[instructions[before].offset] = store
                before -= 1
        cells = [name for name in code.co_cellvars if name not in code.co_varnames]
        self.locals = len(code.co_varnames) + len(cells) + len(code.co_freevars)
        count = (
            code.co_argcount
            + code.co_kwonlyargcount
            + bool(code.co_flags & 4)
            + bool(code.co_flags & 8)
        )
        self.arguments = code.co_varnames[:count]
        self.slots = ctypes.c_size_t * len(code.co_varnames)
        held = set(code.co_cellvars) | set(code.co_freevars)
        cleared = {name for name, _ in given_back}
        # Plain locals: those whose state at each line is compared.
        self.plain = [
            (slot, name)
            for slot, name in enumerate(code.co_varnames)
            if name not in held and not name.startswith(".") and name not in cleared
        ]
        # Those that other frames may write, too, or that comprehensions hide.
        self.shared = [
            (slot, name)
            for slot, name in enumerate(
                map(code._varname_from_oparg, range(self.locals))
            )
            if name in (held | cleared) - NO_VARIABLES and not name.startswith(".")
        ]


KNOWN: dict = {}  # programs have much code in common: their prelude


def facts_of(code, lines):
    last = max((line for _, _, line in code.co_lines() if line), default=1)
    key = (code, *lines[code.co_firstlineno - 1 : last])
    facts = KNOWN.get(key)
    if facts is None:
        if len(KNOWN) > 500:
            KNOWN.clear()
        facts = KNOWN[key] = Code(code, lines)
    return facts


# --- frames read in place ----------------------------------------------------------

LOCALSPLUS = 80 if VERSION >= (3, 14) else 72
word = ctypes.c_size_t.from_address


def base_of(frame):
    """The address of localsplus: PyFrameObject.f_frame, then _PyInterpreterFrame."""
    return word(id(frame) + 24).value + LOCALSPLUS


def read(base, index):
    if VERSION < (3, 14):
        try:
            return ctypes.py_object.from_address(base + 8 * index).value
        except ValueError:  # NULL
            return UNBOUND
    pointer = word(base + 8 * index).value
    if pointer & 3 == 3:
        return pointer >> 2  # an int the interpreter keeps for itself
    pointer &= ~3
    if pointer == 0:
        return UNBOUND
    return ctypes.cast(pointer, ctypes.py_object).value


def unwrapped(value):
    if type(value) is types.CellType:
        try:
            return value.cell_contents
        except ValueError:
            return UNBOUND
    return value


def inherited(kind, name):
    """kind.name as the type and its bases have it, no descriptor asked."""
    for base in type.__dict__["__mro__"].__get__(kind):
        space = type.__dict__["__dict__"].__get__(base)
        if name in space:
            return space[name]
    return None


HEAP_TYPE = 1 << 9
KEPT_BY_CLASSES = {
    *("__module__", "__doc__", "__name__", "__qualname__", "__bases__"),
    *("__abstractmethods__", "__annotations__", "__type_params__", "__annotate__"),
}


def took_over(owner, name, deleting):
    """Whether code or a descriptor stands between the store and where it is kept."""
    kind = type(owner)
    if kind is types.ModuleType:
        return False
    method = inherited(kind, "__delattr__" if deleting else "__setattr__")
    if type(method) is types.FunctionType:
        return True
    if kind is threading.local:
        return True  # each thread has its own
    if type.__subclasscheck__(type, kind) and name not in KEPT_BY_CLASSES:
        return False  # a class: what its metaclass does is not looked at
    found = inherited(kind, name)
    if found is None:
        return False
    if type(found) is types.MemberDescriptorType:
        # A slot of the program's, unless the type is written in C (function.__doc__).
        return not type.__dict__["__flags__"].__get__(kind) & HEAP_TYPE
    return inherited(type(found), "__set__") is not None


# --- the recorder ------------------------------------------------------------------


class Truth:
    def __init__(self, filename, keep=True, states=True, deep=True):
        """deep: the states hold instances and globals too. Not where code that is not
        recorded writes those."""
        self.filename = filename
        self.shared = False  # the states hold cells too
        self.deep = deep
        self.states = states
        try:
            with open(filename, encoding="utf-8") as file:
                self.lines = file.read().splitlines()
        except OSError:
            self.lines = []
        self.values = Values(keep)
        self.streams = {}
        self.codes = {}
        self.kept_codes = []  # so that no other has its address
        self.pending = {}  # id of a frame object -> store that is being executed
        self.frames = {}  # id of a frame object -> its name
        self.lines_run = {}  # id of a frame object -> its last line event
        self.told = {}  # id of a frame object -> locals at its last line
        self.scalars = {}  # id of a frame object -> slot -> (pointer, scalar it held)
        self.written = {}  # names of globals that its code has written
        self.calls = collections.Counter()

    def stream(self):
        thread = threading.current_thread()
        name = "main" if thread is threading.main_thread() else thread.name
        return name, self.streams.setdefault(name, [])

    def facts(self, code):
        # By address: a code object's hash is that of all its instructions.
        facts = self.codes.get(id(code))
        if facts is None:
            facts = self.codes[id(code)] = facts_of(code, self.lines)
            self.kept_codes.append(code)
        return facts

    def name_of(self, frame):
        return self.frames.get(id(frame), "adopted")

    # --- events, alike for both hooks ---

    def call(self, frame):
        self.enter(frame)
        thread, stream = self.stream()
        self.calls[thread] += 1
        key = id(frame)
        self.frames[key] = f"{thread}#{self.calls[thread]}"
        self.pending.pop(key, None)
        self.told.pop(key, None)
        self.scalars.pop(key, None)
        self.lines_run.pop(key, None)
        facts = self.facts(frame.f_code)
        base = base_of(frame)
        arguments = {}
        for slot, name in enumerate(facts.arguments):
            value = read(base, slot)
            if name in facts.code.co_cellvars:
                value = unwrapped(value)
            arguments[name] = self.values.tell(value)
            del value
        stream.append(
            ["call", self.name_of(frame), frame.f_code.co_qualname, arguments]
        )

    def enter(self, frame):
        """Code of the program begins: the caller may stand within a store, whose old
        value's finaliser this is. The variable is already new."""
        frame = frame.f_back
        while frame is not None:
            if frame.f_code.co_filename == self.filename:
                store = self.pending.get(id(frame))
                if store is not None and not store[2]:
                    self.settle(frame)
                return
            frame = frame.f_back

    def line(self, frame, number):
        self.settle(frame)
        self.lines_run[id(frame)] = number
        self.stream()[1].append(
            ["line", self.name_of(frame), number, self.changed(frame)]
        )

    def changed(self, frame):
        """The frame's variables that are not what they were when it was last asked; of
        a module its globals."""
        changed = {}
        if not self.states:
            return changed
        told = self.told.setdefault(id(frame), {})
        facts = self.facts(frame.f_code)
        found = {}
        if facts.code.co_name == "<module>":
            space = frame.f_globals
            for name in self.written if self.deep else ():
                value = space.get(name, UNBOUND)
                found[name] = (
                    UNBOUND if value is UNBOUND else literal(value, instances=True)
                )
        else:
            # What holds the same scalar as before is passed over: those are kept, so that
            # no other object can have their address.
            same = self.scalars.setdefault(id(frame), {})
            base = base_of(frame)
            pointers = facts.slots.from_address(base)[:]
            for slot, name in facts.plain:
                pointer = pointers[slot]
                if slot in same and same[slot][0] == pointer:
                    continue
                value = read(base, slot)
                if value is UNBOUND:
                    found[name] = UNBOUND
                else:
                    found[name] = literal(value, instances=self.deep)
                same.pop(slot, None)
                if type(value) in SCALARS:
                    same[slot] = (pointer, value)
                del value
            for slot, name in facts.shared if self.shared else []:
                value = unwrapped(read(base, slot))
                found[name] = (
                    UNBOUND if value is UNBOUND else literal(value, instances=self.deep)
                )
            del base
        for name, text in found.items():
            if told.get(name, UNBOUND) != text:
                told[name] = changed[name] = text
        return changed

    def instruction(self, frame, offset):
        if self.pending:
            self.settle(frame)
        facts = self.facts(frame.f_code)
        store = facts.stores.get(offset)
        if store is not None and not store.hidden:
            found = self.read_store(frame, facts, store)
            if found is not None:
                self.pending[id(frame)] = found

    def leave(self, kind, frame, value):
        self.settle(frame)
        key = id(frame)
        if type(value).__name__ == "async_generator_wrapped_value":
            value = read(id(value) + 16, 0)  # what is yielded, behind the header
        self.stream()[1].append(
            [
                *(kind, self.name_of(frame), frame.f_lineno),
                *(self.values.tell(value), self.changed(frame)),
            ]
        )
        if kind == "return":
            self.frames.pop(key, None)
            self.told.pop(key, None)
            self.scalars.pop(key, None)

    def unwind(self, frame):
        key = id(frame)
        self.pending.pop(key, None)
        self.frames.pop(key, None)
        self.told.pop(key, None)
        self.scalars.pop(key, None)

    def raised(self, frame):
        """The store that was being executed did not happen."""
        self.pending.pop(id(frame), None)

    def settle(self, frame):
        """The pending store of the frame is done."""
        store = self.pending.pop(id(frame), None)
        if store is None:
            return
        items, begin, flexible = store
        stream = self.stream()[1]
        for item in items:
            if item[3] == "global":
                self.written[item[4]] = True
        if flexible and len(stream) > begin:
            for item in items:
                item[8]["since"] = begin
        stream.extend(items)

    # --- stores ---

    def read_store(self, frame, facts, store):
        """(items, place in the stream, whether code may run within it and it may then
        be told anywhere until its end); None: nothing a film tells as a write."""
        name = store.opname
        deleting = name.startswith("DELETE")
        base = base_of(frame)
        top = facts.locals + store.depth

        def stack(below):
            return read(base, top - below)

        tell = self.values.tell
        marks = {}
        ran = self.lines_run.get(id(frame))
        if ran is not None and ran != store.line:
            marks["ran"] = ran
        owner = key = None
        if name in ("IMPORT_STAR", "CALL_INTRINSIC_1"):
            taken = public_names(stack(1))
            place = [self.name_of(frame), store.line, "global"]
            items = [
                ["set", *place, name, tell(value), None, None, dict(marks)]
                for name, value in taken.items()
            ]
            del taken
            return items, len(self.stream()[1]), False
        label = store.names[0]
        flexible = False
        if name in LOCAL_STORES:
            scope = "local"
        elif name.endswith("DEREF"):
            free = label in facts.code.co_freevars
            scope = "nonlocal" if free else "local"
            # A class body's cells, and what a class is given through them.
            if facts.is_class and not free:
                scope = "class"
        elif name.endswith("GLOBAL"):
            scope = "global"
        elif name.endswith("NAME"):
            scope = "class" if facts.is_class else "global"
            flexible = type(frame.f_locals) is not dict if facts.is_class else False
        elif name.endswith("ATTR"):
            scope = "attribute"
            owner = stack(1)
            flexible = took_over(owner, label, deleting)
        else:
            scope = "item"
            label = None
            if name == "STORE_SLICE":
                key = slice(stack(2), stack(1))
                owner = stack(3)
            else:
                key, owner = stack(1), stack(2)
            flexible = type(owner) not in CONTAINERS or type(key) not in SCALARS
            if type(key) is slice and type(owner) in CONTAINERS:
                return None
        if flexible:
            marks["via"] = True
        if scope in ("attribute", "item"):
            # A finaliser of what was there before may run within it; a film reads such
            # a store off the stack and tells it when it has happened.
            flexible = True
        items = []
        for index, variable in enumerate(store.names):
            if deleting:
                value = None
            elif scope == "attribute":
                value = tell(stack(2))
            elif scope == "item":
                value = tell(stack(4 if name == "STORE_SLICE" else 3))
            else:
                value = tell(stack(1 + index))
            items.append(
                [
                    "delete" if deleting else "set",
                    self.name_of(frame),
                    store.line,
                    scope,
                    variable if scope != "item" else None,
                    value,
                    None if owner is None else tell(owner),
                    None if scope != "item" else self.tell_key(key),
                    dict(marks),
                ]
            )
        items = [item for item in items if not self.compilers_own(item)]
        if len(store.names) == 2:
            flexible = True
        return items, len(self.stream()[1]), flexible

    def tell_key(self, key):
        if type(key) is slice:
            parts = [literal(part) for part in (key.start, key.stop, key.step)]
            text = None if None in parts else f"slice({', '.join(parts)})"
            return ["slice", text, None, None]
        return self.values.tell(key)

    def compilers_own(self, item):
        scope, name = item[3], item[4]
        if scope not in ("local", "nonlocal", "global", "class"):
            return False
        return name.startswith(".") or (
            scope in ("global", "class") and name in COMPILERS_NAMES
        )


def codes_in(code):
    yield code
    for constant in code.co_consts:
        if type(constant) is types.CodeType:
            yield from codes_in(constant)


class MonitoringTruth(Truth):
    TOOL = 5

    def start(self, code=None):
        """code: the program's, where that and what is within it is all that has its
        name; then other code is not instrumented for us."""
        monitoring = sys.monitoring
        events = monitoring.events
        getframe = sys._getframe
        filename = self.filename

        def start(code, offset):
            if code.co_filename == filename:
                self.call(getframe(1))

        def resume(code, offset):
            if code.co_filename == filename:
                self.enter(getframe(1))

        def throw(code, offset, error):
            if code.co_filename == filename:
                self.enter(getframe(1))

        def line(code, number):
            if code.co_filename != filename:
                return monitoring.DISABLE
            self.line(getframe(1), number)

        def instruction(code, offset):
            if code.co_filename != filename:
                return monitoring.DISABLE
            self.instruction(getframe(1), offset)

        def leaving(kind):
            def callback(code, offset, value):
                if code.co_filename == filename:
                    self.leave(kind, getframe(1), value)

            return callback

        def unwind(code, offset, error):
            if code.co_filename == filename:
                self.unwind(getframe(1))

        def raised(code, offset, error):
            if code.co_filename == filename:
                self.raised(getframe(1))

        callbacks = {
            events.PY_START: start,
            events.PY_RESUME: resume,
            events.PY_THROW: throw,
            events.LINE: line,
            events.INSTRUCTION: instruction,
            events.PY_RETURN: leaving("return"),
            events.PY_YIELD: leaving("yield"),
            events.PY_UNWIND: unwind,
            events.RAISE: raised,
        }
        monitoring.use_tool_id(self.TOOL, "the truth")
        for event, callback in callbacks.items():
            monitoring.register_callback(self.TOOL, event, callback)
        self.events = callbacks
        everywhere = events.PY_THROW | events.PY_UNWIND | events.RAISE
        if code is None:
            monitoring.set_events(self.TOOL, sum(callbacks))
            return
        monitoring.set_events(self.TOOL, everywhere)
        for each in codes_in(code):
            monitoring.set_local_events(self.TOOL, each, sum(callbacks) & ~everywhere)

    def stop(self):
        monitoring = sys.monitoring
        monitoring.set_events(self.TOOL, 0)
        for event in self.events:
            monitoring.register_callback(self.TOOL, event, None)
        monitoring.free_tool_id(self.TOOL)
        monitoring.restart_events()


class TraceTruth(Truth):
    """3.11: the trace function in C that PyEval_SetTrace takes, by ctypes."""

    CALL, EXCEPTION, LINE, RETURN, OPCODE = 0, 1, 2, 3, 7
    HOOK = ctypes.PYFUNCTYPE(
        *(ctypes.c_int, ctypes.c_void_p, ctypes.py_object),
        *(ctypes.c_int, ctypes.c_void_p),
    )

    def start(self, code=None):
        self.executed = {}
        self.hook = self.HOOK(self.trace)
        self.install = ctypes.pythonapi.PyEval_SetTrace
        self.install.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        self.install.restype = None
        self.address = ctypes.cast(self.hook, ctypes.c_void_p)

        def attach(frame, event, argument):
            self.install(self.address, None)

        threading.settrace(attach)
        self.install(self.address, None)

    def stop(self):
        self.install(None, None)
        threading.settrace(None)

    def trace(self, _, frame, what, argument):
        try:
            code = frame.f_code
            if code.co_filename == self.filename:
                self.traced(frame, code, what, argument)
            elif what == self.CALL:
                frame.f_trace_lines = False
        except BaseException:  # noqa: BLE001
            import os
            import traceback

            traceback.print_exc()
            os._exit(70)
        return 0

    def traced(self, frame, code, what, argument):
        offset = max(frame.f_lasti, 0)
        bytecode = code.co_code
        if what == self.OPCODE:
            self.executed[id(frame)] = dis.opname[bytecode[offset]]
            self.instruction(frame, offset)
        elif what == self.LINE:
            self.line(frame, frame.f_lineno)
        elif what == self.CALL:
            frame.f_trace_opcodes = True
            name = dis.opname[bytecode[offset]]
            self.executed.pop(id(frame), None)
            if name == "RESUME" and bytecode[offset + 1] == 0:
                self.call(frame)
            else:
                self.enter(frame)
        elif what == self.EXCEPTION:
            self.raised(frame)
        elif what == self.RETURN:
            last = self.executed.pop(id(frame), None)
            value = ctypes.cast(argument, ctypes.py_object).value if argument else None
            if last == "RETURN_VALUE":
                self.leave("return", frame, value)
            elif last == "YIELD_VALUE":
                self.leave("yield", frame, value)
            else:
                self.unwind(frame)


def make_truth(filename, keep=True, states=True, deep=True):
    kind = MonitoringTruth if VERSION >= (3, 12) else TraceTruth
    return kind(filename, keep, states, deep)


def main():
    """values_truth.py PROGRAM: its truth, one JSON list a line."""
    import json

    path = sys.argv[1]
    with open(path, encoding="utf-8") as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    truth = make_truth(path)
    space = {"__name__": "__main__", "__file__": path}
    truth.start()
    try:
        exec(code, space)
    finally:
        truth.stop()
        for name, stream in truth.streams.items():
            for item in stream:
                print(json.dumps([name, *item]))


if __name__ == "__main__":
    main()
