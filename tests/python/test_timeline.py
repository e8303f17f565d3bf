"""Time travel from Python: moments, movement, questions, expressions, breakpoints."""

from __future__ import annotations

import pathlib
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

import asking
from asking import python, record_values
from conftest import RUN_CALLS

PROGRAM = """\
import threading


class Account:
    def __init__(self, owner, money):
        self.owner = owner
        self.money = money

    def pay(self, amount):
        if amount > self.money:
            raise ValueError("too much")
        self.money = self.money - amount
        return self.money


def numbers(count):
    total = 0
    for number in range(count):
        total += number
        yield total


def work(account, steps):
    seen = []
    table = {}
    for step in range(steps):
        left = account.pay(step)
        seen.append(left)
        table[step] = left
    for value in numbers(3):
        seen.append(value)
    del table[0]
    return sum(seen)


def side(box):
    box.append("side")


def main():
    account = Account("Ada", 10)
    result = work(account, 4)
    box = []
    thread = threading.Thread(target=side, args=(box,))
    thread.start()
    thread.join()
    after = len(box)
    try:
        account.pay(100)
    except ValueError as error:
        problem = str(error)
    return result + after


LIMIT = 3
RESULT = main()
"""


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return record_values(tmp_path_factory.mktemp("timeline"), "bank.py", PROGRAM)


def line_of(text: str) -> int:
    return next(n for n, line in enumerate(PROGRAM.splitlines(), 1) if text in line)


@pytest.fixture
def ask(recording: pathlib.Path) -> Callable[[str], Any]:
    """Runs code with `film` open in a child; what it leaves in `out`."""

    def run(code: str) -> Any:
        return asking.ask(
            recording.parent,
            "import filmstrip, json\n"
            f"film = filmstrip.open({recording.name!r})\n"
            + textwrap.dedent(code)
            + "\nprint(json.dumps(out))\n",
        )

    return run


def test_a_moment_tells_stack_and_variables(ask: Callable[[str], Any]) -> None:
    line = line_of("self.money = self.money - amount")
    out = ask(f"""
        moment = film.at(hit=("bank.py", {line}, 3))
        frames = [(frame.function, frame.line) for frame in moment.stack]
        values = {{name: value.text for name, value in moment.stack[-2].locals.items()}}
        out = [frames, values, moment.locals["amount"].text, repr(moment)]
    """)
    frames, values, amount, told = out
    assert [name for name, _ in frames] == [
        "__main__.<module>",
        "__main__.main",
        "__main__.work",
        "__main__.Account.pay",
    ]
    assert frames[-1][1] == line
    assert frames[-2][1] == line_of("left = account.pay(step)")
    assert values["seen"] == "[10, 9]"
    assert values["table"] == "{0: 10, 1: 9}"
    assert values["left"] == "9" and values["step"] == "2"
    assert amount == "2"
    assert f"bank.py:{line}" in told


def test_objects_are_as_they_were(ask: Callable[[str], Any]) -> None:
    line = line_of("self.money = self.money - amount")
    out = ask(f"""
        out = []
        for n in (1, 2, 3, 4):
            moment = film.at(hit=("bank.py", {line}, n))
            self = moment.locals["self"]
            out.append({{name: value.text for name, value in self.items()}})
    """)
    assert [one["money"] for one in out] == ["10", "10", "9", "7"]
    assert {one["owner"] for one in out} == {"'Ada'"}


def test_step_and_back_are_inverses(ask: Callable[[str], Any]) -> None:
    out = ask("""
        moment = film.at()
        met = [moment]
        while (after := moment.step()) is not None:
            assert after.back() == moment
            met.append(after)
            moment = after
        out = [len(met), met == [film.at(event=n) for n in range(len(met))],
               moment == film.end, met[0].back() is None]
    """)
    assert out[0] > 100 and out[1:] == [True, True, True]


def test_lines_next_and_out(ask: Callable[[str], Any]) -> None:
    begin = line_of("account = Account")
    out = ask(f"""
        moment = film.at(hit=("bank.py", {begin}, 1))
        into = moment.line()
        over = moment.next()
        out = [into.lineno, into.function, into.out().lineno, over.lineno,
               over.back_next() == moment, into.back_out() == moment,
               into.call().kind, into.returned().kind, into.back_line() == moment]
    """)
    inside = line_of("self.owner = owner")
    assert out[:2] == [inside, "__main__.Account.__init__"]
    assert out[2] == out[3] == begin + 1
    assert out[4:] == [True, True, "call", "return", True]


