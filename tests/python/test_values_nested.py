"""Level values: containers within others, and those that no variable leads to."""

from __future__ import annotations

import functools

import pytest

from stories import record_story


@pytest.fixture
def tell(runner):
    return functools.partial(record_story, runner)


def changes(told):
    return [line.partition("change ")[2] for line in told if ": change " in line]


def test_the_object_that_changed_is_told(tell):
    told = tell(
        """
        def main():
            graph = {"a": [], "b": [], "c": []}
            graph["a"].append(1)
            graph["a"].append(2); graph["b"].append(3)
            deep = [[[1]], [[2]]]
            deep[1][0].append(4)
            twice = [deep] * 3
            twice[2][0].extend([5, 6])
            graph.setdefault("d", []).append(7)
            return 0
        """
    )
    assert changes(told) == [
        "0 [1]",
        "1 [1, 2]",
        "0 [3]",
        "1 [2, 4]",
        "1 [[1], 5, 6]",
        "3 {'a': [1, 2], 'b': [3], 'c': [], 'd': []}",
        "0 [7]",
    ]


def test_what_untold_code_changes_within(tell):
    """One that is no target: a few are told by themselves, many by what holds them."""
    told = tell(
        """
        text = "def change(rows, count):\\n    for row in rows[:count]: row.append(9)"
        exec(compile(text, "elsewhere", "exec"))
        def main():
            rows = [[n] for n in range(6)]
            change(rows, 2)
            change(rows, 6)
            change(rows, 0)
        """,
        options=("--target", "program.py"),
    )
    assert changes(told) == [
        "1 [0, 9]",
        "1 [1, 9]",
        "6 [[0, 9, 9], [1, 9, 9], [2, 9], [3, 9], [4, 9], [5, 9]]",
    ]


MANY = """
def main():
    rows = [[n] for n in range({rows})]
    rows[35][0] = 9
    rows[0] = rows[0]
    rows[36][0] = 9
    rows.extend([])
    rows[37].append(1)
    rows.extend([])
    grown = []
    for n in range({rows}):
        grown.append([n])
    grown[35][0] = 9
    grown.extend([])
    table = {{n: [n] for n in range({rows})}}
    table[35][0] = 9
    table.update()
    table[36].append(2)
    table.update()
    kept = tuple([n] for n in range({rows}))
    kept[35].append(3)
    kept[35].extend([])
    rows.append(kept)
    kept[36][0] = 4
    rows.extend([])
main()
"""


@pytest.mark.parametrize("rows", [40, 100, 700])
@pytest.mark.parametrize("items", ["32", "2"])
def test_what_no_record_shows(runner, dump, rows, items):
    """More containers than are shown: a store to one that lies beyond is no change of
    the others, nor of what holds them. Where there are too many to be looked at it is
    said that one may have been."""
    result = runner.record(
        MANY.format(rows=rows), options=["--level", "values", "--items", items]
    )
    lines = MANY.splitlines()
    told = [e for e in dump(result.film) if e["kind"] == "change"]
    grown = [e for e in told if "grown.append" in lines[e["line"] - 1]]
    assert len(grown) == rows and not any(e.get("cut") for e in grown)
    sure = [e for e in told if e not in grown and not e.get("cut")]
    assert [(lines[e["line"] - 1].strip(), e["length_before"]) for e in sure] == [
        ("rows[37].append(1)", 1),
        ("table[36].append(2)", 1),
        ("kept[35].append(3)", 1),
        ("rows.append(kept)", rows),
    ]
    assert rows > 100 or len(told) == len(grown) + len(sure)


UNNAMED = """
    objs[0].items.append(1)
    d["k"].items.append(2)
    same(o).items.append(3)
    same(o.items).append(4)
    (o or None).items.append(5)
    t[0].items.append(6)
    t[1].append(7)
    t[2]["a"].append(8)
    objs[0].next.next.items.append(9)
    next(iter(objs)).items.insert(0, 10)
    heapq.heappush(objs[0].items, 0)
    insort(d["k"].items, 11)
    random.Random(1).shuffle(objs[0].items)
    objs[0].items[1:] = [12]
    del d["k"].items[:1]
    objs[0].items.sort(key=lambda n: -n)
    o.items.append(t[1].pop())
""".strip()


