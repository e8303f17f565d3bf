"""Watching from inside a program: what is to be watched, and what the log says of it.

_watch_recording.py does it by a recording; compat/objwatch/tracing.py where Python code
of the program's own has to run at each line.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import os
from typing import TYPE_CHECKING, Any, Protocol

from filmstrip import _recorder
from filmstrip.compat.objwatch.runtime_info import runtime_info

if TYPE_CHECKING:
    from filmstrip.compat.objwatch.config import ObjWatchConfig
    from filmstrip.compat.objwatch.mp_handls import MPHandls
    from filmstrip.compat.objwatch.targets import Targets


class Live(Protocol):
    """Something that is watching."""

    def stop(self) -> None: ...


class Records(Protocol):
    """Who else is told what the log says."""

    def tell(self, level: int, text: str) -> None: ...

    def follow(self, path: str, form: str) -> None:
        """The lines of a recording that is being written, from now on."""

    def hand_over(self) -> None:
        """Those that came until now."""

    def end(self) -> None: ...


@dataclasses.dataclass
class Plan:
    """One watching, ready to start."""

    config: ObjWatchConfig
    targets: Targets
    processes: MPHandls
    index: int | None  # of this process, where it is known
    level: int  # of Python's logging
    told: list[str]  # sentences for the log before it begins
    film: str | os.PathLike[str] | None
    xml: str | None
    form: str  # of `log --objwatch`: "strict", "0.3"; "": all that is recorded
    with_module_path: bool  # in the form of 0.3
    redaction: tuple[bool, list[str]]  # redact and redact_words of Options
    wrapper: str  # none, base, shape; own: one that runs in the program
    records: Records
    depth: int = 0  # of the first line: a forked child goes on where its parent was
    is_child: bool = False

    @property
    def stream(self) -> int:
        """The descriptor the lines go to."""
        return 1 if self.config.level == "force" else 2

    def learn_index(self) -> bool:
        """False: this process is known to be none of those that are watched."""
        if self.index is None and self.processes.is_initialized():
            self.index = self.processes.get_index()
        chosen = self.config.indexes
        return self.index is None or self.index in ([0] if chosen is None else chosen)


def header(plan: Plan) -> str:
    """The header between its two rules."""

    def listed(files: set[str]) -> str:
        return "\n".join(f"* {file}" for file in sorted(files)) or "* None"

    return "\n".join(
        [
            "=" * 80,
            "# ObjWatch Log",
            f"> Version:        {runtime_info.version}",
            f"> Start Time:     {runtime_info.start_time}",
            f"> System Info:    {runtime_info.system_info}",
            f"> Python Version: {runtime_info.python_version}",
            "\n## Config:",
            str(plan.config),
            "\n## Targets:",
            plan.targets.serialize(),
            "\n## Filename Targets:",
            listed(plan.targets.files),
            "\n## Exclude Filename Targets:",
            listed(plan.targets.exclude_files),
            "=" * 80,
        ]
    )


def describe(plan: Plan) -> dict[str, str]:
    """The facts the recording keeps, so that `log --objwatch` and `export` write the
    same later; read by export/objwatch_config.c."""

    def compact(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)

    view = {
        "locals": int(plan.config.with_locals),
        "globals": int(plan.config.with_globals),
        "wrapper": "base" if plan.wrapper == "own" else plan.wrapper,
        "level": plan.level,
        "simple": int(plan.config.simple),
        "strict": int(plan.form != ""),
        "modules": int(plan.with_module_path),
        "depth": plan.depth,
        "child": int(plan.is_child),
    }
    if plan.index is not None:
        view["index"] = plan.index
    return {
        "objwatch": " ".join(f"{name}={value}" for name, value in view.items()),
        "objwatch.header": header(plan),
        "objwatch.runtime": compact(runtime_info.get_info_dict()),
        "objwatch.config": compact(plan.config.to_dict()),
        "objwatch.rules": plan.targets.rules,
    }


def say(plan: Plan, sentence: str) -> None:
    """A line of the log that this process writes itself."""
    try:
        data = (sentence + "\n").encode(errors="backslashreplace")
        os.write(plan.stream, data)
        if plan.config.output is not None:
            with open(plan.config.output, "ab") as file:
                file.write(data)
    except OSError:
        pass  # nobody reads it, or the disk is full: not the program's concern


def must_be_asked(plan: Plan) -> bool:
    """Python code has to run at each line: a wrapper of the program's own, or a process
    whose index is not known yet and will be told by the framework at some time."""
    if plan.wrapper == "own":
        return True
    framework = plan.config.framework
    return (
        framework not in (None, "multiprocessing")
        and plan.index is None
        and plan.film is None
    )


def start(plan: Plan) -> Live:
    from filmstrip import _watch_recording
    from filmstrip.compat.objwatch import tracing

    runtime_info.update()
    if plan.level <= logging.INFO:
        for sentence in filter(None, plan.told):
            say(plan, sentence)
    chosen = plan.learn_index()
    if must_be_asked(plan):
        running = tracing.Tracing(plan)
        running.start()
        return running
    if _recorder.active():
        return _Elsewhere(plan)
    return _watch_recording.Recording(plan) if chosen else _Unwatched(plan)


class _Unwatched:
    """A process that is not to be watched: it has a header and no lines."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        if plan.level <= logging.INFO:
            say(plan, "Starting ObjWatch tracing.\n" + header(plan))

    def stop(self) -> None:
        if self._plan.level <= logging.INFO:
            say(self._plan, "Stopping ObjWatch tracing.")


class _Elsewhere:
    """The program is being recorded already: there is one recording at a time."""

    def __init__(self, plan: Plan) -> None:
        say(
            plan,
            f"filmstrip: already recording to {_recorder.path()}; its log: "
            f"filmstrip log --objwatch {_recorder.path()}",
        )

    def stop(self) -> None:
        pass
