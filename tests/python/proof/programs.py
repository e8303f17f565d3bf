"""Programs for the comparison with the reference tracer: hand-written ones, and a
strategy of hypothesis that makes up any number of others.

Every program defines main(), ends by itself, prints its result, and does the same thing
each time it runs. Threads have names of their own and share nothing.
"""

from __future__ import annotations

import textwrap

from hypothesis import strategies as st

# --- generated programs -----------------------------------------------------------

PRELUDE = '''
import asyncio, contextlib, functools, itertools, threading, types

budget = threading.local()

class E0(Exception): pass
class E1(E0): pass
class E2(Exception): pass

class Manager:
    def __init__(self, catches):
        self.catches = catches
    def __enter__(self):
        return self
    def __exit__(self, kind, error, traceback):
        return kind is not None and issubclass(kind, self.catches)

class AsyncManager(Manager):
    async def __aenter__(self):
        await pause()
        return self
    async def __aexit__(self, kind, error, traceback):
        await pause()
        return self.__exit__(kind, error, traceback)

@types.coroutine
def pause():
    yield

class Box:
    def __init__(self, n):
        self._n = n
    @property
    def n(self):
        return self._n
    @n.setter
    def n(self, value):
        self._n = value
    def __add__(self, other):
        return Box(self._n + other)
    def __iter__(self):
        yield self._n
        yield self._n + 1
    def __getitem__(self, i):
        if i > 2:
            raise IndexError(i)
        return i
    def __del__(self):
        dead.append(1)
    @classmethod
    def make(cls, n):
        return cls(n)
    @staticmethod
    def number(n):
        return n

dead = []

@contextlib.contextmanager
def scope(n):
    try:
        yield n
    finally:
        n + 1

def drive(coroutine):
    """The smallest event loop."""
    try:
        while True:
            coroutine.send(None)
    except StopIteration as stop:
        return stop.value
'''

MAIN = """
def guarded(function, *arguments):
    budget.left = {budget}
    try:
        value = function(*arguments)
    except Exception as error:
        value = type(error).__name__
    return value

def show(value):
    print(value if isinstance(value, (int, str, list, type(None))) else type(value).__name__)

def main():
    dead.clear()
{drives}
"""


