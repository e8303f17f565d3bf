"""`filmstrip run`: checks what was asked, then becomes the program.

The process is replaced by a fresh interpreter with the same flags, which runs the
program itself; filmstrip.pth starts the recorder in it. So nothing of ours is on the
stack, in argv or in __main__, and the process ends as the program ends.
"""

from __future__ import annotations

import os
import site
import sys
from collections.abc import Callable
from typing import NoReturn

from filmstrip import _ranks
from filmstrip._options import (
    CARRIER,
    SWITCH,
    Options,
    check_ring,
    check_words,
    default_stem,
    free_path,
    parse_count,
    parse_level,
    parse_size,
    parse_torch,
    parse_values,
    resolve_target,
)

HELP = """\
usage: filmstrip run [options] SCRIPT [arguments ...]
       filmstrip run [options] -m MODULE [arguments ...]
       filmstrip run [options] -c CODE [arguments ...]

Records a program, unmodified. Its output, its exit status and the signal it dies of
are what they are without filmstrip. Options stand before the program, its own
arguments behind it.

  -o FILE            where to write; an existing file is refused. Without it:
                     train.film for train.py, pkg.film for -m pkg, command.film for
                     -c; if that exists, the next free train-2.film. With ranks
                     (torchrun, MPI, Slurm) each has its own: train.rankN.film, and
                     -o out.film gives out.rankN.film
  --force            replace an existing FILE
  --level LEVEL      how much to keep of recorded code: calls, lines (which lines ran)
                     or values (every value that was written), the default
  --values WHICH     of level values: locals (variables, arguments, returns), attributes
                     (those too), or all (items, contents and changes in place too)
  --line-times       a time for each line, not only for calls and returns
  --text-bytes N     how much of a text is kept (256 bytes, then its length and hash)
  --items N          how many items of a container or object are kept (32)
  --item-depth N     how many containers within one another (3)
  --target NAME      record this file, folder, module or package only (repeatable);
                     without it: everything outside the standard library and
                     site-packages
  --exclude NAME     do not record this one (repeatable)
  --all              record all Python code, the standard library too
  --outer-calls      tell where code that is not recorded calls code that is
  --torch WHICH      operations of PyTorch, where the program imports it: ops (those
                     that Python code calls; so does auto, the default), all (those that
                     its C++ code calls too, such as the backward pass) or off
  --torch-values     what tensors hold: least, greatest, mean, numbers that are not
                     finite and a hash (on the CPU)
  --torch-gpu        kernels and copies that ran on a GPU, with their true times
  --c-calls          record calls of C functions made by recorded code
  --no-exceptions    do not record raised and handled exceptions (on Python 3.11 this
                     is faster)
  --ring SIZE        keep only the end of the run, in at most SIZE (64M, 1G)
  --tick NS          resolution of the clock in nanoseconds (16; 1 makes bigger files)
  --no-children      do not record child processes; else each Python process gets its
                     own train.PID.film beside the first
  --ranks 0,3        of a distributed program record only these ranks (0-3: these four);
                     the others run untouched
  --argv             keep the program's arguments in the recording (they may be secret)
  --redact WORD      do not record values of names with WORD in them (repeatable); those
                     with password, token, api_key and the like are not in any case
  --no-redact        record these too; with --redact only its words count
  --no-progress      no progress line on a terminal
  -h, --help         this page

The interpreter's own options: python -X dev -W error -m filmstrip run ...

Example:
  filmstrip run -o slow.film --target my_package train.py --epochs 3
  filmstrip report slow.film
"""


class UsageError(Exception):
    """Wrong use or bad input, in one sentence."""


