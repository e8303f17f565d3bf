"""Optimisers that work on lists of tensors, and the _foreach ops themselves."""

import torch


def step(kind, **options):
    torch.manual_seed(3)
    layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(3))
    optimiser = kind(layers.parameters(), lr=0.05, foreach=True, **options)
    schedule = torch.optim.lr_scheduler.StepLR(optimiser, 1, gamma=0.5)
    x = torch.randn(2, 4)
    for _ in range(2):
        for layer in layers:
            x = layer(x.detach()).tanh()
            x.sum().backward()
        torch.nn.utils.clip_grad_norm_(layers.parameters(), 0.5, foreach=True)
        optimiser.step()
        optimiser.zero_grad()
        schedule.step()
    return [p.detach().clone() for p in layers.parameters()], schedule.get_last_lr()


def main():
    results = [
        step(torch.optim.SGD, momentum=0.9, nesterov=True),
        step(torch.optim.Adam, amsgrad=True),
        step(torch.optim.AdamW, weight_decay=0.1),
        step(torch.optim.RMSprop, centered=True),
        step(torch.optim.Adagrad),
    ]
    tensors = [torch.ones(2), torch.arange(3.0)]
    torch._foreach_add_(tensors, 1)
    torch._foreach_mul_(tensors, [2.0, 3.0])
    doubled = torch._foreach_mul(tensors, tensors)
    norms = torch._foreach_norm(doubled)
    torch._foreach_copy_(tensors, doubled)
    return results, tensors, doubled, norms
