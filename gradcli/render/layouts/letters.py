"""Derivations with letters as pages: each step by its rule, and the line behind it.

    df/dx of f = x^2*sin(x)

    1. product rule, u = x^2, v = sin(x)
       (u*v)' = u'*v + u*v'
       df/dx = (x^2)'*sin(x) + x^2*(sin(x))'
    ...
"""

from __future__ import annotations

from gradcli.render import latex, numbers
from gradcli.render.page import MISSING, Code, Equations, Page, Paragraph, Phrase, Remark, Title

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from gradcli.render.page import Block

    Result = dict[str, Any]


def pages(answer: dict[str, Any]) -> list[Page]:
    """Return a page for each derivation."""
    records = _records(answer["results"])
    found = [_page(result, records if k == 0 else (), k > 0) for k, result in enumerate(
        answer["results"])]
    if answer["conditions"]:
        holds = f"holds where {' and '.join(answer['conditions'])}"
        found[-1].blocks = [*found[-1].blocks, Remark(holds, gap=True)]
        found[-1].messages.append(holds)
    for page, result in zip(found, answer["results"], strict=True):
        page.messages = [*_said(result), *page.messages]
    return found


def _page(result: Result, records: Iterable[Sequence[Any]], gap: bool) -> Page:
    return Page(fields=_fields(result), records=records, blocks=_blocks(result, gap),
                screen=lambda view: _blocks(result, gap, "   "), latex=_latex(result))


def _name(result: Result) -> str:
    """Return `df/dx`, or `dy/dx` of an equation."""
    return numbers.first_derivative(result.get("dependent") or result["of"], result["wrt"])


def _said(result: Result) -> list[str]:
    """Return what there is to say where no derivation, or a part of it, is shown."""
    if result["more"]:
        return [f"{result['more']} more step{'s' * (result['more'] > 1)}"]
    return [f"{_name(result)} is None: {reason['message']}" for reason in result["reasons"]]


def _blocks(result: Result, gap: bool, indent: str = "") -> Iterator[Block]:
    """Yield the steps. gap: whether another page is above; indent: of their lines on a terminal."""
    left, sign, right = (result["of"], " = ", "") if "dependent" not in result else ("", "", " = 0")
    yield Title((Code(_name(result)), " of ", Code(
        f"{left}{sign}{result['formula']}{right}")), gap=gap)
    for k, step in enumerate(result["steps"]):
        parts = [f"{part['name']} = {part['formula']}" for part in step["parts"]]
        yield Remark(", ".join([step["rule"], *parts]), head=f"{k + 1}.", gap=True)
        yield Equations([Phrase(indent + line, line.tex) for line in _lines(step, k > 0)])
    for text in _said(result):
        yield Remark(text, MISSING if result["reasons"] else "", gap=True)


def _lines(step: Result, inner: bool) -> list[Phrase]:
    """Return the general rule, what becomes of the derivatives that it takes, and the whole line.
    inner: whether these are parts of the line.
    """
    tex = step["tex"]
    lines = [Phrase(step["general"], tex["general"])] if step["general"] else []
    if inner or len(step["equations"]) > 1:
        lines += map(Phrase, step["equations"], tex["equations"])
    return [*dict.fromkeys(lines), Phrase(step["line"], tex["line"])]


def _latex(result: Result) -> Iterator[Block]:
    yield Title((Code(_name(result)), " of ", Code(result["of"])))
    for k, step in enumerate(result["steps"]):
        parts = [f"${part['name']} = {part['tex']}$" for part in step["parts"]]
        yield Paragraph(Phrase("", ", ".join([f"{k + 1}. {latex.escaped(step['rule'])}", *parts])))
        yield Equations(_lines(step, k > 0))
    for text in _said(result):
        yield Paragraph(text)


def _fields(result: Result) -> Iterator[Sequence[str]]:
    for step in result["steps"]:
        yield step["rule"], step["line"]
    if result["derivative"] is not None:
        yield _name(result), result["derivative"]


def _records(results: Sequence[Result]) -> Iterator[Sequence[Any]]:
    yield "of", "wrt", "step", "rule", "general", "parts", "equations", "line"
    for result in results:
        for k, step in enumerate(result["steps"]):
            parts = "; ".join([f"{part['name']} = {part['formula']}" for part in step["parts"]])
            yield (result["of"], result["wrt"], k + 1, step["rule"], step["general"] or "", parts,
                   "; ".join(step["equations"]), step["line"])
