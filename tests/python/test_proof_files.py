"""Files: how they are made, and what happens when they cannot be."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import pwd
import resource
import shutil
import stat
import subprocess
import sys
import tempfile

import pytest

from conftest import RUN_CALLS, clean_environment, dump_events, run_program, run_python
from proof import films
from proof.films import limited, one_sentence

ROUNDS = 160
EMITTED = ROUNDS * 5_000 * 2

# Much that does not compress to nothing, with a result of its own.
WORK = """
    import random, sys
    source = "".join(f"def f{i}(n):\\n    return n + {i}\\n" for i in range(64))
    exec(compile(source, __file__, "exec"))
    functions = [globals()[f"f{i}"] for i in range(64)]
    order = random.Random(3).choices(functions, k=5_000)
    total = 0
    for n in range(int(sys.argv[1])):
        for function in order:
            total += function(n)
    print(total)
    raise SystemExit(5)
"""


# --- how files are made ---------------------------------------------------------------


def test_owner_only_whatever_the_umask(runner):
    runner.write("import os\nif os.fork() == 0: os._exit(0)\nos.wait()\n")
    for mask in (0, 0o77, 0o777):
        before = os.umask(mask)
        try:
            result = run_python([*RUN_CALLS, "program.py"], runner.folder)
        finally:
            os.umask(before)
        assert result.rc == 0, result.stderr
    assert len(result.films) == 6
    for path in result.films:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode & ~0o600 == 0 and (mode == 0o600 or mask == 0o777), (
            path,
            oct(mode),
        )


def test_no_link_is_followed(runner):
    victim = runner.folder / "victim"
    victim.write_text("precious")
    target = runner.folder / "out.film"
    for link in (victim, runner.folder / "nowhere"):
        for force in ([], ["--force"]):
            target.unlink(missing_ok=True)
            target.symlink_to(link)
            runner.write("print('ran')")
            result = run_python(
                [*RUN_CALLS, "-o", "out.film", *force, "program.py"], runner.folder
            )
            assert victim.read_text() == "precious"
            assert not (runner.folder / "nowhere").exists()
            if result.rc == 2:
                one_sentence(result)
                assert target.is_symlink() and result.stdout == ""
            else:
                assert force and result.stdout == "ran\n"
                assert not target.is_symlink() and target.stat().st_size > 0
    # A default name that is a link, even one that leads nowhere, is taken.
    (runner.folder / "program.film").symlink_to(runner.folder / "nowhere")
    result = run_python([*RUN_CALLS, "program.py"], runner.folder)
    assert result.rc == 0
    assert (runner.folder / "program-2.film").exists()
    assert not (runner.folder / "nowhere").exists()


def test_force_replaces_a_name_not_a_content(runner):
    """Who has the old file open, or has it under another name, keeps it."""
    target, other = runner.folder / "out.film", runner.folder / "other"
    target.write_text("precious")
    os.link(target, other)
    result = runner.record("print('ran')")
    assert (result.rc, result.stdout) == (0, "ran\n")
    assert other.read_text() == "precious"
    films.check(target)


def test_no_file_is_shared(runner):
    """Processes that start at once under one name each get a film of their own."""
    runner.write("def f(): pass\nfor _ in range(100): f()\n")
    children = [
        subprocess.Popen(
            [sys.executable, *RUN_CALLS, "program.py"],
            cwd=runner.folder,
            env=clean_environment(),
        )
        for _ in range(8)
    ]
    assert [child.wait() for child in children] == [0] * 8
    paths = films.film_paths(runner.folder)
    assert len(paths) == 8
    for path in paths:
        films.check(path)
        assert films.calls_of(dump_events(path), "f") == 100


def test_forbidden_kinds_of_output(runner):
    runner.write("print('ran')")
    os.mkfifo(runner.folder / "fifo.film")
    for name in ("fifo.film", "/dev/null", "/proc/film", "a/b.film", "x" * 300):
        result = run_python([*RUN_CALLS, "-o", name, "program.py"], runner.folder)
        one_sentence(result)
        assert result.stdout == ""


# --- places that cannot be written to ---------------------------------------------------


@contextlib.contextmanager
def mounted(options):
    """A tmpfs of its own; skips where one may not mount."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="filmstrip-mount-"))
    try:
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder],
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            pytest.skip("a tmpfs can be mounted by root only")
        try:
            yield folder
        finally:
            subprocess.run(["umount", "-l", folder], check=True)
    finally:
        folder.rmdir()


