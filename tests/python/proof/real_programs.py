"""Runs real Python code, mostly of the standard library, under cProfile or under the
recorder; the counts of both are compared.

    real_programs.py cprofile RESULT NAME...     RESULT: JSON, name -> counts
    real_programs.py film FOLDER NAME...         FOLDER/NAME.film

Each program runs once before it is measured, so that imports and caches of the library
are as warm in one run as in the other.
"""

import _pydecimal
import ast
import asyncio
import collections
import configparser
import copy
import csv
import dataclasses
import difflib
import email
import email.policy
import enum
import fractions
import gc
import html.parser
import inspect
import io
import ipaddress
import json
import json.decoder
import json.encoder
import json.scanner
import logging
import optparse
import os
import pathlib
import pickle
import pprint
import random
import re
import shlex
import statistics
import string
import sys
import textwrap
import tokenize
import types
import typing
import unittest
import urllib.parse
import xml.dom.minidom
import zipfile
from argparse import ArgumentParser

TEXT = inspect.getsource(textwrap)
OTHER = inspect.getsource(shlex)


def parse_json():
    document = {
        "a": [1, 2.5, None, True, {"b": "ä\n" * 10}],
        "c": {str(i): i for i in range(40)},
    }
    text = json.dumps(document, indent=2, sort_keys=True)
    decoder = json.decoder.JSONDecoder()
    decoder.parse_string = json.decoder.py_scanstring
    decoder.scan_once = json.scanner.py_make_scanner(decoder)
    assert decoder.decode(text) == document
    encoder = json.encoder.JSONEncoder(indent=1, default=str)
    return len("".join(encoder.iterencode([document, pathlib.PurePosixPath("x")])))


class Renamer(ast.NodeTransformer):
    def visit_Name(self, node):
        return ast.Name(id=node.id + "_", ctx=node.ctx)


def walk_ast():
    tree = Renamer().visit(ast.parse(TEXT))
    text = ast.unparse(tree)
    return len(text), sum(1 for _ in ast.walk(tree)), len(ast.dump(tree))


def compare_texts():
    first, second = TEXT.splitlines()[:120], OTHER.splitlines()[:120]
    diff = list(difflib.unified_diff(first, second))
    ratio = difflib.SequenceMatcher(None, TEXT[:400], OTHER[:400]).ratio()
    return len(diff), ratio, len(list(difflib.ndiff(first[:20], second[:20])))


def wrap_text():
    return [
        textwrap.fill(textwrap.dedent(TEXT[:2000]), width) for width in range(20, 80, 4)
    ] + [textwrap.shorten(OTHER[:500], 50), textwrap.indent(OTHER[:500], "> ")]


def parse_arguments():
    parser = ArgumentParser(prog="x", description="test")
    parser.add_argument("--level", type=int, choices=range(5), default=1)
    group = parser.add_mutually_exclusive_group()
    group.add_argument("-a", action="store_true")
    group.add_argument("-b", action="append")
    commands = parser.add_subparsers(dest="command")
    run = commands.add_parser("run")
    run.add_argument("file", nargs="+")
    found = [
        parser.parse_args(words.split())
        for words in ("--level 3 run a b", "-a run x", "-b 1 -b 2 run y z")
    ]
    old = optparse.OptionParser()
    old.add_option("-q", action="store_true")
    return len(parser.format_help()), len(found), old.parse_args(["-q", "x"])


def compute_decimals():
    context = _pydecimal.Context(prec=40)
    total = _pydecimal.Decimal(2)
    for i in range(1, 12):
        total = context.divide(total, _pydecimal.Decimal(i)).sqrt(context)
    values = [fractions.Fraction(i, 7) for i in range(1, 20)]
    return str(total), sum(values), statistics.stdev(values), statistics.median(values)


def read_tokens():
    tokens = list(tokenize.generate_tokens(io.StringIO(TEXT).readline))
    return len(tokens), tokenize.untokenize(tokens)[:20]


