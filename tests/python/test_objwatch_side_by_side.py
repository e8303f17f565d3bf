"""ObjWatch itself beside filmstrip: the examples of its README, forked processes, an
index that becomes known late, torch.nn.Module, a model of transformers."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import textwrap

import pytest

from objwatch_programs import as_sets, check, program
from objwatch_theirs import both, fetched, normal

needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed"
)
needs_transformers = pytest.mark.skipif(
    importlib.util.find_spec("transformers") is None,
    reason="transformers is not installed",
)


def same(runner, text, name="prog.py"):
    """The lines of both; new locals of one line are in the order of a set."""
    runner.write(text, name)
    theirs, ours = both(name, runner.folder)
    assert as_sets(ours.splitlines()) == as_sets(theirs.splitlines())
    return theirs


# --- README ---


def readme_programs():
    """The blocks of Python that are whole programs."""
    [metadata] = fetched().glob("objwatch-*.dist-info/METADATA")
    blocks = re.findall(r"```python\n(.*?)```", metadata.read_text(), re.DOTALL)
    found = []
    for block in blocks:
        try:
            compile(textwrap.dedent(block), "README", "exec")
        except SyntaxError:
            continue  # a part of one
        if "__main__" in block:
            found.append(textwrap.dedent(block))
    return found


def test_readme_programs(runner):
    """Its programs say which file they are."""
    programs = readme_programs()
    assert len(programs) == 4
    for text in programs:
        name = re.search(r"\['([a-z_/]+\.py)'", text)[1]
        log = same(runner, text, name)
        assert log.count("Stopping ObjWatch tracing.") == log.count("# ObjWatch Log")
        outputs = set(re.findall(r"output='\./(\w+\.objwatch)'", text))
        for output in outputs:  # ours are there now: the log, as it was shown
            written = normal((runner.folder / output).read_text())
            assert as_sets(written.splitlines()) == as_sets(log.splitlines())


def test_readme_targets_that_are_objects(runner):
    """Its example of mixed targets, with the modules it speaks of."""
    runner.write("", "package/__init__.py")
    runner.write(
        """
        class User:
            def __init__(self, name):
                self.name = name
                self.logins = 0
            def login(self):
                self.logins += 1
                return self.logins
        """,
        "package/models.py",
    )
    runner.write(
        """
        def format_str(text):
            result = text.upper()
            return result
        """,
        "package/utils.py",
    )
    runner.write(
        """
        DEBUG_MODE = False
        OTHER = 1
        def switch():
            global DEBUG_MODE, OTHER
            DEBUG_MODE = True
            OTHER = 2
            return DEBUG_MODE
        """,
        "package/config.py",
    )
    log = same(
        runner,
        """
        import objwatch
        import package.config
        from package.models import User
        from package.utils import format_str

        def main():
            user = User(format_str("ada"))
            user.login()
            user.login()
            package.config.switch()

        with objwatch.ObjWatch([
            User, format_str, "package.config::DEBUG_MODE"
        ], with_locals=True, with_globals=True):
            main()
        """,
    )
    assert "upd @.DEBUG_MODE False -> True" in log and "OTHER" not in log


def test_readme_custom_framework(runner):
    log = same(
        runner,
        """
        import objwatch
        from objwatch.mp_handls import MPHandls
        from objwatch.wrappers import BaseWrapper

        RANK = []

        def check(self):
            if RANK:
                self.initialized = True
                self.index = RANK[0]
                self.sync_fn = None

        MPHandls._check_init_custom_framework = check

        class Net:
            def __init__(self):
                self.layers = [1]
                self.w = 0.5
            def forward(self, x):
                self.layers.append(x)
                self.w += 1
                y = x * 2
                return y

        def init(rank):
            RANK.append(rank)
            a = 1
            return a

        def main(rank):
            n = Net()
            n.forward(1)
            init(rank)
            n.forward(2)
            b = [1]
            b.append(3)
            return b

        for rank in (0, 1):
            RANK.clear()
            with objwatch.ObjWatch(["prog.py"], with_locals=True, indexes=[0],
                                   framework="custom_framework", wrapper=BaseWrapper):
                main(rank)
        """,
    )
    assert "[#0]" in log and "[#1]" not in log


# --- processes ---

FORKS = """
    import multiprocessing
    import objwatch
    from objwatch.wrappers import BaseWrapper

    def work(n):
        total = 0
        for i in range(n):
            total += i
        return total

    def main():
        {main}

    if __name__ == "__main__":
        multiprocessing.set_start_method("fork")
        with objwatch.ObjWatch(["prog.py"], with_locals=True, wrapper=BaseWrapper,
                               framework="multiprocessing", indexes={indexes}):
            main()
