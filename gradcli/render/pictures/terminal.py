"""Pictures in a terminal, by plotille: dots of Braille, eight to a character, in a plain frame."""

from __future__ import annotations

from itertools import pairwise

from gradcli.base.lazy import np
from gradcli.render.numbers import encodable, significant
from gradcli.render.pictures.files import missing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


HEIGHT = 18
WIDEST = 100
NARROWEST = 20
APART_NAMES = "   "
# Marks of the axis of the values are so many times a power of ten apart, and at most so many steps.
STEPS = (1.0, 2.0, 5.0, 10.0)
MOST = 4
# Blue, red, green, magenta, yellow, cyan.
COLORS = ("34", "31", "32", "35", "33", "36")
EMPTY = (" ", "\u2800")
# Curves differ without colour: (sign in the legend, dots that are drawn and left out, in turn; none
# for all dots), then signs on the way.
LINES = (("──", ()), ("╌╌", (6, 4)), ("··", (1, 3)), ("─·", (9, 4, 1, 4)))
SIGNS = "+o*x#@"
# Dots from one sign to the next.
BETWEEN = 12
# What an encoding without Braille has.
MARKS = "*+o#x%"
ARROWS = "→↗↑↖←↙↓↘"
PLAIN_ARROWS = ">/^\\</v\\"
# Contour lines; characters from one arrow to the next, across and up.
LEVELS = 8
APART = (6, 3)


def picture(answer: dict[str, Any], width: int, encoding: str, color: bool) -> str:
    """Return the picture as lines of at most `width` characters. Raises E0811 without plotille."""
    try:
        from plotille import Canvas
    except ImportError:
        raise missing("plotille", "a picture in a terminal") from None
    whole = encodable("⠿", encoding) == "⠿"
    low, high = answer["range"] if answer["field"] is None else [
        answer["over"][1][key] for key in ("low", "high")]
    side = _ticks(low, high)
    margin = max(map(len, side.values()))
    columns = max(NARROWEST, min(width, WIDEST) - margin - 3)
    across = answer["over"][0]

    def canvas() -> Any:
        return Canvas(columns, HEIGHT, across["low"], low, across["high"], high)

    draw = _curves if answer["field"] is None else _field
    layers, legend = draw(canvas, answer, whole)
    rows = _together(layers, color)
    bar, corner, line = "│└─" if encodable("│└─", encoding) == "│└─" else "|+-"
    title = [encodable(text, encoding).center(margin + 2 + columns).rstrip()
             for text in answer["title"].split("\n")]
    body = [f"{side.get(k, ''):>{margin}} {bar}{row}".rstrip() for k, row in enumerate(rows)]
    first, last = (significant(across[key], 4) for key in ("low", "high"))
    room = columns - len(first) - len(last)
    name = encodable(across["name"], encoding)
    below = f"{' ' * (margin + 2)}{first}{name:^{max(room, len(name) + 2)}}{last}"
    names = _folded([(encodable(text, encoding), ink if color else "") for text, ink in legend],
                    max(width, NARROWEST))
    return "\n".join([*title, *body, f"{' ' * (margin + 1)}{corner}{line * columns}", below,
                      *names]) + "\n"


def _ticks(low: float, high: float) -> dict[int, str]:
    """Return a dict from the number of a row to the round number in it."""
    marks, digits = _round(low, high, MOST)
    return {min(int((high - mark) / (high - low) * HEIGHT), HEIGHT - 1): significant(mark, digits)
            for mark in marks}


def _round(low: float, high: float, most: int) -> tuple[list[float], int]:
    """Return round numbers between two others, at most `most` steps apart, and their number of
    digits.
    """
    rough = (high - low) / most
    base = 10.0 ** np.floor(np.log10(rough))
    step = float(next((m * base for m in STEPS if m * base >= rough), rough))
    digits = min(17, max(4, 2 + int(np.log10(max(abs(low), abs(high)) / step))))
    return [k * step for k in range(
        int(np.ceil(low / step)), int(np.floor(high / step)) + 1)], digits


