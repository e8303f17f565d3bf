"""Compares what a film tells of values with the truth (values_truth.py).

Item by item in the order of each thread: calls with their arguments, lines, sets and
deletes with owner, key and value, returns and yields. And state by state: replaying the
film's sets and changes onto variables, by the serials of the objects they hold, must
give at each line what the truth copied from the frame there. So a change of a container
that the film misses, or invents, is found though the truth knows no change events.
"""

import collections
import functools
import re

UNBOUND = "<unbound>"
NOT_RECORDED = "<not recorded>"
COMPARED = ("call", "line", "set", "delete", "return", "yield")
NAMES = {
    "deque": collections.deque,
    "frozenset": frozenset,
    "set": set,
    "bytearray": bytearray,
    "slice": slice,
    "inf": float("inf"),
    "nan": float("nan"),
    "nanj": complex(0, float("nan")),
    "infj": complex(0, float("inf")),
    "__builtins__": {},
}
SEQUENCES = ("list", "tuple", "set", "frozenset", "deque")


class Difference(Exception):
    """A sentence: where film and truth part."""


def evaluate(text):
    return eval(text, dict(NAMES))


# --- the film's events, in the truth's form -----------------------------------------


def thread_names(events):
    names = {1: "main"}
    for event in events:
        if event["kind"] == "thread_start" and event["thread"] != 1:
            names[event["thread"]] = event["name"]
    return names


def film_streams(events):
    """Items of each thread, by its name; values are those of `dump`."""
    names = thread_names(events)
    frames = {}
    calls = collections.Counter()
    streams = {}
    for event in events:
        if event["kind"] == "call":
            thread = names[event["thread"]]
            calls[thread] += 1
            frames[event["frame"]] = f"{thread}#{calls[thread]}"
    for event in events:
        kind = event["kind"]
        if kind in ("lost", "lost_control"):
            raise Difference(f"the film lost events: {event}")
        if kind not in COMPARED and kind != "change":
            continue
        stream = streams.setdefault(names[event["thread"]], [])
        frame = frames.get(event["frame"], "adopted")
        if kind == "call":
            stream.append(["call", frame, event["function"], event.get("args", {})])
        elif kind == "line":
            stream.append(["line", frame, event["line"]])
        elif kind in ("set", "delete"):
            name = event.get("name")
            marks = {"via": True} if event.get("via") else {}
            stream.append(
                [
                    *(kind, frame, event.get("line"), event["scope"], name),
                    *(event.get("value"), event.get("owner"), event.get("key"), marks),
                ]
            )
        elif kind == "change":
            stream.append(["change", frame, event.get("line"), event])
        else:
            stream.append([kind, frame, event.get("line"), event.get("value")])
    return streams


# --- values --------------------------------------------------------------------------


# What id() gives, and reprs show, differs from run to run.
# (10[5-7]: where ASan has its heap.)
ADDRESS = re.compile(r"\b(9[34]\d{12}|(1[34]\d|10[5-7])\d{12}|at 0x[0-9a-f]+)\b")
# The deny list hides what has such a name, and not all of these: that every secret is
# hidden is test_proof_values_secrets.py's.
SECRET = re.compile("token|cookie|secret|passw|session_?id|bearer|pwd|api_?key|auth")


def plain_text(text):
    return ADDRESS.sub("<address>", text) if text and len(text) > 13 else text


@functools.cache
def hidden(name):
    return name is not None and SECRET.search(name.lower()) is not None


def short(type_name):
    return (type_name or "").rpartition(".")[2]


