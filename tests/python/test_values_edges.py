"""Level values: what is easily told wrong: serials, slices, properties, throws, floats, other
tools."""

from __future__ import annotations

import functools
import json

import pytest

from stories import record_story, story


@pytest.fixture
def tell(runner):
    """Records a program's main() and gives the story from its call on."""
    return functools.partial(record_story, runner)


def test_serials(runner, dump):
    """Two names of one list share a serial; short-lived ones never do."""
    result = runner.record(
        """
def f(x):
    return len(x)
def main():
    a = [1]
    b = a
    for i in range(50):
        f([i])
    c = [2]
main()
""",
        options=["--level", "values"],
    )
    events = dump(result.film)
    sets = {e["name"]: e["value"].get("object") for e in events if e["kind"] == "set"}
    assert sets["a"] == sets["b"] != sets["c"]
    seen = [
        e["args"]["x"]["object"]
        for e in events
        if e["kind"] == "call" and "x" in e["args"]
    ]
    assert len(set(seen)) == 50


def test_bound_methods_stand_for_their_objects(tell):
    told = tell(
        """
        class Box:
            def __init__(self):
                self.items = []
                self.put = self.items.append
        def main():
            res = []
            add = res.append
            add(1)
            table = [res.append, add]
            table[0](2)
            d = {}
            d_set = d.__setitem__
            d_set("k", 3)
            b = Box()
            b.put(4)
            list(map(res.append, (5, 6)))
        """
    )
    for line in (
        "main: change 0 [1]",
        "main: change 1 [1, 2]",
        "main: change 0 {'k': 3}",
        "main: change 0 [4]",
        "main: change 2 [1, 2, 5, 6]",
    ):
        assert told.count(line) == 1, (line, told)


def test_an_object_changed_and_let_go_of_in_one_line(tell):
    told = tell(
        """
        class Box: pass
        def main():
            trie = node = {}
            for letter in "ab":
                node = node.setdefault(letter, {})
            m = k = [1]
            m.append(2); m = m[1:]
            o = Box()
            o.table = kept = {}
            o.table.update(w=1); o = None
        """
    )
    assert "main: change 0 {'a': {}}" in told
    assert "main: change 0 {'b': {}}" in told
    assert "main: change 1 [1, 2]" in told
    assert "main: change 0 {'w': 1}" in told


def test_slices_taken_by_the_program(tell):
    told = tell(
        """
        class L:
            def __setitem__(self, key, value): pass
            def __delitem__(self, key): pass
        def main():
            o = L()
            o[1:2] = 3
            del o[:-1:2]
            x = [1, 2]
            x[0:1] = []
        """
    )
    told = [line for line in told if line.startswith("main: ")]
    assert told[1:] == [
        "main: L[slice(1, 2, None)] = 3 via",
        "main: del L[slice(None, -1, 2)] via",
        "main: x = [1, 2]",
        "main: change 2 [2]",
    ]


def test_names_that_go_to_no_dict(tell):
    told = tell(
        """
        class Space(dict):
            def __setitem__(self, key, value):
                dict.__setitem__(self, key, value * 10 if key == "a" else value)
        class Meta(type):
            @classmethod
            def __prepare__(cls, name, bases, **more):
                return Space() if more else {}
            def __new__(cls, name, bases, space, **more):
                return type.__new__(cls, name, bases, dict(space))
        def make(**more):
            class C(metaclass=Meta, **more):
                a = 1
                b = a
        def main():
            make(odd=True)
        """
    )
    told = [line for line in told if ": class " in line]
    assert told == ["make.<locals>.C: class a = 1", "make.<locals>.C: class b = 10"]


# On the first call nothing says that the value is kept elsewhere; from the second on it
# is read off the stack, also where other instructions were watched and let go of before.
@pytest.mark.parametrize("before", ["pass", "d['k'] = v", "x = 1; x = 2"])
def test_what_a_property_is_given(tell, before):
    told = tell(
        f"""
        class P:
            @property
            def z(self): return 1
            @z.setter
            def z(self, value): pass
        def store(p, v, d):
            {before}
            p.z = v * 2
            p.z = v
        def main():
            p, d = P(), {{}}
            for v in range(4):
                store(p, v, d)
        """
    )
    told = [line for line in told if "P.z = " in line]
    assert told[0] in ("store: P.z = 0 via", "store: P.z = <not recorded> via")
    assert told[1:] == [f"store: P.z = {value} via" for value in (0, 2, 1, 4, 2, 6, 3)]


