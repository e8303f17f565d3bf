"""Watching from inside a program: a recording, and a process of its own that follows
it and writes the log lines as they happen.

The follower is the C program. It must not be seen by the watched program, so it is no
child of it (whoever waits for any child would reap it) and no thread: a shell starts it
in the background and is gone. It holds one end of a pipe, by which stop() knows when
the last line is written; and it goes on after the program was killed, so the log, the
JSON tree and the removal of a recording nobody wants do not depend on how it ended.
"""

from __future__ import annotations

import atexit
import dataclasses
import json
import logging
import os
import platform
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any, Protocol

from filmstrip import _api, _options, _recorder

if TYPE_CHECKING:
    from filmstrip.compat.objwatch.config import ObjWatchConfig
    from filmstrip.compat.objwatch.targets import Targets

VERSION = "0.5.1"  # of the log's form
NOTHING = "<nothing>"  # a target no code has
USER_CODE = "<user code>"  # targets.h: what is recorded where no target is given

# Arguments: the program, the film, then OUTPUT, JSON, XML, TEMPORARY, STREAM, LOG
# (each may be empty), then the options of `log`. Descriptor 9 is the pipe: all that is
# started in the background inherits it.
FOLLOW = """
program=$1 film=$2 output=$3 json=$4 xml=$5 temporary=$6 stream=$7 log=$8
shift 8
say() {
    if [ "$stream" = 1 ]; then printf '%s\\n' "$1"; else printf '%s\\n' "$1" >&2; fi
    if [ -n "$output" ]; then printf '%s\\n' "$1" >> "$output"; fi
}
save() {
    say "Starting to save $1 to $3."
    if "$program" export --to "$2" --force -o "$3" "$film"; then
        say "$1 saved successfully to $3."
    fi
}
follow() {
    if [ -n "$log" ] && [ -n "$output" ]; then
        "$program" log --follow "$@" "$film" 2>&1 | tee -a -i "$output"
    elif [ -n "$log" ]; then
        "$program" log --follow "$@" "$film" 2>&1
    else
        "$program" log --follow "$@" "$film" > /dev/null 2>&1
    fi
}
{
    if [ "$stream" = 1 ]; then follow "$@"; else follow "$@" >&2; fi
    if [ -n "$json" ]; then save JSON json "$json"; fi
    if [ -n "$xml" ]; then save XML xml "$xml"; fi
    if [ -n "$temporary" ]; then rm -rf "$temporary"; fi
} &
"""


class Live(Protocol):
    """Something that is watching."""

    def stop(self) -> None: ...


@dataclasses.dataclass
class Plan:
    """One watching, ready to start."""

    config: ObjWatchConfig
    targets: Targets
    index: int | None  # of this process
    chosen: bool  # this process is one of those to be watched
    told: list[str]  # sentences for the log before it begins
    film: str | os.PathLike[str] | None
    xml: str | None
    strict: bool
    redaction: tuple[bool, list[str]]  # redact and redact_words of Options
    recorded_wrapper: str  # none, base, shape; empty: one that runs in the program

    @property
    def level(self) -> int:
        level = self.config.level
        return level if isinstance(level, int) else logging.DEBUG

    @property
    def stream(self) -> int:
        """The descriptor the lines go to."""
        return 1 if self.config.level == "force" else 2


