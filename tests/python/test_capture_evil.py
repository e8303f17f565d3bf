"""Nothing of a program's own is called by capture, and nothing is kept.

Each test is a program that calls capture by hand: see test_capture.py.
"""

from __future__ import annotations

EVIL = """
import collections, gc, weakref

called, armed = [], False
NAMES = '''__repr__ __str__ __len__ __bool__ __ne__ __lt__ __le__ __gt__ __ge__ __iter__
__next__ __contains__ __getitem__ __setitem__ __delitem__ __missing__ __reversed__
__length_hint__ __call__ __int__ __float__ __complex__ __index__ __bytes__ __format__
__dir__ __sizeof__ __reduce__ __reduce_ex__ __copy__ __deepcopy__ __getstate__ __enter__
__exit__ __add__ __radd__ __iadd__ __sub__ __mul__ __and__ __or__ __xor__ __neg__ __pos__
__abs__ __invert__ __round__ __trunc__ __floor__ __ceil__ __await__ __aiter__ __anext__
__fspath__ __buffer__ __instancecheck__ __subclasscheck__ __set_name__ __getattr__
__setattr__ __delattr__'''.split()

def trap(name):
    def method(self, *args, **kwargs):
        if armed:
            called.append(name)
            raise SystemExit(name)
        return getattr(super(type(self), self), name)(*args, **kwargs)
    return method

class Meta(type):
    def __getattribute__(cls, name):
        if armed:
            called.append(name)
            raise SystemExit(name)
        return super().__getattribute__(name)
    __instancecheck__ = __subclasscheck__ = lambda cls, other: called.append("check")

def evil(*bases):
    body = {name: trap(name) for name in NAMES}
    def getattribute(self, name):
        if armed:
            called.append(name)
            raise SystemExit(name)
        return object.__getattribute__(self, name)
    body.update(
        __getattribute__=getattribute,
        __hash__=lambda self: called.append("hash") or 0 if armed else hash("k"),
        __eq__=lambda self, other: called.append("eq") if armed else self is other,
        __class__=property(lambda self: called.append("class") or int),
        prop=property(lambda self: called.append("get"), lambda self, value: called.append("set")),
    )
    return Meta("Evil", bases, body)

class Holder:
    pass

def test_nothing_is_called():
    global armed
    kinds = (list, dict, str, int, tuple, float, bytes, set, frozenset, Exception,
             collections.deque, collections.OrderedDict, bytearray, complex)
    things = [evil()()] + [evil(kind)() for kind in kinds]
    one, text = things[0], things[3]
    holder = Holder()
    holder.__dict__[text] = one
    holder.one = one
    things += [type(one), Meta, holder]
    things += [[one], (one, one), {one: one, "k": one, text: 1, 5: 6}, {one, text},
               frozenset([one]), collections.deque(things[:4]), things[:]]
    mixed = things[-5]
    counts = [sys.getrefcount(thing) for thing in things]
    allocated = sys.getallocatedblocks()
    again()
    armed = True
    for _ in range(3):
        for value in things:
            capture("value", value, None, slot("value"))
            capture("value", value, "name", attribute(holder, "one"))
            capture("value", value, text, item(mixed))
            capture("changed", value, slot("value"))
            capture("owner", value, None)
            capture("told", value)
            capture("overridden", value)
            for name in ("prop", "x", "k", "__class__", "__dict__"):
                capture("read", value, name)
            for key in (0, "k", 5, one, text):
                capture("store", value, None, key, one, int)
            capture("store", value, "name", None, one, int)
    capture("lookup", mixed, "k")
    capture("lookup", mixed, "absent")
    capture("lookup", holder.__dict__, "one")
    armed = False
    value = key = name = None
    assert called == [], called
    assert counts == [sys.getrefcount(thing) for thing in things]

def test_deaths():
    died = []
    class Mortal:
        def __del__(self):
            died.append(1)
    x = Mortal()
    x.items = [1]
    weak = weakref.ref(x, lambda ref: died.append(2))
    capture("value", x, None, slot("x"))
    capture("value", x.items, None, attribute(x, "items"))
    x = None
    assert died == [2, 1] or died == [1, 2]
    assert weak() is None
    x = Mortal()
    capture("changed", x, slot("x"))

def test_no_garbage():
    gc.collect()
    gc.disable()
    x = {"a": [1, (2, 3)], "b": {4}}
    capture("value", x, None, slot("x"))
    capture("kept")
    before = gc.get_count()[0]
    for _ in range(100):
        capture("changed", x, slot("x"))
    assert gc.get_count()[0] - before < 20
    gc.enable()

def test_pending_exception():
    try:
        raise KeyError(1)
    except KeyError as error:
        capture("value", error, None, slot("error"))
        capture("lookup", {"a": 1}, "b")
        assert sys.exc_info()[1] is error
"""


def test_evil(program):
    program(EVIL)
