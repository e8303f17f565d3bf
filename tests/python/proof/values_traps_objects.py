"""Small programs, one for each trap of recording what becomes of objects. Each is compared
with the truth like a generated one."""

TRAPS = {
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
        def starred(l, m, held):
            b, *l[:1], n = 1, 2, len(m); l = m
            return b
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
        o = P()
        names(); attributes(); cells(); handled(); module(); starred(o.items, [], o)
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
    "stored_within": """
        class O: pass
        def same(v): return 0
        def in_list(l, o):
            k = [1]
            l.append(k)
            k[0] = 8
            l[-1] = 'last'
            l.sort(key=same)
            return l
        def in_one_line(l, o):
            m = l
            m.append([1]); m[-1][0] = 8
            try: l[-1] = 'last'; o.bump(1).x = 1
            except AttributeError: pass
            return l
        def deleted(l, o):
            k = [1]
            l[1:] = [k, 5]
            k.append(2)
            del l[0]; del l[0]
            l.sort(key=same)
            return l
        def in_dict(d, o):
            k = {}
            d['k'] = k
            k['x'] = 1
            d['k'] = 2
            d.update()
            return d
        in_list([7, 3], O()); in_one_line([7, 3], O()); deleted([7, 3], O())
        in_dict({}, O())
        """,
}
