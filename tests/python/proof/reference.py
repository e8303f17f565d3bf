"""A slow tracer in Python: the model that a film is compared with, event by event.

On 3.12 and later it is a tool of sys.monitoring with Python callbacks, on 3.11 a trace
function that tells calls from resumes, and returns from yields and unwinds, by the
instruction the frame stands at. It sees the code of one file. It holds no frame and no
exception after an event, so that the program's objects die when they do without it.

An event is [kind, frame, function, line, caller line, exception type], as films.py
makes them from a film.

This also runs as a program, in the Python under test:

    reference.py                      serves requests, one JSON object a line:
        {"program": path, "film": path}
        answers {"model": threads, "film": events, "output": [text, text]}

The film's events are read by filmstrip's own reader and told in the keys of `dump`.
"""

import dis
import gc
import io
import json
import os
import sys
import threading

MODULE = "generated"


def handler_line(code, target):
    """The line of a handler. Its first instruction, PUSH_EXC_INFO, has none, then it is
    that of the second, the `except`. None: it is none that the program wrote."""
    for offset in (target, target + 2):
        for start, end, line in code.co_lines():
            if start <= offset < end and line is not None:
                return line
    return None


def is_tidying(code, target):
    """True of a handler the compiler added: it ends an await or an async for, makes a
    RuntimeError of a StopIteration, or raises again what a handler left behind."""
    name, after = (
        dis.opname[code.co_code[offset]] if offset < len(code.co_code) else ""
        for offset in (target, target + 2)
    )
    return (
        name in ("CLEANUP_THROW", "END_ASYNC_FOR")
        or (name == "COPY" and after == "POP_EXCEPT")
        or (name == "CALL_INTRINSIC_1" and after == "RERAISE")
    )


class Model:
    """Event streams by thread name, while it is on.

    What the interpreter does on its own is not told: the StopIteration by which a loop
    or an await ends, the StopAsyncIteration of an async for, and the handlers that the
    compiler added. An await that ends by one that is thrown in goes on: a resume."""

    def __init__(self, filename):
        self.filename = filename
        self.streams = {}
        self.frames = {}  # id of a frame object -> its name; set anew at each call
        self.suspended = set()  # ids of frame objects that yielded
        self.calls = {}
        self.tables = {}

    def handler(self, code, offset):
        """Where an exception at `offset` is handled, or None."""
        table = self.tables.get(code)
        if table is None:
            table = self.tables[code] = dis._parse_exception_table(code)
        for entry in table:
            if entry.start <= offset < entry.end:
                return entry.target
        return None

    def ends_await(self, code, offset, kind):
        """True when an exception class raised or thrown in at `offset` is what an await,
        a `yield from` or an async for waits for."""
        target = self.handler(code, offset)
        name = None if target is None else dis.opname[code.co_code[target]]
        return (issubclass(kind, StopIteration) and name == "CLEANUP_THROW") or (
            issubclass(kind, StopAsyncIteration) and name == "END_ASYNC_FOR"
        )

    def ends_loop(self, code, offset, kind):
        return dis.opname[code.co_code[offset]] in ("FOR_ITER", "SEND") and issubclass(
            kind, StopIteration
        )

    # --- what both tracers tell ---

    def thread(self):
        thread = threading.current_thread()
        return "main" if thread is threading.main_thread() else thread.name

    def caller_line(self, frame):
        """The line of the nearest caller in the file. g.throw() of a generator that
        delegates runs the inner one with the outer one, suspended, as f_back: that is
        no caller."""
        frame = frame.f_back
        while frame is not None:
            if (
                frame.f_code.co_filename == self.filename
                and id(frame) not in self.suspended
            ):
                return frame.f_lineno
            frame = frame.f_back
        return None

    def has_begun(self, frame):
        """False: a generator that is thrown into, or closed, before its first next().
        It was never called, so a film knows its frame by its later events only."""
        code = frame.f_code.co_code
        resume = dis.opmap["RESUME"]
        for offset in range(0, len(code), 2):
            if code[offset] == resume:
                return frame.f_lasti >= offset
        return True

    def tell(self, kind, frame, line=-1, exception=None):
        code = frame.f_code
        thread = self.thread()
        if kind == "call":
            self.calls[thread] = self.calls.get(thread, 0) + 1
            self.frames[id(frame)] = f"{thread}#{self.calls[thread]}"
            line = code.co_firstlineno
        elif line == -1:
            line = frame.f_lineno
        if kind == "throw" and not self.has_begun(frame):
            self.frames.pop(id(frame), None)
            return
        if kind == "yield":
            self.suspended.add(id(frame))
        elif kind != "raise":
            self.suspended.discard(id(frame))
        self.streams.setdefault(thread, []).append(
            [
                kind,
                self.frames.get(id(frame), "adopted"),
                f"{MODULE}.{code.co_qualname}" if id(frame) in self.frames else None,
                line,
                self.caller_line(frame)
                if kind in ("call", "resume", "throw")
                else None,
                exception,
            ]
        )
        if kind in ("return", "unwind"):
            self.frames.pop(id(frame), None)


