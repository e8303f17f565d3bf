"""What `filmstrip step` says is so: each answer that is no names its own reason, and
exceptions are gone to where they were raised."""

from __future__ import annotations

import pathlib
import re
import time

import pytest

from conftest import run_program
from step_stories import Answers, being_written, places, record, step

COUNTING = """\
def count(limit):
    total = 0
    for number in range(limit):
        total += number
    return total


def unused():
    return 1


count(7)
"""


@pytest.fixture(scope="module")
def counting(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return record(tmp_path_factory.mktemp("words"), COUNTING, "counting.py")


def said(film: pathlib.Path, *commands: str) -> tuple[int, str]:
    answers = step(film, *commands)
    return answers.rc, answers.paragraphs[-1]


# --- why there is no hit ---------------------------------------------------------------

UNKNOWN = "'nosuch' has no recorded value here"
REASONS = [
    (
        "counting.py:4 if number > 100",
        "never_true",
        "the line ran 7 times, and the condition was never true",
    ),
    (
        "counting.py:4 if nosuch > 1",
        "never_known",
        f"the line ran 7 times, and each time the condition could not be told: {UNKNOWN}",
    ),
    (
        "counting.py:2 if nosuch > 1",
        "never_known",
        f"the line ran once, and the condition could not be told: {UNKNOWN}",
    ),
    ("nosuch.py:4", "no_file", "no file 'nosuch.py' was recorded"),
    (
        "counting.py:99",
        "no_line",
        "no recorded code of 'counting.py' has line 99, or one behind it",
    ),
    ("nosuch", "no_function", "no function 'nosuch' was recorded"),
    (
        "counting.py:nosuch",
        "no_function",
        "no function 'nosuch' of counting.py was recorded",
    ),
    (
        "count if limit > 7",
        "never_true",
        "the function was called once, and the condition was not true",
    ),
]


@pytest.mark.parametrize(("place", "verdict", "sentence"), REASONS)
def test_hits_say_why_there_are_none(counting, place, verdict, sentence):
    assert said(counting, f"hits {place}") == (1, sentence)
    answers = step(counting, f"hits {place}", options=("--json",))
    (told,) = answers.objects
    assert (answers.rc, told["verdict"], told["message"]) == (1, verdict, sentence)
    assert told["rows"] == []


@pytest.mark.parametrize(("place", "verdict", "sentence"), REASONS)
def test_breakpoints_say_that_they_never_stop(counting, place, verdict, sentence):
    code, text = said(counting, f"b {place}")
    assert code == 1
    if verdict.startswith("no_"):
        assert text == sentence
    else:
        assert text == f"breakpoint 1: {place}\nit never stops: {sentence}"


def test_a_line_that_did_not_run(tmp_path):
    film = record(tmp_path, "def f(x):\n    if x:\n        return 1\n\nf(0)\n", "f.py")
    assert said(film, "hits f.py:3") == (1, "the line did not run in this recording")
    assert said(film, "b f.py:3")[1].endswith(
        "stops: the line did not run in this recording"
    )
    assert said(film, "until f.py:3") == (1, "the line did not run in this recording")


def test_a_level_without_lines(tmp_path):
    film = record(tmp_path, COUNTING, "counting.py", "--level", "calls")
    words = "no lines were recorded (level calls), only calls"
    assert said(film, "hits counting.py:4") == (1, words)
    assert said(film, "until counting.py:4") == (1, words)
    assert words in said(film, "b counting.py:4")[1]
    assert said(film, "hits count")[1].endswith("1 hit")


def test_breakpoints_that_stop_say_nothing_more(counting):
    assert step(counting, "b counting.py:4 if number > 5", "b count").paragraphs == [
        "breakpoint 1: counting.py:4 if number > 5",
        "breakpoint 2: count",
    ]
    assert said(counting, "b counting.py:4 hit 9") == (
        1,
        "breakpoint 1: counting.py:4 hit 9\n"
        "it never stops: the line ran 7 times: the hit count is never reached",
    )


def test_of_a_recording_being_written_nothing_is_said_for_ever(tmp_path):
    with being_written(tmp_path) as film:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if " hit" in step(film, "hits live.py:3").text:
                break
            time.sleep(0.2)
        answers = step(film, "b live.py:3 if turn < 0")
    assert answers.rc == 0
    assert re.search(
        r"it may never stop: as far as was tried, the line ran .*, and the condition "
        r"was (never|not) true\n",
        answers.text,
    )


def test_hits_count_what_could_not_be_told(counting):
    text = step(counting, "hits counting.py:3 number if number > 4").text
    assert text.splitlines()[-2] == "2 hits"
    assert text.splitlines()[-1] == (
        "the condition could not be told 1 more time: "
        "'number' has no recorded value here"
    )


def test_the_line_that_stands_for_another_is_named(counting):
    first = step(counting, "hits counting.py:6").text.splitlines()[0]
    assert first == "line 6 has no recorded code; of line 8:"


LONG = """\
def count(limit):
    for number in range(limit):
        total = number
    return limit


count(60_000)
"""


def test_a_long_search_counts_all_of_it(tmp_path):
    """In pieces of 50 ms: what was counted goes with where it goes on."""
    film = record(tmp_path, LONG, "long.py")
    assert said(film, "hits long.py:3 if number < 0")[1] == (
        "the line ran 60000 times, and the condition was never true"
    )
    text = said(film, "until long.py:3", "first number < 0")[1]
    assert re.fullmatch(
        r"behind event 1:\d+, in __main__.count: looked at 12000[01] times, and the "
        r"condition was never true",
        text,
    )


# --- places ----------------------------------------------------------------------------


def test_every_command_takes_the_same_places(counting):
    for place in ("count", "counting.py:count", "counting.py:2", "counting.py:3"):
        for command in ("b", "until", "hit", "hits", "list", "logpoint"):
            typed = f"{command} {place}" + (" x" if command == "logpoint" else "")
            answers = step(counting, typed)
            assert answers.rc == 0, (typed, answers.text)
    for name in ("count", "counting.py:count"):
        assert step(counting, f"until {name}").text.startswith("counting.py:1  ")
        assert step(counting, "end", f"runtil {name}").rc == 0
        assert step(counting, f"hit {name}").text.startswith("counting.py:1  ")
        assert "1 hit" in step(counting, f"hits {name} limit").text
        assert "def count(limit):" in step(counting, f"list {name}").text
        assert places(
            step(counting, f"search {name}" if ":" in name else "until count")
        )
    for command in ("b", "until", "runtil", "hit", "hits", "list"):
        answers = step(counting, f"{command} counting.py:")
        assert "'counting.py:' is no place" in answers.text, command
        assert step(counting, f"{command} nosuch.py:3").text == (
            "no file 'nosuch.py' was recorded"
            + ("; info files lists them\n" if command == "list" else "\n")
        )


def test_a_hit_that_is_not_there(counting):
    assert said(counting, "hit counting.py:4 8") == (1, "it ran fewer than 8 times")
    assert said(counting, "hit nosuch 1") == (1, "no function 'nosuch' was recorded")


# --- from where it was looked ----------------------------------------------------------


def test_searches_say_from_where(counting):
    here = "until counting.py:4"
    found = step(counting, here, "first number == 3").paragraphs[1]
    assert re.match(r"first true behind event 1:\d+:\ncounting.py:4  ", found)
    back = step(counting, "end", "runtil 5", "rfirst number == 3").paragraphs[2]
    assert re.match(r"last true before event 1:\d+:\ncounting.py:3  ", back)
    for command, words in (
        (
            "first number == 9",
            r"behind event M, in __main__.count: looked at 15 times, .*",
        ),
        ("first nosuch", r"behind event M, in .* could not be told: 'nosuch' has .*"),
        (
            "rfirst number == 9",
            r"before event M, in __main__.count: looked at 2 times.*",
        ),
        ("until counting.py:1", r"the line does not run behind event M"),
        ("runtil 5", r"the line did not run before event M"),
        ("rwrite number", r"counting.py:3 .*"),
        ("write limit", r"no write of limit was recorded behind event M"),
        ("raise", r"no exception is raised behind event M"),
        ("rraise KeyError", r"no KeyError was raised before event M"),
    ):
        text = step(counting, here, command).paragraphs[1].splitlines()[0]
        assert re.fullmatch(words.replace("M", r"1:\d+"), text), (command, text)


def test_machines_are_told_the_difference_too(counting):
    commands = ["until 4", "first nosuch", "first number > 9", "until nosuch", "hit 99"]
    answers = step(counting, *commands, options=("--json",))
    assert [one["error"]["verdict"] for one in answers.objects[1:]] == [
        *("never_known", "never_true", "no_function", "no_line"),
    ]


# --- times and events ------------------------------------------------------------------


def test_what_lies_behind_the_end_is_said(counting):
    end = step(counting, "end").text
    for command, words in (
        ("time 5h", r"the recording ends at \d+\.\d{6} s"),
        ("time 200%", r"the recording ends at \d+\.\d{6} s"),
        ("event 999999999", r"thread 1 ends with event \d+"),
        ("event 99999999999999999", r"thread 1 ends with event \d+"),
    ):
        answers = step(counting, command)
        first, _, rest = answers.text.partition("\n")
        assert re.fullmatch(words, first), (command, first)
        assert rest == end
        (told,) = step(counting, command, options=("--json",)).objects
        assert told["stopped"]["reason"] == "end", command
    assert step(counting, "time 100%").text == end
    late = step(counting, "here", options=("--at", "5h"))
    assert late.errors.startswith("filmstrip step: --at 5h: the recording ends at ")


def test_every_form_in_which_times_are_printed_is_taken(counting):
    printed = run_program("log", counting).stdout.splitlines()
    stamps = {line.split()[0] for line in printed if line.strip()}
    here = re.search(r"(\d+\.\d{6}) s", step(counting, "until 5").text)
    assert here and stamps
    for stamp in [*stamps, here[0], here[1], "0.0001", "20ms", "300us", "5 ns", "1.5"]:
        assert step(counting, f"time {stamp}").rc == 0, stamp
        assert run_program("log", counting, "--from", stamp).rc == 0, stamp
    for stamp in stamps:  # they are printed to the microsecond, and mean all of it
        assert f", {stamp} s" in step(counting, f"time {stamp}").text
        assert f" {stamp} " in run_program("log", counting, "--to", stamp).stdout
        lines = run_program("log", counting, "--from", stamp, "--to", stamp).stdout
        assert {line.split()[0] for line in lines.splitlines()} == {stamp}


# --- where exceptions were raised ------------------------------------------------------

RAISING = """\
import asyncio, contextlib


def deep(n):
    if n == 0:
        raise ValueError("deep")
    deep(n - 1)


def chained():
    try:
        deep(2)
    except ValueError as error:
        raise KeyError("key") from error


def again():
    try:
        deep(0)
    except ValueError as error:
        raise error


def generator():
    try:
        yield 1
    except RuntimeError:
        yield 2


def delegating():
    yield from generator()
    yield from failing()


def failing():
    yield 3
    raise OSError("failing")


async def job():
    await asyncio.sleep(0)
    raise LookupError("job")


async def awaiting():
    task = asyncio.create_task(job())
    other = asyncio.create_task(asyncio.sleep(0))
    try:
        await task
    except LookupError:
        pass
    await job()


def tried(function, *arguments):
    try:
        function(*arguments)
    except Exception:
        pass


@contextlib.contextmanager
def managing():
    try:
        yield
    finally:
        tidied = True


def managed():
    with managing():
        raise BufferError("body")


def throwing():
    for turn in range(2):
        receiver = generator()
        next(receiver)
        try:
            receiver.throw(EOFError("each time another"))
        except EOFError:
            pass


def changing(value):
    numbers.append(value)
    raise ArithmeticError("changing")


numbers = [3, 1]
tried(chained)
tried(again)
given = delegating()
next(given)
given.throw(RuntimeError("thrown"))
tried(next, given)
tried(list, given)
tried(asyncio.run, awaiting())
tried([].index, 5)
tried(sorted, [1], key := deep)
tried(lambda: [changing(n) for n in numbers])
tried(managed)
throwing()
"""


@pytest.fixture(scope="module")
def raising(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return record(tmp_path_factory.mktemp("raising"), RAISING, "raising.py")


RAISED = [
    ("raising.py:6", "ValueError: deep"),
    ("raising.py:14", "KeyError: key"),
    ("raising.py:6", "ValueError: deep"),
    ("raising.py:21", "ValueError: deep"),  # the program raises it again
    ("raising.py:26", "RuntimeError: thrown"),  # throw: first seen here
    ("raising.py:38", "OSError: failing"),
    ("raising.py:43", "LookupError: job"),
    ("raising.py:43", "LookupError: job"),
    ("raising.py:58", "ValueError: 5 is not in list"),
    ("raising.py:58", "TypeError"),
    ("raising.py:88", "ArithmeticError: changing"),
    ("raising.py:73", "BufferError: body"),
    ("raising.py:26", "EOFError"),  # the program throws a new one each time
    ("raising.py:26", "EOFError"),
]


def raises_of(answers: Answers) -> list[tuple[str | None, str]]:
    told = [re.search(r"raises (.*)", part) for part in answers.paragraphs]
    return [
        (place, found[1].split(":")[0])
        for place, found in zip(places(answers), told, strict=True)
        if found
    ]


def test_raise_goes_to_where_it_was_raised(raising):
    wanted = [(place, name.split(":")[0]) for place, name in RAISED]
    found = raises_of(step(raising, *["raise"] * 22))
    # What ends loops and generators differs between Pythons.
    found = [one for one in found if one[1] not in ("StopIteration", "GeneratorExit")]
    assert found == wanted
    back = raises_of(step(raising, "end", *["rraise"] * 22))
    back = [one for one in back if one[1] not in ("StopIteration", "GeneratorExit")]
    assert back == wanted[::-1]


def test_any_goes_to_where_it_passes_by(raising):
    found = raises_of(step(raising, *["raise any ValueError"] * 5))
    lines = [place for place, _ in found]
    assert lines == [f"raising.py:{line}" for line in (6, 7, 7, 12, 6)]
    back = raises_of(step(raising, "hit raising.py:14", *["rraise any"] * 4))
    assert [place for place, _ in back] == [
        f"raising.py:{line}" for line in (12, 7, 7, 6)
    ]


def test_a_breakpoint_on_raise_stops_where_raise_goes(raising):
    stops = step(raising, "b raise", *["c"] * 22).paragraphs[1:]
    found = raises_of(Answers(0, "\n\n".join(stops), ""))
    found = [one for one in found if one[1] not in ("StopIteration", "GeneratorExit")]
    assert found == [(place, name.split(":")[0]) for place, name in RAISED]


UNCAUGHT = """\
def pay():
    raise ValueError("too much")


def tidy():
    try:
        raise KeyError("on the way")
    except KeyError:
        pass


try:
    pay()
finally:
    tidy()
"""


def test_uncaught_is_found_though_others_were_raised_on_its_way(tmp_path):
    """Its message is kept again then, under another number."""
    film = record(tmp_path, UNCAUGHT, "paying.py", status=1)
    answers = step(film, "uncaught")
    assert answers.rc == 0
    assert places(answers) == ["paying.py:2"]


# --- endings, and exceptions without a message ------------------------------------------


def test_info_says_how_it_ended(counting, raising, tmp_path):
    text = step(counting, "info").text
    assert " events of 1 thread in " in text
    assert text.splitlines()[-1] == "ended: exit status 0"
    died = record(tmp_path, "raise ValueError\n", "died.py", status=1)
    text = step(died, "info").text
    assert text.splitlines()[-1] == "ended: uncaught ValueError, exit status 1"


SILENT = """\
def one():
    raise ValueError


def other():
    raise ValueError("")


for function in (one, other):
    try:
        function()
    except ValueError:
        pass
raise SystemError("")
"""


def test_no_colon_without_a_message(tmp_path):
    film = record(tmp_path, SILENT, "silent.py", status=1)
    answers = step(film, "raise", "raise", "uncaught", "end")
    assert [part.splitlines()[2].strip() for part in answers.paragraphs] == [
        "raises ValueError",
        "raises ValueError",
        "raises SystemError",
        "is left by SystemError",
    ]
    for words in (
        ("log", film),
        ("log", "--format", "xml", film),
        ("info", film),
        ("report", film),
        ("log", "--objwatch", film),
    ):
        text = run_program(*words).stdout
        assert not re.search(r"Error: *(\n|\"|$)", text), (words, text)


# --- odd things that are typed ----------------------------------------------------------


def test_odd_commands_are_answered_with_what_is_so(counting):
    for commands, words in (
        (["step 0"], "step 0 goes nowhere"),
        (["hits count", "step 0"], "step 0 goes nowhere"),
        (["where 0"], "0 frames are asked for"),
        (["continue 5"], "continue takes nothing behind it, and here is '5'"),
        (["start x"], "start takes nothing behind it, and here is 'x'"),
        (["delete"], "no breakpoint is set"),
        (["event 1:"], "'1:' is no moment: thread:event"),
        (["history number"], "no write of number was recorded that is this frame's or "
         "its module's; FUNCTION:number is another's"),
        (["until 4", "break if number > 5"], "breakpoint 1: counting.py:4 if number > 5"),
    ):  # fmt: skip
        assert step(counting, *commands).paragraphs[-1] == words, commands
    (last,) = step(counting, "last limit").paragraphs
    assert re.fullmatch(r"no write of limit was recorded up to event 1:\d+", last)
