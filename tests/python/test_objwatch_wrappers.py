"""filmstrip.compat.objwatch: wrappers, processes, targets, callers that are not watched."""

from __future__ import annotations

import json
import os
import sys

from conftest import PACKAGE, run_program
from objwatch_programs import check, lines, program


def test_wrapper_of_ones_own(runner):
    result = check(
        runner,
        program(
            """
            from filmstrip.compat.objwatch.wrappers import ABCWrapper

            class Mine(ABCWrapper):
                def wrap_call(self, func_name, frame):
                    return f"called {func_name} at {frame.f_lineno}"
                def wrap_return(self, func_name, result):
                    return f"gave {result}"
                def wrap_upd(self, old_value, current_value):
                    return f"<{old_value}>", f"<{current_value}>"

            with filmstrip.watch(["program.py"], with_locals=True, wrapper=Mine,
                                 output="log.objwatch", output_json="tree.json"):
                double(4)
            """
        ),
    )
    assert lines(result)[:4] == [
        "   27 run __main__.double <- called double at 5",
        "    6   upd _.result <None> -> <8>",
        "   27 end __main__.double -> gave 8",
        "Stopping ObjWatch tracing.",
    ]
    assert (runner.folder / "log.objwatch").read_text() == result.stderr
    tree = json.loads((runner.folder / "tree.json").read_text())["ObjWatch"]
    [function] = tree["events"]
    assert function["return_msg"] == "gave 8"
    assert function["events"][0]["new"] == "<8>"


def test_wrapper_that_raises(runner):
    result = check(
        runner,
        program(
            """
            from filmstrip.compat.objwatch.wrappers import BaseWrapper

            class Broken(BaseWrapper):
                def wrap_call(self, func_name, frame):
                    raise ValueError("mine")
                def wrap_upd(self, old, new):
                    return 1 / 0

            with filmstrip.watch(["program.py"], with_locals=True, wrapper=Broken):
                assert main() == 6
            assert sys.gettrace() is None
            """
        ),
    )
    assert result.stderr.count("filmstrip: wrapper Broken raised") == 1
    assert "run __main__.main <- (wrapper raised ValueError)" in result.stderr
    assert "end __main__.main -> 6" in result.stderr


def test_wrapper_keeps_a_debugger_working(runner):
    result = check(
        runner,
        program(
            """
            from filmstrip.compat.objwatch.wrappers import BaseWrapper
            class Mine(BaseWrapper): pass
            def theirs(frame, event, argument):
                return None
            sys.settrace(theirs)
            watcher = filmstrip.watch(["program.py"], wrapper=Mine)
            assert sys.gettrace() is theirs
            main()
            watcher.stop()
            assert sys.gettrace() is theirs
            """
        ),
    )
    assert "another trace function is set" in result.stderr


def test_memory_wrappers(runner):
    runner.write(
        """
        import collections
        Memory = collections.namedtuple("Memory", "total available percent used")
        def virtual_memory():
            return Memory(100, 60, 40.0, 40)
        """,
        "psutil.py",
    )
    runner.write(
        """
        class cuda:
            def memory_stats():
                return {"allocation.all.current": 3, "allocation.all.peak": 9}
        """,
        "torch.py",
    )
    result = check(
        runner,
        program(
            """
            from filmstrip.compat.objwatch.wrappers import CPUMemoryWrapper, TorchMemoryWrapper
            with filmstrip.watch(["program.py"], with_locals=True, wrapper=CPUMemoryWrapper):
                double(1)
            CPUMemoryWrapper.mem_types = ["used"]
            with filmstrip.watch(["program.py"], wrapper=CPUMemoryWrapper):
                double(1)
            with filmstrip.watch(["program.py"], wrapper=TorchMemoryWrapper):
                double(1)
            """
        ),
    )
    text = result.stderr
    assert "run __main__.double <- total: 100 | available: 60 | percent: 40.0" in text
    assert "upd _.result  -> total: 100 | available: 60 | percent: 40.0" in text
    assert "end __main__.double -> used: 40" in text
    assert "<- allocation.all.current: 3 | allocation.all.peak: 9" in text


def test_wrapper_formats_are_objwatchs(runner):
    """The helpers that subclasses use, against what ObjWatch's own tests expect."""
    check(
        runner,
        """
        import types
        from filmstrip.compat.objwatch.wrappers import BaseWrapper

        def call(values, flags=0):
            code = types.SimpleNamespace(
                co_varnames=tuple(values), co_argcount=len(values), co_flags=flags)
            return BaseWrapper().wrap_call("f", types.SimpleNamespace(f_code=code, f_locals=values))

        class Thing: pass
        give = BaseWrapper().wrap_return
        assert call({"a": 10, "b": [1, 2, 3, 4, 5]}) == "'0':10, '1':(list)[1, 2, 3, '... (2 more elements)']"
        assert call({}) == ""
        assert call({"a": {"a": 1, "b": 2}}) == "'0':(dict)[('a', 1), ('b', 2)]"
        assert call({"a": []}) == "'0':(list)[]" and call({"a": {}}) == "'0':(dict)[]"
        assert call({"a": {Thing(): 1, "a": 2}}) == "'0':(dict)[2 elements]"
        assert give("f", 20) == "20"
        assert give("f", [True, False, True, False]) == "[(list)[True, False, True, '... (1 more elements)']]"
        assert give("f", Thing()) == "(type)Thing" and give("f", Thing) == "(type)Thing"
        assert BaseWrapper().wrap_upd(None, (1,)) == ("None", "(tuple)[1]")
        """,
    )


