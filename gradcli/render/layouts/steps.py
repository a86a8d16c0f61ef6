"""The steps of a derivative as pages.

Two walks: forwards the values (and the tangents, with --mode forward), backwards the adjoints, each
beside the local derivatives that it is made with. ∂ is the derivative of one operation, d that of
all operations in between. For shells a name and a number on each line, for spreadsheets a row for
each local derivative, in LaTeX one tabular.
"""

from __future__ import annotations

from gradcli.render import entries, numbers
from gradcli.render.latex import derivative, escaped, name, number
from gradcli.render.numbers import encodable
from gradcli.render.page import Causes, Code, Equations, Page, Paragraph, Phrase, Table, Title
from gradcli.render.view import brief

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from gradcli.render.page import Block
    from gradcli.render.view import View

    Step = dict[str, Any]
    Show = Callable[[Any], str]
    Symbol = Callable[[str, str], str]
    # Cells of a table; each has one or more lines.
    Row = list[tuple[str, ...]]

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


def pages(answer: dict[str, Any], whole: bool = False, encoding: str = "utf-8") -> list[Page]:
    """Return a page for each result. whole: all steps, however many."""
    symbol, records = symbol_of(encoding), _records(answer)
    several = len(answer["results"]) > 1
    return [Page(fields=_fields(result, symbol, f"{result['of']}: " if several else ""),
                 records=records if at == 0 else (), blocks=_document(answer, result, whole),
                 screen=_screen(answer, result), latex=_latex(answer, result, whole))
            for at, result in enumerate(answer["results"])]


def _document(answer: dict[str, Any], result: dict[str, Any], whole: bool) -> Iterator[Block]:
    yield from _blocks(answer, result, short(EXACT, whole), symbol_of("utf-8"), whole)
    if result["steps"]:
        yield Causes(remarks(answer, result), answer)


def _screen(answer: dict[str, Any], result: dict[str, Any]) -> Callable[[View], Iterator[Block]]:
    def screen(view: View) -> Iterator[Block]:
        yield from _blocks(answer, result, short(view.digits, view.whole), symbol_of(view.encoding),
                         view.whole)
        yield Causes(remarks(answer, result), answer)

    return screen


def _blocks(answer: dict[str, Any], result: dict[str, Any], show: Show, symbol: Symbol, whole: bool
          ) -> Iterator[Block]:
    """Yield both passes as tables, and the chain rule for each source."""
    yield Title(Code(title(result, show)))
    if not result["steps"]:
        yield Paragraph("no step: it is made of no operation")
        return
    yield _table("lllr", ("step", "operation", "formula so far", "value"), (0, 1, 2), (1, 2),
                 values(result, show, whole))
    if answer["mode"] == "forward":
        heads = [Code(f"d/d{s['wrt']}") for s in result["sources"]]
        yield _table("lll" + "r" * len(heads), ("step", "local derivative", "rule", *heads),
                     (0, 1), (1, 2), forward(result, show, symbol, whole))
    else:
        yield _table("lrll", ("step", "adjoint", "local derivative", "rule"), (0, 2), (2, 3),
                     backward(result, show, symbol, whole))
        for source in result["sources"]:
            lines = chain(result, source, show, symbol)
            if lines:
                yield Equations(list(map(Phrase, lines, _equations(result, source))), gap=True)
    explained = legend(result, symbol)
    if explained:
        yield Paragraph(Phrase(explained), gap=True)


def _table(sides: str, heads: Sequence[str], codes: Sequence[int], soft: tuple[int, int],
           rows: Sequence[Row]) -> Table:
    return Table(heads, [[tuple([one if isinstance(one, Code) else Code(one) for one in cell])
                          if k in codes else cell
                          for k, cell in enumerate(row)] for row in rows],
                 sides, soft=soft, gap=True)


def _fields(result: dict[str, Any], symbol: Symbol, of: str) -> Iterator[tuple[str, str]]:
    """Yield names and numbers: the values of the steps in order, then the derivatives of each pass,
    with local ones beside them.
    """
    for step in result["steps"]:
        yield f"{of}{_equal(named(result, step), step['operation'])}", numbers.exact(step["value"])
        for wrt, tangent in step.get("tangents", {}).items():
            if step["kind"] in ON_PATHS:
                yield from _slopes(step, symbol, of)
                yield f"{of}{numbers.first_derivative(step['name'], wrt)}", numbers.exact(tangent)
    for step in reversed(result["steps"]):
        if step["kind"] in ON_PATHS and "adjoint" in step:
            name = numbers.first_derivative(result["of"], step["name"])
            yield f"{of}{name}", numbers.exact(step["adjoint"])
            yield from _slopes(step, symbol, of)


