"""What a recording is asked to do, how that travels to a new process, and how a
recording is started with it.

This runs inside recorded programs before their first line, so it imports nothing that
is not loaded already.
"""

import os
import sys

from filmstrip import _ranks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

LEVELS = ("calls", "lines", "values")
VALUES = ("all", "attributes", "locals")  # which stores level values tells
# Which of torch's operations are recorded, where the program imports it; what the
# recorder calls each.
TORCH = {"auto": 1, "off": 0, "ops": 1, "all": 2}
# How much of a value can be kept (capture.c).
MOST = {"text_bytes": 65536, "items": 512, "item_depth": 16}
MOST_WORDS = 64  # of redact_words, and of the characters of each
SWITCH = "FILMSTRIP"  # set and not "0": the .pth line starts a recording
CARRIER = "FILMSTRIP_OPTIONS"  # Options.encode(), from `run` or from a recorded parent

started_outside = False  # this process is recorded by `run`, FILMSTRIP or its parent


class Options:
    """The options of one recording. `first` is the film of the first process if that
    is not this one: then they came from a recorded parent, and `path` is empty."""

    def __init__(self) -> None:
        self.path = ""
        self.first = ""
        self.force = False
        self.targets: list[str] = []
        self.excludes: list[str] = []
        self.all = False
        self.c_calls = False
        self.exceptions = True
        self.ring = 0
        self.tick_ns = 16
        self.level = LEVELS.index("values")
        self.line_times = False
        self.text_bytes = 0  # how much of a value is kept; 0: the recorder's default
        self.items = 0
        self.item_depth = 0
        self.values = 0  # index in VALUES
        self.redact = True  # names of the built-in deny list are secret
        self.redact_words: list[str] = []  # and names with these in them
        self.children = True
        self.outer_calls = False  # tell where targets are called from, by whatever code
        self.held_too = False  # look at containers that attributes hold, as ObjWatch
        self.torch = TORCH["auto"]
        self.torch_gpu = False  # what ran on the GPU
        self.torch_values = False  # what tensors hold: least, greatest, mean ...
        self.argv = False
        self.progress = False
        self.ranks = ""  # only these are recorded, as _ranks.parse reads them
        self.rank = -1  # whose film `first` is; -1: of no rank
        self.free_name = False  # another free name is as good, if `path` is taken

    def encode(self) -> str:
        """One `name=value` a line; a list has a line for each item."""
        lines = []
        for name, value in vars(self).items():
            for item in value if isinstance(value, list) else [value]:
                text = str(int(item)) if isinstance(item, bool) else str(item)
                text = text.replace("\\", "\\\\").replace("\n", "\\n")
                lines.append(f"{name}={text}")
        return "\n".join(lines)

    @classmethod
    def decode(cls, encoded: str) -> "Options":
        """The inverse of encode; names of another version are skipped."""
        options = cls()
        for line in encoded.split("\n"):
            name, found, text = line.partition("=")
            before = getattr(options, name, None)
            if not found or before is None or callable(before):
                continue
            text = "\\".join(part.replace("\\n", "\n") for part in text.split("\\\\"))
            if isinstance(before, list):
                before.append(text)
            elif isinstance(before, bool):
                setattr(options, name, text == "1")
            elif isinstance(before, int):
                setattr(options, name, int(text))
            else:
                setattr(options, name, text)
        return options

    def name_rank(self, rank: "_ranks.Rank | None") -> None:
        """Its film's name tells the rank."""
        self.rank = rank.rank if rank is not None and rank.world_size > 1 else -1

    def for_children(self) -> "Options":
        """What a child process is told: the same, in a film beside the first."""
        options = Options.decode(self.encode())
        is_rank = self.rank >= 0 and self.path  # a rank's children are named after it
        options.first = self.path if is_rank else self.first or self.path
        options.path = ""
        options.force = options.progress = False
        options.free_name = True
        return options


def parse_size(text: str) -> int:
    """64M, 1G, 4096: a number of bytes. ValueError if it is none."""
    units = {"K": 10, "M": 20, "G": 30, "T": 40}
    number = text.strip().upper().removesuffix("B").removesuffix("I")
    shift = units.get(number[-1:], 0)
    if shift:
        number = number[:-1]
    if not number.isascii() or not number.isdigit() or int(number) == 0:
        raise ValueError(f"{text!r} is no size; write it as 64M or 1G")
    return int(number) << shift


def check_ring(size: int) -> int:
    """ValueError if a ring of that many bytes is too small to be one; 0 is none."""
    if size != 0 and size < 4 << 20:
        raise ValueError("a ring needs at least 4M")
    return size


def parse_level(level: str) -> int:
    if level not in LEVELS:
        raise ValueError(f"{level!r} is no level; the levels are calls, lines, values")
    return LEVELS.index(level)


