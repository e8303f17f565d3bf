"""`filmstrip step` on a whole terminal, driven in tmux, its screens compared.

The expected screens are in golden/step; FILMSTRIP_UPDATE_GOLDEN=1 writes them anew (then
look at what changed)."""

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
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator

import pytest

from conftest import PROGRAM as PATH
from conftest import ROOT, clean_environment
from step_stories import SHOP, THREADS, record, record_dying
from terminals import Terminal, need_tmux

# The screens do not depend on the Python, and they take long.
pytestmark = pytest.mark.once

GOLDEN = pathlib.Path(__file__).parent / "golden" / "step"
SIZES = [(80, 24), (120, 40), (200, 50)]


@pytest.fixture(scope="module", autouse=True)
def _tmux() -> None:
    need_tmux()


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return record(tmp_path_factory.mktemp("screen"), SHOP)


@pytest.fixture
def terminal(tmp_path: pathlib.Path) -> Iterator[Callable[..., Terminal]]:
    """terminal(80, 24) is a shell of that size."""
    opened: list[Terminal] = []

    def make(columns: int = 80, rows: int = 24, **environment: str | None) -> Terminal:
        opened.append(Terminal(tmp_path, columns, rows, **environment))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


def start(terminal: Terminal, film: pathlib.Path, *options: str) -> None:
    words = " ".join([str(PATH), "step", *options, str(film)])
    terminal.run(f"clear; {words}; echo status $?")
    terminal.see(" level ")


# --- screens -------------------------------------------------------------------------

# What a scene is called, and the keys that lead to it from the one before.
SCENES: list[tuple[str, list[str]]] = [
    ("the first line", []),
    ("into sell, line by line", ["/", *"fn:sell", "Enter", ".", ".", ".", ".", "."]),
    ("a breakpoint, a pick", ["k", "b", "Tab", "Tab", "Tab"]),
    ("its writes around here", ["v"]),
    ("the exception", ["q", "x"]),
    ("the caller", ["h"]),
    ("where a value came from", [":", *"origin items 1", "Enter"]),
    ("a command that fails", ["q", ":", *"nonsense", "Enter"]),
    ("the end", ["G"]),
    ("the keys", ["?"]),
]


def normal(screen: str) -> str:
    """Without what differs from run to run: times, numbers of events and objects."""
    text = re.sub(r"[━─◆]+ [\d.]+ s of [\d.]+ s, \d+ %", "<bar>", screen)
    text = re.sub(r"event \d+:\d+ ", "event <m> ", text)
    text = re.sub(r"^(  [ >]*)\d+:\d+ +", r"\1<m> ", text, flags=re.MULTILINE)
    text = re.sub(r" at \d+:\d+$", " at <m>", text, flags=re.MULTILINE)
    text = re.sub(r"#\d+>", "#n>", text)
    return "\n".join(line.rstrip() for line in text.split("\n")).rstrip("\n")


def scenes_of(path: pathlib.Path) -> dict[str, str]:
    if not path.exists():
        return {}
    parts = re.split(r"^==== (.*)\n", path.read_text(encoding="utf-8"), flags=re.M)
    return {name: text.rstrip("\n") for name, text in zip(parts[1::2], parts[2::2])}


@pytest.mark.parametrize(("columns", "rows"), SIZES)
def test_screens(terminal, shop, columns, rows):
    path = GOLDEN / f"{columns}x{rows}.txt"
    expected = scenes_of(path)
    update = bool(os.environ.get("FILMSTRIP_UPDATE_GOLDEN"))
    window = terminal(columns, rows)
    start(window, shop)
    seen = {}
    for name, keys in SCENES:
        window.keys(*keys)
        if update:
            time.sleep(0.7)
            seen[name] = normal(window.screen())
            continue
        deadline = time.monotonic() + 10
        while True:  # until it is drawn
            seen[name] = normal(window.screen())
            if seen[name] == expected.get(name) or time.monotonic() > deadline:
                break
            time.sleep(0.03)
        assert seen[name] == expected.get(name), name
    if update:
        GOLDEN.mkdir(parents=True, exist_ok=True)
        path.write_text(
            "".join(f"==== {name}\n{text}\n" for name, text in seen.items()),
            encoding="utf-8",
        )
    else:
        assert list(seen) == list(expected)


