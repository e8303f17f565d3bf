"""Servers under load on the loopback interface: every answer arrives and is right, and
the server ends as it is told to. What is counted is the same bare and recorded."""

import http.client
import json
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

HERE = pathlib.Path(__file__).parent
CLIENTS = 4
REQUESTS = 500  # of each client, over one connection that is kept

SERVERS = {
    "uvicorn": ("uvicorn", "--port={port}", "--log-level=warning", "application:asgi"),
    "gunicorn": (
        *("gunicorn", "--bind=127.0.0.1:{port}", "--workers=2", "--log-level=warning"),
        "application:wsgi",
    ),
    "gunicorn-threads": (
        *("gunicorn", "--bind=127.0.0.1:{port}", "--workers=1", "--threads=4"),
        *("--log-level=warning", "application:wsgi"),
    ),
}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_until_it_listens(server, port):
    end = time.monotonic() + 60
    while time.monotonic() < end and server.poll() is None:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(f"it does not listen; status {server.poll()}")


def ask(port, first, right):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for number in range(first, first + REQUESTS):
        connection.request("GET", f"/?{number},1,2")
        got = connection.getresponse()
        body = got.read()
        if got.status == 200 and json.loads(body) == {"count": 3, "sum": number + 3}:
            right.append(number)
    connection.close()


@pytest.mark.parametrize("name", SERVERS)
def test_every_answer_is_right(name):
    port = free_port()
    words = [word.format(port=port) for word in SERVERS[name]]
    server = subprocess.Popen([sys.executable, "-m", *words], cwd=HERE)
    try:
        wait_until_it_listens(server, port)
        right = []
        clients = [
            threading.Thread(target=ask, args=(port, n * REQUESTS, right))
            for n in range(CLIENTS)
        ]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        assert sorted(right) == list(range(CLIENTS * REQUESTS))
    finally:
        server.send_signal(signal.SIGTERM)
        status = server.wait(60)
    # uvicorn hands the signal on when it has cleaned up.
    assert status in (0, -signal.SIGTERM)
