"""Targets as ObjWatch understands them.

Each target is turned into three things: names for the recorder, which decides what is
recorded; rules for the log, which decide what of that is shown; and the table of
classes, functions and globals that the header prints. Modules are found by their spec
and read as source, never imported.
"""

from __future__ import annotations

import ast
import importlib.machinery
import importlib.util
import inspect
import json
import pkgutil
import sys
from collections.abc import Iterable
from types import FunctionType, MethodType, ModuleType
from typing import Any

from filmstrip import _options
from filmstrip.compat.objwatch.constants import Constants
from filmstrip.compat.objwatch.utils.util import target_handler

Table = dict[str, dict[str, Any]]  # module: classes, functions, globals


def _class_entry(
    methods: Iterable[str] = (), attributes: Iterable[str] = (), all: bool = False
) -> dict[str, Any]:
    return {
        "methods": list(methods),
        "attributes": list(attributes),
        "track_all": all,
    }


def _module_entry(
    classes: dict[str, Any] | None = None,
    functions: Iterable[str] = (),
    globals: Iterable[str] = (),
) -> dict[str, Any]:
    return {
        "classes": classes or {},
        "functions": list(functions),
        "globals": list(globals),
    }


class _Reader:
    """The classes, functions and globals a module defines, breadth first."""

    def __init__(self, tree: ast.Module) -> None:
        self.entry = _module_entry()
        level: list[tuple[ast.AST, bool, bool]] = [(tree, False, False)]
        while level:
            following = []
            for node, in_class, in_function in level:
                self._take(node, in_class, in_function)
                in_class = in_class or isinstance(node, ast.ClassDef)
                in_function = in_function or isinstance(node, ast.FunctionDef)
                following += [
                    (child, in_class, in_function)
                    for child in ast.iter_child_nodes(node)
                ]
            level = following

    def _take(self, node: ast.AST, in_class: bool, in_function: bool) -> None:
        if isinstance(node, ast.ClassDef):
            self.entry["classes"][node.name] = _class_entry(all=True)
        elif isinstance(node, ast.FunctionDef) and not in_class:
            self.entry["functions"].append(node.name)
        elif isinstance(node, ast.Assign) and not in_class and not in_function:
            for target in node.targets:
                names = target.elts if isinstance(target, ast.Tuple) else [target]
                self.entry["globals"] += [
                    name.id for name in names if isinstance(name, ast.Name)
                ]


