"""What the tests of `filmstrip step` share: programs to step through, and the program
driven from a pipe."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from typing import Any

from conftest import PROGRAM as PATH
from conftest import ROOT, clean_environment

ASAN = ROOT / "build" / "asan" / "filmstrip"

SHOP = """\
class Till:
    def __init__(self):
        self.money = 0

    def put(self, amount):
        self.money += amount
        return self.money


STOCK = {"apple": 3, "pear": 1}


def take(item):
    if STOCK[item] == 0:
        raise LookupError(f"no {item} left")
    STOCK[item] -= 1


def sell(items, till):
    for item in items:
        try:
            take(item)
        except LookupError as error:
            problem = str(error)
            continue
        price = len(item) * 10
        till.put(price)
        yield item


def main():
    till = Till()
    boxes = []
    greeting = "\u65e5\u672c\u8a9e \\x1b[31mred"
    for box in sell(["apple", "pear", "pear"], till):
        boxes.append(box)
    return till.money


main()
"""

THREADS = """\
import threading


def work(box):
    total = 0
    for number in range(3):
        total += number
    box.append(total)


def main():
    box = []
    thread = threading.Thread(target=work, args=(box,), name="helper")
    thread.start()
    thread.join()
    done = box[0]
    return done


main()
"""


@dataclasses.dataclass
class Answers:
    rc: int
    text: str
    errors: str

    @property
    def paragraphs(self) -> list[str]:
        return self.text.rstrip("\n").split("\n\n") if self.text else []

    @property
    def objects(self) -> list[Any]:
        return [json.loads(line) for line in self.text.splitlines()]


def record(
    folder: pathlib.Path,
    text: str,
    name: str = "shop.py",
    *options: str,
    status: int = 0,
) -> pathlib.Path:
    """Records a program as `run` does and gives its film."""
    path = folder / name
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    film = folder / (path.stem + ".film")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "filmstrip", "run", "--no-progress", "--force"),
            *("-o", film, *options, path),
        ],
        cwd=folder,
        env=clean_environment(),
        stderr=subprocess.DEVNULL if status else None,
        timeout=120,
    )
    assert done.returncode == status
    return film


def record_dying(folder: pathlib.Path) -> pathlib.Path:
    """A program that an exception ends."""
    text = """\
    def pay(amount):
        raise ValueError("too much")

    def main():
        for amount in (5, 7):
            if amount > 5:
                pay(amount)

    main()
    """
    return record(folder, text, "dies.py", status=1)


def step(
    film: str | os.PathLike[str],
    *commands: str,
    options: tuple[str, ...] = (),
    stdin: bytes | None = None,
    program: str | os.PathLike[str] = PATH,
    timeout: float = 60,
) -> Answers:
    """Runs commands from a pipe."""
    typed = "".join(f"{command}\n" for command in commands).encode()
    done = subprocess.run(
        [os.fspath(program), "step", *options, os.fspath(film)],
        input=typed if stdin is None else stdin,
        capture_output=True,
        env=clean_environment(),
        timeout=timeout,
    )
    return Answers(
        done.returncode,
        done.stdout.decode(errors="backslashreplace"),
        done.stderr.decode(errors="backslashreplace"),
    )


def places(answers: Answers) -> list[str | None]:
    """FILE:LINE of each answer that says where one is."""
    found = [
        re.search(r"^([\w/]+\.py:\d+)  ", part, re.MULTILINE)
        for part in answers.paragraphs
    ]
    return [match[1] if match else None for match in found]


def place(film: str | os.PathLike[str], *commands: str) -> str | None:
    return places(step(film, *commands))[-1]


@contextlib.contextmanager
def being_written(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    """The film of a program that counts turns until the block ends, then is killed."""
    script = folder / "live.py"
    script.write_text("import time\nfor turn in range(10**9):\n    time.sleep(0.01)\n")
    film = folder / "live.film"
    program = subprocess.Popen(
        [sys.executable, "-m", "filmstrip", "run", "--no-progress", "-o", film, script],
        cwd=folder,
        env=clean_environment(),
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 30
        while not film.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        yield film
    finally:
        os.killpg(program.pid, signal.SIGKILL)
        program.wait()