class Collector(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = []

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, len(attributes)))

    def handle_data(self, data):
        self.seen.append(data)


def read_markup():
    collector = Collector()
    collector.feed("<p class='a'>x &amp; y<br/><!-- c --><b id=1>z</b></p>" * 20)
    document = xml.dom.minidom.parseString("<a><b c='1'>text</b><d/></a>")
    return len(collector.seen), document.toprettyxml()


def compile_patterns():
    re.purge()
    patterns = [
        r"(a|b)*c+?",
        r"(?P<x>\d{2,4})(?=x)(?!y)",
        r"[^\W\d_]+\s*$",
        r"(?i:ab)|(cd)\1",
    ]
    found = [re.compile(pattern).findall("abc ab 1234x cdcd") for pattern in patterns]
    template = string.Template("$a ${b} $$").substitute(a=1, b=2)
    return found, template, re.sub(r"(\w)", r"\1-", "abc")


def read_settings():
    settings = configparser.ConfigParser()
    settings.read_string("[a]\nx = 1\ny = %(x)s 2\n[b]\nlist =\n  1\n  2\n")
    out = io.StringIO()
    settings.write(out)
    rows = list(csv.DictReader(io.StringIO("a,b\n1,2\n3,4\n")))
    dialect = csv.Sniffer().sniff("a;b;c\n1;2;3\n4;5;6\n")
    return (
        out.getvalue(),
        rows,
        dialect.delimiter,
        shlex.split("a 'b c' \"d e\" # f", comments=True),
    )


@dataclasses.dataclass(order=True)
class Item:
    name: str
    price: float = 1.0
    tags: list = dataclasses.field(default_factory=list)


class Colour(enum.Flag):
    RED = enum.auto()
    GREEN = enum.auto()


def make_classes():
    made = dataclasses.make_dataclass("Made", [("x", int), ("y", int, 2)], frozen=True)
    items = sorted(Item(str(i % 3), i) for i in range(9))
    named = collections.namedtuple("Named", "a b c")
    hints = typing.get_type_hints(Item)
    signature = str(inspect.signature(parse_arguments.__class__))
    both = Colour.RED | Colour.GREEN
    return [
        dataclasses.asdict(items[0]),
        dataclasses.replace(made(1), y=5),
        named(1, 2, 3)._replace(b=4),
        list(both),
        len(hints),
        signature,
        copy.deepcopy(items)[0] == items[0],
    ]


def pickle_slowly():
    out = io.BytesIO()
    pickle._Pickler(out, 2).dump([Item("a"), {"x": (1, 2.5, None, "ä")}, Colour.RED])
    out.seek(0)
    return pickle._Unpickler(out).load()


def print_prettily():
    value = {"key %d" % i: [list(range(10)), {"x": (1,) * 5}] for i in range(6)}
    return pprint.pformat(value, width=40), pprint.saferepr(value)


def read_mail():
    message = email.message_from_string(
        "From: a@example.org\nTo: B <b@example.org>\nSubject: =?utf-8?q?=C3=A4?=\n\nbody\n",
        policy=email.policy.default,
    )
    return (
        str(message["subject"]),
        message["to"].addresses[0].domain,
        message.as_string(),
    )


def take_apart_addresses():
    networks = list(ipaddress.ip_network("10.0.0.0/28").subnets(new_prefix=30))
    merged = list(ipaddress.collapse_addresses(networks))
    address = ipaddress.ip_address("2001:db8::1").exploded
    urls = [
        urllib.parse.urljoin("http://a/b/c/d?e#f", part)
        for part in ("../g", "?h", "//i")
    ]
    query = urllib.parse.parse_qs(
        urllib.parse.urlencode({"a": [1, 2], "b": "ä"}, doseq=True)
    )
    return merged, address, urls, query


