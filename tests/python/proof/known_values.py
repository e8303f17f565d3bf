"""Values of the types that people know by their repr(), made by a seeded generator: the
program that test_known_values.py records.

    known_values.py SEED COUNT TOLD.json

Each value is given to show(); what its own repr() says goes into TOLD.json.
"""

from __future__ import annotations

import array
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import ipaddress
import json
import pathlib
import random
import re
import sys
import time
import types
import uuid
import zoneinfo


class Color(enum.Enum):
    RED = 1
    GREEN = "g"
    BLUE = (1, 2.5)
    NONE = None


class Perm(enum.Flag):
    R = 1
    W = 2
    X = 4


class Mode(enum.IntFlag):
    A = 1
    B = 2


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 10**20


class Word(enum.StrEnum):
    A = "a"
    B = "it's"


class Planet(enum.Enum):
    EARTH = (1.0, 2)

    def __init__(self, mass, radius):
        self.mass, self.radius = mass, radius


Point = collections.namedtuple("Point", "x y")
Renamed = collections.namedtuple("Renamed", ["a", "def", "a"], rename=True)
Empty = collections.namedtuple("Empty", "")


@dataclasses.dataclass
class Plain:
    x: object
    y: object = "a"


@dataclasses.dataclass(slots=True, frozen=True)
class Slotted:
    x: object
    y: object


@dataclasses.dataclass
class Hidden:
    x: object
    secretive: object = dataclasses.field(repr=False, default=3)
    z: object = 0


@dataclasses.dataclass
class Child(Plain):
    z: object = None


class Outer:
    @dataclasses.dataclass
    class Inner:
        v: object

    class Kind(enum.Enum):
        ONE = 1


class MyInt(int): ...


class MyFloat(float): ...


class MyStr(str): ...


class MyBytes(bytes): ...


class MyList(list): ...


class MyDict(dict): ...


class MyTuple(tuple): ...


class MySet(set): ...


class MyFrozen(frozenset): ...


class MyDecimal(decimal.Decimal): ...


class MyFraction(fractions.Fraction): ...


class MyDate(datetime.date): ...


class MyDatetime(datetime.datetime): ...


class MyDelta(datetime.timedelta): ...


class MyOrdered(collections.OrderedDict): ...


class MyCounter(collections.Counter): ...


class MyDefault(collections.defaultdict): ...


class MyPath(type(pathlib.PurePosixPath())): ...


class MyArray(array.array): ...


class MyPartial(functools.partial): ...


class MyPoint(Point): ...


class MyNamespace(types.SimpleNamespace): ...


class Slots(MyInt):
    def __init__(self, *_):
        self.extra = 1


R = random.Random(int(sys.argv[1]) if len(sys.argv) > 1 else 1)


def text():
    return "".join(
        R.choice("ab'\"\\ \n\té\u200b\U0001f600x_0") for _ in range(R.randrange(9))
    )


def integer():
    return R.choice(
        [
            0,
            1,
            -1,
            R.randrange(-300, 300),
            R.randrange(-(2**40), 2**40),
            R.randrange(-(2**130), 2**130),
        ]
    )


def number():
    return R.choice(
        [
            0.0,
            -0.0,
            1.5,
            float("inf"),
            float("nan"),
            R.uniform(-1e3, 1e3),
            R.uniform(-1, 1) * 10 ** R.randrange(-300, 300),
            float(integer() % 2**60),
        ]
    )


def scalar():
    return R.choice(
        [integer, number, text, lambda: None, lambda: True, lambda: text().encode()]
    )()


def decimals():
    kind = R.randrange(6)
    if kind == 0:
        return decimal.Decimal(
            R.choice(
                [
                    "NaN",
                    "sNaN",
                    "-NaN123",
                    "Infinity",
                    "-Infinity",
                    "-0",
                    "0E+5",
                    "0E-30",
                    "1E+100",
                ]
            )
        )
    digits = "".join(
        R.choice("0123456789") for _ in range(R.choice([1, 3, 18, 19, 20, 38, 39, 60]))
    )
    return decimal.Decimal(f"{R.choice(['', '-'])}{digits}E{R.randrange(-70, 40)}")


