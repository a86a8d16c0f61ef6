r"""Answers that are sets of numbers or points: zeros, critical points, extrema.

`x = 1, -1`, `{-1; 1}`, `x = ±1`, `1 and -1`, `max at x = 1, min at -1`, `(0, 0) saddle`. Their
order does not matter, nor does how often one is named; what each is called counts where it is said.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gradcli.base.errors import GradcliError, error
from gradcli.formulas.nodes import Formula
from gradcli.formulas.rounding import Values
from gradcli.homework.checking import compare
from gradcli.homework.checking.built import build, flat
from gradcli.homework.checking.solutions import find, is_solution, wanted
from gradcli.lang.paper.answer import read
from gradcli.lang.paper.left import closed
from gradcli.lang.paper.names import ProblemNames

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.homework.checking.prepared import PreparedProblem
    from gradcli.homework.checking.problem import Reference, Solution

NEAR = 1e-9
WRITTEN = {r"\pm": "±", "+/-": "±", "+-": "±", r"\{": "{", r"\}": "}", r"\left": "", r"\right": "",
           r"\quad": " ", r"\qquad": " ", r"\,": " ", r"\;": " ", r"\ ": " ", "$": "",
           r"\lor": " or ", r"\vee": " or ", "∨": " or ", r"\in": "∈", r"\emptyset": "∅",
           r"\varnothing": "∅", "&": " and ", "−": "-", "–": "-"}
WORDS = re.compile(r"\\(?:text|textrm|mathrm|mbox)\s*\{([^{}]*)\}")
SORTS = (
    ("neither", r"saddle(?:\s*-?\s*points?)?|sattel(?:punkte?)?|neither|terrace(?:\s*points?)?|no"
                r"\s+extremum|not\s+an?\s+extremum|inflection\s+points?"),
    ("max", r"max(?:im(?:um|a|al))?|high\s*points?|hochpunkte?|hp|peaks?"),
    ("min", r"min(?:im(?:um|a|al))?|low\s*points?|tiefpunkte?|tp|valleys?"))
FILLING = re.compile(
    r"\b(?:absolute|abs|global|glob|local|loc|relative|rel|strict|isolated|there|is|are|an?|the"
    r"|at|when|where|for|points?|crit(?:ical)?|zeros?|roots?|solutions?|extrem(?:um|a)|stationary"
    r"|inflections?|f(?![(\w'])|function|graph|curve|occurs?|it|has|have|of|only|bei|ist|und|both|answer|values?|x-values?)\b\.?",
    re.IGNORECASE)
NOTHING = re.compile(
    r"(?:∅|\{\s*\}|none|no(?:ne)?(?:\s+\w+)*|does\s+not\s+exist|dne|empty(?:\s+set)?|there\s+(?:is"
    r"|are)\s+none|keine?)\.?", re.IGNORECASE)
LABEL = re.compile(
    r"^\s*(?:(?!max|min|hp|tp)[a-z]\w{0,2}(?:_\{?\w+\}?)?|\(\s*[a-z]\w*(?:\s*,\s*[a-z]\w*)+\s*\))\s*"
    r"(?:=|∈|:)\s*", re.IGNORECASE)
CLOSING = {"(": ")", "[": "]", "{": "}"}


class Item(NamedTuple):
    """One number or point of an answer: its coordinates, as typed, and what it is called."""

    at: tuple[float, ...]
    texts: tuple[str, ...]
    sort: str


def items(text: str, reference: Reference) -> list[Item]:
    """Return the items of an answer. Raises E0710 and others for what is no list of numbers."""
    for written, meant in WRITTEN.items():
        text = text.replace(written, meant)
    text = WORDS.sub(r" \1 ", text).strip().rstrip(".")
    text = re.sub(r"\(([^()|]*)\|([^()|]*)\)", r"(\1, \2)", text)        # HP(-1|2)
    if NOTHING.fullmatch(text.strip()):
        return []
    found: list[Item] = []
    leading = ""
    for part in _parts(text, reference.problem.decimal_comma):
        if re.search(r"=\s*0$", part) and not LABEL.match(part):       # f' = 3x^2 - 3 = 0
            continue
        sort, bare, before = _sort(part)
        if before:
            leading = sort
        sort = (sort or leading) if reference.kind.solved == 1 else ""
        if not bare:
            if not sort:
                raise _unclear(part)
            continue
        found += [_item(one, sort, reference) for one in _signed(bare)]
    if not found:
        raise _unclear(text)
    return found


def _parts(text: str, decimal_comma: bool) -> list[str]:
    """Return the parts of a list, split where no bracket is open."""
    text = LABEL.sub("", text)
    bare = text.strip()
    if bare[:1] == "{" and closed(bare, 0) == len(bare):
        text = bare[1:-1]
    text = re.sub(r"\b(?:and|or|und|oder|et|ou|y)\b", ";", text) if not re.search(
        r"\by\b", text) else re.sub(r"\b(?:and|or|und|oder|et|ou)\b", ";", text)
    found, depth, begin = [], 0, 0
    for at, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        comma = character == "," and not (
            decimal_comma and text[at - 1:at].isdigit() and text[at + 1:at + 2].isdigit())
        if depth <= 0 and (character in ";\n" or comma):
            found.append(text[begin:at])
            begin = at + 1
    found.append(text[begin:])
    return [part.strip() for part in found if part.strip()]


def _sort(part: str) -> tuple[str, str, bool]:
    """Return what a part calls its number, the rest of it, and whether the name stands first."""
    for sort, pattern in SORTS:
        found = re.search(rf"(?<![a-z])(?:{pattern})(?![a-z])\.?", part, re.IGNORECASE)
        if found is not None:
            rest = _bare(part[:found.start()] + " " + part[found.end():])
            if rest.startswith("- "):       # max - 1
                raise _unclear(part)
            return sort, rest, not re.search(r"\d", part[:found.start()])
    return "", _bare(part), False


def _bare(part: str) -> str:
    """Return a part without words that say nothing, and without its label."""
    part = FILLING.sub(" ", part).strip(" :.,—").rstrip("- ")
    part = re.sub(r"\(\s*\)", "", part).strip(" :").rstrip("- ")
    return LABEL.sub("", part).strip(" :")


def _signed(text: str) -> list[str]:
    """Return both meanings of a text with one ±."""
    if text.count("±") > 1:
        raise _unclear(text)
    return [text.replace("±", "+"), text.replace("±", "-")] if "±" in text else [text]


def _item(text: str, sort: str, reference: Reference) -> Item:
    """Read one number or point."""
    n = len(reference.wrt)
    names = ProblemNames((), decimal_comma=reference.problem.decimal_comma, vector=True)
    if re.search(r"(?<![<>])=|<|>|≤|≥|\binf|∞|[ℤ]|\\mathbb", text):
        raise _unclear(text)
    reading = read(text.lstrip("+ "), names)
    formula = Formula()
    nodes = flat(build(reading.code, formula, (), degrees=reference.problem.angle == "degree"))
    letters = formula.leaves(nodes)
    if letters:
        raise error("E0711", f"`{letters[0]}` is no number: numbers are asked for",
                    (0, len(text)), help="write each number")
    values = [float(value) for value, _ in Values(formula, {}).of(nodes)]
    texts = tuple(re.split(r"[,;]\s*", text.strip("()[]<> "))) if len(nodes) > 1 else (text,)
    if n == 1 and len(values) == 2:     # a point of the graph
        return Item(tuple(values), texts, sort)
    if len(values) != n:
        raise error("E0711", f"a {'number' if n == 1 else f'point with {n} coordinates'} is asked"
                    f" for, not `{text}`", (0, len(text)), help="write x = 1, 2" if n == 1 else
                    "write (1, 2), (3, 4)")
    return Item(tuple(values), texts if len(texts) == len(values) else ("",) * len(values), sort)


def _unclear(text: str) -> GradcliError:
    return error("E0711", f"`{text.strip()[:40]}` is no list of numbers", (0, len(text)),
                 help="write numbers with commas between them, such as x = 1, 2")


# ---- words -------------------------------------------------------------------------------------

MISSING = frozenset((
    "dne", "doesnotexist", "doesn'texist", "doesntexist", "itdoesnotexist", "thelimitdoesnotexist",
    "thederivativedoesnotexist", "f'(x)doesnotexist", "notdefined", "undefined", "∄",
    "existiertnicht", "nichtdefiniert", "notexist", "n'existepas"))
"""Ways to say that there is none: where a sheet lists one, all are right."""


def judge_words(prepared: PreparedProblem, text: str, result: dict[str, Any]) -> None:
    """Fill in the verdict on an answer in words: right if the sheet lists it, wrong if it is a
    formula, and else for a person.
    """
    given = _folded(text)
    listed = {_folded(word) for word in prepared.problem.words}
    if given in listed or (given in MISSING and listed & MISSING):
        result.update(verdict="correct", score=1.0, message="right", read_as=text.strip())
        return
    formula = Formula()
    reading = read(text, prepared.reference.names)      # what cannot be read is for a person, too
    letters = set(formula.leaves(flat(build(reading.code, formula, ()))))
    if letters <= set(prepared.reference.wrt):
        result.update(verdict="wrong", score=0.0, message="this is not the answer",
                      read_as=reading.read_as, fingerprint=reading.read_as)
    else:
        _leave(result, "these words are not listed")


def _folded(text: str) -> str:
    """Return a text without blanks, signs around it and capitals."""
    text = WORDS.sub(r"\1", text).replace("’", "'").casefold()
    return "".join(text.split()).strip(".!,;:$\"'`()")


# ---- the verdict -------------------------------------------------------------------------------


def judge_set(prepared: PreparedProblem, text: str, result: dict[str, Any]) -> None:
    """Fill in the verdict on a set. Raises what `items` raises."""
    reference = prepared.reference
    kind = reference.kind
    given = items(text, reference)
    result["read_as"] = "; ".join([_shown(item.at, item.sort) for item in given]) or "none"
    solutions = wanted(reference)
    others = [one for one in reference.solutions or () if one not in solutions]
    given = [item for item in given if item.sort != "neither" or not kind.sorted or not any(
        _is_near(item, one, prepared) for one in others)]
    found: dict[int, Item] = {}
    extra: list[Item] = []
    for item in given:
        k = next((k for k, one in enumerate(solutions) if _is_near(item, one, prepared)), None)
        if k is None:
            extra.append(item)
        elif found.setdefault(k, item).sort != item.sort and found[k].sort and item.sort:
            _leave(result, f"{_shown(item.at, '')} is called two things")
            return
    total = len(solutions) + len(extra)
    result["points"] = {"usable": total, "agree": len(found), "disagree": total - len(found),
                        "undefined": 0}
    if len(given) == len(extra) == 1 < len(given[0].at) > len(reference.wrt) and not (
            given[0].sort) and _are([Item((value,), (text,), "") for value, text in zip(
                *given[0][:2], strict=True)], kind.solved, prepared):
        _leave(result, "the brackets may be those of a set or of one point")
        return
    unsure = [item for item in extra if _may_be(item, reference) and not any(
        _is_near(item, one, prepared) for one in others)]
    if unsure:
        _leave(result, f"{_shown(unsure[0].at, '')} may be right, too: gradcli has not found it")
        return
    misnamed = [(item, solutions[k]) for k, item in found.items()
                if item.sort and solutions[k].sort and item.sort != solutions[k].sort]
    unknown = [item for k, item in found.items() if item.sort and not solutions[k].sort
               and kind.solved == 1]
    missing = [one for k, one in enumerate(solutions) if k not in found]
    if not missing and not extra and not misnamed:
        if unknown:
            _leave(result, f"whether {_shown(unknown[0].at, '')} is a {unknown[0].sort} is not"
                   " known here")
        elif kind.sorted and solutions and not all(item.sort for item in found.values()):
            result.update(verdict="wrong", score=0.5, mistake="classification_missing", also=[],
                          confidence="high")
            _tell(result, "the points are right: say of each whether it is a maximum or a minimum")
        else:
            result.update(verdict="correct", score=1.0, message="right")
        return
    good = len(found) - len(misnamed)
    result.update(verdict="wrong", score=good / max(total, 1))
    mistake, said = _mistake(prepared, given, missing, extra, misnamed)
    result.update(mistake=mistake, also=[], confidence="high")
    _tell(result, said)
    result["fingerprint"] = " ".join(sorted({
        f"{','.join([f'{v:.5e}' for v in item.at])}{item.sort}" for item in given}))


def _may_be(item: Item, reference: Reference) -> bool:
    """Return whether an item may be a solution that was not found, or is an end of the range."""
    if len(item.at) > len(reference.wrt):
        return False
    at = item.at
    ends = reference.problem.domain
    return is_solution(reference, at, reference.kind.solved) or (reference.kind.solved == 1 and any(
        value in ends.get(name, ()) for name, value in zip(reference.wrt, at, strict=True)))


def _tell(result: dict[str, Any], said: str) -> None:
    result["hint"] = result["message"] = f"looks like {said}"


def _leave(result: dict[str, Any], why: str) -> None:
    result.update(verdict="undecided", score=0.0, message=f"{why}: a person has to look at it")


def _is_near(item: Item, one: Solution, prepared: PreparedProblem) -> bool:
    """Return whether an item is a solution; of a point of the graph, both coordinates count."""
    wanted = list(one.at)
    if len(item.at) > len(wanted):
        reference = prepared.reference
        (value,) = Values(reference.formula, {reference.wrt[0]: one.at[0]}).plain(
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


def _are(given: list[Item], order: int, prepared: PreparedProblem) -> bool:
    """Return whether the items are all points at which a derivative of this order is 0."""
    key = "solutions", order
    if key not in prepared.cache:
        try:
            prepared.cache[key] = find(prepared.reference, order)
        except GradcliError:
            prepared.cache[key] = []
    found = prepared.cache[key]
    pairs = [[_is_near(item, one, prepared) for one in found] for item in given]
    return bool(found) and all(map(any, pairs)) and all(map(any, zip(*pairs, strict=True)))


NAMES = {"max": "maximum", "min": "minimum", "neither": "point that is neither"}


def _shown(at: tuple[float, ...], sort: str) -> str:
    texts = ", ".join([compare.shown(v) for v in at])
    return f"{f'({texts})' if len(at) > 1 else texts}{f' {sort}' if sort else ''}"
