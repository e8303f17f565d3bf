"""Instances die in sight (deaths.h): an address keeps its serial exactly as long as the
object lives, whoever holds it, and whatever other tools do to the allocator."""

from __future__ import annotations

import textwrap

import pytest

THING = """
    class Thing:
        def __init__(self, number):
            self.number = number
"""


def things(events: list[dict]) -> list[tuple[int, int]]:
    """(number, serial) of each Thing that variable `seen` was told to hold."""
    numbers: dict[int, int] = {}
    found = []
    for event in events:
        if event["kind"] != "set":
            continue
        if event["scope"] == "attribute":
            numbers[event["owner"]["object"]] = int(event["value"]["text"])
        elif event["name"] == "seen":
            serial = event["value"]["object"]
            found.append((numbers[serial], serial))
    return found


@pytest.fixture
def told(runner, dump):
    """Records a program that puts Things into `seen`; returns what `things` does."""

    def run(body: str, **how) -> list[tuple[int, int]]:
        program = textwrap.dedent(THING) + textwrap.dedent(body)
        result = runner.record(program, options=["--level", "values"], **how)
        assert (result.rc, result.stderr) == (0, "")
        return things(dump(result.film))

    return run


def check(found: list[tuple[int, int]], count: int) -> None:
    """One serial for each number, one number for each serial."""
    pairs = set(found)
    assert len(pairs) == len({number for number, _ in pairs}) == count
    assert len({serial for _, serial in pairs}) == count


def test_addresses_are_used_again(told):
    found = told(
        """
        def main():
            addresses = set()
            for number in range(500):
                seen = Thing(number)
                addresses.add(id(seen))
                del seen
            assert len(addresses) < 100
        main()
        """
    )
    check(found, 500)


def test_held_by_c_alone(told):
    """What only a C queue has held is the same object when it comes back."""
    found = told(
        """
        import queue
        def main():
            kept = queue.SimpleQueue()
            for number in range(50):
                seen = Thing(number)
                kept.put(seen)
            del seen
            for _ in range(50):
                seen = kept.get()
        main()
        """
    )
    assert len(found) == 100
    check(found, 50)


@pytest.mark.parametrize("before", [True, False])
def test_tracemalloc_comes_and_goes(told, before):
    """It puts back the allocator it found, which may be one from before the recording:
    the hook is gone then, and nothing that was known may be believed."""
    inside = "" if before else "tracemalloc.start()"
    found = told(
        f"""
        import tracemalloc
        def main():
            for number in range(20):
                seen = Thing(number)
            {inside}
            for number in range(20, 40):
                seen = Thing(number)
            tracemalloc.stop()
            for number in range(40, 400):
                seen = Thing(number)
                del seen
        main()
        """,
        flags=("-X", "tracemalloc") if before else (),
    )
    check(found, 400)


def test_with_the_debug_allocator(told):
    found = told(
        """
        def main():
            for number in range(200):
                seen = Thing(number)
                again = seen
                seen = again
        main()
        """,
        env={"PYTHONMALLOC": "debug"},
    )
    check(found, 200)


def test_the_allocator_is_given_back(runner):
    """After the recording the program has the allocator it had before."""
    result = runner.plain(
        """
        import ctypes, filmstrip

        class Allocator(ctypes.Structure):
            _fields_ = [(name, ctypes.c_void_p)
                        for name in ("context", "malloc", "calloc", "realloc", "free")]

        def now():
            allocator = Allocator()
            ctypes.pythonapi.PyMem_GetAllocator(2, ctypes.byref(allocator))
            return [getattr(allocator, name) for name, _ in Allocator._fields_]

        before = now()
        with filmstrip.record("a.film", all=True, level="values"):
            during = now()
        assert now() == before
        assert during[:4] == before[:4] and during[4] != before[4]
        print("ok")
        """
    )
    assert (result.rc, result.stdout, result.stderr) == (0, "ok\n", "")


NESTED = """
    import gc
    order = []

    class Tells:
        def __init__(self, name):
            self.name = name

        def __del__(self):
            order.append(self.name)

    def chain(kind, depth):
        inside = None
        for number in range(depth):
            inside = kind(Tells(number), inside)
        return inside

    def build():
        kinds = [
            lambda a, b: [a, b],
            lambda a, b: (a, b),
            lambda a, b: {"a": a, "b": b},
            lambda a, b: [(a, {"b": b})],
            type("List", (list,), {"__init__": lambda self, *all: self.extend(all)}),
        ]
        for kind in kinds:
            for depth in (1, 30, 49, 50, 51, 60, 120, 300, 20_000):
                held = chain(kind, depth)
                del held
                order.append("done")
        ring = []
        ring.append([ring, Tells("ring")])
        del ring
        gc.collect()

    build()
    import hashlib
    print(len(order), hashlib.sha256(repr(order).encode()).hexdigest())
"""


def test_deep_nestings_are_taken_apart_as_ever(runner):
    """Our destructors of list, dict and tuple stand before their own: the trashcan works
    at the same depths, so that __del__ runs in the same order and no C stack overflows."""
    program = textwrap.dedent(NESTED)
    plain = runner.plain(program)
    recorded = runner.record(None, options=["--level", "values"])
    assert plain.rc == recorded.rc == 0, (plain.stderr, recorded.stderr)
    assert recorded.stdout == plain.stdout


def test_destructors_are_put_back(runner):
    """Also where somebody inherited ours meanwhile; and a second recording sees again."""
    result = runner.plain(
        """
        import ctypes, filmstrip, sys

        OFFSET = 6 * ctypes.sizeof(ctypes.c_void_p)  # tp_dealloc

        def destructors():
            return [
                ctypes.c_void_p.from_address(id(type) + OFFSET).value
                for type in (list, dict, tuple)
            ]

        before = destructors()
        for _ in range(3):
            with filmstrip.record("out.film", all=True, level="values", force=True):
                during = destructors()
                made = [type(f"T{k}", (k,), {})() for k in (list, dict, tuple)]
            assert all(a != b for a, b in zip(before, during)), (before, during)
            assert destructors() == before
            del made
        print("done")
        """
    )
    assert (result.rc, result.stdout) == (0, "done\n"), result.stderr


@pytest.mark.parametrize(
    "make", ["[number]", "(number, [])", "{'number': number}", "iter(range(number))"]
)
def test_serials_of_builtins(runner, dump, make):
    """Kept by C code alone, or died and taken the address again: one serial an object."""
    result = runner.record(
        f"""
        def main():
            kept = {{}}
            addresses = set()
            for number in range(300):
                seen = {make}
                addresses.add(id(seen))
                if number % 3 == 0:
                    kept[number] = iter([seen])
                del seen
            assert len(addresses) < 250
            for holder in kept.values():
                again = next(holder)

        main()
        """,
        options=["--level", "values"],
    )
    assert (result.rc, result.stderr) == (0, "")
    first, second = [], []
    for event in dump(result.film):
        if event["kind"] == "set" and event.get("name") in ("seen", "again"):
            serial = event["value"]["object"]
            (first if event["name"] == "seen" else second).append(serial)
    assert len(first) == len(set(first)) == 300
    assert second == first[::3]
