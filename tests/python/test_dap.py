"""`filmstrip dap`: sessions by the npm client for debug adapters, every message checked
against the protocol's schema; over a port; in Neovim."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import socket
import subprocess
import time
from typing import Any

import pytest

import dap_client
from conftest import PROGRAM, ROOT, clean_environment
from dap_client import frame, messages_of
from dap_films import SUITE, line_of, record_films

MODULES = ROOT / "build" / "dap" / "node_modules"


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return record_films(tmp_path_factory.mktemp("dap"))


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
def test_a_port_wants_the_token(films: pathlib.Path) -> None:
    initialize = {"command": "initialize", "arguments": {"adapterID": "x"}}
    with Listening(os.fspath(films / "market.film")) as server:
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
def test_a_client_that_says_nothing_is_sent_away(films: pathlib.Path) -> None:
    with Listening() as server:
        # Not before its 10 seconds; how long after them depends on the machine.
        began = time.monotonic()
        with socket.create_connection(("127.0.0.1", server.port), timeout=250) as peer:
            assert peer.recv(100) == b""
            assert time.monotonic() - began > 9.5
        said = server.talk(
            {"command": "initialize", "arguments": {"adapterID": "x"}},
            {
                "command": "attach",
                "arguments": {
                    "film": str(films / "market.film"),
                    "token": server.token,
                },
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
