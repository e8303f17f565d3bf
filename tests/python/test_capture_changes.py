"""Changes in place, stores that are read beforehand, attributes read where they are kept.

Each test is a program that calls capture by hand: see test_capture.py.
"""

from __future__ import annotations


def test_changes(program):
    program(
        """
        import collections

        class Thing:
            pass

        def test_nothing():
            for x in ([1], {1: 2}, {3}, collections.deque([4]), bytearray(b"5"), Thing()):
                told(x, None, slot("x"))
                refresh()
                assert changed(x, slot("x")) is None
                told(x, None, slot("x"))
                assert not refresh()

        def test_each_kind():
            def grow(x):
                if isinstance(x, list): x[0] = 7
                elif isinstance(x, dict): x[1] = 7
                elif isinstance(x, set): x.add(7)
                elif isinstance(x, bytearray): x[0] = 7
                elif isinstance(x, Thing): x.y = 7
                else: x.append(7)
            for x in ([1], {1: 2}, {3}, collections.deque([4]), bytearray(b"5"), Thing()):
                first = told(x, None, slot("x"))
                grow(x)
                found, before, cut = changed(x, slot("x"))
                assert found.serial == first.serial and not cut
                assert before == (-1 if isinstance(x, Thing) else 1)
                assert (found.content["y"] == 7 if isinstance(x, Thing)
                        else found.plain() == (list(x) if isinstance(x, collections.deque) else x))
                assert changed(x, slot("x")) is None

        def test_by_value():
            x = [1000.5]
            told(x, None, slot("x"))
            for number in range(100):
                x[0] = number + 0.25
                x[0] = number + 0.75
                assert changed(x, slot("x"))[0].plain() == [number + 0.75]
            x[0] = number + 0.75
            assert changed(x, slot("x")) is None

        def test_deep():
            x = [[1, 2], {"a": [3]}]
            told(x, None, slot("x"))
            x[1]["a"].append(4)
            found, before, cut = changed(x, slot("x")) # of the list within
            assert found.plain() == [3, 4] and before == 1 and not cut
            assert changed(x, slot("x")) is None
            y = x
            assert told(y, None, slot("y")).plain() == x

        def test_seen_by_a_sighting():
            x = [1]
            told(x, None, slot("x"))
            x.append(2)
            assert told(x, None, slot("x")).plain() == [1, 2]
            assert changed(x, slot("x")) is None

        def test_beyond_what_is_shown():
            x = list(range(1000))
            told(x, None, slot("x"))
            x[900] = -1
            found, before, cut = changed(x, slot("x"))
            assert before == 1000 and not cut

        def test_too_long():
            x = list(range(100_000))
            told(x, None, slot("x"))
            found, before, cut = changed(x, slot("x"))
            assert cut and before == 100_000

        def test_told():
            x = {1: 2}
            told(x, None, slot("x"))
            x[3] = 4
            capture("told", x)
            assert changed(x, slot("x")) is None
            assert told(x, None, slot("x")).plain() == x
            thing = Thing()
            told(thing, None, slot("thing"))
            thing.a = 1
            capture("told", thing)
            assert changed(thing, slot("thing")) is None

        def test_never_seen():
            fresh = [1]
            found, before, cut = changed(fresh, slot("fresh"))
            assert cut, "it may have changed"
            thing = Thing()
            assert changed(thing, slot("thing")) is None
            thing.x = 1
            assert changed(thing, slot("thing"))[0].content == {"x": 1}

        def test_dict_remade():
            thing = Thing()
            thing.x = 1
            told(thing, None, slot("thing"))
            thing.__dict__
            assert changed(thing, slot("thing")) is None
            thing.x = 2
            assert changed(thing, slot("thing"))[0].content == {"x": 2}

        def test_shared_dict():
            thing = Thing()
            thing.x = 1
            d = thing.__dict__
            told(d, None, slot("d"))
            thing.x = 2
            assert changed(d, slot("d"))[0].plain() == {"x": 2}

        def test_tuples_of_lists():
            x = ([1], 2)
            assert told(x, None, slot("x")).plain() == x
            x[0].append(5)
            assert told(x, None, slot("x")).plain() == x
        """
    )


