"""Planted secrets: in names, keys, attributes, arguments, messages, nested; never in the
file, raw or unpacked, nor in what the commands print."""

from __future__ import annotations

import json
import random
import re

import pytest

from conftest import dump_events, run_program
from proof import unpacked

NAMES = [
    "password", "passwd", "user_password", "PASSWORD", "passphrase", "secret", "client_secret", "token",
    "access_token", "api_key", "apikey", "API_KEY", "authorization", "credential", "credentials", "private_key",
    "access_key", "auth_key", "session_id", "cookie", "bearer", "pwd", "my_token_2", "secretValue",
]  # fmt: skip


class Planter:
    """Makes texts that are found nowhere else, and remembers them."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.planted: list[str] = []

    def __call__(self, length=24):
        text = "Zq" + "".join(
            self.chance.choice("ABCDEFGHJKLMNPRSTUVWXYZabcdefghjkmnpqrstuvwxyz23456789")
            for _ in range(length - 2)
        )
        self.planted.append(text)
        return text


# NAME is replaced by a name of the list, @ by a planted text. The text of the program is
# in the film with its source, so secrets come from a file that the program reads.
WAYS = {
    "local": "NAME = @",
    "argument": "def f(NAME): return 1\nf(@)",
    "keyword": "def f(*, NAME=None): pass\nf(NAME=@)",
    "named": "def f(**kw): pass\nf(NAME=@)",
    "global": "global G_NAME\nG_NAME = @",
    "attribute": "o = O(); o.NAME = @",
    "slot": "class S: __slots__ = ('NAME',)\ns = S(); s.NAME = @",
    "key": "d = {}; d['NAME'] = @",
    "literal": "d = {'NAME': @, 'other': 1}",
    "nested": "d = {'a': [{'b': ({'NAME': @},)}]}",
    "instance": "o = O(); o.__dict__['NAME'] = @; p = o; l = [o]",
    "changed": "d = {'x': 1}; l = [d]; d.update(NAME=@)",
    "dataclass": "x = D(NAME=@)\ny = [x]",
    "closure": "NAME = @\ndef g(): nonlocal NAME; NAME = NAME + ''; return 1\ng()",
    "walrus": "if (NAME := @): pass",
    "loop": "for NAME in [@]: pass",
    "with": "with M(@) as NAME: pass",
    "unpacked": "a, NAME = 1, @",
    "match": "match [1, @]:\n    case [_, NAME]: pass",
    "class body": "class C: NAME = @",
    "message": "try: raise ValueError('NAME=' + @)\nexcept ValueError as e: pass",
    "message in json": "try: raise ValueError('{\"NAME\": \"' + @ + '\"}')\nexcept ValueError as e: kept = [e]",
    "list of them": "NAME = [@, @]",
    "dict of them": "NAME = {'a': @, 'b': [@]}",
    "bytes": "NAME = @.encode()",
    "later": "NAME = @; other = NAME; l = [other]; d = {'k': other}; f2(other); o = O(); o.x = other",
    "key itself": "d = {}; NAME = @; d[NAME] = 1",
    "returned": "def f(): NAME = @; return NAME\nx = f()",
    "header": "headers = {'Authorization': 'Bearer ' + @}",
    "deleted": "d = {'NAME': @}; del d['NAME']",
    "long": "NAME = @ * 40",
    "appended": "NAME = []\nNAME.append(@)\nNAME[0] = @\nsame = NAME\nsame += [@]",
    "filled": "NAME = {}\nNAME['a'] = @\nNAME.update(b=@)\nd = [NAME]",
    "member": "NAME = set()\nNAME.add(@)\nother = NAME",
    "deep": "NAME = [[1]]\nNAME[0].append(@)\ninner = NAME[0]",
    "attribute's list": "o = O(); o.NAME = [1]\no.NAME.append(@)\nl = o.NAME",
    "bytearray": "NAME = bytearray(@.encode())\nother = NAME",
}

PRELUDE = """
import json, dataclasses
SOURCE = iter(json.load(open("planted.json")))
class O: pass
class M:
    def __init__(self, NAME): self.NAME = NAME
    def __enter__(self): return self.NAME
    def __exit__(self, *a): pass
