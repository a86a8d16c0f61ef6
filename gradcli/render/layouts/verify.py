"""verify as pages: one row for each number that was compared; of many, those that differ."""

from __future__ import annotations

from gradcli.render import entries, latex, numbers
from gradcli.render.layouts.targets import TargetPage, along, name_of, with_records
from gradcli.render.page import WRONG, Code, Phrase, Remark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

METHODS = ("reverse", "forward", "complex", "central")
WITHOUT = {"complex": "complex step", "central": "differences"}
SIGNS = {"agree": "", "differ": "!", "undecided": "?"}      # on a terminal
SHOWN = 12      # of a source with more numbers the worst ones are shown
WORDS = {
    "agree": "all derivatives agree", "differ": "derivatives differ (!)",
    "undecided": "nothing is wrong, but not everything could be decided (?)",
    "none": "there is no derivative to check"}


def pages(answer: dict[str, Any], digits: int | None = None, *, verbose: bool = False,
          held: Mapping[str, Any] | None = None) -> list[TargetPage]:
    """Return a page for each target. verbose: all numbers, and each place once more; digits: None
    for all.
    """
    several = len(answer["results"]) > 1
    found = [_page(result, verbose, digits, several) for result in answer["results"]]
    if several:
        for page in found:
            page.messages = [text.replace("note: ", f"note: {page.name}: ", 1)
                         if text.startswith("note: ") else text for text in page.messages]
    return with_records(answer, found)


def _page(result: dict[str, Any], verbose: bool, digits: int | None, several: bool) -> TargetPage:
    value = result["value"]
    pieces: list[Any] = [f"{result['of']} = ", value] if not isinstance(value, list) else [
        f"{result['of']} of shape {' x '.join(map(str, result['shape'] or []))}"]
    at = [(s["wrt"], s["at"]) for s in result["sources"] if not isinstance(s["at"], list)]
    for k, (name, x) in enumerate(at):
        pieces += [" at " if k == 0 else ", ", f"{name} = ", x]
    page = TargetPage(result["of"], pieces, digits, several)
    page.judge(WORDS[result["verdict"]], result["verdict"] == "differ")
    page.table.fill(["derivative", "reverse", "forward", Phrase("complex step", brief="complex"),
                     "central", "error", "difference", Phrase("verdict", brief="")])
    page.table.brief = (5, 6)
    page.table.short = {"difference": "diff"}
    page.add(numbers.closed(page.name), value)
    page.add(f"verdict({page.name})", result["verdict"])
    for source in result["sources"]:
        _source(page, source, verbose)
    for block in result["blocks"]:
        _block(page, block)
    return page


def _block(page: TargetPage, block: dict[str, Any]) -> None:
    row, column, (one,) = block["row"], block["col"], block["elements"]
    name = numbers.second_derivative(page.name, row, column)
    _compared(page, [name], [one])
    by = [latex.element(row), latex.element(column)]
    _row(page, Code(name, latex.derivative(
        latex.element(page.name), {x: by.count(x) for x in by})), one)
    _remarks(page, {**block, "wrt": name})


def _compared(page: TargetPage, names: list[str], elements: list[dict[str, Any]]) -> None:
    for name, one in zip(names, elements, strict=True):
        page.add(name, one["reverse"])
        for key in (*METHODS[1:], "error", "difference", "verdict"):
            page.add(f"{key}({name})", one[key])


def _row(page: TargetPage, name: str, one: dict[str, Any]) -> None:
    if one["verdict"] == "differ":
        page.table.wrong.add(len(page.table.rows))
    page.table.rows.append([name, *map(one.get, METHODS), one["error"], one["difference"],
                            _word(one["verdict"])])


def _word(verdict: str) -> Code:
    return Code(verdict, brief=SIGNS.get(verdict))


def _source(page: TargetPage, source: dict[str, Any], verbose: bool) -> None:
    of, wrt, elements = page.name, source["wrt"], source["elements"]
    names = [name_of(of, wrt, one, k) for k, one in enumerate(elements)]
    _compared(page, names, elements)
    if not elements:
        name = numbers.first_derivative(of, wrt)
        page.add(name, None)
        page.add(f"verdict({name})", source["verdict"])
        tex = latex.derivative(latex.element(of), {latex.element(wrt): 1})
        page.table.rows.append([Code(name, tex), *[None] * (len(METHODS) + 2),
                                _word(source["verdict"])])
    shown = list(range(len(elements)))
    if len(elements) > SHOWN and not verbose:
        shown = sorted(shown, key=lambda k: _badness(elements[k]))[:SHOWN]
    for k in shown:
        one, name = elements[k], names[k]
        at, to = (() if along(one) else tuple(one[key]) for key in ("of_index", "wrt_index"))
        _row(page, Code(name, latex.derivative(
            latex.element(numbers.indexed(of, at)),
            {latex.element(numbers.indexed(wrt, to)): 1}) + (
                rf" \cdot r_{{{k + 1}}}" if along(one) else "")), one)
    if any(along(one) for one in elements):
        page.remark(f"r1 to r{len(elements)} are random directions, always the same, in place of"
                    f" each element of {wrt}")
    if len(shown) < len(elements):
        page.remark(f"{wrt}: the worst {len(shown)} of {len(elements)} numbers; -v shows all")
    _remarks(page, source)


def _badness(one: dict[str, Any]) -> tuple[int, float]:
    difference = one["difference"]
    return (("differ", "undecided", "agree").index(one["verdict"]),
            -difference if difference == difference else 0.0)


def _remarks(page: TargetPage, source: dict[str, Any]) -> None:
    said = {block.text for block in page.blocks if isinstance(block, Remark)}
    causes = [f"{c['message']}{entries.line(c)}" for c in source["causes"]]
    reasons = [f"{source['wrt']} has no derivative: {r['message']}{entries.line(r)}"
               for r in source["reasons"]]
    notes = list(dict.fromkeys([f"{n['message']}{entries.line(n)}" for n in source["notes"]]))
    lacking = [f"no {WITHOUT.get(m, m)} for {source['wrt']}: {why}"
               for m, why in source["methods"].items() if why]
    for text, style in (*[(text, WRONG) for text in causes],
                        *[(text, "") for text in (*reasons, *lacking, *notes)]):
        if text not in said:
            page.remark(text, style)
    page.messages += [text for text in [*causes, *reasons, *[f"note: {text}" for text in notes]]
                  if text not in page.messages]
