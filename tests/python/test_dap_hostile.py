"""`filmstrip dap`: clients that do not behave."""

from __future__ import annotations

import pathlib
import random
import time
from typing import Any

import pytest

from dap_client import Client, Refused, feed, frame, messages_of
from dap_films import asan_program, record_films


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return record_films(tmp_path_factory.mktemp("dap"))


@pytest.fixture(scope="module")
def film(films: pathlib.Path) -> pathlib.Path:
    return films / "market.film"


@pytest.fixture(params=["plain", "asan"])
def program(request: pytest.FixtureRequest) -> str | None:
    if request.param == "plain":
        return None
    path = asan_program()
    if path is None:
        pytest.skip("there is no build with sanitizers (make build-asan)")
    return path


NONSENSE = {
    "nothing": (b"", 0, ""),
    "half a header": (b"Content-Le", 0, ""),
    "no header": (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", 2, "no message"),
    "words": (b"hello\r\n\r\n", 2, "no message"),
    "zeros": (b"\0" * 5000, 2, "no header"),
    "no number": (b"Content-Length: many\r\n\r\n{}", 2, "Content-Length"),
    "negative": (b"Content-Length: -5\r\n\r\n{}", 2, "Content-Length"),
    "huge": (b"Content-Length: 99999999999\r\n\r\n{}", 2, "are the most"),
    "beyond all": (
        b"Content-Length: " + b"9" * 30 + b"\r\n\r\n{}",
        2,
        "Content-Length",
    ),
    "endless header": (b"X-Y: z\r\n" * 4000, 2, "no header"),
    "a body that never comes": (b"Content-Length: 100\r\n\r\n{", 0, ""),
}


@pytest.mark.once
@pytest.mark.parametrize("name", NONSENSE)
def test_what_is_no_message(name: str, program: str | None) -> None:
    text, expected, words = NONSENSE[name]
    status, out, error = feed(text, program)
    assert status == expected
    if expected == 0:
        assert (out, error) == (b"", "")
    else:
        assert words in error
        (said,) = messages_of(out)
        assert words in said["body"]["output"]


@pytest.mark.once
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"nonsense",
        b"[]",
        b"null",
        b"{}",
        b'{"type": "request"}',
        b'{"type": "request", "seq": "x", "command": "initialize"}',
        b'{"type": "request", "seq": 1.5, "command": "initialize"}',
        b'{"type": "request", "seq": 1, "command": 5}',
        b'{"type": "event", "seq": 1, "event": "x"}',
        b"[" * 100000,
        b'{"a":' * 5000 + b"1" + b"}" * 5000,
        b'"\xff\xfe"',
        b'"' + b"x" * 3_000_000 + b'"',
    ],
    ids=lambda body: body[:24].decode(errors="replace") or "empty",
)
def test_what_is_no_request_is_said_and_the_session_goes_on(
    body: bytes, program: str | None
) -> None:
    request = b'{"type": "request", "seq": 7, "command": "initialize"}'
    status, out, _ = feed(frame(body) + frame(request), program)
    assert status == 0
    said = messages_of(out)
    assert said[0]["event"] == "output"
    assert said[-1]["request_seq"] == 7 and said[-1]["success"]


COMMANDS = """initialize launch attach configurationDone setBreakpoints
setFunctionBreakpoints setExceptionBreakpoints dataBreakpointInfo setDataBreakpoints
breakpointLocations threads stackTrace scopes variables source loadedSources evaluate
completions exceptionInfo continue reverseContinue next stepIn stepOut stepBack pause
gotoTargets goto restartFrame restart cancel filmstrip/reverseStepIn filmstrip/jump
filmstrip/reverseStepOut filmstrip/query setVariable nonsense""".split()


