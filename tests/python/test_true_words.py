"""What pages and comments say against what is so: tables, files, help."""

from __future__ import annotations

import math
import re
import subprocess

import pytest

from conftest import PROGRAM, ROOT

pytestmark = pytest.mark.once

PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").glob("*.md"))]  # fmt: skip


def sources():
    """Every file a person reads that is in the tree."""
    for folder, names in {
        "src": ("*.c", "*.h"),
        "include": ("*.h", "*.def"),
        "python": ("*.py", "*.pyi"),
        "tests": ("*.c", "*.h", "*.py", "*.js"),
        "tools": ("*",),
        "bench": ("*.c", "*.py"),
        "examples": ("*",),
    }.items():
        for name in names:
            for path in sorted((ROOT / folder).rglob(name)):
                if path.is_file() and "__pycache__" not in path.parts:
                    yield path
    yield from (ROOT / "Makefile", ROOT / "meson.build", ROOT / "pyproject.toml")
    yield from PAGES


def ask(*words):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_documents_that_are_named_are_there():
    there = {path.name for path in (*PAGES, *ROOT.glob("*.md"))}
    there |= {path.name for path in (ROOT / "editors").glob("*/*.md")}
    missing = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sources()
        if path != ROOT / "tests/python/test_true_words.py"
        for name in re.findall(
            r"(?<!Objects/)\b([A-Za-z_-]+\.md)\b", path.read_text(errors="replace")
        )
        if name not in there
    ]
    assert missing == []


def test_costs_are_told_of_programs_not_tuned_for_too():
    """The second set of the bench is in the table, whole, and the mean is of its rows."""
    bench = (ROOT / "bench/strangers.py").read_text()
    programs = re.search(r"for function in \((.*?)\)", bench, re.S)
    assert programs is not None
    names = [name.replace("_", " ") for name in re.findall(r"\w+", programs[1])]
    page = (ROOT / "docs/values.md").read_text()
    rows = dict(re.findall(r"^\| ([a-z ]+) \|((?: [\d.]+ \|){5})$", page, re.M))
    assert list(rows) == names
    said = re.search(
        r"\| \*\*geometric mean\*\* \|((?: \*\*[\d.]+\*\* \|){4}) \|", page
    )
    assert said is not None
    means = [float(mean) for mean in re.findall(r"[\d.]+", said[1])]
    for place, mean in enumerate(means):
        ratios = [float(re.findall(r"[\d.]+", row)[place]) for row in rows.values()]
        assert abs(math.prod(ratios) ** (1 / len(ratios)) - mean) < 0.01 * mean
    readme = " ".join((ROOT / "README.md").read_text().split())
    assert (
        f"take {min(means):.0f} to {max(means):.0f} times as long in the mean" in readme
    )


def test_source_files_that_are_named_are_there():
    """`stack.c` and the like in ARCHITECTURE.md and docs/format.md."""
    there = {path.name for path in ROOT.glob("src/**/*.[ch]")}
    there |= {path.name for path in (ROOT / "include/filmstrip").iterdir()}
    for page in ("ARCHITECTURE.md", "docs/format.md", "docs/limits.md"):
        text = (ROOT / page).read_text()
        for name in re.findall(r"`(?:\w+/)*(\w+\.[ch])`", text):
            assert name in there or name == "Python.h", f"{page}: {name}"
        for pattern in re.findall(r"`(?:\w+/)*(\w*\*\w*\.[ch])`", text):
            assert any(re.fullmatch(pattern.replace("*", r"\w*"), n) for n in there)


# Sentences in which something is rightly said to be to come, or not to be there yet.
STILL_TO_COME = {
    "docs/limits.md": ["what the system had not yet written to the disk is lost"],
}


def test_nothing_is_promised_that_is_there():
    """'Not yet' and 'later versions' grow old unseen: each is listed here."""
    for page in PAGES:
        name = str(page.relative_to(ROOT))
        text = " ".join(page.read_text().split())
        for sentence in STILL_TO_COME.get(name, []):
            assert sentence in text, f"{name} no longer says: {sentence}"
            text = text.replace(sentence, "")
        found = re.search(
            r".{40}\b(not yet|yet to|later versions?|future versions?|told yet)\b.{20}",
            text,
            re.IGNORECASE,
        )
        assert found is None, f"{name}: {found[0]}"


def test_events_are_those_of_the_table():
    """docs/dump.md and docs/format.md name every kind of event; of those that no
    recorder writes, neither says that it does."""
    table = (ROOT / "include/filmstrip/events.def").read_text()
    kinds = dict(re.findall(r'^FILM_EVENT\(\w+, "(\w+)", (\d+)\)', table, re.MULTILINE))
    unwritten = {"span", "output"}
    assert unwritten < set(kinds)
    dump = (ROOT / "docs/dump.md").read_text()
    rows = dump.split("| kind | keys |")[1].split("\n\n")[0]
    told = [
        kind
        for row in re.findall(r"^\| (`[^|]*) \|", rows, re.MULTILINE)
        for kind in re.findall(r"`(\w+)`", row)
    ]
    assert sorted(told) == sorted(set(kinds) - unwritten)
    form = (ROOT / "docs/format.md").read_text()
    rows = form.split('| kind | number | body of an "other" row |')[1].split("\n\n")[0]
    numbers = {
        kind: number
        for names, cells in re.findall(r"^\| ([\w, ]+) \| ([\d, ]+) \|", rows, re.M)
        for kind, number in zip(names.split(", "), cells.split(", "), strict=True)
    }
    assert {k: kinds.get(k) for k in numbers} == numbers


