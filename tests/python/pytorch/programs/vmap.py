"""torch.func: vmap, grad, jacobians, functional_call."""

import torch
from torch import func


def loss(weight, x):
    return torch.tanh(x @ weight).sum()


def main():
    weight, batch = torch.randn(4), torch.randn(3, 4)
    dots = torch.vmap(torch.dot)(batch, batch)
    rows = func.vmap(lambda row: row.softmax(0) - row[0])(batch)
    outer = func.vmap(func.vmap(torch.mul, (None, 0)), (0, None))(weight, weight)
    gradients = func.vmap(func.grad(loss), (None, 0))(weight, batch)
    value, gradient = None, None
    gradient, value = func.grad_and_value(loss)(weight, batch[0])
    jacobian = func.jacrev(lambda x: x.sin() * 2)(weight)
    out, tangent = func.jvp(torch.cos, (weight,), (torch.ones(4),))
    layer = torch.nn.Linear(4, 2)
    called = func.functional_call(layer, dict(layer.named_parameters()), (batch,))
    noise = func.vmap(lambda x: x + torch.randn(4), randomness="different")(batch)
    return (
        dots, rows, outer, gradients, gradient, value, jacobian,
        out, tangent, called.detach(), noise,
    )  # fmt: skip