def parse_values(values: str) -> int:
    if values not in VALUES:
        raise ValueError(f"{values!r} is none of locals, attributes, all")
    return VALUES.index(values)


def parse_torch(torch: str) -> int:
    if torch not in TORCH:
        raise ValueError(f"{torch!r} is none of auto, off, ops, all")
    return TORCH[torch]


def check_count(count: "int | None", name: str) -> int:
    """How much of a value is kept; 0 and None are the recorder's default."""
    wrong = f"{name} is a number from 1 to {MOST[name]}, not {count!r}"
    if count is not None and not isinstance(count, int):
        raise TypeError(wrong)
    if count and not 1 <= count <= MOST[name]:
        raise ValueError(wrong)
    return count or 0


def parse_count(text: str, name: str) -> int:
    """The same of the command line's --name."""
    number = int(text) if text.isascii() and text.isdigit() else 0
    if not 1 <= number <= MOST[name]:
        option = "--" + name.replace("_", "-")
        raise ValueError(f"{option} is a number from 1 to {MOST[name]}, not {text!r}")
    return number


def check_words(words: "Iterable[str]") -> list[str]:
    """What secret names have in them: TypeError or ValueError if a name cannot."""
    found = []
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"a word to redact is a str, not a {type(word).__name__}")
        if not ("_" + word.replace("-", "_")).isidentifier() or not word:
            raise ValueError(
                f"{word!r} is no word to redact; give letters, digits, - and _"
            )
        if len(word) > MOST_WORDS:
            raise ValueError(f"a word to redact has at most {MOST_WORDS} characters")
        found.append(word)
    if len(found) > MOST_WORDS:
        raise ValueError(f"at most {MOST_WORDS} words can be redacted")
    return found


def check_redaction(
    redact: bool, words: "str | Iterable[str]"
) -> "tuple[bool, list[str]]":
    """`redact` and `redact_words` as Python code gives them, for Options."""
    if not isinstance(redact, bool):
        raise TypeError("redact is True or False; words are given as redact_words")
    return redact, check_words([words] if isinstance(words, str) else words)


def resolve_target(target: str) -> str:
    """A target names a module or package, a part of one (module:Class, module:run(),
    module::NAME), or a file or folder. Paths become absolute, so that they mean the
    same wherever the program goes."""
    if target.startswith("*") and "/" not in target:
        return target
    if "/" in target or target.endswith(".py") or os.path.exists(target):
        return os.path.abspath(target)
    return target


def name_target(target: "Any") -> str:
    """The name of a module, class, function or method given as a target; a str or a
    path stays what it is. TypeError for anything else."""
    if isinstance(target, (str, os.PathLike)):
        return os.fspath(target)
    function = getattr(target, "__func__", target)  # a bound method's
    if isinstance(function, type(os)):
        return function.__name__
    if isinstance(function, type):
        nested = "." if "." in function.__qualname__ else ""
        return f"{function.__module__}:{function.__qualname__}{nested}"
    if isinstance(function, type(name_target)):
        return f"{function.__module__}:{function.__qualname__}()"
    raise TypeError(f"a {type(target).__name__} is no target")


def default_stem(arguments: list[str]) -> str:
    """The name of a recording without `.film`, from the words that name the program:
    ["dir/train.py"], ["-m", "pkg"], ["-c", ...] or nothing."""
    if not arguments:
        return "interactive"
    first = arguments[0]
    if first == "-c":
        return "command"
    if first == "-m":
        return arguments[1] if len(arguments) > 1 else "module"
    if first == "-":
        return "stdin"
    name = os.path.basename(os.path.abspath(first))
    for ending in (".py", ".pyw", ".pyz", ".pyc"):
        if name.endswith(ending) and name != ending:
            return name[: -len(ending)]
    return name or "program"


def free_path(stem: str) -> str:
    """`stem`.film, or the next free stem-2.film, stem-3.film ..."""
    path = stem + ".film"
    number = 2
    while os.path.lexists(path):
        path = f"{stem}-{number}.film"
        number += 1
    return path


def child_stem(first: str) -> str:
    """The stem of this process's film beside the first: train.film gives train.PID."""
    return f"{first.removesuffix('.film')}.{os.getpid()}"


def child_or_rank_stem(options: Options, rank: "_ranks.Rank | None") -> str:
    """The same, but train.rankN where the first has started the ranks and this is one;
    `options` then say so."""
    if rank is None or rank.world_size < 2 or options.rank >= 0:
        return child_stem(options.first)
    options.name_rank(rank)
    return _ranks.ranked(options.first.removesuffix(".film"), rank)


def shorten_home(path: str, home: str) -> str:
    """A home directory names its owner: films say ~ instead."""
    if home and (path == home or path.startswith(home + "/")):
        return "~" + path[len(home) :]
    return path


def home_directory() -> str:
    home = os.environ.get("HOME", "").rstrip("/")
    return home if home.startswith("/") and len(home) > 1 else ""


