"""Values, gradients, Jacobians and Hessians as pages.

In CSV, grad has the columns `of,value,wrt,at,gradient,reason`; jac `of,wrt,jacobian`; hess
`of,row,col,hessian`; eval `of,value`. Arrays are in long form, a row per element, named `x[0]`. A
None is `None`; `reason` is the code of its first reason. `value` is empty for an array, which
`gradcli eval` prints. With --verify a column `check` is added, with --sparse `row_index` and
`column_index`: there the names stand alone, and an index has a number for each axis, `0 1`.
"""

from __future__ import annotations

from gradcli.render import entries, numbers
from gradcli.render.latex import derivative, escaped, name, number, pmatrix
from gradcli.render.layouts.derivative_tables import screen
from gradcli.render.page import Causes, Code, Equations, Facts, Page, Phrase, Table, Title

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from gradcli.render.page import Block

    Answer = dict[str, Any]
    Result = dict[str, Any]
    Row = list[Any]

INDICES = ("row_index", "column_index")


def pages(answer: Answer, digits: int | None = None) -> list[Page]:
    """Return one page of all results. digits: of its numbers for people, but at a terminal."""
    from gradcli.render import plain

    results = numbers.rounded(answer.get("results") or [], digits)
    return [Page(fields=plain.fields(answer),
                 records=_records(answer),
                 blocks=(b for r in results for b in document(answer, r)),
                 screen=lambda view: screen(view, answer),
                 latex=(b for r in results for b in equations(answer, r)))]


# --- for spreadsheets -----------------------------------------------------------------------------


def _records(answer: Answer) -> Iterator[Sequence[Any]]:
    command, results = answer["command"], answer.get("results") or ()
    checked, sparse = _checked(answer), any(map(entries.has_triples, results))
    if command == "eval":
        yield ["of", "value"]
        for result in results:
            for index, value in numbers.elements(result.get("value")):
                yield [numbers.indexed(result["of"], index), _single(value)]
        return
    yield [*HEADS.get(command, ("of", "value", "wrt", "at")), *INDICES * sparse,
           entries.FIELDS.get(command, "gradient"), "reason", *["check"] * checked]
    for result in results:
        own = [result["of"]] if command == "hess" else []
        for part, row, column, value, check in entries.elements(command, result):
            first = [*own, *_names(*entries.pair(result, part), row, column, sparse)]
            if command not in HEADS:
                at = entries.pick(part.get("at"), column)
                first = [result["of"], _single(result.get("value")),
                         numbers.indexed(part["wrt"], column), None if at is None else _single(at)]
            yield [*first, *_last(part, value, check, checked)]
        for called, value in entries.eigen(result):
            yield [*own, called, "", *["", ""] * sparse, value, "", *[""] * checked]


HEADS = {"jac": ("of", "wrt"), "hess": ("of", "row", "col")}


def _names(of: str, wrt: str, row: entries.Index, column: entries.Index, sparse: bool) -> Row:
    """Return the cells that locate an element: names with indices, or if sparse, names and beside
    them the indices of row and column.
    """
    if sparse:
        return [of, wrt, " ".join(map(str, row)), " ".join(map(str, column))]
    return [numbers.indexed(of, row), numbers.indexed(wrt, column)]


def _last(item: Result, value: Any, check: Any, checked: bool) -> Row:
    reasons = item.get("reasons")
    return [_single(value), reasons[0]["code"] if reasons else "",
            *[numbers.exact(check) if check is None else check] * checked]


def _single(value: Any) -> Any:
    """Return the cell of a number or a text; that of an array is empty."""
    return "" if isinstance(value, list | dict) else "None" if value is None else value


def _checked(answer: Answer) -> bool:
    return any(part.get("verify") for result in answer.get("results") or ()
               for part in (*(result.get("sources") or ()), *(result.get("blocks") or ())))


# --- for people -----------------------------------------------------------------------------------


def document(answer: Answer, result: Result) -> Iterator[Block]:
    """Yield a title, a table and what is to be said of them."""
    yield _title(result)
    yield from DOCUMENTS.get(answer["command"], _gradient)(result)
    yield Causes(entries.named(answer["command"], result), answer)


def _title(result: Result) -> Title:
    """Return the title `y` = 9 at `x` = 3; arrays are left out of the point."""
    value = result.get("value")
    point = result.get("at") or {
        source["wrt"]: source.get("at") for source in result.get("sources") or ()}
    at = [piece for called, item in point.items()
          if item is not None and not isinstance(item, list)
          for piece in (", ", Code(called), " = ", _inline(item))][1:]
    what: list[Any] = [" = ", _inline(value)]
    if isinstance(value, list | dict):
        axes = result.get("shape")
        what = [f" is an array of shape {' x '.join(map(str, axes))}" if axes else " has parts"]
    return Title((Code(result["of"]), *what, *([" at ", *at] if at else [])))


