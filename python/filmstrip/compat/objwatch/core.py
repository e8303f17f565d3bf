"""ObjWatch and watch: what a program calls."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from filmstrip import _options, _watch
from filmstrip.compat.objwatch.config import ObjWatchConfig
from filmstrip.compat.objwatch.mp_handls import MPHandls
from filmstrip.compat.objwatch.targets import Targets
from filmstrip.compat.objwatch.wrappers import (
    ABCWrapper,
    BaseWrapper,
    TensorShapeWrapper,
)


class ObjWatch:
    """Records the targets and writes ObjWatch's log while the program runs.

    targets, exclude_targets: names ("file.py", "package.module", "module:Class",
        "module:Class.method()", "module:Class.attribute", "module:function()",
        "module::NAME"), or modules, classes and functions themselves.
    with_locals, with_globals: show these variables too.
    output: a file (.objwatch) that the lines are added to; they go to the standard
        error output in any case.
    output_json: a file (.json) for the run as a tree, written at the end.
    level: logging.DEBUG shows all, logging.INFO the header; "force" writes to the
        standard output.
    simple: False puts time and level before each line.
    wrapper: a subclass of ABCWrapper.
    framework, indexes: in which of several processes to watch.
    ranks, output_xml, with_module_path: older names of ObjWatch's own.
    film: keep the recording in this file; without it, it is deleted at the end.
    strict: leave out what ObjWatch would not have shown.
    redact, redact_words: as of filmstrip.record.
    """

    def __init__(
        self,
        targets: Any,
        exclude_targets: Any = None,
        with_locals: bool = False,
        with_globals: bool = False,
        output: str | None = None,
        output_json: str | None = None,
        level: int | str = logging.DEBUG,
        simple: bool = True,
        wrapper: type[ABCWrapper] | None = None,
        framework: str | None = None,
        indexes: list[int] | None = None,
        *,
        ranks: list[int] | None = None,
        output_xml: str | None = None,
        with_module_path: bool | None = None,
        film: str | os.PathLike[str] | None = None,
        strict: bool = False,
        redact: bool = True,
        redact_words: str | Iterable[str] = (),
    ) -> None:
        if ranks is not None and indexes is None:
            framework, indexes = framework or "torch.distributed", list(ranks)
        self.config = ObjWatchConfig(
            targets=targets,
            exclude_targets=exclude_targets,
            with_locals=with_locals,
            with_globals=with_globals,
            output=output,
            output_json=output_json,
            level=level,
            simple=simple,
            wrapper=wrapper,
            framework=framework,
            indexes=indexes,
        )
        self.targets = Targets(targets, exclude_targets)
        if wrapper is not None and not (
            isinstance(wrapper, type) and issubclass(wrapper, ABCWrapper)
        ):
            name = getattr(wrapper, "__name__", repr(wrapper))
            raise ValueError(f"wrapper '{name}' is not a subclass of ABCWrapper")
        self.mp_handlers = MPHandls(framework)
        self._film = film
        self._strict = strict
        self._redaction = _options.check_redaction(redact, redact_words)
        self._output_xml = output_xml
        self._running: _watch.Live | None = None

    def _index(self) -> int | None:
        """This process's index, where a framework gives it one."""
        return (
            self.mp_handlers.get_index() if self.mp_handlers.is_initialized() else None
        )

    def start(self) -> None:
        """Starts watching. Does nothing if this one is watching already."""
        if self._running is not None:
            return
        index = self._index()
        chosen = self.config.indexes if self.config.indexes is not None else [0]
        self._running = _watch.start(
            _watch.Plan(
                config=self.config,
                targets=self.targets,
                index=index,
                chosen=index is None or index in chosen,
                told=[*self.targets.warnings, self.mp_handlers.told],
                film=self._film,
                xml=self._output_xml,
                strict=self._strict,
                redaction=self._redaction,
                # These two are written from the recording; others run as they go.
                recorded_wrapper={
                    None: "none",
                    BaseWrapper: "base",
                    TensorShapeWrapper: "shape",
                }.get(self.config.wrapper, ""),
            )
        )

    def stop(self) -> None:
        """Stops watching; the log is whole when it returns."""
        running, self._running = self._running, None
        if running is not None:
            running.stop()

    def __enter__(self) -> ObjWatch:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()


def watch(targets: Any, *args: Any, **kwargs: Any) -> ObjWatch:
    """Starts watching; takes what ObjWatch takes. `.stop()` ends it."""
    watcher = ObjWatch(targets, *args, **kwargs)
    watcher.start()
    return watcher
