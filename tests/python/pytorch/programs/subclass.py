"""Tensor subclasses: with and without __torch_function__ of their own, a Parameter, a
wrapper that implements __torch_dispatch__."""

import torch
from torch.utils._pytree import tree_map


class Plain(torch.Tensor):
    pass


class Named(torch.Tensor):
    seen = 0

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        cls.seen += 1
        return super().__torch_function__(function, types, args, kwargs or {})


class Wrapper(torch.Tensor):
    @staticmethod
    def __new__(cls, inner):
        made = torch.Tensor._make_wrapper_subclass(
            cls, inner.size(), dtype=inner.dtype, requires_grad=inner.requires_grad
        )
        made.inner = inner
        return made

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        def unwrap(value):
            return value.inner if isinstance(value, cls) else value

        def wrap(value):
            return cls(value) if isinstance(value, torch.Tensor) else value

        out = function(*tree_map(unwrap, args), **tree_map(unwrap, kwargs or {}))
        return tree_map(wrap, out)


def main():
    plain = torch.ones(3).as_subclass(Plain)
    named = torch.arange(3.0).as_subclass(Named)
    sums = [plain + 1, named * 2, torch.add(named, plain.as_subclass(torch.Tensor))]
    sums += [torch.nn.functional.relu(named - 1), named.sum(), named[1:]]
    named[0] = 5
    wrapped = Wrapper(torch.full((2,), 2.0))
    product = (wrapped * wrapped).add(1)
    parameter = torch.nn.Parameter(torch.zeros(2))
    buffer = torch.nn.Buffer(torch.ones(2))
    kinds = [type(value).__name__ for value in (*sums, product, parameter + buffer)]
    values = [value.as_subclass(torch.Tensor) for value in (*sums, plain, named)]
    return values, product.inner, kinds, Named.seen