def test_stores_read_beforehand(program):
    program(
        """
        from functools import partial

        class Thing:
            __slots__ = ("s", "__dict__")

        def test_lists():
            x = [1, 2, 3]
            told(x, None, slot("x"))
            for key, value in ((0, 5), (-1, [7]), (1, "text"), (2, (1, 2))):
                found = capture("store", x, None, key, value, partial(x.__setitem__, key, value))
                assert found and changed(x, slot("x")) is None
                assert told(x, None, slot("x")).plain() == x
            for key in (0, -1, 0):
                assert capture("store", x, None, key, ..., partial(x.__delitem__, key))
                assert changed(x, slot("x")) is None
            for key in (5, -9, "a", slice(0, 1)):
                assert not capture("store", x, None, key, 1, lambda: None)

        def test_dicts():
            x = {1: 2, "a": 3}
            told(x, None, slot("x"))
            for key, value in ((1, 5), ("b", [7]), (2.5, "text"), ("a", None)):
                assert capture("store", x, None, key, value, partial(x.__setitem__, key, value))
                assert changed(x, slot("x")) is None
                assert told(x, None, slot("x")).plain() == x
            for key in (1, "a"):
                assert capture("store", x, None, key, ..., partial(x.__delitem__, key))
                assert changed(x, slot("x")) is None
            assert not capture("store", x, None, "none", ..., lambda: None)
            only = {"a": 1}
            told(only, None, slot("only"))
            assert capture("store", only, None, 5, 6, partial(only.__setitem__, 5, 6))
            assert changed(only, slot("only")) is None

        def test_order_of_dicts():
            x = {"a": 1, "b": 2, "c": 3}
            told(x, None, slot("x"))
            x["a"] = x.pop("a")
            assert list(changed(x, slot("x"))[0].plain()) == ["b", "c", "a"]
            x["b"] = x.pop("b")
            x["a"] = x.pop("a")  # the last one is the last one again
            assert list(changed(x, slot("x"))[0].plain()) == ["c", "b", "a"]
            x["a"] = x.pop("a")
            assert changed(x, slot("x")) is None
            for n in range(50):  # CPython tidies up
                x[n] = n
            told(x, None, slot("x"))
            for n in (0, 49, 25, "b", 24, 26):
                assert capture("store", x, None, n, ..., partial(x.__delitem__, n))
                assert changed(x, slot("x")) is None
            for n in (0, 49, "b", 100):
                assert capture("store", x, None, n, n, partial(x.__setitem__, n, n))
                assert changed(x, slot("x")) is None
            y = x.copy()
            x.clear()
            x.update(y)
            assert changed(x, slot("x")) is None

        def test_large_dicts_and_tuple_keys():
            x = {n: n for n in range(1000)}
            told(x, None, slot("x"))
            for key in (3, 999, 5000, (1, "a"), (1, "a"), 3.0, True):
                assert capture("store", x, None, key, -1, partial(x.__setitem__, key, -1))
                assert changed(x, slot("x")) is None
            for key in (4, (1, "a"), 3):
                assert capture("store", x, None, key, ..., partial(x.__delitem__, key))
                assert changed(x, slot("x")) is None
            x[7] = 8
            assert changed(x, slot("x")) is not None
            # A key of the program's own: compared by its __eq__, so not known.
            assert not capture("store", x, None, (object(),), 1, lambda: None)

        def test_other_sequences():
            from collections import deque

            for x, values in (
                (bytearray(range(200)), (0, 255)),
                (bytearray(b"a"), (7, 8)),
                (deque(range(100)), ([1], "text")),
            ):
                told(x, None, slot("x"))
                for key, value in ((0, values[0]), (-1, values[1])):
                    assert capture("store", x, None, key, value, partial(x.__setitem__, key, value))
                    assert changed(x, slot("x")) is None
                for key in range(0, len(x), 40):
                    assert capture("store", x, None, key, ..., partial(x.__delitem__, key))
                    assert changed(x, slot("x")) is None
                if len(x):
                    x[0] = 99
                    assert changed(x, slot("x")) is not None

        def test_lists_that_grow():
            x = list(range(300))
            told(x, None, slot("x"))
            for n in range(400):
                x.append(n)
                value, before, cut = changed(x, slot("x"))
                assert before == len(x) - 1 and not cut
                assert changed(x, slot("x")) is None
            # A change in the middle that nobody told is not lost for good.
            x[150] = "unseen"
            x.append(1)
            seen = changed(x, slot("x"))
            assert seen is not None
            for n in range(100):
                x.append(n)
                assert changed(x, slot("x")) is not None
            told(x, None, slot("x"))
            assert changed(x, slot("x")) is None

        def test_attributes():
            x = Thing()
            told(x, None, slot("x"))
            for name, value in (("a", 1), ("s", [2]), ("a", "b"), ("b", 3)):
                assert capture("store", x, name, None, value, partial(setattr, x, name, value))
                assert changed(x, slot("x")) is None
            for name in ("a", "s"):
                assert capture("store", x, name, None, ..., partial(delattr, x, name))
                assert changed(x, slot("x")) is None

        def test_not_the_same_any_more():
            x = [1]
            told(x, None, slot("x"))
            found = capture("store", x, None, 0, 5, partial(x.append, 3))
            assert changed(x, slot("x")), "something else happened"
        """
    )


