"""One library's own tests, bare and recorded, by the code of `make soak-libraries`; and
that code itself: what it calls changed, what it writes."""

from __future__ import annotations

import importlib
import json
import pathlib
import sys

import pytest

from conftest import PACKAGE, ROOT

sys.path.insert(0, str(ROOT / "tests" / "libraries"))
page = importlib.import_module("page")
soak = importlib.import_module("soak")
suites = importlib.import_module("suites")


def run_of(outcomes, status=0, cpu=1.0, rss=10 << 10):
    files = dict.fromkeys(outcomes, "tests/test_a.py")
    return soak.Run(status, outcomes, files, 1.0, cpu, rss, "")


class Twice:
    """A place whose second runs are given."""

    def __init__(self, *runs):
        self.runs = dict(zip(("bare", "all"), runs))
        self.asked = []

    def run(self, mode, only):
        self.asked.append((mode, only))
        return self.runs[mode]


def test_a_changed_outcome_is_told_from_an_unsteady_one():
    bare = run_of({"a": "passed", "b": "passed", "c": "passed", "gone": "passed"})
    recorded = run_of(
        {"a": "passed", "b": "failure", "c": "failure", "new": "passed"},
        1,
        cpu=3.0,
        rss=30 << 10,
    )
    place = Twice(
        run_of({"a": "passed", "b": "passed", "c": "passed", "gone": "passed"}),
        run_of({"a": "passed", "b": "failure", "c": "passed", "new": "passed"}),
    )
    result = soak.verdict(place, "all", bare, recorded)
    files = ["tests/test_a.py"]
    assert place.asked == [("bare", files), ("all", files)]
    assert result["changed"] == {
        "b": "passed -> failure",
        "gone": "passed -> None",
        "new": "None -> passed",
    }
    assert result["unsteady"] == ["c"]
    assert (result["slowdown"], result["rss_over_bare_mib"]) == (3.0, 20.0)
    suite = suites.Suite("x", "1", (), (), known={"all b": "a reason"})
    assert page.unexplained(suite, "all", result) == ["gone", "new"]
    assert page.is_fault(suite, "all", result)


def test_outcomes_of_a_report(tmp_path):
    report = tmp_path / "report.xml"
    report.write_text(
        "<testsuites><testsuite>"
        '<testcase classname="t.A" name="x" file="t.py"/>'
        '<testcase classname="t.A" name="x" file="t.py"><failure/></testcase>'
        '<testcase classname="t" name="y" file="t.py"><skipped/></testcase>'
        '<testcase classname="t" name="z" file="t.py"><system-out/><error/></testcase>'
        "</testsuite></testsuites>"
    )
    outcomes, files = soak.read_report(report)
    assert outcomes == {
        "t.A::x": "passed",
        "t.A::x (2)": "failure",
        "t::y": "skipped",
        "t::z": "error",
    }
    assert set(files.values()) == {"t.py"}


def test_the_page_tells_what_was_measured(tmp_path):
    results = tmp_path / "3.12" / "click" / "results"
    results.mkdir(parents=True)
    bare, recorded = run_of({"a": "passed"}), run_of({"a": "failure"}, 1, cpu=2.0)
    recorded.losses = {"lost_events": 1500}
    told = soak.verdict(Twice(bare, recorded), "all", bare, recorded)
    mark = {"mark": {"suite": suites.SUITES["click"].run_as()}}
    (results / "bare.json").write_text(json.dumps({**mark, **soak.measured(bare)}))
    (results / "all.json").write_text(json.dumps({**mark, **told}))
    (results / "target.json").write_text(json.dumps({**told, "mark": {"suite": ""}}))
    text = tmp_path / "page.txt"
    text.write_text(f"before\n{page.BEGIN}\nold\n{page.END}\nafter\n")
    for _ in range(2):  # written over, not written twice
        page.write(text, tmp_path)
    lines = text.read_text().splitlines()
    assert lines[0] == "before" and lines[-1] == "after" and "old" not in lines
    version = suites.SUITES["click"].version
    assert (
        f"| click {version} | 3.12 | 1 | 1 s, 10 MiB | – | – | "
        "1, × 2.00, +0 MiB, 1,500 events lost |" in lines
    )
    assert any("`a`, passed -> failure: not explained yet" in line for line in lines)
    assert any("1,500 events lost: not explained yet" in line for line in lines)