def fraction():
    return fractions.Fraction(integer(), R.randrange(1, 10 ** R.randrange(1, 30)))


def zone():
    kind = R.randrange(5)
    if kind == 0:
        return datetime.timezone.utc
    if kind == 1:
        return datetime.timezone(
            datetime.timedelta(seconds=R.randrange(-86399, 86399)),
            R.choice(["CET", "it's", "Ünï"]),
        )
    if kind == 2:
        try:
            return zoneinfo.ZoneInfo(
                R.choice(["Europe/Berlin", "America/New_York", "UTC"])
            )
        except Exception:
            return None
    if kind == 3:
        return None
    return datetime.timezone(
        datetime.timedelta(
            seconds=R.randrange(-86399, 86399), microseconds=R.choice([0, 0, 5])
        )
    )


def clock():
    return (
        R.randrange(24),
        R.randrange(60),
        R.choice([0, R.randrange(60)]),
        R.choice([0, R.randrange(10**6)]),
    )


def date():
    return datetime.date(R.randrange(1, 10000), R.randrange(1, 13), R.randrange(1, 29))


def datetimes():
    d = date()
    return datetime.datetime(
        d.year, d.month, d.day, *clock(), tzinfo=zone(), fold=R.randrange(2)
    )


def times():
    return datetime.time(*clock(), tzinfo=zone(), fold=R.randrange(2))


def delta():
    return datetime.timedelta(
        R.choice([0, R.randrange(-999, 999)]),
        R.choice([0, R.randrange(86400)]),
        R.choice([0, R.randrange(10**6)]),
    )


def member():
    return R.choice(
        [
            *Color,
            *Level,
            *Word,
            *Planet,
            *Outer.Kind,
            Perm(R.randrange(8)),
            Mode(R.randrange(4)),
            Mode(R.randrange(64)),
        ]
    )


def path():
    parts = [
        R.choice(
            ["a", "b.c", "..", ".", "/x", "//y", "///z", "", "it's", "é", "a//b/", "/"]
        )
        for _ in range(R.randrange(4))
    ]
    kind = R.choice([pathlib.Path, pathlib.PurePosixPath, MyPath])
    made = kind(*parts)
    return R.choice(
        [
            lambda: made,
            lambda: made / "k",
            lambda: made.parent,
            lambda: (str(made), made)[1],
        ]
    )()


def address():
    four, six = (
        R.randrange(2**32),
        R.choice(
            [
                0,
                1,
                R.randrange(2**128),
                R.randrange(2**32),
                0xFFFF00000000 + R.randrange(2**32),
                R.randrange(2**16) << 112,
                R.randrange(2**64) << 64,
            ]
        ),
    )
    return R.choice(
        [
            lambda: ipaddress.IPv4Address(four),
            lambda: ipaddress.IPv6Address(six),
            lambda: ipaddress.IPv4Network((four, R.randrange(33)), strict=False),
            lambda: ipaddress.IPv6Network((six, R.randrange(129)), strict=False),
            lambda: ipaddress.IPv4Interface((four, R.randrange(33))),
            lambda: ipaddress.IPv6Interface((six, R.randrange(129))),
            lambda: ipaddress.IPv6Address(str(ipaddress.IPv6Address(six)) + "%eth0"),
        ]
    )()


def pattern():
    return re.compile(
        R.choice(["a+", "", "it's", "é\\d", "(?P<n>x)|y", "\n"]),
        R.choice([0, re.I, re.I | re.M, re.A, re.X | re.S]),
    )


def byte_pattern():
    return re.compile(R.choice([b"a+", b"\xff", b""]), R.choice([0, re.I, re.L]))


def match():
    return R.choice(
        [
            lambda: re.search("b+|é|$", text() + "abbé" + text()),
            lambda: re.search(b"b*", text().encode() + b"\xffab"),
            lambda: re.fullmatch("(?s).*", text()),
        ]
    )()


def names():
    return {R.choice(["a", "b", "key", "é"]): value(1) for _ in range(R.randrange(4))}


def keys():
    return R.choice(
        [integer, text, lambda: None, decimals, date, member, fraction, path]
    )()


def mapping():
    return {
        key: value(1)
        for key in (keys() for _ in range(R.randrange(4)))
        if not isinstance(key, decimal.Decimal) or key.is_finite()
    }


