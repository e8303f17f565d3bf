"""Classes that are no tensors but take part through __torch_function__."""

import torch

HANDLERS = {}


def handles(function):
    def register(handler):
        HANDLERS[function] = handler
        return handler

    return register


class Scaled:
    def __init__(self, base, factor):
        self.base, self.factor = base, factor

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function in HANDLERS:
            return HANDLERS[function](*args, **(kwargs or {}))
        plain = [a.base * a.factor if isinstance(a, Scaled) else a for a in args]
        return function(*plain, **(kwargs or {}))


@handles(torch.mean)
def mean(value):
    return value.base.mean() * value.factor


@handles(torch.nn.functional.relu)
def relu(value, inplace=False):
    return Scaled(torch.relu(value.base), value.factor)


def main():
    scaled = Scaled(torch.arange(4.0) - 1, 3)
    results = [
        torch.mean(scaled),
        torch.add(scaled, 1),
        torch.nn.functional.relu(scaled).base,
        torch.nn.functional.softmax(scaled, 0),
        torch.stack([torch.ones(4), torch.ones(4)]).matmul(torch.ones(4)),
        torch.ones(4).mul(scaled) if hasattr(torch, "mul") else None,
        torch.maximum(scaled, torch.ones(4)),
    ]
    errors = []
    try:
        torch.cat([scaled, object()])
    except TypeError as error:
        errors.append(type(error).__name__)
    return results, errors
