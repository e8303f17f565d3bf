"""A small client of the Debug Adapter Protocol for tests: a session with `filmstrip dap`
in which every message, in both directions, is checked against the published schema.

The schema is debugpy's copy of Microsoft's debugProtocol.json (PyPI, by name).
"""

from __future__ import annotations

import functools
import importlib.util
import json
import pathlib
import subprocess
from typing import Any

import jsonschema
import pytest

from conftest import PROGRAM

SCHEMA = "_vendored/pydevd/_pydevd_bundle/_debug_adapter/debugProtocol.json"


@functools.cache
def definitions() -> dict[str, Any]:
    spec = importlib.util.find_spec("debugpy")
    if spec is None or spec.origin is None:
        pytest.skip("debugpy, which holds the schema, is not installed")
    path = pathlib.Path(spec.origin).parent / SCHEMA
    schema: dict[str, Any] = json.loads(path.read_text())
    return schema


@functools.cache
def validator(name: str) -> jsonschema.Draft4Validator:
    return jsonschema.Draft4Validator(
        {"$ref": f"#/definitions/{name}", "definitions": definitions()["definitions"]}
    )


def schema_name(message: dict[str, Any]) -> str:
    """The definition a message must match; ours are only requests and responses."""
    kind = message["type"]
    if kind == "event":
        name = message["event"]
    else:
        name = message["command"]
    if name.startswith("filmstrip/"):
        return {"request": "Request", "response": "Response"}[kind]
    name = name[0].upper() + name[1:]
    if kind == "response" and not message["success"]:
        return "ErrorResponse" if "body" in message else "Response"
    return name + kind.capitalize()


def check(message: dict[str, Any]) -> None:
    name = schema_name(message)
    assert name in definitions()["definitions"], f"the schema has no {name}"
    errors = list(validator(name).iter_errors(message))
    assert not errors, f"{errors[0].message} in {json.dumps(message)[:600]}"


def frame(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def messages_of(text: bytes) -> list[dict[str, Any]]:
    found = []
    while text:
        header, _, text = text.partition(b"\r\n\r\n")
        length = int(header.split(b":")[1])
        found.append(json.loads(text[:length]))
        check(found[-1])
        text = text[length:]
    return found


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


class Refused(Exception):
    pass


class Client:
    """Requests are methods of the protocol's names: client.stackTrace(threadId=1)."""

    def __init__(
        self, *arguments: str, program: str | None = None, **popen: Any
    ) -> None:
        self.process = subprocess.Popen(
            [program or PROGRAM, "dap", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **popen,
        )
        self.seq = 0
        self.received = 0
        self.events: list[dict[str, Any]] = []
        self.thread = 1  # that stopped last

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin and self.process.stdout and self.process.stderr
        self.process.stdin.close()
        try:
            self.process.wait(20)
            error = self.process.stderr.read()
        finally:
            self.process.kill()
            self.process.stdout.close()
            self.process.stderr.close()
        assert (self.process.returncode, error) == (0, b"")

    def send_bytes(self, text: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def send(self, command: str, **arguments: Any) -> int:
        self.seq += 1
        message = {"seq": self.seq, "type": "request", "command": command}
        message["arguments"] = arguments  # type: ignore[assignment]
        check(message)
        self.send_message(message)
        return self.seq

    def send_message(self, message: Any) -> None:
        self.send_bytes(frame(json.dumps(message).encode()))

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout
        length = 0
        while (line := self.process.stdout.readline().strip()) != b"":
            name, _, value = line.partition(b":")
            assert name == b"Content-Length", line
            length = int(value)
        if length == 0:
            raise EOFError
        message: dict[str, Any] = json.loads(self.process.stdout.read(length))
        check(message)
        self.received += 1
        assert message["seq"] == self.received
        return message

    def wait_response(self, seq: int) -> dict[str, Any]:
        while True:
            message = self.receive()
            if message["type"] == "event":
                self.events.append(message)
            else:
                assert message["request_seq"] == seq
                if not message["success"]:
                    raise Refused(message["message"])
                body: dict[str, Any] = message.get("body", {})
                return body

    def request(self, command: str, **arguments: Any) -> dict[str, Any]:
        return self.wait_response(self.send(command, **arguments))

    def __getattr__(self, command: str) -> Any:
        return functools.partial(self.request, command)

    def event(self, name: str) -> dict[str, Any]:
        """The next event of that name; others are kept for later."""
        for i, event in enumerate(self.events):
            if event["event"] == name:
                del self.events[i]
                body: dict[str, Any] = event.get("body", {})
                return body
        while True:
            message = self.receive()
            assert message["type"] == "event", message
            if message["event"] == name:
                body = message.get("body", {})
                return body
            self.events.append(message)

    def output(self) -> str:
        """What was said so far and not taken yet."""
        said = [event for event in self.events if event["event"] == "output"]
        self.events = [event for event in self.events if event["event"] != "output"]
        return "".join(event["body"]["output"] for event in said)

    # --- what every test does ---

    def begin(self, film: object, **arguments: Any) -> dict[str, Any]:
        """Launches without breakpoints; where it stands."""
        self.launch_film(film, **arguments)
        return self.configured()

    def launch_film(self, film: object, **arguments: Any) -> None:
        self.initialize(adapterID="filmstrip", supportsProgressReporting=True)
        self.launch(film=str(film), **arguments)
        self.event("initialized")

    def configured(self) -> dict[str, Any]:
        self.configurationDone()
        return self.stopped()

    def move(self, command: str, **arguments: Any) -> dict[str, Any]:
        arguments.setdefault("threadId", self.thread)
        self.request(command, **arguments)
        return self.stopped()

    def stopped(self) -> dict[str, Any]:
        body = self.event("stopped")
        self.thread = body["threadId"]
        return body

    def top(self, thread: int | None = None) -> dict[str, Any]:
        frames = self.stackTrace(threadId=thread or self.thread)["stackFrames"]
        frame: dict[str, Any] = frames[0]
        return frame

    def line(self, thread: int | None = None) -> int:
        line: int = self.top(thread)["line"]
        return line

    def locals(
        self, thread: int | None = None, frame: int | None = None
    ) -> dict[str, str]:
        if frame is None:
            frame = self.top(thread)["id"]
        scope = self.scopes(frameId=frame)["scopes"][0]
        found = self.variables(variablesReference=scope["variablesReference"])
        return {one["name"]: one["value"] for one in found["variables"]}
