"""The grammar of targets and excludes: what each form records."""

from __future__ import annotations

import pytest

PACKAGE = {
    "shop/__init__.py": "",
    "shop/stock.py": """
        COUNT = 0

        class Shelf:
            def __init__(self):
                self.goods = []
            def put(self, thing):
                global COUNT
                COUNT += 1
                return [x for x in sorted(self.goods, key=lambda x: x)]
            class Label:
                def text(self):
                    return "label"

        class Shelfless:
            def put(self):
                pass

        def count(shelf):
            def inner():
                return 1
            return inner()

        def counter():
            pass
        """,
    "shop/desk.py": """
        from shop import stock

        def serve():
            shelf = stock.Shelf()
            shelf.goods.append(2)
            shelf.put(1)
            stock.Shelf.Label().text()
            stock.Shelfless().put()
            stock.count(shelf)
            stock.counter()
        """,
}
SHELF = {"Shelf.__init__", "Shelf.put", "Shelf.put.<locals>.<lambda>"}
LABEL = {"Shelf.Label.text"}
COUNT = {"count", "count.<locals>.inner"}
STOCK = SHELF | LABEL | COUNT | {"counter", "Shelfless.put"}


@pytest.fixture
def shop(runner):
    for name, text in PACKAGE.items():
        runner.write(text, name)
    return runner


def recorded(dump, film):
    """The functions called while `serve` ran; comprehensions are frames only on 3.11."""
    calls = [event for event in dump(film) if event["kind"] == "call"]
    names = {call["function"].removeprefix("shop.").split(".", 1)[1] for call in calls}
    return {name for name in names if "<listcomp>" not in name}


BY_NAME = [
    ("shop", [], STOCK | {"serve"}),
    ("shop.stock", [], STOCK),
    ("shop.stock:Shelf", [], SHELF | LABEL),
    ("shop.stock:Shelf.put()", [], {"Shelf.put", "Shelf.put.<locals>.<lambda>"}),
    ("shop.stock:Shelf.goods", [], SHELF | LABEL),
    ("shop.stock:Shelf.Label", [], SHELF | LABEL),
    ("shop.stock:Shelf.Label.text()", [], LABEL),
    ("shop.stock:count()", [], COUNT),
    ("shop.stock::COUNT", [], STOCK),
    ("shop.stock:", [], set()),
    ("shop.stock::", [], set()),
    ("shop.sto:count()", [], set()),
    ("shop:count()", [], set()),
    ("*desk.py", [], {"serve"}),
    ("*k.py", [], STOCK | {"serve"}),
    ("shop/desk.py", [], {"serve"}),
    ("shop", ["shop.stock"], {"serve"}),
    ("shop", ["*desk.py"], STOCK),
    ("shop.stock", ["shop.stock:Shelf"], STOCK - SHELF - LABEL),
    (
        "shop.stock",
        ["shop.stock:Shelf.put()"],
        STOCK - {n for n in SHELF if "put" in n},
    ),
    ("shop.stock", ["shop.stock:Shelf.goods"], STOCK),
    ("shop.stock", ["shop.stock:Shelf.Label"], STOCK - LABEL),
    ("shop.stock", ["shop.stock::COUNT"], STOCK),
    ("shop.stock", ["shop.stock:count()"], STOCK - COUNT),
]


@pytest.mark.parametrize("target, excludes, expected", BY_NAME)
def test_names(shop, dump, target, excludes, expected):
    shop.write(
        f"""
        import filmstrip, shop.desk
        with filmstrip.record("out.film", targets={target!r}, exclude={excludes!r}):
            shop.desk.serve()
        """
    )
    result = shop.plain(None)
    assert (result.rc, result.stderr) == (0, "")
    assert recorded(dump, shop.folder / "out.film") == expected


def test_names_on_the_command_line(shop, dump):
    options = ["--target", "shop.stock:Shelf", "--exclude", "shop.stock:Shelf.put()"]
    result = shop.record("import shop.desk; shop.desk.serve()", options=options)
    assert (result.rc, result.stderr) == (0, "")
    # Recorded from the start: the bodies of the classes too.
    assert (
        recorded(dump, result.film)
        == {"Shelf", "Shelf.__init__", "Shelf.Label"} | LABEL
    )


