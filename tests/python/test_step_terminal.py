"""`filmstrip step` and the terminal it runs on: left as it was, able to do less, typed at
at random; recordings that tell less."""

from __future__ import annotations

import fcntl
import os
import pathlib
import pty
import random
import re
import select
import signal
import struct
import termios
import time

import pytest

from conftest import PROGRAM as PATH
from conftest import clean_environment
from step_stories import ASAN, SHOP, being_written, record
from terminals import Terminal, start_step

# The screens do not depend on the Python, and they take long.
pytestmark = pytest.mark.once


# --- the terminal is left as it was ----------------------------------------------------


def modes(window: Terminal, mark: str) -> str:
    """What stty says, and that the shell echoes."""
    window.run(f"clear; stty -a; echo {mark}-end")
    screen = window.see(f"\n{mark}-end")
    return screen.split(f"\n{mark}-end")[0].split("echo", 1)[-1]


def assert_restored(window: Terminal, before: str) -> None:
    assert modes(window, "after").split("speed")[-1] == before.split("speed")[-1]
    # No full screen: what was typed before is still there to be scrolled to.
    alternate = window.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}")
    assert alternate.strip() == "0 1"


def find_pid(film: pathlib.Path) -> int:
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[:2] == [os.fsencode(PATH), b"step"] and os.fsencode(film) in words:
            return int(path.parent.name)
    raise AssertionError("the program does not run")


def start_at_exception(window: Terminal, film: pathlib.Path) -> str:
    """Goes to the first exception; what stty said before."""
    before = modes(window, "before")
    start_step(window, film)
    window.keys("x")
    window.see("raises LookupError")
    return before


def test_quit_leaves_the_terminal_as_it_was(terminal, shop):
    window = terminal()
    before = modes(window, "before")
    start_step(window, shop)
    assert window.tmux("display-message", "-p", "#{alternate_on}").strip() == "1"
    window.keys("q")
    window.see("status 0")
    assert_restored(window, before)


def test_interrupts(terminal, shop):
    window = terminal()
    before = modes(window, "before")
    start_step(window, shop)
    window.keys("C-c")
    window.see("q ends; so does Ctrl-C a second time")
    # Ctrl-C makes the terminal drop keys that are not read yet.
    window.keys("j")
    window.wait(lambda screen: "so does Ctrl-C" not in screen)
    window.keys("C-c")
    window.see("q ends; so does Ctrl-C a second time")
    window.keys("C-c")
    window.wait(lambda screen: "level values" not in screen)
    assert_restored(window, before)


@pytest.mark.parametrize(
    "number",
    [signal.SIGTERM, signal.SIGHUP, signal.SIGSEGV, signal.SIGABRT, signal.SIGINT],
    ids=lambda number: number.name,
)
def test_signals(terminal, shop, number):
    window = terminal()
    before = start_at_exception(window, shop)
    pid = find_pid(shop)
    os.kill(pid, number)
    if number == signal.SIGINT:  # as Ctrl-C: once is not enough
        window.see("second time")
        os.kill(pid, number)
    window.wait(lambda screen: "level values" not in screen)
    if number != signal.SIGINT:  # then the shell runs no echo
        window.see(f"status {128 + number}")
    assert_restored(window, before)


def test_stop_and_go_on(terminal, shop):
    window = terminal()
    before = start_at_exception(window, shop)
    window.keys("C-z")
    window.see("Stopped")
    assert_restored(window, before)
    window.run("clear; fg")
    screen = window.see("raises LookupError", "level values", "▶")
    assert "Stopped" not in screen
    window.keys("X", "q")
    window.wait(lambda screen: "level values" not in screen)
    assert_restored(window, before)


def test_stopped_by_another_and_gone_on(terminal, shop):
    window = terminal()
    start_step(window, shop)
    pid = find_pid(shop)
    os.kill(pid, signal.SIGSTOP)
    window.see("Stopped")
    window.run("clear; fg")
    window.see("level values", "▶ class Till:")
    window.keys("x")
    window.see("raises LookupError")


# --- terminals and recordings that can do less -------------------------------------------


def test_no_color(terminal, shop):
    for environment, colored in [({}, True), ({"NO_COLOR": "1"}, False)]:
        window = terminal(80, 24, **environment)
        start_step(window, shop)
        window.keys("x", "b")
        window.see("●", "raises LookupError")
        found = re.search(r"\x1b\[[\d;]*3[0-7]m", window.screen("-e"))
        assert (found is not None) is colored


def test_a_terminal_without_utf8(terminal, shop):
    window = terminal(80, 24, LC_ALL="C")
    start_step(window, shop)
    window.run("/shop.py:35")
    screen = window.see("greeting = '\\u65e5\\u672c")
    assert screen.isascii()
    assert re.search(r"^ +35 > ", screen, re.MULTILINE)


def test_a_terminal_that_can_do_nothing(terminal, shop):
    window = terminal()
    window.run(f"clear; TERM=dumb-nonsense {PATH} step {shop}")
    window.see("can do no full screen", "line by line", "(filmstrip)")
    window.run("n 2")
    window.see("shop.py:13  __main__.<module>")
    window.keys("Enter")  # repeats
    window.see("sell", "(filmstrip)")
    window.keys("C-c")
    window.run("quit")
    window.wait(lambda screen: screen.rstrip().endswith("$"))


