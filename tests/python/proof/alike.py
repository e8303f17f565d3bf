"""One program run plainly and recorded: nobody may see a difference."""

from __future__ import annotations

import re
import sys

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


def without_addresses(text):
    return re.sub(r"0x[0-9a-f]{6,}", "0x", text)
