"""Real programs at level values, all of their code recorded: they end, print and write
as without us, and their films are whole. In `make soak` only: they come from PyPI
(tools/requirements-programs.txt) into build/programs."""

from __future__ import annotations

import fcntl
import re
import subprocess
import sys

import pytest

from conftest import ROOT, run_program
from proof import films, ways

VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
WANTED = ROOT / "tools" / "requirements-programs.txt"

PROGRAMS = {
    "sympy": """
        from sympy import *
        x, y = symbols("x y")
        print(integrate(exp(-x) * sin(x), x))
        print(solve(x**3 - 6 * x**2 + 11 * x - 6, x), factor(x**6 - 1))
        print(series(cos(x), x, 0, 6), limit(sin(x) / x, x, 0))
        print(Matrix([[1, 2], [3, 4]]).inv(), simplify(sin(x)**2 + cos(x)**2))
        """,
    "black": """
        import black
        source = open("hidden.txt").read()
        for mode in (black.Mode(), black.Mode(line_length=40, string_normalization=False)):
            print(black.format_str(source, mode=mode))
        """,
    "rich": """
        import io
        from rich.console import Console
        from rich.markdown import Markdown
        from rich.syntax import Syntax
        from rich.table import Table
        from rich.tree import Tree
        out = io.StringIO()
        console = Console(file=out, width=70, force_terminal=True)
        table = Table(title="numbers")
        for name in "abc": table.add_column(name, justify="right")
        for row in range(5): table.add_row(*(str(row * k) for k in range(3)))
        console.print(table)
        tree = Tree("root"); tree.add("[bold]one").add("two")
        console.print(tree, Markdown("# Title\\n* one\\n* two **bold**"))
        console.print(Syntax("def f(a):\\n    return a + 1", "python"))
        console.print({"a": [1, 2, {"b": None}]}, "[red]x[/red]", 3.5)
        print(len(out.getvalue()), repr(out.getvalue()[:600]))
        """,
    "pip": """
        import runpy, sys
        sys.argv = ["pip", "--version"]
        runpy.run_module("pip", run_name="__main__")
        """,
    "tools of the library": """
        import ast, compileall, inspect, tabnanny, symtable, trace, unittest, doctest
        text = inspect.getsource(inspect)
        print(len(ast.dump(ast.parse(text))), len(list(ast.walk(ast.parse(text)))))
        print(symtable.symtable(text[:3000].rpartition("\\n\\n")[0], "x", "exec").get_name())
        class T(unittest.TestCase):
            def test_one(self): self.assertEqual(1, 1)
            def test_two(self):
                with self.assertRaises(ValueError): int("x")
        done = unittest.TextTestRunner(stream=open("/dev/null", "w")).run(unittest.defaultTestLoader.loadTestsFromTestCase(T))
        print(done.testsRun, len(done.errors))
        """,
}


EACH = [ways.PLAIN, *ways.WAYS]


@pytest.fixture(scope="session")
def installed():
    """The folder with the programs, made once."""
    if not films.SOAK:
        pytest.skip("real programs are recorded in `make soak` only")
    folder = ROOT / "build" / "programs" / VERSION
    folder.mkdir(parents=True, exist_ok=True)
    stamp = folder / ".installed"
    with open(folder / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.stat().st_mtime < WANTED.stat().st_mtime:
            done = subprocess.run(
                [
                    *(sys.executable, "-m", "pip", "install", "--quiet", "--upgrade"),
                    *("--disable-pip-version-check", "--target", folder, "-r", WANTED),
                ],
                capture_output=True,
                text=True,
                timeout=280,
            )
            if done.returncode != 0:
                pytest.skip("PyPI could not be reached for the real programs")
            stamp.touch()
    return folder


def without_changing(text):
    return re.sub(r"0x[0-9a-f]{6,}|[0-9.]+m?s\b", "_", text)


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("name", "way"), [(name, way) for name in PROGRAMS for way in EACH], ids=str
)
def test_real_programs(runner, installed, name, way):
    (runner.folder / "hidden.txt").write_text(
        (ROOT / "bench" / "run.py").read_text()[:6000].rpartition("\n\n\n")[0] + "\n"
    )
    env = {"PYTHONPATH": str(installed), "PYTHONHASHSEED": "0"}
    plain = runner.plain(PROGRAMS[name], env=env, timeout=200)
    assert plain.rc == 0, plain.stderr
    recorded = runner.record(
        None, env=env, options=["--all", "--level", "values", *way.words], timeout=800
    )
    assert recorded.rc == plain.rc, recorded.stderr[-3000:]
    assert without_changing(recorded.stdout) == without_changing(plain.stdout)
    assert without_changing(recorded.stderr) == without_changing(plain.stderr)
    films.check(recorded.film)
    info = run_program("info", recorded.film)
    assert info.rc == 0, info.stderr
