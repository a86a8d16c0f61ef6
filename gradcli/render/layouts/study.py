"""study and limit as pages: sentences about the whole, a table of the points."""

from __future__ import annotations

from math import inf

from gradcli.render import latex, numbers
from gradcli.render.layouts.targets import TargetPage, with_records
from gradcli.render.page import Code, Phrase

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    Result = dict[str, Any]


def pages(answer: dict[str, Any], digits: int | None = None, *, verbose: bool = False,
          held: Mapping[str, Any] | None = None) -> list[TargetPage]:
    """Return a page for each target. digits: of numbers in sentences, None for all; held: inputs
    that stand still, and where; verbose: bounds that prove a point, too.
    """
    several = len(answer["results"]) > 1
    found = []
    for result in map(numbers.unsigned, answer["results"]):
        title = [f"{result['of']} = {result['formula']}"]
        for k, (name, value) in enumerate((held or {}).items()):
            title += [" with " if k == 0 else ", ", f"{name} = ", value]
        page = TargetPage(result["of"], title, digits, several)
        PAGES[answer["command"]](page, result, verbose)
        notes = list(dict.fromkeys([note["message"] for note in result["notes"]]))
        for text in notes:
            page.remark(text)
        page.messages = [f"note: {f'{page.name}: ' if several else ''}{text}" for text in notes]
        found.append(page)
    return with_records(answer, found)


def _study(page: TargetPage, result: Result, verbose: bool) -> None:
    say, name = page.facts.rows, result["variable"]
    _add(page, "domain", result["domain_text"])
    sides = [result["symmetry"]] if result["symmetry"] != "none" else []
    if result["period"] is not None:
        sides.append(f"period {_text(result, 'period', page.digits)}")
    if sides:
        _add(page, "symmetry", ", ".join(sides))
    for end, value in result["limits"].items():
        told = "no limit is known" if value is None else _short(value, page.digits)
        say.append((Phrase(f"{name} to {end}", rf"{latex.element(name)} \to {TEX[end]}"),
                    told))
        page.add_own(f"limit({end})", value)
    if result["asymptotes"]:
        _add(page, "asymptotes", ", ".join([one["formula"] for one in result["asymptotes"]]))
    for key, words in INTERVALS.items():
        if result[key]:
            _add(page, words, ", ".join([_interval(result, part, page.digits)
                                         for part in result[key]]))
    page.table.fill(["point", name, page.name, "", "how sure"], sides="llrrl")
    seen: dict[str, int] = {}
    for _, kind, one in _points(result):
        row = [kind, Code(one["exact"]) if one["exact"] else one["x"],
               _value(one, "value", page.digits), one["x"] if one["exact"] else None,
               "proved" if one["proved"] else "not proved"]
        page.table.rows.append(row)
        place = f"{kind}[{seen.setdefault(kind, 0)}]"
        seen[kind] += 1
        page.add_own(place, one["x"])
        if one.get("value") is not None:
            page.add_own(f"{place}.{page.name}", one["value"])
    page.table.head = ["point", Phrase(name, latex.element(name)),
                       Phrase(page.name, latex.element(page.name)), "as a number", "how sure"]


INTERVALS = {"increasing": "increasing on", "decreasing": "decreasing on",
             "constant": "constant on", "convex": "convex on", "concave": "concave on"}


def _points(result: Result) -> list[tuple[str, str, Result]]:
    """Return the points in order of x, with their keys and kinds."""
    found = [(key, one.get("kind", KINDS.get(key, key)), one)
             for key in ("zeros", "poles", "edges", "critical", "kinks", "inflections")
             for one in result[key]]
    kinds = {one["x"] for key, kind, one in found if key == "critical"}
    found = [part for part in found if part[0] != "kinks" or part[2]["x"] not in kinds]
    return sorted(found, key=lambda part: part[2]["x"])


KINDS = {"zeros": "zero", "inflections": "inflection", "edges": "edge"}


def _value(one: Result, key: str, digits: int | None) -> Any:
    if one.get(f"{key}_exact"):
        return Code(one[f"{key}_exact"])
    return one.get(key)


def _text(one: Result, key: str, digits: int | None) -> str:
    return one[f"{key}_exact"] or numbers.significant(one[key], digits)


def _short(value: float, digits: int | None) -> str:
    return _end(value) or numbers.significant(value, digits)


def _end(value: float) -> str | None:
    return {inf: "inf", -inf: "-inf"}.get(value)


def _interval(result: Result, part: Sequence[float], digits: int | None) -> str:
    """Return an open interval, its ends in their exact form where a point of the answer has one.
    """
    exact = {one["x"]: one["exact"] for _, _, one in _points(result) if one["exact"]}
    return f"({', '.join([exact.get(x) or _short(x, digits) for x in part])})"


def _add(page: TargetPage, name: str, text: str) -> None:
    page.facts.rows.append((name, text))
    page.add_own(name.replace(" on", "").replace(" ", "_"), text)


def _limit(page: TargetPage, result: Result, verbose: bool) -> None:
    name = result["variable"]
    at = _short(result["at"][name], page.digits)
    tex = rf"\lim_{{{latex.element(name)} \to {TEX.get(at, at)}}} {latex.element(page.name)}"
    page.facts.rows.append((Phrase(f"limit for {name} to {at}", tex), _told(result, "value")))
    page.add_own("limit", result["value"])
    if result["exact"]:
        page.add_own("exact", result["exact"])
    page.facts.rows.append(("method", METHODS[result["method"]]))
    page.add_own("method", result["method"])
    if result["method"] == "numeric" and result["value"] is not None:
        page.facts.rows.append(("estimated error", result["error"]))
    page.add_own("error", result["error"])
    page.table.fill(["side", "limit", "as a number"], sides="lrr")
    sides = [side for side in ("left", "right") if side in (result["side"], side)]
    for side in sides if at not in TEX else ("value",):
        page.table.rows.append([f"to {at}" if side == "value" else f"from the {side}",
                                _told(result, side), result[side]])
        if side != "value" and result[side] is not None:
            page.add_own(side, result[side])


def _told(result: Result, key: str) -> Any:
    """Return a limit in its exact form, or as a number; `none` where there is none."""
    exact = result["exact" if key == "value" else f"{key}_exact"]
    value = result[key]
    return "none" if value is None else _end(value) or (Code(exact) if exact else value)


TEX = {"inf": r"\infty", "-inf": r"-\infty"}
METHODS = {"series": "an expansion at the point", "numeric": "values near the point",
           "continuity": "continuous there"}
PAGES = {"study": _study, "limit": _limit}
