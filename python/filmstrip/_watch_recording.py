"""A recording, and a process of its own that follows it and writes the log lines as
they happen.

The follower is the C program. It must not be seen by the watched program, so it is no
child of it (whoever waits for any child would reap it) and no thread: a shell starts it
in the background and is gone. It holds one end of a pipe, by which stop() knows when
the last line is written; and it goes on after the program was killed, so the log, the
JSON tree and the removal of a recording nobody wants do not depend on how it ended.

A forked child has a recording and a follower of its own, begun by the parent's hooks.
"""

from __future__ import annotations

import atexit
import copy
import dataclasses
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from types import FrameType
from typing import Any

from filmstrip import _api, _first_values, _options, _recorder, _watch
from filmstrip.compat.objwatch.scope import OWN_FOLDER, Scope

NOTHING = "<nothing>"  # a target no code has
USER_CODE = "<user code>"  # targets.h: what is recorded where no target is given

# Arguments: the program, the film, then OUTPUT, JSON, XML, TEMPORARY, STREAM, LOG
# (each may be empty), then the options of `log`. Descriptor 9 is the pipe: all that is
# started in the background inherits it.
FOLLOW = """
program=$1 film=$2 output=$3 json=$4 xml=$5 temporary=$6 stream=$7 log=$8
shift 8
say() {
    if [ -z "$log" ]; then return; fi
    if [ "$stream" = 1 ]; then printf '%s\\n' "$1"; else printf '%s\\n' "$1" >&2; fi
    if [ -n "$output" ]; then printf '%s\\n' "$1" >> "$output"; fi
}
save() {
    say "Starting to save $1 to $3."
    if "$program" export --to "$2" -o - "$film" > "$3"; then
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


class Recording:
    """A recording with its follower."""

    def __init__(self, plan: _watch.Plan) -> None:
        self._plan = plan
        self._folder = ""
        self._pipe = -1
        self._process = os.getpid()
        self._old_exit: Callable[[int], Any] | None = None
        self._depth = len(_program_frames())
        if plan.film is None:
            self._folder = tempfile.mkdtemp(prefix="filmstrip-")
            path = os.path.join(self._folder, "watch.film")
        else:
            path = os.path.abspath(os.fspath(plan.film))
        options = self._options(path)
        if plan.level <= logging.INFO and not plan.is_child:
            plan.records.tell(logging.INFO, "Starting ObjWatch tracing.")
            plan.records.tell(logging.INFO, _watch.header(plan))
        try:
            meta = _options.describe(options, _api._program_words())
            meta.update(_watch.describe(plan))
            if plan.form:
                meta["objwatch.slots"] = _first_values.slots(plan.targets)
            _options.begin(options, meta)
            if plan.config.with_globals and not plan.is_child:
                _first_values.write(Scope(plan.targets, True), plan.targets)
            self._follow(path)
        except BaseException:
            self._give_up()
            raise
        self._arrange_the_end(path)
        plan.records.follow(path, plan.form or "0.5")
        _current.append(self)
        _hook_forks()

    def _options(self, path: str) -> _options.Options:
        plan = self._plan
        options = _options.Options()
        options.path = path
        options.force = plan.film is not None
        options.targets = plan.targets.names or [NOTHING]
        if plan.config.with_globals:
            options.targets = [*options.targets, "*" + _first_values.FILE]
        if plan.form:
            # ObjWatch knows the line of any caller and holds on to every object: for
            # its very lines the callers are recorded too, and not shown.
            options.targets = [*options.targets, USER_CODE]
        if not plan.form or plan.film is not None:
            options.excludes = plan.targets.excludes
        options.level = _options.parse_level("values")
        options.children = plan.film is not None
        options.outer_calls = options.held_too = True
        options.redact, options.redact_words = plan.redaction
        return options

    def _give_up(self) -> None:
        _recorder.stop({"ended": "stop"})
        _options.forget_environment()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _follow(self, path: str) -> None:
        plan = self._plan
        program = os.path.join(os.path.dirname(__file__), "bin", "filmstrip")
        files = (plan.config.output, plan.config.output_json, plan.xml)
        if plan.is_child:  # the trees are the parent's
            files = (plan.config.output, None, None)
        arguments = [
            program,
            path,
            *(os.fspath(file) if file else "" for file in files),
            self._folder,
            str(plan.stream),
            "yes" if plan.level <= logging.INFO else "",
            "--objwatch=" + (plan.form or "0.5"),
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

    # --- the end ---

    def _arrange_the_end(self, path: str) -> None:
        atexit.register(self._end, "exit")
        if self._plan.is_child:
            # Processes of multiprocessing end past atexit.
            util = sys.modules.get("multiprocessing.util")
            if util is not None:
                util.Finalize(None, self._end, args=("exit",), exitpriority=-100)
        elif self._plan.config.output_json or self._plan.xml:
            # The trees are there when the process is gone, however it goes.
            faults = sys.modules.get("faulthandler")
            enabled = faults is not None and faults.is_enabled()
            _recorder.wait_when_killed(path, self._pipe, enabled)
            self._old_exit = os._exit
            os._exit = self._exit  # type: ignore[assignment]

    def _exit(self, status: int) -> None:
        """os._exit, which nothing else comes before."""
        self._end("exit")
        assert self._old_exit is not None
        self._old_exit(status)

    def stop(self) -> None:
        self._end("stop")

    def _end(self, how: str) -> None:
        """Closes the recording and waits for the follower's last line."""
        if self._pipe < 0 or os.getpid() != self._process:
            return  # ended already, or a forked child: the follower is its parent's
        pipe, self._pipe = self._pipe, -1
        atexit.unregister(self._end)
        _forget(self)
        if self._old_exit is not None:
            _recorder.wait_when_killed("", -1, False)
            if os._exit == self._exit:
                os._exit = self._old_exit  # type: ignore[assignment]
        self._plan.records.hand_over()
        _recorder.stop({"ended": how})
        _options.forget_environment()
        self._plan.records.end()
        if how == "stop" and self._plan.level <= logging.INFO:
            self._plan.records.tell(logging.INFO, "Stopping ObjWatch tracing.")
        while os.read(pipe, 4096):
            pass
        os.close(pipe)

    # --- forked children ---

    def leave_to_parent(self) -> None:
        """The process is a forked child: nothing here is its own."""
        _forget(self)
        os.close(self._pipe)
        self._pipe = -1
        if self._old_exit is not None and os._exit == self._exit:
            os._exit = self._old_exit  # type: ignore[assignment]
        self._plan.records.end()
        if self._plan.film is not None:  # the recorder would go on beside it
            _recorder.stop({"ended": "stop"})

    def go_on_in_child(self) -> None:
        """Its lines go on, in a recording of its own."""
        plan = self._plan
        film = None
        if plan.film is not None:
            stem = _options.child_stem(os.path.abspath(os.fspath(plan.film)))
            film = f"{stem}.film"
        child = dataclasses.replace(
            plan, film=film, is_child=True, depth=plan.depth + self._open_frames()
        )
        child.processes = copy.copy(plan.processes)
        was_known = child.index is not None
        chosen = child.learn_index()
        if plan.level <= logging.INFO and child.index is not None and not was_known:
            _watch.say(child, child.processes.told)
        if not chosen or _recorder.active():
            return
        try:
            Recording(child)
        except (OSError, RuntimeError, ValueError) as error:
            _watch.say(child, f"filmstrip: no lines of process {os.getpid()}: {error}")

    def _open_frames(self) -> int:
        """How many of the frames that began since the start have lines."""
        scope = Scope(self._plan.targets, self._plan.config.with_globals)
        frames = _program_frames()
        return sum(map(scope.traces_frame, frames[: max(len(frames) - self._depth, 0)]))


