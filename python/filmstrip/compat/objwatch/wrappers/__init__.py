"""What a log says about arguments, results and new values."""

from filmstrip.compat.objwatch.wrappers.abc_wrapper import ABCWrapper, FunctionWrapper
from filmstrip.compat.objwatch.wrappers.base_wrapper import BaseLogger, BaseWrapper
from filmstrip.compat.objwatch.wrappers.cpu_memory_wrapper import CPUMemoryWrapper
from filmstrip.compat.objwatch.wrappers.tensor_shape_wrapper import (
    TensorShapeLogger,
    TensorShapeWrapper,
)
from filmstrip.compat.objwatch.wrappers.torch_memory_wrapper import TorchMemoryWrapper

__all__ = [
    "ABCWrapper",
    "BaseLogger",
    "BaseWrapper",
    "CPUMemoryWrapper",
    "FunctionWrapper",
    "TensorShapeLogger",
    "TensorShapeWrapper",
    "TorchMemoryWrapper",
]
