"""The second program of bench/shapes.py: ten thousand dicts, written to in turn."""

import sys

MANY = 5000


def main(writes):
    tables = [{"n": i, "total": 0} for i in range(MANY)]
    named = {i: {"x": 0} for i in range(MANY)}
    for step in range(writes):
        tables[step % MANY]["n"] = step
        named[step % MANY]["x"] = step
    return tables


main(int(sys.argv[1]))
