"""Child processes: each Python process gets a film of its own beside the first."""

from __future__ import annotations

import pathlib
import re

import pytest

from conftest import run_python


def functions(dump, path):
    """The calls of a film, without the code that namedtuple makes from strings."""
    names = [event["function"] for event in dump(path) if event["kind"] == "call"]
    return [name for name in names if not name.startswith("namedtuple_")]


WORK = """
    import multiprocessing, os, subprocess, sys

    def work(n):
        return n * 2
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(record, dump, method):
    result = record(
        WORK
        + f"""
    if __name__ == "__main__":
        context = multiprocessing.get_context({method!r})
        processes = [context.Process(target=work, args=(n,)) for n in range(3)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        print([process.exitcode for process in processes])
        print(sorted(process.pid for process in processes))
    """
    )
    assert result.rc == 0, result.stderr
    assert result.stderr == ""
    codes, pids = result.stdout.splitlines()
    assert codes == "[0, 0, 0]"
    for pid in re.findall(r"\d+", pids):
        path = result.folder / f"out.{pid}.film"
        assert path.exists(), result.films
        assert any(name.endswith(".work") for name in functions(dump, path))
    # The parent's film holds the parent alone.
    assert not any(name.endswith(".work") for name in functions(dump, result.film))


def test_pool(record, dump):
    result = record(
        WORK
        + """
    if __name__ == "__main__":
        with multiprocessing.Pool(2) as pool:
            print(pool.map(work, range(10)))
    """
    )
    assert result.rc == 0, result.stderr
    # forkserver, the default from 3.14 on, calls the module __mp_main__.
    names = [name for path in result.children for name in functions(dump, path)]
    total = sum(name.endswith("main__.work") for name in names)
    assert total == 10


def test_plain_fork(record, dump):
    result = record(
        """
        import os
        def child():
            pass
        def parent():
            pass
        pid = os.fork()
        if pid == 0:
            child()
            os._exit(3)
        parent()
        print(os.waitpid(pid, 0)[1] >> 8)
        print(pid)
        """
    )
    assert (result.rc, result.stderr) == (0, "")
    status, pid = result.stdout.split()
    assert status == "3"
    assert [path.name for path in result.children] == [f"out.{pid}.film"]
    assert functions(dump, result.children[0]) == ["__main__.child"]
    assert "__main__.parent" in functions(dump, result.film)
    assert "__main__.child" not in functions(dump, result.film)


def test_subprocess_and_grandchildren(record, dump, runner):
    runner.write(
        """
        import subprocess, sys
        def deeper(n):
            if n:
                subprocess.run([sys.executable, __file__, str(n - 1)], check=True)
        deeper(int(sys.argv[1]))
        """,
        "other.py",
    )
    result = record(
        """
        import subprocess, sys
        subprocess.run([sys.executable, "other.py", "2"], check=True)
        """
    )
    assert (result.rc, result.stderr) == (0, "")
    assert len(result.children) == 3
    for path in result.children:
        assert re.fullmatch(r"out\.\d+\.film", path.name)
        assert functions(dump, path) == ["__main__.<module>", "__main__.deeper"]


def test_exec_of_itself(record, dump):
    result = record(
        """
        import os, sys
        def before(): pass
        def after(): pass
        if len(sys.argv) == 1:
            before()
            os.execv(sys.executable, [sys.executable, __file__, "again"])
        after()
        """
    )
    assert (result.rc, result.stderr) == (0, "")
    assert functions(dump, result.film) == ["__main__.<module>", "__main__.before"]
    assert len(result.children) == 1
    assert functions(dump, result.children[0]) == [
        "__main__.<module>",
        "__main__.after",
    ]


@pytest.mark.parametrize("flag", ["-I", "-S", "-E"])
def test_isolated_children_are_not_followed(record, flag):
    result = record(
        f"""
        import subprocess, sys
        subprocess.run([sys.executable, {flag!r}, "-c", "pass"], check=True)
        """
    )
    assert (result.rc, result.stderr) == (0, "")
    assert result.children == []


def test_no_children(record):
    program = (
        WORK
        + """
    if __name__ == "__main__":
        for method in ("fork", "spawn"):
            process = multiprocessing.get_context(method).Process(target=work, args=(1,))
            process.start()
            process.join()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        print([name for name in os.environ if name.startswith("FILM")])
    """
    )
    result = record(program, options=["--no-children"])
    assert (result.rc, result.stdout, result.stderr) == (0, "[]\n", "")
    assert result.children == []


def test_environment_switch(runner, dump):
    program = "def f(): pass\nf()\n"
    result = runner.plain(program, env={"FILMSTRIP": "1"})
    assert (result.rc, result.stdout, result.stderr) == (0, "", "")
    assert [path.name for path in result.films] == ["program.film"]
    assert functions(dump, result.films[0]) == ["__main__.<module>", "__main__.f"]
    for off in ("", "0"):
        runner.plain(program, env={"FILMSTRIP": off})
    assert len(result.films) == 1
    runner.plain(program, env={"FILMSTRIP": "1"})
    assert [path.name for path in result.films] == ["program-2.film", "program.film"]


def test_environment_switch_that_cannot_record(runner):
    """The program runs all the same; one sentence says why it is not recorded."""
    program = ["-c", "print('ran')"]
    result = run_python(program, pathlib.Path("/proc"), env={"FILMSTRIP": "1"})
    assert (result.rc, result.stdout) == (0, "ran\n"), result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith("filmstrip: not recording: ")


def test_options_that_were_mangled_on_the_way(runner):
    """Those of `filmstrip run`: better no run than one that is not what was asked for."""
    result = runner.plain(
        "print('ran')", env={"FILMSTRIP": "1", "FILMSTRIP_OPTIONS": "ring=soon"}
    )
    assert (result.rc, result.stdout) == (2, ""), result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.films == []


def test_nothing_is_imported_without_the_switch(runner):
    result = runner.plain("import sys; print([m for m in sys.modules if 'film' in m])")
    assert result.stdout == "[]\n"


def test_fork_under_strict_warnings(record):
    result = record(
        WORK
        + """
    if __name__ == "__main__":
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map(work, range(3)) == [0, 2, 4]
        print("fine")
    """,
        flags=["-W", "error"],
    )
    assert (result.rc, result.stdout, result.stderr) == (0, "fine\n", "")


def test_api_children(runner, dump):
    result = runner.plain(
        """
        import filmstrip, os, subprocess, sys
        with filmstrip.record("run.film"):
            subprocess.run([sys.executable, "-c", "def f(): pass\\nf()"], check=True)
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        with filmstrip.record("alone.film", children=False):
            subprocess.run([sys.executable, "-c", "pass"], check=True)
        """
    )
    assert (result.rc, result.stderr) == (0, "")
    names = [path.name for path in result.films]
    assert len(names) == 3 and {"run.film", "alone.film"} < set(names)
    child = next(
        path for path in result.films if re.fullmatch(r"run\.\d+\.film", path.name)
    )
    assert functions(dump, child) == ["__main__.<module>", "__main__.f"]


def test_our_own_command_is_not_recorded(record, runner):
    """A recorded program may use filmstrip itself."""
    runner.write("def g(): pass\ng()\n", "other.py")
    result = record(
        """
        import subprocess, sys
        subprocess.run([sys.executable, "-m", "filmstrip", "run", "-o", "other.film", "other.py"], check=True)
        subprocess.run([sys.executable, "-m", "filmstrip", "info", "other.film"], check=True, stdout=subprocess.DEVNULL)
        """
    )
    assert (result.rc, result.stderr) == (0, "")
    assert [path.name for path in result.films] == ["other.film", "out.film"]