class Secrets:
    """What was taken out by its name: a text with that in it is taken out wherever it is
    seen later, as the recorder has it (capture_scalars.c), and nothing else is."""

    SHORTEST, LONGEST, ITEMS = 4, 256, 64

    def __init__(self):
        self.known = set()
        self.unclear = 0  # what the truth has not kept, so that it cannot be decided

    def remember(self, text):
        """The literal of a value whose name is on the list."""
        try:
            value = evaluate(text)
        except (SyntaxError, NameError, TypeError, ValueError):
            self.unclear += 1
            return
        held = [value]
        if type(value) in (list, tuple):
            held = list(value)[: self.ITEMS]
        elif type(value) is dict:
            held = list(value.values())[: self.ITEMS]
        for item in held:
            if type(item) in (str, bytes):
                found = as_bytes(item)[: self.LONGEST]
                if len(found) >= self.SHORTEST:
                    self.known.add(found)

    def are_in(self, value):
        return type(value) in (str, bytes) and any(
            secret in as_bytes(value) for secret in self.known
        )

    def hides(self, text):
        """Whether a value of this literal is rightly taken out without its own name."""
        if text is None:  # too long for the truth: so may the secret have been
            possible = bool(self.known or self.unclear)
            self.unclear += 1
            return possible
        return self.are_in(evaluate(text))

    def without(self, text):
        """The literal as a film has it; None where that cannot be decided."""
        try:
            return self.spelled(evaluate(text))
        except (SyntaxError, NameError, TypeError, ValueError):
            self.unclear += 1
            return None

    def spelled(self, value):
        if self.are_in(value):
            return "[redacted]"
        kind = type(value).__name__
        if kind == "dict":
            pairs = [
                f"{self.spelled(k)}: "
                f"{'[redacted]' if type(k) is str and hidden(k) else self.spelled(v)}"
                for k, v in value.items()
            ]
            return "{" + ", ".join(pairs) + "}"
        if kind in SEQUENCES:
            return in_brackets(kind, [self.spelled(item) for item in value])
        return repr(value)


def as_bytes(text):
    return text.encode("utf-8", "surrogatepass") if type(text) is str else text


class Identities:
    """A serial never means two objects."""

    def __init__(self):
        self.object_of = {}
        self.serials = collections.defaultdict(set)
        self.learned = []  # since the last keep
        self.secrets = Secrets()

    def check(self, serial, identity):
        if serial is None or identity is None:
            return None
        if serial not in self.object_of:
            self.object_of[serial] = identity
            self.learned.append(serial)
        known = self.object_of[serial]
        if known != identity:
            return f"serial {serial} is object {known} and object {identity}"
        self.serials[identity].add(serial)
        return None

    def keep(self):
        self.learned.clear()

    def forget(self):
        """What two events taught that turned out not to be the same."""
        for serial in self.learned:
            self.serials[self.object_of.pop(serial)].discard(serial)
        self.learned.clear()

    def renamed(self):
        """How many objects got more than one serial."""
        return sum(len(serials) > 1 for serials in self.serials.values())


# An int of more than the 256 bytes that are kept by default.
LONG_INT = re.compile(r"\d{616,}")


def differs(model, value, identities, content=True, name=None):
    """Why a value of the film is not that of the truth; None if it is."""
    if model is None or value is None:
        return None if model is None and value is None else "one has no value"
    kind, text, length, identity = model
    if text == UNBOUND:
        return None if value.get("text") == NOT_RECORDED else "it was unbound"
    if value.get("redacted"):
        if hidden(name):
            identities.secrets.remember(text)
            return None
        hides = kind in ("str", "bytes") and identities.secrets.hides(text)
        return None if hides else "redacted"
    if value.get("text") == NOT_RECORDED:
        return "not recorded"
    if short(value.get("type")) != short(kind):
        return f"type {value.get('type')} for {kind}"
    if content and not value.get("cut"):
        if text is not None and not same_text(text, value.get("text") or ""):
            return f"{value.get('text')} for {text}"
        if length is not None and value.get("length", length) != length:
            return f"length {value.get('length')} for {length}"
    elif content and text is not None and not LONG_INT.search(text):
        return f"cut for {text}"
    return identities.check(value.get("object"), identity)


def item_differs(model, item, identities):
    """As differs, for items of a stream."""
    identities.keep()
    why = event_differs(model, item, identities)
    if why:
        identities.forget()
    return why


