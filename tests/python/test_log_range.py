"""`log` of a part of a run: the lines are those of the whole log, names and values before
included, wherever it begins."""

from __future__ import annotations

import re

import pytest

from conftest import run_program

SCHEDULER = """
import heapq
import threading
from dataclasses import dataclass, field

@dataclass
class Job:
    number: int
    cost: int
    tags: dict = field(default_factory=dict)

class Scheduler:
    limit = 0

    def __init__(self, count):
        self.queue = []
        self.jobs = {}
        self.totals = {"all": 0}
        for number in range(count):
            self.jobs[number] = Job(number, number * 7 % 11, {"kind": number % 3})
            heapq.heappush(self.queue, (number * 7 % 11, number))

    def run(self, steps):
        for step in range(steps):
            cost, number = heapq.heappop(self.queue)
            job = self.jobs[number]
            job.tags["seen"] = step
            self.jobs[number].tags[step % 5] = cost
            job.cost = cost + 1
            self.totals["all"] += cost
            Scheduler.limit += 1
            heapq.heappush(self.queue, (cost + number % 4, number))

def main(steps):
    scheduler = Scheduler(40)
    scheduler.run(steps)
    return scheduler.totals

main(900)
"""

SHARED = """
import threading

LOG = []
table = {"a": [0], "b": {}}

class Box:
    def __init__(self, name):
        self.name = name
        self.items = []
        self.inner = {"rows": [[0], [1]]}

def counter():
    total = 0
    seen = []
    def add(n):
        nonlocal total
        total += n
        seen.append(n)
        return total
    return add

def numbers(box, count):
    for i in range(count):
        box.items.append(i)
        box.inner["rows"][i % 2][0] = i
        yield i

def work(box, count):
    add = counter()
    for n in numbers(box, count):
        add(n)
        table["a"].append(n)
        table["b"][n % 7] = box.name
        LOG.append(n)
        if n % 50 == 49:
            LOG.clear()
            box.items = []

boxes = [Box("one"), Box("two")]
threads = [threading.Thread(target=work, args=(box, 250)) for box in boxes]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
work(boxes[0], 300)
"""


def log_of(film, *options):
    done = run_program("log", film, *options)
    assert done.rc == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module", params=[SCHEDULER, SHARED], ids=["jobs", "threads"])
def film(request, tmp_path_factory):
    from conftest import Runner

    runner = Runner(tmp_path_factory.mktemp("range"))
    return runner.record(request.param, options=["--level", "values"]).film


def time_at(lines, part):
    """When the line at that part of the log was, as --from and --to take it."""
    return lines[int(len(lines) * part)].split()[0] + "s"


@pytest.mark.parametrize("part", [0.02, 0.2, 0.5, 0.75, 0.98])
def test_a_log_that_begins_later_is_the_tail_of_the_whole(film, part):
    whole = log_of(film)
    found = log_of(film, "--from", time_at(whole, part))
    assert found and found == whole[-len(found) :]


@pytest.mark.parametrize("part", [0.3, 0.6])
def test_a_log_of_a_stretch_is_a_stretch_of_the_whole(film, part):
    whole = log_of(film)
    start, end = time_at(whole, part), time_at(whole, part + 0.2)
    found = log_of(film, "--from", start, "--to", end)
    assert "\n".join(found) in "\n".join(whole)


@pytest.mark.parametrize("first", [1, 700, 3000, 5001])
def test_events_by_number_are_shown_as_in_the_whole(film, first):
    whole = log_of(film)
    part = log_of(film, "--events", f"{first}:{first + 400}")
    left = iter(whole)
    assert part and all(line in left for line in part)


def test_a_thread_by_itself_is_shown_as_in_the_whole(film):
    whole = log_of(film)
    for thread in "123":
        own = [line for line in whole if re.match(rf" *\d+\.\d+ \[{thread}\] ", line)]
        assert own == [] or own == log_of(film, "--thread", thread)


def test_a_function_by_itself_is_shown_as_in_the_whole(film):
    whole = log_of(film)
    names = {"run", "work", "numbers", "add"}
    names &= set(
        re.findall(r" run \w+\.(?:\w+\.|<locals>\.)*(\w+)\(", "\n".join(whole))
    )
    assert names
    for name in names:
        left = iter(whole)
        part = log_of(film, "--function", f"*{name}")
        assert part and all(line in left for line in part)


def test_calls_that_last_show_what_functions_share_as_in_the_whole(runner):
    """Calls are held until they have lasted long enough, and their cells with them."""
    film = runner.record(
        """
        def outer(number):
            total = {"n": number}
            rows = [number]
            def add(n):
                sum(range(5000))
                total["n"] = n
                rows.append(n)
                return n
            def again(n):
                return add(n) + add(n + 1)
            return again(number)

        for number in range(300):
            outer(number)
        """,
        options=["--level", "values"],
    ).film
    whole = log_of(film)
    lasting = log_of(film, "--min-duration", "20us")
    written = [line for line in lasting if re.search(r" (upd|apd) ", line)]
    assert len(written) > 1000
    left = iter(whole)
    assert all(line in left for line in written)
