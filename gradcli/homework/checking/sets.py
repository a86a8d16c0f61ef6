"""The judge of answers that are sets of numbers or points: zeros, critical points, extrema.

Their order does not matter, nor does how often one is named; what each is called counts where it is
said. What else an answer may mean, 1,5 or {1, 5}, is judged, too.
"""

from __future__ import annotations

import re

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import np
from gradcli.formulas.rounding import Values
from gradcli.homework.checking import compare
from gradcli.homework.checking.outcome import leave
from gradcli.homework.checking.problem import slope
from gradcli.homework.checking.set_reader import NEAR, Item, items
from gradcli.homework.checking.solutions import find, is_solution, wanted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.homework.checking.prepared import PreparedProblem
    from gradcli.homework.checking.problem import Reference, Solution

COMMA = re.compile(r"(?<![\d.,])(\d+),(\d+)(?![\d.])")
WHOLE = re.compile(r"(?<![\d.,])\d+,0+(?!\d)")
"""1,0, which nobody writes for 1: 1 and 0 are meant."""
THOUSANDS = re.compile(r"(?<![\d.,])(\d{1,3}),(?=\d{3}(?!\d))")
LISTED = re.compile(r"[;|\n]|,\s|\s(?:and|or|und|oder|et|ou)\s")
"""What stands between numbers whose commas are decimal ones."""
BESIDE = re.compile(r"(?<=[\w)}])[ \t]+([-+±])(?=[\w(√\\])")


def judge_set(prepared: PreparedProblem, text: str, result: dict[str, Any]) -> None:
    """Fill in the verdict on a set. Raises what `items` raises."""
    first, *others = _meanings(text, prepared.problem.decimal_comma)
    unreadable, found = None, {"verdict": "unreadable", "score": 0.0}
    try:
        found = _judged(prepared, first[0])
    except GradcliError as problem:
        unreadable = problem
    for other, sure in [] if found["verdict"] == "correct" else others:
        try:
            again = _judged(prepared, other)
        except GradcliError:
            continue
        if again["verdict"] != "wrong" or (sure and again["score"] > found["score"]):
            unreadable, found = None, again
            if not sure:
                leave(found, f"this may mean {found['read_as']}")
            break
    if unreadable is not None:
        raise unreadable
    result.update(found)


def _meanings(text: str, decimal_comma: bool) -> list[tuple[str, bool]]:
    """Return the text as the sheet writes numbers, and in other ways; and of each whether the text
    itself shows that it is written so.
    """
    text = text.replace("{,}", ",")
    decimal = COMMA.sub(r"\1.\2", text), (
        LISTED.search(COMMA.sub("", text)) is not None and WHOLE.search(text) is None)
    first, second = (decimal, (text, False)) if decimal_comma else ((text, False), decimal)
    found = dict([first, second] if first[0] != second[0] else [first])
    for other in (THOUSANDS.sub(r"\1", text), BESIDE.sub(r", \1", first[0]),
                  first[0].replace("/", ", ")):        # HP(1/-2)
        found.setdefault(other, False)
    return list(found.items())


def _judged(prepared: PreparedProblem, text: str) -> dict[str, Any]:
    """Return the verdict on one meaning of an answer."""
    reference = prepared.reference
    given = items(text, reference)
    result: dict[str, Any] = {
        "read_as": "; ".join([_shown(item.at, item.sort) for item in given]) or "none"}
    solutions = wanted(reference)
    others = [one for one in reference.solutions or () if one not in solutions]
    if reference.kind.sorted:       # what is no extremum, and said to be none
        given = [item for item in given if item.sort not in NO_EXTREMUM or not any(
            _is_near(item, one, prepared) for one in others)]
    places = [next((k for k, one in enumerate(solutions) if _is_near(item, one, prepared)), None)
              for item in given]
    extra = [item for item, k in zip(given, places, strict=True) if k is None]
    found = {k: [item for item, place in zip(given, places, strict=True) if place == k]
             for k in places if k is not None}
    total = len(solutions) + len(extra)
    result["points"] = {"usable": total, "agree": len(found), "disagree": total - len(found),
                        "undefined": 0}
    missing = [one for k, one in enumerate(solutions) if k not in found]
    why = _doubt(prepared, given, extra, missing, others) or next(
        (f"{_shown(same[0].at, '')} is called two things" for same in found.values()
         if len({_said(item.sort) for item in same} - {"", "extremum"}) > 1), "")
    if why:
        leave(result, why)
        return result
    _settle(prepared, given, found, extra, result)
    return result