def _folded(legend: Sequence[tuple[str, str]], width: int) -> list[str]:
    """Return the names of a legend beside each other, in as many lines as they need."""
    from textwrap import wrap

    lines = [""]
    room = width
    for text, ink in legend:
        first, *more = wrap(text, width) if len(text) > width else [text]
        if lines[-1] and len(first) + len(APART_NAMES) > room:
            lines.append("")
            room = width
        if lines[-1]:
            lines[-1] += APART_NAMES
            room -= len(APART_NAMES)
        lines[-1] += _painted(first, ink, 2)
        room -= len(first)
        if more:
            lines += more
            room = width - len(more[-1])
    return lines


def _together(layers: Sequence[tuple[Any, str]], color: bool) -> list[str]:
    """Merge the rows of layers, the first on top: all dots are kept, and have the colour of the
    topmost. Empty places are spaces, which are found and copied as such.
    """
    drawn = [(canvas.plot(linesep="\n").split("\n"), ink) for canvas, ink in layers]
    rows = []
    for k in range(HEIGHT):
        row = ""
        for signs in zip(*[texts[k] for texts, _ in drawn], strict=True):
            there = [(sign, drawn[n][1]) for n, sign in enumerate(signs) if sign not in EMPTY]
            if not there:
                row += " "
                continue
            sign, ink = there[0]
            if all("\u2800" < s <= "\u28ff" for s, _ in there):
                bits = 0
                for s, _ in there:
                    bits |= ord(s) - 0x2800
                sign = chr(0x2800 + bits)
            row += _painted(sign, ink if color else "")
        rows.append(row)
    return rows


def _painted(text: str, ink: str, count: int | None = None) -> str:
    """Return the text with its first `count` characters, or all, in a colour."""
    if not ink:
        return text
    count = len(text) if count is None else count
    return f"\x1b[{ink}m{text[:count]}\x1b[39m{text[count:]}"


def _curves(new: Callable[[], Any], answer: dict[str, Any], whole: bool
            ) -> tuple[list[tuple[Any, str]], list[tuple[str, str]]]:
    """Return (canvas, colour) of each curve, the first on top, and the legend: (sign and name,
    colour).
    """
    low, high = answer["range"]
    layers, legend = [], []
    for number, curve in enumerate(answer["curves"]):
        ink = COLORS[number % len(COLORS)]
        sign, pattern, mark = _style(number, whole)
        canvas, drawn = new(), 0.0
        for segment in curve["segments"]:
            points = cut(np.array(segment), low, high)
            for piece in points:
                if len(piece) == 1:
                    canvas.point(*piece[0], marker=mark)
                drawn = _line(canvas, piece, mark, pattern, drawn)
        layers.append((canvas, ink))
        legend.append((f"{sign} {curve['name']}", ink))
    return layers, legend


def _style(number: int, whole: bool) -> tuple[str, tuple[int, ...], str | None]:
    """Return the style of a curve: its sign in the legend, the pattern of its line, and the mark in
    place of a dot.
    """
    if not whole:
        mark = MARKS[number % len(MARKS)]
        return mark * 2, (), mark
    if number < len(LINES):
        return *LINES[number], None
    mark = SIGNS[(number - len(LINES)) % len(SIGNS)]
    return mark * 2, (1, BETWEEN), mark


