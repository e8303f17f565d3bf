"""Objects to tokens: values exact, objects told apart, no code of the program run.

Each test is a program that calls capture by hand (capture_debug.c) and decodes what it
wrote with capturing.py; its functions are recorded, so that their frames are on the
shadow stack as they are under the hooks. After a store the program says where the value
is now, as the hooks do.
"""

from __future__ import annotations


def test_scalars(program):
    program(
        """
        def test_exact():
            for value in (
                None, True, False, 0, 1, -1, -16, -17, 223, 224, 2**30 - 1, 2**30,
                -(2**30), 2**60 - 1, 2**60, 2**62, 2**63 - 1, -(2**63) + 1, 2**63,
                -(2**63), -(2**63) - 1, 2**64, 10**30, -(10**30), 2**2046, -(2**2046),
                255 << 40, -(255 << 80), 1.5, -0.0, 1e300, float("inf"), 1j, 2 - 3.5j,
                "", "a", "0123456789abcdef", "0123456789abcdef0", "\\0", "é", "日本語",
                "\\U0001f600" * 4, "\\U0001f600" * 5, "x" * 256, "é" * 128, b"", b"\\0a",
                b"x" * 256,
            ):
                found = told(value)
                assert found == value and type(found) is type(value), (value, found)
                assert repr(found) == repr(value)

        def test_nan():
            assert repr(told(float("nan"))) == "nan"

        def test_budget():
            for value, head in (
                ("x" * 257, b"x" * 256),
                ("é" * 200, "é".encode() * 128),
                ("日" * 100, "日".encode() * 85),
                (b"q" * 300, b"q" * 256),
            ):
                kind, length, digest, kept = told(value)
                assert (kind, length, kept) == (type(value).__name__, len(value), head)
            number = 3**3000
            kind, length, digest, kept = told(number)
            assert kept == number.to_bytes(length, "little")[:256]

        def test_the_same_text_once():
            refresh()
            first = capture("value", "a text of some length", None, None)
            assert len(refresh()) == 1
            assert capture("value", "".join(["a text of ", "some length"]), None, None) == first
            assert not refresh()
            big = "z" * 10_000_000
            first = capture("value", big, None, None)
            assert capture("value", big + "", None, None) == first
            assert capture("value", big[:-1] + "y", None, None) != first

        def test_lone_surrogate():
            assert told("\\udc80 and so on, long") == "\\udc80 and so on, long"
        """
    )


def test_containers(program):
    program(
        """
        import collections

        Point = collections.namedtuple("Point", "x y")

        def test_exact():
            for value in (
                [], [1, 2, 3], (), (1, 2), {}, {"a": 1, 2: [3]}, set(), {1, 2},
                frozenset([1]), bytearray(b"abc"), [[1], [2, [3]]], (1, (2, 3)),
                {(1, 2): {"x": {3}}}, [None, 1.5, "text that is longer", b"b"],
            ):
                found = told(value)
                assert found.plain() == value, (value, found)
                assert found.type == type(value).__name__ and not found.cut
                assert found.length == len(value)

        def test_made_from_containers():
            found = told(Point(1, [2]))
            assert (found.type, found.plain()[0]) == ("Point", 1)
            counter = collections.Counter("aab")
            assert told(counter).plain() == {"a": 2, "b": 1}
            assert told(collections.defaultdict(list, a=[1])).plain() == {"a": [1]}
            assert told(collections.deque(range(3))).plain() == [0, 1, 2]

        def test_deque():
            many = collections.deque(range(500))
            for _ in range(200):
                many.popleft(); many.append(7)
            many.appendleft(-1)
            found = told(many)
            assert found.plain() == list(many)[:32] and found.cut and found.length == 501

        def test_cut():
            found = told(list(range(100)))
            assert found.plain() == list(range(32)) and found.cut and found.length == 100
            found = told({i: i for i in range(40)})
            assert len(found.content) == 32 and found.cut and found.length == 40
            found = told(set(range(40)))
            assert len(found.content) == 32 and found.cut
            found = told(bytearray(1000))
            assert found.content == bytes(256) and found.cut and found.length == 1000

        def test_depth():
            found = told([1, [2, [3, [4, [5]]]]])
            assert found.content[1].content[1].content[0] == 3
            deep = found.content[1].content[1].content[1]
            assert deep.content is ... and deep.type == "list"

        def test_cycles():
            loop = [1]
            loop.append(loop)
            found = told(loop)
            assert found.content[1].serial == found.serial and found.content[1].content is ...
            pair = {}
            pair["me"] = [pair]
            assert told(pair).content[0][1].content[0].content is ...

        def test_holes():
            d = {i: i for i in range(20)}
            for i in range(15):
                del d[i]
            assert told(d).plain() == d
            s = set(range(20)) - {3, 4}
            s.discard(5)
            assert told(s).plain() == s

        def test_many_nested():
            wide = [[[i] * 5 for i in range(32)] for _ in range(32)]
            refresh()
            found = told(wide)
            assert len(values) < 4000 and found.length == 32
        """
    )


