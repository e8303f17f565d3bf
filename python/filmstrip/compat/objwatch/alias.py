"""Answering for `import objwatch` itself."""

from __future__ import annotations

import importlib
import sys

from filmstrip.compat.objwatch import tracer

FORMS = {"0.5": "strict", "0.3": "0.3"}
MODULES = (
    *("config", "constants", "core", "event_handls", "events", "mp_handls"),
    *("runtime_info", "targets", "tracer"),
    *("utils", "utils.logger", "utils.util", "utils.weak"),
    *("wrappers", "wrappers.abc_wrapper", "wrappers.base_wrapper"),
    *("wrappers.cpu_memory_wrapper", "wrappers.tensor_shape_wrapper"),
    "wrappers.torch_memory_wrapper",
)


def install(strict: bool = False, version: str = "0.5") -> None:
    """From now on `import objwatch` gives filmstrip.compat.objwatch, in this process.

    strict: lines are ObjWatch's very own where nothing else is asked for.
    version: "0.3" for the lines of ObjWatch 0.2 to 0.4, which are always strict.
    """
    if version not in FORMS:
        raise ValueError(f"version is '0.5' or '0.3', not {version!r}")
    ours = __name__.rpartition(".")[0]
    for name in ("", *MODULES):
        end = f".{name}" if name else ""
        sys.modules[f"objwatch{end}"] = importlib.import_module(ours + end)
    tracer.defaults.form = FORMS[version] if strict or version == "0.3" else ""
