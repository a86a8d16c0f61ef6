"""The steps of a derivative: the rows that all formats print, and the formats of one line a row.

Two walks: forwards the values (and the tangents, with --mode forward), backwards the adjoints, each
beside the local derivatives that it is made with. ∂ is the derivative of one operation, d that of
all operations in between. `plain` has a name and a number on each line. CSV has a row for each
local derivative.
"""

from __future__ import annotations

from itertools import zip_longest

from gradcli.render import entries, layout, numbers
from gradcli.render.numbers import encodable
from gradcli.render.remarks import below
from gradcli.render.terminal import RULE, View, widest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    Step = dict[str, Any]
    Show = Callable[[Any], str]
    Symbol = Callable[[str, str], str]
    # Cells of a table; each has one or more lines.
    Row = list[list[str]]

EXACT = 17          # digits that tell every number from all others
# Steps of a table; of more, as many as this are shown, half of them at each end.
SHOWN = 60
SMALL = 4           # numbers of an array that are written out
LARGER = 16         # the same where all is asked for
TERMS = 4           # terms of a sum that are written out
NONE = "None"
MARKS = {"constant": " (constant)", "cut": " (no derivative)", "behind": " (no derivative)"}
ON_PATHS = ("input", "step", "cut")
SIGN = "∂"


def symbol_of(encoding: str) -> Symbol:
    """How a local derivative is written: `∂v1/∂x`, or `part(v1, x)` where there is no such sign."""
    if encodable(SIGN, encoding) == SIGN:
        return lambda of, wrt: f"{SIGN}{numbers.closed(of)}/{SIGN}{numbers.closed(wrt)}"
    return lambda of, wrt: f"part({of}, {wrt})"


def legend(result: dict[str, Any], symbol: Symbol) -> str:
    """Which symbol is which, on one line; nothing where there are no local derivatives."""
    for step in result["steps"]:
        for partial in step["partials"]:
            whole = numbers.first_derivative(result["of"], partial["wrt"])
            return (f"{symbol(step['name'], partial['wrt'])} is the derivative of one operation,"
                    f" {whole} that of all together")
    return ""


# --- the two tables, for people ---------------------------------------------------------------


def some(steps: Sequence[Step], rows: Callable[[Step], list[Row]], count: int, whole: bool
         ) -> list[Row]:
    """The rows of all steps; of more than are shown the first and the last ones, and how many are
    left out between them. count: of the rows in all.
    """
    if whole or count <= SHOWN:
        return [row for step in steps for row in rows(step)]
    half = SHOWN // 2
    first, last = [[row for step in end for row in rows(step)]
                   for end in (steps[:half], steps[-half:])]
    gap = [[""] for _ in first[0]]
    gap[0], gap[1] = ["..."], [f"{count - 2 * half} more; -v shows all"]
    return [*first[:half], gap, *last[-half:]]


def short(digits: int, whole: bool = False) -> Show:
    """A number to so many digits, a small array in full, else its shape. whole: say more."""
    most = LARGER if whole else SMALL

    def show(value: Any) -> str:
        if layout.count(value) > most:
            return layout.summary(value, digits)[0]
        return layout.inline(value, digits)

    return show


def values(result: dict[str, Any], show: Show, whole: bool) -> list[Row]:
    """Step, operation, formula so far, value; what an operand is in place of the operation."""
    return some(result["steps"], lambda step: [[
        [named(result, step)], [step["operation"] or step["kind"]],
        ["" if step["operation"] is None else step["formula"]],
        [show(step["value"]) + (MARKS.get(step["kind"], "") if step["operation"] else "")]]],
        len(result["steps"]), whole)


def named(result: dict[str, Any], step: Step) -> str:
    """`v3 = f` for the step that is the target."""
    if [step["name"]] == result["result"] and step["name"] != result["of"]:
        return f"{step['name']} = {result['of']}"
    return str(step["name"])


def backward(result: dict[str, Any], show: Show, symbol: Symbol, whole: bool) -> list[Row]:
    """Step, adjoint, local derivatives, their rules; the last step first."""
    walked = [step for step in reversed(result["steps"]) if step["kind"] in ON_PATHS]
    return some(walked, lambda step: [[
        [named(result, step)], [show(step["adjoint"])], *locals_of(step, show, symbol)]],
        len(walked), whole)