def test_attributes_read(program):
    program(
        """
        class Base:
            __slots__ = ("s", "__dict__")
            default = 5

            @property
            def p(self):
                raise SystemExit

            @p.setter
            def p(self, value):
                pass

        class Own:
            def __setattr__(self, name, value):
                object.__setattr__(self, name, value)

        class Meta(type):
            pass

        class Class(metaclass=Meta):
            x = 1

        def read(owner, name):
            value, via = capture("read", owner, name)
            return "via" if via else value

        def test_read():
            for _ in range(3):
                base = Base()
                assert read(base, "x") is None
                base.x, base.s = 1, 2
                assert (read(base, "x"), read(base, "s"), read(base, "p")) == (1, 2, "via")
                assert read(base, "default") is None, "not its own"
                base.default = 6
                assert read(base, "default") == 6
                base.__dict__
                base.x = 3
                assert read(base, "x") == 3
                del base.s
                assert read(base, "s") is None
                own = Own()
                own.x = 1
                assert read(own, "x") == "via"
                assert read(base, "__class__") == "via"
                Class.x = 7
                assert read(Class, "x") == 7
                assert read(sys, "path") is sys.path

        def test_type_changes():
            class Changing:
                pass
            thing = Changing()
            thing.x = 1
            assert read(thing, "x") == 1
            Changing.x = property(lambda self: 2, lambda self, value: None)
            assert read(thing, "x") == "via"

        def test_items_overridden():
            class D(dict):
                def __setitem__(self, key, value):
                    super().__setitem__(key, value)
            class E(dict):
                pass
            assert capture("overridden", D())
            for plain in (E(), {}, [], D):
                assert not capture("overridden", plain)
            E.__delitem__ = lambda self, key: None
            assert capture("overridden", E())

        def test_lookup():
            assert capture("lookup", {"a": 1, "b": 2}, "b") == 2
            assert capture("lookup", {"a": 1, 5: 2}, "a") == 1
            many = {str(i): i for i in range(100)}
            assert capture("lookup", many, "77") == 77
            assert capture("lookup", many, "no") is None
        """
    )
