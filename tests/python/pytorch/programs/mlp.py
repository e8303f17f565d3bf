"""An MLP with LayerNorm and GELU, three steps of SGD."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.norm = nn.LayerNorm(16)
        self.last = nn.Linear(16, 4)

    def forward(self, x):
        hidden = nn.functional.gelu(self.norm(self.first(x)))
        return self.last(hidden)


def main():
    net = Net()
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for _ in range(3):
        x = torch.randn(5, 8)
        target = torch.randint(0, 4, (5,))
        optimiser.zero_grad()
        loss = nn.functional.cross_entropy(net(x), target)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses, [p.detach() for p in net.parameters()]
