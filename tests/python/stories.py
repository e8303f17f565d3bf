"""Events of level values as short texts, for tests to compare."""

from __future__ import annotations

import re
import textwrap

from conftest import dump_events


def shown(value):
    """Without the serials of instances."""
    return re.sub(r" #\d+>", ">", value["text"])


def owner_of(event):
    return event["owner"]["type"]


def story(events, skip=("line", "thread_start", "thread_end")):
    """One short text an event."""
    functions, told = {}, []
    for event in events:
        kind = event["kind"]
        if kind == "call":
            functions[event["frame"]] = event["function"].split(".", 1)[1]
        if kind in skip:
            continue
        where = functions.get(event.get("frame"), "?")
        if kind == "call":
            given = ", ".join(
                f"{k}={shown(v)}" for k, v in event.get("args", {}).items()
            )
            told.append(f"{where}({given})")
        elif kind in ("set", "delete"):
            scope = event["scope"]
            if scope == "attribute":
                name = f"{owner_of(event)}.{event['name']}"
            elif scope == "item":
                name = f"{owner_of(event)}[{shown(event['key'])}]"
            elif scope in ("global", "class", "nonlocal"):
                name = f"{scope} {event['name']}"
            else:
                name = event["name"]
            via = " via" if event.get("via") else ""
            if kind == "set":
                told.append(f"{where}: {name} = {shown(event['value'])}{via}")
            else:
                told.append(f"{where}: del {name}{via}")
        elif kind == "change":
            told.append(
                f"{where}: change {event.get('length_before')} {shown(event['value'])}"
            )
        elif kind in ("return", "yield"):
            told.append(f"{where} {kind} {shown(event['value'])}")
        else:
            told.append(f"{where} {kind}")
    return told


def record_story(runner, text, *, options=(), whole=False):
    """Records a program and tells the story of its main(), or all of it."""
    text = textwrap.dedent(text)
    if not whole:
        text += "\nmain()\n"
    result = runner.record(text, options=["--level", "values", *options])
    assert (result.rc, result.stderr) == (0, "")
    told = story(dump_events(result.film))
    if whole:
        return told
    first = next(i for i, line in enumerate(told) if line.startswith("main("))
    last = next(i for i, line in enumerate(told) if line.startswith("main return"))
    return told[first + 1 : last]
