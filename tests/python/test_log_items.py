"""`log`: the old value of items, of variables that functions share, and of containers that
were written to within."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree

from conftest import run_program

PROGRAM = """
def main():
    numbers = [1, 2, 3]
    numbers[0] = 10
    numbers[-3] = 11
    numbers[2] = numbers[2]
    numbers.sort()
    numbers[0] = 5
    numbers.append(4)
    numbers[-1] = 6
    table = {"one": 1, True: "yes", (1, "a"): [1], "a long key, longer than sixteen": 0}
    table["one"] = 2
    table["one"] = 3
    table[1] = "no"
    table[1, "a"] = None
    table["a long key, longer than sixteen"] = 7
    table["new"] = 8
    del table["one"]
    table["one"] = 4
    same = table
    same["one"] = 5
    raw = bytearray(b"abc")
    raw[1] = 120
    raw[-1] = 121
    rows = [[0], [1]]
    rows[0][0] = 9
    rows[0][0] = 8
    deep = {"a": {"b": [1, 2]}}
    deep["a"]["b"][1] = 3
    deep["a"]["b"] = 4
    rows[0] = []
    many = list(range(100))
    many[50] = -1
    many[50] = -2

main()
"""


def test_old_values_of_items(runner):
    result = runner.record(PROGRAM, options=["--level", "values"])
    told = re.sub(r" #\d+>", ">", run_program("log", result.film).stdout)
    lines = [line.split(None, 2)[2] for line in told.splitlines()]
    written = [line for line in lines if re.match(r"(upd|del) (\w+\[|\w+ <)", line)]
    assert written == [
        "upd numbers[0] 1 -> 10",
        "upd numbers[-3] 10 -> 11",
        "upd numbers[2] 3 -> 3",
        "upd numbers <list> -> [2, 3, 11]",
        "upd numbers[0] 2 -> 5",
        "upd numbers[-1] 4 -> 6",
        "upd table['one'] 1 -> 2",
        "upd table['one'] 2 -> 3",
        "upd table[1] 'yes' -> 'no'",
        "upd table[(1, 'a')] [1] -> None",
        "upd table['a long key, longer than sixteen'] 0 -> 7",
        "upd table['new'] -> 8",
        "del table['one'] 3",
        "upd table['one'] -> 4",
        "upd same['one'] 4 -> 5",
        "upd raw[1] 98 -> 120",
        "upd raw[-1] 99 -> 121",
        "upd rows[0][0] 0 -> 9",
        "upd rows[0][0] 9 -> 8",
        "upd deep['a']['b'][1] 2 -> 3",
        "upd deep['a']['b'] <list> -> 4",
        "upd rows[0] <list> -> []",
        "upd many[50] -> -1",
        "upd many[50] -1 -> -2",
    ]


def test_xml_tells_the_ends_of_calls_that_began_before(runner):
    result = runner.record(
        """
        def inner():
            return 1
        def outer():
            inner()
            inner()
        outer()
        """
    )
    words = ("log", result.film, "--format", "xml", "--events")
    whole = ElementTree.fromstring(run_program(*words, "0:").stdout)
    outer = next(c for c in whole.iter("call") if c.get("function").endswith(".outer"))
    first = int(outer.get("event")) + 1
    part = ElementTree.fromstring(run_program(*words, f"{first}:").stdout)
    told = [(item.tag, item.get("function")) for item in part.find("thread")]
    assert told == [
        ("call", "__main__.inner"),
        ("call", "__main__.inner"),
        ("return", None),
        ("return", None),
    ]
    ends = [int(item.get("event")) for item in part.iter("return")]
    assert ends == sorted(int(item.get("event")) for item in whole.iter("return"))


def test_files_of_installed_packages_are_short(runner):
    runner.write("def f():\n    return 1\n", "env/lib/site-packages/pack/part.py")
    runner.write("", "env/lib/site-packages/pack/__init__.py")
    result = runner.record(
        "import sys\nsys.path.insert(0, sys.argv[1])\nimport pack.part\npack.part.f()\n",
        str(runner.folder / "env/lib/site-packages"),
        options=["--target", "pack"],
    )
    told = run_program("log", result.film).stdout
    assert "run pack.part.f  pack/part.py:1\n" in told


def test_old_values_within_containers(runner):
    result = runner.record(
        """
        def change(part):
            part[0] = 7

        def main():
            rows = [[0], [1]]
            rows[0][0] = 9
            rows[0][0] = 8
            change(rows[1])
            rows.reverse()
            rows[0][0] = 6
            deep = {"a": {"b": [1, 2]}}
            deep["a"]["b"][1] = 3
            deep["a"]["b"] = 4

        main()
        """,
        options=["--level", "values"],
    )
    told = re.sub(r" #\d+>", ">", run_program("log", result.film).stdout)
    lines = [line.split(None, 2)[2] for line in told.splitlines()]
    assert [line for line in lines if re.match(r"upd \w+\[", line)] == [
        "upd rows[0][0] 0 -> 9",
        "upd rows[0][0] 9 -> 8",
        "upd part[0] 1 -> 7",
        "upd rows[0][0] 7 -> 6",
        "upd deep['a']['b'][1] 2 -> 3",
        "upd deep['a']['b'] <list> -> 4",
    ]


def test_a_variable_is_chosen_with_its_items(runner):
    """`--variable counts`: also `counts[k] = v`, an item of the object it holds."""
    result = runner.record(
        """
        class Shop:
            pass

        def main():
            counts = {"a": 1}
            others = {"a": 1}
            counts["a"] = 2
            others["a"] = 3
            counts["b[1]"] = 4
            del counts["a"]
            counts.clear()
            shop = Shop()
            shop.counts = counts
            shop.counts["c"] = 5

        main()
        """,
        options=["--level", "values"],
    )
    told = run_program("log", result.film, "--variable", "counts").stdout
    lines = [line.split(None, 2)[2] for line in told.splitlines()]
    assert lines == [
        "upd counts -> {'a': 1}",
        "upd counts['a'] 1 -> 2",
        "upd counts['b[1]'] -> 4",
        "del counts['a'] 2",
        "pop counts (dict)(len)1 -> 0  {}",
        "upd shop.counts -> {}",
        "upd counts['c'] -> 5",
    ]


BARE_NAMES = """
class Cart:
    def __init__(self):
        self.items = []
        self.rows = {"a": [1]}

    def fill(self):
        self.items.append("apple")
        self.items += ["pear"]
        self.items[0] = "plum"
        self.items.pop()
        self.rows["a"].append(2)
        self.rows["b"] = 3

