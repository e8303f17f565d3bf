"""Generated programs by the thousand, on each Python, in pieces.

    values_soak.py FOLDER VERSION... [--programs N] [--nested N] [--jobs N]
                   [--before COMMAND]

Those of values_programs.py, and those of values_nested.py. Each piece is 50 programs in a process of its own (values_worker.py), on the Python of
.venvs/VERSION. Its answers are kept in FOLDER/BUILD/VERSION/, where BUILD is the hash of
that Python's recorder and of what compares: so it goes on where it was stopped, and what
one build has passed does not count for another. Truths are kept in FOLDER/truths, for the
next build. --before: what starts each piece (nice -n 10, say). A file FOLDER/stop ends it
after the pieces that run. Sums at the end, status 1 where anything differs.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PIECE = 50


def build_of(version):
    """The recorder that is installed there, and what compares."""
    digest = hashlib.sha256()
    package = ROOT / ".venvs" / version / f"lib/python{version}/site-packages/filmstrip"
    for path in sorted(package.glob("_recorder*.so")) + sorted(
        HERE.glob("values_*.py")
    ):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def perform(folder, kept, version, kind, first, before):
    """Runs one piece; leaves its answers."""
    work = folder / "work" / f"{version}-{kind}-{first}"
    work.mkdir(parents=True, exist_ok=True)
    jobs = [f"{kind}:{seed}" for seed in range(first, first + PIECE)]
    done = subprocess.run(
        [
            *before,
            ROOT / ".venvs" / version / "bin" / "python",
            *(HERE / "values_worker.py", work, *jobs),
        ],
        capture_output=True,
        env={
            **os.environ,
            "PYTHONHASHSEED": "0",
            "FILMSTRIP_TRUTHS": str(folder / "truths"),
        },
    )
    kept.parent.mkdir(parents=True, exist_ok=True)
    part = kept.with_suffix(".part")
    part.write_bytes(done.stdout)
    part.rename(kept)


def sum_up(path, sums, differ):
    """Adds a piece's counts; what differs, and what a worker died with."""
    begun = None
    for line in path.read_text(errors="backslashreplace").splitlines():
        answer = json.loads(line)
        if answer.get("begun"):
            begun = answer["job"]
            continue
        begun = None
        sums["programs"] += 1
        sums.update(answer["counts"])
        if answer["difference"]:
            differ.append((answer["job"], answer["difference"].splitlines()[0]))
    if begun is not None:
        differ.append((begun, "the worker ended"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("versions", nargs="+")
    parser.add_argument("--programs", type=int, default=20_000)
    parser.add_argument("--nested", type=int, default=4000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--before", default="")
    options = parser.parse_args()
    folder = options.folder.resolve()
    builds = {version: build_of(version) for version in options.versions}

    def place(version, kind, first):
        return folder / builds[version] / version / f"{kind}-{first}.json"

    wanted = [
        (version, kind, first)
        for kind, count in (("nested", options.nested), ("seed", options.programs))
        for first in range(0, count, PIECE)
        for version in options.versions
    ]

    def take(piece):
        kept = place(*piece)
        if not kept.exists() and not (folder / "stop").exists():
            perform(folder, kept, *piece, shlex.split(options.before))

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for done, _ in enumerate(pool.map(take, wanted), 1):
            if done % 100 == 0:
                print(f"{done} of {len(wanted)} pieces", flush=True)
    wrong = missing = 0
    for version in options.versions:
        sums: collections.Counter[str] = collections.Counter()
        differ: list[tuple[str, str]] = []
        for piece in (piece for piece in wanted if piece[0] == version):
            if place(*piece).exists():
                sum_up(place(*piece), sums, differ)
        programs = options.programs + options.nested
        missing += programs - sums["programs"]
        wrong += len(differ)
        print(
            f"{version}, build {builds[version]}: {sums['programs']} of"
            f" {programs} programs, {len(differ)} differ, {dict(sums)}"
        )
        for job, why in differ:
            print(f"    {job}: {why}")
    return 1 if wrong or missing else 0


if __name__ == "__main__":
    sys.exit(main())
