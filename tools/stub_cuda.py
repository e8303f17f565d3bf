"""Makes a PyTorch whose wheel is for CUDA importable on a machine that has none of
CUDA's libraries: beside torch's own libraries, one file for each library that they are
linked against and that is not there, with the names they look for in it. Each such
function ends the process: none is called where there is no GPU.

    stub_cuda.py .../site-packages/torch/lib
"""

from __future__ import annotations

import argparse
import collections
import pathlib
import re
import subprocess
import sys

# Installed: they run when torch is imported.
PRESENT = ("libcudart.so", "libcupti.so")
NVIDIA = re.compile(r"\(NEEDED\).*\[(lib(?:cu|nccl|nv)[^\]]+)\]")
# Libraries whose names have no version: known by how their names begin.
BEGINNINGS = {
    "libnccl": "nccl",
    "libcurand": "curand",
    "libcufile": "cuFile",
    "libcusparseLt": "cusparseLt",
}


class Wanted:
    """What torch's libraries look for elsewhere."""

    def __init__(self) -> None:
        self.names: set[tuple[str, str]] = set()  # a function, its version or ""
        self.versions: dict[str, set[str]] = collections.defaultdict(set)

    def look_at(self, library: pathlib.Path) -> None:
        told = subprocess.run(
            ["readelf", "--dynamic", "--dyn-syms", "--version-info", "--wide", library],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for name, version in re.findall(r" UND (\w+)(?:@(\S+))?", told):
            self.names.add((name, version))
        for needed in NVIDIA.findall(told):
            if not needed.startswith(PRESENT):
                self.versions[needed] |= set()
        of = ""
        for file, version in re.findall(r"File: (\S+)|Name: (\S+)\s+Flags", told):
            of = file or of
            if version and of in self.versions:
                self.versions[of].add(version)

    def names_in(self, library: str) -> list[str]:
        beginning = BEGINNINGS.get(library.split(".so")[0])
        return sorted(
            {
                name
                for name, version in self.names
                if version in self.versions[library]
                or (not version and beginning and name.startswith(beginning))
            }
        )


def make(library: pathlib.Path, names: list[str], versions: set[str]) -> None:
    script = library.with_name("stub.map")
    script.write_text(
        "".join(f"{version} {{ global: *; }};\n" for version in sorted(versions))
        or "{ global: *; };\n"
    )
    functions = [f"void {name}(void) {{ __builtin_trap(); }}\n" for name in names]
    subprocess.run(
        [
            *("cc", "-w", "-shared", "-fPIC", "-nostdlib", "-x", "c", "-"),
            *("-o", str(library), f"-Wl,-soname,{library.name}"),
            f"-Wl,--version-script={script}",
        ],
        input="".join(functions),
        text=True,
        check=True,
    )
    script.unlink()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder

    wanted = Wanted()
    for library in sorted(folder.glob("*.so*")):
        wanted.look_at(library)
    for library, versions in wanted.versions.items():
        if not (folder / library).exists():
            make(folder / library, wanted.names_in(library), versions)
    return 0


if __name__ == "__main__":
    sys.exit(main())