class MonitoringModel(Model):
    """3.12 and later."""

    TOOL = 5

    def start(self):
        monitoring = sys.monitoring
        events = monitoring.events
        getframe = sys._getframe
        filename = self.filename
        tell = self.tell

        def entering(kind):
            def callback(code, offset):
                if code.co_filename == filename:
                    tell(kind, getframe(1))

            return callback

        def leaving(kind):
            def callback(code, offset, value):
                if code.co_filename == filename:
                    tell(kind, getframe(1))

            return callback

        def exception(kind):
            def callback(code, offset, error):
                if code.co_filename == filename:
                    tell(kind, getframe(1), -1, type(error).__name__)

            return callback

        def raised(code, offset, error):
            if (
                code.co_filename == filename
                and not self.ends_loop(code, offset, type(error))
                and not self.ends_await(code, offset, type(error))
            ):
                tell("raise", getframe(1), -1, type(error).__name__)

        def thrown(code, offset, error):
            if code.co_filename == filename:
                frame = getframe(1)
                at = frame.f_lasti - 2 * (sys.version_info >= (3, 13))  # its yield
                if self.ends_await(code, at, type(error)):
                    tell("resume", frame)
                else:
                    tell("throw", frame, -1, type(error).__name__)

        def handled(code, offset, error):
            if code.co_filename == filename and not is_tidying(code, offset):
                line = handler_line(code, offset)
                tell("handled", getframe(1), line, type(error).__name__)

        callbacks = {
            events.PY_START: entering("call"),
            events.PY_RESUME: entering("resume"),
            events.PY_RETURN: leaving("return"),
            events.PY_YIELD: leaving("yield"),
            events.PY_THROW: thrown,
            events.PY_UNWIND: exception("unwind"),
            events.RAISE: raised,
            events.EXCEPTION_HANDLED: handled,
        }
        monitoring.use_tool_id(self.TOOL, "the model")
        for event, callback in callbacks.items():
            monitoring.register_callback(self.TOOL, event, callback)
        self.events = callbacks
        monitoring.set_events(self.TOOL, sum(callbacks))

    def stop(self):
        monitoring = sys.monitoring
        monitoring.set_events(self.TOOL, 0)
        for event in self.events:
            monitoring.register_callback(self.TOOL, event, None)
        monitoring.free_tool_id(self.TOOL)


