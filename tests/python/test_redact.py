"""--redact, --no-redact and their like: what counts as secret is up to the user."""

from __future__ import annotations

import hashlib
import json

import pytest

from conftest import dump_events, run_program, run_python
from proof import unpacked

# Each way to write a value of its own to NAME. The program's text is in the film, so the
# values come from code that is no target.
WAYS = {
    "argument": "def f(NAME): return 1\nf(@)",
    "attribute": "o = Plain(); o.NAME = @",
    "slot": "s = Slotted_NAME(); s.slot_NAME = @",
    "changed": "o = Plain(); kept = [o]; o.__dict__['NAME'] = @",
    "key": "d = {}; d['x-NAME'] = @",
    "literal": "d = {'NAME': @, 'n': 1}",
    "global": "global my_NAME; my_NAME = @",
    "local": "NAME = @",
    "message": "try: raise ValueError('NAME=' + @)\nexcept ValueError as e: kept = [e]",
}
NAMES = ["Iban", "password"]
URL = "try: raise OSError('no https://bob:' + @ + '@host')\nexcept OSError as e: pass"


def planted(name, way, run=0):
    """The value written there: found nowhere else."""
    return "Zq" + hashlib.sha256(f"{name} {way} {run}".encode()).hexdigest()[:20]


def indented(text):
    return "    " + text.replace("\n", "\n    ")


def write_program(name):
    """A function for each way, and one that calls them all."""
    parts = ["class Slotted_NAME: __slots__ = ('slot_NAME',)"]
    for way in WAYS:
        body = WAYS[way].replace("@", f"value('NAME', '{way}', run)")
        parts.append(f"def {way}_NAME(run):\n" + indented(body))
    parts += ["def all_NAME(run):", *(f"    {way}_NAME(run)" for way in WAYS), ""]
    return "\n".join(parts).replace("NAME", name)


def bank(runner, runs=1):
    """Writes bank.py: go(run) does all of it. Gives what each name's values are."""
    values = {
        (name, way, run): planted(name, way, run)
        for run in range(runs)
        for name, ways in [*((name, WAYS) for name in NAMES), ("url", ["message"])]
        for way in ways
    }
    (runner.folder / "values.json").write_text(
        json.dumps([[*key, value] for key, value in values.items()])
    )
    runner.write(
        """
        import json
        VALUES = {tuple(key): value for *key, value in json.load(open("values.json"))}

        def value(*key):
            return VALUES[key]
        """,
        "hidden.py",
    )
    text = "from hidden import value\nclass Plain: pass\n"
    text += "\n".join(map(write_program, NAMES))
    text += "\ndef url(run):\n" + indented(
        URL.replace("@", "value('url', 'message', run)", 1)
    )
    text += "\ndef go(run=0):\n    all_Iban(run)\n    all_password(run)\n    url(run)\n"
    (runner.folder / "bank.py").write_text(text)
    return values


def check_film(film, values, hidden, run=0, ways=None):
    """The values of `hidden` are nowhere in the film, all others are."""
    parts = unpacked.pieces(film)
    if parts is None:
        pytest.skip("libzstd is not there to unpack with")
    for command in ("dump", "log", "info"):
        parts.append(run_program(command, film).stdout.encode())
    for (name, way, its_run), value in values.items():
        if ways is not None and way not in ways:
            continue
        found = any(value.encode() in part for part in parts)
        assert found == (name not in hidden and its_run == run), (name, way, its_run)


OPTIONS = [
    ([], {"password", "url"}),
    (["--redact", "iban"], {"Iban", "password", "url"}),
    (["--redact=nothing", "--redact=IBA"], {"Iban", "password", "url"}),
    (["--no-redact"], set()),
    (["--no-redact", "--redact", "iban"], {"Iban"}),
    (["--redact", "iban", "--no-redact", "--redact", "Pass-Word"], {"Iban"}),
]


@pytest.mark.parametrize("options, hidden", OPTIONS, ids=lambda v: " ".join(sorted(v)))
def test_run(runner, options, hidden):
    values = bank(runner)
    options = ["--level", "values", "--target", "bank", *options]
    result = runner.record("import bank; bank.go()", options=options)
    assert (result.rc, result.stderr) == (0, "")
    check_film(result.film, values, hidden)
    told = [json.dumps(event) for event in dump_events(result.film)]
    assert any('"redacted": true' in event for event in told) == bool(hidden)


