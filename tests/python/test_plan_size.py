"""What plans take: bytes, and time in proportion to the code. The programs are those of
bench/plans.py, which tells nanoseconds; here only ratios count, so that the machine does
not matter."""

from __future__ import annotations

import importlib.util
import pathlib
from types import ModuleType

import pytest

from filmstrip import _recorder

BENCH = pathlib.Path(__file__).parents[2] / "bench" / "plans.py"


def load_bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_plans", BENCH)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


plans = load_bench()


def test_a_function_of_22_lines() -> None:
    """It was 17 KB: each touch had room for two attributes, each region for six changes,
    and places had five tables."""
    code = plans.short_function(1)
    assert 0 < _recorder._plan_bytes(code) <= 5000
    assert _recorder._plan_bytes(code) < 24 * plans.units_of(code)


@pytest.mark.parametrize("name", plans.LONG)
def test_bytes_are_linear(name: str) -> None:
    code, longer = (plans.LONG[name](lines) for lines in (500, 2000))
    each = [_recorder._plan_bytes(c) / plans.units_of(c) for c in (code, longer)]
    assert each[1] < 1.2 * each[0] + 1
    assert each[1] < 40


@pytest.mark.parametrize("name", plans.LONG)
def test_time_is_linear(name: str) -> None:
    """Four times the code takes four times as long; a square would be 16 times. Each line
    that only returns used to be looked for in all of the code."""
    code, longer = (
        plans.longest(plans.LONG[name], 2000),
        plans.longest(plans.LONG[name], 8000),
    )
    units = plans.units_of(longer) / plans.units_of(code)
    for _ in range(5):
        ratio = plans.planning_seconds([longer], 3) / plans.planning_seconds([code], 6)
        if ratio < 2 * units:
            break
    assert ratio < 2 * units


def test_no_code_and_no_plan() -> None:
    with pytest.raises(TypeError):
        _recorder._plan_bytes(1)
    assert _recorder._plan_bytes(plans.straight_code(20_000)) is None