def _settle(prepared: PreparedProblem, given: list[Item], found: dict[int, list[Item]],
            extra: list[Item], result: dict[str, Any]) -> None:
    """Fill in the verdict on a set without doubts. found: the items by the solution they are."""
    reference = prepared.reference
    solutions = wanted(reference)
    missing = [one for k, one in enumerate(solutions) if k not in found]
    called = {k: max([item.sort for item in same], key=SURE.index) for k, same in found.items()}
    misnamed = [(found[k][0]._replace(sort=sort), solutions[k]) for k, sort in called.items()
                if sort and solutions[k].sort and not _fits(sort, solutions[k].sort)]
    if missing or extra or misnamed:
        mistake, said = _mistake(prepared, given, missing, extra, misnamed)
        result.update(verdict="wrong", score=(len(found) - len(misnamed)) / max(
            len(solutions) + len(extra), 1),
                      mistake=mistake, also=[], confidence="high", fingerprint=_print(given))
        _tell(result, said)
    elif reference.kind.solved == 1 and any(
            sort and not solutions[k].sort for k, sort in called.items()):
        leave(result, "what the points are called is not known here")
    elif reference.kind.sorted and not all(called.values()):
        result.update(verdict="wrong", score=0.5, mistake="classification_missing", also=[],
                      confidence="high")
        _tell(result, "the points are right: say of each whether it is a maximum or a minimum")
    else:
        result.update(verdict="correct", score=1.0, message="right")


def _said(sort: str) -> str:
    return "neither" if sort in NO_EXTREMUM else sort


def _fits(sort: str, right: str) -> bool:
    return _said(sort) == right or (sort == "extremum" and right in ("max", "min"))


def _print(given: list[Item]) -> str:
    return " ".join(sorted({
        f"{','.join([f'{v:.5e}' for v in item.at])}{item.sort}" for item in given}))


def _doubt(prepared: PreparedProblem, given: list[Item], extra: list[Item],
           missing: list[Solution], others: list[Solution]) -> str:
    """Return why a person decides about a set that is not the right one, or ""."""
    reference = prepared.reference
    n, solved = len(reference.wrt), reference.kind.solved
    if len(given) == len(extra) == 1 < len(given[0].at) > n and not given[0].sort and _are(
            [Item((value,), (text,), "") for value, text in zip(*given[0][:2], strict=True)],
            solved, prepared):
        return "the brackets may be those of a set or of one point"
    for item in extra:
        if any(_is_near(item, one, prepared) for one in others):
            continue
        shown = _shown(item.at, "")
        if item.stated:
            return f"the value at {_shown(item.at[:n], '')} may be a remark"
        if item.sort in NO_EXTREMUM:
            return f"{shown} is not asked for"
        if _may_be(item, reference):
            return f"{shown} may be right, too: gradcli has not found it"
        if item.sort and n == len(item.at) == 1 and any(
                _is_near(Item((one.at[0], item.at[0]), ("", item.texts[0]), ""), one, prepared)
                for one in reference.solutions or ()):
            return f"{shown} may be the value there"
    if missing and not extra and all(_is_end(one.at, reference) for one in missing):
        return f"{_shown(missing[0].at, '')} is an end of the range, which may not count"
    return ""


def _is_end(at: tuple[float, ...], reference: Reference) -> bool:
    """Return whether a point is at an end of the range, which may be written with few digits."""
    ends = reference.problem.domain
    return any(abs(value - end) <= NEAR * (1 + abs(end)) + compare.half_unit(end)
               for name, value in zip(reference.wrt, at, strict=True)
               for end in ends.get(name, ()))


def _may_be(item: Item, reference: Reference) -> bool:
    """Return whether an item may be a solution that was not found, or is an end of the range."""
    return len(item.at) == len(reference.wrt) and (
        is_solution(reference, item.at, reference.kind.solved)
        or (_is_end(item.at, reference) and (reference.kind.solved == 1 or _vanishes(
            item.at, reference))))


