"""COO and CSR tensors, and products with them."""

import warnings

import torch


def main():
    warnings.simplefilter("ignore")
    indices = torch.tensor([[0, 1, 1], [2, 0, 2]])
    coo = torch.sparse_coo_tensor(indices, torch.tensor([3.0, 4.0, 5.0]), (2, 3))
    twice = (coo + coo).coalesce()
    dense = twice.to_dense()
    csr = dense.to_sparse_csr()
    right = torch.ones(3, 2)
    products = [torch.sparse.mm(coo, right), csr @ right, coo.matmul(right)]
    total = torch.sparse.sum(coo, dim=0).to_dense()
    values = twice.values() * 2
    scaled = (coo * 2).transpose(0, 1).to_dense()
    embedding = torch.nn.Embedding(5, 2, sparse=True)
    embedding(torch.tensor([1, 1, 3])).sum().backward()
    gradient = embedding.weight.grad
    optimiser = torch.optim.SGD(embedding.parameters(), lr=0.5)
    optimiser.step()
    parts = [twice.indices(), values, csr.crow_indices(), csr.col_indices()]
    parts += [gradient.coalesce().to_dense(), embedding.weight.detach()]
    return dense, products, total, scaled, parts, coo._nnz(), coo.is_coalesced()
