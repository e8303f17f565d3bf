"""What a Python TorchFunctionMode sees of a program, written as JSON lines: the truth
that recordings are compared with. It shares no line with the recorder.

    {"kind": "op", "thread": 0, "op": 3, "function": "torch.add", "depth": 0,
     "args": [...], "kwargs": {...}, "frame": ["mlp.py", 17, "forward"],
     "chain": [["torch.nn.functional.relu", 1769, true]], "module": "layers.0"}
    {"kind": "op_end", "op": 3, "result": ... or "exception": [type, message],
     "changed": [...]}
    {"kind": "unseen", "functions": [...]}      first: what torch tells no mode of

torch hands a mode either a builtin (an operation) or a function of its own Python API;
while the mode handles one, it is off. So that the operations within Python functions are
seen too, those are told that nobody overrides anything (their checks, has_torch_function
and its kin, leave the oracle out), and run as they do without a mode. User code that
takes part through __torch_function__ is called by the oracle with the oracle on again:
what it calls is nested in the operation it was called for.

`module` is the path of the nn.Module whose `forward` runs, from the outermost one (of which it is the
class).
`chain` are torch's Python functions between the program and the operation, outermost
first: name, line, and whether a mode is told of that function. Property getters and setters are left out.
"""

from __future__ import annotations

import json
import pathlib
import sys
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch._ops import OpOverload, OpOverloadPacket
from torch.overrides import TorchFunctionMode, resolve_name
from torch.utils._device import DeviceContext

CHECKS = (
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
)
FUNCTIONS = (types.BuiltinFunctionType, types.FunctionType)
HERE = pathlib.Path(__file__)

disabled = torch._C._disabled_torch_function_impl
stack_length = torch._C._len_torch_function_stack
push = torch._C._push_on_torch_function_stack
pop = torch._C._pop_torch_function_stack


class Numbers:
    """Numbers for objects: one that died and one that took its address differ."""

    def __init__(self) -> None:
        self.given: dict[int, tuple[int, Any]] = {}
        self.next = 0

    def of(self, key: int, kept: object) -> int:
        known = self.given.get(key)
        if known is None:
            self.next += 1
            self.given[key] = known = (self.next, kept)
        return known[0]

    def of_object(self, value: object) -> int:
        key = id(value)
        known = self.given.get(key)
        if known is not None and known[1]() is value:
            return known[0]
        self.next += 1
        self.given[key] = (self.next, weakref.ref(value))
        return self.next


class Shared:
    """What all threads write to."""

    def __init__(self, path: pathlib.Path, folder: str) -> None:
        self.out = path.open("w", encoding="utf-8")
        self.folder = folder
        self.lock = threading.RLock()
        self.tensors, self.storages = Numbers(), Numbers()
        self.ops = 0
        self.threads: dict[int, int] = {}
        self.functions: set[types.CodeType] = (
            set()
        )  # of torch's, that a mode is told of

    def write(self, **record: object) -> None:
        with self.lock:
            self.out.write(json.dumps(record) + "\n")

    def number(self) -> int:
        with self.lock:
            self.ops += 1
            return self.ops

    def thread(self) -> int:
        return self.threads.setdefault(threading.get_ident(), len(self.threads))


def name_of(function: Callable[..., object]) -> str:
    name = resolve_name(function)
    if name is not None:
        return name
    return f"?.{getattr(function, '__name__', '?')}"


def is_operation(function: object) -> bool:
    """A builtin or a descriptor; neither Python code nor an operator of torch.ops."""
    return not isinstance(
        function,
        (types.FunctionType, types.MethodType, type, OpOverload, OpOverloadPacket),
    )


def is_access(function: object) -> bool:
    """The getter or setter of a property."""
    return getattr(function, "__name__", "") in ("__get__", "__set__", "__delete__")


def asked(value: torch.Tensor, what: Callable[[], object]) -> object:
    try:
        return what()
    except (RuntimeError, NotImplementedError, TypeError, AttributeError, ValueError):
        return None


def describe_tensor(shared: Shared, value: torch.Tensor) -> dict[str, object]:
    """By Python's own attributes; what a kind of tensor has not is None."""
    with torch._C.DisableTorchFunction():
        wrapped = torch._C._functorch.is_functorch_wrapped_tensor(value)
        kind = type(value)
        plain = (
            kind in (torch.Tensor, torch.nn.Parameter)
            and not wrapped
            and value.layout is torch.strided
            and not value.is_nested
            and not value.is_quantized
        )
        told: dict[str, object] = {
            "type": kind.__name__,
            "plain": plain,
            "object": shared.tensors.of_object(value),
            "dtype": str(value.dtype).removeprefix("torch."),
            "device": str(value.device),
            "layout": str(value.layout).removeprefix("torch."),
            "requires_grad": value.requires_grad,
            "shape": asked(value, lambda: list(value.shape)),
        }
        if not plain:
            return told
        told["strides"] = list(value.stride())
        told["offset"] = value.storage_offset()
        told["version"] = None if value.is_inference() else value._version
        # Kept: what has its address later is it.
        memory = value.untyped_storage()
        told["storage"] = shared.storages.of(memory._cdata, memory)
        return told