def f2(v): return v
take = lambda: SOURCE.__next__()
"""


def plant(names, ways):
    """The program's text, and what it will take from planted.json."""
    planter = Planter(7)
    parts = [PRELUDE.replace("NAME", "password")]
    for number, (name, way) in enumerate((n, w) for n in names for w in ways):
        body = WAYS[way].replace("NAME", name)
        count = body.count("@")
        # Once taken, a secret is the name's own value at once: what passes through
        # `take` has no name, so the taking is in code that is no target.
        body = re.sub("@", "hidden()", body)
        if way == "dataclass":
            parts.append(
                f"@dataclasses.dataclass\nclass D{number}:\n    {name}: str = ''"
            )
            body = body.replace("D(", f"D{number}(")
        parts.append(
            f"def case{number}():\n    "
            + body.replace("\n", "\n    ")
            + f"\n    return {number}\ncase{number}()"
        )
        for _ in range(count):
            planter()
    return "\n".join(parts) + "\n", planter.planted


HIDDEN = """
import json
SOURCE = iter(json.load(open("planted.json")))
def hidden(): return next(SOURCE)
"""


def look_for(planted, film):
    """Where any of them is: in the file, unpacked, or in what commands say."""
    found = []
    parts = unpacked.pieces(film)
    if parts is None:
        pytest.skip("libzstd is not there to unpack with")
    assert len(parts) > 3
    texts = {f"piece {number}": part for number, part in enumerate(parts)}
    for command in (["dump"], ["log"], ["info"], ["report"]):
        texts[command[0]] = run_program(*command, film).stdout.encode()
    for text in planted:
        for where, data in texts.items():
            # Its halves too: a head that was cut is a leak as well.
            for piece in (text, text[:12], text[12:]):
                if piece.encode() in data:
                    found.append((text, where))
                    break
    return found


@pytest.mark.parametrize("ways", [[way] for way in WAYS], ids=lambda ways: ways[0])
def test_planted_secrets_are_not_in_the_film(runner, ways):
    text, planted = plant(NAMES, ways)
    runner.write(HIDDEN, "hidden_source.py")
    (runner.folder / "planted.json").write_text(json.dumps(planted))
    text = "from hidden_source import hidden\n" + text
    result = runner.record(
        text, options=["--level", "values", "--target", "program.py"]
    )
    assert result.rc == 0, result.stderr
    leaks = look_for(planted, result.film)
    assert not leaks, (len(leaks), len(planted), leaks[:5])
    calls = [e["function"] for e in dump_events(result.film) if e["kind"] == "call"]
    assert sum(name.startswith("__main__.case") for name in calls) >= len(NAMES)
    if ways[0] in ("local", "argument", "key", "attribute"):
        dumped = json.dumps(dump_events(result.film))
        assert dumped.count('"redacted": true') >= len(NAMES)


def test_the_search_can_find(runner):
    """The same search, for values whose names are harmless: they are in the film."""
    text, planted = plant(["harmless"], ["local", "key", "attribute", "literal", "argument"])  # fmt: skip
    runner.write(HIDDEN, "hidden_source.py")
    (runner.folder / "planted.json").write_text(json.dumps(planted))
    text = "from hidden_source import hidden\n" + text
    result = runner.record(
        text, options=["--level", "values", "--target", "program.py"]
    )
    assert result.rc == 0, result.stderr
    assert {leak[0] for leak in look_for(planted, result.film)} == set(planted)


def test_harmless_values_are_shown(runner):
    """At most one in a hundred harmless names is hidden."""
    names = """
        author authored tokenize tokens_seen pass_count passed passing secretary key keys keyword sort_key cookies_eaten
        session user name email path host port url text data value values item items count total index size length width
        height left right first last next previous start stop step begin end low high minimum maximum mean loss accuracy
        weight weights bias gradient layer layers model batch epoch rate momentum optimizer result results found answer
        question message messages line lines word words letter number numbers node nodes edge edges parent child children
        tree root leaf branch stack queue heap graph matrix vector row rows column columns cell cells x y z a b c i j k
    """.split()
    harmless = [name for name in names if not re.search("token|cookie|secret", name)]
    body = "\n".join(f"    {name} = 'value of {name}'" for name in harmless)
    result = runner.record(f"def f():\n{body}\nf()\n", options=["--level", "values"])
    assert result.rc == 0, result.stderr
    hidden = [
        event["name"]
        for event in dump_events(result.film)
        if event["kind"] == "set" and event["value"].get("redacted")
    ]
    assert len(hidden) <= len(harmless) // 100, hidden


