"""autograd.Function written by the user, with Python code in its backward."""

import torch


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return 3 * x.pow(2) * gradient


class TwoOut(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.scale = scale
        ctx.set_materialize_grads(False)
        return x * scale, x.abs()

    @staticmethod
    def backward(ctx, first, second):
        total = torch.zeros(3)
        if first is not None:
            total = total + first * ctx.scale
        if second is not None:
            total = total + second
        return total, None


def main():
    x = torch.randn(3, requires_grad=True)
    seen = []
    x.register_hook(lambda gradient: seen.append(gradient.clone()))
    y = Cube.apply(x)
    first, _ = TwoOut.apply(y, 2.0)
    (gradient,) = torch.autograd.grad(first.sum(), x, create_graph=True)
    gradient.sum().backward()
    return first.detach(), gradient.detach(), x.grad, seen
