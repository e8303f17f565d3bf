"""Quantised tensors and the small float types."""

import warnings

import torch


def main():
    warnings.simplefilter("ignore")
    x = torch.linspace(-1, 1, 12).reshape(3, 4)
    whole = torch.quantize_per_tensor(x, 0.05, 3, torch.qint8)
    scales, zeros = torch.tensor([0.1, 0.2, 0.3]), torch.zeros(3, dtype=torch.int64)
    rows = torch.quantize_per_channel(x, scales, zeros, 0, torch.qint8)
    fake = torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -128, 127)
    halves = [x.half() + 1, x.bfloat16() * 2, x.to(torch.float8_e4m3fn).float()]
    dynamic = torch.ao.quantization.quantize_dynamic(
        torch.nn.Sequential(torch.nn.Linear(4, 2)), {torch.nn.Linear}
    )
    told = [whole.q_scale(), whole.q_zero_point(), rows.q_per_channel_axis()]
    return (
        whole.int_repr(), whole.dequantize(), rows.int_repr(), rows.dequantize(), fake,
        halves, dynamic(x), told, whole[1].dequantize(),
    )  # fmt: skip
