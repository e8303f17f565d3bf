"""The `filmstrip` command: `run` is done here, everything else by the C program."""

from __future__ import annotations

import os
import signal
import sys


def main() -> int:
    try:
        arguments = sys.argv[1:]
        if arguments[:2] == ["help", "run"]:
            arguments = ["run", "--help"]
        if arguments[:1] == ["run"]:
            from filmstrip import _run

            return _run.main(arguments[1:])
        program = os.path.join(os.path.dirname(__file__), "bin", "filmstrip")
        try:
            os.execv(program, ["filmstrip", *arguments])
        except OSError as error:
            print(f"filmstrip: {program}: {error.strerror}", file=sys.stderr)
            return 2
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
        return 130


if __name__ == "__main__":
    sys.exit(main())
