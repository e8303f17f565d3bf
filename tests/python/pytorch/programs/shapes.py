"""Tensors of many shapes, strides and types: none is told as another."""

import itertools

import torch


def main():
    count = 0
    for shape in itertools.product(range(1, 11), repeat=3):
        count += torch.zeros(shape).transpose(0, 2).numel()
    for dtype in (
        torch.float64,
        torch.int8,
        torch.bool,
        torch.bfloat16,
        torch.complex64,
    ):
        for size in range(6):
            made = torch.zeros(size, 3, dtype=dtype)
            count += made.T.numel() + made[..., 1:].numel()
    for items in range(40):
        count += torch.zeros(40, items)[items:].numel()
        count += torch.zeros(items, requires_grad=True).expand(2, items).numel()
    return count
