"""Complex tensors, conjugate and negative views, Fourier transforms."""

import torch


def main():
    z = torch.complex(torch.randn(4), torch.randn(4))
    conj = z.conj()
    negative = conj.imag
    spectrum = torch.fft.fft(z)
    back = torch.fft.ifft(spectrum)
    real = torch.fft.rfft(torch.randn(8))
    shifted = torch.fft.fftshift(spectrum)
    polar = torch.polar(z.abs(), z.angle())
    matrix = torch.outer(z, conj)
    values = torch.linalg.eigvalsh(matrix)
    leaf = torch.randn(3, dtype=torch.complex64, requires_grad=True)
    (leaf * leaf.conj()).real.sum().backward()
    z += 1j
    z *= 2 - 1j
    parts = [
        z.real,
        z.imag,
        z.resolve_conj(),
        conj.resolve_conj(),
        negative.resolve_neg(),
    ]
    wide = z.to(torch.complex128)
    return (
        z, parts, back, real, shifted, polar, matrix.mH.resolve_conj(), values,
        leaf.grad, wide, conj.is_conj(), negative.is_neg(), complex(z[0]),
    )  # fmt: skip
