"""`filmstrip run`: the program runs as without us, whatever it looks at."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys

import pytest

from conftest import clean_environment, dump_events, run_python
from proof.alike import die_alike

# Prints everything a program can know about how it was started.
LOOK = """
import sys, os, json
main = sys.modules["__main__"]
spec = main.__spec__
facts = {
    "argv": sys.argv,
    "orig_argv": sys.orig_argv[1:],
    "path": sys.path,
    "flags": str(sys.flags),
    "warnoptions": sys.warnoptions,
    "xoptions": sys._xoptions,
    "name": __name__,
    "file": globals().get("__file__"),
    "cached": globals().get("__cached__"),
    "package": __package__,
    "loader": type(__loader__).__name__,
    "spec": None if spec is None else [spec.name, spec.origin, spec.parent, spec.has_location],
    "builtins": type(__builtins__).__name__,
    "doc": __doc__,
    "names": sorted(globals()),
    "main_is_me": main.__dict__ is globals(),
    "depth": sys._getframe().f_back is None,
    "cwd": os.getcwd(),
    "trace": [str(sys.gettrace()), str(sys.getprofile())],
    "recursionlimit": sys.getrecursionlimit(),
    "environ": sorted(k for k in os.environ if not k.startswith("FILMSTRIP")),
    "modules": sorted(m for m in sys.modules if not m.startswith("filmstrip") and m != "atexit"),
    "isatty": [sys.stdin.isatty(), sys.stdout.isatty()],
    "stdin": sys.stdin.read(),
    "displayhook": sys.displayhook is sys.__displayhook__,
    "excepthook": sys.excepthook is sys.__excepthook__,
}
import threading, signal
facts["threads"] = [t.name for t in threading.enumerate()]
facts["signals"] = {int(n): str(signal.getsignal(n)) for n in signal.valid_signals()
                    if n not in (signal.SIGKILL, signal.SIGSTOP)}
