"""The standard library at work, its own code as the target: values of the film against
the truth. Each entry: the module whose file is recorded, and what is done with it."""

import importlib
import io
import os
import random
import sys


def use_json(module):
    scanner = importlib.import_module("json.scanner")
    decoder = module.JSONDecoder()
    decoder.parse_string = module.py_scanstring
    decoder.scan_once = scanner.py_make_scanner(decoder)
    text = '{"a": [1, 2.5, null, true, {"b": "\\u00e4\\n"}], "c": {"d": -1e3}}'
    found = decoder.decode(text)
    try:
        decoder.decode('{"a": [1, }')
    except ValueError as error:
        return found, str(error)


def use_json_encoder(module):
    make = module.JSONEncoder(indent=1, sort_keys=True)
    return "".join(make.iterencode({"a": [1, "x\u00e4", None], "b": {"c": 1.5}}))


def use_argparse(module):
    parser = module.ArgumentParser(prog="x", description="test", exit_on_error=False)
    parser.add_argument("--level", type=int, choices=range(5), default=1)
    parser.add_argument("file", nargs="*")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("-a", action="store_true")
    group.add_argument("-b", action="append")
    found = vars(parser.parse_args("--level 3 -b 1 -b 2 x y".split()))
    return sorted(found.items()), len(parser.format_help()) > 10


def use_difflib(module):
    one = "one\ntwo\nthree\nfour\n".splitlines(True)
    two = "one\ntwo!\nthree\nfive\n".splitlines(True)
    return list(module.ndiff(one, two)), list(module.unified_diff(one, two)), module.get_close_matches("appl", ["ape", "apple"])  # fmt: skip


def use_textwrap(module):
    text = "The quick brown fox, well-known, jumps over the lazy dog. " * 2
    return module.fill(text, 20), module.dedent("  a\n   b\n"), module.shorten(text, 30)


def use_tokenize(module):
    text = "def f(a, *b):\n    return a + len(b)  # x\n"
    return [
        token.string for token in module.generate_tokens(io.StringIO(text).readline)
    ]


def use_dataclasses(module):
    made = module.make_dataclass(
        "Point",
        [("x", int), ("y", int, module.field(default=2))],
        frozen=True,
        order=True,
    )
    point = made(1)
    return module.asdict(point), module.replace(point, y=5) > point, repr(point)


def use_statistics(module):
    data = [1, 2, 2, 3.5, 4]
    return module.mean(data), module.stdev(data), module.median(data), module.mode(data), module.quantiles(data)  # fmt: skip


def use_configparser(module):
    parser = module.ConfigParser()
    parser.read_string("[a]\nx = 1\ny = %(x)s2\n[b]\nz: yes\n  more\n")
    parser["a"]["w"] = "3"
    out = io.StringIO()
    parser.write(out)
    return parser.get("a", "y"), out.getvalue()


def use_heapq(module):
    heap = [5, 3, 8, 1]
    module.heapify(heap)
    module.heappush(heap, 2)
    merged = list(module.merge([1, 4], [2, 3], key=lambda n: n))
    return heap, merged, module.nsmallest(2, [3, 1, 2], key=lambda n: -n)


def use_fractions(module):
    one = module.Fraction(3, 4)
    return (
        str(one + module.Fraction("1/3")),
        str(one**2),
        float(one),
        one.limit_denominator(2),
    )


def use_pydecimal(module):
    context = module.Context(prec=12)
    two = module.Decimal("2.5")
    return (
        str(context.divide(two, module.Decimal(3))),
        str(two.sqrt(context)),
        str(two * two),
    )


def use_shlex(module):
    return module.split("a 'b c' \"d e\" f\\ g # h", comments=True), module.quote("a b")


def use_csv(module):
    rows = list(module.DictReader(io.StringIO("a,b\n1,2\n3,4\n")))
    out = io.StringIO()
    writer = module.DictWriter(out, ["a", "b"])
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue(), module.Sniffer().sniff("a;b\n1;2\n").delimiter


def use_pprint(module):
    return module.pformat({"a": list(range(20)), "b": {"c": ("x", None)}}, width=30)


def use_string(module):
    return module.Template("$a and ${b} $$").substitute(a=1, b=2), module.capwords(
        "a bc"
    )


def use_fnmatch(module):
    return module.translate("a*[!b-d]?.p[xy]"), module.filter(["ab", "b"], "a*")


def use_bisect(module):
    found = []
    for number in (3, 1, 2, 2):
        module.insort(found, number)
    return found


def use_collections(module):
    counter = module.Counter("abracadabra")
    order = module.OrderedDict(a=1)
    order.move_to_end("a")
    chain = module.ChainMap({"a": 1}, {"b": 2})
    point = module.namedtuple("Point", "x y")(1, 2)
    return (
        counter.most_common(2),
        list(chain.items()) and len(chain),
        point._replace(x=3),
    )


def use_calendar(module):
    return module.TextCalendar().formatmonth(2024, 2), module.monthrange(2023, 2)


