"""%load_ext filmstrip and %%film, with a stand-in for IPython's shell (and with IPython
itself where it is installed)."""

from __future__ import annotations

import importlib.util

import pytest

SHELL = """
    import types

    class Shell:
        def __init__(self):
            self.magics_manager = types.SimpleNamespace(magics={"cell": {}})
            self.namespace = {"__name__": "cells"}

        def register_magic_function(self, function, magic_kind, magic_name):
            self.magics_manager.magics[magic_kind][magic_name] = function

        def run_cell(self, cell):
            try:
                exec(compile(cell, "<ipython-input-1>", "exec"), self.namespace)
            except Exception as error:
                print("shown:", error)
                return types.SimpleNamespace(error_before_exec=None, error_in_exec=error)
            return types.SimpleNamespace(error_before_exec=None, error_in_exec=None)

        def cell(self, line, text):
            self.magics_manager.magics["cell"]["film"](line, text)

    import filmstrip
    shell = Shell()
    filmstrip.load_ipython_extension(shell)
"""


def run(runner, text):
    import textwrap

    return runner.plain(textwrap.dedent(SHELL) + textwrap.dedent(text))


def test_a_cell_is_recorded_and_its_log_shown(runner, dump):
    result = run(
        runner,
        """
        shell.cell("", "def f(n):\\n    return n + 1\\nx = f(1)\\n")
        assert shell.namespace["x"] == 2
        assert filmstrip.recording() is None
        shell.cell("", "f(2)")
        """,
    )
    assert (result.rc, result.stderr) == (0, ""), result.stderr
    assert "run cells.f" in result.stdout
    assert "filmstrip log cell.film" in result.stdout
    calls = [
        e["function"] for e in dump(runner.folder / "cell.film") if e["kind"] == "call"
    ]
    assert calls[-2:] == ["cells.<module>", "cells.f"]
    assert (runner.folder / "cell-2.film").exists()


def test_options_of_the_magic(runner):
    result = run(
        runner,
        """
        shell.cell("mine.film --level calls --quiet", "x = 1")
        shell.cell("mine.film --force --objwatch", "def f(): pass\\nf()")
        for line in ("--level nothing", "--unknown", "a b"):
            try:
                shell.cell(line, "x = 2")
            except ValueError as error:
                assert len(str(error).splitlines()) == 1
            else:
                raise AssertionError(line)
        assert shell.namespace["x"] == 1
        assert filmstrip.recording() is None
        """,
    )
    assert (result.rc, result.stderr) == (0, ""), result.stderr
    assert (runner.folder / "mine.film").exists()
    assert "# ObjWatch Log" in result.stdout
    assert len(list(runner.folder.glob("*.film"))) == 1


def test_secrets_of_a_cell(runner):
    result = run(
        runner,
        """
        cell = "iban, token = (str(n) * 6 for n in (4, 5))"
        shell.cell("", cell)
        shell.cell("--redact iban", cell)
        shell.cell("--no-redact --redact iban", cell)
        """,
    )
    assert (result.rc, result.stderr) == (0, ""), result.stderr
    shown = [line.split(" upd ")[1] for line in result.stdout.splitlines() if " upd " in line]  # fmt: skip
    assert [line for line in shown if line.startswith(("iban", "token"))] == [
        "iban -> '444444'",
        "token -> [redacted]",
        "iban -> [redacted]",
        "token -> [redacted]",
        "iban -> [redacted]",
        "token -> '555555'",
    ]


def test_an_error_in_the_cell(runner):
    result = run(
        runner,
        """
        try:
            shell.cell("", "1 / 0")
        except ZeroDivisionError:
            pass
        else:
            raise AssertionError
        assert filmstrip.recording() is None
        filmstrip.unload_ipython_extension(shell)
        assert shell.magics_manager.magics["cell"] == {}
        """,
    )
    assert (result.rc, result.stderr) == (0, ""), result.stderr
    assert "shown: division by zero" in result.stdout
    assert "raise" in result.stdout


@pytest.mark.skipif(
    importlib.util.find_spec("IPython") is None, reason="IPython is not installed"
)
def test_in_ipython(runner):
    result = runner.plain(
        """
        from IPython.testing.globalipapp import start_ipython
        shell = start_ipython()
        shell.run_line_magic("load_ext", "filmstrip")
        result = shell.run_cell("%%film one.film\\ndef f(): return 7\\nvalue = f()")
        assert result.success and shell.user_ns["value"] == 7
        """
    )
    assert result.rc == 0, result.stderr
    assert "run __main__.f" in result.stdout


@pytest.mark.skipif(
    importlib.util.find_spec("nbclient") is None, reason="nbclient is not installed"
)
def test_in_a_notebook(runner, filmstrip):
    """A kernel runs the cells, as Jupyter has it."""
    result = runner.plain(
        """
        import nbclient, nbformat

        cells = [
            "%load_ext filmstrip",
            "%%film cell.film --level values\\ndef double(n):\\n    return n * 2\\nx = double(21)",
            "print(x)",
        ]
        notebook = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(cell) for cell in cells]
        )
        nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
        for cell in notebook.cells:
            for output in cell.outputs:
                print(output.get("text", ""))
        """
    )
    assert result.rc == 0, result.stderr
    assert "42" in result.stdout
    log = filmstrip("log", result.folder / "cell.film")
    assert (log.rc, log.stderr) == (0, "")
    assert "run __main__.double(n=21)" in log.stdout
    assert "upd x -> 42" in log.stdout


ERRORS = {
    "raised": "def half(n):\n    return n / 0\nhalf(3)",
    "chained": "try:\n    {}['a']\nexcept KeyError as e:\n    raise ValueError('no') from e",
    "syntax": "x = 1\ndef f(:\n    pass",
    "group": "raise ExceptionGroup('two', [ValueError(1), TypeError(2)])",
    "exit": "raise SystemExit(3)",  # the last: the kernel ends
}


@pytest.mark.skipif(
    importlib.util.find_spec("nbclient") is None, reason="nbclient is not installed"
)
def test_errors_in_a_notebook(runner):
    """A cell that fails shows what it shows without us: its own error, once, with its
    own frames alone; and it is the cell that has failed."""
    result = runner.plain(
        f"ERRORS = {list(ERRORS.values())!r}"
        + r"""
import re, nbclient, nbformat


def client(cells, **options):
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(text) for text in cells]
    )
    return notebook, nbclient.NotebookClient(
        notebook, timeout=60, kernel_name="python3", **options
    )


def plain(text):
    # without colours, the numbers of cells and the names of their files
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    return re.sub(r"\d+\.py|In\[\d+\]", "CELL", text)


def errors(first, before):
    notebook, runs = client([first, *(before + e for e in ERRORS)], allow_errors=True)
    runs.execute()
    return [
        [(out.ename, plain(out.evalue), plain("\n".join(out.traceback)))
         for out in cell.outputs if out.output_type == "error"]
        for cell in notebook.cells[1:]
    ]


bare = errors("pass", "")
ours = errors("%load_ext filmstrip", "%%film --quiet\n")
assert sum(map(len, bare)) >= 4, bare
for one, other in zip(bare, ours, strict=True):
    assert one == other, (one, other)
try:
    client(["%load_ext filmstrip", "%%film --quiet\n" + ERRORS[0]])[1].execute()
except nbclient.exceptions.CellExecutionError as error:
    print(error.ename)
"""
    )
    assert (result.rc, result.stdout) == (0, "ZeroDivisionError\n"), result.stderr
