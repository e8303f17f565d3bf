"""Recording from inside a program: record, start, stop."""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable, Iterable
from types import ModuleType, TracebackType
from typing import Any, ParamSpec, TypedDict, TypeVar, cast, overload

from filmstrip import _options, _ranks, _recorder

P = ParamSpec("P")
R = TypeVar("R")

# A name, a path, or the module, class, function or method itself.
Target = str | os.PathLike[str] | ModuleType | type[Any] | Callable[..., Any]
Targets = Target | Iterable[Target]


class Statistics(TypedDict, total=False):
    """What a recording holds: its file, events, bytes, events lost, and whether it had
    to stop early (the disk was full); `seconds` while it runs."""

    path: str
    events: int
    bytes: int
    lost: int
    stopped: bool
    seconds: float


def _names(given: Targets) -> list[str]:
    one = isinstance(given, (str, os.PathLike, type)) or not isinstance(given, Iterable)
    names = [given] if one else cast("Iterable[Target]", given)
    return [_options.resolve_target(_options.name_target(name)) for name in names]


def _program_words() -> list[str]:
    """The words that name this program, as far as they can be known from inside."""
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    if spec is not None and sys.argv:
        return ["-m", spec.name.removesuffix(".__main__"), *sys.argv[1:]]
    return [word for word in sys.argv if word]


def _make_options(
    path: str | os.PathLike[str] | None,
    *,
    targets: Targets = (),
    exclude: Targets = (),
    all: bool = False,
    level: str = "values",
    values: str = "all",
    c_calls: bool = False,
    outer_calls: bool = False,
    torch: str = "auto",
    torch_values: bool = False,
    torch_gpu: bool = False,
    exceptions: bool = True,
    line_times: bool = False,
    text_bytes: int | None = None,
    items: int | None = None,
    item_depth: int | None = None,
    redact: bool = True,
    redact_words: str | Iterable[str] = (),
    ring: int | str = 0,
    tick_ns: int = 16,
    children: bool = True,
    argv: bool = False,
    ranks: _ranks.Ranks | None = None,
    force: bool = False,
) -> _options.Options:
    options = _options.Options()
    if all and (targets or exclude):
        raise ValueError("all records everything: it does not go with targets")
    options.path = os.path.abspath(os.fspath(path)) if path is not None else ""
    options.targets = _names(targets)
    options.excludes = _names(exclude)
    options.all = all
    options.level = _options.parse_level(level)
    options.values = _options.parse_values(values)
    options.c_calls = c_calls
    options.outer_calls = outer_calls
    options.torch = _options.parse_torch(torch)
    options.torch_values = torch_values
    options.torch_gpu = torch_gpu
    options.exceptions = exceptions
    options.line_times = line_times
    options.text_bytes = _options.check_count(text_bytes, "text_bytes")
    options.items = _options.check_count(items, "items")
    options.item_depth = _options.check_count(item_depth, "item_depth")
    options.redact, options.redact_words = _options.check_redaction(
        redact, redact_words
    )
    options.ring = _options.check_ring(
        _options.parse_size(ring) if isinstance(ring, str) else ring
    )
    options.tick_ns = tick_ns
    options.children = children
    options.argv = argv
    options.ranks = ",".join(map(str, _ranks.check(ranks)))
    options.force = force
    return options


def _checked_options(
    path: str | os.PathLike[str] | None, given: dict[str, Any]
) -> _options.Options:
    unknown = given.keys() - inspect.signature(_make_options).parameters.keys()
    if unknown:
        raise TypeError(f"unknown option {min(unknown)!r}")
    return _make_options(path, **given)


def _end(how: str) -> dict[str, Any]:
    return _recorder.stop({**_ranks.ending(), "ended": how})


@functools.cache
def _stop_at_exit() -> None:
    import atexit

    atexit.register(_end, "exit")


def _begin(options: _options.Options) -> str:
    if _recorder.active():
        if _options.started_outside:
            return _recorder.path() or ""
        raise RuntimeError(f"already recording to {_recorder.path()}")
    options = _options.Options.decode(options.encode())
    rank = _ranks.here()
    if not _ranks.is_wanted(_ranks.parse_all(options.ranks), rank):
        return ""
    words = _program_words()
    options.name_rank(rank)
    if options.path:
        options.path = _ranks.ranked_path(options.path, rank)
    else:
        stem = _ranks.ranked(os.path.abspath(_options.default_stem(words)), rank)
        options.path = _options.free_path(stem)
        options.free_name = True
    _stop_at_exit()
    return _options.begin(options, _options.describe(options, words))


def start(path: str | os.PathLike[str] | None = None, **options: Any) -> str:
    """Starts recording, with the options of `record`; gives the film's path.

    In a program that is recorded from outside, by `filmstrip run` or as a child, this
    is part of that recording, and stop() does not end it. Nothing begins, and the path
    is empty, in a rank that `ranks` leaves out.

    OSError: the film cannot be written (it exists: `force=True` replaces it).
    RuntimeError: a recording is running, or this interpreter cannot be recorded.
    """
    return _begin(_checked_options(path, options))


def stop() -> Statistics | None:
    """Ends the recording and closes its film. None if nothing was being recorded."""
    if not _recorder.active():
        return None
    if _options.started_outside:
        return statistics()
    result = cast(Statistics, _end("stop"))
    _options.forget_environment()
    return result or None


def statistics() -> Statistics | None:
    """What the running recording holds so far; None if there is none."""
    return cast("Statistics | None", _recorder.stats())


def recording() -> str | None:
    """The path of the film being written; None if nothing is recorded."""
    return _recorder.path()


