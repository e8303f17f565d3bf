"""The kinds of lines ObjWatch writes."""

from __future__ import annotations

import enum


class EventType(enum.Enum):
    RUN = 1  # a function begins
    END = 2  # a function ends
    UPD = 3  # a variable gets a value
    APD = 4  # a container grows
    POP = 5  # a container shrinks

    @property
    def label(self) -> str:
        """As it stands in the log."""
        return self.name.lower()
