"""The page of `gradcli why` in a pipe: in plain form each derivative has a line `name<TAB>value`,
and what is said of it is indented.
"""

from __future__ import annotations

from gradcli.render import entries, layout, numbers
from gradcli.render.visible import visible
from gradcli.render.why import SMALL, Look, answering, groups, name_of, parts, paths, watched, way

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from gradcli.render.why import Part, Row

WIDE = 100          # columns of source text


def render(answer: dict[str, Any], format: str, digits: int | None = None) -> str:
    """The page in one of the other formats. digits: of numbers for people, None for all. Raises
    ValueError for a format that there is not.
    """
    if format in ("csv", "tsv"):
        return _delimited(answer, "\t" if format == "tsv" else ",")
    if format == "plain":
        return "".join(list(_plain(answer)))
    formats = {"markdown": _markdown, "latex": _latex}
    if format not in formats:
        raise ValueError(f"unknown format `{format}`")
    return "".join(list(formats[format](answer, digits)))


def _exact(value: Any) -> str:
    """A number or a small array in full; of a large one the shape."""
    if layout.count(value) > SMALL:
        return layout.summary(value, 1)[0]
    return numbers.exact(value)


def _plain(answer: dict[str, Any]) -> Iterator[str]:
    """Lines `name<TAB>value`; all that is said of them is indented."""
    return _lines(parts(answer, Look(answer, WIDE, "utf-8", _exact, _exact)))


def plain_paths(answer: dict[str, Any]) -> str:
    """The paths alone, as `grad -v` tells them beside plain output."""
    look = Look(answer, WIDE, "utf-8", _exact, _exact)
    return "".join([line for result in answer.get("results") or ()
                    for line in _lines(paths(result, look))])


def _lines(parts: Iterable[Part]) -> Iterator[str]:
    for part in parts:
        kind = part[0]
        if kind == "head":
            for source, index, _, value, _ in entries.gradients(part[1]):
                yield f"{visible(name_of(part[1], source, index))}\t{numbers.exact(value)}\n"
            # The subject names what the lines above do not: also, would be, 3 of 4.
            alone = len(part[1]["sources"]) == 1 and part[1]["sources"][0].get("gradient") is None
            said = part[3] if alone or not part[3] else f"{part[2]}: {part[3]}"
            yield f"  {visible(said)}\n" if said else ""
        elif kind == "gap":
            yield "\n"
        elif kind == "note":
            yield f"  {part[1]} {visible(part[2])}\n"
        elif kind == "rows":
            yield from _aligned(part[1], part[2])
        elif kind == "title":
            yield visible(part[1]) + "\n"
        else:
            yield f"  {visible(part[1])}\n"


def _aligned(head: Row, rows: list[Row]) -> Iterator[str]:
    cells = [tuple(map(visible, row)) for row in (head, *rows)]
    wide = [min(WIDE, max(map(len, column))) for column in zip(*cells, strict=True)]
    for row in cells:
        yield ("  " + "   ".join([text.ljust(width) for text, width in zip(row, wide, strict=True)])
               ).rstrip() + "\n"


def _delimited(answer: dict[str, Any], delimiter: str) -> str:
    """A row per element, with its first cause, or the note on why it is 0, NaN or infinite."""
    import csv
    import io

    from gradcli.render.delimited import cell

    def number(value: Any) -> str:
        return "" if value is None or isinstance(value, list | dict) else numbers.exact(value)

    stream = io.StringIO()
    out = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    out.writerow(["of", "value", "wrt", "at", "gradient", "reason", "line", "column", "message",
                  "fix", "fix_works"])
    for result in answer.get("results") or ():
        for source, index, at, gradient, _ in entries.gradients(result):
            remark: dict[str, Any] = next(iter([
                *(source.get("reasons") or ()), *filter(answering, source.get("notes") or ())]), {})
            out.writerow([
                cell(result["of"]), number(result.get("value")),
                cell(numbers.indexed(source["wrt"], index)), number(at), numbers.exact(gradient),
                remark.get("code") or "", number(remark.get("line")), number(remark.get("column")),
                cell(remark.get("message") or ""), cell(remark.get("fix") or ""),
                number(remark.get("fix_works"))])
    return stream.getvalue()


def _markdown(answer: dict[str, Any], digits: int | None) -> Iterator[str]:
    """As of `grad`, then a table for each way."""
    from gradcli.render.markdown import LEFT, RIGHT, code, prose, render, table

    def told(result: dict[str, Any], wrt: str, part: Part) -> str:
        if part[0] == "gap":
            return "\n"
        if part[0] != "rows":
            return f"\n{prose(part[1])}\n"
        head = [part[1][0], f"from {code(wrt)} to {code(result['of'])}", *part[1][2:]]
        return table(head, [RIGHT, LEFT, LEFT, RIGHT, RIGHT], [
            [row[0], code(row[1]), *map(prose, row[2:])] for row in part[2]])

    for result, lines in _beside(answer, render, told, digits):
        yield from lines
        for at, (_, head, text) in enumerate(watched(result.get("names") or [])):
            yield f"{'' if at else chr(10)}- {head} {prose(text)}\n"


def _latex(answer: dict[str, Any], digits: int | None) -> Iterator[str]:
    """As of `grad`; the ways are comments, as reasons are."""
    from gradcli.render.latex import render

    def told(result: dict[str, Any], wrt: str, part: Part) -> str:
        if part[0] == "rows":
            return "".join([f"%{line}" for line in _aligned(part[1], part[2])])
        return f"% {visible(part[1])}\n" if part[0] == "text" else ""

    for _, lines in _beside(answer, render, told, digits):
        yield from lines


def _beside(answer: dict[str, Any], of_grad: Callable[[dict[str, Any]], str],
            told: Callable[[dict[str, Any], str, Part], str], digits: int | None
            ) -> Iterator[tuple[dict[str, Any], Iterator[str]]]:
    """Each result with its text: what `grad` shows, then its ways, told part by part."""
    def show(value: Any) -> str:
        if digits is None or layout.count(value) > SMALL:
            return _exact(value)
        return layout.inline(value, digits)

    # A product is of the factors in full: the way rounds what it shows.
    look = Look(answer, WIDE, "utf-8", show, show)

    def lines(at: int, result: dict[str, Any]) -> Iterator[str]:
        yield "\n" if at else ""
        yield of_grad({"command": "grad", "results": [numbers.rounded(result, digits)]})
        for group in groups(result):
            for part in way(result, group[0], len(group), look):
                yield told(result, group[0]["wrt"], part)

    for at, result in enumerate(answer.get("results") or ()):
        yield result, lines(at, result)
