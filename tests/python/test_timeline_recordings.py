"""Time travel in recordings of all sorts: of a killed process, scrubbed, with closures,
with tasks, asked by two threads at once."""

from __future__ import annotations

import pathlib
import signal

from asking import ask, python, record_values

KILLED = """\
import os, signal


def source():
    number = 40
    while True:
        number += 1
        yield number


def inner(limit):
    kept = []
    for turn in range(limit):
        kept.append(turn)
        if turn == limit - 1:
            os.kill(os.getpid(), signal.SIGKILL)


def main():
    table = {"first": 1}
    numbers = source()
    one = next(numbers)
    for turn in range(9000):
        last = turn
    table["second"] = next(numbers)
    inner(5)


main()
"""


def test_a_recording_whose_process_was_killed(tmp_path: pathlib.Path) -> None:
    """What lies in windows, behind the last chunk, is part of the timeline."""
    record_values(tmp_path, "killed.py", KILLED, status=-signal.SIGKILL)
    script = """
import filmstrip, json
film = filmstrip.open("killed.film")
end = film.end
frames = [{name: value.text for name, value in frame.locals.items()}
          for frame in end.stack]
line = film.end.run_back({"kind": "line", "file": "killed.py", "line": 7})
print(json.dumps([film.info.ending, frames[1:], line.locals["number"].text,
                  film.last_write("kept[2]", end).value.text,
                  film.last_write("limit", end).argument, film.info.events]))
"""
    ending, frames, number, item, argument, events = ask(tmp_path, script)
    assert ending == "died" and events > 20_000
    assert frames[0]["table"] == "{'first': 1, 'second': 42}"
    assert frames[0]["one"] == "41" and frames[0]["last"] == "8999"
    assert frames[1] == {"limit": "5", "kept": "[0, 1, 2, 3, 4]", "turn": "4"}
    assert (number, item, argument) == ("41", "2", True)


def test_a_scrubbed_recording(tmp_path: pathlib.Path) -> None:
    """Keyframes of a scrubbed film tell no variables: chunks before are looked at."""
    record_values(tmp_path, "killed.py", KILLED.replace("os.kill", "print"))
    scrub = ("scrub", "killed.film", "clean.film", "--name", "one")
    python(tmp_path, "-m", "filmstrip", *scrub)
    script = """
import filmstrip, json
film = filmstrip.open("clean.film")
moment = film.end.run_back({"kind": "line", "file": "killed.py", "line": 13})
values = {name: value.text for name, value in moment.stack[1].locals.items()}
print(json.dumps([values, "41" in str(film.query(q="locals", m=moment.m))]))
"""
    values, leaked = ask(tmp_path, script)
    assert values["table"] == "{'first': 1, 'second': 42}" and values["last"] == "8999"
    assert "41" not in values["one"] and not leaked


def test_variables_of_outer_functions(tmp_path: pathlib.Path) -> None:
    record_values(
        tmp_path,
        "cells.py",
        """\
        def outer(start):
            base = start * 10

            def inner(more):
                seen = base + more
                return seen

            return inner(1) + inner(2)


        outer(4)
        """,
    )
    script = """
import filmstrip, json
film = filmstrip.open("cells.film")
moment = film.at(hit=("cells.py", 6, 2))
told = film.query(q="locals", m=moment.m)["locals"]
print(json.dumps([{v["name"]: v["value"]["text"] for v in told},
                  moment.evaluate("base * 2").text,
                  [v.get("shared", False) for v in told if v["name"] == "base"]]))
"""
    values, twice, shared = ask(tmp_path, script)
    assert values == {"more": "2", "seen": "42", "base": "40"}
    assert (twice, shared) == ("80", [True])