def use_random(module):
    chance = module.Random(5)
    deck = list(range(8))
    chance.shuffle(deck)
    return (
        deck,
        chance.sample(deck, 3),
        chance.choices("ab", k=3),
        round(chance.gauss(), 6),
    )


def use_ast(module):
    tree = module.parse("def f(a=1):\n    return [x for x in a if x]\n")
    return (
        module.unparse(tree),
        len(list(module.walk(tree))),
        module.literal_eval("{'a': (1, 2)}"),
    )


def use_ipaddress(module):
    net = module.ip_network("10.0.0.0/29")
    return (
        [str(host) for host in net.hosts()],
        str(module.ip_address("::1")),
        net.overlaps(net),
    )


def use_functools(module):
    @module.singledispatch
    def f(n):
        return "any"

    f.register(int, lambda n: "int")
    return f(1), f("x"), module.reduce(lambda a, b: a + b, [1, 2, 3])


def use_contextlib(module):
    with module.ExitStack() as stack, module.suppress(ValueError):
        stack.enter_context(module.closing(io.StringIO()))
        stack.callback(len, "x")
        raise ValueError
    return 1


def use_graphlib(module):
    return list(module.TopologicalSorter({"d": {"b", "c"}, "b": {"a"}}).static_order())[
        0
    ]


def use_reprlib(module):
    return module.repr(list(range(50))), module.repr({"a": "x" * 100})


def use_html_parser(module):
    class Collector(module.HTMLParser):
        def handle_starttag(self, tag, attributes):
            seen.append((tag, attributes))

    seen = []
    Collector().feed("<p class='a'>x &amp; y<br/><!-- c --><b id=1>z</b></p>")
    return seen


def use_copy(module):
    made = {"a": [1, {2: 3}], "b": (4, [5])}
    made["self"] = made["a"]
    return module.deepcopy(made) == made, module.copy(made) == made


LIBRARY = {
    "json.decoder": use_json,
    "json.encoder": use_json_encoder,
    "argparse": use_argparse,
    "difflib": use_difflib,
    "textwrap": use_textwrap,
    "tokenize": use_tokenize,
    "dataclasses": use_dataclasses,
    "statistics": use_statistics,
    "configparser": use_configparser,
    "heapq": use_heapq,
    "fractions": use_fractions,
    "_pydecimal": use_pydecimal,
    "shlex": use_shlex,
    "csv": use_csv,
    "pprint": use_pprint,
    "string": use_string,
    "fnmatch": use_fnmatch,
    "bisect": use_bisect,
    "collections": use_collections,
    "calendar": use_calendar,
    "random": use_random,
    "ast": use_ast,
    "ipaddress": use_ipaddress,
    "functools": use_functools,
    "contextlib": use_contextlib,
    "graphlib": use_graphlib,
    "reprlib": use_reprlib,
    "html.parser": use_html_parser,
    "copy": use_copy,
}

# Modules whose C twin replaces the Python functions: without it, their own code runs.
TWINS = {"heapq": "_heapq", "bisect": "_bisect", "functools": "_functools"}


def load(name, path):
    """The module's text executed anew, from a copy, so that its code has a file name of
    its own and nothing else in the process shares it."""
    twin = TWINS.get(name)
    kept = sys.modules.get(twin) if twin else None
    package = name if name == "collections" else name.rpartition(".")[0]
    module = type(sys)("generated")
    module.__file__ = path
    module.__package__ = package
    if name == "collections":
        module.__path__ = list(importlib.import_module(name).__path__)
    sys.modules["generated"] = module
    if twin:
        sys.modules[twin] = None
    try:
        with open(path, encoding="utf-8") as file:
            exec(compile(file.read(), path, "exec", dont_inherit=True), module.__dict__)
    finally:
        if twin and kept is not None:
            sys.modules[twin] = kept
        elif twin:
            sys.modules.pop(twin, None)
    return module


def compare(name, folder, film):
    """Loads the module bare, under the truth and under the recorder, and uses it; the
    values of its own code must be the same."""
    import values_compare
    import values_truth
    from values_worker import read_film

    import filmstrip

    original = importlib.import_module(name)
    with open(original.__file__, encoding="utf-8") as file:
        text = file.read()
    path = os.path.join(folder, f"{name.replace('.', '_')}_copy.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)

    def work():
        random.seed(1)
        return repr(LIBRARY[name](load(name, path)))

    bare = work()
    bare = work()  # with the library's caches as warm as in what follows
    truth = values_truth.make_truth(path, deep=False)
    truth.start()
    try:
        under_truth = work()
    finally:
        truth.stop()
    filmstrip.start(film, targets=[path], level="values", force=True)
    try:
        recorded = work()
    finally:
        filmstrip.stop()
    if not bare == under_truth == recorded:
        raise values_compare.Difference(f"{bare}\n{under_truth}\n{recorded}")
    counts = values_compare.compare(truth.streams, read_film(film))
    os.unlink(film)
    return counts