def test_objects(program):
    program(
        """
        import dataclasses, enum, functools, math

        class Plain:
            def __init__(self):
                self.x, self.items = 1, [1, 2]

        class Slots:
            __slots__ = ("a", "b")

        class Both(Slots):
            __slots__ = ("c", "__dict__")

        class Number(int):
            pass

        @dataclasses.dataclass(slots=True)
        class Record:
            a: int
            b: list

        class Color(enum.Enum):
            RED = 1

        class Failure(Exception):
            pass

        def test_attributes():
            found = told(Plain())
            assert found.type == "Plain" and found.form == 3
            assert found.content["x"] == 1 and found.content["items"].plain() == [1, 2]
            both = Both()
            both.a, both.c, both.d = 1, 2, 3
            assert told(both).content == {"a": 1, "c": 2, "d": 3}
            assert told(Record(1, [])).content["a"] == 1
            number = Number(2**70)
            number.x = 5
            assert told(number).content == {"x": 5}
            assert told(Color.RED).content["_name_"] == "RED"

        def test_with_a_dict_made():
            plain = Plain()
            plain.__dict__
            assert told(plain).content["x"] == 1
            other = Plain()
            other.__dict__ = {"y": 2, 3: 4}
            assert told(other).content == {"y": 2, "?": 4}
            many = Plain()
            for index in range(40):
                setattr(many, f"a{index}", index)
            assert told(many).cut

        def test_names():
            assert told(Plain).content == "Plain"
            assert told(test_names).content == "test_names"
            assert told(Plain().__init__).content == "Plain.__init__"
            assert told(len).content == "len"
            assert told(math).content == "math"
            assert told(int).content == "int"

        def test_exceptions():
            found = told(Failure("a", 2, [3]))
            assert found.form == 7 and found.content[:2] == ["a", 2]

        def test_others():
            for value in (object(), iter([]), functools.partial(len), range(3), map(len, [])):
                assert told(value).type == type(value).__name__

        def test_numpy():
            try:
                import numpy
            except ImportError:
                return
            assert told(numpy.zeros((2, 3), "f4")).content == ((2, 3), "float32")
            assert told(numpy.array(5)).content == ((), "int64")
        """
    )


