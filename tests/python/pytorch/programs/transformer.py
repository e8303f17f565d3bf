"""A small transformer, written out: embedding, causal attention, feed forward."""

import math

import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
            for part in self.qkv(x).split(width, dim=2)
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        mask = torch.ones(length, length, dtype=torch.bool).tril()
        scores = scores.masked_fill(~mask, float("-inf"))
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).contiguous()
        fused = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        assert torch.allclose(fused.transpose(1, 2), mixed, atol=1e-5)
        return self.out(mixed.view(batch, length, width))


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attn = Attention(width, 2)
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.mlp = nn.Sequential(
            nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)
        )

    def forward(self, x):
        x = x + self.attn(self.norms[0](x))
        return x + self.mlp(self.norms[1](x))


class Model(nn.Module):
    def __init__(self, words=11, width=8, layers=2):
        super().__init__()
        self.token = nn.Embedding(words, width)
        self.place = nn.Embedding(16, width)
        self.layers = nn.ModuleList(Layer(width) for _ in range(layers))
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.token.weight

    def forward(self, tokens):
        places = torch.arange(tokens.size(1))
        x = self.token(tokens) + self.place(places)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def main():
    model = Model()
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2)
    tokens = torch.randint(0, 11, (2, 7))
    for _ in range(2):
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, 11), tokens[:, 1:].reshape(-1))
        optimiser.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    return loss.detach(), norm, [p.detach() for p in model.parameters()]