def test_read_only_folder(runner):
    runner.write("print('ran')")
    with mounted("ro,size=1M") as folder:
        result = run_python(
            [*RUN_CALLS, "-o", folder / "out.film", "program.py"], runner.folder
        )
        one_sentence(result)
        assert result.stdout == ""
        # With the environment's switch the program runs all the same.
        script = runner.folder / "program.py"
        result = run_python([script], folder, env={"FILMSTRIP": "1"})
        assert (result.rc, result.stdout) == (0, "ran\n")
        assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "size",
    ["16K", "64K", "256K", "1M", "2M", "3M", "4M", "6M", "9M", "12M"]
    if films.SOAK
    else ["64K", "1M", "3M", "9M", "12M"],
)
def test_a_tmpfs_that_fills_up(runner, size):
    """The program ends as it does alone; what could not be kept is counted."""
    plain = runner.plain(WORK, str(ROUNDS))
    assert plain.rc == 5
    with mounted(f"size={size}") as folder:
        film = folder / "out.film"
        result = run_python(
            [
                "-m",
                "filmstrip",
                "run",
                *("--level", "calls"),
                "--tick",
                "1",
                "-o",
                film,
                "program.py",
                str(ROUNDS),
            ],
            runner.folder,
        )
        if result.rc == 2:  # not even the beginning of a film fits
            one_sentence(result)
            assert result.stdout == "" and not film.exists()
            assert size in ("16K", "64K", "256K", "1M", "2M", "3M", "4M", "6M")
            return
        assert (result.rc, result.stdout) == (5, plain.stdout)
        assert "Traceback" not in result.stderr and len(result.stderr.splitlines()) <= 1
        films.check(film)
        kinds = films.count_kinds(film)
        info = run_program("info", film)
        assert info.rc == 0
        if kinds["call"] < ROUNDS * 5_000:
            found, lost, reasons = found_and_lost(film)
            # Honest to the event: what is there and what is lost is what happened.
            assert EMITTED <= found + lost <= EMITTED + 1000, (found, lost)
            for text in (reasons, info.stdout):
                assert "disk" in text or "space" in text, text
        else:
            assert kinds["lost"] == 0 and "lost       nothing" in info.stdout


def found_and_lost(film):
    """How many events are there, how many were lost, and why."""
    kinds = films.count_kinds(film)
    result = run_program("dump", film)
    lines = [line for line in result.stdout.splitlines() if '"kind":"lost"' in line]
    lost = [json.loads(line) for line in lines]
    return (
        kinds.total() - kinds["lost"],
        sum(event["count"] for event in lost),
        " ".join(event["reason"] for event in lost),
    )


def test_a_full_disk_gives_room_again(runner):
    """Another process fills the disk while the program runs."""
    program = """
        import os, sys
        def f(n):
            return n
        def fill():
            with open(sys.argv[1], "wb", buffering=0) as file:
                try:
                    while True:
                        file.write(bytes(1 << 16))
                except OSError:
                    pass
        for n in range(1000): f(n)
        fill()
        for n in range(400_000): f(n)
        os.unlink(sys.argv[1])
        for n in range(1000): f(n)
        print("done")
    """
    with mounted("size=24M") as folder:
        film = folder / "out.film"
        runner.write(program)
        result = run_python(
            [*RUN_CALLS, "-o", film, "program.py", folder / "filler"], runner.folder
        )
        assert (result.rc, result.stdout) == (0, "done\n"), result.stderr
        films.check(film)
        _, lost, _ = found_and_lost(film)
        found = films.count_calls(film, "f")
        assert found >= 1000
        assert found == 402_000 or lost > 0


