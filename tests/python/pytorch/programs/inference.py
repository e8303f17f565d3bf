"""Inference mode, no_grad and enable_grad, nested; inference tensors outside of it."""

import torch


def main():
    weight = torch.randn(3, 3, requires_grad=True)
    x = torch.randn(2, 3)
    with torch.inference_mode():
        inside = x @ weight
        inside.relu_()
        part = inside[0]
        part += 1
        with torch.inference_mode(False):
            normal = torch.ones(2) * 2
    errors = []
    try:
        inside.add_(1)
    except RuntimeError as error:
        errors.append(str(error))
    try:
        (inside * weight[:2]).sum().backward()
    except RuntimeError as error:
        errors.append(str(error))
    copy = inside.clone()
    copy.mul_(2)
    with torch.no_grad():
        frozen = weight.mm(weight)
        with torch.enable_grad():
            live = weight.sum()
    live.backward()

    @torch.inference_mode()
    def decorated(value):
        return value.exp().log()

    states = [inside.is_inference(), frozen.requires_grad, live.requires_grad]
    return (
        inside.clone(),
        normal,
        copy,
        frozen,
        weight.grad,
        decorated(x).clone(),
        states,
        errors,
    )
