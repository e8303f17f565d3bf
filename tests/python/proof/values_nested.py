"""Programs that change containers which lie deep: in other containers, in attributes of
objects, in what a function gives back; several in one line, and by loops within a line.
Their containers are short enough to be recorded whole, but for one: what lies beyond the
items that a record shows is bound to a variable now and then, and looked at there.

    values_nested.py NUMBER         prints the program of that seed
"""

import random
import re
import sys

PRELUDE = """
import heapq, random, operator
from bisect import insort
from collections import deque
from heapq import heappush

class Node:
    def __init__(self, n):
        self.items = [n]
        self.links = {"l": [n]}
        self.tags = {n}
        self.next = self
        self.pair = (n, [n])

class Slotted:
    __slots__ = ("items", "next")
    def __init__(self, n):
        self.items = [n]
        self.next = Node(n)

def same(value): return value

def grow(l, n):
    l.append(n)
    return l

def failing(n):
    yield n
    raise KeyError(n)

"""

START = """
    objs = [Node(1), Node(2), Node(3)]
    objs[0].next = objs[1]; objs[1].next = objs[2]
    d = {"a": objs[1], "b": Slotted(4), "l": [5], "d": {"l": [6]}}
    rows = [[1], [2, 3], [4]]
    deep = [[[1], [2]], [[3]]]
    t = (objs[0], [7], {"l": [8]}, [[9]])
    q = deque([[1], [2]])
    o = objs[2]; l = [0]; n = a
    long = [[i] for i in range(40)]
    many = {i: [i] for i in range(36)}
"""
# What START binds, for the lines of a program to begin with.
NODES = [
    *("objs[<i>]", "objs[-1]", "o", "t[0]", 'd["a"]', "same(objs[<i>])", "o.next"),
    *("objs[<i>].next", "o.next.next", "same(o)", "(o or objs[0])", "[*objs][<i>]"),
    *("next(iter(objs))", 'd["b"].next', "(lambda: o)()", "(w := objs[<i>])"),
]
LISTS = [
    *("<node>.items", "<node>.items", "<node>.items", '<node>.links["l"]', "l"),
    *("<node>.pair[1]", "rows[<i>]", "rows[-1]", "deep[0][<j>]", "deep[1][0]"),
    *("t[1]", 't[2]["l"]', "t[3][0]", "q[<j>]", 'd["l"]', 'd["d"]["l"]', "same(l)"),
    *('d["b"].items', "same(rows)[<i>]", "(rows[<i>] if n else l)", "long[<far>]"),
    *(
        "many[<far>]",
        "list(many.values())[<far>]",
        "(rows[0] or rows[1])",
        "rows[n % 3]",
    ),
]
# <x> and <y> are lists, <v> is a number.
CHANGES = [
    *("<x>.append(<v>)", "<x>.append(<v>)", "<x>.append(<v>)", "<x>.extend([<v>, n])"),
    *("<x>.insert(0, <v>)", "<x>.sort()", "<x>.reverse()", "<x>.clear()"),
    *("n = <x>.pop()", "<x>.pop(0)", "<x>.remove(<v>)", "<x>.sort(key=lambda i: -i)"),
    *("<x>[0:1] = [<v>, <v>]", "del <x>[1:2]", "<x>[0] = <v>", "del <x>[0]"),
    *("heapq.heappush(<x>, <v>)", "heappush(<x>, <v>)", "heapq.heapify(<x>)"),
    *(
        "random.Random(<v>).shuffle(<x>)",
        "insort(<x>, <v>)",
        "<x>.extend(failing(<v>))",
    ),
    *("operator.setitem(<x>, 0, <v>)", "grow(<x>, <v>)", "n = len(<x>); <x>.append(n)"),
    *("<x>.append(<v>); <y>.append(<v>)", "<x>.append(<y>.pop())", "l = <x>"),
    *("x = <x>; x.append(<v>)", "x = <x>; <y>.append(<v>)", "l = <x>; l.append(<v>)"),
    *("<x>.append(<v>) if n else <y>.append(<v>)", "n and <x>.append(<v>)"),
    *("<x>.append([<v>].pop())", "grow(<x>, <v>).append(<v>)", "same(<x>).append(<v>)"),
    "<x>[:] = [*<y>]",
]
LINES = [
    *("<node>.tags.add(<v>)", "<node>.tags.discard(<v>)", "<node>.tags |= {{v}}"),
    *(
        "<node>.links.setdefault(<k>, []).append(<v>)",
        "<node>.links.update({<k>: [<v>]})",
    ),
    *(
        "<node>.links.pop(<k>, None)",
        "<node>.links[<k>] = [<v>]",
        "<node>.items = [<v>]",
    ),
    *('d["d"].setdefault(<k>, []).append(<v>)', 'd["d"].pop(<k>, None)', "o = <node>"),
    *("for x in rows: x.append(<v>)", "for x in objs: x.items.append(<v>)"),
    *("[x.append(<v>) for x in rows]", "z = [x.items.pop() for x in objs if x.items]"),
    *("for x in objs: x.tags.add(<v>); x.items.append(<v>)", "rows.append([<v>])"),
    *("for x, y in zip(rows, objs): x.append(<v>); y.items.append(<v>)", "rows.pop()"),
    *("for k, x in o.links.items(): x.append(<v>)", "rows.insert(0, [<v>])"),
    *(
        "while len(l) < 4: l.append(<v>)",
        "while len(objs[0].items) < 4: objs[0].items.append(<v>)",
    ),
    *(
        "{k: x.append(<v>) for k, x in enumerate(rows)}",
        "any(x.append(<v>) for x in rows)",
    ),
    *("rows.reverse()", "rows[0], rows[-1] = rows[-1], rows[0]", "rows.extend([])"),
    *("deep[0].append([<v>])", "deep.append([[<v>]])", "rows[0] = rows[-1]"),
    *(
        "q.append([<v>])",
        "q.rotate(1)",
        "q.popleft()",
        "objs.reverse()",
        "z = long[<far>]",
    ),
    *("long.append([<v>])", "long[0] = [<v>]", "long.extend([])", "long.pop(0)"),
    *("many[<v>] = [<v>]", "many.update()", "z = many[<far>]", "long[3] = long[<far>]"),
    *(
        "if rows and rows[0]: rows[0].append(<v>)",
        "n += 1; n %= 3",
        "l = [<v>]; l.append(n)",
    ),
    *("(grow(l, <v>), rows[0].append(<v>))", "z = [grow(x, <v>) for x in rows]"),
    *("o.next.items, l = [<v>], o.next.items", "o.items.append(<v>); o = <node>"),
]