def _slopes(step: Step, symbol: Symbol, of: str) -> Iterator[tuple[str, str]]:
    for partial in step["partials"]:
        value, formula = partial["value"], partial["formula"]
        called = symbol(step["name"], partial["wrt"])
        yield of + _equal(called, None if formula == numbers.exact(value) else formula), (
            numbers.exact(value))


def _equal(called: str, formula: str | None) -> str:
    return called if formula is None else f"{called} = {formula}"


def _records(answer: dict[str, Any]) -> Iterator[Sequence[Any]]:
    ahead = answer["mode"] == "forward"
    sources = [s["wrt"] for s in answer["results"][0]["sources"]] if ahead else []
    yield ["of", "number", "step", "kind", "operation", "formula", "value", "operand", "rule",
           "derivative", "slope", *([f"d/d{name}" for name in sources] if ahead else ["adjoint"])]
    for result in answer["results"]:
        for step in result["steps"]:
            carried = [step["tangents"][n] for n in sources] if ahead else [step["adjoint"]]
            for partial in step["partials"] or [{}]:
                yield [result["of"], *[step[key] for key in (
                    "number", "name", "kind", "operation", "formula", "value")],
                    *map(partial.get, ("wrt", "rule", "formula", "value")),
                    *[NONE if c is None else c for c in carried]]


def symbol_of(encoding: str) -> Symbol:
    """Return the writer of local derivatives: `∂v1/∂x`, or `part(v1, x)` where the encoding has no
    such sign.
    """
    if encodable(SIGN, encoding) == SIGN:
        return lambda of, wrt: f"{SIGN}{numbers.closed(of)}/{SIGN}{numbers.closed(wrt)}"
    return lambda of, wrt: f"part({of}, {wrt})"


def legend(result: dict[str, Any], symbol: Symbol) -> str:
    """Return a line that explains the symbol by an example; empty if there are no local
    derivatives.
    """
    for step in result["steps"]:
        for partial in step["partials"]:
            whole = numbers.first_derivative(result["of"], partial["wrt"])
            return (f"{symbol(step['name'], partial['wrt'])} is the derivative of one operation,"
                    f" {whole} that of all together")
    return ""


# --- the two walks ----------------------------------------------------------------------------


def some(steps: Sequence[Step], rows: Callable[[Step], list[Row]], count: int, whole: bool
         ) -> list[Row]:
    """Return the rows of all steps; of more than SHOWN the first and the last ones, and between
    them the number left out. count: of the rows in all.
    """
    if whole or count <= SHOWN:
        return [row for step in steps for row in rows(step)]
    half = SHOWN // 2
    first, last = [[row for step in end for row in rows(step)]
                   for end in (steps[:half], steps[-half:])]
    gap: Row = [("...",), (f"{count - 2 * half} more; -v shows all",),
                *[("",)] * (len(first[0]) - 2)]
    return [*first[:half], gap, *last[-half:]]


def short(digits: int, whole: bool = False) -> Show:
    """Return the writer of values: a number to `digits` digits, a small array in full, else its
    shape. whole: show larger arrays too.
    """
    most = LARGER if whole else SMALL

    return lambda value: brief(value, digits, most)


def values(result: dict[str, Any], show: Show, whole: bool) -> list[Row]:
    """Return rows of step, operation, formula so far and value; an operand has its kind in place of
    the operation.
    """
    return some(result["steps"], lambda step: [[
        (named(result, step),),
        (Code(step["operation"], step["tex"]["operation"]) if step["operation"] else step["kind"],),
        ("" if step["operation"] is None else step["formula"],),
        (show(step["value"]) + (MARKS.get(step["kind"], "") if step["operation"] else ""),)]],
        len(result["steps"]), whole)


def named(result: dict[str, Any], step: Step) -> Code:
    """Return the name of a step, `v3 = f` for the one that is the target."""
    if [step["name"]] == result["result"] and step["name"] != result["of"]:
        return Code(f"{step['name']} = {result['of']}",
                    f"{step['tex']['name']} = {name(result['of'])}")
    return Code(step["name"], step["tex"]["name"])