def test_values_do_not_steer_the_terminal(terminal, shop):
    window = terminal(120, 40)
    start_step(window, shop)
    window.run("/shop.py:35")
    window.see("* greeting = '日本語 \\x1b[31mred'")


def test_level_calls(terminal, tmp_path):
    window = terminal()
    film = record(tmp_path, SHOP, "shop.py", "--level", "calls")
    start_step(window, film)
    window.see("level calls: run --level values keeps lines", "level calls: no values")
    window.keys(".", ".", ".")
    window.see("▶")


def test_without_source(terminal, tmp_path):
    film = record(
        tmp_path,
        "exec(compile('def f(a):\\n    return a + 1\\nf(3)\\n', '<made>', 'exec'))",
        "made.py",
    )
    window = terminal()
    start_step(window, film)
    window.run("/fn:f")
    window.see("the recording has no source of <made>, line 1", "a = 3")


def test_no_events(terminal, tmp_path):
    film = record(tmp_path, "pass", "empty.py", "--target", "no_such_module")
    window = terminal()
    start_step(window, film)
    window.keys("j", ".", "x", "G")
    window.see("level values")
    window.keys("q")
    window.see("status 0")


def test_damage_is_told(terminal, shop, tmp_path):
    damaged = bytearray(shop.read_bytes())
    middle = len(damaged) // 2
    damaged[middle : middle + 64] = b"\xff" * 64
    film = tmp_path / "damaged.film"
    film.write_bytes(damaged)
    window = terminal(100, 30)
    window.run(f"clear; {PATH} step {film}; echo status $?")
    ended = re.compile(r"^status [012]$", re.MULTILINE)  # not the line that was typed
    screen = window.wait(lambda screen: " level " in screen or ended.search(screen))
    if " level " in screen:
        window.keys(*"jjj..xG")
        window.keys("q")
    screen = window.wait(ended.search)
    assert "Segmentation" not in screen


def test_a_recording_being_written(terminal, tmp_path):
    with being_written(tmp_path) as film:
        time.sleep(0.5)
        window = terminal(100, 30)
        start_step(window, film)
        window.see("being written")
        window.keys("G")
        first = re.search(r"turn = (\d+)", window.see("turn = "))
        assert first is not None
        time.sleep(1.0)
        window.keys("G")
        window.wait(
            lambda screen: int(re.search(r"turn = (\d+)", screen)[1]) > int(first[1])
        )
    window.wait(lambda screen: "being written" not in screen.split("\n")[0])


def test_a_long_search_can_be_given_up(terminal, tmp_path):
    film = record(
        tmp_path,
        """\
        def turn(n):
            x = n * 2
            y = x - n
            return y

        total = 0
        for n in range(400_000):
            total += turn(n)
        """,
        "long.py",
    )
    window = terminal()
    start_step(window, film)
    window.run(":first n + total == -1")
    window.see("searching, ")
    window.keys("C-c")
    window.see("interrupted at ")
    window.keys("j")
    window.see("▶")


# --- any keys at all -------------------------------------------------------------------


SPECIAL = [
    b"\x1b[A",
    b"\x1b[B",
    b"\x1b[C",
    b"\x1b[D",
    b"\x1b[5~",
    b"\x1b[6~",
    b"\x1bOH",
]


SPECIAL += [
    b"\x1bOF",
    b"\t",
    b"\x1b[Z",
    b"\r",
    b"\x7f",
    b"\x0e",
    b"\x10",
    b"\x0c",
    b"\x1b",
]


TYPED = [
    b":p STOCK\r",
    b":b take\r",
    b":c\r",
    b"/fn:put\r",
    b":hits take item\r",
    b":\xff\xfe",
]


TYPED += [
    b":history sell:item\r",
    "/\u65e5\u672c\r".encode(),
    b":watch till.money\r",
    b":undo\r",
]


def drive(program: pathlib.Path, film: pathlib.Path, seed: int) -> tuple[int, bytes]:
    """Random keys and sizes on a pty; its status and all that it drew."""
    chance = random.Random(seed)
    plain = [bytes([key]) for key in range(0x21, 0x7F) if chr(key) != "q"]
    environment = clean_environment(
        TERM="xterm-256color", LC_ALL="C.UTF-8", ASAN_OPTIONS="detect_leaks=0"
    )
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(program, [str(program), "step", str(film)], environment)
    drawn = bytearray()

    def read(seconds: float) -> bool:
        while select.select([terminal], [], [], seconds)[0]:
            try:
                drawn.extend(os.read(terminal, 1 << 16))
            except OSError:  # it has ended
                return False
        return True

    read(5)
    for _ in range(150):
        if chance.random() < 0.05:
            size = struct.pack(
                "HHHH", chance.randrange(1, 60), chance.randrange(1, 220), 0, 0
            )
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, size)
        os.write(terminal, chance.choice(chance.choice([plain, plain, SPECIAL, TYPED])))
        if not read(0.002):
            break
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and read(0.05):
        os.write(terminal, b"\x1b")
        time.sleep(0.04)
        os.write(terminal, b"q")
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), bytes(drawn)


@pytest.mark.parametrize("seed", range(3))
def test_random_keys(shop, seed):
    program = ASAN if ASAN.exists() else PATH
    status, drawn = drive(program, shop, seed)
    assert b"Sanitizer" not in drawn, drawn[-3000:]
    assert status == 0, drawn[-3000:]
