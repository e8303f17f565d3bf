"""A real terminal for tests: tmux, of any size, whose screen can be read."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator

import pytest

from conftest import PROGRAM, clean_environment


def need_tmux() -> None:
    """Where a machine has no tmux the tests are skipped; in CI they fail."""
    if shutil.which("tmux") is None:
        if os.environ.get("CI"):
            pytest.fail("tmux is missing: `make test` installs it where it can")
        pytest.skip("tmux is missing")


class Terminal:
    """A shell in a tmux of its own."""

    count = 0

    def __init__(
        self, folder: pathlib.Path, columns: int, rows: int, **environment: str | None
    ) -> None:
        Terminal.count += 1
        self.socket = folder / f"tmux{os.getpid()}-{Terminal.count}"
        self.environment = clean_environment(
            **{
                **{"LC_ALL": "C.UTF-8", "LANG": None, "NO_COLOR": None, "TMUX": None},
                **{"TERM": "xterm-256color", "HISTFILE": None},
                **environment,
            }
        )
        self.tmux(
            *("new-session", "-d", "-x", str(columns), "-y", str(rows)),
            "exec env PS1='$ ' bash --norc --noprofile",
        )
        self.tmux("set-option", "-g", "window-size", "manual")
        self.wait(lambda screen: screen.startswith("$"))

    def tmux(self, *words: str) -> str:
        return subprocess.run(
            ["tmux", "-u", "-S", self.socket, "-f", "/dev/null", *words],
            check=True,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=30,
        ).stdout

    def type(self, text: str) -> None:
        self.tmux("send-keys", "-l", text)

    def keys(self, *keys: str) -> None:
        """Keys as tmux names them: j, Enter, C-c, BTab."""
        for key in keys:
            self.tmux("send-keys", key)

    def resize(self, columns: int, rows: int) -> None:
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def screen(self, *options: str) -> str:
        text = self.tmux("capture-pane", "-p", *options)
        return "\n".join(line.rstrip() for line in text.split("\n"))

    def wait(self, holds: Callable[[str], bool], seconds: float = 60) -> str:
        """The screen once something holds of it."""
        deadline = time.monotonic() + seconds
        while True:
            screen = self.screen()
            if holds(screen):
                return screen
            if time.monotonic() > deadline:
                raise AssertionError(f"the screen did not come:\n{screen}")
            time.sleep(0.03)

    def see(self, *texts: str) -> str:
        return self.wait(lambda screen: all(text in screen for text in texts))

    def run(self, line: str) -> None:
        self.type(line)
        self.keys("Enter")

    def close(self) -> None:
        subprocess.run(
            ["tmux", "-S", self.socket, "kill-server"],
            env=self.environment,
            capture_output=True,
        )


@contextlib.contextmanager
def terminals(folder: pathlib.Path) -> Iterator[Callable[..., Terminal]]:
    """Makes shells, of 80x24 or the size asked for, and closes all at the end."""
    opened: list[Terminal] = []

    def make(columns: int = 80, rows: int = 24, **environment: str | None) -> Terminal:
        opened.append(Terminal(folder, columns, rows, **environment))
        return opened[-1]

    try:
        yield make
    finally:
        for one in opened:
            one.close()


def start_step(terminal: Terminal, film: pathlib.Path, *options: str) -> None:
    words = " ".join([str(PROGRAM), "step", *options, str(film)])
    terminal.run(f"clear; {words}; echo status $?")
    terminal.see(" level ")
