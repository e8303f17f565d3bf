"""`make soak-libraries`: test suites that nobody here wrote, bare and recorded.

Each suite (suites.py) runs on each Python four times: bare, recorded with the default
targets, with the library as the target, and with `--all`. Every test must end as it does
bare; those that do not are run again both ways, to tell a change from a test that does
not always end alike. What was measured is kept below build/libraries, one file for each
run, so that a soak that was stopped goes on where it was; page.py makes
docs/compatibility.md of it.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import xml.etree.ElementTree
from collections.abc import Iterable, Sequence
from typing import Any

import page
from suites import SUITES, Suite

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT / ".venv" / "bin" / "python"  # has pip
MODES = ("bare", "default", "target", "all")
FILMS_LOOKED_AT = 40  # a suite may start hundreds of Pythons, each with its own film


class SoakError(Exception):
    """A suite could not be prepared or run, in one sentence."""


@dataclasses.dataclass
class Run:
    """One run of a suite: how each test ended, and what it cost."""

    status: int | None  # of the process; negative: the signal; None: out of time
    outcomes: dict[str, str]
    files: dict[str, str]  # of each test: what pytest is given to run it again
    wall_s: float
    cpu_s: float
    rss_kib: int
    output: str
    losses: dict[str, int] = dataclasses.field(default_factory=dict)
    films: int = 0
    film_bytes: int = 0
    events: int = 0
    faults: list[str] = dataclasses.field(default_factory=list)


class Place:
    """Where one suite lives for one Python: its environment, its source, its results."""

    def __init__(
        self, suite: Suite, package: pathlib.Path, python: str, base: pathlib.Path
    ) -> None:
        self.suite = suite
        self.package = package  # filmstrip, installed for that Python
        self.base_python = python
        self.folder = base / suite.name
        self.environment = self.folder / "env"
        self.python = self.environment / "bin" / "python"
        self.source = self.folder / "source"
        self.results = self.folder / "results"

    # --- preparing ----------------------------------------------------------------

    def prepare(self) -> None:
        """An environment with the library, what its tests need, and filmstrip."""
        stamp = self.folder / "prepared"
        row = self.suite.prepared_from()
        if not stamp.exists() or stamp.read_text() != row:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir(parents=True)
            run_quietly(
                [self.base_python, "-m", "venv", "--without-pip", self.environment]
            )
            self._pip("install", *self.suite.requirements)
            self._fetch_source()
            # What a first run alone does, as writing caches, is not to be measured.
            self.run("bare")
            stamp.write_text(row)
        self._install_filmstrip()

    def _pip(self, *words: str) -> None:
        command: list[str | os.PathLike[str]] = [TOOLS, "-m", "pip"]
        command += ["--python", self.python, "--disable-pip-version-check"]
        run_quietly([*command, words[0], "-q", *words[1:]], limit_s=900)

    def _fetch_source(self) -> None:
        if self.suite.source == "folder":
            shutil.copytree(ROOT / "tests" / "libraries" / self.suite.name, self.source)
        elif self.suite.source == "wheel":  # the tests are in what is installed
            self.source.mkdir()
        else:
            got = self.folder / "sdist"
            got.mkdir()
            if self.suite.debian:
                self._fetch_from_debian(got)
            else:
                name = self.suite.distribution
                pinned = f"{name}=={self.suite.version}"
                self._pip(
                    *("download", "--no-deps", f"--no-binary={name}"),
                    *(f"-d{got}", pinned),
                )
            (archive,) = got.iterdir()
            with tarfile.open(archive) as file:
                file.extractall(self.folder / "unpacked", filter="data")
            (tree,) = (self.folder / "unpacked").iterdir()
            (tree / self.suite.inside).rename(self.source)
            for name in self.suite.remove:
                shutil.rmtree(self.source / name)
        if self.suite.source != "sdist":  # or pytest would take the settings of ours
            (self.source / "pytest.ini").write_text("[pytest]\n")
        for name, text in self.suite.add.items():
            (self.source / name).write_text(text)
        for name, old, new in self.suite.patience:
            text = (self.source / name).read_text()
            if old not in text:
                raise SoakError(f"{name} of {self.suite.name} has no {old!r}")
            (self.source / name).write_text(text.replace(old, new))

    def _fetch_from_debian(self, got: pathlib.Path) -> None:
        """The library's own archive, as Debian's source package has it."""
        release, package = self.suite.debian
        apt = self.folder / "apt"
        run_quietly([ROOT / "tools" / "debian_apt", "deb-src", release, apt])
        run_quietly(
            [
                *("apt-get", "source", "-q", "--download-only", "--tar-only"),
                *("--only-source", f"{package}/{release}"),
            ],
            folder=got,
            environment={"APT_CONFIG": str(apt / "apt.conf")},
        )
        (archive,) = got.iterdir()
        if f"_{self.suite.version}.orig." not in archive.name:
            raise SoakError(f"Debian's {release} has {archive.name}")

    def _install_filmstrip(self) -> None:
        """Copies the package, as a wheel has it, with what says that it is there."""
        (site,) = self.environment.glob("lib/python3*/site-packages")
        shutil.rmtree(site / "filmstrip", ignore_errors=True)
        shutil.copytree(self.package, site / "filmstrip")
        shutil.copy(self.package.parent / "filmstrip.pth", site)
        about = site / "filmstrip-0.dist-info"
        about.mkdir(exist_ok=True)
        (about / "METADATA").write_text("Name: filmstrip\nVersion: 0\n")
        (about / "RECORD").write_text("filmstrip/__init__.py,,\n")
        name = "filmstrip.pytest_plugin"
        (about / "entry_points.txt").write_text(f"[pytest11]\n{name} = {name}\n")

    def built(self) -> str:
        """What tells one build of filmstrip from another."""
        digest = hashlib.sha256()
        for path in sorted(self.package.rglob("*")):
            if path.suffix in (".so", ".py"):
                digest.update(path.read_bytes())
        return digest.hexdigest()[:16]

    # --- running ------------------------------------------------------------------

    def run(self, mode: str, only: Sequence[str] = ()) -> Run:
        """Runs the suite, or `only` these files of it."""
        films = self.folder / "films"
        shutil.rmtree(films, ignore_errors=True)
        films.mkdir()
        report = self.folder / "report.xml"
        report.unlink(missing_ok=True)
        command: list[str] = [str(self.python)]
        if mode != "bare":
            command += ["-m", "filmstrip", "run", "-o", str(films / "main.film")]
        if mode == "target":
            for target in self.suite.targets:
                command += ["--target", target]
        elif mode == "all":
            command += ["--all"]
        command += self.suite.words(str(report), only)
        log = self.folder / f"{mode}.log"
        environment = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("FILMSTRIP", "PYTHON", "PYTEST", "COVERAGE", "MAKE"))
        }
        environment |= {
            "PATH": f"{self.environment / 'bin'}:{environment.get('PATH', '')}",
            "PYTHONHASHSEED": "0",
            "HOME": str(self.folder),
            "REPORT": str(report),  # for a command that is not told in its words
            **self.suite.environment,
        }
        limit_s = self.suite.limit_s * (1 if mode == "bare" else 4)
        began = time.monotonic()
        with open(log, "wb") as output:
            child = subprocess.Popen(
                command,
                cwd=self.source,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            status, usage = wait(child, began + limit_s)
        done = Run(
            status,
            *read_report(report),
            wall_s=time.monotonic() - began,
            cpu_s=usage.ru_utime + usage.ru_stime,
            rss_kib=usage.ru_maxrss,
            output=log.read_text(errors="backslashreplace")[-4000:],
        )
        if mode != "bare":
            self._look_at(films, done)
        shutil.rmtree(films, ignore_errors=True)
        return done

    def _look_at(self, films: pathlib.Path, done: Run) -> None:
        """What the recordings say of themselves: sizes, losses, damage."""
        program = self.package / "bin" / "filmstrip"
        paths = sorted(films.iterdir(), key=lambda path: -path.stat().st_size)
        done.films = len(paths)
        done.film_bytes = sum(path.stat().st_size for path in paths)
        if not (films / "main.film").exists():
            done.faults.append("there is no recording")
        for path in paths[:FILMS_LOOKED_AT]:
            told = subprocess.run(
                [program, "info", "--json", path], capture_output=True, text=True
            )
            if told.returncode != 0:
                done.faults.append(f"info {path.name}: {told.stderr.strip()}")
                continue
            info = json.loads(told.stdout)
            done.events += info["events"]
            for name in ("lost_events", "plans_missing"):
                done.losses[name] = done.losses.get(name, 0) + info.get(name, 0)
            checked = subprocess.run(
                [program, "check", path], capture_output=True, text=True
            )
            # One that was killed, as suites kill children, is not closed; not damaged.
            if checked.returncode != 0 or info["damage"]:
                done.faults.append(
                    f"check {path.name}: {(checked.stdout + checked.stderr).strip()}"
                )


def run_quietly(
    command: Sequence[str | os.PathLike[str]],
    limit_s: float = 300,
    folder: pathlib.Path | None = None,
    environment: dict[str, str] | None = None,
) -> None:
    words = [os.fspath(word) for word in command]
    try:
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            timeout=limit_s,
            cwd=folder,
            env={**os.environ, **(environment or {})},
        )
    except subprocess.TimeoutExpired:
        raise SoakError(f"{' '.join(words)}: not done in {limit_s:.0f} s") from None
    if done.returncode != 0:
        lines = (done.stdout + done.stderr).strip().splitlines() or ["failed"]
        raise SoakError(f"{' '.join(words)}: " + "\n  ".join(lines[-6:]))


def wait(child: subprocess.Popen[bytes], end: float) -> tuple[int | None, Any]:
    """The child's exit status (None if its time was over) and what it used, with the
    children it waited for."""
    over = False
    while True:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            break
        if time.monotonic() > end and not over:
            over = True
            os.killpg(child.pid, signal.SIGKILL)  # it is the leader of its own group
        time.sleep(0.05)
    child.returncode = os.waitstatus_to_exitcode(status)
    return (None if over else child.returncode), usage


def read_report(report: pathlib.Path) -> tuple[dict[str, str], dict[str, str]]:
    """How each test of a JUnit report ended, and the file each is in."""
    outcomes: dict[str, str] = {}
    files: dict[str, str] = {}
    if not report.exists():
        return outcomes, files
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        name = f"{case.get('classname', '')}::{case.get('name', '')}"
        number = 1
        while (key := name if number == 1 else f"{name} ({number})") in outcomes:
            number += 1
        ends = {child.tag for child in case} & {"failure", "error", "skipped"}
        outcomes[key] = "+".join(sorted(ends)) or "passed"
        files[key] = case.get("file", "")
    return outcomes, files


def differences(bare: Run, recorded: Run) -> list[str]:
    """The tests that did not end alike; those that ran in one of the two only as well."""
    return sorted(
        name
        for name in bare.outcomes.keys() | recorded.outcomes.keys()
        if bare.outcomes.get(name) != recorded.outcomes.get(name)
    )


def verdict(place: Place, mode: str, bare: Run, recorded: Run) -> dict[str, Any]:
    """The result of one recorded run, held against the bare one."""
    changed = differences(bare, recorded)
    unsteady: list[str] = []
    files = {**bare.files, **recorded.files}
    again = sorted({files[name] for name in changed} - {""})
    if changed and again and recorded.status is not None:
        second_bare = place.run("bare", again)
        second = place.run(mode, again)
        steady = set(differences(second_bare, second))
        unsteady = [name for name in changed if name not in steady]
        changed = [name for name in changed if name in steady]
    return {
        **measured(recorded),
        "changed": {
            name: f"{bare.outcomes.get(name)} -> {recorded.outcomes.get(name)}"
            for name in changed
        },
        "unsteady": unsteady,
        "same_status": recorded.status == bare.status,
        "slowdown": round(recorded.cpu_s / max(bare.cpu_s, 0.01), 2),
        "rss_over_bare_mib": round((recorded.rss_kib - bare.rss_kib) / 1024, 1),
        "losses": recorded.losses,
        "films": recorded.films,
        "film_bytes": recorded.film_bytes,
        "events": recorded.events,
        "faults": recorded.faults,
    }


def measured(run: Run) -> dict[str, Any]:
    counts: dict[str, int] = {}
    for outcome in run.outcomes.values():
        counts[outcome] = counts.get(outcome, 0) + 1
    return {
        "status": run.status,
        "tests": len(run.outcomes),
        "outcomes": counts,
        "wall_s": round(run.wall_s, 1),
        "cpu_s": round(run.cpu_s, 1),
        "rss_mib": round(run.rss_kib / 1024, 1),
        **({} if run.status in (0, 1) else {"output": run.output}),
    }


def soak(place: Place, modes: Iterable[str], again: bool = False) -> dict[str, Any]:
    """Runs what has no result yet; gives the results of all modes that were asked for.
    The bare run is repeated where anything is: the two stand side by side."""
    place.prepare()
    place.results.mkdir(exist_ok=True)
    mark = {"suite": place.suite.run_as(), "built": place.built()}
    results: dict[str, Any] = {}
    bare: Run | None = None
    for mode in modes:
        path = place.results / f"{mode}.json"
        if path.exists() and not again:
            kept = json.loads(path.read_text())
            if kept["mark"] == mark:
                results[mode] = kept
                continue
        if bare is None:
            bare = place.run("bare")
            if bare.status not in (0, 1) or not bare.outcomes:
                raise SoakError(
                    f"the bare run ended with {bare.status}, "
                    f"{len(bare.outcomes)} tests:\n{bare.output[-1500:]}"
                )
            if mode != "bare":
                write(place.results / "bare.json", {"mark": mark, **measured(bare)})
        if mode == "bare":
            results[mode] = {"mark": mark, **measured(bare)}
        else:
            recorded = place.run(mode)
            results[mode] = {"mark": mark, **verdict(place, mode, bare, recorded)}
        write(path, results[mode])
    return results


def write(path: pathlib.Path, result: dict[str, Any]) -> None:
    part = path.with_suffix(".part")
    part.write_text(json.dumps(result, indent=1))
    part.rename(path)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pythons", nargs="+", help="3.12=/path/to/python, as make says")
    parser.add_argument("--suites", default="", help="names; without it, all")
    parser.add_argument("--modes", default=" ".join(MODES), help="of: %(default)s")
    parser.add_argument("--again", action="store_true", help="forget earlier results")
    options = parser.parse_args()
    names = options.suites.split() or list(SUITES)
    for name in names:
        if name not in SUITES:
            parser.error(f"there is no suite {name}; there are: {' '.join(SUITES)}")

    # A shell starts what runs in the background with SIGINT ignored, and children inherit
    # that: tests of KeyboardInterrupt would wait for ever.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    folder = ROOT / "build" / "libraries"
    failed = 0
    for name in names:
        for pair in options.pythons:
            version, _, python = pair.partition("=")
            suite = SUITES[name]
            if version not in suite.pythons:
                continue
            (package,) = (ROOT / ".venvs" / version).glob(
                "lib/*/site-packages/filmstrip"
            )
            place = Place(suite, package, python, folder / version)
            try:
                results = soak(place, options.modes.split(), options.again)
            except SoakError as error:
                print(f"{version} {name}: NOT RUN: {error}", flush=True)
                failed += 1
                continue
            for mode, result in results.items():
                print(f"{version} {name} {mode}: {page.sentence(result)}", flush=True)
                failed += page.is_fault(suite, mode, result)
    page.write(ROOT / "docs" / "compatibility.md", folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
