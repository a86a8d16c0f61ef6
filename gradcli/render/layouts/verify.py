"""verify as sheets: one row for each number that was compared; of many, those that differ."""

from __future__ import annotations

from gradcli.render import latex, numbers
from gradcli.render.page import Sheet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

METHODS = ("reverse", "forward", "complex", "central")
HEADS = {"reverse": "reverse", "forward": "forward", "complex": "complex step",
         "central": "central"}
SHOWN = 12      # of a source with more numbers the worst ones are shown
WORDS = {
    "agree": "all derivatives agree", "differ": "derivatives differ (!)",
    "undecided": "nothing is wrong, but not everything could be decided (?)",
    "none": "there is no derivative to check"}


def sheets(answer: dict[str, Any], digits: int | None = None, *, verbose: bool = False,
           held: Mapping[str, Any] | None = None) -> list[Sheet]:
    """A sheet for each target. verbose: all numbers, and each place once more; digits: None for
    all.
    """
    found = [_sheet(result, verbose, digits) for result in answer["results"]]
    if len(found) > 1:
        for sheet in found:
            sheet.told = [text.replace("note: ", f"note: {sheet.name}: ", 1)
                          if text.startswith("note: ") else text for text in sheet.told]
    return found


def _sheet(result: dict[str, Any], verbose: bool, digits: int | None) -> Sheet:
    value = result["value"]
    pieces: list[Any] = [f"{result['of']} = ", value] if not isinstance(value, list) else [
        f"{result['of']} of shape {' x '.join(map(str, result['shape'] or []))}"]
    at = [(s["wrt"], s["at"]) for s in result["sources"] if not isinstance(s["at"], list)]
    for k, (name, x) in enumerate(at):
        pieces += [" at " if k == 0 else ", ", f"{name} = ", x]
    sheet = Sheet(result["of"], pieces, digits)
    sheet.verdict = WORDS[result["verdict"]]
    sheet.bad = result["verdict"] == "differ"
    sheet.head = ["derivative", *HEADS.values(), "error", "difference", "verdict"]
    sheet.brief = {5, 6}
    sheet.narrow = {"complex step": "complex", "verdict": "", "agree": "", "differ": "!",
                    "undecided": "?"}
    sheet.short = {"difference": "diff"}
    sheet.say(numbers.closed(sheet.name), value)
    sheet.say(f"verdict({sheet.name})", result["verdict"])
    for source in result["sources"]:
        _source(sheet, source, verbose)
    for block in result["blocks"]:
        _block(sheet, block)
    return sheet


def _block(sheet: Sheet, block: dict[str, Any]) -> None:
    row, column, (one,) = block["row"], block["col"], block["elements"]
    name = numbers.second_derivative(sheet.name, row, column)
    _compared(sheet, [name], [one])
    _row(sheet, name, one)
    by = [latex.element(row), latex.element(column)]
    sheet.tex[name] = latex.derivative(
        latex.element(sheet.name), {x: by.count(x) for x in by})
    _remarks(sheet, {**block, "wrt": name})


def _compared(sheet: Sheet, names: list[str], elements: list[dict[str, Any]]) -> None:
    for name, one in zip(names, elements, strict=True):
        sheet.say(name, one["reverse"])
        for key in (*METHODS[1:], "error", "difference", "verdict"):
            sheet.say(f"{key}({name})", one[key])


def _row(sheet: Sheet, name: str, one: dict[str, Any]) -> None:
    if one["verdict"] == "differ":
        sheet.wrong.add(len(sheet.rows))
    sheet.rows.append([name, *[one[m] for m in METHODS], one["error"], one["difference"],
                       one["verdict"]])


def _source(sheet: Sheet, source: dict[str, Any], verbose: bool) -> None:
    of, wrt, elements = sheet.name, source["wrt"], source["elements"]
    names = [name_of(of, wrt, one, k) for k, one in enumerate(elements)]
    _compared(sheet, names, elements)
    if not elements:
        name = numbers.first_derivative(of, wrt)
        sheet.say(name, None)
        sheet.say(f"verdict({name})", source["verdict"])
        sheet.rows.append([name, *[None] * (len(METHODS) + 2), source["verdict"]])
        sheet.tex[name] = latex.derivative(latex.element(of), {latex.element(wrt): 1})
    shown = list(range(len(elements)))
    if len(elements) > SHOWN and not verbose:
        shown = sorted(shown, key=lambda k: _badness(elements[k]))[:SHOWN]
    for k in shown:
        one, name = elements[k], names[k]
        _row(sheet, name, one)
        at, to = (() if _along(one) else tuple(one[key]) for key in ("of_index", "wrt_index"))
        sheet.tex[name] = latex.derivative(
            latex.element(numbers.indexed(of, at)),
            {latex.element(numbers.indexed(wrt, to)): 1}) + (
                rf" \cdot r_{{{k + 1}}}" if _along(one) else "")
    if any(_along(one) for one in elements):
        sheet.remarks.append((f"r1 to r{len(elements)} are random directions, always the same, in"
                              f" place of each element of {wrt}", False))
    if len(shown) < len(elements):
        sheet.remarks.append((f"{wrt}: the worst {len(shown)} of {len(elements)} numbers; -v shows"
                              " all", False))
    _remarks(sheet, source)


def _badness(one: dict[str, Any]) -> tuple[int, float]:
    difference = one["difference"]
    return (("differ", "undecided", "agree").index(one["verdict"]),
            -difference if difference == difference else 0.0)


def _along(one: dict[str, Any]) -> bool:
    """Whether it is a derivative along a direction, not of an element."""
    return one["of_index"] is None or one["wrt_index"] is None


def name_of(of: str, wrt: str, one: dict[str, Any], k: int) -> str:
    """`df/dx[0]`; `df/dx*r1`, the product with the first random direction."""
    if _along(one):
        return f"{numbers.first_derivative(of, wrt)}*r{k + 1}"
    return numbers.first_derivative(of, wrt, tuple(one["of_index"]), tuple(one["wrt_index"]))


def _remarks(sheet: Sheet, source: dict[str, Any]) -> None:
    said = {text for text, _ in sheet.remarks}
    causes = [f"{c['message']}{_line(c)}" for c in source["causes"]]
    reasons = [f"{source['wrt']} has no derivative: {r['message']}{_line(r)}"
               for r in source["reasons"]]
    notes = list(dict.fromkeys([f"{n['message']}{_line(n)}" for n in source["notes"]]))
    told = [(text, True) for text in causes] + [(text, False) for text in reasons]
    told += [(f"no {HEADS[m].replace('central', 'differences')} for {source['wrt']}: {why}", False)
             for m, why in source["methods"].items() if why]
    told += [(text, False) for text in notes]
    sheet.remarks += [one for one in told if one[0] not in said]
    sheet.told += [text for text in [*causes, *reasons, *[f"note: {text}" for text in notes]]
                   if text not in sheet.told]


def _line(what: dict[str, Any]) -> str:
    return f" (line {what['line']})" if what.get("line") else ""
