"""What the globals of the watched modules hold when a recording begins.

A recording has the values that are written while it runs. So code is run for each
module that writes each of its globals once more, in a copy of its names: nothing of the
program's own runs, and nothing of it changes. export/objwatch_config.h knows the file
by its name.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from filmstrip.compat.objwatch.scope import Scope
from filmstrip.compat.objwatch.targets import Targets

FILE = "<globals before filmstrip.watch>"


def write(scope: Scope, targets: Targets) -> None:
    files = tuple(targets.files)
    for name, module in list(sys.modules.items()):
        if type(module) is not ModuleType:
            continue  # its attributes may be code
        values = vars(module)
        file = values.get("__file__")
        if name in targets.table or (isinstance(file, str) and file.endswith(files)):
            _write(name, values, scope)


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
