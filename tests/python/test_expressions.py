"""Expressions over recorded values: what Python would say, without running any code."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

import filmstrip
from conftest import Result

PROGRAM = """\
def look(grid, a, b):
    grid[1, 2] = a
    return grid


look({(0, 0): "corner", (0, 1): "edge"}, 1, "two")
"""


@pytest.fixture
def moment(record: Callable[..., Result]) -> Iterator[filmstrip.Moment]:
    """At the return of `look`."""
    result = record(PROGRAM, options=["--level", "values"])
    with filmstrip.open(result.film) as film:
        yield film.at(hit=("program.py", 3, 1))


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("a, b", "(1, 'two')"),
        ("a,", "(1,)"),
        ("a, b if a > 3 else 'no', len(grid)", "(1, 'no', 3)"),
        ("(a, b) == (1, 'two')", "True"),
        ("grid[0, 1]", "'edge'"),
        ("grid[(0, 0)]", "'corner'"),
        ("grid[1, 2], grid[0, 1]", "(1, 'edge')"),
        ("[a, b][-1]", "'two'"),
    ],
)
def test_tuples_and_keys_of_several_parts(
    moment: filmstrip.Moment, expression: str, text: str
) -> None:
    assert moment.evaluate(expression).text == text


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("a,, b", "cannot stand here"),
        (", a", "cannot stand here"),
        ("a b", "nothing may follow"),
        ("grid[0:1, 2]", "several parts"),
        ("grid[0, 1", "does not close"),
        ("grid[,]", "cannot stand here"),
    ],
)
def test_what_cannot_be_read_is_said(
    moment: filmstrip.Moment, expression: str, why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        moment.evaluate(expression)


def test_a_key_that_is_not_there(moment: filmstrip.Moment) -> None:
    with pytest.raises(filmstrip.NotRecorded, match="not there"):
        moment.evaluate("grid[7, 7]")


def test_a_call_stands_at_the_line_of_its_function(moment: filmstrip.Moment) -> None:
    call = moment.back()
    while call.kind != "call":
        call = call.back()
    assert (call.lineno, call.function) == (1, "__main__.look")
