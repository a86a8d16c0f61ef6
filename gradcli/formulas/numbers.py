"""Constants of a formula: exact fractions where a float stands for one, so that folding them does
not round, and the well-known ones by their names.
"""

from __future__ import annotations

import math
from fractions import Fraction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Number: TypeAlias = Fraction | float

ZERO, ONE, MINUS, HALF = Fraction(0), Fraction(1), Fraction(-1), Fraction(1, 2)

# Decimals of up to so many digits were written by somebody and mean what they say.
DIGITS = 12
# Beyond this, fractions are floats: nobody reads them.
LARGEST = 10**15
# A float is a fraction p/q if q is no larger and the quotient is the same float.
DENOMINATOR = 1000
# Fractions of well-known constants.
SIMPLE = 360
MULTIPLE = 1000

# Value to how it is written: a name, or (operation, argument).
KNOWN: tuple[tuple[float, tuple[Any, ...]], ...] = (
    (math.pi, ("pi",)),
    (math.e, ("e",)),
    (math.log(2.0), ("log", 2)),
    (math.log(10.0), ("log", 10)),
    (math.sqrt(math.pi), ("sqrt", "pi")),
    (1.0 / math.pi, ("1/", "pi")),
    (1.0 / math.sqrt(math.pi), ("1/sqrt", "pi")),
    (math.sqrt(2.0), ("sqrt", 2)),
    (math.sqrt(2.0 * math.pi), ("sqrt", "2*pi")),
    (1.0 / math.sqrt(2.0 * math.pi), ("1/sqrt", "2*pi")),
    (math.sqrt(3.0), ("sqrt", 3)),
    (math.pi**2, ("^2", "pi")),
    *[(math.log(n), ("log", n)) for n in (3, 5, 6, 7, 11, 13)],
    *[(math.sqrt(n), ("sqrt", n)) for n in (5, 6, 7, 10)],
    *[(f(n), (f.__name__, n)) for f in (math.sin, math.cos) for n in (1, 2, 3)],
    *[(math.exp(n), ("e^", n)) for n in (-3, -2, -1, 2, 3, 4)],
    (math.sqrt(math.e), ("sqrt", "e")),
)


def exact(value: float) -> Number:
    """The fraction that a float stands for, or the float."""
    if value == 0:
        return ZERO  # a formula has no signed zeros
    if value - value != 0:
        return value
    if value == int(value) and abs(value) < LARGEST:
        return Fraction(int(value))
    text = repr(value)
    digits = text.split("e")[0].replace(".", "").replace("-", "").strip("0")
    if len(digits) <= DIGITS:
        return Fraction(text)
    if 1e-4 < abs(value) < 1e6:
        near = Fraction(value).limit_denominator(DENOMINATOR)
        if near.numerator / near.denominator == value:
            return near
    return value


def known(value: float) -> tuple[Fraction, tuple[Any, ...]] | None:
    """(fraction, constant) of a float that is a simple fraction of a well-known constant, to
    within two units in the last place.
    """
    for constant, name in KNOWN:
        ratio = value / constant
        near = _simple(ratio) if 1e-4 < abs(ratio) < MULTIPLE else None
        if near is not None and abs(constant * near.numerator / near.denominator - value) <= (
                4e-16 * abs(value)):
            return near, name
    return None


def _simple(ratio: float) -> Fraction | None:
    """The fraction with a small denominator that a float is to within rounding: the first such
    convergent of its continued fraction.
    """
    p, q, p_before, q_before = 1, 0, 0, 1
    rest = ratio
    while True:
        n = math.floor(rest)
        p, q, p_before, q_before = n * p + p_before, n * q + q_before, p, q
        if q > SIMPLE:
            return None
        if abs(p / q - ratio) <= 1e-15 * abs(ratio):
            return Fraction(p, q)
        rest = 1 / (rest - n)


def tidy(value: Number) -> Number:
    """A result of exact arithmetic; a float once it is too long to be read."""
    if isinstance(value, Fraction) and (
            abs(value.numerator) > LARGEST or value.denominator > LARGEST):
        return _float(value)
    return value


def _float(value: Fraction) -> float:
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def as_float(value: Number) -> float:
    """A number as a float."""
    return _float(value) if isinstance(value, Fraction) else value


def plus(a: Number, b: Number) -> Number:
    """a + b."""
    if a is ZERO:
        return b
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return tidy(a + b)
    return as_float(a) + as_float(b)


def times(a: Number, b: Number) -> Number:
    """a*b."""
    if b is ONE:
        return a
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return tidy(a * b)
    return as_float(a) * as_float(b)


def whole(value: Number) -> int | None:
    """A whole number as one, else None."""
    if isinstance(value, Fraction) and value.denominator == 1:
        return value.numerator
    return None


def to_power(a: Number, n: int) -> Number | None:
    """a^n for a whole n; None where that is no readable number."""
    if a == 0 and n <= 0:
        return math.inf if n else None
    if isinstance(a, Fraction):
        if abs(n) * max(a.numerator.bit_length(), a.denominator.bit_length()) > 60:
            return None
        return tidy(a**n)
    try:
        found = float(a**n)
    except OverflowError:
        return None
    return found if found - found == 0 and found != 0 else None


def decimal(value: Fraction) -> str | None:
    """A fraction as a short decimal that reads back as the same number, else None."""
    shown = repr(_float(value))
    try:
        return shown if Fraction(shown) == value else None
    except ValueError:
        return None
