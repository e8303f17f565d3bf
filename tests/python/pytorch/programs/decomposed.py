"""Forward derivatives, which torch takes apart in Python below its dispatcher: operations
are called there, though no mode is on.
"""

import torch
from torch import func


def main():
    weight = torch.randn(4)
    forward = func.jacfwd(lambda x: x.pow(2))(weight)
    hessian = func.hessian(lambda x: (x**3).sum())(weight)
    return forward, hessian
