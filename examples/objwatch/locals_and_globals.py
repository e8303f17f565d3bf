"""Variables of functions and of the module."""

import filmstrip

TOTAL = 0


def collect(words):
    global TOTAL
    lengths = {}
    seen = []
    for word in words:
        seen.append(word)
        lengths[word] = len(word)
        TOTAL += len(word)
    seen.pop()
    del lengths["be"]
    return lengths


if __name__ == "__main__":
    with filmstrip.watch(
        ["locals_and_globals.py"], with_locals=True, with_globals=True
    ):
        collect(["to", "be", "done"])
