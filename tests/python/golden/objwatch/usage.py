"""The first use: a file as target, as a context manager, then by watch()."""

import objwatch
from objwatch.wrappers import BaseWrapper


class Counter:
    def __init__(self, start):
        self.count = start

    def up(self):
        self.count += 1
        return self.count

    def down(self, by=1):
        self.count -= by
        return [self.count]


def main():
    counter = Counter(10)
    for _ in range(3):
        counter.up()
    counter.down()
    counter.down(2)


if __name__ == "__main__":
    with objwatch.ObjWatch(["usage.py"], wrapper=BaseWrapper):
        main()
    watcher = objwatch.watch(["usage.py"], wrapper=BaseWrapper)
    main()
    watcher.stop()