def event_differs(model, item, identities):
    """The kind alone decides what is looked at."""
    if model[:2] != item[:2]:
        return "another event"
    kind = model[0]
    if kind == "call":
        if not item[2].endswith("." + model[2]):
            return "another function"
        if list(model[3]) != list(item[3]):
            return f"arguments {list(item[3])} for {list(model[3])}"
        for name, value in model[3].items():
            why = differs(value, item[3][name], identities, name=name)
            if why:
                return f"argument {name}: {why}"
        return None
    # A store of the compiler's at the end of a handler may have no line of its own.
    # One that begins no line is told with the line that ran last.
    if model[2] != item[2] and model[2] is not None:
        if len(model) < 9 or model[8].get("ran") != item[2]:
            return f"line {item[2]} for {model[2]}"
    if kind == "line":
        return None
    if kind in ("return", "yield"):
        return differs(model[3], item[3], identities)
    if model[3:5] != item[3:5]:
        return "another variable"
    why = differs(model[5], item[5], identities, name=model[4])
    # What a property or a __setattr__ took may be told without its value: it is the
    # argument of a method that is recorded itself.
    if why == "not recorded" and model[8].get("via") and item[8].get("via"):
        why = None
    if why:
        return f"value: {why}"
    if model[6] is not None or item[6] is not None:
        why = differs(model[6], item[6], identities, content=False)
        if why:
            return f"owner: {why}"
    if model[7] is not None or item[7] is not None:
        why = differs(model[7], item[7], identities)
        if why:
            return f"key: {why}"
    if item[8].get("via") and not model[8].get("via"):
        return "via for a plain write"
    return None


# --- the film's state ----------------------------------------------------------------


class Unknown(Exception):
    """The film has not told this, or told it cut."""


