"""How near a number has to be, where a problem asks for a number.

A tolerance is a number t, which allows t or the share t of the right value, whichever is more; or
says which: "0.01 abs", "1e-3 rel", "1%", "3 digits". Without one, what is typed as a decimal must
be the right value, correctly rounded to the digits typed, of which there are at least three.
"""

from __future__ import annotations

from gradcli.errors import error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LEAST_DIGITS = 3
RAISED = "⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹"
LOWERED = str.maketrans(RAISED, "-+0123456789")


def checked(name: str, value: Any) -> Any:
    """A tolerance as a number, or as (kind, number). Raises E0703."""
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
    """The difference that is allowed between the right number and one that was typed.

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
    """Of a text that is one decimal number, the significant digits and those behind the point."""
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