"""


def by_process(log):
    """Its lines, by the process that wrote them."""
    found = {}
    for line in log.splitlines():
        index = re.match(r"\[#\d+\]|", line)[0]
        if re.match(r"(\[#\d+\] )? *\d+ ", line):
            found.setdefault(index, []).append(line)
    return {index: as_sets(lines) for index, lines in found.items()}


@pytest.mark.parametrize(
    "main",
    [
        """for i in range(3):
            p = multiprocessing.Process(target=work, args=(i + 1,))
            p.start()
            p.join()""",
        """with multiprocessing.Pool(1) as pool:
            pool.map(work, [1, 2, 3], chunksize=1)
            pool.close()
            pool.join()""",
    ],
    ids=["processes", "pool"],
)
def test_forked_processes(runner, main):
    runner.write(FORKS.format(main=main, indexes="[0, 2]"), "prog.py")
    theirs, ours = map(by_process, both("prog.py", runner.folder))
    # ObjWatch lets the first line of a process slip that is not to be watched.
    theirs.pop("[#1]", None)
    assert ours == theirs
    assert "[#0]" in ours


def test_raw_fork_and_kept_films(runner):
    """Each process has its film; the child's lines are as deep as it was forked."""
    result = check(
        runner,
        program(
            """
            import os
            def forking():
                child = os.fork()
                if child == 0:
                    double(4)
                    sys.exit(0)
                os.waitpid(child, 0)
            with filmstrip.watch(["program.py"], with_locals=True, film="kept.film"):
                forking()
            """
        ),
    )
    lines = result.stderr.splitlines()
    assert [line for line in lines if "double" in line] == [
        "   19   run __main__.double",
        "   19   end __main__.double",
    ]
    assert "    6     upd _.result None -> 8" in lines
    assert result.stderr.count("# ObjWatch Log") == 1
    films = sorted(path.name for path in runner.folder.glob("*.film"))
    assert len(films) == 2 and re.fullmatch(r"kept\.\d+\.film", films[0])


def test_child_that_becomes_another_program(runner):
    """preexec_fn runs in a forked child, which has no lines of its own."""
    result = check(
        runner,
        program(
            """
            import subprocess
            with filmstrip.watch(["program.py"]):
                done = subprocess.run(["true"], preexec_fn=lambda: None)
                assert done.returncode == 0
                double(1)
            """
        ),
    )
    assert result.stderr.count("run __main__.double") == 1


# --- torch ---


@needs_torch
def test_rank_that_becomes_known(runner):
    log = same(
        runner,
        """
        import os, objwatch, torch, torch.distributed as dist
        from objwatch.wrappers import TensorShapeWrapper

        def setup(rank):
            here = os.path.join(os.getcwd(), f"group{os.getpid()}")
            dist.init_process_group(
                "gloo", init_method=f"file://{here}", rank=rank, world_size=1)
            done = True
            return done

        def step(x):
            y = x + 1
            return [y, y]

        def main():
            step(torch.zeros(2))
            setup(0)
            step(torch.zeros(3))

        with objwatch.ObjWatch(["prog.py"], framework="torch.distributed",
                               wrapper=TensorShapeWrapper):
            main()
        dist.destroy_process_group()
        """,
    )
    assert "[#0]" in log and "torch.distributed initialized. index: 0" in log


