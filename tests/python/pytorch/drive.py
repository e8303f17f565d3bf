"""Runs one program of the proof and writes what came of it.

    drive.py NAME RESULT.json                   plainly, or under `filmstrip run`
    drive.py NAME RESULT.json OPS.jsonl         under the oracle
    drive.py NAME RESULT.json --aten ATEN.jsonl under the dispatch mode
    drive.py --serve WAYS                       for each line of its input, a program and
                                                a folder in JSON: each way in a child of
                                                its own, since importing torch takes longer
                                                than the program. WAYS is JSON, the options
                                                of record() by a name. Of each way the
                                                result, what it says and the film are put
                                                into the folder, and how it ended in
                                                status.json; then a line is written.

The result is told bit for bit: of a tensor its metadata and a hash of its numbers.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import json
import os
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


def under_the_oracle(name: str, stream: pathlib.Path):
    from oracle import Oracle

    with Oracle(stream, str(pathlib.Path(__file__).parent)):
        return run(name)


def in_a_child(work, errors: pathlib.Path) -> int:
    """What waitpid says of a child that does it, its stderr in a file."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.dup2(os.open(errors, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), 2)
            work()
            status = 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            sys.stderr.flush()
            os._exit(status)
    return os.waitpid(child, 0)[1]


def run_each(
    name: str, folder: pathlib.Path, ways: dict[str, dict[str, object]]
) -> None:
    def plain() -> object:
        return run(name)

    def oracle() -> object:
        return under_the_oracle(name, folder / "oracle.jsonl")

    def recorded(way: str) -> object:
        import filmstrip

        with filmstrip.record(str(folder / f"{way}.film"), **ways[way]):
            return run(name)

    works = {"plain": plain, "oracle": oracle}
    works |= {way: functools.partial(recorded, way) for way in ways}

    def write(way: str) -> None:
        torch.manual_seed(7)
        value = works[way]()
        (folder / f"{way}.json").write_text(json.dumps(told(value), indent=1))

    status = {
        way: in_a_child(functools.partial(write, way), folder / f"{way}.stderr")
        for way in works
    }
    (folder / "status.json").write_text(json.dumps(status))


def serve(ways: dict[str, dict[str, object]]) -> int:
    # As the first optimiser does: a million calls that tell nothing.
    importlib.import_module("torch._dynamo")

    for line in sys.stdin:
        name, folder = json.loads(line)
        run_each(name, pathlib.Path(folder), ways)
        print("done", flush=True)
    return 0


def main() -> int:
    name, result, *oracle = sys.argv[1:]
    warnings.simplefilter("ignore")  # they name the caller's file, which is the oracle
    torch.manual_seed(7)
    torch.set_num_threads(1)
    if name == "--serve":
        return serve(json.loads(result))
    if oracle and oracle[0] == "--aten":
        from dispatch_oracle import DispatchOracle

        with DispatchOracle(pathlib.Path(oracle[1])):
            value = run(name)
    elif oracle:
        value = under_the_oracle(name, pathlib.Path(oracle[0]))
    else:
        value = run(name)
    pathlib.Path(result).write_text(json.dumps(told(value), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
