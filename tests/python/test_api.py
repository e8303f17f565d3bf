"""filmstrip.record, start, stop and open, used from inside a program."""

from __future__ import annotations

import pytest

from conftest import call_names


def check(runner, text, *args, **how):
    """Runs a program that asserts for itself."""
    result = runner.plain(text, *args, **how)
    assert result.rc == 0, result.stderr
    assert result.stderr == ""
    return result


def test_context_manager(runner, dump):
    check(
        runner,
        """
        import filmstrip

        def f():
            return g()

        def g():
            return 1

        g()
        with filmstrip.record("run.film") as recording:
            f()
            assert filmstrip.recording().endswith("run.film")
            assert filmstrip.statistics()["events"] >= 4
        g()
        assert recording.path.endswith("run.film")
        assert recording.statistics["lost"] == 0 and not recording.statistics["stopped"]
        assert filmstrip.recording() is None and filmstrip.statistics() is None
        assert filmstrip.stop() is None
        """,
    )
    events = dump(runner.folder / "run.film")
    calls = [event["function"] for event in events if event["kind"] == "call"]
    assert calls == ["__main__.f", "__main__.g"]


def test_exception_passes_through(runner, dump):
    check(
        runner,
        """
        import filmstrip
        try:
            with filmstrip.record("run.film"):
                {}["key"]
        except KeyError as error:
            assert error.args == ("key",)
        else:
            raise AssertionError
        assert filmstrip.recording() is None
        """,
    )
    kinds = [event["kind"] for event in dump(runner.folder / "run.film")]
    assert "raise" in kinds


def test_decorator(runner, dump):
    check(
        runner,
        """
        import asyncio, filmstrip

        @filmstrip.record()
        def outer(n):
            "doc"
            return inner(n)

        def inner(n):
            return n + 1 if n > 3 else outer(n + 1)

        @filmstrip.record("async.film")
        async def coroutine():
            await asyncio.sleep(0)
            return 5

        assert outer.__name__ == "outer" and outer.__doc__ == "doc"
        assert outer(1) == 5
        assert outer(4) == 5
        assert asyncio.run(coroutine()) == 5

        try:
            filmstrip.record()(x for x in ())
        except TypeError:
            pass
        """,
    )
    names = sorted(path.name for path in runner.folder.glob("*.film"))
    assert names == ["async.film", "program-2.film", "program.film"]
    events = dump(runner.folder / "program.film")
    assert (
        sum(e["kind"] == "call" and e["function"] == "__main__.outer" for e in events)
        == 4
    )
    events = dump(runner.folder / "async.film")
    assert any(
        e["kind"] == "call" and e["function"] == "__main__.coroutine" for e in events
    )


def test_decorator_without_parentheses(runner, dump):
    check(
        runner,
        """
        import asyncio, filmstrip

        @filmstrip.record
        def outer(n):
            return n + 1

        @filmstrip.record
        async def coroutine():
            return 5

        assert outer.__name__ == "outer"
        assert (outer(1), outer(n=2), asyncio.run(coroutine())) == (2, 3, 5)
        assert filmstrip.record(outer, level="calls")(4) == 5
        """,
    )
    films = sorted(runner.folder.glob("*.film"))
    assert [path.name for path in films] == [
        "program-2.film",
        "program-3.film",
        "program-4.film",
        "program.film",
    ]
    called = [
        [e["function"] for e in dump(path) if e["kind"] == "call"] for path in films
    ]
    assert called == [["__main__.outer"], ["__main__.coroutine"], ["__main__.outer"], ["__main__.outer"]]  # fmt: skip
    assert not any(e["kind"] == "set" for e in dump(films[2]))  # level calls


def test_start_and_stop(runner, dump):
    check(
        runner,
        """
        import filmstrip, os

        def f():
            pass

        before = dict(os.environ)
        path = filmstrip.start("one.film", targets=["__main__"])
        assert path == os.path.abspath("one.film")
        try:
            filmstrip.start("two.film")
        except RuntimeError as error:
            assert "already recording" in str(error)
        else:
            raise AssertionError
        f()
        filmstrip.pause()
        f()
        filmstrip.resume()
        f()
        result = filmstrip.stop()
        assert result["path"] == path and result["lost"] == 0
        assert dict(os.environ) == before

        try:
            filmstrip.start("one.film")
        except OSError as error:
            assert "one.film" in str(error)
        else:
            raise AssertionError
        filmstrip.start("one.film", force=True)
        f()
        # never stopped: closed at exit
        """,
    )
    events = dump(runner.folder / "one.film")
    assert [e["function"] for e in events if e["kind"] == "call"] == ["__main__.f"]


def test_recorded_from_outside(runner, dump):
    """A program that records itself runs as ever when it is recorded already."""
    program = """
        import filmstrip

        def f():
            pass

        with filmstrip.record("inner.film") as recording:
            f()
        assert recording.path.endswith("out.film")
        filmstrip.start("inner.film")
        f()
        filmstrip.stop()
        f()
        """
    result = runner.record(program)
    assert (result.rc, result.stderr) == (0, "")
    assert [path.name for path in result.films] == ["out.film"]
    calls = [e["function"] for e in dump(result.film) if e["kind"] == "call"]
    assert calls.count("__main__.f") == 3