class Small(unittest.TestCase):
    def test_fine(self):
        with self.subTest(i=1), self.assertRaises(ZeroDivisionError):
            1 // 0

    def test_wrong(self):
        self.assertEqual([1, 2], [1, 3])

    @unittest.skip("on purpose")
    def test_skipped(self):
        pass


def run_unittest():
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Small)
    result = unittest.TestResult()
    suite.run(result)
    return result.testsRun, len(result.failures), len(result.skipped)


def write_log():
    out = io.StringIO()
    logger = logging.Logger("x")
    handler = logging.StreamHandler(out)
    handler.setFormatter(logging.Formatter("{levelname}:{message}", style="{"))
    logger.addHandler(handler)
    for i in range(10):
        logger.warning("line %d", i)
        logger.debug("unseen")
    try:
        1 / 0
    except ZeroDivisionError:
        logger.info("nothing", exc_info=False)
    return len(out.getvalue())


async def produce(queue, n):
    for i in range(n):
        await queue.put(i)
        await asyncio.sleep(0)
    await queue.put(None)


async def consume(queue):
    total = 0
    while (item := await queue.get()) is not None:
        total += item
    return total


async def talk():
    queue = asyncio.Queue(2)
    results = await asyncio.gather(produce(queue, 15), consume(queue))
    return results[1]


def run_asyncio():
    return asyncio.run(talk())


def shuffle_and_zip():
    source = random.Random(7)
    numbers = list(range(50))
    source.shuffle(numbers)
    picks = source.sample(numbers, 10), source.choices(numbers, k=5), source.gauss(0, 1)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for i in range(3):
            archive.writestr(zipfile.ZipInfo(f"{i}.txt"), "x" * i)
    with zipfile.ZipFile(out) as archive:
        return picks, [info.file_size for info in archive.infolist()]


PROGRAMS = {
    function.__name__: function
    for function in (
        parse_json,
        walk_ast,
        compare_texts,
        wrap_text,
        parse_arguments,
        compute_decimals,
        read_tokens,
        read_markup,
        compile_patterns,
        read_settings,
        make_classes,
        pickle_slowly,
        print_prettily,
        read_mail,
        take_apart_addresses,
        run_unittest,
        write_log,
        run_asyncio,
        shuffle_and_zip,
    )
}


def key_of(code):
    return f"{code.co_filename}:{code.co_firstlineno}:{code.co_qualname}"


def measured(program):
    """The program with the death of its locals and of its result."""
    program()


def profile(program):
    """Calls of each function, and of each pair of caller and callee, as cProfile
    counts them: each resume of a generator is a call."""
    import cProfile

    profiler = cProfile.Profile(builtins=False)
    profiler.enable()
    measured(program)
    profiler.disable()
    functions, pairs, by_c = collections.Counter(), collections.Counter(), set()
    for entry in profiler.getstats():
        is_python = isinstance(entry.code, types.CodeType)
        if is_python:
            functions[key_of(entry.code)] += entry.callcount
        for callee in entry.calls or ():
            if not isinstance(callee.code, types.CodeType):
                continue
            if is_python:
                pair = f"{key_of(entry.code)} > {key_of(callee.code)}"
                pairs[pair] += callee.callcount
            else:
                by_c.add(key_of(callee.code))  # 3.14, in spite of builtins=False
    return {"functions": functions, "pairs": pairs, "by_c": sorted(by_c)}


def main():
    how, target, *names = sys.argv[1:]
    gc.disable()
    results = {}
    for name in names:
        program = PROGRAMS[name]
        program()
        program()
        gc.collect()
        if how == "cprofile":
            results[name] = profile(program)
        else:
            import filmstrip

            filmstrip.start(
                os.path.join(target, name + ".film"), all=True, level="calls"
            )
            measured(program)
            filmstrip.stop()
    if how == "cprofile":
        with open(target, "w") as file:
            json.dump(results, file)


if __name__ == "__main__":
    main()