class Builder:
    """Draws one program. Function k calls only functions after it, or itself with a
    smaller number; every call also spends from a budget."""

    def __init__(self, draw):
        self.draw = draw
        self.lines: list[str] = []
        self.functions: list[tuple[str, str]] = []  # name, kind
        self.fresh = 0

    def number(self, low, high):
        return self.draw(st.integers(low, high))

    def choice(self, items):
        return items[self.number(0, len(items) - 1)]

    def name(self, stem):
        self.fresh += 1
        return f"{stem}{self.fresh}"

    def put(self, depth, text):
        self.lines.append("    " * depth + text)

    # --- expressions ---

    def callee(self, kinds):
        found = [name for name, kind in self.later if kind in kinds]
        return self.choice(found) if found else None

    def expression(self, kind):
        options = ["n", "n + 1", "n % 3", "Box.number(n)", "Box(n).n", "(Box(n) + 1).n"]
        plain = self.callee(("def",))
        if plain:
            options += [
                f"{plain}(n - 1)",
                f"{plain}(n=n - 1)",
                f"{plain}(*[n - 1])",
                f"[{plain}(i) for i in range(2)]",
                f"sum(int({plain}(i) is None) for i in range(2))",
                f"list(map({plain}, range(2)))",
                f"sorted([2, 1], key=lambda i: int({plain}(i) is None))",
                f"functools.partial({plain}, n - 1)()",
                f"(lambda m: {plain}(m - 1))(n)",
                f"{{i: {plain}(i) for i in range(2)}}",
            ]
        generator = self.callee(("gen",))
        if generator:
            options += [
                f"list({generator}(n - 1))",
                f"next({generator}(n - 1), None)",
                f"list(itertools.islice({generator}(n), 2))",
                f"list(zip({generator}(n - 1), range(2)))",
                f"[*{generator}(n - 1)]",
            ]
        coroutine = self.callee(("async",))
        if coroutine:
            if kind in ("async", "agen"):
                options += [f"await {coroutine}(n - 1)"] * 3
            else:
                options.append(f"drive({coroutine}(n - 1))")
        agen = self.callee(("agen",))
        if agen and kind in ("async", "agen"):
            options.append(f"[i async for i in {agen}(n - 1)]")
        return self.choice(options)

    # --- statements ---

    def block(self, depth, kind, nesting, most=3):
        for _ in range(self.number(1, most)):
            self.statement(depth, kind, nesting)

    def error(self):
        return self.choice(["E0", "E1", "E2", "ZeroDivisionError", "KeyError"])

    def statement(self, depth, kind, nesting):
        simple = ["assign", "assign", "assign", "raise_if", "divide", "index", "pass"]
        if kind == "gen":
            simple += ["yield", "yield", "yield_from", "receive"]
        elif kind == "agen":
            simple += ["yield", "yield", "await"]
        elif kind == "async":
            simple += ["await", "await"]
        if kind in ("def", "async"):
            simple.append("return_if")
        compound = [
            "if",
            "for",
            "while",
            "try",
            "try",
            "finally",
            "with",
            "match",
            "closure",
            "class",
            "use_generator",
        ]
        if kind in ("async", "agen"):
            compound += ["async_for", "async_with"]
        what = self.choice(simple + (compound if nesting > 0 else []))
        getattr(self, "put_" + what)(depth, kind, nesting - 1)

    def put_pass(self, depth, kind, nesting):
        self.put(depth, "pass")

    def put_assign(self, depth, kind, nesting):
        self.put(depth, f"v = {self.expression(kind)}")

    def put_raise_if(self, depth, kind, nesting):
        cause = self.choice(["", "", " from None", " from E2('cause')"])
        self.put(
            depth,
            f"if n % {self.number(2, 4)} == 0: raise {self.error()}('{self.name('m')}'){cause}",
        )

    def put_divide(self, depth, kind, nesting):
        self.put(depth, f"v = 1 // (n % {self.number(2, 4)})")

    def put_index(self, depth, kind, nesting):
        self.put(depth, f"v = list(Box(n))[{self.number(0, 2)}] + list(Box(n))[0]")

    def put_return_if(self, depth, kind, nesting):
        self.put(depth, f"if n % {self.number(2, 5)} == 1: return {self.number(0, 9)}")

    def put_yield(self, depth, kind, nesting):
        self.put(depth, f"yield {self.number(0, 9)}")

    def put_receive(self, depth, kind, nesting):
        self.put(depth, "got = yield n")
        self.put(depth, "if got: n = n + 1")

    def put_yield_from(self, depth, kind, nesting):
        generator = self.callee(("gen",))
        self.put(
            depth, f"yield from {f'{generator}(n - 1)' if generator else 'range(2)'}"
        )

    def put_await(self, depth, kind, nesting):
        coroutine = self.callee(("async",))
        self.put(depth, f"await {f'{coroutine}(n - 1)' if coroutine else 'pause()'}")

    def put_if(self, depth, kind, nesting):
        self.put(depth, f"if n % {self.number(2, 3)}:")
        self.block(depth + 1, kind, nesting)
        if self.number(0, 1):
            self.put(depth, "else:")
            self.block(depth + 1, kind, nesting)

    def put_for(self, depth, kind, nesting):
        generator = self.callee(("gen",))
        iterable = self.choice(
            [
                "range(2)",
                "Box(n)",
                "map(str, range(2))",
                "filter(lambda i: i, range(3))",
            ]
            + ([f"{generator}(n - 1)"] * 3 if generator else [])
        )
        self.put(depth, f"for item in {iterable}:")
        self.block(depth + 1, kind, nesting)
        if self.number(0, 2) == 0:
            self.put(depth + 1, "if n % 2: break")
        if self.number(0, 2) == 0:
            self.put(depth, "else:")
            self.block(depth + 1, kind, nesting, 1)

    def put_while(self, depth, kind, nesting):
        counter = self.name("w")
        self.put(depth, f"{counter} = {self.number(1, 3)}")
        self.put(depth, f"while {counter}:")
        self.put(depth + 1, f"{counter} -= 1")
        self.block(depth + 1, kind, nesting)
        if self.number(0, 2) == 0:
            self.put(depth + 1, "if n % 2: continue")

    def put_try(self, depth, kind, nesting):
        self.put(depth, "try:")
        self.block(depth + 1, kind, nesting)
        for _ in range(self.number(1, 2)):
            clause = self.choice(
                [
                    f"except {self.error()}:",
                    f"except {self.error()} as error:",
                    f"except ({self.error()}, {self.error()}) as error:",
                    "except Exception as error:",
                ]
            )
            self.put(depth, clause)
            self.block(depth + 1, kind, nesting, 2)
            ending = self.number(0, 5)
            if ending == 0:
                self.put(depth + 1, "raise")
            elif ending == 1 and "as error" in clause:
                self.put(depth + 1, f"raise {self.error()}('again') from error")
        if self.number(0, 2) == 0:
            self.put(depth, "else:")
            self.block(depth + 1, kind, nesting, 1)
        if self.number(0, 2) == 0:
            self.put(depth, "finally:")
            self.block(depth + 1, kind, nesting, 1)

    def put_finally(self, depth, kind, nesting):
        self.put(depth, "try:")
        self.block(depth + 1, kind, nesting)
        self.put(depth, "finally:")
        self.block(depth + 1, kind, nesting, 2)

    def put_with(self, depth, kind, nesting):
        manager = self.choice(
            [
                f"Manager({self.error()})",
                "Manager(Exception) as m",
                "scope(n) as n",
                f"contextlib.suppress({self.error()})",
                f"Manager({self.error()}), scope(n)",
            ]
        )
        self.put(depth, f"with {manager}:")
        self.block(depth + 1, kind, nesting)

    def put_match(self, depth, kind, nesting):
        self.put(depth, f"match {self.choice(['n % 3', '(n % 2, n)', 'Box(n)'])}:")
        for pattern in ("0", "(0, m)", "Box(n=1)"):
            if self.number(0, 1):
                self.put(depth + 1, f"case {pattern}:")
                self.block(depth + 2, kind, nesting, 2)
        self.put(depth + 1, "case _:")
        self.block(depth + 2, kind, nesting, 1)

    def put_closure(self, depth, kind, nesting):
        inner = self.name("inner")
        self.put(depth, f"k = {self.number(0, 3)}")
        self.put(depth, f"def {inner}(n):")
        self.put(depth + 1, "nonlocal k")
        self.put(depth + 1, "k += 1")
        self.block(depth + 1, "def", min(nesting, 1))
        self.put(depth + 1, "return k")
        self.put(depth, f"v = {inner}({self.choice(['n', 'n - 1', '3'])})")

    def put_class(self, depth, kind, nesting):
        name = self.name("Local")
        self.put(depth, f"class {name}(Box):")
        self.put(depth + 1, "def run(self, n):")
        self.block(depth + 2, "def", min(nesting, 1))
        self.put(depth + 2, "return super().n")
        self.put(depth, f"v = {name}(n).run(n - 1)")

    def put_use_generator(self, depth, kind, nesting):
        generator = self.callee(("gen",))
        if not generator:
            self.put(depth, "v = [i for i in range(2)]")
            return
        self.put(depth, f"g = {generator}(n - 1)")
        self.put(depth, "next(g, None)")
        use = self.choice(["close", "throw", "send", "drop", "keep", "pass"])
        if use == "close":
            self.put(depth, "g.close()")
        elif use == "throw":
            self.put(depth, "try:")
            self.put(depth + 1, f"g.throw({self.error()}('thrown'))")
            self.put(depth, "except (Exception, StopIteration) as error: pass")
        elif use == "send":
            self.put(depth, "try: g.send(1)")
            self.put(depth, "except (StopIteration, TypeError, AttributeError): pass")
        elif use == "drop":
            self.put(depth, "del g")

    def put_async_for(self, depth, kind, nesting):
        agen = self.callee(("agen",))
        if not agen:
            self.put(depth, "await pause()")
            return
        self.put(depth, f"async for item in {agen}(n - 1):")
        self.block(depth + 1, kind, nesting)

    def put_async_with(self, depth, kind, nesting):
        self.put(depth, f"async with AsyncManager({self.error()}):")
        self.block(depth + 1, kind, nesting)

    # --- functions and the program ---

    def function(self, name, kind):
        recursive = self.number(0, 2) == 0
        decorator = self.number(0, 4)
        if decorator == 0 and kind == "def":
            self.put(0, "@functools.lru_cache(None)")
        word = "async def" if kind in ("async", "agen") else "def"
        self.put(0, f"{word} {name}(n):")
        self.put(1, "budget.left -= 1")
        self.put(1, "if budget.left < 0 or n < 0: return")
        start = len(self.lines)
        self.block(1, kind, 2, 4)
        if recursive:
            call = {
                "def": f"v = {name}(n - 1)",
                "gen": f"yield from {name}(n - 1)",
                "async": f"v = await {name}(n - 1)",
                "agen": f"async for v in {name}(n - 1): yield v",
            }[kind]
            self.put(1, call)
        if kind in ("gen", "agen") and not any(
            "yield" in line for line in self.lines[start:]
        ):
            self.put(1, "yield n")
        if kind in ("def", "async"):
            self.put(1, f"return {self.choice(['n', 'None', 'v if 0 else n'])}")
        self.lines.append("")

    def program(self):
        kinds = ["def"] + [
            self.choice(["def", "def", "gen", "gen", "async", "agen"])
            for _ in range(self.number(2, 5))
        ]
        self.functions = [(f"f{i}", kind) for i, kind in enumerate(kinds)]
        for i, (name, kind) in enumerate(self.functions):
            self.later = self.functions[i + 1 :]
            self.function(name, kind)
        body = "\n".join(self.lines)
        self.lines = []
        for name, kind in self.functions:
            n = self.number(0, 4)
            if kind == "def":
                self.put(1, f"show(guarded({name}, {n}))")
            elif kind == "gen":
                self.put(1, f"show(guarded(lambda: list({name}({n}))))")
            elif kind == "async" and self.number(0, 1):
                self.put(1, f"show(guarded(lambda: drive({name}({n}))))")
            elif kind == "async":
                self.put(1, f"show(guarded(lambda: asyncio.run({name}({n}))))")
        threads = self.number(0, 2)
        callable_ones = [name for name, kind in self.functions if kind == "def"]
        for k in range(threads):
            name = self.choice(callable_ones)
            self.put(
                1,
                f"t{k} = threading.Thread(target=guarded, name='thread {k}', "
                f"args=({name}, {self.number(0, 3)}))",
            )
        # Threads that run at the same time must not meet in a cache.
        together = self.number(0, 1) and "lru_cache" not in body
        for k in range(threads):
            self.put(1, f"t{k}.start()")
            if not together:
                self.put(1, f"t{k}.join()")
        if together:
            for k in range(threads):
                self.put(1, f"t{k}.join()")
        self.put(1, "show(len(dead))")
        drives = "\n".join(self.lines)
        return PRELUDE + body + MAIN.format(budget=self.number(5, 60), drives=drives)