def _line(canvas: Any, points: Sequence[Sequence[float]], mark: str | None,
          pattern: Sequence[int] = (), drawn: float = 0.0) -> float:
    """Draw straight pieces from point to point, of dots or of marks, all or those of a pattern, and
    return the number of dots of the line so far. drawn: their number before.
    """
    wide, high = (2, 4) if pattern else (1, 1)      # a character of Braille is so many dots
    for (x0, y0), (x1, y1) in pairwise(points):
        if mark is None and not pattern:
            canvas.line(x0, y0, x1, y1)
            continue
        length = max(abs(x1 - x0) * wide * canvas.width / (canvas.xmax - canvas.xmin),
                     abs(y1 - y0) * high * canvas.height / (canvas.ymax - canvas.ymin))
        if pattern:
            # Nearly all pieces are shorter than a dot.
            shares = [(k - drawn) / length for k in range(int(drawn) + 1, int(drawn + length) + 1)
                      if _is_drawn(k, pattern)]
            drawn += length
        else:
            steps = 1 + int(length)
            shares = [k / steps for k in range(steps + 1)]
        for share in shares:
            canvas.point(x0 + share * (x1 - x0), y0 + share * (y1 - y0), marker=mark)
    return drawn


def _is_drawn(k: int, pattern: Sequence[int]) -> bool:
    """Return whether a line with this pattern of dashes has dot k."""
    k %= sum(pattern)
    for place, count in enumerate(pattern):
        if k < count:
            return place % 2 == 0
        k -= count
    return False


def cut(points: Any, low: float, high: float) -> list[list[tuple[float, float]]]:
    """Return the pieces of a curve from `low` to `high`, with the points where it leaves them."""
    pieces: list[list[tuple[float, float]]] = []
    inside = (points[:, 1] >= low) & (points[:, 1] <= high)
    if inside.all():
        return [[(float(x), float(y)) for x, y in points]]
    piece: list[tuple[float, float]] = []
    for k, (x, y) in enumerate(points.tolist()):
        if k and inside[k] != inside[k - 1]:
            x0, y0 = points[k - 1].tolist()
            edge = high if max(y, y0) > high else low
            piece.append((x0 + (x - x0) * ((edge - y0) / (y - y0)), edge))
        if inside[k]:
            piece.append((x, y))
        elif piece:
            pieces.append(piece)
            piece = []
    return [*pieces, piece] if piece else pieces


def _field(new: Callable[[], Any], answer: dict[str, Any], whole: bool
           ) -> tuple[list[tuple[Any, str]], list[tuple[str, str]]]:
    """Return the layers and the legend of a field: contour lines, and the direction of the
    gradient.
    """
    try:
        from contourpy import contour_generator
    except ImportError:
        raise missing("contourpy", "a contour in a terminal") from None
    field = answer["field"]
    low, high = answer["range"]
    values = np.ma.masked_invalid(np.array(field["values"], dtype=float))
    lines = contour_generator(np.array(field["x"]), np.array(field["y"]), values)
    levels, digits = _round(low, high, LEVELS) if high > low else ([low], 4)
    layers = []
    for k, level in enumerate(levels):
        canvas = new()
        layers.append((canvas, COLORS[k % len(COLORS)]))
        for line in lines.lines(level):
            points: Any = np.asarray(line)
            _line(canvas, points.tolist(), None if whole else ".")
    arrows = np.array(field["arrows"], dtype=float).reshape(-1, 4)
    x, y = (np.array(field[key]) for key in ("x", "y"))
    canvas = new()
    every_x = APART[0] * (x[-1] - x[0]) / canvas.width
    every_y = APART[1] * (y[-1] - y[0]) / canvas.height
    said = set()
    for ax, ay, dx, dy in arrows.tolist():
        at = int((ax + 0.5 * dx - x[0]) / every_x), int((ay + 0.5 * dy - y[0]) / every_y)
        if at in said:
            continue
        said.add(at)
        turn = np.arctan2(dy / (y[-1] - y[0]), dx / (x[-1] - x[0]))
        sign = (ARROWS if whole else PLAIN_ARROWS)[round(float(turn) / (np.pi / 4)) % 8]
        canvas.text(ax + 0.5 * dx, ay + 0.5 * dy, sign)
    shown = ", ".join([significant(level, digits) for level in levels])
    return [(canvas, ""), *layers], [
        (f"{field['of']} = {shown}", ""), ("arrows: the direction of its gradient", "")]
