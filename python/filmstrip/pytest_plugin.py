"""`pytest --film`: a recording of each failing test.

Every test is recorded from its setup to its teardown. If it fails, its film stays, and
the report says where it is; if it passes, it is deleted. Nothing here can make a test
fail: if a recording cannot be made, the summary says so once.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from typing import Any

import pytest  # type: ignore[import-not-found, unused-ignore]

PROPERTY = "film"  # of a report: the path of its recording


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("filmstrip", "recordings of failing tests")
    group.addoption(
        "--film",
        action="store_true",
        help="record every test; keep the recordings of those that fail",
    )
    group.addoption(
        "--film-dir",
        metavar="DIR",
        default="films",
        help="where recordings are kept (default: films)",
    )
    group.addoption(
        "--film-target",
        metavar="TARGET",
        action="append",
        default=[],
        help="record this file, folder, package or module:Class only; may be repeated",
    )
    group.addoption(
        "--film-level",
        metavar="LEVEL",
        choices=("calls", "lines", "values"),
        default="values",
        help="calls, lines or values (default: values)",
    )
    group.addoption(
        "--film-redact",
        metavar="WORD",
        action="append",
        default=[],
        help="do not record values of names with WORD in them either; may be repeated",
    )
    group.addoption(
        "--film-no-redact",
        action="store_true",
        help="record values of names with password, token and the like in them",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--film"):
        config.pluginmanager.register(Recorder(config), "filmstrip-recorder")


def film_name(node: str) -> str:
    """A file name for a test: readable, and different for each."""
    plain = re.sub(r"[^A-Za-z0-9_.=-]+", "_", node.replace("::", "-")).strip("_")
    if plain != node.replace("::", "-") or len(plain) > 100:
        plain = f"{plain[:100]}-{hashlib.sha1(node.encode()).hexdigest()[:8]}"
    return plain + ".film"


class Recorder:
    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._folder = os.path.abspath(config.getoption("--film-dir"))
        self._path: str | None = None  # of the test that runs
        self._failed = False
        self._problem = ""

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)  # type: ignore[untyped-decorator, unused-ignore]
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._begin(item)
        yield
        self._end()

    @pytest.hookimpl(hookwrapper=True)  # type: ignore[untyped-decorator, unused-ignore]
    def pytest_runtest_makereport(self) -> Iterator[None]:
        outcome: Any = yield
        report: pytest.TestReport = outcome.get_result()
        if report.failed and self._path is not None:
            self._failed = True
            shown = os.path.relpath(self._path)
            report.user_properties.append((PROPERTY, self._path))
            report.sections.append(("recording", f"filmstrip log {shown}"))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        films = {
            value: report.nodeid
            for outcome in ("failed", "error")
            for report in terminalreporter.stats.get(outcome, ())
            for name, value in getattr(report, "user_properties", ())
            if name == PROPERTY
        }
        if films or self._problem:
            terminalreporter.section("recordings")
        for path, node in films.items():
            terminalreporter.line(f"{node}  {os.path.relpath(path)}")
        if self._problem:
            terminalreporter.line(f"filmstrip: {self._problem}")

    def _begin(self, item: pytest.Item) -> None:
        from filmstrip import _api

        self._failed = False
        self._path = None
        if _api.recording() is not None:
            self._problem = "not recorded test by test: a recording is running already"
            return
        try:
            os.makedirs(self._folder, exist_ok=True)
            self._path = _api.start(
                os.path.join(self._folder, film_name(item.nodeid)),
                targets=self._config.getoption("--film-target"),
                level=self._config.getoption("--film-level"),
                redact=not self._config.getoption("--film-no-redact"),
                redact_words=self._config.getoption("--film-redact"),
                children=False,
                force=True,
            )
        except Exception as error:
            self._problem = f"{item.nodeid} was not recorded: {error}"

    def _end(self) -> None:
        from filmstrip import _api

        path, self._path = self._path, None
        if path is None:
            return
        if _api.recording() == path:  # the test may have stopped it
            _api.stop()
        if not self._failed:
            try:
                os.unlink(path)
                os.rmdir(self._folder)  # only when it is empty
            except OSError:
                pass
