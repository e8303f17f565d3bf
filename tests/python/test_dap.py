"""`filmstrip dap`: sessions by the npm client for debug adapters, every message checked
against the protocol's schema; hostile clients and damaged recordings."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import pty
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from typing import Any

import pytest

import dap_client
from conftest import PROGRAM, clean_environment
from dap_client import Client, Refused

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUITE = ROOT / "tests" / "dap"
MODULES = ROOT / "build" / "dap" / "node_modules"
LONG = """\
def count(turns):
    value = 0
    for turn in range(turns):
        value = turn * 3
    return value


count(400_000)
"""


def record(folder: pathlib.Path, script: str, *options: str) -> pathlib.Path:
    subprocess.run(
        [sys.executable, "-m", "filmstrip", "run", *options, script],
        cwd=folder,
        capture_output=True,
        env=clean_environment(),
        timeout=120,
    )
    film = folder / script.replace(".py", ".film")
    assert film.exists()
    return film


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("dap")
    shutil.copy(SUITE / "market.py", folder)
    (folder / "long.py").write_text(LONG)
    record(folder, "market.py", "--level", "values")
    record(folder, "long.py", "--level", "values")
    return folder


@pytest.fixture(scope="module")
def film(films: pathlib.Path) -> pathlib.Path:
    return films / "market.film"


def line_of(comment: str) -> int:
    lines = (SUITE / "market.py").read_text().splitlines()
    return next(i for i, text in enumerate(lines, 1) if text.endswith(f"  # {comment}"))


def asan_program() -> str | None:
    path = ROOT / "build" / "asan" / "filmstrip"
    return os.fspath(path) if path.exists() else None


@pytest.fixture(params=["plain", "asan"])
def program(request: pytest.FixtureRequest) -> str | None:
    if request.param == "plain":
        return None
    path = asan_program()
    if path is None:
        pytest.skip("there is no build with sanitizers (make build-asan)")
    return path


# --- the main suite ---


def test_sessions_by_the_npm_client(
    films: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    if not MODULES.exists():
        pytest.skip("the npm client is not there (make test fetches it)")
    messages = tmp_path / "messages.jsonl"
    done = subprocess.run(
        ["node", "--test", os.fspath(SUITE)],
        capture_output=True,
        text=True,
        timeout=300,
        env={
            **clean_environment(),
            "NODE_PATH": os.fspath(MODULES),
            "FILMSTRIP_PROGRAM": os.fspath(PROGRAM),
            "FILMSTRIP_FILMS": os.fspath(films),
            "FILMSTRIP_MESSAGES": os.fspath(messages),
        },
    )
    failed = re.findall(r"^not ok.*?^  \.\.\.", done.stdout, re.S | re.M)
    assert done.returncode == 0, "\n".join(failed) or done.stdout + done.stderr
    assert int(re.findall(r"^# pass (\d+)", done.stdout, re.M)[0]) >= 24
    kinds = set()
    for text in messages.read_text().splitlines():
        message = json.loads(text)
        dap_client.check(message)
        kinds.add(dap_client.schema_name(message))
    assert len(kinds) > 70, sorted(kinds)


# --- clients that do not behave ---


def frame(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def feed(text: bytes, program: str | None, *arguments: str) -> tuple[int, bytes, str]:
    """What a server says to these bytes."""
    done = subprocess.run(
        [program or PROGRAM, "dap", *arguments],
        input=text,
        capture_output=True,
        timeout=60,
    )
    error = done.stderr.decode()
    assert "Sanitizer" not in error and "runtime error" not in error, error
    return done.returncode, done.stdout, error


def messages_of(text: bytes) -> list[dict[str, Any]]:
    found = []
    while text:
        header, _, text = text.partition(b"\r\n\r\n")
        length = int(header.split(b":")[1])
        found.append(json.loads(text[:length]))
        dap_client.check(found[-1])
        text = text[length:]
    return found


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


# --- recordings that are not whole ---


@pytest.mark.once
def test_damaged_recordings(film: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Sessions over recordings with bytes changed or missing: answers or sentences."""
    program = asan_program()
    whole = film.read_bytes()
    draw = random.Random(5)
    opened = 0
    for turn in range(30):
        damaged = bytearray(whole)
        if turn % 3 == 0:
            del damaged[draw.randrange(len(damaged)) :]
        for _ in range(turn % 3 * 8):
            damaged[draw.randrange(200, len(damaged))] = draw.randrange(256)
        path = tmp_path / "damaged.film"
        path.write_bytes(damaged)
        with Client(program=program) as client:
            try:
                client.begin(path)
            except Refused as refused:
                assert len(str(refused)) > 10
                continue
            opened += 1
            for command in (
                "continue",
                "stepBack",
                "reverseContinue",
                "stepIn",
                "next",
            ):
                client.move(command)
                for thread in client.threads()["threads"]:
                    for frame in client.stackTrace(threadId=thread["id"])[
                        "stackFrames"
                    ]:
                        try:
                            client.locals(frame=frame["id"])
                        except Refused as refused:
                            assert len(str(refused)) > 10
    assert opened > 10


