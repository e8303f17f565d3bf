"""Code that is no target changes what a target holds."""

import objwatch
import helpers as library


class Mine(library.Base):
    def __init__(self):
        super().__init__()
        self.items = []
        library.put(self)
        self.own = 1
        self.more()
        y = 2
        library.swap(self)
        library.grow(self.items)
        z = 3

    def later(self):
        library.grow(self.items)
        self.more()
        q = 1
        return q


def main():
    listed = []
    library.grow(listed)
    x = 1
    mine = Mine()
    library.put(mine)
    mine.later()
    library.swap(mine)
    mine.later()


with objwatch.ObjWatch(["library.py"], with_locals=True):
    main()