def test_secrets(program, runner):
    program(
        """
        class Account:
            def __init__(self):
                self.api_token = "abcd-efgh"
                self.name = "n"

        def test_names():
            assert told("hunter2hunter2", "password") == REDACTED
            assert told("hunter2hunter2") == REDACTED, "seen before"
            assert told("see hunter2hunter2!") == REDACTED, "within"
            assert told(["hunter2hunter2"]).plain() == [REDACTED]
            assert told(b"xxhunter2hunter2") == REDACTED
            assert told("x" * 250 + "hunter2hunter2") == REDACTED, "where it is cut"
            assert told("é" * 127 + "hunter2hunter2") == REDACTED

        def test_keys_and_attributes():
            found = told({"Authorization": "Bearer swordfish", "n": 1})
            assert found.content == [("Authorization", REDACTED), ("n", 1)]
            assert told("Bearer swordfish") == REDACTED
            found = told(Account())
            assert found.content == {"api_token": REDACTED, "name": "n"}
            assert told("abcd-efgh") == REDACTED
            ((key, hidden),) = told({"nested": {"my-secret": ["open sesame", 3]}}).content[0][1].content
            assert (key, hidden.content) == ("my-secret", [REDACTED, 3])
            assert told("open sesame") == REDACTED

        def test_exceptions():
            found = told(ValueError("bad password=opensource", 3))
            assert found.content == ["bad password=[redacted]", 3]
            assert told(ValueError("no hunter2hunter2")).content == [REDACTED]

        def test_others_stay():
            assert told("plain text") == "plain text"
            assert told(None, "token") is None
            assert told(7, "token") == 7
            assert told([1, 2.5], "secrets").content == [1, 2.5]
            assert told(None) is None
            assert told("abc", "pwd") == REDACTED
            assert told("abc") == "abc", "too short to be known again"
        """
    )
    raw = (runner.folder / "out.film").read_bytes()
    for secret in (b"hunter2", b"swordfish", b"abcd-efgh", b"sesame", b"opensource"):
        assert secret not in raw


def test_bounds(program):
    """A value of any size or shape costs little, and the table of objects is bounded."""
    program(
        """
        import time

        class Node:
            pass

        def cost(value):
            best = []
            for _ in range(5):
                again()
                begun = time.perf_counter()
                capture("value", value, None, None)
                best.append(time.perf_counter() - begun)
            return min(best)

        def test_time():
            lists = [[i] for i in range(40)]
            for _ in range(6):
                lists = [list(lists) for _ in range(10)]
            loop = []
            for _ in range(100):
                loop.append(loop)
            deep = []
            for _ in range(100_000):
                deep = [deep]
            wide = Node()
            for index in range(5000):
                setattr(wide, f"a{index}", [index])
            for value in (list(range(3_000_000)), "x" * 50_000_000, lists, loop, deep,
                          wide, {i: [i] for i in range(200_000)}, set(range(500_000)),
                          bytearray(50_000_000), 1 << 50_000_000,
                          [["text of some length %d" % i] * 40 for i in range(3000)],
                          tuple([Node()] * 100_000)):
                taken = cost(value)
                assert taken < 2e-3, (type(value), taken)
            while deep:
                deep = deep.pop()

        def test_many_objects():
            again()
            kept = []
            for number in range(150_000):
                x = [number]
                kept.append(x)
                capture("value", x, None, slot("x"))
                if number % 1000 == 0:
                    capture("kept")
            objects, evicted, cut = capture("end")
            assert objects == 150_000 and evicted > 1000
            again()

        def test_few_objects_are_never_forgotten():
            # Though their addresses share the low bits: the table grows until they part.
            again()
            made, alike = [[n] for n in range(200_000)], {}
            for x in made:
                alike.setdefault((id(x) >> 20, id(x) & 0xFFFF), []).append(x)
            kept = max(alike.values(), key=len)
            assert len(kept) > 4
            for x in kept:
                capture("value", x, None, slot("x"))
            objects, evicted, cut = capture("end")
            assert objects == len(kept) and evicted == 0
            again()
        """
    )


def test_limits(program):
    program(
        """
        def test_options():
            found = told([1, 2, 3, [4, [5]]])
            assert found.plain() == [1, 2] and found.cut and found.length == 4
            assert told([[[1]]]).content[0].content is ...
            assert told("x" * 20)[1:] == (20, told("x" * 20)[2], b"x" * 16)
        """,
        how="text=10, items=2, depth=1",
    )
