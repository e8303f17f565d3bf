"""What the measurements need: the peers for each Python, the empty hooks, the two small
C programs. All of it goes to build/bench and is made once."""

from __future__ import annotations

import pathlib
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
HERE = ROOT / "bench"
BUILD = ROOT / "build" / "bench"


class PreparationError(Exception):
    """A sentence for the person who called."""


def run(command: list[object], what: str) -> str:
    words = [str(word) for word in command]
    result = subprocess.run(words, capture_output=True, text=True)
    if result.returncode != 0:
        tail = (result.stderr or result.stdout).strip().splitlines()[-15:]
        raise PreparationError(
            f"{what} failed: {shlex.join(words)}\n" + "\n".join(tail)
        )
    return result.stdout


def is_newer(made: pathlib.Path, *sources: pathlib.Path) -> bool:
    if not made.exists():
        return False
    return all(made.stat().st_mtime >= source.stat().st_mtime for source in sources)


class Python:
    """One Python of the bench: its environment, where its peers are, its version."""

    def __init__(self, version: str) -> None:
        self.version = version
        self.numbers = tuple(map(int, version.split(".")))
        self.executable = ROOT / ".venvs" / version / "bin" / "python"
        self.peers = BUILD / version
        self.package: pathlib.Path | None = None
        if not self.executable.exists():
            raise PreparationError(f".venvs/{version} is missing: run `make build`")
        if self.ask("import importlib.util as u; print(u.find_spec('filmstrip'))") in (
            "",
            "None",
        ):
            raise PreparationError(
                f"filmstrip is not installed in .venvs/{version}: run `make build`"
            )
        self.full_version = self.ask("import platform as p; print(p.python_version())")

    @property
    def has_monitoring(self) -> bool:
        return self.numbers >= (3, 12)

    @property
    def program(self) -> pathlib.Path:
        """The `filmstrip` command of this environment."""
        return self.executable.parent / "filmstrip"

    def ask(self, code: str) -> str:
        return run([self.executable, "-c", code], self.version).strip()

    def take_snapshot(self, folder: pathlib.Path) -> None:
        """Copies the installed package, so that a build that comes in between does not
        change what is measured."""
        self.package = folder / self.version
        installed = self.ask("import filmstrip; print(filmstrip.__path__[0])")
        shutil.copytree(installed, self.package / "filmstrip")

    def install_peers(self) -> None:
        wanted = HERE / "requirements.txt"
        stamp = self.peers / ".installed"
        if is_newer(stamp, wanted):
            return
        print(f"{self.version}: installing the peers", file=sys.stderr)
        run(
            [
                *(sys.executable, "-m", "pip", "--python", self.executable),
                *("install", "--quiet", "--disable-pip-version-check", "--upgrade"),
                *("--target", self.peers, "-r", wanted),
            ],
            f"installing {wanted.name} for {self.version}",
        )
        stamp.touch()

    def build_floor(self) -> None:
        source = HERE / "floor.c"
        suffix = self.ask(
            "import sysconfig as s; print(s.get_config_var('EXT_SUFFIX'))"
        )
        # The base's headers: an environment has none of its own.
        include = self.ask(
            "import sys, sysconfig as s; print(s.get_path('include', "
            "vars={'installed_base': sys.base_prefix, 'base': sys.base_prefix}))"
        )
        made = self.peers / f"filmstrip_floor{suffix}"
        if is_newer(made, source):
            return
        self.peers.mkdir(parents=True, exist_ok=True)
        run(
            [
                *("cc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC"),
                *(f"-I{include}", source, "-o", made),
            ],
            f"building {source.name} for {self.version}",
        )

    def peer_versions(self) -> dict[str, str]:
        names = (
            *("pyperformance", "viztracer", "yappi"),
            *("objwatch", "pysnooper", "hunter"),
        )
        code = (
            f"import sys; sys.path.insert(0, {str(self.peers)!r}); "
            "import importlib.metadata as m; "
            f"print(*(m.version(n) for n in {names}))"
        )
        return dict(zip(names, self.ask(code).split(), strict=True))


def build_measure() -> pathlib.Path:
    made, source = BUILD / "measure", HERE / "measure.c"
    if not is_newer(made, source):
        BUILD.mkdir(parents=True, exist_ok=True)
        run(["cc", "-O2", "-Wall", source, "-o", made], "building measure.c")
    return made


def build_make_film(python: Python) -> pathlib.Path:
    """Against the writer of this Python's build; the same code in all of them."""
    made, source = BUILD / "make_film", HERE / "make_film.c"
    folder = ROOT / "build" / python.version
    archives = [folder / "libfilm_writer.a", folder / "libfilm_base.a"]
    if not all(archive.exists() for archive in archives):
        raise PreparationError(f"build/{python.version} is missing: run `make build`")
    headers = list((ROOT / "src").glob("*/*.h"))
    if is_newer(made, source, *archives, *headers):
        return made
    BUILD.mkdir(parents=True, exist_ok=True)
    try:
        command = ["pkg-config", "--static", "--libs", "libzstd"]
        zstd = run(command, "pkg-config").split()
    except (PreparationError, OSError):
        zstd = ["-lzstd"]
    run(
        [
            *("cc", "-std=gnu11", "-O2", "-Wall", "-D_GNU_SOURCE"),
            *(f"-I{ROOT / 'include'}", f"-I{ROOT / 'src'}", source, *archives, *zstd),
            *("-lpthread", "-lm", "-o", made),
        ],
        "building make_film.c",
    )
    return made