class Targets:
    """What `targets` and `exclude_targets` mean. `warnings` are for the log."""

    def __init__(self, targets: Any, exclude_targets: Any = None) -> None:
        self.warnings: list[str] = []
        self.table: Table = {}
        self.files: set[str] = set()
        self.exclude_table: Table = {}
        self.exclude_files: set[str] = set()
        self._names: dict[bool, list[str]] = {False: [], True: []}
        self._rules: list[str] = []
        for target in _listed(targets):
            self._add(target, False)
        for target in _listed(exclude_targets):
            self._add(target, True)
        self._check_files()

    @property
    def names(self) -> list[str]:
        """Targets of the recorder."""
        return self._names[False]

    @property
    def excludes(self) -> list[str]:
        return self._names[True]

    @property
    def rules(self) -> str:
        """For the log, one a line: `class MODULE NAME`; an exclude begins with `-`."""
        return "\n".join(self._rules)

    def get_targets(self) -> Table:
        return self.table

    def get_exclude_targets(self) -> Table:
        return self.exclude_table

    def get_filename_targets(self) -> set[str]:
        return self.files

    def get_exclude_filename_targets(self) -> set[str]:
        return self.exclude_files

    @staticmethod
    def serialize_targets(
        targets: dict[str, Any], indent: int = Constants.LOG_INDENT_LEVEL
    ) -> str:
        """A table as the header shows it."""
        if len(targets) > Constants.MAX_TARGETS_DISPLAY:
            targets = dict.fromkeys(targets, "...")
            told = "Warning: too many top-level keys, only showing values like"
            targets[told] = "..."
        return json.dumps(targets, indent=indent, default=target_handler)

    def serialize(self) -> str:
        return self.serialize_targets(self.table)

    def _check_files(self) -> None:
        errors = []
        for file in sorted(self.files):
            for exclude in sorted(self.exclude_files, key=len, reverse=True):
                if file.endswith(exclude):
                    errors.append(
                        f"Target '{file}' ends with excluded pattern '{exclude}'"
                    )
                    break
        if errors:
            raise ValueError(
                "Found multiple filename validation errors:\n" + "\n".join(errors)
            )

    def _add(self, target: Any, excluding: bool) -> None:
        if isinstance(target, str) and target.endswith(".py"):
            (self.exclude_files if excluding else self.files).add(target)
            self._note("*" + target, ["file", target], excluding)
        elif isinstance(target, str):
            self._add_name(target, excluding)
        elif isinstance(target, ModuleType):
            self._add_name(target.__name__, excluding)
        elif isinstance(target, type):
            self._add_class(target, excluding)
        elif isinstance(target, (FunctionType, MethodType)):
            self._add_function(target, excluding)
        else:
            self.warnings.append(f"Unsupported target type: {type(target)}")

    def _note(self, name: str, rule: list[str], excluding: bool) -> None:
        self._names[excluding].append(name)
        self._rules.append(("-" if excluding else "") + " ".join(rule))

    def _enter(self, module: str, entry: dict[str, Any], excluding: bool) -> None:
        """Adds to the table; what a module has already stays."""
        table = self.exclude_table if excluding else self.table
        known = table.setdefault(module, _module_entry())
        for name, details in entry["classes"].items():
            mine = known["classes"].setdefault(name, _class_entry())
            for kind in ("methods", "attributes"):
                mine[kind] += [item for item in details[kind] if item not in mine[kind]]
            mine["track_all"] = mine["track_all"] or details["track_all"]
        for kind in ("functions", "globals"):
            known[kind] += [item for item in entry[kind] if item not in known[kind]]

    def _add_name(self, target: str, excluding: bool) -> None:
        module, _, symbol = target.partition(":")
        spec = _find_spec(module)
        if spec is None:
            self.warnings.append(f"Module {module} not found")
            return
        if not symbol:
            self._note(target, ["module", module], excluding)
            self._enter_module(spec.name, excluding)
        elif symbol.startswith(":"):
            name = symbol[1:].strip()
            self._note(target, ["global", module, name], excluding)
            self._enter(module, _module_entry(globals=[name]), excluding)
        elif symbol.endswith("()"):
            self._add_callable(module, symbol[:-2], excluding)
        else:
            owner, dot, attribute = symbol.partition(".")
            if dot:
                details = _class_entry(attributes=[attribute])
                self._note(target, ["attr", module, owner, attribute], excluding)
            else:
                details = _class_entry(all=True)
                self._note(target, ["class", module, owner], excluding)
            if owner in self._read(module)["classes"]:
                self._enter(module, _module_entry({owner: details}), excluding)

    def _add_callable(self, module: str, name: str, excluding: bool) -> None:
        owner, dot, method = name.partition(".")
        if dot:
            self._note(
                f"{module}:{name}()", ["method", module, owner, method], excluding
            )
            if owner in self._read(module)["classes"]:
                entry = _module_entry({owner: _class_entry(methods=[method])})
                self._enter(module, entry, excluding)
        else:
            self._note(f"{module}:{name}()", ["func", module, name], excluding)
            if name in self._read(module)["functions"]:
                self._enter(module, _module_entry(functions=[name]), excluding)

    def _add_class(self, target: type, excluding: bool) -> None:
        module = target.__module__
        rule = ["class", module, target.__name__]
        self._note(_options.name_target(target), rule, excluding)
        entry = _module_entry({target.__name__: _class_entry(all=True)})
        self._enter(module, entry, excluding)

    def _add_function(self, target: Any, excluding: bool) -> None:
        """A function, or a method where its qualified name tells the class."""
        module = getattr(inspect.getmodule(target), "__name__", "")
        owner, dot, method = target.__qualname__.partition(".")
        name = _options.name_target(target)
        if dot and "<locals>" not in method:
            entry = _module_entry({owner: _class_entry(methods=[method])})
            self._note(name, ["method", module, owner, method], excluding)
        else:
            entry = _module_entry(functions=[target.__name__])
            self._note(name, ["func", module, target.__name__], excluding)
        self._enter(module, entry, excluding)

    def _read(self, module: str) -> dict[str, Any]:
        """What the module's source defines; nothing if it has none."""
        spec = _find_spec(module)
        if spec is None or not (spec.origin or "").endswith(".py"):
            return _module_entry()
        try:
            with open(spec.origin or "", encoding="utf-8") as file:
                return _Reader(ast.parse(file.read())).entry
        except (OSError, SyntaxError, ValueError, RecursionError) as error:
            self.warnings.append(f"Failed to parse {spec.origin}: {error}")
            return _module_entry()

    def _enter_module(self, module: str, excluding: bool) -> None:
        """A module and all below it."""
        entry = self._read(module)
        if any(entry.values()):
            self._enter(module, entry, excluding)
        try:
            spec = _find_spec(module)
            found = spec and spec.submodule_search_locations
            below = [item.name for item in pkgutil.iter_modules(found)] if found else []
        except Exception as error:  # a package whose parent cannot be imported
            self.warnings.append(f"Failed to parse submodule '{module}': {error}")
            return
        for name in below:
            self._enter_module(f"{module}.{name}", excluding)


def _find_spec(module: str) -> importlib.machinery.ModuleSpec | None:
    """Where the module is; None: nowhere. A missing parent raises, as with ObjWatch."""
    try:
        return importlib.util.find_spec(module)
    except ValueError:  # __main__ has none
        file = getattr(sys.modules.get(module), "__file__", None)
        return importlib.machinery.ModuleSpec(module, None, origin=file)


def _listed(targets: Any) -> Iterable[Any]:
    if targets is None:
        return ()
    return [targets] if isinstance(targets, str) else targets
