"""What is told of an exception where it is raised is what str() says of it, and is made
without running code of the program (exception_text.c)."""

from __future__ import annotations

import json

import pytest

from conftest import dump_events, run_program

PROGRAM = """
import json, os, sys

class MyErr(Exception):
    pass

class Loud(Exception):
    def __str__(self):
        ran.append("str")
        return "loud"

    __repr__ = __str__

class Own:
    def __repr__(self):
        ran.append("repr")
        return "own"

    __str__ = __repr__

ran = []

def missing_key(): return {}[41]
def missing_text(): return {}["it's"]
def missing_tuple(): return {}[1, "a"]
def missing_none(): return {}[None]
def missing_file(): open("/no/such/file")
def renamed(): os.rename("/no/such/a", "/no/such/b")
def exits(): sys.exit(3)
def decoded(): b"ab\\xffcd".decode()
def decoded_more(): b"ab\\xe2\\x82".decode()
def several(): raise MyErr(404, "nope")
def nested(): raise MyErr(404, ("a", [1.5, None, b"x'y"]))
def one_number(): raise MyErr(-7)
def one_float(): raise MyErr(0.1)
def one_bytes(): raise ValueError(b"\\x00'\\"")
def one_none(): raise ValueError(None)
def one_tuple(): raise ValueError((1,))
def nothing(): raise MyErr()
def unicode(): raise KeyError("é\\u200b\\n\\t\\\\ 'x' \\"y\\"")
def plain(): raise ValueError("just text: é")
def divided(): 1 / 0
def attribute(): None.x
def index(): [][5]
def imported(): import no_such_module
def compiled(): compile("x = = 1", "f.py", "exec")
def group(): raise ExceptionGroup("many", [ValueError(1), TypeError("x")])
def one_in_group(): raise ExceptionGroup("one", [ValueError(1)])
def stopped(): next(iter(()))
def asserted(): assert 1 == 2, ("why", 3)
def os_number(): raise OSError(13, "no", "a'b")
def os_text(): raise OSError("only text")
def loud(): raise Loud(1, "x")
def own(): raise MyErr(Own(), 2)
def own_alone(): raise MyErr(Own())

CASES = [
    missing_key, missing_text, missing_tuple, missing_none, missing_file, renamed, exits,
    decoded, decoded_more, several, nested, one_number, one_float, one_bytes, one_none,
    one_tuple, nothing, unicode, plain, divided, attribute, index, imported, compiled,
    group, one_in_group, stopped, asserted, os_number, os_text, loud, own, own_alone,
]
told = {}
for case in CASES:
    try:
        case()
    except BaseException as e:
        caught = e
    if case.__name__ not in ("loud", "own", "own_alone", "compiled"):
        told[case.__name__] = [type(caught).__name__, str(caught)]
json.dump({"told": told, "ran": ran}, open("told.json", "w"))
"""

# Where it is not what str() would say: that runs code of the program, or works out more.
OTHERS = {
    "loud": ["Loud", "(1, 'x')"],
    "own": ["MyErr", "(<Own>, 2)"],
    "own_alone": ["MyErr", None],
    "compiled": ["SyntaxError", "invalid syntax"],
}


@pytest.mark.parametrize("level", ["calls", "values"])
def test_texts_of_exceptions(runner, level):
    result = runner.record(PROGRAM, options=["--level", level])
    assert result.rc == 0, result.stderr
    answer = json.loads((runner.folder / "told.json").read_text())
    assert answer["ran"] == []
    wanted = {name: [of[0], of[1] or None] for name, of in answer["told"].items()}
    found: dict[str, list[str | None]] = {}
    functions = {}
    for event in dump_events(result.film):
        if event["kind"] == "call":
            functions[event["frame"]] = event["function"].removeprefix("__main__.")
        name = functions.get(event.get("frame"))
        if (
            event["kind"] == "raise"
            and name in {*wanted, *OTHERS}
            and name not in found
        ):
            exception = event["exception"]
            found[name] = [exception["type"], exception.get("message")]
    assert found == {**wanted, **OTHERS}
    log = run_program("log", result.film).stdout
    assert "raise KeyError: 41\n" in log
    assert "raise MyErr: (404, 'nope')\n" in log
    assert "No such file or directory: '/no/such/file'\n" in log


def test_a_key_that_is_a_secret(runner):
    text = (
        "def f():\n    password = open('p').read()\n    return {}[password]\n"
        "try: f()\nexcept KeyError: pass\n"
    )
    (runner.folder / "p").write_text("swordfish-42")
    result = runner.record(text, options=["--level", "values"])
    assert result.rc == 0, result.stderr
    told = (
        run_program("log", result.film).stdout + run_program("dump", result.film).stdout
    )
    assert "raise KeyError: [redacted]" in told and "swordfish" not in told
