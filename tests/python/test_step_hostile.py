"""`filmstrip step` from a pipe: recordings that tell less or are damaged, hostile input."""

from __future__ import annotations

import random
import subprocess
import time

import pytest

from conftest import PROGRAM as PATH
from conftest import clean_environment, run_program
from step_stories import ASAN, SHOP, being_written, places, record, step

# --- recordings that tell less -------------------------------------------------------------


def test_level_calls(tmp_path):
    film = record(tmp_path, SHOP, "shop.py", "--level", "calls")
    answers = step(film, "s", "s", "locals", "bt", "p x", "end", "list")
    assert "level calls: no values were recorded" in answers.paragraphs[2]
    assert "__main__" in answers.paragraphs[3]
    assert "no recorded value" in answers.paragraphs[4]


def test_without_source(tmp_path):
    film = record(
        tmp_path,
        "exec(compile('def f(a):\\n    return a + 1\\nf(3)\\n', '<made>', 'exec'))",
        "made.py",
    )
    answers = step(film, "b f", "c", "n", "locals", "list")
    assert "the recording has no source of this file" in answers.paragraphs[2]
    assert "a = 3" in answers.paragraphs[3]
    assert answers.paragraphs[4] == "the recording has no source of this file"


def test_no_events(tmp_path):
    film = record(tmp_path, "pass", "empty.py", "--target", "no_such_module")
    answers = step(
        film, "here", "n", "bt", "locals", "c", "info", "threads", "p 1", "end"
    )
    assert "Traceback" not in answers.errors
    assert len(answers.paragraphs) == 9
    assert answers.rc in (0, 1)


def test_a_recording_being_written(tmp_path):
    with being_written(tmp_path) as film:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if "turn" in step(film, "end", "locals").text:
                break
            time.sleep(0.2)
        answers = step(film, "info", "end", "locals")
        assert "being written" in answers.paragraphs[0]
        assert "turn = " in answers.paragraphs[2]
    answers = step(film, "info", "end", "rn", "p turn")
    assert "without closing the recording" in answers.paragraphs[0]
    assert answers.paragraphs[3].isdigit()


