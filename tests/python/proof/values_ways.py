"""A program recorded in two ways tells the same, as far as both tell it.

What the plain way tells is compared with the truth (values_compare.py). Here the same
program is recorded plainly and in another way (ways.py), and the two films are compared,
event by event. Some of the ways are of a program's own: only some of its functions are
targets, all of Python's code is, or several threads run it at a time.
"""

import collections
import io
import json
import marshal
import os
import re
import sys
import threading

import values_compare

# What another way may tell otherwise: where an object first seen is told in full, when a
# change by code that is a target only there is told, what lies in containers.
FLOW = ("call", "line", "set", "delete", "return", "yield", "resume", "unwind")
EXCEPTIONS = ("raise", "handled", "throw")
VARIABLES = ("local", "nonlocal", "global", "class")
C_CALLS = ("c_call", "c_return", "c_raise")
THREADS = 4
HIDDEN = "<hidden>"
# They hold what differs from run to run: locks, numbers of threads.
STRANGE = ("Thread", "Event", "Barrier", "Condition")


class Reading:
    """How the events of a film are made comparable."""

    def __init__(self, functions=None, file=None, whole=True, scopes=VARIABLES):
        self.functions = functions  # the ones that count; None: all of them
        self.file = file  # whose functions count; None: any
        self.whole = whole  # values with what they hold, and all kinds of events
        self.scopes = scopes

    def counts(self, event):
        if self.file is not None and event["file"] != self.file:
            return False
        return self.functions is None or event["function"] in self.functions

    def streams(self, events):
        """Thread name -> its events, in a form that is the same in every film."""
        names = values_compare.thread_names(events)
        streams = collections.defaultdict(list)
        frames, numbers, calls = {}, collections.defaultdict(dict), {}
        for event in events:
            if event["kind"] in ("lost", "lost_control"):
                raise values_compare.Difference(f"the film lost events: {event}")
            if event["kind"] == "call" and self.counts(event):
                thread = names[event["thread"]]
                calls[thread] = calls.get(thread, 0) + 1
                frames[event["frame"]] = calls[thread]
        for event in events:
            thread = names[event["thread"]]
            if event.get("frame") in frames:
                told = self.told(event, frames[event["frame"]], numbers[thread])
                if told is not None:
                    streams[thread].append(told)
        return dict(streams)

    def told(self, event, frame, numbers):
        kind = event["kind"]
        if kind in C_CALLS:
            return None
        if not self.whole:
            if kind not in FLOW:
                return None
            if kind in ("set", "delete") and event["scope"] not in self.scopes:
                return None
        same = [kind, frame, event.get("line"), event.get("scope"), event.get("name")]
        if kind == "call":
            same += [event["function"], self.named(event.get("args", {}), numbers)]
        for name in ("value", "owner", "key", "object"):
            same.append(self.value(event.get(name), numbers))
        text = event.get("value", {}).get("text")
        if event.get("via") and text == values_compare.NOT_RECORDED:
            same[5] = HIDDEN  # it is the argument of a method that took the write
        same.append((event.get("exception") or {}).get("type"))
        return same

    def named(self, values, numbers):
        return [[name, self.value(value, numbers)] for name, value in values.items()]

    def value(self, value, numbers):
        if value is None:
            return None
        if isinstance(value, int):  # the serial of an object that has changed
            return numbers.setdefault(value, len(numbers))
        if value.get("redacted"):
            return HIDDEN
        if not self.whole or value.get("type") in STRANGE:
            if "object" in value:
                return [value.get("type")]
            text = values_compare.plain_text(value.get("text"))
            return [value.get("type"), HIDDEN if value.get("cut") else text]

        def renumbered(found):
            number = int(found[1])
            return f"#{numbers.setdefault(number, len(numbers))}"

        text = json.dumps(value)
        text = re.sub(r'(?<="object": )(\d+)', lambda m: renumbered(m)[1:], text)
        text = re.sub(r"#(\d+)", renumbered, text)
        return values_compare.ADDRESS.sub("<address>", text)


def same(plain, other):
    """How many events are the same; raises Difference."""
    if plain.keys() != other.keys():
        raise values_compare.Difference(f"threads {sorted(plain)}, {sorted(other)}")
    count = 0
    for thread, events in plain.items():
        for number, (first, second) in enumerate(zip(events, other[thread])):
            if differs(first, second):
                before = events[max(0, number - 4) : number]
                raise values_compare.Difference(
                    f"thread {thread}, behind {before}:\n plain {first}\n other {second}"
                )
        if len(events) != len(other[thread]):
            more = (events + other[thread][len(events) :])[
                min(len(events), len(other[thread])) :
            ]
            raise values_compare.Difference(
                f"thread {thread}: {len(events)} events, {len(other[thread])}: {more[:3]}"
            )
        count += len(events)
    return count


def differs(first, second):
    """What one of them hides or cuts is not compared, nor the line of a store that
    the compiler adds at the end of a handler: which line came last is not told."""
    if first == second:
        return False
    if not isinstance(first, list) or not isinstance(second, list):
        return HIDDEN not in (first, second)
    if first[0] in ("set", "delete") and None in (first[2], second[2]):
        return differs(first[3:], second[3:])
    return len(first) != len(second) or any(map(differs, first, second))


