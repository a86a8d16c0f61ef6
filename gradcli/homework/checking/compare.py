"""Two functions, compared at points: no tolerance but the errors that rounding may have made.

All arrays have a row for each component and a column for each point. A difference counts from 1e-8
of the larger value on, plus the rounding errors of both; where these are too large, the point
abstains.
"""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.formulas.rounding import error_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.formulas.rounding import Values

SAFETY = 16.0
BLURRED = 1e-3
HUGE, TINY = 1e290, 1e-290


class Side:
    """The values of one side, an array; size: their absolute values.

    finite: mask of numbers of usable size.
    noise: 16 times the rounding bound.
    near_zero: mask of values that are 0 as far as rounding lets one see.

    Both are calculated on first use.
    """

    __slots__ = ("_near_zero", "_nodes", "_noise", "_of", "finite", "size", "values")

    def __init__(self, of: Values, nodes: Sequence[int], points: int) -> None:
        """Evaluate the nodes: a row for each node, a column for each point."""
        self._of = of
        self._nodes = nodes
        self._noise: Any = None
        self._near_zero: Any = None
        self.values = _rows(of.plain(nodes), points)
        self.size = abs(self.values)
        self.finite = self.size <= HUGE

    def moved(self, values: Any, noise: Any) -> Side:
        """Return a copy with other values, and `noise` added to its noise."""
        other = Side.__new__(Side)
        other._of, other._nodes, other._near_zero = self._of, self._nodes, None
        other._noise = self.noise + noise
        other.values, other.size = values, abs(values)
        other.finite = other.size <= HUGE
        return other

    @property
    def noise(self) -> Any:
        if self._noise is None:
            with np.errstate(all="ignore"):
                self._noise = _rows([
                    error_of(value, bound) for value, bound in self._of.of(self._nodes)
                ], self.values.shape[1])
                self._noise *= SAFETY
        return self._noise

    @property
    def near_zero(self) -> Any:
        if self._near_zero is None:
            self._near_zero = self.size <= self.noise
        return self._near_zero


def _rows(found: Sequence[Any], points: int) -> Any:
    if len(found) == 1 and type(found[0]) is not float and found[0].shape == (points,):
        return found[0].reshape(1, points).copy()
    made = np.empty((len(found), points))
    for k, value in enumerate(found):
        made[k] = value
    return made


class Comparison:
    """The agreement of two sides at each point.

    usable, agree, disagree, undefined: masks.
    undefined: where only the second side is.
    excess: the difference divided by what is allowed, where they disagree.
    """

    __slots__ = ("agree", "disagree", "excess", "undefined", "usable")

    def __init__(self, right: Side, other: Side, rtol: float, zeros: Any) -> None:
        """Compare two sides.

        zeros: mask of the components of the first side that are 0 by their form.
        """
        with np.errstate(all="ignore"):
            scale = np.maximum(right.size, other.size)
            noise = right.noise + other.noise
            difference = abs(right.values - other.values)
            # 0 on both sides says something where it comes of a difference, and nothing where
            # it is what a float makes of a tiny number.
            both_zero = right.near_zero & other.near_zero
            self.usable = right.finite & other.finite & (noise <= HUGE) & (
                (scale >= TINY) | zeros | (both_zero & (noise >= TINY)))
            allowed = rtol * scale + noise
            self.disagree = self.usable & (difference > allowed)
            blurred = (noise > BLURRED * scale) & ~both_zero
            self.agree = self.usable & ~self.disagree & ~blurred
            self.undefined = right.finite & np.isnan(other.values)
            self.excess = np.where(self.disagree, difference / allowed, 0.0)


# --------------------------------------------------------------------------------------------------
# How near a number has to be, where a problem asks for a number.
#
# A tolerance is a number t, which allows t or the share t of the right value, whichever is more; or
# says which: "0.01 abs", "1e-3 rel", "1%", "3 digits". Without one, what is typed as a decimal must
# be the right value, correctly rounded to the digits typed, of which there are at least three.

LEAST_DIGITS = 3
RAISED = "⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹"
LOWERED = str.maketrans(RAISED, "-+0123456789")


def checked(name: str, value: Any) -> Any:
    """Return a tolerance as a number, or as (kind, number). Raises E0703."""
    kind: Any = ""
    if isinstance(value, dict) and len(value) == 1:
        (kind, value), = value.items()
        kind = {"absolute": "abs", "relative": "rel", "figures": "digits"}.get(kind, kind)
    elif isinstance(value, str):
        text = value.strip()
        if text.endswith("%"):
            kind, value = "rel", _float(text[:-1]) / 100
        else:
            number, _, word = text.partition(" ")
            kind, value = word.strip(), _float(number)
    if kind in ("", "abs", "rel", "digits") and isinstance(value, (int, float)) \
            and not isinstance(value, bool) and 0 <= value < float("inf"):
        return (kind, float(value)) if kind else float(value)
    raise error("E0703", f"`{name}` must be a number, a share or a number of digits",
                help='write tolerance = 0.01, or "1e-3 rel", "0.5 abs", "1%", "3 digits"')


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return -1.0


def allowed(tolerance: Any, right: float, typed: float, text: str) -> float:
    """Return the difference that is allowed between the right number and one that was typed.

    text: as it was typed.
    """
    size = abs(right)
    if tolerance is None:
        return _half_unit(text, typed)
    if isinstance(tolerance, float):
        return tolerance * max(1.0, size)
    kind, value = tolerance
    if kind == "abs":
        return float(value)
    if kind == "rel":
        return float(value) * size
    return float(0.5 * 10.0 ** (_exponent(size) + 1 - value))


def digits(text: str) -> tuple[int, int] | None:
    """Return the number of significant digits of one decimal number, and of those behind the point.

    None for any other text.
    """
    bare = "".join(text.split()).lstrip("+-−–").replace("{,}", ".").replace(",", ".").lower()
    for sign in ("\\times", "\\cdot", "×", "·", "⋅", "∙", "•", "∗", "x"):
        bare = bare.replace(sign, "*")
    raised = len(bare.rstrip(RAISED))
    if raised < len(bare):
        bare = f"{bare[:raised]}^{bare[raised:].translate(LOWERED)}"
    bare = bare.replace("*10**", "e").replace("*10^", "e").replace("−", "-")
    mantissa, _, exponent = bare.partition("e")
    exponent = exponent.strip("(){}")
    whole, _, fraction = mantissa.partition(".")
    if not (whole + fraction).isdecimal() or not (whole + fraction).isascii():
        return None
    try:
        shift = int(exponent) if exponent else 0
    except ValueError:
        return None
    return len((whole + fraction).lstrip("0")), len(fraction) - shift


def _half_unit(text: str, typed: float) -> float:
    found = digits(text)
    if found is None:
        return 0.0
    significant, behind = found
    if significant < LEAST_DIGITS:
        return 0.0
    # A little more than half a unit: 0.125 may be rounded up or down.
    return 0.5000001 * 10.0 ** -behind


def _exponent(size: float) -> int:
    from math import floor, log10

    # A power of ten that rounding left just below is one.
    return floor(log10(size * (1 + 1e-12))) if size else 0


def half_unit(value: float) -> float:
    """Return half a unit of the last digit of a number, the largest error of a rounded one.

    Whole numbers are exact.
    """
    from decimal import Decimal

    if float(value).is_integer():
        return 0.0
    return 0.5*10.0**int(Decimal(repr(float(value))).as_tuple().exponent)


def shown(value: float) -> str:
    """Return a number for people: six digits."""
    if value != value:
        return "undefined"
    return f"{float(value):.6g}"