def damage(film, to, seed):
    bytes_ = bytearray(film.read_bytes())
    chance = random.Random(seed)
    for _ in range(chance.choice([1, 4, 40])):
        bytes_[chance.randrange(64, len(bytes_))] = chance.randrange(256)
    if chance.random() < 0.3:
        del bytes_[chance.randrange(len(bytes_) // 2, len(bytes_)) :]
    to.write_bytes(bytes_)


EVERYTHING = [
    *("info", "here", "s 5", "n 5", "locals", "b take", "c", "c", "bt", "list"),
    *("origin item", "history sell:item", "hits shop.py:27 item", "rc", "end", "rs 9"),
    *("raise", "rraise", "threads", "watch till.money", "c", "time 50%", "event 40"),
    *("first item == 'pear'", "return", "call", "finish", "rfinish", "pp STOCK"),
]


@pytest.fixture(params=["plain", "asan"])
def program(request):
    """The program as it is, and with sanitizers."""
    path = PATH if request.param == "plain" else ASAN
    if not path.exists():
        pytest.skip("build/asan is not there: make build-asan")
    return path


def test_damaged_recordings(shop, tmp_path, program):
    for seed in range(40 if program == PATH else 25):
        film = tmp_path / f"{seed}.film"
        damage(shop, film, seed)
        answers = step(film, *EVERYTHING, program=program)
        assert answers.rc in (0, 1, 2), (seed, answers.errors)
        assert "Sanitizer" not in answers.errors, (seed, answers.errors)


def test_no_recording(tmp_path):
    missing = step(tmp_path / "no.film", "here")
    assert missing.rc == 2 and missing.text == ""
    (tmp_path / "text.film").write_text("hello")
    assert step(tmp_path / "text.film", "here").rc == 2
    assert run_program("step").rc == 2
    assert run_program("step", "a", "b").rc == 2


# --- hostile input -------------------------------------------------------------------------


NONSENSE = [
    *("b", "b :", "b ::", "b :5", "b a:b:5", "b if", "b  if  ", "b take if", "tbreak"),
    *(
        "watch .",
        "watch [",
        "watch a[",
        "watch a.b[",
        "watch :",
        "watch x:",
        "watch :x",
    ),
    *("p", "p (", "p [" * 500, "p " + "(" * 5000, "p 1" + "+1" * 5000, "pp", "pp ("),
    *(
        "hits",
        "hits :",
        "hits ,",
        "hits take ,,,",
        "hits take 'a",
        "hits take (a",
        "hits x if",
    ),
    *(
        "event",
        "event -1",
        "event 99999999999999999999",
        "event :",
        "event 0:0",
        "event 1:",
    ),
    *(
        "event 4294967297:1",
        "time",
        "time -5s",
        "time 1e400s",
        "time %",
        "hit",
        "hit 5 0",
    ),
    *(
        "hit 5 x",
        "hit :",
        "n -1",
        "n 0",
        "n x",
        "n 99999999999999999999",
        "up 99",
        "down -1",
    ),
    *(
        "frame",
        "frame 99",
        "thread x",
        "thread 0",
        "first",
        "first (",
        "origin",
        "history",
    ),
    *(
        "origin 5",
        "history x 0",
        "last",
        "last (",
        "write",
        "rwrite ]",
        "search",
        "/",
        "/@",
    ),
    *(
        "/fn:",
        "/:5",
        "//",
        "list :",
        "list 0",
        "list -1",
        "list 99999999999",
        "logpoint",
    ),
    *(
        "logpoint 5",
        "logpoint 5 {",
        "logpoint 5 {(}",
        "delete -1",
        "delete 1 2 x",
        "help :",
    ),
    *(
        "info :",
        "undo",
        "raise (",
        "rraise \u202e",
        "\u65e5\u672c",
        "b \u65e5:5",
        "\xff\xfe",
        "?" * 100,
    ),
    *(
        "until",
        "until x",
        "until 0",
        "until :9",
        "runtil 99999999999",
        "return 5",
        "quitt",
    ),
]


def test_nonsense(shop, program):
    typed = (
        "\n".join(NONSENSE).encode() + b"\n\x00\nb \x00x\np \xff\xfe\xc3\n\r\n\x1b[A\n"
    )
    for options in [(), ("--json",)]:
        answers = step(shop, stdin=typed + b"here\n", options=options, program=program)
        assert answers.rc == 1
        assert "Sanitizer" not in answers.errors
        if options:
            assert "m" in answers.objects[-1]
        else:
            assert places(answers)[-1] is not None
        assert "\x1b" not in answers.text


@pytest.mark.parametrize("seed", range(4))
def test_random_bytes(shop, program, seed):
    chance = random.Random(seed)
    names = [b"b", b"c", b"p", b"watch", b"hits", b"first", b"/", b"list", b"origin"]
    lines = [
        chance.choice(names) + b" " + bytes(chance.choices(range(1, 256), k=30))
        for _ in range(500)
    ]
    typed = b"\n".join(line.replace(b"\n", b" ") for line in lines)
    answers = step(shop, stdin=typed + b"\nhere\n", program=program)
    assert (answers.rc, "Sanitizer" in answers.errors) == (1, False), answers.errors
    assert places(answers)[-1] is not None


def test_huge_lines(shop, program):
    answers = step(
        shop,
        stdin=b"p " + b"x" * (3 << 20) + b"\nhere\n" + b"n" * (2 << 20),
        program=program,
    )
    assert answers.paragraphs[0] == "the line is too long to be a command"
    assert places(answers)[1] == "shop.py:1"
    assert len(answers.paragraphs) == 3


def test_a_reader_that_goes_away(shop):
    program = subprocess.Popen(
        [PATH, "step", shop],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=clean_environment(),
    )
    assert program.stdin and program.stdout and program.stderr
    program.stdout.close()
    try:
        program.stdin.write(b"help\n" * 20000)
        program.stdin.close()
    except BrokenPipeError:
        pass
    assert program.wait(20) in (0, 1)
    assert program.stderr.read() == b""


def test_answers_come_at_once(shop):
    """A person or program that reads an answer before it types the next command."""
    program = subprocess.Popen(
        [PATH, "step", "--json", shop],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=clean_environment(),
    )
    assert program.stdin and program.stdout
    for command in [b"here\n", b"n\n", b"locals\n"]:
        program.stdin.write(command)
        program.stdin.flush()
        assert program.stdout.readline().startswith(b"{")
    program.stdin.close()
    assert program.wait(20) == 0


def test_many_commands_leave_memory_alone(shop):
    """10,000 moves and questions in one session."""
    typed = ["n", "s", "rs", "p STOCK", "locals", "end", "start"] * 1500
    answers = step(shop, *typed, options=("--json",))
    assert answers.rc == 1  # STOCK has no value at the start
    assert len(answers.objects) == len(typed)
