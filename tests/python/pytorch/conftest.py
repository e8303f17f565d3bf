"""Tests that need torch: `make torch` fetches it for one Python.

Where torch is not there, they are skipped and say so; under CI the environment that torch
was fetched for must have it.
"""

from __future__ import annotations

import importlib.util
import os
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).parent
HAS_TORCH = importlib.util.find_spec("torch") is not None
IS_TORCH_ENVIRONMENT = (pathlib.Path(sys.prefix) / ".torch").exists()

pytest.register_assert_rewrite("pytorch.compare")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if HAS_TORCH:
        return
    if os.environ.get("CI") and IS_TORCH_ENVIRONMENT:
        raise pytest.UsageError(
            "torch was fetched for this Python but cannot be imported: use `make torch`"
        )
    skip = pytest.mark.skip(reason="torch is not installed: `make torch` fetches it")
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(skip)
