from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

class FunctionMode:
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...
    def __torch_function__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = ...,
        kwargs: dict[str, Any] | None = ...,
        /,
    ) -> Any: ...

class DispatchMode:
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...
    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = ...,
        kwargs: dict[str, Any] | None = ...,
        /,
    ) -> Any: ...

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
    outer_calls: bool = ...,
    held_too: bool = ...,
    torch: int = ...,
    torch_values: bool = ...,
    torch_gpu: bool = ...,
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
def is_secret(name: str, redact: bool, redact_words: Sequence[str], /) -> bool: ...
def add_source(name: str, text: str) -> None: ...
def pause() -> bool: ...
def resume() -> None: ...
def lost_control(reason: str) -> None: ...
def wait_when_killed(path: str, descriptor: int, faulthandler: bool, /) -> bool: ...
def position(skip: int, tell: bool, /) -> tuple[int, int, int] | None: ...
def _capture(*args: Any) -> Any: ...
def _told_anew(bits: int, /) -> None: ...
def _plan(code: Any, /) -> Any: ...
def _opcodes(forget: int, /) -> list[int]: ...
def _plan_bytes(code: Any, /) -> int | None: ...
