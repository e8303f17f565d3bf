"""Checks which layer includes which: the arrows of ARCHITECTURE.md, one way only.

Every `#include "layer/file.h"` or `#include "file.h"` in src/ is looked at; a layer is
a folder of src/ with all that is in it, sub-folders too. The public headers,
<filmstrip/...>, are open to all; Python.h only to the two extensions.
"""

from __future__ import annotations

import pathlib
import re
import sys

ALLOWED: dict[str, set[str]] = {
    "base": set(),
    "format": {"base"},
    "writer": {"base", "format"},
    "reader": {"base", "format"},
    "analysis": {"base", "format", "reader"},
    "export": {"base", "format", "reader", "analysis"},
    "step": {"base", "reader", "analysis", "export"},
    "screen": {"base", "reader", "analysis", "export", "step"},
    "dap": {"base", "reader", "analysis", "export", "step"},
    "cli": {"base", "format", "reader", "analysis", "export", "step", "screen", "dap"},
    "recorder": {"base", "format", "writer"},
    "pyreader": {"base", "format", "reader", "analysis", "export"},
}
WITH_PYTHON = {"recorder", "pyreader"}
PYTHON_HEADER = re.compile(
    r"^(Python|structmember|frameobject|opcode|internal/|cpython/|pycore_)"
)
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')


def check(root: pathlib.Path) -> list[str]:
    faults = []
    source = root / "src"
    for path in sorted(source.rglob("*.[ch]")):
        layer = path.relative_to(source).parts[0]
        if layer not in ALLOWED:
            faults.append(f"{path.relative_to(root)}: unknown layer {layer}")
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if match is None:
                continue
            bracket, name = match.groups()
            where = f"{path.relative_to(root)}:{number}"
            if PYTHON_HEADER.match(name):
                if layer not in WITH_PYTHON:
                    faults.append(f"{where}: {layer} must build without Python.h")
            elif bracket == '"' and "/" in name:
                other = name.split("/")[0]
                if not (source / name).exists() and not (root / name).exists():
                    faults.append(f"{where}: {name} does not exist")
                elif other != layer and other not in ALLOWED[layer]:
                    faults.append(f"{where}: {layer} must not include {other}")
            elif bracket == '"' and not (path.parent / name).exists():
                faults.append(
                    f"{where}: {name} is not in {path.parent.relative_to(source)}"
                )
    for path in sorted((root / "include").rglob("*.h")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if match and match[1] == '"':
                faults.append(
                    f"{path.relative_to(root)}:{number}: a public header may include "
                    "only <filmstrip/...> and the system's"
                )
    return faults


def main() -> int:
    faults = check(pathlib.Path(__file__).resolve().parents[1])
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
