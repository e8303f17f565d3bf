"""Classes made of containers, of int, of str."""

import collections
import enum

import objwatch
from objwatch.wrappers import BaseWrapper

Point = collections.namedtuple("Point", "x y")


class MyList(list):
    def push(self, value):
        self.size = len(self) + 1
        self.append(value)
        self.top = [value]
        return value


class MyDict(dict):
    def __init__(self, **given):
        super().__init__(**given)
        self.note = [1]
        self.note.append(2)
        self.last = 1


class Ordered(collections.OrderedDict):
    """ObjWatch does not follow its attributes: no `__weakref__`."""

    def __init__(self, **given):
        super().__init__(**given)
        self.note = [1]
        self["k"] = 3
        self.note.append(2)
        self.last = 4


class MyText(str):
    pass


class MyNumber(int):
    pass


class Colour(enum.Enum):
    RED = 1


def kinds(point, ordered, counter):
    ordered["z"] = 1
    nested = Point(1, Point(2, 3))
    listed = MyList([1, 2])
    listed.append(3)
    table = MyDict(a=1)
    table["b"] = 2
    counter["x"] += 2
    text = MyText("hello")
    number = MyNumber(5)
    colour = Colour.RED
    frozen = frozenset([1])
    queue = collections.deque([1, 2])
    queue.append(3)
    inside = [number, text]
    keys = {"a": colour, text: number}
    deeper = [ordered]
    raw = bytearray(b"x")
    return ordered


class Holder:
    def __init__(self):
        self.table = collections.OrderedDict(a=1)
        self.table["b"] = 2
        self.point = Point(1, 2)
        self.last = 0


with objwatch.ObjWatch(["containers.py"], with_locals=True, wrapper=BaseWrapper):
    kinds(Point(1, 2), collections.OrderedDict(a=1), collections.Counter("abc"))
    Holder()
    stack = MyList()
    stack.push(1)
    stack.push(2)
    Ordered(a=1)