def test_exporters_are_those_of_the_table():
    page = (ROOT / "docs/export.md").read_text()
    text = (ROOT / "src/export/exporter.c").read_text()
    names = re.findall(r'^    \{"([a-z-]+)", "', text, re.MULTILINE)
    assert len(names) >= 9
    help_page = ask("export", "--help")
    for name in names:
        assert f"`{name}`" in page, f"docs/export.md does not name {name}"
        assert re.search(rf"\b{name}\b", help_page), name
    readme = (ROOT / "README.md").read_text()
    row = re.search(r"^\| \[`export`\].*$", readme, re.MULTILINE)[0]
    for name in re.findall(r"`([a-z-]+)`", row.split("|")[2]):
        assert name in names, f"README.md: {name}"


def options_of(command):
    if command == "run":
        text = (ROOT / "python/filmstrip/_run.py").read_text()
        return set(re.findall(r"(?<![\w-])(--?[a-z][a-z-]*)", text))
    return set(re.findall(r"(?<![\w-])(--?[a-zA-Z][a-z-]*)", ask(command, "--help")))


def test_options_in_examples_exist():
    """`filmstrip log ... --option` anywhere in a page or a help page."""
    names = re.findall(r"^  (\w+)  +\w", ask("--help"), re.MULTILINE)
    names = names[: names.index("dap") + 1]
    known = {command: options_of(command) for command in names}
    wrong = []
    for page in PAGES:
        for command, rest in re.findall(
            rf"\bfilmstrip ({'|'.join(names)})\b([^|`\n#]*)", page.read_text()
        ):
            if command == "run":  # behind the program its own options stand
                rest = re.split(r"\w+\.py\b| -m | -c | SCRIPT", rest)[0]
            for option in re.findall(r"(?<=\s)(--[a-z][a-z-]*)", rest):
                if option not in known[command]:
                    wrong.append(f"{page.name}: filmstrip {command} {option}")
    assert wrong == []


def test_make_targets_that_are_named_exist():
    targets = set(
        re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    )
    for page in [*PAGES, ROOT / ".ci/run"]:
        for target in re.findall(
            r"(?:`|\n(?:exec )?)make ([a-z-]+)[`\n]", page.read_text()
        ):
            assert target in targets, f"{page.name}: make {target}"


def test_what_a_change_must_pass():
    """.ci/run checks, builds without a warning and only then tests; nothing is skipped
    for want of a tool."""
    script = (ROOT / ".ci/run").read_text()
    steps = re.findall(r"^(?:exec )?make ([a-z-]+)", script, re.MULTILINE)
    assert steps.index("check") < steps.index("test")
    assert steps.index("werror") < steps.index("test")
    assert "set -euo pipefail" in script and "CI=1" in script
    makefile = (ROOT / "Makefile").read_text()
    check = makefile.split("\ncheck:")[1].split("\n.PHONY")[0]
    for tool in ("check_layers", "clang-format", "cppcheck", "tidy", "ruff", "mypy"):
        assert tool in check
    assert "skipped" not in check and "command -v" not in check
    assert "-Dwerror=true" in makefile
    for compiler in ("gcc", "clang"):
        assert f"werror_rules,{compiler}," in makefile


def test_comments_are_not_mangled():
    """The license stands on a line of its own: clang-format leaves comments alone."""
    assert "ReflowComments: false" in (ROOT / ".clang-format").read_text()
    for path in sources():
        if path.suffix in (".c", ".h"):
            text = path.read_text()
            assert re.search(r"^ \* SPDX-License-Identifier: Apache-2.0 \*/$", text, re.M), path  # fmt: skip


def test_arguments_of_record_are_those_of_the_page():
    import ast

    tree = ast.parse((ROOT / "python/filmstrip/_api.py").read_text())
    made = [node for node in tree.body if getattr(node, "name", "") == "record"][-1]
    names = [one.arg for one in (*made.args.args, *made.args.kwonlyargs)]
    page = (ROOT / "docs/python.md").read_text()
    rows = page.split("| argument | meaning |")[1].split("\n\n")[0]
    told = [
        name
        for row in re.findall(r"^\| (`[^|]*) \|", rows, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", row)
    ]
    assert sorted(told) == sorted(names)
    assert all(re.search(rf"\b{name}\b", ast.get_docstring(made)) for name in names)


def test_options_of_the_magic_are_those_of_the_page():
    text = (ROOT / "python/filmstrip/_notebook.py").read_text()
    options = set(re.findall(r'add_argument\("(--[a-z-]+)"', text))
    page = (ROOT / "docs/pytest.md").read_text()
    line = re.search(r"^%%film .*$", page, re.MULTILINE)[0]
    assert set(re.findall(r"--[a-z-]+", line)) == options
    assert set(re.findall(r"--[a-z-]+", text.split('"""')[1])) == options
