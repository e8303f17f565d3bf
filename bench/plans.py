"""What plans take: bytes of a function of 22 lines, time a code unit of long code.

    .venvs/3.12/bin/python bench/plans.py

Times are of this process's CPU, the best of several runs, bare of everything but the
planner: nothing is recorded. Exit status 1 where a bar is missed; on a machine that is
busy with something else CPU time grows too, and where the kernel gives no big pages
(they are asked for with madvise) long code takes half as long again."""

from __future__ import annotations

import pathlib
import sys
import time
from collections.abc import Callable, Iterator
from types import CodeType

from filmstrip import _recorder

UNIT_NS = 60  # bar: a code unit of any shape
FUNCTION_BYTES = 5000  # bar: a function of 22 lines
BIG_PAGES = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")


def codes_in(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


def only_function(source: str) -> CodeType:
    return next(
        c for c in codes_in(compile(source, "planned.py", "exec")) if c.co_name == "f"
    )


def short_function(number: int) -> CodeType:
    """22 lines as programs have them: attributes, calls, a loop, branches."""
    return only_function(f"""
def f(self, items, limit=10):
    total = {number}
    self.count_{number} = 0
    names = []
    table = {{}}
    for index, item in enumerate(items):
        value = item * 2 + {number}
        if value > limit:
            total += value
            names.append(str(value))
        elif value < 0:
            self.count_{number} += 1
            continue
        table[index] = value
        self.last = value
    text = ", ".join(names)
    result = compute(total, limit)
    if result is None:
        result = self.fallback(text)
    other = len(table) + result
    self.results.append(other)
    return other, text
""")


def straight_code(lines: int) -> CodeType:
    """A function of so many lines without a branch."""
    return only_function(
        "def f(a, b):\n"
        + "".join(f"    x{n % 40} = a.y{n % 7} + {n}\n" for n in range(lines))
    )


def module_names(lines: int) -> CodeType:
    return compile("".join(f"x{n} = {n}\n" for n in range(lines)), "planned.py", "exec")


def table(lines: int) -> CodeType:
    """A literal over so many lines, of values that are no constants."""
    rows = "".join(f"    'k{n}': (a, {n}),\n" for n in range(lines))
    return compile("t = {\n" + rows + "}\n", "planned.py", "exec")


def list_table(lines: int) -> CodeType:
    rows = "".join(f"    [a, {n}, 'x'],\n" for n in range(lines))
    return compile("t = [\n" + rows + "]\n", "planned.py", "exec")


def branches(lines: int) -> CodeType:
    """Chains of 100: the compiler itself goes no deeper than some hundreds."""
    return only_function(
        "def f(a):\n"
        + "".join(
            f"    {'el' if n % 100 else ''}if a == {n}:\n        b = {n}\n"
            for n in range(lines // 2)
        )
        + "    return b\n"
    )


def long_try(lines: int) -> CodeType:
    body = "".join(f"        x{n % 40} = g({n})\n" for n in range(lines - 3))
    return only_function(
        f"def f(g):\n    try:\n{body}    except ValueError as e:\n        x0 = e\n"
    )


def returns(lines: int) -> CodeType:
    return only_function(
        "def f(a):\n"
        + "".join(f"    if a == {n}:\n        return {n}\n" for n in range(lines // 2))
    )


def long_loop(lines: int) -> CodeType:
    body = "".join(f"        if a[{n}]: continue\n" for n in range(lines - 1))
    return only_function(f"def f(a):\n    for x in a:\n{body}")


LONG: dict[str, Callable[[int], CodeType]] = {
    "straight code": straight_code,
    "names of a module": module_names,
    "a dict over lines": table,
    "a list over lines": list_table,
    "if, elif, ...": branches,
    "a long try": long_try,
    "returns": returns,
    "a long loop": long_loop,
}


def units_of(code: CodeType) -> int:
    return len(code.co_code) // 2


def planning_seconds(codes: list[CodeType], rounds: int = 5) -> float:
    """CPU seconds to plan them all, the best of `rounds`."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        for code in codes:
            _recorder._plan_bytes(code)
        best = min(best, time.process_time() - start)
    return best


def longest(make: Callable[[int], CodeType], lines: int) -> CodeType:
    """So many lines, or as many as still get a plan."""
    while (code := make(lines)) and _recorder._plan_bytes(code) is None:
        lines = lines * 3 // 4
    return code


def big_pages() -> str:
    """When the kernel gives big pages: always, madvise, never."""
    try:
        choices = BIG_PAGES.read_text()
    except OSError:
        return "unknown"
    return choices.partition("[")[2].partition("]")[0]


def main() -> int:
    codes = [short_function(number) for number in range(300)]
    size = sum(_recorder._plan_bytes(code) for code in codes) / len(codes)
    units = sum(map(units_of, codes))
    slowest = planning_seconds(codes) / units * 1e9
    missed = size > FUNCTION_BYTES
    print(
        f"a function of 22 lines ({units / len(codes):.0f} units): {size:.0f} bytes, "
        f"{slowest:.0f} ns a unit"
    )
    for name, make in LONG.items():
        short, long = longest(make, 2000), longest(make, 8000)
        each = [
            planning_seconds([code], 10) / units_of(code) * 1e9
            for code in (short, long)
        ]
        slowest = max(slowest, *each)
        size = _recorder._plan_bytes(long) / units_of(long)
        print(
            f"{name}: {units_of(short)} units {each[0]:.0f} ns each, "
            f"{units_of(long)} units {each[1]:.0f} ns each; {size:.1f} bytes a unit"
        )
    missed = missed or slowest > UNIT_NS
    print(
        f"bars: {UNIT_NS} ns a unit, {FUNCTION_BYTES} bytes a function of 22 lines: "
        + ("missed" if missed else "met")
        + f" (big pages: {big_pages()})"
    )
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
