"""Objects told apart: serials, in threads, in generators, in random programs.

Each test is a program that calls capture by hand: see test_capture.py.
"""

from __future__ import annotations

import pytest


def test_serials(program):
    """Addresses are reused at once, serials never."""
    program(
        """
        import functools

        class Thing:
            pass

        def test_reused_addresses():
            serials, addresses = set(), set()
            for number in range(1000):
                x = [number]
                addresses.add(id(x))
                serials.add(serial(x, slot("x")))
            assert len(serials) == 1000 and len(addresses) < 100

        def test_nothing_in_between():
            serials = set()
            for number in range(100):
                x = [1]
                serials.add(serial(x, slot("x")))
                x = None
                told(x, None, slot("x"))
            assert len(serials) == 100

        def test_two_names_at_once():
            serials = set()
            for number in range(100):
                a = b = [1]
                serials.add(serial(a, slot("a")))
                assert serial(b, slot("b")) in serials
            assert len(serials) == 100

        def test_stays_the_same():
            x = [1]
            first = serial(x, slot("x"))
            for number in range(5):
                x += [number]
                assert serial(x, slot("x")) == first
            y = x
            assert serial(y, slot("y")) == first
            x = None
            told(x, None, slot("x"))
            assert serial(y, slot("y")) == first

        def callee(argument, depth=3):
            found = serial(argument, slot("argument"))
            if depth:
                assert callee(argument, depth - 1) == found
            assert serial(argument, slot("argument")) == found
            return found

        def test_calls():
            x = []
            first = serial(x, slot("x"))
            for _ in range(3):
                assert callee(x) == first == serial(x, slot("x"))

        def maker():
            made = [1]
            maker.serial = serial(made, slot("made"))
            capture("returned", made)
            return made

        def test_returned():
            x = maker()
            assert serial(x, slot("x", in_flight=True)) == maker.serial
            y = maker()
            assert serial(y, slot("y")) == maker.serial, "its death would be seen"
            partial = functools.partial
            y = partial(print)
            first = serial(y, None)
            assert serial(y, slot("y")) != first, "nothing proves it"
            assert serial(y, slot("y")) == serial(y, slot("y"))

        def test_attributes():
            thing = Thing()
            serial(thing, slot("thing"))
            thing.items = [1]
            first = serial(thing.items, attribute(thing, "items"))
            for _ in range(3):
                y = thing.items
                assert serial(y, slot("y")) == first
                y = None
                told(y, None, slot("y"))
            for between in (True, False):
                serials = set()
                for _ in range(50):
                    if between:
                        thing.items = None
                        told(thing.items, None, attribute(thing, "items"))
                    thing.items = [1]
                    serials.add(serial(thing.items, attribute(thing, "items")))
                assert len(serials) == 50

        def test_owners_die():
            serials = set()
            for _ in range(50):
                thing = Thing()
                serials.add(serial(thing, slot("thing")))
                thing.items = [1]
                serials.add(serial(thing.items, attribute(thing, "items")))
                thing = None
                told(thing, None, slot("thing"))
            assert len(serials) == 100

        def test_owners_of_owners():
            a = Thing()
            a.b = Thing()
            a.b.c = []
            found = told(a, None, slot("a"))
            inner = found.content["b"]
            list_serial = inner.content["c"].serial
            x = a.b
            assert serial(x, slot("x")) == inner.serial
            x = a.b.c
            assert serial(x, slot("x")) == list_serial

        def test_items():
            x = [[1], [2], {"a": [3]}]
            found = told(x, None, slot("x"))
            serials = [item.serial for item in found.content]
            y = x[1]
            assert serial(y, slot("y")) == serials[1]
            y = x[2]["a"]
            assert serial(y, slot("y")) == found.content[2].content[0][1].serial
            x.append(4)
            found, before, cut = changed(x, slot("x"))
            assert (before, cut) == (3, False)
            assert [item.serial for item in found.content[:3]] == serials
            x.pop(0)
            found, before, cut = changed(x, slot("x"))
            assert [item.serial for item in found.content[:2]] == serials[1:]

        def test_items_come_and_go():
            queue, serials = [], set()
            told(queue, None, slot("queue"))
            for _ in range(50):
                queue.append([7])
                serials.add(changed(queue, slot("queue"))[0].content[0].serial)
                queue.pop()
                changed(queue, slot("queue"))
            assert len(serials) == 50

        def test_many_items():
            for x in ([[i] for i in range(400)], {i: [i] for i in range(400)},
                      tuple([i] for i in range(400))):
                told(x, None, slot("x"))
                serials = []
                for index in range(400):
                    y = x[index]
                    serials.append(serial(y, slot("y")))
                assert len(set(serials)) == 400
                if not isinstance(x, tuple):
                    if isinstance(x, list):
                        x.append([400])
                    else:
                        x[400] = [400]
                    assert changed(x, slot("x"))
                for index in range(400):
                    y = x[index]
                    assert serial(y, slot("y")) == serials[index]
            x = [[i] for i in range(100)]
            told(x, None, slot("x"))
            serials = set()
            for _ in range(50):
                x.append([0])
                changed(x, slot("x"))
                y = x[-1]
                serials.add(serial(y, slot("y")))
                y = None
                told(y, None, slot("y"))
                x.pop()
                changed(x, slot("x"))
            assert len(serials) == 50

        def test_keys():
            d = {(1, 2): 3}
            first = told(d, None, slot("d")).content[0][0].serial
            d[5] = 6
            assert changed(d, slot("d"))[0].content[0][0].serial == first

        def test_cells():
            x = [1]
            first = serial(x, cell("x"))

            def inner():
                nonlocal x
                y = x
                assert serial(y, slot("y")) == first == serial(x, cell("x"))
                y = None
                told(y, None, slot("y"))
                serials = set()
                for _ in range(50):
                    x = None
                    told(x, None, cell("x"))
                    x = [1]
                    serials.add(serial(x, cell("x")))
                assert len(serials) == 50
                return serial(x, cell("x"))

            assert inner() == serial(x, cell("x"))

        def with_cell():
            x = [1]
            found = serial(x, cell("x"))
            lambda: x
            return found

        def test_cells_die():
            assert len({with_cell() for _ in range(50)}) == 50

        shared = [1]

        def test_globals():
            global shared
            place = namespace(globals(), "shared")
            first = serial(shared, place)
            x = shared
            assert serial(x, slot("x")) == first
            x = None
            told(x, None, slot("x"))
            assert serial(shared) == first
            serials = set()
            for _ in range(50):
                shared = None
                told(shared, None, place)
                shared = [1]
                serials.add(serial(shared, place))
            assert len(serials) == 50

        def test_types_differ():
            serials = set()
            for number in range(100):
                x = Thing() if number % 2 else object()
                serials.add(serial(x, slot("x")))
            assert len(serials) == 100
        """
    )


