from collections.abc import Mapping, Sequence
from typing import Any

def start(
    path: str,
    *,
    replace: bool = ...,
    targets: Sequence[str] = ...,
    excludes: Sequence[str] = ...,
    all: bool = ...,
    c_calls: bool = ...,
    exceptions: bool = ...,
    ring: int = ...,
    tick_ns: int = ...,
    level: int = ...,
    children: bool = ...,
    callers: bool = ...,
    meta: Mapping[str, str] = ...,
    stdlib_dirs: Sequence[str] = ...,
    site_dirs: Sequence[str] = ...,
    own_dir: str = ...,
    home: str = ...,
    line_times: bool = ...,
    text_bytes: int = ...,
    items: int = ...,
    item_depth: int = ...,
    values: int = ...,
    redact: bool = ...,
    redact_words: Sequence[str] = ...,
) -> None: ...
def stop(meta: Mapping[str, str] = ...) -> dict[str, Any]: ...
def stats() -> dict[str, Any] | None: ...
def path() -> str | None: ...
def active() -> bool: ...
def add_name(name: str, /) -> None: ...
def add_source(name: str, text: str) -> None: ...
def pause() -> None: ...
def resume() -> None: ...
def lost_control(reason: str) -> None: ...
def _capture(*args: Any) -> Any: ...
def _plan(code: Any, /) -> Any: ...