def _with_real_paths(folders: "Iterable[str]") -> list[str]:
    found: list[str] = []
    for folder in folders:
        for path in (folder, os.path.realpath(folder)):
            if path and path not in found:
                found.append(path)
    return found


def standard_library_folders() -> list[str]:
    folders = [os.path.dirname(os.path.abspath(os.__file__))]
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    for prefix in (sys.base_prefix, sys.base_exec_prefix):
        folders.append(os.path.join(prefix, sys.platlibdir, version))
    return _with_real_paths(folders)


def site_folders() -> list[str]:
    """Where installed packages live."""
    site = sys.modules.get("site")
    folders: list[str] = []
    try:
        folders += site.getsitepackages() if site else []
        if site and site.ENABLE_USER_SITE:
            folders.append(site.getusersitepackages())
    except AttributeError:  # an old virtualenv's site
        pass
    folders += [
        path
        for path in sys.path
        if os.path.basename(path) in ("site-packages", "dist-packages")
    ]
    return _with_real_paths(folders)


def begin(options: Options, meta: "Mapping[str, str]") -> str:
    """Starts the recorder; gives the path of the film. OSError, ValueError or
    RuntimeError say in one sentence why it could not."""
    from filmstrip import _recorder

    folder = os.path.dirname(options.path)
    if not os.path.isdir(folder):
        raise FileNotFoundError(2, "no such folder", folder)
    stem = options.path.removesuffix(".film")
    # Lines of .pth files look like user code of the module `site`, which runs them.
    excludes = options.excludes if options.all else [*options.excludes, "site"]
    while True:
        # All of ours before the start: with `all` the library's calls are recorded.
        if options.children:
            os.environ[SWITCH] = "1"
            os.environ[CARRIER] = options.for_children().encode()
        else:
            forget_environment()
        try:
            _recorder.start(
                options.path,
                replace=options.force,
                targets=tuple(options.targets),
                excludes=tuple(excludes),
                all=options.all,
                c_calls=options.c_calls,
                exceptions=options.exceptions,
                ring=options.ring,
                tick_ns=options.tick_ns,
                level=options.level,
                children=options.children,
                outer_calls=options.outer_calls,
                held_too=options.held_too,
                meta=dict(meta),
                stdlib_dirs=tuple(standard_library_folders()),
                site_dirs=tuple(site_folders()),
                own_dir=os.path.dirname(os.path.abspath(__file__)),
                home=home_directory(),
                line_times=options.line_times,
                text_bytes=options.text_bytes,
                items=options.items,
                item_depth=options.item_depth,
                values=options.values,
                torch=options.torch,
                torch_values=options.torch_values,
                torch_gpu=options.torch_gpu,
                redact=options.redact,
                redact_words=tuple(options.redact_words),
            )
            break
        except OSError:
            forget_environment()
            # Someone else took the name between our look and the recorder's.
            if not options.free_name or not os.path.lexists(options.path):
                raise
            following = free_path(stem)
            if following == options.path:
                raise
            options.path = following
        except BaseException:
            forget_environment()
            raise
    return options.path


def forget_environment() -> None:
    """The program's environment as it was without us."""
    for name in (SWITCH, CARRIER):
        if name in os.environ:
            del os.environ[name]


def describe(options: Options, arguments: list[str]) -> dict[str, str]:
    """Facts for `info`; `arguments` are the words that name the program. Its own
    arguments are kept only if asked for: they hold secrets."""
    home = home_directory()
    if not arguments:
        program = "interactive"
    elif arguments[0] == "-c":
        program = "-c"
    elif arguments[0] == "-m":
        program = " ".join(arguments[:2])
    else:
        program = shorten_home(os.path.abspath(arguments[0]), home)
    if len(arguments) > 1 and "multiprocessing.spawn" in arguments[1]:
        program = "multiprocessing spawn"
    elif len(arguments) > 1 and "multiprocessing.forkserver" in arguments[1]:
        program = "multiprocessing forkserver"
    meta = {
        "program": program,
        "python": ".".join(map(str, sys.version_info[:3])),
        "executable": shorten_home(sys.executable or "", home),
        "targets": " ".join(options.targets)
        or ("all code" if options.all else "user code"),
    }
    try:
        meta["cwd"] = shorten_home(os.getcwd(), home)
    except OSError:
        pass  # the folder is gone
    if options.values:
        meta["values"] = VALUES[options.values]
    if options.redact_words or not options.redact:
        how = "also" if options.redact else "only" if options.redact_words else "off"
        meta["redact"] = " ".join([how, *options.redact_words])
    if options.excludes:
        meta["excludes"] = " ".join(options.excludes)
    meta.update(_ranks.describe())
    if options.argv:
        meta["argv"] = " ".join(map(_quote, arguments))
    return meta


def _quote(word: str) -> str:
    plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-"
    if word and not word.strip(plain):
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"
