"""Values that bite, at level values: a class of sixty dunder methods, and its kin among
metaclasses, containers, strings, descriptors and namespaces. The program ends, prints
and buries its objects as without us, and calls each of those methods exactly as often.
"""

from __future__ import annotations

import re

import pytest

from conftest import dump_events
from proof import films, ways

LEVEL = ["--level", "values", "--all"]

BITE = """
import collections, gc, sys, threading, time, weakref

mode = sys.argv[1]
calls = collections.Counter()
order = []
lock = threading.Lock()
armed = False
victims = []

def bite(name, self, wanted):
    calls[name] += 1
    if not armed:
        return wanted
    if mode == "raise": raise ValueError("bitten by " + name)
    if mode == "exit": raise SystemExit(7)
    if mode == "mutate":
        object.__setattr__(self, "x", -1)
        for victim in victims: victim.clear()
    if mode == "sleep": time.sleep(0.2)
    if mode == "recurse": return bite(name, self, wanted)
    if mode == "block": lock.acquire(timeout=40)
    if mode == "interrupt": raise KeyboardInterrupt
    if mode == "liar": return NotImplemented
    return wanted

WANTED = {
    "__repr__": "evil", "__str__": "evil", "__format__": "evil", "__bytes__": b"", "__len__": 1, "__bool__": True,
    "__hash__": 7, "__index__": 1, "__int__": 1, "__float__": 1.0, "__complex__": 1j, "__length_hint__": 1,
    "__contains__": True, "__dir__": [], "__sizeof__": 1, "__fspath__": "x",
}
NAMES = '''__repr__ __str__ __format__ __bytes__ __len__ __bool__ __hash__ __index__ __int__ __float__ __complex__
    __length_hint__ __contains__ __dir__ __sizeof__ __fspath__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __iter__
    __next__ __reversed__ __getitem__ __missing__ __call__ __add__ __radd__ __iadd__ __sub__ __mul__ __matmul__
    __truediv__ __floordiv__ __mod__ __divmod__ __pow__ __lshift__ __and__ __xor__ __or__ __ror__ __neg__ __pos__
    __abs__ __invert__ __round__ __trunc__ __enter__ __exit__ __await__ __aiter__ __anext__ __copy__ __deepcopy__
    __reduce_ex__ __reduce__ __getstate__ __instancecheck__ __subclasscheck__ __get__ __buffer__'''.split()
assert len(NAMES) >= 60, len(NAMES)

def method(name):
    def inner(self, *rest):
        return bite(name, self, WANTED.get(name))
    inner.__name__ = name
    return inner

DUNDERS = {name: method(name) for name in NAMES}

def look(self, name):
    calls["__getattribute__"] += 1
    if armed: bite("__getattribute__", self, None)
    return object.__getattribute__(self, name)

class Meta(type):
    def __repr__(cls): return bite("meta repr", cls, "evil")
    def __getattribute__(cls, name):
        calls["meta get"] += 1
        return type.__getattribute__(cls, name)
    def __instancecheck__(cls, other): return bite("meta instance", cls, False)
    def __eq__(cls, other): return bite("meta eq", cls, False)
    def __hash__(cls): return bite("meta hash", cls, 5)
    def mro(cls): calls["mro"] += 1; return type.mro(cls)

Evil = Meta("Evil", (), {**DUNDERS, "__getattribute__": look, "__init__": lambda self: object.__setattr__(self, "x", 1),
    "__class__": property(lambda self: bite("__class__", self, int))})
Plain = type("Plain", (), {**DUNDERS, "__init__": lambda self: None})
Slotted = type("Slotted", (), {**DUNDERS, "__slots__": ("a", "b")})
Error = type("Error", (Exception,), {name: DUNDERS[name] for name in ("__repr__", "__str__", "__eq__", "__hash__", "__reduce__")})

def kin(base, *values):
    names = [name for name in NAMES if hasattr(base, name) and name not in ("__reduce_ex__", "__getstate__", "__hash__")]
    return type("Evil" + base.__name__, (base,), {name: DUNDERS[name] for name in names})

List, Dict, Str, Int, Float, Tuple, Set, Bytes, Deque, Array = map(kin, (list, dict, str, int, float, tuple, set, bytes, collections.deque, bytearray))
class Key(str):
    def __hash__(self): calls["key hash"] += 1; return str.__hash__(self)
    def __eq__(self, other): calls["key eq"] += 1; return str.__eq__(self, other)
    def __repr__(self): return bite("key repr", self, "k")
    __str__ = __repr__

class Fake:
    '''What is read of an array, and must not be asked for.'''
    @property
    def shape(self): return bite("shape", self, (1,))
    @property
    def dtype(self): return bite("dtype", self, "f")
    @property
    def __dict__(self): return bite("__dict__", self, {})
ndarray = type("ndarray", (Fake,), {"__module__": "numpy"})
Tensor = type("Tensor", (Fake,), {"__module__": "torch"})

class Space(dict):
    def __getitem__(self, name): calls["space get"] += 1; return dict.__getitem__(self, name)
    def __setitem__(self, name, value): calls["space set"] += 1; dict.__setitem__(self, name, value)
    def __delitem__(self, name): calls["space del"] += 1; dict.__delitem__(self, name)
class Spaced(type):
    @classmethod
    def __prepare__(mcs, name, bases): return Space()
class Mapping:
    def __init__(self): self.kept = {}
    def __getitem__(self, name): calls["mapping get"] += 1; return self.kept[name]
    def __setitem__(self, name, value): calls["mapping set"] += 1; self.kept[name] = value
    def __delitem__(self, name): calls["mapping del"] += 1; del self.kept[name]

class Descriptor:
    def __get__(self, owner, kind=None): return bite("descriptor get", self, 1)
    def __set__(self, owner, value): calls["descriptor set"] += 1
    def __delete__(self, owner): calls["descriptor delete"] += 1
class Described:
    d = Descriptor()

class D:
    def __init__(self, n): self.n = n
    def __del__(self): order.append(("del", self.n))

def life():
    d = D(1); w = weakref.ref(d, lambda r: order.append("weak 1"))
    order.append("before"); d = None; order.append(("after", w() is None))
    l = [D(2), D(3)]; w = [weakref.ref(x, lambda r: order.append("weak list")) for x in l]; l[0] = None; order.append("item"); l.clear(); order.append("cleared")
    o = Described(); o.a = D(4); o.a = D(5); order.append("attribute"); del o.a; order.append("deleted")
    t = {D(6): D(7)}; t.popitem(); order.append("popped")
    e = D(8); f = e; del e; order.append("kept"); f = None; order.append("gone")
    return D(9)

def each(v):
    bitten = v
    other = bitten
    pair = (v, [v])
    listed = [v, v]; listed.append(v); listed[0] = v
    table = {"k": v}; table["m"] = v; table["k"] = pair
    holder = Described(); holder.a = v; holder.b = listed; holder.a = bitten
    def inner():
        nonlocal other
        other = v
        return v
    inner()
    global GLOBAL
    GLOBAL = v
    for item in (v,): pass
    del bitten
    return v

def raising(v):
    try:
        raise Error(v)
    except Error as error:
        kept = error
    try:
        try: raise Error("plain")
        finally: kept = None
    except Error as e: pass

def keys(v):
    d = {Key("a"): v}
    d[Key("b")] = 1
    d[Key("a")] = v
    del d[Key("b")]
    o = Plain(); setattr(o, "attr", v); o.x = v; o.x = d
    s = Slotted(); s.a = v; s.b = s; s.a = None; del s.b
    x = Described(); x.d = v; x.d = 2; del x.d
    def named(**kw): kept = kw; return kept
    named(**{"plain": v, "other": 1})
    return d

def spaces(v):
    class C(metaclass=Spaced):
        a = v
        b = [v]
        b.append(v)
        del a
    exec("p = v; q = [p]; q.append(p); del p", {"v": v}, Mapping())
    exec("p = v\\nq = [p]\\nq.append(p)\\ndel p", {"v": v, Key("evil name"): v})

def generators(v):
    def g():
        got = yield v
        while got is not None: got = yield [got, v]
    i = g(); next(i); i.send(v); i.close()

began = time.monotonic()
if mode == "block": lock.acquire()
things = [Evil(), Evil, Plain(), Slotted(), Error("e"), List([1, 2]), Dict(a=1), Str("s"), Int(3), Float(1.5), Tuple((1,)), Set([1]),
    Bytes(b"b"), Deque([1]), Array(b"x"), Key("k"), ndarray(), Tensor(), Described(), Space(), Mapping()]
calls.clear()
armed = True
victims = [things[5]]
for _ in range(3):
    for thing in things:
        each(thing); raising(thing); generators(thing); keys(thing); spaces(thing)
armed = False
print(type(life()).__name__)
x = object.__getattribute__(things[0], "x")
print(x, list.__len__(things[5]), sorted(calls.items()), order, time.monotonic() - began > 30)
"""

