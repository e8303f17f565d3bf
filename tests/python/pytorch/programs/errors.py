"""Operations that raise: what is raised, where, and what is left afterwards."""

import torch
from torch.nn import functional as F


def main():
    a, b = torch.ones(2, 3), torch.ones(2, 3)
    tries = [
        lambda: a @ b,
        lambda: torch.add(a, torch.ones(5)),
        lambda: torch.add(a),
        lambda: torch.add(a, b, nonsense=1),
        lambda: a.view(7),
        lambda: a.reshape(-1, -1),
        lambda: torch.cat([a, torch.ones(1)]),
        lambda: torch.tensor(["text"]),
        lambda: torch.zeros(-1),
        lambda: F.cross_entropy(a, torch.tensor([9, 0])),
        lambda: F.linear(a, torch.ones(4, 7)),
        lambda: a.to("nonsense"),
        lambda: torch.linalg.cholesky(-torch.eye(2)),
        lambda: a.sum(dim=5),
        lambda: bool(a),
        lambda: a.item(),
        lambda: int(torch.tensor(float("nan"))),
        lambda: a.sum().backward(),
        lambda: torch.nn.Linear(3, 2)(torch.ones(2)),
        lambda: a.add_("x"),
        lambda: a + "x",
        lambda: a[0, 0, 0],
    ]
    told = []
    for attempt in tries:
        try:
            attempt()
        except Exception as error:
            chained = type(error.__context__).__name__
            told.append((type(error).__name__, str(error).splitlines()[:3], chained))
        else:
            told.append("nothing raised")
    return told, a, b
