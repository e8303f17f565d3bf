"""python -m filmstrip.compat.objwatch [--strict] [--older] SCRIPT [ARGUMENTS]

Runs a program that says `import objwatch`, with filmstrip in its place.
"""

from __future__ import annotations

import os
import runpy
import sys

from filmstrip._objwatch_name import CARRIER
from filmstrip.compat.objwatch import tracer
from filmstrip.compat.objwatch.alias import install

USE = "usage: python -m filmstrip.compat.objwatch [--strict] [--older] SCRIPT [ARGS]"


def main() -> int:
    words = sys.argv[1:]
    options = set()
    while words and words[0] in ("--strict", "--older", "--help", "-h"):
        options.add(words.pop(0))
    if options & {"--help", "-h"}:
        print(__doc__.strip())
        return 0
    if not words or words[0].startswith("-"):
        print(USE, file=sys.stderr)
        return 2
    if not os.path.exists(words[0]):
        print(f"filmstrip: no such file: {words[0]}", file=sys.stderr)
        return 2
    version = "0.3" if "--older" in options else "0.5"
    install("--strict" in options, version)
    os.environ[CARRIER] = tracer.defaults.form or version
    sys.argv[:] = words
    sys.path[0] = os.path.dirname(os.path.abspath(words[0]))
    runpy.run_path(words[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
