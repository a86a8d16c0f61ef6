"""Units as they are written: m/s, kg m^2, dollars a year.

A unit is what pint makes of its words, a number of base units; words that pint does not know count
if the sheet's unit has them: dollars per item.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gradcli.base.errors import GradcliError, error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

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
