"""How much of a container a record shows decides nothing about what is told: a program
recorded twice, with 32 items shown and with 2, tells the same events.

But a line that changes a container and one within it tells the outer one alone, where its
record shows the inner one; with fewer items shown both are told.
"""

import marshal
import os

import values_compare

SHOWN = (32, 2)


def compare(path, film, run, read):
    """Counts; raises Difference. `run` records the compiled program, `read` reads it."""
    with open(path, encoding="utf-8") as file:
        compiled = marshal.dumps(compile(file.read(), path, "exec", dont_inherit=True))
    films = []
    for items in SHOWN:
        run(marshal.loads(compiled), path, film, items=items)
        films.append([what(event) for event in read(film) if "frame" in event])
        os.unlink(film)
    wide, narrow = films
    at = own = 0
    for event in narrow:
        if at < len(wide) and wide[at] == event:
            at += 1
        elif event[0] == "change" and event[-1] and not event[-2]:
            own += 1
        else:
            raise values_compare.Difference(
                f"{wide[at] if at < len(wide) else 'the end'} with {SHOWN[0]} items shown,"
                f" {event} with {SHOWN[1]}"
            )
    if at != len(wide):
        raise values_compare.Difference(f"{wide[at]} is not told with {SHOWN[1]} items")
    return {"event": at, "own": own}


def what(event):
    """What must be the same. Of a change last: whether it may be none, and whether the
    length says that it is one."""
    value = event.get("value") or {}
    same = [event.get(name) for name in ("kind", "frame", "line", "scope", "name")]
    length, before = value.get("length"), event.get("length_before")
    return (*same, value.get("type"), before, event.get("cut"), length != before)
