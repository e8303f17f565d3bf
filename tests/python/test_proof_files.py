"""Files: how they are made, what happens when they cannot be, what a reader says of
damaged, foreign and newer ones."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import pwd
import random
import re
import resource
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time

import pytest

from conftest import PROGRAM, clean_environment, dump_events, run_program, run_python
from proof import damage, films

HERE = pathlib.Path(__file__).resolve().parent / "proof"
FACTOR = 10 if films.SOAK else 1
COMMANDS = ("check", "info", "dump", "log", "report")
CHUNK_EVENTS = 16_384

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


def one_sentence(result, rc=2):
    assert result.rc == rc, (result.rc, result.stdout[-300:], result.stderr[-2000:])
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert result.stderr.startswith("filmstrip"), result.stderr
    return result.stderr


# --- how files are made ---------------------------------------------------------------


def test_owner_only_whatever_the_umask(runner):
    runner.write("import os\nif os.fork() == 0: os._exit(0)\nos.wait()\n")
    for mask in (0, 0o77, 0o777):
        before = os.umask(mask)
        try:
            result = run_python(
                ["-m", "filmstrip", "run", "--level", "calls", "program.py"],
                runner.folder,
            )
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
                [
                    "-m",
                    "filmstrip",
                    "run",
                    "--level",
                    "calls",
                    "-o",
                    "out.film",
                    *force,
                    "program.py",
                ],
                runner.folder,
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
    result = run_python(
        ["-m", "filmstrip", "run", "--level", "calls", "program.py"], runner.folder
    )
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
            [
                sys.executable,
                "-m",
                "filmstrip",
                "run",
                "--level",
                "calls",
                "program.py",
            ],
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
        result = run_python(
            ["-m", "filmstrip", "run", "--level", "calls", "-o", name, "program.py"],
            runner.folder,
        )
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
            [
                "-m",
                "filmstrip",
                "run",
                "--level",
                "calls",
                "-o",
                folder / "out.film",
                "program.py",
            ],
            runner.folder,
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
            [
                "-m",
                "filmstrip",
                "run",
                "--level",
                "calls",
                "-o",
                film,
                "program.py",
                folder / "filler",
            ],
            runner.folder,
        )
        assert (result.rc, result.stdout) == (0, "done\n"), result.stderr
        films.check(film)
        _, lost, _ = found_and_lost(film)
        found = films.count_calls(film, "f")
        assert found >= 1000
        assert found == 402_000 or lost > 0


def limited(kind, value):
    def set_limit():
        resource.setrlimit(kind, (value, value))

    return set_limit


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
            *(
                "-m",
                "filmstrip",
                "run",
                "--level",
                "calls",
                "--tick",
                "1",
                "-o",
                "out.film",
            ),
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
        ["-m", "filmstrip", "run", "--level", "calls", "-o", "out.film", "program.py"],
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
        ["-m", "filmstrip", "run", "--level", "calls", "-o", "out.film", "program.py"],
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
        done = run_as_nobody(
            ["-m", "filmstrip", "run", "--level", "calls", "program.py"], folder, **env
        )
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
    done = run_as_nobody(
        ["-m", "filmstrip", "run", "--level", "calls", "program.py"], folder
    )
    assert done.returncode == 2 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    done = run_as_nobody(["program.py"], folder, FILMSTRIP="1")
    assert (done.returncode, done.stdout) == (0, "ran\n")
    assert len(done.stderr.splitlines()) == 1
    assert sorted(os.listdir(folder)) == ["program.py"]


# --- damaged, foreign and newer files ----------------------------------------------------


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    """Closed films of several shapes, one left by a kill, one of a ring."""
    folder = tmp_path_factory.mktemp("samples")
    program = folder / "program.py"
    program.write_text(
        """
import sys, threading
def f(n):
    return n
def g(n):
    for i in range(n):
        yield f(i)
def h(n):
    try:
        if n % 3 == 0:
            raise ValueError("message %d" % n)
        return f(n)
    except ValueError:
        return sum(g(3))
def work(n):
    for i in range(n):
        h(i)
threads = [threading.Thread(target=work, args=(int(sys.argv[1]),)) for _ in range(int(sys.argv[2]))]
for thread in threads: thread.start()
work(int(sys.argv[1]))
for thread in threads: thread.join()
if len(sys.argv) > 3:
    import os
    os._exit(0)
