"""The shortest decimals that read back to the same floats, for many floats at once.

What `repr` finds digit by digit is a choice among three integers, if a float between 1e-4 and 1e16 is
scaled to 17 digits: powers of ten up to 10^22 are floats, so the product of the two is the exact sum
of a float and its rounding error (Dekker, Numer. Math. 18, 1971). Half the distance to the next float
is below 12 units there: the nearest multiple of 100 is taken if it is closer than that, else that of
10, else the nearest integer; what has more zeros at its end has them there too.

Ties, and anything outside, are left to `repr`. 0.15 us a number where `repr` takes 0.43.
"""

from __future__ import annotations

from gradcli.ops.lazy import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LEAST, MOST = 1e-4, 1e16    # where `repr` writes no exponent
FEW = 32                    # below, arrays are not worth it
WIDTH = 24                  # of the longest text, -0.00012345678901234567
SPLIT = 134217729.0         # 2^27 + 1 cuts a float into two halves


class Tables:
    """Constants by index, made once. first: the binary exponent of the first entry of `power` and
    `next`: the decimal exponent of 2^k, and the power of ten at which the next one begins. tens:
    10^(16-p) for the decimal exponents p from -4, whole and in halves. digits: four ASCII digits of
    the integers below 10,000.
    """

    __slots__ = ("digits", "first", "next", "power", "tens")

    def __init__(self) -> None:
        import math

        self.first = math.frexp(LEAST)[1] + 1022 - 1
        powers = []
        for k in range(self.first, math.frexp(MOST)[1] + 1024):
            text = f"{math.ldexp(1.0, k - 1023):.17e}"
            powers.append(int(text.partition("e")[2]))
        self.power = np.array(powers)
        self.next = np.array([float(f"1e{p + 1}") for p in powers])
        tens = np.array([float(10 ** (16 - p)) for p in range(-5, 17)])
        high = SPLIT * tens - (SPLIT * tens - tens)
        self.tens = np.stack([tens, high, tens - high])
        self.digits = np.frombuffer(
            b"".join([b"%04d" % k for k in range(10_000)]), np.uint32)


_tables: list[Tables] = []


def shortest(values: Any, point: bool) -> list[bytes]:
    """`repr` of each float64 of a 1-d array; point: with `.0` behind a whole number."""
    size = np.abs(values)
    usual = (size >= LEAST) & (size < MOST)
    if len(values) < FEW or np.count_nonzero(usual) < len(values) // 2:
        return [_by_repr(value, point) for value in values.tolist()]
    size[~usual] = 1.0
    if not _tables:
        _tables.append(Tables())
    decimal, power, sure = _decimals(size, _tables[0])
    found: list[bytes] = _written(
        decimal, power, np.signbit(values), point, _tables[0]).tolist()
    for k in np.flatnonzero(~(sure & usual)).tolist():
        found[k] = _by_repr(float(values[k]), point)
    return found


def _by_repr(value: float, point: bool) -> bytes:
    text = repr(value)
    return (text if point else text.removesuffix(".0")).encode()


def _decimals(size: Any, tables: Tables) -> tuple[Any, Any, Any]:
    """Integers of 17 digits, the decimal exponents of their first digits, and where that is sure."""
    bits = size.view(np.int64)
    binary = (bits >> 52) - tables.first
    power = tables.power[binary]
    power += size >= tables.next[binary]
    tens, tens_high, tens_low = tables.tens[:, power + 5]
    product = size * tens
    high = SPLIT * size
    high -= high - size
    low = size - high
    error = low * tens_low - (((product - high * tens_high) - low * tens_high) - high * tens_low)
    below = np.floor(error)
    part = error - below
    whole = product.astype(np.int64) + below.astype(np.int64)
    # Half the distance to the next float, in these units.
    reach = (bits & (0x7FF << 52)).view(np.float64) * 2.0 ** -53 * tens
    hundreds = whole // 100
    rest = whole - 100 * hundreds
    tenths = rest // 10
    over_ten = (rest - 10 * tenths) + part
    over_hundred = rest + part
    near_hundred = np.minimum(over_hundred, 100.0 - over_hundred)
    near_ten = np.minimum(over_ten, 10.0 - over_ten)
    decimal = np.where(
        near_hundred < reach, (hundreds + (over_hundred > 50.0)) * 100, np.where(
            near_ten < reach, (10 * hundreds + tenths + (over_ten > 5.0)) * 10,
            whole + (part > 0.5)))
    # Below a power of two floats are twice as close.
    alone = (bits & ((1 << 52) - 1)) == 0
    sure = (near_hundred != reach) & (near_ten != reach) & (near_ten != 5.0) & (part != 0.5)
    sure &= ~alone | (near_hundred == 0.0)
    return decimal, power, sure


def _written(decimal: Any, power: Any, negative: Any, point: bool, tables: Tables) -> Any:
    """Texts, those of one layout at a time."""
    n = len(decimal)
    digits = np.empty((n, 20), np.uint8)
    groups = digits.view(np.uint32)
    for k in range(4, 0, -1):
        rest = decimal // 10_000
        groups[:, k] = tables.digits[decimal - 10_000 * rest]
        decimal = rest
    groups[:, 0] = tables.digits[decimal]
    digits = digits[:, 3:]
    last = 16 - np.argmax(digits[:, ::-1] != ord("0"), axis=1)
    texts = np.zeros((n, WIDTH), np.uint8)
    layout = 2 * (power + 5) + negative
    for which in np.flatnonzero(np.bincount(layout)).tolist():
        rows = np.flatnonzero(layout == which)
        before, sign = which // 2 - 4, which % 2     # digits before the point
        front = b"-" * sign + (b"0." + b"0" * -before if before <= 0 else b"")
        start = len(front)
        text = np.zeros((len(rows), WIDTH), np.uint8)
        text[:, :start] = np.frombuffer(front, np.uint8)
        length = last[rows] + 1
        mine = digits[rows]
        if before <= 0:
            text[:, start:start + 17] = mine
        else:
            text[:, start:start + before] = mine[:, :before]
            text[:, start + before] = ord(".")
            text[:, start + before + 1:start + 18] = mine[:, before:]
            length = np.where(length > before, length + 1, before + 2 * point)
        text *= np.arange(WIDTH) < (start + length)[:, None]
        texts[rows] = text
    return texts.view(f"S{WIDTH}").ravel()
