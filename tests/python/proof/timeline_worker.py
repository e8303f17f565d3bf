"""Random walks through films, against the truth about the programs they are of.

    timeline_worker.py FOLDER MOMENTS SEED...     one JSON object a line for each seed

A program is run bare, under the truth (values_truth.py: a copy of every frame's plain
locals at every line), and under the recorder. Padding before it, in a file of its own,
moves the border of a chunk to a random place within the program. Then the film is walked
at random: events, lines, next, out, their mirrors, jumps. At every line met the variables
must be those the truth copied; every moment met again, also by a fresh reader, must be
the same; back must undo step.

{"seed", "difference": null or text, "moments", "compared", "at_border", "seconds"}
"""

import gc
import json
import os
import random
import sys
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import values_compare  # noqa: E402
import values_programs  # noqa: E402
import values_truth  # noqa: E402
import values_worker  # noqa: E402

CHUNK = 16384
PADDING = """
def pad(count):
    for _ in range(count):
        pass
"""
MOVES = [
    *("step", "back") * 3,
    *("line", "back-line") * 2,
    *("next", "back-next", "out", "back-out", "call", "return", "raise", "back-raise"),
]


class Walker:
    def __init__(self, film, chance):
        import filmstrip

        self.film = film
        self.chance = chance
        self.opened = filmstrip.open(film)
        self.seen = {}
        self.ends = {}
        for thread in self.opened.threads:
            if thread.end_event > thread.first_event:
                self.ends[thread.id] = (thread.first_event, thread.end_event)

    def ask(self, reader=None, **request):
        request["text_bytes"] = 1 << 20
        reader = reader or self.opened._reader
        answer = json.loads(reader.query(json.dumps(request)))
        if "error" in answer:
            raise values_compare.Difference(f"{request}: {answer['error']}")
        return answer

    def moment(self, m, reader=None):
        answer = self.ask(reader, q="moment", m=m, **{"with": ["locals"]})
        return self.bare(answer)

    @staticmethod
    def bare(answer):
        for key in ("took_us", "stopped", "events"):
            answer.pop(key, None)
        return answer

    def move(self, m, how, **more):
        answer = self.ask(q="move", m=m, how=how, **more, **{"with": ["locals"]})
        while "next" in answer:
            answer = self.ask(
                q="move",
                m=m,
                how=how,
                next=answer["next"],
                **more,
                **{"with": ["locals"]},
            )
        return answer["stopped"]["reason"], self.bare(answer)

    def full_text(self, m, value, depth=5):
        """As the truth writes it: instances with their attributes at that moment."""
        if "object" not in value or depth == 0:
            return value["text"]
        answer = self.ask(q="value", m=m, object=value["object"], limit=1000)
        kind = values_compare.short(answer.get("type", value["type"]))

        def text(item):
            return self.full_text(m, item, depth - 1)

        if answer["form"] == "sequence":
            items = [text(item["value"]) for item in answer["items"]]
            return values_compare.in_brackets(kind, items)
        if answer["form"] == "mapping":
            pairs = [f"{text(i['key'])}: {text(i['value'])}" for i in answer["items"]]
            return "{" + ", ".join(pairs) + "}"
        if answer["form"] == "attributes":
            items = sorted(answer["items"], key=lambda item: item["name"])
            pairs = [f"{item['name']}={text(item['value'])}" for item in items]
            return f"<{kind} {', '.join(pairs)}>"
        return value["text"]

    def jump(self):
        thread = self.chance.choice(list(self.ends))
        first, end = self.ends[thread]
        if self.chance.random() < 0.9:  # mostly behind the padding
            first = max(first, min(end - 1, CHUNK - 2700))
        return f"{thread}:{self.chance.randrange(first, end)}"


def expectations(stream):
    """Of each line of a thread: frame, line, its locals."""
    known, lines = {}, []
    for item in stream:
        if item[0] in ("line", "return", "yield"):
            frame = known.setdefault(item[1], {})
            frame.update(item[-1])
        if item[0] == "line":
            lines.append((item[1], item[2], dict(frame)))
    return lines


def line_events(walker, path, thread):
    return [
        event.number
        for event in walker.opened.events(thread)
        if event.kind == "line" and event.file == path
    ]


def compare_line(walker, moment, expected):
    _, line, variables = expected
    if moment["line"] != line:
        raise values_compare.Difference(
            f"{moment['m']}: line {moment['line']}, not {line}"
        )
    held = {variable["name"]: variable["value"] for variable in moment["locals"]}
    compared = 0
    for name, text in variables.items():
        if values_compare.hidden(name):
            continue
        value = held.get(name)
        where = f"{moment['m']} line {line}: {name}"
        if text == values_truth.UNBOUND:
            if value is not None:
                raise values_compare.Difference(f"{where} is unbound, not {value}")
            continue
        if value is None:
            raise values_compare.Difference(f"{where} is {text}, not unbound")
        if text is None or values_compare.same_text(text, value["text"]):
            compared += 1
            continue
        full = walker.full_text(moment["m"], value)
        if not values_compare.same_text(text, full):
            raise values_compare.Difference(f"{where} is {text}, not {full} {value}")
        compared += 1
    return compared