@pytest.mark.parametrize("options, hidden", OPTIONS, ids=lambda v: " ".join(sorted(v)))
def test_messages_at_level_calls(runner, options, hidden):
    values = bank(runner)
    options = ["--level", "calls", "--target", "bank", *options]
    result = runner.record("import bank; bank.go()", options=options)
    assert (result.rc, result.stderr) == (0, "")
    check_film(result.film, values, hidden, ways={"message"})


@pytest.mark.parametrize(
    "arguments, hidden",
    [
        ("redact=True", {"password", "url"}),
        ("redact_words='iban'", {"Iban", "password", "url"}),
        ("redact_words=iter(['other', 'iban'])", {"Iban", "password", "url"}),
        ("redact=False", set()),
        ("redact=False, redact_words=('iban',)", {"Iban"}),
    ],
)
@pytest.mark.parametrize("how", ["record", "start"])
def test_from_python(runner, how, arguments, hidden):
    values = bank(runner)
    stop = {"record": "", "start": "filmstrip.stop()"}[how]
    begin = {
        "record": "with filmstrip.record('out.film', targets='bank', {}):",
        "start": "filmstrip.start('out.film', targets='bank', {})\nif True:",
    }[how]
    result = runner.plain(
        "import filmstrip, bank\n"
        + begin.format(arguments)
        + "\n    bank.go()\n"
        + stop
    )
    assert (result.rc, result.stderr) == (0, "")
    check_film(runner.folder / "out.film", values, hidden)


def test_one_recording_after_the_other(runner):
    """Names, classes and functions that an earlier recording has seen are judged anew,
    also in frames that live on."""
    values = bank(runner, runs=5)
    (runner.folder / "bank.py").open("a").write(
        """
def wait():
    while True:
        run = yield
        Iban = value("Iban", "local", run)
        password = value("password", "local", run)
"""
    )
    result = runner.plain(
        """
        import filmstrip, bank
        waiting = bank.wait()
        next(waiting)
        for run, how in enumerate([
            {},
            {"redact_words": ["iban"]},
            {"redact": False},
            {"redact": False, "redact_words": "iban"},
            {},
        ]):
            with filmstrip.record(f"{run}.film", targets=["bank"], **how):
                bank.go(run)
                waiting.send(run)
        """
    )
    assert (result.rc, result.stderr) == (0, "")
    both = {"password", "url"}
    for run, hidden in enumerate([both, both | {"Iban"}, set(), {"Iban"}, both]):
        check_film(runner.folder / f"{run}.film", values, hidden, run=run)


CHILDREN = {
    "fork": """
        import os, bank
        if os.fork() == 0:
            bank.go()
        else:
            assert os.wait()[1] == 0
        """,
    "subprocess": """
        import subprocess, sys
        subprocess.run([sys.executable, "-c", "import bank; bank.go()"], check=True)
        """,
    "spawn": """
        import multiprocessing, bank
        if __name__ == "__main__":
            process = multiprocessing.get_context("spawn").Process(target=bank.go)
            process.start()
            process.join()
            assert process.exitcode == 0
        """,
}


@pytest.mark.parametrize("way", CHILDREN)
def test_children_are_told(runner, way):
    values = bank(runner)
    options = ["--level", "values", "--target", "bank"]
    options += ["--no-redact", "--redact", "iban", "--redact", "other"]
    result = runner.record(CHILDREN[way], options=options)
    assert (result.rc, result.stderr) == (0, "")
    found = 0
    for film in result.children:
        if any(event["kind"] == "set" for event in dump_events(film)):
            check_film(film, values, {"Iban"})
            assert "redact     only iban other" in run_program("info", film).stdout
            found += 1
    assert found == 1


def test_words_beyond_ascii(runner):
    runner.write("def take(n): return ['ZqOne', 'ZqTwo', 'ZqThree'][n]", "taken.py")
    result = runner.record(
        """
        from taken import take
        def f(мой_счёт):
            d = {"Счёт": take(1)}
            try:
                raise ValueError("счёт: " + take(2))
            except ValueError:
                pass
        f(take(0))
        """,
        options=["--level", "values", "--target", "program.py", "--redact", "счёт"],
    )
    assert (result.rc, result.stderr) == (0, "")
    shown = run_program("log", result.film).stdout
    assert "ZqOne" not in shown and "ZqThree" not in shown
    assert "ZqTwo" in shown  # case counts beyond a to z