def test_a_delegated_throw(tell):
    told = tell(
        """
        def inner():
            try:
                yield 1
            except ValueError:
                return 5
        def outer():
            r = yield from inner()
            yield r
        def main():
            it = outer()
            next(it)
            it.throw(ValueError)
        """
    )
    assert "outer: r = 5" in told
    assert told[-1] == "outer yield 5"


def test_unknown_edges(runner, dump):
    """A debugger makes a frame jump: told as an unknown edge, and that code is watched
    instruction by instruction from then on."""
    result = runner.record(
        """
        import sys
        def jumped(a):
            x = a
            y = a + 1
            z = a + 2
            for i in range(2): z += i
            return a
        def trace(frame, event, argument):
            if frame.f_code.co_name != "jumped":
                return None
            if event == "line" and frame.f_lineno == frame.f_code.co_firstlineno + 2:
                frame.f_lineno += 3
            return trace
        sys.settrace(trace)
        jumped(1)
        sys.settrace(None)
        jumped(2)
        """,
        options=["--level", "values"],
    )
    assert result.rc == 0, result.stderr
    told = story(dump(result.film))
    second = told.index("jumped(a=2)")
    first = told[told.index("jumped(a=1)") : second]
    assert not [line for line in first if "y =" in line or "z = 3" in line]
    assert told[second + 1 : second + 9] == [
        "jumped: x = 2",
        "jumped: y = 3",
        "jumped: z = 4",
        "jumped: i = 0",
        "jumped: z = 4",
        "jumped: i = 1",
        "jumped: z = 5",
        "jumped return 2",
    ]


def test_floats_read_as_python_writes_them(runner, dump):
    """Every power of two with its neighbours, where there is more room above than
    below, and numbers of every size."""
    program = """
        import math, random
        numbers = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e16, 1e22, 1e23, 5e-324]
        numbers += [1e15, 123456789012345.6, 2**53, 2.0**53 + 2, 0.1, 1 / 3, 9e-5, 1e-4]
        for power in range(-1074, 1024):
            number = math.ldexp(1.0, power)
            numbers += [number, math.nextafter(number, 0), math.nextafter(number, 2e308)]
        pick = random.Random(1)
        numbers += [pick.uniform(0.5, 1) * 10.0 ** pick.randint(-307, 308) for _ in range(2000)]
        numbers += [pick.randint(1, 9999) / 10 ** pick.randint(0, 8) for _ in range(2000)]
        def main():
            for number in numbers:
                told = float(number)
                print(repr(told))
        main()
    """
    result = runner.record(program, options=["--level", "values"])
    events = dump(result.film)
    told = [
        event["value"]["text"]
        for event in events
        if event["kind"] == "set" and event["name"] == "told"
    ]
    assert len(told) > 10_000
    assert told == result.stdout.split()


def test_another_tool_comes_and_goes(tell):
    """CPython forgets which instructions are watched when another tool changes its
    events: they are watched again."""
    told = tell(
        """
        import cProfile
        def main():
            x = [1]; x = [2]
            cProfile.Profile().runcall(len, "a")
            y = [3]; y.append(4); y = [5]
            z = [k for k in y]
            return
        """
    )
    told = [line.split(": ", 1)[-1] for line in told]
    assert [line for line in told if line[:3] in ("x =", "y =", "k =", "z =")] == [
        "x = [1]",
        "x = [2]",
        "y = [3]",
        "y = [5]",
        "k = 5",
        "z = [5]",
    ]


def test_without_exceptions_nothing_is_lost(tell):
    told = tell(
        """
        def fails(n):
            a = 1; b = [n]; raise KeyError
        def main():
            try: c = 2; fails(c); d = 1
            except KeyError as e: k = 1
            return k
        """,
        options=["--no-exceptions"],
    )
    assert told == [
        "main: c = 2",
        "fails(n=2)",
        "fails: a = 1",
        "fails: b = [2]",
        "fails unwind",
        "main: e = KeyError()",
        "main: k = 1",
        "main: e = None",
        "main: del e",
    ]