def pause() -> None:
    """Records nothing until resume()."""
    _recorder.pause()


def resume() -> None:
    _recorder.resume()


class Recording:
    """What `record` gives: a context manager, and a decorator.

    As a decorator it records each call of the function; a call made while another
    recording runs is part of that one.
    """

    def __init__(self, options: _options.Options) -> None:
        self._options = options
        self.path: str | None = options.path or None
        self._entered = False
        self.statistics: Statistics | None = None

    def __enter__(self) -> Recording:
        self.path = _begin(self._options) or None
        self._entered = self.path is not None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._entered:
            self._entered = False
            self.statistics = stop()

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(
            function
        ):
            raise TypeError("filmstrip.record cannot decorate a generator function")
        wrapper: Callable[..., Any]
        if inspect.iscoroutinefunction(function):

            async def wrapper(*args: P.args, **kwargs: P.kwargs) -> Any:
                if _recorder.active():
                    return await function(*args, **kwargs)
                with Recording(self._options):
                    return await function(*args, **kwargs)

        else:

            def wrapper(*args: P.args, **kwargs: P.kwargs) -> Any:
                if _recorder.active():
                    return function(*args, **kwargs)
                with Recording(self._options):
                    return function(*args, **kwargs)

        return cast("Callable[P, R]", functools.wraps(function)(wrapper))


@overload
def record(path: Callable[P, R], /) -> Callable[P, R]: ...


@overload
def record(
    path: str | os.PathLike[str] | None = None,
    *,
    targets: Targets = ...,
    exclude: Targets = ...,
    all: bool = ...,
    level: str = ...,
    values: str = ...,
    c_calls: bool = ...,
    outer_calls: bool = ...,
    torch: str = ...,
    torch_values: bool = ...,
    torch_gpu: bool = ...,
    exceptions: bool = ...,
    line_times: bool = ...,
    text_bytes: int | None = ...,
    items: int | None = ...,
    item_depth: int | None = ...,
    redact: bool = ...,
    redact_words: str | Iterable[str] = ...,
    ring: int | str = ...,
    tick_ns: int = ...,
    children: bool = ...,
    argv: bool = ...,
    ranks: _ranks.Ranks | None = ...,
    force: bool = ...,
) -> Recording: ...


def record(
    path: str | os.PathLike[str] | Callable[..., Any] | None = None,
    *,
    targets: Targets = (),
    exclude: Targets = (),
    all: bool = False,
    level: str = "values",
    values: str = "all",
    c_calls: bool = False,
    outer_calls: bool = False,
    torch: str = "auto",
    torch_values: bool = False,
    torch_gpu: bool = False,
    exceptions: bool = True,
    line_times: bool = False,
    text_bytes: int | None = None,
    items: int | None = None,
    item_depth: int | None = None,
    redact: bool = True,
    redact_words: str | Iterable[str] = (),
    ring: int | str = 0,
    tick_ns: int = 16,
    children: bool = True,
    argv: bool = False,
    ranks: _ranks.Ranks | None = None,
    force: bool = False,
) -> Recording | Callable[..., Any]:
    """Records what happens inside a `with` block, or each call of a function:
    `@record(...)`, or `@record` where nothing is to be said.

    path: the film; without it, program.film or the next free name. An existing file is
        refused unless `force`.
    targets, exclude: files, folders, modules or packages, parts of them by name
        ("module:Class", "module:Class.method()", "module:function()",
        "module:Class.attribute", "module::NAME"), or modules, classes and functions
        themselves; without targets, everything outside the standard library and
        site-packages; `all`: that too.
    level: "calls", "lines" (which lines ran too) or "values" (every value written),
        the default.
    values: of that level, "locals" (variables, arguments and returns), "attributes"
        (those too) or "all" (items, contents and changes in place too).
    line_times: a time for each line, not only for calls and returns.
    text_bytes, items, item_depth: how much of a value is kept: so many bytes of a text
        (256), items of a container or object (32), containers within one another (3).
    redact: values of names with "password", "token", "api_key" and the like in them are
        not recorded; False: they are. redact_words: nor are those of names with one of
        these words in them; with redact=False, only those.
    c_calls: calls of C functions too. exceptions: raised and handled ones.
    outer_calls: where code that is not recorded calls code that is.
    torch: operations of PyTorch, where the program imports it: "ops" (those that Python
        code calls; so does "auto", the default), "all" (those that its C++ code calls
        too: the backward pass) or "off". torch_values: the least, greatest and mean of
        what tensors hold, how many numbers are not finite, and a hash.
        torch_gpu: the kernels and copies that ran on a GPU, with their true times.
    ring: keep only the end of the run, in so many bytes (or "64M").
    tick_ns: resolution of the clock.
    children: child processes get films of their own beside this one.
    argv: keep the program's arguments in the film.
    ranks: of a distributed program only these are recorded (3, [0, 3] or "0-3").
    """
    function = path if callable(path) and not isinstance(path, os.PathLike) else None
    made = Recording(
        _make_options(
            None if function is not None else cast("str | None", path),
            targets=targets,
            exclude=exclude,
            all=all,
            level=level,
            values=values,
            c_calls=c_calls,
            outer_calls=outer_calls,
            torch=torch,
            torch_values=torch_values,
            torch_gpu=torch_gpu,
            exceptions=exceptions,
            line_times=line_times,
            text_bytes=text_bytes,
            items=items,
            item_depth=item_depth,
            redact=redact,
            redact_words=redact_words,
            ring=ring,
            tick_ns=tick_ns,
            children=children,
            argv=argv,
            ranks=ranks,
            force=force,
        )
    )
    return made if function is None else made(function)