_current: list[Recording] = []  # the one of this process
_hooks: list[object] = []


def _forget(recording: Recording) -> None:
    if recording in _current:
        _current.remove(recording)


def _program_frames() -> list[FrameType]:
    """The frames of this thread that are not ours, the youngest first."""
    found: list[FrameType] = []
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if not frame.f_code.co_filename.startswith(OWN_FOLDER):
            found.append(frame)
        frame = frame.f_back
    return found


def _hook_forks() -> None:
    """os.fork() tells us from now on."""
    if not _hooks:
        os.register_at_fork(after_in_child=_after_fork)
        _hooks.append(_Forked())


class _Forked:
    """Something that lives as long as the process: multiprocessing holds it weakly."""


def _after_fork() -> None:
    if not _current:
        return
    recording = _current[0]
    recording.leave_to_parent()
    callers = {
        (os.path.basename(frame.f_code.co_filename), frame.f_code.co_name)
        for frame in _program_frames()[:4]
    }
    if ("subprocess.py", "_execute_child") in callers:
        return  # preexec_fn: another program takes its place at once
    if ("popen_fork.py", "_launch") in callers:
        # The process does not know yet who it is. It will before its own code runs.
        from multiprocessing import util

        util.register_after_fork(_hooks[0], lambda _: recording.go_on_in_child())
    else:
        recording.go_on_in_child()
