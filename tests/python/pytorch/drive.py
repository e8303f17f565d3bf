"""Runs one program of the proof and writes what came of it.

    drive.py NAME RESULT.json                   plainly, or under `filmstrip run`
    drive.py NAME RESULT.json OPS.jsonl         under the oracle
    drive.py NAME RESULT.json --aten ATEN.jsonl under the dispatch mode

The result is told bit for bit: of a tensor its metadata and a hash of its numbers.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import pathlib
import sys
import warnings

import torch


def content(tensor: torch.Tensor) -> str:
    """A hash of the numbers, in the order of the indices."""
    whole = tensor.detach().resolve_conj().resolve_neg().contiguous().clone()
    return hashlib.sha256(bytes(whole.view(-1).untyped_storage())).hexdigest()[:16]


def told(value: object) -> object:
    """`value` as JSON that is equal exactly when the value is."""
    if isinstance(value, torch.Tensor):
        return {
            "type": type(value).__name__,
            "dtype": str(value.dtype),
            "shape": list(value.shape),
            "strides": list(value.stride()),
            "grad": value.requires_grad,
            "version": None if value.is_inference() else value._version,
            "content": content(value),
        }
    if isinstance(value, dict):
        return {"dict": [[told(k), told(v)] for k, v in value.items()]}
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(told, value)]
    if isinstance(value, float):
        return value.hex()
    return repr(value)


def run(name: str):
    """main() of the program; the frame of this function is what is compared."""
    return importlib.import_module(f"programs.{name}").main()


def main() -> int:
    name, result, *oracle = sys.argv[1:]
    warnings.simplefilter("ignore")  # they name the caller's file, which is the oracle
    torch.manual_seed(7)
    torch.set_num_threads(1)
    if oracle and oracle[0] == "--aten":
        from dispatch_oracle import DispatchOracle

        with DispatchOracle(pathlib.Path(oracle[1])):
            value = run(name)
    elif oracle:
        from oracle import Oracle

        with Oracle(pathlib.Path(oracle[0]), str(pathlib.Path(__file__).parent)):
            value = run(name)
    else:
        value = run(name)
    pathlib.Path(result).write_text(json.dumps(told(value), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