def test_nothing_is_drawn_outside(terminal, shop):
    """Every size from tiny to big: no row is longer than the terminal, none wraps."""
    window = terminal(80, 24)
    start(window, shop)
    window.keys("x")
    for columns, rows in [
        (200, 50),
        (120, 12),
        (40, 12),
        (41, 30),
        (119, 24),
        (300, 80),
    ]:
        window.resize(columns, rows)
        screen = window.wait(
            lambda screen, rows=rows: (
                "shop.film" in screen.split("\n")[0]
                and "event 1:" in screen.split("\n")[rows - 2]
            )
        )
        lines = screen.rstrip("\n").split("\n")
        assert len(lines) <= rows
        assert sum("event 1:" in line for line in lines) == 1, screen
        assert sum("shop.film" in line for line in lines) == 1, screen


def test_too_small(terminal, shop):
    window = terminal(80, 24)
    start(window, shop)
    window.resize(30, 8)
    window.see("30x8 is too small: at", "q ends")
    window.resize(12, 3)
    window.see("12x3 is")
    window.resize(80, 24)
    window.see("▶ class Till:", "level values")
    window.resize(30, 8)
    window.see("too small")
    window.keys("q")
    window.see("status 0")


def test_the_bar_shows_where_one_is(terminal, shop):
    window = terminal(120, 24)
    start(window, shop)
    shares = []
    for keys in ["g"], [":", *"time 99%", "Enter"], ["G"], ["g"]:
        window.keys(*keys)
        time.sleep(0.3)
        bar = window.screen().split("\n")[21]
        told = int(re.search(r", (\d+) %", bar)[1])
        marks = bar.split(" ")[0]
        assert set(marks) <= set("━─◆")
        assert abs(marks.index("◆") * 100 / (len(marks) - 1) - told) < 2
        shares.append(told)
    assert shares[0] == shares[3] < shares[1] <= shares[2]


# --- keys ----------------------------------------------------------------------------


def at(window: Terminal, line: int) -> str:
    return window.wait(
        lambda screen: (
            re.search(rf"^.? +{line} [▶▷] ", screen, re.MULTILINE) is not None
        )
    )


def test_step_gives_the_zoom_up_and_next_keeps_it(terminal, shop):
    """torchdbg's keys: h and l zoom, j and k stay in the frame, . and u step."""
    window = terminal()
    start(window, shop)
    window.run("/fn:take")
    at(window, 13)
    window.keys("j", "j")
    at(window, 16)
    window.keys("h")
    at(window, 22)
    window.keys("j")
    at(window, 26)
    window.keys("k")
    at(window, 22)
    window.keys(".")
    at(window, 14)
    window.keys("h", "u")
    at(window, 22)
    window.keys("Right", "Left", "Down", "Up")
    at(window, 22)
    window.keys("j", "j", ">")
    window.see("__main__.main")
    window.keys("BSpace")
    window.see("__main__.sell")


def test_breakpoints_and_the_cursor(terminal, shop):
    window = terminal()
    start(window, shop)
    for _ in range(13):
        window.keys("C-n")
    window.keys("b")
    window.see("breakpoint 1: ", "●   14")
    window.keys("c")
    at(window, 14)
    window.keys("c", "c")
    window.see("STOCK", "* item = 'pear'")
    window.keys("C")
    at(window, 14)
    window.keys("b")
    window.wait(lambda screen: "●" not in screen)
    window.keys("c")
    window.see("this is the end of the recording")
    window.keys("C")
    window.see("this is the start of the recording")


def test_a_row_of_an_answer_leads_to_its_moment(terminal, shop):
    window = terminal()
    start(window, shop)
    window.run(":history sell:item")
    window.see("sell  item = 'apple'", "q closes")
    window.keys("j", "j", "Enter")
    at(window, 20)
    window.see("* item = 'pear'", "wrote item = 'pear'")


def test_the_prompt(terminal, shop):
    window = terminal()
    start(window, shop)
    window.keys(":")
    window.type("p 'héllo 日本'")
    window.see(":p 'héllo 日本'")
    window.keys("Enter")
    window.see("'héllo 日本'")
    window.keys(":", "Up")
    window.see(":p 'héllo 日本'")
    window.keys(*["BSpace"] * 3)
    window.wait(lambda screen: screen.rstrip().endswith(":p 'héllo"))
    window.keys("C-u")
    window.type("loc")
    window.keys("Tab")
    window.see(":locals")
    window.keys("Escape")
    window.wait(lambda screen: ":locals" not in screen)
    window.keys(":")
    window.type("x" * 3000)
    window.see("x" * 70)
    window.keys("C-c")
    window.wait(lambda screen: "xxx" not in screen)
    window.keys("/")
    window.type("LookupError")
    window.keys("Enter")
    window.see("shop.py:15 ")
    window.keys("n")
    window.see("shop.py:23 ")
    window.keys("N")
    window.see("shop.py:15 ")


