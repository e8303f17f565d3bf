"""Draws the README's picture of `filmstrip step`: records the README's example, drives
the real program in tmux and writes what the terminal shows as an SVG.

    .venvs/3.12/bin/python tools/screenshot.py docs/images/step.svg
"""

from __future__ import annotations

import html
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unicodedata

ROOT = pathlib.Path(__file__).resolve().parents[1]
COLUMNS, ROWS = 110, 32
# To the exception, to its caller, and the writes of the loop's variable.
KEYS = ["x", "h", "Tab", "Tab", "v"]

CELL, LINE = 8.4, 18.0
PAPER, INK, FAINT = "#1d1f21", "#d6d8d6", "#868c92"
PALETTE = ["#1d1f21", "#e06c75", "#98c379", "#e5c07b", "#6f9fd8", "#c678dd", "#56b6c2"]
PALETTE += ["#d6d8d6"]

SGR = re.compile(r"\x1b\[([\d;]*)m")


class Style:
    def __init__(self) -> None:
        self.ink: str | None = None
        self.paper: str | None = None
        self.bold = self.dim = self.reverse = False

    def take(self, codes: str) -> None:
        for code in map(int, (codes or "0").split(";")):
            if code == 0:
                self.__init__()  # type: ignore[misc]
            elif code == 1:
                self.bold = True
            elif code == 2:
                self.dim = True
            elif code in (7, 27):
                self.reverse = code == 7
            elif 30 <= code <= 37:
                self.ink = PALETTE[code - 30]
            elif 40 <= code <= 47:
                self.paper = PALETTE[code - 40]
            elif code == 39:
                self.ink = None
            elif code == 49:
                self.paper = None

    def colors(self) -> tuple[str, str]:
        ink = self.ink or (FAINT if self.dim else INK)
        paper = self.paper or PAPER
        return (paper, ink) if self.reverse else (ink, paper)


def width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def draw_line(line: str, row: int, style: Style) -> list[str]:
    """The pieces of one row: a rectangle where the paper differs, then the text."""
    drawn = []
    column = 0
    for index, piece in enumerate(SGR.split(line)):
        if index % 2:
            style.take(piece)
            continue
        ink, paper = style.colors()
        x, y, cells = 10 + column * CELL, 10 + row * LINE, width(piece)
        column += cells
        if paper != PAPER and cells:
            drawn.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{cells * CELL:.1f}" '
                f'height="{LINE}" fill="{paper}"/>'
            )
        text = piece.strip()
        if not text:
            continue
        x += (len(piece) - len(piece.lstrip())) * CELL
        # Blanks in a row would be drawn as one.
        shown = html.escape(text).replace(" ", "\u00a0")
        weight = ' font-weight="bold"' if style.bold else ""
        drawn.append(
            f'<text x="{x:.1f}" y="{y + 13:.1f}" fill="{ink}"{weight} '
            f'textLength="{width(text) * CELL:.1f}">{shown}</text>'
        )
    return drawn


def draw(screen: str) -> str:
    wide, high = 20 + COLUMNS * CELL, 20 + ROWS * LINE
    style = Style()
    rows = screen.rstrip("\n").split("\n")
    body = [
        piece for row, line in enumerate(rows) for piece in draw_line(line, row, style)
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:.0f}" '
            f'height="{high:.0f}" viewBox="0 0 {wide:.0f} {high:.0f}" '
            'font-family="ui-monospace, DejaVu Sans Mono, Menlo, Consolas, monospace" '
            'font-size="13.5" role="img" '
            'aria-label="filmstrip step: source, stack, variables, history">',
            f'<rect width="100%" height="100%" rx="6" fill="{PAPER}"/>',
            *body,
            "</svg>\n",
        ]
    )


def capture(folder: pathlib.Path) -> str:
    """What the terminal shows, with its colours."""

    def tmux(*words: str) -> str:
        command = ["tmux", "-u", "-S", f"{folder}/tmux", "-f", "/dev/null", *words]
        return subprocess.run(
            command, check=True, stdout=subprocess.PIPE, text=True
        ).stdout

    filmstrip = pathlib.Path(sys.executable).with_name("filmstrip")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    example = re.search(r"```python\n(# shop\.py\n.*?)```", readme, re.DOTALL)
    if example is None:
        raise SystemExit("README.md has no shop.py")
    (folder / "shop.py").write_text(example[1], encoding="utf-8")
    subprocess.run([filmstrip, "run", "shop.py"], cwd=folder, check=True)
    tmux(
        *("new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), "-c", str(folder)),
        f"LC_ALL=C.UTF-8 TERM=screen-256color {filmstrip} step shop.film",
    )
    try:
        time.sleep(1)
        for key in KEYS:
            tmux("send-keys", key)
            time.sleep(0.2)
        return tmux("capture-pane", "-p", "-e", "-N")
    finally:
        tmux("kill-server")


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        picture = draw(capture(pathlib.Path(folder)))
    pathlib.Path(sys.argv[1]).write_text(picture, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