print(json.dumps(facts, default=str))
"""


def as_if_alone(recorded, plain):
    assert (recorded.rc, recorded.stdout, recorded.stderr) == (
        plain.rc,
        plain.stdout,
        plain.stderr,
    )


def run_recorded(arguments, folder, flags=(), options=(), **how):
    film = folder / "out.film"
    film.unlink(missing_ok=True)
    result = run_python(
        [*flags, "-m", "filmstrip", "run", "-o", film, *options, *arguments],
        folder,
        **how,
    )
    result.film = film
    return result


def compare(arguments, folder, flags=(), **how):
    plain = run_python([*flags, *arguments], folder, **how)
    recorded = run_recorded(arguments, folder, flags, **how)
    as_if_alone(recorded, plain)
    assert recorded.film.exists()
    return recorded


@pytest.mark.parametrize(
    "flags",
    [
        [],
        ["-O"],
        ["-OO", "-B"],
        ["-X", "dev"],
        ["-W", "error"],
        ["-I"],
        ["-E", "-s"],
        ["-Xutf8=1", "-bb"],
        ["-P"],
    ],
    ids=" ".join,
)
def test_script_looks_around(runner, flags):
    runner.write(LOOK, "look.py")
    compare(
        ["look.py", "-o", "x", "--force", "", "ä b"],
        runner.folder,
        flags,
        stdin="hello\n",
    )


def test_script_in_other_folder_by_absolute_path(runner):
    path = runner.write(LOOK, "inner/deep/look.py")
    compare([str(path), "1"], runner.folder)


@pytest.mark.parametrize("flags", [[], ["-I"], ["-O"]], ids=" ".join)
def test_module(runner, flags):
    runner.write(LOOK, "package/__main__.py")
    runner.write("", "package/__init__.py")
    runner.write(LOOK, "package/inner.py")
    if "-I" not in flags:
        compare(["-m", "package", "a", "-m"], runner.folder, flags)
        compare(["-m", "package.inner"], runner.folder, flags)
    compare(
        ["-m", "timeit", "-n", "1", "-r", "1", "-q", "pass"][:2] + ["--help"],
        runner.folder,
        flags,
    )


def test_code(runner):
    compare(["-c", LOOK, "a", "-c", "b"], runner.folder)
    compare(["-c", "import sys; print(sys.argv)"], runner.folder)
    compare(["-c", "-1"], runner.folder)


def test_folder_and_zip(runner):
    runner.write(LOOK, "app/__main__.py")
    compare(["app", "x"], runner.folder)
    subprocess.run(
        [sys.executable, "-m", "zipapp", "app"], cwd=runner.folder, check=True
    )
    compare(["app.pyz", "x"], runner.folder)


def test_program_from_stdin(runner):
    compare(["-", "a"], runner.folder, stdin="import sys; print(sys.argv)")


def test_fewer_traces_without_children(runner):
    """With --no-children even the environment is as it was."""
    program = "import os; print(sorted(os.environ))"
    plain = runner.plain(program)
    recorded = runner.record(program, options=["--no-children"])
    as_if_alone(recorded, plain)


@pytest.mark.parametrize(
    "body",
    [
        "raise SystemExit",
        "raise SystemExit(3)",
        "raise SystemExit('a sentence')",
        "import sys; sys.exit(300)",
        "import os; os._exit(7)",
        "1/0",
        "def f():\n    g()\ndef g():\n    raise ValueError('x')\nf()",
        "raise KeyboardInterrupt",
        "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        "import os, signal; os.kill(os.getpid(), signal.SIGINT)",
        "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
        "import os; os.abort()",
        "syntax error here",
        "import no_such_module",
        "def f(): f()\nf()",
        "import sys; sys.excepthook = lambda *a: print('hook', a[0]); 1/0",
        "import atexit; atexit.register(print, 'bye'); 1/0",
        "class A:\n    def __del__(self): print('del')\na = A()\nimport atexit\natexit.register(print, 'exit')",
        "import threading; threading.Thread(target=lambda: 1/0).start()",
        "try:\n    1/0\nexcept Exception as e:\n    raise KeyError('k') from e",
        "import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    raise OSError('async')\nasyncio.run(f())",
        "import sys; sys.stdout.close()",
        "import os; os.close(2); 1/0",
    ],
)
def test_endings_and_tracebacks(runner, body):
    runner.write(body, "program.py")
    compare(["program.py"], runner.folder)


def test_traceback_of_module_and_code(runner):
    runner.write("def f(): raise ValueError('deep')\nf()", "package/__main__.py")
    compare(["-m", "package"], runner.folder)
    compare(["-c", "def f(): 1/0\nf()"], runner.folder)
    missing = ["-m", "no_such_package"]
    recorded = run_recorded(missing, runner.folder)
    as_if_alone(recorded, run_python(missing, runner.folder))
    assert not recorded.film.exists()


def test_interrupt_from_outside(runner):
    runner.write("import time\nprint('up', flush=True)\ntime.sleep(60)\n", "program.py")
    die_alike(runner, signal.SIGINT)


def test_pickling_and_spawning_main(runner):
    """A class and a function of __main__ go through pickle and to a spawned child."""
    program = """
        import multiprocessing, pickle, sys

        class Point:
            def __init__(self, x):
                self.x = x

        def work(point):
            return point.x * 2, __name__, type(point).__module__

        if __name__ == "__main__":
            assert type(pickle.loads(pickle.dumps(Point(1)))) is Point
            context = multiprocessing.get_context(sys.argv[1])
            with context.Pool(2) as pool:
                print(pool.map(work, [Point(1), Point(2)]))
    """
    for method in ("spawn", "forkserver", "fork"):
        plain = runner.plain(program, method)
        recorded = runner.record(program, method)
        as_if_alone(recorded, plain)
        assert plain.rc == 0, plain.stderr


def test_default_names(runner):
    runner.write("pass", "train.py")
    runner.write("pass", "pkg/__main__.py")

    def names(*arguments):
        result = run_python(["-m", "filmstrip", "run", *arguments], runner.folder)
        assert result.rc == 0, result.stderr
        assert result.stdout == result.stderr == ""
        return [path.name for path in result.films]

    assert names("train.py") == ["train.film"]
    assert names("train.py") == ["train-2.film", "train.film"]
    assert names("-m", "pkg")[0] == "pkg.film"
    assert "command.film" in names("-c", "pass")
    for path in runner.folder.glob("*.film"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_existing_output(runner):
    runner.write("print('ran')", "program.py")
    target = runner.folder / "out.film"
    target.write_text("precious")
    command = ["-m", "filmstrip", "run", "-o", "out.film"]
    refused = run_python([*command, "program.py"], runner.folder)
    assert refused.rc == 2 and refused.stdout == ""
    assert target.read_text() == "precious"
    assert len(refused.stderr.splitlines()) == 1 and "--force" in refused.stderr
    forced = run_python([*command, "--force", "program.py"], runner.folder)
    assert (forced.rc, forced.stdout) == (0, "ran\n")
    assert target.read_bytes() != b"precious"


def test_never_through_a_link(runner):
    runner.write("print('ran')", "program.py")
    victim = runner.folder / "victim"
    victim.write_text("precious")
    (runner.folder / "out.film").symlink_to(victim)
    for force in ([], ["--force"]):
        run_python(
            ["-m", "filmstrip", "run", "-o", "out.film", *force, "program.py"],
            runner.folder,
        )
        assert victim.read_text() == "precious"


@pytest.mark.parametrize(
    "arguments, word",
    [
        (["missing.py"], "missing.py"),
        ([], "no program"),
        (["-m"], "-m"),
        (["--ring", "soon", "program.py"], "size"),
        (["--ring", "0", "program.py"], "size"),
        (["--tick", "0", "program.py"], "tick"),
        (["--level", "everything", "program.py"], "no level"),
        (["--level", "all", "program.py"], "level"),
        (["--frobnicate", "program.py"], "--frobnicate"),
        (["-o", "no/such/folder/x.film", "program.py"], "no such folder"),
        (["-o", ".", "program.py"], "folder"),
        (["--torch", "some", "program.py"], "'some' is none of"),
        (["--ranks", "some", "program.py"], "'some' names no ranks"),
        (["--items", "0", "program.py"], "--items is a number from 1 to 512"),
        (["--items", "513", "program.py"], "not '513'"),
        (["--item-depth", "x", "program.py"], "--item-depth"),
        (["--text-bytes", "65537", "program.py"], "--text-bytes"),
    ],
)
def test_bad_input_is_one_sentence(runner, arguments, word):
    runner.write("print('ran')", "program.py")
    result = run_python(["-m", "filmstrip", "run", *arguments], runner.folder)
    assert result.rc == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert word in result.stderr
    assert not result.films


def test_read_only_folder(runner):
    if os.geteuid() == 0:
        pytest.skip("root writes everywhere")
    runner.write("print('ran')", "program.py")
    runner.folder.chmod(0o500)
    try:
        result = run_python(["-m", "filmstrip", "run", "program.py"], runner.folder)
    finally:
        runner.folder.chmod(0o700)
    assert result.rc == 2 and len(result.stderr.splitlines()) == 1


def test_help(runner):
    result = run_python(["-m", "filmstrip", "run", "--help"], runner.folder)
    assert result.rc == 0 and "Example" in result.stdout and result.stderr == ""


def test_set_user_id_style_environment_is_ignored_in_isolated_mode(runner):
    program = "print('ran')"
    result = runner.plain(program, flags=["-I"], env={"FILMSTRIP": "1"})
    assert result.stdout == "ran\n" and not result.films
    result = runner.plain(program, flags=["-E"], env={"FILMSTRIP": "1"})
    assert result.stdout == "ran\n" and not result.films


def test_console_script_and_c_program(runner):
    script = os.path.join(os.path.dirname(sys.executable), "filmstrip")
    if not os.path.exists(script):
        pytest.skip("no console script in this environment")
    runner.write("print('ran')", "program.py")
    done = subprocess.run(
        [script, "run", "program.py"],
        cwd=runner.folder,
        env=clean_environment(),
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "ran\n", "")
    done = subprocess.run(
        [script, "info", "program.film"],
        cwd=runner.folder,
        env=clean_environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and "program.py" in done.stdout


def test_recorded_calls(record, dump):
    result = record("def f(n):\n    return n and f(n - 1)\nf(3)\n")
    assert result.rc == 0
    events = dump(result.film)
    calls = [event["function"] for event in events if event["kind"] == "call"]
    assert calls == ["__main__.<module>"] + ["__main__.f"] * 4


def run_on_terminal(arguments, folder, look=lambda output: None):
    """Runs this Python with a terminal of its own; gives status and output. `look` is
    shown what there is of that whenever there is more."""
    terminal, side = os.openpty()
    child = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        env=clean_environment(TERM="xterm"),
        stdin=side,
        stdout=side,
        stderr=side,
        start_new_session=True,
    )
    os.close(side)
    output = b""
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:
            break
        if not piece:
            break
        output += piece
        look(output)
    os.close(terminal)
    return child.wait(timeout=60), output


def test_terminal_shows_where_the_film_is(runner):
    runner.write("print('ran')", "program.py")
    status, output = run_on_terminal(
        ["-m", "filmstrip", "run", "program.py"], runner.folder
    )
    assert status == 0
    assert b"ran\r\n" in output and b"program.film" in output
    status, output = run_on_terminal(
        ["-m", "filmstrip", "run", "--no-progress", "program.py"], runner.folder
    )
    assert (status, output) == (0, b"ran\r\n")


def test_progress_line_on_a_terminal(runner):
    """Drawn by a process that is no child of the program and ends with it."""
    program = """
        import os, time
        end = time.time() + 60
        def tick():
            return time.time()
        while tick() < end and not os.path.exists("seen"):
            pass
        try:
            os.wait()
        except ChildProcessError:
            print("no children")
    """
    runner.write(program, "program.py")

    def look(output):
        if b"recording: " in output:
            (runner.folder / "seen").touch()

    status, output = run_on_terminal(
        ["-m", "filmstrip", "run", "program.py"], runner.folder, look
    )
    assert status == 0
    assert b"no children" in output
    assert b"recording: " in output and b" events" in output


def test_all_begins_with_the_program(runner):
    """Of the calls that our own start makes none is in the film."""
    result = runner.record("def f(): pass\nf()\n", options=["--all"])
    events = dump_events(result.film)
    # It begins within the import that starts us: what ends first is that.
    first = next(i for i, e in enumerate(events) if e["kind"] == "call")
    assert any(e["kind"] == "return" for e in events[:first]), events[:5]


def test_a_refused_start_leaves_the_environment_alone(runner):
    result = runner.plain(
        """
        import os, filmstrip
        before = dict(os.environ)
        open("there.film", "w").close()
        try: filmstrip.start("there.film")
        except OSError: print(dict(os.environ) == before)
        try: filmstrip.start("other.film", level="values", tick_ns=-5)
        except (ValueError, OverflowError): print(dict(os.environ) == before)
        """
    )
    assert (result.rc, result.stdout) == (0, "True\nTrue\n"), result.stderr
