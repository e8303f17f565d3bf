"""ObjWatch side by side: its own logs of our programs (golden/objwatch, written by
ObjWatch 0.5.1 and 0.3.6 themselves), and ours of the same programs.

What differs, and stays so, is named in KNOWN: each is a line, not a kind of line.
"""

from __future__ import annotations

import json
import pathlib
import re
import shutil
import sys

import pytest

from conftest import run_program
from objwatch_programs import as_sets

GOLDEN = pathlib.Path(__file__).parent / "golden" / "objwatch"
PROGRAMS = sorted(path.stem for path in GOLDEN.glob("*.py"))
VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"

# The programs say `import objwatch`: this is the package they find.
SHIM = """
    import filmstrip.compat.objwatch as ours
    from . import wrappers

    FILMS = {films!r}
    count = 0

    def keep(given):
        global count
        count += 1
        return dict(given, film=f"watch{{count}}.film") if FILMS else given

    class ObjWatch(ours.ObjWatch):
        def __init__(self, *args, **given):
            super().__init__(*args, **keep(given), strict={strict!r})

    def watch(*args, **given):
        watcher = ObjWatch(*args, **given)
        watcher.start()
        return watcher
"""

# Lines of ObjWatch that a recording has no counterpart of, as patterns.
KNOWN = {
    # A loop within a line: the recording has each value, but no line began.
    "recursion": [r"upd _\.n ", r"upd _\.__(module|qualname|firstlineno)__ "],
    # ObjWatch lets the first line of a process slip that is not to be watched.
    "workers": [r"^\[#2\] "],
}
# And texts that differ.
REPLACED = {
    "losses": [("(type)generate\n", "(type)generator\n")],
    # Functions have no address in a recording.
    "first_values": [(" at 0x0>", ">")],
}


def normal(text: str) -> str:
    """Without what differs from run to run."""
    text = re.sub(r"(?m)^(> [A-Za-z ]*:).*", r"\1", text)
    text = re.sub(r" at 0x[0-9a-f]*", " at 0x0", text)
    return re.sub(r"from '.*/shop/", "from 'shop/", text)


def without_known(text: str, program: str) -> list[str]:
    for old, new in REPLACED.get(program, ()):
        text = text.replace(old, new)
    patterns = KNOWN.get(program, ())
    return [
        line
        for line in text.splitlines()
        if not any(re.search(pattern, line) for pattern in patterns)
    ]


@pytest.fixture
def golden(runner):
    """Runs a program of golden/objwatch with our objwatch."""

    def run(program, strict=True, films=False, **how):
        folder = runner.folder / "golden"
        shutil.copytree(GOLDEN, folder, ignore=shutil.ignore_patterns("*.log", "0.3"))
        runner.write(
            SHIM.format(films=films, strict=strict), "golden/objwatch/__init__.py"
        )
        runner.write(
            "from filmstrip.compat.objwatch.wrappers import *",
            "golden/objwatch/wrappers.py",
        )
        runner.folder = folder
        result = runner.plain(None, name=f"{program}.py", **how)
        assert result.rc == 0, result.stderr
        return result

    return run


def golden_log(program: str) -> str:
    special = GOLDEN / f"{program}.{VERSION}.log"
    return (special if special.exists() else GOLDEN / f"{program}.log").read_text()


@pytest.mark.parametrize("program", PROGRAMS)
def test_strict_lines_are_objwatchs(golden, program):
    ours = without_known(normal(golden(program).stderr), program)
    theirs = without_known(golden_log(program), program)
    assert as_sets(ours) == as_sets(theirs)
    assert len(theirs) > 30


def test_json_tree_is_objwatchs(golden, runner):
    golden("tree")
    ours = json.loads((runner.folder / "tree.json").read_text())
    theirs = json.loads((GOLDEN / "tree.json").read_text())
    assert ours["ObjWatch"]["runtime_info"].pop("version") == "0.5.1"
    ours["ObjWatch"]["runtime_info"] = {}
    assert ours == theirs


def test_lines_of_a_kept_film_are_the_same(golden, runner):
    """What the follower wrote live, `log` writes later."""
    live = golden("usage", films=True).stderr
    films = sorted(runner.folder.glob("watch*.film"))
    assert len(films) == 2
    later = "".join(run_program("log", "--objwatch=strict", f).stdout for f in films)
    assert later == live


@pytest.mark.parametrize("program", ["usage", "locals", "attributes", "tree", "losses"])
def test_older_form(golden, runner, program):
    golden(program, films=True)
    films = sorted(runner.folder.glob("watch*.film"))
    ours = "".join(run_program("log", "--objwatch=0.3", f).stdout for f in films)
    theirs = (GOLDEN / "0.3" / f"{program}.log").read_text()
    theirs = re.sub(r"INFO: (Starting XML|Starting to save|XML saved).*\n", "", theirs)
    if VERSION == "3.13":  # closing a generator that is dropped is not traced there
        closed = "DEBUG:    60 | run generate\nDEBUG:    60 | end generate\n"
        theirs = theirs.replace(closed, "")
    assert as_sets(without_known(ours, program)) == as_sets(
        without_known(theirs, program)
    )


def test_older_tree(golden, runner):
    golden("tree", films=True)
    [film] = runner.folder.glob("watch*.film")
    result = run_program("export", "--to", "xml", "-o", "-", film)
    assert result.rc == 0, result.stderr
    assert result.stdout == (GOLDEN / "0.3" / "tree.xml").read_text()


LOSSES = [
    # an attribute in __slots__
    "   12     upd Slotted.x None -> 1",
    "   13     upd Slotted.x 1 -> 2",
    # the last statement of a function
    "   20     upd Last.listed None -> (list)[1, 2]",
    "   80     upd _.unseen None -> 2",
    # a list bound anew
    "   25     upd _.items (list)[1, 2] -> (list)[3, 4]",
    "   26     upd _.items (list)[3, 4] -> (list)[5, 6, 7]",
    # an item
    "   32     upd _.items[0] 1 -> 7",
    "   34     upd _.table[a] 1 -> 2",
    # a delete
    "   40     del _.gone 1",
    # an exception
    "   47       raise ValueError no",
    # another thread
    "   84   upd _.lonely None -> 1",
    "   85   upd _.lonely 1 -> 2",
    # a callable
    "   71     upd _.inner None -> <function calls.<locals>.inner>",
]


def test_what_objwatch_loses_is_recorded(golden):
    lines = golden("losses", strict=False).stderr.splitlines()
    assert [line for line in LOSSES if line not in lines] == []
    strict = golden_log("losses").splitlines()
    assert [line for line in LOSSES if line in strict] == []


def test_full_lines_hold_all_of_the_strict_ones(golden):
    """Apart from lines told late by ObjWatch: those stand where the write was."""
    full = golden("locals", strict=False).stderr.splitlines()
    assert set(golden_log("locals").splitlines()) - set(full) <= {
        line for line in golden_log("locals").splitlines() if line.startswith("> ")
    }