def main():
    cart = Cart()
    cart.fill()
    cart.items.append("fig")
    items = [1]
    items.append(2)
    del items

main()
"""


def test_the_bare_name_of_an_attribute_chooses_its_changes(runner):
    """`--variable items`: what `--variable self.items` shows, too."""
    result = runner.record(BARE_NAMES, options=["--level", "values"])

    def chosen(*options):
        told = run_program("log", result.film, *options).stdout
        return [line.split(None, 2)[2] for line in told.splitlines()]

    changes = [
        "apd self.items (list)(len)0 -> 1  ['apple']",
        "upd self.items ['apple'] -> ['apple', 'pear']",
        "upd self.items[0] 'apple' -> 'plum'",
        "pop self.items (list)(len)2 -> 1  ['plum']",
    ]
    assert chosen("-v", "self.items") == ["upd self.items -> []", *changes]
    assert chosen("-v", "items") == [
        "upd self.items -> []",
        *changes,
        "apd cart.items (list)(len)1 -> 2  ['plum', 'fig']",
        "upd items -> [1]",
        "apd items (list)(len)1 -> 2  [1, 2]",
        "del items [1, 2]",
    ]
    rows = [
        "upd self.rows -> {'a': [1]}",
        "apd self.rows['a'] (list)(len)1 -> 2  [1, 2]",
        "upd self.rows['b'] -> 3",
    ]
    assert chosen("-v", "rows") == chosen("-v", "self.rows") == rows
    events = [event for event in map(json.loads, json_lines(result, "items"))]
    assert [event["kind"] for event in events] == [
        *("set", "change", "set", "set", "change", "change", "set", "change", "delete")
    ]
    told = run_program("log", result.film, "-v", "items", "--format", "xml").stdout
    tree = ElementTree.fromstring(told.encode())
    writes = [*tree.iter("set"), *tree.iter("change"), *tree.iter("delete")]
    assert len(writes) == len(events)


def json_lines(result, variable):
    command = ("log", result.film, "-v", variable, "--format", "json")
    return run_program(*command).stdout.splitlines()


SHARED = """
import threading

def outer(base):
    total = 0
    seen = None
    def add(amount):
        nonlocal total, base, seen
        total += amount
        base += 1
        seen = [amount]
    add(1)
    total = 10
    thread = threading.Thread(target=add, args=(5,))
    thread.start()
    thread.join()
    del seen
    return add

outer(7)(4)
"""


def test_old_values_of_shared_variables(runner):
    result = runner.record(SHARED, options=["--level", "values"])
    told = run_program("log", result.film).stdout
    written = re.findall(r"(?:upd|del) (?:total|base|seen).*", told)
    assert written == [
        *("upd total -> 0", "upd seen -> None"),
        *("upd total 0 -> 1", "upd base 7 -> 8", "upd seen None -> [1]"),
        "upd total 1 -> 10",
        *("upd total 10 -> 15", "upd base 8 -> 9", "upd seen [1] -> [5]"),
        "del seen [5]",
        *("upd total 15 -> 19", "upd base 9 -> 10", "upd seen -> [4]"),
    ]


WITHIN = """
def main():
    k = 5
    rows = [[0], [1]]
    rows[0][0] = 9
    rows[0] = []
    deep = {"a": {"b": [1, 2]}}
    deep["a"]["b"][1] = 3
    deep["a"] = 5
    squares = [k * k for k in range(2)]
    k = 6
    return rows

