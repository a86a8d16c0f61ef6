"""Two functions, compared at points: no tolerance but the errors that rounding may have made.

All arrays have a row for each component and a column for each point. A difference counts from 1e-8
of the larger value on, plus the rounding errors of both; where these are too large, the point
abstains.
"""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.formulas.rounding import error_of
from gradcli.ops.binding import edge_rule
from gradcli.ops.table.elementwise import add, divide, multiply, power, subtract, where

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.formulas.nodes import Formula
    from gradcli.formulas.rounding import Values
    from gradcli.ops.kinds import Op


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


def rounds(text: str, value: float) -> bool:
    """Return whether a decimal number, as typed, is a value rounded to its digits."""
    found = digits(text)
    return found is not None and abs(float(text) - value) <= 0.5000001 * 10.0 ** -found[1]


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


# --------------------------------------------------------------------------------------------------
# Right answers that are 0 by their form: the derivatives of 1^x, x^0, x ln(1).

WHOLE = 2.0**53
"""Whole numbers below are all floats."""


def vanishing(formula: Formula, nodes: Sequence[int]) -> set[int]:
    """Return those of `nodes` that are 0 wherever they are defined, as a product with ln(1) is.

    A tiny number that a float makes 0, as e^(-1000), is none of them.
    """
    known: dict[int, float] = {}
    with np.errstate(all="ignore"):
        for k in formula.needed(nodes):
            op = formula.ops[k]
            value = formula.value(k) if op is None else _value(
                op, [known.get(a) for a in formula.args[k]])
            if value is not None:
                known[k] = value
    return {k for k in nodes if known.get(k) == 0}


def chosen(values: Values, nodes: Sequence[int]) -> list[Any]:
    """Return for each node where its value is the number 0 that a condition chose, as in the slope
    of max(x, y) in y where x is larger: a mask over the points, or one truth value. A tiny number
    is none.
    """
    formula = values.formula
    known: dict[int, Any] = {}
    for k in formula.needed(nodes):
        op, args = formula.ops[k], formula.args[k]
        zero = [known[a] for a in args]
        if op is None:
            known[k] = formula.value(k) == 0
        elif op is where:
            (condition,) = values.plain(args[:1])
            known[k] = np.where(condition, zero[1], zero[2])
        elif op is multiply:
            known[k] = zero[0] | zero[1]
        elif op in (add, subtract):
            known[k] = zero[0] & zero[1]
        elif op.name == "relu":
            (operand,) = values.plain(args)
            known[k] = zero[0] | (operand < 0)
        elif op in (divide, power) or len(args) == 1:
            (value,) = values.plain([k])
            known[k] = zero[0] & (value == 0)
        else:
            known[k] = False
    return [known[k] for k in nodes]


def _value(op: Op, operands: Sequence[float | None]) -> float | None:
    """Return the value of an operation on constants, None where it is not known."""
    if (op is multiply and 0.0 in operands) or (op is divide and operands[0] == 0):
        return 0.0
    numbers = [o for o in operands if o is not None]
    if len(numbers) < len(operands) or not op.elementwise:
        return None
    value = op.on_scalars(numbers)
    if value - value != 0 or (value is not False and value == 0 and not _is_exact(
            op, numbers, value)):
        return None
    return value  # type: ignore[no-any-return]


def _is_exact(op: Op, operands: Sequence[float], value: float) -> bool:
    """Return whether a value 0 is no tiny number, and no difference that rounding cancelled."""
    if op in (add, subtract):
        return all(o % 1 == 0 and abs(o) < WHOLE for o in operands)
    if op.kind != "elementwise" or 0.0 in operands:
        return True
    return op not in (multiply, divide, power) and any(
        op.edge(k) and _steep(op, k, operands, value) for k in range(len(operands)))


def _steep(op: Op, k: int, operands: Sequence[float], value: float) -> bool:
    """Return whether the slope says that a function passes through 0 here: that of ln at 1 is 1."""
    rule = op.rules[k]
    slope: Any = rule or 0.0
    if callable(rule):
        slope = edge_rule(op, k)(*map(np.float64, (*operands, value)))
    return bool(abs(slope) >= TINY)