class State:
    """Variables and objects as the film implies them."""

    def __init__(self):
        self.variables = collections.defaultdict(dict)
        self.objects = {}  # serial -> (type, list of references or pairs) or None
        self.stamp = 0  # how often what an object holds has changed

    def reference(self, value):
        """What a variable or an item holds: ("text", literal) or ("object", serial)."""
        serial = value.get("object")
        if serial is None:
            return ("text", None if value.get("cut") else value.get("text"))
        kind = short(value.get("type"))
        if kind not in SEQUENCES and kind not in ("dict", "bytearray"):
            self.instance(serial, kind, value)
        elif value.get("cut") and "items" not in value and kind != "bytearray":
            # Too deep to be shown here: what was told before holds, and is compared.
            self.objects.setdefault(serial, None)
        elif value.get("cut") or "items" in value or not is_name(value.get("text")):
            self.learn(serial, self.content(kind, value))
        return ("object", serial)

    def instance(self, serial, kind, value):
        """Its attributes, where they are told; those told before stay."""
        told = value.get("first", value.get("items"))
        if isinstance(told, dict) and not value.get("cut"):
            attributes = {name: self.reference(v) for name, v in told.items()}
            self.learn(serial, ("instance", attributes, kind))
        else:
            self.objects.setdefault(serial, None)

    def learn(self, serial, content):
        if serial not in self.objects or self.objects[serial] != content:
            self.objects[serial] = content
            self.stamp += 1

    def content(self, kind, value):
        items = value.get("items")
        if value.get("cut") and (items is None or len(items) != value.get("length")):
            for item in items or ():
                for part in item if kind == "dict" else (item,):
                    self.reference(part)
            return None
        if items is not None:
            if kind == "dict":
                pairs = [(self.reference(key), self.reference(v)) for key, v in items]
                return (kind, pairs)
            if kind != "bytearray":
                return (kind, [self.reference(item) for item in items])
        try:
            return self.parsed(kind, evaluate(value.get("text")))
        except (SyntaxError, NameError, TypeError, ValueError):
            return None

    def parsed(self, kind, content):
        def plain(item):
            return ("text", in_literal(item))

        if kind == "dict":
            return (kind, [(plain(k), plain(v)) for k, v in content.items()])
        if kind == "bytearray":
            return (kind, content)
        return (kind, [plain(item) for item in content])

    def text_of(self, reference, depth=4):
        """Its literal, from what the film told last of each object in it."""
        form, what = reference
        if form == "text":
            if what is None:
                raise Unknown
            return what
        content = self.objects.get(what)
        if content is None or depth == 0:
            raise Unknown
        kind = content[0]
        if kind == "bytearray":
            return repr(content[1])
        if kind == "dict":
            pairs = [
                f"{self.text_of(k, depth - 1)}: {self.text_of(v, depth - 1)}"
                for k, v in content[1]
            ]
            return "{" + ", ".join(pairs) + "}"
        if kind == "instance":
            pairs = [
                f"{name}={self.text_of(content[1][name], depth - 1)}"
                for name in sorted(content[1])
            ]
            return f"<{content[2]} {', '.join(pairs)}>"
        items = [self.text_of(item, depth - 1) for item in content[1]]
        return in_brackets(kind, items)

    def shape_of(self, serial, depth=4):
        """What the film says the object holds, with the objects in it and what they
        hold; None where not all of it is known."""
        content = self.objects.get(serial)
        if content is None or depth == 0:
            return None
        if content[0] == "bytearray":
            return content[:2]
        parts = [
            what if form == "text" else (what, self.shape_of(what, depth - 1))
            for form, what in references_in(content)
        ]
        if any(part is None or part[1:] == (None,) for part in parts):
            return None
        names = sorted(content[1]) if content[0] == "instance" else None
        return content[0], names, parts

    # --- events ---

    def apply(self, item):
        kind, frame = item[0], item[1]
        if kind == "call":
            for name, value in item[3].items():
                self.variables[frame][name] = self.reference(value)
        elif kind in ("return", "yield"):
            if item[3] is not None:
                self.reference(item[3])
        elif kind == "change":
            event = item[3]
            self.reference({**event["value"], "object": event["object"]})
        elif kind in ("set", "delete"):
            self.write(item)

    def write(self, item):
        kind, frame, _, scope, name, value, owner, key, marks = item
        reference = None if kind == "delete" else self.reference(value)
        if scope in ("local", "nonlocal", "global"):
            space = self.variables["globals" if scope == "global" else frame]
            if reference is None:
                space.pop(name, None)
            else:
                space[name] = reference
        elif scope == "attribute" and not marks.get("via"):
            self.stamp += 1
            content = self.objects.get((owner or {}).get("object"))
            if content is not None and content[0] == "instance":
                if reference is None:
                    content[1].pop(name, None)
                else:
                    content[1][name] = reference
        elif scope == "item" and not marks.get("via"):
            serial = (owner or {}).get("object")
            self.stamp += 1
            if self.objects.get(serial) is not None:
                try:
                    self.write_item(serial, key, reference)
                except (Unknown, SyntaxError, NameError, TypeError, ValueError):
                    self.objects[serial] = None
                except (IndexError, KeyError):
                    # The line changed it before in another way, which is told when
                    # the line ends: if it is not, the state there is unknown.
                    self.objects[serial] = None

    def write_item(self, serial, key, reference):
        content = self.objects[serial]
        kind = content[0]
        text = key.get("text")
        if kind == "dict":
            if text is None:
                raise Unknown
            same = [
                index
                for index, (known, _) in enumerate(content[1])
                if self.same_key(known, key)
            ]
            if reference is None:
                del content[1][same[0]]
            elif same:
                content[1][same[0]] = (content[1][same[0]][0], reference)
            else:
                content[1].append((self.reference(key), reference))
            return
        index = evaluate(text)
        if kind == "bytearray":
            if reference is None:
                del content[1][index]
            else:
                content[1][index] = evaluate(self.text_of(reference))
        elif reference is None:
            del content[1][index]
        elif isinstance(index, slice):
            content[1][index] = self.parts(reference)
        else:
            content[1][index] = reference

    def same_key(self, known, key):
        if known[0] == "object" or key.get("object") is not None:
            if known[0] == "object" and known[1] == key.get("object"):
                return True
            return evaluate(self.text_of(known)) == evaluate(key["text"])
        return evaluate(known[1]) == evaluate(key["text"])

    def parts(self, reference):
        """The items of what is assigned to a slice."""
        form, what = reference
        if form == "text":
            return [("text", in_literal(item)) for item in evaluate(what)]
        content = self.objects.get(what)
        if content is None:
            raise Unknown
        if content[0] == "dict":
            return [key for key, _ in content[1]]
        if content[0] == "bytearray":
            return [("text", repr(item)) for item in content[1]]
        return list(content[1])


def is_name(text):
    """<list #7>: told by its serial alone, its content stays as it was told before."""
    return text is not None and text.startswith("<") and text.endswith(">")


