"""Python's logger of the name "objwatch", and who hands records to it.

The log itself goes to the standard error output without it (see _watch.py). Programs
that have a handler of their own on this logger get the lines as records too: at stop(),
at the program's end, and whenever the logger's handlers are looked at or changed, so
that each handler gets what happened while it was there.
"""

from __future__ import annotations

import logging
import os
from typing import Any, Protocol

FORCE = False  # by print(), past logging
NAME = "objwatch"
_output: str | None = None  # the file of the ObjWatch() that came last


def create_logger(
    name: str = NAME,
    output: str | None = None,
    level: int | str = logging.DEBUG,
    simple: bool = True,
) -> None:
    """Handlers for one's own use of log_info() and the others. ObjWatch() itself needs
    none."""
    global FORCE
    if level == "force":
        FORCE = True
        return
    made = logging.getLogger(name)
    if not made.hasHandlers():
        form = "%(message)s" if simple else "[%(asctime)s] [%(levelname)s] %(name)s: "
        formatter = logging.Formatter(
            form if simple else form + "%(message)s", datefmt="%Y-%m-%d %H:%M:%S"
        )
        made.setLevel(level)
        handlers: list[logging.Handler] = [logging.StreamHandler()]
        if output:
            handlers.append(logging.FileHandler(output))
        for handler in handlers:
            handler.setFormatter(formatter)
            made.addHandler(handler)
    made.propagate = False


class Source(Protocol):
    """Someone who has lines for the logger."""

    def hand_over(self) -> None: ...


_sources: list[Source] = []


def _hand_over() -> None:
    for source in list(_sources):
        source.hand_over()


class _Prompt:
    """Mixed into the class of the logger: what happened until now is handed over before
    anything else looks at the handlers."""

    @property
    def handlers(self) -> list[logging.Handler]:
        found: list[logging.Handler] = self.__dict__["handlers"]
        return found

    @handlers.setter
    def handlers(self, handlers: list[logging.Handler]) -> None:
        _hand_over()
        self.__dict__["handlers"] = handlers

    def addHandler(self, hdlr: logging.Handler) -> None:
        _hand_over()
        super().addHandler(hdlr)  # type: ignore[misc]

    def removeHandler(self, hdlr: logging.Handler) -> None:
        _hand_over()
        super().removeHandler(hdlr)  # type: ignore[misc]


logger = logging.getLogger(NAME)


def get_logger() -> logging.Logger:
    return logger


def prepare(level: int | str, output: str | None) -> None:
    """As ObjWatch leaves the logger behind, without handlers of ours."""
    global _output
    _output = output
    if level != "force":
        if not logger.hasHandlers():
            logger.setLevel(level)
        logger.propagate = False


def add_source(source: Source) -> None:
    if not isinstance(logger, _Prompt):
        kind = type(logger)
        logger.__class__ = type(kind.__name__, (_Prompt, kind), {})
    _sources.append(source)


def remove_source(source: Source) -> None:
    if source in _sources:
        _sources.remove(source)


def tell(level: int, message: str) -> None:
    """To the handlers of the program, if it has any."""
    if logger.handlers and logger.isEnabledFor(level):
        logger.log(level, message)


def _write(message: str) -> None:
    """Where the log goes. ObjWatch has handlers for that; we have none."""
    data = (message + "\n").encode(errors="backslashreplace")
    try:
        os.write(2, data)
        if _output is not None:
            with open(_output, "ab") as file:
                file.write(data)
    except OSError:
        pass  # nobody reads it, or the disk is full


def _log(method: str, message: str, *args: Any, **kwargs: Any) -> None:
    if FORCE:
        print(message, flush=True)
        return
    if logger.hasHandlers():
        getattr(logger, method)(message, *args, **kwargs)
    elif logger.isEnabledFor(logging.getLevelNamesMapping()[method.upper()]):
        _write(message % args if args else message)


def log_info(msg: str, *args: Any, **kwargs: Any) -> None:
    _log("info", msg, *args, **kwargs)


def log_debug(msg: str, *args: Any, **kwargs: Any) -> None:
    _log("debug", msg, *args, **kwargs)


def log_warn(msg: str, *args: Any, **kwargs: Any) -> None:
    _log("warning", msg, *args, **kwargs)


def log_error(msg: str, *args: Any, **kwargs: Any) -> None:
    _log("error", msg, *args, **kwargs)
