"""Runs programs three times in one process: bare, under the truth, under the recorder;
compares the film with the truth.

    values_worker.py FOLDER JOB...      one JSON object a line for each job
        seed:NUMBER                     the generated program of that seed
        nested:NUMBER                   one of values_nested.py
        narrow:NUMBER                   the same, with few items shown: values_narrow.py
        file:PATH                       a program of its own
        library:NAME                    one of values_library.py
        way:NUMBER:WAY                  the generated program of that seed, recorded in two
                                        ways (values_ways.py)

{"job", "difference": null or text, "counts", "program": path, "seconds"}; before each,
{"job", "begun": true}, so that a worker that dies says with what.
"""

import contextlib
import gc
import hashlib
import io
import json
import marshal
import os
import re
import subprocess
import sys
import time
import traceback
import warnings
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import values_compare  # noqa: E402
import values_forms  # noqa: E402
import values_library  # noqa: E402
import values_narrow  # noqa: E402
import values_nested  # noqa: E402
import values_programs  # noqa: E402
import values_truth  # noqa: E402
import values_ways  # noqa: E402

MODULE = "generated"


def prepare_imports():
    """What programs import: not to be imported while one is recorded."""
    import asyncio  # noqa: F401
    import dataclasses  # noqa: F401
    import string  # noqa: F401
    import typing  # noqa: F401

    import filmstrip

    assert filmstrip.start and filmstrip.stop  # what they need is imported now


def execute(code, path):
    """Runs the program; what it printed, and what it raised."""
    space = {"__name__": MODULE, "__file__": path}
    sys.modules[MODULE] = type(sys)(MODULE)
    output, error = io.StringIO(), None
    with contextlib.redirect_stdout(output):
        try:
            exec(code, space)
        except (Exception, BaseExceptionGroup) as raised:
            # (A generator that is closed within an except* raises such a group.)
            error = repr(raised)
    # The program's objects die here, within the recording, in all three runs.
    space.clear()
    return without_addresses(output.getvalue()), without_addresses(error)


def without_addresses(text):
    """Where an object lies is another place each time."""
    return text and re.sub(r" at 0x[0-9a-f]+", " at 0x", text)


def read_film(film):
    import filmstrip

    program = os.path.join(os.path.dirname(filmstrip.__file__), "bin", "filmstrip")
    done = subprocess.run([program, "dump", film], capture_output=True, timeout=120)
    if done.returncode != 0:
        raise values_compare.Difference(f"dump: {done.stderr.decode()}")
    told = subprocess.run([program, "info", film], capture_output=True, timeout=120)
    strange = [
        line for line in told.stdout.decode().splitlines() if line[:5] == "edges"
    ]
    if strange:  # code went where its plan does not lead
        raise values_compare.Difference(f"info: {strange[0]}")
    return json.loads(b"[" + b",".join(done.stdout.splitlines()) + b"]")


def record(code, path, film, **options):
    import filmstrip

    filmstrip.start(film, targets=[path], level="values", force=True, **options)
    try:
        return execute(code, path)
    finally:
        filmstrip.stop()


def take_truth(path, compiled, keep, states, alone=False):
    """What the program prints and raises, and its truth. alone: it compiles no code of
    its own under its name."""
    bare = execute(marshal.loads(compiled), path)
    truth = values_truth.make_truth(path, keep, states)
    code = marshal.loads(compiled)
    truth.start(code if alone else None)
    try:
        under_truth = execute(code, path)
    finally:
        truth.stop()
    if under_truth != bare:
        raise values_compare.Difference(
            f"the truth changed the program: {bare} {under_truth}"
        )
    return bare, truth.streams


def compare_with_film(path, film, compiled, bare, streams, states=True):
    """Counts; raises Difference."""
    gc.collect()
    recorded = record(marshal.loads(compiled), path, film)
    if recorded != bare:
        raise values_compare.Difference(
            f"the recorder changed the program: {bare} {recorded}"
        )
    counts = values_compare.compare(streams, read_film(film), states)
    os.unlink(film)
    return counts