def test_forked_inside_the_block(runner, dump):
    check(
        runner,
        """
        import filmstrip, os
        def f(): pass
        with filmstrip.record("run.film"):
            pid = os.fork()
            f()
        f()
        assert filmstrip.recording() is None
        if pid:
            assert os.waitpid(pid, 0)[1] == 0
        """,
    )
    films = sorted(runner.folder.glob("*.film"))
    assert len(films) == 2
    for film in films:
        calls = [e["function"] for e in dump(film) if e["kind"] == "call"]
        assert calls == ["__main__.f"]


def test_a_child_knows_nothing_of_its_parents_plans(runner, dump):
    """The frame that forks is the one that goes on: its plan is made anew for the
    child's file. Memory that is freed is overwritten, so that a use of it shows."""
    check(
        runner,
        """
        import filmstrip, os
        def f(): pass
        with filmstrip.record("run.film"):
            pid = os.fork()
            x = [pid != 0]
            f()
            x.append(1)
            y = x
        if pid:
            assert os.waitpid(pid, 0)[1] == 0
        """,
        env={"MALLOC_PERTURB_": "165"},
    )
    films = sorted(runner.folder.glob("*.film"))
    assert len(films) == 2
    for film in films:
        events = dump(film)
        assert call_names(events) == ["f"]
        written = [e["name"] for e in events if e["kind"] == "set"]
        assert [name for name in written if name in "xy"] == ["x", "y"]


def test_how_much_of_a_value_is_kept(runner, dump):
    check(
        runner,
        """
        import filmstrip

        def f():
            text = "".join("x" for _ in range(1000))
            row = list(range(100))
            deep = [[[[[5]]]]]

        limits = {"text_bytes": 64, "items": 4, "item_depth": 2}
        nothing = dict.fromkeys(limits)
        zero = dict.fromkeys(limits, 0)
        most = {"text_bytes": 65536, "items": 512, "item_depth": 16}
        for name, given in {"plain": {}, "nothing": nothing, "zero": zero,
                            "less": limits, "most": most}.items():
            with filmstrip.record(f"{name}.film", **given):
                f()
        """,
    )

    def told(name):
        events = dump(runner.folder / f"{name}.film")
        sets = {e["name"]: e["value"] for e in events if e["kind"] == "set"}
        return (
            sets["text"]["text"].count("x"),
            len(sets["row"]["items"]),
            sets["deep"]["text"],
        )

    assert told("plain") == told("nothing") == told("zero")
    assert told("plain") == (256, 32, "[[[[...]]]]")
    assert told("less") == (64, 4, "[[[...]]]")
    assert told("most") == (1000, 100, "[[[[[5]]]]]")


@pytest.mark.parametrize(
    "arguments",
    ["level='x'", "ring='soon'", "'no/such/x.film'"]
    + [f"{n}={c}" for n in ("text_bytes", "items", "item_depth") for c in (-1, 65537)],
)
def test_bad_options_raise(runner, arguments):
    check(
        runner,
        f"""
        import filmstrip
        try:
            with filmstrip.record({arguments}):
                pass
        except (ValueError, OSError) as error:
            assert len(str(error).splitlines()) == 1
        else:
            raise AssertionError
        """,
    )
    assert not list(runner.folder.glob("*.film"))


@pytest.mark.parametrize("name", ["text_bytes", "items", "item_depth"])
def test_a_limit_is_a_number(runner, name):
    check(
        runner,
        f"""
        import filmstrip
        for wrong in ("64", 2.5):
            try:
                filmstrip.start("x.film", {name}=wrong)
            except TypeError as error:
                assert "{name} is a number from 1 to " in str(error)
            else:
                raise AssertionError
        """,
    )


