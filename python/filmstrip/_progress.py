"""The progress line of `filmstrip run` on a terminal.

A process of its own draws it: a thread would be seen by the program (threading,
warnings at fork), a child would be reaped by it. So this one is forked twice and
belongs to nobody; it looks at the film as any reader may, and ends with the program.
"""

from __future__ import annotations

import os
import select
import time

PERIOD = 1.0  # seconds between two drawings; a shorter run shows none


def watch(path: str) -> None:
    """Starts the watcher of this process, which is about to become the program."""
    try:
        program = os.pidfd_open(os.getpid())
    except (AttributeError, OSError):
        return  # an old kernel: no progress line
    try:
        child = os.fork()
    except OSError:
        os.close(program)
        return
    if child:
        os.close(program)
        os.waitpid(child, 0)
        return
    try:
        if os.fork() == 0:
            _draw_until_end(path, program)
    except BaseException:
        pass
    finally:
        os._exit(0)


def _draw_until_end(path: str, program: int) -> None:
    import signal

    # Not the program's pipes: whoever waits for their end must not wait for us.
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGTTOU):
        signal.signal(number, signal.SIG_IGN)
    began = time.monotonic()
    ended = select.poll()
    ended.register(program, select.POLLIN)
    drawn = False
    while not ended.poll(PERIOD * 1000):
        line = _line(path, time.monotonic() - began)
        if line and _is_quiet_terminal():
            _draw(line)
            drawn = True
    if drawn:
        _draw("")


def _line(path: str, seconds: float) -> str:
    from filmstrip import _reader

    try:
        reader = _reader.Reader(path)
    except (OSError, _reader.FilmError):
        return ""
    try:
        info = reader.info()
    finally:
        reader.close()
    size = info["disk_bytes"] / 2**20
    return f"recording: {info['events']:,} events, {size:,.1f} MiB, {seconds:,.0f} s"


def _is_quiet_terminal() -> bool:
    """Whether one may draw: not while a program has the terminal in a mode of its own
    (an editor, a line being typed)."""
    import termios

    try:
        return bool(termios.tcgetattr(2)[3] & termios.ICANON)
    except termios.error:
        return False


def _draw(line: str) -> None:
    """Writes on the terminal's last row and puts the cursor back where it was."""
    text = f"\x1b[2m{line}\x1b[0m" if line else ""
    os.write(2, f"\x1b7\x1b[999;1H{text}\x1b[K\x1b8".encode())
