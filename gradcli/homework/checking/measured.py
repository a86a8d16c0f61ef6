"""The unit of an answer: what stands behind its number or formula, or before it, $7 a year.

An answer in a unit of the same base units as that of the problem is converted; one without is taken
to be in the sheet's, unless `unit_required`.
"""

from __future__ import annotations

import re

from gradcli.base.errors import GradcliError
from gradcli.homework.checking.outcome import RIGHT
from gradcli.homework.checking.units import CURRENCIES, Unit, parsed, unit_of
from gradcli.lang.paper.notations import unit_begin, unit_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from gradcli.homework.checking.answered import Trial
    from gradcli.homework.checking.prepared import PreparedProblem

PRICE = re.compile(r"(?:[^=]*=)?\s*(\\?([$€£]))\s*(?=[-−]?[\d.])")
DEGREES = re.compile(r"(?:°|\bdeg(?:rees?)?\b)\s*(?:([CF])(?:elsius|ahrenheit)?\b)?|\b([CF])\b",
                     re.IGNORECASE)
OMITTED = re.compile(r"\s*(?:/|(?:per|pro|par|an?|each|every)\b)")
"""The begin of a unit that leaves out what is counted: 7 per year."""


def split(prepared: PreparedProblem, text: str) -> tuple[str, Unit | None]:
    """Return an answer without its unit, at its length, and the unit; None where it has none.

    Raises E0711 for one that is not known.
    """
    wanted = unit_of(prepared)
    names = prepared.reference.names
    own = {base for base, _ in wanted.bases}
    text, price = _without_price(text, own)
    at = unit_begin(text, None if prepared.single else names)
    if not at:
        return text, None
    shown = price + re.sub(r"^[\s(]*in\s", "", unit_text(text)[at:].rstrip(" .,"))
    # ms^-1 is meant as m s^-1, and M/S as m/s, where that is asked for.
    spellings = [unit for spelling in dict.fromkeys((
        shown, re.sub(r"^([\s(]*[A-Za-z])(?=[A-Za-z](?![A-Za-z]))", r"\1 ", shown), shown.lower(),
        _in_degrees(shown, wanted)))
        for unit in _read(spelling, own)]
    if not spellings:
        parsed(shown, own)      # raises
    unit = next((one for one in spellings if one.bases == wanted.bases), spellings[0])
    behind = text[at:]
    kept = "$" if behind.rstrip().endswith("$") else ""
    blank = (" " * len(behind))[len(kept):] + kept
    return _repeated(text[:at], behind.strip(" ,.")) + blank, unit._replace(
        text=(price + behind).strip(" ()[]$."))


def _without_price(text: str, own: Collection[str]) -> tuple[str, str]:
    """Return a text, at its length, without the currency before its number, and that: $7 a year."""
    found = PRICE.match(text)
    if found is None or CURRENCIES[found[2]] not in own or (
            found[1] == "$" and text.count("$") > 1):
        return text, ""
    begin, end = found.span(1)
    return text[:begin] + " " * (end - begin) + text[end:], f"{found[2]} "


def _repeated(text: str, unit: str) -> str:
    """Return a text, at its length, without the unit that stands behind other terms as well: 6t m/s
    + 2 m/s.
    """
    return re.sub(rf"(?<=[\w)}}\s]){re.escape(unit)}(?=\s*(?:[-−+=≈)]|$))",
                  lambda found: " " * len(found.group()), text)


def _in_degrees(text: str, wanted: Unit) -> str:
    """Return a unit in which degrees are those of a temperature, where one is asked for."""
    if "kelvin" not in dict(wanted.bases):
        return text
    scale = "F" if re.search(r"F\b|ahrenheit", wanted.text) else "C"
    return DEGREES.sub(lambda found: f" °{(found[1] or found[2] or scale).upper()} ", text)


def _read(text: str, own: Collection[str]) -> list[Unit]:
    try:
        return parsed(text, own)
    except GradcliError as problem:
        if problem.code != "E0711":
            raise
        return []


def factor(prepared: PreparedProblem, unit: Unit) -> float:
    """Return what an answer in a unit is multiplied by; 0 where it measures something else."""
    wanted = unit_of(prepared)
    return unit.size / wanted.size if unit.bases == wanted.bases else 0.0


def settle(trial: Trial, result: dict[str, Any]) -> bool:
    """Fill in that a right number has no unit, or another one than the problem asks for; return
    whether it has.
    """
    prepared, reading = trial.prepared, trial.answered.reading
    right = result["verdict"] in RIGHT
    wanted = prepared.problem.unit
    if reading.unit:
        fits = reading.scale != 0
        if right and fits:
            return False
        if right and OMITTED.match(reading.unit):
            result.update(verdict="undecided", score=0.0, witness=None, message=f"the number is"
                          f" right, `{reading.unit}` does not say of what: a person has to look at"
                          " it")
            return True
        if right or not fits:
            hint = f"the unit is not {reading.unit}: {wanted} is asked for"
            return right and _fail(result, "unit_wrong", hint)
        return _number_right(trial) and _fail(
            result, "unit_wrong", f"this is right in {wanted}, not in {reading.unit}")
    if right and prepared.problem.unit_required:
        return _fail(result, "unit_missing", f"the unit is missing: {wanted}, or another that"
                     " measures the same")
    return False


def _number_right(trial: Trial) -> bool:
    """Return whether the answer would be right in the unit that is asked for."""
    from gradcli.homework.checking.judge import is_right

    reading = trial.answered.reading
    scale, reading.scale = reading.scale, 1.0
    try:
        return is_right(trial.prepared, reading, trial.deadline)
    finally:
        reading.scale = scale


def _fail(result: dict[str, Any], mistake: str, hint: str) -> bool:
    result.update(verdict="wrong", score=0.0, mistake=mistake, also=[], confidence="high",
                  hint=hint, message=hint, witness=None)
    return True