def test_next_over_a_yield_stays_in_the_generator(ask: Callable[[str], Any]) -> None:
    line = line_of("yield total")
    out = ask(f"""
        moment = film.at(hit=("bank.py", {line}, 1))
        after = moment.next()
        last = film.at(hit=("bank.py", {line}, 3)).next().next()
        out = [after.lineno, after.function, after.locals["total"].text,
               last.function, moment.out().function]
    """)
    assert out[:3] == [line_of("for number in range"), "__main__.numbers", "0"]
    assert out[3:] == ["__main__.work", "__main__.work"]


def test_writes_and_history(ask: Callable[[str], Any]) -> None:
    line = line_of("return sum(seen)")
    out = ask(f"""
        moment = film.at(hit=("bank.py", {line}, 1))
        out = []
        for name in ("left", "account.money", "table[2]", "steps", "__main__:LIMIT",
                     "seen[1]", "seen[-1]"):
            write = film.last_write(name, before=moment)
            out.append(None if write is None else [write.line, write.value.text])
        later = film.next_write("account.money", after=film.at(event=5).move(
            "hit", file="bank.py", line={line_of("left = account.pay")}, n=2))
        out.append([write.value.text for write in film.history("left")])
        out.append([write.value.text for write in film.history("work:step")])
        out.append([write.value.text for write in film.history("self.money",
                    film.at(hit=("bank.py", {line_of("return self.money")}, 1)))])
        out.append(film.last_write("nothing", before=moment) if False else None)
    """)
    paid = line_of("self.money = self.money - amount")
    assert out[0] == [line_of("left = account.pay"), "4"]
    assert out[1] == [paid, "4"]
    assert out[2] == [line_of("table[step] = left"), "7"]
    assert out[3] == [line_of("def work"), "4"]
    assert out[4] == [line_of("LIMIT = 3"), "3"]
    assert out[5] == [line_of("seen.append(left)"), "9"]
    assert out[6] == [line_of("seen.append(value)"), "3"]
    out = out[2:]
    assert out[5] == ["10", "9", "7", "4"]
    assert out[6] == ["0", "1", "2", "3"]
    assert out[7] == ["10", "10", "9", "7", "4"]


def test_origin(ask: Callable[[str], Any]) -> None:
    line = line_of("seen.append(left)")
    out = ask(f"""
        moment = film.at(hit=("bank.py", {line}, 3))
        out = film.origin("left", moment, depth=3)
    """)
    assert out["line"] == line_of("left = account.pay") and out["value"]["text"] == "7"
    reads = {read["name"]: read for read in out["reads"]}
    assert reads["step"]["value"]["text"] == "2"
    returned = reads["pay()"]
    assert returned["kind"] == "return" and returned["value"]["text"] == "7"
    deeper = {read["name"]: read for read in returned["origin"]["reads"]}
    assert deeper["self.money"]["value"]["text"] == "7"


def test_hits_conditions_and_expressions(ask: Callable[[str], Any]) -> None:
    line = line_of("seen.append(left)")
    out = ask(f"""
        rows = film.hits("bank.py", {line}, ["step", "left * 2", "seen[-1]", "zzz"])
        first = film.at(hit=("bank.py", {line}, 1))
        out = [[values for _, values in rows],
               [values for _, values in
                film.hits("bank.py", {line}, ["step"], where="left < 9")],
               film.first("left < 9", first).locals["step"].text,
               first.evaluate("account.owner + '!'").text,
               first.evaluate("len(seen) == 0 and type(account) == 'Account'").text]
        try:
            first.evaluate("account.secret_thing")
        except filmstrip.NotRecorded as error:
            out.append(str(error))
        try:
            first.evaluate("print(1)")
        except ValueError as error:
            out.append(str(error))
    """)
    assert out[0] == [
        ["0", "20", None, None],
        ["1", "18", "10", None],
        ["2", "14", "9", None],
        ["3", "8", "7", None],
    ]
    assert out[1] == [["2"], ["3"]]
    assert out[2:5] == ["2", "'Ada!'", "True"]
    assert "was not recorded" in out[5] and "no code is run" in out[6]