MODES = ["ok", "raise", "exit", "mutate", "sleep", "recurse", "block", "interrupt", "liar"]  # fmt: skip


def without_addresses(text):
    return re.sub(r"0x[0-9a-f]{6,}", "0x", text)


@pytest.mark.parametrize("mode", MODES)
def test_sixty_dunders(runner, mode):
    bitten = bite(runner, mode)
    # They were recorded, all the same.
    each = [
        event["value"]["type"].rpartition(".")[2]
        for event in dump_events(bitten)
        if event["kind"] == "set" and event.get("name") == "bitten"
    ]
    kinds = ["Evil", "Meta", "Plain", "Slotted", "Error", "Evillist", "Evildict", "Evilstr", "Evilint"]  # fmt: skip
    assert set(kinds) <= set(each), sorted(set(each))
    assert len(each) == 3 * 21


@pytest.mark.parametrize(("mode", "way"), ways.rotating(MODES, 3), ids=str)
def test_sixty_dunders_in_other_ways(runner, mode, way):
    bite(runner, mode, way.words)


def bite(runner, mode, options=()):
    """The film of the program, which ends as without us."""
    plain = runner.plain(BITE, mode)
    assert plain.rc == 0, plain.stderr
    # Nothing of what bites is called by the program itself.
    for name in (
        "__repr__",
        "__eq__",
        "__len__",
        "__class__",
        "meta repr",
        "shape",
        "__dict__",
        "descriptor get",
        "key repr",
    ):
        assert f"'{name}'" not in plain.stdout, name  # fmt: skip
    assert "('key hash'" in plain.stdout and plain.stdout.endswith(" False\n")
    recorded = runner.record(None, mode, options=[*LEVEL, *options])
    assert (recorded.rc, recorded.stdout, without_addresses(recorded.stderr)) == (
        plain.rc,
        plain.stdout,
        without_addresses(plain.stderr),
    )
    films.check(recorded.film)
    return recorded.film