class TraceModel(Model):
    """3.11. What settrace does not say is read from the bytecode: `handled` from the
    exception table. A reraise is not reported by CPython 3.11, so a handler that an
    exception reaches by way of another handler is not told."""

    def __init__(self, filename):
        super().__init__(filename)
        self.executed = {}  # id of a frame object -> its last instruction

    def start(self):
        threading.settrace(self.trace)
        sys.settrace(self.trace)

    def stop(self):
        sys.settrace(None)
        threading.settrace(None)

    def trace(self, frame, event, argument):
        code = frame.f_code
        if code.co_filename != self.filename:
            return None
        frame.f_trace_lines = False
        frame.f_trace_opcodes = True
        bytecode = code.co_code
        offset = max(frame.f_lasti, 0)
        name = dis.opname[bytecode[offset]]
        if event == "opcode":
            self.executed[id(frame)] = name
        elif event == "call":
            self.executed.pop(id(frame), None)
            if name == "RESUME" and bytecode[offset + 1] == 0:
                self.tell("call", frame)
            elif name == "RESUME":
                self.tell("resume", frame)
            else:
                # The exception is not among what settrace gives here; `raise` follows.
                self.tell("throw", frame, -1, "?")
        elif event == "exception":
            kind = argument[0].__name__
            if self.ends_loop(code, offset, argument[0]):
                return self.trace
            if not self.ends_await(code, offset, argument[0]):
                self.tell("raise", frame, -1, kind)
            target = self.handler(code, offset)
            if target is not None and not is_tidying(code, target):
                self.tell("handled", frame, handler_line(code, target), kind)
        elif event == "return":
            # A reraise puts f_lasti back to where the exception came from, a yield
            # maybe: what was executed last decides.
            last = self.executed.pop(id(frame), None)
            if last == "RETURN_VALUE":
                self.tell("return", frame)
            elif last == "YIELD_VALUE":
                self.tell("yield", frame)
            else:
                self.tell("unwind", frame, -1, "?")
        return self.trace


def make_model(filename):
    if sys.version_info >= (3, 12):
        return MonitoringModel(filename)
    return TraceModel(filename)


# --- the server ---


def execute(source, filename):
    """Runs the program's main(); what it printed."""
    space = {"__name__": MODULE, "__file__": filename}
    sys.modules[MODULE] = type(sys)(MODULE)
    exec(compile(source, filename, "exec", dont_inherit=True), space)
    return space["main"]


def captured(function):
    output, kept = io.StringIO(), sys.stdout
    sys.stdout = output
    try:
        function()
    finally:
        sys.stdout = kept
    return output.getvalue()


def tell_event(event):
    """A reader's event in the keys of `dump`."""
    kind = event.kind
    told = {"kind": kind, "thread": event.thread, "event": event.number}
    if kind == "thread_start":
        told["name"] = event.text
    elif kind in ("lost", "lost_control"):
        told["reason"] = event.text
        told["count"] = event.count
    else:
        told["frame"] = event.frame
        told["line"] = event.line
    if kind == "call":
        told["function"] = event.function
        told["line"] = event.code.first_line
    if kind in ("call", "resume", "throw"):
        told["caller_line"] = event.caller_line
    if kind in ("raise", "unwind", "handled", "throw"):
        told["exception"] = {"type": event.text}
    return told


def answer(request):
    import filmstrip

    with open(request["program"], encoding="utf-8") as file:
        source = file.read()
    gc.collect()
    gc.disable()

    main = execute(source, request["program"])
    model = make_model(request["program"])
    model.start()
    try:
        first = captured(main)
    finally:
        model.stop()
    del main
    gc.collect()

    main = execute(source, request["program"])
    filmstrip.start(
        request["film"], targets=[request["program"]], force=True, level="calls"
    )
    try:
        second = captured(main)
    finally:
        filmstrip.stop()
    del main
    gc.enable()
    gc.collect()

    with filmstrip.open(request["film"]) as film:
        events = [tell_event(event) for event in film.events()]
    return {"model": model.streams, "film": events, "output": [first, second]}


def serve():
    import asyncio  # programs want it: not to be imported while one is recorded
    import contextlib  # noqa: F401

    assert asyncio
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        channel.write(json.dumps(answer(json.loads(line))) + "\n")
        channel.flush()


if __name__ == "__main__":
    serve()