def forward(result: dict[str, Any], show: Show, symbol: Symbol, whole: bool) -> list[Row]:
    """Step, local derivatives, their rules, and the derivative of the step in each source."""
    walked = [step for step in result["steps"] if step["kind"] in ON_PATHS]
    return some(walked, lambda step: [[
        [named(result, step)], *locals_of(step, show, symbol),
        *[[_tangent(result, step, t, show)] for t in step["tangents"].values()]]],
        len(walked), whole)


def _tangent(result: dict[str, Any], step: Step, tangent: Any, show: Show) -> str:
    """Nothing where a source has no part in a step; at the end that is None."""
    return "" if tangent is None and step["name"] not in result["result"] else show(tangent)


def locals_of(step: Step, show: Show, symbol: Symbol) -> tuple[list[str], list[str]]:
    """The local derivatives of a step, and the rule of each."""
    found = [(local(step, p, show, symbol), p["rule"]) for p in step["partials"]] or [("", "")]
    return [text for text, _ in found], [rule for _, rule in found]


def local(step: Step, partial: dict[str, Any], show: Show, symbol: Symbol) -> str:
    """`∂v1/∂x = 2*x = 3`."""
    parts = [symbol(step["name"], partial["wrt"])]
    if partial["formula"] is not None:
        parts.append(partial["formula"])
    if partial["value"] is not None and show(partial["value"]) != parts[-1]:
        parts.append(show(partial["value"]))
    if len(parts) == 1:
        return parts[0] + (f" = {NONE}" if cut(partial) else "")
    return " = ".join(parts)


def cut(partial: dict[str, Any]) -> bool:
    """Whether no derivative passes there."""
    return bool(partial["rule"].startswith("no derivative"))


def chain(result: dict[str, Any], source: dict[str, Any], show: Show, symbol: Symbol
          ) -> list[str]:
    """The chain rule for a source, written out: in symbols, in numbers where all are single ones,
    and the sum; nothing where a derivative is missing.
    """
    step = next((s for s in result["steps"] if s["name"] == source["wrt"]), None)
    if step is None or source.get("gradient") is None or not step.get("through"):
        return []
    of, through = result["of"], step["through"]
    left = numbers.first_derivative(of, source["wrt"])
    rest = f" + {len(through) - TERMS} more terms" if len(through) > TERMS else ""
    lines = [f"{left} = " + " + ".join([
        f"{_outer(of, t)}{symbol(t['step'], source['wrt'])}"
        for t in through[:TERMS]]) + rest]
    adjoints = {s["name"]: s["adjoint"] for s in result["steps"]}
    pairs = [(adjoints[t["step"]], t["value"]) for t in through]
    if not rest and all(isinstance(n, int | float) for pair in pairs for n in pair):
        products = " + ".join([f"{_factor(show(a))}*{_factor(show(b))}" for a, b in pairs])
        lines.append(f"{' ' * len(left)} = {products}")
    lines.append(f"{' ' * len(left)} = {show(source['gradient'])}")
    return lines


def _outer(of: str, through: dict[str, Any]) -> str:
    return "" if through["step"] == of else f"{numbers.first_derivative(of, through['step'])} * "


def _factor(text: str) -> str:
    return f"({text})" if text.startswith("-") else text


def remarks(answer: dict[str, Any], result: dict[str, Any]) -> entries.Named:
    """What can have reasons and notes."""
    return entries.named("jac" if answer["mode"] == "forward" else "grad", result)


def title(result: dict[str, Any], show: Show) -> str:
    """`f = 2.24436 at x = 1.5`."""
    at = ", ".join([f"{s['wrt']} = {show(s['at'])}" for s in result["sources"]
                    if s["at"] is not None])
    return f"{result['of']} = {show(result['value'])}" + (f" at {at}" if at else "")


WITHOUT = "no step: it is made of no operation"


# --------------------------------------------------------------------------------------------------
# The steps of a derivative as tables for a terminal.

GAP = 3             # columns between columns
LEAST = 12          # columns for a formula, however narrow the terminal
HEAD = 16           # columns for a head, unless what stands below is wider
BREAKS = " ,*/"     # where a formula is broken, behind the character


def tables(answer: dict[str, Any], digits: int, width: int, encoding: str, whole: bool
           ) -> list[Any]:
    """Renderables for `gradcli.render.layouts.derivatives.print_parts`. whole: all steps, however
    many."""
    view = View(answer, digits, width, encoding, whole)
    parts: list[Any] = []
    for result in answer["results"]:
        if parts:
            parts.append(view.text(""))
        parts += _result(view, answer, result)
    return parts