LAST_WORDS = """
import atexit, gc, sys, weakref
gc.disable()  # when it runs by itself depends on what was allocated before
class D:
    def __init__(self, n): self.n = n
    def __del__(self): print("del", self.n, flush=True)
class Ring:
    def __init__(self): self.me = self; self.d = D("in a ring")
def f():
    a = D("local"); b = [D("in a list")]; c = {"k": D("in a dict")}
    try: raise ValueError(D("in an exception"))
    except ValueError as e: kept = e
    return a
weakref.finalize(f, print, "f is gone")
atexit.register(lambda: print("atexit"))
x = f()
ring = Ring(); del ring
y = [D("module list")]; y.append(y)
z = D("module")
def gen():
    d = D("generator")
    try: yield d
    finally: print("closed")
g = gen(); next(g)
gc.collect()
sys.exit(3)
"""


def test_deaths_at_the_end(runner):
    plain = runner.plain(LAST_WORDS)
    recorded = runner.record(None, options=LEVEL)
    assert (recorded.rc, recorded.stdout, recorded.stderr) == (
        plain.rc,
        plain.stdout,
        plain.stderr,
    )
    assert plain.rc == 3 and plain.stdout.count("del") >= 5


REFERENCES = """
import gc, sys
class T:
    pass
def f(n):
    a = [n]; b = {"k": a}; o = T(); o.a = a; o.b = b
    counts = [sys.getrefcount(a), sys.getrefcount(b), sys.getrefcount(o), sys.getrefcount(T)]
    a.append(1); b["m"] = a; o.a = 5
    counts += [sys.getrefcount(a), sys.getrefcount(b), len(gc.get_referrers(a))]
    return counts
for n in range(50): found = f(n)
print(found)
gc.collect()
before = len(gc.get_objects())
for n in range(200): f(n)
gc.collect()
print(len(gc.get_objects()) - before > 20)
"""