def parse_tick(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 1_000_000:
        raise ValueError(f"{text!r} is no clock tick; give 1 to 1000000 nanoseconds")
    return int(text)


def parse_arguments(words: list[str]) -> tuple[Options, list[str]]:
    """Splits the words into run's options and the words that name the program and its
    arguments. UsageError says what is wrong."""
    options = Options()
    options.progress = True
    flags: dict[str, tuple[str, bool]] = {
        "--force": ("force", True),
        "--all": ("all", True),
        "--c-calls": ("c_calls", True),
        "--outer-calls": ("outer_calls", True),
        "--exceptions": ("exceptions", True),
        "--no-exceptions": ("exceptions", False),
        "--children": ("children", True),
        "--no-children": ("children", False),
        "--argv": ("argv", True),
        "--torch-values": ("torch_values", True),
        "--torch-gpu": ("torch_gpu", True),
        "--line-times": ("line_times", True),
        "--no-progress": ("progress", False),
        "--no-redact": ("redact", False),
    }

    def set_path(text: str) -> None:
        if not text:
            raise ValueError("-o needs a file name")
        options.path = os.path.abspath(text)

    def set_ring(text: str) -> None:
        options.ring = check_ring(parse_size(text))

    def set_ranks(text: str) -> None:
        options.ranks = ",".join(map(str, _ranks.parse(text)))

    def set_tick(text: str) -> None:
        options.tick_ns = parse_tick(text)

    def set_level(text: str) -> None:
        options.level = parse_level(text)

    def set_values(text: str) -> None:
        options.values = parse_values(text)

    def set_torch(text: str) -> None:
        options.torch = parse_torch(text)

    def set_count(name: str) -> Callable[[str], None]:
        def set_one(text: str) -> None:
            setattr(options, name, parse_count(text, name))

        return set_one

    def add_word(text: str) -> None:
        options.redact_words = check_words([*options.redact_words, text])

    valued: dict[str, Callable[[str], None]] = {
        "-o": set_path,
        "--output": set_path,
        "--ring": set_ring,
        "--tick": set_tick,
        "--ranks": set_ranks,
        "--level": set_level,
        "--values": set_values,
        "--torch": set_torch,
        "--text-bytes": set_count("text_bytes"),
        "--items": set_count("items"),
        "--item-depth": set_count("item_depth"),
        "--redact": add_word,
        "--target": lambda text: options.targets.append(resolve_target(text)),
        "--exclude": lambda text: options.excludes.append(resolve_target(text)),
    }
    rest = list(words)
    while rest:
        word = rest[0]
        if word == "--":
            del rest[0]
            break
        if not word.startswith("-") or word == "-":
            break
        if word in ("-m", "-c"):
            if len(rest) < 2:
                what = "a module" if word == "-m" else "code"
                raise UsageError(f"{word} needs {what}")
            break
        if word[:2] in ("-m", "-c") and not word.startswith("--"):
            rest[:1] = [word[:2], word[2:]]
            break
        del rest[0]
        name, equals, value = word.partition("=")
        if not word.startswith("--") and len(word) > 2:
            name, equals, value = word[:2], "=", word[2:]
        if word in flags:
            attribute, state = flags[word]
            setattr(options, attribute, state)
        elif name in valued:
            if not equals:
                if not rest:
                    raise UsageError(f"{name} needs a value")
                value = rest.pop(0)
            try:
                valued[name](value)
            except ValueError as error:
                raise UsageError(str(error)) from None
        else:
            raise UsageError(f"unknown option {name}; see filmstrip run --help")
    if not rest:
        raise UsageError("no program given; see filmstrip run --help")
    if options.targets and options.all:
        raise UsageError("--all and --target contradict each other")
    return options, rest


def check_program(program: list[str]) -> None:
    script = program[0]
    if script in ("-m", "-c", "-"):
        return
    if not os.path.exists(script):
        raise UsageError(f"{script}: no such script")
    if os.path.isdir(script) and not any(
        os.path.exists(os.path.join(script, name))
        for name in ("__main__.py", "__main__.pyc")
    ):
        raise UsageError(f"{script}: is a folder without __main__.py")
    if not os.access(script, os.R_OK):
        raise UsageError(f"{script}: cannot be read")


def choose_path(options: Options, program: list[str]) -> None:
    """Fills in options.path, or says why the film cannot be there."""
    rank = _ranks.from_environment(os.environ)
    options.name_rank(rank)
    if options.path:
        options.path = _ranks.ranked_path(options.path, rank)
    if not options.path:
        stem = _ranks.ranked(os.path.abspath(default_stem(program)), rank)
        options.path = free_path(stem)
        options.free_name = True
    elif os.path.isdir(options.path):
        raise UsageError(f"{options.path}: is a folder; -o needs a file name")
    elif os.path.lexists(options.path) and not options.force:
        raise UsageError(f"{options.path}: exists; --force replaces it")
    folder = os.path.dirname(options.path)
    if not os.path.isdir(folder):
        raise UsageError(f"{folder}: no such folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"{folder}: cannot be written to; choose a file with -o")


def interpreter_flags() -> list[str]:
    """The interpreter's own options in front of `-m filmstrip` or of our script."""
    own = len(sys.argv) - 1
    head = sys.orig_argv[1 : len(sys.orig_argv) - own]
    if len(head) >= 2 and head[-1] == "filmstrip" and head[-2].endswith("m"):
        cluster = head[-2].removesuffix("m")  # "-Em filmstrip" is "-E -m filmstrip"
        return head[:-2] + ([cluster] if cluster not in ("", "-") else [])
    if head and head[-1].endswith("mfilmstrip"):
        cluster = head[-1].removesuffix("mfilmstrip")
        return head[:-1] + ([cluster] if cluster not in ("", "-") else [])
    return head[:-1]


def check_startup() -> None:
    """A new interpreter must run filmstrip.pth: it lies where site looks for it."""
    if sys.flags.no_site or not sys.executable:
        raise UsageError("run needs the interpreter's site module; leave out -S")
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    folders = [*site.getsitepackages(), site.getusersitepackages()]
    if os.path.realpath(home) not in map(os.path.realpath, folders) or not (
        os.path.exists(os.path.join(home, "filmstrip.pth"))
    ):
        raise UsageError(
            f"filmstrip is not installed for {sys.executable}: "
            f"install it with that Python's pip (it is loaded from {home})"
        )


def become(options: Options, program: list[str], recorded: bool = True) -> NoReturn:
    flags = interpreter_flags()
    environment = dict(os.environ)
    for name in (SWITCH, CARRIER):
        environment.pop(name, None)
    if recorded:
        environment[SWITCH] = "1"
        if sys.flags.isolated or sys.flags.ignore_environment:
            flags += ["-X", "filmstrip=" + options.encode()]
        else:
            environment[CARRIER] = options.encode()
    if program[0].startswith("-") and program[0] not in ("-m", "-c", "-"):
        program = ["./" + program[0], *program[1:]]
    os.execve(sys.executable, [sys.executable, *flags, *program], environment)


def main(words: list[str]) -> int:
    if words[:1] == ["--help"] or words[:1] == ["-h"]:
        sys.stdout.write(HELP)
        return 0
    try:
        options, program = parse_arguments(words)
        check_program(program)
        check_startup()
        rank = _ranks.from_environment(os.environ)
        wanted = _ranks.parse_all(options.ranks)
        if rank is not None and not _ranks.is_wanted(wanted, rank):
            become(options, program, recorded=False)
        choose_path(options, program)
        try:
            from filmstrip import _recorder  # noqa: F401
        except ImportError as error:
            raise UsageError(str(error)) from None
        if options.progress and os.isatty(2):
            from filmstrip import _progress

            _progress.watch(options.path)
        sys.stdout.flush()
        sys.stderr.flush()
        become(options, program)
    except UsageError as error:
        print(f"filmstrip: {error}", file=sys.stderr)
    except OSError as error:
        print(f"filmstrip: {error.filename}: {error.strerror}", file=sys.stderr)
    return 2
