"""A TorchFunctionMode and a TorchDispatchMode of the user's own."""

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode


class Counter(TorchFunctionMode):
    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.names.append(torch.overrides.resolve_name(function) or function.__name__)
        return function(*args, **(kwargs or {}))


class Doubler(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        return out * 2 if function is torch.ones else out


class Lower(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.names.append(str(function))
        return function(*args, **(kwargs or {}))


def main():
    x = torch.randn(3)
    with Counter() as counter:
        a = torch.add(x, 1).relu()
        b = torch.nn.functional.layer_norm(a, (3,))
    with Doubler(), Counter() as inner:
        c = torch.ones(2)
    with Lower() as lower:
        d = torch.nn.functional.linear(x, torch.ones(2, 3)).sum()
    with torch.device("meta"):
        shape = torch.empty(4, 5).shape
    return a, b, c, d, tuple(shape), counter.names, inner.names, lower.names
