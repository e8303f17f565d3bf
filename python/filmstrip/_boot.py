"""Starts recording before the program's first line.

The interpreter imports this through filmstrip.pth while it sets itself up, if
FILMSTRIP is set: by `filmstrip run`, by a recorded parent process, or by hand. The
interpreter then runs the program itself, so that argv, sys.path, __main__, tracebacks,
signals and the exit status are what they are without us. Nothing may escape from here.
"""

import os
import sys

from filmstrip import _options, _ranks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _say(sentence: str) -> None:
    try:
        os.write(2, f"filmstrip: {sentence}\n".encode(errors="backslashreplace"))
    except OSError:
        pass


def _carried() -> str | None:
    """The encoded options; None if this process is not to be recorded.

    Under -I and -E the environment is not to be trusted: then only an -X option given
    by `filmstrip run` itself counts, and it leaves no trace.
    """
    xoption = sys._xoptions.pop("filmstrip", None)
    if isinstance(xoption, str):
        for index, word in enumerate(sys.orig_argv):
            if word == "filmstrip=" + xoption and sys.orig_argv[index - 1] == "-X":
                del sys.orig_argv[index - 1 : index + 1]
                break
        return xoption
    if sys.flags.isolated or sys.flags.ignore_environment:
        return None
    if os.getuid() != os.geteuid() or os.getgid() != os.getegid():
        return None
    return os.environ.get(_options.CARRIER, "")


def _program_words() -> list[str]:
    """The words that name the program and its arguments, from the command line."""
    if sys.argv[:1] != ["-c"] and sys.argv[:1] != ["-m"]:
        return [word for word in sys.argv if word]
    # sys.argv leaves out the code or the module's name.
    option = sys.argv[0]
    index = len(sys.orig_argv) - len(sys.argv)
    value, before = sys.orig_argv[index], sys.orig_argv[index - 1]
    if not (before.startswith("-") and before.endswith(option[1])):
        value = value.partition(option[1])[2]  # -mpkg, -Ic...
    return [option, value, *sys.argv[1:]]


def _own_script() -> str:
    return os.path.join(os.path.dirname(sys.executable or ""), "filmstrip")


def _ending() -> dict[str, str]:
    """How the program ended, as far as it is known while Python still runs; the exit
    status is added when the process exits."""
    meta = {"ended": "exit"}
    uncaught = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    if uncaught is not None:
        # Past any metaclass: its code is the program's.
        meta["exit_exception"] = type.__dict__["__name__"].__get__(type(uncaught))
    return meta


def _never_began() -> bool:
    """True after `-m` of a module that is not there or cannot be run: where it can,
    runpy has put its path in the place of -m, and its spec into __main__."""
    main = sys.modules.get("__main__")
    return sys.argv[:1] == ["-m"] and getattr(main, "__spec__", None) is None


def _finish(options: _options.Options, pid: int) -> None:
    """The first exit handler registered and so the last to run. Also run by a child
    that was forked and ends like a whole program."""
    from filmstrip import _recorder

    try:
        result = _recorder.stop({**_ranks.ending(), **_ending()})
        if result and os.getpid() == pid and _never_began():
            os.unlink(result["path"])  # nothing of a program is in it
        elif options.progress and result and os.getpid() == pid and os.isatty(2):
            events, size = f"{result['events']:,}", f"{result['bytes']:,}"
            lost = f", {result['lost']:,} lost" if result["lost"] else ""
            os.write(2, b"\r\x1b[K")
            _say(f"{result['path']}: {events} events, {size} bytes{lost}")
    except Exception:
        pass


class _MultiprocessingEnd:
    """Children forked by multiprocessing end with os._exit, past every exit handler;
    only its own finalizers run. This closes their films there."""

    def after_fork(self) -> None:
        util = sys.modules.get("multiprocessing.util")
        if util is not None:
            try:
                # The child forgets its finalizers first and calls this afterwards.
                util.register_after_fork(self, _MultiprocessingEnd.register)
            except Exception:
                pass

    def register(self) -> None:
        try:
            from filmstrip import _recorder

            util: Any = sys.modules["multiprocessing.util"]
            ended = {"ended": "exit"}
            util.Finalize(None, _recorder.stop, (ended,), exitpriority=-(10**9))
        except Exception:
            pass


def _is_helper(words: list[str]) -> bool:
    """multiprocessing's own process, or one in which torch compiles, or tries what
    it has compiled."""
    if words[:1] == ["-c"] and len(words) > 1:
        return "multiprocessing.resource_tracker" in words[1] or (
            "cdll.LoadLibrary(" in words[1] and "import torch" in words[1]
        )
    # Run by its path, or as a module (whose name is not known yet).
    return any(
        word.replace(os.sep, ".").endswith(helper)
        for word in words[:2]
        for helper in (
            "torch._inductor.compile_worker.__main__.py",
            "torch._inductor.compile_worker",
        )
    )


def _leave_to_children(options: _options.Options) -> None:
    """This process is not recorded. Where it is no rank, those that it starts may be:
    they look for themselves."""
    if _ranks.from_environment(os.environ) is not None or not options.children:
        _options.forget_environment()
    elif not options.first:
        os.environ[_options.CARRIER] = options.for_children().encode()


def boot() -> None:
    encoded = None
    options = _options.Options()
    try:
        if os.environ.get(_options.SWITCH, "0") in ("", "0"):
            return
        encoded = _carried()
        if encoded is None:
            return
        words = _program_words()
        if _is_helper(words):
            return  # nothing of the program runs there
        if words[:2] == ["-m", "filmstrip"] or words[:1] == [_own_script()]:
            return  # our own command, called by a recorded program
        if encoded:
            options = _options.Options.decode(encoded)
        else:
            options.free_name = True
        rank = _ranks.from_environment(os.environ)
        if not _ranks.is_wanted(_ranks.parse_all(options.ranks), rank):
            _leave_to_children(options)
            return
        if options.first:
            options.path = _options.free_path(
                _options.child_or_rank_stem(options, rank)
            )
        elif not options.path:
            stem = os.path.abspath(_options.default_stem(words))
            options.name_rank(rank)
            options.path = _options.free_path(_ranks.ranked(stem, rank))
        meta = _options.describe(options, words)
        if options.first:
            meta["parent"] = os.path.basename(options.first)
        import atexit

        _options.begin(options, meta)
        _options.started_outside = True
        atexit.register(_finish, options, os.getpid())
        if options.children:
            os.register_at_fork(after_in_child=_MultiprocessingEnd().after_fork)
    except BaseException as error:
        _options.forget_environment()
        if options.first:
            return  # a child goes on as if it were not followed
        if encoded:
            _say(str(error))  # `filmstrip run`: better no run than an unrecorded one
            os._exit(2)
        _say(f"not recording: {error}")


boot()
