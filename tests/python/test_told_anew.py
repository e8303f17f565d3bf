"""Containers that are written piece by piece.

What one holds at a moment is its last record and the stores since. The recorder tells it
anew now and then (capture_stores.c), so that a late moment does not need the pieces of
the whole recording; what is shown is the same either way, and how many items it has too.
"""

from __future__ import annotations

import json
import textwrap

import pytest

import filmstrip
from filmstrip import _reader, _recorder

PROGRAM = """
    def turns():
        rows = [{"n": i, "all": 0} for i in range(6)]
        lists = [[0, 0, 0] for _ in range(3)]
        kept = {}
        for step in range(60):
            row = rows[step % 6]
            row["n"] = step
            row[step % 4] = str(step)
            lists[step % 3][step % 2] = step
            kept[step] = step
            if step % 7 == 0:
                del row[step % 4]; row["gone"] = 1
            rows[-1]["a"] = 1; rows[-1]["a"] = 2
        return rows
    turns()
"""


def record(path, film, bits):
    code = compile(textwrap.dedent(PROGRAM), str(path), "exec")
    path.write_text(textwrap.dedent(PROGRAM))
    _recorder._told_anew(bits)
    try:
        with filmstrip.record(film, targets=[str(path)], force=True):
            exec(code, {"__name__": "turns"})
    finally:
        _recorder._told_anew(-1)


def moments(film):
    with filmstrip.open(film) as opened:
        events = opened.info.events
    reader = _reader.Reader(str(film))
    answers = []
    for event in range(events):
        request = {"q": "moment", "m": f"1:{event}", "with": ["locals"]}
        answers.append(json.loads(reader.query(json.dumps(request))).get("locals"))
    return answers


def test_what_is_told_anew_shows_the_same(tmp_path):
    path = tmp_path / "turns.py"
    films = []
    for bits in (0, 40):
        film = tmp_path / f"{bits}.film"
        record(path, film, bits)
        films.append(film)
    often, never = map(moments, films)
    assert sum(shown is not None for shown in often) > 300
    assert often == never
    # There are records in one of them that the other does not have.
    often_bytes, never_bytes = (film.read_bytes().rstrip(b"\0") for film in films)
    assert len(often_bytes) > len(never_bytes) + 200


@pytest.mark.parametrize("items", [10, 100, 20_000])
def test_a_dict_has_as_many_items_as_it_had(tmp_path, items):
    path = tmp_path / "grows.py"
    path.write_text(
        textwrap.dedent(f"""
            def main():
                d = {{i: i for i in range({items})}}
                shown = d
                d["new"] = 1
                d["other"] = 2
                d["new"] = 3
                d[0] = 4
                del d[1]
                del d["other"]
                d["last"] = 5
                end = 1
            main()
        """)
    )
    film = tmp_path / "grows.film"
    with filmstrip.record(film, targets=[str(path)]):
        exec(compile(path.read_text(), str(path), "exec"), {"__name__": "grows"})
    grown = {5: 0, 6: 1, 7: 2, 8: 2, 9: 2, 10: 1, 11: 0, 12: 1}
    with filmstrip.open(film) as opened:
        for line, more in grown.items():
            (told,) = opened.hits("grows.py", line, ["len(d)"])
            assert told[1] == [str(items + more)], line
