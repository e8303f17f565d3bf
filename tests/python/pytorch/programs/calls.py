"""The same few operations in every way a call can be written."""

import functools
import operator

import torch
from torch import add, nn
from torch.nn.functional import linear


def main():
    a, b = torch.arange(3.0), torch.ones(3)
    pair, named = (a, b), {"input": a, "other": b}
    bound = a.add
    half = functools.partial(torch.add, a, alpha=0.5)
    results = [
        add(a, b),
        torch.add(*pair),
        torch.add(**named),
        torch.add(a, other=b, alpha=2),
        torch.add(a, b, out=torch.empty(3)),
        torch.Tensor.add(a, b),
        operator.add(a, b),
        getattr(a, "add")(b),
        half(b),
        2 + a,
        2 - a,
        2 / (a + 1),
        2**a,
        -a,
        abs(-a),
        +a,
        a // 2,
        a % 2,
        a == b,
        a != b,
        a < b,
        a >= b,
        ~(a > 1),
        (a > 1) & (b > 0),
        (a > 1) | (b > 0),
        divmod(7, 2),
        linear(a, torch.ones(2, 3)),
        nn.Identity()(a),
        *map(torch.neg, pair),
        *(torch.sigmoid(t) for t in pair),
        sum(pair),
        max(a[0], a[1]),
        sorted([a[2], a[0]]),
        torch.tensor([1.5, 2.5]).tolist(),
        float(a[1]),
        int(a[2]),
        bool(a[1]),
        [row.item() for row in a],
        torch.Tensor([1, 2]),
        torch.FloatTensor(2).zero_(),
        a.new_zeros(2, 2),
        a.type(torch.float64),
        a.double().float(),
        a.size(),
        a.size(0),
        a.numel(),
        a.dim(),
        bound(b),
        a.apply_(lambda value: value + 1),
        repr(a),
        f"{a[0]:.2f}",
    ]
    return results
