"""What the tests of filmstrip.watch share: a program to watch, and its log."""

from __future__ import annotations

import re
import textwrap

PROGRAM = """
    import sys
    import filmstrip

    def double(n):
        result = n * 2
        return result

    def main():
        total = 0
        for n in range(3):
            total += double(n)
        return total
"""


def program(text):
    return textwrap.dedent(PROGRAM) + textwrap.dedent(text)


def check(runner, text, *args, **how):
    """Runs a program that asserts for itself."""
    result = runner.plain(text, *args, **how)
    assert result.rc == 0, result.stderr
    return result


def lines(result):
    """The log's lines without the header."""
    text = result.stderr
    rule = "=" * 80 + "\n"
    parts = text.split(rule)
    return "".join(parts[2::2]).splitlines() if len(parts) > 2 else []


def as_sets(lines: list[str]) -> list[str]:
    """New locals of one line in a fixed order: ObjWatch's own is the hash's."""
    result: list[str] = []
    group: list[str] = []
    head = None
    for line in lines:
        match = re.match(
            r"(?:DEBUG: )?(?:\[#\d+\] )?( *\d+ [ |]*)(?:upd|apd|pop) _\.", line
        )
        if match is None or match[1] != head:
            result += sorted(group)
            group = []
        head = match[1] if match else None
        if match:
            group.append(line)
        else:
            result.append(line)
    return result + sorted(group)