def test_arguments_are_redacted_alike(runner):
    for options, expected in [
        ([], "iban=12 --password=[redacted]"),
        (["--redact", "iban"], "iban=[redacted] --password=[redacted]"),
        (["--no-redact"], "iban=12 --password=pw"),
    ]:
        result = runner.record("", "iban=12", "--password=pw", options=["--argv", *options])  # fmt: skip
        assert (result.rc, result.stderr) == (0, "")
        assert expected in run_program("info", result.film).stdout


def test_info_tells_what_was_chosen(runner):
    for options, told in [
        ([], None),
        (["--redact", "iban", "--redact", "Card-No"], "also iban Card-No"),
        (["--no-redact"], "off"),
        (["--no-redact", "--redact", "iban"], "only iban"),
    ]:
        film = runner.record("", options=options).film
        shown = run_program("info", film).stdout
        assert json.loads(run_program("info", "--json", film).stdout).get("redact") == told  # fmt: skip
        assert ("\nredact " in shown) == (told is not None)
        assert told is None or f"\nredact     {told}\n" in shown


@pytest.mark.parametrize(
    "word", ["", "two words", "a\nb", "a=b", "a.b", "x" * 65, "🔑"]
)
def test_wrong_words_are_one_sentence(runner, word):
    runner.write("print('ran')")
    result = run_python(["-m", "filmstrip", "run", "--redact", word, "program.py"], runner.folder)  # fmt: skip
    assert (result.rc, result.stdout, result.films) == (2, "", [])
    assert len(result.stderr.splitlines()) == 1 and "redact" in result.stderr


def test_too_many_words(runner):
    runner.write("print('ran')")
    for count, rc in ((64, 0), (65, 2)):
        words = [f"--redact=w{number}" for number in range(count)]
        result = run_python(["-m", "filmstrip", "run", *words, "program.py"], runner.folder)  # fmt: skip
        assert result.rc == rc, result.stderr
    assert "at most 64" in result.stderr


@pytest.mark.parametrize(
    "arguments, error",
    [
        ("redact_words=['']", "ValueError"),
        ("redact_words='two words'", "ValueError"),
        ("redact_words=['a\\nb']", "ValueError"),
        ("redact_words=['x' * 65]", "ValueError"),
        ("redact_words=map(str, range(65))", "ValueError"),
        ("redact_words=[b'iban']", "TypeError"),
        ("redact_words=['iban', 3]", "TypeError"),
        ("redact_words=3", "TypeError"),
        ("redact='iban'", "TypeError"),
        ("redact=['iban']", "TypeError"),
        ("redact=None", "TypeError"),
    ],
)
def test_wrong_words_raise(runner, arguments, error):
    result = runner.plain(
        f"""
        import filmstrip
        for begin in (filmstrip.record, filmstrip.start):
            try:
                begin("out.film", {arguments})
            except {error} as error:
                assert len(str(error).splitlines()) == 1
            else:
                raise AssertionError
        assert filmstrip.recording() is None
        """
    )
    assert (result.rc, result.stderr) == (0, "")
    assert not list(runner.folder.glob("*.film"))


def test_watch(runner):
    values = bank(runner)
    for options, hidden in [
        ("", {"password", "url"}),
        (", redact_words=['iban']", {"Iban", "password", "url"}),
        (", redact=False", set()),
    ]:
        result = runner.plain(
            f"""
            import filmstrip, bank
            with filmstrip.watch(["bank"], film="watched.film"{options}):
                bank.go()
            """
        )
        assert result.rc == 0, result.stderr
        check_film(runner.folder / "watched.film", values, hidden)


def test_globals_of_watch(runner):
    """The values that globals have when the watching begins are in the film, too."""
    runner.write("api_key, iban, rate = ('Zq' + str(n) * 9 for n in (1, 2, 3))", "held.py")  # fmt: skip
    for options, hidden in [
        ("", "1"),
        (", redact_words='iban'", "12"),
        (", redact=False", ""),
        (", redact=False, redact_words='rate'", "3"),
    ]:
        result = runner.plain(
            f"""
            import filmstrip, held
            names = ["held::api_key", "held::iban", "held::rate"]
            with filmstrip.watch(names, with_globals=True, film="held.film"{options}):
                pass
            """
        )
        assert result.rc == 0, result.stderr
        values = {
            event["name"]: event["value"]["text"]
            for event in dump_events(runner.folder / "held.film")
            if event["kind"] == "set"
        }
        for number, name in zip("123", ("api_key", "iban", "rate"), strict=True):
            shown = f"'{'Zq' + number * 9}'"
            assert values[name] == ("[redacted]" if number in hidden else shown)