def test_next_over_an_await(tmp_path: pathlib.Path) -> None:
    """Other tasks run in between; the next line is the frame's own, both ways."""
    record_values(
        tmp_path,
        "tasks.py",
        """\
        import asyncio


        async def fetch(name, delay):
            await asyncio.sleep(delay)
            return name * 2


        async def worker(name):
            first = await fetch(name, 0.01)
            second = await fetch(first, 0.005)
            return second


        async def main():
            return await asyncio.gather(worker("a"), worker("b"))


        print(asyncio.run(main()))
        """,
    )
    script = """
import filmstrip, json
film = filmstrip.open("tasks.film")
out = []
for n in (1, 2):
    moment = film.at(hit=("tasks.py", 10, n))
    name = moment.locals["name"].text
    one, two = moment.next(), moment.next().next()
    inside = moment.line()
    out.append([name, one.lineno, one.locals["name"].text, one.locals["first"].text,
                two.lineno, two.locals["second"].text, two.back_next() == one,
                one.back_next() == moment, inside.function, inside.next().lineno])
print(json.dumps(out))
"""
    for told, name in zip(ask(tmp_path, script), "ab", strict=True):
        assert told == [
            *(repr(name), 11, repr(name), repr(name * 2), 12, repr(name * 4)),
            *(True, True, "__main__.fetch", 6),
        ]


def test_queries_of_two_threads(tmp_path: pathlib.Path) -> None:
    """A query works without the GIL; queries and all else of one reader take turns."""
    record_values(
        tmp_path,
        "loop.py",
        """\
        def work(n):
            total = 0
            for i in range(n):
                total += i
            return total


        work(60000)
        """,
    )
    script = """
import filmstrip, json, sys, threading, time
sys.setswitchinterval(0.0005)
film = filmstrip.open("loop.film")
end = film.end.m
request = json.dumps({"q": "first", "condition": "total < 0", "m": film.at(hit=("loop.py", 4, 1)).m})
turns, done, wrong = [0], threading.Event(), []

def ask():
    try:
        answer = json.loads(film._reader.query(request))
        while "next" in answer:  # nothing makes it true: every line is looked at
            answer = json.loads(film._reader.query(
                json.dumps({**json.loads(request), "next": answer["next"]})))
        assert answer["stopped"]["reason"] == "end", answer
    except BaseException as error:
        wrong.append(repr(error))

def walk():
    try:
        for number, event in zip(range(2000), film.events(1)):
            film.at(event=event.number).locals, event.function, event.value
    except BaseException as error:
        wrong.append(repr(error))

def count():
    while not done.is_set():
        turns[0] += 1
        time.sleep(0)

others = [threading.Thread(target=one) for one in (ask, ask, walk)]
counter = threading.Thread(target=count)
counter.start()
for one in others: one.start()
for one in others: one.join()
done.set()
counter.join()
# Closing waits for a query that is under way, and then there is no reader.
last = threading.Thread(target=lambda: [film._reader.query(request) for _ in range(3)])
threading.excepthook = lambda told: wrong.append(told.exc_type.__name__)
last.start()
film.close()
last.join()
print(json.dumps([wrong, turns[0]]))
"""
    wrong, turns = ask(tmp_path, script)
    assert wrong in ([], ["ValueError"])
    assert turns > 1000


def test_a_condition_that_stays_true_is_found_by_halving(
    tmp_path: pathlib.Path,
) -> None:
    """The same moment as one by one, also where the function rests in between, at both
    ends, and where it never becomes true; in a few looks."""
    record_values(
        tmp_path,
        "long.py",
        """
        def rest(n):
            while n:
                n -= 1

        def work(steps, times):
            total = 0
            for step in range(steps):
                total += step
                if step == 7000:
                    rest(times)
            return total

        work(14000, 30000)
        """,
    )
    script = """
import filmstrip, json, time
film = filmstrip.open("long.film")
start = film.at(hit=("long.py", 9, 1))
out = []
def look(**options):
    took = []
    for _ in range(5):
        began = time.perf_counter()
        found = film.first(condition, after=start, **options)
        took.append(time.perf_counter() - began)
    return found and found.m, min(took)
for condition in ("step >= 0", "step >= 6999", "step >= 7000", "step > 7000",
                  "step >= 13999", "step >= 99999", "total > 40000000"):
    scanned, slow = look()
    halved, quick = look(monotone=True)
    out.append([condition, scanned, halved, slow, quick])
print(json.dumps([film.info.events, out]))
"""
    events, told = ask(tmp_path, script)
    assert events > 5 * 16384
    assert [row[1] for row in told] == [row[2] for row in told]
    assert [row[1] is None for row in told] == [
        row[0] == "step >= 99999" for row in told
    ]
    never = next(row for row in told if row[0] == "step >= 99999")
    assert never[4] < never[3] / 2, never
