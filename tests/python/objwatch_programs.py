"""What the tests of filmstrip.watch share: a program to watch, and its log."""

from __future__ import annotations

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