def test_the_page_keeps_what_other_machines_measured(tmp_path):
    def page_of(machine, mode, changed):
        results = tmp_path / machine / "3.12" / "click" / "results"
        results.mkdir(parents=True)
        bare, recorded = run_of({"a": "passed"}), run_of(changed, 0, cpu=2.0)
        told = soak.verdict(Twice(bare, recorded), mode, bare, recorded)
        mark = {"mark": {"suite": suites.SUITES["click"].run_as()}}
        (results / "bare.json").write_text(json.dumps({**mark, **soak.measured(bare)}))
        (results / f"{mode}.json").write_text(json.dumps({**mark, **told}))
        page.write(text, tmp_path / machine)
        return text.read_text().splitlines()

    version, attrs = suites.SUITES["click"].version, suites.SUITES["attrs"].version
    other = f"| attrs {attrs} | 3.12 | 7 | 2 s, 10 MiB | 0 | 0 | 1 |"
    note = "* attrs on 3.12, `--all`: `b`, passed -> failure: for a reason"
    text = tmp_path / "page.txt"
    old = "| attrs 1.0 | 3.12 | 7 | 2 s, 10 MiB | 0 | 0 | 1 |"
    text.write_text(f"{page.BEGIN}\n{other}\n{old}\n{note}\n{page.END}\n")
    lines = page_of("first", "all", {"a": "failure"})
    assert other in lines and note in lines and old not in lines
    assert (
        f"| click {version} | 3.12 | 1 | 1 s, 10 MiB | – | – | 1, × 2.00, +0 MiB |"
        in lines
    )
    lines = page_of("second", "default", {"a": "passed"})
    cells = "0, × 2.00, +0 MiB | – | 1, × 2.00, +0 MiB"
    assert f"| click {version} | 3.12 | 1 | 1 s, 10 MiB | {cells} |" in lines
    assert sum("`a`, passed -> failure" in line for line in lines) == 1
    lines = page_of("third", "all", {"a": "passed"})
    assert not any("`a`, passed -> failure" in line for line in lines) and note in lines


def test_a_run_that_crashes_is_a_fault():
    """Whatever its tests did when they ran a second time."""
    bare, crashed = run_of({"a": "passed"}), run_of({}, -11)
    result = soak.verdict(Twice(bare, bare), "all", bare, crashed)
    assert result["unsteady"] == ["a"] and not result["changed"]
    assert page.is_fault(suites.SUITES["click"], "all", result)
    assert page.cell(result, soak.measured(bare)) == "ended by signal 11"


def test_a_loss_is_a_fault_unless_it_is_known():
    bare, recorded = run_of({"a": "passed"}), run_of({"a": "passed"})
    recorded.losses = {"plans_missing": 1, "lost_events": 0}
    result = soak.verdict(Twice(bare, recorded), "all", bare, recorded)
    known = suites.Suite("x", "1", (), (), known={"all plans_missing": "a reason"})
    assert page.is_fault(suites.SUITES["click"], "all", result)
    assert not page.is_fault(known, "all", result)
    assert page.notes_of(known, "all", result) == ["1 without a plan: a reason"]


def test_a_part_by_the_names_of_modules_is_run_again_as_a_whole():
    """By file, pytest gives its tests other names."""
    suite = suites.Suite("x", "1", ("--pyargs", "x.tests"), ())
    assert suite.words("r", ["../x/tests/test_a.py"]) == suite.words("r")


def test_a_run_that_takes_too_long_is_ended(tmp_path):
    suite = suites.Suite(
        *("slow", "1", (), ()),
        command=("-c", "import time; time.sleep(600)"),
        limit_s=1,
    )
    place = soak.Place(suite, PACKAGE, sys.executable, tmp_path)
    place.source.mkdir(parents=True)
    place.python = pathlib.Path(sys.executable)
    done = place.run("bare")
    assert done.status is None and done.wall_s < 60


def test_every_row_is_pinned_and_every_known_change_has_a_reason():
    for suite in suites.SUITES.values():
        for needed in suite.requirements:
            assert "==" in needed, (suite.name, needed)
        for where, reason in {**suite.known, **suite.left_out}.items():
            assert len(reason) > 10, (suite.name, where)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_markupsafes_suite_ends_as_it_does_bare(tmp_path):
    if not soak.TOOLS.exists():
        pytest.skip("no .venv: use `make test`")
    suite = suites.SUITES["markupsafe"]
    place = soak.Place(suite, PACKAGE, sys.executable, tmp_path)
    for mode, result in soak.soak(place, soak.MODES).items():
        assert result["tests"] > 50, mode
        assert not page.is_fault(suite, mode, result), page.sentence(result)