def header(plan: Plan) -> str:
    """The header between its two rules."""

    def listed(files: set[str]) -> str:
        return "\n".join(f"* {file}" for file in sorted(files)) or "* None"

    return "\n".join(
        [
            "=" * 80,
            "# ObjWatch Log",
            f"> Version:        {VERSION}",
            f"> Start Time:     {time.strftime('%Y-%m-%d %H:%M:%S')}",
            f"> System Info:    {platform.platform()}",
            f"> Python Version: {platform.python_version()}",
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


def runtime_facts() -> dict[str, str]:
    """For the JSON tree."""
    return {
        "version": VERSION,
        "start_time": time.strftime("%Y-%m-%d %H:%M:%S"),
        "system_info": platform.platform(),
        "python_version": platform.python_version(),
    }


def describe(plan: Plan) -> dict[str, str]:
    """The facts the recording keeps, so that `log --objwatch` and `export` write the
    same later; read by export/objwatch_config.c."""

    def compact(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)

    view = {
        "locals": int(plan.config.with_locals),
        "globals": int(plan.config.with_globals),
        "wrapper": plan.recorded_wrapper or "base",
        "level": plan.level,
        "simple": int(plan.config.simple),
        "strict": int(plan.strict),
    }
    if plan.index is not None:
        view["index"] = plan.index
    facts = {
        "objwatch": " ".join(f"{name}={value}" for name, value in view.items()),
        "objwatch.header": header(plan),
        "objwatch.runtime": compact(runtime_facts()),
        "objwatch.config": compact(plan.config.to_dict()),
        "objwatch.rules": plan.targets.rules,
    }
    if plan.config.with_globals:
        facts["objwatch.globals"] = "\n".join(
            _globals_now(plan.targets, plan.redaction)
        )
    return facts


def _globals_now(targets: Targets, redaction: tuple[bool, list[str]]) -> list[str]:
    """`MODULE NAME TEXT` of the globals that are asked for and have a value already.
    Plain values only: nothing of the program's own may run here."""
    lines = []
    for module, entry in targets.table.items():
        values = vars(sys.modules[module]) if module in sys.modules else {}
        for name in entry["globals"]:
            value = values.get(name)
            if _recorder.is_secret(name, *redaction):
                text = "[redacted]"
            elif type(value) in (bool, int, float, str, type(None)):
                text = str(value)
            else:
                text = f"(type){type(value).__name__}"
            if name in values and "\n" not in text:
                lines.append(f"{module} {name} {text}")
    return lines


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


def start(plan: Plan) -> Live:
    if plan.level <= logging.INFO:
        for sentence in filter(None, plan.told):
            say(plan, sentence)
    if not plan.recorded_wrapper:
        from filmstrip.compat.objwatch import tracer

        return tracer.Tracing(plan)
    if _recorder.active():
        return _Elsewhere(plan)
    return _Recording(plan) if plan.chosen else _Unwatched(plan)


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


class _Recording:
    """A recording with its follower."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._folder = ""
        self._pipe = -1
        self._process = os.getpid()
        if plan.film is None:
            self._folder = tempfile.mkdtemp(prefix="filmstrip-")
            path = os.path.join(self._folder, "watch.film")
        else:
            path = os.path.abspath(os.fspath(plan.film))
        options = _options.Options()
        options.path = path
        options.force = plan.film is not None
        options.targets = plan.targets.names or [NOTHING]
        if plan.strict:
            # ObjWatch knows the line of any caller and holds on to every object: for
            # its very lines the callers are recorded too, and not shown.
            options.targets = [*options.targets, USER_CODE]
        if not plan.strict or plan.film is not None:
            options.excludes = plan.targets.excludes
        options.level = _options.parse_level("values")
        options.children = plan.film is not None
        options.outer_calls = True
        options.redact, options.redact_words = plan.redaction
        try:
            meta = _options.describe(options, _api._program_words())
            _options.begin(options, {**meta, **describe(plan)})
            # The follower looks for their names when it opens the recording.
            for entry in plan.targets.table.values():
                for name in entry["globals"]:
                    _recorder.add_name(name)
            self._follow(path)
        except BaseException:
            self._give_up()
            raise
        atexit.register(self._end, "exit")

    def _give_up(self) -> None:
        _recorder.stop({"ended": "stop"})
        _options.forget_environment()
        if self._folder:
            import shutil

            shutil.rmtree(self._folder, ignore_errors=True)

    def _follow(self, path: str) -> None:
        plan = self._plan
        program = os.path.join(os.path.dirname(__file__), "bin", "filmstrip")
        files = (plan.config.output, plan.config.output_json, plan.xml)
        arguments = [
            program,
            path,
            *(os.fspath(file) if file else "" for file in files),
            self._folder,
            str(plan.stream),
            "yes" if plan.level <= logging.INFO else "",
            "--objwatch" + ("=strict" if plan.strict else ""),
        ]
        self._pipe, theirs = os.pipe()
        try:
            shell = os.posix_spawn(
                "/bin/sh",
                ["sh", "-c", FOLLOW, "filmstrip", *arguments],
                dict(os.environ),
                file_actions=[(os.POSIX_SPAWN_DUP2, theirs, 9)],
                setsid=True,
            )
        finally:
            os.close(theirs)
        try:
            os.waitpid(shell, 0)
        except ChildProcessError:
            pass  # the program has its children reaped for it

    def stop(self) -> None:
        self._end("stop")

    def _end(self, how: str) -> None:
        """Closes the recording and waits for the follower's last line."""
        if self._pipe < 0 or os.getpid() != self._process:
            return  # ended already, or a forked child: the follower is its parent's
        pipe, self._pipe = self._pipe, -1
        atexit.unregister(self._end)
        _recorder.stop({"ended": how})
        _options.forget_environment()
        while os.read(pipe, 4096):
            pass
        os.close(pipe)
