"""Classes with __slots__ whose instances have a __dict__ too."""

import objwatch


class Base:
    pass


class Slotted(Base):
    __slots__ = ("__hidden", "a")

    def __init__(self):
        self.a = 1
        self.__hidden = [1]
        self.b = [1]
        self.b.append(2)
        self.a = 3
        self.__hidden.append(2)
        self.c = 4
        return


class Further(Slotted):
    __slots__ = "d"

    def more(self):
        self.d = 1
        self.a = 5
        self.e = 2
        return self.e


with objwatch.ObjWatch(["slots.py"], with_locals=True):
    Slotted()
    Further().more()
