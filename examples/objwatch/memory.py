"""Memory figures at every line. They are taken while the program runs."""

import filmstrip
from filmstrip.compat.objwatch.wrappers import CPUMemoryWrapper


def fill(count):
    numbers = list(range(count))
    return len(numbers)


if __name__ == "__main__":
    CPUMemoryWrapper.mem_types = ["total"]
    with filmstrip.watch(["memory.py"], with_locals=True, wrapper=CPUMemoryWrapper):
        fill(1000)
