"""verify as sheets: one row for each number that was compared; of many, those that differ."""

from __future__ import annotations

from gradcli.render import numbers
from gradcli.render.sheet import Sheet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

METHODS = ("reverse", "forward", "complex", "central")
HEADS = {"reverse": "reverse", "forward": "forward", "complex": "complex step",
         "central": "central"}
SHOWN = 12      # of a source with more numbers the worst ones are shown
WORDS = {
    "agree": "all derivatives agree", "differ": "derivatives differ (!)",
    "undecided": "nothing is wrong, but not everything could be decided (?)",
    "none": "there is no derivative to check"}


def sheets(answer: dict[str, Any], verbose: bool) -> list[Sheet]:
    """A sheet for each target. verbose: all numbers, and each place once more."""
    return [_sheet(result, verbose) for result in answer["results"]]


def _sheet(result: dict[str, Any], verbose: bool) -> Sheet:
    value = result["value"]
    pieces: list[Any] = [f"{result['of']} = ", value] if not isinstance(value, list) else [
        f"{result['of']} of shape {' x '.join(map(str, result['shape'] or []))}"]
    at = [(s["wrt"], s["at"]) for s in result["sources"] if not isinstance(s["at"], list)]
    for k, (name, x) in enumerate(at):
        pieces += [" at " if k == 0 else ", ", f"{name} = ", x]
    sheet = Sheet(result["of"], pieces)
    sheet.verdict = WORDS[result["verdict"]]
    sheet.bad = result["verdict"] == "differ"
    sheet.head = ["derivative", *HEADS.values(), "error", "difference", "verdict"]
    sheet.brief = {5, 6}
    sheet.narrow = {"complex step": "complex", "difference": "off", "verdict": "", "agree": "",
                    "differ": "!", "undecided": "?"}
    for source in result["sources"]:
        elements = source["elements"]
        if not elements:
            sheet.rows.append([numbers.first_derivative(result["of"], source["wrt"]),
                               *[None] * (len(METHODS) + 2), source["verdict"]])
        shown = elements
        if len(elements) > SHOWN and not verbose:
            shown = sorted(elements, key=_badness)[:SHOWN]
        for one in shown:
            if one["verdict"] == "differ":
                sheet.wrong.add(len(sheet.rows))
            sheet.rows.append([
                _name(result["of"], source["wrt"], one), *[one[m] for m in METHODS], one["error"],
                one["difference"], one["verdict"]])
        if len(shown) < len(elements):
            sheet.remarks.append((f"{source['wrt']}: the worst {len(shown)} of {len(elements)}"
                                  " numbers; -v shows all", False))
        _remarks(sheet, source)
    return sheet


def _badness(one: dict[str, Any]) -> tuple[int, float]:
    difference = one["difference"]
    return (("differ", "undecided", "agree").index(one["verdict"]),
            -difference if difference == difference else 0.0)


def _name(of: str, wrt: str, one: dict[str, Any]) -> str:
    row, column = one["of_index"], one["wrt_index"]
    if row is None or column is None:
        return f"d{of}/d{wrt} in a random direction"
    return numbers.first_derivative(of, wrt, tuple(row), tuple(column))


def _remarks(sheet: Sheet, source: dict[str, Any]) -> None:
    said = {text for text, _ in sheet.remarks}
    told = [(f"{c['message']}{_line(c)}", True) for c in source["causes"]]
    told += [(f"{source['wrt']} has no derivative: {r['message']}{_line(r)}", False)
             for r in source["reasons"]]
    told += [(f"no {HEADS[m].replace('central', 'differences')} for {source['wrt']}: {why}", False)
             for m, why in source["methods"].items() if why]
    told += [(f"{n['message']}{_line(n)}", False) for n in source["notes"]]
    sheet.remarks += [one for one in told if one[0] not in said]


def _line(what: dict[str, Any]) -> str:
    return f" (line {what['line']})" if what.get("line") else ""
