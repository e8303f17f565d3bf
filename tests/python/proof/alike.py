"""One program run plainly and recorded: nobody may see a difference."""

from __future__ import annotations

import re
import subprocess
import sys

from conftest import clean_environment, wait_asleep

from . import films

MONITORING = sys.version_info >= (3, 12)


def compare(runner, text, *args, options=(), flags=(), env=None):
    """Runs it plainly and recorded; both must end, print and complain alike."""
    plain = runner.plain(text, *args, flags=flags, env=env)
    recorded = runner.record(None, *args, flags=flags, env=env, options=options)
    assert recorded.rc == plain.rc, (plain.stderr, recorded.stderr)
    assert without_addresses(recorded.stdout) == without_addresses(plain.stdout)
    assert without_addresses(recorded.stderr) == without_addresses(plain.stderr)
    films.check(recorded.film)
    return plain, recorded


def die_alike(runner, number):
    """program.py, which prints "up" and sleeps, dies of the signal plainly and recorded;
    it must say the same."""
    said = []
    for how in ([], ["-m", "filmstrip", "run", "-o", "out.film"]):
        child = subprocess.Popen(
            [sys.executable, *how, "program.py"],
            cwd=runner.folder,
            env=clean_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert child.stdout.readline() == "up\n"
        wait_asleep(child.pid)  # so that both tracebacks name that line
        child.send_signal(number)
        _, errors = child.communicate(timeout=30)
        assert child.returncode == -number
        said.append(errors)
    assert said[0] == said[1]


def without_addresses(text):
    return re.sub(r"0x[0-9a-f]{6,}", "0x", text)