# --- processes ---


def test_indexes(runner):
    text = program(
        """
        with filmstrip.watch(["program.py"], framework="torch.distributed", indexes=[0, 2]):
            double(1)
        """
    )
    for rank, shown in (("0", True), ("1", False), ("2", True)):
        result = check(runner, text, env={"RANK": rank})
        assert f"torch.distributed initialized. index: {rank}" in result.stderr
        assert "# ObjWatch Log" in result.stderr
        assert (f"[#{rank}]    16 run __main__.double" in result.stderr) is shown
    assert "   16 run __main__.double" in check(runner, text).stderr


def test_framework_of_ones_own(runner):
    result = check(
        runner,
        program(
            """
            from filmstrip.compat.objwatch.mp_handls import MPHandls

            def check(self):
                self.initialized = True
                self.index = 7
                self.sync_fn = lambda: 1 / 0

            MPHandls._check_init_mine = check
            with filmstrip.watch(["program.py"], framework="mine", indexes=[7]):
                double(1)
            """
        ),
    )
    assert "[#7]    24 run __main__.double" in result.stderr


def test_targets_not_found(runner):
    result = check(
        runner,
        program(
            """
            with filmstrip.watch(["no_such_module_here", 7]):
                double(1)
            """
        ),
    )
    assert "Module no_such_module_here not found" in result.stderr
    assert "Unsupported target type: <class 'int'>" in result.stderr
    assert "run " not in result.stderr


def test_header_shortens_many_modules(runner):
    result = check(
        runner,
        """
        import filmstrip
        with filmstrip.watch(["email"]):
            pass
        """,
    )
    assert '"email.message": "..."' in result.stderr
    assert "Warning: too many top-level keys, only showing values like" in result.stderr


def test_program_is_found(runner):
    assert os.access(PACKAGE / "bin" / "filmstrip", os.X_OK)


def test_lines_of_callers_that_are_not_watched(runner):
    """Whatever code calls a target, run and end have its line: callbacks of the
    standard library, generators, deep recursion, threads."""
    runner.write(
        """
        def leaf(n=0):
            return n
        def gen():
            got = yield 1
            yield got
        class Thing:
            def __lt__(self, other):
                return True
        """,
        "aimed.py",
    )
    result = check(
        runner,
        """
        import functools, threading
        import aimed, filmstrip

        def deep(n):
            if n:
                return deep(n - 1)
            return aimed.leaf(1)

        def other():
            aimed.leaf(2); x = 1
            aimed.leaf(3)

        watcher = filmstrip.watch(["aimed"], film="kept.film")
        deep(60)
        for _ in range(2):
            other()
        list(map(aimed.leaf, [1, 2]))
        sorted([aimed.Thing(), aimed.Thing()])
        functools.reduce(lambda a, b: aimed.leaf(b), [1, 2, 3])
        g = aimed.gen()
        next(g)
        g.send(1)
        g.close()
        thread = threading.Thread(target=aimed.leaf)
        thread.start()
        thread.join()
        try:
            deep("no")
        except TypeError:
            pass
        deep(3)
        watcher.stop()
        """,
    )
    runs = [line.split() for line in lines(result) if " run " in line]
    places = [(int(line), name) for line, _, name in runs]
    leaf, thing, gen = "aimed.leaf", "aimed.Thing.__lt__", "aimed.gen"
    run = next(line for line, name in places if name == leaf and line > 100)
    assert places == [
        (8, leaf),
        *[(11, leaf), (12, leaf)] * 2,
        *[(18, leaf)] * 2,
        (19, thing),
        *[(20, leaf)] * 2,
        (22, gen),
        (23, gen),
        *[(24, gen)] * (sys.version_info[:2] != (3, 13)),
        (run, leaf),  # threading's own line
        (8, leaf),
    ]
    ends = [line.split() for line in lines(result) if " end " in line]
    assert [(int(line), name) for line, _, name in ends] == places
    assert run_program("check", runner.folder / "kept.film").rc == 0


def test_writes_taken_by_setattr_are_told_as_not_recorded(runner):
    """Or with their value, once the recorder reads it; never as None."""
    result = check(
        runner,
        """
        import filmstrip
        class Guarded:
            def __init__(self):
                self.kept = 5
                self.kept = 6
                return
            def __setattr__(self, name, value):
                object.__setattr__(self, name, value)
        with filmstrip.watch(["__main__:Guarded"]):
            Guarded()
        """,
    )
    told = [
        line.split("upd Guarded.kept ")[1] for line in lines(result) if "upd" in line
    ]
    assert told in (
        ["None -> <not recorded>", "<not recorded> -> <not recorded>"],
        ["None -> 5", "5 -> 6"],
    )
