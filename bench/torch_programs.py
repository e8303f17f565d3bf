"""The programs of `make bench-torch`: loops over single operations, training steps, and
a second set that nothing was tuned on. Each `make_...(device)` gives a function without
arguments that does one step; all are recorded as code of the user's.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F

Step = Callable[[], object]

# --- single operations: each loop does nothing else -----------------------------------

a = b = weight = torch.empty(0)


def prepare_loops(device: str, items: int = 4) -> None:
    global a, b, weight
    a = torch.rand(items, device=device)
    b = torch.rand(items, device=device)
    weight = torch.rand(4, 4, device=device)


def loop_add(count: int) -> None:
    x, y, add = a, b, torch.add
    for _ in range(count):
        add(x, y)


def loop_plus(count: int) -> None:
    x, y = a, b
    for _ in range(count):
        x + y


def loop_add_in_place(count: int) -> None:
    x, y = a, b
    for _ in range(count):
        x.add_(y)


def loop_linear(count: int) -> None:
    x, w, linear = a, weight, F.linear
    for _ in range(count):
        linear(x, w)


def loop_relu(count: int) -> None:
    x = a
    for _ in range(count):
        x.relu()


def loop_item(count: int) -> None:
    x = a
    for _ in range(count):
        x[1:]


LOOPS: dict[str, Callable[[int], None]] = {
    "torch.add(a, b)": loop_add,
    "a + b": loop_plus,
    "a.add_(b)": loop_add_in_place,
    "F.linear(a, W)": loop_linear,
    "a.relu()": loop_relu,
    "a[1:]": loop_item,
}

# --- training steps -------------------------------------------------------------------


class Mlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(32, 64), nn.LayerNorm(64), nn.GELU(),
            nn.Linear(64, 64), nn.LayerNorm(64), nn.GELU(),
            nn.Linear(64, 8),
        )  # fmt: skip

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


def make_mlp(device: str) -> Step:
    net = Mlp().to(device)
    optimiser = torch.optim.SGD(net.parameters(), lr=0.01)
    x, target = torch.randn(16, 32, device=device), torch.randn(16, 8, device=device)

    def step() -> torch.Tensor:
        optimiser.zero_grad()
        loss = F.mse_loss(net(x), target)
        loss.backward()
        optimiser.step()
        return loss

    return step


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, self.heads, -1).transpose(1, 2)
            for part in self.qkv(x).chunk(3, dim=-1)
        )
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class Layer(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attn_norm, self.mlp_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = Attention(width, heads)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attn(self.attn_norm(x))
        return x + self.down(F.gelu(self.up(self.mlp_norm(x))))


class Gpt(nn.Module):
    def __init__(self, words: int, width: int, heads: int, layers: int) -> None:
        super().__init__()
        self.token, self.place = nn.Embedding(words, width), nn.Embedding(512, width)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.token(tokens) + self.place(places)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def make_gpt(device: str) -> Step:
    """Twelve layers of 768 on a GPU, two of 64 on a CPU."""
    if device == "cpu":
        words, width, heads, layers, shape = 101, 64, 4, 2, (2, 32)
    else:
        words, width, heads, layers, shape = 8192, 768, 12, 12, (4, 256)
    net = Gpt(words, width, heads, layers).to(device)
    optimiser = torch.optim.AdamW(net.parameters(), lr=1e-4)
    tokens = torch.randint(0, words, shape, device=device)

    def step() -> torch.Tensor:
        logits = net(tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimiser.step()
        return loss

    return step


# --- the second set -------------------------------------------------------------------


class Residual(nn.Module):
    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(inputs, width, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList([nn.BatchNorm2d(width), nn.BatchNorm2d(width)])
        self.skip = None
        if stride != 1 or inputs != width:
            self.skip = nn.Conv2d(inputs, width, 1, stride, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = F.relu(self.norms[0](self.first(x)))
        out = self.norms[1](self.second(out))
        return F.relu(out + (x if self.skip is None else self.skip(x)))


def make_resnet(device: str) -> Step:
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        Residual(8, 8, 1), Residual(8, 16, 2), Residual(16, 32, 2),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10),
    ).to(device)  # fmt: skip
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    x = torch.randn(4, 3, 16, 16, device=device)
    target = torch.randint(0, 10, (4,), device=device)

    def step() -> torch.Tensor:
        optimiser.zero_grad()
        loss = F.cross_entropy(net(x), target)
        loss.backward()
        optimiser.step()
        return loss

    return step


class Tagger(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(50, 16)
        self.lstm = nn.LSTM(16, 32, batch_first=True)
        self.cell = nn.LSTMCell(32, 32)
        self.out = nn.Linear(32, 5)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        seen, _ = self.lstm(self.words(words))
        state, outs = None, []
        for step in seen.unbind(1):
            state = self.cell(step, state)
            outs.append(state[0])
        return self.out(torch.stack(outs, dim=1))


def make_lstm(device: str) -> Step:
    net = Tagger().to(device)
    optimiser = torch.optim.Adam(net.parameters())
    words = torch.randint(0, 50, (4, 12), device=device)
    tags = torch.randint(0, 5, (4, 12), device=device)

    def step() -> torch.Tensor:
        optimiser.zero_grad()
        loss = F.cross_entropy(net(words).flatten(0, 1), tags.flatten())
        loss.backward()
        optimiser.step()
        return loss

    return step


def make_translator(device: str) -> Step:
    """torch's own nn.Transformer, encoder and decoder."""
    net = nn.Transformer(32, 4, 1, 1, 64, dropout=0.1, batch_first=True).to(device)
    optimiser = torch.optim.AdamW(net.parameters())
    source = torch.randn(2, 10, 32, device=device)
    target = torch.randn(2, 8, 32, device=device)
    mask = nn.Transformer.generate_square_subsequent_mask(8, device=device)

    def step() -> torch.Tensor:
        optimiser.zero_grad()
        loss = (net(source, target, tgt_mask=mask) - target).square().mean()
        loss.backward()
        optimiser.step()
        return loss

    return step


