"""Which asyncio task a moment is in: the program says it itself, in a variable."""

from __future__ import annotations

import ast
import json
import pathlib
import textwrap

import pytest

from asking import ask, python, record_values

PROGRAM = """\
import asyncio
import contextlib
import threading


class Own(asyncio.Task):
    def get_name(self):
        raise SystemError("code of the program was run")


def note(label):
    task = asyncio.current_task()
    name = asyncio.Task.get_name(task)
    who = [name, label]
    return who


def idle(label):
    who = [None, label]
    return who


async def step(label):
    note(label)
    await asyncio.sleep(0)
    note(label)


async def numbers(label):
    for number in range(2):
        await asyncio.sleep(0)
        note(label)
        yield number


async def worker(label):
    await step(label)
    await asyncio.wait_for(step("waited"), 5)  # on 3.11 a task of its own
    async for _ in numbers(label):
        note(label)
    asyncio.get_running_loop().call_soon(idle, "callback")
    await asyncio.sleep(0)
    note(label)


async def renamed():
    note("renamed")
    asyncio.current_task().set_name("renamed later")
    await asyncio.sleep(0)
    note("renamed")


@contextlib.asynccontextmanager
async def managed():
    await step("wrapped")
    yield


async def wrapped():
    # The task's own coroutine is of the standard library.
    context = managed()
    await asyncio.create_task(context.__aenter__(), name="wrapper")
    await context.__aexit__(None, None, None)


async def failing(label):
    note(label)
    try:
        await asyncio.sleep(10)
    except asyncio.CancelledError:
        note(label)
        raise


async def main(label):
    note(label)
    twins = [asyncio.create_task(worker(f"{label} twin {n}"), name="twin") for n in range(3)]
    await asyncio.gather(*twins, worker(label + " plain"), renamed())
    await wrapped()
    loop = asyncio.get_running_loop()
    own = Own(worker(label + " own"), loop=loop, name="own")
    await own
    for turn in range(4):
        # Each takes the place of the one before it, perhaps its memory.
        await asyncio.create_task(step(f"{label} turn {turn}"), name="turn")
    gone = asyncio.create_task(failing(label + " gone"), name="gone")
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    note(label)


def aside():
    coroutine = step_by_hand()
    for _ in range(2):
        try:
            coroutine.send(None)
        except StopIteration:
            return


async def step_by_hand():
    who = [None, "by hand"]
    await asyncio.sleep(0)
    who = [None, "by hand"]
    return who


async def with_thread():
    # Another thread drives a coroutine while a task of this one waits for it.
    note("waiting")
    thread = threading.Thread(target=aside)
    thread.start()
    thread.join()
    note("waiting")


asyncio.run(main("first"))
other = threading.Thread(target=lambda: asyncio.run(main("second")))
other.start()
asyncio.run(main("third"))
other.join()
asyncio.run(with_thread())
if hasattr(asyncio, "eager_task_factory"):
    async def eager():
        asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
        note("outer")
        inner = asyncio.create_task(step("eager"), name="eager")
        note("outer")
        await inner
        note("outer")
    asyncio.run(eager())
"""

ASK = """
import filmstrip, json
film = filmstrip.open("tasks.film")
out = []
for function in ("note", "idle", "step_by_hand"):
    for write in film.history(f"{function}:who"):
        moment = write.moment
        entered = moment.call()
        out.append([write.value.text, moment.task, entered.task, moment.thread])
print(json.dumps(out))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> list[list[object]]:
    where = tmp_path_factory.mktemp("tasks")
    record_values(where, "tasks.py", PROGRAM)
    return [[ast.literal_eval(text), *rest] for text, *rest in ask(where, ASK)]


def test_every_moment_knows_its_task(told: list[list[object]]) -> None:
    assert len(told) > 120
    wrong = [
        (name, label, task, entered)
        for (name, label), task, entered, _ in told
        if (task["name"] if task else None) != name or entered != task
    ]
    assert not wrong, wrong[:20]


def test_tasks_are_told_apart(told: list[list[object]]) -> None:
    """One id a task, though names and, one after the other, addresses are the same."""
    ids: dict[tuple[object, str], set[int]] = {}
    for (name, label), task, _, thread in told:
        if name is not None and label not in ("renamed", "wrapped", "waited"):
            ids.setdefault((thread, label), set()).add(task["id"])
    # main's label is its own task's; a twin's, a turn's is one task's each.
    assert all(len(one) == 1 for one in ids.values()), ids
    everyone = [one for ids_of in ids.values() for one in ids_of]
    assert len(set(everyone)) == len(everyone), ids


def test_dump_and_log_tell_switches(tmp_path: pathlib.Path) -> None:
    (tmp_path / "tasks.py").write_text(textwrap.dedent(PROGRAM))
    for level in ("calls", "lines"):
        run = ["-m", "filmstrip", "run", "--force", "-o", "a.film", "--level", level]
        python(tmp_path, *run, "tasks.py")
        events = [
            json.loads(line)
            for line in python(
                tmp_path, "-m", "filmstrip", "dump", "a.film"
            ).splitlines()
        ]
        switches = [event for event in events if event["kind"] == "task"]
        assert {"twin", "turn", "own", "gone", "wrapper"} <= {
            event["name"] for event in switches
        }
        # Into a task and out of it again, thread by thread.
        for thread in {event["thread"] for event in switches}:
            ids = [event["id"] for event in switches if event["thread"] == thread]
            assert ids[-1] == 0 and 0 not in ids[:1]
        log = python(tmp_path, "-m", "filmstrip", "log", "a.film")
        assert log.count(" task ") == sum(event["id"] != 0 for event in switches)
