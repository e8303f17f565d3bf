"""`filmstrip dap` says what is so: breakpoints that nothing can hit, what became of an
exception, and no pop-ups for what an editor asks by itself."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from dap_client import Client
from step_stories import record

PROGRAM = """\
import threading


def check(amount):
    if amount > 5:
        raise ValueError("too much")
    return amount


def unused():
    return 1


def main():
    for amount in range(4):
        check(amount)
    try:
        check(9)
    except ValueError:
        pass
    thread = threading.Thread(target=check, args=(7,))
    thread.start()
    thread.join()
    raise SystemError(1, "two")


main()
"""


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return record(tmp_path_factory.mktemp("dap"), PROGRAM, "checks.py", status=1)


def point_of(client: Client, line: int, **more: Any) -> dict[str, Any]:
    (point,) = client.setBreakpoints(
        source={"path": "checks.py"}, breakpoints=[{"line": line, **more}]
    )["breakpoints"]
    return dict(point)


def test_breakpoints_that_nothing_hits_say_why(film: pathlib.Path) -> None:
    with Client() as client:
        client.begin(film)
        assert point_of(client, 7)["verified"]
        assert "message" not in point_of(client, 7)
        for line, condition, why in (
            (7, "nosuch > 1", "the line ran 4 times, and each time the condition could "
             "not be told: 'nosuch' has no recorded value here"),
            (7, "amount > 100", "the line ran 4 times, and the condition was never true"),
            (99, "True", "no recorded code of '"),
        ):  # fmt: skip
            point = point_of(client, line, condition=condition)
            assert not point["verified"]
            assert why in point["message"]
        unknown = client.setFunctionBreakpoints(breakpoints=[{"name": "nosuch"}])
        assert unknown["breakpoints"][0] == {
            "id": unknown["breakpoints"][0]["id"],
            "verified": False,
            "message": "no function 'nosuch' was recorded",
        }
        (never,) = client.setBreakpoints(
            source={"path": "nosuch.py"}, breakpoints=[{"line": 1}]
        )["breakpoints"]
        assert not never["verified"] and never["message"]
        # They are left out of a continue, which still stops at others.
        point_of(client, 7, condition="amount == 2")
        assert client.move("continue")["reason"] == "breakpoint"


def refusal(client: Client, command: str, **arguments: Any) -> dict[str, Any]:
    client.send(command, **arguments)
    while (message := client.receive())["type"] == "event":
        pass
    assert not message["success"]
    return dict(message["body"]["error"])


def test_no_pop_up_for_what_editors_ask_by_themselves(film: pathlib.Path) -> None:
    with Client() as client:
        client.begin(film)
        for context in ("hover", "watch", "repl", "variables", "clipboard"):
            error = refusal(client, "evaluate", expression="nosuch", context=context)
            assert "nosuch" in error["format"]
            assert error["showUser"] is False, context
        assert refusal(client, "variables", variablesReference=99)["showUser"] is False
        assert refusal(client, "goto", threadId=1, targetId=99)["showUser"] is True


def test_what_became_of_an_exception(film: pathlib.Path) -> None:
    with Client() as client:
        client.launch_film(film)
        client.setExceptionBreakpoints(filters=["raised"])
        client.configured()
        told = []
        for _ in range(3):
            stopped = client.move("continue")
            assert stopped["reason"] == "exception"
            told.append((stopped["text"], client.exceptionInfo(threadId=client.thread)))
        (_, caught), (_, thread), (text, uncaught) = told
        assert caught["breakMode"] == "always"
        assert caught["details"] == {"message": "too much", "typeName": "ValueError"}
        assert caught["description"] == "ValueError: too much"
        assert thread["breakMode"] == "unhandled"
        assert uncaught["breakMode"] == "unhandled"
        says = "SystemError: (1, 'two')"
        assert (text, uncaught["description"]) == (says, says)
        assert uncaught["details"] == {
            "message": "(1, 'two')",
            "typeName": "SystemError",
        }
        # Where it passes by it is the same one.
        client.move("stepIn", granularity="instruction")
        assert client.exceptionInfo(threadId=1)["breakMode"] == "unhandled"


def test_an_uncaught_stop_is_unhandled(film: pathlib.Path) -> None:
    with Client() as client:
        client.launch_film(film)
        client.setExceptionBreakpoints(filters=["uncaught"])
        client.configured()
        modes = []
        while client.move("continue")["reason"] == "exception":
            modes.append(client.exceptionInfo(threadId=client.thread)["breakMode"])
        assert modes == ["unhandled", "unhandled"]


LEFT = """\
import unittest


class Test(unittest.TestCase):
    def test(self):
        raise ValueError("left")


unittest.TextTestRunner(stream=open("/dev/null", "w")).run(Test("test"))
done = 1
"""


def test_what_unrecorded_code_caught_is_user_unhandled(tmp_path: pathlib.Path) -> None:
    film = record(tmp_path, LEFT, "left.py")
    with Client() as client:
        client.launch_film(film)
        client.setExceptionBreakpoints(filters=["raised"])
        client.configured()
        client.move("continue")
        assert client.exceptionInfo(threadId=1)["breakMode"] == "userUnhandled"


def test_the_last_exception_is_where_it_was_raised(film: pathlib.Path) -> None:
    with Client() as client:
        client.begin(film, at="end")
        lines = []
        for _ in range(2):
            client.request("filmstrip/jump", how="back-raise", threadId=1)
            client.stopped()
            lines.append(client.line())
        assert lines == [24, 6]
        client.request("filmstrip/jump", how="raise", threadId=1, passing=True)
        client.stopped()
        assert client.line() == 18
