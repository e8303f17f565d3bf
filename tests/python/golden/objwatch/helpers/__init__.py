"""What golden/objwatch/library.py calls."""


def grow(listed):
    listed.append(1)
    return listed


def put(owner):
    owner.attr = 5
    owner.items.append(7)


def swap(owner):
    owner.items = [1, 2, 3]


class Base:
    def __init__(self):
        self.base = 1
        self.things = [1]

    def more(self):
        self.things.append(2)
        self.base += 1