def test_hits_say_why_there_are_none(ask: Callable[[str], Any]) -> None:
    line = line_of("seen.append(left)")
    out = ask(f"""
        def told(file, line, where=None):
            hits = film.hits(file, line, where=where)
            assert hits.verdict is None
            return [len(list(hits)), hits.verdict, hits.ran, hits.held, hits.unknown]

        out = [told("bank.py", {line}), told("bank.py", {line}, "step > 2"),
               told("bank.py", {line}, "step > 9"), told("bank.py", {line}, "zzz > 9"),
               told("bank.py", 999), told("nosuch.py", 1)]
        hits = film.hits("bank.py", {line}, where="zzz > 9")
        out.append([list(hits), hits.message])
        try:
            film.at(hit=("nosuch.py", 1, 1))
        except ValueError as error:
            out.append(str(error))
        out.append(film.query(q="breakpoints", breakpoints=[
            {{"kind": "line", "file": "bank.py", "line": {line}, "condition": text}}
            for text in ("step > 2", "step > 9", "zzz")])["breakpoints"])
    """)
    assert out[:6] == [
        [4, "stops", 4, 4, 0],
        [1, "stops", 4, 1, 0],
        [0, "never_true", 4, 0, 0],
        [0, "never_known", 4, 0, 4],
        [0, "no_line", 0, 0, 0],
        [0, "no_file", 0, 0, 0],
    ]
    assert out[6][1].endswith("'zzz' has no recorded value here")
    assert out[7] == "no file 'nosuch.py' was recorded"
    assert [(one["verified"], one["verdict"]) for one in out[8]] == [
        (True, "stops"),
        (True, "never_true"),
        (True, "never_known"),
    ]


def test_raises_are_gone_to_where_they_were_raised(ask: Callable[[str], Any]) -> None:
    out = ask("""
        end = film.end
        raised = end.last_raise()
        passed = end.last_raise(passing=True)
        fate = film.query(q="exception", m=passed.m)
        out = [raised.lineno, passed.lineno, film.at().next_raise().lineno,
               raised.next_raise(), raised.next_raise(passing=True).lineno,
               fate["fate"], fate["raised"] == raised.m,
               film.at(time_ns=10**15).told["stopped"]["reason"]]
    """)
    raised, passed = line_of("raise ValueError"), line_of("account.pay(100)")
    assert out == [raised, passed, raised, None, passed, "caught", True, "end"]


def test_breakpoints_both_ways(ask: Callable[[str], Any]) -> None:
    line = line_of("seen.append(left)")
    out = ask(f"""
        start, end = film.at(), film.end
        at = {{"kind": "line", "file": "bank.py", "line": {line}}}
        def step(moment): return None if moment is None else moment.locals["step"].text
        out = [step(start.run(at)), step(end.run_back(at)),
               step(start.run({{**at, "condition": "left == 7"}})),
               step(end.run_back({{**at, "condition": "left > 8"}})),
               step(start.run({{**at, "hit": "2"}})), step(end.run_back({{**at, "hit": "2"}})),
               step(end.run_back({{**at, "hit": "%2"}})),
               start.run({{"kind": "function", "function": "numbers"}}).function,
               start.run({{"kind": "raised"}}).lineno, end.run_back({{"kind": "raised"}}).lineno,
               start.run({{"kind": "uncaught"}}),
               end.run_back({{"kind": "variable", "function": "work", "name": "left"}})
                  .locals["left"].text,
               end.run_back({{"kind": "attribute", "name": "money"}}).locals["amount"].text]
        told = film.query(q="move", m=start.m, how="continue",
                          breakpoints=[{{**at, "log": "step {{step}} left {{left}}"}}])
        out.append([entry["text"] for entry in told["log"]])
        out.append(told["stopped"]["reason"])
    """)
    raised = line_of("raise ValueError")
    assert out[:7] == ["0", "3", "2", "1", "1", "1", "3"]
    assert out[7:13] == ["__main__.numbers", raised, raised, None, "4", "3"]
    assert out[13] == [f"step {n} left {left}" for n, left in enumerate((10, 9, 7, 4))]
    assert out[14] == "end"


def test_threads_and_time(ask: Callable[[str], Any]) -> None:
    line = line_of('box.append("side")')
    out = ask(f"""
        other = next(info.id for info in film.threads if info.id != 1)
        moment = film.at(thread=other).run(
            {{"kind": "line", "file": "bank.py", "line": {line}}})
        main = moment.threads[1]
        before = main.stack[-1].locals["box"].text
        after = film.at(hit=("bank.py", {line_of("after = len(box)")}, 1))
        out = [main.lineno, before, moment.locals["box"].text,
               after.stack[-1].locals["box"].text,
               film.at(time_ns=moment.time_ns, thread=other).time_ns <= moment.time_ns,
               film.at(fraction=0).m, film.at(fraction=1) == film.end]
    """)
    assert out[0] in (line_of("thread.start()"), line_of("thread.join()"))
    assert out[1:4] == ["[]", "[]", "['side']"]
    assert out[4:] == [True, "1:0", True]