class Unet(nn.Module):
    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.time = nn.Sequential(
            nn.Linear(16, 32), nn.SiLU(), nn.Linear(32, 2 * width)
        )
        self.into = nn.Conv2d(1, width, 3, padding=1)
        self.down = nn.Conv2d(width, 2 * width, 3, stride=2, padding=1)
        self.middle = nn.Conv2d(2 * width, 2 * width, 3, padding=1)
        self.up = nn.ConvTranspose2d(2 * width, width, 2, stride=2)
        self.out = nn.Conv2d(2 * width, 1, 3, padding=1)
        self.norm = nn.GroupNorm(4, 2 * width)

    def forward(self, x: torch.Tensor, when: torch.Tensor) -> torch.Tensor:
        rates = torch.exp(torch.arange(8, device=x.device) * (-math.log(1e4) / 8))
        angles = when[:, None].float() * rates
        time = self.time(torch.cat([angles.sin(), angles.cos()], dim=-1))
        wide = F.silu(self.into(x))
        low = F.silu(self.norm(self.down(wide)) + time[:, :, None, None])
        low = low + F.silu(self.middle(low))
        return self.out(torch.cat([wide, self.up(low)], dim=1))


def make_diffusion(device: str) -> Step:
    net = Unet().to(device)
    optimiser = torch.optim.AdamW(net.parameters(), lr=1e-3)
    images = torch.randn(4, 1, 16, 16, device=device)
    kept = torch.cumprod(1 - torch.linspace(1e-4, 0.02, 100, device=device), 0)

    def step() -> torch.Tensor:
        when = torch.randint(0, 100, (4,), device=device)
        noise = torch.randn_like(images)
        share = kept[when].view(-1, 1, 1, 1)
        noisy = share.sqrt() * images + (1 - share).sqrt() * noise
        loss = F.mse_loss(net(noisy, when), noise)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        return loss

    return step


def make_reinforce(device: str) -> Step:
    """A policy in a small world of tensors: many tiny operations, much `item()`."""
    policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2)).to(device)
    optimiser = torch.optim.Adam(policy.parameters(), lr=0.01)
    push = torch.tensor([0.0, 0.1, 0.0, -0.2], device=device)

    def step() -> torch.Tensor:
        state = torch.zeros(4, device=device)
        chances, rewards = [], []
        for _ in range(20):
            choice = torch.distributions.Categorical(
                logits=policy(state), validate_args=False
            )
            action = choice.sample()
            chances.append(choice.log_prob(action))
            sign = 1.0 if action.item() == 1 else -1.0
            state = state * 0.98 + push * sign
            state[0] += state[1] * 0.1
            rewards.append(1.0 - state[0].abs().item())
            if abs(state[3].item()) > 2:
                break
        returns = torch.tensor(rewards, device=device).flip(0).cumsum(0).flip(0)
        returns = (returns - returns.mean()) / (returns.std() + 1e-6)
        loss = -(torch.stack(chances) * returns).sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        return loss

    return step


STEPS: dict[str, Callable[[str], Step]] = {"mlp": make_mlp, "gpt": make_gpt}
SECOND: dict[str, Callable[[str], Step]] = {
    "resnet": make_resnet,
    "lstm": make_lstm,
    "translator": make_translator,
    "diffusion": make_diffusion,
    "reinforce": make_reinforce,
}


def repeat(step: Step, count: int) -> None:
    for _ in range(count):
        step()