# Texts that look like secrets, whatever their name; @ is a planted text of 40 letters
# and digits.
LOOKS = {
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJ@.@",
    "jwt in a url": "https://x.org/?t=eyJhbGciOiJIUzI1NiJ9.eyJ@.@&n=1",
    "bearer": "Bearer @",
    "header": "GET / HTTP/1.1\\nAuthorization: Bearer @\\n",
    "private key": "-----BEGIN RSA PRIVATE KEY-----\\n@\\n@\\n-----END RSA PRIVATE KEY-----",
    "openssh": "-----BEGIN OPENSSH PRIVATE KEY-----\\n@",
    "github": "ghp_@",
    "google": "AIza@",
    "openai": "sk-@",
    "slack": "xoxb-@",
    "stripe": "sk_live_@",
    "hugging face": "hf_@",
    "gitlab": "glpat-@",
    "azure": "AccountName=x;AccountKey=@==;",
}
PLACES = {
    "local": "x = VALUE",
    "list": "x = [1, VALUE]",
    "key": "x = {VALUE: 1}",
    "attribute": "o = O(); o.x = VALUE",
    "argument": "f2(VALUE)",
    "bytes": "x = VALUE.encode()",
    "item": "x = {}\nx['k'] = VALUE",
    "message": "try: raise ValueError('got ' + VALUE)\nexcept ValueError as e: kept = e",
    "far": "x = 'y' * 240 + ' ' + VALUE",
}


@pytest.mark.parametrize("place", PLACES)
def test_what_looks_like_a_secret_is_not_in_the_film(runner, place):
    planter = Planter(11)
    parts = [PRELUDE.replace("NAME", "plain")]
    for number, look in enumerate(LOOKS.values()):
        parts_of = [f"'{piece}'" for piece in look.split("@")]
        for _ in range(look.count("@")):
            planter(40)
        value = "hidden(" + ", ".join(parts_of) + ")"
        body = PLACES[place].replace("VALUE", value).replace("\n", "\n    ")
        parts.append(f"def case{number}():\n    {body}\n    return 1\ncase{number}()")
    # What comes back from code that is no target is what is planted already.
    runner.write(
        HIDDEN.replace(
            "def hidden(): return next(SOURCE)",
            "def hidden(*parts):\n"
            "    text = parts[0]\n"
            "    for part in parts[1:]: text += next(SOURCE) + part\n"
            "    return text",
        ),
        "hidden_source.py",
    )
    (runner.folder / "planted.json").write_text(json.dumps(planter.planted))
    text = "from hidden_source import hidden\n" + "\n".join(parts) + "\n"
    result = runner.record(
        text, options=["--level", "values", "--target", "program.py"]
    )
    assert result.rc == 0, result.stderr
    leaks = look_for(planter.planted, result.film)
    assert not leaks, (len(leaks), len(planter.planted), leaks[:5])


SHOWN = """
class Model:
    def __init__(self):
        self.eos_token_id = 2
        self.pad_token = "<pad>"
        self.tokenizer = ["split", "join"]

def main():
    tokens = ["the", "cat"]
    token_type_ids = [0, 1]
    past_seen_tokens = 41
    num_tokens = 17
    token = 1234
    password = None
    secrets = [5, 6]
    secretary = "ann"
    tokens.append("sat")
    model = Model()
    return tokens

main()
"""


def test_what_is_no_secret_is_shown(runner):
    result = runner.record(SHOWN, options=["--level", "values"])
    assert result.rc == 0, result.stderr
    log = run_program("log", result.film).stdout
    assert "[redacted]" not in log
    for shown in (
        "tokens -> ['the', 'cat']", "token_type_ids -> [0, 1]", "past_seen_tokens -> 41",
        "num_tokens -> 17", "token -> 1234", "password -> None", "secrets -> [5, 6]",
        "secretary -> 'ann'", "['the', 'cat', 'sat']", "self.eos_token_id -> 2",
        "self.pad_token -> '<pad>'", "self.tokenizer -> ['split', 'join']",
    ):  # fmt: skip
        assert shown in log, shown


def test_names_that_the_user_gives_hide_numbers_too(runner):
    text = "ssn = 123456789\nrows = {'ssn': 987654321, 'n': 5}\nssn_list = [55555]\n"
    result = runner.record(text, options=["--level", "values", "--redact", "ssn"])
    assert result.rc == 0, result.stderr
    log = run_program("log", result.film).stdout
    assert "ssn -> [redacted]" in log and "'n': 5" in log
    assert not re.search("123456789|987654321|55555", log.replace(text, ""))
