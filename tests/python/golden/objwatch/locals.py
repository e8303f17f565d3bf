"""with_locals: new variables, new values, containers that grow and shrink."""

import objwatch


def scalars():
    a = 1
    a = 2.5
    b = "text"
    b = None
    c = True
    a = b
    return c


def containers(given):
    numbers = [1, 2]
    numbers.append(3)
    numbers.append(4)
    numbers.pop()
    given.append("more")
    names = {"a": 1}
    names["b"] = 2
    del names["a"]
    unique = {1}
    unique.add(2)
    unique.discard(1)
    pair = (1, 2)
    pair = (1, 2, 3)
    return len(numbers)


def loop():
    total = 0
    for i in range(3):
        total += i
    while total > 1:
        total -= 1
    return total


def nested():
    before = 1
    inside = loop()
    after = before + inside
    return after


with objwatch.ObjWatch(["locals.py"], with_locals=True):
    scalars()
    containers(["one"])
    loop()
    nested()
