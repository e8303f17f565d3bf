"""What ObjWatch's log shows, in numbers and types."""

from __future__ import annotations

import enum
from types import FunctionType
from typing import Any


class Constants:
    MAX_TARGETS_DISPLAY = 8  # modules in the header
    MAX_SEQUENCE_ELEMENTS = 3  # elements of a container
    LOG_INDENT_LEVEL = 2  # blanks of the header's JSON
    # Shown by str(), and what is shown with its elements.
    LOG_ELEMENT_TYPES: tuple[Any, ...] = (
        *(bool, int, float, str, type(None)),
        *(FunctionType, enum.Enum),
    )
    LOG_SEQUENCE_TYPES: tuple[Any, ...] = (list, set, dict, tuple)
    HANDLE_GLOBALS_SYMBOL = "@"
    HANDLE_LOCALS_SYMBOL = "_"