def information(film):
    return json.loads(run_program("info", "--json", film).stdout)


def run_limited(arguments, folder, kind, value):
    done = subprocess.run(
        [sys.executable, *map(os.fspath, arguments)],
        cwd=folder,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=limited(kind, value),
    )
    return done


@pytest.mark.parametrize("megabytes", [0.0625, 2, 9])
def test_a_limit_on_the_size_of_files(runner, megabytes):
    plain = runner.plain(WORK, str(ROUNDS))
    limit = int(megabytes * (1 << 20))
    result = run_limited(
        [
            *(*RUN_CALLS, "--tick", "1", "-o", "out.film"),
            *("program.py", str(ROUNDS)),
        ],
        runner.folder,
        resource.RLIMIT_FSIZE,
        limit,
    )
    film = runner.folder / "out.film"
    if result.returncode == 2:
        assert len(result.stderr.splitlines()) == 1 and result.stdout == ""
        return
    assert (result.returncode, result.stdout) == (5, plain.stdout), result.stderr
    assert film.stat().st_size <= limit
    films.check(film)
    found, lost, reasons = found_and_lost(film)
    assert EMITTED <= found + lost <= EMITTED + 1000
    assert not lost or reasons


def test_values_that_find_no_room_are_counted(runner):
    """At level values a row is not an event: every write, change and call that came too
    late is counted, also of code and threads that begin when nothing is kept any more."""
    program = """
        import random, threading
        class Point:
            def __init__(self, x): self.x = x; self.seen = [x]
        def grows(bytes_of, count):
            for n in range(count):
                data = bytes_of(200)
        def numbers(n):
            for k in range(n): yield k
        def works(n):
            total = 0
            for k in numbers(n):
                p = Point(k); p.seen.append(k); p.x += 1
                try: total += 1 // (k % 3)
                except ZeroDivisionError as error: total -= 1
            return [total := total + k for k in range(3)]
        works(30)
        grows(random.Random(1).randbytes, 30_000)
        works(30)
        exec(compile("def late(a):\\n    b = a; a = [b]\\n    return a", __file__, "exec"))
        late(3)
        thread = threading.Thread(target=works, args=(30,))
        thread.start(); thread.join()
        print("done")
    """
    runner.write(program)
    run = ["-m", "filmstrip", "run", "--target", "program.py", "--level", "values"]
    whole = run_python([*run, "-o", "whole.film", "program.py"], runner.folder)
    assert (whole.rc, whole.stdout) == (0, "done\n"), whole.stderr
    result = run_limited(
        [*run, "-o", "out.film", "program.py"],
        runner.folder,
        resource.RLIMIT_FSIZE,
        9 << 20,
    )
    assert (result.returncode, result.stdout) == (0, "done\n"), result.stderr
    film = runner.folder / "out.film"
    films.check(film)
    emitted = information(runner.folder / "whole.film")["events"]
    info, kinds = information(film), films.count_kinds(film)
    assert info["lost_events"] > 10_000
    counted = info["events"] - kinds["lost"] + info["lost_events"]
    assert abs(counted - emitted) <= 1  # the thread may end after the recording