def describe(shared: Shared, value: object) -> object:
    if isinstance(value, torch.Tensor):
        return {"tensor": describe_tensor(shared, value)}
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        if type(value) in (type(None), bool, int, float, complex, str):
            return {"text": repr(value)}
        return {"type": type(value).__name__}
    if isinstance(value, (list, tuple)):
        return {
            "type": type(value).__name__,
            "items": [describe(shared, item) for item in value],
        }
    if isinstance(value, dict):
        return {
            "type": type(value).__name__,
            "pairs": [[repr(k), describe(shared, v)] for k, v in value.items()],
        }
    return {"type": type(value).__name__}


def tensors_in(value: object) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [found for item in value for found in tensors_in(item)]
    if isinstance(value, dict):
        return [found for item in value.values() for found in tensors_in(item)]
    return []


def version(value: torch.Tensor) -> int | None:
    with torch._C.DisableTorchFunction():
        return None if value.is_inference() else value._version


def path_of(modules: list[torch.nn.Module]) -> str:
    """The path of the last of nested modules, from the first; of that its class."""
    if not modules:
        return ""
    if modules[-1] is modules[0]:
        return type(modules[0]).__name__
    for name, module in modules[0].named_modules():
        if module is modules[-1]:
            return name
    return "?"


class Mode(TorchFunctionMode):
    """One for each thread; it keeps itself on top of the user's modes."""

    def __init__(self, shared: Shared) -> None:
        super().__init__()
        self.shared = shared
        self.depth = 0
        self.from_python = False
        self.forwards = False  # the device's mode is being called

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        from_python, self.from_python = self.from_python, False
        if from_python or is_access(function) or not is_operation(function):
            return self.forward(function, types, args, kwargs)
        shared = self.shared
        number = shared.number()
        operands = tensors_in([*args, *kwargs.values()])
        before = [version(tensor) for tensor in operands]
        frame, chain, module = self.where()
        shared.write(
            kind="op",
            op=number,
            thread=shared.thread(),
            function=name_of(function),
            depth=self.depth,
            args=[describe(shared, value) for value in args],
            kwargs={key: describe(shared, value) for key, value in kwargs.items()},
            frame=frame,
            module=module,
            chain=chain,
        )
        self.depth += 1
        try:
            result = self.forward(function, types, args, kwargs)
        except BaseException as error:
            self.depth -= 1
            shared.write(
                kind="op_end",
                op=number,
                exception=[type(error).__name__, str(error)],
            )
            raise
        self.depth -= 1
        changed = [
            tensor
            for tensor, old in zip(operands, before, strict=True)
            if old is not None and version(tensor) != old
        ]
        shared.write(
            kind="op_end",
            op=number,
            result=describe(shared, result),
            changed=[describe(shared, tensor) for tensor in changed],
        )
        return result

    def forward(self, function, types, args, kwargs):
        """Calls it as torch would without the oracle, with the oracle on in user code."""
        if stack_length() > 0:
            mode = pop()
            self.forwards = isinstance(mode, DeviceContext)
            try:
                with self:
                    return mode.__torch_function__(function, types, args, kwargs)
            finally:
                push(mode)
        if torch._C._is_torch_function_enabled():
            for kind in types:
                handler = kind.__torch_function__
                if handler is disabled or kind is torch.Tensor:
                    continue
                with self:
                    result = handler(function, types, args, kwargs)
                if result is not NotImplemented:
                    return result
        for tensor in tensors_in([*args, *kwargs.values()]):
            self.watch_dispatch(type(tensor))
        return function(*args, **kwargs)

    def watch_dispatch(self, kind: type) -> None:
        """The __torch_dispatch__ of a user's class runs with the oracle on."""
        dispatch = kind.__dict__.get("__torch_dispatch__")
        if (
            kind.__module__.startswith("torch")
            or not isinstance(dispatch, classmethod)
            or hasattr(dispatch.__func__, "is_watched")
        ):
            return
        original = dispatch.__func__

        def watched(cls, *args, **kwargs):
            with self:
                return original(cls, *args, **kwargs)

        watched.is_watched = True
        kind.__torch_dispatch__ = classmethod(watched)

    def where(self) -> tuple[list[object] | None, list[list[object]], str]:
        """The program's innermost frame, torch's between it and here, and the path of
        the module whose forward runs."""
        frame = sys._getframe(2)
        found: list[object] | None = None
        chain: list[list[object]] = []
        modules: list[torch.nn.Module] = []
        while frame is not None:
            code = frame.f_code
            name = code.co_filename
            if found is not None or name == str(HERE):
                pass
            elif name.startswith(self.shared.folder):
                found = [pathlib.Path(name).name, frame.f_lineno, code.co_qualname]
            else:
                module = frame.f_globals.get("__name__", "?")
                if module.startswith("torch."):
                    seen = code in self.shared.functions
                    link = [f"{module}.{code.co_qualname}", frame.f_lineno, seen]
                    chain.insert(0, link)
            if code.co_name == "_call_impl" and code.co_argcount > 0:
                modules.insert(0, frame.f_locals["self"])
            frame = frame.f_back
        return found, chain, path_of(modules)


