"""The test suites of `make soak-libraries`, one row each."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence

PYTEST = ("pytest==9.2.0", "pytest-timeout==2.4.0")
PYTEST_8 = ("pytest==8.4.2", "pytest-timeout==2.4.0")


@dataclasses.dataclass(frozen=True)
class Suite:
    """A library at a version, with its tests.

    Where the tests come from: the library's "sdist" (if `debian` names a release and a
    package, Debian's archive of the same version, which has the tests that the sdist at
    PyPI leaves out); the "wheel", where they are installed with it; a "folder" beside
    this file, named as the suite.
    """

    name: str
    version: str
    part: tuple[str, ...]  # pytest's arguments: which tests
    targets: tuple[str, ...]  # of the run with --target
    needs: tuple[str, ...] = ()  # beyond the library and pytest
    source: str = "sdist"
    distribution: str = ""  # its name at PyPI, if it is another one
    debian: tuple[str, str] | tuple[()] = ()  # release and source package
    inside: str = ""  # the folder of the archive that is taken, if not all of it
    pytest: tuple[str, ...] = PYTEST
    remove: tuple[
        str, ...
    ] = ()  # folders of the sdist that would hide what is installed
    add: dict[str, str] = dataclasses.field(default_factory=dict)  # files: text
    # Limits of time in the tests that are too short for a slow machine, bare or recorded:
    # (file, old text, new text).
    patience: tuple[tuple[str, str, str], ...] = ()
    environment: dict[str, str] = dataclasses.field(default_factory=dict)
    command: tuple[str, ...] = ()  # instead of pytest; {report}: where the JUnit goes
    left_out: dict[str, str] = dataclasses.field(default_factory=dict)  # test: reason
    # Tests that end otherwise when recorded, and why: they are told in the table, and
    # are no fault of the soak. "MODE TEST", the test as in the report; losses by their
    # name, "MODE plans_missing".
    known: dict[str, str] = dataclasses.field(default_factory=dict)
    limit_s: float = 240  # of the bare run; a recorded one has four times that
    pythons: tuple[str, ...] = ("3.11", "3.12", "3.13", "3.14")

    def __post_init__(self) -> None:
        if not self.distribution:
            object.__setattr__(self, "distribution", self.name)

    @property
    def requirements(self) -> tuple[str, ...]:
        pinned = f"{self.distribution}=={self.version}"
        own = () if self.source == "folder" else (pinned,)
        return (*own, *self.pytest, *self.needs)

    def words(self, report: str, only: Sequence[str] = ()) -> list[str]:
        """What Python is given to run the suite, or `only` these files of it."""
        if self.command:
            return [word.replace("{report}", report) for word in self.command]
        options = [word for word in self.part if word.startswith("-")]
        which = [word for word in self.part if not word.startswith("-")]
        if only and "--pyargs" not in options:  # by file, its tests have other names
            which = list(only)
        words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--timeout=200"]
        words += [f"--junit-xml={report}", "-o", "junit_family=xunit1"]
        words += [f"--deselect={name}" for name in self.left_out]
        return [*words, *options, *which]

    def prepared_from(self) -> str:
        """What tells one preparation of its environment and source from another."""
        return _digest(
            *(self.requirements, self.source, self.remove, self.add, self.patience),
            *((self.debian, self.inside) if self.debian else ()),
        )

    def run_as(self) -> str:
        """What tells one way to run it from another."""
        return _digest(
            self.prepared_from(), self.words(""), self.targets, self.environment
        )


def _digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


HYPOTHESIS = "hypothesis==6.170.15"
TRIO = "trio==0.35.0"
TRUSTME = "trustme==1.2.1"

_ROWS = (
    Suite("markupsafe", "3.0.4", ("tests",), ("markupsafe",)),  # the one of `make test`
    Suite("click", "8.5.1", ("tests",), ("click",)),
    Suite("jinja2", "3.1.6", ("tests",), ("jinja2",), needs=(TRIO,)),
    Suite("pyyaml", "6.0.3", ("tests",), ("yaml",), remove=("lib", "yaml")),
    Suite(
        *("flask", "3.1.3", ("tests",), ("flask",)),
        needs=("asgiref==3.13.0",),
        pytest=PYTEST_8,
    ),
    Suite(
        "greenlet",
        "3.5.6",
        (
            "--pyargs",
            *(
                f"greenlet.tests.test_{name}"
                for name in ("greenlet", "tracing", "throw", "generator", "contextvars")
            ),
        ),
        ("greenlet",),
        needs=("objgraph==3.7.0", "psutil==7.2.2", "setuptools==84.2.1"),
        source="wheel",
        # Each test once; looking for leaks repeats it, for a minute in all.
        environment={"GREENLET_SKIP_LEAKCHECKS": "1"},
    ),
    Suite(
        "anyio",
        "4.16.0",
        (
            "-knot uvloop",
            *(f"tests/test_{name}.py" for name in ("contextmanagers", "taskgroups")),
            *(
                f"tests/test_to_process.py::test_{name}"
                for name in ("cancel_during", "exec_while_pruning")
            ),
            *(
                f"tests/test_pytest_plugin.py::test_{name}"
                for name in (
                    "keyboardinterrupt_during_test",
                    "keyboard_interrupt_does_not_resume_test",
                    "dynamic_async_fixture_access_does_not_hang",
                )
            ),
        ),
        ("anyio",),
        needs=(
            *(TRIO, TRUSTME, HYPOTHESIS, "uvloop==0.23.0", "psutil==7.2.2"),
            *("pytest-mock==3.17.0", "truststore==0.10.5", "blockbuster==1.5.29"),
        ),
        # 3 s for a child that is a whole pytest: with --all it takes longer.
        patience=(
            ("tests/test_pytest_plugin.py", "timeout=3)", "timeout=150)"),
            ("tests/test_to_process.py", "fail_after(", "fail_after(20 * "),
        ),
    ),
    Suite(
        *("attrs", "26.1.0", ("tests",), ("attr", "attrs")),
        needs=(HYPOTHESIS, "cloudpickle==3.1.2", "pympler==1.1"),
    ),
    Suite(
        "lark",
        "1.3.1",
        tuple(
            f"tests/test_{name}.py"
            for name in (
                *("cache", "grammar", "lexer", "logger", "pattern_matching"),
                *("reconstructor", "tools", "tree_forest_transformer"),
                *("tree_templates", "trees"),
            )
        ),
        ("lark",),
        remove=("lark",),
    ),
    Suite(
        *("httpx", "0.28.1", ("tests",), ("httpx",)),
        needs=(
            *(TRIO, TRUSTME, "uvicorn==0.54.0", "chardet==7.7.0", "h2==4.4.1"),
            *("rich==15.0.0", "click==8.5.1", "pygments==2.21.0", "socksio==1.0.0"),
            *("brotli==1.2.1", "zstandard==0.25.0"),
        ),
        remove=("httpx",),
        known={
            f"{mode} tests.test_timeouts::test_write_timeout[trio]": "it gives a write a "
            "microsecond: recorded, that is over while the headers are written; bare while the "
            "body is, whose generator is left half way, which a warning makes a failure"
            for mode in ("default", "target", "all")
        },
    ),
    Suite(
        *("werkzeug", "3.1.9", ("tests",), ("werkzeug",)),
        needs=(
            *("ephemeral-port-reserve==1.1.4", "pytest-xprocess==1.0.2"),
            *("cryptography==50.0.2", "watchdog==7.1.0"),
        ),
        left_out={
            "tests/test_serving.py::test_reloader_sys_path[watchdog]": "waits for ever, "
            "bare too, where no event of the file system comes"
        },
        known={
            f"{mode} plans_missing": "`test_long_build` has a function of 10,000 "
            "parameters compiled; it is longer than what is planned (65,000 code units)"
            for mode in ("default", "all")
        },
    ),
    Suite(
        *("black", "26.10.1", ("tests",), ("black",)),
        needs=("aiohttp==3.14.5",),
        pytest=PYTEST_8,
    ),
    Suite(
        *("babel", "2.18.0", ("tests",), ("babel",)),
        needs=(
            *("freezegun==1.5.5", "tzdata==2026.6", "pytz==2026.6", "jinja2==3.1.6"),
            "setuptools==84.2.1",
        ),
        remove=("babel",),
    ),
    Suite(
        "coverage",
        "7.17.3",
        (
            "-oaddopts=",
            *(
                f"tests/test_{name}.py"
                for name in ("data", "numbits", "parser", "phystokens", "results")
            ),
        ),
        ("coverage",),
        needs=("flaky==3.8.1", HYPOTHESIS, "pytest-xdist==3.8.0"),
        remove=("coverage",),
    ),
    Suite(
        "networkx",
        "3.6.1",
        (
            "--pyargs",
            *(
                f"networkx.algorithms.{name}"
                for name in ("shortest_paths", "traversal", "components")
            ),
            *(
                f"networkx.{name}"
                for name in (
                    "classes.tests.test_digraph",
                    "classes.tests.test_multigraph",
                    "generators.tests.test_classic",
                )
            ),
        ),
        ("networkx",),
        source="wheel",
    ),
    Suite(
        "sympy",
        "1.14.0",
        (
            *(
                f"sympy/core/tests/test_{name}.py"
                for name in ("basic", "expand", "exprtools")
            ),
            "sympy/sets/tests/test_contains.py",
        ),
        ("sympy",),
        needs=(HYPOTHESIS,),
    ),
    Suite(
        "sqlalchemy",
        "2.1.8",
        (
            *("test/base/test_events.py", "test/base/test_result.py"),
            "test/orm/test_session.py",
        ),
        ("sqlalchemy",),
    ),
    Suite(
        "django",
        "5.2.19",
        (),
        ("django",),
        needs=("unittest-xml-reporting==4.0.0",),
        add={
            "tests/with_report.py": (
                "from test_sqlite import *\n"
                "TEST_RUNNER = 'xmlrunner.extra.djangotestrunner.XMLTestRunner'\n"
                "import os\n"
                "TEST_OUTPUT_DIR = os.path.dirname(os.environ['REPORT'])\n"
                "TEST_OUTPUT_FILE_NAME = os.environ['REPORT']\n"
            )
        },
        remove=("django",),
        command=(
            *("tests/runtests.py", "--settings=with_report", "--parallel=1"),
            *("utils_tests", "signals", "dispatch", "basic"),
        ),
    ),
    Suite(
        "pandas",
        "3.1.1",
        (
            "--pyargs",
            *(
                f"pandas.tests.series.methods.test_{name}"
                for name in ("sort_values", "replace", "interpolate", "describe")
            ),
        ),
        ("pandas",),
        needs=("numpy==2.4.6", HYPOTHESIS),
        source="wheel",
    ),
    Suite(
        "trio",
        "0.35.0",
        (
            "--pyargs",
            *(
                f"trio._core._tests.test_{name}"
                for name in ("run", "io", "ki", "local")
            ),
        ),
        ("trio",),
        needs=(TRUSTME, "pyopenssl==26.4.0", "astor==0.8.1"),
    ),
    Suite(
        "tornado",
        "6.6.1",
        (
            *("--pyargs", "-pno:logging"),  # its own way to look at logs
            *(
                f"tornado.test.{name}_test"
                for name in ("gen", "ioloop", "queues", "locks", "template", "web")
            ),
        ),
        ("tornado",),
        source="wheel",
    ),
    Suite(
        "gevent",
        "26.9.0",
        (
            "--pyargs",
            *(
                f"gevent.tests.test__{name}"
                for name in ("greenlet", "queue", "event", "local", "threadpool")
            ),
        ),
        ("gevent",),
        needs=("psutil==7.2.2", "objgraph==3.7.0"),
        source="wheel",
    ),
    Suite(
        "joblib",
        "1.6.0",
        (
            *("--pyargs", "joblib.test.test_hashing", "joblib.test.test_parallel"),
            "-khash or nested_loop or (error_capture and loky)",
        ),
        ("joblib",),
        needs=("numpy==2.4.6",),
        source="wheel",
    ),
    Suite(
        "pydantic",
        "2.14.3",
        ("tests/test_main.py", "tests/test_validators.py", "tests/test_generics.py"),
        ("pydantic",),
        needs=(
            *("dirty-equals==0.11", "pytest-mock==3.17.0", "pytest-benchmark==5.3.1"),
            *("jsonschema==4.26.0", "email-validator==2.4.0", "pytz==2026.6"),
            *("pytest-examples==0.0.18", "pytest-run-parallel==0.10.0"),
        ),
        remove=("pydantic",),
    ),
    Suite(
        "cffi",
        "2.1.1",
        ("testing/cffi0/test_ffi_backend.py", "testing/cffi0/test_parsing.py"),
        ("cffi",),
        needs=("setuptools==84.2.1",),
    ),
    Suite(
        "mypy",  # as it is installed: compiled
        "2.4.1",
        (
            *("-oaddopts=", "--pyargs"),
            *(
                f"mypy.test.test{name}"
                for name in ("types", "subtypes", "solve", "infer", "constraints")
            ),
        ),
        ("mypy",),
        needs=("attrs==26.1.0", "filelock==4.2.10", "lxml==6.1.3"),
        remove=("mypy", "mypyc"),
        environment={"MYPY_TEST_PREFIX": "."},
    ),
    Suite(
        *("rich", "13.9.4", ("tests",), ("rich",)),
        needs=("attrs==26.1.0", "pygments==2.18.0"),  # its tests hold colours, too
        debian=("trixie", "rich"),
        remove=("rich",),
    ),
    Suite(
        "hypothesis",
        "6.130.5",
        tuple(
            f"tests/cover/test_{name}.py"
            for name in (
                *("composite", "control", "core", "deadline", "monitoring", "pretty"),
                *("reflection", "traceback_elision", "unittest"),
            )
        ),
        ("hypothesis",),
        needs=("pytest-xdist==3.8.0", "pexpect==4.9.0"),
        pytest=PYTEST_8,
        debian=("trixie", "python-hypothesis"),
        inside="hypothesis-python",
        remove=("src",),
    ),
    Suite(
        "servers",
        "",
        ("test_servers.py",),
        ("uvicorn", "gunicorn"),
        needs=("uvicorn==0.54.0", "gunicorn==27.0.1"),
        source="folder",
    ),
)

SUITES = {suite.name: suite for suite in _ROWS}
