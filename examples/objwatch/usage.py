"""A file as target: first as a context manager, then with watch() and stop()."""

import filmstrip.compat.objwatch as objwatch
from filmstrip.compat.objwatch.wrappers import BaseWrapper


class Thermostat:
    def __init__(self, degrees):
        self.degrees = degrees
        self.history = []

    def warmer(self, by=1):
        self.degrees += by
        self.history.append(self.degrees)
        return self.degrees


def main():
    room = Thermostat(18)
    room.warmer()
    room.warmer(by=2)


if __name__ == "__main__":
    with objwatch.ObjWatch(["usage.py"], wrapper=BaseWrapper):
        main()

    watcher = objwatch.watch(["usage.py"])
    main()
    watcher.stop()
