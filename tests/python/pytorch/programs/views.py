"""Views of every kind; who shares memory with whom."""

import torch


def main():
    base = torch.arange(24).reshape(2, 3, 4)
    views = [
        base.view(6, 4),
        base.transpose(0, 2),
        base.permute(1, 0, 2),
        base.T if base.dim() == 2 else base.mT,
        base.narrow(1, 1, 2),
        base.select(0, 1),
        base.unsqueeze(0).squeeze(0),
        base.expand(2, 2, 3, 4),
        base.flatten(),
        base.unfold(2, 2, 1),
        base.diagonal(dim1=0, dim2=1),
        base.as_strided((2, 2), (4, 1), 3),
        base.detach(),
        base.movedim(0, -1),
        base.swapaxes(0, 1),
        torch.unflatten(base, 2, (2, 2)),
        base.view(torch.int32),
        base.alias() if hasattr(base, "alias") else base.view_as(base),
    ]
    views += base.unbind(0)
    views += base.split([1, 2], dim=1)
    views += torch.tensor_split(base, 2, dim=2)
    views += base.chunk(2)
    copies = [base.contiguous(), base.mT.contiguous(), base.reshape(4, 6)]
    copies += [base.mT.reshape(24), base.to(torch.int64), base.to(torch.float64)]
    base.view(-1)[5] = -1
    real = torch.view_as_real(torch.zeros(2, dtype=torch.complex64))
    return views, copies, real, [view._base is base for view in views]