def test_threads(program):
    program(
        """
        import threading

        def worker(shared, own, ready, go):
            own.append(serial(shared, slot("shared")))
            ready.set()
            go.wait()
            own.append(serial(shared, slot("shared")))

        def test_shared():
            shared = [1]
            first = serial(shared, slot("shared"))
            for _ in range(3):
                own, ready, go = [], threading.Event(), threading.Event()
                thread = threading.Thread(target=worker, args=(shared, own, ready, go))
                thread.start()
                ready.wait()
                assert serial(shared, slot("shared")) == first
                go.set()
                thread.join()
                assert own == [first, first]
                assert serial(shared, slot("shared")) == first

        def alone(serials):
            x = [1]
            serials.append(serial(x, slot("x")))

        def test_dead_threads():
            serials = []
            for _ in range(100):
                thread = threading.Thread(target=alone, args=(serials,))
                thread.start()
                thread.join()
            assert len(set(serials)) == 100

        def test_many():
            def work(serials):
                for number in range(300):
                    x = [number]
                    serials.append(serial(x, slot("x")))
            serials = []
            threads = [threading.Thread(target=work, args=(serials,)) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert len(set(serials)) == 2400
        """
    )


def test_generators(program):
    program(
        """
        def produce():
            x = [1]
            first = serial(x, slot("x"))
            yield first
            assert serial(x, slot("x")) == first
            yield first

        def test_resumed():
            generator = produce()
            assert next(generator) == next(generator)

        def other():
            y = [3]
            serial(y, slot("y"))

        def deeper(generator):
            return next(generator)

        def test_resumed_elsewhere():
            generator = produce()
            first = next(generator)
            other()
            assert deeper(generator) == first

        def test_closed():
            for _ in range(20):
                generator = produce()
                next(generator)
                generator.close()
                x = [2]
                serial(x, slot("x"))
        """
    )