def _vanishes(at: tuple[float, ...], reference: Reference) -> bool:
    """Return whether a number is a solution if the range goes on: 2π where it ends at 6.28."""
    formula, (name,) = reference.formula, reference.wrt
    order = reference.kind.solved
    node = slope(formula, reference.functions[0], name, order) if order else reference.functions[0]
    (value, beside), = Values(formula, {name: np.array([at[0], at[0] + 1e-3])}).plain([node])
    return bool(abs(value) <= NEAR * (1 + abs(beside)))


def _tell(result: dict[str, Any], said: str) -> None:
    result["hint"] = result["message"] = f"looks like {said}"


def _is_near(item: Item, one: Solution, prepared: PreparedProblem) -> bool:
    """Return whether an item is a solution; of a point of the graph, both coordinates count."""
    wanted = list(one.at)
    if len(item.at) > len(wanted):
        reference = prepared.reference
        (value,) = Values(reference.formula, dict(zip(reference.wrt, one.at, strict=True))).plain(
            reference.functions)
        wanted.append(float(value))
    return all(abs(typed - right) <= NEAR * (1 + abs(right)) + compare.allowed(
        prepared.problem.tolerance, right, typed, text.strip("+- "))
        for typed, right, text in zip(item.at, wanted, item.texts, strict=True))


def _mistake(prepared: PreparedProblem, given: list[Item], missing: list[Solution],
             extra: list[Item], misnamed: list[tuple[Item, Solution]]) -> tuple[str, str]:
    """Return the name of a mistake, and what is said of it."""
    reference = prepared.reference
    solutions = wanted(reference)
    if not extra and not missing:
        item, one = misnamed[0]
        return "classification_wrong", f"{_shown(item.at, '')} is a {NAMES[one.sort]}, not a" \
            f" {NAMES[item.sort]}"
    turned = [Item(tuple([-v for v in item.at]), item.texts, item.sort) for item in given]
    if len(missing) == len(solutions) == len({item.at for item in given}) and all(
            any(_is_near(item, one, prepared) for one in solutions) for item in turned):
        return "sign_error", "the signs are wrong"
    others = [one for one in reference.solutions or () if one not in solutions]
    lost = next((item for item in extra if any(
        _is_near(item, one, prepared) for one in others)), None)
    if lost is not None:
        return "values_extra", (
            f"{_shown(lost.at, '')} is none of them: the sign does not change there")
    for order, what in enumerate(("the function itself", "its derivative",
                                  "its second derivative")):
        if extra and order != reference.kind.solved and _are(given, order, prepared):
            name = "wrong_order" if order else "answered_original"
            return name, f"these are the zeros of {what}"
    if extra:
        return "values_extra", f"{_shown(extra[0].at, '')} is none of them" + (
            f", and {len(missing)} {'is' if len(missing) == 1 else 'are'} missing"
            if missing else "")
    return "components_missing", (f"{len(missing)} of {len(solutions)}"
                                  f" {'is' if len(missing) == 1 else 'are'} missing")


def _found(prepared: PreparedProblem, order: int) -> list[Solution]:
    """Return where a derivative of this order is 0; nothing where that has no answer."""
    try:
        return find(prepared.reference, order)
    except GradcliError:
        return []


def _are(given: list[Item], order: int, prepared: PreparedProblem) -> bool:
    """Return whether the items are all points at which a derivative of this order is 0."""
    found = prepared.kept(("solutions", order), lambda: _found(prepared, order))
    pairs = [[_is_near(item, one, prepared) for one in found] for item in given]
    return bool(found) and all(map(any, pairs)) and all(map(any, zip(*pairs, strict=True)))


NAMES = {"max": "maximum", "min": "minimum", "neither": "point that is neither",
         "inflection": "point of inflection", "extremum": "maximum or minimum"}
NO_EXTREMUM = "neither", "inflection"
SURE = "", "extremum", "inflection", "neither", "min", "max"
"""What a point is called, the more definite last."""


def _shown(at: tuple[float, ...], sort: str) -> str:
    texts = ", ".join([compare.shown(v) for v in at])
    return f"{f'({texts})' if len(at) > 1 else texts}{f' {sort}' if sort else ''}"
