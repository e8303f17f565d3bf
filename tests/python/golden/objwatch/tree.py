"""output_json: the run as a tree."""

import objwatch
from objwatch.wrappers import BaseWrapper


class Work:
    def outer(self):
        self.a = 10
        self.b = [1, 2, 3]
        self.b.append(4)
        self.b.remove(2)
        self.c = {"key": "value"}
        self.c["more"] = 1
        del self.c["more"]
        self.a = self.inner(self.b)
        return self.a

    def inner(self, given):
        own = 1
        self.d = {1}
        self.d.add(2)
        self.given = given
        given.append(5)
        return own


with objwatch.ObjWatch(
    ["tree.py"], output_json="tree.json", wrapper=BaseWrapper, with_locals=True
):
    Work().outer()
