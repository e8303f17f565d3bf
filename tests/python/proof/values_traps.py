"""Small programs, one for each trap of recording writes from line plans. Each is
compared with the truth like a generated one."""

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
    "attributes": """
        class S:
            __slots__ = ("a", "b")
        class T:
            def __init__(self): self.a = 1; self.b = [self.a]
        def f():
            s = S(); t = T()
            s.a = 1; s.a += 1; t.a = s; t.c = 3
            t.b.append(4); t.a.b = 5
            t.a.a, t.c = t.c, t.a.a
            del t.c; del s.b
            try: del t.c
            except AttributeError: pass
            try: s.z = 1
            except AttributeError: pass
            T.d = 9; T().e = f; t.__dict__['g'] = 6
            return t
        f().x = f().a
        """,
    "properties": """
        class P:
            def __init__(self): self._x = 0
            @property
            def x(self): return self._x
            @x.setter
            def x(self, v):
                if v < 0: raise ValueError
                self._x = v
            @x.deleter
            def x(self): self._x = None
        class L:
            def __setattr__(self, n, v): self.__dict__[n] = v
            def __delattr__(self, n): del self.__dict__[n]
            def __setitem__(self, k, v): self.last = k, v
            def __delitem__(self, k): self.last = k
        def f():
            p = P(); p.x = 1; p.x += 2
            try: p.x = -1
            except ValueError: pass
            del p.x
            l = L(); l.a = 1; l.b, l.a = 2, 3; del l.a; l[1] = 2; l[1:2] = 3; del l[0]
            P().x = 7
        f()
        """,
    "items": """
        def key(k): return k
        def f():
            l = [1, 2, 3]; d = {}
            l[0] = 5; l[-1] += 1; l[1:2] = [7, 8]; l[::2] = l[::2]; l[key(0)] = key(9)
            d['a'] = 1; d['a'] += 1; d[1, 2] = l; d[None] = d; d['n'] = {}
            d['n']['m'] = []; d['n']['m'].append(1); d['n']['m'][0] = 2
            m = [[0] * 2 for _ in range(2)]
            m[0][1] = 5; m[1][0], m[1][1] = 6, 7
            del l[0], d['a'], l[:]
            try: l[5] = 1
            except IndexError: pass
            try: d[[]] = 1
            except TypeError: pass
            b = bytearray(b'abc'); b[0] = 65; b[1:] = b'zz'; del b[0]
            for d['each'] in (1, 2): pass
            return d
        f()
        """,
    "in_place": """
        from collections import deque
        def out(l): l.append(1); return l
        exec(compile("def hid(l): l.append(2)", "hidden", "exec"))
        class O:
            def __init__(self): self.l = []; self.o = None; self.d = {}
            def add(self, n): self.l.append(n); return self
        def f():
            l = [3, 1]; m = l
            l.append(2); l.sort(); m.reverse()
            out(l); hid(l); out(out(l)).append(5)
            d = {'k': l}; d['k'].append(6); d.setdefault('z', []).append(1)
            s = {1}; s.add(2); s |= {3}; s.discard(1)
            q = deque([1]); q.append(2); q.rotate()
            b = bytearray(b'x'); b += b'y'; b.extend(b'z')
            o = O(); o.l.append(1); o.add(2).add(3); o.o = O(); o.o.l.append(4); o.o.d['k'] = 1
            l += [7]; l *= 2; l.clear()
            e = d; e.clear(); t = (l, m); t[0].append(1)
            l.append(1); l.pop()
            return len(l)
        f()
        """,
    "aliases": """
        def f(a, b):
            a.append(1); b.append(2)
            c = [a, b]; c[0].append(3)
            a = None
            c[1].append(4); b = c; b.append(5)
            return c
        x = []
        f(x, x); f([], x)
        """,
    "reused_addresses": """
        def f():
            for i in range(20):
                a = [i]; a = [i, i]; a = {}
                a = [i].copy()
                b = (i, [i]); b = None
            return a
        f()
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
    "finalisers": """
        seen = []
        class D:
            def __init__(self, n): self.n = n
            def __del__(self): k = self.n; seen.append(k)
        def f():
            d = D(1); d = 2
            e = D(3); del e
            l = [D(4)]; l[0] = 5
            o = D(6); o.d = D(7); o.d = 8
            a, b = D(9), D(10); a = b = None
            D(11)
        f()
        """,
    "values_of_every_kind": """
        from collections import deque
        import dataclasses, enum
        class E(enum.Enum):
            A = 1
        class N(int): pass
        @dataclasses.dataclass
        class D: x: int = 1
        def f(v): w = v; return w
        for v in (None, True, False, 0, -1, -16, -17, 223, 224, 255, 2**29, 2**30, -2**30, 2**31, 2**59, 2**60,
                  2**62, 2**63 - 1, 2**63, -2**63, -2**63 - 1, 2**64, 10**40, -10**40, 0.0, -0.0, 1.5, 1e300, 5e-324,
                  float("inf"), float("-inf"), 1j, complex(-0.0, 2.5), "", "a", "x" * 16, "x" * 17, "x" * 255, "x" * 256, "é" * 8,
                  "é" * 9, "\\u20ac" * 5, "\\U0001f600", "a\\n\\t\\x00\\x7f'\\"", "\\ud800", b"", b"a\\x00\\xff'", b"x" * 256,
                  (), (1,), (1, (2, (3,))), [], [[]], {}, {"a": {"b": [1]}}, {1: 2, None: 3, (1, 2): 4, "x": 5}, set(), {1},
                  frozenset(), frozenset((1,)), deque(), deque([1], 3), bytearray(), bytearray(b"\\x00z"), range(3), E.A, N(4), D(),
                  list(range(32)), list(range(33)), "y" * 257, f, D, E, len, [].append, iter(()), slice(1), ValueError("x"), ..., NotImplemented,
                  [1, [2, [3, [4, [5]]]]], [None, True, 1.5, "s", b"b", 2j]):
            f(v)
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
    "bound_methods": """
        def f():
            res = []
            add = res.append
            add(1)
            add(2)
            d = {}
            keep = d.setdefault
            keep("k", [])
            keep("k", 5)
            both = [res.append, d.update]
            both[0](3)
            return res
        f()
        """,
    "items_replaced": """
        def f(n):
            d = {"n": [0]}
            for i in range(n):
                d["n"] = [i]
                d["n"].append(2)
                e = d["n"]
                e.append(3)
                d["n"] = [4]; d["n"].append(5)
                d.setdefault("m", []).append(i)
                g = d["m"]
                d.setdefault("m", []).append(i)
            return g
        f(4)
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
    "changes_within_calls": """
        class K:
            def __init__(self, v): self.v = v
            def __lt__(self, o): return self.v < o.v
        def key(v): return v
        def look(): return 1
        def f():
            l = [3, 1, 2]
            l.sort(key=K)
            m = [3, 1, 2]
            m.sort(key=key)
            s = []
            s.extend(map(K, [1])); look(); s.append(2); look()
            d = {}
            d.setdefault(1, K(2)); K(d.pop(1)); key(l.pop())
            return l
        f()
        """,
    "namespaces_at_one_address": """
        def f():
            for i in range(5):
                exec(compile("x = [i]; x.append(1)", __file__, "exec"), {"i": i})
                class C: x = [i]; x.append(2)
        f()
        """,
    "comprehensions_at_one_address": """
        def f():
            a = [len(k) for k in ([1] for _ in range(3))]
            for i in range(4): b = [len(k) for k in ([i, j] for j in range(3))]
            c = {len(k) for k in map(list, ("a", "b"))}; d = [k for k in ([i] for _ in (1, 2))]
            return b
        f(); f()
        """,
    "stored_and_changed": """
        def f(n):
            a = [n]; a.append(1); b = a; b += [2]; c = [x.append(3) for x in ([1], [2])]
            for d in ([1], [2]): d.append(4); d.sort()
            if (e := {}) is not None: e.update(k=1); e.setdefault("z", []).append(1)
            g, h = [1], [2]; g.extend(h); h.clear(); i = [j := [0], j.append(1)]
            with open(__file__) as k, open(__file__) as m: o = [k.mode]; o.pop()
            return [p.pop() for p in ([1], [2, 3]) if p.append(5) is None]
        f(1)
        q = [1]; q.append(2); r = q; r.clear()
        class C: s = [1]; s.append(2)
        """,
    "keys_of_every_kind": """
        class K:
            def __init__(self, n): self.n = n
            def __hash__(self): return 1
            def __eq__(self, o): return self.n == o.n
        def f(key):
            d = {"k": 1}
            d[key] = 2
            del d["k"]
            d.clear()
            d[key] = [3]
            d[key].append(4)
            d.pop(key)
            return d
        for k in (frozenset((1,)), (1, (2, 3)), K(1), None, 1.5, f, frozenset((f,))): f(k)
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
    "held_by_two": """
        class O: pass
        def f(d):
            for i in range(2):
                pass; z = {k: v for k, v in d.items()}
            d.setdefault("n", [0])[0] = 3
            o = O(); p = O(); o.l = p.l = d["n"]
            p.l = o.l = None
            e = d["n"]
            e.append(1)
            o.l = p.l = [1]
            o.l = None
            p.l.append(2)
            return d
        f({"k": 1, "n": [1]})
        l = [1]; z = l; z = 1
        l.append(2)
        def grow(l): l.append(1); return l
        def g(a):
            b = a; c = b
            a = 1; c = 2
            grow(b).append(grow([1]))
            d = {}; e = d
            d["n"] = [1]; d["n"].append(2); d = 5
            return b, e
        g([1])
        """,
    "deleted_and_made_anew": """
        class Slotted:
            __slots__ = ("items",)
        class Plain: pass
        def attributes():
            p = Slotted(); p.items = []
            del p.items; p.items = []
            q = Plain(); q.items = []; q.d = {}
            del q.items; q.items = []
            del q.d; q.d = {}
            def get(): return q
            get().items = []
            del get().items
            q.items = []
            d = {"k": []}
            del d["k"]; d["k"] = []
            return q
        attributes()
        NAME = []
        del NAME; NAME = []
        def names():
            global NAME
            del NAME; NAME = []
            del NAME
            NAME = []
        names()
        class Body:
            u = []
            del u; u = []
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
    "yielded_and_changed": """
        import asyncio
        def numbers():
            l = [1]; d = {}
            yield l
            l.append(2)
            got = yield d
            d["k"] = got
            yield (l, d)
            l.append(3)
        def consume():
            i = numbers(); z = next(i); y = [next(i)]
            y.append(i.send(5))
            for w in i: pass
            x = [k for k in numbers()]
            i = numbers(); w = i.send(None); del i
            w.append(4)
            return z, y, x, w
        consume()
        async def later():
            l = [1]
            got = yield l
            l.append(got)
            await asyncio.sleep(0)
            yield [l, 2]
            l.append(3)
        async def drive():
            g = later(); z = []
            z.append(await g.asend(None))
            y = await g.asend(7)
            async for w in g: pass
            return z, y
        asyncio.run(drive())
        """,
    "attributes_of_classes": """
        import collections as module
        module.SHELF = []
        class Registry:
            flags = []
            table = {}
            def __init_subclass__(cls, flag=None):
                Registry.flags.append(flag)
            @classmethod
            def put(cls, flag):
                cls.flags.append(flag)
                cls.table.update(x=flag)
            def add(self, flag):
                self.flags.append(flag)
                self.table.setdefault("l", [])
        def counted(): counted.calls.append(1); return 1
        counted.calls = []
        def use():
            f, t, s, c = Registry.flags, Registry.table, module.SHELF, counted.calls
            class Derived(Registry, flag=3): pass
            Registry.put(1)
            Derived.put(2)
            Derived().add(4)
            module.SHELF.append(5)
            counted(); counted()
            Derived.flags.clear(); Derived.table.clear()
            f = t = None
            return f, t
        use()
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
    "setattr_of_its_own": """
        class Module:
            def __init__(self):
                self.items = []; self.table = {}
            def __setattr__(self, name, value):
                object.__setattr__(self, name, value)
            def __getattr__(self, name):
                raise AttributeError(name)
            def add(self, x):
                self.items.append(x)
                self.table.update(x=x)
                return self
        class Slotted:
            __slots__ = ("items", "n")
            def __setattr__(self, name, value): object.__setattr__(self, name, value)
            def add(self, x):
                self.items.append(x)
                return self
        def use():
            m = Module(); l = m.items; d = m.table
            m.add(1).add(2)
            m.items.append(3)
            s = Slotted(); s.items = k = []
            s.add(4)
            s.items.append(5)
            return l, d, k
        use()
        """,
    "bound_anew_in_one_line": """
        class P:
            def __init__(self): self.items = [1]; self.table = {}
        def names():
            l = [1, 2, 3]; z = l
            l[-1] = 'last'; del l[1:]; l = [1, 2]
            z[0] = 5; y = z; z = None
            k = 1; d = {}; e = d
            d['k'] = k; d = {k: d}
            e.update(a=1); del e
            l.append(3); m = l; l = m[k:]; m = 0
            x = [3, 1]; w = x
            x.sort(); x = x.pop()
            b = c = [1]
            b += [2]; b = 3
            p = q = [1]
            p.append(2); a, p = 1, 2
            return y, d, w, c, q
        def attributes():
            o = P(); y = o.items; w = o
            o.items.append(2); o.items = []
            o.items.append(3); o = P()
            w.table['k'] = 1; t = w.table; w.table = None
            del o.items[:]; i = o.items; del o.items
            return y, w, t, i
        def cells():
            l = [1]; z = l
            def f():
                nonlocal l
                l.append(2); l = [3]
                return l
            f()
            return z
        def handled():
            seen = []
            try: 1 / 0
            except ZeroDivisionError as e: seen.append(e.args); seen = [seen]
            return seen
        G = [1]; H = G
        def module():
            global G
            G.append(3); G = [4]
            return H
        G.append(2); K = G; del G; G = K
        names(); attributes(); cells(); handled(); module()
        """,
    "long_lists_of_containers": """
        def look(l): return len(l)
        def grows():
            l = [[i] for i in range(40)]
            for n in range(60):
                l.append([n])
            x = l[2]; x.append(1)
            l.append([46])
            look(l)
            y = l[50]; y.append(2)
            l.append([47])
            l.sort(key=len)
            l.append([48])
            return l
        def changes():
            l = [[i] for i in range(40)]
            l.append([40])
            l[0].append(5)
            l.append([41])
            l[35].append(6)
            l.append([42])
            l[0] = [9]
            l.append([43])
            del l[0]
            l.append([44])
            l.insert(3, [7])
            l.append([45])
            l.pop(0)
            l.append([46])
            l.reverse()
            l.append([47])
            l += [[48], [49]]
            l.append([50])
            l.extend([[51], [52]])
            l.append(53)
            return l
        class Log:
            def __init__(self): self.rows = []; self.marks = []
            def add(self, n):
                self.rows.append((n, str(n)))
                self.marks.append({'n': n})
                return self
        def logs():
            log = Log()
            for n in range(70):
                log.add(n)
            log.marks[0]['n'] = 7
            log.add(70)
            log.rows[3] = 0
            log.add(71)
            m = log.marks[60]; m['k'] = 1
            log.add(72)
            return log.rows, log.marks
        def mixed():
            l = list(range(60))
            l.append([1]); l.append(2)
            k = [l, 1]
            l.append([3])
            k.append(4)
            l[60].append(5)
            l.append(6)
            return k
        grows(); changes(); logs(); mixed()
        """,
}
