"""What ObjWatch does not show; filmstrip does, unless asked to be strict."""

import threading

import objwatch


class Slotted:
    __slots__ = ("x",)

    def __init__(self):
        self.x = 1
        self.x = 2
        pass


class Last:
    def __init__(self):
        self.first = 1
        self.listed = [1, 2]


def rebind():
    items = [1, 2]
    items = [3, 4]
    items = [5, 6, 7]
    return items


def item():
    items = [1, 2]
    items[0] = 7
    table = {"a": 1}
    table["a"] = 2
    return items, table


def delete():
    gone = 1
    del gone
    stays = 2
    return stays


def failing():
    value = 1
    raise ValueError("no")


def catches():
    try:
        failing()
    except ValueError:
        caught = True
    return caught


def generate():
    got = yield 1
    yield got


def uses_generator():
    g = generate()
    a = next(g)
    b = g.send(5)
    return a, b


def calls():
    def inner():
        return 1

    inner()
    return inner


def last_line():
    seen = 1
    unseen = 2


def in_thread():
    lonely = 1
    lonely = 2


def main():
    Slotted()
    Last()
    rebind()
    item()
    delete()
    catches()
    uses_generator()
    calls()
    last_line()
    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()


with objwatch.ObjWatch(["losses.py"], with_locals=True):
    main()
