"""The planner: what _recorder._plan() says of each form of statement, and that it says
of the standard library what the reference in proof/plan_reference.py says."""

from __future__ import annotations

import dis
import importlib.util
import sys
import textwrap
import time
from collections.abc import Iterator
from types import CodeType
from typing import Any

import pytest

from filmstrip import _recorder
from proof import plan_instructions
from proof import plan_reference as reference

NEW = sys.version_info >= (3, 12)
IN_CELL = 0x8000
Region = dict[str, Any]
Write = dict[str, Any]


def codes_in(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


def code_of(source: str, name: str | None = None) -> CodeType:
    """The code of the function `name`; without a name that of the whole source."""
    module = compile(textwrap.dedent(source), "planned.py", "exec")
    return next(c for c in codes_in(module) if name is None or c.co_name == name)


def function(body: str, parameters: str = "a, b, o") -> CodeType:
    lines = textwrap.indent(textwrap.dedent(body), "    ")
    return code_of(f"def f({parameters}):\n{lines}\n", "f")


def planned(code: CodeType) -> dict[str, Any]:
    plan = _recorder._plan(code)
    assert plan is not None
    return plan


def slot_names(code: CodeType) -> list[str]:
    cells = [name for name in code.co_cellvars if name not in code.co_varnames]
    return [*code.co_varnames, *cells, *code.co_freevars]


def describe(code: CodeType, write: Write) -> str:
    """'fast x', 'attribute o.x', 'stack item', ..."""
    names = slot_names(code)
    kind, name = write["kind"], write["name"]
    if kind == "stack fast":
        return f"{kind} {names[write['target']]}"
    if kind.startswith("stack"):
        return kind if name is None else f"{kind} {name}"
    if name is None:
        return f"{kind} {names[write['slot']]}"
    return (
        f"{kind} {names[write['slot']]}.{name}"
        if kind.endswith("attribute")
        else f"{kind} {name}"
    )


def all_writes(code: CodeType) -> list[Write]:
    """Every write of the plan once, in the order of the instructions."""
    found = {}
    for region in planned(code)["regions"]:
        if region["before"]:
            found[region["before"]["place"], -1] = region["before"]
        for _, _, _, writes in (*region["stops"], *region["inner"]):
            for write in writes:
                found[write["place"], write["slot"]] = write
    return [found[key] for key in sorted(found)]


def visible(code: CodeType) -> list[str]:
    return [describe(code, w) for w in all_writes(code) if not w["hidden"]]


def hidden(code: CodeType) -> list[str]:
    return [describe(code, w) for w in all_writes(code) if w["hidden"]]


def points(code: CodeType) -> list[str]:
    """What lies at the points: the names of the instructions."""
    at = {i.offset: i for i in dis.get_instructions(code)}
    return [
        at[region["place"] * 2].opname
        for region in planned(code)["regions"]
        if region["point"]
    ]


def touches(code: CodeType) -> set[str]:
    names = slot_names(code)
    found = set()
    for region in planned(code)["regions"]:
        for base, variable, *steps in region["touches"]:
            first = names[variable] if isinstance(variable, int) else variable
            found.add(f"{base} {'.'.join([first, *steps])}")
    return found


FORMS = [
    ("x = a", ["fast x"]),
    ("x = y = a", ["fast x", "fast y"]),
    ("x += a", ["fast x"]),
    ("x: int = a", ["fast x"]),
    ("[x, y] = a", ["fast x", "fast y"]),
    ("x, *y = a", ["fast x", "fast y"]),
    ("(x, y), z = a", ["fast x", "fast y", "fast z"]),
    ("print(x := a)", ["fast x"]),
    ("for x in a:\n    b()", ["fast x"]),
    ("for x, y in a:\n    b()", ["fast x", "fast y"]),
    ("with a as x:\n    b()", ["fast x"]),
    ("with a as x, b as y:\n    b()", ["fast x", "fast y"]),
    ("import x", ["fast x"]),
    ("import x.y as z", ["fast z"]),
    ("from x import y, z", ["fast y", "fast z"]),
    ("def x(): pass", ["fast x"]),
    ("class x: pass", ["fast x"]),
    ("x = lambda: 1", ["fast x"]),
    ("del a", ["delete fast a"]),
    ("global g\ng = a", ["global g"]),
    ("global g\ng += a", ["global g"]),
    ("global g\ndel g", ["delete global g"]),
    ("o.x = a", ["attribute o.x"]),
    ("o.x = o.y = a", ["attribute o.x", "attribute o.y"]),
    ("o.x += a", ["attribute o.x"]),
    ("o.x, o.y = a", ["attribute o.x", "attribute o.y"]),
    ("for o.x in a:\n    b()", ["attribute o.x"]),
    ("with a as o.x:\n    b()", ["attribute o.x"]),
    ("del o.x", ["delete attribute o.x"]),
    ("o.p.x = a", ["stack attribute x"]),
    ("o.p.x += a", ["stack attribute x"]),
    ("o().x = a", ["stack attribute x"]),
    ("(a or o).x = b", ["stack attribute x"]),
    ("G.x = a", ["stack attribute x"]),
    ("del o.p.x", ["stack delete attribute x"]),
    ("o[a] = b", ["stack item"]),
    ("o[a] += b", ["stack item"]),
    ("o[a:b] = b", ["stack slice" if NEW else "stack item"]),
    ("o[a::2] = b", ["stack item"]),
    ("del o[a]", ["stack delete item"]),
    ("del o[a:b]", ["stack delete item"]),
    ("x, o[a] = b", ["fast x", "stack item"]),
    (
        "try:\n    a()\nexcept E as e:\n    b()",
        ["fast e", "fast e", "delete fast e"],
    ),
    ("match a:\n    case [x, y]:\n        b()", ["fast x", "fast y"]),
    ("match a:\n    case {'k': x, **y}:\n        b()", ["fast y", "fast x"]),
    ("match a:\n    case P(q=x) as y:\n        b()", ["fast x", "fast y"]),
    ("x = yield a", ["fast x"]),
    ("x = yield from a", ["fast x"]),
    ("a()", []),
    ("return a", []),
]


@pytest.mark.parametrize("body,expected", FORMS, ids=[body for body, _ in FORMS])
def test_forms(body: str, expected: list[str]) -> None:
    found = visible(function(body))
    if "as e" in body:
        # The cleanup is there twice: for the end of the block and for a raise in it.
        assert set(found) == {"fast e", "delete fast e"}
        assert found.count("delete fast e") == 2
        assert found.count("fast e") == 3
    elif body.startswith(("match", "with a as x, b")):
        assert set(found) == set(expected)
    else:
        assert found == expected


def test_cells() -> None:
    source = """
    def f(a, c):
        n = a
        def g():
            nonlocal n, c
            n += 1
            c.x = n
            del n
        n = 2
        c.y = a
        return g
    """
    inner, outer = code_of(source, "g"), code_of(source, "f")
    assert visible(inner) == ["cell n", "attribute c.x", "delete cell n"]
    assert visible(outer) == ["cell n", "fast g", "cell n", "attribute c.y"]
    owners = [w for w in all_writes(inner) + all_writes(outer) if w["name"]]
    assert [w["cell_owner"] for w in owners] == [True, True]


def test_an_augmented_attribute_of_a_cell_is_read_off_the_stack() -> None:
    # The call on the right could bind the cell anew before the store.
    source = """
    def f(c):
        c.x += h()
        return lambda: c
    """
    assert visible(code_of(source, "f")) == ["stack attribute x"]


def test_an_augmented_attribute_whose_owner_changes() -> None:
    assert visible(function("o.x += (o := a)")) == ["fast o", "stack attribute x"]


def test_module_and_class() -> None:
    module = code_of(
        "x = 1\ndel x\nclass C:\n    y = 2\n    def m(self): pass\nC.z = 3\n"
    )
    assert visible(module) == ["name x", "delete name x", "name C", "stack attribute z"]
    body = code_of("class C:\n    y = 2\n    def m(self): return super().m()\n", "C")
    assert visible(body) == ["name y", "name m"]
    assert {"name __module__", "name __qualname__", "name __classcell__"} <= set(
        hidden(body)
    )


def test_items_the_compiler_makes() -> None:
    body = code_of("class C:\n    x: int = 1\n    y: str\n", "C")
    assert visible(body) == ["name x"]
    assert points(body) == []
    assert not any("__annotations__" in touch for touch in touches(body))


def test_comprehension() -> None:
    code = function("x = [y for y in a]\nreturn x")
    if not NEW:
        inner = next(c for c in codes_in(code) if c.co_name == "<listcomp>")
        assert visible(code) == ["fast x"]
        assert visible(inner) == ["fast y"]
        assert planned(inner)["arguments"] == (0,)
        return
    assert visible(code) == ["fast y", "fast x"]
    # Behind the loop, and in its handler.
    assert hidden(code) == ["fast y", "fast y"]


@pytest.mark.skipif(not NEW, reason="comprehensions are functions")
@pytest.mark.parametrize(
    "body,shown,restored",
    [
        ("x = [(y, z) for y in a for z in y]", ["y", "z", "x"], ["y", "z"]),
        ("x = {y: {z for z in y} for y in a}", ["y", "z", "x"], ["z", "y"]),
        ("y = [y for y in a]", ["y", "y"], ["y"]),
        ("a = [a for a in a if a]", ["a", "a"], ["a"]),
    ],
)
def test_nested_comprehensions(
    body: str, shown: list[str], restored: list[str]
) -> None:
    code = function(body)
    assert visible(code) == [f"fast {name}" for name in shown]
    assert hidden(code)[: len(restored)] == [f"fast {name}" for name in restored]
    assert set(hidden(code)) == {f"fast {name}" for name in restored}


@pytest.mark.skipif(not NEW, reason="comprehensions are functions")
def test_comprehension_with_a_cell() -> None:
    code = function("x = [lambda: y for y in a]")
    assert visible(code) == ["cell y", "fast x"]
    assert set(hidden(code)) == {"fast y"}


def test_a_generator_hides_its_own_name() -> None:
    inner = next(
        c
        for c in codes_in(function("return (y for y in a)"))
        if c.co_name == "<genexpr>"
    )
    assert visible(inner) == ["fast y"]


ONE_LINERS = [
    ("x = 1\ny = 2", []),
    ("x = a; y = b", []),
    ("x = a; x = b", ["STORE_FAST"]),
    ("if a: x = 1\nreturn b", ["STORE_FAST"]),
    ("if a:\n    x = 1\nreturn b", []),
    ("for x in a:\n    b()", []),
    ("x = 1 if a else 2", []),
    # On 3.11 each time round is a line event.
    ("while a: x = b()", ["STORE_FAST"] if NEW else []),
    ("o.x = a; b.x = a", ["STORE_ATTR"]),
    ("o.x = a; b.y = a", []),
    ("o.x = a; o = b", ["STORE_FAST"]),
    ("x = a; del x", ["DELETE_FAST"]),
    ("x = 1; b()", []),  # nobody else writes a local
    ("x = a; b.get(x)", []),
    ("x = a; b()", ["CALL" if NEW else "PRECALL"]),  # but what it holds may be changed
    ("o.x = a; y = b", []),
    ("global g; g = a; g = b", ["STORE_GLOBAL"]),
    ("o[a] = b", ["STORE_SUBSCR"]),
    ("a.b.c = 1", ["STORE_ATTR"]),
]


@pytest.mark.parametrize("body,expected", ONE_LINERS, ids=[b for b, _ in ONE_LINERS])
def test_points(body: str, expected: list[str]) -> None:
    code = function(body)
    # The pair forms of 3.13 write the same.
    found = [name.removesuffix("_LOAD_FAST") for name in points(code)]
    assert found == expected


def test_a_point_before_code_that_could_overwrite() -> None:
    # An attribute, a global, a cell waits while others run: read before they do.
    call = "CALL" if NEW else "PRECALL"
    assert points(function("o.x = a; b()")) == [call]
    assert points(function("global g; g = a; b()")) == [call]
    assert points(function("import x; o.x = x; import y")) == ["IMPORT_NAME"]
    cell = "x = a; b()\nreturn lambda: x"
    assert points(function(cell)) == [call]


def test_extended_arguments() -> None:
    # Points lie at the EXTENDED_ARG: 3.11 has no event for what follows it.
    body = "\n".join(f"o.n{k} = a" for k in range(300)) + "\no.p.last = b"
    code = function(body)
    assert points(code) == ["EXTENDED_ARG"]
    region = next(r for r in planned(code)["regions"] if r["point"])
    assert region["before"]["place"] == region["place"] + 1
    assert visible(code)[-1] == "stack attribute last"
    assert visible(code)[299] == "attribute o.n299"


def test_the_stack_is_read_at_the_right_depth() -> None:
    # Two locals, then the items of the stack: value, owner, key.
    code = code_of("def f(a, b):\n    a[b] = 1\n", "f")
    (write,) = all_writes(code)
    assert write["slot"] == 2 + 3
    code = code_of("def f(a, b):\n    for x in b: a[x] = 1\n", "f")
    (write,) = [w for w in all_writes(code) if w["kind"] == "stack item"]
    assert write["slot"] == 3 + 1 + 3
    code = code_of("def f(a, b):\n    yield a\n    a.p.x = 1\n", "f")
    (write,) = all_writes(code)
    assert write["slot"] == 2 + 2


@pytest.mark.skipif(sys.version_info < (3, 13), reason="no such instruction")
def test_a_pair_of_one_variable() -> None:
    # The compiler leaves the first of two such stores out; others need not.
    code = function("x, y = a")
    at = next(
        i for i in dis.get_instructions(code) if i.opname == "STORE_FAST_STORE_FAST"
    )
    assert at.arg == 0x34
    plain = bytearray(code.co_code)
    plain[at.offset + 1] = 0x33
    code = code.replace(co_code=bytes(plain))
    assert visible(code) == ["stack fast x", "fast x"]
    assert points(code) == ["STORE_FAST_STORE_FAST"]


def call_of(code: CodeType, number: int = 0) -> int | None:
    """The name of the instruction at the call_place of the n-th write."""
    place = all_writes(code)[number]["call_place"]
    if place < 0:
        return None
    at = {i.offset: i for i in dis.get_instructions(code)}
    assert at[place * 2].opname in ("CALL", "CALL_KW", "CALL_FUNCTION_EX")
    return int(place)


@pytest.mark.parametrize(
    "body,calls",
    [
        ("x = b()", True),
        ("x = b(1, k=2)", True),
        ("x = b(*a)", True),
        ("o.x = b()", True),
        ("o[1] = b()", True),
        ("global g; g = b()", True),
        ("x = y = b()", True),
        ("x = b() + 1", False),
        ("x = a", False),
        pytest.param(  # from 3.12 on there are two stores
            "x = b() if a else 2", False, marks=pytest.mark.skipif(NEW, reason="two")
        ),
        ("x = b().y", False),
        ("o.x += b()", False),
        ("x = b() or a", False),
        ("o.x = a", False),
    ],
)
def test_call_place(body: str, calls: bool) -> None:
    assert (call_of(function(body)) is not None) == calls


def test_call_place_is_not_that_of_another_value() -> None:
    code = function("x, y = b(), a")
    for write in all_writes(code):
        assert write["call_place"] < 0 or describe(code, write) == "fast x"


@pytest.mark.parametrize(
    "body,expected",
    [
        ("a.append(b)", {"fast a", "fast b"}),
        ("o.items.append(b)", {"fast o", "fast o.items", "fast b"}),
        (
            "o.p.items.append(b)",
            {"fast o", "fast o.p", "fast o.p.items", "fast b"},
        ),
        (
            "o.p.q.items.append(b)",
            {"fast o", "fast o.p", "fast o.p.q", "fast b"},
        ),
        ("len(a)", {"fast a"}),
        ("G.append(a)", {"global G", "fast a"}),
        ("G.x.append(a)", {"global G", "global G.x", "fast a"}),
        ("x = a", set()),
        ("x = a.b", set()),
        ("x = a[b]", set()),
        # The store tells what `a` is then, changed in place or not.
        ("x = a + b", set()),
        ("a += b", set()),
        ("if a < b:\n    return", set()),
        ("with a:\n    pass", {"fast a"}),
        # The call lies on the first line again, its arguments do not.
        ("a.append(\n    b)", {"fast a", "fast b"}),
        ("o.items.append(\n    b.c)", {"fast o.items", "fast b.c"}),
        ("a[0] = b", {"fast a", "fast b"}),
        ("del a[b]", {"fast a", "fast b"}),
        ("for x in a:\n    b()", {"fast b"}),
    ],
)
def test_touches(body: str, expected: set[str]) -> None:
    code = function(body, "a, b, o")
    found = touches(code)
    if "\n    " in body and "append" in body:
        assert expected <= found
    else:
        assert found == expected


def test_touches_of_cells_and_names() -> None:
    source = "def f(c):\n    def g():\n        c.items.append(1)\n        super()\n    return g\n"
    assert touches(code_of(source, "g")) == {"cell c", "cell c.items"}
    assert touches(code_of("x = []\nx.append(1)\n")) == {"name x"}
    # What is called may be a bound method: `add = x.append`.
    assert touches(code_of("x = []\nprint(x)\n")) == {"name x", "name print"}
    # A function that is made over a cell does not load what the cell holds.
    made = code_of("def f(c):\n    g(lambda: c)\n", "f")
    assert touches(made) == set()


def test_arguments() -> None:
    source = (
        "def f(a, /, b, *args, c, **rest):\n    d = 1\n    return lambda: (b, rest)\n"
    )
    code = code_of(source, "f")
    assert [code.co_varnames[slot & 0x7FFF] for slot in planned(code)["arguments"]] == [
        "a",
        "b",
        "c",
        "args",
        "rest",
    ]
    assert [slot & IN_CELL != 0 for slot in planned(code)["arguments"]] == [
        False,
        True,
        False,
        False,
        True,
    ]


def region_at_line(code: CodeType, line: int) -> Region:
    """The first region that begins on a line."""
    lines = {start: n for start, end, n in code.co_lines()}
    starts = [start // 2 for start, n in sorted(lines.items()) if n == line]
    by_place = {r["place"]: r for r in planned(code)["regions"]}
    return next(by_place[place] for place in starts if place in by_place)


def test_early() -> None:
    code = function("x = 1; b()\ny = b()\n")
    assert region_at_line(code, 2)["early"]
    assert not region_at_line(code, 3)["early"]


def test_a_store_that_frees_the_old_value() -> None:
    code = function("x = a\n")
    region = region_at_line(code, 2)
    store = next(e for e in region["inner"] if e[2] > e[1])
    assert (store[1], store[2]) == (0, 1)
    # Before an attribute is written its setter may run.
    region = region_at_line(function("o.x = a\n"), 2)
    assert all(e[1] == e[2] for e in region["inner"])


def test_the_nearest_stop_comes_first() -> None:
    code = function("for x in a:\n    b()\nreturn x\n")
    region = region_at_line(code, 2)
    lines = {start // 2: n for start, _, n in code.co_lines()}
    assert [lines[e[0]] for e in region["stops"]] == [3, 4]
    assert [e[1] for e in region["stops"]] == [1, 0]


def test_tables() -> None:
    code = function("try:\n    for x in a:\n        b()\nexcept E:\n    return x\n")
    plan = planned(code)
    at = {i.offset // 2: i for i in dis.get_instructions(code)}
    owner = 0
    for unit in range(plan["units"]):
        if unit in at:
            owner = unit
        assert plan["owner"][unit] == owner
        swallows = unit in at and at[unit].opname == "FOR_ITER"
        assert bool(plan["flags"][unit] & 1) == swallows
    entries = dis._parse_exception_table(code)  # type: ignore[attr-defined]
    for unit in range(plan["units"]):
        target = next(
            (e.target // 2 + 1 for e in entries if e.start <= unit * 2 < e.end), 0
        )
        assert plan["handler"][unit] == target
    assert at[plan["entry"]].opname == "RESUME"
    assert plan["flags"][plan["entry"]] == 4
    for number, region in enumerate(plan["regions"]):
        assert plan["region_at"][region["place"]] == number + 1
    assert sum(1 for k in plan["region_at"] if k) == len(plan["regions"])


@pytest.mark.skipif(NEW, reason="RERAISE has an event")
def test_unwinding_without_an_event() -> None:
    code = function("try:\n    a()\nfinally:\n    x = b\n")
    stops = [e for r in planned(code)["regions"] for e in r["stops"]]
    assert 1 in [e[1] for e in stops if e[0] == reference.UNWINDS]


def test_what_is_no_code() -> None:
    with pytest.raises(TypeError):
        _recorder._plan(1)  # type: ignore[arg-type]


LONG = {
    "one variable": "; ".join(f"x = {k}" for k in range(2000)),
    "many variables": "; ".join(f"x{k} = a" for k in range(2000)),
    "conditions": "x = ["
    + ", ".join(f"a.p if b.q{k} else {k}" for k in range(500))
    + "]",
    "walrus": " and ".join(f"(x{k % 7} := a({k}))" for k in range(800)),
    "comprehensions": "; ".join(f"x{k} = [y for y in a if y]" for k in range(300)),
    "ifs": "\n".join(f"if a.n{k}: x = a; y = x" for k in range(1000)),
    "handlers": "\n".join(
        f"try:\n    x = a.n{k}\nexcept E as e:\n    y = e" for k in range(400)
    ),
}


@pytest.mark.parametrize("name", LONG)
def test_long_code(name: str) -> None:
    code = function(LONG[name])
    assert len(code.co_code) > 7_000
    plan = planned(code)
    began = time.process_time()
    _recorder._plan_bytes(code)
    ours = time.process_time() - began
    began = time.process_time()
    reference.plan(code)
    # On any machine: a plan takes a fraction of the same plan in Python (some 20 to 200
    # times as long).
    assert ours < (time.process_time() - began) / 5
    assert plan["units"] == len(code.co_code) // 2
    # Tables stay in proportion to the code, whatever its lines look like.
    exits = sum(len(r["stops"]) + len(r["inner"]) for r in plan["regions"])
    assert exits < 40 * plan["units"]
    compare(code)


def test_too_long_code() -> None:
    assert _recorder._plan(function("\n".join(["a.b.c()"] * 9000))) is None


def key(write: Write) -> tuple[str, int | None, str | None]:
    kind = write["kind"]
    by_slot = write["name"] is None or kind.startswith("stack") or "attribute" in kind
    return (kind, write["slot"] if by_slot else None, write["name"])


def compare(code: CodeType) -> int:
    """The C planner and the reference say the same; returns the number of regions."""
    plan, expected = planned(code), reference.plan(code)
    regions = {region["place"] * 2: region for region in plan["regions"]}
    assert set(regions) == set(expected.regions)
    assert {o for o, region in regions.items() if region["point"]} == expected.points
    assert plan["points"] == len(expected.points)
    for offset, region in regions.items():
        other = expected.regions[offset]
        assert {e[0] * 2: [key(w) for w in e[3][: e[1]]] for e in region["stops"]} == {
            y: [w for w, _ in s] for y, s in other.stops.items()
        }
        assert {e[0] * 2: [key(w) for w in e[3][: e[1]]] for e in region["inner"]} == {
            y: [w for w, _ in s]
            for y, s in other.states.items()
            if expected.at[y].opname not in plan_instructions.QUIET
            or y in expected.marked
            or y == offset
        }
        before = region["before"] and key(region["before"])
        assert before == expected.before.get(offset)
        assert region["points_ahead"] == bool(set(other.stops) & expected.points)
    return len(regions)


MODULES = [
    "argparse",
    "asyncio.base_events",
    "asyncio.tasks",
    "contextlib",
    "dataclasses",
    "difflib",
    "enum",
    "inspect",
    "json.decoder",
    "json.encoder",
    "tokenize",
    "typing",
    "zipfile",
]


@pytest.mark.parametrize("module", MODULES)
def test_standard_library(module: str) -> None:
    spec = importlib.util.find_spec(module)
    assert spec is not None and spec.origin is not None
    with open(spec.origin, encoding="utf-8") as file:
        top = compile(file.read(), spec.origin, "exec")
    regions = 0
    for code in codes_in(top):
        regions += compare(code)
    assert regions > 50