@pytest.mark.parametrize("level", ["calls", "lines"])
def test_recordings_without_values(tmp_path: pathlib.Path, level: str) -> None:
    shutil.copy(SUITE / "market.py", tmp_path)
    film = record(tmp_path, "market.py", "--level", level)
    with Client() as client:
        stopped = client.begin(film)
        assert stopped["description"] == "Start of the recording"
        assert f"recorded at level '{level}'" in client.output()
        set_at = client.setBreakpoints(
            source={"path": "market.py"}, breakpoints=[{"line": line_of("total")}]
        )
        assert set_at["breakpoints"][0]["verified"]
        stopped = client.move("continue")
        if level == "lines":
            assert (stopped["reason"], client.line()) == (
                "breakpoint",
                line_of("total"),
            )
        assert client.top()["name"]
        assert client.locals() == {} or level == "calls"
        with pytest.raises(Refused, match="not recorded|no recorded value|no frame"):
            client.evaluate(expression="total", context="hover")
        client.move("next")
        client.move("reverseContinue")


def test_recordings_without_source(film: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Code of no file: its place is told, and that it cannot be shown."""
    film = tmp_path / "exec.film"
    code = "exec(compile('x = 1\\ny = x + 1\\n', '/no/such/file.py', 'exec'))"
    subprocess.run(
        [
            *(sys.executable, "-m", "filmstrip", "run", "--level", "values"),
            *("-o", os.fspath(film), "-c", code),
        ],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        env=clean_environment(),
        timeout=60,
    )
    with Client() as client:
        client.begin(film)
        client.setBreakpoints(
            source={"path": "/no/such/file.py"}, breakpoints=[{"line": 2}]
        )
        client.move("continue")
        top = client.top()
        assert top["source"]["path"] == "/no/such/file.py" and top["line"] == 2
        assert client.locals()["x"] == "1"
        if not top["source"].get("sourceReference"):
            assert top["source"]["presentationHint"] == "deemphasize"
            with pytest.raises(Refused, match="no source"):
                client.source(source=top["source"], sourceReference=0)


LIVE = """\
import sys


def say(turn):
    word = "turn %d" % turn
    print(word, flush=True)


for turn in range(1000):
    sys.stdin.readline()
    say(turn)
"""


def test_a_recording_that_is_still_being_written(tmp_path: pathlib.Path) -> None:
    """Its end is where it is now; a continue from there finds what came since."""
    (tmp_path / "live.py").write_text(LIVE)
    program = subprocess.Popen(
        [
            *(sys.executable, "-m", "filmstrip", "run", "--level", "values"),
            *("--no-progress", "live.py"),
        ],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=clean_environment(),
    )
    assert program.stdin and program.stdout

    def turn() -> bytes:
        assert program.stdin and program.stdout
        program.stdin.write(b"\n")
        program.stdin.flush()
        return program.stdout.readline()

    try:
        assert turn() == b"turn 0\n"
        with Client() as client:
            stopped = client.begin(tmp_path / "live.film", at="end")
            assert "still being written" in stopped["description"]
            assert "still being written" in client.output()
            for number in range(1, 4):
                assert turn() == b"turn %d\n" % number
                client.setFunctionBreakpoints(breakpoints=[{"name": "say"}])
                stopped = client.move("continue")
                assert stopped["reason"] == "function breakpoint"
                assert client.locals()["turn"] == str(number)
                client.move("stepOut")
            client.setFunctionBreakpoints(breakpoints=[])
            stopped = client.move("continue")
            assert "still being written" in stopped["description"]
            client.move("reverseContinue")
            assert client.line() == 1
    finally:
        program.kill()
        program.communicate()


# --- over a port ---


class Listening:
    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [PROGRAM, "dap", "--port", "0", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout
        place = self.process.stdout.readline()
        match = re.fullmatch(r"listening on 127\.0\.0\.1:(\d+)\n", place)
        assert match, place
        self.port = int(match[1])
        token = self.process.stdout.readline()
        match = re.fullmatch(r"token: ([0-9a-f]{32})\n", token)
        assert match, token
        self.token = match[1]

    def __enter__(self) -> Listening:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=20)

    def talk(self, *requests: dict[str, Any]) -> list[dict[str, Any]]:
        """Sends all, then reads until the server has nothing more to say."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as peer:
            for seq, request in enumerate(requests, 1):
                body = {"seq": seq, "type": "request", **request}
                peer.sendall(frame(json.dumps(body).encode()))
            with contextlib.suppress(OSError):  # it has closed already
                peer.shutdown(socket.SHUT_WR)
            text = b""
            while piece := peer.recv(65536):
                text += piece
        return messages_of(text)


@pytest.mark.once
def test_a_port_wants_the_token(film: pathlib.Path) -> None:
    initialize = {"command": "initialize", "arguments": {"adapterID": "x"}}
    with Listening(os.fspath(film)) as server:
        for token in (None, "", "x", server.token[:-1], server.token + "0", 5):
            said = server.talk(
                initialize,
                {"command": "launch", "arguments": {"film": "x", "token": token}},
                {"command": "threads"},  # not answered any more
            )
            assert [message["success"] for message in said] == [True, False]
            assert "token" in said[1]["message"]
        said = server.talk(initialize, {"command": "threads"})
        assert not said[1]["success"]
        said = server.talk(
            initialize, {"command": "attach", "arguments": {"token": server.token}}
        )
        assert any(message.get("event") == "initialized" for message in said)
        # Not to be reached but over loopback.
        address = socket.gethostbyname(socket.gethostname())
        if not address.startswith("127."):
            with pytest.raises(OSError):
                socket.create_connection((address, server.port), timeout=5).close()


@pytest.mark.once
def test_a_client_that_says_nothing_is_sent_away(film: pathlib.Path) -> None:
    with Listening() as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as peer:
            began = time.monotonic()
            assert peer.recv(100) == b""
            assert 8 < time.monotonic() - began < 20
        said = server.talk(
            {"command": "initialize", "arguments": {"adapterID": "x"}},
            {
                "command": "attach",
                "arguments": {"film": str(film), "token": server.token},
            },
        )
        assert any(message.get("event") == "initialized" for message in said)


@pytest.mark.once
def test_a_port_that_is_taken(tmp_path: pathlib.Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = subprocess.run(
            [PROGRAM, "dap", "--port", str(taken.getsockname()[1])],
            capture_output=True,
            text=True,
            timeout=30,
        )
    assert done.returncode == 2
    assert "cannot be listened on" in done.stderr


@pytest.mark.once
def test_a_recording_that_cannot_be_read(tmp_path: pathlib.Path) -> None:
    (tmp_path / "junk.film").write_bytes(b"junk")
    for name, sentence in ("none.film", "no such file"), ("junk.film", "not a .film"):
        rc, said, error = feed(b"", None, str(tmp_path / name))
        assert (rc, said) == (2, b"") and sentence in error, error


@pytest.mark.once
def test_started_on_a_terminal() -> None:
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [PROGRAM, "dap"], stdin=theirs, capture_output=True, text=True, timeout=30
    )
    os.close(ours)
    os.close(theirs)
    assert done.returncode == 2 and "filmstrip step" in done.stderr


# --- Neovim ---


def find_nvim_dap() -> pathlib.Path | None:
    """nvim-dap is in no registry: NVIM_DAP names it, or it is among Neovim's packages."""
    named = os.environ.get("NVIM_DAP")
    if named:
        return pathlib.Path(named)
    site = pathlib.Path.home() / ".local" / "share" / "nvim"
    return next(site.glob("**/nvim-dap"), None) if site.exists() else None


@pytest.mark.once
def test_a_session_in_neovim(films: pathlib.Path) -> None:
    if shutil.which("nvim") is None:
        pytest.skip("Neovim is not installed")
    plugin = find_nvim_dap()
    if plugin is None:
        pytest.skip("nvim-dap was not found (NVIM_DAP=folder)")
    line = line_of("total")
    done = subprocess.run(
        ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-S", SUITE / "nvim.lua"],
        capture_output=True,
        text=True,
        timeout=120,
        env={
            **clean_environment(),
            "NVIM_DAP": os.fspath(plugin),
            "FILMSTRIP_PROGRAM": os.fspath(PROGRAM),
            "FILMSTRIP_FILMS": os.fspath(films),
            "FILMSTRIP_LINE": str(line),
        },
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout.strip().splitlines()[-1])
    loop = line_of("loop")
    assert told["seen"] == [
        ["launch", 1, 1, "entry"],
        ["continue", line, line, "breakpoint"],
        ["continue", line, line, "breakpoint"],
        ["step_over", loop, loop, "step"],
        # the line behind which it stood: a breakpoint is there
        ["step_back", line, line, "breakpoint"],
        ["reverse_continue", line, line, "breakpoint"],
        ["reverse_continue", 1, 1, "entry"],
        ["reverse_continue", 1, 1, "entry"],
        ["continue", line, line, "breakpoint"],
    ]
    assert told["evaluated"] == "41"