def backward(result: dict[str, Any], show: Show, symbol: Symbol, whole: bool) -> list[Row]:
    """Return rows of step, adjoint, local derivatives and their rules; the last step first."""
    walked = [step for step in reversed(result["steps"]) if step["kind"] in ON_PATHS]
    return some(walked, lambda step: [[
        (named(result, step),), (show(step["adjoint"]),), *locals_of(step, show, symbol)]],
        len(walked), whole)


def forward(result: dict[str, Any], show: Show, symbol: Symbol, whole: bool) -> list[Row]:
    """Return rows of step, local derivatives, their rules, and the derivative of the step in each
    source.
    """
    walked = [step for step in result["steps"] if step["kind"] in ON_PATHS]
    return some(walked, lambda step: [[
        (named(result, step),), *locals_of(step, show, symbol),
        *[(_tangent(result, step, t, show),) for t in step["tangents"].values()]]],
        len(walked), whole)


def _tangent(result: dict[str, Any], step: Step, tangent: Any, show: Show) -> str:
    """Return a tangent as text; "" where a step does not depend on the source, but None at the
    target.
    """
    return "" if tangent is None and step["name"] not in result["result"] else show(tangent)


def locals_of(step: Step, show: Show, symbol: Symbol) -> Row:
    """Return the local derivatives of a step, and the rule of each."""
    found: list[tuple[str, str]] = [
        (local(step, p, show, symbol), p["rule"]) for p in step["partials"]] or [("", "")]
    return [tuple([text for text, _ in found]), tuple([rule for _, rule in found])]


def local(step: Step, partial: dict[str, Any], show: Show, symbol: Symbol) -> Code:
    """Return a local derivative as `∂v1/∂x = 2*x = 3`."""
    tex = partial["tex"]
    return Code(
        _equation(symbol(step["name"], partial["wrt"]), partial["formula"], partial, show, NONE),
        _equation(derivative(step["tex"]["name"], {tex["wrt"]: 1}), tex["formula"], partial,
                  _value, number(None)))


def _equation(left: str, formula: str | None, partial: dict[str, Any], show: Show, none: str
              ) -> str:
    """Return a local derivative, its formula and its value, as far as they differ, as an equation.
    """
    parts = [left] if formula is None else [left, formula]
    if partial["value"] is not None and show(partial["value"]) != parts[-1]:
        parts.append(show(partial["value"]))
    if len(parts) == 1 and cut(partial):
        parts.append(none)
    return " = ".join(parts)


def cut(partial: dict[str, Any]) -> bool:
    """Return whether no derivative passes through an operand."""
    return bool(partial["rule"].startswith("no derivative"))


def _chain(result: dict[str, Any], source: dict[str, Any]
           ) -> tuple[list[dict[str, Any]], int, list[tuple[float, float]]]:
    """Return the terms of the chain rule for a source, how many more there are, and the factors of
    each where all are numbers; no term where a derivative is missing.
    """
    step = next((s for s in result["steps"] if s["name"] == source["wrt"]), None)
    if step is None or source.get("gradient") is None or not step.get("through"):
        return [], 0, []
    through = step["through"]
    adjoints = {s["name"]: s["adjoint"] for s in result["steps"]}
    pairs = [(adjoints[t["step"]], t["value"]) for t in through]
    more = max(0, len(through) - TERMS)
    return through[:TERMS], more, pairs if not more and all(
        isinstance(n, int | float) for pair in pairs for n in pair) else []


def chain(result: dict[str, Any], source: dict[str, Any], show: Show, symbol: Symbol
          ) -> list[str]:
    """Return the lines of the chain rule for a source: in symbols, in numbers where all are
    scalars, and the sum; none where a derivative is missing.
    """
    terms, more, pairs = _chain(result, source)
    if not terms:
        return []
    of = result["of"]
    left = numbers.first_derivative(of, source["wrt"])
    lines = [f"{left} = " + " + ".join([
        f"{_outer(of, t)}{symbol(t['step'], source['wrt'])}" for t in terms]) + (
            f" + {more} more terms" if more else "")]
    if pairs:
        products = " + ".join([f"{_factor(show(a))}*{_factor(show(b))}" for a, b in pairs])
        lines.append(f"{' ' * len(left)} = {products}")
    return [*lines, f"{' ' * len(left)} = {show(source['gradient'])}"]


def _outer(of: str, through: dict[str, Any]) -> str:
    return "" if through["step"] == of else f"{numbers.first_derivative(of, through['step'])} * "


def _factor(text: str) -> str:
    return f"({text})" if text.startswith("-") else text