def compare_program(path, film, states=True, keep=True, alone=False):
    with open(path, encoding="utf-8") as file:
        source = file.read()
    # Code that no run has touched is made from this for each.
    compiled = marshal.dumps(compile(source, path, "exec", dont_inherit=True))
    keep = keep and "__del__" not in source and "weakref." not in source
    gc.collect()
    gc.disable()
    try:
        bare, streams = take_truth(path, compiled, keep, states, alone)
        return compare_with_film(path, film, compiled, bare, streams, states)
    finally:
        gc.enable()


# --- truths that are kept ---------------------------------------------------------------


def origin():
    """What a truth depends on: this Python, and what makes programs and truths."""
    digest = hashlib.sha256(sys.version.encode())
    for module in (values_programs, values_forms, values_truth):
        with open(module.__file__, "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()[:16]


def compare_seed(seed, folder, film):
    """As compare_program. Where FILMSTRIP_TRUTHS names a folder the truth is kept there
    and taken once: it does not depend on the recorder, and is most of the work."""
    truths = os.environ.get("FILMSTRIP_TRUTHS")
    folder = os.path.join(truths, origin()) if truths else folder
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"seed_{seed}.py")
    kept = os.path.join(folder, f"seed_{seed}.truth")
    if not os.path.exists(kept):
        with open(path, "w", encoding="utf-8") as file:
            file.write(values_programs.generate(seed))
        if not truths:
            counts = compare_program(path, film, alone=True)
            os.unlink(path)
            return counts
        keep_truth(path, kept)
    with open(kept, "rb") as file:
        compiled, source, bare, streams = marshal.loads(zlib.decompress(file.read()))
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    gc.disable()
    try:
        counts = compare_with_film(path, film, compiled, tuple(bare), streams)
    finally:
        gc.enable()
    os.unlink(path)
    return counts


def keep_truth(path, kept):
    with open(path, encoding="utf-8") as file:
        source = file.read()
    compiled = marshal.dumps(compile(source, path, "exec", dont_inherit=True))
    gc.collect()
    gc.disable()
    try:
        bare, streams = take_truth(path, compiled, True, True, alone=True)
    finally:
        gc.enable()
    data = zlib.compress(marshal.dumps((compiled, source, bare, streams)), 1)
    with open(kept + ".part", "wb") as file:
        file.write(data)
    os.rename(kept + ".part", kept)


def compare_ways(number, way, folder):
    """Counts; raises Difference."""
    path = os.path.join(folder, f"way_{number}.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(values_programs.generate(int(number)))
    gc.collect()
    gc.disable()
    try:
        case = values_ways.Case(
            int(number), path, path.replace(".py", ".film"), execute, read_film
        )
        return values_ways.compare(way, case)
    finally:
        gc.enable()
        os.unlink(path)


def perform(job, folder):
    """Counts; raises Difference."""
    kind, _, what = job.partition(":")
    film = os.path.join(folder, f"{kind}-{os.path.basename(what)}.film")
    if kind == "way":
        return compare_ways(*what.split(":", 1), folder)
    if kind == "library":
        return values_library.compare(what, folder, film)
    if kind == "seed":
        return compare_seed(int(what), folder, film)
    if kind in ("nested", "narrow"):
        path = os.path.join(folder, f"nested_{what}.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(values_nested.generate(int(what)))
        if kind == "narrow":
            return values_narrow.compare(path, film, record, read_film)
        return compare_program(path, film, alone=True)
    return compare_program(what, film)


def main():
    warnings.simplefilter("ignore")
    prepare_imports()
    folder, *jobs = sys.argv[1:]
    gc.collect()
    gc.freeze()  # it is collected twice for each program
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(**told):
        channel.write(json.dumps(told) + "\n")
        channel.flush()

    for job in jobs:
        say(job=job, begun=True)
        began = time.monotonic()
        try:
            counts, difference = perform(job, folder), None
        except values_compare.Difference as error:
            counts, difference = {}, str(error)
        except Exception:
            counts, difference = {}, traceback.format_exc()
        say(
            job=job,
            difference=difference,
            counts=counts,
            seconds=round(time.monotonic() - began, 3),
        )


if __name__ == "__main__":
    main()
