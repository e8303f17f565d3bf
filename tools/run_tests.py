"""Runs everything `make test` runs and adds it up.

First the C tests, plain and under the sanitizers, then pytest on each Python. A step
that fails does not keep the others from running. At the end: what was skipped and why,
which Pythons were not there, one line with the sums.
"""

from __future__ import annotations

import argparse
import collections
import os
import pathlib
import subprocess
import sys
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[1]
RESULTS = ROOT / "build" / "results"


class Sums:
    def __init__(self) -> None:
        self.passed = self.failed = self.skipped = 0
        self.reasons: collections.Counter[str] = collections.Counter()
        self.failures: list[str] = []

    def add(self, step: str, report: pathlib.Path, status: int) -> None:
        before = self.passed + self.failed + self.skipped
        failed_before = self.failed
        if report.exists():
            for case in xml.etree.ElementTree.parse(report).iter("testcase"):
                name = f"{case.get('classname', '')} {case.get('name', '')}".strip()
                skipped = case.find("skipped")
                if case.find("failure") is not None or case.find("error") is not None:
                    self.failed += 1
                    self.failures.append(f"{step}: {name}")
                elif skipped is not None:
                    self.skipped += 1
                    reason = (skipped.get("message") or "no reason given").strip()
                    self.reasons[reason.splitlines()[0]] += 1
                else:
                    self.passed += 1
        if status != 0 and self.failed == failed_before:
            self.failed += 1
            self.failures.append(f"{step}: ended with status {status}")
        elif self.passed + self.failed + self.skipped == before:
            self.failures.append(f"{step}: no test ran")
            self.failed += 1


def run(step: str, command: list[str], env: dict[str, str] | None = None) -> int:
    print(f"== {step}", flush=True)
    started = time.monotonic()
    status = subprocess.call(command, cwd=ROOT, env={**os.environ, **(env or {})})
    print(f"== {step}: {time.monotonic() - started:.0f} s", flush=True)
    return status


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("versions", nargs="*")
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--missing", default="")
    options = parser.parse_args()

    started = time.monotonic()
    sums = Sums()
    RESULTS.mkdir(parents=True, exist_ok=True)
    for folder, title in (("c", "C tests"), ("asan", "C tests under ASan and UBSan")):
        report = ROOT / "build" / folder / "meson-logs" / "testlog.junit.xml"
        report.unlink(missing_ok=True)
        status = run(
            title,
            [
                *(str(ROOT / ".venv/bin/meson"), "test", "-C", f"build/{folder}"),
                *("--quiet", "--print-errorlogs", "--no-rebuild"),
                *("--num-processes", options.jobs, "--timeout-multiplier", "3"),
            ],
            {
                "ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1",
                "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
            },
        )
        sums.add(title, report, status)
    for version in options.versions:
        first = version == options.versions[0]
        report = RESULTS / f"{version}.xml"
        report.unlink(missing_ok=True)
        title = f"Python {version}"
        command = [
            *(str(ROOT / ".venvs" / version / "bin" / "python"), "-m", "pytest", "-q"),
            *("-n", options.jobs, "--dist", "worksteal"),
            *(f"--junit-xml={report}", "-o", "junit_family=xunit1"),
        ]
        if not first:
            command += ["-m", "not once"]
        sums.add(title, report, run(title, [*command, "tests/python"]))

    print()
    for reason, count in sorted(sums.reasons.items()):
        print(f"skipped {count}: {reason}")
    for version in options.missing.split():
        print(f"Python {version} was not found: its tests did not run (`make pythons`)")
    for failure in sums.failures:
        print(f"FAILED {failure}")
    print(
        f"{sums.passed} passed, {sums.failed} failed, {sums.skipped} skipped "
        f"in {time.monotonic() - started:.0f} s"
    )
    return 1 if sums.failed else 0


if __name__ == "__main__":
    sys.exit(main())