"""
    )
    made = {}
    for name, arguments, options in (
        ("small", ["20", "0"], []),
        ("threads", ["300", "3"], []),
        ("chunks", ["8000", "1"], []),
        ("ring", ["3000", "1"], ["--ring", "8M"]),
        ("died", ["500", "1", "die"], []),
        ("c_calls", ["200", "0"], ["--c-calls", "--all"]),
    ):
        film = folder / f"{name}.film"
        result = run_python(
            [
                "-m",
                "filmstrip",
                "run",
                "--level",
                "calls",
                "-o",
                film,
                *options,
                program,
                *arguments,
            ],
            folder,
        )
        assert result.rc == 0, result.stderr
        films.check(film)
        made[name] = film
    return made


def chunks_of(film):
    """(offset, type, stream, number, first, count, summary, keyframe, payload bytes) of
    each chunk of a closed film, in the order of the file; docs/format.md 2."""
    data = film.read_bytes()
    at, found = 4096, []
    while at + 160 <= len(data) and data[at : at + 4] == b"FCHK":
        kind = data[at + 6]
        stream = struct.unpack_from("<I", data, at + 8)[0]
        number, first = struct.unpack_from("<QQ", data, at + 16)
        count = struct.unpack_from("<I", data, at + 32)[0]
        summary, keyframe, _, payload = struct.unpack_from("<IIII", data, at + 64)
        found.append(
            (at, kind, stream, number, first, count, summary, keyframe, payload)
        )
        at += (160 + summary + keyframe + payload + 63) & ~63
    return found


def test_a_damaged_chunk_is_named_and_the_rest_is_read(samples, tmp_path):
    original = samples["chunks"]
    events = [chunk for chunk in chunks_of(original) if chunk[1] == 4 and chunk[2] == 1]
    assert len(events) >= 4
    at, _, _, _, first, count, summary, keyframe, payload = events[2]
    whole = {event["event"] for event in dump_events(original, "--thread", "1")}
    for place in ("payload", "keyframe", "summary", "header"):
        offset = {
            "payload": at + 160 + summary + keyframe + payload // 2,
            "keyframe": at + 160 + summary + keyframe // 2,
            "summary": at + 160 + summary // 2,
            "header": at + 24,
        }[place]
        film = tmp_path / f"{place}.film"
        data = bytearray(original.read_bytes())
        data[offset] ^= 0x55
        film.write_bytes(data)
        result = run_program("check", film)
        assert result.rc == 1, (place, result.stdout, result.stderr)
        said = (result.stdout + result.stderr).replace(",", "")
        assert re.search(rf"chunk \d+ at byte {at}\b", said), (place, said)
        result = run_program("dump", "--thread", "1", film)
        assert result.stdout, place
        read = {
            event["event"]
            for event in films.dump_lines(result.stdout)
            if event["kind"] != "lost"  # stands for the gap
        }
        missing = whole - read
        # The other thread, and all of this one outside the damaged chunk.
        assert missing <= set(range(first, first + count)), place
        if place == "payload":
            assert missing == set(range(first, first + count))
            assert result.rc == 2
            assert str(at) in result.stderr.replace(",", "")
        other = run_program("dump", "--thread", "2", film)
        assert len(other.stdout.splitlines()) == len(
            run_program("dump", "--thread", "2", original).stdout.splitlines()
        )


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_truncated_film(samples, tmp_path, share):
    original = samples["chunks"]
    film = tmp_path / "cut.film"
    data = original.read_bytes()
    film.write_bytes(data[: int(len(data) * share)])
    result = run_program("check", film)
    assert result.rc == 1, (result.stdout, result.stderr)
    kept = [c for c in chunks_of(film) if c[1] == 4]
    ends = [c[0] + 160 + sum(c[6:]) for c in kept]
    whole = [c for c, end in zip(kept, ends) if end <= film.stat().st_size]
    result = run_program("dump", film)
    assert result.stderr and len(result.stderr.splitlines()) <= 10
    assert len(result.stdout.splitlines()) >= sum(chunk[5] for chunk in whole)


def test_a_cut_in_the_padding_loses_nothing(samples, tmp_path):
    """A chunk is whole once its bytes are there, with or without the padding."""
    data = samples["chunks"].read_bytes()
    chunks = chunks_of(samples["chunks"])
    padded = next(
        c for c in chunks[4:] if c[1] == 4 and (160 + sum(c[6:])) % 64 not in (0, 63)
    )
    film = tmp_path / "cut.film"
    film.write_bytes(data[: padded[0] + 160 + sum(padded[6:])])
    dumped = run_program("dump", film).stdout
    before = [c for c in chunks if c[1] == 4 and c[0] <= padded[0]]
    assert len(dumped.splitlines()) >= sum(chunk[5] for chunk in before)
    assert '"kind":"lost"' not in dumped


def test_every_prefix_of_a_small_film(samples, tmp_path):
    """No cut makes the reader crash, hang or say nothing."""
    data = samples["small"].read_bytes()
    film = tmp_path / "cut.film"
    step = max(1, len(data) // 120)
    for length in [*range(0, 200, 13), *range(200, len(data), step)]:
        film.write_bytes(data[:length])
        result = run_program("check", film, timeout=20)
        # Nobody misses the padding of the last chunk.
        allowed = (0, 1, 2) if len(data) - length < 64 else (1, 2)
        assert result.rc in allowed, (length, result.rc, result.stdout, result.stderr)
        assert result.stdout or result.stderr


def foreign_files(folder, samples):
    newer = bytearray(samples["small"].read_bytes())
    newer[8:10] = (2).to_bytes(2, "little")
    contents = {
        "text.film": b"not a film at all\n" * 500,
        "empty.film": b"",
        "short.film": samples["small"].read_bytes()[:100],
        "zeros.film": bytes(10_000),
        "magic.film": samples["small"].read_bytes()[:8] + bytes(8192),
        "newer.film": bytes(newer),
    }
    for name, data in contents.items():
        (folder / name).write_bytes(data)
    (folder / "folder.film").mkdir()
    return [*contents, "folder.film", "missing.film"]


def test_files_that_are_no_films(samples, tmp_path):
    for name in foreign_files(tmp_path, samples):
        for command in (*COMMANDS, "export"):
            more = (
                ["--to", "chrome", "-o", tmp_path / "out"]
                if command == "export"
                else []
            )
            result = run_program(command, tmp_path / name, *more)
            said = one_sentence(result)
            assert name in said, (command, said)
            assert result.stdout == ""
            assert not (tmp_path / "out").exists()
        if name == "newer.film":
            assert "version" in said or "newer" in said, said
    result = run_program("info", "/dev/null")
    one_sentence(result)


def test_a_newer_minor_version_is_read(samples, tmp_path):
    """It may have what we do not know, but it reads. (The superblock's checksum covers
    the version; a reader may also say that it is wrong, but not crash.)"""
    data = bytearray(samples["small"].read_bytes())
    data[10:12] = (7).to_bytes(2, "little")
    film = tmp_path / "minor.film"
    film.write_bytes(data)
    result = run_program("dump", film)
    assert result.rc in (0, 2) and (result.stdout or result.stderr)


@pytest.mark.once
@pytest.mark.parametrize("part", range(4))
def test_ten_thousand_damaged_films(samples, tmp_path, part):
    """No crash, no hang, no more than 2 GiB, whatever the bytes."""
    count = 2500 * FACTOR
    paths = [path for path in samples.values() if path.stat().st_size < 1 << 20]
    assert len(paths) >= 4
    result = run_python(
        [HERE / "damage.py", tmp_path, str(100 + part), str(count), *paths],
        tmp_path,
        timeout=280 * FACTOR,
    )
    lines = result.stdout.splitlines()
    if result.rc != 0:
        kept = pathlib.Path(tempfile.gettempdir()) / f"filmstrip-damaged-{part}.film"
        shutil.copy(tmp_path / f"damaged-{100 + part}.film", kept)
        raise AssertionError(
            f"file {lines[-1]} of part {part} (kept as {kept}) ended the reader with "
            f"{result.rc}: {result.stderr[-1500:]}"
        )
    results = json.loads(lines[-1])
    assert sum(results.values()) == count
    # All of these happen, or the damage is not the right one.
    assert results.get("damaged", 0) > count // 50
    assert results.get("refused", 0) > count // 50


@pytest.mark.once
def test_commands_on_damaged_films(samples, tmp_path):
    """The same through the program: exit codes 0, 1 and 2, no signal, no hang."""
    chance = random.Random(4)
    originals = [
        path.read_bytes() for path in samples.values() if path.stat().st_size < 1 << 20
    ]
    film = tmp_path / "damaged.film"
    for _ in range(40 * FACTOR):
        data = bytearray(chance.choice(originals))
        for _ in range(chance.randint(1, 8)):
            if data:
                chance.choice(damage.KINDS)(data, chance)
        film.write_bytes(data)
        for command in COMMANDS:
            done = subprocess.run(
                [PROGRAM, command, film],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                timeout=30,
                preexec_fn=limited(resource.RLIMIT_AS, 2 << 30),
            )
            if done.returncode not in (0, 1, 2):
                kept = (
                    pathlib.Path(tempfile.gettempdir()) / "filmstrip-damaged-cli.film"
                )
                shutil.copy(film, kept)
                raise AssertionError((command, done.returncode, done.stderr, str(kept)))
            if command != "check":
                assert done.returncode != 1


# --- pipes and interrupts -----------------------------------------------------------------


@pytest.fixture(scope="module")
def long_film(tmp_path_factory):
    folder = tmp_path_factory.mktemp("long")
    (folder / "program.py").write_text(
        "def f(n): return n\nfor n in range(400_000): f(n)\n"
    )
    film = folder / "out.film"
    result = run_python(
        ["-m", "filmstrip", "run", "--level", "calls", "-o", film, "program.py"], folder
    )
    assert result.rc == 0
    return film


@pytest.mark.parametrize("command", ["log", "dump", "report"])
def test_a_pipe_that_closes_early(long_film, command):
    child = subprocess.Popen(
        [PROGRAM, command, long_film],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=clean_environment(),
    )
    assert child.stdout.readline()
    child.stdout.close()
    errors = child.stderr.read()
    assert errors == b""
    assert child.wait(30) in (0, -signal.SIGPIPE, 128 + signal.SIGPIPE)


def test_log_and_head(long_film):
    done = subprocess.run(
        f"{PROGRAM} log {long_film} | head -n 1",
        shell=True,
        capture_output=True,
        text=True,
        env=clean_environment(),
    )
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 1 and done.stderr == ""


def test_a_full_device(long_film):
    """Output that cannot be written is a failure with a sentence, not silence."""
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [PROGRAM, "dump", long_film],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=clean_environment(),
        )
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", [["dump"], ["log"], ["log", "--follow"]])
def test_an_interrupt(long_film, command):
    child = subprocess.Popen(
        [PROGRAM, *command, long_film],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=clean_environment(),
    )
    child.stdout.read(1000)
    child.send_signal(signal.SIGINT)
    child.stdout.close()
    assert child.wait(30) in (0, -signal.SIGINT, 128 + signal.SIGINT)
    assert child.stderr.read() == b""


def test_an_interrupted_export_leaves_nothing(long_film, tmp_path):
    for attempt in range(8):
        out = tmp_path / "out.json"
        child = subprocess.Popen(
            [PROGRAM, "export", long_film, "--to", "chrome", "-o", out],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env=clean_environment(),
        )
        time.sleep(0.01 * attempt)
        child.send_signal(signal.SIGINT)
        status = child.wait(30)
        if status == 0:
            json.loads(out.read_text())
            out.unlink()
        else:
            assert os.listdir(tmp_path) == [], status
        child.stderr.close()


def test_reading_while_it_is_written(runner):
    """A live recording opens at any moment, each time with at least as much."""
    runner.write(
        """
        import os, time
        def f(n):
            return n
        print("up", flush=True)
        n = 0
        end = time.time() + 60
        while time.time() < end and not os.path.exists("seen"):
            for _ in range(1000):
                f(n)
            time.sleep(0.001)
        """
    )
    child = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "filmstrip",
            "run",
            "--level",
            "calls",
            "-o",
            "out.film",
            "program.py",
        ],
        cwd=runner.folder,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout.readline() == "up\n"
        seen = [0]
        while child.poll() is None:
            result = run_program("info", runner.folder / "out.film")
            assert result.rc == 0, result.stderr
            seen.append(
                int(re.search(r"events\s+([\d,]+)", result.stdout)[1].replace(",", ""))
            )
            result = run_program("check", runner.folder / "out.film")
            assert result.rc == 0, result.stdout
            if len(set(seen)) > 20:
                (runner.folder / "seen").touch()
    finally:
        child.kill()
        child.communicate()
    assert seen == sorted(seen) and len(set(seen)) > 5
