"""ObjWatch's configuration: checked when it is made, written out in the header."""

from __future__ import annotations

import dataclasses
import logging
from types import ModuleType
from typing import Any


@dataclasses.dataclass(frozen=True)
class ObjWatchConfig:
    """What is watched and where the log goes; see ObjWatch for each field."""

    targets: Any
    exclude_targets: Any = None
    with_locals: bool = False
    with_globals: bool = False
    output: str | None = None
    output_json: str | None = None
    level: int | str = logging.DEBUG
    simple: bool = True
    wrapper: Any = None
    framework: str | None = None
    indexes: list[int] | None = None

    def __post_init__(self) -> None:
        if not self.targets:
            raise ValueError("At least one monitoring target must be specified")
        if self.level == "force" and self.output is not None:
            raise ValueError("output cannot be specified when level is 'force'")
        if self.output is not None and not self.output.endswith(".objwatch"):
            raise ValueError(
                "output file must end with '.objwatch' "
                "for ObjWatch Log Viewer extension"
            )
        if self.output_json is not None and not self.output_json.endswith(".json"):
            raise ValueError("output_json file must end with '.json'")

    def _level_name(self) -> str:
        if isinstance(self.level, int):
            return logging.getLevelName(self.level)
        return self.level

    def __str__(self) -> str:
        lines = []
        for name, value in vars(self).items():
            if isinstance(value, list):
                lines.append(f"* {name}:")
                lines += [f"  - {item}" for item in value]
            elif name == "level":
                lines.append(f"* {name}: {self._level_name()}")
            elif name == "wrapper" and value is not None:
                lines.append(f"* {name}: {value.__name__}")
            else:
                lines.append(f"* {name}: {value}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON takes them."""
        result: dict[str, Any] = {}
        for name, value in vars(self).items():
            if isinstance(value, list):
                value = [
                    str(item) if isinstance(item, ModuleType) else item
                    for item in value
                ]
            elif isinstance(value, (ModuleType, type)):
                value = value.__name__
            elif name == "level":
                value = self._level_name()
            result[name] = value
        return result
