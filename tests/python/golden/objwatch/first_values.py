"""Globals that had their values before the watching began."""

import objwatch
from objwatch.wrappers import BaseWrapper

COUNT = 0
ITEMS = [1, 2]
TABLE = {"a": 1}
NAME = "x"
UNCHANGED = (1, 2, 3)
FLAG = None


def step():
    global COUNT, NAME, FLAG
    COUNT += 1
    ITEMS.append(3)
    TABLE[COUNT] = 2
    NAME = "y"
    TABLE.pop("a", None)
    FLAG = True
    ITEMS.clear()
    return COUNT


def bind():
    global ITEMS
    ITEMS = [5, 6, 7]
    x = 1
    ITEMS.append(1)
    y = 2
    return x + y


with objwatch.ObjWatch(["first_values.py"], with_globals=True, wrapper=BaseWrapper):
    step()
    bind()
    step()