def _inline(value: Any) -> Any:
    """Return a value for a sentence or a cell: a text as code, None as a word, a number as it is.
    """
    return Code(value) if isinstance(value, str) else "None" if value is None else value


def _value(result: Result) -> Iterator[Block]:
    value = result.get("value")
    if isinstance(value, list | dict):
        yield Table(["element", "value"], [
            [Code(numbers.indexed(result["of"], index)), _inline(item)]
            for index, item in numbers.elements(value)])


def _gradient(result: Result) -> Iterator[Block]:
    checked = any(source.get("verify") for source in result.get("sources") or ())
    rows = []
    for source, _, index, value, check in entries.elements("grad", result):
        at = entries.pick(source.get("at"), index)
        place = "" if at is None or isinstance(at, list) else _inline(at)
        rows.append([Code(numbers.indexed(source["wrt"], index)), place, _inline(value),
                     *[_inline(check)] * checked])
    yield Table(["source", "at", "gradient", *["check"] * checked], rows)


def _matrix(result: Result) -> Iterator[Block]:
    """Yield a table with names on both sides, or with a line for each element that can differ from
    0; and what is known of a Hessian.
    """
    if entries.has_triples(result):
        yield Table(["row", "column", "value"], [
            [Code(numbers.indexed(*row)), Code(numbers.indexed(*column)), _inline(value)]
            for row, column, value in entries.triples(result)], "llr")
    else:
        rows, columns, values = entries.matrix(result)
        yield Table(["", *[Code(numbers.indexed(*label)) for label in columns]], [
            [Code(numbers.indexed(*label)), *map(_inline, line)]
            for label, line in zip(rows, values, strict=True)])
    yield Facts([(called, numbers.exact(value)) for called, value in entries.eigen(result)])


DOCUMENTS: dict[str, Callable[[Result], Iterator[Block]]] = {
    "eval": _value, "jac": _matrix, "hess": _matrix}


# --- in LaTeX: gradients as equations, Jacobians and Hessians as matrices -------------------------


def equations(answer: Answer, result: Result) -> Iterator[Block]:
    """Yield one display, and what is to be said of it."""
    lines = LATEX.get(answer["command"], _gradient_lines)(result)
    yield Equations([Phrase("", line) for line in lines])
    yield Causes(entries.named(answer["command"], result), answer)


def _value_lines(result: Result) -> list[str]:
    return [f"{name(result['of'])} &= {_array(result.get('value'))}"]


def _gradient_lines(result: Result) -> list[str]:
    return [f"{_slope((result['of'],), (source['wrt'],))} &= {_array(source.get('gradient'))}"
            for source in result.get("sources") or ()]


def _slope(of: Sequence[Any], wrt: Sequence[Any]) -> str:
    """Return the fraction of two names, each with an index if it is an element."""
    return derivative(name(*of), {name(*wrt): 1})


def _jacobian_lines(result: Result) -> list[str]:
    if entries.has_triples(result):
        return [f"{_slope(row, column)} &= {number(value)}"
                for row, column, value in entries.triples(result)]
    lines = []
    for source in result.get("sources") or ():
        _, _, values = entries.matrix({**result, "sources": [source]})
        text = number(None) if source.get("jacobian") is None else _grid(values)
        lines.append(f"{_slope((result['of'],), (source['wrt'],))} &= {text}")
    return lines


def _hessian_lines(result: Result) -> list[str]:
    if entries.has_triples(result):
        lines = [f"\\frac{{\\partial^2 {name(result['of'])}}}{{\\partial {name(*row)} \\partial"
                 f" {name(*column)}}} &= {number(value)}" for row, column, value in entries.triples(
                     result)]
    else:
        _, _, values = entries.matrix(result)
        sources = dict.fromkeys([block["row"] for block in result.get("blocks") or ()])
        lines = [f"\\nabla^2_{{{','.join(map(name, sources))}}} {name(result['of'])}"
                 f" &= {_grid(values)}"]
    if result.get("eigenvalues"):
        lines.append("\\lambda &= " + ",\\; ".join(map(number, result["eigenvalues"])))
    if result.get("definiteness"):
        lines.append(f"&\\text{{{escaped(result['definiteness'])}}}")
    return lines


LATEX: dict[str, Callable[[Result], list[str]]] = {
    "eval": _value_lines, "jac": _jacobian_lines, "hess": _hessian_lines}


def _array(value: Any) -> str:
    """Return a scalar, a vector as a column, a matrix, or a list of matrices in LaTeX."""
    rank = len(numbers.shape(value))
    if not numbers.regular(value):
        return f"\\text{{{escaped(numbers.exact(value))}}}"
    if rank == 0:
        return number(value)
    if rank == 1:
        return pmatrix([[number(item)] for item in value])
    if rank == 2:
        return _grid(value)
    return r"\left(" + r",\; ".join([_array(item) for item in value]) + r"\right)"


def _grid(values: list[list[Any]]) -> str:
    if len(values) == 1 == len(values[0]):
        return number(values[0][0])
    return pmatrix([list(map(number, line)) for line in values])
