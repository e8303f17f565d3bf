"""The tables of opcodes against the Python that runs, and what an opcode means that is
in none: watched instruction by instruction, nothing guessed."""

from __future__ import annotations

import dis
import json
import pathlib
import re
import sys
import sysconfig

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# In no code object: co_code has the plain form of what the interpreter puts there.
NEVER = {"RESERVED", "ENTER_EXECUTOR", "EXIT_INIT_CHECK"}


def plain_opcodes():
    """Of opmap; pseudo instructions of the compiler have numbers above 255."""
    special = set(getattr(dis, "_all_opmap", ())) - set(dis.opmap)
    return {
        number: name
        for name, number in dis.opmap.items()
        if number < 256
        and name not in NEVER | special
        and not name.startswith("INSTRUMENTED_")
    }


def test_every_opcode_has_an_entry(runner):
    result = runner.plain(
        "from filmstrip import _recorder; print(_recorder._opcodes(-1))"
    )
    assert result.rc == 0, result.stderr
    known = set(json.loads(result.stdout))
    opcodes = plain_opcodes()
    assert [name for number, name in opcodes.items() if number not in known] == []
    assert [number for number in known if number not in dis.opmap.values()] == []


def test_the_standard_library_has_no_other(runner):
    """Not by name: what compiled code in fact holds."""
    used = set()

    def look(code):
        used.update(code.co_code[::2])
        for constant in code.co_consts:
            if hasattr(constant, "co_code"):
                look(constant)

    folder = pathlib.Path(sysconfig.get_paths()["stdlib"])
    for name in ("asyncio/*.py", "[a-p]*.py"):
        for path in folder.glob(name):
            look(compile(path.read_bytes(), str(path), "exec", dont_inherit=True))
    assert len(used) > 60
    assert used <= set(plain_opcodes())


def test_line_reads_has_this_python():
    """The numbers that origins go by, in src/analysis/line_reads.c."""
    names = {
        "extended": "EXTENDED_ARG",
        "fast": "LOAD_FAST",
        "fast_check": "LOAD_FAST_CHECK",
        "fast_borrow": "LOAD_FAST_BORROW",
        "fast_fast": "LOAD_FAST_LOAD_FAST",
        "borrow_borrow": "LOAD_FAST_BORROW_LOAD_FAST_BORROW",
        "store_fast_fast": "STORE_FAST_LOAD_FAST",
        "deref": "LOAD_DEREF",
        "dict_or_deref": "LOAD_CLASSDEREF" if sys.version_info < (3, 12) else "LOAD_FROM_DICT_OR_DEREF",
        "global": "LOAD_GLOBAL",
        "name": "LOAD_NAME",
        "dict_or_global": "LOAD_FROM_DICT_OR_GLOBALS",
        "attribute": "LOAD_ATTR",
        "method": "LOAD_METHOD",
        "constant": "LOAD_CONST",
        "small_int": "LOAD_SMALL_INT",
    }  # fmt: skip
    text = (ROOT / "src/analysis/line_reads.c").read_text()
    fields = re.search(r"uint8_t (extended,[^;]*);", text)[1].replace("\n", " ")
    fields = [field.strip() for field in fields.split(",")]
    assert fields == list(names)
    rows = [
        [int(number) for number in row.split(",")]
        for row in re.findall(r"\{(1\d(?:, \d+)+)\}", text)
    ]
    row = next(row for row in rows if row[0] == sys.version_info.minor)
    for field, number in zip(fields, row[1:-1], strict=True):
        there = dis.opmap.get(names[field], 0)
        assert number == (there if there < 256 else 0), (field, names[field])


PROGRAM = """
    import sys
    import filmstrip
    from filmstrip import _recorder

    class Box:
        pass

    def work(n):
        box, found, total = Box(), [], 0
        for k in range(n):
            if k % 2 and k not in found:
                found.append(k)
            elif k == 4:
                continue
            total += k if k > 1 else -k
            box.last = {"k": k, "t": (total, f"{k}")}
            found[:1] = [k]
        first, *rest = found
        try:
            del box.last
            total = rest[n]
        except IndexError as error:
            seen = [*rest, not total]
        while total > 5:
            total -= 3
        return total, seen

    _recorder._opcodes(int(sys.argv[1]))
    with filmstrip.record(sys.argv[2], targets=["__main__:work()"]):
        print(work(7))
"""

# Of these nobody can know what they wrote, or where the program goes from there.
STORES = re.compile("STORE|DELETE|RETURN|JUMP|FOR_ITER|RAISE")


def told(dump, film):
    """Every call, return and write, without times and the numbers of objects."""
    keys = ("kind", "function", "line", "name", "scope")

    def value_of(event):
        text = event.get("value", {}).get("text")
        return text and re.sub(r"#\d+", "#", text)

    return [
        (*(event.get(key) for key in keys), value_of(event))
        for event in dump(film)
        if event["kind"] in ("call", "return", "set", "delete", "raise", "handled")
    ]


@pytest.fixture(scope="module")
def used():
    import textwrap

    code = compile(textwrap.dedent(PROGRAM), "program.py", "exec", dont_inherit=True)
    work = next(c for c in code.co_consts if getattr(c, "co_name", "") == "work")
    names = {i.opname: i.opcode for i in dis.get_instructions(work)}
    return {k: v for k, v in names.items() if k not in ("CACHE", "RESUME")}


def test_an_opcode_that_is_not_known(runner, dump, used):
    """Each in turn is not known. Where it neither stores nor jumps, all that is told is
    the same; else nothing that is told is made up. The program runs."""
    runner.write(PROGRAM, "program.py")

    def run(number, name):
        result = runner.plain(None, str(number), name)
        assert (result.rc, result.stderr) == (0, ""), (name, result.stderr)
        return result.stdout, told(dump, runner.folder / name)

    output, events = run(-1, "known.film")
    assert sum(event[0] == "set" for event in events) > 30
    for name, number in used.items():
        shown, others = run(number, f"{name}.film")
        assert shown == output
        if STORES.search(name):
            rest = iter(events)  # in the same order, or without its value
            for event in others:
                assert any(event in (one, (*one[:-1], None)) for one in rest), name
        else:
            assert others == events, name


def test_its_code_is_watched_at_each_instruction(runner):
    result = runner.plain(
        """
        import dis
        from filmstrip import _recorder

        def f(a, b):
            x = a in b
            y = x + 1
            return [x, y]

        def points():
            plan = _recorder._plan(f.__code__)
            return sum(bool(flags & POINT) for flags in plan["flags"])

        code = [i for i in dis.get_instructions(f) if i.opname != "CACHE"]
        POINT = 2  # FILM_PLACE_POINT
        few = points()
        _recorder._opcodes(dis.opmap["CONTAINS_OP"])
        print(few, points() == len(code))
        """
    )
    assert (result.rc, result.stdout) == (0, "0 True\n"), result.stderr
