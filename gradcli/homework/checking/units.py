"""Units of answers: of a problem with `unit`, what stands behind the number or formula.

A unit is what pint makes of its words, a number of base units; words that pint does not know count
if the sheet's unit has them: dollars per item. An answer in a unit of the same base units is
converted; one without is taken to be in the sheet's, unless `unit_required`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gradcli.base.errors import GradcliError, error
from gradcli.homework.checking.outcome import RIGHT
from gradcli.lang.paper.notations import unit_begin, unit_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

    from gradcli.homework.checking.answered import Trial
    from gradcli.homework.checking.prepared import PreparedProblem

    Bases = tuple[tuple[str, float], ...]
    # A size, and base units with their powers.
    Factor = tuple[float, Mapping[str, float]]

HIGHEST = 9
"""The highest power of a unit."""
WORDS = re.compile(r"[^\W\d_]+|[°%$€£]+[CFcf]?")
# A word; a power; a sign; anything else.
PIECES = re.compile(rf"({WORDS.pattern})|(?:\^|\*\*)?\s*(?:\(\s*([-+]?\d)\s*\)|([-+]?\d))"
                    r"|([/*·⋅.()])|(\S)")
PER = ("/", "per", "pro", "par")
EACH = ("a", "an", "each", "every")
"""Between two units, these are as good: dollars a year."""
BEFORE = {"square": 2.0, "sq": 2.0, "cubic": 3.0}
BEHIND = {"squared": 2.0, "cubed": 3.0}
SPELLED = {"kmh": "kph", "secs": "s", "°C": "delta_degC", "°F": "delta_degF", "°": "degree",
           "degC": "delta_degC", "degF": "delta_degF", "celsius": "delta_degC",
           "fahrenheit": "delta_degF", "sekunde": "s", "sekunden": "s", "stunde": "h",
           "stunden": "h", "minuten": "min", "jahr": "year", "jahre": "year", "tag": "day",
           "tage": "day"}
CURRENCIES = {"$": "dollar", "usd": "dollar", "€": "euro", "eur": "euro", "£": "pound",
              "gbp": "pound"}
PRICE = re.compile(r"(?:[^=]*=)?\s*(\\?([$€£]))\s*(?=[-−]?[\d.])")
DEGREES = re.compile(r"(?:°|\bdeg(?:rees?)?\b)\s*(?:([CF])(?:elsius|ahrenheit)?\b)?|\b([CF])\b",
                     re.IGNORECASE)
OMITTED = re.compile(r"\s*(?:/|(?:per|pro|par|an?|each|every)\b)")
"""The begin of a unit that leaves out what is counted: 7 per year."""


class Unit(NamedTuple):
    """A unit: so many of its base units.

    text: as typed.
    """

    text: str
    size: float
    bases: Bases


def unit_of(prepared: PreparedProblem) -> Unit:
    """Return the unit that a problem asks for.

    Raises E0703 for one that cannot be read, or in two ways, E0704 where pint is not installed.
    """
    found: Unit | None = prepared.cache.get("unit")
    if found is None:
        text = prepared.problem.unit
        try:
            found, *others = parsed(text, {_singular(word) for word in WORDS.findall(text)})
        except GradcliError as problem:
            if problem.code != "E0711":
                raise
            raise error("E0703", f"`unit` must be a unit, not `{text}`",
                        help='write unit = "m/s"', about=("option", "unit")) from None
        if others:
            raise error("E0703", f"`unit` has two readings: `{text}`",
                        help="put brackets around what is below the /", about=("option", "unit"))
        prepared.cache["unit"] = found
    return found


def strange(text: str) -> list[str]:
    """Return the words of a unit that are no unit: the class has to use the same."""
    return [word for word in WORDS.findall(text)
            if word not in PER and word not in BEFORE and word not in BEHIND
            and _known(word) is None]


def parsed(text: str, own: Collection[str] = ()) -> list[Unit]:
    """Return the units that a text may mean: J/kg K is J/kg times K, or J over kg K.

    own: words that count as units. Raises E0711 for a text that is none.
    """
    found = [_Parser(text, own, below).unit() for below in (False, True)]
    return found if found[0].bases != found[1].bases else found[:1]


class _Parser:
    """A unit while it is read. below: all behind the first / is below it."""

    def __init__(self, text: str, own: Collection[str], below: bool) -> None:
        self.text = text
        self.own = own
        self.below = below
        self.pieces = list(PIECES.finditer(text))
        self.at = 0

    def unit(self) -> Unit:
        size, powers = self.product(0)
        if self.at < len(self.pieces) or not WORDS.search(self.text):
            raise self.none()
        return Unit(self.text.strip(), size, tuple(sorted(
            (base, count) for base, count in powers.items() if count)))

    def none(self) -> GradcliError:
        return error("E0711", f"`{self.text.strip()}` is no unit", (0, len(self.text)),
                     help="write it as in m/s or kg m^2")

    def product(self, depth: int) -> Factor:
        size, powers = 1.0, dict[str, float]()
        below = waiting = False
        count = 0
        while self.at < len(self.pieces):
            sign = self.pieces[self.at].group().strip()
            if sign in EACH and count and self.at + 1 < len(self.pieces):
                sign = "per"
            if sign == ")":
                break
            if sign in PER or sign in "*·⋅.":
                if waiting or (not count and sign not in PER):
                    raise self.none()
                below, waiting = sign in PER or (below and self.below), True
                self.at += 1
                continue
            factor, power = self.power(depth)
            power = -power if below else power
            below, waiting, count = below and self.below, False, count + 1
            size *= factor[0] ** power
            for base, number in factor[1].items():
                powers[base] = powers.get(base, 0.0) + number * power
        if waiting or not count:
            raise self.none()
        return size, powers

    def power(self, depth: int) -> tuple[Factor, float]:
        """Return a word or bracket and its power; 1 is a word for nothing."""
        piece = self.pieces[self.at]
        self.at += 1
        before = BEFORE.get(piece.group())
        if before and self.at < len(self.pieces):
            piece = self.pieces[self.at]
            self.at += 1
        if piece[1]:
            factor = _known(piece[1]) or _own(piece[1], self.own)
            if factor is None:
                raise error("E0711", f"`{piece[1]}` is no unit that is known", piece.span(1),
                            help="give the number alone")
        elif piece[4] == "(" and depth < HIGHEST:
            factor = self.product(depth + 1)
            if self.at == len(self.pieces):
                raise self.none()
            self.at += 1
        elif piece.group().strip() == "1":
            return (1.0, {}), 1.0
        else:
            raise self.none()
        behind = self.pieces[self.at] if self.at < len(self.pieces) else None
        number = behind and (behind[2] or behind[3])
        if behind and (number or behind.group() in BEHIND):
            self.at += 1
            return factor, float(number) if number else BEHIND[behind.group()]
        return factor, before or 1.0


def _own(word: str, own: Collection[str]) -> Factor | None:
    return (1.0, {_singular(word): 1}) if _singular(word) in own else None


def _singular(word: str) -> str:
    word = word.lower().removesuffix("s") if len(word) > 2 else word
    return CURRENCIES.get(word, word)


_registry: Any = None


def _known(word: str) -> Factor | None:
    """Return the number of base units of a word, and their powers; None for a word that is no unit.

    Raises E0704 where pint is not installed.
    """
    global _registry
    if _registry is None:
        try:
            import pint
        except ImportError:
            raise error("E0704", "`unit` needs pint, which is not installed",
                        help="pip install 'gradcli[units]'", about=("option", "unit")) from None
        _registry = pint.UnitRegistry()
    for spelling in dict.fromkeys((SPELLED.get(word, word), word, word.lower())):
        try:
            size, unit = _registry.get_root_units(SPELLED.get(spelling, spelling))
        except Exception:       # pint has an error of its own for each way to be no unit
            continue
        return float(size), dict(unit._units)
    return None


# ---- the unit of an answer -----------------------------------------------------------------------

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
