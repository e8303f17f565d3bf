"""The ways to record that lead through other parts of the recorder.

A proof counts only for the paths it runs, so the proofs of values, evil values, deaths
and CPython's own tests run again in these ways: in `make test` some of their cases, others
on each Python; in `make soak` every case in every way.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from . import films

Case = TypeVar("Case")


@dataclasses.dataclass(frozen=True)
class Way:
    """Options of `filmstrip.start`, of `filmstrip run` and of the environment at once."""

    name: str
    options: dict[str, Any]

    def __str__(self) -> str:
        return self.name

    @property
    def words(self) -> list[str]:
        """As words of the command line."""
        words = []
        for name, value in self.options.items():
            word = "--" + name.replace("_", "-")
            if value is True:
                words.append(word)
            elif value is False:
                words.append("--no-" + word.removeprefix("--"))
            else:
                words += [word, str(value)]
        return words

    @property
    def lines(self) -> list[str]:
        """As lines of FILMSTRIP_OPTIONS (python/filmstrip/_options.py)."""
        numbers = {"values": {"attributes": 1, "locals": 2}, "ring": {"4M": 4 << 20}}
        return [
            f"{name}={int(numbers.get(name, {}).get(value, value))}"
            for name, value in self.options.items()
        ]


PLAIN = Way("plain", {})
WAYS = [
    Way("outer calls", {"outer_calls": True}),
    Way("locals", {"values": "locals"}),
    Way("attributes", {"values": "attributes"}),
    Way("c calls", {"c_calls": True}),
    Way("line times", {"line_times": True}),
    Way("ring", {"ring": "4M"}),
    Way("no exceptions", {"exceptions": False}),
    Way("no redaction", {"redact": False}),
    Way("few items", {"items": 2, "text_bytes": 16, "item_depth": 1}),
    Way(
        "everything",
        {"outer_calls": True, "c_calls": True, "line_times": True, "ring": "4M"},
    ),
]
# Ways of a generated program's own (values_ways.py).
OWN = ["told anew", "held too", "narrow", "narrow, outer calls", "wide", "threads"]


def rotating(
    cases: Iterable[Case], share: int = 1, ways: Sequence[Way] = WAYS
) -> list[tuple[Case, Way]]:
    """Pairs of a case and a way: of each `share` cases one, other cases and other ways on
    each Python; in soak every case in every way."""
    if films.SOAK:
        return [(case, way) for case in cases for way in ways]
    turn = sys.version_info[1]
    return [
        (case, ways[(number + 3 * turn) % len(ways)])
        for number, case in enumerate(cases)
        if (number + turn) % share == 0
    ]
