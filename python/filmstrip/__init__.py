"""filmstrip: a flight recorder for Python programs.

    with filmstrip.record("run.film", targets=["my_package"]):
        work()
    film = filmstrip.open("run.film")
    for event in film.events():
        print(event.kind, event.function, event.line)

On the command line, `filmstrip run program.py`. Nothing is imported before it is used:
this package is also loaded into programs that are recorded from outside.

PYTEST_DONT_REWRITE: pytest wants to rewrite the asserts of packages that bring a
plugin, and warns if it finds one imported, as this one is in every recorded run.
Without the word, `filmstrip run -m pytest` fails where warnings are errors.
"""

import os
import sys

# Under -OO the text above is not there.
__doc__ = __doc__ or "PYTEST_DONT_REWRITE"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from filmstrip._api import (
        Recording,
        Statistics,
        pause,
        record,
        recording,
        resume,
        start,
        statistics,
        stop,
    )
    from filmstrip._film import Call, Film, Info, Thread, open
    from filmstrip._moment import Frame, Moment, NotRecorded, Value, Write
    from filmstrip._reader import Code, Event, FilmError
    from filmstrip._version import __version__
    from filmstrip.compat.objwatch.core import watch

__all__ = [
    "Call",
    "Code",
    "Event",
    "Film",
    "FilmError",
    "Frame",
    "Info",
    "Moment",
    "NotRecorded",
    "Recording",
    "Statistics",
    "Thread",
    "Value",
    "Write",
    "__version__",
    "open",
    "pause",
    "record",
    "recording",
    "resume",
    "start",
    "statistics",
    "stop",
    "watch",
]


def _why_not_here() -> str:
    """The one sentence that says why filmstrip cannot run here; empty if it can."""
    if sys.implementation.name != "cpython" or not (
        (3, 11) <= sys.version_info[:2] <= (3, 14)
    ):
        return "filmstrip needs CPython 3.11 to 3.14"
    if not sys.platform.startswith("linux") or os.uname().machine != "x86_64":
        return "filmstrip runs on Linux x86-64 only"
    if "t" in sys.abiflags:
        return "filmstrip does not support free-threaded builds of Python"
    return ""


if _why_not_here():
    raise ImportError(_why_not_here())

_HOME_OF = {
    "Call": "_film",
    "Code": "_reader",
    "Event": "_reader",
    "Film": "_film",
    "FilmError": "_reader",
    "Frame": "_moment",
    "Info": "_film",
    "Moment": "_moment",
    "NotRecorded": "_moment",
    "Thread": "_film",
    "Value": "_moment",
    "Write": "_moment",
    "__version__": "_version",
    "open": "_film",
    "watch": "compat.objwatch.core",
}


def __getattr__(name: str) -> "Any":
    if name not in __all__:
        raise AttributeError(f"module 'filmstrip' has no attribute {name!r}")
    import importlib

    module = importlib.import_module("filmstrip." + _HOME_OF.get(name, "_api"))
    value = getattr(module, name)
    globals()[name] = value
    return value


def load_ipython_extension(shell: "Any") -> None:
    """%load_ext filmstrip: adds %%film."""
    from filmstrip import _notebook

    _notebook.load(shell)


def unload_ipython_extension(shell: "Any") -> None:
    from filmstrip import _notebook

    _notebook.unload(shell)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
