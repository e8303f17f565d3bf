"""Damaged, foreign and newer files: what a reader says of them, and what it reads."""

from __future__ import annotations

import json
import pathlib
import random
import re
import resource
import shutil
import struct
import subprocess
import tempfile

import pytest

from conftest import PROGRAM, RUN_CALLS, dump_events, run_program, run_python
from proof import damage, films
from proof.films import limited, one_sentence

HERE = pathlib.Path(__file__).resolve().parent / "proof"
FACTOR = 10 if films.SOAK else 1
COMMANDS = ("check", "info", "dump", "log", "report")
CHUNK_EVENTS = 16_384


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
            [*RUN_CALLS, "-o", film, *options, program, *arguments], folder
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