STRESS = """
import functools, random, itertools
numbers = itertools.count()
class Thing:
    def __init__(self): self.uid = next(numbers)
class Slotted:
    __slots__ = ("uid", "a", "b")
    def __init__(self): self.uid = next(numbers)
def fresh():
    if UNSEEN and rng.random() < .7: return functools.partial(int, next(numbers))
    k = rng.randrange(4)
    if k == 0: return [next(numbers)]
    if k == 1: return {"uid": next(numbers)}
    if k == 2: return Thing()
    return Slotted()
def uid(o):
    if type(o) is list: return o[0]
    if type(o) is functools.partial: return o.args[0]
    if type(o) is dict: return o["uid"]
    return o.uid
owner_of = {}  # serial: the one object that has it
serials_of = {}
def check(value, found):
    if isinstance(found, Ref):
        u = uid(value)
        assert owner_of.setdefault(found.serial, u) == u, ("CONFUSED", found, value)
        serials_of.setdefault(u, set()).add(found.serial)
def see(value, holder):
    if value is None or type(value) is int:
        told(value, None, holder); return
    check(value, told(value, None, holder))
def pick(*values):
    values = [v for v in values if v is not None and type(v) is not int]
    return rng.choice(values) if values else fresh()
G1 = None; G2 = None
def step(depth, p, q):
    global G1, G2
    a = b = c = None
    see(p, slot("p")); see(q, slot("q"))
    for _ in range(rng.randrange(12)):
        k = rng.randrange(16)
        if k == 0: a = fresh(); see(a, slot("a"))
        elif k == 1: b = fresh(); see(b, slot("b"))
        elif k == 2: a = b = fresh(); see(a, slot("a")); see(b, slot("b"))
        elif k == 3: a = None; see(a, slot("a"))
        elif k == 4: b = 5; see(b, slot("b"))
        elif k == 5: c = pick(a, b, p, q, G1, G2); see(c, slot("c"))
        elif k == 6: G1 = pick(a, b, c, p); see(G1, namespace(globals(), "G1"))
        elif k == 7: G1 = None; see(G1, namespace(globals(), "G1"))
        elif k == 8: G2 = fresh(); see(G2, namespace(globals(), "G2"))
        elif k == 9:
            o = pick(a, b, c, p, q)
            if type(o) in (Thing, Slotted):
                check(o, decode(capture("owner", o, None)))
                o.a = rng.choice([None, fresh(), pick(a, b, G1)])
                see(o.a, attribute(o, "a")); capture("told", o)
            o = None; see(o, slot("o"))
        elif k == 10:
            o = pick(a, b, c, p, q)
            see(o, slot("o"))
            if type(o) in (Thing, Slotted) and getattr(o, "a", None) is not None:
                c = o.a; see(c, slot("c"))
            o = None; see(o, slot("o"))
        elif k == 11:
            o = pick(a, b, c, p, q); see(o, slot("o"))
            if type(o) is list and len(o) < 6:
                o.append(rng.choice([1, fresh(), pick(a, b, c)]))
                r = capture("changed", o, slot("o"))
                if r: check(o, decode(r[0]))
            o = None; see(o, slot("o"))
        elif k == 12:
            o = pick(a, b, c, p, q); see(o, slot("o"))
            if type(o) is list and len(o) > 1:
                if rng.random() < .5: c = o[-1]; see(c, slot("c"))
                else:
                    o.pop(); r = capture("changed", o, slot("o"))
                    if r: check(o, decode(r[0]))
            o = None; see(o, slot("o"))
        elif k == 13 and depth < 6:
            a = step(depth + 1, pick(a, b, c), rng.choice([fresh(), b]))
            see(a, slot("a", True))
        elif k == 14:
            del a
            capture("value", None, None, slot("a"))
            a = None
            see(a, slot("a"))
        elif k == 15:
            o = fresh(); see(o, slot("o"))
            if type(o) is dict:
                o["k"] = fresh(); r = capture("changed", o, slot("o")); check(o, decode(r[0])) if r else 0
                c = o["k"]; see(c, slot("c"))
            o = None; see(o, slot("o"))
    result = rng.choice([a, b, c, p, G1])
    see(result, None)
    capture("returned", result)
    return result
def main():
    x = y = None
    for _ in range(40):
        x = step(0, pick(x, y), y); see(x, slot("x", True))
        if rng.random() < .3: y = x; see(y, slot("y"))
        if rng.random() < .3: y = None; see(y, slot("y"))

def test_never_confused():
    global rng
    for seed in range(SEEDS):
        rng = random.Random(seed)
        main()
    split = sum(len(serials) > 1 for serials in serials_of.values())
    assert len(serials_of) > 100 * SEEDS
    assert split <= len(serials_of) / 20 * UNSEEN, (split, len(serials_of))
"""


@pytest.mark.parametrize("unseen", [False, True])
def test_serials_of_random_programs(program, unseen):
    """Variables, attributes, items, globals, calls: no serial is ever given twice; also
    where the deaths of objects are not seen (objects.h)."""
    program(f"SEEDS = 300\nUNSEEN = {unseen}\n" + STRESS)
