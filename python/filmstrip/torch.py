"""PyTorch's own way of seeing operations, and torchdbg's.

    with filmstrip.torch.LoggingMode():
        ...

writes what torchdbg's LoggingMode writes, in the folder that TORCH_TRACE names; nothing
where it names none. FunctionMode and DispatchMode record, in the recording that is
running, what torch hands to its function and dispatch modes.

The module can be imported without PyTorch; a mode cannot be made.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from types import TracebackType

from filmstrip import _api, _options, _reader, _recorder

__all__ = ["DispatchMode", "FunctionMode", "LoggingMode"]

DispatchMode = _recorder.DispatchMode
FunctionMode = _recorder.FunctionMode

# torchdbg writes values whole; these are bounds for what would fill the disk.
_ITEMS = 512
_TEXT_BYTES = 65536

# The log of this process, which each block appends to: process, folder, path, and how
# many strings are in it.
_log: tuple[int, str, str, int] | None = None


class LoggingMode(FunctionMode):
    """Logs the operations of a block as torchdbg 0.3 does, where TORCH_TRACE is set.

    Stacks end at the frame that enters the mode, or `skip` frames above it. What it
    needs is recorded: in the recording that is running, or else in one for the block
    alone, which is removed when the log is written.
    """

    def __init__(self, skip: int = 0) -> None:
        self.skip = skip
        self._folder = ""
        self._film = ""  # of a recording for this block alone
        self._began: tuple[int, int, int] | None = None

    def __enter__(self) -> LoggingMode:
        self._folder = os.environ.get("TORCH_TRACE", "")
        if not self._folder:
            return self
        if not _recorder.active():
            self._film = _start()
        try:
            super().__enter__()
        except BaseException:
            self._end_recording()
            raise
        self._began = _recorder.position(self.skip, bool(self._film))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not self._folder:
            return
        super().__exit__(kind, value, traceback)
        ended, film = _recorder.position(0, False), _recorder.path()
        if self._film:
            _recorder.stop({"ended": "stop"})
        try:
            if self._began is None or ended is None or film is None:
                raise OSError("this process or thread was not recorded")
            _write(film, self._folder, self._began, ended[1])
        except (OSError, ValueError) as error:
            warnings.warn(f"no torch trace was written: {error}", stacklevel=2)
        finally:
            self._folder, self._began = "", None
            self._end_recording()

    def _end_recording(self) -> None:
        if self._film:
            _recorder.stop({"ended": "stop"})
            shutil.rmtree(os.path.dirname(self._film), ignore_errors=True)
            self._film = ""


def _start() -> str:
    """A recording of all code but torch's, in a file of its own."""
    folder = tempfile.mkdtemp(prefix="filmstrip-")
    options = _api._make_options(
        os.path.join(folder, "block.film"),
        all=True,
        children=False,
        items=_ITEMS,
        text_bytes=_TEXT_BYTES,
    )
    options.excludes = ["torch"]
    return _options.begin(options, _options.describe(options, _api._program_words()))


def _write(film: str, folder: str, began: tuple[int, int, int], end: int) -> None:
    global _log
    thread, first, outer = began
    path, strings = None, 0
    os.makedirs(folder, exist_ok=True)
    if _log is not None and _log[:2] == (os.getpid(), folder):
        path, strings = _log[2:]
    path, strings, _, note = _reader.export_tlparse(
        film, folder, path, strings, thread, first, end, outer, False
    )
    _log = os.getpid(), folder, path, strings
    if note:
        warnings.warn(f"{path}: {note}", stacklevel=4)