def remarks(answer: dict[str, Any], result: dict[str, Any]) -> entries.Named:
    """Return the named items of a result that can have reasons and notes."""
    return entries.named("jac" if answer["mode"] == "forward" else "grad", result)


def title(result: dict[str, Any], show: Show) -> str:
    """Return `f = 2.24436 at x = 1.5`."""
    at = ", ".join([f"{s['wrt']} = {show(s['at'])}" for s in result["sources"]
                    if s["at"] is not None])
    return f"{result['of']} = {show(result['value'])}" + (f" at {at}" if at else "")


# --- in LaTeX: a tabular for each result and, backwards, one display for each source --------------

CDOT = r"\cdot"
# The derivative of one operation, and that of all operations in between.
PARTIAL = r"\partial"
TOTAL = r"\mathrm{d}"
LEGEND = f"${PARTIAL}$ is the derivative of one operation, ${TOTAL}$ that of all together."


def _latex(answer: dict[str, Any], result: dict[str, Any], whole: bool) -> Iterator[Block]:
    if result["steps"]:
        yield _tabular(answer, result, whole)
        for source in result["sources"]:
            lines = _equations(result, source)
            if lines:
                yield Equations([Phrase("", line) for line in lines])
    if legend(result, symbol_of("utf-8")):
        yield Paragraph(Phrase("", LEGEND))
    yield Causes(remarks(answer, result), answer)


def _tabular(answer: dict[str, Any], result: dict[str, Any], whole: bool) -> Table:
    ahead = answer["mode"] == "forward"
    heads = [Phrase("", derivative(CDOT, {name(s["wrt"]): 1}, TOTAL)) for s in result["sources"]
             ] if ahead else ["adjoint"]
    rows = some(
        result["steps"], lambda step: [[(text,) for text in row]
                                       for row in _rows(result, step, ahead)],
        sum([len(step["partials"]) or 1 for step in result["steps"]]), whole)
    return Table(["step", "formula", "value", "local derivative", "rule", *heads],
                 [[cell[0] for cell in row] for row in rows], "lllll" + "r" * len(heads))


def _rows(result: dict[str, Any], step: Step, ahead: bool) -> list[list[str]]:
    """Return a row for each local derivative of a step, the first with the step's own cells."""
    carried = list(step["tangents"].values()) if ahead else [step["adjoint"]]
    tex = step["tex"]
    left = tex["name"]
    if [step["name"]] == result["result"] and step["name"] != result["of"]:
        left = f"{name(result['of'])} = {left}"
    operation = tex["operation"]
    first = ["" if step["number"] is None else str(step["number"]),
             Phrase("", left if operation is None else f"{left} = {operation}"),
             Phrase("", _value(step["value"]))]
    last = [MARKS[step["kind"]].strip(" ()") if step["kind"] in MARKS else Phrase("", _value(c))
            for c in carried]
    rows = []
    for k, partial in enumerate(step["partials"] or [None]):
        slope = ["", ""] if partial is None else [
            Phrase("", local(step, partial, _value, symbol_of("utf-8")).tex), partial["rule"]]
        rows.append([*(first if k == 0 else [""] * 3), *slope,
                     *(last if k == 0 else [""] * len(last))])
    return rows


def _equations(result: dict[str, Any], source: dict[str, Any]) -> list[str]:
    """Return the chain rule for a source in LaTeX."""
    terms, more, pairs = _chain(result, source)
    if not terms:
        return []
    of, wrt = name(result["of"]), name(source["wrt"])
    products = []
    for t in terms:
        inner = derivative(t["tex"]["step"], {wrt: 1})
        outer = derivative(of, {t["tex"]["step"]: 1}, TOTAL)
        products.append(inner if t["step"] == result["of"] else f"{outer} \\cdot {inner}")
    rest = r" + \dotsb" if more else ""
    lines = [f"{derivative(of, {wrt: 1}, TOTAL)} &= {' + '.join(products)}{rest}"]
    if pairs:
        lines.append("&= " + " + ".join([
            f"{_factored(a)} \\cdot {_factored(b)}" for a, b in pairs]))
    return [*lines, f"&= {_value(source['gradient'])}"]


def _value(value: Any) -> str:
    """Return a number in full, a small array, else the shape, in LaTeX."""
    if isinstance(value, list | dict):
        return f"\\text{{{escaped(brief(value, EXACT, SMALL))}}}"
    return number(value)


def _factored(value: float) -> str:
    text = number(value)
    return f"\\left({text}\\right)" if text.startswith("-") or "times" in text else text
