"""Programs made up at random from a seed, rich in ways to write a variable.

Every program runs when its text is executed, ends by itself, prints its result and does
the same each time. Names tell types, so that most operations work: a b c n ints, t str,
l m lists, d e dicts, s set, q deque, y bytearray, o p objects. What fails is caught,
sometimes where it happens, at last in main. Threads have names of their own and share
nothing.

    values_programs.py SEED          prints one
"""

import random
import sys
import warnings

if __package__:
    from .values_forms import Forms
else:  # a worker's own
    from values_forms import Forms

PRELUDE = '''
import asyncio, collections, contextlib, dataclasses, functools, itertools, threading
from collections import deque

COUNT = 0
BOARD = {}
SHELF = []

class Slots:
    __slots__ = ("x", "y", "items", "__weakref__")
    def __init__(self, x, y=0):
        self.x = x; self.y = y
        self.items = []

class Plain:
    kind = "plain"
    total = 0
    def __init__(self, x, y=0):
        self.x, self.y = x, y
        self.items = [x]
        self.table = {}
        self.inner = None
    def add(self, n):
        self.items.append(n)
        self.table[n] = n * 2
        return self
    def bump(self, n=1):
        self.x += n
        Plain.total += 1
        return self.x
    @classmethod
    def make(cls, x):
        cls.last = x
        return cls(x)
    @staticmethod
    def number(n):
        return n

class Guarded(Plain):
    def __init__(self, x, y=0):
        super().__init__(x, y)
        self._level = 1
    @property
    def level(self):
        return self._level
    @level.setter
    def level(self, value):
        if value > 90:
            raise ValueError("too high")
        self._level = value
    @level.deleter
    def level(self):
        self._level = 0

class Proxy:
    def __init__(self):
        object.__setattr__(self, "_kept", {})
    def __setattr__(self, name, value):
        if name == "refused":
            raise AttributeError(name)
        self._kept[name] = value
    def __delattr__(self, name):
        del self._kept[name]
    def __getattr__(self, name):
        try:
            return self.__dict__["_kept"][name]
        except KeyError:
            raise AttributeError(name) from None
    def __setitem__(self, key, value):
        if key == 0:
            raise KeyError(key)
        self._kept[key] = value
    def __getitem__(self, key):
        return self._kept[key]
    def __delitem__(self, key):
        del self._kept[key]

@dataclasses.dataclass
class Data:
    x: int
    y: int = 2
    items: list = dataclasses.field(default_factory=list)

class Sum(int):
    pass

class Names(dict):
    pass

class Manager:
    def __init__(self, value, catches=False):
        self.value = value
        self.catches = catches
    def __enter__(self):
        got = self.value
        return got
    def __exit__(self, kind, error, traceback):
        self.seen = kind is not None
        return self.catches
    async def __aenter__(self):
        await asyncio.sleep(0)
        return self.value
    async def __aexit__(self, kind, error, traceback):
        done = kind is not None
        await asyncio.sleep(0)
        return self.catches and done

class Registered:
    flags = []
    def __init_subclass__(cls, flag=None, **more):
        super().__init_subclass__(**more)
        cls.flag = flag
        Registered.flags.append(flag)

class Meta(type):
    def __new__(meta, name, bases, space, extra=0):
        space["extra"] = extra
        return super().__new__(meta, name, bases, space)
    def __init__(cls, name, bases, space, extra=0):
        super().__init__(name, bases, space)
        cls.made = [name, extra]

class Field:
    def __set_name__(self, owner, name):
        self.name = "_" + name
    def __get__(self, instance, owner):
        return self if instance is None else instance.__dict__[self.name]
    def __set__(self, instance, value):
        instance.__dict__[self.name] = value
    def __delete__(self, instance):
        del instance.__dict__[self.name]

def sealed(cls):
    cls.sealed = True
    return cls

def labelled(label, n=0):
    def mark(target):
        target.label = label
        for k in range(n % 3): target.count = k
        return target
    return mark

def plus(n):
    r = n; r += 1
    return r

def fails(n):
    if n % 3 == 1:
        raise ValueError(n)
    m = n
    return m

def numbers(n):
    for i in range(n):
        yield i

def echo(n):
    got = n
    while True:
        try:
            got = yield got
            if got is None: return "echo"
        except ValueError as error:
            got = -1
        finally:
            n += 1

def through(n):
    result = yield from numbers(n)
    return result

def grow(l, *more, **named):
    l.append(len(more))
    l.extend(more)
    for name in named: l.append(named[name])
    return l

def marked(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        global COUNT
        COUNT += 1
        result = function(*args, **kwargs)
        return result
    return wrapper

@contextlib.contextmanager
def scope(value):
    held = value
    try:
        yield held
    finally:
        held = None

async def later(n):
    await asyncio.sleep(0)
    n += 1
    return n

async def counts(n):
    for i in range(n):
        await asyncio.sleep(0)
        yield i

exec(compile("""
def hidden(n):
    if n == 5: raise KeyError(n)
    return n
def hidden_change(l):
    l.append(9); l.reverse()
    return l
def hidden_call(function, *args):
    return function(*args)
""", "hidden", "exec"))
'''

