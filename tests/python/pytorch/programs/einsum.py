"""einsum, tensordot, linear algebra."""

import torch


def main():
    a, b, c = torch.randn(3, 4), torch.randn(4, 5), torch.randn(5, 3)
    square = a @ a.mT + 3 * torch.eye(3)
    sums = [
        torch.einsum("ij,jk->ik", a, b),
        torch.einsum("ij,jk,ki->", a, b, c),
        torch.einsum("...i,...i->...", a, a),
        torch.einsum("ii->i", square),
        torch.tensordot(a, b, dims=1),
        torch.chain_matmul(a, b) if hasattr(torch, "chain_matmul") else a @ b,
        torch.linalg.multi_dot([a, b, c]),
        torch.bmm(a[None], b[None]),
        torch.addmm(torch.zeros(3, 5), a, b, alpha=2, beta=0),
        torch.kron(a, torch.eye(2)),
    ]
    factor = torch.linalg.cholesky(square)
    parts = [torch.linalg.solve(square, a), torch.linalg.det(square), square.inverse()]
    parts += [torch.linalg.norm(a), a.norm(p=1), torch.cdist(a, a), square.trace()]
    parts += torch.linalg.slogdet(square)
    parts += torch.linalg.svd(a, full_matrices=False)[1:2]
    # Its solution's last bits depend on where memory happens to begin.
    parts += [torch.linalg.lstsq(square, a).rank, torch.triu(square), factor]
    parts += torch.sort(a, dim=1, descending=True)
    parts += torch.topk(a, 2)
    parts += torch.unique(torch.tensor([3, 1, 3]), return_counts=True)
    parts += torch.meshgrid(torch.arange(2), torch.arange(3), indexing="ij")
    parts += [
        torch.stack([a, a]),
        torch.cat((a, a), 1),
        torch.cartesian_prod(a[0], b[0]),
    ]
    return sums, parts
