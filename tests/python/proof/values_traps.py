"""Small programs, one for each trap of recording writes from line plans: how a line goes.
Each is compared with the truth like a generated one."""

TRAPS = {
    "loop_on_one_line": """
        def f(n):
            x = 0
            while x < n: x += 1
            for i in range(n): x = i; x += 1
            return x
        f(3); f(0)
        """,
    "written_twice": """
        def f(n):
            x = 1; x = 2; x = n
            a, a = 1, n
            y = (x := 5) + (x := 6)
            return x, a, y
        f(1)
        """,
    "skipped_stores": """
        def f(n):
            if n: z = 1
            if n and (w := n): pass
            u = 1 if n else 2
            for k in range(n): pass
            v = n or (q := 3)
            return locals()
        f(0); f(2)
        """,
    "callers_variables_inside_callees": """
        def look(): return 1
        def f():
            if (n := 7) > 5: look()
            a = 1; look(); a = 2; look()
            b = [c := 3, look(), d := 4]
            return look(), (e := 5), look()
        f()
        """,
    "raise_in_the_middle": """
        def bad(n): raise ValueError(n)
        def f(x):
            try:
                a = 1; b = bad(2); c = 3
            except ValueError as e:
                d = e.args
            try:
                x[0], x[1], x[9] = 7, 8, 9
            except IndexError as e: e = 5
            try: del gone
            except NameError: pass
            finally: done = 1
        f([1, 2])
        """,
    "except_as": """
        def f():
            e = 1
            try: 1 / 0
            except ZeroDivisionError as e: k = 2
            try: 1 / 0
            except ZeroDivisionError as e:
                try: raise KeyError from e
                except KeyError as e: k = 3
            for i in range(2):
                try: [][1]
                except IndexError as e: continue
                finally: k = i
            return k
        f()
        """,
    "comprehensions": """
        def f(l):
            x = 9
            a = [x for x in l]
            b = [[x, y] for x in l for y in l if y]
            c = {x: y for x, y in zip(l, l)}
            d = {x for x in l}; e = list(x for x in l)
            g = [[y for y in range(x)] for x in l]
            h = [z := x for x in l]
            i = [lambda: x for x in l]
            return x
        f([1, 2]); f([])
        try: [1 / x for x in (1, 0)]
        except ZeroDivisionError: pass
        x = 3
        y = [x for x in (1, 2)]
        class C:
            x = 1
            y = [x for x in (4, 5)]
        """,
    "comprehension_raises": """
        def f():
            x = 4
            try: y = [1 // x for x in (1, 0)]
            except ZeroDivisionError as e: z = x
            return x
        f()
        """,
    "cells": """
        def f(a):
            b = a
            def g():
                nonlocal b, a
                b += 1; a = b
                def h():
                    nonlocal b
                    b = 10; del b
                h()
                return a
            c = g()
            b = 5
            class K:
                d = b
                nonlocal c
                c = 8
                def m(self): return __class__, b
            K().m()
            return a, b, c
        f(1)
        """,
    "globals": """
        G = 1
        def f():
            global G, H
            G += 1; H = [G]
            H.append(2)
            del H
        f()
        G = {}
        G['k'] = 1
        del G
        import os.path as p, sys
        from os import sep
        """,
    "generators": """
        def g(n):
            x = yield n
            while x: x = yield [x]; n += 1
            try: y = yield
            except ValueError as e: y = 5
            finally: z = 1
            return y
        def d():
            r = yield from g(1)
            s = yield r
        it = d(); next(it); it.send(2); it.send(0); it.throw(ValueError)
        try: it.send(4)
        except StopIteration: pass
        it = g(2); next(it); it.close(); del it
        a, b = (k for k in (1, 2))
        """,
    "coroutines": """
        import asyncio
        class M:
            async def __aenter__(self): await asyncio.sleep(0); return 3
            async def __aexit__(self, *a): t = await asyncio.sleep(0, 1); return True
        async def g(n):
            for i in range(n): yield i; await asyncio.sleep(0)
        async def f(n):
            x = await asyncio.sleep(0, n); y = [i async for i in g(n)]
            async for z in g(2): x += z
            async with M() as w: x = w; raise ValueError
            a, b = await asyncio.gather(asyncio.sleep(0, 1), asyncio.sleep(0, 2))
            return x
        async def main(): r = await asyncio.gather(f(1), f(2)); return r
        asyncio.run(main())
        """,
    "with_statement": """
        class M:
            def __init__(self, v, c=True): self.v = v; self.c = c
            def __enter__(self): return self.v
            def __exit__(self, *a): e = a[0]; return self.c
        def f():
            with M(1) as a: b = a
            with M((1, [2])) as (a, (b,)), M(3) as c: d = c; raise ValueError
            with M(4) as l:
                try: return l
                finally: k = 1
        f()
        with M(5): x = 1; 1 / 0; x = 2
        """,
    "matching": """
        class P:
            __match_args__ = ("x", "y")
            def __init__(self, x, y): self.x = x; self.y = y
        def f(s):
            match s:
                case [a, b] if a > b: r = 1
                case [a, *c]: r = 2
                case {"k": d, **e}: r = 3
                case P(x=1, y=g): r = 4
                case P(g, h): r = 5
                case (1 | 2) as i: r = 6
                case str(j): r = 7
                case _: r = 8
            return r
        for s in ([2, 1], [1, 2], [1], {"k": 1, "l": 2}, P(1, 2), P(2, 3), 2, "x", None): f(s)
        """,
    "deep_recursion": """
        def f(n, l):
            l.append(n)
            m = [n]; k = f(n - 1, l) if n else 0
            m[0] = k; return k + 1
        f(50, [])
        """,
    "defaults_and_decorators": """
        def deco(*a):
            def inner(f): f.tag = a; return f
            return inner
        @deco(1, [2])
        def f(a, /, b=[], *c, d={}, **e): b.append(a); d[a] = c; e['k'] = d; return b
        f(1); f(2, [3]); f(4, d={}, z=1); f(*[5, [6], 7], **{'y': 8})
        g = lambda x, y=2: (z := x + y)
        g(1)
        @deco(3)
        class C(object, metaclass=type):
            @deco(4)
            def m(self, *, k=5): self.k = k
        C().m(k=6)
        """,
    "type_parameters": """
        type A[T] = list[T]
        def f[T](x: T) -> T: y = x; return y
        class C[T]:
            def m(self, v: T): self.v = v
        f(1); C().m(2); z = A.__value__
        """,
    "annotations": """
        x: int = 1
        y: str
        class C:
            a: int = 2
            b: list[int]
        def f(): z: int = 3; w: "str"; return z
        f()
        """,
    "exception_groups": """
        def f():
            try: raise ExceptionGroup("g", [ValueError(1), KeyError(2), TypeError(3)])
            except* ValueError as e: a = e.exceptions
            except* KeyError as e: b = 1
            except* TypeError: c = 2
            return a
        f()
        """,
    "long_lines": """
        def f(a, b=2,
              c=3):
            d = [
                a,
                b if a else c,
                (e := a + b),
                *[x for x in (
                    1,
                    2)],
            ]
            g = (a +
                 b +
                 f2(a,
                    b))
            if (a and
                    (h := b)):
                i = {
                    "k": h,
                    **{"l": g},
                }
            return d
        def f2(*v): return sum(
            v)
        f(1); f(0)
        """,
    "extended_arguments": "def f():\n"
    + "".join(f"    v{n} = {n}\n" for n in range(300))
    + "    for v299 in (1, 2): v298, v297 = v299, [v296]; v297.append(v0)\n"
    + "    def g(): nonlocal v290; v290 = 1; return v290\n"
    + "    if g(): v290 += 1\n    return v290\nf()\n",
    "many_variables": """
        def f():
            a = [1]; b = {}; c = []; d = {"k": 1}; e = set(); g = []; h = []; i = []; j = []
            k = []; l = []; m = []; n = []; o = []; p = []; q = []; r = []; s = []; t = {1}
            u = []; v = []; w = []; x = []; y = []; z = []
            aa = d
            aa["m"] = 2
            ab = a
            ab.append(2)
            t.add(2)
            for ac in (b, c, e, g): ac.clear()
            return len(aa) + len(ab)
        f()
        """,
    "raise_while_a_generator_dies": """
        def numbers():
            for i in range(3): yield i
        def kept():
            try: yield 1
            finally: gone = 1
        def f():
            for i in numbers(): del zz
            zz = 1
        def g():
            for i in kept():
                x = [1]
                x[5] = i; y = 2; del zz
            zz = 1
        for h in (f, g):
            try: h()
            except (NameError, IndexError): pass
        """,
    "generators_die_in_a_reraise": """
        def numbers(n):
            try:
                for i in range(n): yield i
            finally: k = n
        class M:
            def __enter__(self): return 1
            def __exit__(self, *a): v = 1
        def fails(n): raise ValueError(n)
        def f(l):
            try:
                for x in numbers(3):
                    with M():
                        b = 1; b = fails(1)
                        c = 2
            except ValueError as z:
                G = 256; fails(l.append(3)); l[0] = 5
        try: f([1])
        except ValueError: pass
        def g():
            for x in numbers(3):
                with M():
                    try: yield x
                    finally: k = x; yield 5
        it = g(); next(it)
        try: it.throw(KeyError); next(it)
        except KeyError: pass
        """,
    "raised_once_more": """
        def f(n):
            a = 1
            try: [][n]
            except IndexError:
                a = [n]; a.append(2)
                if n: raise
                b = 3; raise
        def g(n):
            try: f(n)
            except IndexError as e:
                try: c = n; raise
                finally: d = [n]; d.append(1)
            return c
        for n in (0, 1):
            try: g(n)
            except IndexError: pass
        try: raise
        except RuntimeError: x = 1
        """,
    "left_by_reraise": """
        def f(d):
            try:
                d["a"] = 1; raise ValueError
            finally:
                z = d; z["b"] = 2
        def g(d):
            try: raise ValueError
            except KeyError: pass
            finally: d["c"] = [1]; d["c"].append(2); e = 1
        for h in (f, g):
            try: h({})
            except ValueError: pass
        """,
    "namespaces": """
        class Space(dict):
            def __setitem__(self, k, v): super().__setitem__(k, v)
        class Meta(type):
            @classmethod
            def __prepare__(mcs, name, bases): return Space()
        class C(metaclass=Meta):
            a = 1
            def m(self): pass
            a += 1
            del m
        exec("q = 1; r = [q]; r.append(2)")
        class D:
            __module__ = "other"
            __qualname__ = "E"
            __slots__ = ()
        __module__ = 5
        def f():
            __annotate__ = 1; __module__ = 2
            def g(): nonlocal __annotate__; __annotate__ = 3
            g()
        f()
        """,
    "import_star": """
        from os.path import *
        from heapq import *; from bisect import *
        try: from json.scanner import *
        except ImportError: pass
        x = join("a", "b")
        def f(): return heappush, bisect
        f()
        """,
    "super_without_a_name": """
        class L(list):
            def push(self, x):
                super().append(x)
                return self
            def held(self, x):
                def more(): return self
                super().append(x)
                return more()
            @classmethod
            def make(cls):
                super().__setattr__(cls, "x", 1) if False else None
                return cls()
        class P:
            def __setattr__(self, name, value):
                super().__setattr__(name, value)
                y = 1
            def __delattr__(self, name):
                super().__delattr__(name)
                y = 2
        def use():
            l = L.make()
            l.push(1).push(2).held([3])
            p = P()
            p.x = 1; p.y = [2]
            del p.x
            return l, p
        use()
    """,
    "ways_that_meet": """
        class Guard:
            def __setattr__(self, name, value):
                super().__setattr__(name, value)
        def plus(n): return n + 1
        def values(a, b):
            g = Guard(); g.x = (a if plus(b) > 2 else plus(2))
            g.x = plus(a) if b else a
            g.x = a or plus(b)
            g.x = (b and a) or plus(b)
            return g
        for a in (0, 3):
            for b in (0, 1, 2): values(a, b)
        def changes(c, l, m, d):
            (l if c else m).append(5)
            (l or m).append(6)
            (c and l or m).append(7)
            (l if c else m)[0] = 8
            (d if c else {}).update(k=1)
            [l, m][c].append(9)
            for k in (l if c else m)[:1]: (m if c else l).append(k)
            z = (l if c else m).pop() if l else m
            return z
        for c in (0, 1): changes(c, [1], [2], {}); changes(c, [], [2], {})
        """,
}
