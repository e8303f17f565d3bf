"""ObjWatch and watch: what a program calls."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from filmstrip import _options
from filmstrip.compat.objwatch.config import ObjWatchConfig
from filmstrip.compat.objwatch.mp_handls import MPHandls
from filmstrip.compat.objwatch.tracer import Extras, Tracer, defaults, level_number
from filmstrip.compat.objwatch.utils import logger
from filmstrip.compat.objwatch.wrappers import ABCWrapper


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
    strict: leave out what ObjWatch would not have shown (None: as install() said).
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
        strict: bool | None = None,
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
        level_number(level)
        if output is not None:
            # It is there from now on, and says now if it cannot be.
            with open(os.path.abspath(output), "ab"):
                pass
        logger.prepare(level, output)
        self.tracer = Tracer(
            self.config,
            extras=Extras(
                film=film,
                form=_form(strict),
                output_xml=output_xml,
                with_module_path=bool(with_module_path),
                redaction=_options.check_redaction(redact, redact_words),
            ),
        )

    @property
    def mp_handlers(self) -> MPHandls:
        return self.tracer.mp_handlers

    def load_wrapper(self, wrapper: Any) -> Any:
        """One of that class; a name of 0.3."""
        return self.tracer.load_wrapper(wrapper)

    def start(self) -> None:
        """Starts watching. Does nothing if this one is watching already."""
        self.tracer.start()

    def stop(self) -> None:
        """Stops watching; the log is whole when it returns."""
        self.tracer.stop()

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


def _form(strict: bool | None) -> str:
    if strict is None:
        return defaults.form
    return (defaults.form or "strict") if strict else ""


def watch(targets: Any, *args: Any, **kwargs: Any) -> ObjWatch:
    """Starts watching; takes what ObjWatch takes. `.stop()` ends it."""
    watcher = ObjWatch(targets, *args, **kwargs)
    watcher.start()
    return watcher