def _result(view: View, answer: dict[str, Any], result: dict[str, Any]) -> Iterator[Any]:
    show, symbol = short(view.digits, view.whole), symbol_of(view.encoding)
    yield view.text(title(result, show), "bold")
    if not result["steps"]:
        yield view.text(WITHOUT)
    elif answer["mode"] == "forward":
        yield from _values(view, result)
        yield view.text("")
        heads = [f"d/d{s['wrt']}" for s in result["sources"]]
        yield _table(view, ("step", "local derivative", "rule", *heads),
                     forward(result, show, symbol, view.whole), (1, 2))
    else:
        yield from _values(view, result)
        yield view.text("")
        yield _table(view, ("step", "adjoint", "local derivative", "rule"),
                     backward(result, show, symbol, view.whole), (2, 3))
        for source in result["sources"]:
            lines = chain(result, source, show, symbol)
            if lines:
                yield view.text("")
                indent = lines[0].index(" = ") + 3
                yield view.cell([
                    text for line in lines for text in _hung(line, view.width, indent)])
    told = legend(result, symbol)
    if told:
        yield view.text("")
        yield view.cell(fold(told, view.width))
    yield from below(view, remarks(answer, result))


def _values(view: View, result: dict[str, Any]) -> Iterator[Any]:
    yield view.text("")
    yield _table(view, ("step", "operation", "formula so far", "value"),
                 values(result, short(view.digits, view.whole), view.whole), (1, 2))


def _table(view: View, heads: Sequence[str], rows: Sequence[Row], soft: tuple[int, int]) -> Any:
    """The rows below their heads; the two soft columns are folded where the width asks for it."""
    columns = [[list(map(view.safe, row[k])) for row in rows] for k in range(len(heads))]
    names = [view.safe(head) for head in heads]
    widths = [max([min(widest([name]), HEAD), *map(widest, cells)])
              for name, cells in zip(names, columns, strict=True)]
    room = view.width - GAP * (len(heads) - 1) - sum(
        [w for k, w in enumerate(widths) if k not in soft])
    first, second = (widths[k] for k in soft)
    if first + second > room:
        # The shorter one keeps its width as long as the other has half of the room.
        smaller = min(first, second, max(LEAST, room // 2))
        larger = max(LEAST, room - smaller)
        first, second = (smaller, larger) if first <= second else (larger, smaller)
    limits = {**dict(enumerate(widths)), soft[0]: first, soft[1]: second}
    pieces = [[name] if k in soft else fold(name, limits[k]) for k, name in enumerate(names)]
    lines = list(map(list, zip_longest(*pieces, fillvalue="")))
    high = len(lines)
    for row in zip(*columns, strict=True):
        # The lines of a cell stand beside those of the others, folded or not.
        for line in range(max(map(len, row))):
            pieces = [fold(cell[line], limits[k]) if line < len(cell) else [""]
                      for k, cell in enumerate(row)]
            lines += map(list, zip_longest(*pieces, fillvalue=""))
    wide = [max([widest([line[k]]) for line in lines]) for k in range(len(heads))]
    texts = [(" " * GAP).join([text + " " * (w - widest([text]))
                               for text, w in zip(line, wide, strict=True)]) for line in lines]
    rule = RULE if view.fancy else "-"
    # One text: a table of rich takes 3 ms for each of its rows.
    return view.cell(
        [*texts[:high], rule * (sum(wide) + GAP * (len(wide) - 1)), *texts[high:]])


def fold(text: str, width: int) -> list[str]:
    """A formula in lines of at most `width`, broken behind a blank, comma or operator."""
    lines = []
    while widest([text]) > width:
        end = max(1, width)
        while widest([text[:end]]) > width and end > 1:
            end -= 1
        at = max([text.rfind(c, 0, end) for c in BREAKS]) + 1
        at = at if at >= end // 2 else end
        lines.append(text[:at].rstrip())
        text = text[at:].lstrip()
    return [*lines, text]


def _hung(line: str, width: int, indent: int) -> list[str]:
    """A line of the chain rule, what does not fit below its right side."""
    indent = min(indent, width // 3)
    first, *more = fold(line, width)
    if not more:
        return [first]
    return [first, *[" " * indent + text for text in fold(" ".join(more), width - indent)]]
