"""The result of a check for a person at a terminal, by rich.

    wrong: at x = 1.3 this is -0.119136, and should be -0.309752
    read as   cos(x^2)
    mistake   missing_chain_factor

    point     expected      got
    ─────────────────────────────────
    x = 1.3   -0.309752   -0.119136

Green is right, red wrong, yellow what a person has to look at.
"""

from __future__ import annotations

from gradcli.render import numbers
from gradcli.render.layouts.check import components
from gradcli.render.layouts.derivatives import print_parts
from gradcli.render.terminal import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

STYLES = {"correct": "bold green", "wrong": "bold red"}
OTHER = "bold yellow"
# Of two values that look alike, neither is what is wrong.
NEAR = 1e-6


def render(result: dict[str, Any], *, width: int, color: bool, digits: int, encoding: str,
           quiet: bool = False, verbose: bool = False) -> str:
    """The result as text, no wider than `width` if that is possible."""
    from io import StringIO

    buffer = StringIO()
    view = View({}, digits, width, encoding, whole=True)
    print_parts(page(view, result, quiet, verbose), buffer, width, color)
    return buffer.getvalue()


def page(view: View, result: dict[str, Any], quiet: bool = False, verbose: bool = False
         ) -> Iterator[Any]:
    """Renderables: the verdict, what was read, the point that shows it."""
    style = STYLES.get(result["verdict"], OTHER)
    if quiet:
        yield view.text(result["verdict"], style)
        return
    yield verdict(view, result)
    yield from facts(view, _facts(result, verbose))
    if result["witness"]:
        yield view.text("")
        yield witness(view, result["witness"])


def verdict(view: View, result: dict[str, Any]) -> Any:
    """`wrong: at x = 2 this is 3, and should be 4`; the verdict alone where that is all."""
    from rich.text import Text

    word = result["verdict"]
    style = STYLES.get(word, OTHER)
    message = result["message"] or ""
    if word == "correct" and message.startswith("right"):
        message = message[len("right"):].lstrip(":; ")
    line = Text.assemble((word, style), overflow="fold")
    if message:
        line.append(": ")
        line.append_text(view.text(message))
    return line


def _facts(result: dict[str, Any], verbose: bool) -> Iterator[tuple[str, str]]:
    if result["read_as"] is not None:
        yield "read as", result["read_as"]
    if result["mistake"] is not None:
        sure = f" ({result['confidence']} confidence)" if result["confidence"] else ""
        yield "mistake", result["mistake"] + sure
    if result["also"]:
        yield "also", ", ".join(result["also"])
    if verbose:
        for text in result["alternatives"]:
            yield "or read as", text
        counts = result["points"]
        yield "points", ", ".join([f"{counts[name]} {word}" for name, word in (
            ("usable", "usable"), ("agree", "agree"), ("disagree", "disagree"),
            ("undefined", "undefined"))])
        if result.get("ms") is not None:
            yield "time", f"{result['ms']:.3g} ms"


def facts(view: View, lines: Iterator[tuple[str, str]]) -> Iterator[Any]:
    """Names and texts below each other; nothing if there are none."""
    from rich.table import Table

    found = list(lines)
    if found:
        grid = Table.grid(padding=(0, 3, 0, 0))
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        for name, text in found:
            grid.add_row(view.text(name), view.text(text))
        yield grid


def witness(view: View, found: dict[str, Any]) -> Any:
    """The point, and of each component the right value and the one given."""
    rows = list(components(found))
    point = [f"{name} = {numbers.significant(value, view.digits)}"
             for name, value in found["at"].items()]
    columns = []
    if point:
        folded = view.name(", ".join(point), max(12, view.width // 2))
        columns.append((["point"], [(folded if at == 0 else [""], "") for at in range(len(rows))]))
    if any(index for index, _, _ in rows):
        columns.append((["component"], [([index], "") for index, _, _ in rows]))
    digits = [numbers.apart(one[1], one[2], view.digits) for one in rows]
    for at, title in ((1, "expected"), (2, "got")):
        texts = numbers.aligned([numbers.significant(one[at], shown) for one, shown in zip(
            rows, digits, strict=True)])
        columns.append(([title], [
            ([text.rstrip()], "red" if at == 2 and _differ(one[1], one[2]) else "")
            for text, one in zip(texts, rows, strict=True)]))
    return view.table(columns)


def _differ(expected: Any, got: Any) -> bool:
    if not isinstance(expected, float) or not isinstance(got, float):
        return bool(expected != got)
    near: bool = abs(expected - got) <= NEAR * max(abs(expected), abs(got))
    return not near
