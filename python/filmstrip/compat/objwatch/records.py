"""The lines as records of Python's logging, for handlers that the program put on the
logger "objwatch" itself.

While the lines come from a recording no code of ours runs in the program: it reads them
back where it is there anyway (utils/logger.py says when).
"""

from __future__ import annotations

import logging
import os
import re
import sys
import threading

from filmstrip import _reader, _recorder
from filmstrip.compat.objwatch.utils import logger

# What stands before the message, by form, and how a message begins.
LINE = re.compile(
    r"(?:DEBUG: |\[[-0-9: ]{19}\] \[DEBUG\] objwatch: )?"
    r"((?:\[(?:#|Rank )\d+\] )? *\d+ [ |]*(?:run|end|upd|apd|pop|del|raise) )"
)


class LoggedRecords:
    def __init__(self) -> None:
        self._lines: _reader.ObjwatchLines | None = None
        self._process = os.getpid()
        self._lock = threading.Lock()

    def tell(self, level: int, text: str) -> None:
        logger.tell(level, text)

    def follow(self, path: str, form: str) -> None:
        """Keeps the file open: a process that closes any descriptor of a file loses its
        lock on it, by which others know that the recording goes on."""
        try:
            self._lines = _reader.ObjwatchLines(path, form)
        except (OSError, ValueError):
            return  # no memory, no descriptors: the log is written all the same
        logger.add_source(self)

    def hand_over(self) -> None:
        if self._lines is None or os.getpid() != self._process:
            return
        if not self._lock.acquire(blocking=False):
            return  # a handler asked for the handlers, or another thread is at it
        # The handlers are code of the program: what they do is not to be told to them.
        # A pause would be one of all threads.
        alone = len(sys._current_frames()) == 1
        paused = alone and _recorder.pause()
        try:
            messages = split(self._lines.read())
            for message in messages:
                logger.tell(logging.DEBUG, message)
            if messages and not alone:
                self._lines.read()
        except (OSError, ValueError):
            pass  # damaged: the log itself is not ours to write
        finally:
            if paused:
                _recorder.resume()
            self._lock.release()

    def end(self) -> None:
        logger.remove_source(self)
        self._lines = None


def split(text: str) -> list[str]:
    """The messages; what stands before the first line is the header. A text of the
    program may hold line breaks."""
    messages: list[str] = []
    for line in text.splitlines():
        found = LINE.match(line)
        if found is not None:
            messages.append(line[found.start(1) :])
        elif messages:
            messages[-1] += "\n" + line
    return messages