def test_what_cannot_be_asked_is_said(ask: Callable[[str], Any]) -> None:
    out = ask("""
        def why(**request):
            return json.loads(film._reader.query(json.dumps(request)))["error"]
        out = [why(q="nothing"), why(q="moment", m="x"), why(q="moment", m="9:1"),
               why(q="moment", m="1:99999999"), why(q="move", m="1:5", how="up"),
               why(q="evaluate", m="1:20", expression="1 +"), why(nothing=1),
               why(q="locals", m="1:20", frame=77),
               why(q="move", m="1:5", how="continue", breakpoints=[{"kind": "line"}])]
        for text in ("", "[", "[]", "{}", '{"q": 5}', '{"q"', "nul", '{"q": "\\\\ud800"}',
                     "[" * 5000, '{"q": "moment", "m": 5}', "\\x00"):
            answer = json.loads(film._reader.query(text))
            assert "error" in answer, text
    """)
    assert all(one["code"] in ("misuse", "end") and one["message"] for one in out)


def test_a_recording_of_calls_only(tmp_path: pathlib.Path) -> None:
    (tmp_path / "bank.py").write_text(PROGRAM)
    python(tmp_path, *RUN_CALLS, "bank.py")
    script = """
import filmstrip
film = filmstrip.open("bank.film")
moment = film.at()
kinds = []
while (moment := moment.line()) is not None:
    kinds.append(moment.kind)
print(len(kinds) > 20, "line" in kinds, dict(film.end.locals))
try:
    film.at(event=10).evaluate("x")
except (filmstrip.NotRecorded, ValueError) as error:
    print("said")
"""
    said = python(tmp_path, "-c", script)
    assert said.split("\n")[:2] == ["True False {}", "said"]


def test_log_points_across_threads_are_told_in_order(
    ask: Callable[[str], Any],
) -> None:
    """None behind the stop, and without a stop to the recording's own end."""
    inner, outer = line_of('box.append("side")'), line_of("after = len(box)")
    out = ask(f"""
        side = {{"kind": "line", "file": "bank.py", "line": {inner}, "log": "side"}}
        after = {{"kind": "line", "file": "bank.py", "line": {outer}, "log": "after"}}
        def go(m, how, points):
            told = film.query(q="move", m=m, how=how, across=True, breakpoints=points)
            return [[entry["text"] for entry in told["log"]], told["stopped"]["reason"],
                    told["m"]]
        start, end = film.query(q="open")["start"], film.query(q="open")["end"]
        first = go(start, "continue", [after, side])
        back = go(first[2], "reverse-continue", [after, side])
        stop = dict(side); del stop["log"]
        short = go(start, "continue", [after, stop])
        kind = film.query(q="moment", m=first[2])["kind"]
        out = [first, back, short, kind]
    """)
    first, back, short, kind = out
    assert first[:2] == [["side", "after"], "end"]
    # A thread that was joined may still be on its way out.
    assert first[2].startswith("1:") or kind == "thread_end"
    assert back == [["after", "side"], "start", "1:0"]
    assert short[:2] == [[], "breakpoint"]
    assert short[2].startswith("2:")


def test_a_continue_can_be_bounded(ask: Callable[[str], Any]) -> None:
    line = line_of("self.money = self.money - amount")
    out = ask(f"""
        point = {{"kind": "line", "file": "bank.py", "line": {line}}}
        hits = [row["m"] for row in film.query(q="hits", file="bank.py", line={line})["rows"]]
        events = [int(hit.split(":")[1]) for hit in hits]
        out = []
        for m, how, until in (
            ("1:0", "continue", events[0] + 1),
            ("1:0", "continue", events[0]),
            (hits[3], "reverse-continue", events[2] - 1),
            (hits[3], "reverse-continue", events[2]),
        ):
            told = film.query(q="move", m=m, how=how, breakpoints=[point], until=until)
            out.append([told["stopped"]["reason"], told["m"] in hits])
    """)
    assert out == [
        ["breakpoint", True],
        ["end", False],
        ["breakpoint", True],
        ["start", False],
    ]


def test_globals_of_a_frame(ask: Callable[[str], Any]) -> None:
    """Those of the module of its function, also where the module is not on top."""
    line = line_of("self.money = self.money - amount")
    out = ask(f"""
        m = film.query(q="move", how="hit", file="bank.py", line={line}, n=2)["m"]
        told = film.query(q="globals", m=m)["globals"]
        out = {{one["name"]: [one["scope"], one["value"]["text"]] for one in told}}
    """)
    assert out["LIMIT"] == ["global", "3"]
    assert out["work"] == ["global", "<function work>"]
    assert "RESULT" not in out
    assert "amount" not in out