def ranges():
    return range(integer(), integer(), R.choice([1, 2, -1, integer() or 1]))


def slices():
    return slice(*(R.choice([None, integer(), text()]) for _ in range(3)))


def counter():
    made = R.choice([collections.Counter, MyCounter])(text() + "abbccc")
    made[R.choice(["a", "q"])] = R.choice([0, -3, 7, 10**30])
    return made


def default():
    return R.choice([collections.defaultdict, MyDefault])(
        R.choice([int, list, None, dict, Plain, decimal.Decimal]), mapping()
    )


def namespace():
    return R.choice([types.SimpleNamespace, MyNamespace])(**names())


def arrays():
    code = R.choice("bBhHiIlLqQfd")
    kind = R.choice([array.array, MyArray])
    count = R.randrange(5)
    if code in "fd":
        return kind(code, [R.choice([0.5, -1.0, 3.25, 1e10]) for _ in range(count)])
    bits = 8 * array.array(code).itemsize
    low, high = (
        (0, 2**bits) if code.isupper() else (-(2 ** (bits - 1)), 2 ** (bits - 1))
    )
    return kind(
        code, [R.choice([low, high - 1, R.randrange(low, high)]) for _ in range(count)]
    )


def partial():
    return R.choice([functools.partial, MyPartial])(
        R.choice([int, len, Plain, print]),
        *[scalar() for _ in range(R.randrange(3))],
        **{k: scalar() for k in ["a", "b"][: R.randrange(3)]},
    )


def made():
    return R.choice(
        [
            lambda: MyInt(integer()),
            lambda: MyFloat(number()),
            lambda: MyStr(text()),
            lambda: MyBytes(text().encode()),
            lambda: Slots(integer()),
            lambda: MyList(items()),
            lambda: MyTuple(items()),
            lambda: MyDict(mapping()),
            lambda: MySet([scalar()]),
            lambda: MyFrozen([scalar()]),
            lambda: MySet(),
            lambda: MyFrozen(),
            lambda: MyDecimal(decimals()),
            lambda: MyFraction(fraction()),
            lambda: MyDate.fromordinal(date().toordinal()),
            lambda: MyDatetime(2000, 1, 2, *clock()),
            lambda: MyDelta(1, 2, 3),
            lambda: R.choice([collections.OrderedDict, MyOrdered])(mapping()),
            lambda: MyPoint(*[value(1), value(1)]),
        ]
    )()


def records():
    return R.choice(
        [
            lambda: Point(value(1), value(1)),
            lambda: Renamed(1, 2, value(1)),
            lambda: Empty(),
            lambda: Plain(value(1)),
            lambda: Slotted(value(1), value(1)),
            lambda: Hidden(value(1)),
            lambda: Child(1, value(1), value(1)),
            lambda: Outer.Inner(value(1)),
            lambda: time.gmtime(R.randrange(2**31)),
            lambda: sys.version_info,
            lambda: sys.float_info,
        ]
    )()


def items():
    return [value(1) for _ in range(R.randrange(4))]


KINDS = [
    decimals,
    fraction,
    lambda: complex(number(), number()),
    date,
    datetimes,
    times,
    delta,
    lambda: zone(),
    member,
    path,
    lambda: uuid.UUID(int=R.choice([0, R.randrange(2**128), R.randrange(2**40)])),
    address,
    ranges,
    slices,
    pattern,
    byte_pattern,
    match,
    made,
    records,
    counter,
    default,
    namespace,
    arrays,
    partial,
    items,
    mapping,
    lambda: tuple(items()),
]
DEPTH = 0


def value(depth=0):
    if depth and R.random() < 0.6:
        return scalar()
    global DEPTH
    if DEPTH > 1:
        return scalar()
    DEPTH += 1
    try:
        return R.choice(KINDS)()
    finally:
        DEPTH -= 1


def show(v):
    return None


def main():
    values = [value() for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 300)]
    for v in values:
        show(v)
    with open(sys.argv[3] if len(sys.argv) > 3 else "told.json", "w") as file:
        json.dump([[type(v).__name__, repr(v)] for v in values], file)


main()
