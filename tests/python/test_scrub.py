"""filmstrip scrub: what is taken out is gone from the file, raw and unpacked; what
stays is as it was."""

from __future__ import annotations

import subprocess
import sys

import pytest

from conftest import clean_environment, dump_events, run_program

SECRET = "Xq7-planted-secret-91"
SHORT = "Zk4pl"
PROGRAM = f"""
    import os
    class Account:
        def __init__(self, customer, code):
            self.customer = customer
            self.code = code
            self.visits = [customer, "plain"]

    def lookup(customer, n):
        table = {{"customer": customer, "a rather long key of customer": customer, "n": n}}
        table["customer"] = customer.upper().lower()
        return table

    def give_customer():
        return "".join(reversed("{SECRET[::-1]}"))

    def use(n):
        customer = give_customer()
        other = customer
        code = "".join(["{SHORT[:2]}", "{SHORT[2:]}"])
        account = Account(customer, code)
        found = lookup(customer, n)
        message = "customer " + customer + " is known, " * 30
        card = 4111111111111111
        kept = "kept value"
        try:
            raise ValueError("bad customer: " + customer)
        except ValueError:
            pass
        del found["customer"]
        data = bytearray(customer, "ascii")
        data.append(33)
        return len(message) + n

    for n in range({{rounds}}):
        use(n)
"""


def program(rounds=3):
    return PROGRAM.replace("{rounds}", str(rounds))


@pytest.fixture
def film(runner):
    result = runner.record(program(), options=["--level", "values", "--argv"])
    assert result.rc == 0, result.stderr
    return result.film


