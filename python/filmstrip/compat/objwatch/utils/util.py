"""What JSON cannot hold, for json.dumps(default=...)."""

from __future__ import annotations

from typing import Any


def target_handler(o: Any) -> Any:
    if isinstance(o, set):
        return list(o)
    return vars(o) if hasattr(o, "__dict__") else str(o)
