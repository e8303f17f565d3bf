"""python -m filmstrip.compat.objwatch [--strict] [--older] SCRIPT [ARGUMENTS]

Runs a program that says `import objwatch`, with filmstrip in its place. The interpreter
runs the program itself, as without us: filmstrip.pth answers for the name.
"""

from __future__ import annotations

import os
import sys

from filmstrip._objwatch_name import CARRIER

MODULE = "filmstrip.compat.objwatch"
USE = f"usage: python -m {MODULE} [--strict] [--older] SCRIPT [ARGS]"
OPTIONS = {"--strict": "strict", "--older": "0.3"}  # forms of `log --objwatch`


def main() -> int:
    words = sys.argv[1:]
    form = "0.5"
    while words and words[0] in (*OPTIONS, "--help", "-h"):
        if words[0] not in OPTIONS:
            print(f"{USE}\n\n{(__doc__ or '').partition(chr(10))[2].strip()}")
            return 0
        form = max(form, OPTIONS[words.pop(0)], key=("0.5", "strict", "0.3").index)
    if not words or words[0].startswith("-"):
        print(USE, file=sys.stderr)
        return 2
    if not os.path.exists(words[0]):
        print(f"filmstrip: no such file: {words[0]}", file=sys.stderr)
        return 2
    # The interpreter's own options, in front of -m.
    before = sys.orig_argv[1 : len(sys.orig_argv) - len(sys.argv)]
    flags = before[: before.index("-m")] if "-m" in before else []
    os.environ[CARRIER] = form
    os.execv(sys.executable, [sys.executable, *flags, *words])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