class Program(str):
    """A program's text that does not fill the screen when a test fails."""

    def __repr__(self):
        return f"<program of {self.count(chr(10))} lines>"


@st.composite
def generated_programs(draw):
    """The text of a program."""
    return Program(Builder(draw).program())


# --- hand-written programs ----------------------------------------------------------
# Each names what it is about; together they hold every construct the recorder treats
# in a way of its own.

_WRITTEN = {
    "calls and recursion": """
        def fib(n):
            return n if n < 2 else fib(n - 1) + fib(n - 2)

        def even(n):
            return True if n == 0 else odd(n - 1)

        def odd(n):
            return False if n == 0 else even(n - 1)

        def deep(n):
            if n:
                return deep(n - 1)
            return n

        def main():
            print(fib(8), even(20), deep(200))
    """,
    "lambdas, closures and comprehensions": """
        def counter():
            n = 0
            def up(by=1):
                nonlocal n
                n += by
                return n
            return up

        def main():
            up = counter()
            print([up() for _ in range(3)], {up(i): i for i in range(3)}, {up() for _ in range(2)})
            print(sum(up() for _ in range(3)), (lambda x: x + up())(1))
            print(sorted([3, 1, 2], key=lambda x: -x), list(map(lambda x: up(x), [1, 2])))
    """,
    "classes and special methods": """
        class Meta(type):
            def __new__(meta, name, bases, space, **more):
                return super().__new__(meta, name, bases, space)
            def __init__(cls, name, bases, space, **more):
                super().__init__(name, bases, space)
            def __call__(cls, *arguments):
                return super().__call__(*arguments)

        class Base(metaclass=Meta):
            def __init_subclass__(cls, **more):
                super().__init_subclass__()
            def __class_getitem__(cls, item):
                return item

        class Descriptor:
            def __set_name__(self, owner, name):
                self.name = name
            def __get__(self, object, owner=None):
                return 1
            def __set__(self, object, value):
                pass

        class Thing(Base, extra=1):
            field = Descriptor()
            def __init__(self, n):
                self.n = n
            def __eq__(self, other):
                return self.n == other.n
            def __lt__(self, other):
                return self.n < other.n
            def __hash__(self):
                return hash(self.n)
            def __len__(self):
                return 2
            def __getattr__(self, name):
                return name
            def __contains__(self, item):
                return item == self.n
            def __call__(self, *arguments, **named):
                return len(arguments) + len(named)
            def __enter__(self):
                return self
            def __exit__(self, *error):
                return False
            def __getitem__(self, key):
                return key
            def __setitem__(self, key, value):
                pass
            def __format__(self, spec):
                return spec
            def __bool__(self):
                return True
            @property
            def double(self):
                return self.n * 2

        def main():
            things = [Thing(n) for n in (3, 1, 2)]
            print([thing.n for thing in sorted(things)], Thing(1) in things, len({*things}))
            thing = things[0]
            thing.field = 2
            print(thing.field, thing.double, thing.missing, 3 in thing, thing(1, a=2), Thing[4])
            thing[1] = 2
            with thing as same:
                print(same[1:2], f"{thing:abc}", bool(thing), len(thing))
    """,
    "generators": """
        def numbers(n):
            got = []
            for i in range(n):
                got.append((yield i))
            return got

        def both(n):
            first = yield from numbers(n)
            second = yield from range(2)
            return first, second

        def careful():
            try:
                yield 1
                yield 2
            except ValueError as error:
                yield str(error)
            finally:
                done()

        def done():
            pass

        def forever():
            while True:
                try:
                    yield
                except KeyError:
                    pass

        def main():
            print(list(numbers(3)), list(both(2)))
            g = both(3)
            print(next(g), g.send("a"), g.send("b"))
            try:
                g.throw(ZeroDivisionError("z"))
            except ZeroDivisionError as error:
                print(error)
            g = careful()
            print(next(g), g.throw(ValueError("v")), list(g))
            g = careful()
            next(g)
            g.close()
            for i in numbers(5):
                if i == 2:
                    break
            f = forever()
            next(f), f.throw(KeyError("k")), next(f)
            f.close()
            for end in (lambda g: g.close(), lambda g: g.throw(KeyError("early"))):
                try:
                    end(careful())
                except KeyError as error:
                    print(error)
            try:
                next(iter([]))
            except StopIteration:
                print("stop")
            print(sum(x for x in numbers(4)), max(numbers(3)), [*numbers(2)])
    """,
    "generators that end in odd ways": """
        def empty():
            return
            yield

        def raising():
            yield 1
            raise ValueError("from a generator")

        def stops():
            yield 1
            raise StopIteration("inside")

        def delegating():
            try:
                yield from raising()
            except ValueError:
                yield "caught"

        def recursive(n):
            if n:
                yield n
                yield from recursive(n - 1)

        def nested():
            inner = raising()
            yield next(inner)
            yield next(inner, None)

        class Iterator:
            def __init__(self, n):
                self.n = n
            def __iter__(self):
                return self
            def __next__(self):
                if not self.n:
                    raise StopIteration
                self.n -= 1
                return self.n

        def main():
            print(list(empty()), list(delegating()), list(recursive(6)))
            for make in (raising, stops, nested):
                try:
                    list(make())
                except (ValueError, RuntimeError) as error:
                    print(type(error).__name__)
            print(list(Iterator(3)), [i for i in Iterator(2)], sum(Iterator(4)))
            for i in Iterator(2):
                print(i)
    """,
    "exceptions": """
        class Problem(Exception):
            def __init__(self, what):
                super().__init__(what)

        def fail(n):
            if n:
                fail(n - 1)
            raise Problem("deep")

        def swallow():
            try:
                fail(3)
            except Problem:
                return 1
            finally:
                note()

        def note():
            pass

        def again():
            try:
                fail(1)
            except Problem as problem:
                try:
                    raise KeyError("second") from problem
                except KeyError:
                    raise

        def nested():
            try:
                try:
                    1 / 0
                finally:
                    note()
            except ZeroDivisionError:
                try:
                    {}["x"]
                except KeyError as error:
                    note()
                return 2

        def builtin():
            for text in ("1", "x", "2"):
                try:
                    yield int(text)
                except ValueError:
                    yield None

        def grouped():
            try:
                raise ExceptionGroup("group", [ValueError("a"), KeyError("b")])
            except* ValueError:
                note()
            except* KeyError:
                note()

        def loops():
            seen = 0
            for i in range(4):
                try:
                    if i == 1:
                        continue
                    if i == 3:
                        break
                    [][i]
                except IndexError:
                    seen += 1
                else:
                    seen += 10
                finally:
                    note()
            return seen

        def main():
            print(swallow(), nested(), list(builtin()), loops())
            try:
                again()
            except KeyError as error:
                print(type(error.__cause__).__name__)
            grouped()
            try:
                assert len("ab") == 3, "length"
            except AssertionError as error:
                print(error)
            try:
                "".missing
            except AttributeError:
                print(getattr("", "missing", None), hasattr("", "nothing"))
    """,
    "with statements": """
        import contextlib

        class Manager:
            def __init__(self, swallow, fail=None):
                self.swallow, self.fail = swallow, fail
            def __enter__(self):
                if self.fail == "enter":
                    raise OSError("enter")
                return self
            def __exit__(self, kind, error, traceback):
                if self.fail == "exit":
                    raise OSError("exit")
                return self.swallow

        @contextlib.contextmanager
        def managed(n):
            try:
                yield n
            except ValueError:
                pass
            finally:
                closed(n)

        def closed(n):
            return n

        def returns():
            with Manager(False), managed(3) as n:
                return n

        def main():
            with Manager(True):
                raise ValueError("swallowed")
            for manager in (Manager(False), Manager(False, "enter"), Manager(True, "exit")):
                try:
                    with manager:
                        raise ValueError("passed")
                except (ValueError, OSError) as error:
                    print(type(error).__name__)
            with managed(1), managed(2):
                raise ValueError("inner")
            print(returns())
            with contextlib.ExitStack() as stack:
                for i in range(3):
                    stack.enter_context(managed(i))
                stack.callback(closed, 9)
            with contextlib.suppress(KeyError):
                {}["x"]
    """,
    "coroutines": """
        import asyncio, types

        @types.coroutine
        def pause(value):
            got = yield value
            return got

        async def leaf(n):
            return await pause(n)

        async def chain(n):
            if n:
                return await chain(n - 1)
            return await leaf(n)

        async def failing():
            await asyncio.sleep(0)
            raise ValueError("async")

        async def worker(queue, out):
            while True:
                item = await queue.get()
                if item is None:
                    return
                out.append(item)

        class Manager:
            async def __aenter__(self):
                await asyncio.sleep(0)
                return self
            async def __aexit__(self, *error):
                await asyncio.sleep(0)
                return True

        class Awaitable:
            def __await__(self):
                yield from asyncio.sleep(0).__await__()
                return 5

        async def cancelled():
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                await asyncio.sleep(0)
                raise

        async def everything():
            results = await asyncio.gather(failing(), leaf_sleep(1), return_exceptions=True)
            print([type(result).__name__ for result in results])
            queue, out = asyncio.Queue(), []
            task = asyncio.create_task(worker(queue, out))
            for i in range(3):
                await queue.put(i)
                await asyncio.sleep(0)
            await queue.put(None)
            await task
            print(out)
            async with Manager():
                raise KeyError("swallowed")
            print(await Awaitable())
            task = asyncio.create_task(cancelled())
            await asyncio.sleep(0)
            task.cancel()
            try:
                await task
            except asyncio.CancelledError:
                print("cancelled")

        async def leaf_sleep(n):
            await asyncio.sleep(0)
            return n

        def main():
            coroutine = chain(3)
            print(coroutine.send(None))
            try:
                coroutine.send("answer")
            except StopIteration as stop:
                print(stop.value)
            never = leaf(1)
            never.close()
            half = leaf(2)
            half.send(None)
            half.close()
            asyncio.run(everything())
    """,
    "async generators": """
        import asyncio

        async def numbers(n):
            for i in range(n):
                await asyncio.sleep(0)
                got = yield i
                if got:
                    yield got

        async def careful():
            try:
                yield 1
                yield 2
            except ValueError:
                yield "value"
            finally:
                await asyncio.sleep(0)

        async def outer(n):
            async for i in numbers(n):
                yield i * 2

        async def everything():
            print([i async for i in outer(3)], {i: i async for i in numbers(2)})
            g = careful()
            print(await anext(g), await g.athrow(ValueError("v")))
            await g.aclose()
            g = numbers(2)
            print(await g.asend(None), await g.asend("extra"))
            await g.aclose()
            async for i in numbers(5):
                if i == 1:
                    break
            print(await anext(numbers(0), "none"))
            early = careful()
            await anext(early)
            del early
            await asyncio.sleep(0)

        def main():
            asyncio.run(everything())
    """,
    "threads": """
        import threading

        def work(n, out):
            total = 0
            for i in range(n):
                total += step(i)
            out.append(total)

        def step(i):
            try:
                if i % 3 == 0:
                    raise ValueError("three")
                return i
            except ValueError:
                return 0

        def produce(generator, out):
            for _ in range(3):
                out.append(next(generator))

        def numbers():
            n = 0
            while True:
                yield n
                n += 1

        class Worker(threading.Thread):
            def __init__(self, name):
                super().__init__(name=name)
                self.out = []
            def run(self):
                work(5, self.out)

        def main():
            out = []
            threads = [threading.Thread(target=work, args=(10 + k, []), name=f"worker {k}") for k in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            generator = numbers()
            print(next(generator))
            for k in range(3):
                thread = threading.Thread(target=produce, args=(generator, out), name=f"taker {k}")
                thread.start()
                thread.join()
            print(out, next(generator))
            worker = Worker("own class")
            worker.start()
            worker.join()
            print(worker.out)
            barrier = threading.Barrier(2)
            def meet():
                for _ in range(3):
                    barrier.wait()
                    step(1)
            pair = [threading.Thread(target=meet, name=f"pair {k}") for k in range(2)]
            for thread in pair: thread.start()
            for thread in pair: thread.join()
    """,
    "callbacks from C": """
        import functools, itertools, operator, re

        class Key:
            def __init__(self, n):
                self.n = n
            def __lt__(self, other):
                return self.n < other.n
            def __index__(self):
                return self.n
            def __del__(self):
                dropped.append(self.n)

        dropped = []

        @functools.lru_cache
        def cached(n):
            return n + 1

        @functools.singledispatch
        def shown(value):
            return "object"

        @shown.register
        def _(value: int):
            return "int"

        def replace(match):
            return match[0].upper()

        def main():
            print([key.n for key in sorted(map(Key, [3, 1, 2]))])
            print([cached(n % 2) for n in range(4)], shown(1), shown(""))
            print(functools.reduce(lambda a, b: a + b, range(4)), re.sub("[ab]", replace, "abc"))
            print(list(itertools.takewhile(lambda n: n < 3, itertools.count())))
            print(range(5)[Key(2)], len(dropped))
            print(max([1, 2, 3], key=functools.cmp_to_key(lambda a, b: a - b)))
            print(list(filter(functools.partial(operator.lt, 1), [0, 1, 2])))
    """,
    "destructors and weak references": """
        import weakref

        events = []

        class Node:
            def __init__(self, name):
                self.name = name
            def __del__(self):
                gone(self.name)

        def gone(name):
            events.append(name)

        def life():
            node = Node("a")
            watcher = weakref.ref(node, lambda ref: events.append("weak"))
            node = None
            return watcher() is None

        def raising():
            node = Node("b")
            raise ValueError("with a local")

        def generator():
            node = Node("c")
            try:
                yield node.name
            finally:
                gone("closing")

        def main():
            print(life())
            try:
                raising()
            except ValueError:
                pass
            g = generator()
            next(g)
            del g
            [Node(str(i)) for i in range(3)]
            print(events)
            events.clear()
    """,
    "code made at run time": """
        import types

        def main():
            space = {}
            exec("def made(n):\\n    return n * 2\\n", space)
            print(space["made"](2), eval("local(3)", {"local": local}))
            copy = types.FunctionType(local.__code__, {}, "copy")
            print(copy(4))
            print(local.__get__(5)())
            Made = type("Made", (), {"method": lambda self: local(6)})
            print(Made().method())

        def local(n):
            return n
    """,
}

WRITTEN = {name: textwrap.dedent(text) for name, text in _WRITTEN.items()}