def test_no_reference_is_kept(runner):
    plain = runner.plain(REFERENCES)
    recorded = runner.record(None, options=LEVEL)
    assert recorded.rc == 0 and recorded.stdout == plain.stdout, recorded.stderr


BIG = """
import sys, time
from collections import deque
class O: pass
def f(v):
    local = v
    return local
def touch(v):
    for _ in range(3):
        v.copy
def best(function, v):
    times = []
    for _ in range(30):
        began = time.perf_counter()
        function(v)
        times.append(time.perf_counter() - began)
    return min(times)
def big(part):
    deep = []
    for _ in range(50_000 // part): deep = [deep]
    o = O()
    for n in range(20_000 // part): setattr(o, f"a{n}", n)
    return {
        "list": list(range(1_000_000 // part)),
        "lists": [list(range(1000)) for _ in range(1000 // part)],
        "wide": [[[[n] * 50] * 50] * 50 for n in range(500 // part)],
        "dict": dict.fromkeys(range(500_000 // part)),
        "set": set(range(500_000 // part)),
        "str": "x" * (50_000_000 // part),
        "other str": "\\u20ac" * (5_000_000 // part),
        "bytes": b"x" * (50_000_000 // part),
        "bytearray": bytearray(50_000_000 // part),
        "int": 1 << (20_000_000 // part),
        "deque": deque(range(500_000 // part)),
        "tuple": tuple(range(500_000 // part)),
        "deep": deep,
        "object": o,
        "strings": ["y" * 10_000] * (10_000 // part),
    }
print("one", best(f, 1), sep="\\t")
print("yardstick", best(sum, range(4000)), sep="\\t")
for part in (1, 10):
    for name, value in big(part).items():
        touched = best(touch, value) if hasattr(value, "copy") else 0
        print(f"{name} {part}", best(f, value), touched, sep="\\t")
"""


def test_a_value_costs_the_same_whatever_its_size(runner):
    """f shows a value four times (argument, local, return, and what the caller gets),
    touch looks at it at each of its lines. Ten times as much of it takes about as long,
    and each sighting at most 50 us of the machine where that was set: what
    sum(range(4000)) takes in C, in the same process. The least of up to four runs: on a
    busy machine none of one run's may have been left alone."""

    def times(result):
        assert result.rc == 0, result.stderr
        lines = (line.split("\t") for line in result.stdout.splitlines())
        return {name: [float(time) for time in times] for name, *times in lines}

    runner.write(BIG)
    recorded = times(runner.record(None, options=LEVEL, timeout=250))
    for _ in range(3):
        if not too_slow(recorded):
            break
        again = times(runner.record(None, options=LEVEL, timeout=250))
        recorded = {name: [*map(min, recorded[name], again[name])] for name in recorded}
    slow = too_slow(recorded)
    assert not slow, f"microseconds, and of a tenth of it: {slow}"


def too_slow(recorded):
    one, yardstick = recorded["one"][0], recorded["yardstick"][0]
    return {
        name: [round(time * 1e6) for time in (*whole, *recorded[f"{name[:-2]} 10"])]
        for name, whole in recorded.items()
        if name.endswith(" 1")
        for tenth in (recorded[f"{name[:-2]} 10"],)
        if any(a > 4 * b + 10 * one for a, b in zip(whole, tenth, strict=True))
        or whole[0] > 4 * yardstick
        or whole[1] > 8 * yardstick
    }