def texts(path):
    """Everything a reader can get out of the film."""
    result = subprocess.run(
        [sys.executable, "-c", READ, str(path)],
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    shown = result.stdout + run_program("dump", path).stdout
    shown += (
        run_program("log", path).stdout + run_program("log", "--objwatch", path).stdout
    )
    return shown + run_program("info", "--json", path).stdout


READ = """
import sys, filmstrip
film = filmstrip.open(sys.argv[1])
print(list(film.strings()))
print(list(film.sources()))
print([vars(code) if hasattr(code, '__dict__') else code.function for code in film.codes()])
for key in ("program", "argv", "cwd", "targets", "executable"):
    print(film.meta(key))
"""


def scrub(film, *options, out="clean.film"):
    target = film.parent / out
    result = run_program("scrub", film, target, "--force", *options)
    return result, target


def test_names(film):
    assert SECRET in texts(film)
    result, clean = scrub(film, "--name", "customer", "--name", "give_customer")
    assert result.rc == 0, result.stderr
    assert "values" in result.stdout
    shown = texts(clean)
    assert SECRET not in shown and SECRET[::-1][:8] in shown
    assert SECRET.encode() not in clean.read_bytes()
    assert "kept value" in shown and SHORT in shown
    assert run_program("check", clean).rc == 0
    values = [
        event["value"]
        for event in dump_events(clean)
        if event["kind"] == "set" and event.get("name") == "customer"
    ]
    assert values and all(value.get("redacted") for value in values)


def without_values(event):
    drop = ("value", "args", "owner", "key", "exception", "object", "length_before")
    return {key: value for key, value in event.items() if key not in drop}


def test_the_run_stays_as_it_was(film):
    _, clean = scrub(film, "--name", "customer")
    before, after = dump_events(film), dump_events(clean)
    assert [*map(without_values, before)] == [*map(without_values, after)]
    plain = [
        (b["value"], a["value"])
        for b, a in zip(before, after)
        if b["kind"] == "set" and b.get("name") in ("n", "kept", "card", "code")
    ]
    assert plain and all(one == other for one, other in plain)
    assert run_program("report", film).stdout == run_program("report", clean).stdout


def test_patterns(film):
    result, clean = scrub(
        film, "--pattern", "planted-[a-z]+", "--pattern", "4[0-9]{15}"
    )
    assert result.rc == 0, result.stderr
    shown = texts(clean)
    assert "planted" not in shown and "4111111111111111" not in shown
    assert b"planted" not in clean.read_bytes()
    assert "Xq7-[redacted]-91" in shown
    assert SHORT in shown
    assert run_program("check", clean).rc == 0


def test_sources_keep_their_length(film):
    _, clean = scrub(film, "--pattern", "kept value")
    read = "import sys, filmstrip\nfor n, t in filmstrip.open(sys.argv[1]).sources(): print(t)"
    before, after = (
        subprocess.run(
            [sys.executable, "-c", read, path],
            env=clean_environment(),
            capture_output=True,
            text=True,
        ).stdout
        for path in (film, clean)
    )
    assert len(before) == len(after)
    assert before.replace("kept value", "*" * 10) == after


def test_the_deny_list_is_the_default(runner):
    """Turned off when recording, made up for later."""
    result = runner.record(
        """
        def login(user, code):
            return user
        names = {"plain": "visible-1"}
        login("visible-2", "visible-3")
        """,
        options=["--level", "values"],
    )
    done, clean = scrub(result.film)
    assert done.rc == 0, done.stderr
    assert run_program("dump", clean).stdout == run_program("dump", result.film).stdout


def test_objects_by_name(runner):
    result = runner.record(
        f"""
        class Key:
            def __init__(self):
                self.part = "inner-" + "{SECRET}"
                self.parts = [self.part + "1", {{"deep": self.part + "2"}}]
        def use(vault):
            alias = vault
            alias.parts.append("later-" + alias.part)
            return alias
        use(Key())
        """,
        options=["--level", "values"],
    )
    assert f"inner-{SECRET}" in run_program("dump", result.film).stdout
    done, clean = scrub(
        result.film, "--name", "vault", "--name", "part*", "--name", "self"
    )
    assert done.rc == 0, done.stderr
    assert f"inner-{SECRET}" not in texts(clean)
    assert run_program("check", clean).rc == 0


@pytest.mark.parametrize("rounds", [700])
def test_many_chunks(runner, rounds):
    result = runner.record(program(rounds), options=["--level", "values"])
    done, clean = scrub(result.film, "--name", "customer", "--name", "give_customer")
    assert done.rc == 0, done.stderr
    assert SECRET not in run_program("dump", clean).stdout
    assert run_program("check", clean).rc == 0
    assert len(dump_events(clean)) == len(dump_events(result.film)) > 16384


def test_a_ring(runner):
    result = runner.record(program(3000), options=["--level", "values", "--ring", "4M"])
    done, clean = scrub(result.film, "--name", "customer", "--name", "give_customer")
    assert done.rc == 0, done.stderr
    assert SECRET not in run_program("dump", clean).stdout
    assert run_program("check", clean).rc == 0
    assert len(dump_events(clean)) == len(dump_events(result.film))


def test_wrong_use(film):
    out = film.parent / "out2.film"
    for arguments, words in (
        ([film], "give the recording"),
        ([film, out, out], "give the recording"),
        ([film, out, "--pattern", "("], "is no pattern"),
        ([film, out, "--pattern", "x*"], "matches the empty text"),
        ([film.parent / "none.film", out], "none.film"),
    ):
        result = run_program("scrub", *arguments)
        assert result.rc == 2 and words in result.stderr, result.stderr
        assert len(result.stderr.splitlines()) == 1
        assert not out.exists()
    out.write_text("mine")
    result = run_program("scrub", film, out)
    assert result.rc == 2 and out.read_text() == "mine"


KILLED = """
import os, sys, threading
def give_customer(): return "".join(reversed("{secret}"))
def use(n):
    customer = give_customer()
    table = {{"customer": customer, "n": n, "text": "a longer text, number %d" % n}}
    table["n"] += 1
    return table
def work(n):
    for i in range(n): use(i)
n = int(sys.argv[1])
other = threading.Thread(target=work, args=(n,))
other.start()
work(n)
other.join()
os.kill(os.getpid(), 9)
"""


# All of it in windows; most of it in chunks.
@pytest.mark.parametrize("rounds", [3, 5000])
@pytest.mark.parametrize("level", ["values", "calls"])
def test_a_recording_that_was_not_closed(runner, rounds, level):
    result = runner.record(
        KILLED.format(secret=SECRET[::-1]), str(rounds), options=["--level", level]
    )
    before = dump_events(result.film)
    assert len(before) > 20 * rounds or level == "calls"
    done, clean = scrub(result.film, "--pattern", "matches nothing at all")
    assert (done.rc, done.stderr) == (0, "")
    assert dump_events(clean) == before
    assert (
        run_program("report", clean).stdout == run_program("report", result.film).stdout
    )
    assert "died before it closed" in run_program("check", clean).stdout
    done, clean = scrub(result.film, "--name", "*customer*", "--force")
    assert (done.rc, done.stderr) == (0, "")
    assert SECRET.encode() not in clean.read_bytes()
    after = dump_events(clean)
    assert SECRET not in str(after)
    assert [event["kind"] for event in after] == [event["kind"] for event in before]


def test_a_recording_that_is_damaged(film):
    with film.open("r+b") as file:
        file.seek(film.stat().st_size // 2)
        file.write(b"\xff" * 64)
    done, clean = scrub(film)
    assert done.rc == 2 and not clean.exists()
    assert "is damaged" in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_recording_that_is_being_written(runner):
    result = runner.plain(
        """
        import filmstrip, subprocess, os
        program = os.path.join(os.path.dirname(filmstrip.__file__), "bin", "filmstrip")
        with filmstrip.record("a.film"):
            done = subprocess.run([program, "scrub", "a.film", "b.film"])
        print(done.returncode)
        """
    )
    assert result.stdout == "2\n" and "still being written" in result.stderr