MAIN = """
def main():
    results = []
    for function in FUNCTIONS:
        for turn in range(2):
            try:
                found = function(turn)
                if hasattr(found, "send"):
                    found.send(None); found.send(turn); found.throw(ValueError("thrown")); found.close()
                    found = "generator"
                elif hasattr(found, "__await__"):
                    found = "never"
            except Exception as error:
                found = type(error).__name__
            results.append(found if isinstance(found, (int, str, type(None))) else type(found).__name__)
    print(results, COUNT, len(BOARD), len(SHELF))

main()
"""

INTS = list("abcn")
START = {
    "a": "a",
    "b": "2",
    "c": "0",
    "n": "3",
    "t": "'t'",
    "l": "[1, 2, 3]",
    "m": "[]",
    "d": "{'k': 1}",
    "e": "{}",
    "s": "{1, 2}",
    "q": "deque([1, 2])",
    "y": "bytearray(b'ab')",
    "o": "Plain(1)",
    "p": "Slots(2)",
}


class Maker(Forms):
    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.out = []
        self.functions = []
        self.fresh = 0
        self.is_generator = self.is_async = self.in_loop = False
        self.may_return = True
        self.depth = 0

    # --- expressions ---

    def pick(self, *choices):
        return self.chance.choice(choices)

    def number(self, depth=0):
        r = self.chance.random()
        if depth > 2 or r < 0.22:
            return str(self.chance.randrange(6))
        if r < 0.40:
            return self.pick(*INTS)
        inner = lambda: self.number(depth + 1)  # noqa: E731
        if r < 0.50:
            return f"plus({inner()})"
        if r < 0.56:
            return f"({self.pick(*INTS)} := {inner()})"
        if r < 0.62:
            return f"({inner()} if {inner()} else {inner()})"
        if r < 0.68:
            return f"({inner()} {self.pick('and', 'or')} {inner()})"
        if r < 0.72:
            return f"({inner()} {self.pick('+', '*', '-')} {inner()})"
        if r < 0.75:
            return f"hidden({inner()})"
        if r < 0.78:
            return f"fails({inner()})"
        if r < 0.81:
            return f"len([k for k in range({self.chance.randrange(4)}) if {self.pick('1', 'k', 'plus(k)', inner())}])"
        if r < 0.83:
            return f"sum(k * j for k in {self.listing(depth + 1)} for j in (1, 2) if k is not None)"
        if r < 0.85:
            return f"len({{k: [j for j in range(k % 3)] for k in range({self.chance.randrange(4)})}})"
        if r < 0.87:
            return f"(lambda v, w={inner()}: v + w)({inner()})"
        if r < 0.89:
            return f"len({self.pick('l', 'm', 'd', 's', 'q', 't', 'y')})"
        if r < 0.91:
            return f"{self.pick('o', 'p')}.{self.pick('x', 'y')}"
        if r < 0.93:
            return f"hidden_call(plus, {inner()})"
        if r < 0.95:
            return f"o.bump({inner()})"
        if r < 0.97:
            return f"(l[0] if l else {inner()})"
        return f"max(({inner()}), *[k for k in (1, 2)], key=lambda k: k)"

    def text(self):
        return self.pick(
            "'x'", "t", "t + 'é'", "f'{a}-{b!r:>3}'", "'long ' * 60", "'ü' * 20",
            "str(c)", "'\\U0001f600'", "b'by'.hex()", "'quote\\'s \"'", "'tab\\t\\n\\x00'",
        )  # fmt: skip

    def scalar(self):
        return self.pick(
            self.number(), self.number(), self.text(), "None", "True", "1.5", "-0.0",
            "2 ** 70", "-(2 ** 63)", "2 ** 62 + 1", "-1", "1e300 * 10", "3 + 4j", "b'raw\\x00'",
            "1e-7", "255", "256", "-17", "2 ** 31", "float('nan') and 0.1",
        )  # fmt: skip

    def listing(self, depth=0):
        return self.pick(
            "l", "m", "[1, 2]", "list(range(3))", f"[{self.number(depth + 1)}]", "[[1], [2, 3]]",
            "[k for k in l]", "[(1, 'a'), None]", "grow([])", "list(numbers(2))", "l[:]", "l + m",
            "[*m, 1]", "list(range(40))", "['x' * 300]",
        )  # fmt: skip

    def thing(self):
        return self.pick(
            "Plain(1)", "Slots(2)", "Guarded(3)", "Data(1)", "Plain.make(4)", "Plain(5).add(1)",
            "Sum(3)", "Names(a=1)", "lambda: a", "plus", "Plain", "range(3)", "iter([1])", "object()",
            "Proxy()", "ValueError('v')", "Data(b, items=[1])",
        )  # fmt: skip

    def value(self):
        return self.pick(
            self.scalar(), self.scalar(), self.number(), self.listing(), self.thing(),
            "{'k': a}", "{1, 2, 3}", "(a, 'x')", "frozenset([1])", "deque([1], maxlen=2)", "()",
            "bytearray(b'xy')", "{}", "set()", "{**d, 'z': b}", "{'n': {'m': [1]}}", "{(1, 2): 'pair', None: 0}",
        )  # fmt: skip

    def new_name(self):
        self.fresh += 1
        return f"v{self.fresh}"

    # --- simple statements ---

    def simple(self):
        makers = (
            *[self.assignment] * 6,
            *[self.in_place] * 5,
            *[self.item] * 4,
            *[self.attribute] * 4,
            self.deletion,
            self.other,
            self.other,
            self.global_write,
            self.starred,
            self.augmented,
            self.expressions,
            self.expressions,
        )
        return self.chance.choice(makers)()

    def assignment(self):
        v, w, number = self.pick(*INTS), self.pick(*INTS), self.number
        return self.pick(
            f"{v} = {number()}",
            f"{v} = {number()}",
            f"{self.new_name()} = {self.value()}",
            f"z = {self.value()}",
            f"{v}, {w} = {number()}, {number()}",
            f"{v}, {w} = {w}, {v}",
            f"{v}, {w}, z = {number()}, {number()}, {number()}",
            f"{v} = {w} = {number()}",
            f"({v}, *z), {w} = (1, {number()}, 3), {number()}",
            f"[{v}, {w}] = [{number()}, {number()}]",
            f"{v} += {number()}",
            f"{v} = 1; {v} = {number()}",
            f"{v}: int = {number()}",
            f"t = {self.text()}",
            "t += 'x'",
            f"l = {self.listing()}",
            "m = l",
            f"l += [{number()}]",
            "d = {'k': a, 'n': [1, 2]}",
            "d |= {'o': b}",
            "s = {a, b, 7}",
            "s |= {c}",
            "q = deque([a], maxlen=3)",
            "y += b'z'",
            f"o = {self.pick('Plain(1)', 'Guarded(2)', 'Data(3)', 'Plain(4).add(5)')}",
            "o.inner = p",
            "l[0], d['k'] = d.get('k', 0), l[0] if l else 0",
            f"{v}, l[-1:], o.x = {number()}, [1], {number()}",
            "a, b = b, a",
            "x, x = 1, 2",
            f"{v} = [{w} := {number()}, {w}][0]",
        )

    def in_place(self):
        number = self.number
        return self.pick(
            f"l.append({number()})", "l.sort(key=str)", "l.reverse()", f"l.insert(0, {number()})",
            "l.clear()", "m.append(l[:2])", "m.extend(numbers(2))", "d.update(k=a)", "d.pop('k', None)",
            "d.setdefault('n', []).append(1)", "d.clear()", "s.add(a)", "s.discard(1)", "s.update(l and [8])",
            "q.append(a)", "q.appendleft(b)", "q.rotate(1)", "y.append(65)", "y.extend(b'cd')", "y.reverse()",
            f"o.items.append({number()})", "o.inner = Plain(1); o.inner.items.append(a)",
            "grow(l, a, b, key=c)", "hidden_change(l)", "hidden_call(l.append, 3)", "o.add(a)", "o.table.update(w=1)",
            "p.items.append(a)", "[l.append(k) for k in (1, 2)]", "l.append(m); m.append(1)",
            "functools.reduce(lambda acc, k: acc.append(k) or acc, [1, 2], l)", "list(map(l.append, (1, 2)))",
            "z = l.pop() if l else 0", "z = l; z.append(5)", "z = d; z['alias'] = 1", "grow(m).append(grow(l))",
            "d['n'] = [1]; d['n'].append(2)", "l.extend([1, 2]); l.pop(); l.append(7)",
            "for_each = [l.append, s.add]; for_each[0](4); for_each[1](4)", "m.append(tuple(l)); m = m[-2:]",
            "next(iter([l.append(1)]))", "e = d; e.popitem() if e else None", "l.append(l.count(1))",
        )  # fmt: skip

    def item(self):
        number = self.number
        return self.pick(
            f"l[0] = {number()}", "l[-1] = 'last'", f"l[1:2] = [{number()}, 9]", "l[:] = [4, 5]", "l[::2] = l[::2]",
            f"d['k'] = {number()}", f"d[{number()}] = {self.scalar()}", "d['n'] = {'deep': []}", "d[1, 2] = 'pair'",
            "e[t] = l", f"l[{number()}] += 1", "d['k'] += 1", "y[0] = 66", "y[1:] = b'qq'", "q[0] = a",
            "del l[0]", "del l[1:]", "del d['k']", "del y[0]", "d['n'] = [1]; d['n'][0] = 5", "m.append([1]); m[-1][0] = 8",
            "o.items[0] = a", "o.table['t'] = b", "grow([1])[0] = a", "BOARD['b'] = a", "SHELF.append(a)",
            "d.setdefault('n', [0])[0] = 3" , "g2 = Proxy(); g2['key'] = a; del g2['key']", "(l or [0])[0] = 6",
            "Proxy()[0] = 1", "l[len(l):] = (1, 2)", "d[None] = d[True] = 1", "{}[0] = 1", "d[frozenset((1,))] = 2",
            "l[plus(0)] = plus(1)", "d[fails(a)] = fails(b)", "o.items[fails(a) - 1:] = []", "Names()['w'] = a",
        )  # fmt: skip

    def attribute(self):
        number = self.number
        return self.pick(
            f"o.x = {number()}", f"o.y = {self.scalar()}", "o.x += 1", f"p.x = {number()}", "p.y -= 1", "p.items = l",
            "o.extra = a", "o.inner = Plain(a)", "o.inner = o", "Plain(1).x = a", "Plain.make(2).add(1).y = b",
            "g1 = Guarded(1); g1.level = a", "g1 = Guarded(1); g1.level = 99", "g1 = Guarded(1); del g1.level",
            "g2 = Proxy(); g2.x = a; g2.y = g2.x; del g2.x", "g2 = Proxy(); g2.refused = 1", "Plain.kind = t",
            "plus.note = a", "del o.extra", "o.extra = 1; del o.extra", "Data(1).y = a", "o.inner = p; o.inner.x = a",
            "o.x, o.y = o.y, o.x", f"o.x = p.x = {number()}", "o.bump(a).x = 1", "p.nothing = 1", "(o if a else p).x = b",
            "o.table = d; o.table['via'] = 1", f"o.add(1).x = {number()}", "Guarded(3).level = plus(1)", "n.x = 1",
        )  # fmt: skip

    def deletion(self):
        v = self.pick(*INTS)
        return self.pick(f"{v} = 1; del {v}; {v} = 0", f"{v} = 5; del {v}; {v} = 2", "z = 1; del z", "del zz", f"{self.new_name()} = z = 1; del z")  # fmt: skip

    def global_write(self):
        return self.pick(
            "COUNT += 1", "COUNT = a", "LATE = a; del LATE", f"LATE = {self.value()}"
        )

    def other(self):
        v = self.pick(*INTS)
        return self.pick(
            self.number(), "pass", f"assert {self.number()} != 77, {self.number()}",
            "import string as st", "from os import sep, path as osp", "import os.path",
            f"{v} = next(numbers(2))", "z = list(through(2))", "z = [k for k in l if (w := k)]",
            "z = [[k, j] for k in (1, 2) for j in (3, 4) if k]", "z = {k: v for k, v in d.items()}",
            "z = {k for k in (1, 2, len(s))}", f"z = (lambda: {v})", "z = [lambda: k for k in (1, 2)]; n = z[0]()",
            "z = tuple(k for k in l if k)", "z = sorted(l, key=lambda v: -hash(v) if type(v) is int else 0)",
            "k = 7; z = [k for k in (1, 2)]; z.append(k)", "z = [a for a in (1, 2)]", "z = print if a else None",
            "z = [[j for j in range(k)] for k in range(3)]",
        )  # fmt: skip

    def line(self):
        return "; ".join(self.simple() for _ in range(self.pick(1, 1, 1, 1, 2, 3)))

    # --- compound statements ---

    def emit(self, indent, text):
        self.out.append("    " * indent + text)

    def block(self, indent, depth, count=None):
        for _ in range(count or self.pick(1, 2, 3)):
            # What fails at once ends a function early: mostly it is caught.
            if depth == 0 and self.chance.random() < 0.7:
                self.emit(indent, "try:")
                self.statement(indent + 1, depth)
                self.emit(indent, "except Exception: pass")
            else:
                self.statement(indent, depth)

    def statement(self, indent, depth):
        emit = self.emit
        r = self.chance.random()
        v = self.pick(*INTS)
        number = self.number
        if depth > 3 or r < 0.38:
            emit(indent, self.line())
        elif r < 0.50:
            self.form(indent, depth)
        elif r < 0.54:
            emit(indent, f"if {number()}: {self.line()}")
        elif r < 0.57:
            emit(indent, f"for {v} in range({self.chance.randrange(4)}): {self.line()}")
        elif r < 0.59:
            left = self.new_name()
            emit(indent, f"{left} = {self.chance.randrange(4)}")
            emit(indent, f"while {left} > 0: {left} -= 1; {self.line()}")
        elif r < 0.64:
            emit(indent, f"if {number()}:")
            self.block(indent + 1, depth + 1)
            if self.chance.random() < 0.4:
                emit(indent, f"elif {number()}: {self.line()}")
            if self.chance.random() < 0.5:
                emit(indent, "else:")
                self.block(indent + 1, depth + 1)
        elif r < 0.71:
            self.loop(indent, depth, v)
        elif r < 0.81:
            self.attempt(indent, depth)
        elif r < 0.86:
            self.with_block(indent, depth, v)
        elif r < 0.91:
            self.match(indent, v)
        elif r < 0.93 and self.in_loop:
            emit(indent, f"if {number()} > 3: {self.pick('break', 'continue')}")
        elif r < 0.96 and self.is_generator:
            emit(
                indent,
                self.pick(
                    f"{v} = yield {number()}",
                    f"yield {self.value()}",
                    f"z = yield from numbers({self.chance.randrange(3)})",
                    f"l.append((yield {v}))",
                    "z = [1, (yield 5)]",
                ),
            )
        elif r < 0.96 and self.is_async:
            self.async_statement(indent, depth, v)
        elif r < 0.98:
            self.nested(indent, depth)
        elif self.may_return:
            emit(indent, f"if {number()} == 9: return {self.value()}")
        else:
            emit(indent, self.line())

    def loop(self, indent, depth, v):
        source = self.pick(
            "range(3)", "[1, 2]", "numbers(3)", "()", "l[:3]", "enumerate('ab')", "list(d.items())", "through(2)",
            "zip((1, 2), 'xy')", "iter([1, 2])", "reversed([1, 2])",
        )  # fmt: skip
        target = {
            "enumerate('ab')": f"{v}, z",
            "list(d.items())": "key, (value)",
            "zip((1, 2), 'xy')": "(z, t)",
        }.get(source, self.pick(v, v, "d['each']", "o.x", "z"))
        self.emit(indent, f"for {target} in {source}:")
        before, self.in_loop = self.in_loop, True
        self.block(indent + 1, depth + 1)
        self.in_loop = before
        if self.chance.random() < 0.3:
            self.emit(indent, "else: " + self.line())

    def attempt(self, indent, depth):
        emit = self.emit
        emit(indent, "try:")
        self.block(indent + 1, depth + 1)
        q = self.chance.random()
        if q < 0.75:
            kinds = self.pick(
                "ValueError", "(ValueError, KeyError)", "Exception", "(LookupError, TypeError)", "AttributeError"
            )  # fmt: skip
            name = self.pick(" as error", "", " as z", " as a")
            emit(indent, f"except {kinds}{name}:")
            self.block(indent + 1, depth + 1, 1)
            if name == " as a":
                emit(indent, "finally: a = 1")
                return
            if self.chance.random() < 0.3:
                emit(indent, "else: " + self.line())
        if q >= 0.65:
            emit(indent, "finally:")
            before, self.in_loop = self.in_loop, False
            self.block(indent + 1, depth + 1, 1)
            self.in_loop = before

    def with_block(self, indent, depth, v):
        manager = self.pick(
            f"Manager({self.number()}) as {v}", f"Manager(a, True) as {v}", "Manager([1]) as (z,)", "scope(l) as z",
            f"Manager(1) as {v}, Manager(2, True) as z", "Manager(3) as d['m']", "Manager(4) as o.y", "Manager(5)",
            "contextlib.suppress(Exception)",
        )  # fmt: skip
        if self.chance.random() < 0.4:
            self.emit(indent, f"with {manager}: {self.line()}")
        else:
            self.emit(indent, f"with {manager}:")
            self.block(indent + 1, depth + 1)

    def match(self, indent, v):
        subject = self.pick(
            "[plus(1), 2]",
            "{'k': 2, 'z': 3}",
            "3",
            self.number(),
            "o",
            "(1, (2, 3))",
            "t",
            "l",
        )
        self.emit(indent, f"match {subject}:")
        cases = [
            f"[{v}, zz]", f"[z, *rest] if {self.number()}", "{'k': z, **others}", f"int() as {v}", "(3 | 4) as z",
            "Plain(x=z, y=0)", "Plain(x=z)", "str(t)", "(z, (n, b))", "[] | None",
        ]  # fmt: skip
        for case in self.chance.sample(cases, 3):
            self.emit(indent, f"    case {case}: " + self.line())
        self.emit(indent, "    case _: " + self.line())

    def async_statement(self, indent, depth, v):
        self.emit(
            indent,
            self.pick(
                f"{v} = await later({self.number()})",
                "z = [k async for k in counts(2)]",
                f"async for {v} in counts(2): {self.line()}",
                f"async with Manager(a, True) as z: {self.line()}",
                "z = await asyncio.gather(later(1), later(2))",
                "o.x = await later(1)",
                "d['k'] = await later(2)",
            ),
        )

    def nested(self, indent, depth):
        name = f"inner{self.fresh}"
        self.fresh += 1
        emit = self.emit
        form = self.chance.randrange(4)
        if form == 0:
            emit(indent, f"def {name}(u, w=a, *rest, key=b, **named):")
            emit(indent + 1, "nonlocal n")
            emit(
                indent + 1,
                f"n = u; {self.pick('n += 1', 'w = n', 'rest = rest + (n,)', 'del u')}",
            )
            emit(
                indent + 1,
                self.pick("return n", "l.append(n); return w", "named['z'] = key"),
            )
            emit(
                indent,
                f"z = {name}({self.number()}, {self.pick('1', '*(1, 2)', 'key=3', 'w=2, other=[1]')})",
            )
        elif form == 1:
            emit(indent, f"class {name}:")
            emit(indent + 1, self.pick("'doc'", "__slots__ = ('u',)", "u = 1; u += 1"))
            emit(
                indent + 1,
                self.pick(
                    "v = [k for k in (1, 2)]",
                    "w: int = 3",
                    "def m(self): self.u = __class__; return 1",
                ),
            )
            emit(
                indent, f"z = {name}(); {self.pick('z.u = 1', 'pass', f'{name}.t = a')}"
            )
        elif form == 2:
            emit(indent, "@marked")
            emit(indent, f"def {name}(u=l):")
            emit(indent + 1, "u.append(1); return len(u)")
            emit(indent, f"{self.pick(*INTS)} = {name}()")
        else:
            emit(indent, f"{name} = [(lambda k=k: n + k) for k in range(2)]")
            emit(indent, f"n = {name}[0](); n = {name}[-1]()")

    # --- the program ---

    def start_variables(self, indent):
        if self.chance.random() < 0.3:
            names = list(START)
            values = ", ".join(START[name] for name in names)
            self.emit(indent, f"{', '.join(names)} = {values}")
        else:
            for variable, value in START.items():
                if variable != "a":
                    self.emit(indent, f"{variable} = {value}")

    def function(self, number):
        self.is_generator = number % 4 == 2
        self.is_async = number % 5 == 3 and not self.is_generator
        name = f"f{number}"
        if self.chance.random() < 0.2:
            self.emit(0, "@marked")
        start = "async def" if self.is_async else "def"
        default = self.pick("None", "1.5", "[]", "'x'")
        self.emit(0, f"{start} {name}(a, *rest, key={default}):")
        self.emit(1, "global COUNT, LATE")
        self.start_variables(1)
        self.block(1, 0, self.pick(4, 6, 8))
        if self.is_generator:
            self.emit(1, "yield l")
        self.emit(
            1, self.pick("return a", "return l", "return (a, b)", "return o", "pass")
        )
        if self.is_async:
            self.emit(0, f"def run_{name}(a): return asyncio.run({name}(a))")
            name = f"run_{name}"
        elif self.is_generator:
            self.emit(0, f"def drive_{name}(a):")
            self.emit(1, f"g = {name}(a); z = 0")
            self.emit(1, "try:")
            self.emit(
                2,
                "z = next(g); z = g.send(3); z = g.throw(ValueError('thrown')); z = g.send(4)",
            )
            self.emit(1, "except (StopIteration, ValueError, TypeError): pass")
            self.emit(1, "g.close(); return 1")
            if self.chance.random() < 0.6:
                name = f"drive_{name}"
        self.functions.append(name)

    def threads(self):
        self.emit(0, "def threads(a):")
        self.emit(1, "def work(k, out):")
        self.emit(2, "for i in range(3): k += i; out.append(k)")
        self.emit(2, "o = Plain(k); o.x = k; out[0] = o.add(k).x")
        self.emit(
            1,
            "workers = [threading.Thread(target=work, args=(k, []), name=f'worker {a} {k}') for k in (0, 1)]",
        )
        self.emit(1, "for worker in workers: worker.start(); worker.join()")
        self.emit(1, "return len(workers)")
        self.functions.append("threads")

    def program(self, functions=4):
        for number in self.chance.sample(range(20), functions):
            self.function(number)
        if self.chance.random() < 0.1:
            self.threads()
        if self.chance.random() < 0.1:
            self.more_threads()
        if self.chance.random() < 0.25:
            self.async_generator(functions)
        if self.chance.random() < 0.3:  # the module's own level
            self.emit(0, "a, b, c, n, t, l, m = 1, 2, 0, 3, 't', [1], []")
            self.emit(
                0,
                "d, e, s, q, y, o, p = {'k': 1}, {}, {1}, deque(), bytearray(b'a'), Plain(1), Slots(1)",
            )
            self.is_generator = self.is_async = self.may_return = False
            for _ in range(self.pick(0, 1, 2)):
                self.emit(0, self.pick("from bisect import *", "import os.path as where", "from os import sep as LATE"))  # fmt: skip
                self.emit(0, "try:")
                self.form(1, 1)
                self.emit(0, "except Exception: pass")
            for _ in range(3):
                self.emit(0, "try: " + self.line())
                self.emit(0, "except Exception: pass")
        self.emit(0, f"FUNCTIONS = [{', '.join(self.functions)}]")
        return PRELUDE + "\n".join(self.out) + "\n" + MAIN


def generate(seed):
    """The program of a seed. One that does not compile is replaced by the next try of
    the same seed: some statements may not stand everywhere."""
    for attempt in range(50):
        text = Maker(f"{seed} {attempt}").program()
        try:
            with warnings.catch_warnings():  # 3.14: return in a finally
                warnings.simplefilter("ignore")
                compile(text, f"seed {seed}", "exec", dont_inherit=True)
        except SyntaxError:
            continue
        return text
    raise ValueError(f"no program for seed {seed}")


if __name__ == "__main__":
    print(generate(int(sys.argv[1])))