main()
"""


def test_a_value_that_was_written_to_within_is_not_shown_as_it_was(runner):
    result = runner.record(WITHIN, options=["--level", "values"])
    told = re.sub(r" #\d+>", ">", run_program("log", result.film).stdout)
    lines = [line.split(None, 2)[2] for line in told.splitlines()]
    written = [line for line in lines if re.match(r"upd [a-z<]", line)]
    assert [line for line in written if not line.startswith("upd k")] == [
        "upd main -> <function main>",
        "upd rows -> [[0], [1]]",
        "upd rows[0][0] 0 -> 9",
        "upd rows[0] <list> -> []",
        "upd deep -> {'a': {'b': [1, 2]}}",
        "upd deep['a']['b'][1] 2 -> 3",
        "upd deep['a'] <dict> -> 5",
        "upd squares -> [0, 1]",
    ]
    assert written[-1] == "upd k 5 -> 6"  # what the comprehension hid is there again


NAMES = """
class Node:
    def __init__(self): self.items = []; self.rows = {}

def main():
    graph = {"a": [], "b": []}
    graph["a"].append(1)
    graph["c"] = []
    graph["c"].append(2)
    rows = [[1], [2]]
    rows[0][0] = 3
    rows.insert(0, [0])
    rows[1].append(4)
    rows[0], rows[2] = rows[2], rows[0]
    rows[0].append(5)
    deep = ([[6]],)
    deep[0][0].append(7)
    nodes = [Node()]
    nodes[0].items.append(8)
    nodes[0].rows["x"] = []
    nodes[0].rows["x"].append(9)
    gone = rows.pop()
    gone.append(10)
    grow(graph["b"])

def grow(part):
    part.append(11)

main()
"""


def test_names_of_what_lies_in_containers(runner):
    result = runner.record(NAMES, options=["--level", "values"])
    told = run_program("log", result.film).stdout
    lines = [line.split(None, 2)[2] for line in told.splitlines()]
    named = [re.sub(r" \(list\)\(len\)", " ", line) for line in lines]
    changes = [line for line in named if re.match("apd|pop|upd .*]$", line)]
    changed = [line.split(" ", 2)[1] for line in changes if line.startswith("apd")]
    assert changed == [
        *("graph['a']", "graph['c']", "rows", "rows[1]", "rows[0]", "deep[0][0]"),
        *("nodes[0].items", "nodes[0].rows['x']", "gone", "part"),
    ]
    assert "upd rows[0][0] 1 -> 3" in named


def test_changes_within_are_of_the_variable(runner):
    result = runner.record(NAMES, options=["--level", "values"])
    told = run_program("log", result.film, "--variable", "graph").stdout
    found = [line.split(None, 2)[2] for line in told.splitlines()]
    assert [line.split()[:2] for line in found] == [
        ["upd", "graph"],
        ["apd", "graph['a']"],
        ["upd", "graph['c']"],
        ["apd", "graph['c']"],
    ]


SHARED_NAMES = """
def main():
    graph = {"a": []}
    names = []
    def inner(x):
        names.append(x)
        graph["a"].append(x)
        graph[x] = x
    def renew():
        nonlocal names
        names = [7]
    names.append(0)
    inner(1)
    renew()
    names.append(8)
    inner(2)
    class Box:
        pass
    box = Box()
    box.size = 1
    return lambda: box

main()
"""


def test_names_of_what_functions_share(runner):
    """Variables that inner functions use too: in the one that makes them and in those."""
    result = runner.record(SHARED_NAMES, options=["--level", "values"])
    told = run_program("log", result.film).stdout
    lines = [line.split(None, 2)[2] for line in told.splitlines()]
    named = [line.split()[1] for line in lines if re.match(r"apd|upd.*[.\]] ?", line)]
    assert [name for name in named if not name.isidentifier() or name == "names"] == [
        *("names", "names", "names", "graph['a']", "graph[1]", "names", "names"),
        *("names", "graph['a']", "graph[2]", "box.size"),
    ]
    assert "<list" not in told and "<dict" not in told


CHANGED_BY_OTHERS = """
exec(compile('''
def flip(net):
    net.mode = "eval"
    net.extra = 1
    net.parts["one"] = 1
def drop(net):
    del net.extra
''', "/nowhere/helper.py", "exec"))
class Net:
    def __init__(self):
        self.mode = "new"
        self.size = 0
        self.parts = {}