def walk(walker, expected, moments):
    compared = walked = 0
    at = walker.moment(walker.jump())
    for turn in range(moments):
        if turn % 7 == 0:
            at = walker.moment(walker.jump())
        else:
            how = walker.chance.choice(MOVES)
            if how == "call" and not at["stack"]:
                how = "step"
            if how == "return" and not at["stack"]:
                how = "back"
            across = how in ("step", "back", "line") and walker.chance.random() < 0.3
            reason, moved = walker.move(at["m"], how, across=across)
            if how in ("step", "back") and reason == "arrived":
                other = "back" if how == "step" else "step"
                _, again = walker.move(moved["m"], other, across=across)
                if again != at:
                    raise values_compare.Difference(f"{how} and {other} of {at['m']}")
            at = moved
        walked += 1
        known = walker.seen.setdefault(at["m"], at)
        if known != at:
            raise values_compare.Difference(
                f"{at['m']} is not what it was: {known} {at}"
            )
        wanted = expected.get(at["m"])
        if wanted is not None:
            compared += compare_line(walker, at, wanted)
    return walked, compared


def fresh(walker, count):
    """The same moments by a reader that knows nothing yet."""
    from filmstrip import _reader

    reader = _reader.Reader(walker.film)
    for m in walker.chance.sample(sorted(walker.seen), min(count, len(walker.seen))):
        if walker.moment(m, reader) != walker.seen[m]:
            raise values_compare.Difference(f"{m} is another for a fresh reader")
    reader.close()


def prepare(seed, folder, chance):
    path = os.path.join(folder, f"walk_{seed}.py")
    padding = os.path.join(folder, f"padding_{os.getpid()}.py")
    turns = CHUNK // 3 - chance.randrange(0, 900)
    with open(padding, "w", encoding="utf-8") as file:
        file.write(PADDING)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"import padding_{os.getpid()}\n")
        file.write(f"padding_{os.getpid()}.pad({turns})\n")
        file.write(values_programs.generate(seed))
    return path, padding


def record(path, padding, film):
    """The truth's streams; the film lies at its place."""
    import filmstrip

    with open(path, encoding="utf-8") as file:
        source = file.read()
    code_of = lambda: compile(source, path, "exec", dont_inherit=True)  # noqa: E731
    keep = "__del__" not in source and "weakref." not in source
    name = os.path.splitext(os.path.basename(padding))[0]
    gc.collect()
    gc.disable()
    try:
        bare = values_worker.execute(code_of(), path)
        truth = values_truth.make_truth(path, keep, True)
        truth.shared = True
        truth.start()
        try:
            values_worker.execute(code_of(), path)
        finally:
            truth.stop()
        gc.collect()
        sys.modules.pop(name, None)
        filmstrip.start(film, targets=[path, padding], level="values", force=True)
        try:
            recorded = values_worker.execute(code_of(), path)
        finally:
            filmstrip.stop()
    finally:
        gc.enable()
    if recorded != bare:
        raise values_compare.Difference("the recorder changed the program")
    return truth.streams


def perform(seed, folder, moments):
    chance = random.Random(seed)
    path, padding = prepare(seed, folder, chance)
    film = os.path.join(folder, f"walk_{seed}.film")
    streams = record(path, padding, film)
    walker = Walker(film, chance)
    names = {thread.id: thread.name for thread in walker.opened.threads}
    names[1] = "main"
    expected = {}
    for thread in walker.ends:
        model = expectations(streams.get(names[thread], []))
        numbers = line_events(walker, path, thread)
        if len(model) != len(numbers):
            raise values_compare.Difference(
                f"thread {thread}: {len(numbers)} lines, not {len(model)}"
            )
        for number, line in zip(numbers, model):
            expected[f"{thread}:{number}"] = line
    walked, compared = walk(walker, expected, moments)
    # Lines near the border of the chunk, each of them.
    borders = [m for m in expected if abs(int(m.split(":")[1]) - CHUNK) < 60]
    for m in borders:
        compared += compare_line(walker, walker.moment(m), expected[m])
    fresh(walker, 50)
    walker.opened.close()
    os.unlink(film)
    os.unlink(path)
    return walked + len(borders), len(borders), compared


def main():
    import warnings

    warnings.simplefilter("ignore")
    values_worker.prepare_imports()
    folder, moments, *seeds = sys.argv[1:]
    sys.path.insert(0, folder)
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for seed in seeds:
        began = time.monotonic()
        walked = borders = compared = 0
        difference = None
        try:
            walked, borders, compared = perform(int(seed), folder, int(moments))
        except values_compare.Difference as error:
            difference = str(error)
        except Exception:
            difference = traceback.format_exc()
        told = {"seed": int(seed), "difference": difference, "moments": walked}
        told.update(compared=compared, at_border=borders)
        told["seconds"] = round(time.monotonic() - began, 3)
        channel.write(json.dumps(told) + "\n")
        channel.flush()


if __name__ == "__main__":
    main()
