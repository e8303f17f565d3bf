"""Compares the distances in src/recorder/torch/cupti_records.c with NVIDIA's headers.

    tools/cupti_layouts.py FOLDER...

Each folder holds an unpacked wheel of nvidia-cuda-cupti or nvidia-cuda-cupti-cu12 from
PyPI (pip download --no-deps, unzip); nothing of them is kept. The headers need cuda.h,
which is not there; what they use of it is declared here. A line for each version; the
exit status is 1 when one differs.
"""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "recorder" / "torch" / "cupti_records.c"

# Only their sizes matter here, and those only of pointers and numbers.
CUDA = """
#pragma once
#include <stddef.h>
#include <stdint.h>
typedef void *CUcontext, *CUstream, *CUmodule, *CUfunction, *CUgraph, *CUgraphNode;
typedef void *CUgraphExec, *CUkernel, *CUlibrary, *CUgreenCtx, *CUevent;
typedef int CUdevice, CUgraphNodeType, CUresult, CUstreamAttrID, CUdevice_attribute;
typedef unsigned long long CUdeviceptr;
typedef struct { char bytes[16]; } CUuuid;
typedef union { char pad[64]; } CUstreamAttrValue;
typedef struct CUaccessPolicyWindow CUaccessPolicyWindow;
"""

# Our constants: the record and its field.
FIELDS = {
    "KERNEL_START": ("Kernel", "start"),
    "KERNEL_END": ("Kernel", "end"),
    "KERNEL_DEVICE": ("Kernel", "deviceId"),
    "KERNEL_STREAM": ("Kernel", "streamId"),
    "KERNEL_CORRELATION": ("Kernel", "correlationId"),
    "KERNEL_NAME": ("Kernel", "name"),
    "KERNEL_NODE": ("Kernel", "graphNodeId"),
    "KERNEL_GRAPH": ("Kernel", "graphId"),
    "COPY_DIRECTION": ("Memcpy", "copyKind"),
    **{
        f"COPY_{ours}": (record, theirs)
        for record in ("Memcpy", "Memset")
        for ours, theirs in (
            *(("BYTES", "bytes"), ("START", "start"), ("END", "end")),
            *(("DEVICE", "deviceId"), ("STREAM", "streamId")),
            *(("CORRELATION", "correlationId"), ("NODE", "graphNodeId")),
            ("GRAPH", "graphId"),
        )
    },
    "EXTERNAL_KIND": ("ExternalCorrelation", "externalKind"),
    "EXTERNAL_ID": ("ExternalCorrelation", "externalId"),
    "EXTERNAL_CORRELATION": ("ExternalCorrelation", "correlationId"),
}


def our_distances() -> dict[str, int]:
    text = SOURCE.read_text()
    found = re.findall(r"^\s+([A-Z]+_[A-Z]+) = (\d+)", text, re.M)
    return {name: int(number) for name, number in found}


def newest(header: str, record: str) -> str:
    """The record of that name with the highest number is the one CUPTI writes."""
    numbers = re.findall(rf"^}} CUpti_Activity{record}(\d*);", header, re.M)
    number: str = max(numbers, key=lambda n: int(n or 0))
    return f"CUpti_Activity{record}{number}"


def their_distances(include: pathlib.Path) -> dict[str, int]:
    header = (include / "cupti_activity.h").read_text()
    asked = list(FIELDS.items())
    # Copies and sets share constants: both are asked.
    asked += [
        (name, ("Memcpy", field))
        for name, (record, field) in FIELDS.items()
        if record == "Memset"
    ]
    lines = [
        f'printf("{name} %zu\\n", offsetof({newest(header, record)}, {field}));'
        for name, (record, field) in asked
    ]
    program = (
        "#include <stdio.h>\n#include <cupti_activity.h>\n#include <cupti_version.h>\n"
        'int main(void) { printf("VERSION %d\\n", (int)CUPTI_API_VERSION);'
        + "".join(lines)
        + "return 0; }"
    )
    distances: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder)
        for name in ("cuda.h", "builtin_types.h"):
            (made / name).write_text(CUDA)
        (made / "ask.c").write_text(program)
        subprocess.run(
            ["cc", "-w", f"-I{made}", f"-I{include}", made / "ask.c", "-o", made / "a"],
            check=True,
        )
        told = subprocess.run([made / "a"], check=True, capture_output=True, text=True)
    for line in told.stdout.splitlines():
        name, number = line.split()
        if distances.setdefault(name, int(number)) != int(number):
            raise SystemExit(f"{include}: {name} differs between copies and sets")
    return distances


def main() -> int:
    ours = our_distances()
    failed = False
    for folder in map(pathlib.Path, sys.argv[1:]):
        for header in folder.rglob("cupti_activity.h"):
            theirs = their_distances(header.parent)
            version = theirs.pop("VERSION")
            wrong = {n: (ours.get(n), d) for n, d in theirs.items() if ours.get(n) != d}
            print(f"version {version}: {wrong or 'as expected'}")
            failed |= bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