def test_what_no_name_leads_to(tell):
    """Each line's change is told with that line."""
    told = tell(
        f"""
        import heapq, random
        from bisect import insort
        class O:
            def __init__(self): self.items = []; self.next = self
        def same(value): return value
        def main():
            o = O(); objs = [o]; d = {{"k": o}}; t = (o, [], {{"a": []}})
            {UNNAMED.replace(chr(10), chr(10) + " " * 8)}
            return 0
        """
    )
    found = changes(told)
    assert found[:10] == [
        "0 [1]",
        "1 [1, 2]",
        "2 [1, 2, 3]",
        "3 [1, 2, 3, 4]",
        "4 [1, 2, 3, 4, 5]",
        "5 [1, 2, 3, 4, 5, 6]",
        "0 [7]",
        "0 [8]",
        "6 [1, 2, 3, 4, 5, 6, 9]",
        "7 [10, 1, 2, 3, 4, 5, 6, 9]",
    ]
    assert [int(line.split()[0]) for line in found[10:]] == [8, 9, 10, 10, 2, 1, 1]
    assert found[-2:] == ["1 []", "1 [12, 7]"]


def test_a_call_that_raises_may_have_changed_it(tell):
    told = tell(
        """
        class O:
            def __init__(self): self.items = []
        def numbers():
            yield 1
            yield 2
            raise KeyError
        def main():
            objs = [O()]
            try: objs[0].items.extend(numbers())
            except KeyError: pass
            try: objs[0].items.remove(5)
            except ValueError: pass
        """
    )
    assert changes(told) == ["0 [1, 2]"]


def test_methods_of_the_program_are_no_changes(tell):
    """append of a class of its own: its lines tell what it does."""
    told = tell(
        """
        class Log:
            def __init__(self): self.count = 0
            def append(self, n): self.count += n
        def main():
            logs = [Log()]
            logs[0].append(3)
            logs[-1].append(4)
        """
    )
    assert changes(told) == []
    assert told.count("Log.append: Log.count = 7") == 1


def test_what_is_dead_when_the_line_ends(tell):
    told = tell(
        """
        def make(n): return [n]
        def main():
            make(1).append(2)
            n = sorted(make(3)).pop()
            [make(4)].append(5)
            make(6).append(make(7).append(8))
            return 0
        """
    )
    assert not changes(told)
    assert "main: n = 3" in told


def test_loops_within_a_line(tell):
    told = tell(
        """
        class O:
            def __init__(self): self.items = []
        def main():
            objs = [O(), O()]
            for x in objs: x.items.append(1)
            [x.items.append(2) for x in objs]
            rows = [[], []]
            for x, o in zip(rows, objs): x.append(3); o.items.append(4)
            {n: x.append(5) for n, x in enumerate(rows)}
            while len(rows[0]) < 4: rows[0].append(6)
        """
    )
    assert changes(told) == [
        *("0 [1]", "0 [1]", "1 [1, 2]", "1 [1, 2]"),
        *("0 [3]", "2 [1, 2, 4]", "0 [3]", "2 [1, 2, 4]"),
        *("1 [3, 5]", "1 [3, 5]", "2 [3, 5, 6]", "3 [3, 5, 6, 6]"),
    ]


def test_functions_given_by_keyword(tell):
    """Of a function that changes nothing by itself."""
    told = tell(
        """
        def main():
            seen = []; l = [3, 1]
            max(l, key=seen.append) if False else min(l, key=lambda n: seen.append(n) or n)
            best = max(l, key=lambda n: -n)
            try: max(l, key=seen.append)
            except TypeError: pass
            return best
        """
    )
    assert changes(told)[-1] == "2 [3, 1, 3, 1]"


def test_methods_kept_in_a_dict(tell):
    told = tell(
        """
        def main():
            seen = []; put = {"one": seen.append, "many": seen.extend}
            put["one"](1)
            put["many"]([2, 3])
            return 0
        """
    )
    assert changes(told) == ["0 [1]", "1 [1, 2, 3]"]


KEYS = """
class Key:
    def __init__(self, n): self.n = n
    def __hash__(self): return self.n
    def __eq__(self, other): return self is other
class O:
    def __init__(self): self.d = {}
def main():
    objs = [O()]
    objs[0].d[Key(1)] = 1; objs[0].d.update(x=2)
    objs[0].d[Key(1)] = 3
    objs[0].d.pop("x")
    d = objs[0].d
    d[Key(2)] = 4
    d.setdefault("y", 5)
"""


def test_changes_behind_a_store_whose_effect_is_not_known(tell):
    """A key of the program's own: whether the dict has it, only its __eq__ knows."""
    lengths = [line.split()[0] for line in changes(tell(KEYS))]
    assert lengths == ["1", "3", "3"]
