"""Summaries of tensors' numbers (src/recorder/torch/summary.c) against numpy and torch.

The C code needs neither: it is compiled here into a library of its own and called with
pointers, types, sizes and strides, as the recorder does.
"""

from __future__ import annotations

import ctypes
import importlib.util
import math
import pathlib
import random
import shutil
import subprocess

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from hypothesis.extra import numpy as some_arrays

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "src" / "recorder" / "torch"
DTYPES = [
    "float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2",
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "bool", "complex64", "complex128",
]  # fmt: skip
OF_NUMPY = [name for name in DTYPES if not name.startswith(("bf", "float8"))]

needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed"
)


class Summary(ctypes.Structure):
    _fields_ = [
        ("min", ctypes.c_double),
        ("max", ctypes.c_double),
        ("mean", ctypes.c_double),
        ("std", ctypes.c_double),
        ("zeros", ctypes.c_uint64),
        ("nonfinite", ctypes.c_uint64),
        ("hash", ctypes.c_uint64),
        ("count", ctypes.c_uint64),
        ("sampled", ctypes.c_bool),
    ]


class Summaries:
    def __init__(self, library: ctypes.CDLL) -> None:
        self._summary_of = library.film_summary_of
        self._summary_of.restype = ctypes.c_bool

    def of(self, address, dtype, sizes, strides) -> Summary:
        summary = Summary()
        numbers = ctypes.c_int64 * max(len(sizes), 1)
        assert self._summary_of(
            ctypes.c_void_p(address),
            DTYPES.index(dtype) + 1,
            len(sizes),
            numbers(*sizes),
            numbers(*strides),
            ctypes.byref(summary),
        )
        return summary

    def of_array(self, array: numpy.ndarray) -> Summary:
        strides = [stride // array.itemsize for stride in array.strides]
        return self.of(array.ctypes.data, array.dtype.name, array.shape, strides)

    def of_tensor(self, tensor) -> Summary:
        dtype = str(tensor.dtype).removeprefix("torch.")
        return self.of(tensor.data_ptr(), dtype, tensor.shape, tensor.stride())


@pytest.fixture(scope="module")
def summaries(tmp_path_factory) -> Summaries:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no compiler here")
    made = tmp_path_factory.mktemp("summaries") / "summaries.so"
    sources = [FOLDER / name for name in ("summary.c", "numbers.c", "sums.c")]
    subprocess.run(
        [compiler, "-O2", "-std=c11", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"]
        + [f"-I{ROOT / 'src'}", f"-I{ROOT / 'include'}", *sources]
        + [ROOT / "src" / "base" / "hash.c", "-lm", "-o", made],
        check=True,
    )
    return Summaries(ctypes.CDLL(str(made)))


def close(told: float, true: float, error: float) -> bool:
    if math.isnan(true):
        return math.isnan(told)
    return told == true or abs(told - true) <= error


def check(told: Summary, elements: numpy.ndarray, wide: numpy.ndarray) -> None:
    """`wide`: the elements as float64 (complex: magnitudes), NaN for none."""
    finite = wide[numpy.isfinite(wide)].astype(numpy.longdouble)
    assert told.count == elements.size and not told.sampled
    assert told.nonfinite == elements.size - finite.size
    assert told.zeros == numpy.count_nonzero(wide == 0)
    if finite.size == 0:
        assert math.isnan(told.min) and math.isnan(told.max) and math.isnan(told.mean)
        return
    largest = float(abs(finite).max())
    assert told.min == float(finite.min()) and told.max == float(finite.max())
    assert close(told.mean, float(finite.mean()), 1e-14 * largest)
    if finite.size == 1:
        assert math.isnan(told.std)
        return
    std = finite.std(ddof=1)
    # What the mean of long doubles rounds away is not ours.
    assert close(told.std, float(std), float(1e-9 * std) + 1e-18 * largest)


def as_doubles(array: numpy.ndarray) -> numpy.ndarray:
    with numpy.errstate(all="ignore"):
        if array.dtype.kind != "c":
            return array.astype(numpy.float64)
        parts = numpy.stack([array.real, array.imag]).astype(numpy.float64)
        wide = numpy.minimum(numpy.hypot(*parts), numpy.finfo(numpy.float64).max)
        return numpy.where(numpy.isfinite(parts).all(axis=0), wide, numpy.nan)


def check_array(summaries: Summaries, array: numpy.ndarray) -> None:
    told = summaries.of_array(array)
    wide = as_doubles(array)
    if array.dtype.kind == "c":  # two right ways to round a magnitude
        for name in ("min", "max"):
            finite = wide[numpy.isfinite(wide)]
            if finite.size:
                true = float(getattr(finite, name)())
                assert math.isclose(getattr(told, name), true, rel_tol=1e-15)
                setattr(told, name, true)
    check(told, array, wide)
    ordered = summaries.of_array(numpy.array(array, order="C", copy=True))
    assert ordered.hash == told.hash


@pytest.mark.parametrize("dtype", OF_NUMPY)
def test_any_array(summaries, dtype):
    @settings(max_examples=150, deadline=None)
    @given(
        some_arrays.arrays(dtype, some_arrays.array_shapes(min_dims=0, max_dims=4)),
        some.data(),
    )
    def try_one(array, data):
        check_array(summaries, array)
        for _ in range(3):
            array = view_of(array, data)
            check_array(summaries, array)

    try_one()


def view_of(array, data):
    """Another look at the same memory; torch has no negative strides."""
    way = data.draw(some.sampled_from(["turn", "cut", "expand", "step"]))
    if array.ndim == 0 or way == "expand":
        times = data.draw(some.integers(0, 3))
        return numpy.broadcast_to(array, (times, *array.shape))
    if way == "turn":
        return array.transpose(data.draw(some.permutations(range(array.ndim))))
    axis = data.draw(some.integers(0, array.ndim - 1))
    index = [slice(None)] * array.ndim
    if way == "cut":
        index[axis] = slice(data.draw(some.integers(0, array.shape[axis])), None)
    else:
        index[axis] = slice(None, None, data.draw(some.integers(1, 3)))
    return array[tuple(index)]


@pytest.mark.parametrize("dtype", OF_NUMPY)
@pytest.mark.parametrize("count", [1, 2, 3, 5, 511, 512, 513, 1024, 4095, 4096])
def test_random_bits(summaries, dtype, count):
    """Of floats: NaNs, infinities, denormals, both zeros, everything up to the limits."""
    random.seed(f"{dtype} {count}")
    size = numpy.dtype(dtype).itemsize
    array = numpy.frombuffer(random.randbytes(size * count), dtype).copy()
    if dtype == "bool":
        array = array.view("uint8") % 2 == 1
    if array.nbytes <= 65536:
        check_array(summaries, array)
        check_array(summaries, array[::2])


def test_what_torch_is_given(summaries):
    """Like activations, weights around one, a mask, a constant."""
    generator = numpy.random.default_rng(7)
    for array in (
        generator.normal(0, 1, (32, 257)).astype("float32"),
        generator.normal(1, 1e-4, 8192).astype("float32"),
        generator.normal(1e6, 1e-3, 8192),
        numpy.where(numpy.tri(100, 100), numpy.float32(0), numpy.float32(-numpy.inf)),
        numpy.full((64, 64), 0.1, "float32"),
        generator.integers(0, 50000, (8, 512)),
        generator.normal(0, 1, (30, 40)).astype("complex64"),
    ):
        check_array(summaries, array)
        check_array(summaries, array.T)


def test_samples(summaries):
    generator = numpy.random.default_rng(8)
    array = generator.normal(5, 2, (3000, 700)).astype("float32")
    told = summaries.of_array(array)
    assert told.sampled and 8192 < told.count <= 16384
    assert abs(told.mean - 5) < 0.1 and abs(told.std - 2) < 0.1
    assert told.min in array and told.max in array
    turned = summaries.of_array(array.T)
    ordered = summaries.of_array(numpy.ascontiguousarray(array.T))
    assert bytes(turned) == bytes(ordered) and turned.hash != told.hash


@needs_torch
@pytest.mark.parametrize("dtype", DTYPES)
def test_tensors(summaries, dtype):
    import torch

    kind = getattr(torch, dtype)
    random.seed(dtype)
    for count in (0, 1, 7, 260, 3000):
        size = torch.empty((), dtype=kind).element_size()
        data = bytearray(random.randbytes(count * size) or b"\0")
        if dtype == "bool":
            data = bytearray(byte % 2 for byte in data)
        tensor = torch.frombuffer(data, dtype=torch.uint8)[: count * size].view(kind)
        for view in (tensor, tensor[1::2], tensor[:1].expand(4, -1)):
            wide = view.abs() if kind.is_complex else view
            with numpy.errstate(all="ignore"):
                numbers = wide.to(torch.float64).numpy()
                if dtype == "uint64":
                    numbers = view.numpy().astype("float64")
                if kind.is_complex:
                    numbers = as_doubles(view.numpy())
            told = summaries.of_tensor(view)
            if kind.is_complex and told.count > told.nonfinite:
                finite = numbers[numpy.isfinite(numbers)]
                assert math.isclose(told.max, finite.max(), rel_tol=1e-15)
                assert math.isclose(told.min, finite.min(), rel_tol=1e-15)
                told.min, told.max = finite.min(), finite.max()
            check(told, numbers, numbers)
            assert told.hash == summaries.of_tensor(view.clone().contiguous()).hash


@needs_torch
def test_std_is_torchs(summaries):
    import torch

    torch.manual_seed(3)
    for tensor in (torch.randn(1000), torch.rand(7, 9).T, torch.arange(5.0)):
        told = summaries.of_tensor(tensor)
        assert math.isclose(told.std, tensor.double().std().item(), rel_tol=1e-12)
        assert math.isclose(told.mean, tensor.double().mean().item(), rel_tol=1e-12)