class Oracle:
    """Sees all operations of all threads that start while it is on."""

    def __init__(self, path: pathlib.Path, folder: str) -> None:
        self.shared = Shared(path, folder)
        self.local = threading.local()
        self.undo: list[Callable[[], None]] = []

    def mode(self) -> Mode | None:
        return getattr(self.local, "mode", None)

    def replace(self, owner: object, name: str, value: object) -> None:
        old = getattr(owner, name)
        self.undo.append(lambda: setattr(owner, name, old))
        setattr(owner, name, value)

    def patch_checks(self) -> None:
        """Python functions of torch's do not see the oracle."""
        originals = {getattr(torch.overrides, name): name for name in CHECKS}
        handle = torch.overrides.handle_torch_function

        def make(check: Callable[..., bool]) -> Callable[..., bool]:
            def replaced(*args: object) -> bool:
                self.shared.functions.add(sys._getframe(1).f_code)
                mode = self.mode()
                if mode is None or stack_length() == 0:
                    return check(*args)
                top = pop()
                try:
                    return check(*args)
                finally:
                    push(top)

            return replaced

        def handled(*args: object, **kwargs: object) -> object:
            mode = self.mode()
            if mode is not None and stack_length() > 0:
                mode.from_python = True
            return handle(*args, **kwargs)

        replacements: dict[object, object] = {c: make(c) for c in originals}
        replacements[handle] = handled
        for module in list(sys.modules.values()):
            if not getattr(module, "__name__", "").startswith("torch"):
                continue
            for name, value in list(getattr(module, "__dict__", {}).items()):
                if type(value) in FUNCTIONS and value in replacements:
                    self.replace(module, name, replacements[value])

    def patch_modes(self) -> None:
        """A mode that the user enters goes below the oracle."""
        enter, leave = TorchFunctionMode.__enter__, TorchFunctionMode.__exit__

        def entered(mode: TorchFunctionMode) -> object:
            own = self.mode()
            if own is None or mode is own or stack_length() == 0:
                return enter(mode)
            top = pop()
            try:
                return enter(mode)
            finally:
                push(top)

        def left(mode: TorchFunctionMode, *what: object) -> object:
            own = self.mode()
            if own is None or mode is own or stack_length() < 2:
                return leave(mode, *what)
            top = pop()
            try:
                return leave(mode, *what)
            finally:
                push(top)

        self.replace(TorchFunctionMode, "__enter__", entered)
        self.replace(TorchFunctionMode, "__exit__", left)

    def patch_devices(self) -> None:
        """`with torch.device(...)` enters a mode of torch's from C++, above the oracle."""
        original = DeviceContext.__torch_function__

        def replaced(context, function, types, args=(), kwargs=None):
            own = self.mode()
            if own is None or own.forwards or stack_length() == 0:
                if own is not None:
                    own.forwards = False
                return original(context, function, types, args, kwargs)
            top = pop()
            push(context)
            try:
                return own.__torch_function__(function, types, args, kwargs)
            finally:
                pop()
                push(top)

        self.replace(DeviceContext, "__torch_function__", replaced)

    def patch_threads(self) -> None:
        run = threading.Thread.run

        def running(thread: threading.Thread) -> None:
            with self.here():
                run(thread)

        self.replace(threading.Thread, "run", running)

    def here(self) -> Mode:
        self.local.mode = Mode(self.shared)
        return self.local.mode

    def begin(self, name: str) -> None:
        """What comes now belongs to `name`."""
        self.shared.write(kind="case", name=name)

    def __enter__(self) -> Oracle:
        unseen = {resolve_name(f) for f in torch.overrides.get_ignored_functions()}
        self.shared.write(kind="unseen", functions=sorted(unseen - {None}))
        self.patch_checks()
        self.patch_modes()
        self.patch_devices()
        self.patch_threads()
        self.shared.thread()  # this one is 0
        self.main = self.here()
        self.main.__enter__()
        return self

    def __exit__(self, *what: object) -> None:
        self.main.__exit__(None, None, None)
        for undo in reversed(self.undo):
            undo()
        self.shared.out.close()