class Maker:
    def __init__(self, seed):
        self.chance = random.Random(f"nested {seed}")

    def choose(self, name):
        """What stands for <name>."""
        choices = {
            **{"node": NODES, "x": LISTS, "y": LISTS, "i": "012", "j": "01"},
            **{"v": "01234", "k": ('"l"', '"k"'), "far": ("1", "33", "34", "35")},
        }
        return self.chance.choice(choices[name])

    def line(self):
        text = self.chance.choice(CHANGES if self.chance.random() < 0.7 else LINES)
        while (made := re.sub(r"<(\w+)>", lambda m: self.choose(m[1]), text)) != text:
            text = made
        return text

    def function(self, number):
        out = [f"def f{number}(a):", START.strip("\n")]
        for _ in range(25):
            out += ["    try:", f"        {self.line()}"]
            out.append("    except Exception as error: n = len(type(error).__name__)")
        return "\n".join([*out, "    return n"])


def generate(seed):
    """The program of a seed: as values_programs.generate, the first that compiles."""
    for attempt in range(50):
        maker = Maker(f"{seed} {attempt}")
        functions = [maker.function(number) for number in range(3)]
        text = PRELUDE + "\n".join([*functions, "print(f0(0), f1(1), f2(2))", ""])
        try:
            compile(text, f"seed {seed}", "exec", dont_inherit=True)
        except SyntaxError:
            continue
        return text
    raise ValueError(f"no program for seed {seed}")


if __name__ == "__main__":
    print(generate(int(sys.argv[1])))