@pytest.mark.parametrize(
    "target, expected",
    [
        ("shop.stock", STOCK),
        ("[shop.stock]", STOCK),
        ("Shelf", SHELF | LABEL),
        ("Shelf.put", {"Shelf.put", "Shelf.put.<locals>.<lambda>"}),
        ("Shelf().put", {"Shelf.put", "Shelf.put.<locals>.<lambda>"}),
        ("count", COUNT),
        ("[Shelf.Label, count, 'shop.desk']", LABEL | COUNT | {"serve"}),
    ],
)
def test_objects(shop, dump, target, expected):
    shop.write(
        f"""
        import filmstrip, shop.desk, shop.stock
        from shop.stock import Shelf, count
        target = {target}
        with filmstrip.record("out.film", targets=target):
            shop.desk.serve()
        """
    )
    result = shop.plain(None)
    assert (result.rc, result.stderr) == (0, "")
    assert recorded(dump, shop.folder / "out.film") == expected


def test_what_is_no_target(runner):
    result = runner.plain(
        """
        import filmstrip
        for wrong in (1, [None], [len]):
            try:
                filmstrip.record("out.film", targets=wrong)
            except TypeError as error:
                assert "is no target" in str(error)
            else:
                raise AssertionError(wrong)
        """
    )
    assert (result.rc, result.stderr) == (0, "")


GENERATED = """
    import pathlib, sys, types

    def run(text, file, **names):
        exec(compile(text, file, "exec"), names)
        return names["made"]()

    def run_file(path, module):
        path.parent.mkdir(parents=True)
        path.write_text("def made(): pass")
        return run(path.read_text(), str(path), __name__=module, __file__=str(path))

    TEXT = "def made(): pass"
    here = pathlib.Path("generated").resolve()
    run(TEXT, "<eval_with_key>.3")
    run(TEXT, "<torch_package_0>.model.py", __name__="<torch_package_0>.model")
    run_file(here / "a" / "_remote_module_x.py", "_remote_module_x")
    run_file(here / "torchinductor_me" / "ab" / "cab.py", "cab")
    run_file(here / "c" / "ccc.py", "torch._inductor.runtime.compile_tasks.ccc")
    exec("def ___make_guard_fn():\\n  def guard(): pass\\n  return guard", names := {})
    names["___make_guard_fn"]()()
"""
LIBRARY = """
    exec("ran = 1", {})
    exec("ran = 2", {"__file__": "<template>", "__name__": "templates"})
"""


def test_what_torch_generates_is_no_user_code(runner, dump):
    result = runner.record(GENERATED)
    assert (result.rc, result.stderr) == (0, "")
    calls = [
        event["function"] for event in dump(result.film) if event["kind"] == "call"
    ]
    told = {name.rpartition(":")[2] for name in calls}
    assert {"__main__.run", "__main__.run_file"} <= told
    assert not {name for name in told if "made" in name or "guard" in name}, told


def test_text_that_runs_in_no_module(runner, dump):
    """It is as good as the code that runs it."""
    runner.write(LIBRARY, "lib/site-packages/library.py")
    result = runner.record("""
        import sys
        sys.path.insert(0, "lib/site-packages")
        exec("ran = 3", {})
        import library
        """)
    assert (result.rc, result.stderr) == (0, "")
    calls = [
        event["function"] for event in dump(result.film) if event["kind"] == "call"
    ]
    assert len(calls) == 2 and "<string>" in calls[1], calls


def test_generated_code_that_is_named_is_recorded(runner, dump):
    result = runner.record(GENERATED, options=["--target", "<eval_with_key>.3"])
    assert (result.rc, result.stderr) == (0, "")
    calls = [
        event["function"] for event in dump(result.film) if event["kind"] == "call"
    ]
    assert len(calls) == 2 and "made" in calls[1], calls