@pytest.mark.parametrize("extra", [2, 6, 10, 16, 24, 40, 80])
def test_a_limit_on_memory(runner, extra):
    """Little more address space than the program takes alone."""
    runner.write(
        """
        import re
        def f(n):
            return n
        for n in range(50_000):
            f(n)
        with open("/proc/self/status") as status:
            print(re.search(r"VmPeak:\\s+(\\d+)", status.read())[1])
        """
    )
    plain = runner.plain(None)
    limit = int(plain.stdout) * 1024 + extra * (1 << 20)
    result = run_limited(
        [*RUN_CALLS, "-o", "out.film", "program.py"],
        runner.folder,
        resource.RLIMIT_AS,
        limit,
    )
    assert result.returncode in (0, 2), (result.returncode, result.stderr[-1000:])
    if result.returncode == 2:
        assert len(result.stderr.splitlines()) == 1 and result.stdout == ""
        assert extra < 80
        return
    assert result.stdout.strip().isdigit() and result.stderr == ""
    films.check(runner.folder / "out.film")
    _, lost, _ = found_and_lost(runner.folder / "out.film")
    assert films.count_calls(runner.folder / "out.film", "f") + lost >= 50_000


def test_a_limit_on_descriptors(runner):
    runner.write(
        """
        def f(n):
            return n
        files = []
        try:
            while True:
                files.append(open(__file__))
        except OSError:
            pass
        for n in range(200_000):
            f(n)
        files.clear()
        print("done")
        """
    )
    result = run_limited(
        [*RUN_CALLS, "-o", "out.film", "program.py"],
        runner.folder,
        resource.RLIMIT_NOFILE,
        32,
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "done\n", "")
    films.check(runner.folder / "out.film")
    assert films.count_calls(runner.folder / "out.film", "f") == 200_000


# --- another user, without a home ---------------------------------------------------------


@pytest.fixture
def strangers_folder():
    """A folder of the user nobody, and how to run Python as that user there."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    try:
        nobody = pwd.getpwuid(65534)
    except KeyError:
        pytest.skip("there is no user 65534 here")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="filmstrip-nobody-"))
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    try:
        # The interpreter may lie where only root goes (/root/.pyenv).
        probe = subprocess.run(
            [sys.executable, "-c", "import filmstrip"],
            cwd=folder,
            user=65534,
            group=65534,
            extra_groups=[],
            env={"PATH": os.environ.get("PATH", "")},
            capture_output=True,
        )
    except PermissionError:
        probe = None
    if probe is None or probe.returncode != 0:
        shutil.rmtree(folder)
        pytest.skip("this Python lies where another user cannot go")
    yield folder
    shutil.rmtree(folder)


def run_as_nobody(arguments, folder, **env):
    done = subprocess.run(
        [sys.executable, *map(os.fspath, arguments)],
        cwd=folder,
        user=65534,
        group=65534,
        extra_groups=[],
        env={"PATH": os.environ.get("PATH", ""), **env},
        capture_output=True,
        text=True,
    )
    return done


def test_a_user_without_a_home(strangers_folder):
    folder = strangers_folder
    (folder / "program.py").write_text("def f(): pass\nf()\nprint('ran')\n")
    for env in ({}, {"HOME": "/nonexistent"}, {"HOME": ""}, {"HOME": "/"}):
        (folder / "program.film").unlink(missing_ok=True)
        done = run_as_nobody([*RUN_CALLS, "program.py"], folder, **env)
        assert (done.returncode, done.stdout, done.stderr) == (0, "ran\n", "")
        film = folder / "program.film"
        assert film.stat().st_uid == 65534
        films.check(film)
        assert films.calls_of(dump_events(film), "f") == 1


def test_a_folder_that_may_not_be_written(strangers_folder):
    folder = strangers_folder
    (folder / "program.py").write_text("print('ran')\n")
    os.chown(folder, 0, 0)
    os.chmod(folder, 0o755)
    done = run_as_nobody([*RUN_CALLS, "program.py"], folder)
    assert done.returncode == 2 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    done = run_as_nobody(["program.py"], folder, FILMSTRIP="1")
    assert (done.returncode, done.stdout) == (0, "ran\n")
    assert len(done.stderr.splitlines()) == 1
    assert sorted(os.listdir(folder)) == ["program.py"]
