"""Pictures in a terminal, by plotille: dots of Braille, eight to a character, in a plain frame."""

from __future__ import annotations

from gradcli.ops.lazy import np
from gradcli.plotting.drawing import missing
from gradcli.render.numbers import significant
from gradcli.render.visible import encodable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.answers.ask import Answer

HEIGHT = 18
WIDEST = 100
NARROWEST = 20
COLORS = ("blue", "red", "green", "magenta", "yellow", "cyan")
# What an encoding without Braille has.
MARKS = "*+o#x%"
ARROWS = "→↗↑↖←↙↓↘"
PLAIN_ARROWS = ">/^\\</v\\"
# Contour lines; characters from one arrow to the next, across and up.
LEVELS = 8
APART = (6, 3)


def picture(answer: Answer, width: int, encoding: str, color: bool) -> str:
    """The picture as lines of at most `width` characters. Raises E0811 without plotille."""
    try:
        from plotille import Canvas
    except ImportError:
        raise missing("plotille", "a picture in a terminal") from None
    whole = _has(encoding, "⠿")
    low, high = answer["range"] if answer["field"] is None else [
        answer["over"][1][key] for key in ("low", "high")]
    middle = 0.5 * (low + high)
    ticks = [significant(float(v), 4) for v in (
        low, middle if abs(middle) > 1e-9 * (high - low) else 0.0, high)]
    margin = max(map(len, ticks))
    columns = max(NARROWEST, min(width, WIDEST) - margin - 3)
    across = answer["over"][0]
    canvas = Canvas(columns, HEIGHT, across["low"], low, across["high"], high, mode="names")
    if answer["field"] is None:
        legend = _curves(canvas, answer, whole, color)
    else:
        legend = _field(canvas, answer, whole, color)
    # Empty places are spaces, which are found and copied as such.
    rows = canvas.plot(linesep="\n").replace("\u2800", " ").split("\n")
    bar, corner, line = ("│", "└", "─") if _has(encoding, "│└─") else ("|", "+", "-")
    title = [encodable(text, encoding).center(margin + 2 + columns).rstrip()
             for text in answer["title"].split("\n")]
    side = {0: ticks[2], HEIGHT // 2: ticks[1], HEIGHT - 1: ticks[0]}
    body = [f"{side.get(k, ''):>{margin}} {bar}{row}".rstrip() for k, row in enumerate(rows)]
    first, last = (significant(across[key], 4) for key in ("low", "high"))
    room = columns - len(first) - len(last)
    name = encodable(across["name"], encoding)
    below = f"{' ' * (margin + 2)}{first}{name:^{max(room, len(name) + 2)}}{last}"
    return "\n".join([*title, *body, f"{' ' * (margin + 1)}{corner}{line * columns}", below,
                      *[encodable(text, encoding) if not color else text for text in legend]
                      ]) + "\n"


def _has(encoding: str, text: str) -> bool:
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _curves(canvas: Any, answer: Answer, whole: bool, color: bool) -> list[str]:
    """Draw the curves, the first on top; what each is called."""
    from plotille import color as colored

    low, high = answer["range"]
    legend = []
    for number, curve in reversed(list(enumerate(answer["curves"]))):
        ink = COLORS[number % len(COLORS)] if color else None
        mark = None if whole else MARKS[number % len(MARKS)]
        for segment in curve["segments"]:
            points = cut(np.array(segment), low, high)
            for piece in points:
                if len(piece) == 1:
                    canvas.point(*piece[0], color=ink, marker=mark)
                _line(canvas, piece, ink, mark)
        sign = "──" if whole else (mark or "") * 2
        legend.append((colored(sign, fg=ink, mode="names") if color else sign) + f" {curve['name']}")
    return ["   ".join(reversed(legend))]


def _line(canvas: Any, points: Sequence[Sequence[float]], color: str | None, mark: str | None
          ) -> None:
    """Straight pieces from point to point, of dots or of marks."""
    for (x0, y0), (x1, y1) in zip(points[:-1], points[1:], strict=True):
        if mark is None:
            canvas.line(x0, y0, x1, y1, color=color)
            continue
        steps = 1 + int(max(abs(x1 - x0) * canvas.width / (canvas.xmax - canvas.xmin),
                            abs(y1 - y0) * canvas.height / (canvas.ymax - canvas.ymin)))
        for k in range(steps + 1):
            share = k / steps
            canvas.point(x0 + share * (x1 - x0), y0 + share * (y1 - y0), color=color, marker=mark)


def cut(points: Any, low: float, high: float) -> list[list[tuple[float, float]]]:
    """The pieces of a curve from `low` to `high`, with the points where it leaves them."""
    pieces: list[list[tuple[float, float]]] = []
    inside = (points[:, 1] >= low) & (points[:, 1] <= high)
    if inside.all():
        return [[(float(x), float(y)) for x, y in points]]
    piece: list[tuple[float, float]] = []
    for k, (x, y) in enumerate(points.tolist()):
        if k and inside[k] != inside[k - 1]:
            x0, y0 = points[k - 1].tolist()
            edge = high if max(y, y0) > high else low
            piece.append((x0 + (x - x0) * (edge - y0) / (y - y0), edge))
        if inside[k]:
            piece.append((x, y))
        elif piece:
            pieces.append(piece)
            piece = []
    return [*pieces, piece] if piece else pieces


def _field(canvas: Any, answer: Answer, whole: bool, color: bool) -> list[str]:
    """Contour lines, and in which direction the gradient points."""
    try:
        from contourpy import contour_generator
    except ImportError:
        raise missing("contourpy", "a contour in a terminal") from None
    field = answer["field"]
    low, high = answer["range"]
    values = np.ma.masked_invalid(np.array(field["values"], dtype=float))
    lines = contour_generator(np.array(field["x"]), np.array(field["y"]), values)
    levels = [low + (high - low) * (k + 0.5) / LEVELS for k in range(LEVELS)]
    for k, level in enumerate(levels):
        ink = COLORS[k % len(COLORS)] if color else None
        for line in lines.lines(level):
            points: Any = np.asarray(line)
            _line(canvas, points.tolist(), ink, None if whole else ".")
    arrows = np.array(field["arrows"], dtype=float).reshape(-1, 4)
    x, y = (np.array(field[key]) for key in ("x", "y"))
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
    shown = ", ".join([significant(float(level), 3) for level in levels])
    return [f"{field['of']} = {shown}; arrows: the direction of its gradient"]