@needs_torch
def test_modules_of_torch(runner):
    log = same(
        runner,
        """
        import torch, objwatch
        from torch import nn
        from objwatch.wrappers import TensorShapeWrapper

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc1 = nn.Linear(4, 3)
                self.relu = nn.ReLU()
                self.n = 3
                self.names = ["a"]
                self.names.append("b")
                self.w = nn.Parameter(torch.zeros(2))
                self.w = nn.Parameter(torch.zeros(4))
                self.fc1 = nn.Linear(4, 2)
                self.plain = torch.zeros(2)
                self.bias = None
                self.blocks = nn.ModuleList([nn.Linear(2, 2) for _ in range(2)])
                self.act = torch.relu
                self.register_buffer("mask", torch.ones(2))
                self.register_buffer("steps", torch.ones(1), persistent=False)
                self.register_parameter("scale", nn.Parameter(torch.ones(1)))
                self.add_module("extra", nn.Identity())
                self.last = 1
                return
            def forward(self, x):
                self.calls = 1
                self.mask = torch.zeros(2)
                self.plain = torch.zeros(3)
                y = self.relu(x)
                self.training = False
                return y

        with objwatch.ObjWatch(["prog.py"], with_locals=True,
                               wrapper=TensorShapeWrapper):
            net = Net()
            net(torch.zeros(2, 4))
            net.train()
            net(torch.zeros(2, 4))
        """,
    )
    assert "apd Net._modules (dict)(len)0 -> 1" in log
    assert "apd Net._buffers (dict)(len)1 -> 2" in log


@needs_transformers
@pytest.mark.parametrize("more", ["", ", with_locals=True"])
def test_gpt2(runner, more):
    """A small GPT-2 of random weights, with the shapes of its tensors."""
    log = same(
        runner,
        f"""
        import torch, objwatch
        from objwatch.wrappers import TensorShapeWrapper
        from transformers import GPT2Config, GPT2LMHeadModel, logging
        logging.set_verbosity_error()
        torch.manual_seed(0)
        config = GPT2Config(vocab_size=50, n_positions=16, n_embd=8, n_layer=2, n_head=2)
        model = GPT2LMHeadModel(config).eval()
        ids = torch.arange(6).reshape(1, 6)
        with objwatch.ObjWatch(["transformers.models.gpt2.modeling_gpt2"],
                               wrapper=TensorShapeWrapper{more}):
            with torch.no_grad():
                model(ids, labels=ids)
        """,
    )
    assert log.count("run transformers.models.gpt2.modeling_gpt2.") >= 8
    assert "torch.Size([1, 6, 8])" in log
    assert importlib.metadata.version("torch").startswith("2.13.0")


# --- values ---


def test_enumerations_and_frozen_sets(runner):
    """What str() says of members, composite ones too; a frozenset is no container."""
    same(
        runner,
        """
        import enum

        import objwatch
        from objwatch.wrappers import BaseWrapper

        class Level(enum.IntEnum):
            LOW = 7
        class Bits(enum.IntFlag):
            A = 1
            B = 2
        class Perm(enum.Flag):
            R = 1
            W = 2
        class Word(enum.StrEnum):
            A = "a"
        class Mixed(int, enum.Enum):
            ONE = 1
        class Kept(frozenset):
            pass

        def kinds(level, kept):
            again = Level.LOW
            bits = Bits.A | Bits.B
            perm = Perm.R | Perm.W
            word = Word.A
            mixed = Mixed.ONE
            other = Kept([1])
            both = [level, word]
            return level

        with objwatch.ObjWatch(["prog.py"], with_locals=True, wrapper=BaseWrapper):
            kinds(Level.LOW, Kept([2]))
        """,
    )


HELD = """
    class Module:
        def __init__(self):
            self._buffers = {}
            self.names = []
        def register_buffer(self, name, value):
            self._buffers[name] = value
            self.names.append(name)

    def fill(module):
        module.table["lib"] = 1
        module.seen.add(len(module.seen))
"""


def test_containers_that_attributes_hold(runner):
    """Changed by code that is no target, by way of the object that holds them."""
    runner.write(HELD, "fillers.py")
    log = same(
        runner,
        """
        import objwatch

        import fillers

        class Net(fillers.Module):
            def __init__(self):
                super().__init__()
                self.table = {}
                self.seen = set()
                self.register_buffer("x", 1)
                self.register_buffer("y", 2)
                fillers.fill(self)
                self.last = 3
            def again(self):
                fillers.fill(self)
                self.register_buffer("z", 2)
                done = 1
                return done

        with objwatch.ObjWatch(["prog.py"], with_locals=True):
            Net().again()
        """,
    )
    assert log.count("apd Net._buffers") == 3
