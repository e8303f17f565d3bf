"""Variables of functions around, in functions with **keywords too."""

import objwatch
from objwatch.wrappers import BaseWrapper


def outer(n):
    data = [1]

    def inner(a, *args, **kw):
        data.append(n)
        total = n + a
        kw["z"] = 5
        return total

    def rebind(a, *, key=2):
        nonlocal n
        n += a
        return n

    inner(1, 2, 3, k=4, m=[1])
    rebind(2, key=5)
    return inner(2)


def other(n):
    """Its n is another one."""

    def inner():
        nonlocal n
        n = 7
        done = True
        return done

    inner()
    n += 1
    return n


with objwatch.ObjWatch(["closures.py"], with_locals=True, wrapper=BaseWrapper):
    outer(3)
    other(5)
