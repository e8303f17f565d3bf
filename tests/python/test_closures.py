"""Variables that frames share, and those that a comprehension hides: at every event, in
every open frame, what the program itself says they hold."""

from __future__ import annotations

import pathlib
import sys

import pytest

from asking import ask, python, record_values

PROGRAM = """\
def outer(count):
    total = 0
    seen = []

    def add(amount):
        nonlocal total
        total += amount
        seen.append(amount)
        return total

    def look():
        return total

    for number in range(count):
        add(number)
        look()
    total = 100
    add(1)
    return add, look


def counted(function):
    calls = 0

    def wrapper(*arguments):
        nonlocal calls
        calls += 1
        result = function(*arguments)
        return result

    return wrapper


@counted
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def steps(count):
    at = 0

    def bump():
        nonlocal at
        at += 10

    for _ in range(count):
        yield bump
        at += 1


def hidden(k):
    keep = lambda: k
    made = [k for k in (1, 2)]
    keep()
    makers = [lambda: k for k in (3, 4)]
    last = makers[1]()
    k = k + 1
    again = keep()
    return made, last, again


def gone():
    value = 1

    def drop():
        nonlocal value
        del value

    drop()
    value = 2
    return value


class Base:
    def who(self):
        return "base"


class Child(Base):
    def who(self):
        name = super().who()
        return name


def kept():
    k = "mine"
    keep = lambda: k
    made = [
        (k, keep(), lambda: k)
        for k in (1, 2)
    ]
    last = made[0][2]()
    k = "other"
    again = keep()
    last = made[1][2]()
    return last, again


shade = "global"


def shaded():
    shade = "outer"

    class Body:
        pass
        kept = shade

    return Body


add, look = outer(3)
add(5)
one, two = outer(1), outer(2)
one[0](7)
two[0](8)
look()
fib(4)
for bump in steps(3):
    bump()
hidden(9)
gone()
Child().who()
shaded()
kept()
"""

