"""Forms of statements for the made-up programs: what stands over several lines and what
few programs use. Each method emits one form at an indentation; those that give text are
one simple statement. The names of variables and their types are values_programs.py's.
"""

import sys

VERSION = sys.version_info[:2]


class Forms:
    """A part of Maker, which has pick, number, line, block, emit, new_name, chance."""

    def form(self, indent, depth):
        """One of them. What may not stand within except* or needs more than a line is
        asked for by the state of the maker."""
        forms = [
            self.group,
            self.deletes,
            self.leaving_finally,
            self.spread,
            self.spread,
            self.comprehension,
            self.comprehension,
            self.class_form,
            self.function_form,
            self.closure,
            self.global_form,
            self.generator_form,
            self.pattern,
        ]
        if VERSION >= (3, 12):
            forms.append(self.type_parameters)
        if self.is_async:
            forms += [self.async_form] * 6
        self.chance.choice(forms)(indent, depth)

    def lines(self, indent, *texts):
        for text in texts:
            self.emit(indent, text)

    # --- simple statements ---

    def starred(self):
        """Chained and starred assignments."""
        v, w, number = self.pick("a", "b"), self.pick("c", "n"), self.number
        return self.pick(
            f"*z, {v} = 1, {number()}, {number()}",
            f"{v}, (*z, {w}) = {number()}, (4, 5, {number()})",
            f"[*z] = {self.listing()}",
            f"{v}, *z, {w} = range(4)",
            f"{v}, *l[:1], {w} = 1, 2, {number()}",
            f"*o.items, {v} = 1, 2, {number()}",
            f"{v} = {w} = l[-1:] = o.items = [{number()}]",
            f"z = d['chained'] = o.x = {v} = {number()}",
            f"z = z2, *z3 = {number()}, 2, 3",
            f"{v}, o.x, d['u'], l[0:0] = {number()}, {number()}, 3, [4]",
            f"{v}, ({w}, z), z2 = 1, 'xy', {number()}",
            f"d[({v} := {number()})] = {w} = {v}",
            "z, *z2 = 'one'; z3, = [z2]",
            f"z = *l, {number()}, *m",
            f"({v}) = ({w}) = {number()}",
            f"({v}, z), {w} = {number()}, 1",
        )

    def augmented(self):
        v, number = self.pick("a", "b", "c", "n"), self.number
        return self.pick(
            *(f"{v} {operator}= {number()}" for operator in ("-", "*", "//", "%", "&", "|", "^", "<<", ">>")),
            f"{v} /= 2; {v} = int({v})",
            f"{v} **= 2; {v} %= 7",
            "l *= 2",
            "s -= {1}",
            "s ^= {a, 2}",
            "s &= {1, 2}",
            "q += [a]",
            "y *= 2",
            f"o.items += [{number()}]",
            f"o.inner = o.inner or Plain(1); o.inner.x += {number()}",
            f"Plain(1).x += {number()}",
            f"grow(l)[-1] += {number()}",
            "d['l'] = d.get('l', []); d['l'] += [1]",
            f"l[{v} := 0] += {number()}",
            "o.table['k'] = o.table.get('k', 0); o.table['k'] += 1",
            "o.items[0:1] += [3]",
            "l[0], m = l[0] + 1, m + [1]",
            f"COUNT -= {v}; COUNT |= 1",
        )  # fmt: skip

    def expressions(self):
        """Writes and calls in the midst of expressions."""
        v, w, number = self.pick("a", "b"), self.pick("c", "n"), self.number
        choices = [
            f"z = [{w} := k for k in l[:2]]",
            f"z = any(({v} := k) == {number()} for k in range(3))",
            f"z = all(({v} := k) < 2 for k in numbers(3))",
            f"z = [[({v} := j) for j in range(k)] for k in range(3)]",
            f"z = {{({v} := k): ({w} := k + 1) for k in range(2)}}",
            f"z = {number()} < ({v} := {number()}) < ({w} := {number()})",
            f"z = [({v} := {number()}), {v} + 1, ({v} := {v} + 1)]",
            f"z = f'{{({v} := {number()})}} {{({w} := {v}):>4}} {{l!r}} {{{v}=}}'",
            f"z = (lambda x={v}, *r, k={w}, **more: (x, r, k, more))({number()}, 2, k=3, u=4)",
            f"z = (lambda: [(u := {number()}), u])()",
            f"z = (lambda x=({v} := {number()}): x + {v})()",
            f"z = ({v} := {number()}) and ({w} := {number()}) or ({v} := 5)",
            f"z = [*l, *(k for k in m), *{{}}]; z2 = {{**d, **e, 'q': {number()}}}",
            f"z = grow(*[[], {number()}], **{{'k1': 1}})",
            f"z = l[({v} := 0):({w} := 2)]; z2 = not {v}",
            f"z = {number()} if ({v} := {number()}) else ({w} := {number()})",
            f"z = plus({v} := {number()}) + plus({v})",
            f"print(end='') if ({v} := {number()}) else [{w} := 1]",
            f"z = (yielded := list(through(2))) + [{number()}]",
            f"raise ValueError({number()}) from KeyError({v})",
            f"z = {v} in l, {v} not in d, l is m, {w} is not None",
            "z = l if m else d if e else s",
            f"z = [k if k else ({v} := 9) for k in (0, 1)]",
            "z = ..., Ellipsis, NotImplemented, int, __name__",
            f"z = -{v}, +{w}, ~{v}, not l",
        ]
        if VERSION >= (3, 14):
            choices.append(f"z = t'{{({v} := {number()})}} and {{l}}'")
        return self.pick(*choices)

    # --- forms of several lines ---

    def group(self, indent, depth):
        """try/except*: no break, continue or return may leave its handlers."""
        raised = self.pick(
            "raise ExceptionGroup('g', [ValueError(1), KeyError(2)])",
            "raise ExceptionGroup('g', [ExceptionGroup('h', [ValueError(a)]), TypeError(b)])",
            f"z = fails({self.number()})",
            "raise ValueError('alone')",
            "d['missing'] += 1",
        )
        before = self.in_loop, self.may_return
        self.emit(indent, "try:")
        if self.chance.random() < 0.5:
            self.statement(indent + 1, depth + 1)
        self.emit(indent + 1, raised)
        self.in_loop = self.may_return = False
        kinds = self.chance.sample(["ValueError", "(KeyError, TypeError)", "OSError", "Exception"], 2)  # fmt: skip
        for kind in sorted(kinds, key=lambda kind: kind == "Exception"):
            name = self.pick("", " as error", " as z", " as o.x", "")
            name = "" if "." in name else name
            self.emit(indent, f"except* {kind}{name}:")
            if name:
                self.emit(indent + 1, f"z2 = len({name[4:]}.exceptions)")
            if self.chance.random() < 0.3:
                self.emit(indent + 1, self.pick("raise", "raise TypeError(a)", "fails(1)"))  # fmt: skip
            else:
                self.block(indent + 1, depth + 2, 1)
        if self.chance.random() < 0.3:
            self.emit(indent, "else: " + self.line())
        if self.chance.random() < 0.4:
            self.emit(indent, "finally: " + self.line())
        self.in_loop, self.may_return = before

    def deletes(self, indent, depth):
        form = self.chance.randrange(8)
        if form == 0:
            self.lines(indent, "z = z2 = 1; del z, z2", "z = [1]; del (z)")
        elif form == 1:
            self.lines(indent, "z, z2, z3 = 1, 2, 3", "del z, (z2, [z3])")
        elif form == 2:
            self.lines(indent, "z = [1, 2, 3]; z2 = {'k': 1}; o.gone = 1")
            self.emit(indent, "del z[0], z2['k'], o.gone, z[-1:], z2")
        elif form == 3:
            self.lines(
                indent,
                "gone = 1",
                "def remove():",
                "    nonlocal gone",
                "    z = gone; del gone",
                f"    {self.pick('gone = 2', 'pass', 'return gone')}",
                "remove()",
                self.pick("z = gone", "gone = 3; del gone", "gone = remove"),
            )
        elif form == 4:
            self.emit(indent, "LATE = 1; z = LATE; del LATE")
            self.emit(indent, self.pick("LATE = 2", "del LATE", "z = LATE"))
        elif form == 5:
            self.lines(
                indent,
                "class Short:",
                "    u = 1; w = 2",
                f"    for k in (1, 2): {self.pick('u += k', 'w = [u, k]')}",
                "    del u, k",
                "z = Short.w",
            )
        elif form == 6:
            self.lines(
                indent, "for z in (1, 2): z2 = z; del z", "del z2", "del l[:], y[:]"
            )
        else:
            self.lines(indent, "p.x = 1; del p.x; p.x = 2", "del p.items; p.items = []")

    def leaving_finally(self, indent, depth):
        """try/finally left by return, break, continue, from each of its parts."""
        name = f"leaves{self.fresh}"
        self.fresh += 1
        leave = lambda: self.pick("return r", "break", "continue", "pass", "raise KeyError(r)", "fails(r)", "r += 10")  # fmt: skip
        last = self.pick("pass", "pass", "return r", "break", "continue", "r *= 2")
        v = self.pick("a", "b", "c")
        self.lines(
            indent,
            f"def {name}(r):",
            f"    for k in range({self.pick(1, 2, 3)}):",
            f"        r += k; {self.pick('u = r', 'u, r = r, k', 'l.append(r)')}",
            "        try:",
            f"            if r % 2: {leave()}",
            f"            w = [r]; {leave()}",
            "        except KeyError as error:",
            f"            r += 1; {leave()}",
            "        finally:",
            f"            u = r; {last}",
            f"    {self.pick('else: r = 0', 'r += 1', 'u = None')}",
            "    return u, r",
            f"{v} = len({name}({self.number()}) or ())" if self.chance.random() < 0.3 else f"z = {name}({self.number()})",
        )  # fmt: skip

    def spread(self, indent, depth):
        """One statement over several lines."""
        v, w, number = self.pick("a", "b"), self.pick("c", "n"), self.number
        form = self.chance.randrange(14)
        texts = (
            (f"{v} = plus(", f"    {number()},", ")"),
            ("z = [", f"    {number()},", f"    ({w} := {number()}),", "    [k for k in l],", "]"),
            (f"{v} = {number()} + \\", f"    {number()} + \\", f"    plus({w})"),
            ("d = {", f"    'k': {number()},", f"    'n': ({w} := 2),", "    **e,", "}"),
            ("z = (Plain(1)", f"    .add({number()})", f"    .add({w} := 3)", "    .bump())"),
            ("if (", f"    {number()} and", f"    ({v} := {number()})", f"): {w} = 1", f"else: {w} = 2"),
            (f"{v}, \\", f"{w} = \\", f"    {number()}, \\", f"    {number()}"),
            ("z = [", "    [", f"        ({v} := k) + j", "        for j in range(2)", "        if j", "    ]", "    for k in (1, 2)", "]"),
            ("with (", f"    Manager({number()}) as {v},", "    Manager([1], True) as (z,),", "):", f"    {w} = {v}"),
            ("l[", "    0:", f"    {self.pick('1', 'plus(0)')}", "] = [", f"    {number()},", "]"),
            ("o.x, \\", f"    o.y = ({number()},", f"           {number()})"),
            (f"for {v}, z in zip(", "    (1, 2),", f"    [{w}, {number()}],", f"): {w} = {v}; \\", "    l.append(z)"),
            ("z = grow(", "    l,", f"    *[{number()}],", "    key=[", "        k for k in m", "    ],", ")"),
            ("assert (", f"    {number()} != 78", "), (", "    'never'", ")", "z = '''text", "of lines''' \\", "    'joined'"),
        )  # fmt: skip
        self.lines(indent, *texts[form])

    def comprehension(self, indent, depth):
        """What inlining them must not change (PEP 709)."""
        v, number = self.pick("a", "b", "c"), self.number
        form = self.chance.randrange(14)
        texts = (
            ("k = 5", "z = [k for k in (1, 2)]", "z.append(k)"),
            ("z = [lambda: k for k in range(3)]", "z = [f() for f in z]"),
            ("z = [(k, (lambda: k)) for k in (1, 2) if (lambda: k)()]", "z = z[0][1]()"),
            ("try: z = [fails(k) for k in range(3)]", f"except ValueError: {v} = 7"),
            ("z = [[k + j for j in l if (lambda: j)] for k in (1, 2)]",),
            ("z = [l for l in [l, m]]", "z2 = {d: s for d, s in [(1, 2)]}"),
            ("z = {k: {j for j in range(k)} for k in range(3)}", "z2 = (k for k in z)", "z = list(z2)"),
            ("class Body:", "    u = 2", f"    w = [k * 2 for k in (1, {number()})]", "    x = {j: [i for i in range(j)] for j in w[:1]}", "z = Body.x"),
            ("z = [k for k in [j for j in [i for i in l]]]",),
            (f"z = [{v} for {v} in range(2) for k in range({v})]",),
            ("z = [(k, j) for k in range(2) for j in range(3) if k != j if j]", "z2 = [k for k, in [(1,), (2,)]]"),
            ("def counting():", "    k = 0", "    z = [(k := k + 1) for _ in l]" , "    return k, z", "z = counting()"),
            ("z = [k for k, *rest in [(1, 2), (3,)] if not rest]", "z2 = {k for o.x in (1, 2) for k in [o.x]}"),
            ("def deep():", "    return [[w, n] for w in range(2) if [n for u in (w,) if u]]", "z = deep()", "z2 = sum([w for w in (1, 2)], *[w for w in (3,)])"),
        )  # fmt: skip
        self.lines(indent, *texts[form])

    def class_form(self, indent, depth):
        """Keyword arguments, metaclasses, decorators, slots with properties."""
        name = f"Made{self.fresh}"
        self.fresh += 1
        number = self.number
        form = self.chance.randrange(8)
        texts = (
            (f"class {name}(Plain, Registered, flag={number()}):", "    pass", f"z = {name}.flags"),
            (f"class {name}(metaclass=Meta, extra={number()}):", f"    u = {number()}", "    def m(self): return self.u", f"z = {name}().m(); {name}.w = 1"),
            ("@sealed", "@labelled('x', n=b)", f"class {name}(Slots):", "    __slots__ = ('extra',)", "    @property", "    def double(self): return self.x * 2", "    @double.setter", "    def double(self, v): self.x = v // 2; self.extra = v", f"z = {name}(a); z.double = {number()}; z2 = z.double"),
            (f"class {name}(Slots):", "    __slots__ = ('_u', '__dict__')", "    def __init__(self): self._u = 1; self.free = 2", f"z = {name}(); z.free = {number()}; z.other = z._u"),
            (f"class {name}:", "    field = Field()", "    other = Field()", f"    def __init__(self, n): self.field = n; self.other = {number()}", f"z = {name}(a); z.field += 1; del z.field"),
            (f"class {name}(*[Plain], **{{'flag': 1}}) if False else (Plain):", "    pass") if False else (f"class {name}(*(Plain, Registered), **{{'flag': {number()}}}):", "    def __init__(self, x): super().__init__(x, y=a); self.mine = __class__", f"z = {name}(b).mine is {name}"),
            (f"class {name}:", "    class Inner:", f"        u = {number()}", "        def get(self): return self.u", "    held = Inner()", "    held.u = 3", "    @functools.cached_property", "    def late(self): self.n = 1; return self.n + 1", f"z = {name}(); z2 = z.late + z.late"),
            (f"class {name}(Data):", "    z: int = 5", "    def __setattr__(self, name, value): super().__setattr__(name, value)", f"z = {name}(1); z.x = {number()}; z.y += 1"),
        )  # fmt: skip
        self.lines(indent, *texts[form])

    def function_form(self, indent, depth):
        """Signatures, decorators, defaults."""
        name = f"made{self.fresh}"
        self.fresh += 1
        v, w, number = self.pick("a", "b"), self.pick("c", "n"), self.number
        texts = (
            (f"def {name}(x, /, u={number()}, *, k: int = {number()}, **more) -> int:", f"    'doc'; x = u; u, k = k, {number()}", "    more['x'] = x", "    return x", f"{v} = {name}(1, k={number()}, other=2)"),
            ("@marked", "@(lambda function: function)", "@labelled('f', n=2)", f"def {name}(*args):", f"    (x, *args), u = args or (1,), {number()}", "    return args", f"z = {name}(1, {number()}, 3)"),
            ("@functools.lru_cache(maxsize=None)", f"def {name}(x):", f"    x += 1; return x if x > 3 else {name}(x)", f"{v} = {name}(0)"),
            (f"@({w} := marked)", f"def {name}(u=({v} := {number()}), *, k=[]):", "    k.append(u); return k", f"{name}(); z = {name}(); {w} = 0"),
            (f"{name} = lambda x, *r, k={number()}: (r := [x, k], r)[0]", f"z = {name}({number()}, 2, k={v})"),
            (f"def {name}(x):", f"    if x <= 0: return {number()}", f"    u = {name}(x - 1); u += x", "    return u", f"{v} = {name}({self.pick(1, 2, 3)})"),
            ("@contextlib.contextmanager", f"def {name}(x):", "    u = x", "    try: yield u", "    except ValueError as error: u = str(error)", "    finally: l.append(u)", f"with {name}({number()}) as {w}: z = fails({number()})"),
            (f"{name} = functools.partial(grow, m, {number()})", f"z = {name}(2); z2 = {name}(k=1)", "z3 = list(map(lambda k: k, z2))[:3]"),
        )  # fmt: skip
        self.lines(indent, *self.pick(*texts))

    def closure(self, indent, depth):
        """Cells: written from within, from without, by comprehensions and classes."""
        name = f"cell{self.fresh}"
        self.fresh += 1
        number = self.number
        texts = (
            (f"def {name}():", "    u = 1; w = []", "    def up():", "        nonlocal u", "        u += 1; w.append(u)", "        def more():", "            nonlocal u, w", f"            u *= 2; w = [u, {number()}]", "        more(); return u", "    u = 10", "    return up(), u, w", f"z = {name}()"),
            (f"def {name}(u):", "    def get(): return u", "    u += 1; before = get()", "    for u in (1, 2): w = get()", "    with Manager(5) as u: w = get()", "    del u", "    try: get()", "    except NameError: u = 0", "    return before, w", f"z = {name}({number()})"),
            (f"def {name}(n2):", "    class Held:", "        u = n2", "        def set(self, v):", "            nonlocal n2", "            n2 = v; self.v = n2; return self", "    held = Held().set(3)", f"    n2 += {number()}", "    return held.set(n2).v, n2", f"z = {name}(1)"),
            (f"def {name}():", "    made = []", "    for k in range(2):", "        def one(j=k):", "            return j, k", "        made.append(one)", "    k = 7", "    return [one() for one in made]", f"z = {name}()"),
            (f"def {name}(x):", "    try: raise ValueError(x)", "    except ValueError as error:", "        tell = lambda: error", "        z = str(tell())", "    import os as x", "    def use(): return x", "    return z", f"z = {name}(b)"),
        )  # fmt: skip
        self.lines(indent, *self.pick(*texts))

    def global_form(self, indent, depth):
        """Global statements: every statement that binds, binding a global."""
        name = f"public{self.fresh}"
        self.fresh += 1
        number = self.number
        body = self.pick(
            f"for LOOSE in (1, {number()}): pass",
            f"with Manager({number()}) as LOOSE: pass",
            "import string as LOOSE",
            "def LOOSE(): return 1",
            "class LOOSE: u = 1",
            f"LOOSE, OTHER = {number()}, [1]",
            "try: raise ValueError(1)\n    except ValueError as LOOSE: OTHER = 1",
            f"LOOSE = OTHER = {number()}; LOOSE += 1; del OTHER",
            f"(lambda: 1)(); OTHER = [LOOSE := {number()}]",
            "match [1, 2]:\n        case [LOOSE, OTHER]: pass",
            "LOOSE = []; LOOSE.append(1); OTHER = LOOSE; OTHER += [2]",
        )
        self.emit(indent, f"def {name}():")
        self.emit(indent + 1, "global LOOSE, OTHER")
        for text in body.split("\n"):
            deeper = len(text) - len(text.lstrip())
            self.emit(indent + 1 + max(deeper // 4 - 1, 0), text.lstrip())
        self.emit(indent, f"{name}()")

    def generator_form(self, indent, depth):
        name = f"gen{self.fresh}"
        self.fresh += 1
        number = self.number
        texts = (
            (f"def {name}(x):", "    try:", "        while x < 3: x += 1; got = yield x", "    finally:", "        l.append(x); x = None", f"g = {name}({number()}); z = next(g, 0)", "try: z = g.send(1)", "except StopIteration: pass", "g.close()"),
            (f"def {name}(x):", "    u = yield from echo(x)", "    w = [u, (yield 'last')]", "    return w", f"g = {name}({number()}); z = next(g); z = g.send(2); z = g.throw(ValueError('in')); z = g.send(None)", "try: g.send(5)", "except StopIteration as stop: z = stop.value"),
            (f"def {name}():", "    with Manager(1, True) as u:", "        d['y'] = yield u", "        o.x = yield from numbers(2)", "        raise ValueError('caught by it')", "    yield u", f"z = [k for k in {name}()]"),
            (f"def {name}(x):", "    for k in x:", "        z = (yield k), (yield k + 1)", "        if z[0]: return z", f"g = {name}([1, 2]); z = [next(g), g.send({number()}), g.send(0)]", "del g"),
            (f"z = (k * j for k in range(2) for j in (1, {number()}))", "z2 = next(z); z3 = list(z)"),
            (f"g = numbers(3); {self.pick('a', 'b')} = next(g)", "for z in g: z2 = z; break", "z3 = list(g)"),
            ("g = echo(1); z = next(g); z = g.send('s')", "try: g.throw(KeyError, KeyError('k'))", "except KeyError: z = list(g)"),
        )  # fmt: skip
        self.lines(indent, *self.pick(*texts))

    def pattern(self, indent, depth):
        """match, with every kind of pattern."""
        subject = self.pick(
            "[1, 2, 3]", "(a, b)", "a, b", "{'k': 1, 'n': {'m': [1, 2]}}", "Data(1, 2)", "Plain(1, 0)", "-1", "'text'", "None",
            "1.5", "2 - 3j", "b'by'", "True", "[1, [2, [3, 4]]]", "{'op': 'add', 'args': [1, 2]}", "l", "o", "d", self.number(),
            "*l, 1", "Sum(3)", "[]", "{}", "(z := [1, 2])",
        )  # fmt: skip
        cases = [
            "[first, *_, last]", "[first, second, *z]", "(first, second)", "[1, [second, [*z, last]]]", "{'n': {'m': [_, z]}, **rest}",
            "{'op': 'add' | 'sub' as z, 'args': [first, *second]}", "Data(first, second)", "Data(x=1, y=z)", "Plain(x=first, y=0 | 1)",
            "-1 | -2", "2 - 3j", "'text' | b'by' as z", "None | True", "1.5", "Plain.total", "int(z) | float(z)", "int() | str() as z",
            "[1, z] | [z, 1] | [z]", "Sum(z)", "[Plain() as z, *_]", "{'k': int() as z}", "{**rest}", "str(z)", "[]", "(1 | 2) as first, *z",
            f"[first, *z] if (second := {self.number()})", "first if first == 3", "[int(first), str(second)]", "Slots(x=z) | Plain(x=z)",
            "dict() | set() as z", "[[first, *z], *second]", "[*_]", "bool(z)", "list(z) if l.append(1)",
        ]  # fmt: skip
        chosen = self.chance.sample(cases, 4)
        self.emit(indent, f"match {subject}:")
        for case in chosen:
            if self.chance.random() < 0.3:
                self.emit(indent + 1, f"case {case}:")
                self.block(indent + 2, depth + 2, 1)
            else:
                self.emit(indent + 1, f"case {case}: " + self.line())
        if self.chance.random() < 0.5:
            self.emit(indent + 1, f"case {self.pick('_', 'other', '(_)')}: z = 0")

    def type_parameters(self, indent, depth):
        name = f"Typed{self.fresh}"
        self.fresh += 1
        number = self.number
        texts = [
            (f"def {name}[T, *Ts, **P](x: T, *rest: *Ts, u: list[T] = [{number()}]) -> T:", "    x = [x]; u.append(x)", "    return u", f"z = {name}({number()}, 2)"),
            (f"class {name}[T: int](Plain):", "    held: T", "    def get[U](self, u: U) -> tuple[T, U]: self.y = u; return T, U", f"z = {name}(1).get({number()}); z2 = {name}.__type_params__[0].__bound__"),
            (f"type {name}[T] = list[T] | dict[str, {name}]", f"z = {name}.__value__; z2 = {name}.__name__"),
            (f"type {name} = int", f"z = {name}; z2 = z.__value__"),
            (f"class {name}[T: (int, str), *Ts]:", f"    u = {number()}; w = [T for k in (1, 2)]", "    type Own = T", f"z = {name}[int, str]; z2 = {name}.Own.__value__"),
            ("@marked", f"def {name}[T](x: T, f=lambda v: v) -> T:", "    def inner() -> T: nonlocal x; x += 1; return x", "    return f(inner())", f"z = {name}({number()})"),
            (f"async def {name}[T](x: T): x += 1; return x", f"z = {name}(1); z.close()"),
        ]  # fmt: skip
        if VERSION >= (3, 13):
            texts.append((f"def {name}[T = int, **P = [int]](x: T = {number()}): x = T; return x", f"z = {name}(); z2 = z.__default__"))  # fmt: skip
        self.lines(indent, *self.pick(*texts))

    def async_form(self, indent, depth):
        name = f"async{self.fresh}"
        self.fresh += 1
        v, number = self.pick("a", "b"), self.number
        texts = (
            ("z = [[k async for k in counts(2)] for j in range(2)]",),
            ("z = [[k + j async for k in counts(2)] async for j in counts(2)]",),
            ("z = {k: j async for k in counts(2) for j in (1, 2)}", "z2 = {k async for k in counts(2) if k}"),
            ("z = [k async for k in counts(3) if await later(k) > 1]", "z2 = [await later(k) for k in (1, 2)]"),
            ("z = (k async for k in counts(2))", "z2 = [k async for k in z]"),
            (f"z = [({v} := k) async for k in counts(2)]",),
            (f"async for {v} in counts(3):", f"    if {number()} > 2: break", f"    {self.line()}", "else: z = 'all'"),
            (f"async with Manager(1) as {v}, Manager([2], True) as (z,):", f"    {self.line()}", "    fails(1)"),
            ("async with contextlib.AsyncExitStack() as z:", "    z2 = await z.enter_async_context(Manager(3))", "    z.push_async_callback(later, 2)"),
            (f"async def {name}(n2):", "    try:", "        for k in range(n2): got = yield k; l.append(got)", "    finally:", "        await asyncio.sleep(0); l.append('closed')", f"g = {name}(3); z = await g.asend(None); z = await g.asend({number()})", "await g.aclose()", "z = [k async for k in g]"),
            (f"async def {name}(n2):", "    while True:", "        try: n2 = yield n2", "        except ValueError as error: n2 = -1", f"g = {name}(1); z = await anext(g); z = await g.athrow(ValueError('t')); z = await g.asend(4)", "await g.aclose(); z = await anext(g, 'default')"),
            ("try: z = await later(fails(1))", f"except ValueError: {v} = await later(1)", "finally: z2 = await later(2)"),
            ("async with asyncio.TaskGroup() as group:", "    z = group.create_task(later(1)); z2 = group.create_task(later(2))", "z = z.result() + z2.result()"),
            (f"async def {name}(n2):", "    nonlocal n", "    n = n2; await asyncio.sleep(0); n += 1", "    return n", f"z = await asyncio.gather({name}(1), {name}(2), return_exceptions=True)"),
            ("@contextlib.asynccontextmanager", f"async def {name}(x):", "    u = x", "    try: yield u", "    finally: u = await later(1)", f"async with {name}({number()}) as {v}: z = await later({v})"),
            ("z = asyncio.ensure_future(later(1)); z.cancel()", "try: await z", "except asyncio.CancelledError: z = 'cancelled'"),
            (f"{v}, o.x, d['w'] = await later(1), await later(2), [await later(3)]", f"l[0:1] = [await later({number()})]", f"{v} += await later(1)"),
            (f"match await later({number()}):", f"    case 1 | 2 as {v}: z = await later({v})", "    case z: pass"),
        )  # fmt: skip
        self.lines(indent, *self.pick(*texts))

    # --- whole functions ---

    def async_generator(self, number):
        """An async generator of its own, and what drives it."""
        name = f"ag{number}"
        self.emit(0, f"async def {name}(a):")
        self.emit(1, "global COUNT, LATE")
        self.start_variables(1)
        self.is_async, self.is_generator, self.may_return = True, False, False
        for _ in range(self.pick(2, 3)):
            self.emit(1, "try:")
            self.statement(2, 0)
            self.emit(1, "except Exception: pass")
            self.emit(1, self.pick("a = yield a", "yield l", f"z = yield {self.number()}", "z = [(yield 1), (yield 2)]"))  # fmt: skip
        self.is_async, self.may_return = False, True
        self.lines(
            0,
            f"def drive_{name}(a):",
            "    async def drive():",
            f"        g = {name}(a); z = []",
            "        try:",
            "            z.append(await g.asend(None)); z.append(await g.asend(2))",
            "            z.append(await g.athrow(ValueError('thrown')))",
            "            async for k in g: z.append(k)",
            "        except (ValueError, StopAsyncIteration): z.append('ended')",
            "        finally: await g.aclose()",
            "        return len(z)",
            "    return asyncio.run(drive())",
        )
        self.functions.append(f"drive_{name}")

    def more_threads(self):
        """Threads that raise, that go on with another's generator, with locals of their
        own; one at a time."""
        self.lines(
            0,
            "def threads2(a):",
            "    own = threading.local(); held = echo(a); found = [next(held)]",
            "    def work(k):",
            "        own.x = k; own.x += 1",
            "        found.append(held.send(own.x)); z = [found[-1], k]",
            "        try: found.append(fails(k))",
            "        except ValueError as error: found.append(str(error))",
            "        finally: del own.x",
            "        with Manager(k) as u: found[0] = u",
            "    for k in range(3):",
            "        worker = threading.Thread(target=work, args=(k,), name=f'other {a} {k}')",
            "        worker.start(); worker.join()",
            "    held.close()",  # not when it dies: the truth keeps what refers to it
            "    return len(found)",
        )
        self.functions.append("threads2")
