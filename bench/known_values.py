"""What a write of a value costs that people know by its repr(): nanoseconds a write,
and how many more than a write of an int takes.

    .venvs/3.12/bin/python bench/known_values.py [--json]

Each row is a loop that binds a variable to one value after the other, recorded at
level values; `same`: to one of eight values that are there already, `new`: to one that
is made in the line, from which the bare making is taken off. Times are of the CPU, the
best of several runs. Exit status 1 where the bar, which is for `same`, is missed.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import textwrap

BAR_NS = 150  # more than an int's
TURNS = 20_000
RUNS = 7

SETUP = """
import array, collections, dataclasses, datetime, decimal, enum, fractions, functools
import ipaddress, json, pathlib, re, sys, time, types, uuid

class Color(enum.Enum):
    A = 1; B = 2; C = 3; D = 4; E = 5; F = 6; G = 7; H = 8
class Level(enum.IntEnum):
    A = 1; B = 2; C = 3; D = 4; E = 5; F = 6; G = 7; H = 8
P = collections.namedtuple("P", "x y")
@dataclasses.dataclass
class D:
    x: int
    y: str = "a"
class MyInt(int): pass
class MyStr(str): pass
class MyList(list): pass
class MyDict(dict): pass
class Cart:
    def total(self): pass
CART = Cart()
DAY = datetime.date(2024, 1, 2)
PATTERNS = [re.compile(c) for c in "abcdefgh"]
"""

# name: an expression of i
VALUES = {
    "int": "i + 100_000",
    "Decimal": "decimal.Decimal(i)",
    "Fraction": "fractions.Fraction(i, 7)",
    "complex": "complex(i, 1)",
    "date": "datetime.date(2000 + i % 1000, 1, 2)",
    "datetime": "datetime.datetime(2000, 1, 2, 3, 4, 5, i)",
    "time": "datetime.time(1, 2, 3, i)",
    "timedelta": "datetime.timedelta(i, 5)",
    "timezone": "datetime.timezone(datetime.timedelta(seconds=60 * (i % 1000)))",
    "Enum": "list(Color)[i % 8]",
    "IntEnum": "list(Level)[i % 8]",
    "Path": "pathlib.PurePosixPath('/a/b')",
    "UUID": "uuid.UUID(int=i)",
    "IPv4Address": "ipaddress.IPv4Address(i)",
    "range": "range(i, i + 9)",
    "slice": "slice(i, i + 9)",
    "Pattern": "PATTERNS[i % 8]",
    "Match": "re.match('a*', 'aaa')",
    "namedtuple": "P(i, 'y')",
    "dataclass": "D(i)",
    "int subclass": "MyInt(i)",
    "str subclass": "MyStr(i)",
    "list subclass": "MyList((i, 2))",
    "dict subclass": "MyDict(a=i)",
    "OrderedDict": "collections.OrderedDict(a=i)",
    "Counter": "collections.Counter('ab')",
    "defaultdict": "collections.defaultdict(int, a=i)",
    "SimpleNamespace": "types.SimpleNamespace(a=i)",
    "array": "array.array('i', (i, 2))",
    "partial": "functools.partial(int, i)",
    "bound method": "CART.total",
}

PROGRAM = """
def same(values, turns):
    for i in range(turns):
        v = values[i & 7]

def best(function, *arguments):
    times = []
    for _ in range({runs}):
        begin = time.process_time_ns()
        function(*arguments, {turns})
        times.append(time.process_time_ns() - begin)
    return min(times) / {turns}

told = {{}}
for name, text in {values!r}.items():
    space = dict(globals())
    loop = f"def new(turns):\\n for i in range(turns):\\n  v = {{text}}\\n"
    exec(loop + f"make = lambda i: {{text}}", space)
    told[name] = [best(same, [space["make"](i) for i in range(8)]), best(space["new"])]
print(json.dumps(told))
"""


def program() -> str:
    return textwrap.dedent(SETUP) + PROGRAM.format(
        runs=RUNS, turns=TURNS, values=VALUES
    )


def measure(folder: pathlib.Path, *how: str) -> dict[str, list[float]]:
    path = folder / "known.py"
    path.write_text(program())
    done = subprocess.run(
        [sys.executable, *how, str(path)], check=True, capture_output=True, text=True
    )
    told: dict[str, list[float]] = json.loads(done.stdout)
    return told


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        film = str(folder / "known.film")
        how = ("-m", "filmstrip", "run", "--force", "-o", film)
        recorded, bare = measure(folder, *how), measure(folder)
    costs = {
        name: [there - without for there, without in zip(recorded[name], bare[name])]
        for name in VALUES
    }
    more = {
        name: [round(one - an_int) for one, an_int in zip(cost, costs["int"])]
        for name, cost in costs.items()
    }
    if options.json:
        of_int = [round(ns) for ns in costs["int"]]
        print(json.dumps({"int_ns": of_int, "more_ns": more}))
    else:
        print("a write of an int: {:.0f} ns, of a new one {:.0f}".format(*costs["int"]))
        print("more than that     same    new")
        for name, (same, new) in more.items():
            print(f"{name:16} {same:+6d} {new:+6d}")
    missed = [name for name, (same, _) in more.items() if same > BAR_NS]
    verdict = f"missed: {', '.join(missed)}" if missed else "met"
    beyond = sum(new > BAR_NS for _, new in more.values())
    print(f"bar: {BAR_NS} ns more, of known ones: {verdict}")
    print(f"of new ones {beyond} of {len(more)} kinds take more than that")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