# --- ways of a program's own ---------------------------------------------------------


def functions_of(events):
    """Functions and methods that can be named as targets, in the order of their calls."""
    names = [event["function"] for event in events if event["kind"] == "call"]
    return [name for name in dict.fromkeys(names) if "<" not in name]


def target_of(function):
    """generated.C.m -> generated:C.m(); generated.f -> generated:f()"""
    module, _, name = function.partition(".")
    return f"{module}:{name}()"


def narrow(case, outer):
    functions = functions_of(case.plain_events)
    chosen = functions[case.number % 2 :: 2]
    if not chosen:
        return {"event": 0}
    events = case.record(
        targets=[target_of(name) for name in chosen], outer_calls=outer
    )
    reading = Reading(functions=set(chosen), whole=False)
    return {"event": same(reading.streams(case.plain_events), reading.streams(events))}


def wide(case):
    reading = Reading(file=case.path, whole=False)
    events = case.record(targets=(), all=True)
    return {"event": same(reading.streams(case.plain_events), reading.streams(events))}


def in_threads(case):
    """Each of several threads that run the program at a time has the events of one that
    runs it alone."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        events = case.record(threads=THREADS)
    finally:
        sys.setswitchinterval(interval)
    reading = Reading(whole=False)
    plain = reading.streams(case.plain_events)["main"]
    streams = reading.streams(events)
    found = {name: streams.get(f"one of {THREADS}, {name}") for name in range(THREADS)}
    return {
        "event": sum(
            same({"main": plain}, {"main": events or []}) for events in found.values()
        )
    }


def told_anew(case):
    """Containers written in pieces are told anew as often as can be."""
    from filmstrip import _recorder

    _recorder._told_anew(0)
    try:
        events = case.record()
    finally:
        _recorder._told_anew(-1)
    reading = Reading(file=case.path)
    return {"event": same(reading.streams(case.plain_events), reading.streams(events))}


def held_too(case):
    """Containers that attributes hold are looked at when their owner is, as filmstrip.watch
    has it: what changed in them is told sooner."""
    from filmstrip import _recorder

    start = _recorder.start
    _recorder.start = lambda path, **options: start(
        path, **{**options, "held_too": True}
    )
    try:
        events = case.record()
    finally:
        _recorder.start = start
    reading = Reading(file=case.path, whole=False)
    return {"event": same(reading.streams(case.plain_events), reading.streams(events))}


OWN = {
    "told anew": told_anew,
    "held too": held_too,
    "narrow": lambda case: narrow(case, False),
    "narrow, outer calls": lambda case: narrow(case, True),
    "wide": wide,
    "threads": in_threads,
}


# --- ways of ways.py -----------------------------------------------------------------

READINGS = {
    "locals": Reading(whole=False),
    "attributes": Reading(whole=False, scopes=(*VARIABLES, "attribute")),
    "few items": Reading(whole=False),
}


def by_option(case, name, options):
    reading = READINGS.get(name, Reading(file=case.path))
    plain, events = case.plain_events, case.record(**options)
    if options.get("exceptions") is False:
        plain = [event for event in plain if event["kind"] not in EXCEPTIONS]
        events = [event for event in events if event["kind"] not in EXCEPTIONS]
    return {"event": same(reading.streams(plain), reading.streams(events))}


class Case:
    """A program, recorded plainly; and again as is asked for."""

    module = "generated"

    def __init__(self, number, path, film, execute, read):
        self.number, self.path, self.film = number, path, film
        self.execute, self.read = execute, read
        with open(path, encoding="utf-8") as file:
            source = file.read()
        self.compiled = marshal.dumps(compile(source, path, "exec", dont_inherit=True))
        self.bare = self.execute(marshal.loads(self.compiled), path)
        self.plain_events = self.record()

    def record(self, threads=0, targets=None, **options):
        import filmstrip

        targets = [self.path] if targets is None else targets
        code = marshal.loads(self.compiled)
        filmstrip.start(self.film, targets=targets, force=True, **options)
        try:
            if threads:
                self.run_threads(threads)
                ended = self.bare
            else:
                ended = self.execute(code, self.path)
        finally:
            filmstrip.stop()
        if ended != self.bare:
            raise values_compare.Difference(
                f"the recorder changed the program: {self.bare} {ended}"
            )
        events = self.read(self.film)
        os.unlink(self.film)
        return events

    def run_threads(self, count):
        """Every thread has code of its own: objects of one are none of another's."""

        def run():
            space = {"__name__": self.module, "__file__": self.path}
            gate.wait()
            try:
                exec(marshal.loads(self.compiled), space)
            except (Exception, BaseExceptionGroup):
                pass
            space.clear()

        gate, output = threading.Barrier(count), sys.stdout
        sys.modules[self.module] = type(sys)(self.module)
        threads = [
            threading.Thread(target=run, name=f"one of {count}, {number}")
            for number in range(count)
        ]
        sys.stdout = io.StringIO()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        sys.stdout = output


def compare(way, case):
    """Counts; raises Difference. `way`: its name; options as JSON behind it, if any."""
    name, _, options = way.partition("=")
    if name in OWN:
        return OWN[name](case)
    return by_option(case, name, json.loads(options))
