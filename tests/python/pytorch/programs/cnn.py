"""Convolutions, batch norm, pooling, dropout; training, then evaluation."""

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(width)

    def forward(self, x):
        return F.relu(x + self.norm(self.conv(x)), inplace=True)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 4, 3, stride=2)
        self.blocks = nn.Sequential(Block(4), Block(4))
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        x = self.blocks(self.stem(x))
        x = F.max_pool2d(x, 2)
        x = F.adaptive_avg_pool2d(x, 1).flatten(1)
        return self.head(F.dropout(x, 0.25, training=self.training))


def main():
    net = Net()
    optimiser = torch.optim.Adam(net.parameters(), lr=0.01, foreach=False)
    x, target = torch.randn(2, 1, 12, 12), torch.tensor([0, 2])
    for _ in range(2):
        optimiser.zero_grad(set_to_none=False)
        F.nll_loss(F.log_softmax(net(x), dim=1), target).backward()
        optimiser.step()
    net.eval()
    with torch.no_grad():
        scores = net(x)
        values, indices = scores.max(dim=1)
    return scores, values, indices, dict(net.state_dict())
