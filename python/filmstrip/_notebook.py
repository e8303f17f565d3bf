"""`%load_ext filmstrip` and `%%film` in IPython and Jupyter.

    %%film [NAME.film] [--target TARGET]... [--exclude TARGET]... [--level LEVEL]
           [--redact WORD]... [--no-redact] [--objwatch] [--force] [--quiet]
    code of the cell

records the cell, keeps the film and shows its log.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from typing import Any, NoReturn

MOST_LINES = 200  # of the log under a cell


class _Words(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ValueError(f"%%film: {message}")


def _parser() -> _Words:
    parser = _Words(prog="%%film", add_help=False)
    parser.add_argument("path", nargs="?")
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--exclude", action="append", default=[])
    parser.add_argument("--level", default="values")
    parser.add_argument("--redact", action="append", default=[])
    parser.add_argument("--no-redact", action="store_true")
    parser.add_argument("--force", action="store_true")
    parser.add_argument("--objwatch", action="store_true")
    parser.add_argument("--quiet", action="store_true")
    return parser


class _Errors:
    """Shows what a cell of ours has raised as if it had been any cell: once, as IPython
    renders it without us, and as the error of the cell that begins with %%film.

    The cell runs within the magic's own. The traceback that IPython makes is kept,
    and shown when the same exception comes out of the magic instead of one that has our
    frames."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.show = shell._showtraceback
        self.holds = False
        self.error: BaseException | None = None
        self.lines: Any = None
        shell._showtraceback = self._showtraceback

    def _showtraceback(self, kind: Any, error: Any, lines: Any) -> None:
        if self.holds:
            self.error, self.lines = error, lines
            return
        if error is not None and error is self.error:
            lines = self.lines
        self.error = self.lines = None
        self.show(kind, error, lines)

    def run_cell(self, cell: str) -> Any:
        self.holds = True
        try:
            return self.shell.run_cell(cell)
        finally:
            self.holds = False

    def unload(self) -> None:
        vars(self.shell).pop("_showtraceback", None)


_errors: dict[Any, _Errors] = {}  # by shell, while the magic is there


def load(shell: Any) -> None:
    def film(line: str, cell: str) -> None:
        run_cell(shell, line, cell)

    film.__doc__ = __doc__
    unload(shell)
    if hasattr(shell, "_showtraceback"):
        _errors[shell] = _Errors(shell)
    shell.register_magic_function(film, magic_kind="cell", magic_name="film")


def unload(shell: Any) -> None:
    shell.magics_manager.magics["cell"].pop("film", None)
    errors = _errors.pop(shell, None)
    if errors is not None:
        errors.unload()


def run_cell(shell: Any, line: str, cell: str) -> None:
    from filmstrip import _api, _options

    wanted = _parser().parse_args(shlex.split(line))
    path = wanted.path or _options.free_path(os.path.abspath("cell"))
    path = _api.start(
        path,
        targets=wanted.target,
        exclude=wanted.exclude,
        level=wanted.level,
        redact=not wanted.no_redact,
        redact_words=wanted.redact,
        force=wanted.force,
    )
    try:
        result = _errors.get(shell, shell).run_cell(cell)
    finally:
        _api.stop()
    if not wanted.quiet:
        show(path, wanted.objwatch)
    error = result.error_before_exec or result.error_in_exec
    if error is not None:
        raise error


def show(path: str, objwatch: bool) -> None:
    """The log's beginning, and how to see the rest."""
    program = os.path.join(os.path.dirname(__file__), "bin", "filmstrip")
    words = [program, "log", "--color", "never"]
    words += ["--objwatch"] if objwatch else []
    shown = 0
    with subprocess.Popen([*words, path], stdout=subprocess.PIPE, text=True) as log:
        for text in log.stdout or ():
            if shown == MOST_LINES:
                log.terminate()
                break
            sys.stdout.write(text)
            shown += 1
    more = ", cut" if shown == MOST_LINES else ""
    print(f"filmstrip log {os.path.relpath(path)}  ({shown} lines{more})")