def test_watch_refuses_wrong_words(runner):
    result = runner.plain(
        """
        import filmstrip
        for options in ({"redact": "iban"}, {"redact_words": ["two words"]}):
            try:
                filmstrip.watch(["bank"], **options)
            except (TypeError, ValueError):
                pass
            else:
                raise AssertionError(options)
        """
    )
    assert (result.rc, result.stderr) == (0, "")


def test_pytest_plugin(runner):
    values = bank(runner)
    runner.write("import bank\ndef test(): bank.go(); assert False", "test_it.py")
    for options, hidden in [
        ([], {"password", "url"}),
        (["--film-redact=iban"], {"Iban", "password", "url"}),
        (["--film-redact=iban", "--film-no-redact"], {"Iban"}),
    ]:
        result = run_python(
            ["-m", "pytest", "-p", "filmstrip.pytest_plugin", "-p", "no:cacheprovider"]
            + ["--film", "--film-target=bank", *options, "test_it.py"],
            runner.folder,
        )
        assert result.rc == 1, result.stdout
        [film] = (runner.folder / "films").iterdir()
        check_film(film, values, hidden)


LONG_KEYS = """
import time


def fill(keys):
    filled = {}
    for key in keys:
        filled[key] = 1


def take(length):
    best = 1e9
    for turn in range(6):
        keys = [f"{turn}{index:07d}{'a fox in the snow, ' * 60}"[:length] for index in range(4000)]
        for key in keys:
            hash(key)
        start = time.thread_time()
        fill(keys)
        best = min(best, time.thread_time() - start)
    return best


print(take(1000) / take(20))
"""


def test_long_keys_cost_little(record):
    """A store with a key of 1,000 characters, seen for the first time, beside one of 20: it
    cost 7 times as much, since each of 200 bytes was held against each word."""
    result = record(LONG_KEYS, options=["--level", "values"])
    assert result.rc == 0, result.stderr
    assert float(result.stdout) < 4


def test_words_in_long_keys(runner):
    """The first 200 bytes of a key count, as docs/values.md says."""
    keys = [
        "password" + "x" * 2000,
        "x" * 192 + "password",
        "x" * 192 + "Pass" + "x" * 90,
    ]
    values = {("key", str(index), 0): planted("key", index) for index in range(3)}
    text = ["d = {}"]
    for (_, index, _), value in values.items():
        (runner.folder / f"{index}.txt").write_text(value)
        text.append(f"d[{keys[int(index)]!r}] = open('{index}.txt').read()")
    result = runner.record("\n".join(text), options=["--level", "values"])
    assert result.rc == 0, result.stderr
    told = "".join(run_program(c, result.film).stdout for c in ("dump", "log"))
    parts = unpacked.pieces(result.film) or []
    for (_, index, _), value in values.items():
        found = any(value.encode() in part for part in [told.encode(), *parts])
        assert found == (index == "2"), index


MANY_SECRETS = """
import time


def speak(texts):
    for text in texts:
        said = text


def take():
    best = 1e9
    for turn in range(6):
        texts = [f"a word or two, {turn}, {index}" for index in range(4000)]
        start = time.thread_time()
        speak(texts)
        best = min(best, time.thread_time() - start)
    return best


def lex(count):
    for index in range(count):
        token = f"name{index:05d}"


lex(1)
few = take()
lex(256)
print(take() / few)
"""


def test_many_secrets_cost_little(record):
    """What a parser calls a token is a secret to us: each text that was told cost 50 times as
    much when 256 of them were known, since each was looked for by itself."""
    result = record(MANY_SECRETS, options=["--level", "values"])
    assert result.rc == 0, result.stderr
    assert float(result.stdout) < 3


def test_the_latest_secrets_are_known(runner):
    """The latest 256, wherever they are in a text; many have the same first bytes."""
    secrets = [f"same{index:04d}{planted('late', index)}" for index in range(300)]
    (runner.folder / "secrets.txt").write_text("\n".join(secrets))
    result = runner.record(
        """
with open("secrets.txt") as file:
    for line in file:
        token = line.rstrip()
token = None
with open("secrets.txt") as file:
    for line in file:
        end = line.rstrip()
        middle = f"sam{end}sames"
        line = end = middle = None
""",
        options=["--level", "values"],
    )
    assert result.rc == 0, result.stderr
    told = run_program("dump", result.film).stdout
    for index, secret in enumerate(secrets):
        # Told before it was known, as `line`; of what is known later nothing is told twice.
        assert told.count(secret) == (1 if index >= 44 else 4), (
            index,
            told.count(secret),
        )