def references_in(content):
    kind, what = content[:2]
    if kind == "bytearray":
        return []
    if kind == "dict":
        return [part for pair in what for part in pair]
    return list(what.values() if kind == "instance" else what)


def in_literal(value):
    """repr, with a set's items in its order and as values_truth tells them."""
    kind = type(value).__name__
    if kind == "dict":
        pairs = [f"{in_literal(k)}: {in_literal(v)}" for k, v in value.items()]
        return "{" + ", ".join(pairs) + "}"
    if kind in SEQUENCES:
        items = [in_literal(item) for item in value]
        return in_brackets(kind, items)
    return repr(value)


def in_brackets(kind, items):
    text = ", ".join(items)
    if kind == "list":
        return f"[{text}]"
    if kind == "tuple":
        return f"({text},)" if len(items) == 1 else f"({text})"
    if kind == "set":
        return f"{{{text}}}" if items else "set()"
    if kind == "frozenset":
        return f"frozenset({{{text}}})" if items else "frozenset()"
    return f"deque([{text}])"


def same_text(model, text):
    """Sets are told in the order of their table, which differs where one was built
    from another's text."""
    if model == text:
        return True
    model, text = plain_text(model), plain_text(text)
    if model == text:
        return True
    if "{" not in model:
        return False
    try:
        a, b = evaluate(model), evaluate(text)
    except (SyntaxError, NameError, TypeError, ValueError):
        return False
    return type(a) is type(b) and ordered(a) == ordered(b)


def ordered(value):
    if isinstance(value, (set, frozenset)):
        return type(value).__name__, sorted(map(repr, map(ordered, value)))
    if isinstance(value, dict):
        return "dict", [(ordered(k), ordered(v)) for k, v in value.items()]
    if isinstance(value, (list, tuple, collections.deque)):
        return type(value).__name__, [ordered(item) for item in value]
    return repr(value)


# --- the walk ------------------------------------------------------------------------


class Walk:
    """One thread's truth and film, side by side."""

    def __init__(self, name, model, film, identities, state, states=True):
        self.name, self.model, self.film = name, model, film
        self.identities, self.state, self.states = identities, state, states
        self.place = self.found = 0
        self.model_locals = collections.defaultdict(dict)
        self.checked = collections.defaultdict(dict)  # frame -> name -> what was equal
        self.modules = {i[1] for i in model if i[0] == "call" and i[2] == "<module>"}
        self.done = set()
        self.loose = []
        self.opened = collections.defaultdict(list)
        self.compared = collections.Counter()
        for index, item in enumerate(model):
            if item[0] in ("set", "delete") and "since" in item[8]:
                self.opened[item[8]["since"]].append(index)

    def run(self):
        try:
            self.walk()
        except Difference as error:
            raise Difference(f"thread {self.name}: {error}\n{self.context()}") from None

    def open(self):
        """What may be told from this place on."""
        self.loose += self.opened.pop(self.place, ())

    def advance(self):
        self.place += 1
        self.open()
        while self.place in self.done:
            self.place += 1
            self.open()

    def walk(self):
        model = self.model
        while self.found < len(self.film):
            item = self.film[self.found]
            if item[0] == "change":
                self.change(item)
                self.found += 1
                continue
            self.open()
            why = "the truth has ended"
            if self.place < len(model):
                why = item_differs(model[self.place], item, self.identities)
                if why is None:
                    self.matched(model[self.place], item)
                    self.advance()
                    continue
            loose = next(
                (
                    index
                    for index in self.loose
                    if index > self.place
                    and item_differs(model[index], item, self.identities) is None
                ),
                None,
            )
            if loose is not None:
                self.loose.remove(loose)
                self.done.add(loose)
                self.matched(model[loose], item)
                continue
            raise Difference(why)
        while self.place < len(model):
            if self.place not in self.done:
                raise Difference("the film has ended")
            self.place += 1

    def matched(self, model, item):
        self.compared[item[0]] += 1
        if item[0] in ("set", "delete") and model[2] not in (None, item[2]):
            self.compared["moved"] += 1
        self.state.apply(item)
        self.found += 1
        if item[0] in ("line", "return", "yield") and self.states:
            self.compare_states(model)

    def change(self, item):
        self.compared["change"] += 1
        event = item[3]
        serial = event["object"]
        before = self.state.shape_of(serial)
        content = self.state.objects.get(serial)
        flat = content is not None and all(
            form == "text" for form, _ in references_in(content)
        )
        flat = flat and all(text is not None for _, text in references_in(content))
        if flat:
            length = event.get("length_before")
            if length is not None and length != len(content[1]):
                raise Difference(f"length_before {length} of {before}: {event}")
        self.state.apply(item)
        if event["value"].get("cut") or event.get("cut"):
            return
        if before is not None and self.state.shape_of(serial) == before:
            raise Difference(f"a change that is none: {event}")

    def compare_states(self, model):
        frame = model[1]
        known = self.model_locals[frame]
        known.update(model[-1])
        space = "globals" if frame in self.modules else frame
        variables = self.state.variables[space]
        checked = self.checked[frame]
        for name, text in known.items():
            if hidden(name):
                continue
            reference = variables.get(name)
            # What was equal, and nothing has happened since that could make it differ.
            scalar = reference is not None and reference[0] == "text"
            seen = (text, reference, None if scalar else self.state.stamp)
            if checked.get(name) == seen:
                self.compared["state"] += 1
                continue
            if text == UNBOUND:
                if reference is not None:
                    raise Difference(f"{name} is unbound, the film has {reference}")
                continue
            if reference is None:
                raise Difference(f"{name} is {text}, the film has it unbound")
            if text is None:
                continue
            try:
                found = self.state.text_of(reference)
            except Unknown:
                if LONG_INT.search(text):
                    continue
                raise Difference(f"{name} is {text}, the film does not tell") from None
            if "[redacted]" in found:
                text = self.identities.secrets.without(text)
                if text is None:
                    continue
            if not same_text(text, found):
                raise Difference(f"state: {name} is {text}, the film has {found}")
            self.compared["state"] += 1
            checked[name] = seen

    def context(self, around=6):
        lines = []
        for item in self.film[max(0, self.found - around) : self.found]:
            lines.append(f"    both   {brief(item)}")
        for item in self.model[self.place : self.place + around]:
            lines.append(f"    truth  {brief(item)}")
        for item in self.film[self.found : self.found + around]:
            lines.append(f"    film   {brief(item)}")
        return "\n".join(lines)