@pytest.mark.once
def test_requests_out_of_order(film: pathlib.Path, program: str | None) -> None:
    """Each is answered by a sentence until its time has come."""
    with Client(program=program) as client:
        for command in COMMANDS:
            if command not in ("initialize", "nonsense", "setVariable"):
                with pytest.raises(Refused, match="'initialize' comes first"):
                    client.wait_response(raw(client, command))
        client.initialize(adapterID="x")
        with pytest.raises(Refused, match="already"):
            client.initialize(adapterID="x")
        for command in COMMANDS[3:-2]:
            if command != "cancel":
                with pytest.raises(Refused, match="'launch' comes first"):
                    client.wait_response(raw(client, command))
        with pytest.raises(Refused, match="not offered"):
            client.wait_response(raw(client, "setVariable"))
        with pytest.raises(Refused, match="which recording"):
            client.launch()
        with pytest.raises(Refused, match=r"no/such\.film"):
            client.launch(film="/no/such.film")
        client.launch(film=str(film))
        with pytest.raises(Refused, match="already"):
            client.launch(film=str(film))
        client.event("initialized")
        client.configured()
        with pytest.raises(Refused, match="already"):
            client.configurationDone()


def raw(client: Client, command: str, arguments: Any = None) -> int:
    """Sends a request that need not match the schema."""
    client.seq += 1
    client.send_message(
        {
            "seq": client.seq,
            "type": "request",
            "command": command,
            "arguments": arguments,
        }
    )
    return client.seq


EVIL = [
    *(None, True, -1, 0, 1, 2, 3.7, 1e300, 2**63 - 1, -(2**63), 2**31, 10**30),
    *(
        "",
        "x",
        "\0",
        "é\u2028",
        "a" * 5000,
        "../../etc/passwd",
        "[" * 300,
        "1:1",
        "{x}",
    ),
    *([], {}, [[]], [{}], [None], ["raised"], [{"line": 14}], {"path": "market.py"}),
    *({"sourceReference": 1}, {"path": "/dev/zero"}, {"path": "/dev/stdin"}),
    [
        {
            "line": 14,
            "condition": "(" * 500,
            "hitCondition": "%0",
            "logMessage": "{" * 99,
        }
    ],
    [{"dataId": '{"kind": "object", "object": 99999999999}'}, {"dataId": "[]"}],
    [{"filterId": "raised", "condition": "1 / 0"}],
]


KEYS = """source sourceReference breakpoints filters filterOptions variablesReference
name frameId line endLine threadId startFrame levels start count filter format
expression context text column targetId how variable event time_ns fraction n q m
granularity singleThread requestId progressId""".split()


@pytest.mark.once
@pytest.mark.parametrize("seed", range(4))
def test_requests_with_anything_in_them(
    film: pathlib.Path, program: str | None, seed: int
) -> None:
    """400 requests of nonsense: each gets one response, and the session stays whole."""
    draw = random.Random(seed)
    with Client(program=program) as client:
        client.begin(film)
        for _ in range(400):
            keys = draw.sample(KEYS, draw.randrange(8))
            arguments = {key: draw.choice(EVIL) for key in keys}
            command = draw.choice(COMMANDS)
            seq = raw(client, command, draw.choice([arguments] * 9 + EVIL))
            try:
                client.wait_response(seq)
            except Refused as refused:
                assert len(str(refused)) > 5
            client.events.clear()
        client.setBreakpoints(source={"path": "market.py"}, breakpoints=[])
        client.setFunctionBreakpoints(breakpoints=[])
        client.setExceptionBreakpoints(filters=[])
        client.setDataBreakpoints(breakpoints=[])
        client.restart()
        client.event("stopped")
        assert client.line() == 1


@pytest.mark.once
def test_bytes_one_by_one(film: pathlib.Path) -> None:
    with Client() as client:
        for byte in frame(b'{"type": "request", "seq": 1, "command": "initialize"}'):
            client.send_bytes(bytes([byte]))
            time.sleep(0.001)
        client.seq = 1
        client.wait_response(1)
        client.launch(film=str(film))


@pytest.mark.once
def test_a_client_that_goes_away_in_a_search(films: pathlib.Path) -> None:
    client = Client()
    client.launch_film(films / "long.film")
    client.setBreakpoints(
        source={"path": "long.py"},
        breakpoints=[{"line": 4, "condition": "turn" + " + turn" * 2000 + " < 0"}],
    )
    client.configured()
    client.send("continue", threadId=1)
    time.sleep(0.2)
    assert client.process.stdin and client.process.stdout and client.process.stderr
    client.process.stdin.close()
    assert client.process.wait(20) == 0
    client.process.stdout.close()
    client.process.stderr.close()