def main():
    net = Net()
    net.mode = "train"
    flip(net)
    net.mode = "test"
    net.size = 1
    drop(net)
    net.extra = 2
    del net.mode
    net.mode = "last"

main()
"""


def log_without_helper(runner, program):
    """The recording, and its log without serials; helper.py is not recorded."""
    result = runner.record(
        program, options=["--level", "values", "--exclude", "/nowhere/helper.py"]
    )
    return result.film, re.sub(r" #\d+>", ">", run_program("log", result.film).stdout)


def test_attributes_that_other_code_changed(runner):
    """A change of an object tells which; values before are those of then."""
    film, told = log_without_helper(runner, CHANGED_BY_OTHERS)
    lines = [line.split(None, 2)[2] for line in told.splitlines()]
    assert [line for line in lines if re.match(r"(upd|del) net\b", line)] == [
        "upd net -> <Net>",
        "upd net.mode 'new' -> 'train'",
        "upd net <Net>  mode 'train' -> 'eval', parts {} -> {'one': 1}, extra -> 1",
        "upd net.mode 'eval' -> 'test'",
        "upd net.size 0 -> 1",
        "upd net <Net>  del extra",
        "upd net.extra -> 2",
        "del net.mode 'test'",
        "upd net.mode -> 'last'",
    ]
    for pattern in ("extra", "net.extra"):
        told = run_program("log", film, "--variable", pattern).stdout
        assert [line.split()[2:4] for line in told.splitlines()] == [
            ["upd", "net"],
            ["upd", "net"],
            ["upd", "net.extra"],
        ]


MADE_BY_OTHERS = """
exec(compile('''
class Net:
    def __init__(self):
        self.mode, self.size = "new", 1
    def flip(self):
        self.mode = "eval"
''', "/nowhere/helper.py", "exec"))
def main():
    net = Net()
    net.flip()

main()
"""


def test_the_first_change_of_an_object_that_other_code_made(runner):
    """What it held when it was first seen is what it held before."""
    film, told = log_without_helper(runner, MADE_BY_OTHERS)
    assert "upd net <Net>  mode 'new' -> 'eval'\n" in told
    assert run_program("log", film, "--variable", "size").stdout == ""


OF_CLASSES = """
import sys

class Kind:
    count = 0

    @classmethod
    def make(cls):
        cls.count += 1
        cls.count += 1
        return cls()

    def bump(self):
        type(self).count += 1
        self.size = 1
        self.size += 1

limit = 0

def main():
    global limit
    kind = Kind.make()
    kind.bump()
    Kind.count = 9
    del Kind.count
    Kind.count = 10
    main.calls = 1
    main.calls += 1
    here = sys.modules[__name__]
    limit = 1
    here.limit += 1
    limit += 1
    here.other = 1

main()
"""


def test_old_values_of_attributes_of_classes_and_modules(runner):
    """What is not known is not claimed; what the module's code wrote is known."""
    result = runner.record(OF_CLASSES, options=["--level", "values"])
    told = run_program("log", result.film).stdout
    lines = [line.split(None, 2)[2] for line in told.splitlines()]
    words = ("count", "calls", "limit", "size", "other")
    of = "(" + "|".join(words) + ")"
    assert [line for line in lines if re.match(rf"(upd|del) \S*{of} ", line)] == [
        "upd count -> 0",
        "upd limit -> 0",
        "upd cls.count -> 1",
        "upd cls.count 1 -> 2",
        "upd Kind.count 2 -> 3",
        "upd self.size -> 1",
        "upd self.size 1 -> 2",
        "upd Kind.count 3 -> 9",
        "del Kind.count 9",
        "upd Kind.count -> 10",
        "upd main.calls -> 1",
        "upd main.calls 1 -> 2",
        "upd limit 0 -> 1",
        "upd here.limit 1 -> 2",
        "upd limit 2 -> 3",
        "upd here.other -> 1",
    ]
    told = run_program("log", result.film, "--objwatch").stdout
    lines = [line.split(None, 1)[1] for line in told.splitlines() if "upd" in line]
    assert [line for line in lines if re.match(rf"upd \S*{of} ", line)] == [
        "upd _.count None -> 0",
        "upd @.limit None -> 0",
        "upd Kind.count <not recorded> -> 1",
        "upd Kind.count 1 -> 2",
        "upd Kind.count 2 -> 3",
        "upd Kind.size None -> 1",
        "upd Kind.size 1 -> 2",
        "upd Kind.count 3 -> 9",
        "upd Kind.count None -> 10",
        "upd main.calls <not recorded> -> 1",
        "upd main.calls 1 -> 2",
        "upd @.limit 0 -> 1",
        "upd __main__.limit 1 -> 2",
        "upd @.limit 2 -> 3",
        "upd __main__.other <not recorded> -> 1",
    ]