def test_threads(terminal, tmp_path):
    window = terminal()
    start(window, record(tmp_path, THREADS, "work.py"))
    window.keys("t")
    window.see("no other thread has begun here")
    window.run("/fn:work")
    window.see("thread 2 of 2, helper")
    window.keys("t")
    window.see("thread 1 of 2, MainThread", "__main__.main")
    window.keys("T")
    window.see("thread 2 of 2, helper")


def test_what_ended_the_program_is_told_at_once(terminal, tmp_path):
    window = terminal()
    start(window, record_dying(tmp_path))
    window.see("E goes to what ended it: ValueError: too much", "▶ def pay(amount):")
    window.keys("E")
    window.see("raises ValueError: too much", "amount = 7")


def test_every_key_of_the_table_does_something_without_harm(terminal, shop):
    """No key ends the program but q, and the screen stays whole."""
    window = terminal(100, 30)
    start(window, shop)
    for key in ".ujkJK<>cC}{xXE;,gGhltTpvoiHWbB/n?[]":
        window.keys(key, "Escape")
    window.keys("Home", "End", "PageUp", "PageDown", "BSpace", "Enter", "Escape", "F5")
    window.keys("g", "Escape")
    window.see("level values", "thread_start")


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


def test_quit_leaves_the_terminal_as_it_was(terminal, shop):
    window = terminal()
    before = modes(window, "before")
    start(window, shop)
    assert window.tmux("display-message", "-p", "#{alternate_on}").strip() == "1"
    window.keys("q")
    window.see("status 0")
    assert_restored(window, before)


def test_interrupts(terminal, shop):
    window = terminal()
    before = modes(window, "before")
    start(window, shop)
    window.keys("C-c")
    window.see("q ends; so does Ctrl-C a second time")
    window.keys("j", "C-c")
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
    before = modes(window, "before")
    start(window, shop)
    window.keys("x")
    window.see("raises LookupError")
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
    before = modes(window, "before")
    start(window, shop)
    window.keys("x")
    window.see("raises LookupError")
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
    start(window, shop)
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
        start(window, shop)
        window.keys("x", "b")
        window.see("●", "raises LookupError")
        found = re.search(r"\x1b\[[\d;]*3[0-7]m", window.screen("-e"))
        assert (found is not None) is colored


def test_a_terminal_without_utf8(terminal, shop):
    window = terminal(80, 24, LC_ALL="C")
    start(window, shop)
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
    start(window, shop)
    window.run("/shop.py:35")
    window.see("* greeting = '日本語 \\x1b[31mred'")


def test_level_calls(terminal, tmp_path):
    window = terminal()
    film = record(tmp_path, SHOP, "shop.py", "--level", "calls")
    start(window, film)
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
    start(window, film)
    window.run("/fn:f")
    window.see("the recording has no source of <made>, line 1", "a = 3")


def test_no_events(terminal, tmp_path):
    film = record(tmp_path, "pass", "empty.py", "--target", "no_such_module")
    window = terminal()
    start(window, film)
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
    screen = window.wait(lambda screen: " level " in screen or "status" in screen)
    if " level " in screen:
        window.keys(*"jjj..xG")
        window.keys("q")
    screen = window.see("status ")
    assert "Segmentation" not in screen


def test_a_recording_being_written(terminal, tmp_path):
    script = tmp_path / "live.py"
    script.write_text("import time\nfor turn in range(10**9):\n    time.sleep(0.01)\n")
    film = tmp_path / "live.film"
    program = subprocess.Popen(
        [sys.executable, "-m", "filmstrip", "run", "--no-progress", "-o", film, script],
        cwd=tmp_path,
        env=clean_environment(),
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 30
        while not film.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(0.5)
        window = terminal(100, 30)
        start(window, film)
        window.see("being written")
        window.keys("G")
        first = re.search(r"turn = (\d+)", window.see("turn = "))
        assert first is not None
        time.sleep(1.0)
        window.keys("G")
        window.wait(
            lambda screen: int(re.search(r"turn = (\d+)", screen)[1]) > int(first[1])
        )
    finally:
        os.killpg(program.pid, signal.SIGKILL)
        program.wait()
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
    start(window, film)
    window.run(":first n + total == -1")
    window.see("searching, ")
    window.keys("C-c")
    window.see("interrupted at ")
    window.keys("j")
    window.see("▶")


# --- any keys at all -------------------------------------------------------------------

ASAN = ROOT / "build" / "asan" / "filmstrip"
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
