"""What the globals of the watched modules hold when a recording begins.

A recording has the values that are written while it runs. So code is run for each
module that writes each of its globals once more, in a copy of its names: nothing of the
program's own runs, and nothing of it changes. export/objwatch_config.h knows the file
by its name.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from filmstrip.compat.objwatch.scope import Scope
from filmstrip.compat.objwatch.targets import Targets

FILE = "<globals before filmstrip.watch>"


_mro = type.__dict__["__mro__"].__get__
_attributes = type.__dict__["__dict__"].__get__
_dict_offset = type.__dict__["__dictoffset__"].__get__
_name = type.__dict__["__name__"].__get__


def _modules(targets: Targets) -> Iterator[tuple[str, dict[str, Any]]]:
    """The watched modules that are loaded: their names, and those in them."""
    files = tuple(targets.files)
    for name, module in list(sys.modules.items()):
        if type(module) is not ModuleType:
            continue  # its attributes may be code
        values = vars(module)
        file = values.get("__file__")
        if name in targets.table or (isinstance(file, str) and file.endswith(files)):
            yield name, values


def write(scope: Scope, targets: Targets) -> None:
    for name, values in _modules(targets):
        _write(name, values, scope)


def slots(targets: Targets) -> str:
    """`CLASS NAME` a line: members of `__slots__` in classes whose instances have a
    `__dict__` too, which alone ObjWatch looks at. Past any metaclass."""
    found: dict[str, set[str]] = {}
    for _, values in _modules(targets):
        for value in list(values.values()):
            if issubclass(type(value), type) and _dict_offset(value) != 0:
                members = set(_slots_of(value))
                # A recording knows classes by their last name.
                found[_name(value)] = found.get(_name(value), members) & members
    return "\n".join(
        f"{kind} {name}" for kind in sorted(found) for name in sorted(found[kind])
    )


def _slots_of(kind: type) -> Iterator[str]:
    for base in _mro(kind):
        given = _attributes(base).get("__slots__", ())
        if type(given) is str:
            given = (given,)
        if type(given) not in (tuple, list, dict, set):
            continue  # an iterator, which is at its end, or a class of the program
        for name in list(given):
            if type(name) is str and name not in ("__dict__", "__weakref__"):
                private = name.startswith("__") and not name.endswith("__")
                owner = _name(base).lstrip("_")
                yield f"_{owner}{name}" if private and owner else name


def _write(module: str, values: dict[str, Any], scope: Scope) -> None:
    shown = {
        name: value
        for name, value in list(values.items())
        if type(name) is str and scope.traces_global(module, name)
    }
    if not shown:
        return
    # Any text may be a global's name: the code's names are put in afterwards.
    text = "\n".join(f"name{i} = name{i}" for i in range(len(shown)))
    code = compile(text, FILE, "exec").replace(co_names=tuple(shown))
    exec(code, {"__builtins__": {}, "__name__": module, **shown})
