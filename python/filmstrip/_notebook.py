"""`%load_ext filmstrip` and `%%film` in IPython and Jupyter.

    %%film [NAME.film] [--target TARGET]... [--level LEVEL] [--redact WORD]...
           [--no-redact] [--objwatch] [--quiet]
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


def load(shell: Any) -> None:
    def film(line: str, cell: str) -> None:
        run_cell(shell, line, cell)

    film.__doc__ = __doc__
    shell.register_magic_function(film, magic_kind="cell", magic_name="film")


def unload(shell: Any) -> None:
    shell.magics_manager.magics["cell"].pop("film", None)


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
        result = shell.run_cell(cell)
    finally:
        _api.stop()
    if not wanted.quiet:
        show(path, wanted.objwatch)
    if not result.success:
        raise SilentError


class SilentError(Exception):
    """The cell's own error was shown already; IPython shows nothing of this one."""

    def _render_traceback_(self) -> list[str]:
        return []


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