def test_what_a_setter_of_self_takes(tell):
    """The first frame of a method already reads it off the stack."""
    told = tell(
        """
        exec(compile(
            "class Base:\\n"
            "    def __setattr__(self, n, v): object.__setattr__(self, n, v)",
            "hidden", "exec"))
        class Model(Base):
            def __init__(self, n):
                self.size = n + 1
                self.items = [n]
        def main():
            Model(1)
            return
        """
    )
    assert [line for line in told if "via" in line] == [
        "Model.__init__: Model.size = 2 via",
        "Model.__init__: Model.items = [1] via",
    ]


def test_objects_that_the_table_forgets_are_counted(record, filmstrip):
    """More live ones than it holds: one that is seen again has a new number."""
    result = record(
        """
        one = []
        for number in range(150_000):
            one = [one]
        """,
        options=["--level", "values"],
    )
    told = filmstrip("info", "--json", result.film)
    assert int(json.loads(told.stdout)["objects_evicted"]) > 1000
    assert "evicted" in filmstrip("info", result.film).stdout


def test_lengths_of_what_is_too_large_to_compare(record, dump):
    """Stores into it are told and counted; what follows begins with the length of then."""
    result = record(
        """
        d = {i: i for i in range(9000)}
        def main():
            d.pop(0)
            del d[1]
            d.pop(2)
            d["new"] = 1
            d["new"] = 2
            d.pop(3)
            del d[4]; d.pop(5)
            l = list(range(20000))
            del l[5]
            l.append(3)
            for key in list(d)[10:]:
                del d[key]
            d.setdefault(6, 1)
            d.clear()
        main()
        """,
        options=["--level", "values"],
    )
    changes = [e for e in dump(result.film) if e["kind"] == "change"]
    told = [
        (e.get("length_before"), e["value"]["length"], e.get("cut", False))
        for e in changes
    ]
    assert told == [
        (9000, 8999, True),
        (8998, 8997, True),
        (8998, 8997, True),
        # What two statements of one line did is told with their end.
        (None, 8995, True),
        (19999, 20000, True),
        (10, 10, True),
        (10, 0, False),
    ]


def test_a_base_that_is_laid_out_in_another_way(tell):
    """As classes that mypyc compiled: under the derived class's members are others of the
    same names, at places where its objects hold something that is no object."""
    told = tell(
        """
        import ctypes
        from ctypes import c_char_p, c_int, c_ssize_t, c_uint, c_void_p

        class Member(ctypes.Structure):
            _fields_ = [("name", c_char_p), ("type", c_int), ("offset", c_ssize_t),
                        ("flags", c_int), ("doc", c_char_p)]
        class Slot(ctypes.Structure):
            _fields_ = [("slot", c_int), ("what", c_void_p)]
        class Spec(ctypes.Structure):
            _fields_ = [("name", c_char_p), ("size", c_int), ("item", c_int),
                        ("flags", c_uint), ("slots", c_void_p)]
        make = ctypes.pythonapi.PyType_FromSpecWithBases
        make.restype, make.argtypes = ctypes.py_object, [c_void_p, ctypes.py_object]
        OBJECT_EX, READ_ONLY, MEMBERS, BASE_TYPE = 16, 1, 72, 1 << 10
        alive = []

        def compiled(name, bases, size, flags, **offsets):
            members = (Member * (len(offsets) + 1))(
                *(Member(key.encode(), OBJECT_EX, at, flags) for key, at in offsets.items())
            )
            slots = (Slot * 2)(Slot(MEMBERS, ctypes.addressof(members)))
            spec = Spec(name, size, 0, BASE_TYPE, ctypes.addressof(slots))
            alive.append((members, slots, spec, name))
            return make(ctypes.addressof(spec), bases)

        Trait = compiled(b"m.Trait", (object,), 32, READ_ONLY, held=16, __dict__=24)
        Compiled = compiled(b"m.Compiled", (Trait,), 48, 0, held=32, __dict__=40)

        def main():
            thing = Compiled()
            for offset in (16, 24):
                c_void_p.from_address(id(thing) + offset).value = 8
            thing.held = [1]
            same = thing
            same.held.append(2)
            thing = same = None
        """
    )
    print(told)
    assert any("Compiled.held = [1]" in line for line in told), told
    assert not any("__dict__" in line for line in told), told