def test_open(runner):
    program = """
        import threading
        def f(n):
            if n:
                return f(n - 1)
            try:
                raise ValueError("low")
            except ValueError:
                return 0
        def gen():
            yield 1
        f(3)
        list(gen())
        t = threading.Thread(target=f, args=(1,), name="second")
        t.start(); t.join()
    """
    assert runner.record(program).rc == 0
    check(
        runner,
        """
        import collections, filmstrip

        film = filmstrip.open("out.film")
        info = film.info
        assert info.ending == "closed" and info.lost == 0 and info.damaged == 0
        assert film.meta("program").endswith("program.py")
        assert film.meta("nothing of the kind") is None
        assert [thread.id for thread in film.threads] == [1, 2]
        assert film.threads[1].name == "second"

        events = list(film.events())
        assert len(events) == info.events
        kinds = collections.Counter(
            event.kind for event in events if event.file is None or event.file != "<string>"
        )
        assert kinds["call"] == 1 + 4 + 1 + 2, kinds
        assert kinds["raise"] >= 2 and kinds["handled"] == 2, kinds
        calls = [event for event in events if event.kind == "call" and event.function == "__main__.f"]
        assert calls[0].line == 3 and calls[0].caller_line == 12, (calls[0].line, calls[0].caller_line)
        assert calls[1].caller_line == 5
        assert calls[0].file.endswith("program.py")
        assert calls[0].code.qualname == "f" and calls[0].code.locals == ("n",)
        raised = next(event for event in events if event.kind == "raise")
        assert "ValueError" in raised.text and raised.value["text"] == "low", (raised.text, raised.value)
        assert raised.line == 7
        assert [e.number for e in film.events(2)] == list(range(film.threads[1].end_event))
        assert next(film.events(1, first=3)).number == 3

        merged = list(film.merged_events())
        assert len(merged) == len(events)
        assert all(a.time_ns <= b.time_ns for a, b in zip(merged, merged[1:]))

        done = [call for call in film.calls() if film.code(call.code_id).file != "<string>"]
        assert len(done) == kinds["call"]
        assert {call.ending for call in done} == {"return"}
        assert all(call.duration_ns >= 0 for call in done)
        names = [code.function for code in film.codes()]
        assert {"__main__.f", "__main__.gen", "__main__.<module>"} <= set(names)
        assert film.code(calls[0].code_id).function == "__main__.f"
        assert any("def gen():" in text for name, text in film.sources())
        assert len(list(film.strings())) > 0
        assert repr(calls[0]).startswith("<Event ")

        film.close()
        assert calls[0].number >= 0 and calls[0].kind == "call"
        for broken in (lambda: film.info, lambda: calls[0].function, lambda: next(film.events(1))):
            try:
                broken()
            except ValueError as error:
                assert "closed" in str(error)
            else:
                raise AssertionError
        with filmstrip.open("out.film") as again:
            iterator = again.events()
            next(iterator)
        try:
            next(iterator)
        except ValueError:
            pass
        else:
            raise AssertionError
        """,
        name="check.py",
    )


def test_open_bad_files(runner):
    (runner.folder / "text.film").write_text("this is no film\n" * 100)
    (runner.folder / "empty.film").write_bytes(b"")
    check(
        runner,
        """
        import filmstrip
        for name, kind in (("none.film", FileNotFoundError), ("text.film", filmstrip.FilmError),
                           ("empty.film", filmstrip.FilmError)):
            try:
                filmstrip.open(name)
            except kind as error:
                assert str(error)
            else:
                raise AssertionError(name)
        assert issubclass(filmstrip.FilmError, ValueError)
        """,
    )


def test_live_recording_can_be_read(runner):
    check(
        runner,
        """
        import filmstrip
        def f():
            pass
        with filmstrip.record("run.film"):
            for _ in range(1000):
                f()
            filmstrip.pause()
            film = filmstrip.open("run.film")
            assert film.info.ending == "live"
            assert sum(event.kind == "call" for event in film.events()) == 1000
            filmstrip.resume()
            f()
            filmstrip.pause()
            film.refresh()
            assert sum(event.kind == "call" for event in film.events()) == 1001
            filmstrip.resume()
        """,
    )


def test_public_names(runner):
    check(
        runner,
        """
        import filmstrip
        for name in filmstrip.__all__:
            getattr(filmstrip, name)
        assert set(filmstrip.__all__) <= set(dir(filmstrip))
        assert filmstrip.__version__.count(".") == 2
        try:
            filmstrip.nothing
        except AttributeError:
            pass
        """,
    )


@pytest.mark.parametrize(
    "patch, words",
    [
        ("sys.platform = 'darwin'", "Linux"),
        ("sys.abiflags = 't'", "free-threaded"),
        ("sys.version_info = (3, 10, 0)", "3.11"),
        ("sys.implementation.name = 'pypy'", "CPython"),
    ],
)
def test_elsewhere_the_import_says_so(runner, patch, words):
    check(
        runner,
        f"""
        import sys
        {patch}
        try:
            import filmstrip
        except ImportError as error:
            assert {words!r} in str(error) and len(str(error).splitlines()) == 1
        else:
            raise AssertionError
        """,
    )


def test_no_references_leak(runner):
    """Opening, walking and closing leaves nothing behind."""
    assert runner.record("def f(): pass\nfor _ in range(100): f()\n").rc == 0
    check(
        runner,
        """
        import filmstrip, sys, gc
        def walk():
            with filmstrip.open("out.film") as film:
                for event in film.events():
                    event.kind, event.function, event.file, event.line, event.caller_line
                    event.text, event.value, event.code, event.code_id, event.offset
                list(film.codes()); list(film.strings()); list(film.sources()); list(film.calls())
                film.info, film.threads, film.damage, film.meta("program")
            try:
                filmstrip.open(__file__)
            except filmstrip.FilmError:
                pass
        for _ in range(5):
            walk()
        gc.collect()
        before = sys.getallocatedblocks()
        for _ in range(50):
            walk()
        gc.collect()
        grown = sys.getallocatedblocks() - before
        assert grown < 60, grown
        """,
        name="check.py",
    )