ASK = """
import filmstrip, json
film = filmstrip.open("closures.film")
out = []
moment = film.at()
while moment is not None:
    out.append([moment.m, moment.kind, moment.lineno,
                [[frame.function, {name: value.text for name, value in frame.locals.items()}]
                 for frame in moment.stack if not frame.function.endswith("<module>")]])
    moment = moment.step()
asked = {}
line = film.at(hit=("closures.py", 19, 1))  # return add, look
asked["writes"] = [[write.value.text, write.moment.function, write.moment.lineno]
                   for write in film.history("outer:total")]
last = film.last_write("total", before=line)
asked["last"] = [last.value.text, last.moment.function, last.moment.lineno]
inner = film.at(hit=("closures.py", 12, 2))  # return total, in look
found = film.last_write("total", before=inner)
asked["inner"] = [found.value.text, found.moment.function]
at = film.end.run_back({"kind": "variable", "function": "outer", "name": "total"})
asked["break"] = [at.function, at.lineno]
print(json.dumps([out, asked]))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[list, dict]:
    where = tmp_path_factory.mktemp("closures")
    record_values(where, "closures.py", PROGRAM)
    python(where, "-m", "filmstrip", "check", "closures.film")
    moments, asked = ask(where, ASK)
    return moments, asked


def values(moments: list, function: str, name: str) -> list[str]:
    """What the variable held, each value once in a row, in the innermost such frame."""
    found: list[str] = []
    for _, _, _, stack in moments:
        frames = [held for of, held in stack if of == f"__main__.{function}"]
        if frames and (value := frames[-1].get(name, "unbound")) not in found[-1:]:
            found.append(value)
    return found


def test_outer_frames_show_what_inner_functions_write(told: tuple[list, dict]) -> None:
    moments, _ = told
    calls = ["unbound", "0", "1", "3", "100", "101"]
    assert values(moments, "outer", "total")[:6] == calls
    assert values(moments, "outer", "seen")[:6] == [
        *("unbound", "[]", "[0]", "[0, 1]", "[0, 1, 2]", "[0, 1, 2, 1]"),
    ]


def test_frames_agree(told: tuple[list, dict]) -> None:
    """Whoever shares a variable shows the same, at every event."""
    moments, _ = told
    together = 0
    for m, _, _, stack in moments:
        inner = [held for of, held in stack if ".<locals>." in of]
        outer = [held for of, held in stack if ".<locals>." not in of]
        for held in inner:
            for name in held.keys() & {"total", "seen", "at"}:
                for other in outer:
                    if name in other:
                        assert held[name] == other[name], (m, name, stack)
                        together += 1
    assert together > 60


def test_inner_frames_when_the_outer_has_ended(told: tuple[list, dict]) -> None:
    moments, _ = told
    # 101 + 5, then of two other calls of outer: 101 + 7 and 101 + 8, then the first.
    ended = [
        moment
        for moment in moments
        if "__main__.outer" not in [function for function, _ in moment[3]]
    ]
    assert values(ended, "outer.<locals>.add", "total") == [
        *("101", "106", "101", "108", "101", "109"),
    ]
    assert values(ended, "outer.<locals>.add", "seen")[0] == "[0, 1, 2, 1]"
    assert values(ended, "outer.<locals>.look", "total") == ["106"]


def test_calls_of_one_closure_within_another(told: tuple[list, dict]) -> None:
    moments, _ = told
    for m, _, _, stack in moments:
        calls = {held["calls"] for of, held in stack if of.endswith("wrapper")}
        assert len(calls) <= 1, (m, stack)
    assert values(moments, "counted.<locals>.wrapper", "calls") == [
        str(number) for number in range(10)
    ]


def test_a_generator_shows_what_was_written_while_it_slept(
    told: tuple[list, dict],
) -> None:
    moments, _ = told
    assert values(moments, "steps", "at") == [
        *("unbound", "0", "10", "11", "21", "22", "32", "33"),
    ]


def test_what_a_comprehension_hid_is_back(told: tuple[list, dict]) -> None:
    moments, _ = told
    by_line: dict[int, list[str]] = {}
    for _, kind, line, stack in moments:
        if kind == "line" and stack and stack[-1][0] == "__main__.hidden":
            by_line.setdefault(line, []).append(stack[-1][1].get("k", "unbound"))
    first = min(by_line)
    assert {line - first: set(held) for line, held in by_line.items()} == {
        number: {"10" if number >= 6 else "9"} for number in range(8)
    }
    assert values(moments, "hidden.<locals>.<lambda>", "k")[-1] == "10"


def test_a_deleted_variable_is_gone_for_all(told: tuple[list, dict]) -> None:
    moments, _ = told
    assert values(moments, "gone", "value") == ["unbound", "1", "unbound", "2"]


def test_questions_know_who_wrote(told: tuple[list, dict]) -> None:
    _, asked = told
    add = "__main__.outer.<locals>.add"
    assert asked["last"] == ["101", add, 7]
    assert asked["inner"] == ["1", add]
    assert asked["writes"][:6] == [
        ["0", "__main__.outer", 2],
        *(["0", add, 7], ["1", add, 7], ["3", add, 7]),
        ["100", "__main__.outer", 17],
        ["101", add, 7],
    ]
    assert asked["break"] == [add, 7]


def test_class_cells_are_no_variables(told: tuple[list, dict]) -> None:
    moments, _ = told
    assert all("__class__" not in held for *_, stack in moments for _, held in stack)


def test_a_comprehension_makes_cells_of_its_own(told: tuple[list, dict]) -> None:
    moments, _ = told
    lines = [
        (line, stack[-1][1].get("k", "unbound"))
        for _, kind, line, stack in moments
        if kind == "line" and stack and stack[-1][0].startswith("__main__.kept.")
        if stack[-1][0].endswith(".<lambda>")
    ]
    outer = min(line for line, _ in lines)
    assert [held for line, held in lines if line == outer] == [
        *("'mine'", "'mine'", "'other'"),
    ]
    assert [held for line, held in lines if line != outer] == ["2", "2"]
    inlined = ["1", "2", "'mine'"] if sys.version_info >= (3, 12) else []
    assert values(moments, "kept", "k") == ["unbound", "'mine'", *inlined, "'other'"]


def test_the_body_of_a_class_does_not_show_globals_as_its_own(
    told: tuple[list, dict],
) -> None:
    moments, _ = told
    assert values(moments, "shaded.<locals>.Body", "shade") == ["'outer'"]
    assert values(moments, "shaded.<locals>.Body", "Child") == ["unbound"]


THREADS = """
import threading

def outer():
    count, seen = 0, []
    def work(n):
        nonlocal count
        for _ in range(n):
            count += 1
        seen.append(count)
    for n in (2, 2):
        thread = threading.Thread(target=work, args=(n,))
        thread.start()
        thread.join()
        print(count, len(seen))
    count = 100
    thread = threading.Thread(target=work, args=(1,))
    thread.start()
    thread.join()
    del count
    return seen

outer()
"""

ASK_THREADS = """
import filmstrip, json
film = filmstrip.open("threads.film")
out = []
moment = film.at()
while moment is not None:
    frame = moment.stack[-1] if moment.stack else None
    if moment.kind == "line" and frame and frame.function.endswith(".outer"):
        value = frame.locals.get("count")
        try:
            named = frame.evaluate("count").text
        except filmstrip.NotRecorded:
            named = None
        out.append([moment.lineno, value and value.text, named])
    moment = moment.step()
print(json.dumps(out))
"""


def test_what_another_thread_wrote_is_shown(tmp_path: pathlib.Path) -> None:
    record_values(tmp_path, "threads.py", THREADS)
    lines = ask(tmp_path, ASK_THREADS)
    print_line = 1 + THREADS[: THREADS.index("print(")].count("\n")
    delete_line = 1 + THREADS[: THREADS.index("del count")].count("\n")
    assert [held for line, held, _ in lines if line == print_line] == ["2", "4"]
    assert [held for line, held, _ in lines if line == delete_line] == ["101"]
    assert lines[-1] == [delete_line + 1, None, None]
    assert all(held == named for _, held, named in lines)