def brief_value(value):
    """A value of either side in a few letters."""
    if value is None:
        return ""
    if isinstance(value, list):
        text, serial = value[1] or f"<{value[0]}>", value[3]
    else:
        text, serial = value.get("text"), value.get("object")
        text = f"{text}{' cut' if value.get('cut') else ''}"
    return f"{text[:120]}{'' if serial is None else f' #{serial}'}"


def brief(item):
    """An item of either side, to be read by a person."""
    kind, frame, line = item[:3]
    if kind == "call":
        values = ", ".join(f"{n}={brief_value(v)}" for n, v in item[3].items())
        return f"{frame} call {line}({values})"
    if kind == "line":
        return f"{frame} line {line}"
    if kind == "change":
        before = item[3].get("length_before")
        return f"{frame} {line}: change {brief_value(item[3]['value'])} was {before}"
    if kind in ("return", "yield"):
        return f"{frame} {line}: {kind} {brief_value(item[3])}"
    place = item[4]
    if item[3] == "item":
        place = f"({brief_value(item[6])})[{brief_value(item[7])}]"
    elif item[3] == "attribute":
        place = f"({brief_value(item[6])}).{item[4]}"
    marks = " ".join(f"{k}={v}" for k, v in item[8].items())
    return f"{frame} {line}: {kind} {item[3]} {place} {brief_value(item[5])} {marks}"


def compare(truth_streams, events, states=True):
    """Raises Difference; gives counts of what was compared."""
    film = film_streams(events)
    identities, state = Identities(), State()
    counts = collections.Counter()
    for name in sorted(truth_streams.keys() | film.keys()):
        walk = Walk(
            *(name, truth_streams.get(name, []), film.get(name, [])),
            *(identities, state, states),
        )
        walk.run()
        counts += walk.compared
    counts["objects"] = len(identities.serials)
    counts["renamed"] = identities.renamed()
    counts["unclear"] = identities.secrets.unclear
    return counts
