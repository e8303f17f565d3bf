"""Recurrent layers: torch's own, packed sequences, and a cell in a Python loop."""

import torch
from torch import nn
from torch.nn.utils import rnn


class Cell(nn.Module):
    def __init__(self, inputs, width):
        super().__init__()
        self.gates = nn.Linear(inputs + width, 4 * width)

    def forward(self, x, state):
        hidden, cell = state
        i, f, g, o = self.gates(torch.cat([x, hidden], dim=1)).chunk(4, dim=1)
        cell = torch.sigmoid(f) * cell + i.sigmoid() * g.tanh()
        hidden = o.sigmoid() * torch.tanh(cell)
        return hidden, cell


def main():
    lstm = nn.LSTM(3, 5, num_layers=2, batch_first=True)
    gru = nn.GRU(3, 5, bidirectional=True, batch_first=True)
    long, short = torch.randn(4, 3), torch.randn(2, 3)
    padded = rnn.pad_sequence([long, short], batch_first=True)
    packed = rnn.pack_padded_sequence(padded, [4, 2], batch_first=True)
    out, (hidden, cell) = lstm(packed)
    unpacked, lengths = rnn.pad_packed_sequence(out, batch_first=True)
    both, last = gru(padded)
    own = Cell(3, 5)
    state = torch.zeros(2, 5), torch.zeros(2, 5)
    for step in padded.unbind(1):
        state = own(step, state)
    (unpacked.sum() + both.mean() + state[0].sum()).backward()
    gradients = [p.grad for m in (lstm, gru, own) for p in m.parameters()]
    return unpacked, lengths, hidden, cell, last, state, gradients
