"""Damages recordings at random and reads them, in this process.

    damage.py FOLDER SEED COUNT FILM...

The number of each damaged file is printed before it is read, so that a death names it;
an alarm ends a reading that hangs, and memory is limited. The last line is a JSON object
with how the readings went.
"""

import collections
import json
import os
import random
import resource
import signal
import struct
import sys

SECONDS = 15
MEMORY = 2 << 30

WORDS = [
    bytes(8),
    b"\xff" * 8,
    struct.pack("<q", 2**31 - 1),
    struct.pack("<Q", 2**63 - 1),
    struct.pack("<q", -1),
    struct.pack("<Q", 1),
    struct.pack("<Q", 1 << 40),
]


def flip(data, chance):
    at = chance.randrange(len(data))
    data[at] ^= 1 << chance.randrange(8)


def set_byte(data, chance):
    data[chance.randrange(len(data))] = chance.randrange(256)


def set_word(data, chance):
    at = chance.randrange(len(data))
    if chance.random() < 0.7:
        at &= ~7
    data[at : at + 8] = chance.choice(WORDS)[: len(data) - at]


def cut(data, chance):
    del data[chance.randrange(len(data)) :]


def insert(data, chance):
    at = chance.randrange(len(data))
    data[at:at] = chance.randbytes(chance.randint(1, 16))


def duplicate(data, chance):
    at = chance.randrange(len(data))
    data[at:at] = data[at : at + chance.randint(1, 200)]


def swap_blocks(data, chance):
    """Two pieces of 64 bytes change places: chunks begin at multiples of 64."""
    size = 64 * chance.randint(1, 8)
    if len(data) < 2 * size:
        return
    first, second = (chance.randrange(len(data) - size) & ~63 for _ in range(2))
    data[first : first + size], data[second : second + size] = (
        data[second : second + size],
        data[first : first + size],
    )


def zero_page(data, chance):
    at = chance.randrange(len(data)) & ~4095
    data[at : at + 4096] = bytes(len(data[at : at + 4096]))


# The superblock says where everything is: it gets more than its share.
def superblock(data, chance):
    at = chance.randrange(min(len(data), 256)) & ~7
    data[at : at + 8] = chance.choice([*WORDS, chance.randbytes(8)])


KINDS = [
    flip,
    flip,
    set_byte,
    set_word,
    cut,
    insert,
    duplicate,
    swap_blocks,
    zero_page,
    superblock,
]


def read_everything(path):
    """What a person could ask of a film; how it went."""
    import filmstrip

    try:
        film = filmstrip.open(path)
    except filmstrip.FilmError:
        return "refused"
    except OSError:
        return "unreadable"
    with film:
        try:
            info = film.info
            film.threads  # noqa: B018
            for key in ("program", "python", "argv"):
                film.meta(key)
            for code in film.codes():
                code.function  # noqa: B018
            for _ in film.strings():
                pass
            for _ in film.sources():
                pass
            events = 0
            for event in film.events():
                events += 1
                if events < 500 or events % 64 == 0:
                    event.line, event.function, event.value, event.text  # noqa: B018
            for _, _call in zip(range(200), film.calls()):
                pass
        except filmstrip.FilmError:
            return "stopped"
        return "damaged" if film.damage or info.damaged else "whole"


def main():
    folder, seed, count, *paths = sys.argv[1:]
    chance = random.Random(int(seed))
    originals = []
    for path in paths:
        with open(path, "rb") as file:
            originals.append(file.read())
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    target = os.path.join(folder, f"damaged-{seed}.film")
    results = collections.Counter()
    for number in range(int(count)):
        data = bytearray(chance.choice(originals))
        for _ in range(chance.randint(1, 8)):
            if data:
                chance.choice(KINDS)(data, chance)
        with open(target, "wb") as file:
            file.write(data)
        print(number, flush=True)
        signal.alarm(SECONDS)
        results[read_everything(target)] += 1
        signal.alarm(0)
    print(json.dumps(results))


if __name__ == "__main__":
    main()
