"""Changes in place, of tensors and of views, and what they refuse."""

import torch


def main():
    a = torch.arange(12.0).reshape(3, 4)
    b = a.clone()
    a.add_(1).mul_(2)
    a += b
    a -= 0.5
    a *= b
    a /= 2
    a //= 3
    a **= 2
    a %= 7
    view = a[1:, ::2]
    view.zero_()
    view.fill_(4)
    a.t_()
    a.clamp_(min=1).sqrt_()
    torch.add(a, a, out=a)
    total = torch.empty(0)
    torch.sum(a, dim=0, out=total)
    whole = torch.arange(6)
    whole |= 8
    whole &= 13
    whole ^= 1
    whole <<= 1
    whole >>= 1
    a.copy_(torch.ones(4, 3))
    a.index_fill_(0, torch.tensor([1]), -1)
    a.scatter_add_(0, torch.zeros(1, 3, dtype=torch.int64), torch.ones(1, 3))
    a.masked_fill_(a < 0, 9)
    a.resize_(2, 3)
    b.set_(a)
    leaf = torch.zeros(2, requires_grad=True)
    errors = []
    for change in (lambda: leaf.add_(1), lambda: a.add_(torch.ones(5))):
        try:
            change()
        except RuntimeError as error:
            errors.append(str(error))
    with torch.no_grad():
        leaf.add_(1)
    leaf.data.mul_(3)
    return a, b, total, whole, leaf.detach(), errors
