"""Runs in the child process: capture by hand, and what it wrote, decoded.

Functions that use it must be recorded functions (targets), so that their frames are on
the shadow stack.
"""

from __future__ import annotations

import struct

from filmstrip import _recorder

capture = _recorder._capture
strings: dict[int, str] = {}
values: dict[int, tuple[int, int, bytes]] = {}

UNBOUND = "UNBOUND"
REDACTED = "REDACTED"
CUT, TAKEN_OUT, OBJECT, MEASURED, NOTED = 1, 2, 4, 8, 64


def begin(text=256, items=32, depth=3, path="out.film"):
    _recorder.start(path, replace=True, all=True, own_dir="/nowhere")
    again(text, items, depth)


def again(text=256, items=32, depth=3):
    strings.clear()
    values.clear()
    capture("begin", text, items, depth)


def end():
    counts = capture("end")
    _recorder.stop()
    return counts


def refresh():
    """What was kept since; returns the ids of new value records."""
    new_strings, new_values = capture("kept")
    strings.update(new_strings)
    strings[0] = ""
    values.update(new_values)
    return sorted(new_values)


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def take(self, count):
        assert self.at + count <= len(self.data)
        self.at += count
        return self.data[self.at - count : self.at]

    def varint(self):
        number = shift = 0
        while True:
            byte = self.byte()
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return number


class Ref:
    """An object: its type, serial, form, length, content (decoded), cut, note."""

    def __init__(self, type, serial, form, length, content, cut, note=None):
        self.type, self.serial, self.form = type, serial, form
        self.length, self.content, self.cut = length, content, cut
        self.note = note

    def __repr__(self):
        return (
            f"<{self.type} {self.serial} {self.content!r}{' cut' if self.cut else ''}>"
        )

    def plain(self):
        """The content as a Python value."""
        if self.form == 1:
            items = [plain(item) for item in self.content]
            kind = {"tuple": tuple, "set": set, "frozenset": frozenset}.get(self.type)
            return kind(items) if kind else items
        if self.form == 2:
            return {plain(key): plain(value) for key, value in self.content}
        if self.form == 8:
            return bytearray(self.content)
        return self.content


def plain(value):
    return value.plain() if isinstance(value, Ref) else value


class Measured(tuple):
    """length, hash, head of a long scalar."""


def token(source):
    kind = source.byte()
    if kind >= 0x10:
        return kind - 0x20
    if kind == 0:
        return UNBOUND
    if kind in (1, 2, 3):
        return (None, False, True)[kind - 1]
    if kind == 4:
        number = source.varint()
        return number >> 1 ^ -(number & 1)
    if kind == 5:
        return struct.unpack("<d", source.take(8))[0]
    if kind in (6, 9):
        return record(source.varint())
    if kind == 7:
        return REDACTED
    if kind == 8:
        return source.take(source.byte()).decode()
    assert kind == 10, kind
    serial = source.varint()
    return Ref(strings[source.varint()], serial, 0, None, ..., False)


def noted(source):
    """The text with its holes, the names of its tokens, base and tokens."""
    text, names = strings[source.varint()], strings[source.varint()]
    base, count = source.byte(), source.varint()
    return (text, names, base, [token(source) for _ in range(count)])


def record(number):
    type, flags, body = values[number]
    type = strings[type]
    source = Bytes(body)
    if not flags & OBJECT:
        if flags & MEASURED:
            assert flags & CUT
            head = (source.varint(), struct.unpack("<Q", source.take(8))[0])
            return Measured((type, *head, body[source.at :]))
        return {
            "str": lambda: body.decode(errors="surrogatepass"),
            "bytes": lambda: body,
            "int": lambda: int.from_bytes(body, "little", signed=True),
            "complex": lambda: complex(*struct.unpack("<2d", body)),
        }[type]()
    serial, form = source.varint(), source.byte()
    length, count = source.varint() - 1, source.varint()
    if form == 1 or form == 7:
        content = [token(source) for _ in range(count)]
    elif form == 2:
        content = [(token(source), token(source)) for _ in range(count)]
    elif form == 3:
        content = {strings[source.varint()]: token(source) for _ in range(count)}
    elif form == 4:
        assert count == 0
        content = None
    elif form == 5:
        content = (
            tuple(source.varint() for _ in range(count)),
            strings[source.varint()],
        )
    elif form == 6:
        content = strings[source.varint()]
    elif form == 8:
        content = source.take(count)
    else:
        assert (form, count) == (9, 1)
        again = token(source)
        assert again.serial == serial
        form, content = again.form, again.content
    note = noted(source) if flags & NOTED else None
    assert source.at == len(body), "record too long"
    length = None if length < 0 else length
    return Ref(type, serial, form, length, content, bool(flags & CUT), note)


def decode(data):
    refresh()
    source = Bytes(data)
    result = token(source)
    assert source.at == len(data), "token too long"
    return result


def told(value, name=None, holder=None):
    return decode(capture("value", value, name, holder))


def serial(value, holder=None):
    return told(value, None, holder).serial


def changed(value, holder=None):
    result = capture("changed", value, holder)
    return result and (decode(result[0]), result[1], bool(result[2]))


def slot(name, in_flight=False):
    return ("slot", name, None, in_flight)


def cell(name):
    return ("cell", name, None, False)


def attribute(owner, name, in_flight=False):
    return ("attribute", owner, name, in_flight)


def item(owner):
    return ("item", owner, None, False)


def namespace(owner, name):
    return ("namespace", owner, name, False)


def best(what, value, holder, times, tries=5):
    """ns of one call, the best of some tries."""
    results = []
    for _ in range(tries):
        results.append(capture("time", what, value, holder, times))
    return min(results)
