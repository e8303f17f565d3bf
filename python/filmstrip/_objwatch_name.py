"""`import objwatch` in a program started by `python -m filmstrip.compat.objwatch`, and
in the Python processes it starts: those of multiprocessing's "spawn" and "forkserver"
run its script once more.

filmstrip.pth imports this where the environment variable is set. Nothing of ours is
loaded until somebody asks for the name.
"""

import importlib.abc
import importlib.machinery
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

CARRIER = "FILMSTRIP_OBJWATCH"  # a form of `log --objwatch`; "0.5": not strict


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(
        self,
        fullname: str,
        path: "Sequence[str] | None",
        target: "ModuleType | None" = None,
    ) -> "importlib.machinery.ModuleSpec | None":
        if fullname != "objwatch":
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: "importlib.machinery.ModuleSpec") -> "ModuleType":
        from filmstrip.compat.objwatch.alias import install

        form = os.environ.get(CARRIER, "")
        install(strict=form == "strict", version="0.3" if form == "0.3" else "0.5")
        return sys.modules[spec.name]

    def exec_module(self, module: "ModuleType") -> None:
        """It was executed when it was imported under its own name."""


if os.environ.get(CARRIER):
    sys.meta_path.insert(0, _Finder())
