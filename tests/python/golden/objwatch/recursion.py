"""Deep and nested calls; a class body; comprehension and lambda."""

import objwatch


def factorial(n):
    if n < 2:
        return 1
    rest = factorial(n - 1)
    return n * rest


def functional():
    doubled = [n * 2 for n in range(3)]
    ordered = sorted(doubled, key=lambda n: -n)
    made = {n: str(n) for n in doubled}
    return ordered, made


def define():
    class Local:
        kind = "local"

        def method(self):
            return self.kind

    return Local().method()


with objwatch.ObjWatch(["recursion.py"], with_locals=True):
    factorial(4)
    functional()
    define()
